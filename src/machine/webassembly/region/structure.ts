/**
 * Structured control flow from a graph: blocks, loops and branches that WebAssembly can express, by the method of
 * Ramsey, "Beyond Relooper: recursive translation of unstructured control flow to structured control flow" (2022).
 */
import { invariant } from '../../../base/assert.ts';
import { dominates, immediateDominators } from '../../../ir/form/dominators.ts';
import { postorder } from '../../../ir/form/postorder.ts';

export type Structured =
  /** The code of a node up to its terminator, then one arm for each edge out of it. */
  | { readonly kind: 'node'; readonly node: number; readonly arms: readonly (readonly Structured[])[] }
  /** What jumps to `label` inside goes to the end. */
  | { readonly kind: 'block'; readonly label: number; readonly body: readonly Structured[] }
  /** What jumps to `label` inside goes to the start. */
  | { readonly kind: 'loop'; readonly label: number; readonly body: readonly Structured[] }
  | { readonly kind: 'jump'; readonly label: number };

/**
 * The structure of a graph, or null where it is irreducible.
 * @param count of nodes; not all need be reachable
 * @param successors of a node; an edge is its position in the list
 */
export function structure(
  count: number,
  entry: number,
  successors: (node: number) => readonly number[],
): readonly Structured[] | null {
  const order = postorder(count, [entry], successors).reverse();
  const position = new Int32Array(count).fill(-1);
  for (const [index, node] of order.entries()) position[node] = index;
  const predecessors = order.map((): number[] => []);
  for (const node of order) for (const to of successors(node)) predecessors[position[to]!]!.push(position[node]!);
  const dominator = immediateDominators(predecessors.map((list) => ({ predecessors: list })));
  const isHeader = new Uint8Array(order.length);
  const forward = new Int32Array(order.length);
  for (const [to, list] of predecessors.entries()) {
    for (const from of list) {
      if (from < to) forward[to]!++;
      else if (dominates(dominator, to, from)) isHeader[to] = 1;
      else return null;
    }
  }
  const merged = order.map((): number[] => []);
  for (let node = 1; node < order.length; node++) if (forward[node]! > 1) merged[dominator[node]!]!.push(node);

  const tree = (at: number): Structured[] => {
    const node = order[at]!;
    if (!isHeader[at]) return within(at, merged[at]!.length);
    return [{ kind: 'loop', label: node, body: within(at, merged[at]!.length) }];
  };
  /** The node and, after it, the first `count` merge nodes that it dominates immediately. */
  const within = (at: number, mergeCount: number): Structured[] => {
    if (mergeCount > 0) {
      const last = merged[at]![mergeCount - 1]!;
      return [{ kind: 'block', label: order[last]!, body: within(at, mergeCount - 1) }, ...tree(last)];
    }
    const node = order[at]!;
    const arms = successors(node).map((target): Structured[] => {
      const to = position[target]!;
      return to <= at || forward[to]! > 1 ? [{ kind: 'jump', label: target }] : tree(to);
    });
    return [{ kind: 'node', node, arms }];
  };
  invariant(order[0] === entry, 'the entry comes first');
  return tree(0);
}
