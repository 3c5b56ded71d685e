/** Enumeration by parts compared with enumeration of all combinations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { type TextPart, type SideParts, staysDisjoint } from '../../../src/check/deciding/enumerate-parts.ts';

const work = 1 << 20;

function piece(text: string): TextPart {
  return { text: `(${text})`, uses: new Set(text.match(/\w+_[12]|\bk\b/g)) };
}

/** A side over `bx`, `tx` and an iteration `r`, with a guard or two. */
function randomSide(random: Random, side: 1 | 2, sizes: readonly [number, number, number]): SideParts {
  const [bx, tx, r] = [`bx_${side}`, `tx_${side}`, `r_${side}`];
  const texts = [
    `${random.pick([1, 4, 12, 16, 64])} * ${tx}`,
    `${random.pick([16, 48, 64, 256])} * ${bx}`,
    `${random.pick([0, 4, 64, 1024])} * ${r}`,
  ];
  if (random.chance(0.3)) texts.push(`4 * (${bx} % 2)`);
  if (random.chance(0.3)) texts.push('128 * k');
  if (random.chance(0.2)) texts.push(`8 * ((${tx} + ${r}) % 3)`);
  const guards: string[] = [];
  if (random.chance(0.5)) guards.push(`${tx} < ${random.between(1, 6)}`);
  if (random.chance(0.3)) guards.push(`${bx} + ${r} < ${random.between(1, 6)}`);
  if (random.chance(0.2)) guards.push(`${tx} !== ${r}`);
  return {
    constant: BigInt(random.pick([0, 0, 4, -8])),
    parts: texts.map(piece),
    guards: guards.map(piece),
    variables: [tx, bx, r].map((name, at) => ({ name, size: sizes[at]! })),
    bytes: random.pick([1, 4, 16]),
  };
}

/** All addresses of a side, with their blocks. */
function addresses({ constant, parts, guards, variables }: SideParts, k: number): { address: number; block: number }[] {
  const found: { address: number; block: number }[] = [];
  const names = variables.map(({ name }) => name);
  const value = new Function('k', ...names, `return ${[constant, ...parts.map(({ text }) => text)].join(' + ')}`) as (
    ...of: number[]
  ) => number;
  const holds = new Function('k', ...names, `return ${['true', ...guards.map(({ text }) => text)].join(' && ')}`) as (
    ...of: number[]
  ) => boolean;
  for (let t = 0; t < variables[0]!.size; t++)
    for (let b = 0; b < variables[1]!.size; b++)
      for (let r = 0; r < variables[2]!.size; r++) if (holds(k, t, b, r)) found.push({ address: value(k, t, b, r), block: b });
  return found;
}

test('random accesses overlap in the partial enumeration if and only if full enumeration finds an overlap', () => {
  const random = seededRandom(5);
  const count = { disjoint: 0, overlap: 0 };
  for (let round = 0; round < 400; round++) {
    const sizes = [random.between(1, 8), random.between(2, 6), random.between(1, 3)] as const;
    const one = randomSide(random, 1, sizes);
    const isSame = random.chance(0.5);
    const other: SideParts = isSame ? rename(one) : randomSide(random, 2, sizes);
    const shared = random.chance(0.5) ? [0] : [0, 1, 2];
    const clusters = random.chance(0.3) ? 2 : 1;
    const identity = (block: number): number => Math.floor(block / clusters);
    const meets = shared.some((k) => {
      const second = addresses(other, k);
      return addresses(one, k).some((a) =>
        second.some(
          (b) => identity(a.block) !== identity(b.block) && a.address < b.address + other.bytes && b.address < a.address + one.bytes,
        ),
      );
    });
    const found = staysDisjoint(
      [one, other],
      identity,
      ['k'],
      shared.map((k) => Int32Array.of(k)),
      work,
    );
    assert.equal(
      found,
      !meets,
      JSON.stringify([one, other], (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
    );
    count[meets ? 'overlap' : 'disjoint']++;
  }
  assert.ok(count.disjoint > 60 && count.overlap > 60, JSON.stringify(count));
});

function rename(side: SideParts): SideParts {
  const turned = ({ text }: TextPart): TextPart => piece(text.replaceAll('_1', '_2').slice(1, -1));
  return {
    ...side,
    parts: side.parts.map(turned),
    guards: side.guards.map(turned),
    variables: side.variables.map(({ name, size }) => ({ name: name.replace('_1', '_2'), size })),
  };
}

test('an enumeration over its budget is undecided', () => {
  const random = seededRandom(7);
  const sizes = [8, 6, 3] as const;
  const sides = [randomSide(random, 1, sizes), randomSide(random, 2, sizes)] as const;
  assert.equal(
    staysDisjoint(sides, (block) => block, ['k'], [Int32Array.of(0)], 20),
    null,
  );
});
