/**
 * Loops that add to a variable on some paths and may end at a bound: the range and the bound that are found hold in all
 * iterations, for all paths.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { contextOf } from '../../check/kernel-text.ts';
import { sweep } from '../../run/sweep.ts';

const comparisons = ['lt', 'le', 'gt', 'ge', 'eq', 'ne'] as const;
type Comparison = (typeof comparisons)[number];

const negated: Readonly<Record<Comparison, Comparison>> = {
  lt: 'ge',
  le: 'gt',
  gt: 'le',
  ge: 'lt',
  eq: 'ne',
  ne: 'eq',
};

/** One step of an iteration: the variable grows, or the loop ends, or both, on some path or on all. */
interface Step {
  readonly kind: 'add' | 'leave' | 'both';
  /** Whether an element of an array decides whether the step is taken. */
  readonly isSometimes: boolean;
  readonly amount: number;
  /** The loop ends unless the variable compares so with the bound. */
  readonly stays: Comparison;
}

interface Program {
  readonly start: number;
  readonly rounds: number;
  readonly least: number;
  readonly steps: readonly Step[];
}

function randomProgram(random: Random): Program {
  const step = (): Step => ({
    kind: random.pick(['add', 'leave', 'both', 'both'] as const),
    isSometimes: random.chance(0.6),
    amount: random.pick([1, 1, 1, 1, 1, 2, 0, -1]),
    stays: random.pick(['lt', 'lt', 'ne', 'ne', ...comparisons]),
  });
  return {
    start: random.pick([0, 0, 1, -1]),
    rounds: random.between(1, 6),
    least: random.pick([1, 1, 2, 0]),
    steps: Array.from({ length: random.between(1, 3) }, step),
  };
}

/** A loop with the variable in %r20, which is stored at its start; the bound is n. */
function bodyOf({ start, rounds, steps }: Program): string {
  const texts = steps.map(({ kind, isSometimes, amount, stays }, at) => {
    const skip = isSometimes ? `ld.u32 %r3${at}, [%d2+${4 * at}]; setp.eq.s32 %p${at}, %r3${at}, 0; @%p${at} bra SKIP${at};` : ''; // oxfmt-ignore
    const add = kind === 'leave' ? '' : `add.s32 %r20, %r20, ${amount};`;
    const leave = kind === 'add' ? '' : `setp.${negated[stays]}.s32 %p1${at}, %r20, %r9; @%p1${at} bra END;`;
    return `${skip} ${add} ${leave}\nSKIP${at}:`;
  });
  return `mov.u32 %r20, ${start}; mov.u32 %r21, 0; mov.u64 %d5, %d1;
LOOP: st.u32 [%d1], %r20;
${texts.join('\n')}
add.s32 %r21, %r21, 1; setp.lt.s32 %p30, %r21, ${rounds}; @%p30 bra LOOP;
END:`;
}

function holds(stays: Comparison, a: number, b: number): boolean {
  switch (stays) {
    case 'lt':
      return a < b;
    case 'le':
      return a <= b;
    case 'gt':
      return a > b;
    case 'ge':
      return a >= b;
    case 'eq':
      return a === b;
    case 'ne':
      return a !== b;
  }
}

/** The values of the variable at the starts of iterations, on random paths. */
function valuesOf({ start, rounds, steps }: Program, bound: number, random: Random): readonly number[] {
  const seen: number[] = [];
  let value = start;
  for (let round = 0; round < rounds; round++) {
    seen.push(value);
    for (const { kind, isSometimes, amount, stays } of steps) {
      if (isSometimes && random.chance(0.3)) continue;
      if (kind !== 'leave') value += amount;
      if (kind !== 'add' && !holds(stays, value, bound)) return seen;
    }
  }
  return seen;
}

test('ranges and bounds of variables that grow on some paths hold on all paths', () => {
  const counts = { ranges: 0, bounds: 0 };
  for (let seed = 0; seed < sweep(400, 20_000); seed++) {
    const random = seededRandom(seed);
    const program = randomProgram(random);
    const { kernel, symbolic } = contextOf(bodyOf(program), { assume: [`n >= ${program.least}`] });
    const { instruction, block } = kernel.blocks.flatMap(({ id, instructions }) => instructions.map((one) => ({ instruction: one, block: id }))).find(({ instruction: one }) => one.operation.effect.kind === 'store')!; // oxfmt-ignore
    const stored = symbolic.operand(instruction.arguments[1]!);
    if (stored.atom?.kind !== 'havoc') continue;
    const { low, high, assumes } = symbolic.view.signed(stored);
    assert.deepEqual(assumes, []);
    const reach = symbolic.reach(block);
    const conditions = reach.operator === 'all' ? reach.arguments : [reach];
    const isBelow = conditions.some(({ operator, arguments: [a] }) => operator === 'slt' && a === stored);
    if (low > -(1n << 31n)) counts.ranges++;
    if (isBelow) counts.bounds++;
    for (let bound = program.least; bound < program.least + 4; bound++)
      for (let run = 0; run < 30; run++)
        for (const value of valuesOf(program, bound, random)) {
          const where = `seed ${seed}, n = ${bound}: ${JSON.stringify(program)}`;
          assert.ok(low <= BigInt(value) && BigInt(value) <= high, where);
          if (isBelow) assert.ok(value < bound, where);
        }
  }
  assert.ok(counts.ranges > 20 && counts.bounds > 10, JSON.stringify(counts));
});
