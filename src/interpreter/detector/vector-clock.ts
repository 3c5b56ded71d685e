/**
 * Vector clocks: the events that happened before, as immutable maps from keys to counts that share most of their parts.
 * Joining two of them takes time proportional to their difference (Patricia tries after Okasaki and Gill, "Fast
 * Mergeable Integer Maps"). But most clocks are passed on without a query, or queried for events of their last owner.
 * So a clock stores its operands, and is expanded to a trie only if a query needs it.
 */

/** Owners of counts. */
export const clockKinds = { thread: 0, warp: 1, block: 2, exchange: 3, chain: 4, copy: 5 } as const;

/** The key of thread, warp … `index`, below 2^29. */
export function clockKey(kind: number, index: number): number {
  return (index << 3) | kind;
}

/** No key. */
export const noKey = -1;

/** A leaf (`bit` is 0), or a branch: keys in it agree with `key` below `bit`, and have the bit set on the right. */
interface Branch {
  readonly key: number;
  readonly bit: number;
  readonly count: number;
  readonly left: Branch | null;
  readonly right: Branch | null;
}

type Trie = Branch | null;

/** The join of two clocks, with `key` at `count` (0: no additional count). */
class JoinedClock {
  a: VectorClock;
  b: VectorClock;
  readonly key: number;
  readonly count: number;
  /** Maximum number of nested joins of operands that are not tries. */
  readonly depth: number;
  /**
   * The whole clock as a trie, if some query needed it; `a` and `b` are null then. A clock has at least one count, so
   * the trie is not empty.
   */
  trie: Trie = null;
  /** Number of queries that were answered without a trie. */
  questions = 0;

  /** A clock also represents the clocks of orders that are equal, without fences. */
  get definite(): VectorClock {
    return this;
  }

  get presumed(): VectorClock {
    return this;
  }

  get fenced(): VectorClock {
    return null;
  }

  get pending(): VectorClock {
    return null;
  }

  constructor(a: VectorClock, b: VectorClock, key: number, count: number) {
    this.a = a;
    this.b = b;
    this.key = key;
    this.count = count;
    this.depth = 1 + Math.max(a === null || a.trie !== null ? 0 : a.depth, b === null || b.trie !== null ? 0 : b.depth);
    if (this.depth >= maxDepth) trieOf(this);
  }
}

/** Null: the clock without events. */
export type VectorClock = JoinedClock | null;

/** Maximum number of joins of a clock that is not a trie, so that memory does not grow with the length of a run. */
const maxDepth = 1 << 19;

/** Maximum number of clocks that a query visits before it makes a trie. */
const maxVisits = 24;

/**
 * Maximum number of queries of one clock that are answered without a trie. If a thread has many conflicting accesses, a
 * trie pays off soon.
 */
const maxQuestions = 16;

/** Clocks that a query has still to visit; each visit adds at most two. */
const waitingVisits: VectorClock[] = new Array<VectorClock>(maxVisits + 2).fill(null);

/** Whether the count of a key is at least `count`, which is above 0. */
export function includesEpoch(clock: VectorClock, key: number, count: number): boolean {
  if (clock === null) return false;
  if (clock.trie !== null) return countIn(clock.trie, key) >= count;
  if (clock.key === key && clock.count >= count) return true;
  if (++clock.questions > maxQuestions) return countIn(trieOf(clock), key) >= count;
  let waiting = 1;
  waitingVisits[0] = clock;
  for (let visits = 0; waiting > 0; visits++) {
    if (visits === maxVisits) return countIn(trieOf(clock), key) >= count;
    const { a, b, key: own, count: ownCount, trie } = waitingVisits[--waiting]!;
    if (trie !== null) {
      if (countIn(trie, key) >= count) return true;
      continue;
    }
    if (own === key && ownCount >= count) return true;
    if (a !== null) waitingVisits[waiting++] = a;
    // The last operand is visited first: most queries are about events of the last owner.
    if (b !== null) waitingVisits[waiting++] = b;
  }
  return false;
}

/** The count of a key; 0 if it is missing. */
export function countOf(clock: VectorClock, key: number): number {
  return clock === null ? 0 : countIn(trieOf(clock), key);
}

function countIn(trie: Trie, key: number): number {
  let node = trie;
  while (node !== null && node.bit !== 0) node = key & node.bit ? node.right : node.left;
  return node !== null && node.key === key ? node.count : 0;
}

/** Makes tries of a clock and of its operands. */
function trieOf(clock: JoinedClock): Trie {
  const waiting = [clock];
  while (waiting.length > 0) {
    const last = waiting.at(-1)!;
    const { a, b } = last;
    if (last.trie === null && a !== null && a.trie === null) waiting.push(a);
    else if (last.trie === null && b !== null && b.trie === null) waiting.push(b);
    else {
      waiting.pop();
      if (last.trie !== null) continue;
      const joined = joinTries(a === null ? null : a.trie, b === null ? null : b.trie);
      last.trie = last.count === 0 ? joined : joinTries(joined, leaf(last.key, last.count));
      last.a = last.b = null;
    }
  }
  return clock.trie;
}

/** The clock with the count of a key added. */
export function withCount(clock: VectorClock, key: number, count: number): VectorClock {
  if (clock !== null && clock.key === key && clock.count >= count) return clock;
  return new JoinedClock(clock, null, key, count);
}

/** The join of two clocks; one of them if it was recently joined from the other. */
export function join(a: VectorClock, b: VectorClock): VectorClock {
  if (a === b || b === null) return a;
  if (a === null || includes(b, a)) return b;
  return includes(a, b) ? a : new JoinedClock(a, b, 0, 0);
}

/**
 * Whether a clock is an operand, or an operand of an operand, of another one: a thread that has acquired a lock usually
 * joins the clock that it acquired.
 */
function includes(whole: JoinedClock, part: JoinedClock): boolean {
  const { a, b } = whole;
  return a === part || b === part || (a !== null && (a.a === part || a.b === part));
}

function leaf(key: number, count: number): Branch {
  return { key, bit: 0, count, left: null, right: null };
}

/** A branch over two nodes; `bit` is the lowest bit in which their keys differ. */
function branch(bit: number, a: Branch, b: Branch): Branch {
  const aIsRight = (a.key & bit) !== 0;
  return { key: a.key & (bit - 1), bit, count: 0, left: aIsRight ? b : a, right: aIsRight ? a : b };
}

function lowestDifference(a: number, b: number): number {
  return (a ^ b) & -(a ^ b);
}

/** Whether `key` belongs below a branch. */
function matches(key: number, node: Branch): boolean {
  return (key & (node.bit - 1)) === node.key;
}

function joinTries(a: Trie, b: Trie): Trie {
  if (a === b || b === null) return a;
  return a === null ? b : joinNodes(a, b);
}

function joinNodes(a: Branch, b: Branch): Branch {
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

/** Joins a subtree below a branch, or as its sibling. */
function joinBelow(top: Branch, other: Branch): Branch {
  if (!matches(other.key, top)) {
    // The keys agree below their lowest different bit, so the key of the branch represents all of its keys.
    return branch(lowestDifference(other.key & (top.bit - 1), top.key), top, other);
  }
  if (other.key & top.bit) {
    const right = joinNodes(top.right!, other);
    return right === top.right ? top : { ...top, right };
  }
  const left = joinNodes(top.left!, other);
  return left === top.left ? top : { ...top, left };
}
