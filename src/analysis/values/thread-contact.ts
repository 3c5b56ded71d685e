/** What an instruction has to do with memory and with other threads: one table for all who go by it. */
import type { Instruction } from '../../ir/form/kernel.ts';

/**
 * From little to much:
 * - `none`: nothing;
 * - `unknown`: its result is not known;
 * - `weak`: it reads or writes memory, without strength;
 * - `exchange`: lanes of a warp give each other values, which orders no accesses;
 * - `end`: the thread ends, and others may go on that waited for it;
 * - `order`: by it a thread may learn what another one has done, or tell it. Also calls, and what nobody understands.
 */
type ThreadContact = 'none' | 'unknown' | 'weak' | 'exchange' | 'end' | 'order';

/** What an instruction has to do with memory and with other threads. */
export function contactOf({ operation: { effect } }: Instruction): ThreadContact {
  switch (effect.kind) {
    case 'pure':
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
