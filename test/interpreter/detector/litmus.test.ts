import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../src/base/random.ts';
import type { Scope, Semantics } from '../../../src/isa/model/operation.ts';
import { type AccessStep, type LitmusThread, type Step, everyOrder, someOrders } from './litmus.ts';

const data = 0;
const flag = 1;
const other = 2;

type Options = Partial<Pick<AccessStep, 'until' | 'when' | 'into' | 'value' | 'bytes'>>;

function access(kind: AccessStep['kind'], at: number, semantics: Semantics, scope: Scope, options: Options = {}): AccessStep {
  return { kind, at, bytes: 4, semantics, scope, ...(kind === 'write' && { value: () => 1 }), ...options };
}

const read = (at: number): Step => access('read', at, 'weak', 'cta');
const write = (at: number): Step => access('write', at, 'weak', 'cta');
const load = (semantics: Semantics, scope: Scope = 'gpu', at = flag): Step => access('read', at, semantics, scope);
const store = (semantics: Semantics, scope: Scope = 'gpu', value = 1, at = flag): Step =>
  access('write', at, semantics, scope, { value: () => value });
const waitFor = (semantics: Semantics, scope: Scope = 'gpu', until = 1, at = flag): Step => access('read', at, semantics, scope, { until });
const add = (semantics: Semantics, scope: Scope = 'gpu', at = flag, options: Options = {}): Step =>
  access('atomic', at, semantics, scope, { value: (old) => old + 1, ...options });
const fence = (scope: Scope = 'gpu', semantics: 'sc' | 'acq_rel' | 'acquire' | 'release' = 'acq_rel'): Step => ({
  kind: 'fence',
  semantics,
  scope,
});
const lock = (semantics: Semantics = 'relaxed', scope: Scope = 'gpu'): Step =>
  access('atomic', flag, semantics, scope, { until: 0, value: () => 1 });
const unlock = (semantics: Semantics = 'relaxed', scope: Scope = 'gpu'): Step => store(semantics, scope, 0);
const barrier: Step = { kind: 'barrier' };
const warpBarrier: Step = { kind: 'warp-barrier' };
const shuffle: Step = { kind: 'shuffle' };

/** Threads in separate blocks, or in the first lanes of warps, or of one warp. */
function place(where: 'grid' | 'block' | 'warp', programs: readonly (readonly Step[])[]): LitmusThread[] {
  return programs.map((steps, index) => ({
    block: where === 'grid' ? index : 0,
    thread: where === 'block' ? 32 * index : where === 'warp' ? index : 0,
    steps,
  }));
}

interface Litmus {
  readonly name: string;
  readonly threads: readonly LitmusThread[];
  /** Races reported in some schedule, as `step step`. */
  readonly certain?: readonly string[];
  readonly presumed?: readonly string[];
  /** Races reported in addition if volatile accesses race, as in CUDA C++. */
  readonly volatile?: readonly string[];
}

/** Message passing by a flag, where release or acquire may be incomplete. */
function handover(
  name: string,
  where: 'grid' | 'block',
  [release, acquire]: readonly [readonly Step[], readonly Step[]],
  races: Pick<Litmus, 'certain' | 'presumed' | 'volatile'> = {},
): Litmus {
  return {
    name,
    threads: place(where, [
      [write(data), ...release],
      [...acquire, read(data)],
    ]),
    ...races,
  };
}

const relaxedWait = waitFor('relaxed');

const table: readonly Litmus[] = [
  handover('flag with fences', 'grid', [
    [fence(), store('relaxed')],
    [relaxedWait, fence()],
  ]),
  handover(
    'volatile flag with fences',
    'grid',
    [
      [fence(), store('volatile')],
      [waitFor('volatile'), fence()],
    ],
    { volatile: ['0.2 1.0'] },
  ),
  handover(
    'flag with sequentially consistent fences',
    'grid',
    [
      [fence('gpu', 'sc'), store('volatile')],
      [waitFor('volatile'), fence('gpu', 'sc')],
    ],
    { volatile: ['0.2 1.0'] },
  ),
  {
    name: 'strong loads and stores do not race',
    threads: place('grid', [[load('relaxed'), store('release')], [store('relaxed'), load('acquire', 'sys')], [add('acq_rel')]]),
  },
  {
    name: 'strong stores of the scope of the block race between blocks',
    threads: place('grid', [[store('relaxed', 'cta')], [load('relaxed', 'gpu')]]),
    certain: ['0.0 1.0'],
  },
  { name: 'and do not within one', threads: place('block', [[store('relaxed', 'cta')], [load('relaxed', 'cta')]]) },
  {
    name: 'within a cluster its scope reaches',
    threads: place('grid', [[add('relaxed', 'cluster')], [add('relaxed', 'cluster')]]).map((one) => ({
      ...one,
      cluster: 0,
    })),
  },
  {
    name: 'without clusters the scope of the cluster is the block',
    threads: place('grid', [[add('relaxed', 'cluster')], [add('relaxed', 'cluster')]]),
    certain: ['0.0 1.0'],
  },
  {
    name: 'and reaches all of it',
    threads: place('block', [[add('relaxed', 'cluster')], [add('relaxed', 'cluster')]]),
  },
  {
    name: 'a release of the scope of the cluster does not reach another block',
    threads: place('grid', [
      [write(data), fence('cluster'), store('relaxed')],
      [relaxedWait, fence(), read(data)],
    ]),
    certain: ['0.0 1.2'],
  },
  {
    name: 'strong accesses of two sizes race',
    threads: place('grid', [[access('write', data, 'relaxed', 'gpu', { bytes: 8 })], [load('relaxed', 'gpu', data)]]),
    certain: ['0.0 1.0'],
  },
  {
    name: 'volatile accesses',
    threads: place('block', [[load('volatile', 'sys'), store('volatile', 'sys')], [store('volatile', 'sys', 2)]]),
    volatile: ['0.0 1.0', '0.1 1.0'],
  },
  {
    name: 'a volatile access and an atomic',
    threads: place('grid', [[load('volatile', 'sys')], [add('relaxed')]]),
    volatile: ['0.0 1.0'],
  },
  {
    name: 'a volatile access and an atomic of the scope of the block',
    threads: place('grid', [[load('volatile', 'sys')], [add('relaxed', 'cta')]]),
    certain: ['0.0 1.0'],
  },
  {
    name: 'a volatile access and a plain one',
    threads: place('block', [[load('volatile', 'sys')], [write(flag)]]),
    certain: ['0.0 1.0'],
  },
  {
    name: 'a barrier orders volatile accesses',
    threads: place('block', [
      [store('volatile', 'sys'), barrier],
      [barrier, load('volatile', 'sys')],
    ]),
  },
  {
    name: 'reading a volatile value orders no later volatile access',
    threads: place('block', [[store('volatile', 'sys')], [waitFor('volatile', 'sys'), store('volatile', 'sys', 2)]]),
    volatile: ['0.0 1.0', '0.0 1.1'],
  },
  handover('flag without fences', 'grid', [[store('relaxed')], [relaxedWait]], { certain: ['0.0 1.1'] }),
  handover('fence of the reader missing', 'grid', [[fence(), store('relaxed')], [relaxedWait]], {
    certain: ['0.0 1.1'],
  }),
  handover('fence of the writer missing', 'grid', [[store('relaxed')], [relaxedWait, fence()]], {
    certain: ['0.0 1.2'],
  }),
  handover(
    'fence of the reader before the flag',
    'grid',
    [
      [fence(), store('relaxed')],
      [fence(), relaxedWait],
    ],
    { certain: ['0.0 1.2'] },
  ),
  {
    name: 'fence of the writer before the data',
    threads: place('grid', [
      [fence(), write(data), store('relaxed')],
      [relaxedWait, fence(), read(data)],
    ]),
    certain: ['0.1 1.2'],
  },
  handover('release and acquire', 'grid', [[store('release')], [waitFor('acquire')]]),
  handover('release and fence', 'grid', [[store('release')], [relaxedWait, fence('gpu', 'acquire')]]),
  handover('fence and acquire', 'grid', [[fence('gpu', 'release'), store('relaxed')], [waitFor('acquire')]]),
  handover('an acquire fence does not release', 'grid', [[fence('gpu', 'acquire'), store('relaxed')], [waitFor('acquire')]], {
    certain: ['0.0 1.1'],
  }),
  handover('a release fence does not acquire', 'grid', [[store('release')], [relaxedWait, fence('gpu', 'release')]], {
    certain: ['0.0 1.2'],
  }),
  handover(
    'fences of the block between blocks',
    'grid',
    [
      [fence('cta'), store('relaxed')],
      [relaxedWait, fence('cta')],
    ],
    {
      certain: ['0.0 1.2'],
    },
  ),
  handover(
    'fence of the block on one side',
    'grid',
    [
      [fence(), store('relaxed')],
      [relaxedWait, fence('cta')],
    ],
    {
      certain: ['0.0 1.2'],
    },
  ),
  handover('fences of the block within it', 'block', [
    [fence('cta'), store('relaxed', 'cta')],
    [waitFor('relaxed', 'cta'), fence('cta')],
  ]),
  handover(
    'flag of block scope between blocks',
    'grid',
    [
      [fence(), store('relaxed', 'cta')],
      [relaxedWait, fence()],
    ],
    { certain: ['0.0 1.2', '0.2 1.0'] },
  ),
  handover('acquire of block scope', 'grid', [[store('release')], [waitFor('acquire', 'cta')]], {
    certain: ['0.0 1.1', '0.1 1.0'],
  }),
  handover(
    'weak flag',
    'grid',
    [
      [fence(), store('weak')],
      [waitFor('volatile'), fence()],
    ],
    {
      certain: ['0.0 1.2', '0.2 1.0'],
    },
  ),
  handover('release, then a relaxed store of the same thread', 'grid', [
    [store('release', 'gpu', 2), store('relaxed')],
    [waitFor('acquire')],
  ]),
  handover(
    'release of another location, then a relaxed store',
    'grid',
    [[store('release', 'gpu', 1, other), store('relaxed')], [waitFor('acquire')]],
    { certain: ['0.0 1.1'] },
  ),
  handover('relaxed read, then an acquire of the same location', 'grid', [[store('release')], [relaxedWait, load('acquire')]]),
  handover(
    'relaxed read, then an acquire of another location',
    'grid',
    [[store('release')], [relaxedWait, load('acquire', 'gpu', other)]],
    { certain: ['0.0 1.2'] },
  ),
  {
    name: 'fences without a flag',
    threads: place('grid', [
      [write(data), fence('gpu', 'sc')],
      [fence('gpu', 'sc'), read(data)],
    ]),
    certain: ['0.0 1.1'],
  },
  {
    name: 'fences without a flag, and one of another kind',
    threads: place('grid', [
      [write(data), fence('gpu', 'sc')],
      [fence('gpu', 'sc'), read(data), fence()],
    ]),
    certain: ['0.0 1.1'],
    presumed: ['0.0 1.1'],
  },
  {
    name: 'a fence of another thread before the flag, and one after it',
    threads: [
      { block: 0, thread: 0, steps: [write(data), fence('gpu', 'sc'), barrier] },
      { block: 0, thread: 32, steps: [barrier, store('relaxed')] },
      { block: 1, thread: 0, steps: [relaxedWait, barrier] },
      { block: 1, thread: 32, steps: [barrier, fence('gpu', 'sc'), read(data)] },
    ],
  },
  {
    name: 'a fence of another thread before the flag, without a barrier',
    threads: [
      { block: 0, thread: 0, steps: [write(data), fence('gpu', 'sc')] },
      { block: 0, thread: 32, steps: [store('relaxed')] },
      { block: 1, thread: 0, steps: [relaxedWait, fence('gpu', 'sc'), read(data)] },
    ],
    certain: ['0.0 2.2'],
  },
  {
    name: 'a fence before a read that misses a write, and one after that write',
    threads: place('grid', [
      [write(data), fence('gpu', 'sc'), access('read', flag, 'relaxed', 'gpu', { until: 0 })],
      [store('relaxed'), fence('gpu', 'sc'), read(data)],
    ]),
  },
  {
    name: 'a flag that a weak store initialises while another thread polls it',
    threads: place('grid', [[write(flag), store('relaxed')], [load('relaxed')]]),
    certain: ['0.0 1.0'],
  },
  {
    name: 'spin lock with fences',
    threads: place(
      'grid',
      Array.from({ length: 3 }, () => [lock(), fence(), write(data), fence(), unlock()]),
    ),
  },
  {
    name: 'spin lock with acquire and release',
    threads: place(
      'grid',
      Array.from({ length: 3 }, () => [lock('acquire'), read(data), write(data), unlock('release')]),
    ),
  },
  {
    name: 'spin lock without fences',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [lock(), write(data), unlock()]),
    ),
    certain: ['0.1 1.1'],
  },
  {
    name: 'spin lock with a fence only before the unlock',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [lock(), write(data), fence(), unlock()]),
    ),
    certain: ['0.1 1.1'],
  },
  {
    name: 'spin lock that a weak store unlocks',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [lock(), fence(), write(data), fence(), unlock('weak')]),
    ),
    certain: ['0.0 1.4', '0.2 1.2', '0.4 1.0', '0.4 1.4'],
  },
  {
    name: 'spin lock of block scope between blocks',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [lock('acquire', 'cta'), write(data), unlock('release', 'cta')]),
    ),
    certain: ['0.0 1.0', '0.0 1.2', '0.1 1.1', '0.2 1.0', '0.2 1.2'],
  },
  {
    name: 'ticket lock',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [
        add('relaxed', 'gpu', other, { into: 'ticket' }),
        access('read', flag, 'acquire', 'gpu', { until: ({ ticket }) => ticket! }),
        write(data),
        add('release'),
      ]),
    ),
  },
  {
    name: 'ticket lock without acquire',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [
        add('relaxed', 'gpu', other, { into: 'ticket' }),
        access('read', flag, 'relaxed', 'gpu', { until: ({ ticket }) => ticket! }),
        write(data),
        add('release'),
      ]),
    ),
    certain: ['0.2 1.2'],
  },
  ...lastBlock('the last block sums up', [fence()], [fence()], {}),
  ...lastBlock('the last block sums up without a fence before its reads', [fence()], [], {
    certain: ['0.0 1.3', '0.3 1.0'],
  }),
  ...lastBlock('the last block sums up, fences only before the counter', [fence('gpu', 'sc')], [], {
    certain: ['0.0 1.3', '0.3 1.0'],
  }),
  {
    name: 'the last block resets the counter',
    threads: place(
      'grid',
      Array.from({ length: 3 }, () => [
        add('relaxed', 'gpu', flag, { into: 'count' }),
        access('write', flag, 'weak', 'cta', { when: ({ count }) => count === 2, value: () => 0 }),
      ]),
    ),
  },
  {
    name: 'a counter that a thread resets which saw but its first value',
    threads: place(
      'grid',
      Array.from({ length: 2 }, () => [
        add('relaxed', 'gpu', flag, { into: 'count' }),
        access('write', flag, 'weak', 'cta', { when: ({ count }) => count === 0, value: () => 0 }),
      ]),
    ),
    certain: ['0.0 1.1', '0.1 1.0', '0.1 1.1'],
  },
  {
    name: 'barrier of the grid as spin code',
    threads: gridBarrier('release', 'acquire'),
  },
  {
    name: 'barrier of the grid as spin code, relaxed',
    threads: gridBarrier('relaxed', 'acquire'),
    certain: ['1.0 3.2'],
  },
  {
    name: 'message passing from thread to thread',
    threads: place('grid', [
      [write(data), store('release')],
      [waitFor('acquire'), store('release', 'gpu', 1, other)],
      [waitFor('acquire', 'gpu', 1, other), read(data)],
    ]),
  },
  {
    name: 'message passing within a block, then between blocks',
    threads: [
      { block: 0, thread: 0, steps: [write(data), store('release', 'cta')] },
      { block: 0, thread: 32, steps: [waitFor('acquire', 'cta'), store('release', 'gpu', 1, other)] },
      { block: 1, thread: 0, steps: [waitFor('acquire', 'gpu', 1, other), read(data)] },
    ],
  },
  {
    name: 'message passing from thread to thread, the second relaxed',
    threads: place('grid', [
      [write(data), store('release')],
      [waitFor('relaxed'), store('release', 'gpu', 1, other)],
      [waitFor('acquire', 'gpu', 1, other), read(data)],
    ]),
    certain: ['0.0 2.1'],
  },
  {
    name: 'message passing continued by a barrier',
    threads: [
      { block: 0, thread: 0, steps: [write(data), barrier] },
      { block: 0, thread: 32, steps: [barrier, store('release')] },
      { block: 1, thread: 0, steps: [waitFor('acquire'), barrier] },
      { block: 1, thread: 32, steps: [barrier, read(data)] },
    ],
  },
  {
    name: 'message passing continued by a barrier of a warp, but not to another warp',
    threads: [
      { block: 0, thread: 0, steps: [write(data), store('release')] },
      { block: 1, thread: 0, steps: [waitFor('acquire'), warpBarrier] },
      { block: 1, thread: 1, steps: [warpBarrier, read(data)] },
      { block: 1, thread: 32, steps: [warpBarrier, read(data)] },
    ],
    certain: ['0.0 3.1'],
  },
  {
    name: 'release sequence through atomics',
    threads: place('grid', [
      [write(data), store('release')],
      [access('atomic', flag, 'relaxed', 'gpu', { until: 1, value: () => 2 })],
      [waitFor('acquire', 'gpu', 2), read(data)],
    ]),
  },
  {
    name: 'release sequence broken by a store',
    threads: place('grid', [
      [write(data), store('release')],
      [waitFor('relaxed'), store('relaxed', 'gpu', 2)],
      [waitFor('acquire', 'gpu', 2), read(data)],
    ]),
    certain: ['0.0 2.1'],
  },
  {
    name: 'release sequence broken by an atomic of block scope',
    threads: place('grid', [
      [write(data), store('release')],
      [access('atomic', flag, 'relaxed', 'cta', { until: 1, value: () => 2 })],
      [waitFor('acquire', 'gpu', 2), read(data)],
    ]),
    certain: ['0.0 2.1', '0.1 1.0', '1.0 2.0'],
  },
  {
    name: 'releases of several threads gather in a counter',
    threads: place('grid', [
      [write(data), add('release')],
      [write(other), add('release')],
      [waitFor('acquire', 'gpu', 2), read(data), read(other)],
    ]),
  },
  {
    name: 'a flag that the wider store overlaps',
    threads: place('grid', [
      [write(data), fence(), access('write', 2, 'relaxed', 'gpu', { bytes: 8 })],
      [waitFor('relaxed', 'gpu', 1, 2), fence(), read(data)],
    ]),
    certain: ['0.0 1.2', '0.2 1.0'],
  },
  {
    name: 'messages within a warp: barrier',
    threads: place('warp', [
      [write(data), warpBarrier],
      [warpBarrier, read(data)],
    ]),
  },
  {
    name: 'messages within a warp: shuffle',
    threads: place('warp', [
      [write(data), shuffle],
      [shuffle, read(data)],
    ]),
    presumed: ['0.0 1.1'],
  },
  {
    name: 'messages between warps: barriers of the warps',
    threads: place('block', [
      [write(data), warpBarrier],
      [warpBarrier, read(data)],
    ]),
    certain: ['0.0 1.1'],
  },
  {
    name: 'messages between blocks: barriers of the blocks',
    threads: place('grid', [
      [write(data), barrier],
      [barrier, read(data)],
    ]),
    certain: ['0.0 1.1'],
  },
  {
    name: 'producers arrive, consumers wait, the others do neither',
    threads: place('block', [
      [write(data), { kind: 'arrive', number: 1, count: 2 }, write(other)],
      [{ kind: 'part-barrier', number: 1, count: 2 }, read(data), read(other)],
    ]),
    certain: ['0.2 1.2'],
  },
];

function lastBlock(name: string, before: readonly Step[], after: readonly Step[], races: Pick<Litmus, 'certain' | 'presumed'>): Litmus[] {
  const ifLast = ({ count }: Record<string, number>): boolean => count === 1;
  const program = (own: number, theirs: number): Step[] => [
    write(own),
    ...before,
    add('relaxed', 'gpu', flag, { into: 'count' }),
    ...after,
    access('read', theirs, 'weak', 'cta', { when: ifLast }),
  ];
  return [{ name, threads: place('grid', [program(data, other), program(other, data)]), ...races }];
}

/** Threads 0 and 1 of two blocks: the first of each counts blocks and waits, between barriers of its block. */
function gridBarrier(release: Semantics, acquire: Semantics): LitmusThread[] {
  const leader = [barrier, add(release), waitFor(acquire, 'gpu', 2), barrier];
  return [
    { block: 0, thread: 0, steps: leader },
    { block: 0, thread: 32, steps: [write(data), barrier, barrier] },
    { block: 1, thread: 0, steps: leader },
    { block: 1, thread: 32, steps: [barrier, barrier, read(data)] },
  ];
}

for (const { name, threads, certain = [], presumed = [], volatile = [] } of table) {
  test(name, () => {
    for (const volatileRaces of [false, true]) {
      const { runs, found, falseAlarms, missed } = everyOrder(threads, volatileRaces);
      assert.ok(runs > 0);
      assert.deepEqual([falseAlarms, missed], [[], []]);
      assert.deepEqual([...found.certain].sort(), [...certain, ...(volatileRaces ? volatile : [])].sort());
      assert.deepEqual([...found.presumed].sort(), [...presumed].sort());
    }
  });
}

const places = [
  { block: 0, thread: 0 },
  { block: 0, thread: 1 },
  { block: 0, thread: 32 },
  { block: 1, thread: 0 },
  { block: 1, thread: 1 },
] as const;

test('random programs: no race is reported falsely or missed', () => {
  const random = seededRandom(2);
  let strong: readonly Semantics[];
  let scopes: readonly Scope[];
  let fences: readonly ('sc' | 'acq_rel' | 'acquire' | 'release')[];
  const step = (): Step => {
    const scope = random.pick(scopes);
    const kind = random.pick<AccessStep['kind']>(['read', 'write', 'atomic']);
    switch (random.below(10)) {
      case 0:
      case 1:
      case 2: {
        const bytes = random.chance(0.1) ? 8 : 4;
        const plain = kind === 'atomic' ? 'read' : kind;
        return access(plain, bytes === 8 ? 0 : random.chance(0.8) ? data : flag, 'weak', scope, { bytes });
      }
      case 3:
      case 4:
      case 5: {
        const fitting = strong.filter((semantics) =>
          kind === 'read' ? semantics !== 'release' && semantics !== 'acq_rel' : kind === 'atomic' || !/acq/.test(semantics),
        );
        const at = random.chance(0.8) ? flag : data;
        if (kind !== 'atomic' && random.chance(0.3)) return access(kind, at, 'volatile', 'sys');
        return access(kind, at, random.pick(fitting), scope);
      }
      case 6:
      case 7:
        return fence(scope, random.pick(fences));
      case 8:
        return random.pick([barrier, warpBarrier, shuffle]);
      default:
        return { kind: random.pick(['arrive', 'part-barrier'] as const), number: 1, count: 2 };
    }
  };
  const steps = (): Step[] => Array.from({ length: random.between(2, 6) }, step);
  let runs = 0;
  for (let round = 0; round < 2500; round++) {
    // If each scope includes all of the launch, and only fences order accesses, less is recorded.
    scopes = random.chance(0.5) ? ['cta', 'cluster', 'gpu', 'sys'] : ['gpu', 'sys'];
    fences = random.chance(0.5) ? ['sc', 'acq_rel', 'acquire', 'release'] : ['sc'];
    strong = random.chance(0.5) ? ['relaxed', 'acquire', 'release', 'acq_rel'] : ['relaxed'];
    const chosen = places.filter(() => random.chance(0.7));
    const common = random.chance(0.4) ? steps() : null;
    const isClustered = random.chance(0.3);
    const threads = chosen.map((where, index): LitmusThread => ({
      ...where,
      ...(isClustered && { cluster: 0 }),
      steps: common ?? steps(),
      ...(common && index > 0 && { like: 0 }),
    }));
    const result = someOrders(threads, 6, (bound) => random.below(bound), random.chance(0.5));
    runs += result.runs;
    assert.deepEqual([result.falseAlarms, result.missed], [[], []]);
  }
  assert.ok(runs > 10_000, `${runs} runs`);
});
