/**
 * Terms that are equal in both threads if two addresses overlap: the digits of the addresses, and what these determine.
 * Masks, shifts and conversions keep some bits of their operand, a quotient and its remainder determine the dividend,
 * and a sum in mixed radix determines its digits. If the coordinates of the threads (blocks) are among the terms, both
 * are the same one.
 */
import type { Linear } from '../../term/linear.ts';
import { dividedSum } from '../../term/steps.ts';
import type { Term } from '../../term/term.ts';
import { formDifference } from '../obligations/difference.ts';
import type { TierContext } from '../obligations/instance.ts';
import type { Obligation } from '../obligations/obligation.ts';
import { isDivided, isOfSigned } from './digit-sums.ts';
import { weightedParts, powerOf } from './distance-parts.ts';
import { equalParts } from './mixed-radix.ts';

export class EqualTerms {
  private readonly context: TierContext;
  private readonly obligation: Obligation;
  private readonly bits: Map<Term, { readonly mask: bigint; readonly assumes: readonly Term[] }>;
  /** What is assumed if the terms cannot be equal in two threads. */
  private impossible: readonly Term[] | null = null;

  /** @param known terms that are equal already */
  constructor(context: TierContext, obligation: Obligation, known: EqualTerms | null = null) {
    this.context = context;
    this.obligation = obligation;
    this.bits = new Map(known?.bits);
  }

  /** The terms that are equal in both threads. */
  get terms(): readonly Term[] {
    return [...this.bits].flatMap(([term, { mask }]) => (mask === allBits(term) ? term : []));
  }

  /** What is assumed if some equal terms are equal. */
  assumed(terms: readonly Term[]): readonly Term[] {
    return terms.flatMap((term) => this.bits.get(term)?.assumes ?? []);
  }

  /** Records that a term is equal in both threads if other terms do not wrap around. */
  add(term: Term, assumes: readonly Term[] = []): void {
    this.addBits(term, allBits(term), assumes);
  }

  /** What is assumed if both threads (blocks) are the same one; null if they may differ. */
  sameThread(): readonly Term[] | null {
    const { dimensions } = this.context;
    const [kind, extents] =
      this.obligation.scope === 'block' ? (['thread', dimensions.block] as const) : (['block', dimensions.grid] as const);
    if (this.impossible) return this.impossible;
    const { terms } = this;
    const known = ([0, 1, 2] as const)
      .filter((axis) => extents[axis] !== 1)
      .map((axis) => terms.find(({ atom }) => atom?.kind === kind && atom.axis === axis));
    return known.every((term) => term !== undefined) ? this.assumed(known) : null;
  }

  /** Records that these bits of a term are equal in both threads. */
  private addBits(term: Term, mask: bigint, because: readonly Term[]): void {
    const { store } = this.context.symbolic;
    const before = this.bits.get(term);
    const now = (before?.mask ?? 0n) | (mask & allBits(term));
    if (now === (before?.mask ?? 0n)) return;
    const assumes = [...new Set([...(before?.assumes ?? []), ...because])];
    this.bits.set(term, { mask: now, assumes });
    const scale = powerOf(term);
    // The upper bits of the quotient are lost in the multiplication by the scale.
    if (scale > 1n) this.addBits(dividedSum(store, term, scale), now / scale, assumes);
    const [a, b] = term.arguments;
    const constant = b?.operator === 'constant' ? b.value : undefined;
    const isWhole = now === allBits(term);
    switch (term.operator) {
      case 'and':
        if (constant !== undefined) this.addBits(a!, now & constant, assumes);
        break;
      case 'lshr':
      case 'ashr':
        // All bits above those that `ashr` shifts are copies of the sign bit.
        if (constant !== undefined && constant < BigInt(term.width)) this.addBits(a!, now << constant, assumes);
        break;
      case 'zext':
      case 'sext':
      case 'trunc':
        this.addBits(a!, now, assumes);
        break;
      case 'pure':
        // A conversion to an integer: its operand is equal if all bits of the result are.
        if (isWhole && /^(?:signed|unsigned)/.test(term.name)) this.addBits(a!, now, assumes);
        break;
      case 'udiv':
      case 'urem':
      case 'sdiv':
      case 'srem':
        if (isWhole) this.addDividend(term);
        break;
      default:
    }
    if (isWhole) this.addDigits(term);
  }

  /** If both the quotient and the remainder by a shared divisor are equal, so is the dividend. */
  private addDividend(term: Term): void {
    const [whole, divisor] = term.arguments as [Term, Term];
    const { first, second } = this.obligation;
    const isOther = (one: Term): boolean => isDivided(one) && one !== term && isOfSigned(one) === isOfSigned(term);
    const other = this.terms.find((one) => isOther(one) && one.arguments[0] === whole && one.arguments[1] === divisor);
    if (other && this.context.instances.isShared(divisor, first.reading, second.reading)) this.add(whole, this.assumed([term, other]));
  }

  /** The digits in constant radix of an equal term. */
  private addDigits(term: Term): void {
    const { symbolic, instances } = this.context;
    const { first, second } = this.obligation;
    const isKnown = ({ terms }: Linear): boolean => [...terms.keys()].every((part) => part === term || part.arguments[0] === term);
    const form = [symbolic.view.signed(term), symbolic.view.unsigned(term)].find((one) => !isKnown(one));
    if (!form) return;
    const difference = formDifference(symbolic, instances, [form, first.reading], [form, second.reading]);
    const equal = equalParts(weightedParts(symbolic, [first, second], difference), -difference.constant, -difference.constant);
    const assumes = [...this.assumed([term]), ...form.assumes];
    if (!equal) this.impossible ??= assumes;
    for (const part of equal ?? []) this.add(part, assumes);
  }
}

function allBits({ width }: Term): bigint {
  return (1n << BigInt(width)) - 1n;
}
