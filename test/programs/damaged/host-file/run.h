#pragma once
__global__ void halveChunk(float* a);
void runScale(float* a);
