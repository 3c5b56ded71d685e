import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SymbolicKernel } from '../../../src/analysis/values/symbolic.ts';
import { seededRandom } from '../../../src/base/random.ts';
import type { BlockId, ValueId } from '../../../src/ir/form/kernel.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { inside, signedBounds, unsignedBounds } from '../../../src/term/linear.ts';
import type { Term } from '../../../src/term/term.ts';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { randomKernel } from '../../fuzz/random-kernel.ts';
import { type CheckOptions, contextOf, requestFor } from '../../check/kernel-text.ts';
import { type Setting, type State, walk } from '../barriers/walk.ts';

const end = 'st.u32 [%d1], %r1; st.u32 [%d1+4], %r2; st.u32 [%d1+8], %r3;';

function settingOf(thread: number, n = 0n, m = 0n): Setting {
  const parameter = (index: number): bigint => [1n << 30n, 1n << 31n, n, m][index]!;
  return { thread: [thread, 0, 0], block: [1, 0, 0], blockSize: [64, 1, 1], gridSize: [3, 1, 1], parameter };
}

/** Whether some leaf is a value that is not expressed. */
const isOpen = (term: Term): boolean => term.leaves.some(({ atom }) => atom!.kind === 'havoc');

/** The header phis of all loops, as terms by register. */
function loopVariables({ kernel, value }: SymbolicKernel): Map<string, Term> {
  const found = new Map<string, Term>();
  for (const { header } of kernel.loops)
    for (const { result } of kernel.blocks[header]!.phis) found.set(kernel.values[result]!.register ?? `v${result}`, value(result));
  return found;
}

/** Compares the symbolic values in a state of a walk with its integers. */
function compareState(symbolic: SymbolicKernel, state: State, ids: readonly (ValueId | null)[], where: string): void {
  const { view } = symbolic;
  for (const id of ids) {
    if (id === null) continue;
    const term = symbolic.value(id);
    const value = state.evaluate(term);
    assert.equal(value, state.value(id), `${where}, value ${id} in iterations ${state.rounds.join()}`);
    if (value === undefined) continue;
    if (term.width === 0) {
      const decided = view.decide(term);
      assert.ok(decided === undefined || decided === (value === 1n), `${where}, condition ${id}`);
      continue;
    }
    const range = view.natural(term);
    const isSigned = inside(range, signedBounds(term.width));
    if (range.assumes.length > 0 || !(isSigned || inside(range, unsignedBounds(term.width)))) continue;
    const number = isSigned ? BigInt.asIntN(term.width, value) : value;
    assert.ok(number >= range.low && number <= range.high, `${where}, ${number} of value ${id} in its range`);
  }
}

function compareWalk(symbolic: SymbolicKernel, setting: Setting, seed: number, where: string): void {
  const { kernel } = symbolic;
  walk(symbolic, setting, seededRandom(seed), 3000, {
    enter(state) {
      compareState(
        symbolic,
        state,
        kernel.blocks[state.block]!.phis.map(({ result }) => result),
        where,
      );
      assert.notEqual(state.evaluate(symbolic.reach(state.block)), 0n, `${where}, block ${state.block} is reached`);
      for (const loop of kernel.loops) {
        if (loop.blocks.has(state.block))
          assert.ok(BigInt(state.rounds[loop.id]!) <= symbolic.rounds[loop.id]!, `${where}, loop ${loop.id}`);
      }
    },
    leave(state, to) {
      const { instructions, successors } = kernel.blocks[state.block]!;
      compareState(
        symbolic,
        state,
        instructions.flatMap(({ results }) => results),
        where,
      );
      for (const successor of successors) {
        const taken = state.evaluate(symbolic.edge(state.block, successor));
        if (taken !== undefined) assert.equal(taken === 1n, successor === to, `${where}, edge to ${successor}`);
      }
    },
  });
}

test('values, conditions, ranges and trip counts of random kernels are those of an execution', () => {
  for (let seed = 0; seed < 250; seed++) {
    const random = seededRandom(seed);
    const kernel = lowerModule(parsePtx(randomKernel(random)).module).kernels[0]!;
    const isSymbolic = random.chance(0.3);
    const launch = isSymbolic ? { block: null, grid: null } : ({ block: [64, 1, 1], grid: [3, 1, 1] } as const);
    const { symbolic } = kernelContext(requestFor(kernel, launch));
    for (let i = 0; i < 6; i++) {
      const n = BigInt(random.pick([0, 1, 5, 64, 200, 0xffffffff]));
      const setting = settingOf(random.below(64), n, BigInt(random.below(100)));
      compareWalk(symbolic, setting, seed, `seed ${seed}`);
    }
  }
});

interface LoopCase {
  readonly name: string;
  readonly body: string;
  /** Maximum trip count that the ranges allow, by loop; absent: unbounded. */
  readonly rounds: readonly (number | null)[];
  readonly options?: CheckOptions;
}

/** A loop `for (…; condition; step)` whose variables are all expressed. */
const loops: readonly LoopCase[] = [
  {
    name: 'affine, up to a number',
    body: 'mov.u32 %r1, 3; L: setp.ge.s32 %p1, %r1, 20; @%p1 bra X; add.s32 %r1, %r1, 4; bra L; X:',
    rounds: [5],
  },
  {
    name: 'affine, down',
    body: 'mov.u32 %r1, 17; L: setp.le.s32 %p1, %r1, 2; @%p1 bra X; sub.s32 %r1, %r1, 5; bra L; X:',
    rounds: [3],
  },
  {
    name: 'affine with a step that the launch determines',
    body: 'mov.u32 %r1, %r7; L: setp.ge.s32 %p1, %r1, 1000; @%p1 bra X; add.s32 %r1, %r1, %r5; bra L; X:',
    rounds: [16],
    options: { grid: [3, 1, 1] },
  },
  {
    name: 'up to a parameter',
    body: 'mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, %r9; @%p1 bra X; add.s32 %r1, %r1, 1; bra L; X:',
    rounds: [2147483647],
  },
  {
    name: 'up to a parameter that the launch determines',
    body: 'mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, %r9; @%p1 bra X; add.s32 %r1, %r1, 1; bra L; X:',
    rounds: [10],
    options: { scalars: { 2: 10n } },
  },
  {
    name: 'a second variable that goes along',
    body: `mov.u32 %r1, 0; mov.u32 %r2, %r9; L: setp.ge.s32 %p1, %r1, 8; @%p1 bra X; add.s32 %r1, %r1, 1;
      add.s32 %r2, %r2, %r0; bra L; X:`,
    rounds: [8],
  },
  {
    name: 'doubling',
    body: 'mov.u32 %r1, 1; L: setp.ge.s32 %p1, %r1, 64; @%p1 bra X; shl.b32 %r1, %r1, 1; bra L; X:',
    rounds: [8],
  },
  {
    name: 'doubling by addition',
    body: 'mov.u32 %r1, 1; L: setp.ge.u32 %p1, %r1, 64; @%p1 bra X; add.s32 %r1, %r1, %r1; bra L; X:',
    rounds: [8],
  },
  {
    name: 'quadrupling',
    body: 'mov.u32 %r1, 1; L: setp.ge.s32 %p1, %r1, 65; @%p1 bra X; shl.b32 %r1, %r1, 2; bra L; X:',
    rounds: [8],
  },
  {
    name: 'halving',
    body: 'mov.u32 %r1, 32; L: setp.eq.s32 %p1, %r1, 0; @%p1 bra X; shr.u32 %r1, %r1, 1; bra L; X:',
    rounds: [6],
  },
  {
    name: 'quartering by division',
    body: 'mov.u32 %r1, 64; L: setp.lt.s32 %p1, %r1, 1; @%p1 bra X; div.u32 %r1, %r1, 4; bra L; X:',
    rounds: [7],
  },
  {
    // x / 2 of an int: the compiler adds the sign first.
    name: 'signed halving',
    body: `mov.u32 %r1, 32; L: setp.lt.s32 %p1, %r1, 1; @%p1 bra X; shr.u32 %r10, %r1, 31; add.s32 %r11, %r1, %r10;
      shr.s32 %r1, %r11, 1; bra L; X:`,
    rounds: [6],
  },
  {
    name: 'signed quartering',
    body: `mov.u32 %r1, 256; L: setp.lt.s32 %p1, %r1, 1; @%p1 bra X; shr.s32 %r10, %r1, 31; shr.u32 %r11, %r10, 30;
      add.s32 %r12, %r1, %r11; shr.s32 %r1, %r12, 2; bra L; X:`,
    rounds: [9],
  },
  {
    name: 'parity by exclusive or',
    body: `mov.u32 %r1, 0; mov.u32 %r2, %r9; L: setp.ge.s32 %p1, %r1, 7; @%p1 bra X; add.s32 %r1, %r1, 1;
      xor.b32 %r2, %r2, 1; bra L; X:`,
    rounds: [7],
  },
  {
    name: 'parity by subtraction',
    body: `mov.u32 %r1, 0; mov.u32 %r2, 0; L: setp.ge.s32 %p1, %r1, 7; @%p1 bra X; add.s32 %r1, %r1, 1;
      sub.s32 %r2, 1, %r2; bra L; X:`,
    rounds: [7],
  },
  {
    name: 'a swap',
    body: `mov.u32 %r1, 0; mov.u32 %r2, %r9; mov.u32 %r3, %r0; L: setp.ge.s32 %p1, %r1, 5; @%p1 bra X;
      add.s32 %r1, %r1, 1; mov.u32 %r10, %r2; mov.u32 %r2, %r3; mov.u32 %r3, %r10; bra L; X:`,
    rounds: [5],
  },
  {
    name: 'constant after the first iteration',
    body: `mov.u32 %r1, 0; mov.u32 %r2, %r9; L: setp.ge.s32 %p1, %r1, 4; @%p1 bra X; add.s32 %r1, %r1, 1;
      add.s32 %r2, %r0, 3; bra L; X:`,
    rounds: [4],
  },
  {
    name: 'tiles by shifts and masks',
    body: `mov.u32 %r1, %r0; L: shr.u32 %r10, %r1, 3; and.b32 %r11, %r10, 16777215; setp.gt.u32 %p1, %r11, 31; @%p1 bra X;
      add.s32 %r1, %r1, 68; bra L; X:`,
    rounds: [4],
  },
  {
    name: 'tiles by division',
    body: 'mov.u32 %r1, 3; L: div.u32 %r10, %r1, 10; setp.ge.u32 %p1, %r10, 5; @%p1 bra X; add.s32 %r1, %r1, 7; bra L; X:',
    rounds: [7],
  },
  {
    name: 'a mask that removes no bits',
    body: 'mov.u32 %r1, 0; L: and.b32 %r10, %r1, 15; setp.gt.u32 %p1, %r10, 9; @%p1 bra X; add.s32 %r1, %r1, 4; bra L; X:',
    rounds: [3],
  },
  {
    name: 'do while',
    body: 'mov.u32 %r1, 0; L: add.s32 %r1, %r1, 3; setp.lt.s32 %p1, %r1, 20; @%p1 bra L;',
    rounds: [6],
  },
  {
    name: 'a loop in a loop that starts where the outer one is',
    body: `mov.u32 %r1, 0; O: setp.ge.s32 %p1, %r1, 4; @%p1 bra X; mov.u32 %r2, %r1;
      I: setp.ge.s32 %p2, %r2, 6; @%p2 bra Y; add.s32 %r2, %r2, 2; bra I; Y: add.s32 %r1, %r1, 1; bra O; X:`,
    rounds: [4, 3],
  },
  {
    name: 'a loop in a loop with the same counter going on',
    body: `mov.u32 %r1, 0; mov.u32 %r3, 0; O: setp.ge.s32 %p1, %r1, 4; @%p1 bra X; mov.u32 %r2, 0;
      I: setp.ge.s32 %p2, %r2, 3; @%p2 bra Y; add.s32 %r2, %r2, 1; bra I; Y: add.s32 %r1, %r1, %r2; bra O; X:`,
    rounds: [null, 3],
  },
];

for (const { name, body, rounds, options = {} } of loops) {
  test(`loop: ${name}`, () => {
    const { symbolic } = contextOf(`mov.u32 %r2, 0; mov.u32 %r3, 0; ${body} ${end}`, { grid: [3, 1, 1], ...options });
    // The walks check that the bound is not below the actual trip count.
    for (const [loop, most] of rounds.entries())
      if (most !== null) assert.ok(symbolic.rounds[loop]! <= BigInt(most), `at most ${most} in loop ${loop}`);
    const open = [...loopVariables(symbolic).values()].filter(isOpen);
    assert.equal(open.length, rounds.includes(null) ? 1 : 0, 'variables without a closed form');
    for (const thread of [0, 1, 63]) {
      for (const n of [0n, 5n, 10n, 0xfffffff0n]) {
        const given = options.scalars?.[2];
        compareWalk(symbolic, settingOf(thread, given ?? n), 1, name);
      }
    }
  });
}

/** Iterations of `outer`, in each a loop from `first` in %r3 until `test` is true; %r9 is n, and %r8 is m. */
const nested = (outer: string, first: string, test: string, body: string, [before, after] = ['', '']): string =>
  `mov.u32 %r1, 0; mov.u32 %r2, %r0; O: setp.ge.s32 %p1, %r1, ${outer}; @%p1 bra X; ${before} mov.u32 %r3, ${first};
    I: ${test}; @%p2 bra Y; ${body} bra I; Y: ${after} add.s32 %r1, %r1, 1; bra O; X:`;
const counted = 'add.s32 %r2, %r2, %r8; add.s32 %r3, %r3, 1;';

test('the sum of an inner loop is known if its counter determines the trip count', () => {
  const bodies = [
    ...['ge.s32', 'gt.s32', 'ge.u32'].flatMap((test) =>
      ['0', '3'].map((first) => nested('4', first, `setp.${test} %p2, %r3, %r9`, counted)),
    ),
    // Additional updates before and after the inner loop.
    nested('%r9', '0', 'setp.ge.s32 %p2, %r3, 3', counted, ['add.s32 %r2, %r2, 5;', 'sub.s32 %r2, %r2, %r8;']),
    // Three loops.
    nested(
      '3',
      '0',
      'setp.ge.s32 %p2, %r3, %r9',
      `mov.u32 %r4, 0; J: setp.ge.s32 %p3, %r4, 2; @%p3 bra Z;
      add.s32 %r2, %r2, %r8; add.s32 %r4, %r4, 1; bra J; Z: add.s32 %r3, %r3, 1;`,
    ),
  ];
  for (const body of bodies) {
    const { symbolic } = contextOf(`mov.u32 %r2, 0; mov.u32 %r3, 0; ${body} ${end}`);
    const own = [...loopVariables(symbolic)].filter(([register]) => register === '%r2');
    assert.ok(own.length > 0 && own.every(([, term]) => !isOpen(term)), body);
    for (const thread of [0, 7])
      for (const n of [0n, 1n, 3n, 7n, 0xfffffff0n]) for (const m of [0n, 9n]) compareWalk(symbolic, settingOf(thread, n, m), 1, body);
  }
});

test('the sum of an inner loop is unknown if its trip count varies or it may be exited early', () => {
  const bodies = [
    // The trip count is the outer counter.
    nested('4', '0', 'setp.ge.s32 %p2, %r3, %r1', counted),
    nested('4', '0', 'setp.ge.s32 %p2, %r3, %r9', 'add.s32 %r2, %r2, 1; add.s32 %r3, %r3, 2;'),
    // It is also exited from the middle of its body.
    nested('4', '0', 'setp.ge.s32 %p2, %r3, %r9', 'setp.eq.s32 %p3, %r3, %r8; @%p3 bra Y; add.s32 %r2, %r2, 1; add.s32 %r3, %r3, 1;'),
    // The increment grows.
    nested('4', '0', 'setp.ge.s32 %p2, %r3, %r9', 'add.s32 %r2, %r2, %r3; add.s32 %r3, %r3, 1;'),
  ];
  for (const body of bodies) {
    const { symbolic } = contextOf(`mov.u32 %r2, 0; mov.u32 %r3, 0; ${body} ${end}`);
    const variables = [...loopVariables(symbolic)].filter(([register]) => register === '%r2');
    assert.ok(
      variables.some(([, term]) => isOpen(term)),
      body,
    );
    for (const n of [0n, 3n, 7n]) compareWalk(symbolic, settingOf(2, n, 2n), 1, body);
  }
});

test('a mask that the step may jump over does not bound the trip count', () => {
  const loop = (step: number, mask: number): string =>
    `mov.u32 %r1, 0; L: and.b32 %r10, %r1, ${mask}; setp.gt.u32 %p1, %r10, 9; @%p1 bra X; add.s32 %r1, %r1, ${step}; bra L; X:`;
  const roundsOf = (body: string): bigint => contextOf(`${body} ${end}`, { grid: [3, 1, 1] }).symbolic.rounds[0]!;
  assert.equal(roundsOf(loop(6, 15)), 2n);
  assert.ok(roundsOf(loop(7, 15)) > 1n << 32n);
  assert.ok(roundsOf(loop(16, 15)) > 1n << 32n);
  assert.ok(roundsOf(loop(1, 7)) > 1n << 32n);
  assert.ok(roundsOf(loop(1, 14)) > 1n << 32n);
});

test('similar forms without a closed form stay unknown', () => {
  const cases = [
    // The step depends on a value of the loop.
    'mov.u32 %r1, 1; L: setp.ge.s32 %p1, %r1, 64; @%p1 bra X; shr.u32 %r10, %r1, 4; add.s32 %r11, %r1, %r10; shr.s32 %r1, %r11, 1; add.s32 %r1, %r1, 3; bra L; X:',
    // Not the sign, but other bits are added before halving.
    'mov.u32 %r1, 48; L: setp.le.s32 %p1, %r1, 1; @%p1 bra X; shr.u32 %r10, %r1, 4; add.s32 %r11, %r1, %r10; shr.s32 %r1, %r11, 1; bra L; X:',
    // Half of a number that may be negative.
    'mov.u32 %r1, %r9; L: setp.eq.s32 %p1, %r1, 0; @%p1 bra X; div.s32 %r1, %r1, 2; bra L; X:',
    // Another increment on one of two paths to the back edge.
    'mov.u32 %r1, 0; L: setp.ge.s32 %p1, %r1, 9; @%p1 bra X; setp.eq.s32 %p2, %r0, %r1; add.s32 %r1, %r1, 1; @%p2 bra L; add.s32 %r1, %r1, 1; bra L; X:',
  ];
  for (const body of cases) {
    const { symbolic } = contextOf(`mov.u32 %r2, 0; mov.u32 %r3, 0; ${body} ${end}`);
    assert.ok([...loopVariables(symbolic).values()].some(isOpen), body);
    for (const n of [0n, 7n, 0xfffffff0n]) compareWalk(symbolic, settingOf(2, n), 1, body);
  }
});

test('a bound that wrap-around could jump over is not a trip count bound', () => {
  // Steps of 3 up to any n: near 2^31 the counter wraps.
  const { symbolic } = contextOf(
    `mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; L: setp.ge.s32 %p1, %r1, %r9; @%p1 bra X; add.s32 %r1, %r1, 3; bra L; X: ${end}`,
  );
  assert.equal(symbolic.rounds[0]! > 1n << 40n, true);
  const stopsAtEqual = contextOf(
    `mov.u32 %r1, 1; mov.u32 %r2, 0; mov.u32 %r3, 0; L: setp.eq.s32 %p1, %r1, 8; @%p1 bra X; add.s32 %r1, %r1, 3; bra L; X: ${end}`,
  );
  assert.equal(stopsAtEqual.symbolic.rounds[0]! > 1n << 40n, true);
});

/** Texts of the conditions under which the blocks with stores are reached. */
function storeReach(body: string, options: CheckOptions = {}): (thread: number, n?: bigint, m?: bigint) => boolean[] {
  const { symbolic } = contextOf(body, options);
  const blocks = symbolic.kernel.blocks.filter(({ instructions }) =>
    instructions.some(({ operation }) => operation.effect.kind === 'store'),
  );
  return (thread, n = 0n, m = 0n) => {
    const reached: boolean[] = blocks.map(() => false);
    const evaluate = new Map<BlockId, bigint | undefined>();
    walk(symbolic, settingOf(thread, n, m), seededRandom(1), 1000, {
      enter: (state) => {
        for (const { id } of blocks) evaluate.set(id, state.evaluate(symbolic.reach(id)));
        const at = blocks.findIndex(({ id }) => id === state.block);
        if (at >= 0) reached[at] = true;
      },
    });
    // Without loops the condition is exact.
    assert.deepEqual(
      blocks.map(({ id }) => evaluate.get(id) === 1n),
      reached,
    );
    return reached;
  };
}

test('reach: both conditions of a conjunction', () => {
  const reach = storeReach(`setp.ge.s32 %p1, %r0, %r9; @%p1 bra X; setp.ge.s32 %p2, %r0, %r8; @%p2 bra X;
    st.u32 [%d1], %r0; X:`);
  assert.deepEqual(reach(3, 4n, 4n), [true]);
  assert.deepEqual(reach(3, 3n, 4n), [false]);
  assert.deepEqual(reach(3, 4n, 3n), [false]);
});

test('reach: either condition of a disjunction', () => {
  const reach = storeReach(`setp.lt.s32 %p1, %r0, %r9; @%p1 bra S; setp.lt.s32 %p2, %r0, %r8; @%p2 bra S; bra X;
    S: st.u32 [%d1], %r0; X:`);
  assert.deepEqual(reach(3, 4n, 0n), [true]);
  assert.deepEqual(reach(3, 0n, 4n), [true]);
  assert.deepEqual(reach(3, 3n, 3n), [false]);
});

test('reach: code after an early return, and after a join', () => {
  const reach = storeReach(`setp.ge.s32 %p1, %r0, %r9; @%p1 bra X; st.u32 [%d1], %r0; setp.eq.s32 %p2, %r0, 7;
    @%p2 bra A; st.u32 [%d2], 1; bra J; A: st.u32 [%d2+4], 2; J: st.u32 [%d2+8], 3; X:`);
  // The blocks in reverse postorder: the taken branch comes first.
  assert.deepEqual(reach(7, 8n), [true, true, false, true]);
  assert.deepEqual(reach(6, 8n), [true, false, true, true]);
  assert.deepEqual(reach(8, 8n), [false, false, false, false]);
});

test('reach: cases of a switch, two of which share a label', () => {
  const reach = storeReach(`T: .branchtargets A, B, A, C; and.b32 %r1, %r0, 3; brx.idx %r1, T;
    A: st.u32 [%d1], 1; bra X; B: st.u32 [%d1], 2; bra X; C: st.u32 [%d1], 3; X:`);
  assert.deepEqual(
    [0, 1, 2, 3].map((thread) => reach(thread).indexOf(true)),
    [0, 1, 0, 2],
  );
});

test('reach: assumptions in the code hold after them', () => {
  const { symbolic } = contextOf(`setp.lt.s32 %p1, %r9, 100; selp.b32 %r1, 1, 0, %p1;
    // selvage.assume %r1;
    st.u32 [%d1], %r0;`);
  assert.equal(symbolic.stated.length, 1);
});
