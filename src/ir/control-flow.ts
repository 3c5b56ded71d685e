/** Splits straight code into basic blocks, and keeps the blocks reachable, merged and in reverse postorder. */
import { invariant } from '../base/assert.ts';
import type { Draft, DraftBlock, Step } from './form/draft.ts';
import { terminatorTargets } from './form/draft.ts';
import type { BlockId, Terminator } from './form/kernel.ts';
import { postorder } from './form/postorder.ts';

/**
 * Builds the blocks of a draft from its steps; labels are numbered below `labelCount`. Code that continues past the
 * last step exits like `ret`. A jump to a label that no step defines becomes `unknown`. Call `orderBlocks` next.
 */
export function buildBlocks(draft: Draft, steps: readonly Step[], labelCount: number): void {
  const blocks: DraftBlock[] = [];
  const pending: Terminator = { kind: 'exit', ptxLine: 0 };
  const add = (): DraftBlock => {
    const block = { phis: [], instructions: [], terminator: pending, predecessors: [], successors: [] };
    blocks.push(block);
    return block;
  };
  const labelled = new Int32Array(labelCount).fill(-1);
  const at = (label: number): BlockId => {
    if (labelled[label]! < 0) {
      labelled[label] = blocks.length;
      add().terminator = { kind: 'unknown', reason: 'branch to a label that is not defined', ptxLine: 0 };
    }
    return labelled[label]! as BlockId;
  };
  let current: DraftBlock | null = add();
  let line = 0;
  for (const step of steps) {
    if (step.kind === 'label') {
      const target = at(step.label);
      if (current) current.terminator = { kind: 'jump', target };
      current = blocks[target]!;
      current.terminator = pending;
      continue;
    }
    // Code after a jump without a label is unreachable; its block is removed by `orderBlocks`.
    current ??= add();
    switch (step.kind) {
      case 'instruction':
        current.instructions.push(step.instruction);
        line = step.instruction.ptxLine;
        break;
      case 'jump':
        current.terminator = { kind: 'jump', target: at(step.label) };
        current = null;
        break;
      case 'branch': {
        const target = at(step.label);
        const next = blocks.length as BlockId;
        const following = add();
        current.terminator = {
          kind: 'branch',
          condition: step.condition,
          then: step.negated ? next : target,
          otherwise: step.negated ? target : next,
          ptxLine: step.ptxLine,
          ...(step.location && { location: step.location }),
        };
        current = following;
        break;
      }
      case 'switch':
        current.terminator = {
          kind: 'switch',
          index: step.index,
          targets: step.labels.map(at),
          ptxLine: step.ptxLine,
          ...(step.location && { location: step.location }),
        };
        current = null;
        break;
      case 'end':
        current.terminator = step.terminator;
        current = null;
        break;
    }
  }
  if (current) current.terminator = { kind: 'exit', ptxLine: line };
  for (const block of blocks) connect(block);
  draft.blocks = blocks;
}

function connect(block: DraftBlock): void {
  block.successors = terminatorTargets(block.terminator);
}

/** The terminator with every target renamed; a branch with equal targets becomes a jump. */
function retarget(terminator: Terminator, rename: (block: number) => number): Terminator {
  const to = (block: number): BlockId => rename(block) as BlockId;
  switch (terminator.kind) {
    case 'jump':
      return { kind: 'jump', target: to(terminator.target) };
    case 'branch': {
      const then = to(terminator.then);
      const otherwise = to(terminator.otherwise);
      return then === otherwise ? { kind: 'jump', target: then } : { ...terminator, then, otherwise };
    }
    case 'switch':
      return { ...terminator, targets: terminator.targets.map(to) };
    default:
      return terminator;
  }
}

/** Chains of empty blocks share their ends: each block is visited once. */
function threadJumps(blocks: readonly DraftBlock[]): void {
  // Chains of empty blocks share their ends: each block is visited once.
  const known = new Int32Array(blocks.length).fill(-1);
  const next = (block: number): number => {
    const { instructions, phis, terminator } = blocks[block]!;
    if (terminator.kind !== 'jump' || instructions.length > 0 || phis.length > 0) return block;
    return blocks[terminator.target]!.phis.length > 0 ? block : terminator.target;
  };
  const final = (start: number): number => {
    const chain: number[] = [];
    const seen = new Set<number>();
    let block = start;
    while (known[block]! < 0 && next(block) !== block && !seen.has(block)) {
      seen.add(block);
      chain.push(block);
      block = next(block);
    }
    // A cycle of empty blocks has no end: its blocks are unchanged.
    const isCircle = seen.has(block);
    const end = known[block]! < 0 ? block : known[block]!;
    for (const link of chain) known[link] = isCircle ? link : end;
    return chain.length > 0 ? known[start]! : end;
  };
  for (const block of blocks) {
    block.terminator = retarget(block.terminator, final);
    connect(block);
  }
}

/** Block numbers in reverse postorder of a depth-first walk from block 0. */
function reversePostorder(blocks: readonly DraftBlock[]): number[] {
  // Later successors first, so that in the final order the first successor comes first.
  return postorder(blocks.length, [0], (block) => blocks[block]!.successors.toReversed()).reverse();
}

/**
 * Renumbers the blocks in reverse postorder, drops unreachable ones with their phi inputs, merges a block into its only
 * predecessor if that has no other successor, jumps over empty blocks, and ensures that block 0 has no predecessors.
 */
export function orderBlocks(draft: Draft): void {
  threadJumps(draft.blocks);
  let order = reversePostorder(draft.blocks);
  mergeChains(draft.blocks, order);
  order = reversePostorder(draft.blocks);
  if (order.some((index) => draft.blocks[index]!.successors.includes(0))) {
    // The entry is a loop header: a new block before it becomes the target of the edge from outside.
    draft.blocks.push({
      phis: [],
      instructions: [],
      terminator: { kind: 'jump', target: 0 as BlockId },
      predecessors: [],
      successors: [0],
    });
    order.unshift(draft.blocks.length - 1);
  }
  const renamed = new Int32Array(draft.blocks.length).fill(-1);
  order.forEach((index, position) => (renamed[index] = position));
  const previous = draft.blocks;
  const blocks = order.map((index) => previous[index]!);
  const oldPredecessors = blocks.map((block) => block.predecessors);
  for (const block of blocks) {
    block.terminator = retarget(block.terminator, (target) => renamed[target]!);
    connect(block);
    block.predecessors = [];
  }
  blocks.forEach((block, index) => {
    for (const successor of block.successors) blocks[successor]!.predecessors.push(index);
  });
  blocks.forEach((block, index) => {
    if (block.phis.length === 0) return;
    const positions = block.predecessors.map((predecessor) => oldPredecessors[index]!.indexOf(order[predecessor]!));
    invariant(!positions.includes(-1), 'a block with phis got a new predecessor');
    for (const phi of block.phis) phi.inputs = positions.map((position) => phi.inputs[position]!);
  });
  draft.blocks = blocks;
}

function mergeChains(blocks: readonly DraftBlock[], order: readonly number[]): void {
  const incoming = new Int32Array(blocks.length);
  incoming[0] = 1;
  for (const index of order) for (const successor of blocks[index]!.successors) incoming[successor]!++;
  const absorbed = new Uint8Array(blocks.length);
  for (const index of order) {
    if (absorbed[index]) continue;
    const block = blocks[index]!;
    for (;;) {
      const target = block.terminator.kind === 'jump' ? block.terminator.target : index;
      const next = blocks[target]!;
      if (target === index || incoming[target] !== 1 || next.phis.length > 0) break;
      absorbed[target] = 1;
      for (const instruction of next.instructions) block.instructions.push(instruction);
      block.terminator = next.terminator;
      connect(block);
      for (const successor of block.successors) {
        const { predecessors } = blocks[successor]!;
        const position = predecessors.indexOf(target);
        if (position >= 0) predecessors[position] = index;
      }
    }
  }
}
