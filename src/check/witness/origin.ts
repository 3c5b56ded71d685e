/** Origin of a finding: whether its launch and arguments are given, and the conditions that decide about it. */
import { separatingCondition } from '../representative/condition.ts';
import { isField } from '../representative/roles.ts';
import type { Confirmation } from './scenarios.ts';
import { fieldAt } from '../context/scalars.ts';
import type { KernelContext } from '../context/facts.ts';
import { isStrong } from '../../memory-model/fence.ts';
import type { Severity } from '../../source/severity.ts';
import type { BlockId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { pointsOf, reachable } from '../../analysis/values/program-point.ts';

/**
 * Whether a launch, an argument or an assumption specifies every dimension, and every scalar that these terms depend
 * on. A scalar that decides neither an address nor a path may have any value. Contents of array parameters are never
 * given.
 */
export function isGiven(context: KernelContext, terms: readonly Term[]): boolean {
  const { launch } = context.request;
  const gridIsGiven = launch.grid !== null || context.dimensions.grid.every((size) => size !== null);
  if ((launch.block ?? context.kernel.requiredThreads ?? null) === null || !gridIsGiven) return false;
  return terms.every((term) =>
    term.leaves.every((leaf) => {
      const atom = leaf.atom!;
      if (atom.kind === 'parameter') return fieldAt(context, atom.index, atom.offset)?.isPointer ?? false;
      return atom.kind !== 'havoc' || isFirmWord(context, atom.value);
    }),
  );
}

/** Whether a loaded value is not chosen by Selvage: results of atomics, words that start at 0, variables. */
function isFirmWord({ kernel, accesses }: KernelContext, value: number): boolean {
  const definition = value < 0 ? undefined : kernel.values[value]!.definition;
  if (definition?.kind !== 'instruction') return false;
  const { instruction } = definition;
  if (instruction.operation.effect.kind === 'atomic' || isStrong(instruction)) return true;
  const access = accesses.find((candidate) => candidate.instruction === instruction);
  return access?.targets.every(({ base }) => base.kind === 'object' && base.object.space === 'global') === true;
}

/**
 * The conditions that decide whether a thread reaches these blocks, and whether it passes a barrier on the path from
 * one of them to another.
 * @param terms further terms that a finding depends on: if they contain the iteration of a loop, the conditions under
 *   which it continues count too
 */
export function decidingConditions(context: KernelContext, blocks: readonly BlockId[], terms: readonly Term[]): Term[] {
  const { kernel, symbolic, dependences } = context;
  const counted = new Set(
    terms.flatMap(({ leaves }) => leaves.map(({ atom }) => atom?.kind === 'iteration' && atom.loop)),
  );
  const aroundCounted = (block: BlockId): boolean =>
    kernel.loops.some((loop) => loop.blocks.has(block) && counted.has(loop.id));
  const controlling = (block: BlockId): ReadonlySet<BlockId> =>
    dependences.controlling(block, aroundCounted(block) ? (kernel.loopOf[block] ?? null) : null);
  const isCounted = blocks.some((block) => aroundCounted(block));
  const between = isCounted || !meetInOneRound(context, blocks) ? barriersBetween(context, blocks) : [];
  const branches = new Set(blocks.flatMap((block) => [...controlling(block)]));
  for (const block of between)
    for (const branch of dependences.controlling(block, kernel.loopOf[block] ?? null)) branches.add(branch);
  return [...branches].flatMap((branch) => {
    const { terminator } = kernel.blocks[branch]!;
    if (terminator.kind === 'branch') return [symbolic.operand(terminator.condition)];
    return terminator.kind === 'switch' ? [symbolic.operand(terminator.index)] : [];
  });
}

/** Whether a path leads from one of the blocks to the other without a barrier and without a back edge. */
function meetInOneRound({ kernel, isBlockBarrier }: KernelContext, blocks: readonly BlockId[]): boolean {
  const [a = blocks[0]!, b = a] = [...blocks].sort((x, y) => x - y);
  // Blocks are numbered so that only back edges lead to lower indices.
  const forward = (from: BlockId): Set<BlockId> => reachable(kernel, [from], (at, to) => to > at);
  const ahead = forward(a);
  return (
    a === b ||
    (ahead.has(b) && !pointsOf(kernel, isBlockBarrier).some(({ block }) => ahead.has(block) && forward(block).has(b)))
  );
}

/** Blocks with barriers that a path from one of the blocks to one of them passes. */
function barriersBetween({ kernel, isBlockBarrier }: KernelContext, blocks: readonly BlockId[]): BlockId[] {
  const after = blocks.map((block) => reachable(kernel, kernel.blocks[block]!.successors));
  return pointsOf(kernel, isBlockBarrier)
    .map(({ block }) => block)
    .filter((block) => {
      const ahead = reachable(kernel, kernel.blocks[block]!.successors);
      return after.some((region) => region.has(block)) && blocks.some((end) => ahead.has(end));
    });
}

/** The launches that show a finding with chosen values. */
export interface Standing {
  /** All large launch instances that were run. */
  readonly isEverywhere: boolean;
  /** Otherwise: the condition that identifies them, if there is a simple one. */
  readonly when?: string;
}

/**
 * The launch instances that show a finding.
 * @param keys of the pairs or the barrier, as `Confirmation.standing` takes it
 * @param terms the terms that the finding depends on: other scalars do not occur in the condition
 */
export function standingOf(
  context: KernelContext,
  confirmation: Pick<Confirmation, 'standing'>,
  keys: readonly string[],
  terms: readonly Term[],
): Standing {
  const all = confirmation.standing(keys);
  const large = all.filter(({ setting }) => setting.isLarge);
  if (large.length > 0 && large.every(({ isShown }) => isShown)) return { isEverywhere: true };
  const leaves = new Set(terms.flatMap((term) => term.leaves));
  const when = separatingCondition(context, all, (field) => [...leaves].some((leaf) => isField(leaf, field)));
  return { isEverywhere: false, ...(when !== null && { when }) };
}

/** An unconfirmed finding is a notice at most, or a warning if configured. */
export function unconfirmed(severity: Severity, most: 'warning' | 'notice' = 'notice'): Severity {
  return most === 'warning' ? weaker(severity) : 'notice';
}

/** A finding that only some launch instances show is at most a warning. */
export function weaker(severity: Severity): Severity {
  return severity === 'error' ? 'warning' : severity;
}
