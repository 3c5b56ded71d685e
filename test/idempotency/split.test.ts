/** Kernels that a split at barriers makes idempotent, and those that it does not help. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { classify, type ClassifyRequest } from '../../src/idempotency/classify.ts';
import { classifySplit } from '../../src/idempotency/remedies.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { definedKernels } from '../interpreter/machine-kernels.ts';

const folder = new URL('./classes/', import.meta.url);
const source = readFileSync(new URL('split.cu', folder), 'utf8');
const parameters = definedKernels(source);
const { module } = parsePtx(readFileSync(new URL('split.production.ptx', folder), 'utf8'));
const { kernels } = lowerModule(module);

/** By name: the barriers that split the kernel, in their order; null: none helps. */
const expected: Readonly<Record<string, readonly number[] | null>> = {
  reverseTile: [0],
  sumBefore: [0],
  exchangeTwice: [0, 2],
  exchangeInSome: [0],
  doubledBefore: null,
  countedBehind: null,
  inRounds: null,
  onOneWay: null,
  unrolled: null,
};

for (const [name, barriers] of Object.entries(expected)) {
  test(`${name}: ${barriers ? 'splitting it helps' : 'splitting it does not help'}`, () => {
    const kernel = kernels.find(({ symbol }) => symbol.startsWith(`_Z${name.length}${name}P`));
    assert.ok(kernel);
    const request: ClassifyRequest = {
      kernel,
      module,
      parameters: parameters.get(name)!,
      objectName: (symbol) => symbol,
      checked: { race: { verdict: 'proved', assumptions: [] }, divergence: { verdict: 'proved', assumptions: [] } },
      stated: [],
    };
    const found = classify(request);
    assert.equal(found.class, 'undecided');
    assert.ok(found.rewrites.length > 0);
    const parts = classifySplit(request, found);
    const lines = source.split('\n');
    const from = lines.findIndex((line) => line.includes(` ${name}(`));
    const own = lines.flatMap((line, at) => (at > from && line.includes('__syncthreads') ? [at + 1] : []));
    assert.deepEqual(parts && parts.flatMap(({ barrier }) => barrier?.line ?? []), barriers && barriers.map((at) => own[at]));
    for (const part of parts ?? []) assert.notEqual(part.condition.kind, 'never');
  });
}
