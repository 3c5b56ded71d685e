/**
 * Adds missing fences of a lock, a flag or the last block: `__threadfence()` where threads publish memory by atomics.
 */
import { markCandidates } from '../cuda/editing/barrier-candidates.ts';
import { barrierEdits } from '../cuda/editing/barrier-edit.ts';
import { applyEdits } from '../source/text-edit.ts';
import type { MarkerState } from '../ir/form/switch-markers.ts';
import { type PlacementOutcome, placeIn } from './barrier-placement.ts';
import { noBarriers } from './build-cost.ts';
import { containsAtomics } from './barrier-candidates-between.ts';
import type { Effort, RepairRequest } from './request.ts';
import { Oracle } from './repair-target.ts';
import { loopDepths, weightOf } from './weight.ts';
import { stepOf } from './explain.ts';

const nothing: PlacementOutcome = { kind: 'none', obstacles: [], races: [] };

/**
 * Inserts fences everywhere; if the kernel is then proved, removes the unnecessary ones, in order of decreasing weight.
 */
export async function addFences(request: RepairRequest, effort: Effort): Promise<PlacementOutcome> {
  const { source, kernels, weights, expired } = request;
  // A kernel without atomics publishes nothing.
  if (!kernels.some(containsAtomics)) return nothing;
  const { candidates, text } = markCandidates(source, { splits: false });
  effort.compiled++;
  const built = await request.build(text);
  if (!built) return nothing;
  const oracle = new Oracle(built.subjects, placeIn(source.file, candidates), effort);
  const present = oracle.present();
  const proves = async (fences: ReadonlySet<number>): Promise<boolean> => {
    effort.iterations++;
    const { proved } = await oracle.ask((marker): MarkerState => {
      const candidate = candidates[marker]!;
      return candidate.kind === 'existing' ? candidate.level : fences.has(marker) ? 'fence' : 'off';
    });
    return proved;
  };
  const all = present.filter((marker) => candidates[marker]!.kind !== 'existing');
  let fences: ReadonlySet<number> = new Set(all);
  if (!(await proves(fences))) return nothing;
  const depths = loopDepths(oracle.subjects.map(({ kernel }) => kernel));
  const weight = (marker: number): number =>
    weightOf(candidates[marker]!, 'fence', depths.get(marker) ?? 0, weights, {
      isShared: built.shared.has(marker),
      hasEarlyExit: false,
    });
  const order = [...all].sort((a, b) => weight(b) - weight(a) || b - a);
  for (let size = order.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < order.length; at += size) {
      if (expired()) return { kind: 'timeout' };
      const fewer = new Set(fences);
      for (const marker of order.slice(at, at + size)) fewer.delete(marker);
      if (fewer.size < fences.size && (await proves(fewer))) fences = fewer;
    }
  }
  const added = [...fences].sort((a, b) => a - b).map((marker) => ({ marker, state: 'fence' as const }));
  const edited = applyEdits(
    source.text,
    barrierEdits(
      source,
      added.map(({ marker, state }) => ({ candidate: candidates[marker]!, state })),
    ),
  );
  const step = stepOf({ added, removed: [], weight: 0 }, candidates, source);
  effort.compiled++;
  const verification = await request.verify(edited, 'barriers');
  if (!verification.verified) return { kind: 'none', obstacles: [{ kind: 'refused', step, refusal: verification.refusal }], races: [] };
  const repair = {
    text: edited,
    ...noBarriers,
    gridLevel: false,
    steps: [step],
    notes: [],
    leaves: verification.leaves,
  };
  return { kind: 'repaired', repair };
}
