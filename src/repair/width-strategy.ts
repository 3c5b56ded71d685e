/**
 * Computes indices that wrap around in 64 bits, by one cast for each where that suffices. The edit counts only if the check of the edited
 * text has none of these findings, no other one, and no weaker verdict.
 */
import { type WiderIndex, type WiderIndices, widerIndices } from '../cuda/editing/wider-index.ts';
import { applyEdits } from '../source/text-edit.ts';
import { noBarriers } from './build-cost.ts';
import type { EditStep, Obstacle } from './explanation.ts';
import type { Effort, NarrowAccess, RepairOutcome, RepairRequest, Verification } from './request.ts';

/** Limit on the edits that are verified. */
const mostTried = 8;

type Verified = Extract<Verification, { readonly verified: true }>;

/** An edit that was verified, with what it makes wider. */
interface Widened {
  readonly text: string;
  readonly step: EditStep;
  readonly verification: Verified;
}

/** Repairs a kernel whose only findings are on indices of 32 bits that wrap around. */
export async function widenIndices(request: RepairRequest): Promise<RepairOutcome> {
  const effort: Effort = { clauses: 0, iterations: 0, checks: 0, compiled: 0 };
  const { accesses, sizes } = await request.narrow();
  const obstacles: Obstacle[] = [];
  const known = new Set(sizes);
  const of = (): readonly NarrowAccess[] => accesses.filter(({ when }) => when === undefined || known.has(when));
  // First the edits that change the least in all indices, then those that change more, then those of single indices.
  let choices = choicesOf(request, of());
  for (let level = 0; level < Math.max(0, ...choices.map(({ candidates }) => candidates.length)); level++) {
    const chosen = choices.flatMap(({ candidates }) => candidates[Math.min(level, candidates.length - 1)] ?? []);
    const tried = await attempt(request, chosen, effort, 'all');
    if (tried === 'late') return { status: 'timeout', why: { kind: 'timeout', isLate: request.expired() }, effort };
    if ('text' in tried) return outcomeOf(tried, [], effort);
    obstacles.push(tried);
    // Once an index is wider, the next size from which on one wraps around is reported.
    const { refusal } = tried;
    const fresh = refusal.kind === 'other-overflow' ? refusal.sizes.filter((size) => !known.has(size)) : [];
    if (fresh.length === 0) continue;
    for (const size of fresh) known.add(size);
    choices = choicesOf(request, of());
    level = -1;
  }
  const values = choices.flatMap(({ narrow }) => narrow);
  const narrow: Obstacle[] = values.map((value) => ({ kind: 'narrow-value', value }));
  for (const { candidates } of choices.length > 1 ? choices : []) {
    for (const candidate of candidates) {
      const tried = await attempt(request, [candidate], effort, 'some');
      if (tried === 'late') return { status: 'timeout', why: { kind: 'timeout', isLate: request.expired() }, effort };
      if ('text' in tried) return outcomeOf(tried, narrow, effort);
    }
  }
  const why = narrow.length > 0 ? narrow : obstacles.length > 0 ? obstacles : [{ kind: 'no-product' } as const];
  return { status: 'unrepairable', why: { kind: 'unrepairable', obstacles: why }, effort };
}

/** The edits for each index of the file, each once. */
function choicesOf({ source }: RepairRequest, accesses: readonly NarrowAccess[]): readonly WiderIndices[] {
  const places = accesses.filter(({ location }) => location.file === source.file);
  const linesOf = ({ computedAt }: NarrowAccess): readonly number[] =>
    computedAt.flatMap(({ file, line }) => (file === source.file ? [line] : []));
  const asked = new Map(places.map((place) => [[place.location.line, ...linesOf(place)].join(), place]));
  return [...asked.values()].map((place) => widerIndices(source, place.location.line, new Set(linesOf(place))));
}

async function attempt(
  request: RepairRequest,
  chosen: readonly WiderIndex[],
  effort: Effort,
  extent: 'all' | 'some',
): Promise<Widened | Extract<Obstacle, { kind: 'refused' }> | 'late'> {
  if (request.expired() || effort.compiled >= mostTried) return 'late';
  const edits = [...new Map(chosen.flatMap((one) => one.edits).map((edit) => [`${edit.start} ${edit.end}`, edit])).values()];
  const isApart = edits.filter(
    ({ start, end }) => !edits.some((other) => other.start < end && start < other.end && other.end - other.start > end - start),
  );
  const step: EditStep = {
    kind: 'wider-index',
    casts: distinct(chosen.flatMap(({ casts }) => casts)),
    variables: distinct(chosen.flatMap(({ variables }) => variables)),
  };
  const text = applyEdits(request.source.text, isApart);
  effort.compiled++;
  const verification = await request.verify(text, 'widths', extent);
  return verification.verified ? { text, step, verification } : { kind: 'refused', step, refusal: verification.refusal };
}

function distinct<Entry extends { readonly line: number }>(entries: readonly Entry[]): Entry[] {
  const sorted = entries.toSorted((a, b) => a.line - b.line);
  return [...new Map(sorted.map((entry) => [JSON.stringify(entry), entry])).values()];
}

function outcomeOf({ text, step, verification }: Widened, narrow: readonly Obstacle[], effort: Effort): RepairOutcome {
  const { notes, leaves, open } = verification;
  const because: Obstacle[] = leaves.length > 0 ? [...narrow] : open ? [{ kind: 'as-before', reason: open }] : [];
  return {
    status: 'repaired',
    text,
    ...noBarriers,
    gridLevel: false,
    steps: [step],
    notes,
    leaves,
    ...((leaves.length > 0 || because.length > 0) && { because }),
    effort,
  };
}
