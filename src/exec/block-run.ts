/** One thread block in execution: its threads, warps and barriers. */
import type { InstructionId } from '../ir/kernel.ts';
import type { Dim3, DivergenceEvent, Whereabouts } from './launch.ts';
import type { Page } from './memory.ts';
import type { Program, Suspension } from './stage.ts';
import type { ThreadHome } from './thread.ts';
import { createPage } from './memory.ts';
import { Thread, tagBits } from './thread.ts';
import { warpResults } from './warp-operation.ts';

/** How a block stands after a turn: `spinning` threads can go on, but perhaps only once other blocks have. */
export type Turn = 'finished' | 'stuck' | 'grid-barrier' | 'spinning';

export interface BlockHost {
  readonly program: Program;
  readonly block: Dim3;
  /** Runs a ready thread until it waits or exits, or its time slice ends. */
  execute(thread: Thread): void;
  /** May be told of the same kind at the same barrier often. */
  diverged(event: DivergenceEvent): void;
}

/** Threads that an event lists by name. */
const listedThreads = 8;

export class BlockRun implements ThreadHome {
  readonly ordinal: number;
  readonly position: Dim3;
  readonly shared: Page;
  readonly sharedBytes: number;
  readonly threads: Thread[] = [];
  epoch = 0;
  tags = 0;
  readonly #host: BlockHost;
  readonly #warps: Thread[][] = [];
  /** Threads that executed `bar.arrive`, by barrier number. */
  readonly #arrived = new Map<number, number>();
  #exited = 0;

  constructor(host: BlockHost, ordinal: number, position: Dim3, sharedBytes: number) {
    this.#host = host;
    this.ordinal = ordinal;
    this.position = position;
    this.sharedBytes = sharedBytes;
    this.shared = createPage(sharedBytes);
    const [x, y, z] = host.block;
    for (let number = 0; number < x * y * z; number++) {
      const thread = new Thread(this, number, host.block, host.program.registers);
      this.threads.push(thread);
      if (thread.lane === 0) this.#warps.push([]);
      this.#warps.at(-1)!.push(thread);
    }
  }

  /** Runs the threads until all have exited, none can go on, or none but spinning ones. */
  run(): Turn {
    for (;;) {
      for (const warp of this.#warps) this.#runWarp(warp);
      this.#exited = this.threads.reduce((count, thread) => count + (thread.status === 'exited' ? 1 : 0), 0);
      if (this.#exited === this.threads.length) return 'finished';
      const released = this.#resolveBarriers();
      if (released === 'stuck') return 'stuck';
      if (released === 'released') continue;
      if (this.threads.some((thread) => thread.status === 'ready')) return 'spinning';
      if (this.#waitingAt('grid-barrier').length === this.threads.length - this.#exited) return 'grid-barrier';
      this.#reportStuck();
      return 'stuck';
    }
  }

  /** Lets the threads go on that wait at the grid barrier, when every block has arrived. */
  releaseGridBarrier(): void {
    this.#passFullBarrier();
    this.tags = 0;
    for (const thread of this.#waitingAt('grid-barrier')) this.#release(thread, []);
  }

  /** Reports that other blocks ended without arriving at the grid barrier. */
  reportGridDeadlock(): void {
    this.#report('deadlock', this.#waitingAt('grid-barrier'), null);
  }

  #suspension(thread: Thread): Suspension {
    return this.#host.program.suspensions[thread.suspension]!;
  }

  #waitingAt(kind: 'barrier' | 'grid-barrier' | 'cluster-barrier'): Thread[] {
    return this.threads.filter(
      (thread) => thread.status === 'waiting' && this.#suspension(thread).effect.kind === kind,
    );
  }

  #release(thread: Thread, results: readonly unknown[]): void {
    const { slots, resume } = this.#suspension(thread);
    for (const [index, slot] of slots.entries()) if (slot !== -1) thread.registers[slot] = results[index];
    thread.status = 'ready';
    thread.pc = resume;
  }

  #runWarp(warp: readonly Thread[]): void {
    do {
      for (const thread of warp) if (thread.status === 'ready') this.#host.execute(thread);
    } while (this.#resolveWarp(warp));
  }

  /** Completes an exchange among lanes that all wait for it; whether it found one. */
  #resolveWarp(warp: readonly Thread[]): boolean {
    for (const thread of warp) {
      if (thread.status !== 'waiting') continue;
      const group = this.#exchangeGroup(warp, thread);
      if (!group) continue;
      const { effect } = this.#suspension(thread);
      const participants = group.map((member) => ({ lane: member.lane, operands: member.operands }));
      const results = warpResults(effect, participants);
      for (const [index, member] of group.entries()) {
        if (effect.kind === 'warp-barrier') this.#tag(member, tagBits['warp-barrier']);
        this.#release(member, results[index]!);
      }
      return true;
    }
    return false;
  }

  /** The lanes that exchange values with `thread`, once all of them are there; null: not yet, or no exchange. */
  #exchangeGroup(warp: readonly Thread[], thread: Thread): readonly Thread[] | null {
    const { effect, instruction } = this.#suspension(thread);
    const { kind } = effect;
    if (kind !== 'warp-barrier' && kind !== 'shuffle' && kind !== 'vote' && kind !== 'warp-value') return null;
    if (kind !== 'warp-barrier' && !effect.sync) {
      // Without a mask: the lanes that wait at this instruction when no other can go on.
      if (warp.some((other) => other.status === 'ready')) return null;
      return warp.filter((other) => other.status === 'waiting' && other.suspension === thread.suspension);
    }
    const mask = memberMask(thread);
    const members = warp.filter((other) => other.status !== 'exited' && (mask >>> other.lane) & 1);
    const allThere = members.every(
      (other) =>
        other.status === 'waiting' &&
        this.#suspension(other).instruction.operation.mnemonic === instruction.operation.mnemonic &&
        memberMask(other) === mask,
    );
    return allThere && members.includes(thread) ? members : null;
  }

  #tag(thread: Thread, bits: number): void {
    thread.tags |= bits;
    this.tags |= bits;
  }

  /** Releases the threads of complete barriers. */
  #resolveBarriers(): 'released' | 'stuck' | 'nothing' {
    let released = false;
    const groups = new Map<number, Thread[]>();
    for (const thread of this.#waitingAt('barrier')) {
      const number = thread.operands[0] as number;
      const { effect } = this.#suspension(thread);
      if (effect.kind === 'barrier' && effect.form === 'arrive') {
        this.#arrived.set(number, (this.#arrived.get(number) ?? 0) + 1);
        this.#tag(thread, tagBits['named-barrier']);
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
    const cluster = this.#waitingAt('cluster-barrier');
    if (cluster.length > 0 && cluster.length === this.threads.length - this.#exited) {
      for (const thread of cluster) {
        this.#tag(thread, tagBits['cluster-barrier']);
        this.#release(thread, []);
      }
      released = true;
    }
    return released ? 'released' : 'nothing';
  }

  #resolveBarrier(number: number, group: readonly Thread[]): boolean | 'stuck' {
    const count = barrierCount(this.#suspension(group[0]!), group[0]!);
    const alive = this.threads.length - this.#exited;
    const arrived = this.#arrived.get(number) ?? 0;
    // The hardware counts whole warps: a count up to the next multiple of 32 means all threads.
    const everyone = 32 * this.#warps.length;
    if (count === null || (count >= this.threads.length && count <= everyone)) {
      if (group.length + arrived < alive) return false;
      if (arrived === 0) {
        if (this.#differs(group)) return 'stuck';
        this.#reportExited(group);
        this.#passFullBarrier();
      }
    } else if (group.length + arrived < count) {
      return false;
    }
    if (group.length < alive) {
      this.#reportPartWarp(group);
      for (const thread of group) this.#tag(thread, tagBits['named-barrier']);
    }
    this.#arrived.delete(number);
    this.#releaseBarrier(group);
    return true;
  }

  #releaseBarrier(group: readonly Thread[]): void {
    const votes = group.filter((thread) => thread.operands.at(-1) === true).length;
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

  /** All accesses before it are ordered before all after it. */
  #passFullBarrier(): void {
    this.epoch++;
    for (const thread of this.threads) thread.tags = 0;
  }

  /** Whether the threads at a barrier for the whole block got there by different instructions or iterations. */
  #differs(group: readonly Thread[]): boolean {
    const [first] = group;
    const instruction = this.#suspension(first!).instruction.id;
    for (const thread of group) {
      const own = this.#suspension(thread).instruction.id;
      thread.arrivals.set(own, (thread.arrivals.get(own) ?? 0) + 1);
    }
    const expected = first!.arrivals.get(instruction);
    const other = group.find((thread) => thread.arrivals.get(instruction) !== expected);
    if (!other) return false;
    const where = this.#whereabouts(other);
    this.#report(
      'divergent',
      group.filter((thread) => thread.arrivals.get(instruction) === expected),
      { other, where },
    );
    return true;
  }

  /** Reports threads that exited while the others arrive at a barrier for all. */
  #reportExited(group: readonly Thread[]): void {
    if (this.#exited === 0) return;
    const absent = this.threads.filter((thread) => thread.status === 'exited');
    const passedBy = absent.find((thread) => this.#rejoined(thread));
    const other = passedBy ?? absent[0]!;
    this.#report(passedBy ? 'divergent' : 'early-exit', group, { other, where: { kind: 'exited' } });
  }

  /**
   * Whether a thread that exited met the others again after it had turned away from the barriers: the branch where it
   * did has a postdominator with an effect. Otherwise it left by a return of its own.
   */
  #rejoined(thread: Thread): boolean {
    const { blocks, postdominators } = this.#host.program.kernel;
    if (thread.left === -1) return false;
    for (let at = postdominators[thread.left]!; at !== null; at = postdominators[at]!) {
      const { instructions, terminator } = blocks[at]!;
      if (instructions.some(({ operation }) => operation.effect.kind !== 'pure')) return true;
      if (terminator.kind !== 'jump' && terminator.kind !== 'exit') return true;
    }
    return false;
  }

  /** `bar` with a count needs whole warps (PTX ISA 9.7.13): reports lanes that are missing. */
  #reportPartWarp(group: readonly Thread[]): void {
    const { effect } = this.#suspension(group[0]!);
    if (effect.kind !== 'barrier' || !effect.aligned) return;
    const present = new Set(group);
    for (const warp of this.#warps) {
      if (!warp.some((thread) => present.has(thread))) continue;
      const other = warp.find((thread) => thread.status !== 'exited' && !present.has(thread));
      if (other) this.#report('divergent', group, { other, where: this.#whereabouts(other) });
    }
  }

  /** No thread can go on: names a barrier that some wait at and a thread that will not come. */
  #reportStuck(): void {
    const waiting = this.threads.filter((thread) => thread.status === 'waiting');
    const first = waiting.find((thread) => this.#suspension(thread).effect.kind === 'barrier') ?? waiting[0]!;
    const { instruction } = this.#suspension(first);
    const group = waiting.filter((thread) => this.#suspension(thread).instruction === instruction);
    const elsewhere = waiting.find((thread) => this.#suspension(thread).instruction !== instruction);
    const other = elsewhere ?? this.threads.find((thread) => thread.status === 'exited');
    const kind = elsewhere ? 'deadlock' : 'partial-arrival';
    this.#report(kind, group, other ? { other, where: this.#whereabouts(other) } : null);
  }

  #whereabouts(thread: Thread): Whereabouts {
    if (thread.status === 'exited') return { kind: 'exited' };
    if (thread.status === 'waiting') return { kind: 'barrier', instruction: this.#suspension(thread).instruction.id };
    return { kind: 'running', block: this.#host.program.blockOf[thread.pc]! };
  }

  #report(
    kind: DivergenceEvent['kind'],
    group: readonly Thread[],
    absent: { readonly other: Thread; readonly where: Whereabouts } | null,
  ): void {
    const barrier: InstructionId = this.#suspension(group[0]!).instruction.id;
    this.#host.diverged({
      kind,
      barrier,
      block: this.position,
      arrived: group.slice(0, listedThreads).map(coordinates),
      arrivedCount: group.length,
      absent: absent && { thread: coordinates(absent.other), where: absent.where },
    });
  }
}

function coordinates(thread: Thread): Dim3 {
  return [thread.x, thread.y, thread.z];
}

/** The last source of every exchange with `.sync`; a lane always takes part in its own. */
function memberMask(thread: Thread): number {
  return (thread.operands.at(-1) as number) | (1 << thread.lane);
}

/** The count of threads that a barrier names, if it does. */
function barrierCount({ effect, instruction }: Suspension, thread: Thread): number | null {
  const plain = effect.kind === 'barrier' && effect.form === 'red' ? 2 : 1;
  return instruction.operation.sources.length > plain ? (thread.operands[1] as number) : null;
}
