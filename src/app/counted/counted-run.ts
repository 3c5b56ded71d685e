/** Runs a kernel under a launch with counters: costs of the whole launch and of each line. */
import type { Dim3 } from '../../base/dim3.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../../check/context/facts.ts';
import { generatedContents } from '../../check/representative/contents.ts';
import type { LaunchInstance } from '../../check/representative/representative-launches.ts';
import { type Contents, replayRequest } from '../../check/witness/replay.ts';
import { randomScenario } from '../../check/witness/random-scenario.ts';
import type { GlobalBuffer } from '../../interpreter/core/arguments.ts';
import { type Counts, LaunchCounters, addCounts, noCounts } from '../../interpreter/counters.ts';
import { runKernel } from '../../interpreter/machine.ts';
import { RepeatedElements } from './repeated-elements.ts';
import { type Location, outsideToolkit } from '../../source/location.ts';

/** Counts of a launch. */
export interface CountedRun {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Counts of all its blocks, extrapolated from those that were run. */
  readonly totals: Counts;
  /** By file and line, as `file.cu:3`. */
  readonly lines: ReadonlyMap<string, CountedLine>;
}

/** A run with its counters. */
interface WatchedRun<Counters extends LaunchCounters> extends CountedRun {
  readonly counters: Counters;
  /**
   * Number of blocks of the grid that an executed block represents, by its index among the executed ones. The last
   * block represents only itself.
   */
  readonly weightOf: (ordinal: number) => number;
}

interface CountedLine {
  readonly location: Location;
  readonly counts: Counts;
}

/** Maximum number of thread-instructions of one run. Counting takes about a microsecond for each. */
const usualSteps = 1_500_000;

/** Maximum number of executed blocks of a larger grid: the first two, some in between, and the last. */
const maxBlocks = 6;
/** Maximum number of initialised elements of an array. */
const maxElements = 1 << 15;
/** Maximum number of threads of a launch that is executed completely. */
const maxThreads = 4096;

/**
 * Counts a launch.
 * @param steps maximum number of thread-instructions
 * @returns null if it does not terminate, or depends on values that the run does not determine
 */
export function countLaunch(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  steps: number = usualSteps,
): CountedRun | null {
  return watchLaunch(context, setting, steps, () => new LaunchCounters());
}

/**
 * Maximum factor by which a bound may exceed the maximum instructions of a block. Launches with a higher bound are not
 * run.
 */
const loosest = 8;

/**
 * Like {@link countLaunch}, with custom counters.
 * @param makeCounters creates the counters of one run; a run that is too long is repeated with fewer blocks
 * @param stepsOfBlock maximum thread-instructions of a block; null without a bound
 */
export function watchLaunch<Counters extends LaunchCounters>(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  steps: number,
  makeCounters: () => Counters,
  stepsOfBlock: number | null = null,
): WatchedRun<Counters> | null {
  const { block, grid } = setting;
  const count = grid[0] * grid[1] * grid[2];
  const whole = [...Array(count <= maxBlocks || count * block[0] * block[1] * block[2] <= maxThreads ? count : 0).keys()];
  const run = (blocks: readonly number[]) =>
    stepsOfBlock !== null && blocks.length * stepsOfBlock > loosest * steps
      ? 'too-long'
      : countBlocks(context, setting, blocks, steps, makeCounters());
  const counted = run(whole.length > 0 ? whole : sampleOf(context, setting, count));
  // If the run is too long, it is repeated with only two blocks.
  return counted === 'too-long' ? settled(run(count > 2 ? [0, count - 1] : [])) : settled(counted);
}

function settled<Run>(counted: Run | 'too-long' | null): Run | null {
  return counted === 'too-long' ? null : counted;
}

function countBlocks<Counters extends LaunchCounters>(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  blocks: readonly number[],
  steps: number,
  counters: Counters,
): WatchedRun<Counters> | 'too-long' | null {
  if (blocks.length === 0) return null;
  const { kernel, request, fields } = context;
  const { launch, parameters } = request;
  const { block, grid } = setting;
  const count = grid[0] * grid[1] * grid[2];
  // A constant seed: both sides of a comparison read the same memory contents.
  const scenario = randomScenario(context, setting, 0, blocks);
  const asked = replayRequest(kernel, parameters, fields, launch, scenario, steps, false);
  const buffers = asked.buffers.map((buffer) => lengthened(buffer, scenario.settled.get(buffer.name)));
  const result = runKernel({ ...asked, buffers, detectRaces: false, observer: counters });
  if (result.outcome === 'budget') return 'too-long';
  if (result.outcome !== 'finished' || result.faults.length > 0 || result.brokenAssumptions.length > 0) return null;
  // The last block may have less work than the others.
  const isLast = ({ block: at }: { readonly block: Dim3 }): boolean => at.every((place, axis) => place === grid[axis]! - 1);
  const weight = blocks.length === count ? 1 : (count - 1) / (blocks.length - 1);
  const totals = noCounts();
  const inner = noCounts();
  for (const warp of counters.warps) {
    const { block: at, warp: number, ...counts } = warp;
    void at;
    void number;
    if (isLast(warp)) addCounts(totals, counts);
    else addCounts(inner, counts);
  }
  addCounts(totals, scaled(inner, weight));
  const weightOf = (ordinal: number): number => (blocks[ordinal] === count - 1 ? 1 : weight);
  return { block, grid, totals, lines: linesOf(counters, count / blocks.length), counters, weightOf };
}

/**
 * Blocks that are executed: the first two, some in between, and the last. If generated contents affect the blocks, they
 * are contiguous.
 */
function sampleOf(context: KernelAndLaunch & SymbolicFacts, setting: LaunchInstance, count: number): number[] {
  const isDrawn = generatedContents(context, setting, 0).size > 0;
  const between = isDrawn ? [2, 3] : [1 / 4, 1 / 2, 3 / 4].map((share) => Math.floor(count * share));
  return [...new Set([0, 1, ...between, count - 1])].sort((a, b) => a - b);
}

/** Extends an array by repeating its contents. Ascending contents and pointers are not repeated. */
function lengthened(buffer: GlobalBuffer, contents: Contents | undefined): GlobalBuffer {
  const isOrdered = typeof contents === 'object' && /^(?:ascending|pointers)$/.test(contents.kind);
  if (isOrdered || buffer.pointers || buffer.values.size === 0) return buffer;
  return { ...buffer, values: new RepeatedElements(buffer.values, buffer.fill, maxElements) };
}

function scaled(counts: Counts, weight: number): Counts {
  return Object.fromEntries(Object.entries(counts).map(([name, amount]) => [name, amount * weight])) as unknown as Counts;
}

function linesOf(counters: LaunchCounters, weight: number): Map<string, CountedLine> {
  const sums = new Map<string, { readonly location: Location; readonly counts: ReturnType<typeof noCounts> }>();
  let latest: Location | undefined;
  for (const { place, counts } of counters.places) {
    const own = 'location' in place ? place.location : undefined;
    // A jump has no line number: it is attributed to the line of the preceding instruction.
    const location = (own && (outsideToolkit(own) ?? own)) ?? latest;
    latest = location;
    if (!location) continue;
    const key = `${location.file}:${location.line}`;
    const line = sums.get(key) ?? { location: { file: location.file, line: location.line }, counts: noCounts() };
    sums.set(key, line);
    addCounts(line.counts, scaled(counts, weight));
  }
  return sums;
}
