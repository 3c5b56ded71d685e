// expect: announce race=race divergence=proved
// expect: announce finding race/global error on data lines 75
// expect: announce advice "Add `__threadfence()` between that store and that read, in both threads" as in announceFenced
// expect: announceFenced race=proved divergence=proved
// expect: announceFenced silent
// expect: announceBlockFence race=race divergence=proved
// expect: announceBlockFence finding race/global error on data lines 91
// expect: announceBlockFence advice "Replace `__threadfence_block()` on line 89, whose scope is the block, with `__threadfence()`" as in announceFenced
// expect: announceVolatile race=race divergence=proved
// expect: announceVolatile finding race/volatile warning on flag lines 96,97
// expect: announceVolatile finding race/global error on data lines 99
// expect: announceVolatile advice "Use `cuda::atomic_ref` or atomic functions for both accesses"
// expect: announceVolatile advice "Add `__threadfence()` between that store and that read, in both threads"
// expect: send race=proved divergence=proved
// expect: send silent
// expect: sendNoRelease race=race divergence=proved
// expect: sendNoRelease finding race/global error on data lines 119,124
// expect: sendNoRelease advice "Add `__threadfence()` before the update of `flag` on line 120" as in send
// expect: sendNoAcquire race=race divergence=proved
// expect: sendNoAcquire finding race/global error on data lines 131,136
// expect: sendNoAcquire advice "Add `__threadfence()` after the loop on line 135 that waits for `flag`" as in send
// expect: sendBlockScope race=race divergence=proved
// expect: sendBlockScope finding race/global error on data lines 143,149
// expect: sendBlockScope advice "Replace each `__threadfence_block()` with `__threadfence()`" as in send
// expect: sendTooEarly race=race divergence=proved
// expect: sendTooEarly finding race/global error on data lines 160,164
// expect: sendTooEarly advice "Update `flag` after the access, with `__threadfence()` between them" as in send
// expect: pushResidual race=proved divergence=proved
// expect: pushResidual silent
// expect: pushResidualPlainClear race=race divergence=proved
// expect: pushResidualPlainClear finding race/global warning on residual lines 183,184,187
// expect: pushResidualPlainClear advice "Use `atomicExch()` instead of the read on line 183 and the write on line 184" as in pushResidual
// expect: labelsOfWorkList race=proved divergence=proved
// expect: labelsOfWorkList silent
// expect: labelsOfWorkListPlain race=race divergence=proved
// expect: labelsOfWorkListPlain finding race/global warning on label lines 204,206,207
// expect: labelsOfWorkListPlain advice "Use an atomic operation such as `atomicMin()`, `atomicMax()` or `atomicCAS()` instead of the read on line 206 and the write on line 207, and `cuda::atomic_ref` for the read on line 204" as in labelsOfWorkList
// expect: trianglesOfEdges race=proved divergence=proved
// expect: trianglesOfEdges silent
// expect: trianglesOfEdgesPlainTotal race=race divergence=proved
// expect: trianglesOfEdgesPlainTotal finding race/global error on total lines 233
// expect: trianglesOfEdgesPlainTotal advice "Use an atomic operation such as `atomicAdd()`" as in trianglesOfEdges
// expect: ownTriangles race=proved divergence=proved
// expect: ownTriangles silent
// expect: ownTrianglesOneTooMany race=race divergence=proved
// expect: ownTrianglesOneTooMany finding race/global error on count lines 249,250
// expect: ownTrianglesOneTooMany advice "Split the kernel into two launches, or launch it cooperatively and call `grid.sync()`"
// expect: passSlots race=proved divergence=proved
// expect: passSlots silent
// expect: passSlots assumes initial
// expect: passSlotsNoFence race=race divergence=proved
// expect: passSlotsNoFence finding race/global error on items lines 273,278
// expect: passSlotsNoFence advice "Add `__threadfence()` before the update of `full` on line 274 and after the loop on line 277 that waits for `full`" as in passSlots
// expect: passSlotsNoWait race=race divergence=proved
// expect: passSlotsNoWait finding race/global error on items lines 286,289
// expect: passSlotsNoWait advice "Split the kernel into two launches, or launch it cooperatively and call `grid.sync()`"
//
// Store buffering, messages published by flags, pushes along edges, and queues with flags for full slots.

__device__ void store(int* p, int value) {
  asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}

__device__ int load(const int* p) {
  int value;
  asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

// Both may miss the other one's announcement.
__global__ void announce(int* flag, int* data) {
  if (threadIdx.x != 0) return;
  store(&flag[blockIdx.x], 1);
  if (load(&flag[1 - blockIdx.x]) == 0)
    data[0] += blockIdx.x;
}

__global__ void announceFenced(int* flag, int* data) {
  if (threadIdx.x != 0) return;
  store(&flag[blockIdx.x], 1);
  __threadfence();
  if (load(&flag[1 - blockIdx.x]) == 0) data[0] += blockIdx.x;
}

// The fence reaches the block only.
__global__ void announceBlockFence(int* flag, int* data) {
  if (threadIdx.x != 0) return;
  store(&flag[blockIdx.x], 1);
  __threadfence_block();
  if (load(&flag[1 - blockIdx.x]) == 0)
    data[0] += blockIdx.x;
}

__global__ void announceVolatile(volatile int* flag, int* data) {
  if (threadIdx.x != 0) return;
  flag[blockIdx.x] = 1;
  int other = flag[1 - blockIdx.x];
  if (other == 0)
    data[0] += blockIdx.x;
}

__global__ void send(int* flag, int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    data[1] = 6;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[blockIdx.x] = data[0] + data[1];
  }
}

__global__ void sendNoRelease(int* flag, int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[blockIdx.x] = data[0];
  }
}

__global__ void sendNoAcquire(int* flag, int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __threadfence();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    out[blockIdx.x] = data[0];
  }
}

__global__ void sendBlockScope(int* flag, int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __threadfence_block();
    atomicExch(flag, 1);
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence_block();
    out[blockIdx.x] = data[0];
  }
}

// The second word follows the flag.
__global__ void sendTooEarly(int* flag, int* data, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = 5;
    __threadfence();
    atomicExch(flag, 1);
    data[1] = 6;
  } else {
    while (atomicAdd(flag, 0) == 0) {}
    __threadfence();
    out[blockIdx.x] = data[0] + data[1];
  }
}

// A vertex pushes the residual that it has not pushed yet.
__global__ void pushResidual(float* rank, float* residual, int* later, unsigned* count, const int* row,
                             const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float own = atomicExch(&residual[v], 0.0f);
  rank[v] += own;
  float share = 0.85f * own / (row[v + 1] - row[v]);
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicAdd(&residual[column[e]], share) < 0.01f) later[atomicAdd(count, 1u)] = column[e];
}

__global__ void pushResidualPlainClear(float* rank, float* residual, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float own = residual[v];
  residual[v] = 0.0f;
  rank[v] += own;
  for (int e = row[v]; e < row[v + 1]; e++)
    atomicAdd(&residual[column[e]], own);
}

__global__ void labelsOfWorkList(int* label, int* later, unsigned* count, const int* work, const int* row,
                                 const int* column, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = work[i], own = load(&label[v]);
  for (int e = row[v]; e < row[v + 1]; e++)
    if (atomicMin(&label[column[e]], own) > own) later[atomicAdd(count, 1u)] = column[e];
}

__global__ void labelsOfWorkListPlain(int* label, int* later, unsigned* count, const int* work, const int* row,
                                      const int* column, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = work[i];
  int own = label[v];
  for (int e = row[v]; e < row[v + 1]; e++)
    if (label[column[e]] > own) {
      label[column[e]] = own;
      later[atomicAdd(count, 1u)] = column[e];
    }
}

__device__ int common(const int* row, const int* column, int v, int w) {
  int found = 0, a = row[v], b = row[w];
  while (a < row[v + 1] && b < row[w + 1]) {
    int left = column[a], right = column[b];
    found += left == right;
    a += left <= right;
    b += left >= right;
  }
  return found;
}

__global__ void trianglesOfEdges(int* total, const int* from, const int* to, const int* row, const int* column,
                                 int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges) atomicAdd(total, common(row, column, from[e], to[e]));
}

__global__ void trianglesOfEdgesPlainTotal(int* total, const int* from, const int* to, const int* row,
                                           const int* column, int edges) {
  int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e < edges)
    *total += common(row, column, from[e], to[e]);
}

__global__ void ownTriangles(int* count, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = 0;
  for (int e = row[v]; e < row[v + 1]; e++) own += common(row, column, v, column[e]);
  count[v] = own;
}

// It adds to the count of the next vertex as well.
__global__ void ownTrianglesOneTooMany(int* count, const int* row, const int* column, int n) {
  int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  int own = common(row, column, v, v);
  count[v] = own;
  count[v + 1] += own;
}

// Even blocks put items into slots, odd ones take them out.
__global__ void passSlots(int* items, int* full, unsigned* tail, unsigned* head, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x % 2 == 0) {
    unsigned slot = atomicAdd(tail, 1u);
    items[slot] = blockIdx.x;
    __threadfence();
    atomicExch(&full[slot], 1);
  } else {
    unsigned slot = atomicAdd(head, 1u);
    while (atomicAdd(&full[slot], 0) == 0) {}
    __threadfence();
    out[slot] = items[slot];
  }
}

__global__ void passSlotsNoFence(int* items, int* full, unsigned* tail, unsigned* head, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x % 2 == 0) {
    unsigned slot = atomicAdd(tail, 1u);
    items[slot] = blockIdx.x;
    atomicExch(&full[slot], 1);
  } else {
    unsigned slot = atomicAdd(head, 1u);
    while (atomicAdd(&full[slot], 0) == 0) {}
    out[slot] = items[slot];
  }
}

__global__ void passSlotsNoWait(int* items, unsigned* tail, unsigned* head, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x % 2 == 0) {
    unsigned slot = atomicAdd(tail, 1u);
    items[slot] = blockIdx.x;
  } else {
    unsigned slot = atomicAdd(head, 1u);
    out[slot] = items[slot];
  }
}

void handOver(int* flag, int* data, int* out, float* rank, float* residual, unsigned* count, unsigned* head,
              const int* row, const int* column, const int* work) {
  announce<<<2, 32>>>(flag, data);
  announceFenced<<<2, 32>>>(flag, data);
  announceBlockFence<<<2, 32>>>(flag, data);
  announceVolatile<<<2, 32>>>(flag, data);
  send<<<2, 32>>>(flag, data, out);
  sendNoRelease<<<2, 32>>>(flag, data, out);
  sendNoAcquire<<<2, 32>>>(flag, data, out);
  sendBlockScope<<<2, 32>>>(flag, data, out);
  sendTooEarly<<<2, 32>>>(flag, data, out);
  pushResidual<<<16, 256>>>(rank, residual, out, count, row, column, 4000);
  pushResidualPlainClear<<<16, 256>>>(rank, residual, row, column, 4000);
  labelsOfWorkList<<<16, 256>>>(data, out, count, work, row, column, 4000);
  labelsOfWorkListPlain<<<16, 256>>>(data, out, count, work, row, column, 4000);
  trianglesOfEdges<<<16, 256>>>(out, work, data, row, column, 4000);
  trianglesOfEdgesPlainTotal<<<16, 256>>>(out, work, data, row, column, 4000);
  ownTriangles<<<16, 256>>>(out, row, column, 4000);
  ownTrianglesOneTooMany<<<16, 256>>>(out, row, column, 4000);
  passSlots<<<16, 32>>>(data, flag, count, head, out);
  passSlotsNoFence<<<16, 32>>>(data, flag, count, head, out);
  passSlotsNoWait<<<16, 32>>>(data, count, head, out);
}
