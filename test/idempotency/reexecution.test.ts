/** Results of re-execution for launches with a known class, and the examples of the paper PICKER. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import { confirmNonIdempotent, confirmUnordered } from '../../src/idempotency/reexecution/confirm.ts';
import { type Reexecution, reexecute } from '../../src/idempotency/reexecution/reexecute.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { kernelOf as kernelOfBody, pointersAndNumbers, requestFor } from '../check/kernel-text.ts';
import { ptxFile } from '../kernels/portable-ptx.ts';
import { builds, originLine, sourceOf } from '../interpreter/machine-kernels.ts';
import { type CorpusKernel, corpusFiles, readCorpus } from './corpus.ts';

const corpus = readCorpus();

function kernelOf(name: string): CorpusKernel {
  return corpus.find((kernel) => kernel.name === name)!;
}

interface Launched {
  readonly block?: number;
  readonly grid?: number;
  /** Arguments in order: the byte in the one buffer at which an array begins, or a scalar. */
  readonly arguments: readonly (number | { readonly scalar: number })[];
  readonly bytes: number;
  readonly windows?: readonly { readonly offset: number; readonly bytes: number }[];
  readonly stops?: number;
  readonly steps?: number;
}

/** Runs a kernel again on arrays in one buffer, whose bytes are 0 to 96. */
function again(name: string, launched: Launched): Reexecution {
  const { block = 64, grid = 2, bytes, windows, stops = 12, steps = 400_000 } = launched;
  const initial = new Uint8Array(bytes).map((_, at) => (at * 37 + (at >> 6)) % 97);
  const buffer: GlobalBuffer = { name: 'm', bytes, elementBytes: 1, fill: 0n, values: new Map(), initial };
  return reexecute({
    kernel: kernelOf(name).executable,
    block: [block, 1, 1],
    grid: [grid, 1, 1],
    sharedBytes: 0,
    buffers: [buffer],
    arguments: launched.arguments.map((argument): Argument =>
      typeof argument === 'number'
        ? { kind: 'pointer', buffer: 0, offset: BigInt(argument) }
        : { kind: 'scalar', value: BigInt(argument.scalar) },
    ),
    ...(windows && { windows: windows.map((window) => ({ buffer: 0, ...window })) }),
    stops,
    steps,
    seed: 3,
  });
}

test('Figure 1: vectorSet is idempotent, vectorInc is not, and vectorAdd has both kinds of instances', () => {
  assert.equal(again('vectorSet', { arguments: [0, { scalar: 9 }], bytes: 512 }).idempotent, true);
  assert.equal(again('vectorInc', { arguments: [0], bytes: 512 }).idempotent, false);
  const disjoint = { block: 64, grid: 32, bytes: 3 * 8192 };
  assert.equal(again('vectorAdd', { ...disjoint, arguments: [16384, 0, 8192] }).idempotent, true);
  assert.equal(again('vectorAdd', { ...disjoint, arguments: [0, 8192, 0] }).idempotent, false);
});

test('Figure 4: reads 0x10000 to 0x1ffff, writes 0x20000 to 0x2ffff', () => {
  const numbers = { block: 0x20, grid: 0x20, bytes: 0x30000, stops: 2, steps: 2_000_000 };
  const windows = [0x10000, 0x20000].map((offset) => ({ offset, bytes: 0x10000 }));
  const launched = { ...numbers, arguments: [0x10000, 0x20000, { scalar: 16 }] };
  assert.equal(again('elemwiseRelu', { ...launched, windows }).idempotent, true);
  const short = windows.map((window, at) => ({ ...window, bytes: window.bytes - at }));
  const left = again('elemwiseRelu', { ...launched, windows: short });
  assert.ok(left.idempotent === 'undetermined' && left.why === 'left-arrays');
  assert.equal(again('elemwiseRelu', { ...launched, arguments: [0x10004, 0x10000, { scalar: 16 }] }).idempotent, false);
});

test('Figure 5: the cases that the paper misses are idempotent', () => {
  assert.equal(again('evenFromOdd', { arguments: [0], bytes: 1024 }).idempotent, true);
  assert.equal(again('writeThenRead', { arguments: [0, 512], bytes: 1024 }).idempotent, true);
  const n = { scalar: 128 };
  assert.equal(again('readOnCondition', { arguments: [1536, 512, 1024, n], bytes: 1540 }).idempotent, true);
  assert.equal(again('activateIndirectly', { arguments: [{ scalar: 1 }, 0, 512, n], bytes: 1024 }).idempotent, true);
});

test('re-execution compares bytes, not elements', () => {
  const n = { scalar: 128 };
  const bytes = 128;
  assert.equal(again('invertBytes', { arguments: [0, bytes, n], bytes: 2 * bytes }).idempotent, true);
  assert.equal(again('invertBytes', { arguments: [0, bytes - 1, n], bytes: 2 * bytes }).idempotent, false);
  assert.equal(again('widenBytes', { arguments: [4 * bytes, 0, n], bytes: 5 * bytes }).idempotent, true);
  assert.equal(again('widenBytes', { arguments: [4 * bytes - 1, 0, n], bytes: 5 * bytes }).idempotent, false);
});

test('some non-idempotent launches differ only if the first execution is stopped midway', () => {
  const restored = again('changeAndRestore', { arguments: [0, 512], bytes: 1024 });
  assert.ok(restored.idempotent === false && restored.difference.kind === 'stop');
  const counted = again('lastBlockSums', { arguments: [0, 512, 520, 524], bytes: 528 });
  assert.equal(counted.idempotent, false);
});

test('initial contents of shared memory decide nothing, or the launch is not idempotent', () => {
  const unwritten = again('sharedWithoutWriting', { arguments: [0], bytes: 512 });
  assert.ok(unwritten.idempotent === false && unwritten.difference.kind === 'schedule' && !unwritten.difference.isOfOrder);
  assert.equal(again('reverseThroughGlobal', { arguments: [0, 512, 1024], bytes: 1536 }).idempotent, true);
  assert.equal(again('reverseBlocksInPlace', { arguments: [0], bytes: 512 }).idempotent, false);
});

test('the clobber test of the paper is stricter: a rewrite of the same value is harmless', () => {
  const n = { scalar: 128 };
  const copied = again('copyOntoItself', { arguments: [0], bytes: 512 });
  assert.equal(copied.idempotent, true);
  assert.deepEqual([copied.clobbers.bytes, copied.clobbers.rewritten], [512, 512]);
  const clamped = again('clampInPlace', { arguments: [0, n], bytes: 512 });
  assert.equal(clamped.idempotent, true);
  assert.ok(clamped.clobbers.bytes === 512 && clamped.clobbers.rewritten < 512);
  assert.equal(again('evenFromOdd', { arguments: [0], bytes: 1024 }).clobbers.bytes, 0);
  assert.equal(again('writeThenRead', { arguments: [0, 512], bytes: 1024 }).clobbers.bytes, 0);
});

test('launches that access out of bounds or exceed the step budget are undetermined', () => {
  const n = { scalar: 128 };
  const left = again('reluInPlace', { arguments: [0, n], bytes: 508 });
  assert.ok(left.idempotent === 'undetermined' && left.why === 'left-arrays');
  const long = again('reluInPlace', { arguments: [0, n], bytes: 512, steps: 300 });
  assert.ok(long.idempotent === 'undetermined' && long.why === 'budget');
});

test('a search over representative launches confirms kernels that are never idempotent, and no others', () => {
  const confirmed = (name: string) => {
    const { kernel, parameters } = kernelOf(name);
    const request = requestFor(kernel, { block: null, grid: null, parameters });
    return confirmNonIdempotent(kernelContext(request), { steps: 50_000, launches: 4 });
  };
  for (const name of ['vectorInc', 'axpy', 'scanInPlace', 'histogram', 'transposeInPlace', 'advanceFields', 'compactByCounter']) {
    const found = confirmed(name);
    assert.ok(found, name);
    assert.ok(found.witness.block.every((size) => size >= 1));
  }
  for (const name of ['vectorAdd', 'reluInPlace', 'evenFromOdd', 'multiplyTiled', 'gather', 'fillStrided'])
    assert.equal(confirmed(name), null, name);
});

test('a race refutes a launch by its schedule; without other facts, at each large representative launch', () => {
  const ofBody = (body: string) =>
    confirmUnordered(kernelContext(requestFor(kernelOfBody(body), { block: null, grid: null, parameters: pointersAndNumbers })), {
      steps: 50_000,
      launches: 4,
    });
  const guarded = (body: string): string =>
    `setp.ge.s32 %p1, %r7, %r9;\n@%p1 bra DONE;\nmul.wide.s32 %d4, %r7, 4;\nadd.s64 %d5, %d1, %d4;\nld.global.u32 %r1, [%d5];\n${body}\nDONE: ret;`;
  const found = ofBody(guarded('st.global.u32 [%d2], %r1;'));
  assert.ok(found?.difference.kind === 'schedule' && found.difference.isOfOrder);
  assert.equal(ofBody(guarded('add.s64 %d6, %d2, %d4;\nst.global.u32 [%d6], %r1;')), null);
  // Unwritten shared memory is independent of the order.
  const { kernel, parameters } = kernelOf('sharedWithoutWriting');
  assert.equal(confirmUnordered(kernelContext(requestFor(kernel, { block: null, grid: null, parameters }))), null);
});

test('the corpus has its intended size, and its builds are of these sources', () => {
  const accesses = ({ kernel }: CorpusKernel): number =>
    kernel.blocks
      .flatMap(({ instructions }) => instructions)
      .filter(({ operation: { effect } }) => ['load', 'store', 'atomic'].includes(effect.kind)).length;
  assert.ok(corpus.length >= 80, `${corpus.length} kernels`);
  assert.ok(corpus.filter((kernel) => accesses(kernel) >= 20).length >= 25);
  assert.equal(new Set(corpus.map(({ name }) => name)).size, corpus.length);
  for (const file of corpusFiles()) {
    for (const build of builds) {
      const text = readFileSync(ptxFile(file, build), 'utf8');
      assert.ok(text.startsWith(originLine(sourceOf(file))), `${file}: node test/idempotency/regenerate.ts`);
    }
  }
});
