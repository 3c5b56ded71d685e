/**
 * The kernels of the proofs under launches, arguments and contents drawn at random: what the machine counts for the
 * worst warp is never above the bound. `node test/cost/drawn-runs.ts SEED RUNS` prints what was compared.
 */
import { seededRandom, type Random } from '../../src/base/random.ts';
import { declarationOf } from '../../src/check/context.ts';
import { fieldName } from '../../src/check/parameter-field.ts';
import type { CheckRequest } from '../../src/check/request.ts';
import { evaluate } from '../../src/cost/expression.ts';
import { print } from '../../src/cost/expression-text.ts';
import { type KernelBounds, boundKernel } from '../../src/cost/kernel-cost.ts';
import { metrics } from '../../src/cost/metric.ts';
import { LaunchCounters } from '../../src/exec/counters.ts';
import type { Argument, Dim3, GlobalBuffer } from '../../src/exec/launch.ts';
import { runKernel } from '../../src/exec/machine.ts';
import type { Kernel } from '../../src/ir/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { requestsOf } from '../fuzz/soundness-run.ts';
import { checkedInPtx } from '../kernels/checked-in.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { worstOf } from './counted-kernel.ts';

export interface DrawnTally {
  /** Kernels of which some run ended. */
  readonly kernels: number;
  readonly runs: number;
  /** Comparisons of a metric in a run, and those in which bound and count are equal. */
  readonly compared: number;
  readonly exact: number;
  /** Metrics without a bound. */
  readonly none: number;
  readonly failures: readonly string[];
}

const elements = 2048;

/** Runs the kernels of files, all unless told otherwise, in both builds, several times. */
export async function compareDrawn(
  seed: number,
  runs: number,
  files: readonly string[] = kernelFiles(),
): Promise<DrawnTally> {
  const tally = { kernels: 0, runs: 0, compared: 0, exact: 0, none: 0, failures: [] as string[] };
  for (const file of files) {
    const produced = new Map(
      lowerModule(parsePtx(checkedInPtx(file, 'production'), file).module).kernels.map((kernel) => [
        kernel.symbol,
        kernel,
      ]),
    );
    for (const request of await requestsOf(file)) {
      const random = seededRandom(seed);
      let ended = false;
      for (const kernel of [request.kernel, produced.get(request.kernel.symbol)]) {
        if (!kernel) continue;
        for (let run = 0; run < runs; run++)
          ended = compareOnce(`${file} ${request.name}`, request, kernel, random, tally) || ended;
      }
      if (ended) tally.kernels++;
    }
  }
  return tally;
}

function compareOnce(
  name: string,
  { launch, parameters }: CheckRequest,
  kernel: Kernel,
  random: Random,
  tally: { runs: number; compared: number; exact: number; none: number; failures: string[] },
): boolean {
  const block: Dim3 = launch.block ?? kernel.requiredThreads ?? [random.pick([1, 31, 32, 33, 64, 96, 200, 256]), 1, 1];
  const grid: Dim3 = launch.grid ?? [random.between(1, 4), 1, 1];
  const threads = block[0] * block[1] * block[2];
  if (threads * grid[0] * grid[1] * grid[2] > 8192) return false;
  const buffers: GlobalBuffer[] = [];
  const values = new Map<string, bigint>();
  const given = kernel.parameters.map(({ index, bytes }): Argument => {
    const { type = '' } = parameters[index] ?? {};
    if (type.includes('*')) {
      const most = random.pick([1, 4, 64]);
      const contents = Array.from(
        { length: elements },
        (_, element) => [element, BigInt(random.below(most + 1))] as const,
      );
      buffers.push({ name: `${index}`, bytes: null, elementBytes: 4, fill: 0n, values: new Map(contents) });
      return { kind: 'pointer', buffer: buffers.length - 1, offset: 0n };
    }
    const chosen = random.pick([0, 1, 2, 3, 5, 8, 16, 20, 33, 64, 100, threads, 1000]);
    const value = launch.scalars.get(index) ?? BigInt.asUintN(8 * bytes, BigInt(chosen));
    values.set(fieldName(parameters, { index, offset: 0 }, kernel), BigInt.asIntN(8 * bytes, value));
    return { kind: 'scalar', value };
  });
  const counters = new LaunchCounters();
  const { outcome, races, divergences } = runKernel({
    kernel,
    block,
    grid,
    sharedBytes: launch.sharedBytes ?? 4096,
    buffers,
    arguments: given,
    steps: 1_000_000,
    detectRaces: true,
    observer: counters,
  });
  // What races may differ between the lanes that read it.
  if (outcome !== 'finished' || races.length > 0 || divergences.length > 0) return false;
  const bounds: KernelBounds = boundKernel({
    kernel,
    dimensions: { block, grid },
    sharedBytes: launch.sharedBytes,
    declaredAs: (index, offset) => declarationOf(parameters[index], offset),
    parameterName: (index, offset) =>
      declarationOf(parameters[index], offset) === 'pointer' ? null : fieldName(parameters, { index, offset }, kernel),
  });
  tally.runs++;
  const worst = worstOf(counters.warps);
  for (const metric of metrics) {
    const { bound } = bounds[metric];
    const value = bound && evaluate(bound, (text) => values.get(text));
    if (!value) {
      tally.none++;
      continue;
    }
    const most = Number(value.top) / Number(value.bottom);
    tally.compared++;
    if (most === worst[metric]) tally.exact++;
    if (most < worst[metric]) {
      const arguments_ = [...values].map(([text, number]) => `${text}=${number}`).join(' ');
      tally.failures.push(
        `${name} block ${block.join(',')} grid ${grid.join(',')} ${arguments_}: ${metric} ${print(bound)} is ${most}, counted ${worst[metric]}`,
      );
    }
  }
  return true;
}

if (import.meta.filename === process.argv[1]) {
  const [seed = '1', runs = '2', wanted = ''] = process.argv.slice(2);
  const files = kernelFiles().filter((name) => name.includes(wanted));
  const { failures, ...tally } = await compareDrawn(Number(seed), Number(runs), files);
  console.log(failures.join('\n'));
  console.log(JSON.stringify(tally), failures.length);
}
