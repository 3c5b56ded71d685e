// expect: steps::scaleChunk<float,256> race=proved divergence=proved
// expect: steps::scaleChunk<float,256> silent
// expect: steps::scaleChunk<float,256> launch steps.cuh:24 block=256 grid=16
// expect: steps::halveChunk<double> race=race divergence=proved
// expect: steps::halveChunk<double> finding race/global error on a lines 19
// expect: steps::halveChunk<double> launch steps.cuh:28 block=512 grid=16
//
// Kernels and the functions that launch them are templates of a header; the types come from the including file.

#pragma once

namespace steps {

template <typename T, int Threads> __global__ void scaleChunk(T* a) {
  a[blockIdx.x * Threads + threadIdx.x] *= T(2);
}

template <typename T> __global__ void halveChunk(T* a) {
  a[blockIdx.x * 256 + threadIdx.x] *= T(0.5);
}

template <typename T> void scale(T* a, int blocks) {
  constexpr int threads = 256;
  scaleChunk<T, threads><<<blocks, threads>>>(a);
}

template <typename T> void halve(T* a, int blocks) {
  halveChunk<<<blocks, 512>>>(a);
}

}  // namespace steps

