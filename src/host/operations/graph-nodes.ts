/** Nodes of a graph that the program builds: calls of `cudaGraphAdd…Node(node, graph, dependencies, their number, …)`. */
import { termConstant } from '../../assumptions/expression.ts';
import { type HostValue, termOf } from '../../cuda/launches/value.ts';

/** Maximum number of nodes that a node of a graph depends on. */
const maxEdges = 64n;

/** Whether a function adds a node to a graph. */
export function addsNode(name: string): boolean {
  return /^cudaGraphAdd\w*Node(?:1D|_v2)?$/.test(name);
}

/**
 * Handles of the nodes that a new node depends on; null if they are unknown.
 * @param given the arguments of the call
 * @param handleAt the handle at an index of the list; null if the list is unknown
 */
export function nodesBefore(
  name: string,
  given: readonly (HostValue | undefined)[],
  handleAt: ((index: number) => string) | null,
): readonly string[] | null {
  // The data of edges comes before their number.
  const count = given[name.endsWith('_v2') ? 4 : 3];
  const term = count && termOf(count);
  const number = term ? termConstant(term) : undefined;
  if (number === 0n) return [];
  const isListed = number !== undefined && number <= maxEdges && handleAt !== null;
  return isListed ? Array.from({ length: Number(number) }, (_, at) => handleAt(at)) : null;
}
