// expect: forces race=proved divergence=proved
// expect: forces_one_barrier race=race divergence=proved finding race/shared lines 16,30 finding race/shared lines 17,31 finding race/shared lines 18,32 finding race/shared lines 19,33
// expect: forces_of_both race=race divergence=proved finding race/global lines 20,20 finding race/global lines 21,21 finding race/global lines 22,22 finding race/global lines 23,23
//
// Forces between particles in boxes, one box per block: each particle of the box interacts with those of adjacent
// boxes, which are brought to shared memory box by box. Written out sixteen times, 192 accesses a thread.

#define BOX 128

struct Force {
    float *x, *y, *z, *energy;
};

// One particle acts on another.
__device__ void interact(const float (*tile)[BOX], int j, float x, float y, float z, Force force, int at) {
    float dx = x - tile[0][j];
    float dy = y - tile[1][j];
    float dz = z - tile[2][j];
    float u = __expf(-(dx * dx + dy * dy + dz * dz)) * tile[3][j];
    force.x[at] += u * dx;
    force.y[at] += u * dy;
    force.z[at] += u * dz;
    force.energy[at] += u;
}

// The positions and charges of a box, by all threads of the block.
__device__ void load(float (*tile)[BOX], const float4* particles, int box) {
    for (int p = threadIdx.x; p < BOX; p += blockDim.x) {
        float4 other = particles[box * BOX + p];
        tile[0][p] = other.x;
        tile[1][p] = other.y;
        tile[2][p] = other.z;
        tile[3][p] = other.w;
    }
}

__device__ void meet(const float (*tile)[BOX], const float4* particles, Force force, int home) {
    for (int p = threadIdx.x; p < BOX; p += blockDim.x) {
        int at = home * BOX + p;
        float x = particles[at].x, y = particles[at].y, z = particles[at].z;
        for (int j = 0; j < BOX; j += 16) {
            interact(tile, j + 0, x, y, z, force, at);
            interact(tile, j + 1, x, y, z, force, at);
            interact(tile, j + 2, x, y, z, force, at);
            interact(tile, j + 3, x, y, z, force, at);
            interact(tile, j + 4, x, y, z, force, at);
            interact(tile, j + 5, x, y, z, force, at);
            interact(tile, j + 6, x, y, z, force, at);
            interact(tile, j + 7, x, y, z, force, at);
            interact(tile, j + 8, x, y, z, force, at);
            interact(tile, j + 9, x, y, z, force, at);
            interact(tile, j + 10, x, y, z, force, at);
            interact(tile, j + 11, x, y, z, force, at);
            interact(tile, j + 12, x, y, z, force, at);
            interact(tile, j + 13, x, y, z, force, at);
            interact(tile, j + 14, x, y, z, force, at);
            interact(tile, j + 15, x, y, z, force, at);
        }
    }
}

__global__ void forces(const float4* particles, const int* count, const int* neighbours, Force force) {
    __shared__ float tile[4][BOX];
    int home = blockIdx.x;
    for (int n = 0; n < count[home]; ++n) {
        load(tile, particles, neighbours[home * 27 + n]);
        __syncthreads();
        meet(tile, particles, force, home);
        __syncthreads();
    }
}

// selvage: block=64 grid=2
__global__ void forces_one_barrier(const float4* particles, const int* neighbours, Force force) {
    __shared__ float tile[4][BOX];
    int home = blockIdx.x;
    for (int n = 0; n < 27; ++n) {
        load(tile, particles, neighbours[home * 27 + n]);
        __syncthreads();
        meet(tile, particles, force, home);
    }
}

// Forces act on both particles: the box to the right belongs to another block.
// selvage: block=64 grid=3
__global__ void forces_of_both(const float4* particles, Force force) {
    __shared__ float tile[4][BOX];
    int home = blockIdx.x;
    load(tile, particles, home);
    __syncthreads();
    meet(tile, particles, force, home);
    meet(tile, particles, force, home + 1);
}
