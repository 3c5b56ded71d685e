/**
 * `npm run bench -- repositories CHECKOUT… [--each N] [--limit N] [-- NVCC ARGS…]`: the CPU and wall time of `selvage check` for
 * the CUDA files of checkouts, compared with `nvcc -c` and `nvcc -ptx` in the same run, and the verdicts. Each file is measured
 * once, from the folder of its checkout, so that include folders are relative to that; `--each 10` takes every tenth file.
 * A file that nvcc does not compile with the given arguments is left out.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { line, quantile, timed } from './measure.ts';

interface Measured {
  readonly file: string;
  /** CPU over `nvcc -c` and over `nvcc -ptx`, and wall time over `nvcc -c`. */
  readonly ratios: readonly [number, number, number];
  readonly verdicts: Readonly<Record<string, number>>;
}

const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const words = process.argv.slice(3);
const end = words.includes('--') ? words.indexOf('--') : words.length;
const { values, positionals } = parseArgs({
  args: words.slice(0, end),
  options: { each: { type: 'string', default: '1' }, limit: { type: 'string', default: 'Infinity' } },
  allowPositionals: true,
});
const flags = words.slice(end + 1);
const scratch = mkdtempSync(join(tmpdir(), 'selvage-bench-'));
const found: Measured[] = [];
try {
  line('file', 'nvcc -c ms', 'selvage ms', '/ nvcc -c', '/ nvcc -ptx', 'wall', 'verdicts');
  for (const checkout of positionals) {
    const files = filesOf(checkout).filter((_, at) => at % Number(values.each) === 0);
    for (const file of files.slice(0, Number(values.limit))) measure(checkout, file);
  }
  for (const share of [0.5, 0.9, 1]) {
    const of = (which: 0 | 1 | 2): string =>
      quantile(
        found.map(({ ratios }) => ratios[which]),
        share,
      ).toFixed(2);
    line(share === 1 ? `most of ${found.length} files` : `${share * 100} % of ${found.length} files`, '', '', of(0), of(1), of(2));
  }
  line('verdicts', textOf(found.map(({ verdicts }) => verdicts)));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The CUDA files below a folder, by path. */
function filesOf(checkout: string): readonly string[] {
  const all = readdirSync(checkout, { recursive: true, encoding: 'utf8' });
  return all.filter((file) => file.endsWith('.cu')).sort();
}

function measure(checkout: string, file: string): void {
  const output = join(scratch, 'output');
  const report = join(scratch, 'report.json');
  const compile = (...kind: string[]) =>
    timed(output, 'nvcc', [...kind, '-arch=sm_80', ...flags, '-o', join(scratch, 'unit'), file], {}, checkout);
  try {
    const [object, ptx] = [compile('-c'), compile('-ptx')];
    const options = ['--no-cache', '--jobs', '1', '--arch', 'sm_80', '--fail-on', 'never', '--format', 'json', '--output', report];
    const whole = timed(output, process.execPath, [commandLine, 'check', file, ...options, '--', ...flags], {}, checkout);
    const { kernels } = JSON.parse(readFileSync(report, 'utf8')) as { kernels: readonly { race: { verdict: string } }[] };
    const verdicts: Record<string, number> = {};
    for (const { race } of kernels) verdicts[race.verdict] = (verdicts[race.verdict] ?? 0) + 1;
    const ratios = [whole.cpu / object.cpu, whole.cpu / ptx.cpu, whole.wall / object.wall] as const;
    found.push({ file, ratios, verdicts });
    line(
      file.slice(-44),
      object.cpu.toFixed(0),
      whole.cpu.toFixed(0),
      ...ratios.map((ratio) => ratio.toFixed(2)),
      `  ${textOf([verdicts])}`,
    );
  } catch (error) {
    line(file.slice(-44), 'left out', `  ${error instanceof Error ? error.message.slice(0, 70) : ''}`);
  }
}

function textOf(list: readonly Readonly<Record<string, number>>[]): string {
  const sum = new Map<string, number>();
  for (const verdicts of list) for (const [verdict, count] of Object.entries(verdicts)) sum.set(verdict, (sum.get(verdict) ?? 0) + count);
  return [...sum].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
}
