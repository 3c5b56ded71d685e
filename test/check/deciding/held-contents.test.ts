/** Premises on assumed contents against the assumptions themselves, for random elements. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { HeldContents, usualContents } from '../../../src/check/deciding/held-contents.ts';
import type { ContentsFact } from '../../../src/check/premises/contents-fact.ts';
import { evaluatorOf } from '../../../src/solver/truth-of.ts';
import { PremiseList } from '../../../src/solver/premise.ts';
import { numeral, readCommands, type SExpression } from '../../../src/solver/s-expression.ts';
import { TermStore } from '../../../src/term/term.ts';

interface Loaded {
  readonly role: 'start' | 'length';
  readonly index: number;
  readonly value: bigint;
  readonly isReached: boolean;
}

const offset = new TermStore().constant(64, 0n);

/** Whether the premises on these elements are true, in the mode of usual contents or in the other one. */
function premisesHold(loaded: readonly Loaded[], bytes: Readonly<Record<Loaded['role'], number>>, isUsual: boolean): boolean {
  const premises = new PremiseList();
  const contents = new HeldContents(premises);
  for (const [at, { role, index, value, isReached }] of loaded.entries()) {
    const part = { role, pair: 'parts', bytes: bytes[role] };
    const fact: ContentsFact = { array: role, offset, unsigned: false, ascends: false, below: null, part, texts: [] };
    contents.hold({ of: `v${at}`, fact, offset: String(index * bytes[role]), name: numeral(value), reached: String(isReached) }, null);
  }
  const lookup = (name: string): boolean | undefined => (name === usualContents ? isUsual : undefined);
  return premises.take().every(({ text }) => evaluatorOf((readCommands(text)[0] as readonly SExpression[])[1]!)(lookup) === true);
}

/** Whether loads of one element agree, and parts that are not empty are disjoint and end below 2^31. */
function areParts(loaded: readonly Loaded[], bytes: Readonly<Record<Loaded['role'], number>>): boolean {
  const reached = loaded.filter(({ isReached }) => isReached);
  const isConsistent = reached.every((one) =>
    reached.every((other) => one.role !== other.role || one.index !== other.index || one.value === other.value),
  );
  const starts = new Map(reached.flatMap(({ role, index, value }) => (role === 'start' ? [[index, value]] : [])));
  const ends = reached.flatMap(({ role, index, value: length }) => {
    const start = role === 'length' ? starts.get(index) : undefined;
    return start === undefined ? [] : [{ index, start, length }];
  });
  if (!isConsistent || (bytes.start <= 4 && ends.some(({ start, length }) => start + length >= 1n << 31n))) return false;
  const elements = ends.flatMap(({ index, start, length }) => (length > 0n ? [{ index, first: start, last: start + length - 1n }] : []));
  return elements.every((one) => elements.every((other) => one.index === other.index || one.last < other.first || other.last < one.first));
}

function randomElements(random: Random): readonly Loaded[] {
  return Array.from({ length: random.between(2, 6) }, (): Loaded => {
    const isHuge = random.chance(0.05);
    return {
      role: random.pick(['start', 'length']),
      index: random.below(3),
      value: isHuge ? (1n << 31n) - BigInt(random.between(1, 4)) : BigInt(random.between(-1, 6)),
      isReached: random.chance(0.9),
    };
  });
}

test('premises on parts are true exactly if the parts do not overlap', () => {
  const random = seededRandom(11);
  const counts = { true: 0, false: 0 };
  for (let round = 0; round < 20_000; round++) {
    const bytes = { start: random.pick([2, 4, 8]), length: random.pick([2, 4, 8]) };
    const loaded = randomElements(random);
    const expected = areParts(loaded, bytes);
    counts[`${expected}`]++;
    assert.equal(
      premisesHold(loaded, bytes, true),
      expected,
      JSON.stringify([bytes, loaded], (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    );
    assert.ok(premisesHold(loaded, bytes, false));
  }
  assert.ok(Math.min(counts.true, counts.false) > 3000, JSON.stringify(counts));
});
