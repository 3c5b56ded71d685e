/**
 * The kernels of the proofs under random launches, arguments and contents: the count of the interpreter for the
 * worst warp is never above the bound. `node test/cost/drawn-runs.ts SEED RUNS [NAME]` prints the comparisons,
 * in both builds: failures, the share of bounds that a run attained, and the 90th percentile of the error.
 */
import { declarationOf } from '../../src/check/context/scalars.ts';
import type { Dim3 } from '../../src/base/dim3.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { seededRandom, type Random } from '../../src/base/random.ts';
import { fieldName } from '../../src/launch/parameter-field.ts';
import type { CheckRequest } from '../../src/check/request/check-request.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import type { RunRequest } from '../../src/interpreter/core/run-request.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { requestsOf } from '../fuzz/soundness-run.ts';
import { checkedInPtx } from '../kernels/checked-in.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { builds } from '../interpreter/machine-kernels.ts';
import { compareRun, emptyTally, type Tally, tallyText } from './compared-run.ts';

export interface DrawnTally extends Tally {
  /** Kernels of which some run ended, by build. */
  readonly kernels: Record<Build, number>;
}

const elements = 2048;

/**
 * Runs the kernels of files, by default all, in both builds, several times.
 * @param steps after which a run is aborted: nothing is compared then
 */
export async function compareDrawn(
  seed: number,
  runs: number,
  files: readonly string[] = kernelFiles(),
  steps = 1_000_000,
): Promise<DrawnTally> {
  const tally: DrawnTally = { ...emptyTally(), kernels: { verification: 0, production: 0 } };
  for (const file of files) {
    const produced = new Map(
      lowerModule(parsePtx(checkedInPtx(file, 'production'), file).module).kernels.map((kernel) => [kernel.symbol, kernel]),
    );
    for (const request of await requestsOf(file)) {
      const random = seededRandom(seed);
      for (const build of builds) {
        const kernel = build === 'verification' ? request.kernel : produced.get(request.kernel.symbol);
        let ended = false;
        for (let run = 0; kernel && run < runs; run++)
          ended = compareOnce(`${file} ${request.name} ${build}`, request, kernel, random, steps, tally) || ended;
        if (ended) tally.kernels[build]++;
      }
    }
  }
  return tally;
}

/** A launch of a kernel with random sizes, arguments and contents; null if it is too large to be run. */
export interface DrawnRun {
  readonly request: Omit<RunRequest, 'observer'>;
  /** Values of the integer parameters by name. */
  readonly values: ReadonlyMap<string, bigint>;
}

/**
 * Generates a launch.
 * @param steps after which the run is aborted
 * @param bytes of each array; null: unbounded
 */
export function drawnRun(
  { launch, parameters }: CheckRequest,
  kernel: Kernel,
  random: Random,
  steps: number,
  bytes: number | null = null,
): DrawnRun | null {
  const block: Dim3 = launch.block ?? kernel.requiredThreads ?? [random.pick([1, 31, 32, 33, 64, 96, 200, 256]), 1, 1];
  const grid: Dim3 = launch.grid ?? [random.between(1, 4), 1, 1];
  const threads = block[0] * block[1] * block[2];
  if (threads * grid[0] * grid[1] * grid[2] > 8192) return null;
  const buffers: GlobalBuffer[] = [];
  const values = new Map<string, bigint>();
  const given = kernel.parameters.map(({ index, bytes: size }): Argument => {
    const { type = '' } = parameters[index] ?? {};
    if (type.includes('*')) {
      const most = random.pick([1, 4, 64]);
      const contents = Array.from({ length: elements }, (_, element) => [element, BigInt(random.below(most + 1))] as const);
      buffers.push({ name: `${index}`, bytes, elementBytes: 4, fill: 0n, values: new Map(contents) });
      return { kind: 'pointer', buffer: buffers.length - 1, offset: 0n };
    }
    const chosen = random.pick([0, 1, 2, 3, 5, 8, 16, 20, 33, 64, 100, threads, 1000]);
    const value = launch.scalars.get(index) ?? BigInt.asUintN(8 * size, BigInt(chosen));
    values.set(fieldName(parameters, { index, offset: 0 }, kernel), BigInt.asIntN(8 * size, value));
    return { kind: 'scalar', value };
  });
  const sharedBytes = launch.sharedBytes ?? 4096;
  return { request: { kernel, block, grid, sharedBytes, buffers, arguments: given, steps, detectRaces: true }, values };
}

function compareOnce(name: string, checked: CheckRequest, kernel: Kernel, random: Random, steps: number, tally: Tally): boolean {
  const drawn = drawnRun(checked, kernel, random, steps);
  if (!drawn) return false;
  const { launch, parameters } = checked;
  const { request, values } = drawn;
  const { block, grid } = request;
  const bounds = boundKernel({
    kernel,
    dimensions: { block, grid },
    sharedBytes: launch.sharedBytes,
    declaredAs: (index, offset) => declarationOf(parameters[index], offset),
    parameterName: (index, offset) =>
      declarationOf(parameters[index], offset) === 'pointer' ? null : fieldName(parameters, { index, offset }, kernel),
  });
  const shape = `block ${block.join(',')} grid ${grid.join(',')}`;
  const title = `${name} ${shape} ${[...values].map(([text, number]) => `${text}=${number}`).join(' ')}`;
  return compareRun(title, request, bounds, (text) => values.get(text), tally);
}

if (import.meta.filename === process.argv[1]) {
  const [seed = '1', runs = '2', wanted = ''] = process.argv.slice(2);
  const files = kernelFiles().filter((name) => name.includes(wanted));
  const tally = await compareDrawn(Number(seed), Number(runs), files);
  console.log(tally.failures.join('\n'));
  console.log(JSON.stringify(tally.kernels), tallyText(tally));
}
