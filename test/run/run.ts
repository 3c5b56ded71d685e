/**
 * Runs the tests: `npm test`, or `npm run test:long` for those of `*.long.ts`; names of files run these alone. What the
 * runs have in common is kept in the user's cache folder: the stripped and compiled code of `src/` and `test/`, the
 * builds of nvcc, what types were found right, and how long each file took.
 */
import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, relative } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { keptNvcc } from './kept-nvcc.ts';
import { keepSeconds, longestFirst, slowestFiles } from './slowest-files.ts';

const [first, ...others] = process.argv.slice(2);
const isLong = first === '--long';
const named = isLong || first === undefined ? others : [first, ...others];
const files = globSync(named.length > 0 ? named : isLong ? 'test/**/*.long.ts' : 'test/**/*.test.ts').sort();
if (files.length === 0) throw new Error(`no such files: ${named.join(' ')}`);

const stated = process.env['XDG_CACHE_HOME'];
const folder = join(stated !== undefined && isAbsolute(stated) ? stated : join(homedir(), '.cache'), 'selvage-test');
const nvcc = await keptNvcc(join(folder, 'nvcc'));
process.env['SELVAGE_TEST_CACHE'] = folder;
process.env['NODE_COMPILE_CACHE'] = join(folder, 'code');
// A test sees what a check comes to, not what an earlier one came to.
process.env['SELVAGE_CACHE'] = 'off';
if (nvcc !== null) process.env['PATH'] = `${nvcc}:${process.env['PATH']}`;

const seconds = join(folder, 'seconds.json');
const taken = new Map<string, number>();
// In place of `node --test`, which sorts the files by their names.
const events = run({ files: longestFirst(files, seconds), concurrency: 2 });
events.on('test:summary', ({ file, success, duration_ms }) => {
  if (file !== undefined) taken.set(relative(process.cwd(), file), duration_ms / 1000);
  else if (!success) process.exitCode = 1;
});
events.on('test:fail', () => (process.exitCode = 1));
for await (const text of events.compose(spec)) process.stdout.write(text);
process.stdout.write(slowestFiles(taken));
keepSeconds(taken, seconds);
