/**
 * What one thread tells its block through shared memory: it stores, all pass a barrier, and each loads what it stored.
 * The load has the stored value as long as nothing races on it.
 */
import type { Term } from '../../term/term.ts';
import { type Access, isWriter } from './access.ts';
import type { Dimensions } from './launch-bounds.ts';
import { isOfBlock, areLeaders, leaderReaches, ofLeader, pinsOf } from './leader.ts';
import { type ProgramPoint, pointDominates, leadsTo } from './program-point.ts';
import { type SymbolicKernel, undefinedValue } from './symbolic.ts';

export interface Broadcast {
  readonly load: Access;
  readonly store: Access;
  /** All pass it after the store and before the load. */
  readonly barrier: ProgramPoint;
  /** Values that only thread 0 computes, once, and that the stored one rests on. */
  readonly leaderValues: readonly number[];
}

/**
 * Finds the loads of shared memory that read what thread 0 has stored.
 * @param barriers that all threads of the block take part in
 */
export function findBroadcasts(
  symbolic: SymbolicKernel,
  accesses: readonly Access[],
  barriers: readonly ProgramPoint[],
  dimensions: Dimensions,
): readonly Broadcast[] {
  const { kernel } = symbolic;
  return accesses.flatMap((load) => {
    const at = constantPlace(load);
    if (!at || load.operation !== 'read') return [];
    const writers = accesses.filter(
      (other) =>
        isWriter(other) &&
        other.targets.some(({ base, offset }) => {
          if (base.kind === 'unknown') return true;
          if (base.key !== at.key) return false;
          if (offset.operator !== 'constant') return true;
          return offset.value < at.offset + BigInt(load.bytes) && at.offset < offset.value + BigInt(other.bytes);
        }),
    );
    const [store, ...more] = writers;
    if (!store || more.length > 0 || store.operation !== 'write' || store.stored?.length !== 1) return [];
    if (constantPlace(store)?.offset !== at.offset || store.bytes !== load.bytes) return [];
    if (leadsTo(kernel, store, store) || store.block >= load.block) return [];
    // Strong stores of several threads do not race: which of them comes last is open.
    if (store.strong !== null && !areLeaders(pinsOf(symbolic, store.block, dimensions))) return [];
    if (!leaderReaches(symbolic, store.block, load.block)) return [];
    const barrier = barriers.find((point) => pointDominates(kernel, point, load) && !leadsTo(kernel, point, store));
    const leaderValues = barrier && unknownsOf(symbolic, ofLeader(symbolic, store.stored[0]!), dimensions);
    return leaderValues ? [{ load, store, barrier, leaderValues }] : [];
  });
}

/** The place in shared memory that a load or store of one element names, if it is one for all threads. */
export function constantPlace({
  targets,
  instruction,
}: Access): { readonly key: string; readonly offset: bigint } | null {
  const { effect } = instruction.operation;
  const [target, ...more] = targets;
  if (!target || more.length > 0 || (effect.kind !== 'load' && effect.kind !== 'store') || effect.lanes !== 1)
    return null;
  const { base, offset } = target;
  if (base.kind !== 'object' || base.object.space !== 'shared' || offset.operator !== 'constant') return null;
  return { key: base.key, offset: offset.value };
}

/** The unknowns in a value of thread 0, if no other thread has unknowns of the same name; null otherwise. */
function unknownsOf(symbolic: SymbolicKernel, value: Term, dimensions: Dimensions): readonly number[] | null {
  const unknowns: number[] = [];
  for (const leaf of value.leaves) {
    if (isOfBlock(leaf)) continue;
    if (leaf.atom?.kind !== 'havoc' || leaf.atom.value === undefinedValue) return null;
    const home = symbolic.definedIn(leaf.atom.value);
    const point = { block: home, position: -1 };
    if (leadsTo(symbolic.kernel, point, point) || !areLeaders(pinsOf(symbolic, home, dimensions))) return null;
    unknowns.push(leaf.atom.value);
  }
  return unknowns;
}
