import { absolute } from '../../base/integer.ts';
import { type Addend, type Expression, type Factor, add, constant, constantValue, floorQuotient, subtract } from './expression.ts';
import { addRational, multiplyRational, rational } from './rational.ts';

/** Prints an expression: `8*ceil(n/32) + 4`. */
export function expressionText(expression: Expression): string {
  const list = [...gathered(expression).values()];
  if (list.length === 0) return '0';
  const weight = ({ factors }: Addend): number => factors.length;
  list.sort((a, b) => weight(b) - weight(a) || Number(a.coefficient.top < 0n) - Number(b.coefficient.top < 0n));
  let text = '';
  for (const addend of list) {
    const negative = addend.coefficient.top < 0n;
    const part = printAddend(addend);
    text += text === '' ? `${negative ? '-' : ''}${part}` : ` ${negative ? '-' : '+'} ${part}`;
  }
  return text;
}

/**
 * Addends in their most readable form. The cost of a loop that compilers test at its end is `4*max(0, n - 1) + 4`,
 * which is rewritten to `4*max(1, n)`.
 */
function gathered({ addends }: Expression): ReadonlyMap<string, Addend> {
  const left = new Map(addends);
  // Factors whose key is out of date.
  const rewritten = new Set<string>();
  for (const key of addends.keys()) {
    const addend = left.get(key);
    if (!addend || addend.coefficient.top < 0n) continue;
    const { coefficient, factors } = addend;
    for (const [at, factor] of factors.entries()) {
      const more = raised(factor);
      const others = factors.toSpliced(at, 1);
      const rest = others.map((other) => other.key).join('');
      const beside = rewritten.has(rest) ? undefined : left.get(rest);
      if (!more || !beside) continue;
      const stays = addRational(beside.coefficient, multiplyRational(rational(-more.by), coefficient));
      if (stays.top < 0n) continue;
      if (stays.top === 0n) left.delete(rest);
      else left.set(rest, { coefficient: stays, factors: others });
      left.set(key, { coefficient, factors: factors.with(at, more.factor) });
      rewritten.add(key);
      break;
    }
  }
  return left;
}

/**
 * For a maximum with a negative constant in one operand: the maximum with that constant factored out. Null for other
 * factors.
 */
function raised(factor: Factor): { readonly factor: Factor; readonly by: bigint } | null {
  if (factor.kind === 'floor') {
    // floor(max(0, n - 1) / 128) + 1 is max(1, ceil(n / 128)).
    const [only, ...others] = factor.dividend.addends.values();
    const [most, ...more] = only?.factors ?? [];
    const isMost = others.length + more.length === 0 && only?.coefficient.top === 1n && only.coefficient.bottom === 1n;
    if (!isMost || most?.kind !== 'max' || !constantValue(factor.divisor) || !most.parts.some(isShort)) return null;
    const parts = most.parts.map((part) => floorQuotient(add(part, factor.divisor), factor.divisor));
    return { factor: { ...most, parts }, by: 1n };
  }
  const short = factor.kind === 'max' ? factor.parts.find(isShort) : undefined;
  if (factor.kind !== 'max' || !short) return null;
  const by = -short.addends.get('')!.coefficient.top;
  return { factor: { ...factor, parts: factor.parts.map((part) => add(part, constant(by))) }, by };
}

function isShort({ addends }: Expression): boolean {
  const number = addends.get('')?.coefficient;
  return number !== undefined && number.top < 0n && number.bottom === 1n;
}

function printAddend({ coefficient: { top, bottom }, factors }: Addend): string {
  const size = absolute(top);
  const words = factors.map(printFactor);
  if (size !== 1n || words.length === 0) words.unshift(String(size));
  return words.join('*') + (bottom === 1n ? '' : `/${bottom}`);
}

function printFactor(factor: Factor): string {
  switch (factor.kind) {
    case 'name':
      return factor.name;
    case 'floor': {
      const { dividend, divisor } = factor;
      const up = add(subtract(dividend, divisor), constant(1));
      const value = constantValue(divisor);
      const last = dividend.addends.get('')?.coefficient;
      const isCeil = value ? last?.top === value.top - 1n && last.bottom === 1n : up.addends.size < dividend.addends.size;
      return `${isCeil ? 'ceil' : 'floor'}(${nested(isCeil ? up : dividend)}/${nested(divisor)})`;
    }
    case 'floor-log2':
      return `floor(log2(${expressionText(factor.of)}))`;
    case 'ceil-log2':
      return `ceil(log2(${expressionText(factor.of)}))`;
    case 'min':
    case 'max':
      return `${factor.kind}(${factor.parts.map(expressionText).join(', ')})`;
  }
}

/** In parentheses if it is more than one factor. */
function nested(expression: Expression): string {
  const [only] = expression.addends.values();
  const isSimple = expression.addends.size === 1 && only!.factors.length + (constantValue(expression) ? 1 : 0) === 1;
  const isPlain = isSimple && only!.coefficient.top > 0n && (only!.coefficient.top === 1n || only!.factors.length === 0);
  return isPlain ? expressionText(expression) : `(${expressionText(expression)})`;
}
