/**
 * Names the atoms of a term when the term is read for the first or the second thread of a pair. Atoms that both threads
 * share (parameters, the block index within a block, the iteration of a loop that a barrier synchronises) have one
 * name. All others have one name per thread.
 */
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import { type IterationRelation, iterationCode, parseIterationRelation } from '../../analysis/values/iteration-relation.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import { undefinedValue } from '../../analysis/values/symbolic.ts';
import type { UniformityResult } from '../../analysis/values/uniformity.ts';
import type { BlockId, Kernel, LoopId, ValueId } from '../../ir/form/kernel.ts';
import type { Bounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';
import type { StatedSize } from '../premises/stated-sizes.ts';

/** `block`: two threads of one block; `grid`: two threads of different blocks, ordered only by barriers of the grid. */
export type PairScope = 'block' | 'grid';

/** A value for threads of one block, and a value for threads of different blocks. */
export type Scoped<T> = Readonly<Record<PairScope, T>>;

type Side = 1 | 2;

/** A reading of a term: for which thread, and in which iterations of the loops. */
export interface TermInstance {
  readonly side: Side;
  readonly rounds: readonly IterationRelation[];
}

/** An atom as one thread evaluates it: the unknown `name` plus `offset`, or, without a name, the constant `offset`. */
export interface Instance {
  readonly name: string | null;
  readonly offset: bigint;
  readonly bounds: Bounds;
  readonly leaf: Term;
  /** Whether both threads have the same unknown. */
  readonly shared: boolean;
}

/** Whether an unknown is of one of the two threads, by its name. */
export function isOfOneThread(name: string): boolean {
  return name.endsWith('_1') || name.endsWith('_2');
}

export class Instances {
  /** Whether a name was returned under the assumption that both threads load one value from memory. */
  sharedLoad = false;
  private readonly symbolic: SymbolicKernel;
  private readonly uniformity: UniformityResult;
  readonly scope: PairScope;
  private readonly keys = new Map<string, string>();

  /** @param uniformity the uniformity for threads of the scope */
  constructor(symbolic: SymbolicKernel, uniformity: UniformityResult, scope: PairScope) {
    this.symbolic = symbolic;
    this.uniformity = uniformity;
    this.scope = scope;
  }

  /** The kernel of the terms. */
  get kernel(): Kernel {
    return this.symbolic.kernel;
  }

  /** Names an atom for a reading. */
  of(leaf: Term, reading: TermInstance): Instance {
    const atom = leaf.atom!;
    const bounds = this.symbolic.view.natural(leaf);
    const shared = (name: string): Instance => ({ name, offset: 0n, bounds, leaf, shared: true });
    const own = (name: string): Instance => ({
      name: `${name}_${reading.side}`,
      offset: 0n,
      bounds,
      leaf,
      shared: false,
    });
    switch (atom.kind) {
      case 'thread':
        return own(`t${'xyz'[atom.axis]}`);
      case 'block':
        return this.scope === 'block' ? shared(`b${'xyz'[atom.axis]}`) : own(`b${'xyz'[atom.axis]}`);
      case 'block-size':
        return shared(`n${'xyz'[atom.axis]}`);
      case 'grid-size':
        return shared(`g${'xyz'[atom.axis]}`);
      case 'parameter':
        return shared(`p${atom.index}_${atom.offset}_${atom.bytes}`);
      case 'object':
        return shared(`o${atom.object}${atom.generic ? 'g' : ''}`);
      case 'iteration':
        return this.round(leaf, atom.loop as LoopId, reading, bounds);
      case 'havoc': {
        if (atom.value === undefinedValue) return own(`undefined${leaf.width}`);
        const isOfLeader = this.scope === 'block' && this.symbolic.leaderValues.has(atom.value);
        const isShared = isOfLeader || this.uniformity.value(atom.value as ValueId) !== 'varying';
        const home = this.symbolic.definedIn(atom.value);
        const key = isShared ? this.dynamicInstance(home, reading.rounds) : null;
        if (key === null) return own(`h${atom.value}${this.roundsAt(home, reading.rounds)}`);
        if (!isOfLeader) this.sharedLoad = true;
        return shared(`h${atom.value}${key}`);
      }
      case 'phi':
        return own(`f${atom.value}`);
      case 'line':
        return own(`line${atom.instruction}`);
    }
  }

  private round(leaf: Term, loop: LoopId, reading: TermInstance, bounds: Bounds): Instance {
    const outer = this.outerInstance(loop, reading.rounds);
    const { base, by } = parseIterationRelation(reading.rounds[loop]!);
    const named = (name: string, shared: boolean, offset = 0n): Instance => ({ name, offset, bounds, leaf, shared });
    const header = this.symbolic.kernel.loops[loop]!.header;
    const own = named(`k${loop}${this.roundsAt(header, reading.rounds)}_${reading.side}`, false);
    if (base === 'first') {
      const round = BigInt(by);
      return { name: null, offset: round, bounds: { low: round, high: round }, leaf, shared: true };
    }
    if (outer === null || base === 'free') return own;
    if (base === 'same') return named(`K${loop}${outer}`, true, BigInt(by));
    if (this.uniformity.divergent(loop)) return own;
    return named(`${base === 'left' ? 'L' : 'B'}${loop}${outer}`, true, BigInt(by));
  }

  /**
   * Name of the execution of a loop if both threads are in the same one, from the iterations of the outer loops; null
   * if they may not be.
   */
  private outerInstance(loop: LoopId, rounds: readonly IterationRelation[]): string | null {
    const parent = this.symbolic.kernel.loops[loop]!.parent;
    if (parent === null) return '';
    const state = rounds[parent]!;
    const outer = this.outerInstance(parent, rounds);
    if (outer === null || !this.isSharedRound(parent, state)) return null;
    return `${outer}${iterationCode(state)}${parent}`;
  }

  /** Name of the execution of a basic block if both threads are in the same one; null if they may not be. */
  private dynamicInstance(block: BlockId, rounds: readonly IterationRelation[]): string | null {
    if (this.scope === 'grid') return null;
    const loop = this.symbolic.kernel.loopOf[block] ?? null;
    if (loop === null) return '';
    const outer = this.outerInstance(loop, rounds);
    const state = rounds[loop]!;
    if (outer === null || !this.isSharedRound(loop, state)) return null;
    return `${outer}${iterationCode(state)}${loop}`;
  }

  /** Whether both threads are in the same iteration of a loop, if they are in the same execution of the loop. */
  private isSharedRound(loop: LoopId, state: IterationRelation): boolean {
    const { base } = parseIterationRelation(state);
    if (base === 'free') return false;
    return (base !== 'left' && base !== 'before') || !this.uniformity.divergent(loop);
  }

  /**
   * Suffix of names that distinguishes executions of a basic block by one thread in different iterations of the loops
   * around it.
   */
  private roundsAt(block: BlockId, rounds: readonly IterationRelation[]): string {
    let text = '';
    const { loops, loopOf } = this.symbolic.kernel;
    for (let loop = loopOf[block] ?? null; loop !== null; loop = loops[loop]!.parent) text += iterationCode(rounds[loop]!);
    return text;
  }

  /** Whether two basic blocks are executed by the same thread in the same iteration of all loops around them. */
  isOneExecution([block, one]: readonly [BlockId, TermInstance], [other, another]: readonly [BlockId, TermInstance]): boolean {
    const { loopOf } = this.symbolic.kernel;
    const isInSame = (loopOf[block] ?? null) === (loopOf[other] ?? null);
    return isInSame && one.side === another.side && this.roundsAt(block, one.rounds) === this.roundsAt(other, another.rounds);
  }

  /** Key of the value of a term in a reading: equal keys mean equal values. */
  key(term: Term, reading: TermInstance): string {
    const leaves = term.leaves.map((leaf) => {
      const { name, offset } = this.of(leaf, reading);
      return `${name ?? ''}${offset === 0n ? '' : `+${offset}`}`;
    });
    const long = `${term.id}(${leaves.join()})`;
    let short = this.keys.get(long);
    if (!short) {
      short = `t${this.keys.size}`;
      this.keys.set(long, short);
    }
    return short;
  }

  /** Whether a term has the same value in both threads. */
  isShared(term: Term, first: TermInstance, second: TermInstance): boolean {
    return this.key(term, first) === this.key(term, second);
  }
}

export interface TierContext {
  readonly symbolic: SymbolicKernel;
  readonly instances: Instances;
  readonly dimensions: Dimensions;
  readonly evaluations: number;
  /** Comparisons of sizes among the assumptions. */
  readonly stated: readonly StatedSize[];
}
