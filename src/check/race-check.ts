/** Data races of one kernel: decides the pairs of accesses, cheapest tier first. */
import type { OpenPair } from './obligations/obligation.ts';
import type { Interval } from '../analysis/barriers/barrier-interval.ts';
import { isOfLaunch } from '../analysis/values/leader.ts';
import type { Base, Target } from '../analysis/values/memory-base.ts';
import type { OwnAccess } from '../analysis/barriers/pending-copy.ts';
import type { UniformityResult } from '../analysis/values/uniformity.ts';
import type { Steps } from '../base/steps.ts';
import { mostUnsettled } from '../solver/budget.ts';
import type { Term } from '../term/term.ts';
import { holdsBits } from './deciding/bit-vector-encoding.ts';
import { type KernelContext, arePassedTogether, baseName, isWritten, statedApart } from './context/context.ts';
import { exclusion } from './ordering/critical-section.ts';
import type { Hit } from './deciding/enumerate.ts';
import { Instances, type PairScope, type TierContext } from './obligations/instance.ts';
import { type Handover, type Order, handedOver } from './ordering/hand-over.ts';
import type { LinearEncoding } from './deciding/linear-encoding.ts';
import type { SolverTiers } from './deciding/solver-tiers.ts';
import {
  type AccessPair,
  type BlockIntervals,
  type MayAlias,
  type Obligation,
  blockPairs,
  gridPairs,
  questionOf,
} from './obligations/obligation.ts';
import { type CheapResult, decideCheaply } from './deciding/cheap-tiers.ts';
import type { NamedScalar } from './premises/premises.ts';
import { type Confirmation, hasOpenScalar, pairKey } from './witness/scenarios.ts';
import { slotCounter } from './context/warp-slot.ts';

/** Values that all threads of a block read from one address are taken to be one value. */
export const stableMemory = 'memory that the kernel does not write does not change while it runs';

/** What `warp-lockstep` takes for granted. */
const lockstep = 'the threads of a warp execute each instruction together, and see what the warp wrote before';

export interface RaceState {
  readonly open: readonly OpenPair[];
  /** Arrays that were taken not to overlap. */
  readonly apart: ReadonlySet<string>;
  /** Not all pairs were listed. */
  readonly truncated: boolean;
  /** Whether two threads of a block meet in a pair only where they are of one warp. */
  readonly staysInWarp: (pair: AccessPair) => boolean;
}

/** An obligation that the cheap tiers left open. */
interface Waiting {
  readonly pair: AccessPair;
  readonly obligation: Obligation;
  readonly hits: readonly Hit[];
  /** The hits happen whatever the unknown values are. */
  readonly exact: boolean;
  /** What orders the accesses where two flags are one. */
  readonly order: Order | null;
}

/** One for threads of a block and one for threads of different blocks. */
export type Scoped<T> = Readonly<Record<PairScope, T>>;

/**
 * Decides every pair of accesses of the kernel; runs what stays open.
 * @param intervals those of the grid are null where it has no barriers
 */
export function* checkRaces(
  context: KernelContext,
  tiers: SolverTiers,
  confirmation: Confirmation,
  intervals: {
    readonly block: BlockIntervals;
    readonly grid: readonly Interval[] | null;
    readonly own: readonly OwnAccess[];
    readonly truncated: boolean;
  },
  uniformity: Scoped<UniformityResult>,
): Steps<RaceState> {
  const { symbolic, dimensions, request, assumed } = context;
  if (request.policy.warpLockstep) assumed.add('warp-lockstep', lockstep);
  const apart = new Set<string>();
  const mayAlias = aliasing(context, apart);
  keepApart(context, apart);
  const oneBlock = dimensions.grid.every((size) => size === 1);
  const pairs = [
    ...blockPairs(symbolic, intervals.block, intervals.own, mayAlias, request.policy.warpLockstep),
    ...(oneBlock ? [] : gridPairs(symbolic, context.accesses, intervals.grid, mayAlias)),
  ].filter(({ scope, first, second }) => {
    const lock = exclusion(context.sections, first, second, scope === 'block');
    if (lock?.counter) assumed.addCounter(context, lock.counter.targets[0]!.base, lock.counter.bytes);
    const slots = !lock && first === second ? slotCounter(context, first, mayAlias) : null;
    if (!slots || (scope === 'grid' && slots.memory !== 'global')) return !lock;
    assumed.addCounter(context, slots.targets[0]!.base, slots.bytes);
    return false;
  });
  const tierContext = (scope: 'block' | 'grid'): TierContext => ({
    symbolic,
    instances: new Instances(symbolic, uniformity[scope], scope),
    dimensions,
    evaluations: request.budget.evaluations,
  });
  const contexts = { block: tierContext('block'), grid: tierContext('grid') };

  const open = new Map<string, OpenPair>();
  const leave = (pair: AccessPair, reason: string, budget: boolean, sameValue: boolean, unasked = false): void => {
    const known = open.get(pairKey(pair));
    if (!known || (budget && !known.budget) || (known.unasked === true && !unasked))
      open.set(pairKey(pair), { pair, reason, budget, sameValue, unasked });
  };

  const answers = new Map<string, CheapResult>();
  /** What pairs are ordered by. */
  const rests = new Set<Handover>();
  const waiting: Waiting[] = [];
  const different = new Set<AccessPair>();
  for (const pair of pairs) {
    if (pair.obligations.some((obligation) => !obligation.resolved)) {
      leave(pair, unresolvedReason(pair), false, false);
      continue;
    }
    for (const obligation of pair.obligations) {
      const order = handedOver(context.handovers, pair.scope, obligation.first, obligation.second);
      if (order?.kind === 'always') {
        rests.add(order.by);
        continue;
      }
      // Code that is written out many times asks the same many times.
      const question = questionOf(obligation);
      const result = answers.get(question) ?? decideCheaply(contexts[pair.scope], obligation);
      answers.set(question, result);
      if (result.kind === 'proved') assumed.addNoWrap(context, result.assumes);
      else {
        // Threads that meet may have met in order: then a run shows nothing.
        if (order) waiting.push({ pair, obligation, hits: [], exact: false, order });
        else waiting.push({ pair, obligation, hits: result.hits, exact: result.exact, order });
        if (!storesSameValue(contexts[pair.scope].instances, obligation)) different.add(pair);
      }
    }
  }

  // What a run confirms needs no solver.
  const shown = waiting.filter(({ hits }) => hits.length > 0);
  yield* confirmation.runHints(shown.map(({ pair, hits }) => ({ pair, hits, model: null })));
  let unsettled = 0;
  for (const { pair, obligation, hits, exact, order } of waiting) {
    const sameValue = !different.has(pair);
    const why = indexReason(context, obligation);
    // A run with scalars of our choosing may show a race by an index that wraps around, which proofs take not to happen.
    const isShown = confirmation.races.has(pairKey(pair)) && (hits.length > 0 || !hasOpenScalar(context, pair));
    if (isShown || exact) {
      leave(pair, why ?? 'the accesses overlap', false, sameValue);
      continue;
    }
    if (request.budget.expired()) {
      leave(pair, 'out of time', true, sameValue, true);
      continue;
    }
    // Nothing is proved any more: further queries would only word more of the same.
    if (unsettled >= mostUnsettled) {
      leave(pair, why ?? 'one of many pairs of accesses that may overlap', false, sameValue, true);
      continue;
    }
    const { tier, encoding } = tiers.linear(pair.scope, uniformity[pair.scope]);
    const overlap = encoding.overlap(obligation);
    let result = yield* tier.decide(order ? `(and ${overlap} ${unordered(encoding, obligation, order)})` : overlap);
    if (result.kind !== 'proved' && holdsBits(obligation)) {
      const bits = tiers.bits(pair.scope, uniformity[pair.scope]);
      // Without an answer, that of the weaker tier stands.
      const exact = yield* bits.decideOverlap(obligation);
      if (exact.kind !== 'budget') result = exact;
    }
    if (result.kind === 'proved') {
      if (order) rests.add(order.by);
      assumed.addNoWrap(context, result.assumes);
      continue;
    }
    unsettled++;
    leave(pair, why ?? result.reason, result.kind === 'budget', sameValue);
    if (result.kind === 'open') yield* confirmation.runHints([{ pair, hits, model: result.model }]);
  }
  for (const { base, startsAtZero, assumes } of rests) {
    if (startsAtZero) assumed.add('launch', `${baseName(context, base)} is 0 when the kernel starts`);
    assumed.addNoWrap(context, assumes);
  }
  if (contexts.block.instances.sharedLoad) assumed.add('stable-memory', stableMemory);
  return {
    open: [...open.values()],
    apart,
    truncated: intervals.truncated,
    staysInWarp: ({ obligations }) =>
      obligations.every(
        (obligation) =>
          obligation.warp === 'same' ||
          decideCheaply(contexts.block, { ...obligation, warp: 'different' }).kind === 'proved',
      ),
  };
}

/** The formula that the flag that one thread saw is not the one that the other set. */
function unordered(encoding: LinearEncoding, { first, second }: Obligation, order: Order): string {
  if (order.kind === 'always') return 'false';
  const [earlier, later] = order.earlier === 1 ? [first, second] : [second, first];
  return encoding.apart(order.arrived, earlier.reading, order.seen, later.reading);
}

function unresolvedReason(pair: AccessPair): string {
  const bases = pair.obligations.flatMap(({ first, second }) => [first.target.base, second.target.base]);
  return bases.some(({ kind }) => kind === 'unknown')
    ? 'a pointer is followed whose target is not known'
    : 'the launch passes two pointers into one object, and it is not known how far apart they are';
}

/** Which bases may be the same memory, and the names of those that were taken to be apart. */
function aliasing(context: KernelContext, apart: Set<string>): MayAlias {
  const isShared = (base: Base): boolean => base.kind === 'object' && base.object.space === 'shared';
  const { aliases, samePointers = [] } = context.request.launch;
  const isStated = areStatedApart(context);
  return (a, b) => {
    if (a.kind === 'unknown' || b.kind === 'unknown') return 'unknown';
    if (a.key === b.key || arePassedTogether(samePointers, a, b)) return 'same';
    if (isStated(a, b)) return 'apart';
    if (arePassedTogether(aliases, a, b)) return 'unknown';
    if (a.kind === 'object' && b.kind === 'object') return 'apart';
    if (isShared(a) !== isShared(b)) return 'apart';
    for (const base of [a, b]) apart.add(baseName(context, base));
    return 'apart';
  };
}

/** Whether the user states of two bases that they lie apart: then nobody takes it for granted. */
function areStatedApart({ request }: KernelContext): (a: Base, b: Base) => boolean {
  const stated = statedApart(request);
  const isOf = (base: Base, { index, offset }: NamedScalar): boolean =>
    base.kind === 'parameter' && base.index === index && base.offset === offset;
  return (a, b) => stated.some(([one, other]) => (isOf(a, one) && isOf(b, other)) || (isOf(b, one) && isOf(a, other)));
}

/** Locks and counters are what they are because nothing else that the kernel writes is the same memory. */
function keepApart(context: KernelContext, apart: Set<string>): void {
  const { locks, tickets, handovers, accesses } = context;
  const isStated = areStatedApart(context);
  const writers = accesses.filter(({ operation }) => operation !== 'read');
  for (const { base } of [...locks.map((base) => ({ base })), ...tickets.values(), ...handovers]) {
    for (const other of writers.flatMap(({ targets }) => targets.map((target) => target.base))) {
      const areObjects = base.kind === 'object' && other.kind === 'object';
      if (other.key === base.key || areObjects || isStated(base, other)) continue;
      apart.add(baseName(context, base)).add(baseName(context, other));
    }
  }
}

/** Whether both threads provably store the same value. */
function storesSameValue(instances: Instances, obligation: Obligation): boolean {
  const { first, second } = obligation;
  const a = first.access.stored;
  const b = second.access.stored;
  if (!a || !b || a.length !== b.length || first.access.bytes !== second.access.bytes) return false;
  return a.every((term, lane) => {
    const other = b[lane]!;
    if (term.leaves.length === 0 || other.leaves.length === 0) return term === other;
    return instances.isShared(term, first.reading, second.reading) && term === other;
  });
}

/** Whether an atom is a value that was read from memory. */
function isLoaded({ kernel }: KernelContext, leaf: Term): boolean {
  if (leaf.atom?.kind !== 'havoc' || leaf.atom.value < 0) return false;
  const { definition } = kernel.values[leaf.atom.value]!;
  return definition.kind === 'instruction' && definition.instruction.operation.effect.kind === 'load';
}

/**
 * Whether both addresses are read from elements that differ between threads: then the contents that a run chose decide
 * whether threads meet, and distinct contents would keep them apart.
 */
export function isIndirect(context: KernelContext, pair: AccessPair): boolean {
  return pair.obligations.every(({ first, second }) =>
    [first, second].every(({ target }) => target.offset.leaves.some((leaf) => isOwnElement(context, pair.scope, leaf))),
  );
}

/** Whether an atom is read from memory, and not from one place by all threads of the block or of the grid. */
function isOwnElement(context: KernelContext, scope: PairScope, leaf: Term): boolean {
  if (leaf.atom?.kind !== 'havoc' || !isLoaded(context, leaf)) return false;
  const { definition } = context.kernel.values[leaf.atom.value]!;
  const load = context.accesses.find(
    ({ instruction }) => definition.kind === 'instruction' && instruction === definition.instruction,
  );
  const isOnePlace = ({ base, offset }: Target): boolean =>
    offset.leaves.every(isOfLaunch) && (scope === 'block' || base.kind !== 'object' || base.object.space !== 'shared');
  return load === undefined || !load.targets.every(isOnePlace);
}

/** What keeps an index from being followed, in words; null where all of it is expressed. */
function indexReason(context: KernelContext, { first, second }: Obligation): string | null {
  for (const { target } of [first, second]) {
    for (const leaf of target.offset.leaves) {
      if (leaf.atom?.kind !== 'havoc') continue;
      if (!isLoaded(context, leaf)) return 'an index takes values that are not followed';
      const { definition } = context.kernel.values[leaf.atom.value]!;
      const source = context.accesses.find(
        ({ instruction }) => definition.kind === 'instruction' && instruction === definition.instruction,
      );
      const name = source ? baseName(context, source.targets[0]!.base) : 'memory';
      if (context.elements.get(leaf.atom.value)?.distinct === true)
        return `an index is read from ${name}, whose elements may be anything`;
      if (source && isWritten(context, source.targets[0]!.base))
        return `an index is read from ${name}, which the kernel writes`;
      return `an index is read from ${name}, and threads meet unless the elements they read are distinct`;
    }
  }
  return null;
}
