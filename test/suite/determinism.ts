/**
 * Compares reports on the test kernels, from their checked-in PTX: of two runs, of one job and two, of this thread and
 * workers, which must be the same byte for byte, and the verdicts with the bundled Z3 and with that of PATH:
 * `npm run suite -- determinism [WORD…]`. The exit code is 1 if reports differ, or if one solver proves a property that
 * the other refutes.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { kernelFiles, root } from '../kernels/portable-ptx.ts';
import type { FileComparison } from './reports-of-file.ts';

const words = process.argv.slice(3);
const files = kernelFiles().filter((file) => words.length === 0 || words.some((word) => file.includes(word)));
const program = fileURLToPath(new URL('reports-of-file.ts', import.meta.url));

const broken: string[] = [];
const unlike = new Map<string, string[]>();
const solvers = { files: 0, asking: 0, verdicts: 0, differing: [] as string[], opposite: [] as string[] };

for (const file of files) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [program, file], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  if (status !== 0) {
    broken.push(`${file}: ended with ${signal ?? status}: ${stderr.trim().split('\n')[0]}`);
    continue;
  }
  const comparison = JSON.parse(stdout) as FileComparison;
  for (const [name, same] of Object.entries(comparison.same)) {
    unlike.set(name, [...(unlike.get(name) ?? []), ...(same ? [] : [file])]);
  }
  compareSolvers(file, comparison);
}

console.log(`${files.length} files, ${process.version}; ${broken.length} not compared${listed(broken)}`);
for (const [name, list] of unlike) console.log(`one job against ${name}: ${list.length} reports differ${listed(list)}`);
if (solvers.files === 0) console.log('no z3 on PATH: solvers are not compared');
else {
  const { verdicts, asking, differing, opposite } = solvers;
  const share = ((100 * differing.length) / Math.max(1, verdicts)).toFixed(1);
  console.log(
    `wasm against native: ${differing.length} of ${verdicts} verdicts differ (${share} %), ${opposite.length} of them ` +
      `opposite; ${asking} of ${solvers.files} files ask the solver${listed(differing)}`,
  );
}
if ([broken, solvers.opposite, ...unlike.values()].some((list) => list.length > 0)) process.exitCode = 1;

function compareSolvers(file: string, { wasm, native, asksSolver }: FileComparison): void {
  if (native === null) return;
  solvers.files += 1;
  if (asksSolver) solvers.asking += 1;
  for (const [index, kernel] of wasm.entries()) {
    for (const check of ['race', 'divergence'] as const) {
      const pair = [kernel[check], native[index]![check]];
      solvers.verdicts += 1;
      if (pair[0] === pair[1]) continue;
      const line = `${file}: ${kernel.kernel}: ${check}: ${pair.join(' with the bundled Z3, with the other ')}`;
      solvers.differing.push(line);
      if (pair.includes('proved') && (pair.includes('race') || pair.includes('divergent'))) solvers.opposite.push(line);
    }
  }
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `\n  ${line}`).join('');
}
