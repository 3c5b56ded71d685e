#pragma once
__global__ void scaleChunk(float* a);
__global__ void halveChunk(float* a);
