/** Places in the source, as sentences name them. */
import { outermost, type Location } from '../../source/location.ts';
import { code, listed } from './code-text.ts';

/** `src/a.cu:12:3`. */
export function place({ file, line, column }: Location): string {
  return `${file}:${line}${column === undefined ? '' : `:${column}`}`;
}

/** `line 14`, or `` `src/a.cuh:14` `` outside `home`. */
export function lineText({ file, line }: Location, home: string | undefined): string {
  return file === home ? `line ${line}` : code(`${file}:${line}`);
}

/** The file whose lines sentences name only by number: that of the kernel, as far as locations determine it. */
export function homeOf(locations: readonly (Location | undefined)[]): string | undefined {
  const first = locations.find((location) => location !== undefined);
  return first && outermost(first).file;
}

/** ` (called from line 30)` for code that was inlined: the calls in the kernel itself, each once. */
export function calledFrom(locations: readonly (Location | undefined)[], home: string | undefined): string {
  const calls = locations.flatMap((location) => (location?.inlinedAt ? [lineText(outermost(location), home)] : []));
  return calls.length === 0 ? '' : ` (called from ${listed([...new Set(calls)])})`;
}
