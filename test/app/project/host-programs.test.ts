/** Which files are compiled to find the launches of a kernel. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launchFinder } from '../../../src/app/project/host-programs.ts';
import { kernelName } from '../../../src/cuda/names/kernel-name.ts';

const files = {
  'scale.cu': '__global__ void scale(float* a) {}\nvoid run(float* a) { scale<<<1, 1>>>(a); }',
  'call.cu': '__global__ void scale(float*);\nvoid other(float* a) { scale<<<2, 2>>>(a); }',
  'driver.cpp': '#include <cuda.h>\nvoid find(CUmodule m) { CUfunction f; cuModuleGetFunction(&f, m, "scale"); cuLaunchKernel(f); }',
  'compiled-later.cpp': 'void build() { nvrtcProgram p; add(p, "scale"); }',
  'shaders.cpp': 'void list(int current) { emit("scale", custom(current)); }',
  'text.cpp': 'const char* names[] = {"scale"};',
};

test('files that name a kernel are compiled if they can launch it', async () => {
  const asked: string[] = [];
  const name = kernelName('_Z5scalePf');
  const kernel = { symbol: name.symbol, parameters: [], location: { file: 'scale.cu', line: 1 }, objects: [], blocks: [], values: [] };
  const finder = launchFinder({
    tree: { root: '/', sources: () => Object.keys(files), text: (path) => files[path as keyof typeof files] },
    wholeTree: true,
    mentioning: async () => Object.keys(files),
    isStated: false,
    mayLaunch: () => true,
    lower: async (file) => {
      asked.push(file);
      return null;
    },
    kernelsOf: (unit) => (unit === 'scale.cu' ? [{ kernel, name }] : []),
  });
  assert.deepEqual(await finder.launchesOf({ kernel, name, unit: 'scale.cu', parameters: [] }), []);
  assert.deepEqual(asked.toSorted(), ['call.cu', 'compiled-later.cpp', 'driver.cpp', 'scale.cu']);
});
