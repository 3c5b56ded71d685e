#pragma once
void runScale(float* a, int threads);
