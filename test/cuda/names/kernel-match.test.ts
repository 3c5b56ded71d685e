import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demangle } from '../../../src/cuda/names/demangle.ts';
import { findKernel, kernelParameters } from '../../../src/cuda/names/kernel-match.ts';
import { readSource } from '../../../src/cuda/syntax/syntax.ts';

const text = `namespace ns { namespace { template <class T> __global__ void anont(T* p) {} } }
namespace other { __global__ void k(int* p) {} }
__global__ void k(int* p) {}
__global__ void k(float* p, int n) {}
template <int N> __global__ void red(float* p) {}
template <> __global__ void red<64>(float* p) {}
template <class... Ts> __global__ void pack(int first, Ts... rest) {}
extern "C" __global__ void plain(int, float* q) {}
INLINE_NAMESPACE_BEGIN
__global__ void versioned(int* p) {}
`;
const source = readSource(text, 'a.cu');

function lineFor(symbol: string, line?: number): number | undefined {
  const name = demangle(symbol);
  assert.ok(name, symbol);
  return findKernel(source, name, line)?.firstLine;
}

test('kernels are distinguished by name, number of parameters and line', () => {
  assert.equal(lineFor('_ZN2ns39_GLOBAL__N__454c6acf_8_names_cu__Z3dbli5anontIsEEvPT_'), 1);
  assert.equal(lineFor('_ZN5other1kEPi'), 2);
  assert.equal(lineFor('_Z1kPi'), 3);
  assert.equal(lineFor('_Z1kPfi'), 4);
  assert.equal(lineFor('_Z1kPi', 3), 3);
  assert.equal(lineFor('_Z1kPi', 4), undefined);
  assert.equal(lineFor('plain'), 8);
  assert.equal(lineFor('_Z7missingPi'), undefined);
});

test('an explicit specialisation is the definition only for its arguments', () => {
  assert.equal(lineFor('_Z3redILi64EEvPf'), 6);
  assert.equal(lineFor('_Z3redILi32EEvPf'), 5);
});

test('a namespace that the text does not show is bridged by the line', () => {
  assert.equal(lineFor('_ZN2v19versionedEPi', 10), 9);
  assert.equal(lineFor('_ZN2v19versionedEPi'), undefined);
});

test('parameters without a name and packs get numbers', () => {
  const [plain] = source.kernels.filter(({ name }) => name === 'plain');
  const [pack] = source.kernels.filter(({ name }) => name === 'pack');
  assert.ok(plain && pack);
  assert.deepEqual(
    kernelParameters(plain, 2).map(({ name }) => name),
    ['param0', 'q'],
  );
  assert.deepEqual(kernelParameters(plain, 3), []);
  assert.deepEqual(
    kernelParameters(pack, 4).map(({ name }) => name),
    ['first', 'param1', 'param2', 'param3'],
  );
});
