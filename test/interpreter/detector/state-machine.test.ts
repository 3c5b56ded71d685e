import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import {
  type AccessName,
  type RelationName,
  type StateName,
  type SyncName,
  accessNames,
  nextState,
  raceState,
  relationNames,
  stateNames,
  syncNames,
  transitionIndex,
  transitions,
  uninitialised,
  untouched,
} from '../../../src/interpreter/detector/state-machine.ts';

type Cell = readonly [state: StateName, access: AccessName, sync: SyncName, relation: RelationName];

const barriers: readonly (readonly [SyncName, readonly RelationName[]])[] = [
  ['warp', ['thread', 'warp']],
  ['block', ['thread', 'warp', 'block']],
];
const atomics = ['block-atomic', 'device-atomic'] as const;

/** The cells of the published table that the nine rules do not determine, with their states. */
const oddCells: readonly (readonly [Cell, StateName])[] = [
  // Loses the atomic after a read that a barrier ordered: false alarms at the next atomic.
  ...atomics.flatMap((access) =>
    barriers.flatMap(([sync, relations]) => relations.map((relation) => [['read', access, sync, relation], 'write'] as const)),
  ),
  // Keeps the whole block as participants although a barrier cleared them: false alarms at the warp's next plain access.
  ...atomics.flatMap((access) =>
    (['thread', 'warp'] as const).map((relation) => [['block-atomic-block', access, 'block', relation], 'block-atomic-block'] as const),
  ),
  // Takes two unordered atomics for those of one thread: misses races.
  [['warp-synced-atomic', 'device-atomic', 'none', 'warp'], 'warp-synced-atomic'],
];

function indexOf([state, access, sync, relation]: Cell): number {
  return transitionIndex(stateNames.indexOf(state), accessNames.indexOf(access), syncNames.indexOf(sync), relationNames.indexOf(relation));
}

test('the table has 25 states, all reachable, and a row for locations without contents', () => {
  assert.equal(stateNames.length, 25);
  assert.equal(stateNames[untouched], 'untouched');
  assert.equal(stateNames[raceState], 'race');
  const row = transitions.length / (uninitialised + 1);
  assert.equal(row, 48);
  assert.deepEqual(transitions.slice(uninitialised * row), transitions.slice(0, row));
  const reached = new Set<number>([untouched]);
  for (const state of reached) for (const next of transitions.slice(state * row, (state + 1) * row)) reached.add(next);
  assert.equal(reached.size, 25);
  assert.equal(transitions.slice(0, uninitialised * row).filter((state) => state === raceState).length, 578);
});

test('block barriers do not order other blocks, nor warp barriers other warps', () => {
  for (const state of stateNames) {
    for (const access of accessNames) {
      const grid = syncNames.map((sync) => nextState(state, access, sync, 'grid'));
      assert.equal(new Set(grid).size, 1, `${state} ${access}`);
      assert.equal(nextState(state, access, 'warp', 'block'), nextState(state, access, 'none', 'block'));
    }
  }
});

/** Digest of the 1,200 cells that HiRace publishes, in the numbering used here. */
const publishedDigest = 'ed705618f5c7c2803ac7bf278401a082ae979169e34348cbdf07adae3f796073';

function publishedTable(): Uint8Array {
  const table = transitions.slice(0, uninitialised * 48);
  for (const [cell, state] of oddCells) table[indexOf(cell)] = stateNames.indexOf(state);
  return table;
}

test('fifteen of the 1,200 cells of the published table differ', () => {
  const published = publishedTable();
  assert.equal(createHash('sha256').update(published).digest('hex'), publishedDigest);
  assert.equal(published.filter((state, cell) => state !== transitions[cell]).length, 15);
});

/** Threads of the search: their warps and blocks. */
interface Shape {
  readonly warps: readonly number[];
  readonly blockOfWarp: readonly number[];
}

interface Search {
  /** Product states visited. */
  readonly states: number;
  /** Table cells with a race that happens-before does not have, and without one that it has. */
  readonly falseAlarms: ReadonlySet<number>;
  readonly missed: ReadonlySet<number>;
}

/**
 * Compares the table with plain happens-before over all sequences of `most` accesses with barriers between them.
 * Happens-before records of an earlier access its thread, its kind, and whether only its thread, its warp or its block
 * is ordered after it; of equal ones the least ordered counts. Product states are visited once.
 */
function search(table: Uint8Array, { warps, blockOfWarp }: Shape, most: number): Search {
  const threads = warps.length;
  const blockOf = warps.map((warp) => blockOfWarp[warp]!);
  const kinds = accessNames.length;
  const read = 0;
  const blockAtomic = 2;
  const falseAlarms = new Set<number>();
  const missed = new Set<number>();
  /** Per thread one byte, two bits a kind: 0 no such access, otherwise 1 + what orders it (none, warp, block). */
  let layer = new Map<number, Uint8Array>();
  const keyOf = (state: Uint8Array): number => {
    let key = 0;
    for (const byte of state.subarray(0, threads)) key = key * 256 + byte;
    return (key * 32 + state[threads]!) * 32 + state[threads + 1]! * 4 + state[threads + 2]!;
  };
  const start = new Uint8Array(threads + 3);
  layer.set(keyOf(start), start);
  const seen = new Set<number>();

  /** The state after a barrier of a warp, or of all warps of a block. */
  const synchronized = (state: Uint8Array, level: 1 | 2, group: number): Uint8Array => {
    const next = state.slice();
    for (let thread = 0; thread < threads; thread++) {
      if ((level === 1 ? warps[thread] : blockOf[thread]) !== group) continue;
      for (let kind = 0; kind < kinds; kind++) {
        const known = (state[thread]! >> (2 * kind)) & 3;
        if (known !== 0 && known <= level) next[thread]! += (level + 1 - known) << (2 * kind);
      }
    }
    const last = state[threads + 1]!;
    const lastGroup = level === 1 ? warps[last] : blockOf[last];
    if (lastGroup === group) next[threads + 2] = Math.max(next[threads + 2]!, level);
    return next;
  };

  const isRace = (state: Uint8Array, thread: number, kind: number): boolean => {
    for (let other = 0; other < threads; other++) {
      if (other === thread) continue;
      for (let earlier = 0; earlier < kinds; earlier++) {
        const known = (state[other]! >> (2 * earlier)) & 3;
        if (known === 0 || (kind === read && earlier === read)) continue;
        const sameBlock = blockOf[other] === blockOf[thread];
        if (kind >= 2 && earlier >= 2 && (sameBlock || (kind !== blockAtomic && earlier !== blockAtomic))) continue;
        if (known === 3 && sameBlock) continue;
        if (known === 2 && warps[other] === warps[thread]) continue;
        return true;
      }
    }
    return false;
  };

  for (let accesses = 0; accesses < most; accesses++) {
    for (const [, state] of layer) {
      for (const warp of blockOfWarp.keys()) {
        const next = synchronized(state, 1, warp);
        if (!layer.has(keyOf(next))) layer.set(keyOf(next), next);
      }
      for (const block of new Set(blockOfWarp)) {
        const next = synchronized(state, 2, block);
        if (!layer.has(keyOf(next))) layer.set(keyOf(next), next);
      }
    }
    const following = new Map<number, Uint8Array>();
    for (const [key, state] of layer) {
      if (seen.has(key)) continue;
      seen.add(key);
      const [before, last, sync] = [state[threads]!, state[threads + 1]!, state[threads + 2]!];
      for (let thread = 0; thread < threads; thread++) {
        const relation = thread === last ? 0 : warps[thread] === warps[last] ? 1 : blockOf[thread] === blockOf[last] ? 2 : 3;
        for (let kind = 0; kind < kinds; kind++) {
          const cell = transitionIndex(before, kind, sync, relation);
          const after = table[cell]!;
          const race = isRace(state, thread, kind);
          if (race !== (after === raceState)) (race ? missed : falseAlarms).add(cell);
          if (race || after === raceState) continue;
          const next = state.slice();
          next[thread] = (state[thread]! & ~(3 << (2 * kind))) | (1 << (2 * kind));
          next[threads] = after;
          next[threads + 1] = thread;
          next[threads + 2] = 0;
          following.set(keyOf(next), next);
        }
      }
    }
    layer = following;
  }
  return { states: seen.size, falseAlarms, missed };
}

const fiveThreads: Shape = { warps: [0, 0, 1, 1, 2], blockOfWarp: [0, 0, 1] };
const fourThreads: Shape = { warps: [0, 0, 1, 2], blockOfWarp: [0, 0, 1] };

test('the table agrees with happens-before: 5 threads to 4 accesses, 4 threads to 6', () => {
  for (const [shape, most] of [
    [fiveThreads, 4],
    [fourThreads, 6],
  ] as const) {
    const { states, falseAlarms, missed } = search(transitions, shape, most);
    assert.ok(states > 15_000, `${states} states`);
    assert.deepEqual([[...falseAlarms], [...missed]], [[], []]);
  }
});

test('the search finds the errors of the published table', () => {
  const { falseAlarms, missed } = search(publishedTable(), fiveThreads, 4);
  assert.deepEqual([falseAlarms.size, missed.size], [16, 2]);
});
