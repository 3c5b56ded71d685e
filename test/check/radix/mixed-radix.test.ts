/** Sums in mixed radix against all their values, and random indices of them against all threads of small launches. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { equalDigits, equalParts, type WeightedDigit, type WeightedPart } from '../../../src/check/radix/mixed-radix.ts';
import { constantSize } from '../../../src/check/premises/size-order.ts';
import { TermStore } from '../../../src/term/term.ts';
import { sweep } from '../../run/sweep.ts';
import { kernelOf, store as wordAt } from '../kernel-text.ts';
import { describe, problemsOf, refutedIn, shown } from '../problem.ts';
import { findOverlap } from '../deciding/brute-force.ts';

const store = new TermStore();
const names = [0, 1, 2].map((axis) => store.atom(32, { kind: 'thread', axis: axis as 0 | 1 | 2 }));

/** All choices of one integer for each range. */
function choices(ranges: readonly (readonly [bigint, bigint])[]): bigint[][] {
  return ranges.reduce<bigint[][]>(
    (all, [least, most]) => all.flatMap((one) => Array.from({ length: Number(most - least) + 1 }, (_, at) => [...one, least + BigInt(at)])),
    [[]],
  );
}

test('parts with constant weights: an impossible sum has no values, and equal parts are 0 in all of them', () => {
  const counts = { impossible: 0, equal: 0, open: 0 };
  for (let seed = 0; seed < sweep(3000, 100_000); seed++) {
    const random = seededRandom(seed);
    const parts = names.slice(0, random.between(0, 3)).map((term): WeightedPart => {
      const most = BigInt(random.below(4));
      const isPair = random.chance(0.7);
      const weight = BigInt(random.pick([1, 2, 3, 4, 4, 6, 8, 8, 12, 16, 24, 32]));
      return isPair
        ? { terms: [term], weight, least: -most, most }
        : { terms: [], weight, least: BigInt(random.between(-3, 0)), most: BigInt(random.below(4)) };
    });
    const low = BigInt(random.between(-20, 20));
    const high = low + BigInt(random.below(8));
    const found = equalParts(parts, low, high);
    const possible = choices(parts.map(({ least, most }) => [least, most] as const)).filter((values) => {
      const sum = values.reduce((all, value, at) => all + value * parts[at]!.weight, 0n);
      return sum >= low && sum <= high;
    });
    const where = `seed ${seed}`;
    if (!found) assert.equal(possible.length, 0, where);
    for (const term of found ?? []) {
      const at = parts.findIndex(({ terms }) => terms.includes(term));
      assert.ok(
        possible.every((values) => values[at] === 0n),
        where,
      );
    }
    counts[found ? (found.length > 0 ? 'equal' : 'open') : 'impossible']++;
    // With at most one part all values are known.
    if (parts.length < 2 && found) assert.ok(possible.length > 0, where);
  }
  for (const count of Object.values(counts)) assert.ok(count > 300, JSON.stringify(counts));
});

test('digits: addresses that never overlap have no common bytes, and equal digits are equal in all that overlap', () => {
  const counts = { never: 0, equal: 0, open: 0 };
  for (let seed = 0; seed < sweep(2000, 50_000); seed++) {
    const random = seededRandom(seed);
    const integer = (from: number, to: number): bigint => BigInt(random.between(from, to));
    const given = names.slice(0, random.between(1, 3)).map((term) => ({
      term,
      weight: BigInt(random.pick([-4, 1, 2, 4, 6, 8, 12, 16])),
      extent: integer(1, 4),
    }));
    const [distance, bytes] = [random.chance(0.5) ? 0n : integer(0, 30), integer(1, 4)];
    const digits = given.map(({ term, weight, extent }): WeightedDigit => {
      return { term, weight: constantSize(weight), most: random.chance(0.1) ? null : constantSize(weight * (extent - 1n)) };
    });
    const isAtMost = (a: ReturnType<typeof constantSize>, b: typeof a): boolean => (a[0]?.coefficient ?? 0n) <= (b[0]?.coefficient ?? 0n);
    const found = equalDigits(digits, constantSize(distance), constantSize(bytes), isAtMost);
    const possible = choices(given.map(({ extent }) => [1n - extent, extent - 1n] as const)).filter((values) => {
      const sum = values.reduce((all, value, at) => all + value * given[at]!.weight, distance);
      return sum > -bytes && sum < bytes;
    });
    if (!found) assert.equal(possible.length, 0, `seed ${seed}`);
    for (const digit of found ?? [])
      assert.ok(
        possible.every((values) => values[digits.indexOf(digit)] === 0n),
        `seed ${seed}`,
      );
    counts[found ? (found.length > 0 ? 'equal' : 'open') : 'never']++;
  }
  for (const count of Object.values(counts)) assert.ok(count > 200, JSON.stringify(counts));
});

/** A store at a random sum of parts of indices, in a loop or not. */
function storeAt(random: Random, name: string): string {
  let last = 20;
  const lines: string[] = [];
  const to = (operation: string): string => {
    const register = `%r${last++}`;
    lines.push(operation.replace('TO', register));
    return register;
  };
  const isLoop = random.chance(0.4);
  const index = (): string => random.pick(['%r0', '%r7', '%r6', '%r4', ...(isLoop ? ['%r3', '%r3'] : [])]);
  const power = (): number => random.pick([2, 4, 8, 16]);
  const size = (): string => random.pick(['%r9', '%r8', '%r5', '3', '4', '8', '32']);
  const signed = random.chance(0.7) ? 's' : 'u';
  const part = (): string => {
    let one = index();
    if (random.chance(0.3)) one = to(`mad.lo.s32 TO, ${one}, ${size()}, ${index()};`);
    switch (random.below(7)) {
      case 0:
        return to(`and.b32 TO, ${one}, ${random.pick([power() - 1, -power()])};`);
      case 1:
        return to(`shr.${signed}32 TO, ${one}, ${random.between(1, 4)};`);
      case 2:
        return to(`div.${signed}32 TO, ${one}, ${size()};`);
      case 3:
        return to(`rem.${signed}32 TO, ${one}, ${size()};`);
      default:
        return one;
    }
  };
  let sum = to('mov.u32 TO, 0;');
  const whole = random.chance(0.4) ? part() : null;
  const divisor = size();
  // The quotient and the remainder of one number, in either order.
  if (whole) {
    const [quotient, rest] = [to(`div.${signed}32 TO, ${whole}, ${divisor};`), to(`rem.${signed}32 TO, ${whole}, ${divisor};`)];
    sum = to(`mad.lo.s32 TO, ${quotient}, ${random.chance(0.7) ? divisor : size()}, ${sum};`);
    sum = random.chance(0.9) ? to(`add.s32 TO, ${rest}, ${sum};`) : to(`mad.lo.s32 TO, ${rest}, ${size()}, ${sum};`);
  }
  for (let count = random.between(whole ? 0 : 1, 3); count > 0; count--) {
    const factor = random.chance(0.4) ? '1' : random.chance(0.2) ? '-4' : random.chance(0.5) ? String(power()) : size();
    sum = to(`mad.lo.s32 TO, ${part()}, ${factor}, ${sum};`);
  }
  const bytes = random.pick([1, 4, 4, 8]);
  const unit = random.pick([bytes, 4, 8]);
  const write = `mul.wide.s32 %d${last}, ${sum}, ${unit}; add.s64 %d${last}, %d1, %d${last};
    st.u${8 * bytes} [%d${last}+${random.pick([0, 0, 0, 4, 8, 64])}], ${bytes === 8 ? '%d2' : bytes === 1 ? '%h1' : '%r0'};`;
  const guard = random.chance(0.4) ? `setp.ge.s32 %p1, ${index()}, ${size()}; @%p1 bra ${name}2;` : '';
  const body = `${lines.join(' ')}\n${guard} ${write}\n${name}2:`;
  if (!isLoop) return body;
  const step = random.pick(['1', '1', '%r2']);
  return `mov.u32 %r3, ${random.chance(0.3) ? '%r6' : '0'};\n${name}: setp.ge.s32 %p2, %r3, ${random.pick(['3', '4', '%r9'])}; @%p2 bra ${name}1;
    ${body}\nadd.s32 %r3, %r3, ${step}; bra ${name};\n${name}1:`;
}

test('random indices: accesses that the digits refute do not overlap', () => {
  const counts = { refuted: 0, open: 0 };
  for (let seed = 0; seed < sweep(250, 20_000); seed++) {
    const random = seededRandom(seed);
    const kernel = kernelOf(`mov.u32 %r4, %tid.y; mov.u32 %r2, %nctaid.x; ${storeAt(random, 'A')}\n${storeAt(random, 'B')}`);
    const options = {
      block: random.pick([[8, 1, 1], [4, 2, 1], [6, 1, 1], null] as const),
      grid: random.pick([[2, 1, 1], [3, 1, 1], null] as const),
      assume: random.chance(0.6) ? ['n >= 1', 'm >= 1', ...(random.chance(0.3) ? ['n % 4 == 0'] : [])] : [],
    };
    for (const problem of problemsOf(kernel, options)) {
      const { context, instances, obligations } = problem;
      for (const obligation of obligations) {
        const assumes = refutedIn(problem, obligation);
        counts[assumes ? 'refuted' : 'open']++;
        if (!assumes || options.assume.length > 0) continue;
        const found = findOverlap(context, instances, obligation, assumes, random, 2000);
        assert.equal(found, null, `seed ${seed}: ${describe(problem, obligation)} ${shown(found)}`);
      }
    }
  }
  assert.ok(counts.refuted > 100 && counts.open > 100, JSON.stringify(counts));
});

test('the upper and the lower bits of an index are digits, unless the values of the lower ones reach the upper ones', () => {
  const isRefuted = (factor: number): boolean => {
    const index = `and.b32 %r20, %r0, -4; and.b32 %r21, %r0, 3; mad.lo.s32 %r22, %r21, ${factor}, %r20;`;
    const [problem] = problemsOf(kernelOf(`${index} ${wordAt('%d1', '%r22', '%r0', 10)}`), { block: [8, 1, 1] });
    return problem!.obligations.length > 0 && problem!.obligations.every((obligation) => refutedIn(problem!, obligation) !== null);
  };
  assert.ok(isRefuted(1));
  assert.ok(!isRefuted(2));
});
