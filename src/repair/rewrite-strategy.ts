/** Rewrites control flow that keeps threads from a barrier, so that all threads reach the barrier. */
import { joinBranches } from '../cuda/editing/branch-barriers.ts';
import type { FunctionDefinition } from '../cuda/syntax/outline.ts';
import { guardReturn } from '../cuda/editing/return-guard.ts';
import { macroUse } from '../cuda/editing/macro-use.ts';
import { type TextEdit, applyEdits } from '../source/text-edit.ts';
import { type PlacementOutcome, placeBarriers } from './barrier-placement.ts';
import { type BarrierChange, noBarriers } from './build-cost.ts';
import type { EditStep } from './explanation.ts';
import { lineIn } from './explain-placement.ts';
import type { Effort, RepairRequest } from './request.ts';
import type { UnorderedPair } from './repair-target.ts';

interface Rewritten {
  readonly text: string;
  readonly step: EditStep;
  readonly change: BarrierChange;
}

/**
 * Replaces the early returns of a kernel by guards, and places barriers again.
 * @param functions the definitions that the kernel reaches
 */
export async function guardReturns(
  request: RepairRequest,
  functions: readonly FunctionDefinition[],
  effort: Effort,
): Promise<PlacementOutcome> {
  const { source } = request;
  const guards = functions.flatMap((definition) => guardReturn(source, definition) ?? []);
  if (guards.length === 0) return { kind: 'none', obstacles: [], races: [] };
  const edits = guards.map(({ edit }) => edit);
  const step: EditStep = { kind: 'guard-returns', lines: guards.map(({ line }) => line) };
  return placeAfter(request, { text: applyEdits(source.text, edits), step, change: noBarriers }, effort);
}

/**
 * Merges the barriers in both branches of a condition into one outside, and places more if that does not suffice.
 * @param functions the definitions that the kernel reaches
 */
export async function hoistFromBranches(
  request: RepairRequest,
  functions: readonly FunctionDefinition[],
  effort: Effort,
): Promise<PlacementOutcome> {
  const { source } = request;
  const joined = functions.flatMap((definition) => joinBranches(source, definition));
  if (joined.length === 0) return { kind: 'none', obstacles: [], races: [] };
  const sum = (of: (join: (typeof joined)[number]) => number): number => joined.reduce((total, join) => total + of(join), 0);
  const change: BarrierChange = {
    added: sum(({ barriers }) => barriers),
    removed: sum(({ barriers }) => 2 * barriers),
    addedInLoops: sum(({ barriers, isInLoop }) => (isInLoop ? barriers : 0)),
    removedInLoops: sum(({ barriers, isInLoop }) => (isInLoop ? 2 * barriers : 0)),
  };
  const step: EditStep = { kind: 'join-branches', lines: joined.map(({ line }) => line) };
  const edits = joined.map(({ edit }) => edit);
  const rewritten = { text: applyEdits(source.text, edits), step, change };
  if (request.expired()) return { kind: 'timeout' };
  effort.compiled++;
  const verification = await request.verify(rewritten.text, 'statements');
  if (!verification.verified) return placeAfter(request, rewritten, effort);
  const { notes, leaves } = verification;
  const repair = { text: rewritten.text, ...change, gridLevel: false, steps: [step], notes, leaves };
  return { kind: 'repaired', repair };
}

/**
 * Expands macros that contain the racing statements, and places barriers between the statements.
 * @param races the pairs that no barrier separates
 */
export async function writeOutMacros(request: RepairRequest, races: readonly UnorderedPair[], effort: Effort): Promise<PlacementOutcome> {
  const { source } = request;
  const lines = races.flatMap((pair) => {
    const [first, second] = [pair.first, pair.second].map((id) => lineIn(source.file, pair, id));
    return first !== undefined && first === second ? [first] : [];
  });
  const edits: TextEdit[] = [];
  const written: { readonly macro: string; readonly line: number }[] = [];
  for (const line of new Set(lines)) {
    const use = macroUse(source, line);
    if (!use || typeof use.edit === 'string') continue;
    edits.push(use.edit);
    written.push({ macro: use.macro, line });
  }
  if (edits.length === 0) return { kind: 'none', obstacles: [], races: [] };
  const step: EditStep = { kind: 'write-out', macros: written };
  return placeAfter(request, { text: applyEdits(source.text, edits), step, change: noBarriers }, effort);
}

/** Places barriers in a rewritten text: statements were changed in addition to the barriers. */
async function placeAfter(request: RepairRequest, { text, step, change }: Rewritten, effort: Effort): Promise<PlacementOutcome> {
  if (request.expired()) return { kind: 'timeout' };
  const edited = await request.parse(text);
  const verify: RepairRequest['verify'] = (whole) => request.verify(whole, 'statements');
  const placed = await placeBarriers({ ...request, source: edited, verify }, effort, true);
  if (placed.kind === 'timeout') return placed;
  if (placed.kind === 'none') {
    const obstacles = placed.obstacles.map((one) => ({ kind: 'not-enough', step, obstacles: [one] }) as const);
    return { kind: 'none', races: [], obstacles };
  }
  const { repair } = placed;
  return {
    kind: 'repaired',
    repair: {
      ...repair,
      added: repair.added + change.added,
      removed: repair.removed + change.removed,
      addedInLoops: repair.addedInLoops + change.addedInLoops,
      removedInLoops: repair.removedInLoops + change.removedInLoops,
      steps: [step, ...repair.steps],
    },
  };
}
