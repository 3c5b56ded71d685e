/**
 * Writes through the generic proxy that a matrix product of a warp group reads through the asynchronous one (PTX ISA
 * 8.9.5, 9.7.15.4). A barrier orders the two only with a `fence.proxy.async` on the path from the write to the read.
 * The end of a product implies such a fence, so reads before writes need none.
 *
 * Every path from a write to a read of another thread leaves the writer through an instruction that may release its
 * writes, and enters the reader through one that may acquire them. So a fence between the write and all releases is on
 * each path, and so is one between all acquires and the read.
 */
import type { Block, BlockId, Instruction, Kernel } from '../../ir/form/kernel.ts';
import { completionOf, mayOrderAccesses, participantsOf } from '../../isa/model/effect.ts';
import type { Effect } from '../../isa/model/operation.ts';
import { type Access, isWriter } from '../values/access.ts';
import { canReach } from '../values/program-point.ts';
import { isFullBarrier } from './barrier-interval.ts';
import { groupAgeBehind, maxGroups } from './copy-group.ts';

/** A write and a later read by a matrix product without a proxy fence on some path between them. */
export interface ProxyCrossing {
  readonly write: Access;
  readonly read: Access;
}

/**
 * Lists the writes that matrix products may read without a proxy fence in between.
 * @param accesses of the kernel, those to barriers in memory among them
 */
export function proxyCrossings(kernel: Kernel, accesses: readonly Access[]): readonly ProxyCrossing[] {
  const reads = accesses.filter(({ instruction }) => isProduct(instruction));
  if (reads.length === 0) return [];
  // If threads synchronise by barriers of the block only, each path from a write to a read follows the control flow.
  const meetAtBarriers = kernel.blocks.every(({ instructions }) =>
    instructions.every((instruction) => !mayOrderAccesses(instruction.operation.effect) || isFullBarrier(instruction)),
  );
  const unfencedReads = reads.filter((read) => !isFencedBefore(kernel, read));
  const writes = accesses.filter((access) => isWriter(access) && access.memory !== 'global');
  const unfencedWrites = writes.filter((write) => !isFencedBehind(kernel, write, meetAtBarriers));
  return unfencedWrites.flatMap((write) =>
    unfencedReads.filter((read) => !meetAtBarriers || canReach(kernel, write, read)).map((read) => ({ write, read })),
  );
}

function isProduct({ operation }: Instruction): boolean {
  return completionOf(operation.effect) !== null && participantsOf(operation.effect) === 'warpgroup';
}

function isProxyFence({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'fence' && effect.ordersAsyncShared === true;
}

/**
 * Whether each path from a write passes a fence before it reaches a product, or a release of the write.
 * @param goesOn the path continues in the control flow after a release, in the threads that acquire the write
 */
function isFencedBehind(kernel: Kernel, { instruction, block, position, isCopy }: Access, goesOn: boolean): boolean {
  interface State {
    readonly block: BlockId;
    readonly position: number;
    /** For a pending copy: groups committed after its own, from -1; null: the write is complete. */
    readonly age: number | null;
  }
  const seen = new Set<string>();
  const work: State[] = [{ block, position: position + 1, age: isCopy ? -1 : null }];
  for (let state = work.pop(); state; state = work.pop()) {
    let { age } = state;
    const here: Block = kernel.blocks[state.block]!;
    let isFenced = false;
    for (const next of here.instructions.slice(state.position)) {
      const { effect } = next.operation;
      // Accesses before the copy is complete are unordered with it: separate pairs check them.
      if (age !== null) {
        // An arrival by the copy itself releases it as soon as it is complete.
        if (effect.kind === 'mbarrier') return false;
        age = groupAgeBehind(instruction.operation.effect, next, age, maxGroups);
        continue;
      }
      isFenced = isProxyFence(next);
      if (isFenced) break;
      if (isProduct(next)) return false;
      if (mayOrderAccesses(effect) && !goesOn) return false;
    }
    if (isFenced) continue;
    if (age !== null && here.successors.length === 0) return false;
    for (const to of here.successors) {
      const key = `${to}:${age}`;
      if (seen.has(key)) continue;
      seen.add(key);
      work.push({ block: to, position: 0, age });
    }
  }
  return true;
}

/** Whether each path to a product passes a fence after all writes of the same thread, and after all acquires. */
function isFencedBefore(kernel: Kernel, { block, position }: Access): boolean {
  const seen = new Set<BlockId>();
  const work = [{ block, position }];
  for (let state = work.pop(); state; state = work.pop()) {
    const here = kernel.blocks[state.block]!;
    const before = here.instructions.slice(0, state.position).reverse();
    const first = before.find((instruction) => isProxyFence(instruction) || bringsWrites(instruction.operation.effect));
    if (first && isProxyFence(first)) continue;
    if (first) return false;
    for (const from of here.predecessors) {
      if (seen.has(from)) continue;
      seen.add(from);
      work.push({ block: from, position: kernel.blocks[from]!.instructions.length });
    }
  }
  return true;
}

/** Whether an instruction writes, completes a write of the same thread, or may make writes of other threads visible. */
function bringsWrites(effect: Effect): boolean {
  if (effect.kind === 'store') return effect.semantics !== 'weak' || /^(shared|generic)$/.test(effect.space);
  if (effect.kind === 'matrix-access') return effect.operation === 'write';
  return (effect.kind === 'group' && participantsOf(effect) === 'thread') || mayOrderAccesses(effect);
}
