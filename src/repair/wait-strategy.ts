/**
 * Inserts the wait for the kernels before (`cudaGridDependencySynchronize()`) before the first access of global memory. The edit
 * counts only if both builds then access global memory after it, and no verdict is weaker.
 */
import { gridDependency, isGridWait, waitsFirst } from '../analysis/barriers/grid-dependency.ts';
import { type BarrierCandidate, markCandidates } from '../cuda/editing/barrier-candidates.ts';
import { type PlacedBarrier, barrierEdits } from '../cuda/editing/barrier-edit.ts';
import { waitSpellings, waitStatements } from '../cuda/editing/wait-style.ts';
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import { type SyntaxNode, nodesWhere } from '../cuda/syntax/syntax-tree.ts';
import { dominates } from '../ir/form/dominators.ts';
import type { Kernel } from '../ir/form/kernel.ts';
import { isCandidate, switchMarkers } from '../ir/form/switch-markers.ts';
import { applyEdits } from '../source/text-edit.ts';
import { noBarriers } from './build-cost.ts';
import type { EditStep, Obstacle } from './explanation.ts';
import { markersOf } from './repair-target.ts';
import type { Effort, MarkedBuild, RepairOutcome, RepairRequest } from './request.ts';
import { loopDepths } from './weight.ts';

/** Limit on the edits that are verified. */
const mostTried = 8;

/** Repairs a kernel whose only findings are on accesses before its wait. */
export async function insertWait(request: RepairRequest): Promise<RepairOutcome> {
  const { source } = request;
  const effort: Effort = { clauses: 0, iterations: 0, checks: 0, compiled: 1 };
  const { candidates, text } = markCandidates(source, { splits: false });
  const built = await request.build(text);
  const unrepairable = (...obstacles: Obstacle[]): RepairOutcome => ({
    status: 'unrepairable',
    why: { kind: 'unrepairable', obstacles },
    effort,
  });
  if (!built) return unrepairable({ kind: 'marked-copy' });
  const place = latestPlace(built, candidates, effort);
  if (!place) return unrepairable({ kind: 'no-wait-place' });
  const obstacles: Obstacle[] = [];
  const lines = request.waits.flatMap((location) => (location.file === source.file ? location.line : []));
  const others = otherWaits(source, place, new Set(lines));
  for (const words of waitSpellings(source, lines)) {
    // Waits after it are superfluous, if the kernel needs no wait for another reason.
    for (const removed of others.length > 0 ? [others, []] : [[]]) {
      if (request.expired() || effort.compiled >= mostTried) return timeout(request, effort);
      const placement: PlacedBarrier[] = [{ candidate: place, state: 'wait', words }, ...removed.map((node) => existing(place, node))];
      const edited = applyEdits(source.text, barrierEdits(source, placement));
      const written = words.replace(/\s*;$/, '');
      const { kind, line } = place;
      const step: EditStep = { kind: 'wait', written, place: { kind, line }, removed: removed.map((node) => node.line) };
      effort.compiled++;
      const verification = await request.verify(edited, 'waits');
      if (!verification.verified) {
        obstacles.push({ kind: 'refused', step, refusal: verification.refusal });
        continue;
      }
      const { notes } = verification;
      return { status: 'repaired', text: edited, ...noBarriers, gridLevel: false, steps: [step], notes, leaves: [], effort };
    }
  }
  return unrepairable(...obstacles);
}

function timeout(request: RepairRequest, effort: Effort): RepairOutcome {
  return { status: 'timeout', why: { kind: 'timeout', isLate: request.expired() }, effort };
}

/**
 * The place of the wait: all accesses are after it in each instance. Places in the kernel itself, that each thread passes, once, come
 * first; of these the latest one.
 */
function latestPlace({ subjects }: MarkedBuild, candidates: readonly BarrierCandidate[], effort: Effort): BarrierCandidate | null {
  const kernels = subjects.map(({ kernel }) => kernel);
  const depths = loopDepths(kernels);
  const present = new Set(kernels.flatMap((kernel) => [...markersOf(kernel).values()]));
  const places = [...present].flatMap((marker): { candidate: BarrierCandidate; rank: number }[] => {
    const candidate = candidates[marker];
    if (candidate?.kind !== 'before' && candidate?.kind !== 'after') return [];
    effort.iterations++;
    const states = new Map([[marker, 'wait']] as const);
    const withWait = (kernel: Kernel): Kernel => switchMarkers(kernel, { states, places: new Map() });
    if (!kernels.every((kernel) => waitsFirst(gridDependency(withWait(kernel))))) return [];
    const isInCallee = candidate.function.kind !== 'kernel';
    const isMissed = !kernels.every((kernel) => gridDependency(withWait(withoutWaits(kernel))).alwaysWaits);
    return [{ candidate, rank: (isInCallee ? 4 : 0) + (isMissed ? 2 : 0) + ((depths.get(marker) ?? 0) > 0 ? 1 : 0) }];
  });
  const least = Math.min(...places.map(({ rank }) => rank));
  const best = places.flatMap(({ candidate, rank }) => (rank === least ? candidate : []));
  const [kernel] = kernels;
  return best.reduce<BarrierCandidate | null>((last, one) => (last && kernel && !isBefore(kernel, last, one) ? last : one), null);
}

function withoutWaits(kernel: Kernel): Kernel {
  const blocks = kernel.blocks.map((block) => ({ ...block, instructions: block.instructions.filter((one) => !isGridWait(one)) }));
  return { ...kernel, blocks };
}

/** Whether each path to one place passes another one before it. */
function isBefore(kernel: Kernel, first: BarrierCandidate, second: BarrierCandidate): boolean {
  const [from, to] = [placeIn(kernel, first), placeIn(kernel, second)];
  if (!from || !to) return false;
  return from.block === to.block ? from.at < to.at : dominates(kernel.dominators, from.block, to.block);
}

function placeIn({ blocks }: Kernel, { number }: BarrierCandidate) {
  for (const { id, instructions } of blocks) {
    const at = instructions.findIndex((one) => isCandidate(one) && one.marker!.number === number);
    if (at >= 0) return { block: id, at };
  }
  return null;
}

/**
 * The waits of the function that are among several statements of a block, with the condition that they are the only statement of. Those
 * that are compiled conditionally are not removed.
 */
function otherWaits(source: CudaSource, { function: definition }: BarrierCandidate, lines: ReadonlySet<number>): readonly SyntaxNode[] {
  const isOwn = ({ start, end }: SyntaxNode): boolean => definition.bodyStart <= start && end <= definition.end;
  const lists = nodesWhere(source.tree(), ({ type, children }) => type === 'compound_statement' && children.length > 3);
  const items = lists.flatMap(({ children }) => children);
  return waitStatements(source, lines).flatMap((wait) => {
    if (!isOwn(wait)) return [];
    const own = items.find(({ start }) => start === wait.start);
    if (own) return own;
    const item = items.findLast(({ type, start, end }) => type === 'if_statement' && start <= wait.start && wait.end <= end);
    if (!item) return [];
    const before = source.text.slice(item.start, wait.start);
    const isOnlyStatement = /^if\s*\([^()=]*(?:[=!<>]=[^()=]*)?\)\s*\{?\s*$/.test(before) && !/\+\+|--/.test(before);
    return isOnlyStatement && /^\s*\}?$/.test(source.text.slice(wait.end, item.end)) ? item : [];
  });
}

/** The removal of a statement. */
function existing(near: BarrierCandidate, statement: SyntaxNode): PlacedBarrier {
  const { number, function: definition, conditions } = near;
  const place = { line: statement.line, column: 1, conditions };
  return { candidate: { kind: 'existing', level: 'block', number, function: definition, statement, bare: null, ...place }, state: 'off' };
}
