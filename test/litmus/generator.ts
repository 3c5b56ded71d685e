/**
 * All litmus programs of some families, by their numbers. A program that is another one with its threads or its
 * locations exchanged is left out.
 */
import type { FenceOrder, LitmusProgram, LoadOrder, MemoryStatement, Place, Scope, Statement, StoreOrder, Test } from './program.ts';

export interface Family {
  readonly name: string;
  /** Numbers of its programs go from 0 to before this. */
  readonly count: number;
  /** The program of that index; null if another index has it, or none of its accesses could race. */
  readonly programAt: (index: number) => LitmusProgram | null;
}

/** Decomposes a number into choices: each call returns one of a list, or a number below a bound. */
class Digits {
  #left: number;
  /** Product of the bounds so far. */
  total = 1;

  constructor(index: number) {
    this.#left = index;
  }

  below(bound: number): number {
    this.total *= bound;
    const digit = this.#left % bound;
    this.#left = Math.floor(this.#left / bound);
    return digit;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
}

const place = (cluster: number, block: number, warp: number): Place => ({ cluster, block, warp });

/** Places of two, three and four threads, up to their order. */
const placements: Readonly<Record<number, readonly (readonly Place[])[]>> = {
  2: [
    [place(0, 0, 0), place(0, 0, 0)],
    [place(0, 0, 0), place(0, 0, 1)],
    [place(0, 0, 0), place(0, 1, 0)],
    [place(0, 0, 0), place(1, 1, 0)],
  ],
  3: [
    [place(0, 0, 0), place(0, 0, 0), place(0, 0, 0)],
    [place(0, 0, 0), place(0, 0, 1), place(0, 0, 2)],
    [place(0, 0, 0), place(0, 0, 0), place(1, 1, 0)],
    [place(0, 0, 0), place(1, 1, 0), place(0, 0, 1)],
    [place(1, 1, 0), place(0, 0, 0), place(0, 0, 1)],
    [place(0, 0, 0), place(0, 1, 0), place(1, 2, 0)],
    [place(0, 0, 0), place(1, 1, 0), place(2, 2, 0)],
  ],
  4: [
    [place(0, 0, 0), place(0, 0, 0), place(0, 0, 1), place(0, 0, 1)],
    [place(0, 0, 0), place(0, 0, 1), place(1, 1, 0), place(1, 1, 1)],
    [place(0, 0, 0), place(1, 1, 0), place(2, 2, 0), place(3, 3, 0)],
  ],
};

const scopes: readonly Scope[] = ['cta', 'cluster', 'gpu', 'sys'];
const loadOrders: readonly LoadOrder[] = ['weak', 'volatile', 'relaxed', 'acquire'];
const storeOrders: readonly StoreOrder[] = ['weak', 'volatile', 'relaxed', 'release'];
const fenceOrders: readonly (FenceOrder | null)[] = [null, 'acq_rel', 'sc', 'acquire', 'release'];

const ifSet: Test = { kind: 'if', value: 1 };
const untilSet: Test = { kind: 'wait', value: 1 };

/** Any access; only a strong one decides a condition. `value` is the stored value. */
function anyAccess(digits: Digits, at: number, scope: Scope, value: number, tests: readonly (Test | null)[]): MemoryStatement {
  const kind = digits.below(10);
  const test = digits.pick(tests);
  const decides = test && { test };
  if (kind < 4) {
    const order = loadOrders[kind]!;
    return { kind: 'load', at, order, scope, ...(order !== 'weak' && decides) };
  }
  if (kind < 8) return { kind: 'store', at, order: storeOrders[kind - 4]!, scope, value };
  return {
    kind: 'atomic',
    at,
    order: kind === 8 ? 'relaxed' : 'acq_rel',
    scope,
    operation: 'add',
    value: 1,
    // One that waits would add in each iteration, and may never read its value: the oracle follows few iterations.
    ...(test && { test: ifSet }),
  };
}

function anyFence(digits: Digits, orders: readonly (FenceOrder | null)[], scope: Scope): readonly Statement[] {
  const order = digits.pick(orders);
  return order ? [{ kind: 'fence', order, scope }] : [];
}

/** Threads with `counts` accesses each to `locations` locations, and a fence between two. */
function accesses(digits: Digits, counts: readonly number[], locations: number, fences: readonly (FenceOrder | null)[]): LitmusProgram {
  const places = digits.pick(placements[counts.length]!);
  const stored = new Array<number>(locations).fill(0);
  const threads = counts.map((count, index) => {
    const scope = digits.pick(scopes);
    const steps: Statement[] = [];
    for (let step = 0; step < count; step++) {
      const at = digits.below(locations);
      const isLast = step === count - 1;
      const statement = anyAccess(digits, at, scope, stored[at]! + 1, isLast ? [null] : [null, ifSet, untilSet]);
      if (statement.kind === 'store') stored[at]!++;
      steps.push(statement);
      if (!isLast) steps.push(...anyFence(digits, fences, scope));
    }
    return { place: places[index]!, segments: [steps] };
  });
  return { threads, barriers: [] };
}

/** Threads with at most one access on each side of a barrier. */
function phases(digits: Digits, threadCount: number): LitmusProgram {
  const places = digits.pick(placements[threadCount]!);
  const barrier = digits.pick(['block', 'warp'] as const);
  const stored = [0, 0];
  const threads = places.map((own) => {
    const scope = digits.pick(['cta', 'gpu'] as const);
    const segment = (tests: readonly (Test | null)[]): readonly Statement[] => {
      const isEmpty = digits.below(4) === 0;
      const at = digits.below(2);
      const statement = anyAccess(digits, at, scope, stored[at]! + 1, tests);
      if (isEmpty) return [];
      if (statement.kind === 'store') stored[at]!++;
      return [statement];
    };
    return { place: own, segments: [segment([null]), segment([null])] };
  });
  return { threads, barriers: [barrier] };
}

/** The setter of a flag, and its reader, which waits or tests once. */
function setter(digits: Digits, at: number, scope: Scope): readonly Statement[] {
  const before = anyFence(digits, fenceOrders, scope);
  const kind = digits.below(7);
  const set: Statement =
    kind < 4
      ? { kind: 'store', at, order: storeOrders[kind]!, scope, value: 1 }
      : {
          kind: 'atomic',
          at,
          order: (['relaxed', 'release', 'acq_rel'] as const)[kind - 4]!,
          scope,
          operation: digits.pick(['exch', 'add'] as const),
          value: 1,
        };
  return [...before, set];
}

function watcher(digits: Digits, at: number, scope: Scope): readonly Statement[] {
  const test = digits.pick([ifSet, untilSet]);
  const order = digits.pick(['volatile', 'relaxed', 'acquire'] as const);
  const watch: Statement = { kind: 'load', at, order, scope, test };
  return [watch, ...anyFence(digits, fenceOrders, scope)];
}

const data = (digits: Digits, at: number, value: number): Statement => {
  const kind = digits.below(4);
  if (kind === 0) return { kind: 'load', at, order: 'weak', scope: 'gpu' };
  if (kind === 1) return { kind: 'load', at, order: 'relaxed', scope: 'gpu' };
  return { kind: 'store', at, order: kind === 2 ? 'weak' : 'relaxed', scope: 'gpu', value };
};

/** Message passing: data, then a flag; the flag, then data. */
function message(digits: Digits): LitmusProgram {
  const places = digits.pick(placements[2]!);
  const scope = digits.pick(scopes);
  const other = digits.pick(scopes);
  const writer: Statement[] = [data(digits, 0, 1), ...setter(digits, 1, scope)];
  const reader: Statement[] = [...watcher(digits, 1, other), data(digits, 0, 2)];
  return {
    threads: [writer, reader].map((steps, index) => ({ place: places[index]!, segments: [steps] })),
    barriers: [],
  };
}

/** A message that a third thread forwards, or that two threads wait for. */
function relay(digits: Digits): LitmusProgram {
  const places = digits.pick(placements[3]!);
  const scope = digits.pick(['cta', 'gpu'] as const);
  const other = digits.pick(['cta', 'gpu'] as const);
  const isChain = digits.below(2) === 0;
  const first: Statement[] = [data(digits, 0, 1), ...setter(digits, 1, scope)];
  const second: Statement[] = [...watcher(digits, 1, other), ...(isChain ? setter(digits, 2, other) : [data(digits, 0, 2)])];
  const third: Statement[] = [...watcher(digits, isChain ? 2 : 1, scope), data(digits, isChain ? 0 : 2, 3)];
  return {
    threads: [first, second, third].map((steps, index) => ({ place: places[index]!, segments: [steps] })),
    barriers: [],
  };
}

/** Threads that count, of which the last works on. */
function counter(digits: Digits): LitmusProgram {
  const count = 2 + digits.below(2);
  const places = digits.pick(placements[count]!);
  const scope = digits.pick(['cta', 'gpu'] as const);
  const order = digits.pick(['relaxed', 'acquire', 'release', 'acq_rel'] as const);
  const before = anyFence(digits, fenceOrders, scope);
  const after = anyFence(digits, fenceOrders, scope);
  const last = digits.pick([count - 1, count - 2]);
  const reads = digits.below(2) === 0;
  return {
    threads: places.map((own, index) => ({
      place: own,
      segments: [
        [
          { kind: 'store', at: index, order: 'weak', scope, value: 1 },
          ...before,
          { kind: 'atomic', at: 3, order, scope, operation: 'add', value: 1, test: { kind: 'if', value: last } },
          ...after,
          reads
            ? { kind: 'load', at: (index + 1) % count, order: 'weak', scope }
            : { kind: 'store', at: (index + 1) % count, order: 'weak', scope, value: 2 },
        ],
      ],
    })),
    barriers: [],
  };
}

/** Threads that take a lock by `cas` or `exch`, for a while or once. */
function lock(digits: Digits): LitmusProgram {
  const count = 2 + digits.below(2);
  const places = digits.pick(placements[count]!);
  const scope = digits.pick(['cta', 'gpu'] as const);
  const operation = digits.pick(['cas', 'exch'] as const);
  const kind = digits.pick(['wait', 'if'] as const);
  const order = digits.pick(['relaxed', 'acquire', 'acq_rel'] as const);
  const after = anyFence(digits, fenceOrders, scope);
  const before = anyFence(digits, fenceOrders, scope);
  const release = digits.pick(['weak', 'volatile', 'relaxed', 'release', null] as const);
  const outside = digits.below(2) === 0;
  return {
    threads: places.map((own, index) => ({
      place: own,
      segments: [
        outside && index === count - 1
          ? [{ kind: 'load', at: 1, order: 'relaxed', scope }]
          : [
              { kind: 'atomic', at: 0, order, scope, operation, value: 1, test: { kind, value: 0 } },
              ...after,
              { kind: 'store', at: 1, order: 'weak', scope, value: index + 1 },
              ...before,
              ...(release ? [{ kind: 'store', at: 0, order: release, scope, value: 0 } as const] : []),
            ],
      ],
    })),
    barriers: [],
  };
}

/** Both threads announce themselves, and go on where the other one has not. */
function exclusion(digits: Digits): LitmusProgram {
  const places = digits.pick(placements[2]!);
  const scope = digits.pick(scopes);
  const fences = anyFence(digits, fenceOrders, scope);
  const stored = digits.pick(['volatile', 'relaxed', 'release'] as const);
  const loaded = digits.pick(['volatile', 'relaxed', 'acquire'] as const);
  const after = anyFence(digits, fenceOrders, scope);
  return {
    threads: places.map((own, index) => ({
      place: own,
      segments: [
        [
          { kind: 'store', at: index, order: stored, scope, value: 1 },
          ...fences,
          { kind: 'load', at: 1 - index, order: loaded, scope, test: { kind: 'if', value: 0 } },
          ...after,
          { kind: 'store', at: 2, order: 'weak', scope, value: index + 1 },
        ],
      ],
    })),
    barriers: [],
  };
}

/** @param hasRoles its threads differ in their roles, so that none of them can be exchanged */
function familyOf(name: string, make: (digits: Digits) => LitmusProgram, hasRoles = false): Family {
  const digits = new Digits(0);
  make(digits);
  // The digits that are used may depend on earlier ones: the maximum counts.
  let count = digits.total;
  for (let index = 1; index < 4096; index++) {
    const other = new Digits(index * 2654435761);
    make(other);
    count = Math.max(count, other.total);
  }
  return {
    name,
    count,
    programAt: (index) => {
      const program = make(new Digits(index));
      return mayRace(program) && (hasRoles || isFirst(program)) ? program : null;
    },
  };
}

/** Whether two threads access one location, one of them to write. */
function mayRace({ threads }: LitmusProgram): boolean {
  const ofThreads = threads.map(({ segments }) => segments.flat().filter((step) => step.kind !== 'fence'));
  return ofThreads.some((own, index) =>
    own.some((a) => a.kind !== 'load' && ofThreads.some((others, other) => other !== index && others.some((b) => b.at === a.at))),
  );
}

function permutations(count: number): readonly (readonly number[])[] {
  if (count === 0) return [[]];
  return permutations(count - 1).flatMap((rest) =>
    Array.from({ length: count }, (_, at) => [...rest.slice(0, at), count - 1, ...rest.slice(at)]),
  );
}

const threadOrders = [0, 1, 2, 3, 4].map(permutations);
const placementKeys = new Set(Object.values(placements).flatMap((lists) => lists.map((places) => JSON.stringify(renamedPlaces(places)))));

function numbering(): (name: string) => number {
  const numbers = new Map<string, number>();
  return (name) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
}

/** Places by numbers in the order in which they come. */
function renamedPlaces(places: readonly Place[]): readonly (readonly number[])[] {
  const [cluster, block, warp] = [numbering(), numbering(), numbering()];
  return places.map((own) => [cluster(`${own.cluster}`), block(`${own.block}`), warp(`${own.block} ${own.warp}`)]);
}

/** Locations by numbers in the order in which they come. */
function renamed({ threads, barriers }: LitmusProgram): LitmusProgram {
  const location = numbering();
  return {
    threads: threads.map(({ place: own, segments }) => ({
      place: own,
      segments: segments.map((steps) => steps.map((step) => (step.kind === 'fence' ? step : { ...step, at: location(`${step.at}`) }))),
    })),
    barriers,
  };
}

function keyOf({ threads }: LitmusProgram): string {
  return JSON.stringify([renamedPlaces(threads.map(({ place: own }) => own)), threads.map(({ segments }) => segments)]);
}

/** Whether the values stored to each location are those that a family of accesses assigns. */
function hasValuesInOrder({ threads }: LitmusProgram): boolean {
  const stored = new Map<number, number>();
  for (const step of threads.flatMap(({ segments }) => segments.flat())) {
    if (step.kind !== 'store') continue;
    const value = (stored.get(step.at) ?? 0) + 1;
    if (step.value !== value) return false;
    stored.set(step.at, value);
  }
  return true;
}

/** Whether the scope chosen for a thread has no effect, and is not the first. */
function hasNeedlessScope({ segments }: LitmusProgram['threads'][number]): boolean {
  const steps = segments.flat();
  return steps.length > 0 && steps.every(({ order, scope }) => (order === 'weak' || order === 'volatile') && scope !== 'cta');
}

/** Whether a program of a family of accesses is the first of those that differ in the order of threads and locations. */
function isFirst(program: LitmusProgram): boolean {
  const own = keyOf(program);
  if (keyOf(renamed(program)) !== own || program.threads.some(hasNeedlessScope)) return false;
  const lengths = program.threads.map(({ segments }) => segments.flat().filter(({ kind }) => kind !== 'fence').length);
  const hasSegments = program.barriers.length > 0;
  return threadOrders[program.threads.length]!.every((order) => {
    const other = renamed({ ...program, threads: order.map((index) => program.threads[index]!) });
    const isOfFamily =
      (hasSegments || order.every((index, at) => lengths[index] === lengths[at])) &&
      hasValuesInOrder(other) &&
      placementKeys.has(JSON.stringify(renamedPlaces(other.threads.map(({ place: where }) => where))));
    return !isOfFamily || keyOf(other) >= own;
  });
}

const someFences: readonly (FenceOrder | null)[] = [null, 'acq_rel', 'sc'];

export const families: readonly Family[] = [
  familyOf('two threads, 1 access', (digits) => accesses(digits, [1, 1], 1, [null])),
  familyOf('two threads, 2 and 1', (digits) => accesses(digits, [2, 1], 2, fenceOrders)),
  familyOf('two threads, 2 accesses', (digits) => accesses(digits, [2, 2], 2, someFences)),
  familyOf('two threads, 3 accesses', (digits) => accesses(digits, [3, 3], 3, someFences)),
  familyOf('two threads, 4 accesses', (digits) => accesses(digits, [4, 4], 3, [null])),
  familyOf('three threads', (digits) => accesses(digits, [2, 2, 2], 3, someFences)),
  familyOf('four threads', (digits) => accesses(digits, [1, 1, 2, 2], 2, someFences)),
  familyOf('barrier, two threads', (digits) => phases(digits, 2)),
  familyOf('barrier, three threads', (digits) => phases(digits, 3)),
  familyOf('message', message, true),
  familyOf('relay', relay, true),
  familyOf('counter', counter, true),
  familyOf('lock', lock, true),
  familyOf('exclusion', exclusion, true),
];
