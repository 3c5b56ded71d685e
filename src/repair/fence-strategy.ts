/**
 * Adds missing fences of a lock, a flag or the last block: `__threadfence()` where threads publish memory by atomics, together with one
 * barrier of the block if other threads of the block publish, too.
 */
import { markCandidates } from '../cuda/editing/barrier-candidates.ts';
import { barrierEdits } from '../cuda/editing/barrier-edit.ts';
import { outermost } from '../source/location.ts';
import { applyEdits } from '../source/text-edit.ts';
import type { MarkerState } from '../ir/form/switch-markers.ts';
import { type PlacementOutcome, placeIn } from './barrier-placement.ts';
import { noBarriers } from './build-cost.ts';
import { containsAtomics } from './barrier-candidates-between.ts';
import type { Effort, RepairRequest } from './request.ts';
import { Oracle } from './repair-target.ts';
import { loopDepths, weightOf } from './weight.ts';
import { stepOf } from './explain-placement.ts';
import type { EditStep } from './explanation.ts';
import { type SyntaxNode, nodesWhere } from '../cuda/syntax/syntax-tree.ts';

/** The number of places for a barrier that are tried. */
const mostPlaces = 24;

const nothing: PlacementOutcome = { kind: 'none', obstacles: [], races: [] };

/** Widens the scope of fences, if that is missing, or else adds fences. */
export async function repairFences(request: RepairRequest, effort: Effort): Promise<PlacementOutcome> {
  const widened = await widenFences(request, effort);
  return widened.kind === 'none' ? addFences(request, effort) : widened;
}

/** Replaces the fences of the block around the accesses by fences of the device. */
async function widenFences(request: RepairRequest, effort: Effort): Promise<PlacementOutcome> {
  const { source, racing, missing } = request;
  if (!missing.some((one) => one.kind === 'fence' && one.lacks.includes('scope'))) return nothing;
  const isAround = ({ start, end }: SyntaxNode): boolean =>
    source.functions.some(
      (definition) =>
        definition.start <= start &&
        end <= definition.end &&
        racing.some(({ file, line }) => file === source.file && definition.firstLine <= line && line <= definition.lastLine),
    );
  const isNarrow = (node: SyntaxNode): boolean =>
    node.type === 'call_expression' && /^__threadfence_block\s*\(\s*\)$/.test(source.text.slice(node.start, node.end));
  const fences = nodesWhere(source.tree(), isNarrow).filter(isAround);
  if (fences.length === 0) return nothing;
  const text = applyEdits(
    source.text,
    fences.map(({ start, end }) => ({ start, end, text: '__threadfence()' })),
  );
  return verified(request, text, { kind: 'widen', lines: fences.map(({ line }) => line) }, effort);
}

/**
 * Inserts fences everywhere; if the kernel is then proved, removes the unnecessary ones, in order of decreasing weight.
 */
async function addFences(request: RepairRequest, effort: Effort): Promise<PlacementOutcome> {
  const { source, kernels, weights, expired } = request;
  // A kernel without atomics publishes nothing.
  if (!kernels.some(containsAtomics)) return nothing;
  const { candidates, text } = markCandidates(source, { splits: false });
  effort.compiled++;
  const built = await request.build(text);
  if (!built) return nothing;
  const oracle = new Oracle(built.subjects, placeIn(source.file, candidates), effort);
  const present = oracle.present();
  let barrier: number | null = null;
  const proves = async (fences: ReadonlySet<number>, state: 'fence' | 'block-fence' = 'fence'): Promise<boolean> => {
    effort.iterations++;
    const { proved } = await oracle.ask((marker): MarkerState => {
      const candidate = candidates[marker]!;
      if (candidate.kind === 'existing') return candidate.level;
      return marker === barrier ? 'block' : fences.has(marker) ? state : 'off';
    });
    return proved;
  };
  const all = present.filter((marker) => candidates[marker]!.kind !== 'existing');
  let fences: ReadonlySet<number> = new Set(all);
  if (!(await proves(fences))) {
    for (const marker of nearest(all, (one) => candidates[one]!.line, request)) {
      if (expired()) return { kind: 'timeout' };
      barrier = marker;
      fences = new Set(all.filter((one) => one !== marker));
      if (await proves(fences)) break;
      barrier = null;
    }
    if (barrier === null) return nothing;
  }
  const depths = loopDepths(oracle.subjects.map(({ kernel }) => kernel));
  const weight = (marker: number): number =>
    weightOf(candidates[marker]!, 'fence', depths.get(marker) ?? 0, weights, {
      isShared: built.shared.has(marker),
      hasEarlyExit: false,
    });
  const order = [...fences].sort((a, b) => weight(b) - weight(a) || b - a);
  // The heaviest ones go first, all of one weight, while the lighter ones are there.
  for (const heaviest of new Set(order.map(weight))) {
    const fewer = new Set([...fences].filter((marker) => weight(marker) !== heaviest));
    if (fewer.size < fences.size && (await proves(fewer))) fences = fewer;
  }
  for (let size = order.length >> 1; size > 0; size >>= 1) {
    for (let at = 0; at < order.length; at += size) {
      if (expired()) return { kind: 'timeout' };
      const fewer = new Set(fences);
      for (const marker of order.slice(at, at + size)) fewer.delete(marker);
      if (fewer.size < fences.size && (await proves(fewer))) fences = fewer;
    }
  }
  const isOfBlock = request.missing.length > 0 && request.missing.every((one) => one.kind === 'fence' && one.among === 'block');
  const state: 'fence' | 'block-fence' = isOfBlock && (await proves(fences, 'block-fence')) ? 'block-fence' : 'fence';
  const places = barrier === null ? [...fences] : [...fences, barrier];
  const added = places.sort((a, b) => a - b).map((marker) => ({ marker, state: marker === barrier ? ('block' as const) : state }));
  const edited = applyEdits(
    source.text,
    barrierEdits(
      source,
      added.map(({ marker, state }) => ({ candidate: candidates[marker]!, state })),
    ),
  );
  return verified(request, edited, stepOf({ added, removed: [], weight: 0 }, candidates, source), effort);
}

/** The places at which a barrier of the block may be missing in addition to fences: those next to the update or the read, the nearest first. */
function nearest(markers: readonly number[], lineOf: (marker: number) => number, { missing }: RepairRequest): readonly number[] {
  const [line] = missing.flatMap((one) => {
    if (one.kind !== 'fence') return [];
    const place = one.lacks.includes('arrival') ? one.releasedAt : one.lacks.includes('join') ? one.acquiredAt : undefined;
    return place ? [outermost(place).line] : [];
  });
  if (line === undefined) return [];
  const distance = (marker: number): number => Math.abs(lineOf(marker) - line);
  return [...markers].sort((a, b) => distance(a) - distance(b) || b - a).slice(0, mostPlaces);
}

async function verified(request: RepairRequest, text: string, step: EditStep, effort: Effort): Promise<PlacementOutcome> {
  effort.compiled++;
  const verification = await request.verify(text, 'barriers');
  if (!verification.verified) return { kind: 'none', obstacles: [{ kind: 'refused', step, refusal: verification.refusal }], races: [] };
  const { leaves, notes } = verification;
  return { kind: 'repaired', repair: { text, ...noBarriers, gridLevel: false, steps: [step], notes, leaves } };
}
