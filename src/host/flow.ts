/** Control flow of a function: the order of its blocks, and its loops. */
import type { GimpleBlock, GimpleFunction } from '../gimple/gimple.ts';

export interface HostLoop {
  readonly header: number;
  readonly blocks: ReadonlySet<number>;
}

interface Flow {
  readonly blocks: ReadonlyMap<number, GimpleBlock>;
  readonly first: number;
  /** Position of each block in reverse postorder: forward edges ascend. */
  readonly order: ReadonlyMap<number, number>;
  /** Loops by their headers. */
  readonly loops: ReadonlyMap<number, HostLoop>;
  /** Whether each loop is entered only at its header. */
  readonly isReducible: boolean;
}

const known = new WeakMap<GimpleFunction, Flow>();

/** The control flow of a function. */
export function blockFlowOf(fn: GimpleFunction): Flow {
  let flow = known.get(fn);
  if (!flow) known.set(fn, (flow = computeFlow(fn)));
  return flow;
}

function computeFlow(fn: GimpleFunction): Flow {
  const blocks = new Map(fn.blocks.map((block) => [block.id, block]));
  const first = fn.blocks[0]!.id;
  const postorder: number[] = [];
  const state = new Map<number, 'open' | 'done'>();
  const backEdges: [number, number][] = [];
  const stack: { id: number; at: number }[] = [{ id: first, at: 0 }];
  state.set(first, 'open');
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const next = blocks.get(top.id)?.successors[top.at++];
    if (next === undefined) {
      state.set(top.id, 'done');
      postorder.push(top.id);
      stack.pop();
    } else if (!blocks.has(next)) continue;
    else if (state.get(next) === 'open') backEdges.push([top.id, next]);
    else if (!state.has(next)) {
      state.set(next, 'open');
      stack.push({ id: next, at: 0 });
    }
  }
  const order = new Map(postorder.toReversed().map((id, at) => [id, at]));
  const predecessors = new Map<number, number[]>();
  for (const id of order.keys())
    for (const next of blocks.get(id)!.successors) predecessors.set(next, [...(predecessors.get(next) ?? []), id]);
  const bodies = new Map<number, Set<number>>();
  for (const [from, header] of backEdges) {
    const body = bodies.get(header) ?? new Set([header]);
    bodies.set(header, body);
    const open = [from];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (body.has(id)) continue;
      body.add(id);
      open.push(...(predecessors.get(id) ?? []));
    }
  }
  // A loop that is entered elsewhere contains a predecessor of a block from outside, or the first block.
  let isReducible = true;
  for (const [header, body] of bodies)
    for (const id of body)
      if (id !== header && (id === first || (predecessors.get(id) ?? []).some((one) => !body.has(one)))) isReducible = false;
  const loops = new Map([...bodies].map(([header, body]) => [header, { header, blocks: body }]));
  return { blocks, first, order, loops, isReducible };
}

/** The blocks that may run after a block, itself included. */
export function reachableFrom({ blocks }: Flow, start: number): ReadonlySet<number> {
  const found = new Set([start]);
  for (const id of found) for (const next of blocks.get(id)?.successors ?? []) found.add(next);
  return found;
}
