/**
 * Compares the reports on a file on an idle machine and on a busy one, byte for byte:
 * `npm run suite -- load FILE… [--busy N] [--options="WORD…"] [-- NVCC ARG…]`. During the second check of a file N
 * processes (default 8) count without end. A verdict that `--timeout` cut is a failure too. The exit code is 1 if there
 * is a failure.
 */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const at = process.argv.indexOf('--', 3);
const [own, compiler] = at < 0 ? [process.argv.slice(3), []] : [process.argv.slice(3, at), process.argv.slice(at)];
const { values, positionals } = parseArgs({
  args: own,
  options: { busy: { type: 'string', default: '8' }, options: { type: 'string', default: '' } },
  allowPositionals: true,
});
if (positionals.length === 0) {
  process.stderr.write('usage: npm run suite -- load FILE… [--busy N] [--options="WORD…"] [-- NVCC ARG…]\n');
  process.exit(2);
}

let failures = 0;
for (const file of positionals) {
  const idle = await check(file);
  const counting = Array.from({ length: Number(values.busy) }, () => spawn(process.execPath, ['-e', 'for (;;);']));
  const busy = await check(file).finally(() => counting.forEach((process) => process.kill('SIGKILL')));
  const isCut = [idle, busy].some(({ text }) => text.includes('"nondeterministic"'));
  const isSame = idle.text === busy.text && idle.text !== '';
  if (isCut || !isSame) failures++;
  const verdict = isSame ? 'same' : `differs from byte ${firstDifference(idle.text, busy.text)} of ${idle.text.length}`;
  const seconds = [idle, busy].map(({ took }) => `${(took / 1000).toFixed(0)} s`).join(' and ');
  console.log(`${file}: ${verdict}${isCut ? ', cut by the time limit' : ''} (${seconds})`);
}
console.log(`${positionals.length} files, ${failures} failures`);
if (failures > 0) process.exitCode = 1;

function check(file: string): Promise<{ readonly text: string; readonly took: number }> {
  const options = values.options.split(' ').filter((word) => word !== '');
  const words = ['check', file, '--format', 'json', '--no-cache', ...options, ...compiler];
  const started = performance.now();
  return new Promise((done) => {
    const child = spawn(process.execPath, [commandLine, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.on('close', () => done({ text, took: performance.now() - started }));
  });
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}
