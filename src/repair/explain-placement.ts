/** Describes the effects of a placement, or why none exists, as data. */
import { placeOf as writtenAt } from '../check/context/names.ts';
import type { BarrierCandidate } from '../cuda/editing/barrier-candidates.ts';
import { writtenBarrier } from '../cuda/editing/barrier-edit.ts';
import { macroUse } from '../cuda/editing/macro-use.ts';
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import type { Instruction, InstructionId, Kernel } from '../ir/form/kernel.ts';
import { lanesOfState } from '../ir/form/switch-markers.ts';
import { type Location, outsideToolkit } from '../source/location.ts';
import type { Reason } from '../verdict/reason.ts';
import { markersBetween } from './barrier-candidates-between.ts';
import type { AddedStatement, EditStep, Obstacle, EditPlace, RacingLines } from './explanation.ts';
import type { Placement, SearchResult } from './placement-search.ts';
import type { UnorderedPair } from './repair-target.ts';

/** Describes a placement as a step of an edit. */
export function stepOf({ added, removed }: Placement, candidates: readonly BarrierCandidate[], source: CudaSource): EditStep {
  const [only] = added;
  if (only && added.length === 1 && removed.length === 1) {
    const from = candidates[removed[0]!]!;
    const to = candidates[only.marker]!;
    if (from.kind === 'existing' && only.state === from.level && to.kind !== 'existing') {
      const isOutOfIf = to.conditions.length < from.conditions.length;
      return { kind: 'move', line: from.line, isOutOfIf, to: placeOf(to) };
    }
  }
  return {
    kind: 'placement',
    added: added.map(({ marker, state }) => {
      const candidate = candidates[marker]!;
      const written = writtenBarrier(source, { candidate, state }).replace(/\s*;$/, '');
      const statement = lanesOfState(state) === null ? (state as AddedStatement) : 'warp';
      return { statement, written, place: placeOf(candidate) };
    }),
    removed: removed.map((marker) => candidates[marker]!.line),
  };
}

/** The place of an inserted statement: after the statement above it, although blank lines may follow there. */
function placeOf(candidate: BarrierCandidate): EditPlace {
  const { kind, line } = candidate;
  if (kind !== 'before' || !candidate.previous) return { kind, line };
  return { kind: 'after', line: candidate.previous.endLine };
}

/** The reason why no placement is a repair. */
export function obstacleOf({ reason, races, needsGrid, safe }: Extract<SearchResult, { kind: 'none' }>, source: CudaSource): Obstacle {
  const [pair] = races;
  if (!pair) return { kind: 'unproved', reason };
  const places = [pair.first, pair.second].map((id) => locationOf(pair, id) ?? locationBeside(pair, id));
  const [first, second] = places.map((place) => place?.line);
  const isOne = pair.first === pair.second;
  const outside = places.find((place) => place !== undefined && place.file !== source.file);
  const foreign = outside?.file;
  const accesses: RacingLines = {
    ...(first !== undefined && { first }),
    ...(second !== undefined && { second }),
    ...(foreign !== undefined && { foreign }),
  };
  const between = (isBarrier: (marker: number) => boolean): number =>
    markersBetween(pair.subject.kernel, pair.first, pair.second, isBarrier, pair.scope).size;
  const size = between((marker) => safe.has(marker));
  // The prover cannot decide whether the threads race.
  if ((isOne || between(() => false) === 0) && ofProver.has(pair.reason.kind)) return { kind: 'unproved', reason: pair.reason, accesses };
  if (isOne && (between(() => false) === 0 || (size === 0 && !needsGrid)))
    return { kind: 'one-access', ...(first !== undefined && { line: first }) };
  if (needsGrid) return { kind: 'blocks', accesses };
  if (size > 0) return { kind: 'partial', accesses };
  if (foreign !== undefined) {
    const call = callOf(source, outside);
    return { kind: 'foreign', accesses: { ...accesses, foreign }, file: source.file, ...(call && { call }) };
  }
  const use = first !== undefined && first === second ? macroUse(source, first) : null;
  if (!use) return { kind: 'no-place', accesses };
  return { kind: 'macro', accesses, macro: use.macro, ...(typeof use.edit === 'string' && { hindrance: use.edit }) };
}

/** Reasons about limits of the prover, rather than about two threads. */
const ofProver: ReadonlySet<Reason['kind']> = new Set([
  'out-of-time',
  'solver-gave-up',
  'solver-gave-up-often',
  'many-pairs',
  'many-rounds',
  'unknown-pointer',
  'aliased-pointers',
  'unknown-index',
  'loaded-index',
  'unmodelled-order',
]);

/** The line and the callee of a call, in the file, of code in another file. */
function callOf({ file, text, lineStarts }: CudaSource, outside: Location | undefined): Extract<Obstacle, { kind: 'foreign' }>['call'] {
  let frame = outside;
  while (frame && frame.file !== file) frame = frame.inlinedAt;
  if (!frame) return undefined;
  const line = text.slice(lineStarts[frame.line - 1], lineStarts[frame.line] ?? text.length);
  const calls = [...line.matchAll(/\b(?!(?:if|for|while|switch|sizeof)\b)([A-Za-z_]\w*)\s*(?:<[^;()]*>\s*)?\(/g)];
  const name = calls.length === 1 ? calls[0]![1] : undefined;
  return { line: frame.line, ...(name !== undefined && { name }) };
}

/** The line of an access of an open pair, if it is in a file. */
export function lineIn(file: string, pair: UnorderedPair, id: InstructionId): number | undefined {
  const location = locationOf(pair, id);
  return location?.file === file ? location.line : undefined;
}

function locationOf({ subject }: UnorderedPair, id: InstructionId): Location | undefined {
  return outsideToolkit(instructionOf(subject.kernel, id)?.location);
}

/** Location for messages only: the compiler assigns no line to code that it moves or merges. */
function locationBeside({ subject: { kernel } }: UnorderedPair, id: InstructionId): Location | undefined {
  const instruction = instructionOf(kernel, id);
  return instruction && writtenAt(kernel, instruction);
}

function instructionOf({ blocks }: Kernel, id: InstructionId): Instruction | undefined {
  for (const { instructions } of blocks) for (const instruction of instructions) if (instruction.id === id) return instruction;
  return undefined;
}
