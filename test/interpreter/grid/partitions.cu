// run: tile_reduce block=64 args(in=int32[64]:iota, out=int32[4]:zeros) expect=clean
// run: tile_shared block=64 args(out=int32[64]:zeros) expect=clean
// run: tile_too_small block=64 args(out=int32[64]:zeros) expect=race lines 31,33 space shared
// run: tile_no_sync block=64 args(out=int32[64]:zeros) expect=race lines 40,41 space shared; uninitialised line 41
// run: coalesced_count block=64 args(in=int32[64]:iota, out=int32[1]:zeros) expect=clean
//
// Groups of 16 lanes by cooperative groups.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tile_reduce(const int* in, int* out) {
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    int v = in[threadIdx.x];
    for (int d = 8; d > 0; d /= 2) v += tile.shfl_down(v, d);
    if (tile.thread_rank() == 0) out[threadIdx.x / 16] = v;
}

__global__ void tile_shared(int* out) {
    __shared__ int s[64];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int t = threadIdx.x;
    s[t] = t * t;
    tile.sync();
    out[t] = s[t ^ 15];
}

__global__ void tile_too_small(int* out) {
    __shared__ int s[64];
    const auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    const int t = threadIdx.x;
    s[t] = t * t;
    tile.sync();
    out[t] = s[t ^ 15];
}

__global__ void tile_no_sync(int* out) {
    __shared__ int s[64];
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int t = threadIdx.x;
    s[t] = t * t;
    out[t] = s[t ^ 15] + tile.size();
}

__global__ void coalesced_count(const int* in, int* out) {
    if (in[threadIdx.x] % 3 == 0) {
        const auto active = cg::coalesced_threads();
        if (active.thread_rank() == 0) atomicAdd(out, (int)active.size());
    }
}
