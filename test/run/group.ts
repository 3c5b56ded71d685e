/** Runs the given files of tests in this process, and sends the results to its parent process. */
import { relative, resolve } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';

/** The line before failures, as the reporter of Node writes it. */
const failing = '\n✖ failing tests:\n';

/** The final message of a process of tests. */
export interface GroupResult {
  /** Milliseconds by file. */
  readonly taken: Readonly<Record<string, number>>;
  readonly counts: Readonly<Record<string, number>>;
}

const files = process.argv.slice(2);
const taken: Record<string, number> = Object.fromEntries(files.map((file) => [file, 0]));
let counts: Record<string, number> = {};
const began = performance.now();

const events = run({ files, isolation: 'none' });
const ended = ({ file, nesting, details }: { file?: string; nesting: number; details: { duration_ms: number } }): void => {
  const path = file === undefined ? '' : relative(process.cwd(), file);
  if (nesting === 0 && path in taken) taken[path]! += details.duration_ms;
};
events.on('test:pass', ended);
events.on('test:fail', (data) => {
  process.exitCode = 1;
  ended(data);
});
events.on('test:summary', (data) => {
  if (data.file === undefined) counts = { ...data.counts };
  if (!data.success) process.exitCode = 1;
});
for await (const text of events.compose(spec)) process.stdout.write(text);
// Node does not report a file that throws before its tests. Modules are not loaded twice.
for (const file of files) {
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${failing}✖ ${file}\n${inspect(error)}\n`);
  }
}
// The time of a file before its first test is attributed only to a single file.
if (files.length === 1) taken[files[0]!] = performance.now() - began;
process.send?.({ taken, counts } satisfies GroupResult);
process.disconnect?.();
