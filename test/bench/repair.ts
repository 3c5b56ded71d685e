/**
 * Times of repair on the test kernels without one of their barriers, and on generated kernels with 300 candidates:
 * `npm run bench -- repair [-- WORD…]`, with the word `generated` for the latter alone. For each, how often the file is
 * compiled for the repair (the two builds of the check not counted), the wall time in which nvcc ran, and ours: all of
 * the repair but that; how many settings of the candidates were asked about, and in how many checks. Needs nvcc.
 */
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { UnitBuilder } from '../../src/driver/request.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { mutantsOf } from '../repair/mutants.ts';
import { repairText } from '../repair/repair-file.ts';
import { manyBarriers } from './generated-kernel.ts';

interface Row {
  readonly name: string;
  readonly compiles: number;
  readonly nvcc: number;
  readonly own: number;
  readonly iterations: number;
  readonly checks: number;
}

const { positionals } = parseArgs({ allowPositionals: true, strict: false });
const words = positionals.slice(1);
const rows: Row[] = [];
for (const file of kernelFiles()) {
  if (words.length > 0 && !words.some((word) => file.includes(word))) continue;
  for (const mutant of (await mutantsOf(file)).filter(({ deleted }) => deleted.length === 1)) {
    const row = await measure(mutant.text, basename(file));
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
      nvcc: median(({ nvcc }) => nvcc),
      own: median(({ own }) => own),
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

function describe({ name, compiles, nvcc, own, iterations, checks }: Row): string {
  return `${name}: ${compiles} compiles, nvcc ${nvcc.toFixed(0)} ms, ours ${own.toFixed(0)} ms, ${iterations} iterations, ${checks} oracle calls`;
}

/** Null where there is nothing to repair. */
async function measure(text: string, name: string): Promise<Omit<Row, 'name'> | null> {
  const checks = ['race', 'divergence'] as const;
  const plain = await timed(text, name, [...checks]);
  const whole = await timed(text, name, [...checks, 'repair']);
  const repairs = whole.repairs.filter(({ status }) => status === 'repaired' || status === 'unrepairable');
  if (repairs.length === 0) return null;
  return {
    compiles: whole.compiles - plain.compiles,
    nvcc: whole.nvcc - plain.nvcc,
    own: whole.total - whole.nvcc - (plain.total - plain.nvcc),
    iterations: repairs.reduce((sum, { iterations = 0 }) => sum + iterations, 0),
    checks: repairs.reduce((sum, { checks = 0 }) => sum + checks, 0),
  };
}

async function timed(text: string, name: string, checks: ('race' | 'divergence' | 'repair')[]) {
  let compiles = 0;
  let running = 0;
  let since = 0;
  let nvcc = 0;
  const around = (builder: UnitBuilder): UnitBuilder => ({
    ...builder,
    async build(...request) {
      compiles++;
      if (running++ === 0) since = performance.now();
      try {
        return await builder.build(...request);
      } finally {
        if (--running === 0) nvcc += performance.now() - since;
      }
    },
  });
  const started = performance.now();
  const { report } = await repairText(text, name, { checks }, around);
  return { compiles, nvcc, total: performance.now() - started, repairs: report.kernels.map(({ repair }) => repair) };
}
