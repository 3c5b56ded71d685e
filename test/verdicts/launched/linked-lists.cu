// expect: pushNodes race=proved divergence=proved
// expect: pushNodes silent
// expect: pushNodesPlain race=race divergence=proved
// expect: pushNodesPlain finding race/global error on head lines 29,30
// expect: pushToBuckets race=proved divergence=proved
// expect: pushToBuckets silent
// expect: pushToBucketsPlain race=race divergence=proved
// expect: pushToBucketsPlain finding race/global warning on heads lines 41,42
// expect: jump race=proved divergence=proved
// expect: jump silent
// expect: jumpInPlace race=race divergence=proved
// expect: jumpInPlace finding race/global warning on next lines 53
// expect: walkLists race=proved divergence=proved
// expect: walkLists silent
// expect: countVisits race=race divergence=proved
// expect: countVisits finding race/global warning on visits lines 65
// expect: keepAndReport race=unknown divergence=unknown
// expect: keepAndReport silent
//
// Lists linked by indices.

__global__ void pushNodes(int* next, int* head) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = atomicExch(head, i);
}

__global__ void pushNodesPlain(int* next, int* head) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = head[0];
  head[0] = i;
}

__global__ void pushToBuckets(int* next, int* heads, const int* bucket) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = atomicExch(&heads[bucket[i]], i);
}

__global__ void pushToBucketsPlain(int* next, int* heads, const int* bucket) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int b = bucket[i];
  next[i] = heads[b];
  heads[b] = i;
}

// Each node points two nodes further on.
__global__ void jump(int* out, const int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = next[next[i]];
}

__global__ void jumpInPlace(int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  next[i] = next[next[i]];
}

__global__ void walkLists(int* length, const int* heads, const int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, nodes = 0;
  for (int node = heads[i]; node >= 0 && nodes < 1000; node = next[node]) nodes++;
  length[i] = nodes;
}

// Two lists may share nodes.
__global__ void countVisits(int* visits, const int* heads, const int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, nodes = 0;
  for (int node = heads[i]; node >= 0 && nodes < 1000; node = next[node], nodes++) visits[node]++;
}

__device__ int* kept;
extern __device__ void reportList();

// A function that is not here finds the list in the global.
__global__ void keepAndReport(int* next) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) kept = next;
  next[i] = i + 1;
  reportList();
}

void launchLists(int* next, int* heads, int* out, const int* bucket, const int* links) {
  pushNodes<<<16, 256>>>(next, heads);
  pushNodesPlain<<<16, 256>>>(next, heads);
  pushToBuckets<<<16, 256>>>(next, heads, bucket);
  pushToBucketsPlain<<<16, 256>>>(next, heads, bucket);
  jump<<<16, 256>>>(out, links);
  jumpInPlace<<<16, 256>>>(next);
  walkLists<<<16, 256>>>(out, bucket, links);
  countVisits<<<16, 256>>>(out, bucket, links);
  keepAndReport<<<16, 256>>>(next);
}
