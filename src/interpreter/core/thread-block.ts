/** One thread block in execution: its waiting threads, and the conditions under which they continue. */
import type { Dim3 } from '../../base/dim3.ts';
import type { DivergenceEvent, UndefinedRead, Whereabouts } from './run-result.ts';
import type { BlockId, Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { Effect } from '../../isa/model/operation.ts';
import type { ResidentBlock } from './back-end.ts';
import type { Program, Suspension } from './program.ts';
import type { Words } from './warp-exchange.ts';
import { exitedStatus, mixedStatus, waitingAt } from './back-end.ts';
import { participantsOf } from '../../isa/model/effect.ts';
import { isMatrix } from './runtime-instruction.ts';
import { exchangeWords } from './warp-exchange.ts';
import { warpResults } from './warp-operation.ts';

/**
 * Status of a block after its time slice. `spinning`: threads can continue, but possibly only after other blocks have
 * run.
 */
type Turn = 'finished' | 'stuck' | 'grid-barrier' | 'cluster-barrier' | 'spinning';

/** Events of a block: those that order memory accesses, and barriers that threads do not reach. */
export interface BlockHost {
  readonly program: Program;
  /** Dimensions of a block. */
  readonly block: Dim3;
  /** The order in which the warps of a block run; null: ascending. */
  warpOrder(block: number): readonly number[] | null;
  /** Called when all threads of the block that have not exited have passed a barrier. */
  fullBarrier(block: ThreadBlock, barrier: Instruction): void;
  /** Called when threads have passed a barrier together with those that had arrived at it. */
  partBarrier(block: ThreadBlock, barrier: number, threads: readonly number[]): void;
  /** Called when a thread has arrived at a barrier without waiting. */
  arrived(block: ThreadBlock, barrier: number, thread: number): void;
  /** Called when lanes of a warp have passed `bar.warp.sync`. Null: all lanes of the warp. */
  warpBarrier(block: ThreadBlock, warp: number, threads: readonly number[] | null): void;
  /** Executes a matrix instruction for lanes of a warp; returns the results of each lane. */
  matrix(block: ThreadBlock, instruction: Instruction, threads: readonly number[]): readonly (readonly unknown[])[];
  /** Called when lanes of a warp have exchanged values. Null: all lanes of the warp. */
  exchange(block: ThreadBlock, warp: number, threads: readonly number[] | null): void;
  /**
   * Called when a lane reads the value of a lane that does not take part in its shuffle.
   * @param where of the source lane; null: the block has no such thread
   * @param own the value that the reader passed
   * @returns the value that it reads
   */
  undefinedRead(instruction: Instruction, read: Omit<UndefinedRead, 'instruction'>, own: unknown): unknown;
  /**
   * Called when all threads of a cluster have arrived at its barrier, for the threads of this block that wait there.
   */
  clusterBarrier(block: ThreadBlock, threads: readonly number[]): void;
  /** Reports a divergence; may be called repeatedly for the same kind at the same barrier. */
  diverged(event: DivergenceEvent): void;
}

/** Maximum number of threads listed in an event. */
const listedThreads = 8;

export class ThreadBlock {
  readonly ordinal: number;
  readonly position: Dim3;
  readonly resident: ResidentBlock;
  readonly #host: BlockHost;
  readonly #count: number;
  readonly #warpOrder: readonly number[] | null;
  /** Status common to all threads; the array of the resident block need not contain it. */
  #common = 0;
  #exited = 0;
  /** Threads that executed `bar.arrive`, by barrier number. */
  #arrived: Map<number, number[]> | null = null;
  /** Number of arrivals at each barrier, by suspension: one for all threads, or by thread once it differs. */
  #arrivals: Map<number, number | Int32Array> | null = null;

  constructor(host: BlockHost, resident: ResidentBlock, ordinal: number, position: Dim3) {
    this.#host = host;
    this.resident = resident;
    this.ordinal = ordinal;
    this.position = position;
    this.#count = host.block[0] * host.block[1] * host.block[2];
    this.#warpOrder = host.warpOrder(ordinal);
  }

  /** Runs the threads until all have exited or no thread can continue, except for spinning ones. */
  turn(): Turn {
    for (;;) {
      this.#runReady();
      if (this.#common === exitedStatus) return 'finished';
      if (this.#resolveWarps()) continue;
      const released = this.#resolveBarriers();
      if (released === 'stuck') return 'stuck';
      if (released === 'released') continue;
      if (this.#common >= 0 || (this.#common === mixedStatus && this.#some((status) => status >= 0))) return 'spinning';
      for (const kind of ['grid-barrier', 'cluster-barrier'] as const) {
        if (this.#waitingCount(kind) === this.#count - this.#exited) return kind;
      }
      this.#reportStuck();
      return 'stuck';
    }
  }

  /**
   * Releases the threads that wait at the grid or cluster barrier when every block has arrived.
   * @returns the barrier
   */
  releaseWaiting(kind: 'grid-barrier' | 'cluster-barrier'): Instruction {
    const threads = this.#waitingAt(kind);
    const { instruction } = this.#suspension(threads[0]!);
    if (kind === 'cluster-barrier') this.#host.clusterBarrier(this, threads);
    else {
      this.#reportExited(threads, 'divergent');
      this.resident.passedBarrier();
    }
    for (const thread of threads) this.#release(thread, []);
    this.#findCommon();
    return instruction;
  }

  /** Reports that other blocks ended without arriving at the barrier of the grid. */
  reportDeadlock(): void {
    this.#report('deadlock', this.#waitingAt('grid-barrier'), null);
  }

  // Threads

  #statusOf(thread: number): number {
    return this.#common === mixedStatus ? this.resident.status[thread]! : this.#common;
  }

  #some(holds: (status: number) => boolean): boolean {
    const { status } = this.resident;
    for (let thread = 0; thread < this.#count; thread++) if (holds(status[thread]!)) return true;
    return false;
  }

  #runReady(): void {
    const warpOrder = this.#warpOrder;
    const { runWarp } = this.resident;
    if (warpOrder || runWarp) {
      this.#spread();
      for (let index = 0; 32 * index < this.#count; index++) {
        const first = 32 * (warpOrder?.[index] ?? index);
        const end = Math.min(first + 32, this.#count);
        if (runWarp) runWarp(first, end);
        else this.#runRange(first, end);
      }
      this.#findCommon();
    } else if (this.#common >= 0) {
      this.#common = this.resident.run(this.#common, 0, this.#count - 1);
      if (this.#common === mixedStatus) this.#findCommon();
      else if (this.#common === exitedStatus) this.#exited = this.#count;
    } else if (this.#common === mixedStatus) {
      this.#runRange(0, this.#count);
      this.#findCommon();
    }
  }

  #runRange(start: number, end: number): void {
    for (let first = start; first < end;) {
      const { status } = this.resident;
      const segment = status[first]!;
      let next = first + 1;
      if (segment >= 0) {
        while (next < end && status[next] === segment) next++;
        this.resident.run(segment, first, next - 1);
      }
      first = next;
    }
  }

  /** Writes the common status into the array. */
  #spread(): void {
    if (this.#common === mixedStatus) return;
    this.resident.status.fill(this.#common, 0, this.#count);
    this.#common = mixedStatus;
  }

  #findCommon(): void {
    const { status } = this.resident;
    let exited = 0;
    let common = status[0]!;
    for (let thread = 0; thread < this.#count; thread++) {
      if (status[thread] === exitedStatus) exited++;
      if (status[thread] !== common) common = mixedStatus;
    }
    this.#exited = exited;
    this.#common = common;
  }

  #suspension(thread: number): Suspension {
    return this.#suspensionOf(this.#statusOf(thread));
  }

  #suspensionOf(status: number): Suspension {
    return this.#host.program.suspensions[waitingAt(status)]!;
  }

  /** The threads that wait at a barrier of a kind. */
  #waitingAt(kind: Effect['kind']): number[] {
    const { suspensions } = this.#host.program;
    if (this.#common !== mixedStatus) {
      const isThere = this.#common < exitedStatus && suspensions[waitingAt(this.#common)]!.effect.kind === kind;
      return isThere ? Array.from({ length: this.#count }, (_, thread) => thread) : [];
    }
    const { status } = this.resident;
    const threads: number[] = [];
    for (let thread = 0; thread < this.#count; thread++) {
      const at = status[thread]!;
      if (at < exitedStatus && suspensions[waitingAt(at)]!.effect.kind === kind) threads.push(thread);
    }
    return threads;
  }

  #waitingCount(kind: Effect['kind']): number {
    return this.#waitingAt(kind).length;
  }

  #operand(thread: number, index: number): unknown {
    return this.resident.operand(this.#suspension(thread).index, index, thread);
  }

  #release(thread: number, results: readonly unknown[]): void {
    this.#spread();
    const { index, resume } = this.#suspension(thread);
    this.resident.setResults(index, thread, results);
    this.resident.status[thread] = resume;
  }

  // Warps

  /** Completes exchanges for which all participating lanes wait; returns whether there were any. */
  #resolveWarps(): boolean {
    if (this.#common !== mixedStatus) {
      if (this.#common >= exitedStatus || !isOfWarp(this.#suspensionOf(this.#common).effect)) return false;
      const resume = this.#exchangeWhole(0, this.#count, this.#common);
      if (resume !== null) {
        this.#common = resume;
        return true;
      }
      this.#spread();
    }
    let found = false;
    for (let first = 0; first < this.#count; first += 32) found = this.#resolveWarp(first) || found;
    if (found) this.#findCommon();
    return found;
  }

  /**
   * Performs the exchange of whole warps, if threads `first` to before `end` all wait at the same exchange.
   * @returns the segment to continue with; null: handle single lanes
   */
  #exchangeWhole(first: number, end: number, status: number): number | null {
    const { effect, instruction, index, resume } = this.#suspensionOf(status);
    if (!isExchange(effect)) return null;
    // The missing lanes of the last warp may be sources.
    if (effect.kind === 'shuffle' && end % 32 !== 0) return null;
    if (effect.kind === 'warp-barrier' || effect.sync) {
      const mask = this.resident.operandWords(index, instruction.arguments.length - 1);
      if (mask !== -1) return null;
    }
    const operands: Words[] = [];
    for (let source = 0; source < instruction.arguments.length; source++) {
      const words = this.resident.operandWords(index, source);
      if (words === null) return null;
      operands.push(words);
    }
    const results = instruction.results.map((_, result) => this.resident.resultWords(index, result));
    // A back end without arrays still returns constants; its results must be set separately.
    const hasArrays = [...operands, ...results].some((words) => words !== null && typeof words !== 'number');
    if (results.length > 0 && !hasArrays) return null;
    if (!exchangeWords(effect, first, end, operands, results)) return null;
    for (let warp = first >> 5; 32 * warp < end; warp++) this.#tellExchange(effect, warp, null);
    return resume;
  }

  /** Lanes wait for each other at a collective access, but neither before nor after its reads and writes. */
  #tellExchange(effect: Effect, warp: number, threads: readonly number[] | null): void {
    if (effect.kind === 'matrix-access') return;
    if (effect.kind === 'warp-barrier') this.#host.warpBarrier(this, warp, threads);
    else if (!('sync' in effect) || effect.sync) this.#host.exchange(this, warp, threads);
  }

  #resolveWarp(first: number): boolean {
    const end = Math.min(first + 32, this.#count);
    const { status } = this.resident;
    const common = this.#statusOf(first);
    if (common < exitedStatus && this.#common === mixedStatus) {
      let same = first + 1;
      while (same < end && status[same] === common) same++;
      const resume = same === end ? this.#exchangeWhole(first, end, common) : null;
      if (resume !== null) {
        status.fill(resume, first, end);
        return true;
      }
    }
    for (let thread = first; thread < end; thread++) {
      if (this.#statusOf(thread) >= exitedStatus) continue;
      const group = this.#exchangeGroup(first, end, thread);
      if (!group) continue;
      const { effect, instruction, index } = this.#suspension(thread);
      const results = isMatrix(effect)
        ? this.#host.matrix(this, instruction, group)
        : warpResults(
            effect,
            group.map((member) => ({
              lane: member - first,
              operands: instruction.arguments.map((_, source) => this.resident.operand(index, source, member)),
            })),
            (reader, source, own) => this.#undefinedFrom(group[reader]!, first + source, own),
          );
      // Lanes that have exited participate if the mask names them.
      const isMasked = effect.kind === 'warp-barrier' || ('sync' in effect && effect.sync);
      const mask = isMasked ? this.#memberMask(thread) : -1;
      let absent = 0;
      for (let other = first; other < end; other++) {
        const hasExited = this.#statusOf(other) === exitedStatus;
        if (hasExited ? ((mask >>> (other - first)) & 1) === 0 : !group.includes(other)) absent++;
      }
      this.#tellExchange(effect, first >> 5, absent === 0 ? null : group);
      for (const [position, member] of group.entries()) this.#release(member, results[position]!);
      return true;
    }
    return false;
  }

  /**
   * The lanes that exchange values with `thread`, once all of them wait; null: some are missing, or it waits at no
   * exchange.
   */
  #exchangeGroup(first: number, end: number, thread: number): readonly number[] | null {
    const { effect, index } = this.#suspension(thread);
    if (!isOfWarp(effect)) return null;
    const group: number[] = [];
    if (isMatrix(effect)) {
      // All lanes have to execute the same exchange (PTX ISA 9.7.14).
      let exited: number | undefined;
      for (let other = first; other < end; other++) {
        const status = this.#statusOf(other);
        if (status === exitedStatus) exited ??= other;
        else if (status !== waitingAt(index)) return null;
        else group.push(other);
      }
      if (exited !== undefined) this.#report('missing-lanes', group, { other: exited, where: { kind: 'exited' } });
      return group;
    }
    if (effect.kind !== 'warp-barrier' && !effect.sync) {
      // Without a mask: the lanes that wait at this instruction once no other lane can continue.
      for (let other = first; other < end; other++) {
        const status = this.#statusOf(other);
        if (status >= 0) return null;
        if (status === waitingAt(index)) group.push(other);
      }
      return group;
    }
    const mask = this.#memberMask(thread);
    if (((mask >>> (thread - first)) & 1) === 0) {
      // Undefined; the lane goes on without others.
      this.#report('outside-mask', [thread], null);
      return [thread];
    }
    for (let other = first; other < end; other++) {
      const status = this.#statusOf(other);
      if (status === exitedStatus || ((mask >>> (other - first)) & 1) === 0) continue;
      if (status >= 0 || !this.#joins(other, thread)) return null;
      group.push(other);
    }
    return group;
  }

  /** Whether a waiting lane takes part in the exchange with `.sync` at which another one waits. */
  #joins(other: number, thread: number): boolean {
    const [a, b] = [this.#suspension(other), this.#suspension(thread)];
    if (a.instruction.operation.mnemonic !== b.instruction.operation.mnemonic) return false;
    return isMatrix(b.effect) ? a === b : this.#memberMask(other) === this.#memberMask(thread);
  }

  /** The member mask: the last source of every exchange with `.sync`. */
  #memberMask(thread: number): number {
    const { instruction, index } = this.#suspension(thread);
    return this.resident.operand(index, instruction.arguments.length - 1, thread) as number;
  }

  /** The mask of the instruction at which a thread waits; undefined if it has none. */
  #maskAt(thread: number): number | undefined {
    const { effect } = this.#suspension(thread);
    if (effect.kind === 'warp-barrier') return this.#memberMask(thread);
    return isExchange(effect) && effect.sync ? this.#memberMask(thread) : undefined;
  }

  #undefinedFrom(thread: number, source: number, own: unknown): unknown {
    const where = source < this.#count ? this.#whereabouts(source) : null;
    const read = { block: this.position, thread: this.#coordinates(thread), lane: source & 31, where, mask: this.#maskAt(thread) ?? -1 };
    return this.#host.undefinedRead(this.#suspension(thread).instruction, read, own);
  }

  /** The first lane that a thread waits for at an instruction of its warp; undefined if it waits for none. */
  #missingLane(thread: number): number | undefined {
    const { effect } = this.#suspension(thread);
    if (!isOfWarp(effect) || (isExchange(effect) && effect.kind !== 'warp-barrier' && !effect.sync)) return undefined;
    const mask = this.#maskAt(thread) ?? -1;
    const first = thread & ~31;
    for (let other = first; other < Math.min(first + 32, this.#count); other++) {
      if (this.#statusOf(other) === exitedStatus || ((mask >>> (other - first)) & 1) === 0) continue;
      if (!this.#joins(other, thread)) return other;
    }
    return undefined;
  }

  // Barriers

  /** Releases the threads of complete barriers. */
  #resolveBarriers(): 'released' | 'stuck' | 'nothing' {
    if (this.#common !== mixedStatus) {
      if (this.#common >= exitedStatus) return 'nothing';
      const suspension = this.#host.program.suspensions[waitingAt(this.#common)]!;
      if (this.#isWholeBarrier(suspension) && this.#areInOneRound(suspension)) {
        this.#passWhole(suspension);
        return 'released';
      }
    }
    let released = false;
    const groups = new Map<number, number[]>();
    for (const thread of this.#waitingAt('barrier')) {
      const number = this.#operand(thread, 0) as number;
      const { effect } = this.#suspension(thread);
      if (effect.kind === 'barrier' && effect.form === 'arrive') {
        this.#arrived ??= new Map();
        const arrived = this.#arrived.get(number);
        if (arrived) arrived.push(thread);
        else this.#arrived.set(number, [thread]);
        this.#host.arrived(this, number, thread);
        this.#release(thread, []);
        released = true;
        continue;
      }
      const group = groups.get(number);
      if (group) group.push(thread);
      else groups.set(number, [thread]);
    }
    for (const [number, group] of groups) {
      const outcome = this.#resolveBarrier(number, group);
      if (outcome === 'stuck') return 'stuck';
      if (outcome) released = true;
    }
    if (!released) return 'nothing';
    this.#findCommon();
    return 'released';
  }

  /** Whether all threads wait at the same barrier of the whole block, with the same known barrier number. */
  #isWholeBarrier({ effect, instruction, index }: Suspension): boolean {
    if (effect.kind !== 'barrier' || effect.form !== 'sync' || instruction.arguments.length > 1) return false;
    const number = this.resident.operandWords(index, 0);
    return typeof number === 'number' && this.#arrived?.has(number) !== true;
  }

  /** Whether all threads are in the same iteration of each loop around the barrier. */
  #areInOneRound({ loops }: Suspension): boolean {
    return loops.every((loop) => {
      const rounds = this.resident.rounds(loop);
      return rounds.every((round) => round === rounds[0]);
    });
  }

  #passWhole({ index, instruction, resume }: Suspension): void {
    this.#arrivals ??= new Map();
    const arrivals = this.#arrivals.get(index) ?? 0;
    if (typeof arrivals === 'number') this.#arrivals.set(index, arrivals + 1);
    else for (let thread = 0; thread < this.#count; thread++) arrivals[thread]!++;
    this.#host.fullBarrier(this, instruction);
    this.#common = resume;
  }

  #resolveBarrier(number: number, group: readonly number[]): boolean | 'stuck' {
    const count = this.#barrierCount(group[0]!);
    const alive = this.#count - this.#exited;
    const arrivals = this.#arrived?.get(number) ?? [];
    const arrived = arrivals.length;
    // The hardware counts whole warps: a count up to the next multiple of 32 means all threads.
    const everyone = Math.ceil(this.#count / 32) * 32;
    const forAll = count === null || (count >= this.#count && count <= everyone);
    if (forAll) {
      // A thread that arrived may have exited since; such threads are not expected at the barrier.
      const there = arrivals.filter((thread) => this.#statusOf(thread) !== exitedStatus).length;
      if (group.length + there < alive) return false;
      if (arrived === 0) {
        if (this.#differs(group, count)) return 'stuck';
        this.#reportExited(group);
      }
    } else if (group.length + arrived < count) {
      return false;
    }
    if (count !== null || group.length < alive) this.#reportPartWarp(group);
    if (forAll && arrived === 0) this.#host.fullBarrier(this, this.#suspension(group[0]!).instruction);
    else this.#host.partBarrier(this, number, group);
    this.#arrived?.delete(number);
    this.#releaseBarrier(group);
    return true;
  }

  #releaseBarrier(group: readonly number[]): void {
    const truth = (thread: number): unknown => {
      const { instruction, index } = this.#suspension(thread);
      return this.resident.operand(index, instruction.arguments.length - 1, thread);
    };
    const votes = group.filter((thread) => truth(thread) === true).length;
    for (const thread of group) {
      const { effect } = this.#suspension(thread);
      let result: unknown;
      if (effect.kind === 'barrier' && effect.form === 'red') {
        if (effect.reduction === 'popc') result = votes;
        else result = effect.reduction === 'and' ? votes === group.length : votes > 0;
      }
      this.#release(thread, [result]);
    }
  }

  /** The thread count operand of a barrier; null without one. */
  #barrierCount(thread: number): number | null {
    const { effect, instruction } = this.#suspension(thread);
    const plain = effect.kind === 'barrier' && effect.form === 'red' ? 2 : 1;
    return instruction.arguments.length > plain ? (this.#operand(thread, 1) as number) : null;
  }

  #arrivalsAt(suspension: number): Int32Array {
    this.#arrivals ??= new Map();
    let arrivals = this.#arrivals.get(suspension) ?? 0;
    if (typeof arrivals === 'number') {
      arrivals = new Int32Array(this.#count).fill(arrivals);
      this.#arrivals.set(suspension, arrivals);
    }
    return arrivals;
  }

  /**
   * Whether the threads at a barrier for the whole block reached it by different instructions or iterations. Threads at
   * a barrier with a thread count synchronize by the index of the barrier, regardless of the instruction.
   */
  #differs(group: readonly number[], count: number | null): boolean {
    if (count !== null && group.every((thread) => this.#barrierCount(thread) === count)) return false;
    for (const thread of group) this.#arrivalsAt(this.#suspension(thread).index)[thread]!++;
    const arrivals = this.#arrivalsAt(this.#suspension(group[0]!).index);
    const expected = arrivals[group[0]!];
    const other = group.find((thread) => arrivals[thread] !== expected);
    if (other === undefined) {
      this.#reportRounds(group);
      return false;
    }
    const present = group.filter((thread) => arrivals[thread] === expected);
    this.#report('divergent', present, { other, where: this.#whereabouts(other) });
    return true;
  }

  /**
   * Reports threads that synchronize in different iterations of a loop around the barrier; the hardware lets them
   * continue.
   */
  #reportRounds(group: readonly number[]): void {
    const rounds = this.#suspension(group[0]!).loops.map((loop) => this.resident.rounds(loop));
    const isTogether = (thread: number): boolean => rounds.every((list) => list[thread] === list[group[0]!]);
    const other = group.find((thread) => !isTogether(thread));
    if (other === undefined) return;
    this.#report('divergent', group.filter(isTogether), { other, where: this.#whereabouts(other) });
  }

  /**
   * Reports threads that exited while the others wait at a barrier of the whole block or grid.
   * @param kind of threads that returned: all threads of a grid have to take part in its barriers
   */
  #reportExited(group: readonly number[], kind: 'early-exit' | 'divergent' = 'early-exit'): void {
    if (this.#exited === 0) return;
    const absent: number[] = [];
    for (let thread = 0; thread < this.#count; thread++) {
      if (this.#statusOf(thread) === exitedStatus) absent.push(thread);
    }
    // A back end may compute the array when it is read.
    const { left } = this.resident;
    const passedBy = absent.find((thread) => this.#rejoined(left[thread]! as BlockId | -1));
    const other = passedBy ?? absent[0]!;
    this.#report(passedBy === undefined ? kind : 'divergent', group, { other, where: { kind: 'exited' } });
  }

  /**
   * Whether a thread that exited had reconverged with the others after it bypassed the barriers: the branch by which it
   * bypassed them has a postdominator with an effect. Otherwise it left by a separate return.
   * @param left the block with that branch; -1: it has not bypassed them
   */
  #rejoined(left: BlockId | -1): boolean {
    const { blocks, postdominators } = this.#host.program.kernel;
    if (left === -1) return false;
    for (let at = postdominators[left]!; at !== null; at = postdominators[at]!) {
      const { instructions, terminator } = blocks[at]!;
      if (instructions.some(({ operation }) => operation.effect.kind !== 'pure')) return true;
      if (terminator.kind !== 'jump' && terminator.kind !== 'exit') return true;
    }
    return false;
  }

  /**
   * Checks that all lanes of a warp execute the same `bar` (PTX ISA 9.7.13, `.aligned`). Reports the lanes that are
   * missing or execute another one.
   */
  #reportPartWarp(group: readonly number[]): void {
    const present = new Set(group);
    const firsts = new Map(group.toReversed().map((thread) => [thread >> 5, thread]));
    for (const [warp, first] of firsts) {
      const { effect } = this.#suspension(first);
      if (effect.kind !== 'barrier' || !effect.aligned) continue;
      const status = this.#statusOf(first);
      for (let other = 32 * warp; other < Math.min(32 * warp + 32, this.#count); other++) {
        if (this.#statusOf(other) === exitedStatus) continue;
        if (present.has(other) && this.#statusOf(other) === status) continue;
        const there = group.filter((thread) => this.#statusOf(thread) === status);
        this.#report('divergent', there, { other, where: this.#whereabouts(other) });
        break;
      }
    }
  }

  /** Reports a deadlock: a barrier at which some threads wait, and a thread that cannot arrive. */
  #reportStuck(): void {
    const waiting: number[] = [];
    let exited: number | undefined;
    for (let thread = 0; thread < this.#count; thread++) {
      if (this.#statusOf(thread) < exitedStatus) waiting.push(thread);
      else exited ??= thread;
    }
    for (const thread of waiting) {
      const other = this.#missingLane(thread);
      if (other === undefined) continue;
      const group = waiting.filter((lane) => lane >> 5 === thread >> 5 && this.#joins(lane, thread));
      this.#report('missing-lanes', group, { other, where: this.#whereabouts(other) });
      return;
    }
    const first = waiting.find((thread) => this.#suspension(thread).effect.kind === 'barrier') ?? waiting[0]!;
    const { instruction } = this.#suspension(first);
    const group = waiting.filter((thread) => this.#suspension(thread).instruction === instruction);
    const elsewhere = waiting.find((thread) => this.#suspension(thread).instruction !== instruction);
    const other = elsewhere ?? exited;
    const kind = elsewhere === undefined ? 'partial-arrival' : 'deadlock';
    this.#report(kind, group, other === undefined ? null : { other, where: this.#whereabouts(other) });
  }

  #whereabouts(thread: number): Whereabouts {
    const status = this.#statusOf(thread);
    if (status === exitedStatus) return { kind: 'exited' };
    if (status >= 0) return { kind: 'running', block: this.#host.program.segments[status]!.block };
    return { kind: 'barrier', instruction: this.#suspension(thread).instruction.id };
  }

  #report(
    kind: DivergenceEvent['kind'],
    group: readonly number[],
    absent: { readonly other: number; readonly where: Whereabouts } | null,
  ): void {
    const barrier: InstructionId = this.#suspension(group[0]!).instruction.id;
    const mask = this.#maskAt(group[0]!);
    this.#host.diverged({
      kind,
      barrier,
      ...(mask !== undefined && { mask }),
      block: this.position,
      arrived: group.slice(0, listedThreads).map((thread) => this.#coordinates(thread)),
      arrivedCount: group.length,
      absent: absent && { thread: this.#coordinates(absent.other), where: absent.where },
      others: this.#othersThan(group),
    });
  }

  /** The threads outside a group, by location. */
  #othersThan(group: readonly number[]): DivergenceEvent['others'] {
    const present = new Set(group);
    const places = new Map<number, number[]>();
    for (let thread = 0; thread < this.#count; thread++) {
      if (present.has(thread)) continue;
      const status = this.#statusOf(thread);
      const there = places.get(status);
      if (there) there.push(thread);
      else places.set(status, [thread]);
    }
    return Array.from(places.values(), (threads) => ({
      where: this.#whereabouts(threads[0]!),
      threads: threads.slice(0, listedThreads).map((thread) => this.#coordinates(thread)),
      count: threads.length,
    }));
  }

  #coordinates(thread: number): Dim3 {
    const [x, y] = this.#host.block;
    return [thread % x, Math.floor(thread / x) % y, Math.floor(thread / (x * y))];
  }
}

function isExchange(effect: Effect): effect is Effect & { kind: 'warp-barrier' | 'shuffle' | 'vote' | 'warp-value' } {
  return participantsOf(effect) === 'lanes';
}

/** Whether the lanes of a warp wait for each other at an instruction. */
function isOfWarp(effect: Effect) {
  return isExchange(effect) || isMatrix(effect);
}
