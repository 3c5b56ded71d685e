/**
 * Indices that leave an object of known extent under a given launch: a variable of shared memory, the dynamic shared
 * memory of the launch, or an array of the module in global or constant memory. Most accesses are decided by value
 * ranges, the others by enumeration of all threads. An access that may leave its object is executed in the interpreter;
 * only such a run confirms the finding.
 */
import type { Steps } from '../../base/coroutine.ts';
import type { FaultEvent } from '../../interpreter/core/run-result.ts';
import { type Access, constantReads } from '../../analysis/values/access.ts';
import { partsOf } from '../../analysis/values/leader.ts';
import type { DeclaredAs, Target } from '../../analysis/values/memory-base.ts';
import { evaluateTerm } from '../../term/evaluate-term.ts';
import type { Term } from '../../term/term.ts';
import type { Reason } from '../../verdict/reason.ts';
import type { RaceFinding } from '../../verdict/finding.ts';
import { baseName, placeOf } from '../context/names.ts';
import { declarationOf, givenScalar } from '../context/scalars.ts';
import type { KernelAndLaunch, KernelContext, SymbolicFacts } from '../context/facts.ts';
import type { SolverTiers } from '../deciding/solver-tiers.ts';
import type { Instances } from '../obligations/instance.ts';
import { weaker } from '../witness/origin.ts';
import type { Confirmation } from '../witness/scenarios.ts';
import { faultFinding } from './fault-finding.ts';
import { accessOfLeaf, givenElement, isGivenElement } from './given-contents.ts';
import { leftInChosen } from './open-sizes.ts';
import { type WrappedAccess, wrappedIn } from './width-check.ts';

export interface MemoryResult {
  /** The reason why the kernel cannot be proved; null if no index is known to leave its object. */
  readonly reason: Reason | null;
  readonly findings: readonly RaceFinding[];
}

/** An access that leaves its object. */
interface OutOfBounds {
  readonly access: Access;
  readonly target: Target;
  /** Size of the object in bytes. */
  readonly extent: number;
  /** Whether the answer depends on the launch only. */
  readonly isGiven: boolean;
  /** Whether it leaves the object in all large representative launches. */
  readonly isInAll?: true;
  /** The run in which the access leaves its object. */
  readonly shown: WrappedAccess['shown'];
  /** What the index would be, if it wraps around in that run. */
  readonly wrap?: WrappedAccess['wrap'] | null;
}

/** Limit on the combinations of threads, blocks and iterations that are enumerated for one access. */
const maxTried = 1 << 16;
/** Limit on the trip count of a loop whose iterations are enumerated. */
const maxRounds = 4096n;

/**
 * Finds accesses that leave their objects, and executes them. An access is reported only if it is certain or shown by a
 * run.
 */
export function* checkBounds(
  raced: KernelContext,
  confirmation: Confirmation,
  linear: () => ReturnType<SolverTiers['linear']>,
  instances: Instances,
): Steps<MemoryResult> {
  const { request, symbolic, accesses } = raced;
  if (!request.checks.race) return { reason: null, findings: [] };
  const declaredAs: DeclaredAs = (index, offset) => declarationOf(request.parameters[index], offset);
  const context: KernelContext = { ...raced, accesses: [...accesses, ...constantReads(symbolic, declaredAs)] };
  const found: OutOfBounds[] = [];
  for (const access of context.accesses) {
    // The accesses of a warpgroup matrix product are known only as an enclosing byte range.
    if (access.instruction.operation.effect.kind === 'warpgroup-multiply') continue;
    for (const target of access.targets) {
      const extent = extentOf(context, target);
      if (extent === null) {
        const left = yield* leftInChosen(context, instances, access, target, confirmation);
        if (left) found.push({ access, target, ...left, isGiven: false, isInAll: true });
        continue;
      }
      if (staysInside(context, access, target, extent)) continue;
      const question = questionOf(context, access, target, extent);
      if (question && isGuarded(context, question)) continue;
      const suspect = question
        ? isSmall(question)
          ? tryAll(question)
          : yield* querySolver(context, question, linear())
        : drawnIndex(context, access, target, extent);
      if (!suspect) continue;
      yield* confirmation.runBlocks([suspect.block]);
      const shown = confirmation.faults.get(access.instruction.id);
      if (shown || suspect.isCertain) found.push({ access, target, extent, isGiven: suspect.isGiven, shown });
    }
  }
  const faults = found.map((one): OutOfBounds => {
    const { access, target, shown, wrap = shown ? wrappedIn(context, instances, access, target, shown) : null } = one;
    return { ...one, wrap };
  });
  return wrongIndices(context, faults);
}

/** The findings on accesses at wrong indices, and the reason that the first one is for the verdict. */
export function wrongIndices(context: KernelContext, found: readonly OutOfBounds[]): MemoryResult {
  // An access that wraps around within its array does not end the run.
  const first = found.find(({ shown }) => !shown || shown.event.left !== undefined);
  return { reason: first ? reasonOf(context, first) : null, findings: boundsFindings(context, found) };
}

function reasonOf(context: KernelContext, { access, target, shown, wrap }: OutOfBounds): Reason {
  const place = { array: baseName(context, target.base), line: placeOf(context.kernel, access.instruction).line };
  if (wrap) return { kind: 'index-overflow', ...place };
  return { kind: 'out-of-bounds', ...place, ...(shown?.event.left?.bytes === 0 && { isNull: true }) };
}

/** The arrays of which ranges and guards do not show that every index stays in them. */
export function unboundedArrays(context: KernelContext): readonly string[] {
  const isInside = (access: Access, target: Target): boolean => {
    const extent = extentOf(context, target);
    if (extent === null) return false;
    if (context.symbolic.view.offset(target.offset).assumes.length === 0 && staysInside(context, access, target, extent)) return true;
    const question = questionOf(context, access, target, extent);
    return question !== null && isGuarded(context, question);
  };
  const open = context.accesses.flatMap((access) => access.targets.filter((target) => !isInside(access, target)));
  return [...new Set(open.map(({ base }) => baseName(context, base)))].sort();
}

/** The size in bytes of the object that a target points into; null if unknown. */
function extentOf({ request, extents }: KernelAndLaunch, { base }: Target): number | null {
  if (base.kind === 'parameter') return extents.get(`${base.index}.${base.offset}`) ?? null;
  if (base.kind !== 'object' || base.object.external) return null;
  const { space, bytes } = base.object;
  if (space === 'shared') return bytes ?? request.launch.sharedBytes;
  return space === 'global' || space === 'const' ? bytes : null;
}

function staysInside({ symbolic }: SymbolicFacts, { bytes }: Access, { offset }: Target, extent: number): boolean {
  const { low, high } = symbolic.view.offset(offset);
  return low >= 0n && high + BigInt(bytes) <= BigInt(extent);
}

interface Suspect {
  /** Index, along each axis, of a block in which some thread leaves the object. */
  readonly block: readonly number[];
  /** Whether every execution leaves the object. False in loops, since trip counts are not checked here. */
  readonly isCertain: boolean;
  readonly isGiven: boolean;
}

interface Variable {
  readonly leaf: Term;
  readonly size: number;
}

/** The question whether an access leaves its object, over values that the launch determines. */
interface Question {
  readonly offset: Term;
  /** The last offset within the object. */
  readonly last: bigint;
  /** The conditions of the access that depend on the launch only. */
  readonly guards: readonly Term[];
  /** The unknowns of offset and guards. */
  readonly variables: readonly Variable[];
  readonly isGiven: boolean;
  /** Whether the offset depends on the iteration of a loop. */
  readonly counts: boolean;
}

/**
 * The question whether an access leaves its object; null if the answer depends on more than the launch. Unknown sizes
 * that bound the thread index may be small enough to keep the index in the object; then the result is null, too.
 */
function questionOf(context: KernelAndLaunch & SymbolicFacts, access: Access, target: Target, extent: number): Question | null {
  const parts = conditionsOf(context, access, target);
  const sizeOf = (leaf: Term): number | null => sizeIn(context, leaf);
  const isOfLaunch = (term: Term): boolean => term.leaves.every((leaf) => sizeOf(leaf) !== null);
  const isOf = (term: Term, kind: string): boolean => term.leaves.some(({ atom }) => atom?.kind === kind);
  if (!isOfLaunch(target.offset)) return null;
  const open = parts.filter((part) => !isOfLaunch(part));
  const isBounded = (part: Term): boolean => isOf(part, 'thread') && !isOf(part, 'block');
  const counts = isOf(target.offset, 'iteration');
  if (open.some((part) => counts || isBounded(part) || isOf(part, 'havoc') || isOf(part, 'phi'))) return null;
  const guards = parts.filter((part) => !open.includes(part));
  const leaves = new Set([target.offset, ...guards].flatMap((term) => [...term.leaves]));
  const variables = [...leaves].map((leaf): Variable => ({ leaf, size: sizeOf(leaf)! }));
  return {
    offset: target.offset,
    last: BigInt(extent - access.bytes),
    guards,
    variables,
    isGiven: open.length === 0,
    counts,
  };
}

/**
 * Conditions of an access: the reach condition of its block and that of the target, without exit conditions of loops
 * before the access. A thread that left a loop by its only exit has satisfied that condition.
 */
function conditionsOf({ symbolic, kernel, dependences }: KernelAndLaunch & SymbolicFacts, access: Access, target: Target): readonly Term[] {
  // A block that no branch controls, other than exits of loops before it, is always reached.
  const isAlwaysReached = dependences.controlling(access.block, kernel.loopOf[access.block] ?? null).size === 0;
  const reach = isAlwaysReached ? symbolic.store.true : symbolic.reach(access.block);
  const left = kernel.loops.filter(({ blocks, exits }) => !blocks.has(access.block) && exits.length === 1);
  const satisfied = new Set(left.flatMap(({ exits: [exit] }) => partsOf(symbolic.edge(exit!.from, exit!.to))));
  return [reach, target.condition].flatMap(partsOf).filter((part) => !satisfied.has(part));
}

/**
 * An index computed from results of atomic operations, if only the launch determines the number of these operations, or from an
 * array that the host program fills; a run shows the indices. Null if the index also depends on anything else.
 */
function drawnIndex(context: KernelContext, access: Access, target: Target, extent: number): Suspect | null {
  const { symbolic } = context;
  const isOfLaunch = ({ leaves }: Term): boolean => leaves.every((leaf) => sizeIn(context, leaf) !== null);
  const isFilled = (leaf: Term): boolean => isGivenElement(context, leaf);
  const isKnown = (leaf: Term): boolean => sizeIn(context, leaf) !== null || isFilled(leaf);
  const guards = conditionsOf(context, access, target);
  if (!guards.every(({ leaves }) => leaves.every(isKnown))) return null;
  const counters = new Set<Target['base']>();
  let isDrawn = false;
  for (const leaf of target.offset.leaves) {
    if (sizeIn(context, leaf) !== null) continue;
    isDrawn = true;
    if (isFilled(leaf)) continue;
    const counter = accessOfLeaf(context, leaf);
    const [of] = counter?.targets ?? [];
    if (counter?.operation !== 'atomic' || !of) return null;
    if (!counter.instruction.arguments.slice(1).every((operand) => isOfLaunch(symbolic.operand(operand)))) return null;
    counters.add(of.base);
  }
  if (!isDrawn) return null;
  const outside = counters.size === 0 ? elementOutside(context, access, target, extent, guards) : null;
  // The contents of launch arguments are arbitrary; variables of the kernel and its module have known initial values.
  const isGiven = [...counters].every((base) => base.kind === 'object');
  return { block: outside?.block ?? [0, 0, 0], isCertain: false, isGiven };
}

/** A block in which an element of a given array is an index outside of the object. */
function elementOutside(
  context: KernelContext,
  access: Access,
  { offset }: Target,
  extent: number,
  guards: readonly Term[],
): Suspect | null {
  const leaves = new Set([offset, ...guards].flatMap((term) => [...term.leaves]));
  const elements = [...leaves].filter((leaf) => isGivenElement(context, leaf));
  for (const element of elements) for (const leaf of accessOfLeaf(context, element)!.targets[0]!.offset.leaves) leaves.add(leaf);
  const numbers = [...leaves].filter((leaf) => !elements.includes(leaf));
  if (numbers.some((leaf) => sizeIn(context, leaf) === null)) return null;
  const variables = numbers.map((leaf): Variable => ({ leaf, size: sizeIn(context, leaf)! }));
  const question = { offset, last: BigInt(extent - access.bytes), guards, variables, isGiven: true, counts: true };
  return isSmall(question)
    ? tryAll(question, (leaf, valueOf) => {
        const value = givenElement(context, leaf, valueOf)?.value;
        return value === undefined ? undefined : BigInt(value);
      })
    : null;
}

/** Whether the unknowns of a question have few enough values for exhaustive enumeration. */
function isSmall({ variables }: Question): boolean {
  return variables.reduce((product, { size }) => product * size, 1) <= maxTried;
}

/**
 * The question restricted to conditions on the offset's own unknowns. If its answer is no, that of the question is no.
 */
function ofOffsetAlone(question: Question): Question {
  const { offset, guards, variables } = question;
  const isOwn = (leaf: Term): boolean => offset.leaves.includes(leaf);
  return {
    ...question,
    guards: guards.filter(({ leaves }) => leaves.every(isOwn)),
    variables: variables.filter(({ leaf }) => isOwn(leaf)),
  };
}

/**
 * Whether a condition keeps the index within the object, as `i < 1000` does for `a[i]`. Then no enumeration is needed.
 */
function isGuarded({ symbolic: { view } }: SymbolicFacts, { offset, last, guards }: Question): boolean {
  const index = view.offset(offset);
  if (index.low < 0n || index.assumes.length > 0) return false;
  return guards.some((guard) => {
    const bound = upperBoundOf(guard);
    if (!bound) return false;
    const bounded = bound.isSigned ? view.signed(bound.term) : view.unsigned(bound.term);
    const factor = factorBetween(index.terms, bounded.terms);
    return factor !== null && bounded.assumes.length === 0 && factor * (bound.most - bounded.constant) + index.constant <= last;
  });
}

/** The constant upper bound that a condition implies for a term; null if the condition implies none. */
function upperBoundOf(guard: Term): { readonly term: Term; readonly most: bigint; readonly isSigned: boolean } | null {
  const isNegated = guard.operator === 'not';
  const {
    operator,
    arguments: [a, b],
  } = isNegated ? guard.arguments[0]! : guard;
  if (operator !== 'slt' && operator !== 'ult') return null;
  // `a < b`, or `b <= a` if it is the negation of that.
  const [term, constant] = isNegated ? [b!, a!] : [a!, b!];
  if (constant.operator !== 'constant') return null;
  const isSigned = operator === 'slt';
  const value = isSigned ? BigInt.asIntN(constant.width, constant.value) : constant.value;
  return { term, most: isNegated ? value : value - 1n, isSigned };
}

/** The positive constant that times the sum `some` gives the sum `all`; null if none exists. */
function factorBetween(all: ReadonlyMap<Term, bigint>, some: ReadonlyMap<Term, bigint>): bigint | null {
  let factor: bigint | null = null;
  if (all.size !== some.size || all.size === 0) return null;
  for (const [term, own] of all) {
    const other = some.get(term);
    if (other === undefined || other === 0n || own % other !== 0n) return null;
    const ratio = own / other;
    if (ratio <= 0n || (factor !== null && ratio !== factor)) return null;
    factor = ratio;
  }
  return factor;
}

/**
 * The first thread that leaves the object, found by exhaustive enumeration of threads, blocks and iterations.
 * @param otherwise the value of another leaf, from these numbers
 */
function tryAll(
  { offset, last, guards, variables, isGiven, counts }: Question,
  otherwise: (leaf: Term, valueOf: (leaf: Term) => bigint | undefined) => bigint | undefined = () => undefined,
): Suspect | null {
  const values = new Map<Term, bigint>();
  const numberOf = (leaf: Term): bigint | undefined => values.get(leaf);
  const valueOf = (leaf: Term): bigint | undefined => values.get(leaf) ?? otherwise(leaf, numberOf);
  const numbers = variables.map(() => 0);
  for (;;) {
    variables.forEach(({ leaf }, at) => values.set(leaf, BigInt(numbers[at]!)));
    const known = new Map<Term, bigint | undefined>();
    if (guards.every((guard) => evaluateTerm(guard, valueOf, known) !== 0n)) {
      const pattern = evaluateTerm(offset, valueOf, known);
      const value = pattern === undefined ? undefined : BigInt.asIntN(offset.width, pattern);
      if (value !== undefined && (value < 0n || value > last)) {
        const along = (axis: number): number =>
          numbers[variables.findIndex(({ leaf: { atom } }) => atom?.kind === 'block' && atom.axis === axis)] ?? 0;
        return { block: [along(0), along(1), along(2)], isCertain: isGiven && !counts, isGiven };
      }
    }
    let at = 0;
    for (; at < numbers.length; at++) {
      if (++numbers[at]! < variables[at]!.size) break;
      numbers[at] = 0;
    }
    if (at === numbers.length) return null;
  }
}

/** The block of a thread that leaves the object, by the solver, if there are too many combinations to enumerate. */
function* querySolver(
  { kernel }: KernelAndLaunch,
  question: Question,
  { tier, encoding }: ReturnType<SolverTiers['linear']>,
): Steps<Suspect | null> {
  const { offset, last, guards, isGiven } = question;
  const wider = ofOffsetAlone(question);
  if (isSmall(wider) && !tryAll(wider)) return null;
  const reading = { side: 1 as const, rounds: kernel.loops.map(() => 'free' as const) };
  const result = yield* tier.decide(encoding.outside(offset, last, guards, reading));
  if (result.kind !== 'open' || !result.model) return null;
  const along = (axis: string): number => {
    const value = result.model!.get(`b${axis}_1`);
    return typeof value === 'bigint' ? Number(value) : 0;
  };
  return { block: [along('x'), along('y'), along('z')], isCertain: false, isGiven };
}

/** Number of values of an unknown in a run of the launch; null if the launch does not determine the unknown. */
function sizeIn({ dimensions, symbolic }: KernelAndLaunch & SymbolicFacts, leaf: Term): number | null {
  const atom = leaf.atom!;
  switch (atom.kind) {
    case 'thread':
      return dimensions.block[atom.axis];
    case 'block':
      return dimensions.grid[atom.axis];
    case 'iteration': {
      const { high } = symbolic.view.natural(leaf);
      // If the trip count is unbounded, only the first iteration is enumerated.
      return high < maxRounds ? Number(high) + 1 : 1;
    }
    case 'line':
      return atom.lines;
    default:
      return null;
  }
}

/** Who determines the size of an object: the host program, the launch, or the declaration. */
function memoryOfBase(base: Target['base']): NonNullable<RaceFinding['left']>['memory'] {
  if (base.kind !== 'object') return 'allocated';
  return base.object.bytes === null ? 'dynamic-shared' : 'declared';
}

/** Whether an index depends on the number of threads of a block, or of blocks, only. */
function sizesOf({ offset }: Target): Pick<NonNullable<RaceFinding['left']>, 'by'> {
  const has = (...kinds: readonly string[]): boolean => offset.leaves.some(({ atom }) => atom !== null && kinds.includes(atom.kind));
  if (offset.leaves.some(({ atom }) => atom !== null && !/^(?:thread|block|block-size|grid-size)$/.test(atom.kind))) return {};
  const [ofThreads, ofBlocks] = [has('thread', 'block-size'), has('block', 'grid-size')];
  return ofThreads === ofBlocks ? {} : { by: ofThreads ? 'threads' : 'blocks' };
}

/** The findings that runs have shown, one for each object. */
function boundsFindings(context: KernelContext, found: readonly OutOfBounds[]): RaceFinding[] {
  const findings = new Map<string, RaceFinding>();
  for (const { access, target, extent, isGiven, isInAll, shown, wrap } of found) {
    const { left } = shown?.event ?? {};
    const array = baseName(context, target.base);
    if (!shown || findings.has(array) || (!left && !wrap)) continue;
    const fromElement = wrap ? null : elementOfIndex(context, target, shown.event);
    findings.set(array, {
      ...faultFinding(context, wrap ? 'index-overflow' : 'out-of-bounds', { access, target, isGiven, shown }),
      severity: isGiven || isInAll ? 'error' : weaker('error'),
      ...(left && { left: { offset: left.offset, bytes: extent, memory: memoryOfBase(target.base), ...sizesOf(target) } }),
      ...wrap,
      ...(fromElement && { fromElement }),
    });
  }
  return [...findings.values()];
}

/** The element of an array of the host program that is an index of a thread; null without one. */
function elementOfIndex(
  context: KernelContext,
  { offset }: Target,
  { thread, block }: Pick<FaultEvent, 'thread' | 'block'>,
): NonNullable<RaceFinding['fromElement']> | null {
  const { request, dimensions } = context;
  const numbers: Readonly<Record<string, readonly (number | null)[]>> = {
    thread,
    block,
    'block-size': dimensions.block,
    'grid-size': dimensions.grid,
  };
  const valueOf = ({ atom }: Term): bigint | undefined => {
    if (atom?.kind === 'parameter') return givenScalar(request.launch, atom.index, atom.offset, atom.bytes);
    const number = atom && 'axis' in atom ? numbers[atom.kind]?.[atom.axis] : undefined;
    return typeof number === 'number' ? BigInt(number) : undefined;
  };
  const [leaf, ...others] = offset.leaves.filter((one) => isGivenElement(context, one));
  return leaf && others.length === 0 ? givenElement(context, leaf, valueOf) : null;
}
