import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { BarrierCandidate } from '../../src/cuda/editing/barrier-candidates.ts';
import { isFullBarrier, isGridBarrier, isWarpBarrier } from '../../src/analysis/barriers/barrier-interval.ts';
import type { CheckResult } from '../../src/check/request/check-request.ts';
import { type MarkerSwitches, switchMarkers } from '../../src/ir/form/switch-markers.ts';
import { verifyKernel } from '../ir/form/verify.ts';
import { markersAmongAccesses, markersBetween } from '../../src/repair/barrier-candidates-between.ts';
import { type SearchResult, searchPlacements } from '../../src/repair/placement-search.ts';
import { redundantBarriers } from '../../src/repair/redundant-barrier.ts';
import { Oracle } from '../../src/repair/repair-target.ts';
import { defaultConfiguration } from '../../src/settings/defaults.ts';
import { closeSolver, kernelOf, requestFor } from '../check/kernel-text.ts';

after(closeSolver);

/** Each thread writes its element of shared memory and reads its neighbour's. */
const exchange = (first: string, between: string, last: string): string => `
and.b32 %r20, %r0, 63;
mul.wide.s32 %d5, %r20, 4;
add.s64 %d6, %d3, %d5;
${first}
st.shared.u32 [%d6], %r0;
${between}
xor.b32 %r21, %r20, 1;
mul.wide.s32 %d7, %r21, 4;
add.s64 %d8, %d3, %d7;
ld.shared.u32 %r22, [%d8];
${last}
mad.wide.s32 %d10, %r0, 4, %d1;
st.global.u32 [%d10], %r22;
`;

/** `existing`: numbers of markers that represent barriers of the original. */
function candidates(count: number, existing: readonly number[] = []): BarrierCandidate[] {
  return Array.from({ length: count }, (_, number) => {
    const kind = existing.includes(number) ? { kind: 'existing', level: 'block' } : { kind: 'before', previous: {} };
    return {
      number,
      line: number + 1,
      conditions: [],
      function: { kind: 'kernel' },
      bare: null,
      statement: { type: '' },
      ...kind,
    } as unknown as BarrierCandidate;
  });
}

function oracleOf(body: string): Oracle {
  const request = requestFor(kernelOf(body), { budget: { replaySteps: 0 } });
  const check = (switches: MarkerSwitches): Promise<CheckResult> =>
    checkKernel({ ...request, kernel: switchMarkers(request.kernel, switches), proofOnly: true });
  return new Oracle([{ kernel: request.kernel, launches: [request.launch], check }], () => undefined);
}

function search(body: string, all: readonly BarrierCandidate[], level: 'block' | 'warp' = 'block'): Promise<SearchResult> {
  return searchPlacements({
    oracle: oracleOf(body),
    candidates: all,
    weights: defaultConfiguration.checks.repair.weights,
    gridLevel: false,
    level,
    isShared: () => false,
    effort: { iterations: 0, clauses: 0 },
    expired: () => false,
  });
}

const marker = (number: number): string => `// SELVAGE_CANDIDATE ${number}`;

test('a switch inserts a barrier at a marker, and removes a marker that is off', () => {
  const kernel = kernelOf(exchange(marker(0), marker(1), marker(2)));
  const states = ['block', 'grid', 'warp'] as const;
  const switched = switchMarkers(kernel, { states: new Map(states.entries()), places: new Map() });
  verifyKernel(switched);
  const instructions = switched.blocks.flatMap((block) => block.instructions);
  assert.equal(instructions.filter(isFullBarrier).length, 2);
  assert.equal(instructions.filter(isGridBarrier).length, 1);
  assert.equal(instructions.filter(isWarpBarrier).length, 1);
  const off = switchMarkers(kernel, { states: new Map(), places: new Map() }).blocks.flatMap((block) => block.instructions);
  assert.equal(off.length, instructions.length - 3);
  assert.ok(off.every((instruction) => instruction.marker === undefined));
});

test('the barrier between a write and a read is found', async () => {
  const result = await search(exchange(marker(0), marker(1), marker(2)), candidates(3));
  assert.ok(result.kind === 'found', JSON.stringify(result.kind));
  assert.deepEqual(result.placement.added, [{ marker: 1, state: 'block' }]);
});

test('a barrier that only some threads reach is not a candidate, and an existing one there is removed', async () => {
  const guarded = `setp.lt.u32 %p1, %r0, 40;\n@!%p1 bra L1;\n${marker(0)}\nL1:\n`;
  const none = await search(exchange('', guarded, ''), candidates(1));
  assert.ok(none.kind === 'none');
  assert.deepEqual([...none.unsafe], [0]);
  const moved = await search(exchange('', `${guarded}${marker(1)}`, ''), candidates(2, [0]));
  assert.ok(moved.kind === 'found', JSON.stringify(moved.kind));
  assert.deepEqual(moved.placement, {
    added: [{ marker: 1, state: 'block' }],
    removed: [0],
    weight: moved.placement.weight,
  });
});

test('a barrier outside of a loop costs less than one in it, if either is sufficient', async () => {
  const loop = `mov.u32 %r30, 0;\n${marker(0)}\nL1:\n${marker(1)}\nadd.s32 %r30, %r30, 1;\nsetp.lt.u32 %p1, %r30, 4;\n@%p1 bra L1;\n`;
  const result = await search(exchange('', loop, ''), candidates(2));
  assert.ok(result.kind === 'found', JSON.stringify(result.kind));
  assert.deepEqual(
    [result.placement, ...(await result.others())].map(({ added }) => added.map(({ marker: number }) => number)),
    [[0]],
  );
});

test('two access pairs that no single barrier separates get two barriers', async () => {
  const twice = exchange(marker(0), marker(1), marker(2)) + exchange(marker(3), marker(4), marker(5));
  const result = await search(twice, candidates(6));
  assert.ok(result.kind === 'found', JSON.stringify(result.kind));
  assert.equal(result.placement.added.length, 3);
});

test('threads of one write to one element cannot be separated', async () => {
  const result = await search(`${marker(0)}\nst.global.u32 [%d1], %r0;\n${marker(1)}`, candidates(2));
  assert.ok(result.kind === 'none');
  assert.equal(result.races.length, 1);
});

test('threads of a warp are separated by a barrier of the warp where not all of the block arrive', async () => {
  const body = `setp.lt.u32 %p2, %r0, 32;\n@!%p2 bra L9;\n${exchange('', marker(0), '')}\nL9:\nmad.wide.s32 %d12, %r0, 4, %d2;\nst.global.u32 [%d12], %r0;\n`;
  assert.equal((await search(body, candidates(1))).kind, 'none');
  const result = await search(body, candidates(1), 'warp');
  assert.ok(result.kind === 'found', JSON.stringify(result.kind));
  assert.deepEqual(result.placement.added, [{ marker: 0, state: 'warp' }]);
});

test('markers between two accesses end at barriers, in either direction', () => {
  const kernel = kernelOf(exchange(marker(0), `${marker(1)}\n${marker(2)}\n${marker(3)}`, marker(4)));
  const accesses = kernel.blocks.flatMap(({ instructions }) => instructions.filter(({ operation }) => /\.shared/.test(operation.mnemonic)));
  const between = (on: readonly number[]): number[] => [
    ...markersBetween(kernel, accesses[0]!.id, accesses[1]!.id, (number) => on.includes(number), 'block'),
  ];
  assert.deepEqual(between([]), [1, 2, 3]);
  assert.deepEqual(between([2]), []);
  assert.deepEqual(
    [...markersAmongAccesses(kernel)].sort((a, b) => a - b),
    [1, 2, 3, 4],
  );
});

test('a barrier that orders no access pair is removed, a required barrier stays', async () => {
  const all = candidates(2, [0, 1]);
  const body = exchange('', marker(0), marker(1));
  const gone = await redundantBarriers(oracleOf(body), oracleOf(body), all, () => false);
  assert.deepEqual(
    gone.map(({ number }) => number),
    [1],
  );
});

test('a barrier between atomics stays: it determines their order', async () => {
  const atomics = `atom.global.add.u32 %r40, [%d1], 1;\n${marker(0)}\natom.global.add.u32 %r41, [%d1], 1;\n`;
  assert.deepEqual(await redundantBarriers(oracleOf(atomics), oracleOf(atomics), candidates(1, [0]), () => false), []);
});

test('one of two adjacent barriers is removed, also if the code around them is unknown', async () => {
  const add = (result: number): string => `atom.global.add.u32 %r${result}, [%d1], 1;\n`;
  const gone = async (body: string, count: number): Promise<number[]> => {
    const all = Array.from({ length: count }, (_, number) => number);
    const redundant = await redundantBarriers(oracleOf(body), null, candidates(count, all), () => false);
    return redundant.map(({ number }) => number);
  };
  assert.deepEqual(await gone(`${add(40)}${marker(0)}\nadd.u32 %r30, %r0, 1;\n${marker(1)}\n${add(41)}`, 2), [1]);
  assert.deepEqual(await gone(`${marker(0)}\n${add(40)}${marker(1)}\n${add(41)}${marker(2)}`, 3), [0, 2]);
  // A load between them, on one of two paths; one barrier for each iteration.
  const way = `setp.eq.u32 %p1, %r9, 0;\n@%p1 bra L1;\nld.global.u32 %r30, [%d2];\nL1:\n`;
  assert.deepEqual(await gone(`${add(40)}${marker(0)}\n${way}${marker(1)}\n${add(41)}`, 2), []);
  const loop = `mov.u32 %r30, 0;\nL1:\n${marker(1)}\n${add(41)}add.s32 %r30, %r30, 1;\nsetp.lt.u32 %p1, %r30, 4;\n@%p1 bra L1;\n`;
  assert.deepEqual(await gone(`${add(40)}${marker(0)}\n${loop}`, 2), [0]);
});
