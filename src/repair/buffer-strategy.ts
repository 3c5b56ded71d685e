/** Double buffering instead of a second barrier in a loop: an alternative to the repair that adds the barrier. */
import { doubleBuffer } from '../cuda/editing/double-buffer.ts';
import { applyEdits } from '../source/text-edit.ts';
import { noBarriers } from './build-cost.ts';
import type { Effort, Repair, RepairRequest } from './request.ts';

/**
 * Makes two copies of the arrays that race, if a repair adds one barrier to a loop that has one. The edit is verified,
 * and has to leave the same memory as the repair. The user chooses: it needs twice the shared memory.
 * @param repair - that was verified
 * @returns null if that is not a repair
 */
export async function bufferAlternative(
  { source, racing, verify, expired }: RepairRequest,
  repair: Repair,
  effort: Effort,
): Promise<Repair | null> {
  const isOneInLoop = repair.added === 1 && repair.addedInLoops === 1 && repair.removed === 0 && !repair.gridLevel;
  if (!isOneInLoop || repair.leaves.length > 0 || expired()) return null;
  if (racing.length === 0 || racing.some(({ file }) => file !== source.file)) return null;
  const names = racing.map(({ expression }) => /^\w+(?=\s*\[)/.exec(expression ?? '')?.[0]);
  const known = new Set(names.filter((name) => name !== undefined));
  if (names.includes(undefined)) return null;
  const edit = doubleBuffer(
    source,
    known,
    racing.map(({ line }) => line),
  );
  if (!edit) return null;
  const text = applyEdits(source.text, edit.edits);
  effort.compiled++;
  const verification = await verify(text, { as: repair.text });
  if (!verification.verified) return null;
  const { arrays, line } = edit;
  return { text, ...noBarriers, gridLevel: false, steps: [{ kind: 'double-buffer', arrays, line }], notes: verification.notes, leaves: [] };
}
