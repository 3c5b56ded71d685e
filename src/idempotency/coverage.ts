/**
 * Whether the bytes of a read were certainly written before it, in every execution: by its own thread, or by threads of
 * its block before a barrier that all of them pass. Then the read returns the same value whenever the launch is
 * executed again, regardless of the earlier contents of that memory.
 *
 * Writes in loops are tried iteration by iteration. Writes of other threads of the block are tried thread by thread,
 * for blocks of one shape. Values that the launch determines stay symbols: if an address or a condition of the read
 * depends on the index of a block, a parameter or the iteration of a loop around the barrier, those of the write must
 * depend on it likewise.
 *
 * This depends on the kernel having no race and no divergence: all threads of a block pass a barrier in the same
 * iteration.
 */
import { isFullBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { Access } from '../analysis/values/access.ts';
import { type Target, isOneObject } from '../analysis/values/memory-base.ts';
import { readComparison } from '../analysis/loops/ordered-terms.ts';
import { type ProgramPoint, pointDominates, pointsOf } from '../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import type { Dim3 } from '../base/dim3.ts';
import type { BlockId, LoopId } from '../ir/form/kernel.ts';
import { type Linear, inside } from '../term/linear.ts';
import type { Term } from '../term/term.ts';
import { allOf, compare, number, sumOfQuantities, productOfQuantities } from './build-condition.ts';
import { never, type Quantity, type ValidatorCondition } from './model/quantity.ts';
import { CertainExecution, loopsAround } from './certain-execution.ts';
import { substituted } from '../term/rewrite.ts';

/** A part of memory, identified by the base of its addresses. */
interface Place extends ProgramPoint {
  readonly access: Access;
  readonly bytes: number;
  readonly target: Target;
}

/** Maximum number of terms that are evaluated. */
interface CoverageWork {
  /** For one query whether a read is covered. */
  readonly ofQuestion: number;
  /** For all queries of a kernel whether reads are covered by earlier writes. */
  readonly ofReads: number;
  /** For all queries of a kernel whether writes stay in their array. */
  readonly ofArrays: number;
}

const usualWork: CoverageWork = { ofQuestion: 400_000, ofReads: 800_000, ofArrays: Infinity };
/** For a bounded analysis, which evaluates about fifty thousand terms per second. */
export const briefWork: CoverageWork = { ofQuestion: 50_000, ofReads: 100_000, ofArrays: 100_000 };
/** Iterations of a loop that are tried; fewer if the launch determines the trip count. */
const maxRounds = 1200;
const maxOpenRounds = 16;
/** Bytes in the range of a read with unknown index. */
const maxBytes = 1 << 17;

/** Words by the part of their address that stays a symbol, with the conditions under which they were written. */
type Written = ReadonlyMap<Term | null, ReadonlyMap<number, readonly (readonly Term[])[]>>;
type Collected = Map<Term | null, Map<number, (readonly Term[])[]>>;

export class Coverage {
  private readonly symbolic: SymbolicKernel;
  private readonly certain: CertainExecution;
  private readonly writes: readonly Place[];
  private readonly barriers: readonly ProgramPoint[];
  private readonly known = new Map<string, Written>();
  /** Bytes of a word: all reads and writes consist of words. */
  private readonly word: number;
  /** Conditions assumed by the answer: by index, that it does not wrap around. */
  private readonly taken = new Map<Term, ValidatorCondition>();
  private readonly work: CoverageWork;
  private evaluations = 0;
  private ofReads = 0;
  private ofArrays = 0;

  /** @param accesses writes that count; atomics, and writes of a whole warp, do not */
  constructor(symbolic: SymbolicKernel, accesses: readonly Access[], work = usualWork) {
    this.symbolic = symbolic;
    this.work = work;
    this.certain = new CertainExecution(symbolic);
    this.writes = accesses.flatMap((access) => {
      const [target, ...others] = access.targets;
      if (access.operation !== 'write' || access.ofWarp || !target || others.length > 0) return [];
      return [{ access, block: access.block, position: access.position, bytes: access.bytes, target }];
    });
    this.barriers = pointsOf(symbolic.kernel, isFullBarrier);
    this.word = accesses.every(({ bytes }) => bytes % 4 === 0) ? 4 : 1;
  }

  /**
   * Whether the reading thread has certainly written the same bytes before, in the same iteration.
   * @param target of the read
   */
  byOwnThread(read: Access, target: Target): boolean {
    if (target.base.kind === 'loaded') return false;
    return this.writes.some((write) => {
      if (!pointDominates(this.symbolic.kernel, write, read) || write.target.base.key !== target.base.key) return false;
      const distance = this.symbolic.store.sub(target.offset.width, target.offset, write.target.offset);
      if (distance.operator !== 'constant' || target.offset.width !== write.target.offset.width) return false;
      const by = BigInt.asIntN(distance.width, distance.value);
      return by >= 0n && by + BigInt(read.bytes) <= BigInt(write.bytes) && this.areOfOneRound(write, read);
    });
  }

  /** Whether the addresses at two places, one of which dominates the other, denote the same iteration of each loop. */
  private areOfOneRound(write: Place, read: ProgramPoint): boolean {
    const common = loopsAround(this.symbolic, read.block).filter((loop) => this.isIn(loop, write.block));
    return write.target.offset.leaves.every((leaf) => this.isOfRounds(leaf, common));
  }

  private isIn(loop: LoopId, block: BlockId): boolean {
    return this.symbolic.kernel.loops[loop]!.blocks.has(block);
  }

  /** Whether an atom has one value within an iteration of these loops, and does not depend on other loops. */
  private isOfRounds({ atom }: Term, loops: readonly LoopId[]): boolean {
    if (atom?.kind === 'iteration') return loops.includes(atom.loop as LoopId);
    if (atom?.kind !== 'havoc' && atom?.kind !== 'phi') return atom?.kind !== 'line';
    if (atom.value < 0) return false;
    return loopsAround(this.symbolic, this.symbolic.definedIn(atom.value)).every((loop) => loops.includes(loop));
  }

  /**
   * Launches with blocks of one shape in which a read is covered.
   * @param shape null: only by writes of the same thread, for every shape
   * @param whole if the index of the read is unknown: bytes of its array
   */
  covers(read: Access, target: Target, shape: Dim3 | null, whole: number | null): ValidatorCondition {
    this.taken.clear();
    return this.isCovered(read, target, shape, whole) ? allOf(this.taken.values()) : never;
  }

  private isCovered(read: Access, target: Target, shape: Dim3 | null, whole: number | null): boolean {
    if (!isOneObject(target.base)) return false;
    this.ofReads += this.evaluations;
    this.evaluations = 0;
    if (this.ofReads > this.work.ofReads) return false;
    const around = loopsAround(this.symbolic, read.block);
    // Loops whose iteration the read and the writes share: none, the outermost, …, all.
    for (let shared = around.length; shared >= 0; shared--) {
      const frame = around.slice(around.length - shared);
      const written = this.writtenBefore(read, target, frame, shape);
      if (written.size > 0 && this.readsOf(read, target, frame, shape, written, whole)) return true;
      if (this.evaluations > this.work.ofQuestion) return false;
    }
    return false;
  }

  /**
   * Writes that precede a read, with a barrier between, and have the same addresses in each block and each iteration of
   * their common loops. Before its read, each block has executed all of these writes.
   */
  writesBefore(read: Access, { base }: Target): readonly Access[] {
    return this.certainlyBefore(read, base.key, this.barriers, null).flatMap(({ write, common }) => {
      const inner = loopsAround(this.symbolic, write.block).filter((loop) => !common.includes(loop));
      const guards = this.certain.reaches(write.block, common[0] ?? null, [...inner].reverse());
      const terms = [write.target.offset, ...guards, ...inner.map((loop) => this.certain.again(loop))];
      const isSame = ({ atom }: Term): boolean =>
        atom?.kind === 'iteration'
          ? inner.includes(atom.loop as LoopId)
          : /^(thread|block-size|grid-size|parameter|object)$/.test(atom!.kind);
      return terms.every(({ leaves }) => leaves.every(isSame)) ? [write.access] : [];
    });
  }

  private certainlyBefore(
    read: ProgramPoint,
    base: string,
    meetings: readonly ProgramPoint[],
    frame: readonly LoopId[] | null,
  ): readonly { readonly write: Place; readonly index: number; readonly common: readonly LoopId[] }[] {
    return this.writes.flatMap((write, index) => {
      if (write.target.base.key !== base) return [];
      for (const meeting of meetings) {
        if (meeting !== read && !pointDominates(this.symbolic.kernel, meeting, read)) continue;
        const common = this.commonLoops(write, meeting);
        const isOfFrame = frame === null || common.every((loop) => frame.includes(loop));
        if (isOfFrame && this.isBefore(write, meeting, common)) return [{ write, index, common }];
      }
      return [];
    });
  }

  /** Whether the bytes of an access in blocks of one shape are within the first `size` bytes of its object. */
  staysInside({ block, bytes }: Access, { offset, condition }: Target, shape: Dim3, size: number): boolean {
    this.evaluations = 0;
    if (this.ofArrays > this.work.ofArrays) return false;
    const conditions = [this.symbolic.reach(block), condition];
    const inner = loopsAround(this.symbolic, block)
      .filter((loop) => this.depends([offset, ...conditions], loop))
      .reverse();
    const repeats = inner.map((loop) => this.certain.needed(loop));
    for (const thread of this.threads(shape, [offset, ...conditions, ...repeats])) {
      const isEach = this.rounds(thread, inner, repeats, (replaced) => {
        if (this.conjuncts(conditions.map(replaced)) === null) return true;
        const { low, high, assumes } = this.symbolic.view.natural(replaced(offset));
        return assumes.length === 0 && low >= 0n && high + BigInt(bytes) <= BigInt(size);
      });
      if (isEach && this.evaluations <= this.work.ofQuestion) continue;
      this.ofArrays += this.evaluations;
      return false;
    }
    this.ofArrays += this.evaluations;
    return true;
  }

  /** Certain writes to a base before a read, with the loops of the frame in the same iteration. */
  private writtenBefore(read: Access, { base }: Target, frame: readonly LoopId[], shape: Dim3 | null): Written {
    const certain = this.certainlyBefore(read, base.key, shape ? this.barriers : [read], frame);
    const key = `${shape?.join('x')}:${certain.map(({ index, common }) => `${index}.${common.join('.')}`).join()}`;
    let written = this.known.get(key);
    if (!written) {
      const collected: Collected = new Map();
      for (const { write, common } of certain) this.addWrite(collected, write, common, shape);
      written = this.evaluations > this.work.ofQuestion ? new Map() : collected;
      this.known.set(key, written);
    }
    return written;
  }

  /** Loops that contain both, the innermost first. */
  private commonLoops(a: ProgramPoint, b: ProgramPoint): readonly LoopId[] {
    return loopsAround(this.symbolic, a.block).filter((loop) => this.isIn(loop, b.block));
  }

  /**
   * Whether all executions of the first point in an iteration of the common loops precede those of the second in that
   * iteration.
   */
  private isBefore(first: ProgramPoint, second: ProgramPoint, common: readonly LoopId[]): boolean {
    const { kernel } = this.symbolic;
    if (first.block === second.block) {
      const isOfOneRound = loopsAround(this.symbolic, first.block).length === common.length;
      return isOfOneRound && first.position < second.position;
    }
    const headers = new Set(common.map((loop) => kernel.loops[loop]!.header));
    const seen = new Set<BlockId>([second.block]);
    const work = [second.block];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      for (const to of kernel.blocks[block]!.successors) {
        if (headers.has(to) || seen.has(to)) continue;
        if (to === first.block) return false;
        seen.add(to);
        work.push(to);
      }
    }
    return true;
  }

  /** Tries all threads of the block, and all iterations of the loops around a write that do not contain the barrier. */
  private addWrite(written: Collected, write: Place, common: readonly LoopId[], shape: Dim3 | null): void {
    const inner = loopsAround(this.symbolic, write.block)
      .filter((loop) => !common.includes(loop))
      .reverse();
    const guards = this.certain.reaches(write.block, common[0] ?? null, inner);
    const repeats = inner.map((loop) => this.certain.again(loop));
    const terms = [write.target.offset, ...guards, ...repeats];
    for (const thread of this.threads(shape, terms)) {
      this.rounds(thread, inner, repeats, (replaced, conditions) => {
        const all = this.conjuncts([...guards.map(replaced), ...conditions]);
        if (all === null || !all.every((part) => this.isCommon(part, common, shape))) return;
        const { start, rest } = this.split(replaced(write.target.offset));
        if (rest && !rest.leaves.every((leaf) => this.isCommonLeaf(leaf, common, shape))) return;
        if (start % this.word !== 0) return;
        const words = written.get(rest) ?? new Map<number, (readonly Term[])[]>();
        written.set(rest, words);
        for (let word = start / this.word; word < (start + write.bytes) / this.word; word++) {
          const known = words.get(word);
          if (!known) words.set(word, [all]);
          else if (!known.some((conditions) => conditions.every((one) => all.includes(one)))) known.push(all);
        }
      });
      if (this.evaluations > this.work.ofQuestion) return;
    }
  }

  /** Whether every thread of the block that executes the read finds its bytes written. */
  private readsOf(
    read: Access,
    target: Target,
    frame: readonly LoopId[],
    shape: Dim3 | null,
    written: Written,
    whole: number | null,
  ): boolean {
    const reach = [this.symbolic.reach(read.block), target.condition];
    const around = loopsAround(this.symbolic, read.block).filter((loop) => !frame.includes(loop));
    const inner = around.filter((loop) => this.depends([target.offset, ...reach], loop)).reverse();
    const repeats = inner.map((loop) => this.certain.needed(loop));
    const terms = [target.offset, ...reach, ...repeats];
    for (const thread of this.threads(shape, terms)) {
      const isEach = this.rounds(thread, inner, repeats, (replaced, conditions) => {
        const address = replaced(target.offset);
        if (this.isWritten(address, read.bytes, written, [], whole)) return true;
        const holds = this.conjuncts([...reach.map(replaced), ...conditions]);
        return holds === null || (holds.length > 0 && this.isWritten(address, read.bytes, written, holds, whole));
      });
      if (!isEach || this.evaluations > this.work.ofQuestion) return false;
    }
    return true;
  }

  private depends(terms: readonly Term[], loop: LoopId): boolean {
    return terms.some(({ leaves }) => leaves.some(({ atom }) => atom?.kind === 'iteration' && atom.loop === loop));
  }

  /** Whether all bytes at an address were written, by writes whose conditions are true. */
  private isWritten(address: Term, count: number, written: Written, holds: readonly Term[], whole: number | null): boolean {
    const isEach = (words: ReadonlyMap<number, readonly (readonly Term[])[]>, from: number, to: number): boolean => {
      for (let word = Math.floor(from / this.word); word < to / this.word; word++)
        if (!words.get(word)?.some((conditions) => conditions.every((one) => this.follows(one, holds)))) return false;
      return true;
    };
    const { start, rest } = this.split(address);
    const exact = written.get(rest);
    if (exact && isEach(exact, start, start + count)) return true;
    const plain = written.get(null);
    if (!plain || !rest) return false;
    const range = this.symbolic.view.natural(address);
    const isKnown = range.assumes.length === 0 && inside(range, { low: 0n, high: BigInt(maxBytes) });
    if (isKnown && isEach(plain, Number(range.low), Number(range.high) + count)) return true;
    return whole !== null && whole <= maxBytes && isEach(plain, 0, whole);
  }

  /** Whether a condition is among the true ones, or is implied by the same bound on a larger index. */
  private follows(condition: Term, holds: readonly Term[]): boolean {
    if (holds.includes(condition)) return true;
    const wanted = readComparison(condition);
    if (!wanted?.signed) return false;
    const { store, view } = this.symbolic;
    return holds.some((one) => {
      const known = readComparison(one);
      if (!known?.signed || known.larger !== wanted.larger || (wanted.strict && !known.strict)) return false;
      const { smaller } = known;
      const distance = store.sub(smaller.width, smaller, wanted.smaller);
      if (distance.operator !== 'constant') return false;
      const by = BigInt.asIntN(distance.width, distance.value);
      // If the larger index has not wrapped around, neither has the smaller one.
      const fits = by >= 0n && by < 1n << 16n ? indexFits(view.natural(smaller), smaller.width) : null;
      if (fits) this.taken.set(smaller, fits);
      return fits !== null;
    });
  }

  /** The undecided parts of a conjunction; null if one of them is false. */
  private conjuncts(terms: readonly Term[]): readonly Term[] | null {
    const { store, view } = this.symbolic;
    const all = store.all(terms);
    if (all === store.false) return null;
    const open: Term[] = [];
    for (const part of all.operator === 'all' ? all.arguments : all === store.true ? [] : [all]) {
      const decided = view.decide(part);
      if (decided === false) return null;
      if (decided === undefined) open.push(part);
    }
    return open;
  }

  /** The constant part of an address, and the rest. */
  private split(address: Term): { readonly start: number; readonly rest: Term | null } {
    const { store } = this.symbolic;
    if (address.operator === 'constant') return { start: Number(BigInt.asIntN(address.width, address.value)), rest: null };
    if (address.operator !== 'sum') return { start: 0, rest: address };
    const rest = store.sum(
      address.width,
      0n,
      address.arguments.map((part, i) => [part, address.coefficients[i]!]),
    );
    return { start: Number(BigInt.asIntN(address.width, address.value)), rest };
  }

  /** Whether a condition has the same value for the thread that writes and the thread that reads. */
  private isCommon(term: Term, common: readonly LoopId[], shape: Dim3 | null): boolean {
    return term.leaves.every((leaf) => this.isCommonLeaf(leaf, common, shape));
  }

  private isCommonLeaf(leaf: Term, common: readonly LoopId[], shape: Dim3 | null): boolean {
    const { kind } = leaf.atom!;
    if (kind === 'havoc' || kind === 'phi' || kind === 'thread') return shape === null && this.isOfRounds(leaf, common);
    return kind === 'iteration' ? this.isOfRounds(leaf, common) : kind !== 'line';
  }

  /** Threads of a block of that shape; on axes that no term depends on, only the first index. */
  private *threads(shape: Dim3 | null, terms: readonly Term[]): Generator<(leaf: Term) => Term | undefined> {
    const { store } = this.symbolic;
    if (!shape) {
      yield () => undefined;
      return;
    }
    const count = shape.map((size, axis) =>
      terms.some(({ leaves }) => leaves.some(({ atom }) => atom?.kind === 'thread' && atom.axis === axis)) ? size : 1,
    );
    for (let z = 0; z < count[2]!; z++)
      for (let y = 0; y < count[1]!; y++)
        for (let x = 0; x < count[0]!; x++) {
          const thread = [x, y, z];
          yield ({ atom, width }) =>
            atom?.kind === 'thread'
              ? store.constant(width, BigInt(thread[atom.axis]!))
              : atom?.kind === 'block-size'
                ? store.constant(width, BigInt(shape[atom.axis]))
                : undefined;
        }
  }

  /**
   * Tries the iterations of nested loops, as long as another one may follow.
   * @param repeats the condition for another iteration of each loop
   * @param visit false: stop
   * @returns whether all iterations were tried
   */
  private rounds(
    thread: (leaf: Term) => Term | undefined,
    loops: readonly LoopId[],
    repeats: readonly Term[],
    visit: (replaced: (term: Term) => Term, conditions: readonly Term[]) => boolean | void,
  ): boolean {
    const { store } = this.symbolic;
    const round: number[] = [];
    const evaluator = (): ((term: Term) => Term) => {
      const at = [...round];
      const memo = new Map<Term, Term>();
      const leafOf = (leaf: Term): Term | undefined => {
        const { atom } = leaf;
        const loop = atom?.kind === 'iteration' ? loops.indexOf(atom.loop as LoopId) : -1;
        return loop >= 0 && loop < at.length ? store.constant(leaf.width, BigInt(at[loop]!)) : thread(leaf);
      };
      return (term) => {
        this.evaluations++;
        return substituted(store, term, leafOf, memo);
      };
    };
    const nest = (depth: number, conditions: readonly Term[]): boolean => {
      if (this.evaluations > this.work.ofQuestion) return false;
      if (depth === loops.length) return visit(evaluator(), conditions) !== false;
      let own = conditions;
      for (let count = 0; ; count++) {
        if (count > maxRounds) return false;
        round[depth] = count;
        if (!nest(depth + 1, own)) return false;
        round.length = depth + 1;
        const more = this.conjuncts([evaluator()(repeats[depth]!)]);
        if (more === null) break;
        own = [...own, ...more];
        if (own.length > maxOpenRounds) return false;
      }
      round.length = depth;
      return true;
    };
    return nest(0, []);
  }
}

/**
 * Condition under which an index that consists of block indices and constants is not negative and fits in its bits;
 * null for any other index.
 */
function indexFits({ constant, terms }: Linear, width: number): ValidatorCondition | null {
  if (constant < 0n) return null;
  const parts: Quantity[] = [number(constant)];
  for (const [{ atom }, by] of terms) {
    if (atom?.kind !== 'block' || by < 0n) return null;
    parts.push(productOfQuantities(number(by), sumOfQuantities({ kind: 'grid-size', axis: atom.axis }, number(-1))));
  }
  return compare(sumOfQuantities(...parts), '<', number(1n << BigInt(width - 1)));
}
