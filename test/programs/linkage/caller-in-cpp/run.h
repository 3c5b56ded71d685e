#pragma once
void runScale(float* a, int blocks, int threads);
void runShift(float* out, const float* in, int threads);
