/**
 * Tests by re-execution whether a launch is idempotent: the launch is stopped at many steps, under several schedules,
 * and executed from its start on the memory that is left. It is idempotent if memory then equals that of one run, in
 * every byte. State of a kernel outside of global memory is initialised in each run, with unknown contents.
 */
import { seededRandom } from '../../base/random.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import type { Argument, GlobalBuffer } from '../../interpreter/core/arguments.ts';
import { type GlobalMemory, regionBase, regionSlot } from '../../interpreter/core/global-memory.ts';
import type { RunRequest } from '../../interpreter/core/run-request.ts';
import type { RunOutcome, RunResult } from '../../interpreter/core/run-result.ts';
import { reversedSchedule } from '../../interpreter/core/schedule.ts';
import { copyMemory, firstDifference, initialMemory, type MemoryDifference } from '../../interpreter/javascript/memory-image.ts';
import { stage } from '../../interpreter/javascript/stage.ts';
import { runOn } from '../../interpreter/javascript/staged-run.ts';
import type { Clobbers } from './clobber.ts';
import { type IsInside, type LaneOrder, type Stop, StoppedRun, type Stopping } from './stopped-run.ts';

/** Part of a buffer, in bytes. */
export interface ArrayWindow {
  readonly buffer: number;
  readonly offset: number;
  readonly bytes: number;
}

export interface ReexecutionRequest {
  readonly kernel: Kernel;
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes: number;
  /** Global memory at the start. Arrays that overlap are pointers into one buffer. */
  readonly buffers: readonly GlobalBuffer[];
  readonly arguments: readonly Argument[];
  /** The arrays of the launch: any other address is out of bounds. Absent: the buffers, and variables of the module. */
  readonly windows?: readonly ArrayWindow[];
  /** Linear numbers of the blocks to run; absent: all. */
  readonly blocks?: readonly number[];
  /** Steps at which each schedule is stopped, in addition to the ends of blocks. */
  readonly stops: number;
  /** Thread-instructions of one run. */
  readonly steps: number;
  /**
   * Seed of the steps at which the launch is stopped, and of the contents of shared memory at the start of each run.
   */
  readonly seed: number;
}

/** Order in which a schedule selects blocks, warps and lanes. */
interface Schedule {
  /** As {@link RunRequest.seed}; null: in ascending order. */
  readonly seed: number | null;
  readonly lanes: LaneOrder;
}

/** Why a launch has no result. */
type Undetermined = 'budget' | 'stuck' | 'trap' | 'left-arrays' | 'broken-assumption' | 'unknown-value';

export type RunDifference =
  /**
   * Runs of one launch, from its start, leave different memory. `isOfOrder`: the difference is due to the order of
   * threads only, not to the initial contents of shared memory.
   */
  | {
      readonly kind: 'schedule';
      readonly schedule: Schedule;
      readonly memory: MemoryDifference;
      readonly isOfOrder: boolean;
    }
  /**
   * After a stop and re-execution, the launch leaves other memory than one run. `steps`: where it was stopped, once or
   * twice.
   */
  | {
      readonly kind: 'stop';
      readonly schedule: Schedule;
      readonly steps: readonly number[];
      readonly memory: MemoryDifference;
    }
  /** After a stop, the re-execution does not end regularly. */
  | {
      readonly kind: 'outcome';
      readonly schedule: Schedule;
      readonly steps: readonly number[];
      readonly outcome: RunOutcome;
    };

export type Reexecution = {
  readonly clobbers: Clobbers;
  /** Thread-instructions of one run. */
  readonly steps: number;
  /** How often the launch was stopped and run again. */
  readonly repetitions: number;
  /** Values were invented for unknown ones, such as those of a clock or a texture: a difference may be due to them. */
  readonly hasUnknownValues: boolean;
} & (
  | { readonly idempotent: true }
  | { readonly idempotent: false; readonly difference: RunDifference }
  | { readonly idempotent: 'undetermined'; readonly why: Undetermined }
);

const schedules: readonly Schedule[] = [
  { seed: null, lanes: 'one-by-one' },
  { seed: reversedSchedule, lanes: 'in-turn' },
  { seed: 5, lanes: 'mixed' },
];

/** Launches that are stopped with all blocks partially executed, each at a separate step. */
const partialRounds = 3;
/** Stops after which the second run is stopped too. */
const stoppedTwice = 2;
/** Ends of blocks at which a schedule is stopped. */
const maxBlockEnds = 4;
/** A re-execution is assumed not to end after this multiple of the steps of the first run, and a constant more. */
const longerRun = 20;
const shortRun = 20_000;

/** Executes a launch again after each of many stops. Never throws for any kernel. */
export function reexecute(request: ReexecutionRequest): Reexecution {
  return new Repeating(request).result();
}

/** Thrown to end the comparison of runs with a result. */
class Told extends Error {
  readonly what: { readonly difference: RunDifference } | { readonly why: Undetermined };

  constructor(what: Told['what']) {
    super('told');
    this.what = what;
  }
}

class Repeating {
  readonly #request: ReexecutionRequest;
  readonly #run: RunRequest;
  readonly #start: GlobalMemory;
  readonly #isInside: IsInside | null;
  #once: GlobalMemory;
  #steps = 0;
  #runs = 0;
  #repetitions = 0;
  #hasUnknownValues = false;
  #clobbers: Clobbers = { bytes: 0, rewritten: 0, first: null };

  constructor(request: ReexecutionRequest) {
    const { kernel, block, grid, sharedBytes, buffers, arguments: values, blocks, steps, windows } = request;
    this.#request = request;
    this.#run = {
      kernel,
      block,
      grid,
      sharedBytes,
      buffers,
      arguments: values,
      ...(blocks && { blocks }),
      steps,
      detectRaces: false,
    };
    this.#start = initialMemory(this.#run);
    this.#once = this.#start;
    this.#isInside = windows ? insideOf(request, windows) : null;
  }

  result(): Reexecution {
    const common = () => ({
      clobbers: this.#clobbers,
      steps: this.#steps,
      repetitions: this.#repetitions,
      hasUnknownValues: this.#hasUnknownValues,
    });
    try {
      this.#runOnce();
      const stops = schedules.map((schedule) => this.#stopsOf(schedule));
      // Stops after the end of the launch first: most differences appear there.
      this.#repeat(schedules[0]!, { step: this.#steps, memory: this.#once });
      for (let at = 0; stops.some((list) => at < list.length); at++)
        for (const [which, list] of stops.entries()) for (const stop of list.slice(at, at + 1)) this.#repeat(schedules[which]!, stop);
      for (const stop of stops[0]!.slice(0, stoppedTwice)) this.#stopTwice(stop);
      this.#stopEachBlock();
    } catch (told) {
      if (!(told instanceof Told)) throw told;
      if (this.#clobbers.bytes === 0) for (const schedule of schedules) this.#findClobbers(schedule);
      return 'why' in told.what
        ? { ...common(), idempotent: 'undetermined', why: told.what.why }
        : { ...common(), idempotent: false, difference: told.what.difference };
    }
    return this.#hasUnknownValues ? { ...common(), idempotent: 'undetermined', why: 'unknown-value' } : { ...common(), idempotent: true };
  }

  /** Runs the launch on the given memory and changes it; other state is initialised in each run. */
  #go(memory: GlobalMemory, { seed }: Pick<Schedule, 'seed'>, more: Partial<RunRequest> = {}): RunResult {
    this.#runs++;
    const contentsSeed = this.#request.seed + 101 * this.#runs;
    const run = { ...this.#run, contentsSeed, havocSeed: contentsSeed, ...(seed !== null && { seed }), ...more };
    const result = runOn(run, memory);
    if (result.havocs.length > 0) this.#hasUnknownValues = true;
    return result;
  }

  /** Runs the launch from its start under several schedules, all of which must leave the same memory. */
  #runOnce(): void {
    for (const [at, schedule] of schedules.entries()) {
      const memory = copyMemory(this.#start);
      const result = this.#go(memory, schedule);
      const why = problemOf(result);
      if (why) throw new Told({ why });
      if (at === 0) {
        this.#once = memory;
        this.#steps = result.steps;
      } else this.#compareOnce(schedule, memory);
    }
  }

  #compareOnce(schedule: Schedule, memory: GlobalMemory): void {
    const difference = firstDifference(this.#once, memory);
    if (!difference) return;
    const ofOrder = this.#differenceOfOrder(schedule);
    throw new Told({ difference: { kind: 'schedule', schedule, memory: ofOrder ?? difference, isOfOrder: ofOrder !== null } });
  }

  /** Bytes in which a schedule and the first one leave different memory, both with the same values for unknown ones. */
  #differenceOfOrder(schedule: Schedule): MemoryDifference | null {
    const unknown = { contentsSeed: this.#request.seed, havocSeed: this.#request.seed };
    const left = [schedules[0]!, schedule].map((one) => {
      const memory = copyMemory(this.#start);
      const { result } = this.#watch(memory, one, { at: [], blockEnds: 0 }, unknown);
      return problemOf(result) ? null : memory;
    });
    const [first, second] = left;
    return first && second ? firstDifference(first, second) : null;
  }

  /** Contents of memory at the stops of the launch under a schedule. */
  #stopsOf(schedule: Schedule): readonly Stop[] {
    const { stops, seed } = this.#request;
    const at = stopSteps(this.#steps, stops, seed + (schedule.seed ?? 0));
    const memory = copyMemory(this.#start);
    const { watched, result } = this.#watch(memory, schedule, { at, blockEnds: maxBlockEnds });
    const why = watched.hasLeft ? 'left-arrays' : problemOf(result);
    if (why) throw new Told({ why });
    this.#note(watched);
    this.#compareOnce(schedule, memory);
    return watched.stops.filter((stop) => firstDifference(stop.memory, memory) !== null);
  }

  /** The clobber test of a launch whose runs need not agree. */
  #findClobbers(schedule: Schedule): void {
    this.#note(this.#watch(copyMemory(this.#start), schedule, { at: [], blockEnds: 0 }).watched);
  }

  #note(watched: StoppedRun): void {
    const clobbers = watched.clobbers.result();
    if (clobbers.bytes > this.#clobbers.bytes) this.#clobbers = clobbers;
  }

  #watch(memory: GlobalMemory, schedule: Schedule, stopping: Stopping, more: Partial<RunRequest> = {}) {
    const watched = new StoppedRun(memory, schedule.lanes, this.#request.seed, stopping, this.#isInside);
    const result = this.#go(memory, schedule, { ...more, observer: watched });
    watched.finish();
    return { watched, result };
  }

  /** Runs all blocks again on the memory that a stop left. */
  #repeat(schedule: Schedule, { memory: left, step }: Stop, steps: readonly number[] = [step]): void {
    const memory = copyMemory(left);
    const most = { steps: longerRun * this.#steps + shortRun };
    const { outcome } = this.#go(memory, schedules[this.#repetitions % schedules.length]!, most);
    this.#repetitions++;
    if (outcome !== 'finished') throw new Told({ difference: { kind: 'outcome', schedule, steps, outcome } });
    const difference = firstDifference(this.#once, memory);
    if (difference) throw new Told({ difference: { kind: 'stop', schedule, steps, memory: difference } });
  }

  /** Stops the second run too, and runs a third time. */
  #stopTwice({ memory: left, step }: Stop): void {
    const memory = copyMemory(left);
    const [, schedule] = schedules as [Schedule, Schedule];
    const last = 1 + seededRandom(this.#request.seed ^ step).below(Math.max(1, this.#steps));
    this.#watch(memory, schedule, { at: [], blockEnds: 0, last });
    this.#repeat(schedule, { step, memory }, [step, last]);
  }

  /**
   * Stops the launch with all blocks partially executed. Blocks that do not wait for each other and do not race leave
   * the same memory, whether they run concurrently or sequentially.
   */
  #stopEachBlock(): void {
    const { kernel, grid, blocks, seed } = this.#request;
    // A barrier of the grid would not wait for the other blocks if only one block runs.
    if (kernel.workspace !== undefined) return;
    const numbers = blocks ?? Array.from({ length: grid[0] * grid[1] * grid[2] }, (_, number) => number);
    if (numbers.length < 2) return;
    const random = seededRandom(seed);
    const ofBlock = Math.max(1, Math.ceil(this.#steps / numbers.length));
    for (let round = 0; round < partialRounds; round++) {
      const schedule = schedules[round % schedules.length]!;
      const memory = copyMemory(this.#start);
      let step = 0;
      for (const number of numbers) {
        const last = 1 + random.below(ofBlock);
        this.#watch(memory, schedule, { at: [], blockEnds: 0, last }, { blocks: [number] });
        step += last;
      }
      this.#repeat(schedule, { step, memory });
    }
  }
}

/** Steps spread evenly over a run, with some random ones and the very first ones. */
function stopSteps(steps: number, count: number, seed: number): readonly number[] {
  const random = seededRandom(seed);
  const every = Math.max(1, Math.floor(steps / count));
  const spread = Array.from({ length: count }, (_, at) => (at + 1) * every);
  const drawn = Array.from({ length: Math.ceil(count / 3) }, () => 1 + random.below(Math.max(1, steps)));
  return [...new Set([1, ...spread, ...drawn])].sort((a, b) => a - b);
}

function problemOf({ outcome, brokenAssumptions, faults }: RunResult): Undetermined | null {
  if (brokenAssumptions.length > 0) return 'broken-assumption';
  if (outcome === 'fault') return faults.some(({ kind }) => kind === 'out-of-bounds') ? 'left-arrays' : 'trap';
  if (outcome === 'finished') return faults.length > 0 ? 'trap' : null;
  return outcome === 'race-limit' ? 'budget' : outcome;
}

/** Distinguishes the bytes of the arrays of a launch from others; variables of the module are arrays too. */
function insideOf({ kernel }: ReexecutionRequest, windows: readonly ArrayWindow[]): IsInside {
  const { firstBuffer } = stage(kernel).layout;
  const ranges = windows
    .filter(({ bytes }) => bytes > 0)
    .map(({ buffer, offset, bytes }) => {
      const start = regionBase(firstBuffer + buffer) + offset;
      return { start, end: start + bytes };
    });
  return (address, bytes) => {
    if (regionSlot(address) < firstBuffer) return true;
    // An access may span arrays that are adjacent in memory.
    for (let at = address; at < address + bytes;) {
      const range = ranges.find(({ start, end }) => start <= at && at < end);
      if (!range) return false;
      at = range.end;
    }
    return true;
  };
}
