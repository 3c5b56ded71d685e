/**
 * Time of validators: `npm run bench -- idempotency [WORD…]`, where words select files of the corpus. For each
 * conditional kernel, a million calls of its validator in C on launches of the corpus, and a few calls of the
 * JavaScript form on the same launches; each call is timed separately, less the overhead of the clock. Also the time of
 * the compiler for all of them.
 *
 * The exit code is 1 if the median over the kernels, or the slowest kernel, is over the limit.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { CheckedKernel } from '../../src/app/build/phase-data.ts';
import { validatorsOf } from '../../src/app/idempotency/validators.ts';
import { checkKernels } from '../../src/app/pipeline/project-check.ts';
import { findAssets } from '../../src/app/project/assets.ts';
import type { ValidatorCondition } from '../../src/idempotency/model/quantity.ts';
import { isKnownToHold, type InstanceArguments } from '../../src/idempotency/validator/instance-condition.ts';
import { corpusFiles, readCorpus, type CorpusKernel } from '../idempotency/corpus.ts';
import { bufferAddress, launchesOf, packedArguments } from '../idempotency/launches.ts';
import { compiled, line, quantile, timed } from './measure.ts';

/** Nanoseconds: of the kernel in the middle, and of the slowest. */
const [mostMedian, mostWorst] = [100, 1000];
const launchesOfKernel = 40;
const javaScriptCalls = 2000;

const root = fileURLToPath(new URL('../..', import.meta.url));
const words = process.argv.slice(3);
const folder = mkdtempSync(join(tmpdir(), 'selvage-bench-'));

interface MeasuredLaunch extends InstanceArguments {
  readonly allocations: readonly { readonly start: bigint; readonly bytes: bigint }[];
}

interface Conditional {
  readonly name: string;
  readonly checked: CheckedKernel;
  readonly condition: ValidatorCondition;
  readonly launches: readonly MeasuredLaunch[];
}

try {
  const corpus = readCorpus();
  const kernels: Conditional[] = [];
  for (const file of corpusFiles().filter((one) => words.length === 0 || words.some((word) => one.includes(word))))
    kernels.push(
      ...(await conditionalKernels(
        file,
        corpus.filter((kernel) => kernel.file === file),
      )),
    );
  const { cpu, figures } = inC(kernels);
  const medians = figures.map(({ median }) => median);
  const [middle, worst] = [quantile(medians, 0.5), Math.max(...medians)];
  const highs = figures.map(({ high }) => high);
  console.log(
    `${kernels.length} conditional kernels, a million calls each: median ${middle} ns (at most ${mostMedian}), ` +
      `worst kernel's median ${worst} ns (at most ${mostWorst}); 99.99th percentile: median ${quantile(highs, 0.5)} ns, ` +
      `worst ${Math.max(...highs)} ns. The compiler takes ${(cpu / kernels.length).toFixed(0)} ms of CPU a validator.`,
  );
  line('kernel', 'yes, %', 'median ns', '99.99 % ns', 'JavaScript ns');
  for (const [index, { name, condition, launches }] of kernels.entries()) {
    const { yes, median, high } = figures[index]!;
    const share = (100 * yes) / 1_000_000;
    line(name, share.toFixed(0), String(median), String(high), inJavaScript(condition, launches).toFixed(0));
  }
  if (!(middle <= mostMedian && worst <= mostWorst)) process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function conditionalKernels(file: string, corpus: readonly CorpusKernel[]): Promise<Conditional[]> {
  const job = await compiled(join(root, file), { checks: ['idempotency'] });
  const { kernels } = await checkKernels(job);
  return kernels.flatMap((checked) => {
    const kernel = corpus.find(({ name }) => name === checked.entry.name.qualified);
    if (!kernel || checked.idempotency?.class !== 'conditional') return [];
    const launches = launchesOf(kernel, launchesOfKernel, 1).map((launch): MeasuredLaunch => {
      const { bytes, offsets } = packedArguments(launch);
      const { grid, block, sharedBytes, buffers } = launch;
      const allocations = buffers.map((size, buffer) => ({
        start: BigInt(bufferAddress(kernel, buffer)),
        bytes: BigInt(size),
      }));
      return {
        arguments: bytes,
        offsets,
        grid,
        block,
        dynamicShared: sharedBytes,
        allocations,
        allocation: (address) => allocations.find(({ start, bytes: size }) => address >= start && address < start + size),
      };
    });
    return [{ name: kernel.name, checked, condition: checked.idempotency.condition, launches }];
  });
}

interface Figures {
  readonly yes: number;
  readonly median: number;
  readonly high: number;
}

/** Compiles the validators and times them. @returns also the CPU time of the compiler in milliseconds */
function inC(kernels: readonly Conditional[]): { readonly cpu: number; readonly figures: readonly Figures[] } {
  const { validatorHeaders } = findAssets(new URL('../../src/cli.ts', import.meta.url).href);
  for (const [name, path] of validatorHeaders) copyFileSync(path, join(folder, name));
  writeFileSync(join(folder, 'validators.c'), validatorsOf(kernels.map(({ checked }) => checked)));
  const at = (name: string): string => join(folder, name);
  const { cpu } = timed(at('output'), 'cc', ['-std=c11', '-O2', '-c', at('validators.c'), '-o', at('validators.o')]);
  const driver = fileURLToPath(new URL('validator-bench.c', import.meta.url));
  execFileSync('cc', ['-std=c11', '-O2', `-I${folder}`, driver, at('validators.o'), '-o', at('bench')]);
  const input = kernels.flatMap(({ launches }) => [
    wordsOf([launches.length]),
    ...launches.flatMap(({ grid, block, dynamicShared, allocations, arguments: bytes }) => [
      wordsOf([...grid, ...block, dynamicShared, allocations.length]),
      new Uint8Array(new BigUint64Array(allocations.flatMap(({ start, bytes: size }) => [start, size])).buffer),
      bytes,
    ]),
  ]);
  const output = execFileSync(at('bench'), { input: Buffer.concat(input), encoding: 'utf8' });
  const figures = output
    .trim()
    .split('\n')
    .map((text): Figures => {
      const [yes = 0, median = 0, high = 0] = text.split(' ').map(Number);
      return { yes, median, high };
    });
  return { cpu, figures };
}

function wordsOf(numbers: readonly number[]): Uint8Array {
  return new Uint8Array(new Uint32Array(numbers).buffer);
}

/** The median call of the JavaScript form, in nanoseconds. */
function inJavaScript(condition: ValidatorCondition, launches: readonly InstanceArguments[]): number {
  const times: number[] = [];
  for (let call = 0; call < javaScriptCalls; call += 1) {
    const launch = launches[call % launches.length]!;
    const start = process.hrtime.bigint();
    isKnownToHold(condition, launch);
    times.push(Number(process.hrtime.bigint() - start));
  }
  return quantile(times, 0.5);
}
