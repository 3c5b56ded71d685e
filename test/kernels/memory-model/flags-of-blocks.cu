// expect: wait_for_all race=proved divergence=proved
// expect: wait_for_all_but_one race=race divergence=proved finding race/global lines 42,56
// expect: wait_in_strides race=proved divergence=proved
// expect: wait_without_barrier race=race divergence=proved finding race/global lines 88,101
// expect: chain race=proved divergence=proved
// expect: chain_too_early race=race divergence=proved finding race/global lines 139,144
// expect: look_back race=proved divergence=proved
// expect: look_back_too_early race=race divergence=proved finding race/global lines 194,196
// expect: look_back_elsewhere race=race divergence=proved finding race/global lines 211,218
// expect: owner race=proved divergence=proved
// expect: owner_zero race=race divergence=proved finding race/global lines 243,243
//
// Flags of all blocks, flags that a block looks at one after the other, and locks that contain the number of their owner.

// Block 0 waits for all blocks: each of its threads for one flag, and then for each other.
// selvage: block=128 grid=16
__global__ void wait_for_all(int* part, int* flags, int* out) {
    int t = threadIdx.x;
    part[blockIdx.x * 128 + t] = t;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
    if (blockIdx.x == 0) {
        if (t < gridDim.x) {
            while (atomicAdd(&flags[t], 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b * 128 + t];
        out[t] = sum;
    }
}

// The last flag is not waited for.
// selvage: block=128 grid=16
__global__ void wait_for_all_but_one(int* part, int* flags, int* out) {
    int t = threadIdx.x;
    part[blockIdx.x * 128 + t] = t;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
    if (blockIdx.x == 0) {
        if (t < gridDim.x - 1) {
            while (atomicAdd(&flags[t], 0) == 0) {
            }
            __threadfence();
        }
        __syncthreads();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b * 128 + t];
        out[t] = sum;
    }
}

// More blocks than threads: each thread waits for several.
// selvage: block=128 grid=300
__global__ void wait_in_strides(int* part, int* flags, int* out) {
    int t = threadIdx.x;
    part[blockIdx.x * 128 + t] = t;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
    if (blockIdx.x == gridDim.x - 1) {
        for (int b = t; b < gridDim.x; b += 128) {
            while (atomicAdd(&flags[b], 0) == 0) {
            }
        }
        __threadfence();
        __syncthreads();
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b * 128 + t];
        out[t] = sum;
    }
}

// No barrier joins the threads that wait.
// selvage: block=128 grid=16
__global__ void wait_without_barrier(int* part, int* flags, int* out) {
    int t = threadIdx.x;
    part[blockIdx.x * 128 + t] = t;
    __syncthreads();
    if (t == 0) {
        __threadfence();
        atomicExch(&flags[blockIdx.x], 1);
    }
    if (blockIdx.x == 0) {
        if (t < gridDim.x) {
            while (atomicAdd(&flags[t], 0) == 0) {
            }
            __threadfence();
        }
        int sum = 0;
        for (int b = 0; b < gridDim.x; ++b) sum += part[b * 128 + t];
        out[t] = sum;
    }
}

// Each block takes the sum of the block before it.
// selvage: block=128 grid=16
__global__ void chain(const int* in, int* sums, int* flags, int* out) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        int sum = 0;
        if (b > 0) {
            while (atomicAdd(&flags[b - 1], 0) == 0) {
            }
            __threadfence();
            sum = sums[b - 1];
        }
        before = sum;
        sums[b] = sum + in[b];
        __threadfence();
        atomicExch(&flags[b], 1);
    }
    __syncthreads();
    out[b * 128 + t] = before + in[b * 128 + t];
}

// The sum is stored after the flag.
// selvage: block=128 grid=16
__global__ void chain_too_early(const int* in, int* sums, int* flags, int* out) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        int sum = 0;
        if (b > 0) {
            while (atomicAdd(&flags[b - 1], 0) == 0) {
            }
            __threadfence();
            sum = sums[b - 1];
        }
        before = sum;
        __threadfence();
        atomicExch(&flags[b], 1);
        sums[b] = sum + in[b];
    }
    __syncthreads();
    out[b * 128 + t] = before + in[b * 128 + t];
}

// A block adds the totals of the blocks before it, until one has its prefix (flag 2).
// selvage: block=128 grid=16
__global__ void look_back(const int* in, int* totals, int* prefixes, int* flags, int* out) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        int sum = 0;
        totals[b] = in[b];
        __threadfence();
        atomicExch(&flags[b], 1);
        for (int other = b - 1; other >= 0; --other) {
            int flag;
            while ((flag = atomicAdd(&flags[other], 0)) == 0) {
            }
            __threadfence();
            if (flag == 2) {
                sum += prefixes[other];
                break;
            }
            sum += totals[other];
        }
        prefixes[b] = sum + in[b];
        __threadfence();
        atomicExch(&flags[b], 2);
        before = sum;
    }
    __syncthreads();
    out[b * 128 + t] = before + in[b * 128 + t];
}

// The prefix is read as soon as the total is there.
// selvage: block=128 grid=16
__global__ void look_back_too_early(const int* in, int* totals, int* prefixes, int* flags, int* out) {
    __shared__ int before;
    int t = threadIdx.x, b = blockIdx.x;
    if (t == 0) {
        int sum = 0;
        totals[b] = in[b];
        __threadfence();
        atomicExch(&flags[b], 1);
        if (b > 0) {
            while (atomicAdd(&flags[b - 1], 0) == 0) {
            }
            __threadfence();
            sum = prefixes[b - 1];
        }
        prefixes[b] = sum + in[b];
        __threadfence();
        atomicExch(&flags[b], 2);
        before = sum;
    }
    __syncthreads();
    out[b * 128 + t] = before + in[b * 128 + t];
}

// The total of the next block is read, whose flag was not looked at.
// selvage: block=128 grid=16
__global__ void look_back_elsewhere(const int* in, int* totals, int* flags, int* out) {
    int b = blockIdx.x;
    if (threadIdx.x == 0) {
        int sum = 0;
        totals[b] = in[b];
        __threadfence();
        atomicExch(&flags[b], 1);
        for (int other = b - 1; other > 0; --other) {
            while (atomicAdd(&flags[other], 0) == 0) {
            }
            __threadfence();
            sum += totals[other - 1];
        }
        out[b] = sum;
    }
}

// selvage: block=128 grid=16
__global__ void owner(int* lock, int* total) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, (int)blockIdx.x + 1) != 0) {
        }
        __threadfence();
        *total += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

// Block 0 leaves the lock free.
// selvage: block=128 grid=16
__global__ void owner_zero(int* lock, int* total) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, (int)blockIdx.x) != 0) {
        }
        __threadfence();
        *total += 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}
