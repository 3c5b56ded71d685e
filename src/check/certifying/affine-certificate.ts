/** Results of the affine tier as certificates: the difference of two addresses, and the refutation of an overlap. */
import { absolute, gcd } from '../../base/integer.ts';
import type { AffineArgument, AffineClaim, CertificateProof } from '../../certificate/certificate.ts';
import { refusalOf } from '../../certificate/checker.ts';
import { narrowed } from '../radix/distance-parts.ts';
import { addressDifference, type Difference } from '../obligations/difference.ts';
import type { TierContext } from '../obligations/instance.ts';
import type { Obligation } from '../obligations/obligation.ts';

/** The claim that accesses never overlap, and an argument that the checker accepts; null without one. */
export function affineProof(context: TierContext, obligation: Obligation): CertificateProof | null {
  const difference = addressDifference(context.symbolic, context.instances, obligation);
  const claim = claimOf(context, obligation, difference);
  const argument = argumentsOf(obligation, difference).find((one) => refusalOf({ claim, argument: one }) === null);
  return argument ? { claim, argument } : null;
}

function claimOf({ dimensions, symbolic, instances }: TierContext, obligation: Obligation, difference: Difference): AffineClaim {
  const { scope, first, second } = obligation;
  const [extents, letter] = scope === 'block' ? [dimensions.block, 't'] : [dimensions.grid, 'b'];
  const axes = ([0, 1, 2] as const).filter((axis) => extents[axis] !== 1).map((axis) => 'xyz'[axis]!);
  const products: { name: string; of: readonly [string, string] }[] = [];
  const below: (readonly [string, string])[] = [];
  for (const { name, term, reading } of difference.unknowns) {
    const named = term.arguments.map(narrowed).map((factor) => (factor.atom ? instances.of(factor, reading).name : null));
    const [a, b, ...more] = named;
    if (term.operator === 'mul' && a && b && more.length === 0) products.push({ name, of: [a, b] });
    if (term.atom?.kind === 'thread' && dimensions.block[term.atom.axis] === null) {
      const size = symbolic.store.atom(32, { kind: 'block-size', axis: term.atom.axis });
      below.push([name, instances.of(size, reading).name!]);
    }
  }
  return {
    kind: 'apart',
    constant: String(difference.constant),
    terms: difference.unknowns.map(({ name, coefficient, bounds }) => ({
      name,
      factor: String(coefficient),
      least: String(bounds.low),
      most: String(bounds.high),
    })),
    behind: String(first.access.bytes - 1),
    ahead: String(second.access.bytes - 1),
    differ: obligation.sameThread || obligation.mayBeOne ? null : axes.map((axis) => [`${letter}${axis}_1`, `${letter}${axis}_2`] as const),
    products,
    below,
  };
}

/** The arguments by which a difference may refute an overlap. */
function argumentsOf({ first, second }: Obligation, { constant, unknowns, low, high }: Difference): readonly AffineArgument[] {
  const divisor = unknowns.reduce((all, { coefficient }) => gcd(all, coefficient), 0n);
  const rest = divisor === 0n ? constant : ((constant % divisor) + divisor) % divisor;
  let reached = BigInt(Math.max(first.access.bytes, second.access.bytes) - 1) + absolute(constant);
  const order: (readonly [string, string])[] = [];
  const reach: string[] = [];
  const sorted = unknowns
    .filter(({ name }) => name.endsWith('_1'))
    .toSorted((a, b) => compare(absolute(a.coefficient), absolute(b.coefficient)));
  for (const { name, coefficient, bounds } of sorted) {
    order.push([name, `${name.slice(0, -1)}2`]);
    reach.push(String(reached));
    reached += absolute(coefficient) * (bounds.high - bounds.low);
  }
  return [
    { kind: 'interval', low: String(low), high: String(high) },
    { kind: 'divisor', divisor: String(divisor), rest: String(rest) },
    { kind: 'radix', order, reach },
    { kind: 'block-size', step: String(unknowns.find(({ reading }) => reading.side === 1)?.coefficient ?? 0n) },
  ];
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
