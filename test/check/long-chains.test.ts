/** Hashes: thousands of sums, rotations and xors in a row. The work of each analysis is linear in their number. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { evaluateSymbolically } from '../../src/analysis/values/symbolic.ts';
import { OutOfTime } from '../../src/base/out-of-time.ts';
import { boundKernel, outOfTime } from '../../src/cost/kernel-cost.ts';
import { classify } from '../../src/idempotency/classify.ts';
import type { Kernel, ValueId } from '../../src/ir/form/kernel.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { type Term, TermStore } from '../../src/term/term.ts';
import { kernelOf, pointersAndNumbers } from './kernel-text.ts';

/** Each half of the state is added to the other, then swapped and rotated: 64 bits rotate as two halves of 32. */
function hash(steps: number): Kernel {
  const step = (at: number): string => `
    add.s64 %d10, %d10, %d11;
    mov.b64 {%r10, %r11}, %d11;
    shf.l.wrap.b32 %r12, %r10, %r11, ${(at % 31) + 1};
    shf.l.wrap.b32 %r13, %r11, %r10, ${(at % 31) + 1};
    mov.b64 %d12, {%r12, %r13};
    xor.b64 %d11, %d12, %d10;`;
  const rounds = Array.from({ length: steps }, (_, at) => step(at)).join('');
  return kernelOf(`
    mul.wide.u32 %d3, %r0, 8;
    add.s64 %d4, %d1, %d3;
    ld.global.u64 %d10, [%d4];
    mul.wide.u32 %d11, %r0, 77;${rounds}
    cvt.u32.u64 %r14, %d11;
    setp.lt.u32 %p1, %r14, %r9;
    @%p1 bra END;
    add.s64 %d5, %d2, %d3;
    st.global.u64 [%d5], %d11;
    END: ret;`);
}

/** `a + b + c + …` of loaded values: a sum has no depth, but one more addend at each step. */
function longSum(addends: number): Kernel {
  const add = (at: number): string => `ld.global.u32 %r11, [%d1+${4 * at}];\nadd.s32 %r10, %r10, %r11;`;
  const all = Array.from({ length: addends }, (_, at) => add(at)).join('\n');
  return kernelOf(`mov.u32 %r10, 0;\n${all}\nst.global.u32 [%d2], %r10;\nret;`);
}

/** Counts constructor calls of terms, plus their operands; a count over the limit fails the test. */
function workOf(context: TestContext, run: () => void, most: number): number {
  const proto = TermStore.prototype as unknown as { make: (operator: string, width: number, parts: readonly Term[]) => Term };
  const { make } = proto;
  let work = 0;
  const counted = context.mock.method(proto, 'make', function (this: TermStore, ...made: Parameters<typeof make>) {
    work += 1 + made[2].length;
    assert.ok(work <= most, `more than ${most} steps`);
    return make.apply(this, made);
  });
  run();
  counted.mock.restore();
  return work;
}

/** A deadline that expires when it is queried for the n-th time. */
function upAfter(most: number): () => boolean {
  let asked = 0;
  return () => (asked += 1) > most;
}

const unknown = (): undefined => undefined;
const dimensions = { block: [null, null, null], grid: [null, null, null] } as const;

const never = (): boolean => false;
const analyses = {
  values: (kernel: Kernel, expired = never) => {
    const { value } = evaluateSymbolically(kernel, { dimensions, scalar: unknown, scalarBounds: unknown, sharedBytes: null, expired });
    kernel.values.forEach((_, id) => value(id as ValueId));
  },
  costs: (kernel: Kernel, expired = never) =>
    boundKernel({
      kernel,
      dimensions,
      sharedBytes: null,
      declaredAs: () => 'unknown',
      parameterName: () => null,
      expired,
    }),
  idempotency: (kernel: Kernel, expired = never) =>
    classify({
      kernel,
      module: parsePtx('').module,
      parameters: pointersAndNumbers,
      objectName: (symbol) => symbol,
      checked: null,
      stated: [],
      expired,
    }),
};

for (const [name, analyse] of Object.entries(analyses)) {
  test(`${name} of a hash take work in proportion to its steps`, (context) => {
    const [short, long] = [hash(300), hash(600)].map((kernel) => workOf(context, () => analyse(kernel), 1_000_000));
    assert.ok(long! < 2.2 * short!, `${long} steps for 600, ${short} for 300`);
  });

  test(`${name} of a sum of thousands of addends take work in proportion to their number`, (context) => {
    const [short, long] = [longSum(600), longSum(1200)].map((kernel) => workOf(context, () => analyse(kernel), 1_000_000));
    assert.ok(long! < 2.2 * short!, `${long} steps for 1200, ${short} for 600`);
  });
}

test('each analysis checks its deadline, whenever it expires, and reports it', () => {
  const kernel = hash(50);
  for (const most of [0, 1, 100]) {
    assert.throws(() => analyses.values(kernel, upAfter(most)), OutOfTime);
    const { bound, reason } = analyses.costs(kernel, upAfter(most)).steps;
    assert.deepEqual([bound, reason], [null, outOfTime]);
    const { class: found, reasons } = analyses.idempotency(kernel, upAfter(most));
    assert.deepEqual([found, reasons.map(({ kind }) => kind)], ['undecided', ['out-of-time']]);
  }
  // After the values of the kernel, the cost analysis checks it at each block and idempotency at each pair.
  const asked = kernel.blocks.reduce((sum, { instructions }) => sum + instructions.length, 0);
  assert.equal(analyses.costs(kernel, upAfter(asked + 1)).steps.reason, outOfTime);
  assert.equal(analyses.idempotency(kernel, upAfter(asked + 1)).reasons[0]?.kind, 'out-of-time');
});
