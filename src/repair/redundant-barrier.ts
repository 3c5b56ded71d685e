/** Existing barriers that no pair of accesses needs. */
import { isFullBarrier } from '../analysis/barrier-interval.ts';
import type { BarrierCandidate, ExistingCandidate } from '../cuda/barrier-candidates.ts';
import type { BlockId, Instruction, InstructionId, Kernel } from '../ir/kernel.ts';
import { type MarkerState, isCandidate } from '../ir/switch-markers.ts';
import type { Answer, OpenPair, Oracle } from './subject.ts';
import { loopDepths } from './weight.ts';

/**
 * Takes barriers away, one after the other, as long as all instances stay proved; those in loops first.
 * @param general - the same for any arguments: there no pair may come open that is closed with all barriers
 * @returns the ones that can go together; empty where the kernel is not proved with all of them
 */
export async function redundantBarriers(
  oracle: Oracle,
  general: Oracle,
  candidates: readonly BarrierCandidate[],
  expired: () => boolean,
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
  const base = await general.ask(stateOf);
  const open = new Set(base.races.map(keyOf));
  if (open.size >= mostOpen) return [];
  const depths = loopDepths(oracle.subjects.map(({ kernel }) => kernel));
  const order = [...existing].sort(
    (a, b) => (depths.get(b.number) ?? 0) - (depths.get(a.number) ?? 0) || b.number - a.number,
  );
  for (const { number } of order) {
    if (expired()) break;
    const stands = (marker: number): boolean => stateOf(marker) !== 'off';
    if (oracle.subjects.some(({ kernel }) => ordersAtomics(kernel, number, stands))) continue;
    gone.add(number);
    const answer = await oracle.ask(stateOf);
    // Where threads return early, what the remaining barriers wait for could change.
    const isKept = !answer.proved || [...answer.earlyExits].some((marker) => !earlyExits.has(marker));
    if (isKept || !(await opensNothing(general, stateOf, base, open))) gone.delete(number);
  }
  return existing.filter(({ number }) => gone.has(number));
}

/** More open pairs than this are not all asked about. */
const mostOpen = 40;

function keyOf({ subject, scope, first, second }: OpenPair): string {
  return `${subject.kernel.symbol}:${scope}:${first}:${second}`;
}

async function opensNothing(
  general: Oracle,
  stateOf: (marker: number) => MarkerState,
  base: Answer,
  open: ReadonlySet<string>,
): Promise<boolean> {
  const { races, divergent, earlyExits, proved } = await general.ask(stateOf);
  if (proved) return true;
  return (
    // Without a pair or a barrier that says why, nothing was decided.
    (base.races.length > 0 || base.divergent.size > 0) &&
    races.every((pair) => open.has(keyOf(pair))) &&
    [...divergent].every((marker) => base.divergent.has(marker)) &&
    [...earlyExits].every((marker) => base.earlyExits.has(marker))
  );
}

/**
 * Whether atomics, volatile accesses or fences stand on both sides of a barrier: they do not race, but the barrier
 * decides about their order all the same.
 */
function ordersAtomics(kernel: Kernel, marker: number, stands: (marker: number) => boolean): boolean {
  return kernel.blocks.some((block) =>
    block.instructions.some(
      (instruction) =>
        instruction.marker?.number === marker &&
        isCandidate(instruction) &&
        meetsAtomic(kernel, block.id, instruction.id, stands, 1) &&
        meetsAtomic(kernel, block.id, instruction.id, stands, -1),
    ),
  );
}

function meetsAtomic(
  kernel: Kernel,
  home: BlockId,
  start: InstructionId,
  stands: (marker: number) => boolean,
  step: 1 | -1,
): boolean {
  const seen = new Set<BlockId>();
  const work = [{ block: home, at: kernel.blocks[home]!.instructions.findIndex(({ id }) => id === start) + step }];
  for (let item = work.pop(); item; item = work.pop()) {
    const { instructions, successors, predecessors } = kernel.blocks[item.block]!;
    let stopped = false;
    for (let at = item.at; at >= 0 && at < instructions.length && !stopped; at += step) {
      const instruction = instructions[at]!;
      if (isAtomic(instruction)) return true;
      stopped = isCandidate(instruction) ? stands(instruction.marker!.number!) : isFullBarrier(instruction);
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

function isAtomic({ operation: { effect } }: Instruction): boolean {
  if (effect.kind === 'load' || effect.kind === 'store') return effect.semantics !== 'weak';
  return effect.kind === 'atomic' || effect.kind === 'fence';
}
