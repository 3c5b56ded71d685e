/**
 * Time of reading machine code compared with generating it: `npm run bench -- sass [FILE.ptx…]`; without files, the PTX
 * of some test kernels. For each, CPU time of ptxas, of reading its cubin with a profile of every kernel, and of
 * comparing the code with the lowered PTX.
 *
 * The exit code is 1 if reading takes more than 5 % of the time of ptxas over all files.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { readCubin } from '../../src/sass/cubin/cubin.ts';
import { profileOf } from '../../src/sass/profile.ts';
import { validateTranslation } from '../../src/sass/translation/translation.ts';
import { best, type Cost, line, measured, sum, timed } from './measure.ts';

const limit = 0.05;
const rounds = 5;
const folder = mkdtempSync(join(tmpdir(), 'selvage-bench-'));
const kernels = (name: string): string => fileURLToPath(new URL(`../sass/${name}`, import.meta.url));

function madePtx(): string[] {
  return [kernels('pairs/after.cu'), kernels('pairs/neutral-after.cu'), kernels('cubins/tile-sum.cu')].map((file) => {
    const ptx = join(folder, `${basename(file)}.ptx`);
    execFileSync('nvcc', ['-ptx', '-lineinfo', '-w', '-arch=sm_80', '-o', ptx, file]);
    return ptx;
  });
}

try {
  const given = process.argv.slice(3);
  const totals: { readonly made: Cost; readonly read: Cost; readonly held: Cost }[] = [];
  line('file', 'ptxas ms', 'reading ms', 'validation ms');
  for (const file of given.length > 0 ? given : madePtx()) {
    const output = join(folder, 'unit.cubin');
    const made = best(
      Array.from({ length: 3 }, () => timed(join(folder, 'log'), 'ptxas', ['-lineinfo', '-arch=sm_80', file, '-o', output])),
    );
    const bytes = new Uint8Array(readFileSync(output));
    const lowered = lowerModule(parsePtx(readFileSync(file, 'utf8')).module).kernels;
    const [reads, holds]: [Cost[], Cost[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      let cubin: ReturnType<typeof readCubin> | undefined;
      reads.push(
        await measured(async () => {
          cubin = readCubin(bytes);
          if ('problem' in cubin) throw new Error(cubin.problem);
          // A report contains the live registers, too.
          for (const { symbol, isKernel } of cubin.functions) if (isKernel) void profileOf(cubin, symbol)?.live;
        }),
      );
      holds.push(
        await measured(async () => {
          if (!cubin || 'problem' in cubin) return;
          for (const kernel of lowered) validateTranslation(kernel, cubin);
        }),
      );
    }
    const cost = { made, read: best(reads), held: best(holds) };
    totals.push(cost);
    line(basename(file), ...[made, cost.read, cost.held].map(({ cpu }) => cpu.toFixed(1)));
  }
  const [made, read, held] = (['made', 'read', 'held'] as const).map((which) => sum(totals.map((one) => one[which])));
  const share = read!.cpu / made!.cpu;
  line('all', ...[made, read, held].map((one) => one!.cpu.toFixed(1)));
  console.log(`\nReading takes ${(100 * share).toFixed(1)} % of the CPU time of ptxas (at most ${100 * limit} %).`);
  if (share > limit) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
