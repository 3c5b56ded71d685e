/**
 * Groups items that share a name, directly or through others.
 *
 * @param namesOf - an item without names is a separate group
 * @returns the groups in the order of their first members, and the members in their original order
 */
export function connected<Of>(all: readonly Of[], namesOf: (one: Of) => readonly string[]): readonly (readonly [Of, ...Of[]])[] {
  const parents = new Map<string, string>();
  const rootOf = (name: string): string => {
    let root = name;
    for (let up = parents.get(root); up !== undefined; up = parents.get(root)) root = up;
    for (let at = name; at !== root;) {
      const up = parents.get(at)!;
      parents.set(at, root);
      at = up;
    }
    return root;
  };
  const names = all.map(namesOf);
  for (const [first, ...others] of names)
    for (const other of others) {
      const [root, child] = [rootOf(first!), rootOf(other)];
      if (root !== child) parents.set(child, root);
    }
  const groups = new Map<string, [Of, ...Of[]]>();
  const result: [Of, ...Of[]][] = [];
  for (const [index, one] of all.entries()) {
    const [name] = names[index]!;
    const root = name === undefined ? undefined : rootOf(name);
    const group = root === undefined ? undefined : groups.get(root);
    if (group) {
      group.push(one);
      continue;
    }
    const fresh: [Of, ...Of[]] = [one];
    result.push(fresh);
    if (root !== undefined) groups.set(root, fresh);
  }
  return result;
}
