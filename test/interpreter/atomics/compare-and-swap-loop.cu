// run: cas_loop_max block=64 grid=2 args(in=float32[128]:iota, best=uint32[1]:zeros) seeds=3 expect=clean
// run: cas_loop_plain_first_read block=64 grid=2 args(in=float32[128]:iota, best=uint32[1]:zeros) seeds=3 expect=race lines 19,21 space global
// run: cas_loop_plain_store block=64 grid=2 args(in=float32[128]:iota, best=uint32[1]:zeros) seeds=3 expect=race lines 29,30 lines 30,30 space global
//
// A maximum of floats by compare-and-swap; the usual first read is a plain load of what others change.

__global__ void cas_loop_max(const float* in, unsigned* best) {
    const float mine = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned seen = *(volatile unsigned*)best;
    while (__uint_as_float(seen) < mine) {
        const unsigned found = atomicCAS(best, seen, __float_as_uint(mine));
        if (found == seen) break;
        seen = found;
    }
}

__global__ void cas_loop_plain_first_read(const float* in, unsigned* best) {
    const float mine = in[blockIdx.x * blockDim.x + threadIdx.x];
    unsigned seen = *best;
    while (__uint_as_float(seen) < mine) {
        const unsigned found = atomicCAS(best, seen, __float_as_uint(mine));
        if (found == seen) break;
        seen = found;
    }
}

__global__ void cas_loop_plain_store(const float* in, unsigned* best) {
    const float mine = in[blockIdx.x * blockDim.x + threadIdx.x];
    if (__uint_as_float(atomicAdd(best, 0u)) != mine) {
        *best = __float_as_uint(mine);
    }
}
