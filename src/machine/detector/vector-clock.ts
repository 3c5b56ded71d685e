/**
 * Vector clocks: what a thread knows to have happened, as immutable maps from keys to counts that share most of their parts.
 * Joining two of them costs about as much as they differ (Patricia tries after Okasaki and Gill, "Fast Mergeable
 * Integer Maps").
 */

/** What a count belongs to. */
export const clockKinds = { thread: 0, warp: 1, block: 2, exchange: 3, chain: 4, copy: 5 } as const;

/** The key of thread, warp … `index`, below 2^29. */
export function clockKey(kind: number, index: number): number {
  return (index << 3) | kind;
}

/** A leaf (`bit` is 0), or a branch: keys in it agree with `key` below `bit`, and have the bit set on the right. */
interface Node {
  readonly key: number;
  readonly bit: number;
  readonly count: number;
  readonly left: Node | null;
  readonly right: Node | null;
}

/** Null: knows nothing. */
export type VectorClock = Node | null;

/** The count of a key; 0 where there is none. */
export function countOf(clock: VectorClock, key: number): number {
  let node = clock;
  while (node !== null && node.bit !== 0) node = key & node.bit ? node.right : node.left;
  return node !== null && node.key === key ? node.count : 0;
}

function leaf(key: number, count: number): Node {
  return { key, bit: 0, count, left: null, right: null };
}

/** A branch over two nodes whose keys differ at `bit` first. */
function branch(bit: number, a: Node, b: Node): Node {
  const aIsRight = (a.key & bit) !== 0;
  return { key: a.key & (bit - 1), bit, count: 0, left: aIsRight ? b : a, right: aIsRight ? a : b };
}

function lowestDifference(a: number, b: number): number {
  return (a ^ b) & -(a ^ b);
}

/** Whether `key` belongs below a branch. */
function matches(key: number, node: Node): boolean {
  return (key & (node.bit - 1)) === node.key;
}

/** The clock that knows of a count in addition. */
export function withCount(clock: VectorClock, key: number, count: number): VectorClock {
  return join(clock, leaf(key, count));
}

/** The clock that knows all that either knows. */
export function join(a: VectorClock, b: VectorClock): VectorClock {
  if (a === b || b === null) return a;
  return a === null ? b : joinNodes(a, b);
}

function joinNodes(a: Node, b: Node): Node {
  if (a === b) return a;
  if (a.bit === 0 && b.bit === 0) {
    if (a.key === b.key) return a.count >= b.count ? a : b;
    return branch(lowestDifference(a.key, b.key), a, b);
  }
  // Lower bits are nearer the root; a leaf (0 - 1 as unsigned) is farthest from it.
  const aAt = (a.bit - 1) >>> 0;
  const bAt = (b.bit - 1) >>> 0;
  if (aAt > bAt) return joinBelow(b, a);
  if (aAt < bAt) return joinBelow(a, b);
  if (a.key !== b.key) return branch(lowestDifference(a.key, b.key), a, b);
  const left = joinNodes(a.left!, b.left!);
  const right = joinNodes(a.right!, b.right!);
  if (left === a.left && right === a.right) return a;
  if (left === b.left && right === b.right) return b;
  return { ...a, left, right };
}

/** Joins what belongs below a branch, or beside it. */
function joinBelow(top: Node, other: Node): Node {
  if (!matches(other.key, top)) {
    // They agree below the place where they differ, so the branch's key stands for all of its keys.
    return branch(lowestDifference(other.key & (top.bit - 1), top.key), top, other);
  }
  if (other.key & top.bit) {
    const right = joinNodes(top.right!, other);
    return right === top.right ? top : { ...top, right };
  }
  const left = joinNodes(top.left!, other);
  return left === top.left ? top : { ...top, left };
}
