#pragma once

namespace forward {
void render(dim3 grid, dim3 block, float* image, int n);
}
namespace backward {
void render(dim3 grid, dim3 block, float* image, int n, float scale);
}
