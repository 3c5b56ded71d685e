/** Whether two threads that store to one element provably store equal values. */
import { sharedLaneBits } from '../analysis/values/butterfly.ts';
import type { Steps } from '../base/coroutine.ts';
import { warpSize } from '../device/hardware-limits.ts';
import type { Severity } from '../source/severity.ts';
import type { Term } from '../term/term.ts';
import type { KernelAndLaunch, SymbolicFacts } from './context/facts.ts';
import { decideCheaply } from './deciding/cheap-tiers.ts';
import type { SolverTiers } from './deciding/solver-tiers.ts';
import type { CheckPolicy } from './request/check-request.ts';
import type { Instances, TermInstance, TierContext } from './obligations/instance.ts';
import type { AccessPair, AccessSide, Obligation } from './obligations/obligation.ts';
import type { Access } from '../analysis/values/access.ts';
import { contactOf } from '../analysis/values/thread-contact.ts';
import type { BlockId, Instruction, Kernel, Operand } from '../ir/form/kernel.ts';
import { isUsed } from '../ir/form/uses.ts';
import { writeOf } from './ordering/synchronising-access.ts';
import { conditionsOf, multipleOf } from './premises/premises.ts';

/** The severity of a race whose threads store equal values. */
export function equalWriteSeverity({ sameValueWrites, race }: CheckPolicy): Severity {
  return sameValueWrites === 'proved' ? race : sameValueWrites;
}

/** Whether both threads of an obligation store equal values, decided syntactically from the terms. */
export function storesSameValue(facts: KernelAndLaunch & SymbolicFacts, context: TierContext, obligation: Obligation): boolean {
  const { first, second } = obligation;
  const lanes = storedLanes(facts, obligation);
  if (!lanes) return false;
  return (
    lanes.every(([a, b]) => isShared(context.instances, a, b, first.reading, second.reading)) ||
    partingsIn(facts, obligation)?.every((parting) => decideCheaply(context, parting).kind === 'proved') === true
  );
}

/** The values stored by both threads, element by element; null if their numbers of bytes differ. */
function storedLanes(facts: KernelAndLaunch & SymbolicFacts, { first, second }: Obligation): (readonly [Term, Term])[] | null {
  const [a, b] = [first.access, second.access].map((access) => access.stored ?? exchangedLiteral(facts, access));
  if (!a || !b || a.length !== b.length || first.access.bytes !== second.access.bytes) return null;
  return a.map((term, lane) => [term, b[lane]!] as const);
}

/** The value stored by an atomic exchange, if it is a literal and the old value is unused; null for other accesses. */
function exchangedLiteral({ kernel, symbolic }: KernelAndLaunch & SymbolicFacts, access: Access): readonly Term[] | null {
  const written = access.operation === 'atomic' ? writeOf(symbolic, access) : null;
  if (written?.value.operator !== 'constant' || written.replaces) return null;
  return access.instruction.results.some((id) => id !== null && isUsed(kernel, id)) ? null : [written.value];
}

function isShared(instances: Instances, a: Term, b: Term, of: TermInstance, other: TermInstance): boolean {
  if (a !== b) return false;
  return a.leaves.length === 0 || instances.isShared(a, of, other);
}

/** Whether the block consists of whole warps, according to its extents or to statements about them. */
function hasWholeWarps({ dimensions, request }: KernelAndLaunch): boolean {
  const stated = conditionsOf(request.assumptions).flatMap((condition) => multipleOf(condition) ?? []);
  const divisors = dimensions.block.map((size, axis) => {
    if (size !== null) return size;
    const known = stated.find(
      ({ expression }) => expression.kind === 'dimension' && expression.name === 'blockDim' && expression.axis === axis,
    );
    return Number(known?.divisor ?? 1n);
  });
  return divisors.reduce((product, divisor) => product * divisor, 1) % warpSize === 0;
}

/**
 * Obligations that cover the overlapping threads which may store different values: threads of two warps, or threads of
 * one warp that differ in a bit of the lane index on which the value depends. Null if the value depends on all bits, or
 * the two accesses store different values.
 */
function partingsIn(facts: KernelAndLaunch & SymbolicFacts, obligation: Obligation): readonly Obligation[] | null {
  const { symbolic, kernel } = facts;
  const { first, second, scope } = obligation;
  if (scope !== 'block' || first.access.bytes !== second.access.bytes) return null;
  if (!hasWholeWarps(facts) || facts.lanesMayHaveExited) return null;
  // Another iteration of a loop may store another value.
  const valuesOf = ({ access: { instruction, stored, block } }: AccessSide): readonly Operand[] =>
    stored && kernel.loopOf[block] === null ? instruction.arguments.slice(1, 1 + stored.length) : [];
  const [values, others] = [valuesOf(first), valuesOf(second)];
  if (values.length === 0 || values.length !== others.length) return null;
  if (!values.every((value, i) => isSameOperand(value, others[i]!))) return null;
  const bits = values.reduce((shared, operand) => shared & sharedLaneBits(symbolic, operand), warpSize - 1);
  if (bits === 0) return null;
  const { store } = symbolic;
  const lane = symbolic.operand({ kind: 'special', register: 'laneid' });
  const zero = store.constant(32, 0n);
  const partings: Obligation[] = obligation.warp === 'same' ? [] : [{ ...obligation, warp: 'different' }];
  if (obligation.warp === 'different') return partings;
  for (let bit = 1; bit < warpSize; bit *= 2) {
    if ((bits & bit) !== 0) continue;
    const isClear = store.equal(store.and(32, lane, store.constant(32, BigInt(bit))), zero);
    for (const [a, b] of [
      [isClear, store.not(isClear)],
      [store.not(isClear), isClear],
    ] as const)
      partings.push({ ...obligation, warp: 'same', first: withCondition(first, a), second: withCondition(second, b) });
  }
  return partings;
}

function isSameOperand(a: Operand, b: Operand): boolean {
  return a === b || (a.kind === 'value' && b.kind === 'value' && a.id === b.id);
}

function withCondition(side: AccessSide, term: Term): AccessSide {
  return { ...side, conditions: [...side.conditions, { term, reading: side.reading }] };
}

/** Whether the threads of an obligation overlap only within one warp. */
export function staysInWarp(context: TierContext, obligation: Obligation): boolean {
  return obligation.warp === 'same' || decideCheaply(context, { ...obligation, warp: 'different' }).kind === 'proved';
}

/**
 * Like {@link staysInWarp}, by the solver. Returns the assumptions of the proof; null if the threads may be of two
 * warps.
 */
export function* meetsInWarp(obligation: Obligation, { tier, encoding }: ReturnType<SolverTiers['linear']>): Steps<readonly Term[] | null> {
  if (obligation.scope !== 'block' || obligation.warp === 'same') return obligation.warp === 'same' ? [] : null;
  const answer = yield* tier.decide(encoding.overlap({ ...obligation, warp: 'different' }));
  return answer.kind === 'proved' ? answer.assumes : null;
}

/**
 * Whether every value that the two accesses of a pair may store is the same literal of the source. A value that is
 * constant only in this launch, such as `threadIdx.x` in blocks of one thread, does not count.
 */
export function storesLiteral(facts: KernelAndLaunch & SymbolicFacts, { first, second, obligations }: AccessPair): boolean {
  const { kernel } = facts;
  const areWritten = [first, second].every(({ stored, instruction }) =>
    instruction.arguments.slice(1, 1 + (stored?.length ?? 1)).every((operand) => isLiteral(kernel, operand)),
  );
  return (
    areWritten &&
    obligations.every((obligation) => storedLanes(facts, obligation)?.every(([a, b]) => a.operator === 'constant' && a === b) ?? false)
  );
}

/** Whether an operand is a literal, or computed only from literals. */
function isLiteral(kernel: Kernel, operand: Operand): boolean {
  if (operand.kind !== 'value') return operand.kind === 'constant';
  const { definition } = kernel.values[operand.id]!;
  if (definition.kind !== 'instruction') return false;
  const { operation, arguments: sources } = definition.instruction;
  return operation.effect.kind === 'pure' && sources.every((source) => isLiteral(kernel, source));
}

/** Limit on the nesting of elements from which the address of a value is read. */
const deepest = 4;

/**
 * Whether overlapping threads store equal values: the parts of the value that differ between threads are equal whenever
 * the addresses overlap, or are read from one element that the kernel does not write.
 * @param elements collects loads from shared memory: both threads are assumed to read the same value from one element,
 *   which {@link keepsElements} has to prove; null if no such load is allowed
 */
export function* storesEqually(
  facts: KernelAndLaunch & SymbolicFacts,
  context: TierContext,
  obligation: Obligation,
  { tier, encoding }: ReturnType<SolverTiers['linear']>,
  elements: Set<Instruction> | null = null,
): Steps<boolean> {
  const { accesses, loaded, kernel, symbolic } = facts;
  const { instances } = context;
  const partings = partingsIn(facts, obligation);
  if (partings) {
    let isOpen = false;
    for (const parting of partings)
      isOpen ||= decideCheaply(context, parting).kind !== 'proved' && (yield* tier.decide(encoding.overlap(parting))).kind !== 'proved';
    if (!isOpen) return true;
  }
  const [of, other] = [obligation.first.reading, obligation.second.reading];
  const overlap = encoding.overlap(obligation);
  function* areSame(term: Term): Steps<boolean> {
    const [a, b] = [of, other].map((reading) => encoding.linear(symbolic.view.natural(term), reading));
    return (yield* tier.decide(`(and ${overlap} (not (= ${a} ${b})))`)).kind === 'proved';
  }
  function* isEqual(term: Term, depth: number): Steps<boolean> {
    const isNumber = term.width > 0 && term.leaves.every(({ atom }) => atom!.kind !== 'havoc' && atom!.kind !== 'phi');
    if (isNumber && (yield* areSame(term))) return true;
    for (const leaf of term.leaves) {
      if (instances.isShared(leaf, of, other)) continue;
      const atom = leaf.atom!;
      if (atom.kind === 'thread' || atom.kind === 'block' || atom.kind === 'iteration') {
        if (!(yield* areSame(leaf))) return false;
        continue;
      }
      if (atom.kind !== 'havoc' || atom.value < 0 || depth === 0) return false;
      const { definition } = kernel.values[atom.value]!;
      if (definition.kind !== 'instruction') return false;
      const { instruction } = definition;
      const load = accesses.find((access) => access.instruction === instruction && access.operation === 'read');
      const [target, ...more] = load?.targets ?? [];
      const { effect } = instruction.operation;
      if (!target || more.length > 0 || effect.kind !== 'load' || effect.semantics !== 'weak') return false;
      const isFixed = target.base.kind === 'parameter' && loaded(instruction) === 'fixed';
      if (!isFixed) {
        // Threads of different blocks have separate shared memory.
        if (elements === null || obligation.scope !== 'block' || !isOfSharedMemory(load!)) return false;
        elements.add(instruction);
      }
      if (!(yield* isEqual(target.offset, depth - 1))) return false;
    }
    return true;
  }
  for (const [a, b] of storedLanes(facts, obligation) ?? []) {
    if (a !== b || !(yield* isEqual(a, deepest))) return false;
  }
  return storedLanes(facts, obligation) !== null;
}

function isOfSharedMemory({ memory, targets }: Access): boolean {
  return memory === 'shared' && targets[0]?.base.kind === 'object';
}

/**
 * Whether two threads that store, unordered, a value loaded from one element have loaded the same value. Suppose that a
 * write of the element is ordered after the load of one thread and before the load of the other. Then the first thread
 * synchronises after its load. If no path from its load to its store synchronises, it does so after its store, so its
 * store is ordered before the other's, a contradiction.
 * @param loads loads of the values that both threads store
 * @param open the pairs that may race: the loads have to be ordered with every write of the loaded memory
 */
export function keepsElements(
  { kernel, request }: KernelAndLaunch,
  { first, second }: AccessPair,
  loads: ReadonlySet<Instruction>,
  open: readonly AccessPair[],
): boolean {
  if (request.policy.warpLockstep) return false;
  const isOpen = (load: Instruction): boolean => open.some((pair) => pair.first.instruction === load || pair.second.instruction === load);
  return [...loads].every((load) => !isOpen(load) && [first, second].every((store) => !synchronisesBetween(kernel, load, store)));
}

/** Whether a thread may synchronise with others on a path from a load to a store that the load dominates. */
function synchronisesBetween({ blocks }: Kernel, load: Instruction, store: Access): boolean {
  const seen = new Set<BlockId>();
  const waiting: { readonly block: BlockId; readonly before: number }[] = [
    { block: store.block, before: blocks[store.block]!.instructions.indexOf(store.instruction) },
  ];
  for (let at = waiting.pop(); at; at = waiting.pop()) {
    const { instructions, predecessors } = blocks[at.block]!;
    const between = instructions.slice(0, at.before);
    const from = between.lastIndexOf(load);
    if (between.slice(from + 1).some(maySynchronise)) return true;
    if (from >= 0) continue;
    for (const block of predecessors) {
      if (seen.has(block)) continue;
      seen.add(block);
      waiting.push({ block, before: blocks[block]!.instructions.length });
    }
  }
  return false;
}

/** Whether an instruction may synchronise its thread with others. */
function maySynchronise(instruction: Instruction): boolean {
  return /^(exchange|end|order)$/.test(contactOf(instruction));
}
