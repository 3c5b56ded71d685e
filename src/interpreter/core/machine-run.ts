/** One run of a launch on any back end: its findings, and the order of its memory accesses. */
import type { Dim3 } from '../../base/dim3.ts';
import type {
  AccessEvent,
  DivergenceEvent,
  FaultEvent,
  FaultPlace,
  LeftObject,
  PassedBarrier,
  RaceEvent,
  RunOutcome,
  RunResult,
  StopPlace,
  UndefinedRead,
  Unmodelled,
} from './run-result.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { CopyEffect } from '../../isa/model/operation.ts';
import type { BackEnd, ResidentBlock } from './back-end.ts';
import type { BlockOrder } from '../detector/block-order.ts';
import type { DetectorMemory } from '../detector/detector-memory.ts';
import type { RunRequest } from './run-request.ts';
import type { RuntimeHost } from './runtime-instruction.ts';
import type { Executor, MachineHost, SlowMemory, TrackedPage } from './interpreter-host.ts';
import type { MemoryAccess, Program } from './program.ts';
import type { Conflict } from '../detector/race-detector.ts';
import type { GridHost } from './scheduler.ts';
import type { ThreadBlock } from './thread-block.ts';
import { executeByRuntime, executeMatrix } from './runtime-instruction.ts';
import { SyncMemory } from '../detector/sync-memory.ts';
import { hasOnlySequentialFences, narrowestReach, needsVectorClocks } from '../detector/needs-vector-clocks.ts';
import { BarrierPhases, countsOfBarriers } from '../detector/barrier-phases.ts';
import { needsContents } from './program.ts';
import { RaceDetector } from '../detector/race-detector.ts';
import { RunStop } from './run-stop.ts';
import { type Fence, fenceOf } from '../../memory-model/fence.ts';
import { warpOrder } from './schedule.ts';
import { blockPosition, runGrid } from './scheduler.ts';
import { unknownPattern } from './unknown-value.ts';

/** Steps between two progress reports to the caller. */
const stepsBetweenNews = 1 << 20;

/** Steps for which a run continues after its races suffice, in addition to the number of steps up to then. */
const stepsForMore = 10_000;

interface FoundRace {
  readonly event: RaceEvent;
  readonly isCertain: boolean;
}

/** The barriers that a block, or the grid, has passed as a whole. */
class Passed {
  last: PassedBarrier | null = null;
  readonly #times = new Map<InstructionId, number>();

  add({ id }: Instruction): void {
    const times = (this.#times.get(id) ?? 0) + 1;
    this.#times.set(id, times);
    this.last = { instruction: id, times };
  }
}

/** The part of a back end by which a run accesses memory. */
export interface MemoryBackEnd extends BackEnd, SlowMemory {
  /** Pages of global memory that the detector with lists may have recorded. */
  globalPages(): Iterable<TrackedPage>;
  /** Pages of the shared memory of a block that the detector with lists may have recorded. */
  sharedPages(block: ResidentBlock): Iterable<TrackedPage>;
  /** Discards the recorded accesses to global memory: they are ordered before all later accesses. */
  forgetGlobal(): void;
  readBytes(buffer: number, offset: number, count: number): Uint8Array;
}

export class MachineRun implements MachineHost, GridHost, RuntimeHost {
  readonly program: Program;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly blocks: readonly number[] | null;
  readonly seed: number | undefined;
  readonly #request: RunRequest;
  readonly #threads: number;
  #detector: RaceDetector<TrackedPage> | null;
  #backEnd!: MemoryBackEnd;
  /** Order of accesses by block. */
  readonly #orders = new Map<number, BlockOrder>();
  /** The order of the block with the latest event. */
  #lastOrder: BlockOrder | undefined;
  /** Barriers by block; blocks that have passed none are absent. */
  readonly #passed = new Map<number, Passed>();
  readonly #passedByGrid = new Passed();
  /** Blocks that used barriers or memory of a cluster. */
  readonly #usesCluster = new Set<number>();
  readonly #instructions = new Map<InstructionId, Instruction>();
  /** Fence semantics by instruction. */
  readonly #fences: (Fence | undefined)[] = [];
  readonly #races = new Map<number, FoundRace>();
  /** The first event of each kind at each barrier. */
  readonly #divergences = new Map<string, DivergenceEvent>();
  readonly #faults = new Map<string, FaultEvent>();
  readonly #undefinedReads = new Map<InstructionId, UndefinedRead>();
  readonly #havocs = new Set<InstructionId>();
  /** By block: the phases of barriers of some of its threads. */
  readonly #phases = new Map<number, BarrierPhases>();
  /** For how many threads each barrier waits, if the kernel has barriers of some threads. */
  readonly #counts: ReadonlyMap<number, number> | null;
  #mayMiss = false;
  readonly #brokenAssumptions = new Set<InstructionId>();
  readonly #tracked: ReadonlySet<string> | null;
  #steps = 0;
  /** Steps at which the run ends; below the budget once its races suffice. */
  #last: number;
  readonly #watch: ((race: RaceEvent) => boolean) | undefined;
  #hasShown = false;
  /** Whether {@link endSoon} was called since threads last ran. */
  #hasMet = false;
  #hasPresumed = false;
  #nextTold = stepsBetweenNews;
  #ended = 0;
  #unknowns = 0;
  /** Number of undefined values so far. */
  #undefined = 0;
  #stopped: StopPlace | null = null;

  /**
   * @param lists whether the detector with lists records accesses
   * @param presumes whether it reports races between accesses that would be ordered in another execution
   * @param memory for data of generated code that records accesses itself
   */
  constructor(request: RunRequest, program: Program, lists: boolean, presumes = true, memory?: DetectorMemory) {
    const [x, y, z] = request.block;
    this.program = program;
    this.block = request.block;
    this.grid = request.grid;
    this.blocks = request.blocks ?? null;
    this.seed = request.seed;
    this.#threads = x * y * z;
    this.#request = request;
    this.#last = request.steps;
    this.#watch = request.watch?.();
    this.#tracked = request.track ? new Set(request.track) : null;
    const hasNamed = lists && needsVectorClocks(request.kernel).includes('named-barrier');
    this.#counts = hasNamed ? countsOfBarriers(request.kernel, this.#threads) : null;
    this.#mayMiss = hasNamed && this.#counts === null;
    const options = {
      threads: this.#threads,
      onlyBarriers: needsVectorClocks(request.kernel).length === 0,
      volatileRaces: request.volatileRaces === true,
      narrowest: narrowestReach(request.kernel, program.accesses),
      isSequential: hasOnlySequentialFences(request.kernel),
      presumes,
      ...(memory && { memory }),
    };
    this.#detector = lists ? new RaceDetector<TrackedPage>(program.accesses, options, (conflict) => this.#raced(conflict)) : null;
    for (const { instructions } of program.kernel.blocks) {
      for (const instruction of instructions) {
        this.#instructions.set(instruction.id, instruction);
        const fence = lists ? fenceOf(instruction.operation.effect) : null;
        if (fence) this.#fences[instruction.id] = { semantics: fence.semantics, scope: fence.scope };
      }
    }
  }

  /** Whether the run has the detector with lists. */
  get hasOrder(): boolean {
    return this.#detector !== null;
  }

  /** After the run: whether some event would order accesses in another execution. */
  get hasPresumed(): boolean {
    return this.#hasPresumed;
  }

  /** @param backEnd reports events to this run */
  run(backEnd: MemoryBackEnd): RunResult {
    this.#backEnd = backEnd;
    let outcome: RunOutcome;
    try {
      outcome = runGrid(this, backEnd) ? 'stuck' : 'finished';
    } catch (stop) {
      if (!(stop instanceof RunStop)) throw stop;
      outcome = stop.outcome;
    }
    this.#forgetOrder();
    return {
      outcome,
      steps: this.#steps,
      races: Array.from(this.#races.values(), (found) => found.event),
      divergences: [...this.#divergences.values()],
      faults: [...this.#faults.values()],
      undefinedReads: [...this.#undefinedReads.values()],
      havocs: [...this.#havocs],
      mayMissRaces: this.#mayMiss || [...this.#phases.values()].some(({ isDetermined }) => !isDetermined),
      brokenAssumptions: [...this.#brokenAssumptions],
      stopped: this.#stopped,
      read: (buffer, offset, bytes) => {
        const contents = backEnd.readBytes(buffer, offset, bytes);
        return contents.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
      },
      readBytes: (buffer, offset, count) => backEnd.readBytes(buffer, offset, count),
    };
  }

  /**
   * Releases the state of the detector. An engine retains instances of WebAssembly code, and their imports, until it
   * collects old objects: the state of a run of a few milliseconds would have been copied twice by then.
   */
  #forgetOrder(): void {
    if (this.#detector === null) return;
    this.#hasPresumed = this.#detector.order.hasPresumed;
    this.#mayMiss ||= this.#detector.hasForgotten;
    this.#detector = null;
    this.#orders.clear();
    this.#lastOrder = undefined;
    for (const page of this.#backEnd.globalPages()) page.heads = page.sync = null;
  }

  // Events of the back end

  entered(block: ResidentBlock): void {
    if (this.#detector === null) return;
    const order = this.#orderOf(block);
    if (order) this.#detector.enter(order);
  }

  ran(steps: number, block: ResidentBlock, thread: number, segment: number): void {
    this.#steps += steps;
    if (this.#steps >= this.#nextTold) this.#tellProgress();
    if (this.#hasMet) this.#endSoon();
    if (this.#steps <= this.#last) return;
    this.#stopAt({ block, thread }, this.program.segments[segment]!.block);
    throw new RunStop(this.#hasShown ? 'race-limit' : 'budget');
  }

  counted(steps: number): void {
    this.#steps += steps;
  }

  left(who: Executor, access: MemoryAccess, left: LeftObject): never {
    return this.fault(who, 'out-of-bounds', access, `byte ${left.offset} of ${left.bytes} in ${left.object}`, left);
  }

  fault(who: Executor, kind: FaultEvent['kind'], access: MemoryAccess, message: string, left?: LeftObject): never {
    this.#addFault(who, kind, access.instruction, message, left && { left });
    const place = this.program.kernel.blocks.find(({ instructions }) => instructions.some(({ id }) => id === access.instruction));
    this.#stopAt(who, place!.id);
    throw new RunStop('fault');
  }

  lost(who: Executor, segment: number): never {
    const { terminator, block } = this.program.segments[segment]!;
    const message = terminator?.kind === 'unknown' ? terminator.reason : 'index of brx.idx out of range';
    this.#addFault(who, 'unknown-control', null, message);
    this.#stopAt(who, block);
    throw new RunStop('fault');
  }

  trapped(who: Executor, segment: number): never {
    this.#stopAt(who, this.program.segments[segment]!.block);
    throw new RunStop('trap');
  }

  havoc(instruction: InstructionId): void {
    this.#havocs.add(instruction);
  }

  broken(instruction: InstructionId): void {
    this.#brokenAssumptions.add(instruction);
  }

  unsupported(who: Executor, instruction: InstructionId): void {
    this.#addFault(who, 'unknown-operation', instruction, this.#instructions.get(instruction)!.operation.mnemonic);
  }

  unknown(who: Executor, instruction: InstructionId, result: number): bigint {
    const seed = this.#request.havocSeed;
    if (seed === undefined) return 0n;
    const id = who.block.ordinal * this.#threads + who.thread;
    return unknownPattern(seed, id, instruction, result + this.#unknowns++);
  }

  record(block: ResidentBlock, thread: number, access: MemoryAccess, page: TrackedPage, offset: number): void {
    const { written } = page;
    if (written) {
      const end = offset + access.bytes;
      if (needsContents(access) && !written.subarray(offset, end).every(Boolean)) {
        this.uninitialised({ block, thread }, access, page, offset);
        // Reported once for each location, as with shadow words.
        written.fill(1, offset, end);
      }
      if (access.operation !== 'read') written.fill(1, offset, end);
    }
    const order = this.#orderOf(block);
    if (order) this.#detector?.record(page, offset, access, order, thread, page.region === null);
  }

  handOver(block: ResidentBlock, thread: number, access: MemoryAccess, page: TrackedPage, offset: number): void {
    const order = this.#orderOf(block);
    if (order) this.#detector?.synchronise(page, offset, access, order, thread);
  }

  event(block: ResidentBlock, thread: number, instruction: InstructionId): void {
    const order = this.#orderOf(block);
    if (!order) return;
    const fence = this.#fences[instruction];
    if (fence) {
      this.#detector!.order.fence(order, thread, fence.semantics, fence.scope);
      return;
    }
    const executed = this.#instructions.get(instruction)!;
    this.#detector!.order.event(order, thread, executed);
    const { kind } = executed.operation.effect;
    if (kind === 'cluster-barrier') this.#usesCluster.add(block.ordinal);
  }

  /** The order of accesses of a block; undefined without the detector with lists. */
  #orderOf({ ordinal }: ResidentBlock): BlockOrder | undefined {
    let order = this.#lastOrder;
    if (order === undefined || order.ordinal !== ordinal) this.#lastOrder = order = this.#orders.get(ordinal);
    return order;
  }

  foreign(who: Executor, instruction: InstructionId, operands: readonly unknown[]): readonly unknown[] {
    const executed = this.#instructions.get(instruction)!;
    const { effect } = executed.operation;
    if (effect.kind === 'copy' && effect.to === 'cluster') this.#usesCluster.add(who.block.ordinal);
    return executeByRuntime(this.program, this.#backEnd, this, who, executed, operands);
  }

  // Mbarriers

  #phase(page: TrackedPage, offset: number) {
    page.sync ??= new SyncMemory();
    return page.sync.phaseAt(offset);
  }

  arrivedAt({ block, thread }: Executor, page: TrackedPage, offset: number, how: 'thread' | CopyEffect['completion']): void {
    const order = this.#orders.get(block.ordinal);
    if (!this.#detector || !order) return;
    const phase = this.#phase(page, offset);
    if (how === 'thread') this.#detector.order.arriveAt(phase, order, thread);
    else this.#detector.order.arriveWhenCopied(phase, order, thread, how);
  }

  phaseCompleted(_who: Executor, page: TrackedPage, offset: number): void {
    if (this.#detector) this.#phase(page, offset).complete();
  }

  phaseSeen({ block, thread }: Executor, page: TrackedPage, offset: number): void {
    const order = this.#orders.get(block.ordinal);
    if (this.#detector && order) this.#detector.order.waitFor(this.#phase(page, offset), order, thread);
  }

  misused(who: Executor, access: MemoryAccess, message: string): never {
    return this.fault(who, 'unknown-operation', access, message);
  }

  uninitialised(who: Executor, access: MemoryAccess, page: TrackedPage, offset: number): void {
    const { object, offset: at } = this.#placeOf(page, offset);
    const unwritten = { object, offset: at };
    this.#addFault(who, 'uninitialised', access.instruction, `byte ${at} of ${object} was never written`, { unwritten });
  }

  // Queries and events of the scheduler

  warpOrder(block: number): readonly number[] | null {
    return warpOrder(Math.ceil(this.#threads / 32), this.seed, block);
  }

  diverged(event: DivergenceEvent): void {
    const key = `${event.kind} ${event.barrier}`;
    if (!this.#divergences.has(key)) this.#divergences.set(key, event);
  }

  undefinedRead({ id }: Instruction, read: Omit<UndefinedRead, 'instruction'>, own: unknown): unknown {
    if (!this.#undefinedReads.has(id)) this.#undefinedReads.set(id, { instruction: id, ...read });
    const { undefinedValue } = this.#request;
    if (undefinedValue?.instruction !== id) return own;
    return Number(BigInt.asIntN(32, unknownPattern(undefinedValue.seed, 0, id, this.#undefined++)));
  }

  fullBarrier(block: ThreadBlock, barrier: Instruction): void {
    block.resident.passedBarrier();
    if (!this.#detector) return;
    this.#detector.order.fullBarrier(this.#orders.get(block.ordinal)!);
    const [name] = barrier.arguments;
    if (name?.kind === 'constant') this.#phasesOf(block)?.complete(Number(name.value), null);
    this.#passedBy(block.ordinal).add(barrier);
  }

  partBarrier(block: ThreadBlock, barrier: number, threads: readonly number[]): void {
    this.#detector?.order.partBarrier(this.#orders.get(block.ordinal)!, barrier, threads);
    this.#phasesOf(block)?.complete(barrier, threads);
  }

  arrived(block: ThreadBlock, barrier: number, thread: number): void {
    this.#detector?.order.arrive(this.#orders.get(block.ordinal)!, barrier, thread);
    this.#phasesOf(block)?.arrive(barrier, thread);
  }

  /** The phases of the barriers of a block; null if the kernel has none of some threads. */
  #phasesOf({ ordinal }: ThreadBlock): BarrierPhases | null {
    if (!this.#counts) return null;
    const found = this.#phases.get(ordinal) ?? new BarrierPhases(this.#threads, this.#counts);
    this.#phases.set(ordinal, found);
    return found;
  }

  warpBarrier(block: ThreadBlock, warp: number, threads: readonly number[] | null): void {
    if (threads === null) block.resident.passedWarpBarrier(warp);
    this.#detector?.order.warpBarrier(this.#orders.get(block.ordinal)!, warp, threads);
  }

  matrix(block: ThreadBlock, instruction: Instruction, threads: readonly number[]): readonly (readonly unknown[])[] {
    const suspension = this.program.suspensions.find((other) => other.instruction === instruction)!;
    const lanes = threads.map((thread) => ({
      thread,
      operands: instruction.arguments.map((_, index) => block.resident.operand(suspension.index, index, thread)),
    }));
    return executeMatrix(this.program, this.#backEnd, block.resident, instruction, lanes);
  }

  exchange(block: ThreadBlock, warp: number, threads: readonly number[] | null): void {
    this.#detector?.order.exchange(this.#orders.get(block.ordinal)!, warp, threads);
  }

  clusterBarrier(block: ThreadBlock, threads: readonly number[]): void {
    const order = this.#orders.get(block.ordinal);
    if (!order || !this.#detector) return;
    this.#detector.order.completeClusterBarrier(order.cluster);
    for (const thread of threads) this.#detector.order.passClusterBarrier(order, thread);
  }

  blockStarted(block: ThreadBlock): void {
    if (!this.#detector) return;
    this.#orders.set(block.ordinal, this.#detector.order.startBlock(block.ordinal, this.#clusterOf(block.ordinal)));
  }

  #passedBy(block: number): Passed {
    let passed = this.#passed.get(block);
    if (!passed) this.#passed.set(block, (passed = new Passed()));
    return passed;
  }

  /** The index of a block's cluster; blocks without one form separate clusters. */
  #clusterOf(ordinal: number): number {
    const { cluster } = this.#request;
    if (!cluster) return ordinal;
    const [x, y] = this.grid;
    const at = blockPosition(this.grid, this.blocks?.[ordinal] ?? ordinal);
    const [a, b, c] = at.map((index, axis) => Math.floor(index / cluster[axis]!)) as [number, number, number];
    return a + x * (b + y * c);
  }

  blockEnded(block: ThreadBlock): void {
    this.#ended++;
    if (!this.#detector) return;
    for (const page of this.#backEnd.sharedPages(block.resident)) this.#detector.forget(page);
    this.#detector.order.endBlock(this.#orders.get(block.ordinal)!);
    this.#orders.delete(block.ordinal);
    this.#passed.delete(block.ordinal);
    this.#lastOrder = undefined;
  }

  /** The step at which the run ends if its races suffice now. */
  #soon(): number {
    return Math.min(this.#request.steps, 2 * this.#steps + stepsForMore);
  }

  /** Ends the run as if its races sufficed: some race was found, without details. */
  protected endSoon(): void {
    this.#hasMet ||= !this.#hasShown;
  }

  #endSoon(): void {
    this.#hasMet = false;
    this.#hasShown = true;
    this.#last = this.#soon();
  }

  #tellProgress(): void {
    this.#nextTold = this.#steps + stepsBetweenNews;
    this.#request.onProgress?.({
      steps: this.#steps,
      endedBlocks: this.#ended,
      blocks: this.blocks?.length ?? this.grid[0] * this.grid[1] * this.grid[2],
    });
  }

  gridBarrier(barrier: Instruction): void {
    if (this.#detector) {
      for (const order of this.#orders.values()) this.#detector.order.fullBarrier(order);
      for (const block of this.#orders.keys()) this.#passedBy(block).add(barrier);
      this.#passedByGrid.add(barrier);
      for (const page of this.#backEnd.globalPages()) this.#detector.forget(page);
    }
    this.#backEnd.forgetGlobal();
  }

  // Events

  #stopAt(who: Executor, at: StopPlace['at']): void {
    this.#stopped = { ...this.#position(who.block.ordinal, who.thread), at };
  }

  #addFault(who: Executor, kind: FaultEvent['kind'], instruction: InstructionId | null, message: string, where: FaultPlace = {}): void {
    const key = `${kind} ${instruction}`;
    if (this.#faults.has(key)) return;
    const { block, thread } = this.#position(who.block.ordinal, who.thread);
    this.#faults.set(key, { kind, instruction, block, thread, message, ...where });
  }

  #position(ordinal: number, thread: number): { readonly block: Dim3; readonly thread: Dim3 } {
    const [x, y] = this.block;
    return {
      block: blockPosition(this.grid, this.blocks?.[ordinal] ?? ordinal),
      thread: [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))],
    };
  }

  /**
   * Stores one race event for each pair of instructions, preferably an event without unmodelled operations that may
   * order the accesses.
   */
  #raced(conflict: Conflict<TrackedPage>): void {
    const { first, second, betweenBlocks } = conflict;
    if (this.#request.warpLockstep === true && this.#isOrderedByLockstep(conflict)) return;
    if (this.#tracked && !this.#tracked.has(this.#placeOf(conflict.page, conflict.offset).object)) return;
    const [low, high] = first.index < second.index ? [first.index, second.index] : [second.index, first.index];
    const key = (low * this.program.accesses.length + high) * 2 + (betweenBlocks ? 1 : 0);
    const found = this.#races.get(key);
    const unmodelled = this.#unmodelledOf(conflict);
    const isCertain = unmodelled.length === 0;
    if (found) {
      if (found.isCertain && !isCertain) return;
      const clears = !found.isCertain && isCertain;
      if (!clears && (!found.event.sameValue || conflict.sameValue)) return;
    }
    const event = this.#raceEvent(conflict, unmodelled);
    this.#races.set(key, { event, isCertain });
    this.#hasShown = this.#watch?.(event) ?? false;
    if (this.#hasShown) this.#last = this.#soon();
    if (this.#races.size >= (this.#request.maxRaces ?? 64)) throw new RunStop('race-limit');
  }

  #isOrderedByLockstep({ first, second, firstThread, secondThread, betweenBlocks }: Conflict<TrackedPage>): boolean {
    const warpOf = (id: number): number => (id % this.#threads) >> 5;
    return !betweenBlocks && first.instruction !== second.instruction && warpOf(firstThread) === warpOf(secondThread);
  }

  #unmodelledOf({ first, second, firstThread, secondThread, betweenBlocks, presumed }: Conflict<TrackedPage>) {
    const found = new Set<Unmodelled>(presumed);
    if (betweenBlocks) {
      const isUsed = [firstThread, secondThread].some((id) => this.#usesCluster.has(Math.floor(id / this.#threads)));
      const isScope = this.#request.cluster === null && [first, second].some(({ strong }) => strong === 'cluster');
      if (isUsed || isScope) found.add('cluster');
    }
    return [...found];
  }

  #raceEvent(conflict: Conflict<TrackedPage>, unmodelled: readonly Unmodelled[]): RaceEvent {
    const { page, first, second, kind, betweenBlocks } = conflict;
    // A copy may have been started before a barrier that its thread has passed since.
    const passed = betweenBlocks ? this.#passedByGrid : this.#passed.get(Math.floor(conflict.secondThread / this.#threads));
    const side = (access: Conflict<TrackedPage>['first'], id: number): AccessEvent => ({
      instruction: access.instruction,
      operation: access.operation,
      ...this.#position(Math.floor(id / this.#threads), id % this.#threads),
    });
    return {
      first: side(first, conflict.firstThread),
      second: side(second, conflict.secondThread),
      kind,
      space: page.region ? 'global' : 'shared',
      ...this.#placeOf(page, conflict.offset),
      bytes: conflict.bytes,
      sameValue: conflict.sameValue,
      unmodelled,
      passed: first.copy || second.copy ? null : (passed?.last ?? null),
    };
  }

  #placeOf(page: TrackedPage, offset: number): { readonly object: string; readonly offset: number } {
    if (page.region) return { object: page.region.name, offset: page.start + offset };
    const { addresses } = this.program.layout;
    const at = page.start + offset;
    let best = { object: 'shared memory', offset: at };
    for (const object of this.program.kernel.objects) {
      if (object.space !== 'shared') continue;
      const start = addresses[object.id]!;
      if (start <= at && (object.bytes === null || at < start + object.bytes)) {
        best = { object: object.symbol, offset: at - start };
      }
    }
    return best;
  }
}
