/** Collects the facts about a kernel under one launch before any decision. */
import { keyOfValue, leastValues } from '../premises/least-values.ts';
import { constantOf } from '../../assumptions/evaluate.ts';
import { arePassedTogether, fromLowerPointers, withKnownDistances, withStatedApart } from './aliasing.ts';
import { declarationOf, integerField, isFloatParameter, givenScalar } from './scalars.ts';
import { registersRead } from '../../ir/special-registers.ts';
import type { KernelContext, KernelAndLaunch, SymbolicFacts } from './facts.ts';
import { pointsOf } from '../../analysis/values/program-point.ts';
import { type Access, type LoadedMemory, collectAccesses, constantReads, loadedMemory } from '../../analysis/values/access.ts';
import { isFullBarrier, isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { constantPlace, findBroadcasts } from '../../analysis/values/broadcast.ts';
import { type ControlDependence, controlDependence } from '../../analysis/values/control-dependence.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { type Base, type Target, type DeclaredAs, parameterBase } from '../../analysis/values/memory-base.ts';
import { findMbarriers } from '../../analysis/barriers/block-mbarrier.ts';
import { namedBarriers } from '../../analysis/barriers/named-barrier.ts';
import { findRereads } from '../../analysis/values/repeated-loads.ts';
import { type UniformityResult, inferUniformity } from '../../analysis/values/uniformity.ts';
import { type SymbolicContext, type SymbolicKernel, evaluateSymbolically } from '../../analysis/values/symbolic.ts';
import { isFunctionReference } from '../../ir/form/function-address.ts';
import type { Instruction, Kernel, LoopId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { type Launch, extentOfAxis } from '../../launch/launch.ts';
import { conditionsOf, dimensionBounds, namedPointer, namedScalar, pinnedScalar, scalarBounds } from '../premises/premises.ts';
import { launchNamesIn } from '../../assumptions/parts.ts';
import { type ParameterField, parameterFields } from '../../launch/parameter-field.ts';
import type { CheckRequest } from '../request/check-request.ts';
import { orderWith } from '../ordering/supposed.ts';
import { statedExtents } from '../premises/extents.ts';
import { collectElementFacts } from '../premises/element-fact.ts';
import { isProtected } from '../ordering/order.ts';
import type { Synchronisation } from '../ordering/pattern.ts';
import { findSynchronisation } from '../ordering/synchronisation.ts';
import { findGridGates } from '../ordering/grid-gate.ts';
import { isSetUpBefore } from '../ordering/initial-store.ts';
import { findTickets } from '../ordering/ticket.ts';

/**
 * Evaluates the kernel symbolically for the launch of the request, with the scalars that `SELVAGE_ASSUME` in the code
 * pins to constants.
 */
export function kernelContext(asked: CheckRequest): KernelContext {
  const request = withKnownDistances(withStatedApart(asked));
  const context = contextOf(request);
  const scalars = statedScalars(context);
  if (scalars.size === 0) return context;
  const launch = { ...request.launch, scalars: new Map([...scalars, ...request.launch.scalars]) };
  return contextOf({ ...request, launch });
}

/**
 * Parameters that `SELVAGE_ASSUME` in the entry block sets equal to a constant. Every thread executes the entry block,
 * so the argument is that constant in every valid execution.
 */
function statedScalars({ kernel, symbolic, request }: KernelAndLaunch & SymbolicFacts): Map<number, bigint> {
  const scalars = new Map<number, bigint>();
  const [entry] = kernel.blocks;
  for (const { instruction, condition } of symbolic.stated) {
    if (!entry?.instructions.includes(instruction)) continue;
    for (const part of condition.operator === 'all' ? condition.arguments : [condition]) {
      if (part.operator !== 'equal') continue;
      const [a, b] = part.arguments as [Term, Term];
      const [scalar, value] = a.atom?.kind === 'parameter' ? [a.atom, b] : [b.atom, a];
      if (scalar?.kind !== 'parameter' || value.operator !== 'constant' || scalar.offset !== 0) continue;
      const whole = kernel.parameters[scalar.index]?.bytes === scalar.bytes && !isFunctionReference(value.value);
      if (whole && !request.launch.scalars.has(scalar.index)) scalars.set(scalar.index, value.value);
    }
  }
  return scalars;
}

function contextOf(request: CheckRequest): KernelContext {
  const { kernel, launch, parameters } = request;
  const dimensions = dimensionsOf(kernel, launch);
  const conditions = conditionsOf(request.assumptions);
  const least = leastValues(conditions, parameters);
  const meaning: SymbolicContext = {
    dimensions,
    scalar: (index, offset, bytes) =>
      givenScalar(launch, index, offset, bytes) ??
      (conditions.length === 0 || isFloatParameter(kernel, index) ? undefined : pinnedScalar(conditions, parameters, index, offset, bytes)),
    scalarBounds: (index, offset, bytes) =>
      scalarBounds(conditions, parameters, index, offset, bytes, least.get(keyOfValue(index, offset))),
    sizeBounds: (kind, axis, range) => dimensionBounds(conditions, kind === 'block-size' ? 'blockDim' : 'gridDim', axis, range),
    sharedBytes: launch.sharedBytes,
  };
  const declaredAs: DeclaredAs = (index, offset) => declarationOf(parameters[index], offset);
  const dependences = controlDependence(kernel);
  const { symbolic, accesses, broadcasts } = evaluateWithBroadcasts(request, dependences, meaning, declaredAs);
  const { aliases, samePointers = [] } = launch;
  const areTogether = (a: Base, b: Base): boolean =>
    arePassedTogether(aliases, a, b) ||
    arePassedTogether(samePointers, a, b) ||
    (a.kind === 'loaded' && b.kind === 'loaded' && areTogether(a.table, b.table));
  const mayBeSame = (a: Base, b: Base): boolean => a.key === b.key || a.kind === 'unknown' || b.kind === 'unknown' || areTogether(a, b);
  const barriers = pointsOf(kernel, isFullBarrier);
  const startsAtZero = (base: Base) => startOf(request, base);
  const toldOnce = broadcasts.filter(({ loop }) => loop === null);
  const synchronising = { symbolic, accesses, mayBeSame, barriers, broadcasts: toldOnce, dimensions, startsAtZero };
  const synchronisation = findSynchronisation(synchronising);
  const gates = findGridGates(synchronising);
  const tickets = findTickets(synchronising, synchronisation, (start, counter) => isSetUpBefore(symbolic, barriers, start, counter));
  const ofMemory = loadedMemory(symbolic, accesses, declaredAs, areTogether);
  const isGuarded = (access: Access): boolean =>
    isProtected(synchronisation, access) || synchronisation.some((by) => isReadInTurn(kernel, by, access, gates.length > 0));
  const guarded = new Set(accesses.filter(isGuarded).map(({ instruction }) => instruction));
  // In a critical section, or after an acquire, each thread may read a different value written by another thread.
  const loaded = (load: Instruction): LoadedMemory => {
    const memory = ofMemory(load);
    return memory === 'written' && guarded.has(load) ? 'private' : memory;
  };
  const upper = (launch.distances ?? []).map(([, to]) => parameterBase(to, 0));
  const bases = [...accesses.flatMap((access) => access.targets.map(({ base }) => base)), ...upper];
  const fields = withFieldsOfDistances(request, parameterFields(kernel, bases, parameters));
  const inMemory = findMbarriers(symbolic, dimensions, accesses, declaredAs, loaded);
  const isBlockBarrier = (instruction: Instruction): boolean => isFullBarrier(instruction) || inMemory.arrivals.has(instruction);
  const uniformity = () => inferUniformity(kernel, dependences, loaded, new Set());
  const named = namedBarriers(symbolic, dimensions, dependences, uniformity, isBlockBarrier);
  const { variables } = launch.contents ?? {};
  const isFilled = ({ base }: Target): boolean => base.kind === 'object' && variables?.has(request.objectName(base.object.symbol)) === true;
  const tables = variables?.size ? constantReads(symbolic, declaredAs).filter(({ targets }) => targets.every(isFilled)) : [];
  const { elements, stated: statedValues } = collectElementFacts(
    parameters,
    request.assumptions,
    [...accesses, ...tables],
    loaded,
    launch.contents,
  );
  return {
    request,
    kernel,
    dimensions,
    dependences,
    symbolic,
    accesses,
    loaded,
    rereads: findRereads(kernel, accesses, loaded),
    orderWith: orderWith(synchronising),
    fields,
    extents: statedExtents(request.assumptions, parameters, launch, dimensions),
    tickets,
    synchronisation,
    gates,
    elements,
    statedValues,
    inMemory,
    named,
    isBlockBarrier,
  };
}

/**
 * Evaluates the kernel. If thread 0 broadcasts values to its block, evaluates it again with these values as uniform.
 */
function evaluateWithBroadcasts(request: CheckRequest, dependences: ControlDependence, meaning: SymbolicContext, declaredAs: DeclaredAs) {
  const { kernel } = request;
  const { dimensions } = meaning;
  const accessesOf = (of: SymbolicKernel) =>
    fromLowerPointers(collectAccesses(of, declaredAs), { request, kernel, dimensions, fields: [], symbolic: of });
  const symbolic = evaluateSymbolically(kernel, meaning);
  const accesses = accessesOf(symbolic);
  const barriers = pointsOf(kernel, isFullBarrier);
  // Loads of all threads from one location in shared memory have one value if no access races with them. Values of
  // other loads are unknown.
  const ofOnePlace = new Set(accesses.filter(constantPlace).map(({ instruction }) => instruction));
  const loaded = (load: Instruction): LoadedMemory => {
    const { effect } = load.operation;
    if (effect.kind === 'load' && effect.space === 'param') return 'fixed';
    return ofOnePlace.has(load) ? 'written' : 'private';
  };
  let uniformity: UniformityResult | null = null;
  const leavesTogether = (loop: LoopId): boolean => {
    uniformity ??= inferUniformity(kernel, dependences, loaded, new Set());
    return !uniformity.divergent(loop);
  };
  const broadcasts = findBroadcasts(symbolic, accesses, barriers, dimensions, leavesTogether);
  if (broadcasts.length === 0) return { symbolic, accesses, broadcasts };
  const again = evaluateSymbolically(kernel, {
    ...meaning,
    broadcast: {
      stored: new Map(broadcasts.map(({ reader, stored }) => [reader, stored])),
      leaderValues: new Set(broadcasts.flatMap(({ leaderValues }) => leaderValues)),
      valuesOfOthers: new Set(broadcasts.flatMap(({ isOfOther, leaderValues }) => (isOfOther ? leaderValues : []))),
    },
  });
  return { symbolic: again, accesses: accessesOf(again), broadcasts };
}

/** The fields, with those on which a distance of pointers depends, even if the kernel does not read them. */
function withFieldsOfDistances({ kernel, launch, parameters }: CheckRequest, read: readonly ParameterField[]): readonly ParameterField[] {
  const names = (launch.distances ?? []).flatMap(([, , bytes]) => launchNamesIn(bytes));
  return names.reduce((fields, name) => {
    const named = name.kind === 'parameter' ? namedScalar(parameters, name.path) : null;
    const field = named && integerField({ kernel, fields }, named);
    return !field || fields.includes(field) ? fields : [...fields, field].sort((a, b) => a.index - b.index || a.offset - b.offset);
  }, read);
}

/** Whether the array of a flag or counter is stated, or assumed, to be zero when the kernel starts. */
export function startOf({ parameters, assumptions }: CheckRequest, base: Base): 'stated' | 'assumed' | 'no' {
  if (base.kind === 'object' && base.object.initial?.some((byte) => byte !== 0)) return 'no';
  const stated = assumptions.flatMap(({ expression }) => {
    if (expression.kind !== 'elements' && expression.kind !== 'distinct') return [];
    const array = namedPointer(parameters, expression.array);
    const isMeant = base.kind === 'parameter' && array?.index === base.index && array.offset === base.offset;
    return isMeant ? [expression] : [];
  });
  if (stated.length === 0) return 'assumed';
  const isZero = stated.every((one) => one.kind === 'elements' && constantOf(one.low) === 0n && constantOf(one.high) === 0n);
  return isZero ? 'stated' : 'no';
}

/**
 * Whether threads that agree on uniform values may load different values from one location: a thread before the release
 * one, and a thread after the acquire another. Not if a barrier of the block follows the acquire, since all threads of
 * the block are after it then.
 */
function isReadInTurn({ blocks }: Kernel, by: Synchronisation, access: Access, hasGates: boolean): boolean {
  const { index, operation } = access;
  if (operation === 'write' || by.kind === 'lock') return false;
  if (by.own.includes(access)) return true;
  if (by.after.block.get(index)?.some(({ level }) => level === 'thread')) return true;
  return by.after.grid.has(index) && (hasGates || blocks.some(({ instructions }) => instructions.some(isGridBarrier)));
}

/** The launch's dimensions; an axis that the launch does not specify and that the kernel never reads is 1. */
function dimensionsOf(kernel: Kernel, launch: Launch): Dimensions {
  const read = registersRead(kernel);
  const usesLane = [...read].some((name) => /^(laneid|lanemask)/.test(name));
  const isRead = (name: string, axis: 0 | 1 | 2): boolean => read.has(`${name}.${'xyz'[axis]}`) || (name === 'tid' && usesLane);
  const blockAxis = (axis: 0 | 1 | 2): number | null =>
    launch.block === null && kernel.requiredThreads
      ? kernel.requiredThreads[axis]
      : extentOfAxis(launch, 'block', axis, isRead('tid', axis));
  const gridAxis = (axis: 0 | 1 | 2): number | null => extentOfAxis(launch, 'grid', axis, isRead('ctaid', axis));
  return {
    block: [blockAxis(0), blockAxis(1), blockAxis(2)],
    grid: [gridAxis(0), gridAxis(1), gridAxis(2)],
  };
}

/** Whether the kernel itself writes the memory that an access points into. */
export function isWritten({ accesses }: Pick<SymbolicFacts, 'accesses'>, { key }: Base): boolean {
  return accesses.some(({ operation, targets }) => operation !== 'read' && targets.some(({ base }) => base.key === key));
}
