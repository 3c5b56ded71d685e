/**
 * Compares the analysis of each test kernel with one production build of the same file by nvcc, in the same run:
 * `npm run bench [-- --repetitions N] [-- WORD…]`. Two times of ours. Fresh: `dist/cli.js check` on the PTX, start of
 * Node included; one process for the file or, where its kernels have different launches, one for each. Warm: the whole
 * pipeline but the compiler in a process that did it before. Each is the best of the repetitions, which take turns. The
 * exit code is 1 where the median ratio of the fresh processes is above the limit.
 *
 * `npm run bench -- machine [-- WORD…]` measures the machine instead: see `machine.ts`.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Dim3, Launch } from '../../src/check/launch.ts';
import { findAssets } from '../../src/driver/assets.ts';
import { defaultOptions } from '../../src/driver/options.ts';
import { analyse } from '../../src/driver/pipeline.ts';
import { prepare, type PreparedKernel } from '../../src/driver/prepare.ts';
import { openProject } from '../../src/driver/project.ts';
import type { AnalysisRequest, BuiltUnit } from '../../src/driver/request.ts';
import { openSourceFacts } from '../../src/driver/source-facts.ts';

const limit = 0.5;
const root = fileURLToPath(new URL('../..', import.meta.url));
const commandLine = join(root, 'dist/cli.js');
const { values, positionals } = parseArgs({
  options: { repetitions: { type: 'string', default: '3' } },
  allowPositionals: true,
});
const repetitions = Number(values.repetitions);

interface Row {
  readonly file: string;
  readonly nvcc: number;
  readonly fresh: number;
  readonly warm: number;
  /** How many processes `fresh` is the sum of. */
  readonly processes: number;
}

const scratch = mkdtempSync(join(tmpdir(), 'selvage-bench-'));
try {
  if (positionals[0] === 'machine') await import('./machine.ts');
  else await measureAnalysis();
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function measureAnalysis(): Promise<void> {
  const files = globSync('test/kernels/**/*.cu', { cwd: root })
    .filter((file) => positionals.length === 0 || positionals.some((word) => file.includes(word)))
    .sort();
  const rows: Row[] = [];
  const skipped: string[] = [];
  for (const file of files) {
    const row = await measure(file);
    if (typeof row === 'string') skipped.push(`${file}: ${row}`);
    else rows.push(row);
  }
  print(rows, skipped);
}

async function measure(file: string): Promise<Row | string> {
  const request = await compiled(file);
  const facts = await openSourceFacts(request);
  const kernels = (await prepare(request, facts)).flatMap((unit) => unit.kernels);
  const launches = kernels.flatMap((kernel) => kernel.launches.map((launch) => ({ kernel, launch })));
  if (launches.some(({ launch }) => launch.block === null || launch.grid === null)) return 'symbolic dimensions';
  const invocations = invocationsOf(launches);
  const unit = request.units[0];
  const built = unit && (await request.builder.build(unit, 'verification', 'sm_80'));
  if (built?.ptx === undefined) return 'does not compile';
  const ptx = join(scratch, `${basename(file, '.cu')}.ptx`);
  writeFileSync(ptx, built.ptx);

  const best = { nvcc: Infinity, fresh: Infinity, warm: Infinity };
  const output = join(scratch, 'production.ptx');
  await analyse(request);
  for (let repetition = 0; repetition < repetitions; repetition += 1) {
    best.nvcc = Math.min(
      best.nvcc,
      await timed(() => command('nvcc', ['-ptx', '-arch=sm_80', join(root, file), '-o', output])),
    );
    best.fresh = Math.min(
      best.fresh,
      await timed(() => {
        for (const options of invocations) {
          command(process.execPath, [commandLine, 'check', ptx, '--format', 'json', '--no-cache', ...options]);
        }
      }),
    );
    best.warm = Math.min(best.warm, await timed(() => analyse(request)));
  }
  return { file, ...best, processes: invocations.length };
}

/** A request whose builder compiles each build once. */
async function compiled(file: string): Promise<AnalysisRequest> {
  const request = await openProject({
    paths: [join(root, file)],
    nvccArguments: [],
    options: defaultOptions(),
    progress: { log: () => undefined, defect: () => undefined },
    services: {
      cwd: root,
      environment: process.env,
      assets: findAssets(new URL('../../src/cli.ts', import.meta.url).href),
    },
  });
  const builds = new Map<string, Promise<BuiltUnit>>();
  const build: AnalysisRequest['builder']['build'] = (unit, kind, arch) => {
    const key = `${unit.path} ${kind} ${arch}`;
    const known = builds.get(key) ?? request.builder.build(unit, kind, arch);
    builds.set(key, known);
    return known;
  };
  return { ...request, builder: { ...request.builder, build } };
}

interface KernelLaunch {
  readonly kernel: PreparedKernel;
  readonly launch: Launch;
}

/** Options for each process: one for the file where all kernels have the same launch, else one for each launch. */
function invocationsOf(launches: readonly KernelLaunch[]): string[][] {
  const options = launches.map(({ kernel, launch }) => [
    '--fail-on',
    'never',
    '--block',
    dimensions(launch.block),
    '--grid',
    dimensions(launch.grid),
    ...(launch.sharedBytes === null ? [] : ['--shared', String(launch.sharedBytes)]),
    ...[...launch.scalars].flatMap(([index, value]) => ['--arg', `param${index}=${value}`]),
    ...kernel.assumptions.flatMap(({ text }) => ['--assume', withPositions(text, kernel)]),
  ]);
  const kernels = new Set(launches.map(({ kernel }) => kernel));
  const [first] = options;
  const same = options.every((list) => list.join('\0') === first?.join('\0'));
  if (first && same && kernels.size === launches.length) return [first];
  return options.map((list, index) => [...list, '--kernel', launches[index]?.kernel.name.qualified ?? '']);
}

function dimensions(value: Dim3 | null): string {
  return (value ?? []).join(',');
}

/** An assumption in the names that PTX has for parameters: their positions. */
function withPositions(text: string, { parameters }: PreparedKernel): string {
  return parameters.reduce(
    (renamed, { name }, index) => renamed.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), `param${index}`),
    text,
  );
}

async function timed(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

function command(program: string, args: readonly string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8', maxBuffer: 2 ** 26 });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} exited with ${status}:\n${stderr}`);
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1
    ? (sorted[middle] ?? NaN)
    : ((sorted[middle - 1] ?? NaN) + (sorted[middle] ?? NaN)) / 2;
}

function print(rows: readonly Row[], skipped: readonly string[]): void {
  const name = (row: Row): string =>
    relative('test/kernels', row.file) + (row.processes > 1 ? ` (${row.processes})` : '');
  const width = Math.max(20, ...rows.map((row) => name(row).length));
  const line = (first: string, ...cells: readonly string[]): void =>
    console.log(first.padEnd(width) + cells.map((cell) => cell.padStart(12)).join(''));
  const figures = (first: string, { nvcc, fresh, warm }: Pick<Row, 'nvcc' | 'fresh' | 'warm'>): void =>
    line(
      first,
      ...[nvcc, fresh, warm].map((time) => time.toFixed(0)),
      (fresh / nvcc).toFixed(2),
      (warm / nvcc).toFixed(2),
    );
  line('file (processes)', 'nvcc ms', 'fresh ms', 'warm ms', 'fresh/nvcc', 'warm/nvcc');
  for (const row of rows) figures(name(row), row);
  const ratio = median(rows.map(({ fresh, nvcc }) => fresh / nvcc));
  const above = rows.filter(({ fresh, nvcc }) => fresh / nvcc > limit).length;
  console.log(
    `\nmedian of ${rows.length} files: fresh/nvcc ${ratio.toFixed(2)}, ` +
      `warm/nvcc ${median(rows.map(({ warm, nvcc }) => warm / nvcc)).toFixed(2)}; ` +
      `${above} above ${limit}; best of ${repetitions}, ${process.version}`,
  );
  for (const reason of skipped) console.log(`not measured: ${reason}`);
  if (!(ratio <= limit)) process.exitCode = 1;
}
