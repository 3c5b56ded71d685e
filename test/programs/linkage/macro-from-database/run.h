#pragma once
void runScale(float* a, int threads);
void runCount(float* a, int threads);
