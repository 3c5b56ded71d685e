/**
 * Block indices in postorder of depth-first walks from `roots`, without recursion.
 * @param count of all blocks
 * @param neighbours of a block, in the order in which the walk visits them; called once for each block
 */
export function postorder(count: number, roots: readonly number[], neighbours: (block: number) => readonly number[]): number[] {
  const order: number[] = [];
  const visited = new Uint8Array(count);
  for (const root of roots) {
    if (visited[root]) continue;
    visited[root] = 1;
    const path = [{ block: root, ahead: neighbours(root), position: 0 }];
    for (let top = path[0]; top !== undefined; top = path[path.length - 1]) {
      const next = top.ahead[top.position++];
      if (next === undefined) {
        order.push(top.block);
        path.pop();
      } else if (!visited[next]) {
        visited[next] = 1;
        path.push({ block: next, ahead: neighbours(next), position: 0 });
      }
    }
  }
  return order;
}
