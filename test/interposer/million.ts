/**
 * Launches through the interposer under the driver of the tests: `node test/interposer/million.ts [COUNT
 * [THREADS]] [--valgrind]`. Prints verdicts and time; with `--valgrind` the leaks and errors that valgrind reports.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InterposerBuild } from './interposer-build.ts';

const args = process.argv.slice(2);
const [count = '1000000', threads = '4'] = args.filter((arg) => !arg.startsWith('--'));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-interposer-')));
try {
  const build = new InterposerBuild(folder);
  const flags = ['valgrind', '--leak-check=full', '--errors-for-leak-kinds=definite,indirect,possible'];
  const command = [...(args.includes('--valgrind') ? [...flags, '--error-exitcode=9'] : []), build.path('program')];
  const begin = process.hrtime.bigint();
  const { status, output, errors } = build.run(['many', build.text, count, threads], {}, command);
  const milliseconds = Number(process.hrtime.bigint() - begin) / 1e6;
  process.stdout.write(`${output}${errors}status ${status}, ${milliseconds.toFixed(0)} ms\n`);
  process.exitCode = status ?? 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
