/**
 * Compares reports on the test kernels, from their checked-in PTX: of two runs, of one job and two, of this thread and
 * workers, which must be the same byte for byte, and the verdicts with the bundled Z3 and with that of PATH:
 * `npm run suite -- determinism [WORD…]`. The exit code is 1 where reports differ, or where one solver proves what the
 * other shows to be wrong.
 */
import { findNativeZ3 } from '../../src/solver/z3-native.ts';
import type { Report } from '../../src/driver/report.ts';
import { renderJson } from '../../src/report/json.ts';
import { analyseCheckedIn, type CheckedInOptions } from '../kernels/checked-in.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';

const words = process.argv.slice(3);
const files = kernelFiles().filter((file) => words.length === 0 || words.some((word) => file.includes(word)));

const alike: Readonly<Record<string, CheckedInOptions>> = {
  'a second run': { options: { jobs: 1 } },
  'two jobs': { options: { jobs: 2 } },
  'two workers': { options: { jobs: 2 }, checking: { limits: { alone: 0, stretch: 1 } } },
};
const differing = new Map(Object.keys(alike).map((name) => [name, [] as string[]]));
const between = { verdicts: 0, asked: 0, differ: [] as string[], opposite: [] as string[] };
const native = findNativeZ3(process.env['PATH']);

for (const file of files) {
  const report = await analyseCheckedIn(file, { options: { jobs: 1 } });
  const text = renderJson(report);
  for (const [name, options] of Object.entries(alike)) {
    if (renderJson(await analyseCheckedIn(file, options)) !== text) differing.get(name)!.push(file);
  }
  if (native !== undefined) compare(file, report, await analyseCheckedIn(file, { options: { solver: 'native' } }));
}

console.log(`${files.length} files, ${process.version}`);
for (const [name, list] of differing) {
  console.log(`one job against ${name}: ${list.length} reports differ${list.map((file) => `\n  ${file}`).join('')}`);
}
if (native === undefined) console.log('no z3 on PATH: solvers were not compared');
else {
  const { verdicts, asked, differ, opposite } = between;
  const share = ((100 * differ.length) / Math.max(1, verdicts)).toFixed(1);
  console.log(
    `wasm against native: ${differ.length} of ${verdicts} verdicts differ (${share} %), ${opposite.length} opposite`,
  );
  console.log(`  ${asked} of ${files.length} files ask the solver`);
  for (const line of differ) console.log(`  ${line}`);
}
if (between.opposite.length > 0 || [...differing.values()].some((list) => list.length > 0)) process.exitCode = 1;

function compare(file: string, wasm: Report, other: Report): void {
  if (other.toolchain.solver !== null) between.asked += 1;
  for (const [index, kernel] of wasm.kernels.entries()) {
    for (const check of ['race', 'divergence'] as const) {
      const pair = [kernel[check].verdict, other.kernels[index]![check].verdict];
      between.verdicts += 1;
      if (pair[0] === pair[1]) continue;
      const line = `${file}: ${kernel.name}: ${check} ${pair.join(' with the bundled Z3, with the other ')}`;
      between.differ.push(line);
      const isWrong = (verdict: string | undefined): boolean => verdict === 'race' || verdict === 'divergent';
      if (pair.includes('proved') && pair.some(isWrong)) between.opposite.push(line);
    }
  }
}
