/** Early returns that keep threads from a barrier, as guards that the barrier can stand outside of. */
import type { FunctionDefinition } from '../cuda/outline.ts';
import { guardReturn } from '../cuda/return-guard.ts';
import { applyEdits } from '../cuda/text-edit.ts';
import { type PlacementOutcome, placeBarriers } from './barrier-placement.ts';
import type { Effort, RepairRequest } from './request.ts';

/**
 * Makes guards of the early returns of a kernel and places barriers again.
 * @param kernels the definitions that are repaired
 */
export async function guardReturns(
  request: RepairRequest,
  kernels: readonly FunctionDefinition[],
  effort: Effort,
): Promise<PlacementOutcome> {
  const { source, expired } = request;
  const guards = kernels.flatMap((definition) => guardReturn(source, definition) ?? []);
  if (guards.length === 0) return { kind: 'none', reasons: [], races: [] };
  if (expired()) return { kind: 'timeout' };
  const text = applyEdits(
    source.text,
    guards.map(({ edit }) => edit),
  );
  const edited = await request.parse(text);
  const verify: RepairRequest['verify'] = (whole) => request.verify(whole, 'statements');
  const placed = await placeBarriers({ ...request, source: edited, verify }, effort);
  const lines = guards.map(({ line }) => line).join(', ');
  if (placed.kind === 'timeout') return placed;
  if (placed.kind === 'none')
    return { ...placed, races: [], reasons: placed.reasons.map((why) => `with a guard for the return at line ${lines}: ${why}`) }; // prettier-ignore
  const reason = `a guard in place of the return at line ${lines}, and ${placed.repair.reason}`;
  return { kind: 'repaired', repair: { ...placed.repair, reason } };
}
