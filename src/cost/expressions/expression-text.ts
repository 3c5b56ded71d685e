import { type Addend, type Expression, type Factor, add, constant, constantValue, subtract } from './expression.ts';

/** Prints an expression: `8*ceil(n/32) + 4`. */
export function expressionText(expression: Expression): string {
  const list = [...expression.addends.values()];
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

function printAddend({ coefficient: { top, bottom }, factors }: Addend): string {
  const size = top < 0n ? -top : top;
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
      const isCeil = value
        ? last?.top === value.top - 1n && last.bottom === 1n
        : up.addends.size < dividend.addends.size;
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

/** In parentheses where it is more than one factor. */
function nested(expression: Expression): string {
  const [only] = expression.addends.values();
  const isSimple = expression.addends.size === 1 && only!.factors.length + (constantValue(expression) ? 1 : 0) === 1;
  const isPlain =
    isSimple && only!.coefficient.top > 0n && (only!.coefficient.top === 1n || only!.factors.length === 0);
  return isPlain ? expressionText(expression) : `(${expressionText(expression)})`;
}
