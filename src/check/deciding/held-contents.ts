/**
 * Assumed contents of arrays as premises, in the mode of usual contents: bounds that ascend, columns below their stride,
 * and parts that do not overlap.
 */
import { numeral } from '../../solver/s-expression.ts';
import type { PremiseList } from '../../solver/premise.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';

/** The mode in which usual contents of memory are assumed. */
export const usualContents = 'usual';

/** A loaded element with its formulas. */
interface HeldElement {
  /** The unknown of the value. */
  readonly of: string;
  readonly fact: ContentsFact;
  /** Byte offset of the element. */
  readonly offset: string;
  readonly name: string;
  /** The condition that the load is executed. */
  readonly reached: string;
}

export class HeldContents {
  private readonly held: HeldElement[] = [];
  private readonly premises: PremiseList;

  constructor(premises: PremiseList) {
    this.premises = premises;
  }

  get isEmpty(): boolean {
    return this.held.length === 0;
  }

  /** The assumptions in the words of a report. */
  get texts(): ReadonlySet<string> {
    return new Set(this.held.flatMap(({ fact }) => fact.texts));
  }

  /**
   * Asserts what is assumed of an element and those before it.
   * @param stride the product below which a column is
   */
  hold(element: HeldElement, stride: string | null): void {
    const { of, fact, offset, name, reached } = element;
    if (stride !== null) this.premises.emit(`(assert ${usually([reached], `(and (<= 0 ${name}) (< ${name} ${stride}))`)})`);
    for (const other of this.held) {
      if (other.fact.array !== fact.array) continue;
      const both = [reached, other.reached];
      if (fact.ascends) {
        this.premises.compare(of, other.of, usually([...both, `(<= ${offset} ${other.offset})`], `(<= ${name} ${other.name})`));
        this.premises.compare(of, other.of, usually([...both, `(<= ${other.offset} ${offset})`], `(<= ${other.name} ${name})`));
      } else if (fact.part)
        this.premises.compare(of, other.of, usually([...both, `(= ${offset} ${other.offset})`], `(= ${name} ${other.name})`));
    }
    this.held.push(element);
    if (fact.part) this.separate(element, fact.part.pair);
  }

  /** Asserts that the parts of an element end below 2^31 if starts have 32 bits, and do not overlap other parts if neither is empty. */
  private separate(element: HeldElement, pair: string): void {
    const own = this.held.filter(({ fact }) => fact.part?.pair === pair);
    const ofRole = (role: 'start' | 'length') => own.filter(({ fact }) => fact.part!.role === role);
    const parts = ofRole('start').flatMap((start) => ofRole('length').map((length) => ({ start, length })));
    for (const { start, length } of parts) {
      if (start.fact.part!.bytes > 4 || (start !== element && length !== element)) continue;
      const conditions = [start.reached, length.reached, isSameIndex(start, length)];
      this.premises.compare(start.of, length.of, usually(conditions, `(< (+ ${start.name} ${length.name}) ${numeral(1n << 31n)})`));
    }
    for (const [at, one] of parts.entries())
      for (const other of parts.slice(at + 1)) {
        const all = [one.start, one.length, other.start, other.length];
        if (one.start === other.start || one.length === other.length || !all.includes(element)) continue;
        const conditions = [
          ...all.map(({ reached }) => reached),
          isSameIndex(one.start, one.length),
          isSameIndex(other.start, other.length),
          `(not (= ${one.start.offset} ${other.start.offset}))`,
          `(< 0 ${one.length.name})`,
          `(< 0 ${other.length.name})`,
        ];
        const before = (a: typeof one, b: typeof one): string => `(<= (+ ${a.start.name} ${a.length.name}) ${b.start.name})`;
        this.premises.compare(one.start.of, other.start.of, usually(conditions, `(or ${before(one, other)} ${before(other, one)})`));
      }
  }
}

function usually(conditions: readonly string[], formula: string): string {
  return `(=> (and ${usualContents} ${conditions.join(' ')}) ${formula})`;
}

/** Whether two elements, of arrays with elements of different sizes, have one index. */
function isSameIndex(a: HeldElement, b: HeldElement): string {
  const [bytes, others] = [a.fact.part!.bytes, b.fact.part!.bytes];
  return bytes === others ? `(= ${a.offset} ${b.offset})` : `(= (* ${others} ${a.offset}) (* ${bytes} ${b.offset}))`;
}
