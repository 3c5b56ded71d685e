/** The order in which the blocks of a grid run, and the barriers across them. */
import type { Dim3 } from '../../base/dim3.ts';
import type { Instruction } from '../../ir/form/kernel.ts';
import type { BackEnd } from './back-end.ts';
import type { BlockHost } from './thread-block.ts';
import { blockOrder, isInterleaved } from './schedule.ts';
import { ThreadBlock } from './thread-block.ts';

export interface GridHost extends BlockHost {
  readonly grid: Dim3;
  /** Linear indices of the blocks to run, in this order; null: all. */
  readonly blocks: readonly number[] | null;
  readonly seed: number | undefined;
  blockStarted(block: ThreadBlock): void;
  blockEnded(block: ThreadBlock): void;
  /** Called when all blocks have passed a barrier of the grid. */
  gridBarrier(barrier: Instruction): void;
}

/** Successive time slices of a block whose threads may wait for other blocks. */
const turnsInARow = 8;

/** Number of blocks that start together if a time slice is one instruction. */
const interleavedBlocks = 8;

/** Position of the block `index` of a grid. */
export function blockPosition([x, y]: Dim3, index: number): Dim3 {
  return [index % x, Math.floor(index / x) % y, Math.floor(index / (x * y))];
}

/**
 * Runs all blocks sequentially, unless some spin or wait for other blocks. Those stay resident and are scheduled
 * alternately; more blocks are admitted, since a resident one may wait for one that has not started.
 * @returns whether any block is stuck
 */
export function runGrid(host: GridHost, backEnd: BackEnd): boolean {
  const count = host.blocks?.length ?? host.grid[0] * host.grid[1] * host.grid[2];
  const order = blockOrder(count, host.seed);
  const start = (next: number): ThreadBlock => {
    const ordinal = order ? order[next]! : next;
    const position = blockPosition(host.grid, host.blocks?.[ordinal] ?? ordinal);
    const block = new ThreadBlock(host, backEnd.start(ordinal, position), ordinal, position);
    host.blockStarted(block);
    return block;
  };
  const interleaved = isInterleaved(host.seed);
  const least = interleaved ? interleavedBlocks : 1;
  const turnsOfBlock = interleaved ? 1 : host.program.mayWait ? turnsInARow : Infinity;
  let next = 0;
  let active: ThreadBlock[] = [];
  let atGridBarrier: ThreadBlock[] = [];
  let ended = 0;
  let stuck = false;
  for (;;) {
    const room = backEnd.mostResident - active.length - atGridBarrier.length;
    // The last block starts after those that spin have seen how many had counted before it.
    const left = count - next;
    const most = !interleaved && active.length > 0 && left > 1 ? left - 1 : left;
    const more = Math.min(Math.max(least, active.length), room, most);
    for (let added = 0; added < more; added++) active.push(start(next++));
    if (active.length === 0) {
      if (atGridBarrier.length === 0) return stuck;
      if (ended > 0 || next < count) {
        atGridBarrier[0]!.reportDeadlock();
        return true;
      }
      active = atGridBarrier;
      atGridBarrier = [];
      const [barrier] = active.map((block) => block.releaseWaiting('grid-barrier'));
      host.gridBarrier(barrier!);
    }
    const spinning: ThreadBlock[] = [];
    for (const block of active) {
      let turn = block.turn();
      for (let turns = 1; turns < turnsOfBlock; turns++) {
        // Each block is a separate cluster.
        if (turn === 'cluster-barrier') block.releaseWaiting(turn);
        else if (turn !== 'spinning') break;
        turn = block.turn();
      }
      if (turn === 'spinning') {
        spinning.push(block);
      } else if (turn === 'grid-barrier') {
        atGridBarrier.push(block);
      } else {
        ended++;
        stuck ||= turn === 'stuck';
        host.blockEnded(block);
        block.resident.release();
      }
    }
    active = spinning;
  }
}
