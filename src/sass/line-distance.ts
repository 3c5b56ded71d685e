/** Displacement of the lines of a kernel since the base, computed without the sources. */
import { instructionShape } from './listing.ts';
import type { CodeProfile } from './profile.ts';

/** By line of a file: the instructions without register names, each with its number of occurrences. */
type Shapes = ReadonlyMap<number, ReadonlyMap<string, number>>;

/** Number of lines whose displacements are tried: the lines with the most instructions. */
const maxLines = 24;

/** The instructions of a kernel in one file, by line. */
export function inFile({ lines, version }: CodeProfile, file: string): Shapes {
  return new Map(
    lines.flatMap(({ location, code }) => {
      if (location?.file !== file) return [];
      const shapes = new Map<string, number>();
      for (const one of code) {
        const shape = instructionShape(one, version);
        shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
      }
      return [[location.line, shapes] as const];
    }),
  );
}

/** The displacement at which most instructions are on their line of the base. If several tie, the smallest. */
export function lineDistance(base: Shapes, head: Shapes): number {
  const [from, to] = [base, head].map((side) => longest(side));
  const distances = new Set([0, ...to!.flatMap((line) => from!.map((was) => line - was))]);
  let best = 0;
  let most = -1;
  for (const distance of [...distances].sort((a, b) => Math.abs(a) - Math.abs(b) || a - b)) {
    let common = 0;
    for (const [line, shapes] of head) common += shared(base.get(line - distance), shapes);
    if (common > most) [best, most] = [distance, common];
  }
  return best;
}

function longest(side: Shapes): number[] {
  const size = (shapes: ReadonlyMap<string, number>): number => [...shapes.values()].reduce((sum, one) => sum + one, 0);
  return [...side]
    .sort(([, a], [, b]) => size(b) - size(a))
    .slice(0, maxLines)
    .map(([line]) => line);
}

function shared(a: ReadonlyMap<string, number> | undefined, b: ReadonlyMap<string, number>): number {
  if (!a) return 0;
  let common = 0;
  for (const [shape, many] of b) common += Math.min(many, a.get(shape) ?? 0);
  return common;
}
