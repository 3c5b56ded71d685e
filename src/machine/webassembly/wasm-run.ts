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

/** Cells that are all remembered of those in which an access found the same kind of race; of later ones, a few. */
const firstCells = 16;

/**
 * Bytes of linear memory for each step that a run may take, beyond which filling them takes longer than the steps take
 * on pages that are made when touched.
 */
const bytesPerStep = 32;

/**
 * Runs a launch, or gives null where the kernel is too large, or its memory does not fit or is too large for the steps of
 * the run. Never throws for what the kernel does.
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

/** Values of a kernel whose code is made in WebAssembly: an engine takes functions of 50,000 locals, and some are ours. */
const mostValues = 40_000;
/** Bits of the table of what lives where, of which there are three. */
const mostLivenessBits = 2 ** 29;

/** Whether an engine would refuse the code of the kernel, or its making would take memory that machines lack. */
function isTooLarge({ kernel, segments }: Program): boolean {
  return kernel.values.length > mostValues || kernel.values.length * segments.length > mostLivenessBits;
}

/** @param strays accesses that are known to leave the object they seem to stay in */
function runWith(request: RunRequest, strays: ReadonlySet<number>): RunResult | null {
  const program = programOf(request.kernel);
  if (isTooLarge(program)) return null;
  const reasons = request.detectRaces ? needsVectorClocks(request.kernel) : [];
  const wantsClocks = reasons.length > 0;
  const canSift = request.cluster === null || request.cluster === undefined;
  if (wantsClocks && canSift && !reasons.some((reason) => unsifted.has(reason))) {
    const sifted = runSifted(request, planRun(program, request, 'sifted', strays));
    if (sifted !== 'overfull') return sifted;
  }
  const detection: Detection = wantsClocks ? 'clocks' : request.detectRaces ? 'words' : 'off';
  const plan = planRun(program, request, detection, strays);
  const isFilledForLittle = request.backend !== 'webassembly' && plan.end > bytesPerStep * request.steps;
  if (roomFor(plan) < 1 || isFilledForLittle) return null;
  if (detection !== 'words') return new WasmRun(request, plan, { lists: wantsClocks }).runOn(detecting);
  // What is sought may be among the first races that there are.
  const briefly = request.watch ? runTwice(request, plan, true) : null;
  return briefly ?? runTwice(request, plan, false)!;
}

const detecting: WordUse = { mode: 'detect', cells: [] };

/**
 * Runs a launch with shadow words, and if those show races again: then all accesses to the cells in question are recorded.
 * @param isBrief both runs end soon after the first race; null where that has not shown what is sought
 */
function runTwice(request: RunRequest, plan: Plan, isBrief: boolean): RunResult | null {
  const run = new WasmRun(request, plan, { lists: false, isBrief });
  const result = run.runOn(detecting);
  const shadow = shadowUse(plan);
  if (run.cells.length === 0) return { ...result, shadow };
  const isCut = isBrief && result.outcome === 'race-limit';
  const steps = isCut ? result.steps : request.steps;
  const again = new WasmRun({ ...request, steps }, plan, { lists: true }).runOn({ mode: 'record', cells: run.cells });
  if (isCut && again.outcome !== 'race-limit') return null;
  return { ...result, outcome: again.outcome, races: again.races, shadow };
}

/** What hands over by other means than strong accesses, whose places words do not know. */
const unsifted: ReadonlySet<string> = new Set(['bulk-copy', 'mbarrier', 'cluster-barrier']);

/** Cells to be recorded, beyond which words have nothing to leave out. */
const mostSifted = 1 << 18;

/**
 * Runs with words first, to whom only barriers order accesses, and then again with clocks, for the cells that race by
 * that. A cell that does not race by its word does not race: clocks know of more order, and rows conflict wherever accesses do.
 */
function runSifted(request: RunRequest, plan: Plan): RunResult | null | 'overfull' {
  const isFilledForLittle = request.backend !== 'webassembly' && plan.end > bytesPerStep * request.steps;
  if (roomFor(plan) < 1 || isFilledForLittle) return null;
  const first = new WasmRun(request, plan, { lists: false });
  const sifted = first.runOn({ mode: 'detect', cells: [] });
  // Without cells that may race there are no races, and all else the first run has found.
  if (first.cells.length === 0) return sifted;
  if (first.cells.length > mostSifted) return 'overfull';
  const use: WordUse = { mode: 'record', cells: first.cells };
  const clocks = new WasmRun(request, plan, { lists: true, presumes: false });
  let result = clocks.runOn(use);
  if (result.races.length > 0 && clocks.hasPresumed) result = new WasmRun(request, plan, { lists: true }).runOn(use);
  const found = new Set(result.faults.map(({ kind, instruction }) => `${kind} ${instruction}`));
  return {
    ...result,
    faults: sifted.faults.filter(
      ({ kind, instruction }) => kind === 'uninitialised' || found.has(`${kind} ${instruction}`),
    ),
  };
}

class WasmRun extends MachineRun implements WasmHost {
  /** Cells in which the shadow words show races. */
  readonly cells: RacyCell[] = [];
  readonly #request: RunRequest;
  readonly #plan: Plan;
  /** By access, then by kind of race. */
  readonly #counts: Int32Array;

  /** Whether it ends soon after the first race. */
  readonly #isBrief: boolean;
  readonly detectorMemory: DetectorMemory | null;

  constructor(
    request: RunRequest,
    plan: Plan,
    {
      lists,
      isBrief = false,
      presumes = true,
    }: { readonly lists: boolean; readonly isBrief?: boolean; readonly presumes?: boolean },
  ) {
    const memory = lists ? new DetectorMemory(plan.threads) : null;
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
      if (this.cells.length <= mostSifted) this.cells.push(cell);
      return;
    }
    if (this.#isBrief) this.endSoon();
    const count = this.#counts[64 * index + kind]!++;
    // Of so many more, four of each doubling.
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
