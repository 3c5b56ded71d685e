/** Kernels that another output array makes idempotent, and those that it does not help, or changes. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { classify, type ClassifyRequest } from '../../src/idempotency/classify.ts';
import { classifyElsewhere } from '../../src/idempotency/remedies.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { definedKernels } from '../interpreter/machine-kernels.ts';

const folder = new URL('./classes/', import.meta.url);
const parameters = definedKernels(readFileSync(new URL('elsewhere.cu', folder), 'utf8'));
const { module } = parsePtx(readFileSync(new URL('elsewhere.production.ptx', folder), 'utf8'));
const { kernels } = lowerModule(module);

function requestOf(name: string): ClassifyRequest {
  const kernel = kernels.find(({ symbol }) => symbol.startsWith(`_Z${name.length}${name}P`));
  assert.ok(kernel, name);
  return {
    kernel,
    module,
    parameters: parameters.get(name)!,
    objectName: (symbol) => symbol,
    checked: { race: { verdict: 'proved', assumptions: [] }, divergence: { verdict: 'proved', assumptions: [] } },
    stated: [],
  };
}

const expected: readonly (readonly [name: string, arrays: readonly string[], overlaps: readonly string[]] | readonly [name: string])[] = [
  ['twice', ['x'], ['x_new: x']],
  ['addTo', ['y'], ['y_new: y x']],
  ['move', ['at', 'speed'], ['at_new: at speed speed_new', 'speed_new: at speed']],
  ['readsBack'],
  ['inRounds'],
  ['counts'],
  ['numbered'],
  ['addRepeatedly'],
];

for (const [name, arrays, overlaps] of expected) {
  test(`${name}: ${arrays ? 'another array helps' : 'another array does not help'}`, () => {
    const request = requestOf(name);
    const found = classify(request);
    assert.equal(found.class, 'undecided');
    const changed = classifyElsewhere(request, found);
    if (!arrays) {
      assert.equal(changed, null);
      return;
    }
    assert.deepEqual(
      [...changed!.arrays].sort((a, b) => a.localeCompare(b)),
      arrays,
    );
    assert.equal(changed!.changed.class, 'conditional');
    assert.deepEqual(
      changed!.changed.overlaps.map(({ written, read }) => `${written}: ${read.join(' ')}`).sort((a, b) => a.localeCompare(b)),
      overlaps,
    );
  });
}

test('a bounded analysis decides within its limits, and never contradicts a full one', () => {
  for (const [name] of expected) {
    const request = requestOf(name);
    const [whole, brief] = [classify(request), classify({ ...request, brief: { shapes: [[256, 1, 1]] } })];
    assert.ok(brief.class === whole.class || brief.class === 'undecided');
    assert.ok(brief.reasons.length > 0 || brief.class !== 'undecided', name);
    const open = {
      ...request,
      checked: { race: { verdict: 'possible', assumptions: [] }, divergence: { verdict: 'proved', assumptions: [] } },
    } as const;
    assert.deepEqual(
      classify({ ...open, brief: { shapes: [] } }).reasons.map(({ kind }) => kind),
      ['not-race-free'],
    );
  }
});
