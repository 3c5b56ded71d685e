/**
 * Runs the tests: `npm test`, or `npm run test:long` for those of `*.long.ts`; names of files run these alone. What the
 * runs have in common is kept in the user's cache folder: the stripped and compiled code of `src/` and `test/`, and
 * the builds of nvcc.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { keptNvcc } from './kept-nvcc.ts';

const [first, ...others] = process.argv.slice(2);
const isLong = first === '--long';
const named = isLong || first === undefined ? others : [first, ...others];
const files = named.length > 0 ? named : globSync(isLong ? 'test/**/*.long.ts' : 'test/**/*.test.ts').sort();

const stated = process.env['XDG_CACHE_HOME'];
const folder = join(stated !== undefined && isAbsolute(stated) ? stated : join(homedir(), '.cache'), 'selvage-test');
const nvcc = await keptNvcc(join(folder, 'nvcc'));
const reporters = ['spec', new URL('slowest-files.ts', import.meta.url).href].flatMap((reporter) => [
  `--test-reporter=${reporter}`,
  '--test-reporter-destination=stdout',
]);
const { status } = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...reporters, ...files], {
  stdio: 'inherit',
  env: {
    ...process.env,
    NODE_COMPILE_CACHE: join(folder, 'code'),
    ...(nvcc !== null && { PATH: `${nvcc}:${process.env['PATH']}` }),
  },
});
process.exitCode = status ?? 1;
