// expect: countPairs race=proved divergence=proved
// expect: countPairs silent
// expect: countPairs launch main.cu:34 block=128 grid=16 cluster=2
// expect: countAlone race=race divergence=proved
// expect: countAlone finding race/global error on counts lines 18
// expect: countAlone launch main.cu:26 block=128 grid=16
// options: --arch sm_90
//
// Two blocks of a cluster count together. The other launch has no clusters, so the cluster scope of the atomics
// includes only one block.

__global__ void countPairs(unsigned* counts) {
  asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(counts + blockIdx.x / 2) : "memory");
}

// The counters are those of the pairs.
__global__ void countAlone(unsigned* counts) {
  asm volatile("red.relaxed.cluster.global.add.u32 [%0], 1;" ::"l"(counts + blockIdx.x / 2) : "memory");
}

void run(unsigned* counts) {
  cudaLaunchConfig_t config = {};
  config.gridDim = 16;
  config.blockDim = 128;
  // No attribute for clusters is set.
  cudaLaunchKernelEx(&config, countAlone, counts);
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeClusterDimension;
  attribute[0].val.clusterDim.x = 2;
  attribute[0].val.clusterDim.y = 1;
  attribute[0].val.clusterDim.z = 1;
  config.attrs = attribute;
  config.numAttrs = 1;
  cudaLaunchKernelEx(&config, countPairs, counts);
}

