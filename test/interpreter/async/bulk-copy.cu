// arch: sm_90
// run: bulk_load block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=clean
// run: bulk_load_no_wait block=64 args(in=int32[64]:iota, out=int32[64]:zeros) expect=race lines 23,56 space shared
// run: bulk_load_before_reads_end block=64 args(in=int32[128]:iota, out=int32[128]:zeros) expect=race lines 23,69 space shared
// run: bulk_store block=64 args(out=int32[64]:zeros) expect=clean
// run: bulk_store_no_barrier block=64 args(out=int32[64]:zeros) expect=race lines 33,92 space shared
// run: bulk_store_reused_too_early block=64 args(out=int32[64]:zeros) expect=race lines 33,108 space shared
//
// Copies of whole arrays by one thread, as of sm_90: loads complete at an mbarrier, stores in groups.

typedef unsigned long long Barrier;

__device__ unsigned shared_address(const void* pointer) { return (unsigned)__cvta_generic_to_shared(pointer); }

__device__ void start(Barrier* bar) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(bar)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ void load(int* to, const int* from, unsigned bytes, Barrier* bar) {
    const unsigned at = shared_address(bar);
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(at) : "memory");
}

__device__ void wait(Barrier* bar, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(shared_address(bar)), "r"(parity) : "memory");
}

__device__ void store(int* to, const int* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)), "r"(shared_address(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__global__ void bulk_load(const int* in, int* out) {
    __shared__ __align__(128) int s[64];
    __shared__ Barrier bar;
    const int t = threadIdx.x;
    if (t == 0) start(&bar);
    __syncthreads();
    if (t == 0) load(s, in, sizeof s, &bar);
    wait(&bar, 0);
    out[t] = s[63 - t];
}

__global__ void bulk_load_no_wait(const int* in, int* out) {
    __shared__ __align__(128) int s[64];
    __shared__ Barrier bar;
    const int t = threadIdx.x;
    s[t] = 0;
    if (t == 0) start(&bar);
    __syncthreads();
    if (t == 0) load(s, in, sizeof s, &bar);
    out[t] = s[63 - t];
}

// The second load does not wait until all have read what the first brought.
__global__ void bulk_load_before_reads_end(const int* in, int* out) {
    __shared__ __align__(128) int s[64];
    __shared__ Barrier bars[2];
    const int t = threadIdx.x;
    if (t < 2) start(&bars[t]);
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        if (t == 0) load(s, in + 64 * k, sizeof s, &bars[k]);
        wait(&bars[k], 0);
        out[64 * k + t] = s[63 - t];
    }
}

__global__ void bulk_store(int* out) {
    __shared__ __align__(128) int s[64];
    const int t = threadIdx.x;
    s[t] = 7 * t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        store(out, s, sizeof s);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    __syncthreads();
    s[t] = 0;
}

__global__ void bulk_store_no_barrier(int* out) {
    __shared__ __align__(128) int s[64];
    const int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    s[t] = 7 * t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (t == 0) {
        store(out, s, sizeof s);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
}

__global__ void bulk_store_reused_too_early(int* out) {
    __shared__ __align__(128) int s[64];
    const int t = threadIdx.x;
    s[t] = 7 * t;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) store(out, s, sizeof s);
    __syncthreads();
    s[t] = 0;
}
