/** Items by key, in their order. Items without a key are left out. */
export function grouped<Item, Key>(
  items: Iterable<Item>,
  keyOf: (item: Item, index: number) => Key | undefined,
): Map<Key, [Item, ...Item[]]> {
  const groups = new Map<Key, [Item, ...Item[]]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
