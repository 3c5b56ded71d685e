/** Races that contents of memory cannot avoid, although the index of one access depends on them. */
import type { Access } from '../../analysis/values/access.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { isOneObject } from '../../analysis/values/memory-base.ts';
import { warpSize } from '../../device/hardware-limits.ts';
import type { ValueId } from '../../ir/form/kernel.ts';
import { rewritten, substituted } from '../../term/rewrite.ts';
import type { Term } from '../../term/term.ts';
import type { KernelContext } from '../context/facts.ts';
import type { AccessPair } from '../obligations/obligation.ts';
import type { Synchronisation } from '../ordering/pattern.ts';

/** Limit on the elements that one access of one thread may touch. */
const mostElements = 4096;

/** Limit on the bytes of an array of unknown extent that accesses touch. */
const mostBytes = 1 << 16;

/**
 * The pairs of which one access depends on contents, and the others, whose addresses and paths hold numbers of threads and launches
 * only, touch together every element that it can touch in its array: some pair overlaps for any contents. That an element
 * may be that of the thread itself does not exclude it. Which block arrives last at a counter excludes it neither, as one
 * does in every launch.
 * @param pairs races that runs have shown
 * @param staysInWarp whether the threads of a pair overlap only within one warp
 */
export function coveredPairs(
  context: KernelContext,
  pairs: readonly AccessPair[],
  staysInWarp: (pair: AccessPair) => boolean,
): ReadonlySet<AccessPair> {
  const covered = new Set<AccessPair>();
  const depending = new Map<Access, AccessPair[]>();
  for (const pair of pairs) {
    const [loose, ...more] = [pair.first, pair.second].filter((access) => dependsOnContents(context, access));
    const isOfLast = (access: Access): boolean => access === loose || lastOf(context, access) !== undefined;
    const isOne = pair.scope === 'block' || [pair.first, pair.second].every(isOfLast);
    if (isOne && loose && more.length === 0) depending.set(loose, [...(depending.get(loose) ?? []), pair]);
  }
  for (const [loose, own] of depending) {
    const fixed = own.map(({ first, second }) => (first === loose ? second : first));
    if (areCovered(context, loose, fixed, own.every(staysInWarp))) for (const pair of own) covered.add(pair);
  }
  return covered;
}

/** The counter of blocks at which the block of an access has arrived last. */
function lastOf({ synchronisation }: KernelContext, { index }: Access): Synchronisation | undefined {
  return synchronisation.find(({ last }) => last.grid.has(index));
}

/** Whether the address or the path of an access holds more than numbers of threads, blocks, iterations and the launch. */
function dependsOnContents(context: KernelContext, access: Access): boolean {
  const { symbolic } = context;
  const isNumber = (leaf: Term): boolean => isOfLaunch(leaf) || /^(thread|block|iteration)$/.test(leaf.atom?.kind ?? '');
  const results = lastOf(context, access)?.own.flatMap(({ instruction }) => instruction.results) ?? [];
  const isArrival = ({ atom }: Term): boolean => atom?.kind === 'havoc' && results.includes(atom.value as ValueId);
  const isPathOfNumbers = symbolic.reach(access.block).leaves.every((leaf) => isNumber(leaf) || isArrival(leaf));
  return !isPathOfNumbers || !access.targets.every(({ offset }) => offset.leaves.every(isNumber));
}

function areCovered(context: KernelContext, loose: Access, fixed: readonly Access[], isInWarp: boolean): boolean {
  const { symbolic, dimensions } = context;
  const [width, height, depth] = dimensions.block;
  const base = loose.targets[0]!.base;
  if (width === null || height === null || depth === null || !isOneObject(base)) return false;
  const extent = base.kind === 'object' ? base.object.bytes : null;
  const bytes = extent ?? mostBytes;
  const all = [loose, ...fixed];
  if (all.some(({ targets }) => targets.length !== 1 || targets[0]!.base.key !== base.key)) return false;
  // A path may hold no contents but those of the index.
  const ownLeaves = new Set(loose.targets[0]!.offset.leaves);
  if (!symbolic.reach(loose.block).leaves.every((leaf) => isOfLaunch(leaf) || leaf.atom?.kind !== 'havoc' || ownLeaves.has(leaf)))
    return false;
  const touched = new Map<number, Uint8Array>();
  const groupOf = (thread: number): number => (isInWarp ? Math.floor(thread / warpSize) : 0);
  const threads = width * height * depth;
  const valuesOf = (thread: number, term: Term): Term => {
    const index = [thread % width, Math.floor(thread / width) % height, Math.floor(thread / (width * height))];
    const ofThread = ({ atom, width: bits }: Term): Term | undefined =>
      atom?.kind === 'thread' ? symbolic.store.constant(bits, BigInt(index[atom.axis]!)) : undefined;
    return substituted(symbolic.store, term, ofThread, new Map());
  };
  const reaches = (thread: number, { block }: Access): boolean => {
    const reach = symbolic.reach(block);
    const conditions = reach.operator === 'all' ? reach.arguments : [reach];
    const ofThread = conditions.filter(({ leaves }) => leaves.length > 0 && leaves.every(({ atom }) => atom?.kind === 'thread'));
    return ofThread.every((condition) => valuesOf(thread, condition) === symbolic.store.true);
  };
  /** Whether a part of the index of an access may have a value on the path to the access. */
  const mayBe = ({ block }: Access, part: Term, value: bigint): boolean => {
    const reach = symbolic.reach(block);
    const conditions = reach.operator === 'all' ? reach.arguments : [reach];
    const constant = symbolic.store.constant(part.width, BigInt.asUintN(part.width, value));
    return conditions.every(
      (condition) =>
        rewritten(symbolic.store, condition, (next, of) => (of === part ? constant : next), new Map()) !== symbolic.store.false,
    );
  };
  /** The offsets that an access of a thread may have; null if they are not known. */
  const offsetsOf = (thread: number, access: Access): readonly number[] | null => {
    const { constant, terms } = symbolic.view.natural(valuesOf(thread, access.targets[0]!.offset));
    let offsets = [constant];
    for (const [term, factor] of terms) {
      const { low, high } = symbolic.view.natural(term);
      const count = high - low + 1n;
      if (count * BigInt(offsets.length) > BigInt(mostElements)) return null;
      const values = Array.from({ length: Number(count) }, (_, at) => low + BigInt(at)).filter((value) => mayBe(access, term, value));
      offsets = offsets.flatMap((offset) => values.map((value) => offset + factor * value));
    }
    const isInside = (offset: number): boolean => offset >= 0 && offset + access.bytes <= bytes;
    const inside = offsets.map(Number).filter(isInside);
    return extent === null && inside.length < offsets.length ? null : inside;
  };
  for (let thread = 0; thread < threads; thread++) {
    const elements = touched.get(groupOf(thread)) ?? new Uint8Array(bytes);
    touched.set(groupOf(thread), elements);
    for (const access of fixed) {
      const offsets = reaches(thread, access) ? offsetsOf(thread, access) : [];
      // Several offsets of a fixed access are those of several iterations.
      if (offsets === null || offsets.length > 1) return false;
      for (const offset of offsets) elements.fill(1, offset, offset + access.bytes);
    }
  }
  let count = 0;
  for (let thread = 0; thread < threads; thread++) {
    const offsets = reaches(thread, loose) ? offsetsOf(thread, loose) : [];
    if (offsets === null) return false;
    const elements = touched.get(groupOf(thread))!;
    for (const offset of offsets) if (!elements.subarray(offset, offset + loose.bytes).every((byte) => byte === 1)) return false;
    count += offsets.length;
  }
  return count > 0;
}
