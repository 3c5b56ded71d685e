/** Which pairs of accesses get an obligation, and under which conditions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessOccurrence, Interval } from '../../../src/analysis/barriers/barrier-interval.ts';
import type { Access } from '../../../src/analysis/values/access.ts';
import type { SymbolicKernel } from '../../../src/analysis/values/symbolic.ts';
import { addressDifference } from '../../../src/check/obligations/difference.ts';
import {
  type AccessPair,
  type Conflicts,
  type MayAlias,
  type ThreadIntervals,
  blockPairs,
  gridPairs,
  mayTouch,
  questionOf,
} from '../../../src/check/obligations/obligation.ts';
import { type WarpOverlapCase, warpOverlapCases } from '../../../src/check/obligations/warp-collective-overlap.ts';
import { conflictOf } from '../../../src/memory-model/conflict.ts';
import { contextOf, kernelOf, load, store } from '../kernel-text.ts';
import { byKey, problemsOf } from '../problem.ts';

const conflicts: Conflicts = (a, b, scope) => {
  const kind = conflictOf(a, b, scope === 'block' ? 0 : 2);
  return kind && { kind, betweenClusters: null };
};

interface Fixture {
  readonly symbolic: SymbolicKernel;
  readonly accesses: readonly Access[];
}

function fixtureOf(body: string): Fixture {
  const { symbolic, accesses } = contextOf(body);
  return { symbolic, accesses };
}

function intervalOf({ symbolic }: Fixture, accesses: readonly Access[], more: Partial<AccessOccurrence> = {}): Interval {
  const rounds = symbolic.kernel.loops.map(() => 'free' as const);
  return { start: null, startRounds: rounds, occurrences: accesses.map((access) => ({ access, rounds, path: [], ...more })) };
}

interface Setting {
  readonly groups: readonly ThreadIntervals[];
  readonly lockstep?: boolean;
  readonly mayAlias?: MayAlias;
  readonly conditions?: number;
}

function pairsOf({ symbolic }: Fixture, { groups, lockstep = false, mayAlias = byKey, conditions = 1000 }: Setting): AccessPair[] {
  return blockPairs(symbolic, { block: groups, own: [], crossings: [] }, conflicts, mayAlias, lockstep, { conditions });
}

/** The indices of the accesses of each pair, with its number of obligations. */
function shownPairs(pairs: readonly AccessPair[]): string[] {
  return pairs.map(({ first, second, obligations }) => `${first.index}-${second.index} ${obligations.length}`).sort();
}

const twoStores = `${store('%d1', '%r0', '%r9', 10)} ${store('%d1', '%r9', '%r9', 11)} ${load('%r1', '%d2', '%r0', 12)}`;

test('each conflicting pair of an interval has one obligation, and an access has one with itself', () => {
  const fixture = fixtureOf(twoStores);
  const interval = intervalOf(fixture, fixture.accesses);
  const groups = [{ warp: null, intervals: [interval] }];
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups })), ['0-0 1', '0-1 1', '1-1 1']);
  // The same interval again adds nothing.
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups: [{ warp: null, intervals: [interval, interval] }] })), [
    '0-0 1',
    '0-1 1',
    '1-1 1',
  ]);
  // In two intervals, only pairs within each of them.
  const [one, other] = fixture.accesses.map((access) => intervalOf(fixture, [access]));
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups: [{ warp: null, intervals: [one!, other!] }] })), ['0-0 1', '1-1 1']);
});

test('the second thread is in other intervals if it is in another part of the block', () => {
  const fixture = fixtureOf(twoStores);
  const [one, other] = fixture.accesses.map((access) => intervalOf(fixture, [access]));
  const members = [
    fixture.symbolic.store.atom(0, { kind: 'havoc', value: 1 }),
    fixture.symbolic.store.atom(0, { kind: 'havoc', value: 2 }),
  ] as const;
  const [pair, ...rest] = pairsOf(fixture, { groups: [{ warp: null, intervals: [other!], others: [one!], members }] });
  assert.equal(rest.length, 0);
  const [obligation] = pair!.obligations;
  // The accesses are in the order of the kernel, with the conditions of their parts.
  assert.deepEqual([obligation!.first.access.index, obligation!.second.access.index], [0, 1]);
  assert.ok(obligation!.first.conditions.some(({ term }) => term === members[1]));
  assert.ok(obligation!.second.conditions.some(({ term }) => term === members[0]));
});

test('lockstep orders two instructions of a warp, but no instruction with itself, and no copy', () => {
  const fixture = fixtureOf(twoStores);
  const groups = (warp: 'same' | 'different' | null, accesses = fixture.accesses) => [{ warp, intervals: [intervalOf(fixture, accesses)] }];
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups: groups('same'), lockstep: true })), ['0-0 1', '1-1 1']);
  for (const warp of ['different', null] as const)
    assert.deepEqual(shownPairs(pairsOf(fixture, { groups: groups(warp), lockstep: true })), ['0-0 1', '0-1 1', '1-1 1']);
  const copies = fixture.accesses.map((access) => ({ ...access, isCopy: access.index === 1 }));
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups: groups('same', copies), lockstep: true })), ['0-0 1', '0-1 1', '1-1 1']);
});

test('pairs that an order without a barrier separates are left out', () => {
  const fixture = fixtureOf(twoStores);
  const isOrdered: ThreadIntervals['isOrdered'] = (_, first, second) => first !== second;
  const groups = [{ warp: null, intervals: [intervalOf(fixture, fixture.accesses)], isOrdered }];
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups })), ['0-0 1', '1-1 1']);
});

test('bases that are known to be disjoint make no pair, and unknown ones an unresolved obligation', () => {
  const fixture = fixtureOf(`${store('%d1', '%r0', '%r9', 10)} ${store('%d2', '%r0', '%r9', 11)}`);
  const groups = [{ warp: null, intervals: [intervalOf(fixture, fixture.accesses)] }];
  assert.deepEqual(shownPairs(pairsOf(fixture, { groups })), ['0-0 1', '1-1 1']);
  const mayAlias: MayAlias = (a, b) => (a.key === b.key ? 'same' : 'unknown');
  const pairs = pairsOf(fixture, { groups, mayAlias });
  assert.deepEqual(
    pairs.map(({ obligations: [obligation] }) => obligation!.resolved),
    [true, false, true],
  );
  const [first, second] = fixture.accesses as readonly [Access, Access];
  assert.ok(!mayTouch(byKey)(first, second));
  assert.ok(mayTouch(byKey)(first, first));
  assert.ok(mayTouch(mayAlias)(first, second));
});

test('pairs are missing once the budget of conditions is exhausted', () => {
  const fixture = fixtureOf(twoStores);
  const groups = [{ warp: null, intervals: [intervalOf(fixture, fixture.accesses)] }];
  assert.equal(pairsOf(fixture, { groups, conditions: -1 }).length, 0);
  // Each obligation without conditions costs one.
  assert.equal(pairsOf(fixture, { groups, conditions: 0 }).length, 1);
  assert.equal(pairsOf(fixture, { groups, conditions: 1 }).length, 2);
});

test('an obligation has the conditions of its accesses, of the path, and of the start of the interval', () => {
  const guarded = `setp.ge.s32 %p1, %r0, %r9; @%p1 bra X; ${store('%d1', '%r0', '%r9', 10)} X: bar.sync 0;
    setp.ge.s32 %p2, %r0, 7; @%p2 bra Y; bar.sync 0; Y: ret;`;
  const fixture = fixtureOf(guarded);
  const { symbolic, accesses } = fixture;
  const [access] = accesses;
  const barriers = symbolic.kernel.blocks.flatMap((block) =>
    block.instructions.filter(({ operation }) => operation.effect.kind === 'barrier').map((barrier) => ({ block: block.id, barrier })),
  );
  const sideOf = (start: Interval['start'], more: Partial<AccessOccurrence>): number => {
    const interval = { ...intervalOf(fixture, [access!], more), start };
    return pairsOf(fixture, { groups: [{ warp: null, intervals: [interval] }] })[0]!.obligations[0]!.first.conditions.length;
  };
  const condition = symbolic.condition(symbolic.kernel.blocks[0]!.id)!;
  assert.equal(sideOf(null, {}), 1);
  assert.equal(sideOf(barriers[1]!, {}), 2);
  assert.equal(sideOf(barriers[1]!, { hasReturned: true }), 1);
  const path = {
    path: [
      { term: symbolic.store.not(condition), rounds: [] },
      { term: condition, rounds: [] },
    ],
  };
  assert.equal(sideOf(null, path), 2, 'one is the condition of the access');
});

test('threads of two blocks conflict in global memory only, at any time unless a barrier of the grid separates them', () => {
  const shared = 'st.shared.u32 [%r0], %r9;';
  const fixture = fixtureOf(`${store('%d1', '%r0', '%r9', 10)} ${shared} ${store('%d1', '%r9', '%r9', 11)}`);
  const { symbolic, accesses } = fixture;
  const pairs = (intervals: readonly Interval[] | null): string[] =>
    shownPairs(gridPairs(symbolic, accesses, intervals, conflicts, byKey, { conditions: 1000 }));
  assert.deepEqual(pairs(null), ['0-0 1', '0-2 1', '2-2 1']);
  assert.deepEqual(pairs([intervalOf(fixture, [accesses[0]!, accesses[1]!]), intervalOf(fixture, [accesses[2]!])]), ['0-0 1', '2-2 1']);
});

test('a generic address may be of shared memory, which two blocks never share, or of a variable, which they do', () => {
  const at = (address: string): number => {
    const { symbolic, accesses } = contextOf(`cvta.global.u64 %d4, g; st.u32 [${address}], %r9;`, {
      declarations: '.global .align 4 .u32 g;',
    });
    assert.equal(accesses.length, 1);
    return gridPairs(symbolic, accesses, null, conflicts, byKey, { conditions: 1000 }).length;
  };
  assert.equal(at('%d0'), 0);
  assert.equal(at('%d4'), 1);
});

test('the distance of two addresses has the unknowns that the threads do not share', () => {
  const body = `${store('%d1', '%r0', '%r9', 10)} add.s32 %r21, %r0, 1; ${store('%d1', '%r21', '%r9', 11)}`;
  const [problem] = problemsOf(kernelOf(body), {});
  const distances = problem!.obligations.map((obligation) => addressDifference(problem!.context.symbolic, problem!.instances, obligation));
  assert.deepEqual(
    distances.map(({ constant, low, high, unknowns }) => [constant, low, high, unknowns.length]),
    [
      [0n, -252n, 252n, 2],
      [-4n, -256n, 248n, 2],
      [0n, -252n, 252n, 2],
    ],
  );
  assert.deepEqual(
    distances[0]!.unknowns.map(({ coefficient, reading }) => [coefficient, reading.side]),
    [
      [4n, 1],
      [-4n, 2],
    ],
  );
});

test('a fence between proxies is missing for one thread and for two, a copy is pending for the thread that started it', () => {
  const fixture = fixtureOf(twoStores);
  const { symbolic, accesses } = fixture;
  const [write, read] = [accesses[0]!, accesses[1]!];
  const nothing = { block: [], own: [], crossings: [] };
  const crossing = blockPairs(symbolic, { ...nothing, crossings: [{ write, read }] }, conflicts, byKey, false, { conditions: 1000 });
  assert.deepEqual(
    crossing.map(({ lacks, obligations }) => [lacks, obligations.map(({ sameThread }) => sameThread)]),
    [['proxy-fence', [false, true]]],
  );
  const counter = symbolic.store.atom(32, { kind: 'havoc', value: 3 });
  const [copy, access] = [write, read].map((one): AccessOccurrence => ({ access: one, rounds: [], path: [] })) as [
    AccessOccurrence,
    AccessOccurrence,
  ];
  const own = [{ copy, access, later: [{ counter, by: 2 }] }];
  const [pair] = blockPairs(symbolic, { ...nothing, own }, conflicts, byKey, false, { conditions: 1000 });
  const [obligation] = pair!.obligations;
  assert.deepEqual([obligation!.sameThread, obligation!.second.reading.side, obligation!.later[0]!.by], [true, 1, 2n]);
  assert.equal(pair!.lacks, undefined);
});

test('obligations with equal texts differ only in their arrays', () => {
  const fixture = fixtureOf(`${store('%d1', '%r0', '%r9', 10)} ${store('%d2', '%r0', '%r9', 11)} ${store('%d1', '%r9', '%r9', 12)}`);
  const groups = [{ warp: null, intervals: [intervalOf(fixture, fixture.accesses)] }];
  const obligations = pairsOf(fixture, { groups }).flatMap((pair) => pair.obligations);
  const [own] = obligations;
  const text = questionOf(own!);
  const other = obligations.find(({ first, second }) => first.access.index === 1 && second.access.index === 1)!;
  assert.equal(questionOf(other), text);
  for (const different of [
    { ...own!, sameThread: true },
    { ...own!, mayBeOne: true },
    { ...own!, warp: 'same' as const },
    { ...own!, scope: 'grid' as const },
    { ...own!, betweenClusters: [2, 1, 1] as const },
    obligations.find(({ first, second }) => first.access.index !== second.access.index)!,
  ])
    assert.notEqual(questionOf(different), text);
});

test('collective accesses of a warp overlap in the cases that their layouts leave', () => {
  const { symbolic, accesses } = fixtureOf(twoStores);
  const { store: terms } = symbolic;
  const [plain] = accesses;
  const distance = (bytes: bigint) => terms.constant(32, bytes);
  const collective = (of: Partial<NonNullable<Access['ofWarp']>> = {}): Access => ({
    ...plain!,
    bytes: 16,
    ofWarp: { toLine: null, distance: distance(64n), fragment: 'a', transposed: false, ...of },
  });
  const shownCase = ({ warp, startsDiffer, mayBeOne, condition }: WarpOverlapCase): string =>
    [warp ?? 'any', startsDiffer && 'starts', mayBeOne && 'one', condition && 'rows'].filter(Boolean).join(' ');
  const cases = (a: Access, b: Access, warp: 'same' | 'different' | null = null): string[] =>
    warpOverlapCases(symbolic, a, b, warp).map(shownCase);
  assert.deepEqual(cases(plain!, plain!), ['any']);
  assert.deepEqual(cases(plain!, plain!, 'same'), ['same']);
  const [whole, row] = [collective(), collective({ distance: null })];
  assert.deepEqual(cases(whole, whole), ['different', 'same starts']);
  assert.deepEqual(cases(whole, whole, 'different'), ['different']);
  assert.deepEqual(cases(whole, plain!), ['different', 'same']);
  // Rows that overlap, or may.
  assert.deepEqual(cases(collective({ distance: distance(15n) }), collective({ distance: distance(15n) }), 'same'), [
    'same starts',
    'same rows',
  ]);
  assert.deepEqual(cases(collective({ distance: distance(16n) }), collective({ distance: distance(16n) }), 'same'), ['same starts']);
  const given = terms.atom(32, { kind: 'parameter', index: 2, offset: 0, bytes: 4 });
  assert.deepEqual(cases(collective({ distance: given }), collective({ distance: given }), 'same'), ['same starts', 'same rows']);
  const own = terms.atom(32, { kind: 'thread', axis: 0 });
  assert.deepEqual(cases(collective({ distance: own }), collective({ distance: own }), 'same'), ['same']);
  for (const other of [collective({ fragment: 'b' }), collective({ transposed: true }), collective({ distance: distance(128n) })])
    assert.deepEqual(cases(whole, other, 'same'), ['same']);
  assert.deepEqual(cases(row, row, 'same'), ['same', 'same starts one']);
  assert.deepEqual(cases(row, whole, 'same'), ['same one']);
  assert.deepEqual(cases(row, plain!, 'same'), ['same one']);
});
