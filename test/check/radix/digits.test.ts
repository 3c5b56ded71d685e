/** Addresses of digits in a radix of unknown sizes: a refuted pair overlaps in no launch that is tried. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { sweep } from '../../run/sweep.ts';
import { kernelOf } from '../kernel-text.ts';
import { problemsOf, refutedIn } from '../problem.ts';

/** A product of sizes, each `n`, `m` or an integer. */
type Size = readonly ('n' | 'm' | number)[];

interface Layout {
  /** Extents of the digits of the index, the fastest first; the last digit is the remaining quotient. */
  readonly extents: readonly [Size, Size];
  /** Upper bound of the index; null if unbounded. */
  readonly bound: Size | null;
  /** Weights of the digits in elements, and an offset that a second store adds. */
  readonly weights: readonly [Size, Size, Size];
  readonly added: Size | null;
  /** Bytes of a store. */
  readonly bytes: 4 | 8;
  /**
   * Source of the middle digit: remainder by the product, quotient by the first extent, or iteration of a loop;
   * with two loops the second store is in the other one.
   */
  readonly middle: 'rest' | 'quotient' | 'loop' | 'loops';
}

function randomLayout(random: Random): Layout {
  const size = (): Size => [random.pick(['n', 'm', 2, 3] as const)];
  const [x, y, z] = [size(), size(), size()];
  const extents = [x, y] as const;
  const all = [x, y, z];
  const middle = random.pick(['rest', 'quotient', 'loop', 'loops'] as const);
  // Weights of some order of the digits, sometimes with one factor too many or too few.
  const order = random.pick([
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
  ]);
  const weights: Size[] = [[], [], []];
  let weight: Size = random.chance(0.2) ? [2] : [];
  for (const digit of order) {
    weights[digit] = weight;
    weight = random.chance(0.85) ? [...weight, ...all[digit]!] : random.chance(0.5) ? weight : [...weight, ...size()];
  }
  return {
    extents,
    bound: random.chance(0.7) ? (middle.startsWith('loop') ? [...x, ...z] : all.flat()) : random.chance(0.5) ? size() : null,
    weights: weights as unknown as Layout['weights'],
    added: random.chance(0.3) ? random.pick([weight, weights[order[1]!]!, [1]] as const) : null,
    bytes: random.chance(0.9) ? 4 : 8,
    middle,
  };
}

function ptxOf({ extents: [x, y], bound, weights, added, bytes, middle }: Layout): string {
  let last = 40;
  const lines: string[] = [];
  const product = (size: Size): string => {
    let register = '1';
    for (const factor of size) {
      const operand = factor === 'n' ? '%r9' : factor === 'm' ? '%r8' : String(factor);
      const to = `%r${last++}`;
      lines.push(register === '1' ? `mov.u32 ${to}, ${operand};` : `mul.lo.s32 ${to}, ${register}, ${operand};`);
      register = to;
    }
    return register;
  };
  const isLoop = middle === 'loop' || middle === 'loops';
  if (bound) lines.push(`setp.ge.s32 %p1, %r7, ${product(bound)}; @%p1 ret;`);
  const [first, both, second] = [product(x), product([...x, ...y]), product(y)];
  lines.push(`rem.s32 %r20, %r7, ${first}; div.s32 %r22, %r7, ${isLoop ? first : both};`);
  if (middle === 'rest') lines.push(`rem.s32 %r21, %r7, ${both}; div.s32 %r21, %r21, ${first};`);
  if (middle === 'quotient') lines.push(`div.s32 %r21, %r7, ${first}; rem.s32 %r21, %r21, ${second};`);
  const factors = weights.map(product);
  const more = added && product(added);
  const address = (): void => {
    lines.push('mov.u32 %r30, 0;');
    for (const [at, factor] of factors.entries()) lines.push(`mad.lo.s32 %r30, %r2${at}, ${factor}, %r30;`);
  };
  const store = (index: string, scratch: number): string =>
    `mul.wide.s32 %d${scratch}, ${index}, 4; add.s64 %d${scratch}, %d1, %d${scratch}; st.u${8 * bytes} [%d${scratch}], ${bytes === 8 ? '%d2' : '%r0'};`;
  const loop = (name: string, body: () => void): void => {
    lines.push(`mov.u32 %r21, 0;\n${name}: setp.ge.s32 %p2, %r21, ${second}; @%p2 bra end${name};`);
    body();
    lines.push(`add.s32 %r21, %r21, 1; bra ${name};\nend${name}:`);
  };
  const one = (): void => {
    address();
    lines.push(store('%r30', 10));
  };
  const other = (): void => {
    address();
    if (more) lines.push(`add.s32 %r31, %r30, ${more}; ${store('%r31', 11)}`);
  };
  const all = (): void => [one, other].forEach((part) => part());
  if (!isLoop) all();
  else if (middle === 'loop') loop('once', all);
  else ['before', 'behind'].forEach((name, at) => loop(name, at === 0 ? one : other));
  return lines.join('\n');
}

/** Whether two threads of the scope store to common bytes. */
function areMeeting(layout: Layout, scope: 'block' | 'grid', threads: number, blocks: number): boolean {
  for (let n = 1; n <= 4; n++) {
    for (let m = 1; m <= 4; m++) {
      const value = (size: Size): number => size.reduce<number>((all, one) => all * (one === 'n' ? n : one === 'm' ? m : one), 1);
      const owners = new Map<number, number>();
      for (let i = 0; i < threads * blocks; i++) {
        if (layout.bound && i >= value(layout.bound)) continue;
        const [x, y] = layout.extents.map(value) as [number, number];
        const isLoop = layout.middle === 'loop' || layout.middle === 'loops';
        const all = isLoop
          ? Array.from({ length: y }, (_, round) => [i % x, round, Math.floor(i / x)])
          : [[i % x, Math.floor(i / x) % y, Math.floor(i / (x * y))]];
        const ats = all.map((digits) => digits.reduce((sum, digit, index) => sum + digit * value(layout.weights[index]!), 0));
        const starts = layout.added ? ats.flatMap((at) => [at, at + value(layout.added!)]) : ats;
        for (const start of starts)
          for (let byte = 4 * start; byte < 4 * start + layout.bytes; byte++) {
            const other = owners.get(byte);
            const isMet = other !== undefined && other !== i;
            if (isMet && (Math.floor(other / threads) === Math.floor(i / threads)) === (scope === 'block')) return true;
            owners.set(byte, i);
          }
      }
    }
  }
  return false;
}

test('access pairs that the digit tier refutes do not overlap', () => {
  const counts = { refuted: 0, apart: 0, met: 0 };
  for (let seed = 0; seed < sweep(400, 20_000); seed++) {
    const random = seededRandom(seed);
    const layout = randomLayout(random);
    const [threads, blocks] = [random.pick([4, 6, 32]), random.pick([2, 3])];
    const isOpen = random.chance(0.5);
    const options = {
      block: isOpen ? null : ([threads, 1, 1] as const),
      grid: [blocks, 1, 1] as const,
      assume: ['n >= 1', 'm >= 1', ...(isOpen ? ['blockDim.y == 1', 'blockDim.z == 1'] : [])],
    };
    const problems = problemsOf(kernelOf(ptxOf(layout)), options);
    for (const [at, problem] of problems.entries()) {
      const { obligations } = problem;
      const isRefuted = obligations.every((one) => refutedIn(problem, one) !== null);
      const isMet = areMeeting(layout, at === 0 ? 'block' : 'grid', threads, blocks);
      assert.ok(!(isRefuted && isMet && obligations.length > 0), `seed ${seed}: ${JSON.stringify(layout)}`);
      if (isRefuted) counts.refuted++;
      counts[isMet ? 'met' : 'apart']++;
    }
  }
  assert.ok(counts.refuted > 80, JSON.stringify(counts));
  assert.ok(counts.met > 20, JSON.stringify(counts));
});
