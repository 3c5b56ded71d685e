/**
 * Time of the cost analysis compared with nvcc, for each test kernel: `npm run bench -- cost [--repetitions N]
 * [WORD…]`, where words select files. Measured alternately, the best of the repetitions each:
 *
 * - nvcc: the production build of the CUDA file to PTX, with all processes that it starts.
 * - analysis: bounds of both builds, occupancy, and all of the pipeline before them except compiler and assembler, in a
 *   process that did it before. CPU time of all threads.
 *
 * The exit code is 1 if the median share of nvcc is over the limit.
 */
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkProject } from '../../src/app/pipeline/project-check.ts';
import { best, compiled, type Cost, line, measured, quantile, timed } from './measure.ts';

/** CPU time of the analysis in that of nvcc. */
const mostMedian = 0.3;

const root = fileURLToPath(new URL('../..', import.meta.url));
const { values, positionals } = parseArgs({
  options: { repetitions: { type: 'string', default: '3' } },
  allowPositionals: true,
});
const repetitions = Number(values.repetitions);
const words = positionals.filter((word) => word !== 'cost');

const scratch = mkdtempSync(join(tmpdir(), 'selvage-bench-'));
try {
  const files = globSync(['test/kernels/**/*.cu', 'test/cost/**/*.cu'], { cwd: root })
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort();
  line('file, ms', 'nvcc cpu', 'analysis cpu', '/nvcc');
  const shares: number[] = [];
  for (const file of files) {
    const { nvcc, analysis } = await measure(file);
    const share = analysis.cpu / nvcc.cpu;
    shares.push(share);
    line(relative('test', file), nvcc.cpu.toFixed(0), analysis.cpu.toFixed(0), share.toFixed(2));
  }
  const [median, ninthDecile] = [quantile(shares, 0.5), quantile(shares, 0.9)];
  console.log(
    `\n${files.length} files, best of ${repetitions}, ${process.version}; share of nvcc: ` +
      `median ${median.toFixed(2)} (at most ${mostMedian}), 90th percentile ${ninthDecile.toFixed(2)}`,
  );
  if (!(median <= mostMedian)) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measure(file: string): Promise<{ nvcc: Cost; analysis: Cost }> {
  const job = await compiled(join(root, file), { checks: ['cost'] });
  const output = join(scratch, 'output');
  await checkProject(job);
  const nvcc: Cost[] = [];
  const analysis: Cost[] = [];
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    nvcc.push(timed(output, 'nvcc', ['-ptx', '-arch=sm_80', join(root, file), '-o', join(scratch, 'production.ptx')]));
    analysis.push(await measured(() => checkProject(job)));
  }
  return { nvcc: best(nvcc), analysis: best(analysis) };
}
