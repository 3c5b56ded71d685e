/**
 * Structured control flow from a graph: blocks, loops and branches that WebAssembly can express, by the method of
 * Ramsey, "Beyond Relooper: recursive translation of unstructured control flow to structured control flow" (2022).
 */
import { invariant } from '../../../base/assert.ts';
import { dominates, immediateDominators } from '../../../ir/form/dominators.ts';
import { postorder } from '../../../ir/form/postorder.ts';

export type Structured =
  /** The code of a node up to its terminator, then one arm for each outgoing edge. */
  | { readonly kind: 'node'; readonly node: number; readonly arms: readonly (readonly Structured[])[] }
  /** A jump to `label` within the body continues after the block. */
  | { readonly kind: 'block'; readonly label: number; readonly body: readonly Structured[] }
  /** A jump to `label` within the body continues at the start of the loop. */
  | { readonly kind: 'loop'; readonly label: number; readonly body: readonly Structured[] }
  | { readonly kind: 'jump'; readonly label: number };

/** Maximum nesting of blocks and branches: the code of each is generated recursively. */
const deepest = 1000;

/**
 * The structure of a graph, or null if it is irreducible, or blocks and branches are nested too deeply.
 * @param count of nodes; not all need be reachable
 * @param successors successors of a node; an edge is identified by its position in the list
 */
export function structure(count: number, entry: number, successors: (node: number) => readonly number[]): readonly Structured[] | null {
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

  let isTooDeep = false;
  /**
   * Appends a node and all nodes that it dominates. The last merge node of a node is appended iteratively, not by
   * recursion: thousands of successive branches have thousands of merge nodes.
   */
  const append = (out: Structured[], first: number, depth: number, isInLoop = false): void => {
    if (depth > deepest) isTooDeep = true;
    if (isTooDeep) return;
    for (let at: number | undefined = first, isIn = isInLoop; at !== undefined; isIn = false) {
      const node = order[at]!;
      if (isHeader[at] && !isIn) {
        const body: Structured[] = [];
        append(body, at, depth + 1, true);
        out.push({ kind: 'loop', label: node, body });
        return;
      }
      const merges: readonly number[] = merged[at]!;
      let items: Structured[] = [nodeAt(at, depth + merges.length)];
      for (const [index, merge] of merges.entries()) {
        const block: Structured = { kind: 'block', label: order[merge]!, body: items };
        if (index === merges.length - 1) items = [block];
        else append((items = [block]), merge, depth + merges.length - index);
      }
      out.push(...items);
      at = merges.at(-1);
    }
  };
  const nodeAt = (at: number, depth: number): Structured => {
    const node = order[at]!;
    const arms = successors(node).map((target): Structured[] => {
      const to = position[target]!;
      if (to <= at || forward[to]! > 1) return [{ kind: 'jump', label: target }];
      const arm: Structured[] = [];
      append(arm, to, depth + 1);
      return arm;
    });
    return { kind: 'node', node, arms };
  };
  invariant(order[0] === entry, 'the entry comes first');
  const whole: Structured[] = [];
  append(whole, 0, 0);
  return isTooDeep ? null : whole;
}
