/** Source locations, as sentences name them. */
import { outermost, type Location } from '../../source/location.ts';
import { code, listed } from './code-text.ts';

/** A location with its file: `src/a.cu:12:3`. */
export function place({ file, line, column }: Location): string {
  return `${file}:${line}${column === undefined ? '' : `:${column}`}`;
}

/** A line number, `line 14`; with the file if it is not `home`: `` `src/a.cuh:14` ``. */
export function lineText({ file, line }: Location, home: string | undefined): string {
  return file === home ? `line ${line}` : code(`${file}:${line}`);
}

/** The file whose lines are named without the file name: the kernel's file, as far as the locations determine it. */
export function homeOf(locations: readonly (Location | undefined)[]): string | undefined {
  const first = locations.find((location) => location !== undefined);
  return first && outermost(first).file;
}

/** Call sites of inlined code in the kernel itself, each once: ` (called from line 30)`. */
export function calledFrom(locations: readonly (Location | undefined)[], home: string | undefined): string {
  const calls = locations.flatMap((location) => (location?.inlinedAt ? [lineText(outermost(location), home)] : []));
  return calls.length === 0 ? '' : ` (called from ${listed([...new Set(calls)])})`;
}
