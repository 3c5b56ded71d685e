/** Placements, and why there is none, in words. */
import { placeOf as writtenAt } from '../check/context/names.ts';
import type { BarrierCandidate } from '../cuda/editing/barrier-candidates.ts';
import type { CudaSource } from '../cuda/syntax/syntax.ts';
import type { Instruction, InstructionId, Kernel } from '../ir/form/kernel.ts';
import { type Location, outsideToolkit } from '../source/location.ts';
import type { Reason } from '../verdict/reason.ts';
import { markersBetween } from './between.ts';
import type { Placement, SearchResult } from './placement-search.ts';
import type { UnorderedPair } from './subject.ts';

/** What is put into the source, by what a candidate becomes. */
const statements: Readonly<Record<Placement['added'][number]['state'], string>> = {
  block: '`__syncthreads()`',
  warp: '`__syncwarp()`',
  grid: '`cooperative_groups::this_grid().sync()`',
  fence: '`__threadfence()`',
};

/** What an edit does, in the imperative: ``add `__syncthreads()` after line 11``. */
export function describePlacement({ added, removed }: Placement, candidates: readonly BarrierCandidate[]): string {
  const gone = linesText(removed.map((marker) => candidates[marker]!.line));
  const missed = `${removed.length === 1 ? 'the barrier' : 'the barriers'} on ${gone}, which some threads miss,`;
  const [only] = added;
  if (only && added.length === 1 && removed.length === 1) {
    const from = candidates[removed[0]!]!;
    const to = candidates[only.marker]!;
    if (from.kind === 'existing' && only.state === from.level && to.kind !== 'existing') {
      if (to.kind === 'condition')
        return `move the barrier on line ${from.line} out of the \`if\`, which is split in two before line ${to.line}`;
      const isOut = to.conditions.length < from.conditions.length;
      return isOut
        ? `move the barrier on line ${from.line} out of the \`if\`, to ${whereText(to)}`
        : `move the barrier on line ${from.line}, which some threads miss, to ${whereText(to)}`;
    }
  }
  const parts = (['block', 'fence', 'warp', 'grid'] as const).flatMap((state) => {
    const places = added.filter((one) => one.state === state).map(({ marker }) => candidates[marker]!);
    const existing = places.filter(({ kind }) => kind === 'existing').map(({ line }) => line);
    const fresh = [...new Set(places.filter(({ kind }) => kind !== 'existing').map(whereText))];
    return [
      ...(fresh.length > 0 ? [`add ${statements[state]} ${fresh.join(', ')}`] : []),
      ...(existing.length > 0 ? [`replace the barrier on ${linesText(existing)} with ${statements[state]}`] : []),
    ];
  });
  return [...parts, ...(removed.length > 0 ? [`remove ${missed.replace(/,$/, '')}`] : [])].join(' and ');
}

/** Where an edit puts a statement: after the one above, though blank lines may follow there. */
function whereText(candidate: BarrierCandidate): string {
  if (candidate.kind === 'after') return `after line ${candidate.line}`;
  if (candidate.kind === 'split') return `between the two parts of line ${candidate.line}`;
  if (candidate.kind !== 'before') return `on line ${candidate.line}`;
  return candidate.previous ? `after line ${candidate.previous.endLine}` : `before line ${candidate.line}`;
}

function linesText(lines: readonly number[]): string {
  const all = [...new Set(lines)].sort((a, b) => a - b);
  return `${all.length === 1 ? 'line' : 'lines'} ${all.join(', ')}`;
}

/** Why no placement helps, in words. */
export function describeNone(
  { reason, races, needsGrid, safe }: Extract<SearchResult, { kind: 'none' }>,
  source: CudaSource,
  reasonText: (reason: Reason) => string,
): string {
  const [pair] = races;
  if (!pair)
    return `Selvage could not prove the kernel with any placement of barriers: ${reason.kind === 'no-candidate' ? 'no barrier can be added between the accesses' : reasonText(reason)}`;
  const places = [pair.first, pair.second].map((id) => placeOf(pair, id) ?? placeBeside(pair, id));
  const [first, second] = places.map((place) => place?.line ?? '?');
  const isOne = pair.first === pair.second;
  const outside = places.find((place) => place !== undefined && place.file !== source.file);
  const foreign = outside?.file;
  const what = `${isOne || first === second ? `the accesses of line ${first}` : `the accesses of lines ${first} and ${second}`}${foreign === undefined ? '' : ` of ${foreign}`}`;
  const between = (isBarrier: (marker: number) => boolean): number =>
    markersBetween(pair.subject.kernel, pair.first, pair.second, isBarrier, pair.scope).size;
  const size = between((marker) => safe.has(marker));
  if (isOne && (between(() => false) === 0 || (size === 0 && !needsGrid)))
    return `several threads execute the same access on line ${first} to the same element, and no barrier can separate them`;
  if (needsGrid) return `${what} race between blocks, which only a barrier of the grid can order`;
  if (size === 0 && foreign !== undefined)
    return `no barrier in ${source.file} can separate ${what}${calledAt(source, outside)}, and Selvage does not edit ${foreign}`;
  const macro = first === second && foreign === undefined ? macroAt(source, Number(first)) : undefined;
  if (size === 0 && macro !== undefined)
    return `${what} are inside the macro ${macro}, and Selvage does not edit macros`;
  if (size === 0) return `no barrier can be added between ${what}`;
  return `only some threads reach the code between ${what}, so no barrier can be added there`;
}

/** By which line of the file, and by what name, code of another file is called. */
function calledAt({ file, text, lineStarts }: CudaSource, outside: Location | undefined): string {
  let frame = outside;
  while (frame && frame.file !== file) frame = frame.inlinedAt;
  if (!frame) return '';
  const line = text.slice(lineStarts[frame.line - 1], lineStarts[frame.line] ?? text.length);
  const calls = [...line.matchAll(/\b(?!(?:if|for|while|switch|sizeof)\b)([A-Za-z_]\w*)\s*(?:<[^;()]*>\s*)?\(/g)];
  return calls.length === 1
    ? ` in ${calls[0]![1]}, which line ${frame.line} calls`
    : `, which line ${frame.line} calls`;
}

/** A macro of the file that a line uses. */
function macroAt({ text, lineStarts, macros }: CudaSource, line: number): string | undefined {
  const words = new Set(text.slice(lineStarts[line - 1], lineStarts[line] ?? text.length).match(/\b[A-Za-z_]\w*\b/g));
  return macros.find(({ name, parameters }) => parameters !== undefined && words.has(name))?.name;
}

/** The line of an access of an open pair, if it is in a file. */
export function lineIn(file: string, pair: UnorderedPair, id: InstructionId): number | undefined {
  const place = placeOf(pair, id);
  return place?.file === file ? place.line : undefined;
}

function placeOf({ subject }: UnorderedPair, id: InstructionId): Location | undefined {
  return outsideToolkit(instructionOf(subject.kernel, id)?.location);
}

/** For words alone: the compiler gives no line to what it moves or merges. */
function placeBeside({ subject: { kernel } }: UnorderedPair, id: InstructionId): Location | undefined {
  const instruction = instructionOf(kernel, id);
  return instruction && writtenAt(kernel, instruction);
}

function instructionOf({ blocks }: Kernel, id: InstructionId): Instruction | undefined {
  for (const { instructions } of blocks)
    for (const instruction of instructions) if (instruction.id === id) return instruction;
  return undefined;
}
