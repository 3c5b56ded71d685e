/**
 * `npm run bench -- process FILE… [--repetitions N] [-- NVCC ARGS…]`: time of a whole `selvage check FILE`, two builds
 * and the search for launches included, compared with `nvcc -ptx -arch=sm_80` on the same file. Measured alternately,
 * the best of the repetitions each; `cpu` is the time of the process and all that it starts on all cores. Quantiles are
 * of the ratios. Findings do not matter here; a file that does not compile is left out.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { best, line, quantile, timed, type Cost } from './measure.ts';

const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const words = process.argv.slice(3);
const end = words.includes('--') ? words.indexOf('--') : words.length;
const { values, positionals } = parseArgs({
  args: words.slice(0, end),
  options: { repetitions: { type: 'string', default: '3' } },
  allowPositionals: true,
});
const flags = words.slice(end + 1);
const scratch = mkdtempSync(join(tmpdir(), 'selvage-bench-'));
const output = join(scratch, 'output');
const ratios: { readonly cpu: number; readonly wall: number }[] = [];
try {
  line('file', 'nvcc cpu', 'selvage cpu', '/nvcc', 'nvcc wall', 'selvage wall', '/nvcc');
  for (const file of positionals) measure(file);
  for (const share of [0.5, 0.9]) {
    const of = (kind: 'cpu' | 'wall') =>
      quantile(
        ratios.map((ratio) => ratio[kind]),
        share,
      ).toFixed(2);
    line(`${share * 100} % of ${ratios.length} files`, '', '', of('cpu'), '', '', of('wall'));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function measure(file: string): void {
  const compiler: Cost[] = [];
  const whole: Cost[] = [];
  try {
    for (let turn = 0; turn < Number(values.repetitions); turn += 1) {
      compiler.push(timed(output, 'nvcc', ['-ptx', '-arch=sm_80', ...flags, '-o', join(scratch, 'unit.ptx'), file]));
      const options = ['check', file, '--fail-on', 'never', '--arch', 'sm_80'];
      whole.push(timed(output, process.execPath, [commandLine, ...options, '--', ...flags]));
    }
  } catch (error) {
    line(basename(file), 'left out', error instanceof Error ? error.message.slice(0, 60) : '');
    return;
  }
  const [nvcc, selvage] = [best(compiler), best(whole)];
  ratios.push({ cpu: selvage.cpu / nvcc.cpu, wall: selvage.wall / nvcc.wall });
  const cells = (['cpu', 'wall'] as const).flatMap((kind) => [
    nvcc[kind].toFixed(0),
    selvage[kind].toFixed(0),
    (selvage[kind] / nvcc[kind]).toFixed(2),
  ]);
  line(basename(file), ...cells);
}
