/** Kernels with thousands of branches, sequential and nested: the analyses end within their budgets. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { classify } from '../../src/idempotency/classify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { check, closeSolver, kernelOf, pointersAndNumbers } from './kernel-text.ts';

after(closeSolver);

/** `if (t + n > 0) { a[0] = t; if (t + n > 1) { a[1] = t; … } }`. */
function nested(depth: number): string {
  const levels = Array.from(
    { length: depth },
    (_, at) => `setp.le.s32 %p1, %r10, ${at};\n@%p1 bra END;\nst.global.u32 [%d1+${4 * at}], %r0;`,
  );
  return `add.s32 %r10, %r0, %r9;\n${levels.join('\n')}\nEND: ret;`;
}

/** `if (t == 0) t++; if (t == 1) t++; …; b[t] = t`. */
function inARow(count: number): string {
  const steps = Array.from(
    { length: count },
    (_, at) => `setp.ne.s32 %p1, %r10, ${at};\n@%p1 bra N${at};\nadd.s32 %r10, %r10, 1;\nN${at}:`,
  );
  return `mov.u32 %r10, %r0;\n${steps.join('\n')}\nmul.wide.s32 %d10, %r10, 4;\nadd.s64 %d11, %d2, %d10;\nst.global.u32 [%d11], %r10;\nret;`;
}

test('nested branches with too many pairs of accesses: a race is witnessed, the other pairs stay open', async () => {
  const { race, open } = await check(nested(300));
  assert.equal(race.verdict, 'race');
  assert.equal(open.beside?.kind, 'many-pairs');
});

test('sequential branches: the threads increment one after the other, and all store to the same element', async () => {
  const { race } = await check(inARow(400));
  assert.equal(race.verdict, 'race');
});

test('comparisons over the budget are undecided, with the same reason on every computer', () => {
  const kernel = kernelOf(nested(300));
  const { class: found, reasons } = classify({
    kernel,
    module: parsePtx('').module,
    parameters: pointersAndNumbers,
    objectName: (symbol) => symbol,
    checked: null,
    stated: [],
  });
  assert.deepEqual([found, reasons.map(({ kind }) => kind)], ['undecided', ['too-large']]);
});
