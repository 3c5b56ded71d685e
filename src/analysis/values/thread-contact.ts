/** Interaction of an instruction with memory and with other threads: one table for all callers. */
import type { Instruction } from '../../ir/form/kernel.ts';

/**
 * From weakest to strongest:
 * - `none`: nothing;
 * - `unknown`: its result is unknown;
 * - `weak`: it reads or writes memory, without strength;
 * - `exchange`: lanes of a warp exchange values, which orders no accesses;
 * - `end`: the thread ends, and threads that waited for it may continue;
 * - `order`: it may order accesses of threads. Also calls, and instructions that are not modelled.
 */
type ThreadContact = 'none' | 'unknown' | 'weak' | 'exchange' | 'end' | 'order';

/** The interaction of an instruction with memory and with other threads. */
export function contactOf({ operation: { effect } }: Instruction): ThreadContact {
  switch (effect.kind) {
    case 'pure':
    case 'grid-dependency':
    case 'branch':
    case 'indexed-branch':
      return 'none';
    case 'havoc':
      return 'unknown';
    case 'load':
    case 'store':
      return effect.semantics === 'weak' ? 'weak' : 'order';
    case 'shuffle':
    case 'vote':
    case 'warp-value':
      return 'exchange';
    case 'exit':
    case 'trap':
      return 'end';
    default:
      return 'order';
  }
}
