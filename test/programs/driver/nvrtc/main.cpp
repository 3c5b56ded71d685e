#include <cuda.h>
#include <fstream>
#include <sstream>
#include <string>

// As in nvrtc.h, which belongs to a package of its own.
typedef struct _nvrtcProgram* nvrtcProgram;
extern "C" int nvrtcCreateProgram(nvrtcProgram*, const char*, const char*, int, const char* const*, const char* const*);
extern "C" int nvrtcCompileProgram(nvrtcProgram, int, const char* const*);
extern "C" int nvrtcGetPTXSize(nvrtcProgram, size_t*);
extern "C" int nvrtcGetPTX(nvrtcProgram, char*);

static CUmodule compiled(const char* file) {
  std::ifstream source(file);
  std::stringstream text;
  text << source.rdbuf();
  nvrtcProgram program;
  nvrtcCreateProgram(&program, text.str().c_str(), file, 0, nullptr, nullptr);
  nvrtcCompileProgram(program, 0, nullptr);
  size_t size;
  nvrtcGetPTXSize(program, &size);
  std::string ptx(size, 0);
  nvrtcGetPTX(program, &ptx[0]);
  CUmodule module;
  cuModuleLoadData(&module, ptx.c_str());
  return module;
}

void run(CUdeviceptr a, int n) {
  CUmodule module = compiled("kernels.cu");
  CUfunction scale, clamp;
  cuModuleGetFunction(&scale, module, "scaleChunk");
  cuModuleGetFunction(&clamp, module, "clampChunk");
  int threads = 256;
  int blocks = (n + threads - 1) / threads;
  void* arguments[] = {&a, &n};
  cuLaunchKernel(scale, blocks, 1, 1, threads, 1, 1, 0, 0, arguments, 0);
  cuLaunchKernel(clamp, blocks, 1, 1, threads, 1, 1, 0, 0, arguments, 0);
}
