/** Litmus programs: a few threads with a few accesses each, and where in the grid they are. */

export type Scope = 'cta' | 'cluster' | 'gpu' | 'sys';
export type LoadOrder = 'weak' | 'volatile' | 'relaxed' | 'acquire';
export type StoreOrder = 'weak' | 'volatile' | 'relaxed' | 'release';
export type AtomicOrder = 'relaxed' | 'acquire' | 'release' | 'acq_rel';
export type FenceOrder = 'sc' | 'acq_rel' | 'acquire' | 'release';

/**
 * Use of a value that a thread read. `if`: the rest of its segment executes only if the value is this
 * one. `wait`: it reads again until the value is this one.
 */
export interface Test {
  readonly kind: 'if' | 'wait';
  readonly value: number;
}

/** A step of a thread. Locations are words, named 0, 1 …, initially 0; `scope` of a weak access has no effect. */
export type Statement =
  | {
      readonly kind: 'load';
      readonly at: number;
      readonly order: LoadOrder;
      readonly scope: Scope;
      readonly test?: Test;
    }
  | {
      readonly kind: 'store';
      readonly at: number;
      readonly order: StoreOrder;
      readonly scope: Scope;
      readonly value: number;
    }
  | {
      readonly kind: 'atomic';
      readonly at: number;
      readonly order: AtomicOrder;
      readonly scope: Scope;
      /** `cas` compares with 0. */
      readonly operation: 'add' | 'exch' | 'cas';
      readonly value: number;
      readonly test?: Test;
    }
  | { readonly kind: 'fence'; readonly order: FenceOrder; readonly scope: Scope };

export type MemoryStatement = Exclude<Statement, { readonly kind: 'fence' }>;

/** Position of a thread: numbers in the grid. */
export interface Place {
  readonly cluster: number;
  readonly block: number;
  readonly warp: number;
}

export interface Thread {
  readonly place: Place;
  /** Its statements before, between and after the barriers of the program. */
  readonly segments: readonly (readonly Statement[])[];
}

export interface LitmusProgram {
  readonly threads: readonly Thread[];
  /** Between segments: a barrier of each block (`bar.sync`), or of each warp (`bar.warp.sync`). */
  readonly barriers: readonly ('block' | 'warp')[];
}

/** The value that an atomic leaves where it found another. */
export function leftBy(operation: 'add' | 'exch' | 'cas', old: number, value: number): number {
  if (operation === 'add') return old + value;
  return operation === 'exch' || old === 0 ? value : old;
}

/** The program with scopes of the whole launch, and with `fence.sc` for all fences. */
export function withSequentialFences(program: LitmusProgram): LitmusProgram {
  const wide = (statement: Statement): Statement =>
    statement.kind === 'fence' ? { kind: 'fence', order: 'sc', scope: 'gpu' } : { ...statement, scope: 'gpu' };
  const threads = program.threads.map(({ place, segments }) => ({ place, segments: segments.map((segment) => segment.map(wide)) }));
  return { ...program, threads };
}
