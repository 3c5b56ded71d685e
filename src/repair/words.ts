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

/** Where barriers were put and taken away, in words. */
export function describePlacement({ added, removed }: Placement, candidates: readonly BarrierCandidate[]): string {
  const lines = (markers: readonly number[]): string => {
    const all = [...new Set(markers.map((marker) => lineAt(candidates[marker]!)))].sort((a, b) => a - b);
    return `${all.length === 1 ? 'line' : 'lines'} ${all.join(', ')}`;
  };
  const parts: string[] = [];
  const warp = added.filter(({ state }) => state === 'warp').map(({ marker }) => marker);
  const block = added.filter(({ state }) => state === 'block').map(({ marker }) => marker);
  const grid = added.filter(({ state }) => state === 'grid').map(({ marker }) => marker);
  if (block.length > 0)
    parts.push(`${block.length === 1 ? 'a barrier' : `${block.length} barriers`} at ${lines(block)}`);
  const fences = added.filter(({ state }) => state === 'fence').map(({ marker }) => marker);
  if (fences.length > 0)
    parts.push(`${fences.length === 1 ? 'a fence' : `${fences.length} fences`} at ${lines(fences)}`);
  if (warp.length > 0)
    parts.push(`${warp.length === 1 ? 'a barrier' : `${warp.length} barriers`} of the warp at ${lines(warp)}`);
  if (grid.length > 0)
    parts.push(`${grid.length === 1 ? 'a barrier' : `${grid.length} barriers`} of the grid at ${lines(grid)}`);
  const placed = parts.join(', ');
  if (removed.length === 0) return placed;
  const gone = `the ${removed.length === 1 ? 'barrier' : 'barriers'} at ${lines(removed)} that some threads miss`;
  return placed === '' ? `without ${gone}` : `${placed} in place of ${gone}`;
}

/** Where the edit puts it: behind the statement above, though blank lines may follow there. */
function lineAt(candidate: BarrierCandidate): number {
  return candidate.kind === 'before' && candidate.previous
    ? Math.min(candidate.previous.endLine + 1, candidate.line)
    : candidate.line;
}

/** Why no placement helps, in words. */
export function describeNone(
  { reason, races, needsGrid, safe }: Extract<SearchResult, { kind: 'none' }>,
  source: CudaSource,
  reasonText: (reason: Reason) => string,
): string {
  const [pair] = races;
  if (!pair)
    return `no placement of barriers is proved: ${reason.kind === 'no-candidate' ? 'no candidate lies between the accesses' : reasonText(reason)}`;
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
    return `threads make the access of line ${first} to the same element at once, and no barrier can come between them`;
  if (needsGrid) return `${what} race between blocks, which only a barrier of the grid can order`;
  if (size === 0 && foreign !== undefined)
    return `no statement boundary of ${source.file} lies between ${what}${calledAt(source, outside)}, and that file is not edited`;
  const macro = first === second && foreign === undefined ? macroAt(source, Number(first)) : undefined;
  if (size === 0 && macro !== undefined)
    return `${what} are in what the macro ${macro} stands for, and no barrier can be put into a macro`;
  if (size === 0) return `no statement boundary lies between ${what}`;
  return `only some threads come to the places between ${what}, so no barrier can stand there`;
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
