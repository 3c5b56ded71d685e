/** A cached run of one launch that serves another gives the same report as a separate run. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../../src/check/check-kernel.ts';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import type { Launch } from '../../../src/launch/launch.ts';
import { cacheRun, cachedRun, runKey } from '../../../src/check/witness/run-cache.ts';
import { type CheckOptions, closeSolver, kernelOf, load, pointersAndNumbers, requestFor, store } from '../kernel-text.ts';

after(closeSolver);

const neighbours = `${store('%d0', '%r0', '1', 20)} xor.b32 %r20, %r0, 1; ${load('%r21', '%d0', '%r20', 22)}
  ${store('%d1', '%r0', '%r21', 24)}`;
const guarded = `setp.ge.s32 %p1, %r7, %r9; @%p1 bra L; ${load('%r21', '%d1', '%r7', 22)} add.s32 %r22, %r7, %r8;
  ${store('%d2', '%r22', '%r21', 24)} ${load('%r23', '%d1', '%r22', 26)} ${store('%d1', '%r7', '%r23', 28)} L:`;
const volatile = `st.volatile.u32 [%d1], %r0; ld.volatile.u32 %r20, [%d1]; ${store('%d2', '%r7', '%r20', 24)}`;

const shorts = pointersAndNumbers.map((one, at) => (at === 1 ? { ...one, type: 'short *' } : one));
const launches: readonly CheckOptions[] = [
  {},
  { block: [128, 1, 1] },
  { grid: [3, 1, 1] },
  { grid: [3, 1, 1], scalars: { 2: 100n } },
  { grid: [3, 1, 1], scalars: { 2: 100n, 3: 1n } },
  { grid: [3, 1, 1], launch: { samePointers: [[0, 1]] } },
  { grid: [3, 1, 1], scalars: { 2: 100n, 3: 1n }, launch: { samePointers: [[0, 1]] } },
  { grid: [3, 1, 1], scalars: { 2: 100n, 3: 1n }, parameters: shorts },
  { grid: [3, 1, 1], scalars: { 2: 100n, 3: 1n }, assume: ['a[*] in 5..6'] },
  { grid: [3, 1, 1], scalars: { 2: 100n, 3: 1n }, assume: ['extent(a) >= 64'] },
  { policy: { warpLockstep: true } },
  { policy: { volatile: 'allow' } },
  { budget: { replaySteps: 300 } },
  {},
];

for (const [name, body] of Object.entries({ neighbours, guarded, volatile }))
  test(`${name}: each launch is reported as if it were the only one`, async () => {
    const shared = kernelOf(body);
    const findings = async (kernel: Kernel, options: CheckOptions): Promise<unknown> => {
      const { race, divergence } = await checkKernel(requestFor(kernel, options));
      return [race, divergence];
    };
    for (const options of launches)
      assert.deepEqual(
        await findings(shared, options),
        await findings(kernelOf(body), options),
        JSON.stringify([options.block, options.grid]),
      );
  });

test('a run is cached under all its inputs, and the oldest is evicted first', () => {
  const kernel = kernelOf('');
  const { launch } = requestFor(kernel);
  const scenario = {
    block: [32, 1, 1],
    grid: [2, 1, 1],
    sharedBytes: 0,
    scalar: () => 1n,
    blocks: [0, 1],
    contents: 1,
    settled: new Map([['0.0', 1]]),
  } as const;
  const key = (changed: object, others: readonly unknown[] = [10], of: Launch = launch): string =>
    runKey(kernel, pointersAndNumbers, [{ index: 2, offset: 0, bytes: 4, isPointer: false }], of, { ...scenario, ...changed }, others);
  const keys = [
    key({}),
    key({ block: [64, 1, 1] }),
    key({ grid: [3, 1, 1] }),
    key({ sharedBytes: 4 }),
    key({ scalar: () => 2n }),
    key({ blocks: [1, 0] }),
    key({ order: 1 }),
    key({ contents: 'rising' }),
    key({ settled: new Map() }),
    key({ extents: new Map([['0.0', 8]]) }),
    key({}, [11]),
    key({}, [10], { ...launch, samePointers: [[0, 1]] }),
    key({}, [10], { ...launch, distances: [[0, 1, { kind: 'integer', value: 8n }]] }),
    key({}, [10], { ...launch, cluster: [2, 1, 1] }),
  ];
  assert.equal(new Set(keys).size, keys.length);
  assert.equal(key({}), keys[0]);
  const result = {
    outcome: 'finished',
    steps: 7,
    races: [],
    divergences: [],
    faults: [],
    undefinedReads: [],
    havocs: [],
    mayMissRaces: false,
    brokenAssumptions: [],
    stopped: null,
    read: () => 0n,
    readBytes: () => new Uint8Array(),
  } as const;
  for (let at = 0; at < 70; at++) cacheRun(kernel, `run ${at}`, 10, result);
  const known = (name: string, budget: number, of = kernel): unknown => cachedRun(of, name, budget);
  assert.equal(known('run 0', 10), undefined);
  assert.deepEqual(
    [10, 20].map((budget) => known('run 69', budget) !== undefined),
    [true, true],
  );
  // It might have touched too many pages.
  assert.equal(known('run 69', 8), undefined);
  assert.equal(known('run 69', 10, kernelOf('')), undefined);
  cacheRun(kernel, 'cut', 10, { ...result, outcome: 'budget', steps: 12 });
  assert.deepEqual(
    [10, 9, 20].map((budget) => known('cut', budget) !== undefined),
    [true, false, false],
  );
});
