/** Short names for writing litmus programs down. */
import type { AtomicOrder, FenceOrder, LitmusProgram, LoadOrder, Place, Scope, Statement, StoreOrder, Test } from './program.ts';

export const x = 0;
export const y = 1;
export const z = 2;

export function load(at: number, order: LoadOrder = 'weak', scope: Scope = 'gpu', test?: Test): Statement {
  return { kind: 'load', at, order, scope, ...(test && { test }) };
}

export function store(at: number, value = 1, order: StoreOrder = 'weak', scope: Scope = 'gpu'): Statement {
  return { kind: 'store', at, order, scope, value };
}

export function atomic(
  at: number,
  operation: 'add' | 'exch' | 'cas' = 'add',
  order: AtomicOrder = 'relaxed',
  scope: Scope = 'gpu',
  options: { readonly value?: number; readonly test?: Test } = {},
): Statement {
  return {
    kind: 'atomic',
    at,
    order,
    scope,
    operation,
    value: options.value ?? 1,
    ...(options.test && { test: options.test }),
  };
}

export function fence(order: FenceOrder = 'acq_rel', scope: Scope = 'gpu'): Statement {
  return { kind: 'fence', order, scope };
}

/** The following statements execute only if 1, or another value, was read. */
export function when(value = 1): Test {
  return { kind: 'if', value };
}

/** Reads until it is 1, or another value. */
export function until(value = 1): Test {
  return { kind: 'wait', value };
}

export type Placement = 'warp' | 'block' | 'cluster' | 'grid';

/** Places of threads that are all of one warp, of one block, of one cluster, or of separate clusters. */
export function placesOf(count: number, placement: Placement): readonly Place[] {
  return Array.from({ length: count }, (_, index) => ({
    cluster: placement === 'grid' ? index : 0,
    block: placement === 'grid' || placement === 'cluster' ? index : 0,
    warp: placement === 'warp' ? 0 : index,
  }));
}

/** A program without barriers. */
export function programOf(placement: Placement, ...threads: readonly (readonly Statement[])[]): LitmusProgram {
  const places = placesOf(threads.length, placement);
  return { threads: threads.map((steps, index) => ({ place: places[index]!, segments: [steps] })), barriers: [] };
}

/** A program with barriers between the segments of each thread. */
export function phasesOf(
  placement: Placement,
  barriers: LitmusProgram['barriers'],
  ...threads: readonly (readonly (readonly Statement[])[])[]
): LitmusProgram {
  const places = placesOf(threads.length, placement);
  return { threads: threads.map((segments, index) => ({ place: places[index]!, segments })), barriers };
}
