/** A reporter of `node --test`: which files took longest, so that a slow one is seen in the run that made it slow. */
import { relative } from 'node:path';

interface Summary {
  readonly type: string;
  readonly data: { readonly file?: string; readonly duration_ms?: number };
}

/** Files that are named. */
const named = 20;

/** Yields, when all have run, the slowest files and the sum over all. */
// oxlint-disable-next-line import/no-default-export -- Node loads a reporter by that.
export default async function* slowestFiles(events: AsyncIterable<Summary>): AsyncGenerator<string> {
  const seconds = new Map<string, number>();
  for await (const { type, data } of events)
    if (type === 'test:summary' && data.file !== undefined) seconds.set(data.file, (data.duration_ms ?? 0) / 1000);
  const sorted = [...seconds].sort(([, a], [, b]) => b - a);
  const sum = sorted.reduce((total, [, duration]) => total + duration, 0);
  yield `${sorted.length} files took ${sum.toFixed(0)} file-seconds; the slowest:\n`;
  for (const [file, duration] of sorted.slice(0, named))
    yield `  ${duration.toFixed(1).padStart(6)} s  ${relative(process.cwd(), file)}\n`;
}
