/**
 * Whether the phases of the barriers of a block are the same in every execution. A barrier of some threads (`bar.sync 1, 64`)
 * completes once enough of them have arrived, whichever these are. If each arrival happens after the phase before is complete, by
 * barriers only, no other execution can put it into another phase.
 */
import type { Kernel } from '../../ir/form/kernel.ts';

/** By barrier: the last phase that is known to be complete. */
type Phases = ReadonlyMap<number, number>;

const none: Phases = new Map();

/** The number of threads for which each barrier waits, by its name; null if that is not one constant, or another one is unknown. */
export function countsOfBarriers({ blocks }: Kernel, threads: number): ReadonlyMap<number, number> | null {
  const counts = new Map<number, number>();
  for (const { operation, arguments: operands } of blocks.flatMap(({ instructions }) => instructions)) {
    if (operation.effect.kind !== 'barrier') continue;
    const [name, asked] = operands;
    if (operation.effect.form === 'red' || name?.kind !== 'constant' || (asked && asked.kind !== 'constant')) return null;
    const [key, count] = [Number(name.value), asked ? Number(asked.value) : threads];
    if ((counts.get(key) ?? count) !== count || count % 32 !== 0) return null;
    counts.set(key, count);
  }
  return counts;
}

/** The phases of the barriers of one block in a run. */
export class BarrierPhases {
  /** Whether no other execution has other phases. */
  isDetermined = true;
  readonly #counts: ReadonlyMap<number, number>;
  /** By thread: what it knows to be complete. */
  readonly #known: Phases[];
  readonly #complete = new Map<number, number>();
  /** By barrier: the threads that have arrived without waiting, and what they knew. */
  readonly #arrived = new Map<number, { readonly threads: Set<number>; known: Phases }>();

  constructor(threads: number, counts: ReadonlyMap<number, number>) {
    this.#counts = counts;
    this.#known = Array.from({ length: threads }, () => none);
  }

  /** Records that a thread arrives without waiting. */
  arrive(barrier: number, thread: number): void {
    const arrived = this.#arrived.get(barrier) ?? { threads: new Set(), known: none };
    this.#arrived.set(barrier, arrived);
    this.#follow(barrier, thread, arrived.threads.has(thread));
    arrived.threads.add(thread);
    arrived.known = joined(arrived.known, this.#known[thread]!);
  }

  /** Records that a barrier is complete. @param waiting the threads that pass it; null: all of the block */
  complete(barrier: number, waiting: readonly number[] | null): void {
    const { threads, known } = this.#arrived.get(barrier) ?? { threads: new Set<number>(), known: none };
    const passing = waiting ?? this.#known.map((_, thread) => thread);
    this.#arrived.delete(barrier);
    if (passing.length + threads.size !== this.#counts.get(barrier) || !this.#areWarps([...passing, ...threads])) this.isDetermined = false;
    for (const thread of passing) this.#follow(barrier, thread, threads.has(thread));
    const phase = (this.#complete.get(barrier) ?? 0) + 1;
    this.#complete.set(barrier, phase);
    const before = passing.reduce((all, thread) => joined(all, this.#known[thread]!), known);
    const now: Phases = new Map([...before, [barrier, phase]]);
    for (const thread of passing) this.#known[thread] = now;
  }

  /** Whether threads are all those of some warps. */
  #areWarps(threads: readonly number[]): boolean {
    const sizes = new Map<number, number>();
    for (const thread of threads) sizes.set(thread >> 5, (sizes.get(thread >> 5) ?? 0) + 1);
    return [...sizes].every(([warp, size]) => size === Math.min(32, this.#known.length - 32 * warp));
  }

  /** Tests whether a thread arrives after the phase before, and once in this phase. */
  #follow(barrier: number, thread: number, isAgain: boolean): void {
    if (isAgain || (this.#known[thread]!.get(barrier) ?? 0) < (this.#complete.get(barrier) ?? 0)) this.isDetermined = false;
  }
}

/** What follows from both. */
function joined(a: Phases, b: Phases): Phases {
  if (a === b || b.size === 0) return a;
  if (a.size === 0) return b;
  const all = new Map(a);
  for (const [barrier, phase] of b) if (phase > (all.get(barrier) ?? 0)) all.set(barrier, phase);
  return all;
}
