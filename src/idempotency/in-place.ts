/**
 * Element-wise maps in place: each thread changes only its own elements, `x = f(x)`, and f is idempotent: f(f(x)) =
 * f(x). Such f are: the value already in memory, a limit from above or below, an absolute value, a constant under a
 * condition on the element. The launch overwrites elements that it has read, but may be executed again.
 */
import { isFullBarrier } from '../analysis/barriers/barrier-interval.ts';
import type { Access } from '../analysis/values/access.ts';
import { type ControlDependence, controlDependence } from '../analysis/values/control-dependence.ts';
import { canReach, pointsOf, reachable } from '../analysis/values/program-point.ts';
import type { SymbolicKernel } from '../analysis/values/symbolic.ts';
import { partsOf } from '../analysis/values/leader.ts';
import type { BlockId, LoopId, Operand, ValueId } from '../ir/form/kernel.ts';
import type { Term } from '../term/term.ts';
import { loopsAround } from './certain-execution.ts';
import { substituted } from '../term/rewrite.ts';

/** Idempotent operations of one operand. */
const projections = /^(?:abs\.(\w+)\.\1\.none|cvt\.(f\d+)\.\2\.r[nzmp]i)/;
/** Minimum and maximum of numbers of one type. */
const limits = /^(?:min|max)(?:\.nan)?\.(\w+)\.\1\.none/;

/** Comparison by which an operation selects the smaller or the larger of its operands; undefined for any other. */
function orderOf({ operator, name, arguments: [test, a, b] }: Term): string | undefined {
  if (operator === 'pure') return limits.exec(name)?.[1];
  if (operator !== 'select') return undefined;
  const compared = test!.operator === 'not' ? test!.arguments[0]! : test!;
  const isOfBoth = compared.arguments.includes(a!) && compared.arguments.includes(b!);
  return isOfBoth && /^[su]lt$/.test(compared.operator) ? compared.operator : undefined;
}

/** The part of a value that is stored in memory. */
interface Element {
  readonly bits: number;
  /** How loads extend the element; null: loads differ in that. */
  readonly extend: 'zero' | 'sign' | null;
}

/**
 * Whether comparisons with a limit have the same results after the element was truncated, stored and loaded again. As
 * signed numbers, values out of range of the element compare the same for all elements; as unsigned ones, there is a
 * gap between negative elements and the others.
 */
function keepsOrder(order: string | undefined, width: number, { bits, extend }: Element): boolean {
  if (width === bits) return true;
  if (extend === null || order === undefined) return false;
  return /^s/.test(order) || (/^u/.test(order) && extend === 'zero');
}

/** `x < 0 ? -x : x`. For the smallest number the result is that number itself, so the function is idempotent. */
function isAbsolute({ arguments: [test, a, b] }: Term): boolean {
  if (test?.operator !== 'slt' || b?.atom === null) return false;
  const [element, zero] = test.arguments as [Term, Term];
  const isNegative = a?.operator === 'sum' && a.value === 0n && a.arguments.length === 1 && a.coefficients[0] === -1n;
  return element === b && zero.operator === 'constant' && zero.value === 0n && isNegative && a.arguments[0] === b;
}

export class InPlaceMap {
  private readonly symbolic: SymbolicKernel;
  private readonly accesses: readonly Access[];
  private readonly all: readonly Access[];
  private readonly dependences: ControlDependence;

  /**
   * @param accesses all that may touch the array, or the arrays that begin at the same address
   * @param all the accesses of the kernel
   */
  constructor(symbolic: SymbolicKernel, accesses: readonly Access[], all: readonly Access[]) {
    this.symbolic = symbolic;
    this.dependences = controlDependence(symbolic.kernel);
    this.accesses = accesses;
    this.all = all;
  }

  /** Whether the accesses form an element-wise map that is idempotent, given that the kernel has no race. */
  get isRepeatable(): boolean {
    const { kernel } = this.symbolic;
    const writes = this.accesses.filter(({ operation }) => operation === 'write');
    const reads = this.accesses.filter(({ operation }) => operation === 'read');
    const [write, ...others] = writes;
    if (!write || others.length > 0 || reads.length + 1 !== this.accesses.length) return false;
    if (!this.accesses.every(({ ofWarp, isCopy, targets }) => !ofWarp && !isCopy && targets.length === 1)) return false;
    const { offset } = write.targets[0]!;
    if (!this.isOfOneThread(offset, write)) return false;
    const isAlike = ({ bytes, targets: [target] }: Access): boolean => bytes === write.bytes && target!.offset === offset;
    if (!reads.every(isAlike)) return false;
    // All are in the same loops, and each read precedes the write: each iteration accesses another element.
    const around = loopsAround(this.symbolic, write.block);
    for (const read of reads) {
      const own = loopsAround(this.symbolic, read.block);
      if (own.length !== around.length || own.some((loop) => !around.includes(loop))) return false;
      if (around.length === 0 ? canReach(kernel, write, read) : this.comesBehind(write, read, around)) return false;
    }
    const { effect } = write.instruction.operation;
    const lanes = effect.kind === 'store' ? effect.lanes : 0;
    if (lanes === 0 || write.stored?.length !== lanes) return false;
    if (!reads.every(({ instruction: { operation } }) => operation.effect.kind === 'load' && operation.effect.lanes === lanes))
      return false;
    if (!this.isForNothingElse(reads, write)) return false;
    return write.stored.every((value, lane) => this.isRepeatableMap(value, lane, reads, write));
  }

  /** Whether the values read affect only the value written and the condition of the write. */
  private isForNothingElse(reads: readonly Access[], write: Access): boolean {
    const { kernel } = this.symbolic;
    const told = new Set<number>(reads.flatMap(({ instruction }) => instruction.results.filter((id) => id !== null)));
    const isTold = (operand: Operand | undefined): boolean => operand?.kind === 'value' && told.has(operand.id);
    const deciding = new Set<BlockId>();
    for (let size = -1; size !== told.size + deciding.size;) {
      size = told.size + deciding.size;
      const after = reachable(kernel, [...deciding]);
      for (const { id, phis, instructions, terminator } of kernel.blocks) {
        for (const { result, inputs } of phis) if (after.has(id) || inputs.some(isTold)) told.add(result);
        for (const { arguments: operands, results } of instructions)
          if (operands.some(isTold)) for (const result of results) if (result !== null) told.add(result);
        if (terminator.kind === 'switch' && isTold(terminator.index)) return false;
        if (terminator.kind === 'branch' && isTold(terminator.condition)) deciding.add(id);
      }
    }
    return kernel.blocks.every(({ id, instructions }) => {
      const controlling = this.dependences.controlling(id, kernel.loopOf[id] ?? null);
      const isDecided = [...deciding].some((branch) => controlling.has(branch));
      return instructions.every((instruction) => {
        const { kind } = instruction.operation.effect;
        if (instruction === write.instruction) return !isTold(instruction.arguments[0]);
        return kind === 'pure' || (!isDecided && !instruction.arguments.some(isTold));
      });
    });
  }

  /** Whether a read follows the write in one iteration of the loops around both. */
  private comesBehind(write: Access, read: Access, around: readonly LoopId[]): boolean {
    if (write.block === read.block) return write.position < read.position;
    const { kernel } = this.symbolic;
    const headers = new Set(around.map((loop) => kernel.loops[loop]!.header));
    const seen = new Set([write.block]);
    const work = [write.block];
    for (let block = work.pop(); block !== undefined; block = work.pop()) {
      for (const to of kernel.blocks[block]!.successors) {
        if (to === read.block && !headers.has(to)) return true;
        if (headers.has(to) || seen.has(to)) continue;
        seen.add(to);
        work.push(to);
      }
    }
    return false;
  }

  /**
   * Whether each element is written once, by one thread: two threads that stored to it would race. A thread stores to
   * another element in each iteration of its loop.
   */
  private isOfOneThread(offset: Term, write: Access): boolean {
    const { kernel } = this.symbolic;
    const around = loopsAround(this.symbolic, write.block);
    const rounds = new Set<number>();
    for (const { atom } of offset.leaves) {
      if (atom!.kind === 'havoc' || atom!.kind === 'phi' || atom!.kind === 'line') return false;
      if (atom!.kind === 'iteration') rounds.add(atom!.loop);
    }
    if (rounds.size !== around.length || around.length > 1) return false;
    if (around.length === 0) return true;
    if (!around.every((loop) => rounds.has(loop)) || pointsOf(kernel, isFullBarrier).length > 0) return false;
    return this.stepIsPositive(offset);
  }

  /**
   * Whether an address grows with each iteration: by a constant, or by the number of threads of the launch or of a
   * block.
   */
  private stepIsPositive(offset: Term): boolean {
    const form = this.symbolic.view.natural(offset);
    const steps = [...form.terms].filter(([{ leaves }]) => leaves.some(({ atom }) => atom!.kind === 'iteration'));
    return (
      steps.length === 1 &&
      steps.every(
        ([term, by]) =>
          by > 0n &&
          factorsOf(term).every(({ atom }) => /^(iteration|block-size|grid-size)$/.test(atom?.kind ?? '')) &&
          factorsOf(term).filter(({ atom }) => atom!.kind === 'iteration').length === 1,
      )
    );
  }

  /** Whether `lane` of the stored value is a repeatable map of that lane of the loaded value. */
  private isRepeatableMap(value: Term, lane: number, reads: readonly Access[], write: Access): boolean {
    const isOwn = ({ atom }: Term): boolean =>
      atom?.kind === 'havoc' && reads.some(({ instruction }) => instruction.results[lane] === (atom.value as ValueId));
    const isOfElement = ({ atom }: Term): boolean =>
      atom?.kind === 'havoc' && reads.some(({ instruction }) => instruction.results.includes(atom.value as ValueId));
    const depends = (term: Term): boolean => term.leaves.some(isOfElement);
    const guards = partsOf(this.symbolic.reach(write.block));
    const others = [...value.leaves, ...guards.flatMap(({ leaves }) => leaves)].filter((leaf) => !isOfElement(leaf));
    if (!others.every((leaf) => this.isFixed(leaf, 4))) return false;
    // A constant stored under a condition on the element is idempotent, whether or not the condition holds the next
    // time.
    if (!depends(value)) return true;
    if (value.leaves.some((leaf) => isOfElement(leaf) && !isOwn(leaf))) return false;
    if (this.isElement(value, isOwn)) return true;
    if (guards.some(depends)) return false;
    return this.isProjection(value, isOwn, depends, this.elementOf(reads, write));
  }

  private elementOf(reads: readonly Access[], { instruction }: Access): Element {
    const { effect } = instruction.operation;
    const extensions = reads.map(({ instruction: { operation } }) => (operation.effect.kind === 'load' ? operation.effect.extend : null));
    const extend = extensions.every((one) => one === extensions[0]) ? (extensions[0] ?? null) : null;
    return { bits: effect.kind === 'store' ? 8 * effect.bytes : 0, extend };
  }

  /** Whether a term is the element as it was read, or the bits of it that are stored. */
  private isElement(term: Term, isOwn: (leaf: Term) => boolean): boolean {
    if (term.atom) return isOwn(term);
    return /^(zext|sext|trunc)$/.test(term.operator) && this.isElement(term.arguments[0]!, isOwn);
  }

  /** Whether a term has all the bits of the element that are stored, as they were read. */
  private isWhole(term: Term, isOwn: (leaf: Term) => boolean, { bits }: Element): boolean {
    let at = term;
    for (; /^(zext|sext|trunc)$/.test(at.operator); at = at.arguments[0]!) if (at.width < bits) return false;
    return at.width >= bits && this.isElement(at, isOwn);
  }

  /** Whether a term is a limit, an absolute value, a mask or a choice of its element, and so idempotent. */
  private isProjection(term: Term, isOwn: (leaf: Term) => boolean, depends: (term: Term) => boolean, stored: Element): boolean {
    const { store } = this.symbolic;
    const isWhole = (part: Term): boolean => this.isWhole(part, isOwn, stored);
    if (term.operator === 'pure' && projections.test(term.name)) return this.isElement(term.arguments[0]!, isOwn);
    if (this.isLimit(term, orderOf(term), isOwn, depends)) return keepsOrder(orderOf(term), term.width, stored);
    if (term.operator === 'select') {
      const [, a, b] = term.arguments as [Term, Term, Term];
      if (isAbsolute(term)) return this.isElement(a, isOwn) || this.isElement(b, isOwn);
      // If the element is selected, it is selected again; if the other operand is, the result is that or the element,
      // which are equal.
      return (isWhole(a) && !depends(b)) || (isWhole(b) && !depends(a));
    }
    if (term.operator === 'and' || term.operator === 'or') {
      const [a, b] = term.arguments as [Term, Term];
      if ((isWhole(a) && !depends(b)) || (isWhole(b) && !depends(a))) return true;
    }
    const element = term.leaves.find(isOwn);
    if (!element || element.width !== term.width || element.width !== stored.bits) return false;
    const again = substituted(store, term, (leaf) => (isOwn(leaf) ? term : undefined), new Map());
    return again === term;
  }

  /** Nested minima and maxima, in one order, of the element and values that do not depend on it. */
  private isLimit(term: Term, order: string | undefined, isOwn: (leaf: Term) => boolean, depends: (term: Term) => boolean): boolean {
    if (term.atom) return isOwn(term);
    if (order === undefined || orderOf(term) !== order) return false;
    const [a, b, ...more] = term.arguments.slice(term.operator === 'select' ? 1 : 0) as [Term, Term];
    if (more.length > 0) return false;
    return (!depends(b) && this.isLimit(a, order, isOwn, depends)) || (!depends(a) && this.isLimit(b, order, isOwn, depends));
  }

  /**
   * Whether an atom has the same value whenever the launch is executed again: index, argument, or an element of another
   * array at an address with the same property. That other arrays are unchanged is required by the pairs of accesses.
   */
  private isFixed({ atom }: Term, depth: number): boolean {
    if (!atom) return false;
    if (/^(thread|block|block-size|grid-size|parameter|iteration|object)$/.test(atom.kind)) return true;
    if (atom.kind !== 'havoc' || atom.value < 0 || depth === 0) return false;
    const read = this.all.find(({ instruction }) => instruction.results.includes(atom.value as ValueId));
    if (read?.operation !== 'read' || read.memory !== 'global' || this.accesses.includes(read)) return false;
    return read.targets.every(
      ({ base, offset, condition }) =>
        base.kind === 'parameter' && [...offset.leaves, ...condition.leaves].every((leaf) => this.isFixed(leaf, depth - 1)),
    );
  }
}

function factorsOf(term: Term): readonly Term[] {
  return term.operator === 'mul'
    ? term.arguments.flatMap(factorsOf)
    : /^(zext|sext)$/.test(term.operator)
      ? factorsOf(term.arguments[0]!)
      : [term];
}
