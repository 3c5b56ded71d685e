/**
 * Compares the launches that Selvage states for the programs of a checkout of NVIDIA/cuda-samples with those that the
 * programs make: `npm run suite -- recorded-launches CHECKOUT [FILTER…]`. The sources of a folder are one program, which
 * is linked with the recording runtime of `test/host-oracle/` and run without arguments for at most 10 s. A program that
 * does not compile, or that needs more of CUDA than that runtime has, is listed with the reason. The exit code is 1 if a
 * launch is not stated, or a stated number differs.
 */
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { readLaunches } from '../host-oracle/compare.ts';
import { addRecording, nothingMeasured } from '../host-oracle/measured-unit.ts';
import { compileRecording, parametersIn, runRecording } from '../host-oracle/record.ts';

const [, given, ...words] = process.argv.slice(2);
if (given === undefined) {
  process.stderr.write('usage: npm run suite -- recorded-launches CHECKOUT [FILTER…]\n');
  process.exit(2);
}
const checkout = realpathSync(given);
const folders = [...new Set(globSync('**/*.cu', { cwd: join(checkout, 'Samples') }).map((path) => dirname(path)))].sort();
const sum = nothingMeasured();
let exited = 0;

for (const folder of folders.filter((path) => words.length === 0 || words.some((word) => path.includes(word)))) {
  const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-recorded-')));
  try {
    await compareProgram(folder, join(scratch, basename(folder)));
  } catch (error) {
    process.stdout.write(`${folder}: ${causeOf(error)}\n`);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
const { programs, launches: all, known, missing, reasons } = sum;
process.stdout.write(`${programs} programs with launches, ${exited} of them exited; ${all} launches: ${JSON.stringify(known)}\n`);
for (const [reason, number] of [...reasons].toSorted((a, b) => b[1] - a[1]).slice(0, 25)) process.stdout.write(`${number} ${reason}\n`);
if (missing.length > 0) process.exitCode = 1;

/** Why a program could not be compiled, linked or read: the first line that names an error. */
function causeOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const missing = new Set([...text.matchAll(/undefined reference to `([^']+)'/g)].map(([, name]) => name!));
  if (missing.size > 0) return `not linked: ${[...missing].slice(0, 6).join(', ')}`;
  return text.split('\n').find((line) => /error|Error/.test(line)) ?? text.split('\n')[0]!;
}

async function compareProgram(sample: string, folder: string): Promise<void> {
  mkdirSync(folder);
  cpSync(join(checkout, 'Samples', sample), folder, { recursive: true });
  const sources = globSync('*.{cu,cpp}', { cwd: folder }).sort();
  const flags = [`-I${join(checkout, 'Common')}`, `-I${folder}`];
  const executable = await compileRecording(sources, folder, { flags });
  const recording = await runRecording(executable, []);
  const { launches, exit } = recording;
  if (launches.length === 0) {
    process.stdout.write(`${sample}: no launch (${exit.kind})\n`);
    return;
  }
  const parameters = parametersIn(readFileSync(executable.parameters, 'utf8'));
  const reading = await readLaunches(sources, folder, parameters, { flags });
  sum.programs++;
  if (exit.kind === 'exited') exited++;
  const before = sum.missing.length;
  addRecording(recording, reading.launches, sample, sum);
  for (const one of new Set(sum.missing.slice(before))) process.stdout.write(`${one}\n`);
  const kernels = new Set(launches.map(({ kernel }) => kernel)).size;
  process.stdout.write(`${sample}: ${launches.length} launches of ${kernels} kernels (${exit.kind})\n`);
}
