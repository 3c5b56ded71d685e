/** Conditions on macros that a missing header might define. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { askedNames, openConditions } from '../../../src/toolchain/stubs/open-condition.ts';

const kernel = '__global__ void k(float* x, int w) { x[0] = w; }\n';

const conditionsIn = (text: string, { from = 1, definitions = {}, unset = [] as string[] } = {}) =>
  openConditions([{ path: 'a.cu', text, from }], {
    definitions: new Map(Object.entries(definitions)),
    unset: new Set(unset),
    launching: new Set(['launches']),
    isOfProject: (header) => header === 'own.h',
  });

/** Conditions that may decide device code. */
const decisive: readonly string[] = [
  `#if LIB >= 2\n${kernel}#endif\n`,
  `#ifdef LIB\n#else\n${kernel}#endif\n`,
  `#ifndef LIB\n${kernel}#endif\n`,
  `#if __CUDA_ARCH__ > 1\n#elif LIB\n${kernel}#endif\n`,
  `__global__ void k(float* x) {\n#if defined(LIB)\n  x[0] = 1;\n#endif\n}\n`,
  `DEV void f(float* x) {\n#ifdef LIB\n  x[0] = 1;\n#endif\n}\n`,
  `constexpr int f() {\n#ifdef LIB\n  return 1;\n#endif\n  return 2;\n}\n`,
  `#ifdef LIB\n#define N 4\n#endif\n__global__ void k(float* x) { x[0] = N; }\n`,
  `#ifdef LIB\n#include "own.h"\n#endif\n`,
  `#ifdef LIB\n#include NAME\n#endif\n`,
  `#ifdef LIB\nusing namespace lib;\n#endif\n`,
  `void f() {\n#ifdef LIB\n  g([=] __device__ (int i) {});\n#endif\n}\n`,
  `#ifdef LIB\nvoid f() {\n#endif\n}\n`,
];

for (const text of decisive) {
  test(`the condition may decide device code: ${text.replaceAll('\n', ' ')}`, () => {
    const found = conditionsIn(text, { definitions: { DEV: ' __device__' } });
    assert.deepEqual(
      found.map(({ names, isDecisive }) => [names, isDecisive]),
      [[['LIB'], true]],
    );
  });
}

test('the names that a condition declares are listed, and not those of parameters', () => {
  const declaredIn = (text: string): readonly string[] => {
    const [found] = conditionsIn(text);
    assert.equal(found?.isDecisive, false, text);
    return found.declares;
  };
  assert.deepEqual(declaredIn('#ifdef LIB\nvoid open_stream(int w, int h);\n#endif\n'), ['open_stream']);
  assert.deepEqual(declaredIn('#ifdef LIB\ntypedef half real;\n#else\ntypedef float real;\n#endif\n'), ['real', 'real']);
  assert.deepEqual(declaredIn('struct layer {\n#ifdef LIB\n  int extra;\n#endif\n};\n'), ['layer', 'extra']);
  assert.deepEqual(declaredIn('void f() {\n#ifdef LIB\n  int extra;\n#endif\n}\n'), []);
  assert.deepEqual(declaredIn('#ifdef LIB\n#include <lib.h>\n#endif\n'), []);
  assert.deepEqual(declaredIn('#ifdef LIB\n#define API extern\n#endif\nAPI void f(int w);\nstruct S { API int g(); };\n'), ['f', 'S', 'g']);
});

test('only open macros count: not defined, not stated, not of compilers, after the header', () => {
  const text = `#if LIB\n${kernel}#endif\n`;
  assert.equal(conditionsIn(text).length, 1);
  assert.equal(conditionsIn(text, { definitions: { LIB: ' 1' } }).length, 0);
  assert.equal(conditionsIn(text, { unset: ['LIB'] }).length, 0);
  assert.equal(conditionsIn(text.replace('LIB', '__LIB__')).length, 0);
  assert.equal(conditionsIn(text, { from: 3 }).length, 1);
  assert.equal(conditionsIn(text, { from: 4 }).length, 0);
});

test('a condition that may decide launches is marked', () => {
  const decides = (text: string): boolean | undefined => conditionsIn(text)[0]?.decidesLaunches;
  assert.equal(decides('void f() {\n#ifdef LIB\n  k<<<1, 1>>>();\n#endif\n}\n'), true);
  assert.equal(decides('void launches() {\n#ifdef LIB\n  n = 2;\n#endif\n}\n'), true);
  assert.equal(decides('void f() {\n#ifdef LIB\n  launches();\n#endif\n}\n'), true);
  assert.equal(decides('void f() {\n#ifdef LIB\n  n = 2;\n#endif\n}\n'), false);
});

test('names in conditions are read, those in other directives are not', () => {
  assert.deepEqual(askedNames('#if defined(A) && \\\n  B\n#elif C\n#endif\n#ifdef D\n#define E F\n#endif\n'), ['A', 'B', 'C', 'D']);
});
