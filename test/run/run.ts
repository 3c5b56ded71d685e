/**
 * Runs the tests: `npm test`, or `npm run test:long` for those of `*.long.ts`; with names of files or folders only these. Runs
 * share a cache in the user's cache folder: the stripped and compiled code of `src/` and `test/`, the builds of nvcc,
 * results of type checks, and the time of each file.
 */
import { globSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { GroupResult } from './group.ts';
import { groupsOf } from './groups.ts';
import { keptNvcc } from './kept-nvcc.ts';
import { keepSeconds, knownSeconds, slowestFiles } from './slowest-files.ts';

/** Names of the counts in the output of Node's reporter. */
const told: Readonly<Record<string, string>> = { passed: 'pass', failed: 'fail' };
const summary = /^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) [0-9.]+\n/gm;

const [first, ...others] = process.argv.slice(2);
const isLong = first === '--long';
const named = isLong || first === undefined ? others : [first, ...others];
const pattern = isLong ? '**/*.long.ts' : '**/*.test.ts';
const isFolder = (name: string): boolean => statSync(name, { throwIfNoEntry: false })?.isDirectory() === true;
const wanted = named.map((name) => (isFolder(name) ? join(name, pattern) : name));
const files = globSync(wanted.length > 0 ? wanted : `test/${pattern}`).sort();
if (files.length === 0) throw new Error(`no such files: ${named.join(' ')}`);

const stated = process.env['XDG_CACHE_HOME'];
const folder = join(stated !== undefined && isAbsolute(stated) ? stated : join(homedir(), '.cache'), 'selvage-test');
const nvcc = await keptNvcc(join(folder, 'nvcc'));
process.env['SELVAGE_TEST_CACHE'] = folder;
process.env['NODE_COMPILE_CACHE'] = join(folder, 'code');
// A test observes the result of its check, not a cached one.
process.env['SELVAGE_CACHE'] = 'off';
if (nvcc !== null) process.env['PATH'] = `${nvcc}:${process.env['PATH']}`;

const seconds = join(folder, 'seconds.json');
const taken = new Map<string, number>();
const counts: Record<string, number> = {};
/** Failures, repeated at the end. */
let failures = '';
// Long ones have a process each, and print their progress.
const groups = [...groupsOf(files, knownSeconds(seconds), isLong ? 0 : undefined)];
const began = performance.now();
await Promise.all([work(), work()]);
for (const name of ['tests', 'suites', 'passed', 'failed', 'cancelled', 'skipped', 'todo'])
  process.stdout.write(`ℹ ${told[name] ?? name} ${counts[name] ?? 0}\n`);
process.stdout.write(`ℹ duration_ms ${performance.now() - began}\n${failures}${slowestFiles(taken)}`);
keepSeconds(taken, seconds);

/** Runs one group after the other. */
async function work(): Promise<void> {
  for (let group = groups.shift(); group; group = groups.shift()) await runGroup(group);
}

async function runGroup(group: readonly string[]): Promise<void> {
  const child = fork(join(import.meta.dirname, 'group.ts'), group, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
  let text = '';
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding('utf8');
    stream.on('data', (part: string) => {
      text += part;
      if (isLong) process.stdout.write(part);
    });
  }
  let result: GroupResult | undefined;
  child.on('message', (message) => (result = message as GroupResult));
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  const [passed = '', ...failed] = text.split('\n✖ failing tests:\n');
  if (!isLong) process.stdout.write(passed.replaceAll(summary, ''));
  for (const one of failed) failures += `\n✖ failing tests:\n${one}`;
  const isTold = result !== undefined && (code === 0 || failed.length > 0);
  if (!isTold) failures += `\n✖ ${group.join(' ')}: ended with ${code ?? signal}, see above\n`;
  if (!isTold || code !== 0) process.exitCode = 1;
  for (const [file, milliseconds] of Object.entries(result?.taken ?? {})) taken.set(file, milliseconds / 1000);
  for (const [name, count] of Object.entries(result?.counts ?? {})) counts[name] = (counts[name] ?? 0) + count;
}
