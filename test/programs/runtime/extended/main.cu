// expect: turnCluster race=proved divergence=proved
// expect: turnCluster silent
// expect: turnCluster launch main.cu:43 block=128 grid=16 cluster=2
// open: turnCluster race=possible; divergence=possible; no launch at main.cu:41
// expect: turnAlone race=race divergence=proved
// expect: turnAlone finding race/global error on a lines 26,28
// expect: turnAlone launch main.cu:35 block=128 grid=16
// open: turnAlone race=possible; divergence=possible; no race/global; no launch at main.cu:33
// options: --arch sm_90
//
// Two blocks of a cluster wait for each other. The second launch has no clusters, so each block is one of its
// own.

#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void turnCluster(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, other = (blockIdx.x ^ 1) * blockDim.x + threadIdx.x;
  float value = a[other];
  cg::this_cluster().sync();
  a[i] = value;
}

__global__ void turnAlone(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, other = (blockIdx.x ^ 1) * blockDim.x + threadIdx.x;
  float value = a[other];
  cg::this_cluster().sync();
  a[i] = value;
}

void run(float* a) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 128;
  cudaLaunchKernelEx(&config, turnAlone, a);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, turnCluster, a);
}
