/**
 * Loops that add to a variable or halve it on some paths and may end at a limit: the range and the bound that are found
 * hold in all iterations, for all paths.
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

/** One step of an iteration: the variable changes, or the loop ends, or both, on some path or on all. */
interface Step {
  readonly kind: 'add' | 'halve' | 'leave' | 'both';
  /** Whether an element of an array decides whether the step is taken. */
  readonly isSometimes: boolean;
  readonly amount: number;
  /** The loop ends unless the variable compares so with the limit: the parameter `n`, or a constant. */
  readonly stays: Comparison;
  readonly limit: number | 'n';
}

interface Program {
  readonly start: number | 'n';
  readonly rounds: number;
  readonly least: number;
  readonly steps: readonly Step[];
}

/** The loop ends at a limit before the variable shrinks on some path. */
function walkDown(random: Random): readonly Step[] {
  const [stays, limit] = [random.pick(['ge', 'gt'] as const), random.pick([0, 0, 1, -1, -(2 ** 31) + 1])];
  return [
    { kind: 'leave', isSometimes: false, amount: 0, stays, limit },
    { kind: 'add', isSometimes: true, amount: random.pick([-1, -2]), stays, limit },
  ];
}

/** Starts from which one iteration may wrap around. */
const extremes = [2 ** 31 - 2, -(2 ** 31) + 1];

function randomProgram(random: Random): Program {
  const kinds = random.pick([
    ['add', 'leave', 'both', 'both'],
    ['add', 'leave', 'both', 'both'],
    ['leave', 'add', 'both'],
    ['halve', 'halve', 'leave'],
  ] as const);
  const shrinks = random.chance(0.5);
  const step = (): Step => {
    const amount = random.pick(shrinks ? [1, 1, 2, 0, -1, -1, -2] : [1, 1, 1, 1, 1, 2, 0]);
    return {
      kind: random.pick(kinds),
      isSometimes: random.chance(0.6),
      amount,
      stays: random.pick(amount < 0 ? ['ge', 'gt', ...comparisons] : ['lt', 'lt', 'ne', 'ne', ...comparisons]),
      limit: random.chance(amount < 0 ? 0.8 : 0.2) ? random.pick([0, 0, 0, 1, -1, extremes[1]!]) : 'n',
    };
  };
  return {
    start: random.pick([
      ...(kinds[0] === 'halve' ? [7, 32, -9, 'n' as const, 'n' as const] : [0, 0, 0, 1, -1, 'n' as const]),
      ...(random.chance(0.1) ? extremes : []),
    ]),
    rounds: random.pick([1, 2, 3, 4, 5, 6, 1000000]),
    least: random.pick([1, 1, 2, 0]),
    steps: [...(random.chance(0.2) ? walkDown(random) : []), ...Array.from({ length: random.between(1, 3) }, step)],
  };
}

/** A loop with the variable in %r20, which is stored at its start; the bound is n. */
function bodyOf({ start, rounds, steps }: Program): string {
  const texts = steps.map(({ kind, isSometimes, amount, stays, limit }, at) => {
    const skip = isSometimes ? `ld.u32 %r3${at}, [%d2+${4 * at}]; setp.eq.s32 %p${at}, %r3${at}, 0; @%p${at} bra SKIP${at};` : '';
    const add = kind === 'add' || kind === 'both' ? `add.s32 %r20, %r20, ${amount};` : '';
    const halve = kind === 'halve' ? 'add.s32 %r20, %r20, 1; shr.s32 %r20, %r20, 1;' : '';
    const leave =
      kind === 'leave' || kind === 'both'
        ? `setp.${negated[stays]}.s32 %p1${at}, %r20, ${limit === 'n' ? '%r9' : limit}; @%p1${at} bra END;`
        : '';
    return `${skip} ${add} ${halve} ${leave}\nSKIP${at}:`;
  });
  return `mov.u32 %r20, ${start === 'n' ? '%r9' : start}; mov.u32 %r21, 0; mov.u64 %d5, %d1;
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
  let value = start === 'n' ? bound : start;
  for (let round = 0; round < Math.min(rounds, 30); round++) {
    seen.push(value);
    for (const { kind, isSometimes, amount, stays, limit } of steps) {
      if (isSometimes && random.chance(0.3)) continue;
      if (kind === 'halve') value = ((value + 1) | 0) >> 1;
      if (kind === 'add' || kind === 'both') value = (value + amount) | 0;
      if ((kind === 'leave' || kind === 'both') && !holds(stays, value, limit === 'n' ? bound : limit)) return seen;
    }
  }
  return seen;
}

test('ranges and bounds of loop variables hold on all paths', () => {
  const counts = { ranges: 0, bounds: 0, shrinking: 0, halving: 0 };
  for (let seed = 0; seed < sweep(800, 20_000); seed++) {
    const random = seededRandom(seed);
    const program = randomProgram(random);
    const { kernel, symbolic } = contextOf(bodyOf(program), { assume: [`n >= ${program.least}`, 'n <= 100'] });
    const { instruction, block } = kernel.blocks
      .flatMap(({ id, instructions }) => instructions.map((one) => ({ instruction: one, block: id })))
      .find(({ instruction: one }) => one.operation.effect.kind === 'store')!;
    const stored = symbolic.operand(instruction.arguments[1]!);
    if (stored.atom?.kind !== 'havoc') continue;
    const { low, high, assumes } = symbolic.view.signed(stored);
    assert.deepEqual(assumes, []);
    const reach = symbolic.reach(block);
    const conditions = reach.operator === 'all' ? reach.arguments : [reach];
    const isBelow = conditions.some(({ operator, arguments: [a, b] }) => operator === 'slt' && a === stored && b!.operator !== 'constant');
    const isRange = low > -(1n << 31n);
    if (isRange) counts.ranges++;
    if (isBelow) counts.bounds++;
    if (isRange && program.steps.some(({ kind, amount }) => kind === 'both' && amount < 0)) counts.shrinking++;
    if (isRange && program.steps.some(({ kind }) => kind === 'halve')) counts.halving++;
    for (let bound = program.least; bound < program.least + 4; bound++)
      for (let run = 0; run < 30; run++)
        for (const value of valuesOf(program, bound, random)) {
          const where = `seed ${seed}, n = ${bound}: ${JSON.stringify(program)}`;
          assert.ok(low <= BigInt(value) && BigInt(value) <= high, where);
          if (isBelow) assert.ok(value < bound, where);
        }
  }
  assert.ok(
    Object.values(counts).every((count) => count > 10),
    JSON.stringify(counts),
  );
});

test('a condition on one of two paths to an iteration does not limit the variable', () => {
  for (const skip of ['@%p1', '@!%p1'])
    for (const [change, leaves, end] of [
      ['add.s32 %r20, %r20, 1;', 'ge', ['n >= 1', 'n <= 100']],
      ['sub.s32 %r20, %r20, 1;', 'lt', ['n >= -100', 'n <= -1']],
    ] as const) {
      const { kernel, symbolic } = contextOf(
        `mov.u32 %r20, 0; mov.u32 %r21, 0; LOOP: st.u32 [%d1], %r20; ld.u32 %r31, [%d2+4]; setp.eq.s32 %p5, %r31, 0; @%p5 bra S; ${change} S:
          ld.u32 %r30, [%d2]; setp.eq.s32 %p1, %r30, 0; ${skip} bra G; st.u32 [%d2+64], 1;
          J: add.s32 %r21, %r21, 1; setp.lt.s32 %p30, %r21, 1000; @%p30 bra LOOP; bra END;
          G: setp.${leaves}.s32 %p2, %r20, %r9; @%p2 bra END; bra J; END:`,
        { assume: end },
      );
      const { instruction } = kernel.blocks
        .flatMap(({ instructions }) => instructions.map((one) => ({ instruction: one })))
        .find(({ instruction: one }) => one.operation.effect.kind === 'store')!;
      const { low, high } = symbolic.view.signed(symbolic.operand(instruction.arguments[1]!));
      assert.ok(
        low <= (change.startsWith('sub') ? -999n : 0n) && high >= (change.startsWith('add') ? 999n : 0n),
        `${skip} ${change} ${low} to ${high}`,
      );
    }
});
