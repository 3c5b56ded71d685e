/**
 * Releases that happen once: a flag that one thread sets, and a counter that each block, or each thread, increments once
 * and whose value shows that all have.
 */
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { constantPlace } from '../../analysis/values/broadcast.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { type Pins, isOfBlock, isOfLaunch, isOneThread, leaderReaches, pinsOf } from '../../analysis/values/leader.ts';
import { isOneObject } from '../../analysis/values/memory-base.ts';
import { canReach, pointDominates } from '../../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { isStrong } from '../../memory-model/fence.ts';
import { substituted } from '../../term/rewrite.ts';
import type { Term } from '../../term/term.ts';
import type { Counted, Pattern, SynchronisingKernel } from './pattern.ts';
import { findTickets } from './ticket.ts';
import { isPoll, isValue, isZero, lanesOf, rivalsOf, writeOf } from './synchronising-access.ts';

/** The flag or counter that an access sets or increments; null for any other access. */
export function arrivalOf(of: SynchronisingKernel, arrival: Access): Pattern | null {
  const { symbolic, accesses, mayBeSame, dimensions } = of;
  const [target, ...more] = arrival.targets;
  if (!isWriter(arrival) || !isStrong(arrival.instruction) || isPoll(symbolic, arrival) || lanesOf(arrival.instruction) !== 1) return null;
  if (!target || more.length > 0 || !isOneObject(target.base) || canReach(symbolic.kernel, arrival, arrival)) return null;
  const { base, offset } = target;
  const isShared = base.kind === 'object' && base.object.space === 'shared';
  const counter = numberingOf(of, arrival, isShared);
  const kind = counter ? 'flag' : kindOf(of, arrival, offset, pinsOf(symbolic, arrival.block, dimensions), isShared);
  if (!kind) return null;
  const isOwn = (access: Access): boolean =>
    isStrong(access.instruction) &&
    access.bytes === arrival.bytes &&
    lanesOf(access.instruction) === 1 &&
    access.targets.length === 1 &&
    access.targets[0]!.base.key === base.key;
  const rivals = rivalsOf(accesses, arrival, mayBeSame).filter((other) => other !== arrival && !(isPoll(symbolic, other) && isOwn(other)));
  const own = accesses.filter((access) => access === arrival || (isOwn(access) && !rivals.includes(access)));
  // Other writes may initialise the flag or counter, or reset it to zero once all have arrived.
  const starts = rivals.filter((rival) => setsUp(of, rival, offset, own));
  const resets = rivals.filter((rival) => !starts.includes(rival));
  const isReset = (rival: Access): boolean =>
    kind !== 'flag' && rival.targets[0]?.offset === offset && rival.bytes === arrival.bytes && isZero(rival.stored?.[0]);
  const start = of.startsAtZero(base);
  // Another value of a flag shows nothing, unless the thread stores it after the arrival.
  const others = kind === 'flag' ? resets.map((rival) => (isOwn(rival) ? writeOf(symbolic, rival)?.value : undefined)) : [];
  const areKnown = kind === 'flag' ? others.every((value) => value?.operator === 'constant') : resets.every(isReset);
  const isLater = (rival: Access): boolean =>
    rival.targets[0]!.offset === offset && rival.strong === arrival.strong && pointDominates(symbolic.kernel, arrival, rival);
  const excluded = others.flatMap((value, at) => (value && !isLater(resets[at]!) ? [value.value] : []));
  if (!areKnown || (starts.length === 0 && (isShared || start === 'no'))) return null;
  const watches = own.filter(
    (watch) =>
      isValue(watch.instruction.results[0]) &&
      (kind === 'flag'
        ? watch !== arrival &&
          watch.targets[0]!.offset.leaves.every(
            (leaf) => isOfBlock(leaf) || leaf.atom?.kind === 'thread' || leaf.atom?.kind === 'iteration' || isResult(symbolic, leaf),
          )
        : watch.targets[0]!.offset === offset),
  );
  const counted: Units = { kind: kind === 'flag' ? 'blocks' : kind, along: axisOf(offset, arrival.bytes, dimensions) };
  const count = kind === 'flag' ? null : numberOfUnits(symbolic, dimensions, counted, 32);
  return {
    kind,
    base,
    offset,
    own,
    acquires: watches.map((access) => {
      const value = access.instruction.results[0]!;
      if (kind !== 'flag') return { access, shows: (part) => showsArrival(of, part, value, counted, access === arrival) };
      const together = [0n, ...excluded].map((constant) => (part: Term) => excludes(of, part, value, constant));
      return { access, shows: (part) => together.every((shows) => shows(part)), ...(excluded.length > 0 && { together }) };
    }),
    releases: [arrival],
    resets: kind === 'flag' ? [] : resets,
    counter,
    startsAtZero: starts.length === 0 && start === 'assumed',
    assumes: count && !count.fits ? [count.term] : [],
  };
}

/**
 * The kind of an arrival that happens at most once per location, per block, or per thread; null for any other write.
 */
function kindOf(
  { symbolic, dimensions }: SynchronisingKernel,
  arrival: Access,
  offset: Term,
  pins: Pins,
  isShared: boolean,
): 'flag' | Counted | null {
  const isOne = isOneThread(pins);
  if (isOne && (isShared || pins.block.every((index) => index !== undefined)) && offset.leaves.every(isOfBlock)) return 'flag';
  if (isOne && !isShared && isOfOneBlock(offset, arrival.bytes, dimensions)) return 'flag';
  const kind = isShared ? 'threads-of-block' : isOne ? 'blocks' : 'threads';
  // Blocks that agree on the index along one axis may share an element.
  const along = kind === 'blocks' ? axisOf(offset, arrival.bytes, dimensions) : null;
  if (along === null && !offset.leaves.every(isOfLaunch)) return null;
  return countsByOne(symbolic, arrival, { kind, along }, dimensions) ? kind : null;
}

/** Whether a term is the result of an instruction, such as a number that a counter has issued. */
function isResult({ kernel }: SymbolicKernel, { atom }: Term): boolean {
  return atom?.kind === 'havoc' && atom.value >= 0 && kernel.values[atom.value]!.definition.kind === 'instruction';
}

/**
 * The counter whose numbers select the flags that an access sets, so that each is set once: a thread takes one number at most, and
 * the flags of two numbers are different. Null for any other access.
 */
function numberingOf(of: SynchronisingKernel, { targets, bytes }: Access, isShared: boolean): Access | null {
  const { symbolic, accesses } = of;
  const { offset } = targets[0]!;
  const [part, ...more] = (offset.operator === 'sum' ? [...offset.arguments.entries()] : []).filter(([, term]) => !isOfLaunch(term));
  const [at, wide] = part ?? [0, null];
  const number = wide && (wide.operator === 'zext' || wide.operator === 'sext') ? wide.arguments[0]! : null;
  const by = offset.coefficients[at] ?? 0n;
  if (!number || !isResult(symbolic, number) || more.length > 0 || number.width > 32 || offset.width !== 64) return null;
  if (by < BigInt(bytes) || by >= 1n << 31n) return null;
  const value = (number.atom as { readonly value: number }).value;
  const counter = accesses.find(({ operation, instruction }) => operation === 'atomic' && instruction.results[0] === value);
  if (!counter || canReach(symbolic.kernel, counter, counter) || (counter.memory === 'shared' && !isShared)) return null;
  const ticket = findTickets(of, [], () => false).get(value);
  return ticket && !ticket.ofWarp ? counter : null;
}

/** What counts: the blocks or threads of the launch; with an axis, only the blocks with one index along it. */
interface Units {
  readonly kind: Counted;
  readonly along: 0 | 1 | 2 | null;
}

/** Whether an offset is different in each block: `flags[blockIdx.x]`. */
export function isOfOneBlock(offset: Term, bytes: number, dimensions: Dimensions): boolean {
  return dimensions.grid.filter((size) => size !== 1).length === 1 && axisOf(offset, bytes, dimensions) !== null;
}

/** The only axis of the grid on which an offset depends, if it is different for each index along it; null otherwise. */
export function axisOf(offset: Term, bytes: number, { grid }: Dimensions): 0 | 1 | 2 | null {
  const terms = offset.operator === 'sum' ? offset.arguments : [offset];
  const coefficients = offset.operator === 'sum' ? offset.coefficients : [1n];
  let axis: 0 | 1 | 2 | null = null;
  let by = 0n;
  for (const [i, term] of terms.entries()) {
    if (isOfLaunch(term) && term.operator === 'atom') continue;
    const inner = term.operator === 'zext' || term.operator === 'sext' ? term.arguments[0]! : term;
    if (inner.atom?.kind !== 'block' || axis !== null || grid[inner.atom.axis] === 1) return null;
    axis = inner.atom.axis;
    by = coefficients[i]!;
  }
  return offset.width === 64 && (by >= BigInt(bytes) || -by >= BigInt(bytes)) && by < 1n << 31n && -by < 1n << 31n ? axis : null;
}

/** Whether the write adds one to a counter that does not wrap around to zero before all have arrived. */
function countsByOne(symbolic: SymbolicKernel, { instruction }: Access, units: Units, dimensions: Dimensions): boolean {
  const { effect } = instruction.operation;
  if (effect.kind !== 'atomic' || !/^[us]32$|^[us]64$/.test(effect.type)) return false;
  const operand = symbolic.operand(instruction.arguments[1]!);
  if (effect.operation === 'add') return operand.operator === 'constant' && operand.value === 1n;
  const all = effect.operation === 'inc' && numberOfUnits(symbolic, dimensions, units, operand.width);
  if (!all || !all.fits) return false;
  return operand === all.term || operand === symbolic.store.sum(operand.width, -1n, [[all.term, 1n]]);
}

/**
 * The number of arrivals at a counter as a term; `fits` means that the product surely does not wrap around and is not
 * negative. Null if the number is too large.
 */
export function numberOfUnits(
  { store }: SymbolicKernel,
  dimensions: Dimensions,
  { kind, along }: Units,
  width: number,
): { readonly term: Term; readonly fits: boolean } | null {
  const sizesOf = (of: 'grid' | 'block'): Term[] =>
    ([0, 1, 2] as const).map((axis) => {
      const size = of === 'grid' && axis === along ? 1 : dimensions[of][axis];
      return size === null ? store.atom(32, { kind: `${of}-size`, axis }) : store.constant(32, BigInt(size));
    });
  const sizes = [...(kind === 'threads-of-block' ? [] : sizesOf('grid')), ...(kind === 'blocks' ? [] : sizesOf('block'))];
  const open = sizes.filter((size) => size.operator !== 'constant');
  const product = sizes.reduce((all, size) => all * (size.operator === 'constant' ? size.value : 1n), 1n);
  if (product >= 1n << 31n) return null;
  const term = open.reduce((all, size) => store.mul(32, all, size), store.constant(32, product));
  return { term: store.zeroExtend(width, term), fits: open.length === 0 || (open.length === 1 && product === 1n) };
}

/** Whether a store of zero to shared memory precedes all uses of a flag or counter, separated by a barrier. */
function setsUp({ symbolic, barriers }: SynchronisingKernel, store: Access, offset: Term, own: readonly Access[]): boolean {
  const { kernel } = symbolic;
  const at = constantPlace(store);
  if (!at || store.targets[0]!.offset !== offset || !isZero(store.stored?.[0])) return false;
  return barriers.some(
    (barrier) =>
      !canReach(kernel, barrier, store) &&
      own.every((access) => pointDominates(kernel, barrier, access) && leaderReaches(symbolic, store.block, access.block)),
  );
}

/** The value on which a condition depends, and on nothing else but the launch; null for other values. */
function onlyUnknown(part: Term, value: number): Term | null {
  const [unknown, ...more] = part.leaves.filter((leaf) => !isOfLaunch(leaf));
  return unknown?.atom?.kind === 'havoc' && unknown.atom.value === value && more.length === 0 ? unknown : null;
}

/** Whether a condition on the loaded value excludes one value. */
function excludes({ symbolic: { store, view } }: SynchronisingKernel, part: Term, value: number, constant: bigint): boolean {
  const unknown = onlyUnknown(part, value);
  if (!unknown) return false;
  const forValue = substituted(store, part, (leaf) => (leaf === unknown ? store.constant(leaf.width, constant) : undefined), new Map());
  return view.decide(forValue) === false;
}

/**
 * Whether a condition on the loaded value implies that all arrivals at the counter have been observed.
 * @param isArrival whether the value is the result of the arriving atomic
 */
function showsArrival(
  { symbolic, dimensions, supposed }: SynchronisingKernel,
  part: Term,
  value: number,
  units: Units,
  isArrival: boolean,
): boolean {
  const { store } = symbolic;
  const unknown = onlyUnknown(part, value);
  if (!unknown || supposed?.has('count')) return unknown !== null;
  const all = numberOfUnits(symbolic, dimensions, units, unknown.width);
  if (!all) return false;
  // The atomic of the last arrival returns the number of all others.
  const enough = isArrival ? store.sum(all.term.width, -1n, [[all.term, 1n]]) : all.term;
  const isEnough = [store.equal(unknown, enough), store.not(store.unsignedLess(unknown, enough))];
  return isEnough.includes(part) || (all.fits && part === store.not(store.signedLess(unknown, enough)));
}
