/** The launches of the test kernels for a GPU, with the results of the interpreter for each. */
import { seededRandom } from '../../src/base/random.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import type { RunRequest } from '../../src/interpreter/core/run-request.ts';
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import { firstInterleaved, reversedSchedule } from '../../src/interpreter/core/schedule.ts';
import { LaunchCounters, type WarpCounts } from '../../src/interpreter/counters.ts';
import { runStaged } from '../../src/interpreter/javascript/staged-run.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { drawnRun } from '../cost/drawn-runs.ts';
import { requestsOf } from '../fuzz/soundness-run.ts';
import { readCorpus, type CorpusKernel } from '../idempotency/corpus.ts';
import { bufferAddress, type CorpusLaunch, launchesOf, reexecutionOf } from '../idempotency/launches.ts';
import { checkedInPtx } from '../kernels/checked-in.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { builds } from '../interpreter/machine-kernels.ts';
import { contentsOf, type LaunchRecord, memoryHash, type StoredPointer } from './launch-file.ts';

/** A launch, with the final memory and the counts of one run. */
export interface KnownLaunch {
  /** Name of the kernel, the build and the launch. */
  readonly title: string;
  readonly ptx: string;
  readonly record: Omit<LaunchRecord, 'id'>;
  /** Contents of the buffers after it. */
  readonly left: readonly Uint8Array[];
  /** By warp; empty if they were not requested, or if waiting threads took all the steps. */
  readonly warps: readonly WarpCounts[];
  readonly corpus?: { readonly kernel: CorpusKernel; readonly launch: CorpusLaunch };
}

type Question = Omit<RunRequest, 'observer' | 'kernel'> & { readonly kernel: Kernel };

/** Neither the schedule nor the initial contents of shared memory may matter, or a GPU may leave other memory. */
const orders: readonly (number | undefined)[] = [undefined, reversedSchedule, firstInterleaved, firstInterleaved + 1];

const isClean = ({ outcome, races, divergences, havocs, faults }: RunResult): boolean =>
  outcome === 'finished' && races.length + divergences.length + havocs.length + faults.length === 0;

/** Locations of pointers in memory, and their addresses, to detect that one is unchanged. */
interface Pointers {
  readonly places: readonly StoredPointer[];
  readonly addressOf: (target: StoredPointer['target']) => number;
}

/** @returns null if the final memory depends on the schedule, or is unknown */
function known(title: string, ptx: string, question: Question, pointers: Pointers | null, isCounted: boolean): KnownLaunch | null {
  const sizes = question.buffers.map(({ bytes }) => bytes ?? 0);
  const leftBy = (seed: number | undefined, contentsSeed: number): readonly Uint8Array[] | null => {
    const result = runStaged({ ...question, detectRaces: true, contentsSeed, ...(seed !== undefined && { seed }) });
    return isClean(result) ? sizes.map((size, buffer) => (size > 0 ? result.readBytes(buffer, 0, size) : new Uint8Array())) : null;
  };
  let left: readonly Uint8Array[] | null = null;
  for (const [index, seed] of orders.entries()) {
    const found = leftBy(seed, index);
    if (!found || (left && left.some((bytes, buffer) => Buffer.compare(bytes, found[buffer]!) !== 0))) return null;
    left = found;
  }
  const counters = new LaunchCounters();
  const hasCounts = isCounted && runStaged({ ...question, observer: counters }).outcome === 'finished';
  const buffers = question.buffers.map((buffer, index) => contentsOf(buffer, sizes[index]!).slice());
  const without = (contents: readonly Uint8Array[]): void => {
    for (const { buffer, offset, target } of pointers?.places ?? []) {
      const view = new DataView(contents[buffer]!.buffer, contents[buffer]!.byteOffset);
      if (view.getBigUint64(offset, true) === BigInt(pointers!.addressOf(target))) view.setBigUint64(offset, 0n, true);
    }
  };
  without(buffers);
  without(left!);
  const { kernel, grid, block, cluster, sharedBytes } = question;
  const record: Omit<LaunchRecord, 'id'> = {
    symbol: kernel.symbol,
    grid,
    block,
    ...(cluster && { cluster }),
    sharedBytes,
    buffers,
    pointers: pointers?.places ?? [],
    arguments: question.arguments.map((value, index) => ({ value, bytes: kernel.parameters[index]!.bytes })),
    expected: memoryHash(left!),
  };
  return { title, ptx, record, left: left!, warps: hasCounts ? counters.warps : [] };
}

/** Launches of the corpus of idempotency, on their first contents of memory. */
export function* corpusLaunches(count: number, seed: number): Iterable<KnownLaunch> {
  for (const kernel of readCorpus())
    for (const launch of launchesOf(kernel, count, seed)) {
      const { windows: _, stops: __, seed: ___, ...question } = reexecutionOf(launch, 1, 0);
      const places = launch.arrays.flatMap((array): StoredPointer[] => {
        if (array.contents.kind !== 'pointers') return [];
        const { target, elements } = array.contents;
        const to = launch.arrays.find(({ name }) => name === target)!;
        return Array.from({ length: array.elements }, (____, at) => ({
          buffer: array.buffer,
          offset: array.offset + at * array.type.bytes,
          target: { buffer: to.buffer, offset: to.offset + at * elements * to.type.bytes },
        }));
      });
      const addressOf = ({ buffer, offset }: StoredPointer['target']): number => bufferAddress(kernel, buffer) + offset;
      const title = `${kernel.file} ${kernel.name} launch ${launch.number} (${launch.placement})`;
      const asked = { ...question, detectRaces: true };
      const found = known(title, checkedInPtx(kernel.file, 'production'), asked, { places, addressOf }, false);
      if (found) yield { ...found, corpus: { kernel, launch } };
    }
}

/** Bytes of each array of a random launch. */
const arrayBytes = 16 * 1024;

/** Random launches of the test kernels, whose cost the interpreter counts. */
export async function* drawnLaunches(seed: number, runs: number, files = kernelFiles()): AsyncIterable<KnownLaunch> {
  for (const file of files) {
    const built = new Map(
      builds.map((build: Build) => {
        const { kernels } = lowerModule(parsePtx(checkedInPtx(file, build), file).module, {
          abstractMathematics: false,
        });
        return [build, new Map(kernels.map((kernel) => [kernel.symbol, kernel]))] as const;
      }),
    );
    for (const request of await requestsOf(file)) {
      if (request.launch.cluster !== null) continue;
      for (const build of builds) {
        const kernel = built.get(build)!.get(request.kernel.symbol);
        const random = seededRandom(seed);
        for (let run = 0; kernel && run < runs; run++) {
          const drawn = drawnRun(request, kernel, random, 100_000, arrayBytes);
          if (!drawn || drawn.request.sharedBytes > 48 * 1024) continue;
          const values = [...drawn.values].map(([name, value]) => `${name}=${value}`).join(' ');
          const { block, grid } = drawn.request;
          const title = `${file} ${request.name} ${build} block ${block.join()} grid ${grid.join()} ${values}`;
          const found = known(title, checkedInPtx(file, build), drawn.request, null, true);
          if (found) yield found;
        }
      }
    }
  }
}
