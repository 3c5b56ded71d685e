/**
 * What a lock, a flag, a counter or a barrier of the grid that the kernel makes of a counter lacks to order two racing accesses:
 * fences, a barrier of the block next to it, or a wait that is long enough.
 */
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { canReach, everyPathPasses, pointDominates } from '../../analysis/values/program-point.ts';
import type { BlockId, Instruction, Kernel, Operand } from '../../ir/form/kernel.ts';
import { isAcquiring, isFenceFor, isReleasing } from '../../memory-model/fence.ts';
import { reachesGrid } from '../../memory-model/scope.ts';
import type { Location } from '../../source/location.ts';
import type { Term } from '../../term/term.ts';
import type { MissingFence, MissingOrder, MissingWait } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { threadsAt } from './executing-threads.ts';
import { baseName, describeTerm, elementIndex, placeOf } from '../context/names.ts';
import type { PairScope } from '../obligations/instance.ts';
import { axisOf } from '../ordering/arrival.ts';
import { orderBetween } from '../ordering/order.ts';
import type { Supposition, Synchronisation } from '../ordering/pattern.ts';
import { endsLoop, isWait, waitBefore } from '../ordering/synchronisation-idioms.ts';
import { addedBy, isAt, isPoll, isValue, writeOf } from '../ordering/synchronising-access.ts';

interface Lack {
  readonly missing: MissingOrder;
  /** The accesses with which threads synchronise; races between them have the same cause. */
  readonly own: readonly Access[];
}

/** The synchronisation between two accesses that lacks something; null if none is known to be between them. */
export function missingSynchronisation(context: KernelContext, a: Access, b: Access, scope: PairScope): Lack | null {
  return (
    missingWait(context, a, b, scope) ??
    missingFence(context, a, b, scope) ??
    (scope === 'grid' ? missingGate(context, a, b) : null) ??
    missingAcquire(context, a, b, scope)
  );
}

/** The wait that ends too early, if fences are where they have to be; null otherwise. */
function missingWait(context: KernelContext, a: Access, b: Access, scope: PairScope): Lack | null {
  for (const [ofLock, ofOthers, supposed] of [
    ['lock', 'element', []],
    [null, 'count', ['count']],
    [null, 'join', ['join']],
    ['free', null, ['taken']],
    ['freed', null, ['freed']],
  ] as const) {
    const by = orderBetween(context.orderWith(supposed).synchronisation, scope, a, b)?.by;
    const look = by && lookOf(context, by);
    const until = by?.kind === 'lock' ? ofLock : by?.kind === 'flag' && ofOthers === 'count' ? 'element' : ofOthers;
    if (!by || !look || !until) continue;
    const missing = {
      kind: 'wait',
      flag: baseName(context, by.base),
      until,
      at: placeOfWait(context, look),
      ...(until === 'lock' && turnsOf(context, by, look, a)),
      ...(until === 'free' && takenValue(context, look)),
      ...(until === 'count' && goalOf(context, by, look)),
    } as const;
    if (until !== 'freed') return { missing, own: by.own };
    const early = freedBy(context, by);
    if (early) return { missing: { ...missing, at: placeOf(context.kernel, early.instruction) }, own: [...by.own, early] };
  }
  return null;
}

/** The access that frees a lock although its thread has not taken it. */
function freedBy({ kernel, symbolic, accesses }: KernelContext, { base, acquires, releases }: Synchronisation): Access | undefined {
  const isHeld = (access: Access): boolean => acquires.some((acquire) => pointDominates(kernel, acquire.access, access));
  const isWeak = (access: Access): boolean =>
    access.strong === null && isWriter(access) && access.targets[0]!.base.key === base.key && writeOf(symbolic, access) !== null;
  return [...accesses.filter(isWeak), ...releases].find((writer) => !isHeld(writer));
}

/**
 * The indices by which blocks have to take turns, if they now do so by an index that does not choose the element they access, at
 * the element of the lock that another one chooses.
 */
function turnsOf(
  { dimensions }: KernelContext,
  { offset, releases }: Synchronisation,
  look: Access,
  { targets }: Access,
): Pick<MissingWait, 'turns'> {
  const along = axisOf(offset, look.bytes, dimensions);
  const axes = ([0, 1, 2] as const).filter((axis) => dimensions.grid[axis] !== 1);
  const number = axes.find((axis) => axis !== along);
  const isOf = (axis: number): boolean => targets[0]!.offset.leaves.some(({ atom }) => atom?.kind === 'block' && atom.axis === axis);
  if (along === null || axes.length !== 2 || releases.includes(look) || !isOf(number!) || isOf(along)) return {};
  return { turns: { element: `blockIdx.${'xyz'[number!]}`, number: `blockIdx.${'xyz'[along]}` } };
}

/** The number of arrivals at a counter that an access has to show. */
function goalOf({ dimensions }: KernelContext, { kind, offset, releases }: Synchronisation, look: Access): Pick<MissingWait, 'goal'> {
  if (kind === 'lock' || kind === 'flag') return {};
  const along = axisOf(offset, look.bytes, dimensions);
  const sizesOf = (of: 'grid' | 'block'): readonly string[] =>
    ([0, 1, 2] as const).flatMap((axis) =>
      dimensions[of][axis] === 1 || (of === 'grid' && axis === along) ? [] : [`${of}Dim.${'xyz'[axis]}`],
    );
  const sizes = [...(kind === 'threads-of-block' ? [] : sizesOf('grid')), ...(kind === 'blocks' ? [] : sizesOf('block'))];
  const isOfResult = releases.includes(look);
  const text = sizes.length === 0 ? '1' : sizes.join(' * ');
  return { goal: { text: isOfResult ? `${text} - 1` : text, isOfResult, units: kind === 'blocks' ? 'blocks' : 'threads' } };
}

/** The value with which an access takes a lock, and the value of a free lock. */
function takenValue(context: KernelContext, access: Access): Pick<MissingWait, 'taken'> {
  const { symbolic } = context;
  const { store, view } = symbolic;
  const { value, replaces: free } = writeOf(symbolic, access) ?? {};
  if (!value || free?.operator !== 'constant') return {};
  const instead = store.sum(value.width, 1n, [[value, 1n]]);
  const taken = {
    free: String(BigInt.asIntN(free.width, free.value)),
    value: describeTerm(context, value),
    ...(view.decide(store.equal(instead, free)) === false && { instead: describeTerm(context, instead) }),
  };
  return { taken };
}

/** The access with which a thread waits in a loop, or acquires otherwise. */
function lookOf({ symbolic }: KernelContext, { acquires }: Synchronisation): Access | undefined {
  const looks = acquires.map(({ access }) => access);
  return looks.find((access) => endsLoop(symbolic, access)) ?? looks[0];
}

/** Where a thread waits: the place of the loop, if the read is in a function that the loop calls. */
function placeOfWait({ kernel }: KernelContext, { instruction, block }: Access): Location {
  const loop = kernel.loopOf[block] ?? null;
  const ends = loop === null ? [] : kernel.loops[loop]!.exits.flatMap(({ from }) => kernel.blocks[from]!.instructions.slice(-1));
  const depth = Math.min(Infinity, ...ends.map((end) => framesOf(placeOf(kernel, end)).length));
  const frames = framesOf(placeOf(kernel, instruction));
  return frames.at(-depth) ?? frames[0];
}

/** A location and the call sites at which it is inlined. */
function framesOf(location: Location): readonly [Location, ...Location[]] {
  return [location, ...(location.inlinedAt ? framesOf(location.inlinedAt) : [])];
}

/** What synchronisation may lack, the fewest first. */
const suppositions: readonly (readonly Exclude<Supposition, 'count' | 'taken' | 'freed'>[])[] = [
  ['acquire'],
  ['release'],
  ['scope'],
  ['arrival'],
  ['join'],
  ['arrival', 'join'],
  ['release', 'acquire'],
  ['scope', 'acquire'],
  ['scope', 'release'],
  ['arrival', 'acquire'],
  ['arrival', 'release'],
  ['arrival', 'release', 'acquire'],
];

/** The fewest fences and barriers with which a lock, a flag or a counter would order the accesses; null if none would. */
function missingFence(context: KernelContext, a: Access, b: Access, scope: PairScope): Lack | null {
  if (context.orderWith(suppositions.at(-1)!).synchronisation.length === 0) return null;
  for (const lacks of suppositions) {
    const order = orderBetween(context.orderWith(lacks).synchronisation, scope, a, b);
    if (!order) continue;
    const { kind, base, releases, own } = order.by;
    const name = baseName(context, base);
    const [released] = releases.map(({ instruction }) => instruction);
    const acquired = lookOf(context, order.by);
    const missing: MissingFence = {
      kind: 'fence',
      ...(kind === 'lock' ? { lock: name } : { flag: name }),
      lacks,
      among: base.kind === 'object' && base.object.space === 'shared' ? 'block' : 'grid',
      ...(released && { releasedAt: placeOf(context.kernel, released) }),
      ...(acquired && { acquiredAt: placeOfWait(context, acquired) }),
      waits: acquired !== undefined && endsLoop(context.symbolic, acquired),
    };
    return { missing, own };
  }
  return null;
}

/** What a barrier of the grid between the accesses lacks that the kernel makes of a counter; null without such a barrier. */
function missingGate(context: KernelContext, a: Access, b: Access): Lack | null {
  const { kernel, symbolic } = context;
  const known = new Set(context.gates.map(({ barrier }) => barrier));
  for (const lacks of [['acquire'], ['release'], ['release', 'acquire'], ['count']] as const) {
    const { gates } = context.orderWith(lacks);
    const ends = new Set(gates.map(({ barrier }) => barrier));
    const isSeparated = (from: Access, to: Access): boolean =>
      everyPathPasses(kernel, from, to, (instruction) => known.has(instruction) || ends.has(instruction));
    const leads = (from: Access, { counter }: (typeof gates)[number], to: Access): boolean =>
      canReach(kernel, from, counter) && canReach(kernel, counter, to);
    if (!isSeparated(a, b) || !isSeparated(b, a)) continue;
    const gate = gates.findLast((one) => !known.has(one.barrier) && (leads(a, one, b) || leads(b, one, a)));
    const wait = gate?.own.findLast((access) => endsLoop(symbolic, access) && canReach(kernel, gate.counter, access));
    if (!gate || !wait) continue;
    const flag = baseName(context, gate.counter.targets[0]!.base);
    const at = placeOfWait(context, wait);
    if (lacks[0] === 'count') return { missing: { kind: 'wait', flag, until: 'goal', at }, own: gate.own };
    const releasedAt = placeOf(kernel, gate.counter.instruction);
    const changed = gate.own.findLast(
      (access) => isWriter(access) && !isAt(access, gate.counter) && canReach(kernel, gate.counter, access),
    );
    const change = changed && { flag: baseName(context, changed.targets[0]!.base), at: placeOf(kernel, changed.instruction) };
    const missing: MissingFence = { kind: 'fence', flag, lacks, among: 'grid', releasedAt, acquiredAt: at, waits: true };
    return { missing: { ...missing, ...(change && { change }) }, own: gate.own };
  }
  return null;
}

/**
 * The missing release and acquire if a thread waits for a flag of an unknown pattern before one of two weak accesses. A
 * barrier there would be in vain, as the thread would wait for the flag first.
 */
function missingAcquire(context: KernelContext, first: Access, second: Access, scope: PairScope): Lack | null {
  const { symbolic, accesses } = context;
  if (first.strong !== null || second.strong !== null) return null;
  const isLook = (access: Access): boolean => (access.operation === 'read' || isPoll(symbolic, access)) && endsLoop(symbolic, access);
  const waits = accesses.filter((access) => (access.strong === null ? isWait(symbolic, access) : isLook(access)));
  const wait = waitBefore(symbolic, waits, first) ?? waitBefore(symbolic, waits, second);
  if (!wait) return null;
  const { base } = wait.targets[0]!;
  const flag = baseName(context, base);
  const updates = accesses.filter((access) => isWriter(access) && access.targets[0]!.base.key === base.key);
  const acquiredAt = placeOfWait(context, wait);
  if (updates.length > 0 && [wait, ...updates].some((access) => access.strong === null))
    return { missing: { kind: 'wait', flag, until: 'weak', at: acquiredAt }, own: [] };
  const setters = updates.filter((access) => access.strong !== null);
  // Races between these accesses may be the cause.
  const own: readonly Access[] = [];
  const isNarrow = ({ strong: by }: Access): boolean => scope === 'grid' && !reachesGrid(by);
  if ([wait, ...setters].some(isNarrow)) return { missing: { kind: 'scope', narrow: 'block' }, own };
  const other = waitBefore(symbolic, [wait], first) ? second : first;
  const isAfter = (setter: Access): boolean => canReach(symbolic.kernel, other, setter);
  const early = setters.find((setter) => canReach(symbolic.kernel, setter, other) && !isPoll(symbolic, setter));
  // If the flag is set again after the access, it is the wait that ends too early.
  if (early && !setters.some((setter) => setter !== early && isAfter(setter)))
    return { missing: { kind: 'wait', flag, until: 'release', at: placeOf(context.kernel, early.instruction) }, own };
  const { kernel } = symbolic;
  // A thread that does not set the flag after its access hands nothing over.
  if (!setters.some(isAfter)) return null;
  const isGate = (instruction: Instruction): boolean => isFenceFor(instruction, 'patterns', true);
  const isAcquired = isAcquiring(wait.instruction) || everyPathPasses(kernel, wait, other === second ? first : second, isGate);
  const isReleased = setters
    .filter(isAfter)
    .every((setter) => isReleasing(setter.instruction) || everyPathPasses(kernel, other, setter, isGate));
  const releasedAt = placeOf(kernel, setters.find(isAfter)!.instruction);
  const lacks = [...(isReleased ? [] : (['release'] as const)), ...(isAcquired ? [] : (['acquire'] as const))];
  const counter = lacks.length === 0 ? counterOfBlock(context, wait) : null;
  if (counter) return { missing: { kind: 'wait', flag, until: 'number', at: acquiredAt, counter }, own };
  // With fences on both sides, the loop ends too early.
  return lacks.length === 0
    ? { missing: { kind: 'wait', flag, until: 'turn', at: acquiredAt, ...storedValue(context, setters, isAfter) }, own }
    : { missing: { kind: 'fence', flag, lacks, among: 'grid', releasedAt, acquiredAt, waits: true }, own };
}

/** The counter of each block whose number a thread waits for at a location of all blocks; null for any other wait. */
function counterOfBlock(
  { kernel, symbolic, accesses, ...context }: KernelContext,
  { memory, block }: Access,
): MissingWait['counter'] | null {
  const loop = kernel.loopOf[block] ?? null;
  if (memory === 'shared' || loop === null) return null;
  const conditions = kernel.loops[loop]!.exits.map(({ from }) => symbolic.condition(from));
  const known = new Set(
    conditions.flatMap((condition) => condition?.leaves.map(({ atom }) => (atom?.kind === 'havoc' ? atom.value : null)) ?? []),
  );
  const counter = accesses.find(
    (access) => access.operation === 'atomic' && access.memory === 'shared' && known.has(access.instruction.results[0] ?? -1),
  );
  return counter ? { name: baseName({ kernel, ...context }, counter.targets[0]!.base), at: placeOf(kernel, counter.instruction) } : null;
}

/** The constant that a thread stores after its access, if it is one and differs from others; or whether all store one constant. */
function storedValue(
  { symbolic }: KernelContext,
  setters: readonly Access[],
  isAfter: (setter: Access) => boolean,
): Pick<MissingWait, 'stored' | 'isOneValue'> {
  const valuesOf = (some: readonly Access[]) => new Set(some.map((setter) => writeOf(symbolic, setter)?.value));
  const [value, ...more] = valuesOf(setters.filter(isAfter));
  if (value?.operator !== 'constant' || more.length > 0) return {};
  const isOneValue = valuesOf(setters.filter((setter) => !isPoll(symbolic, setter))).size === 1;
  return isOneValue ? { isOneValue: true } : { stored: String(BigInt.asIntN(value.width, value.value)) };
}

/**
 * The counter or flag by which threads of different blocks are to synchronise between two accesses, although it orders nothing; null
 * without one.
 */
export function undecidedGuard(context: KernelContext, a: Access, b: Access): MissingWait | null {
  const { kernel, symbolic, accesses } = context;
  const leads = (from: Access, to: Access): boolean => canReach(kernel, from, to);
  const bases = new Set([a, b].map(({ targets }) => targets[0]!.base.key));
  const strong = accesses.filter(
    ({ strong: by, memory, targets }) => reachesGrid(by) && memory === 'global' && !bases.has(targets[0]!.base.key),
  );
  const looks = strong.filter(({ instruction }) => isValue(instruction.results[0]));
  const updates = strong.filter((access) => isWriter(access) && !isPoll(symbolic, access));
  const areOfOneFlag = (one: Access, other: Access): boolean => one.targets[0]!.base.key === other.targets[0]!.base.key;
  const isFence = (instruction: Instruction): boolean => isFenceFor(instruction, 'patterns', true);
  for (const [earlier, later] of [[a, b] as const, [b, a] as const]) {
    const isAnnounced = (look: Access): boolean => updates.some((update) => areOfOneFlag(update, look) && leads(earlier, update));
    const guard =
      looks.find((look) => leads(look, later) && (leads(look, earlier) || leads(earlier, look)) && decides(context, look, later)) ??
      looks.find((look) => leads(look, later) && !leads(look, earlier) && isAnnounced(look) && decides(context, look, null));
    const to = placeOf(kernel, later.instruction);
    if (guard) {
      const several = goalOfThreads(context, guard);
      if (several)
        return {
          kind: 'wait',
          flag: baseName(context, guard.targets[0]!.base),
          until: 'count',
          at: placeOf(kernel, guard.instruction),
          goal: several,
        };
      const isEarly = isWriter(guard) && !leads(earlier, guard) && !isAnnounced(guard) && a !== b;
      const at = placeOf(kernel, guard.instruction);
      return { kind: 'wait', flag: baseName(context, guard.targets[0]!.base), until: isEarly ? 'release' : 'order', at, to };
    }
    const unawaited = updates.find(
      (update) =>
        isWriter(earlier) &&
        leads(earlier, update) &&
        everyPathPasses(kernel, earlier, update, isFence) &&
        !looks.some((look) => areOfOneFlag(look, update) && leads(look, later)),
    );
    if (unawaited && a !== b)
      return {
        kind: 'wait',
        flag: baseName(context, unawaited.targets[0]!.base),
        until: 'none',
        at: placeOf(kernel, unawaited.instruction),
        to,
        ...elementFor(context, unawaited, earlier, later),
      };
  }
  return null;
}

/** The number that the last arrival gets, if several threads of each block count; null if one does, or their number is not known. */
function goalOfThreads(context: KernelContext, arrival: Access): MissingWait['goal'] | null {
  const { symbolic, dimensions } = context;
  if (addedBy(symbolic, arrival) !== 1n || canReach(symbolic.kernel, arrival, arrival)) return null;
  const threads = threadsAt(context, arrival.block);
  if (threads === null || threads <= 1) return null;
  const blocks = ([0, 1, 2] as const).flatMap((axis) => (dimensions.grid[axis] === 1 ? [] : [`gridDim.${'xyz'[axis]}`]));
  return { text: `${[threads, ...blocks].join(' * ')} - 1`, isOfResult: true, units: 'threads' };
}

/** The element that belongs to an access, if a thread updates the element whose index is that of the access before. */
function elementFor(context: KernelContext, update: Access, earlier: Access, later: Access): Pick<MissingWait, 'element'> {
  const indexOf = ({ targets, bytes }: Access): Term | null => elementIndex(context.symbolic.store, targets[0]!.offset, bytes);
  const index = indexOf(later);
  if (!index || indexOf(update) === null || indexOf(update) !== indexOf(earlier)) return {};
  return { element: `${baseName(context, update.targets[0]!.base)}[${describeTerm(context, index)}]` };
}

/**
 * How what a thread reads affects what it writes later.
 * @returns `decides`: a branch on the value decides whether it writes; `stores`: it writes what it computes from the value
 */
export function influences(context: KernelContext, read: Access, write: Access): { readonly decides: boolean; readonly stores: boolean } {
  const influenced = influencedBy(context.kernel, context.accesses, read.instruction);
  return {
    decides: decides(context, read, write),
    stores: write.instruction.arguments.slice(1).some((argument) => isIn(influenced, argument)),
  };
}

/** Whether a branch depends on the result of an access; one that decides whether a thread executes another access, if that is given. */
function decides({ kernel, accesses, dependences }: KernelContext, { instruction }: Access, of: Access | null): boolean {
  const influenced = influencedBy(kernel, accesses, instruction);
  const loops = of && new Set([null, kernel.loopOf[of.block] ?? null]);
  const branches = loops ? [...loops].flatMap((loop) => [...dependences.controlling(of.block, loop)]) : kernel.blocks.map(({ id }) => id);
  return branches.some((branch) => isConditionOn(kernel, branch, influenced));
}

function isConditionOn({ blocks }: Kernel, branch: BlockId, values: ReadonlySet<number>): boolean {
  const { terminator } = blocks[branch]!;
  return terminator.kind === 'branch' && isIn(values, terminator.condition);
}

function isIn(values: ReadonlySet<number>, operand: Operand): boolean {
  return operand.kind === 'value' && values.has(operand.id);
}

/** The values that are computed from the result of an instruction, also through shared memory. */
function influencedBy(kernel: Kernel, accesses: readonly Access[], source: Instruction): ReadonlySet<number> {
  const values = new Set<number>(source.results.filter(isValue));
  const stored = new Set<string>();
  const keysOf = new Map<Instruction, readonly string[]>();
  for (const { instruction, memory, targets } of accesses)
    if (memory === 'shared') keysOf.set(instruction, [...(keysOf.get(instruction) ?? []), ...targets.map(({ base }) => base.key)]);
  for (let size = -1; size < values.size + stored.size;) {
    size = values.size + stored.size;
    for (const { phis, instructions } of kernel.blocks) {
      for (const { result, inputs } of phis) if (inputs.some((input) => isIn(values, input))) values.add(result);
      for (const instruction of instructions) {
        const keys = keysOf.get(instruction) ?? [];
        const isInfluenced = instruction.arguments.some((argument) => isIn(values, argument));
        if (isInfluenced) for (const key of keys) stored.add(key);
        if (isInfluenced || keys.some((key) => stored.has(key))) for (const id of instruction.results.filter(isValue)) values.add(id);
      }
    }
  }
  return values;
}
