/**
 * Times of repair on the test kernels without one of their barriers, and on generated kernels with 300 candidates:
 * `npm run bench -- repair [--part K/N] [WORD…]`, with the word `generated` for only the latter. For each, the number
 * of compilations for the repair (the two builds of the check not counted, two builds at a time), and the number of
 * these builds that only compare placements; the wall time in which nvcc or ptxas ran, and ours: the repair without
 * these; the CPU time of this process from the first build of the repair on, which depends less on other load; the
 * number of candidate sets that were tried, and of checks. `--part K/N` takes every Nth mutant. Needs nvcc.
 */
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { BuildKind, UnitBuilder } from '../../src/app/project/unit-builder.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { mutantsOf } from '../repair/mutants.ts';
import { repairText } from '../repair/repair-file.ts';
import { manyBarriers } from './generated-kernel.ts';

interface Row {
  readonly name: string;
  readonly compiles: number;
  readonly ties: number;
  /** Wall time, in milliseconds. */
  readonly nvcc: number;
  readonly own: number;
  /** CPU time of this process, in milliseconds. */
  readonly cpu: number;
  readonly iterations: number;
  readonly checks: number;
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { part: { type: 'string' } } });
const words = positionals.slice(1);
const [part = 1, parts = 1] = (values.part ?? '1/1').split('/').map(Number);
const rows: Row[] = [];
let position = 0;
for (const file of kernelFiles()) {
  if (words.length > 0 && !words.some((word) => file.includes(word))) continue;
  for (const mutant of (await mutantsOf(file)).filter(({ deleted }) => deleted.length === 1)) {
    if (position++ % parts !== part - 1) continue;
    const row = await measure(mutant.text, basename(file), mutant.kernel ?? undefined);
    if (!row) continue;
    rows.push({ ...row, name: `${file} -${mutant.deleted[0]}` });
    console.log(describe(rows.at(-1)!));
  }
}
const median = (of: (row: Row) => number): number => rows.map(of).sort((a, b) => a - b)[rows.length >> 1] ?? 0;
if (rows.length > 0)
  console.log(
    describe({
      name: `median of ${rows.length}`,
      compiles: median(({ compiles }) => compiles),
      ties: median(({ ties }) => ties),
      nvcc: median(({ nvcc }) => nvcc),
      own: median(({ own }) => own),
      cpu: median(({ cpu }) => cpu),
      iterations: median(({ iterations }) => iterations),
      checks: median(({ checks }) => checks),
    }),
  );
if (words.length === 0 || words.includes('generated')) {
  for (const missing of [1, 2, 8, Infinity]) {
    const row = await measure(manyBarriers(300, missing), 'generated.cu');
    if (!row) throw new Error('the generated kernel is not repaired');
    const name = `300 candidates, ${missing === Infinity ? 'all barriers' : `${missing} of the barriers`} missing`;
    console.log(describe({ ...row, name }));
  }
}

function describe({ name, compiles, ties, nvcc, own, cpu, iterations, checks }: Row): string {
  const share = ((100 * nvcc) / Math.max(1, nvcc + own)).toFixed(0);
  return `${name}: ${compiles} compiles, ${ties} of them comparisons, nvcc and ptxas ${nvcc.toFixed(0)} ms (${share} %), ours ${own.toFixed(0)} ms (${cpu.toFixed(0)} ms of CPU), ${iterations} iterations, ${checks} oracle calls`;
}

/** Null if there is nothing to repair. */
async function measure(text: string, name: string, kernel?: string): Promise<Omit<Row, 'name'> | null> {
  const built: Record<BuildKind, number> = { verification: 0, production: 0 };
  let running = 0;
  let since = 0;
  let nvcc = 0;
  let used: NodeJS.CpuUsage | undefined;
  const timed = async <Result>(tool: () => Promise<Result>): Promise<Result> => {
    if (running++ === 0) since = performance.now();
    try {
      return await tool();
    } finally {
      if (--running === 0) nvcc += performance.now() - since;
    }
  };
  const around = (builder: UnitBuilder): UnitBuilder => ({
    ...builder,
    async build(unit, kind, arch, edited) {
      // The file as it is is compiled for the check.
      if (edited === undefined) return builder.build(unit, kind, arch);
      used ??= process.cpuUsage();
      built[kind]++;
      return timed(() => builder.build(unit, kind, arch, edited));
    },
    resources: (...asked) => timed(() => builder.resources!(...asked)),
  });
  const options = {
    checks: ['race', 'divergence', 'repair'],
    timings: true,
    ...(kernel !== undefined && { kernel }),
  } as const;
  const { report } = await repairText(text, name, options, around);
  const { user, system } = process.cpuUsage(used);
  const repairs = report.kernels.map(({ repair }) => repair);
  const done = repairs.filter(({ status }) => status === 'repaired' || status === 'unrepairable');
  if (done.length === 0) return null;
  return {
    compiles: built.verification + built.production,
    // One production build is that of the verified file.
    ties: Math.max(0, built.production - Math.max(1, built.verification - 1)),
    nvcc,
    own: report.timings!['repair']! - nvcc,
    cpu: (user + system) / 1000,
    iterations: done.reduce((sum, { iterations = 0 }) => sum + iterations, 0),
    checks: done.reduce((sum, { checks = 0 }) => sum + checks, 0),
  };
}
