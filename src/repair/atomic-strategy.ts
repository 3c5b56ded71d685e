/**
 * Rewrites updates that race (`A[i] += v`) as atomics, with barriers before reads of the result, or instead of
 * barriers.
 */
import { type AtomicUpdate, atomicUpdates } from '../cuda/editing/atomic-update.ts';
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import { applyEdits } from '../source/text-edit.ts';
import { type PlacementOutcome, placeBarriers } from './barrier-placement.ts';
import { noBarriers } from './build-cost.ts';
import type { Effort, RacingAccess, Repair, RepairRequest } from './request.ts';
import type { UnorderedPair } from './repair-target.ts';
import { lineIn } from './explain-placement.ts';
import type { EditStep } from './explanation.ts';

/**
 * Makes the updates atomic among pairs of accesses that no barrier separates.
 * @param races the pairs
 */
export async function updateAtomically(request: RepairRequest, races: readonly UnorderedPair[], effort: Effort): Promise<PlacementOutcome> {
  const { source, expired } = request;
  const lines = new Set<number>();
  for (const pair of races) {
    for (const id of [pair.first, pair.second]) {
      const line = lineIn(source.file, pair, id);
      if (line !== undefined) lines.add(line);
    }
  }
  const updates = atomicUpdates(source, lines);
  if (updates.length === 0) return { kind: 'none', obstacles: [], races };
  if (expired()) return { kind: 'timeout' };
  const { text, step } = withAtomics(source, updates);
  effort.compiled++;
  const verification = await request.verify(text, 'statements');
  if (verification.verified) {
    const { leaves } = verification;
    return { kind: 'repaired', repair: { text, ...noBarriers, gridLevel: false, steps: [step], notes: [], leaves } };
  }
  // Reads of the sum may need a barrier before them.
  const edited = await request.parse(text);
  const verify: RepairRequest['verify'] = (whole) => request.verify(whole, 'statements');
  const placed = await placeBarriers({ ...request, source: edited, verify }, effort, true);
  if (placed.kind !== 'repaired') {
    if (placed.kind === 'timeout') return placed;
    return { ...placed, obstacles: [{ kind: 'not-enough', step, obstacles: placed.obstacles }] };
  }
  const repair: Repair = { ...placed.repair, steps: [step, ...placed.repair.steps] };
  return { kind: 'repaired', repair };
}

/**
 * Replaces the barriers of a repair by atomics, if only updates race; the result is verified. The user chooses: atomics
 * have another cost, and make the order of a sum unspecified.
 * @returns null if that is not a repair
 */
export async function atomicAlternative(request: RepairRequest, effort: Effort): Promise<Repair | null> {
  const { source, racing, expired } = request;
  const updates = atomicUpdates(source, new Set(racing.map(({ line }) => line)));
  const isUpdated = ({ file, line, expression }: RacingAccess): boolean =>
    file === source.file &&
    updates.some(
      ({ line: first, endLine, target }) =>
        first <= line && line <= endLine && target.replace(/\s/g, '') === expression?.replace(/\s/g, ''),
    );
  if (updates.length === 0 || !racing.every(isUpdated) || expired()) return null;
  if (new Set(updates.map(({ group }) => group)).size > 1) return null;
  const { text, step } = withAtomics(source, updates);
  effort.compiled++;
  const { verified } = await request.verify(text, 'statements');
  return verified ? { text, ...noBarriers, gridLevel: false, steps: [step], notes: [], leaves: [] } : null;
}

/** The text with the updates made atomic, and the step of the edit. */
function withAtomics(source: CudaSource, updates: readonly AtomicUpdate[]): { readonly text: string; readonly step: EditStep } {
  const text = applyEdits(
    source.text,
    updates.map(({ edit }) => edit),
  );
  const lines = [...new Set(updates.map(({ line }) => line))];
  const isFloat = updates.some((update) => update.isFloat);
  return { text, step: { kind: 'atomics', lines, updates: updates.length, isFloat } };
}
