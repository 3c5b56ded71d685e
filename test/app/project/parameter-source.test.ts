import assert from 'node:assert/strict';
import { test } from 'node:test';
import { declaredTypes } from '../../../src/cuda/reading/struct-layout.ts';
import { readSource } from '../../../src/cuda/syntax/syntax.ts';
import { includedSources } from '../../../src/app/project/included-sources.ts';
import { kernelName } from '../../../src/cuda/names/kernel-name.ts';
import { parameterSources } from '../../../src/app/project/declared-parameters.ts';
import { kernelOf } from '../../ir/form/kernel-fixture.ts';

/** Parameters of the one kernel of a text, as if compiled with these. */
function sources(text: string, symbol: string, compiled: readonly { type: string; bytes: number; alignment: number }[]) {
  const source = readSource(text, 'a.cu');
  const [definition] = source.kernels;
  assert.ok(definition);
  const parameters = compiled.map((parameter, index) => ({ index, symbol: `${symbol}_param_${index}`, ...parameter }));
  const kernel = { ...kernelOf({ symbol }), parameters };
  return parameterSources(definition, kernel, kernelName(symbol), () => [declaredTypes(source)]);
}

const view = 'struct View { float* data; int width; int height; };\n';
const struct16 = { type: 'b8', bytes: 16, alignment: 8 };
const members = ['data@0', 'width@8', 'height@12'];

test('a struct has members if its layout and the compiled parameter agree', () => {
  const offsets = (
    compiled: { type: string; bytes: number; alignment: number },
    text = `${view}__global__ void k(View v) {}`,
    symbol = '_Z1k4View',
  ) => sources(text, symbol, [compiled])[0]?.fields?.map(({ name, offset }) => `${name}@${offset}`);
  assert.deepEqual(offsets(struct16), members);
  assert.equal(offsets({ ...struct16, bytes: 24 }), undefined);
  assert.equal(offsets({ ...struct16, alignment: 16 }), undefined);
  assert.deepEqual(offsets(struct16, `${view}extern "C" __global__ void k(const struct View v) {}`, 'k'), members);
  assert.deepEqual(offsets(struct16, `${view}template <typename T> __global__ void k(T v) {}`, '_Z1kI4ViewEvT_'), members);
  assert.deepEqual(offsets(struct16, `${view}using V = View; __global__ void k(V v) {}`, '_Z1k4View'), members);
  assert.equal(offsets(struct16, `namespace a { ${view} } __global__ void k(View v) {}`, '_Z1k4View'), undefined);
  assert.equal(offsets({ type: 'u64', bytes: 8, alignment: 8 }), undefined);
});

test('a type that the source does not determine is derived from the mangled symbol', () => {
  const text = 'template <typename T> __global__ void k(T n, const T *in, const unsigned short *rest) {}';
  const pointer = { type: 'u64', bytes: 8, alignment: 8 };
  const found = sources(text, '_Z1kIjEvT_PKS0_PKt', [{ type: 'u32', bytes: 4, alignment: 4 }, pointer, pointer]);
  assert.deepEqual(
    found.map(({ name, type }) => [name, type]),
    [
      ['n', 'unsigned int'],
      ['in', 'unsigned int const*'],
      ['rest', 'const unsigned short *'],
    ],
  );
});

test('an include resolves to the adjacent file, otherwise to every matching file', () => {
  const files: Record<string, string> = {
    'src/a.cu': '#include "view.h"\n#include <other.h>\n#include "../lib/far.h"\n',
    'src/view.h': '#include "deep/view.h"\n',
    'src/deep/view.h': '#include "../view.h"\n',
    'test/view.h': '',
    'lib/other.h': '#include "missing.h"\n',
    'test/other.h': '',
    'lib/far.h': '',
  };
  const source = (file: string) => readSource(files[file] ?? '', file);
  const found = includedSources(source('src/a.cu'), Object.keys(files), source).map(({ file }) => file);
  assert.deepEqual(found.sort(), ['lib/far.h', 'lib/other.h', 'src/deep/view.h', 'src/view.h', 'test/other.h']);
});
