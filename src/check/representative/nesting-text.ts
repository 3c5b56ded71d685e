/** Requirements that strides nest, in the language of assumptions: `ld >= w`. */
import { absolute, floorDivide, gcd } from '../../base/integer.ts';
import { fieldName } from '../../launch/parameter-field.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { type IndexFactor, type Monomial, expand } from '../shape/monomial.ts';
import { keyOfProduct, plusProducts, withoutFactors } from '../../algebra/products.ts';
import { fieldOf } from '../shape/roles.ts';
import { shapeOf } from './representative-launches.ts';

/** The conditions that a stride nests, and that it does not. */
interface NestingText {
  readonly nests: string;
  readonly overlaps: string;
}

/** The text `ld >= w`, or `w <= 1024` if the stride is a constant; null if the nesting has no such text. */
export function nestingText(context: KernelAndLaunch & SymbolicFacts, stride: Monomial, below: readonly Monomial[]): NestingText | null {
  const units = new Set(
    [stride, ...below].map(({ factors }) => factors.reduce((unit, factor) => unit * wholeOf(context, factor).unit, 1n)),
  );
  const [unit] = units;
  const inWholes = (list: readonly Monomial[]): readonly Monomial[] =>
    plusProducts(
      [],
      list.map((part) => withWholes(context, units.size === 1 ? { ...part, coefficient: part.coefficient * unit! } : part)),
      1n,
    );
  // Sizes are whole numbers: `2 * ld >= 2 * w - 1` is `ld >= w`.
  const isRounded = stride.factors.length > 0;
  const divisor = inWholes([stride, ...below])
    .filter(({ factors }) => !isRounded || factors.length > 0)
    .reduce((common, { coefficient }) => gcd(common, coefficient), 0n);
  if (divisor === 0n) return null;
  const scaled = (list: readonly Monomial[]): Monomial[] =>
    inWholes(list)
      .map(({ coefficient, factors }) => ({ coefficient: -floorDivide(-coefficient, divisor), factors }))
      .filter(({ coefficient }) => coefficient !== 0n);
  const [own] = scaled([stride]) as [Monomial];
  const parts = scaled(below);
  // Terms common to both sides cancel.
  const rest = plusProducts(parts, [own], -1n);
  if (rest.every(({ factors }) => factors.length === 0)) return null;
  if (rest.every(({ factors }) => keyOfProduct({ coefficient: 0n, factors }) !== keyOfProduct(own))) {
    const left = withoutCommon(rest);
    return textOf(
      plusProducts(
        [],
        left.filter(({ coefficient }) => coefficient < 0n),
        -1n,
      ),
      left.filter(({ coefficient }) => coefficient > 0n),
    );
  }
  if (own.factors.length > 0) {
    const [more, ...less] = withoutCommon([own, ...parts]);
    return textOf([more!], less);
  }
  const [only, ...others] = parts.filter(({ factors }) => factors.length > 0);
  if (!only || others.length > 0 || only.coefficient <= 0n) return null;
  const constant = parts.find(({ factors }) => factors.length === 0)?.coefficient ?? 0n;
  const name = productsText(context, [{ ...only, coefficient: 1n }]);
  const most = (own.coefficient - constant) / only.coefficient;
  return name === null ? null : { nests: `${name} <= ${most}`, overlaps: `${name} > ${most}` };

  function textOf(more: readonly Monomial[], less: readonly Monomial[]): NestingText | null {
    const [left, right] = [productsText(context, more), productsText(context, less)];
    if (left === null || right === null || left === right) return null;
    return { nests: `${left} >= ${right}`, overlaps: `${right} > ${left}` };
  }
}

/** A sum without the factors that all its products have: sizes are positive. */
function withoutCommon(sum: readonly Monomial[]): readonly Monomial[] {
  let left = sum;
  for (const factor of sum[0]?.factors ?? []) {
    const rest = left.map((part) => ({ ...part, factors: withoutFactors(part.factors, [factor]) }));
    if (rest.every((part): part is Monomial => part.factors !== null)) left = rest;
  }
  return left;
}

/** The scalar of which a factor is a part, and the divisor, if the scalar is a multiple of it: `n` and 8 for `n / 8`. */
function wholeOf(context: KernelAndLaunch & SymbolicFacts, factor: IndexFactor): { whole: IndexFactor; unit: bigint } {
  const [inner, by] = factor.term?.arguments ?? [];
  const field = inner && by?.operator === 'constant' && /^[us]div$/.test(factor.term!.operator) && fieldOf(context, inner);
  const scalar = field && shapeOf(context).scalars.find((one) => one.field === field);
  const [whole] = scalar && scalar.divisors.includes(by.value) ? (expand(inner)?.[0]?.factors ?? []) : [];
  return whole ? { whole, unit: by!.value } : { whole: factor, unit: 1n };
}

/** A product in which `n` replaces `8 * (n / 8)` if the kernel takes `n` as a multiple of 8. */
function withWholes(context: KernelAndLaunch & SymbolicFacts, { coefficient, factors }: Monomial): Monomial {
  let left = coefficient;
  const parts = factors.map((factor) => {
    const { whole, unit } = wholeOf(context, factor);
    if (left % unit !== 0n) return factor;
    left /= unit;
    return whole;
  });
  return { coefficient: left, factors: parts.toSorted((a, b) => (a.key < b.key ? -1 : 1)) };
}

/** A sum as text in the language of assumptions; null if a factor has none. */
export function productsText(context: KernelAndLaunch, sum: readonly Monomial[]): string | null {
  let text = '';
  const sorted = [...sum].sort((a, b) => b.factors.length - a.factors.length || Number(b.coefficient > 0n) - Number(a.coefficient > 0n));
  for (const { coefficient, factors } of sorted) {
    const names = [...factors]
      .sort((a, b) => Number(a.key.startsWith('block')) - Number(b.key.startsWith('block')))
      .map((factor) => factorText(context, factor));
    if (names.includes(null)) return null;
    const size = absolute(coefficient);
    const product = [...(size === 1n && names.length > 0 ? [] : [String(size)]), ...names].join(' * ');
    const sign = coefficient < 0n ? '-' : '+';
    text = text === '' ? (sign === '-' ? `-${product}` : product) : `${text} ${sign} ${product}`;
  }
  return text === '' ? '0' : text;
}

function factorText(context: KernelAndLaunch, { key, term, ratio }: IndexFactor): string | null {
  if (ratio) return null;
  if (term === null) return key;
  const [inner, by] = term.arguments;
  if (/^[us]div$/.test(term.operator) && by!.operator === 'constant') {
    const divided = factorText(context, { key, term: inner!, isUniform: true });
    return divided === null ? null : `(${divided} / ${by!.value})`;
  }
  const field = fieldOf(context, term);
  if (!field) return null;
  const name = fieldName(context.request.parameters, field, context.kernel);
  return name.includes('+') ? null : name;
}
