/** Existing barriers that no pair of accesses needs. */
import { isStrong } from '../memory-model/fence.ts';
import { isFullBarrier, isGridBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { BarrierCandidate, ExistingCandidate } from '../cuda/editing/barrier-candidates.ts';
import type { BlockId, Instruction, InstructionId, Kernel } from '../ir/form/kernel.ts';
import { type MarkerState, isCandidate } from '../ir/form/switch-markers.ts';
import type { UnorderedPair, Oracle } from './repair-target.ts';
import { loopDepths } from './weight.ts';

/**
 * Removes barriers sequentially, as long as all instances stay proved; those in loops first.
 * @param general - the oracle for arbitrary arguments: no pair may become open there that is ordered with all barriers.
 * Null: no facts of other arguments are known; then only barriers next to another one, or at an end of the kernel, are
 * removed
 * @param staying - barriers that must stay: other kernels may need them
 * @returns the barriers that can be removed together; empty if the kernel is not proved with all of them
 */
export async function redundantBarriers(
  oracle: Oracle,
  general: Oracle | null,
  candidates: readonly BarrierCandidate[],
  expired: () => boolean,
  staying: ReadonlySet<number> = new Set(),
): Promise<ExistingCandidate[]> {
  const present = new Set(oracle.present());
  const existing = candidates.filter(
    (candidate): candidate is ExistingCandidate => candidate.kind === 'existing' && present.has(candidate.number),
  );
  const levels = new Map(existing.map(({ number, level }) => [number, level]));
  const gone = new Set<number>();
  const stateOf = (marker: number): MarkerState => (gone.has(marker) ? 'off' : (levels.get(marker) ?? 'off'));
  const { proved, earlyExits } = await oracle.ask(stateOf);
  if (!proved) return [];
  const whole = (marker: number): MarkerState => levels.get(marker) ?? 'off';
  const isGeneral = async (): Promise<boolean> => general !== null && opensNothing(general, whole, stateOf);
  const depths = loopDepths(oracle.subjects.map(({ kernel }) => kernel));
  const order = [...existing].sort((a, b) => (depths.get(b.number) ?? 0) - (depths.get(a.number) ?? 0) || b.number - a.number);
  for (const { number, level } of order) {
    if (expired()) break;
    if (staying.has(number)) continue;
    const stands = (marker: number): boolean => stateOf(marker) !== 'off';
    const standsAs = (marker: number): boolean => (level === 'grid' ? stateOf(marker) === 'grid' : stands(marker));
    const isStop = level === 'grid' ? isGridBarrier : isFullBarrier;
    const isBeside = oracle.subjects.every(
      ({ kernel }) => !liesBetween(kernel, number, touches, (one) => isBarrierOf(one, standsAs, isStop)),
    );
    const ordersAtomics = (kernel: Kernel): boolean =>
      liesBetween(kernel, number, isAtomic, (one) => isBarrierOf(one, stands, isFullBarrier));
    if (!isBeside && oracle.subjects.some(({ kernel }) => ordersAtomics(kernel))) continue;
    gone.add(number);
    const answer = await oracle.ask(stateOf);
    // If threads return early, the removal could change the conditions of the remaining barriers.
    const isKept = !answer.proved || [...answer.earlyExits].some((marker) => !earlyExits.has(marker));
    if (isKept || !(isBeside || (await isGeneral()))) gone.delete(number);
  }
  return existing.filter(({ number }) => gone.has(number));
}

/** Maximum number of open pairs that are queried. */
const maxOpen = 40;

function keyOf({ subject, scope, first, second }: UnorderedPair): string {
  return `${subject.kernel.symbol}:${scope}:${first}:${second}`;
}

/** Whether no pair becomes open, and no barrier is missed by threads, that was not so with all barriers. */
async function opensNothing(
  general: Oracle,
  whole: (marker: number) => MarkerState,
  stateOf: (marker: number) => MarkerState,
): Promise<boolean> {
  const base = await general.ask(whole);
  const open = new Set(base.races.map(keyOf));
  if (open.size >= maxOpen) return false;
  const { races, divergent, earlyExits, proved } = await general.ask(stateOf);
  if (proved) return true;
  return (
    // Without an open pair or a missed barrier as the reason, the query was not decided.
    (base.races.length > 0 || base.divergent.size > 0) &&
    races.every((pair) => open.has(keyOf(pair))) &&
    [...divergent].every((marker) => base.divergent.has(marker)) &&
    [...earlyExits].every((marker) => base.earlyExits.has(marker))
  );
}

/**
 * Whether instructions of a kind are on both sides of a barrier, with no other barrier between: atomics, volatile
 * accesses and fences do not race, but the barrier still determines their order; and without memory accesses on both
 * sides, it orders nothing for any arguments.
 */
function liesBetween(
  kernel: Kernel,
  marker: number,
  isKind: (instruction: Instruction) => boolean,
  isBarrier: (instruction: Instruction) => boolean,
): boolean {
  return kernel.blocks.some((block) =>
    block.instructions.some(
      (instruction) =>
        instruction.marker?.number === marker &&
        isCandidate(instruction) &&
        meets(kernel, block.id, instruction.id, isKind, isBarrier, 1) &&
        meets(kernel, block.id, instruction.id, isKind, isBarrier, -1),
    ),
  );
}

function meets(
  kernel: Kernel,
  home: BlockId,
  start: InstructionId,
  isKind: (instruction: Instruction) => boolean,
  isBarrier: (instruction: Instruction) => boolean,
  step: 1 | -1,
): boolean {
  const seen = new Set<BlockId>();
  const work = [{ block: home, at: kernel.blocks[home]!.instructions.findIndex(({ id }) => id === start) + step }];
  for (let item = work.pop(); item; item = work.pop()) {
    const { instructions, successors, predecessors } = kernel.blocks[item.block]!;
    let stopped = false;
    for (let at = item.at; at >= 0 && at < instructions.length && !stopped; at += step) {
      const instruction = instructions[at]!;
      stopped = isBarrier(instruction);
      if (!stopped && isKind(instruction)) return true;
    }
    if (stopped) continue;
    for (const next of step === 1 ? successors : predecessors) {
      if (seen.has(next)) continue;
      seen.add(next);
      work.push({ block: next, at: step === 1 ? 0 : kernel.blocks[next]!.instructions.length - 1 });
    }
  }
  return false;
}

function isBarrierOf(
  instruction: Instruction,
  stands: (marker: number) => boolean,
  isStop: (instruction: Instruction) => boolean,
): boolean {
  return isCandidate(instruction) ? stands(instruction.marker!.number!) : isStop(instruction);
}

function isAtomic(instruction: Instruction): boolean {
  return isStrong(instruction) || instruction.operation.effect.kind === 'fence';
}

/** Whether an instruction may do more than compute: one that may access memory shared by threads counts. */
function touches(instruction: Instruction): boolean {
  const { effect } = instruction.operation;
  if (isCandidate(instruction)) return false;
  const isPrivate = (effect.kind === 'load' || effect.kind === 'store') && ['param', 'const', 'local'].includes(effect.space);
  return effect.kind !== 'pure' && !isPrivate;
}
