// expect: first_block_only repaired +0 -1
// expect: in_some_blocks repaired +1 -1
// expect: not_cooperative unrepairable
// expect: one_element unrepairable
// because: race between blocks, which no barrier of a block orders, and Selvage found no other edit
// because: launch the kernel cooperatively and add `cg::this_grid().sync()`
// because: to the same element, and no barrier can separate them
//
// Barriers of the grid that not all blocks come to, and races that none of them helps.

#define _CG_LIMIT_INCLUDED_DEPENDENCIES // compiles in a third of the time
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

// selvage: block=64 grid=4 cooperative
__global__ void first_block_only(int* a) {
    int i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    if (blockIdx.x == 0) {
        cg::this_grid().sync();
    }
    a[i] += 1;
}

// selvage: block=64 grid=4 cooperative
__global__ void in_some_blocks(int* a, int* b) {
    int i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    if (blockIdx.x < 2) {
        cg::this_grid().sync();
    }
    b[i] = a[255 - i];
}

// selvage: block=64 grid=4
__global__ void not_cooperative(int* a, int* b) {
    int i = blockIdx.x * 64 + threadIdx.x;
    a[i] = i;
    b[i] = a[255 - i];
}

// selvage: block=1 grid=4 cooperative
__global__ void one_element(int* a) {
    a[0] = blockIdx.x;
}
