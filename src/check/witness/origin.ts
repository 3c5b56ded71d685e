/**
 * Origin of a finding: whether its launch and arguments are given or chosen, and the conditions on which it depends.
 */
import { separatingCondition } from '../representative/condition.ts';
import type { LaunchInstance } from '../representative/representative-launches.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import { isField } from '../shape/roles.ts';
import type { Confirmation } from './scenarios.ts';
import { fieldAt, givenScalar } from '../context/scalars.ts';
import type { KernelContext } from '../context/facts.ts';
import { isStrong } from '../../memory-model/fence.ts';
import type { Severity } from '../../source/severity.ts';
import type { BlockId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import { pointsOf, reachable } from '../../analysis/values/program-point.ts';

/**
 * Whether every dimension, and every scalar that these terms depend on, is specified by a launch, an argument or an
 * assumption. A scalar that affects neither an address nor a path may have any value. Contents of array parameters are
 * never given.
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

/** Whether terms depend on a scalar that the launch leaves open. */
export function dependOnOpenScalars(context: KernelContext, terms: readonly Term[]): boolean {
  return terms.some(({ leaves }) =>
    leaves.some(({ atom }) => {
      const field = atom?.kind === 'parameter' ? fieldAt(context, atom.index, atom.offset) : undefined;
      return (
        field !== undefined && !field.isPointer && givenScalar(context.request.launch, field.index, field.offset, field.bytes) === undefined
      );
    }),
  );
}

/** Whether terms depend only on numbers of threads and blocks, iterations, constants and dimensions of the launch. */
function areOfLaunch(context: KernelContext, terms: readonly Term[]): boolean {
  return !dependOnOpenScalars(context, terms) && !terms.some(({ leaves }) => leaves.some(({ atom }) => atom?.kind === 'havoc'));
}

/**
 * Whether Selvage does not choose the source of a loaded value: results of atomics, words that start at 0, variables.
 */
function isFirmWord({ kernel, accesses }: KernelContext, value: number): boolean {
  const definition = value < 0 ? undefined : kernel.values[value]!.definition;
  if (definition?.kind !== 'instruction') return false;
  const { instruction } = definition;
  if (instruction.operation.effect.kind === 'atomic' || isStrong(instruction)) return true;
  const access = accesses.find((candidate) => candidate.instruction === instruction);
  return access?.targets.every(({ base }) => base.kind === 'object' && base.object.space === 'global') === true;
}

/**
 * The conditions that decide whether a thread reaches these basic blocks, and whether it passes a barrier on a path
 * from one of them to another.
 * @param terms further terms that a finding depends on: if they contain the iteration of a loop, the conditions for the
 *   loop to continue are included
 */
export function decidingConditions(context: KernelContext, blocks: readonly BlockId[], terms: readonly Term[]): Term[] {
  const { kernel, symbolic, dependences } = context;
  const counted = new Set(terms.flatMap(({ leaves }) => leaves.map(({ atom }) => atom?.kind === 'iteration' && atom.loop)));
  const aroundCounted = (block: BlockId): boolean => kernel.loops.some((loop) => loop.blocks.has(block) && counted.has(loop.id));
  const controlling = (block: BlockId): ReadonlySet<BlockId> =>
    dependences.controlling(block, aroundCounted(block) ? (kernel.loopOf[block] ?? null) : null);
  const isCounted = blocks.some((block) => aroundCounted(block));
  const between = isCounted || !meetInOneRound(context, blocks) ? barriersBetween(context, blocks) : [];
  const branches = new Set(blocks.flatMap((block) => [...controlling(block)]));
  for (const block of between) for (const branch of dependences.controlling(block, kernel.loopOf[block] ?? null)) branches.add(branch);
  return [...branches].flatMap((branch) => {
    const { terminator } = kernel.blocks[branch]!;
    if (terminator.kind === 'branch') return [symbolic.operand(terminator.condition)];
    return terminator.kind === 'switch' ? [symbolic.operand(terminator.index)] : [];
  });
}

/** Whether a path without a barrier and without a back edge connects the basic blocks. */
function meetInOneRound({ kernel, isBlockBarrier }: KernelContext, blocks: readonly BlockId[]): boolean {
  const [a = blocks[0]!, b = a] = [...blocks].sort((x, y) => x - y);
  // Basic blocks are numbered so that only back edges lead to lower numbers.
  const forward = (from: BlockId): Set<BlockId> => reachable(kernel, [from], (at, to) => to > at);
  const ahead = forward(a);
  return a === b || (ahead.has(b) && !pointsOf(kernel, isBlockBarrier).some(({ block }) => ahead.has(block) && forward(block).has(b)));
}

/** Basic blocks with a barrier that are on a path from one of the given blocks to one of them. */
function barriersBetween({ kernel, isBlockBarrier }: KernelContext, blocks: readonly BlockId[]): BlockId[] {
  const after = blocks.map((block) => reachable(kernel, kernel.blocks[block]!.successors));
  return pointsOf(kernel, isBlockBarrier)
    .map(({ block }) => block)
    .filter((block) => {
      const ahead = reachable(kernel, kernel.blocks[block]!.successors);
      return after.some((region) => region.has(block)) && blocks.some((end) => ahead.has(end));
    });
}

/** A launch, and whether it shows a finding. */
export interface ShownIn {
  readonly setting: LaunchInstance;
  readonly isShown: boolean;
}

/** How general a finding with chosen values is: which launches show it. */
export interface Standing {
  /** Whether all large launch instances that were run show the finding. */
  readonly isEverywhere: boolean;
  /** If not all do: a condition that is satisfied by those that do; absent if no simple one exists. */
  readonly when?: string;
}

/**
 * Which launch instances show a finding.
 * @param keys keys of the pairs or of the barrier, as in `Confirmation.standing`
 * @param terms the terms that the finding depends on: other scalars do not occur in the condition
 * @param sampled further launches, and whether the finding occurs in them; empty if that is not known; with idle
 *   blocks for conditions only
 * @param isIdle whether no thread of a launch performs one of the accesses: such launches do not count
 */
export function standingOf(
  context: KernelContext,
  confirmation: Pick<Confirmation, 'standing'>,
  keys: readonly string[],
  terms: readonly Term[],
  sampled: (hasIdleBlocks: boolean) => readonly ShownIn[] = () => [],
  isIdle: (setting: LaunchInstance) => boolean = () => false,
): Standing {
  const all = confirmation.standing(keys);
  // Code that is only reached at few sizes is idle at the others.
  const isRare = all.every(({ isShown, setting }) => !isShown || setting.isWhole === true);
  const ran = all.filter(({ isShown, setting }) => isShown || isRare || !isIdle(setting));
  const many = sampled(false);
  const large = [...ran.filter(({ setting }) => setting.isLarge), ...many];
  // Small launches suffice where no number of our choosing is involved, if runs of large ones take too many steps.
  const deciding = large.length === 0 && areOfLaunch(context, terms) ? ran : large;
  if (deciding.length > 0 && deciding.every(({ isShown }) => isShown)) return { isEverywhere: true };
  const leaves = new Set(terms.flatMap((term) => term.leaves));
  // The smallest launches are exceptions of many conditions: `n = 1` of `n % 2 != 0`.
  const matters = (field: ParameterField): boolean => [...leaves].some((leaf) => isField(leaf, field));
  const among = many.length > 0 ? large : ran;
  let when = separatingCondition(context, among, matters);
  // A size that is above the extent of a block in all samples must not be taken for irrelevant.
  if (when !== null && many.length > 0) when = separatingCondition(context, [...among, ...sampled(true)], matters);
  return { isEverywhere: false, ...(when !== null && { when }) };
}

/** The severity of an unconfirmed finding: at most a notice, or a warning if configured. */
export function unconfirmed(severity: Severity, most: 'warning' | 'notice' = 'notice'): Severity {
  return most === 'warning' ? weaker(severity) : 'notice';
}

/** The severity of a finding that only some launch instances show: at most a warning. */
export function weaker(severity: Severity): Severity {
  return severity === 'error' ? 'warning' : severity;
}
