/** Runs a launch on the WebAssembly back end. */
import type { RunResult, ShadowUse } from '../core/run-result.ts';
import type { RunRequest } from '../core/run-request.ts';
import type { MemoryAccess, Program } from '../core/program.ts';
import type { RacyCell, WasmHost, WordUse } from './wasm-machine.ts';
import type { Detection, Plan } from './region/wasm-plan.ts';
import { MachineRun } from '../core/machine-run.ts';
import { DetectorMemory } from '../detector/detector-memory.ts';
import { needsVectorClocks } from '../detector/needs-vector-clocks.ts';
import { programOf } from '../core/program.ts';
import { StraySite, WasmBackEnd, roomFor } from './wasm-machine.ts';
import { planRun } from './region/wasm-plan.ts';

/** Number of cells with one kind of race at one access that are all stored; of later cells only a few are stored. */
const firstCells = 16;

/**
 * Bytes of linear memory for each step of the budget. With more bytes, filling the memory takes longer than running the
 * steps on pages that are allocated on first access.
 */
const bytesPerStep = 32;

/**
 * Runs a launch. Null if the kernel is too large, or if its memory does not fit or is too large for the step budget.
 * Never throws for errors of the kernel.
 */
export function runWebAssembly(request: RunRequest): RunResult | null {
  const strays = new Set<number>();
  for (;;) {
    try {
      return runWith(request, strays);
    } catch (stray) {
      if (!(stray instanceof StraySite)) throw stray;
      strays.add(stray.site);
    }
  }
}

/**
 * Maximum number of values of a kernel for which WebAssembly is generated: an engine accepts functions with 50,000
 * locals, some of which the generated code needs itself.
 */
const maxValues = 40_000;
/** Maximum number of bits of each of the three liveness tables. */
const maxLivenessBits = 2 ** 29;

/** Whether an engine would reject the code of the kernel, or its generation would take too much memory. */
function isTooLarge({ kernel, segments }: Program): boolean {
  return kernel.values.length > maxValues || kernel.values.length * segments.length > maxLivenessBits;
}

/** @param strays accesses known to leave the object that they were assumed to stay in */
function runWith(request: RunRequest, strays: ReadonlySet<number>): RunResult | null {
  const program = programOf(request.kernel);
  if (isTooLarge(program)) return null;
  const reasons = request.detectRaces ? needsVectorClocks(request.kernel) : [];
  const wantsClocks = reasons.length > 0;
  const canSift = request.cluster === null || request.cluster === undefined;
  if (wantsClocks && canSift && !reasons.some((reason) => unsifted.has(reason))) {
    const plan = planRun(program, request, 'sifted', strays);
    if (!isSuited(request, plan)) return null;
    const sifted = siftThenRecord(request, plan);
    if (sifted !== null) return sifted;
  }
  const detection: Detection = wantsClocks ? 'clocks' : request.detectRaces ? 'words' : 'off';
  const plan = planRun(program, request, detection, strays);
  if (!isSuited(request, plan)) return null;
  if (detection === 'off') return shadowPass(request, plan).result;
  if (detection === 'clocks') return clockPass(request, plan);
  // The requested race may be among the first races found.
  const briefly = request.watch ? detectThenRecord(request, plan, true) : null;
  return briefly ?? detectThenRecord(request, plan, false)!;
}

/** Whether the memory of a plan fits, and is not too large for the step budget. */
function isSuited({ backend, steps }: RunRequest, plan: Plan): boolean {
  return roomFor(plan) >= 1 && (backend === 'webassembly' || plan.end <= bytesPerStep * steps);
}

/**
 * Runs a launch with shadow words. If they show races, runs it again and records all accesses to the racing cells.
 * @param isBrief both runs end soon after the first race; null if they have not shown the requested race
 */
function detectThenRecord(request: RunRequest, plan: Plan, isBrief: boolean): RunResult | null {
  const { result, cells } = shadowPass(request, plan, isBrief);
  const shadow = shadowUse(plan);
  if (cells.length === 0) return { ...result, shadow };
  const isCut = isBrief && result.outcome === 'race-limit';
  const steps = isCut ? result.steps : request.steps;
  const { outcome, races } = recordPass({ ...request, steps }, plan, cells, 'presumed').result;
  if (isCut && outcome !== 'race-limit') return null;
  return { ...result, outcome, races, shadow };
}

/** Kinds of synchronization other than by strong accesses; shadow words do not know which memory they access. */
const unsifted: ReadonlySet<string> = new Set(['bulk-copy', 'mbarrier', 'cluster-barrier']);

/** Maximum number of cells to be recorded; with more, sifting by shadow words saves nothing. */
const maxSifted = 1 << 18;

/**
 * Runs first with shadow words, for which only barriers order accesses, and then with clocks for the cells that race by
 * their words. A cell that does not race by its word is race-free: clocks include more order, and rows conflict if
 * accesses do.
 * @returns null if too many cells may race
 */
function siftThenRecord(request: RunRequest, plan: Plan): RunResult | null {
  const { result: sifted, cells } = shadowPass(request, plan);
  // If no cell may race, the launch is race-free, and this pass has found all other events.
  if (cells.length === 0) return sifted;
  if (cells.length > maxSifted) return null;
  const certain = recordPass(request, plan, cells, 'certain');
  const isOpen = certain.result.races.length > 0 && certain.hasPresumed;
  const { result } = isOpen ? recordPass(request, plan, cells, 'presumed') : certain;
  const found = new Set(result.faults.map(({ kind, instruction }) => `${kind} ${instruction}`));
  return {
    ...result,
    faults: sifted.faults.filter(({ kind, instruction }) => kind === 'uninitialised' || found.has(`${kind} ${instruction}`)),
  };
}

// The passes: each runs the launch once.

/** A pass with shadow words, if any: they determine the cells that race, or, if they sift, that may race. */
function shadowPass(request: RunRequest, plan: Plan, isBrief = false): { readonly result: RunResult; readonly cells: readonly RacyCell[] } {
  const run = new WasmRun(request, plan, { isBrief });
  const result = run.runOn({ mode: 'detect', cells: [] });
  return { result, cells: run.cells };
}

/**
 * A pass that records all accesses to some cells, and only synchronization for other cells.
 * @param order whether the presumed order is tracked in addition to the certain one
 */
function recordPass(
  request: RunRequest,
  plan: Plan,
  cells: readonly RacyCell[],
  order: 'certain' | 'presumed',
): { readonly result: RunResult; readonly hasPresumed: boolean } {
  const run = new WasmRun(request, plan, { presumes: order === 'presumed' });
  const result = run.runOn({ mode: 'record', cells });
  return { result, hasPresumed: run.hasPresumed };
}

/** A pass that records all accesses. */
function clockPass(request: RunRequest, plan: Plan): RunResult {
  return new WasmRun(request, plan, { presumes: true }).runOn({ mode: 'detect', cells: [] });
}

class WasmRun extends MachineRun implements WasmHost {
  /** Cells in which the shadow words show races. */
  readonly cells: RacyCell[] = [];
  readonly #request: RunRequest;
  readonly #plan: Plan;
  /** Numbers of races, by access, then by kind of race. */
  readonly #counts: Int32Array;

  readonly #isBrief: boolean;
  readonly detectorMemory: DetectorMemory | null;

  /**
   * @param isBrief whether the run ends soon after the first race that shadow words show
   * @param presumes whether the detector with lists tracks the presumed order; absent without that detector
   */
  constructor(request: RunRequest, plan: Plan, { isBrief = false, presumes }: { readonly isBrief?: boolean; readonly presumes?: boolean }) {
    const lists = presumes !== undefined;
    const memory = lists ? new DetectorMemory() : null;
    super(request, plan.program, lists, presumes, memory ?? undefined);
    this.detectorMemory = memory;
    this.#isBrief = isBrief;
    this.#request = request;
    this.#plan = plan;
    this.#counts = new Int32Array(64 * plan.program.accesses.length);
  }

  runOn(use: WordUse): RunResult {
    return this.run(new WasmBackEnd(this.#plan, this.#request, this, use));
  }

  raced({ index }: MemoryAccess, cell: RacyCell, kind: number): void {
    if (this.#plan.sifting !== null) {
      if (this.cells.length <= maxSifted) this.cells.push(cell);
      return;
    }
    if (this.#isBrief) this.endSoon();
    const count = this.#counts[64 * index + kind]!++;
    // Of later cells, four are stored per doubling of the count.
    if (count >= firstCells && count % 2 ** (29 - Math.clz32(count)) !== 0) return;
    this.cells.push(cell);
  }
}

/** Shadow words of the arrays that can be written. */
function shadowUse({ places }: Plan): readonly ShadowUse[] {
  return places
    .filter(({ writable }) => writable)
    .map(({ name, space, cellShift }) => ({
      object: name,
      space,
      locationBytes: 2 ** cellShift,
      bytesPerLocation: 8,
    }));
}
