/**
 * Time of the analysis compared with nvcc, for each test kernel: `npm run bench -- check [--repetitions N] [WORD…]`,
 * where words select files, and growth is left out. Measured alternately, the best of the repetitions each:
 *
 * - nvcc: the production build of the CUDA file, with all processes that it starts.
 * - process: `dist/cli.js check --checks race,divergence` on the PTX of the verification build, from the start of Node to
 *   its exit: one process for all kernels of the file, as nvcc is one. The settings of the comments in the CUDA file
 *   are passed as options, or as a configuration if kernels differ. `cpu` is its time on all threads, user and system,
 *   and `wall` its wall-clock time. Compiled code is cached by earlier runs, as on a developer's computer (not if CI is
 *   set).
 * - costs: the same with the cost analysis, ptxas included, which the other two omit.
 * - first: as process without cached code, as in a fresh container; once for each file.
 * - analysis: the pipeline without the compiler, in a process that did it before. CPU time of all threads.
 *
 * Then growth: generated kernels of 10 to 640 accesses, the time of their analysis in a warm process, and the exponent
 * of the power of the number of accesses that fits it best. The exit code is 1 if a limit is exceeded, or if verdicts
 * of a process and the analysis differ.
 */
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { checkProject } from '../../src/app/pipeline/project-check.ts';
import { prepare } from '../../src/app/pipeline/prepare.ts';
import type { Report } from '../../src/report-model/report.ts';
import type { Job } from '../../src/app/project/job.ts';
import { type CheckFunction, checksBy } from '../app/workers/checks-by.ts';
import { accessCounts, families } from './generated-kernel.ts';
import { invocationsOf, type Invocation } from './invocation.ts';
import { best, compiled, type Cost, line, measured, quantile, sum, timed } from './measure.ts';

/** CPU time of the analysis in that of nvcc: median and 90th percentile. */
const mostMedianCpu = 0.25;
const mostNinthDecileCpu = 1;
/** Time from the start of the process to its exit in that of nvcc: median. */
const mostMedianWall = 0.4;

const root = fileURLToPath(new URL('../..', import.meta.url));
const commandLine = join(root, 'dist/cli.js');
const { values, positionals } = parseArgs({
  options: { repetitions: { type: 'string', default: '3' } },
  allowPositionals: true,
});
const repetitions = Number(values.repetitions);
const words = positionals.filter((word) => word !== 'check');

interface Row {
  readonly file: string;
  /** Number of processes summed up in `process`: one for each launch of a kernel. */
  readonly processes: number;
  readonly nvcc: Cost;
  readonly process: Cost;
  readonly costs: Cost;
  readonly first: Cost;
  readonly analysis: Cost;
}

const scratch = mkdtempSync(join(tmpdir(), 'selvage-bench-'));
/** Output of the last program. */
const output = join(scratch, 'output');
try {
  await measureFiles();
  if (words.length === 0) await measureGrowth();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measureFiles(): Promise<void> {
  const files = globSync('test/kernels/**/*.cu', { cwd: root })
    .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
    .sort();
  const titles = ['nvcc cpu', 'process cpu', '/nvcc', 'analysis cpu', '/nvcc', 'nvcc wall', 'process wall', '/nvcc'];
  line('file (processes), ms', ...titles);
  const rows: Row[] = [];
  for (const file of files) {
    const row = await measure(file);
    printRow(row);
    rows.push(row);
  }
  printShares(rows);
}

async function measure(file: string): Promise<Row> {
  const job = await compiled(join(root, file));
  const [unit] = job.project.units;
  const built = unit && (await job.project.builder.build(unit, 'verification', 'sm_80'));
  if (built?.ptx === undefined) throw new Error(`${file} does not compile`);
  const folder = join(scratch, file);
  mkdirSync(folder, { recursive: true });
  const ptx = join(folder, 'verification.ptx');
  writeFileSync(ptx, built.ptx);
  const kernels = (await prepare(job)).units.flatMap((prepared) => prepared.kernels);
  const invocations = invocationsOf(kernels, folder);

  const report = await checkProject(job);
  const first: Cost[] = [];
  for (const invocation of invocations) {
    first.push(check(ptx, invocation.options, 'fresh'));
    await compareVerdicts(file, job, report, invocation);
  }
  const nvcc: Cost[] = [];
  const process: Cost[] = [];
  const costs: Cost[] = [];
  const analysis: Cost[] = [];
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    nvcc.push(timed(output, 'nvcc', ['-ptx', '-arch=sm_80', join(root, file), '-o', join(folder, 'production.ptx')]));
    process.push(sum(invocations.map(({ options }) => check(ptx, options, 'kept'))));
    costs.push(sum(invocations.map(({ options }) => check(ptx, options, 'kept', 'race,divergence,cost'))));
    analysis.push(await measured(() => checkProject(job)));
  }
  return {
    file,
    processes: invocations.length,
    nvcc: best(nvcc),
    process: best(process),
    costs: best(costs),
    first: sum(first),
    analysis: best(analysis),
  };
}

/**
 * Prints the verdicts of the last process that differ from those of the analysis. The analysis reads more from the CUDA
 * source than options can state, pointers that a launch passes twice and early returns: if they differ, it is repeated
 * without.
 */
async function compareVerdicts(file: string, job: Job, report: Report, ran: Invocation): Promise<void> {
  const printed = JSON.parse(readFileSync(output, 'utf8')) as Report;
  const differing = (analysed: Report): string[] =>
    ran.launches.flatMap(({ kernel: { kernel, name }, index }) => {
      const verdicts = (of: Report, at: number): string => {
        const launch = of.kernels.find(({ symbol }) => symbol === kernel.symbol)?.launches[at];
        return `${launch?.race.verdict}, ${launch?.divergence.verdict}`;
      };
      const [analysis, alone] = [verdicts(analysed, index), verdicts(printed, 0)];
      return analysis === alone ? [] : [`${file}: ${name.full}: ${alone} by the process, ${analysis} by the analysis`];
    });
  if (differing(report).length === 0) return;
  const check: CheckFunction = ({ departure, launch, ...told }) => {
    void departure;
    return checkKernel({ ...told, launch: { ...launch, aliases: [], samePointers: [] } });
  };
  const different = differing(await checkProject({ ...job, tools: { ...job.tools, openChecks: checksBy(check) } }));
  for (const difference of different) console.log(difference);
  if (different.length > 0) process.exitCode = 1;
}

async function measureGrowth(): Promise<void> {
  for (const { name, source, options } of families) {
    console.log(`\n${name}`);
    line('accesses', 'nvcc cpu', 'analysis cpu', 'wall', 'verdict');
    const points: (readonly [accesses: number, milliseconds: number])[] = [];
    for (const accesses of accessCounts) {
      const file = join(scratch, 'generated.cu');
      writeFileSync(file, source(accesses));
      const job = await compiled(file, options);
      const nvcc = best(
        Array.from({ length: repetitions }, () =>
          timed(output, 'nvcc', ['-ptx', '-arch=sm_80', file, '-o', join(scratch, 'generated.ptx')]),
        ),
      );
      const report = await checkProject(job);
      const costs: Cost[] = [];
      for (let repetition = 0; repetition < repetitions; repetition += 1) {
        costs.push(await measured(() => checkProject(job)));
      }
      const { cpu, wall } = best(costs);
      points.push([accesses, cpu]);
      const verdict = report.kernels.map(({ race }) => race.verdict).join();
      line(String(accesses), ...[nvcc.cpu, cpu, wall].map((time) => time.toFixed(1)), verdict);
    }
    const upper = points.slice(-4);
    console.log(
      `time grows with the accesses to the power ${exponent(points).toFixed(2)}; ` +
        `from ${upper[0]?.[0]} accesses on, ${exponent(upper).toFixed(2)}`,
    );
  }
}

function check(ptx: string, options: readonly string[], cache: 'kept' | 'fresh', checks = 'race,divergence'): Cost {
  const folder = join(scratch, `${cache}-cache`);
  if (cache === 'fresh') rmSync(folder, { recursive: true, force: true });
  const format = ['--format', 'json', '--checks', checks, '--no-cache', '--fail-on', 'never'];
  return timed(output, process.execPath, [commandLine, 'check', ptx, ...format, ...options], {
    XDG_CACHE_HOME: folder,
  });
}

/** The slope of the straight line, by least squares, through the logarithms of both coordinates. */
function exponent(points: readonly (readonly [number, number])[]): number {
  const logarithms = points.map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const meanX = logarithms.reduce((total, [x]) => total + x, 0) / points.length;
  const meanY = logarithms.reduce((total, [, y]) => total + y, 0) / points.length;
  const covariance = logarithms.reduce((total, [x, y]) => total + (x - meanX) * (y - meanY), 0);
  const variance = logarithms.reduce((total, [x]) => total + (x - meanX) ** 2, 0);
  return covariance / variance;
}

function printRow({ file, processes, nvcc, process, analysis }: Row): void {
  const cells = [nvcc.cpu, process.cpu, process.cpu / nvcc.cpu, analysis.cpu, analysis.cpu / nvcc.cpu];
  const all = [...cells, nvcc.wall, process.wall, process.wall / nvcc.wall];
  const name = relative('test/kernels', file) + (processes > 1 ? ` (${processes})` : '');
  line(name, ...all.map((cell, column) => cell.toFixed([2, 4, 7].includes(column) ? 2 : 0)));
}

function printShares(rows: readonly Row[]): void {
  console.log(`\n${rows.length} files, best of ${repetitions}, ${process.version}; shares of nvcc:`);
  line('', 'median', '90th', 'limits');
  const share = (name: string, numbers: readonly number[], median: number, ninthDecile: number): void => {
    const found = [quantile(numbers, 0.5), quantile(numbers, 0.9)];
    const limits = [median, ninthDecile].filter((limit) => limit < Infinity).join(' and ');
    line(name, ...found.map((number) => number.toFixed(2)), limits || 'none');
    if (!found.every((number, index) => number <= (index === 0 ? median : ninthDecile))) process.exitCode = 1;
  };
  const of = (part: 'process' | 'costs' | 'first' | 'analysis', unit: keyof Cost): number[] =>
    rows.map((row) => row[part][unit] / row.nvcc[unit]);
  share('CPU time of the whole process', of('process', 'cpu'), Infinity, Infinity);
  share('CPU time of the analysis, warm', of('analysis', 'cpu'), mostMedianCpu, mostNinthDecileCpu);
  share('wall time of the whole process', of('process', 'wall'), mostMedianWall, Infinity);
  share('CPU time with costs', of('costs', 'cpu'), Infinity, Infinity);
  share('wall time with costs', of('costs', 'wall'), Infinity, Infinity);
  share('CPU time of a first process', of('first', 'cpu'), Infinity, Infinity);
  share('wall time of a first process', of('first', 'wall'), Infinity, Infinity);
}
