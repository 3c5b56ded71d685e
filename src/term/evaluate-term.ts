import type { Term } from './term.ts';

/**
 * The value of a term for given values of its atoms: an unsigned pattern, 0 or 1 for a truth value; undefined if it
 * depends on an atom without a value or on an uninterpreted function.
 */
export function evaluateTerm(
  term: Term,
  atom: (leaf: Term) => bigint | undefined,
  memo: Map<Term, bigint | undefined>,
): bigint | undefined {
  if (memo.has(term)) return memo.get(term);
  const value = compute(term, (inner) => evaluateTerm(inner, atom, memo), atom);
  memo.set(term, value);
  return value;
}

function compute(term: Term, evaluate: (inner: Term) => bigint | undefined, atom: (leaf: Term) => bigint | undefined): bigint | undefined {
  if (term.operator === 'constant') return term.value;
  if (term.operator === 'atom') {
    const value = atom(term);
    return value === undefined ? undefined : BigInt.asUintN(term.width, value);
  }
  return applyOperator(term, (part) => evaluate(term.arguments[part]!));
}

/** The value of a term that is neither an atom nor a constant, from the values of its arguments. */
export function applyOperator(term: Term, argument: (part: number) => bigint | undefined): bigint | undefined {
  const { width } = term;
  const unsigned = (value: bigint): bigint => BigInt.asUintN(width, value);
  if (term.operator === 'all' || term.operator === 'any') {
    const decisive = term.operator === 'any' ? 1n : 0n;
    const values = term.arguments.map((_, part) => argument(part));
    if (values.includes(decisive)) return decisive;
    return values.includes(undefined) ? undefined : 1n - decisive;
  }
  if (term.operator === 'select') {
    const condition = argument(0);
    return condition === undefined ? undefined : argument(condition === 1n ? 1 : 2);
  }
  const values: bigint[] = [];
  for (let part = 0; part < term.arguments.length; part++) {
    const value = argument(part);
    if (value === undefined) return undefined;
    values.push(value);
  }
  const [a, b] = values as [bigint, bigint];
  const from = term.arguments[0]?.width ?? width;
  const signed = (value: bigint): bigint => BigInt.asIntN(from, value);
  switch (term.operator) {
    case 'sum':
      return unsigned(values.reduce((total, value, i) => total + term.coefficients[i]! * value, term.value));
    case 'mul':
      return unsigned(a * b);
    case 'udiv':
      return b === 0n ? unsigned(-1n) : a / b;
    case 'sdiv':
      return b === 0n ? unsigned(-1n) : unsigned(signed(a) / signed(b));
    case 'urem':
      return b === 0n ? a : a % b;
    case 'srem':
      return b === 0n ? a : unsigned(signed(a) % signed(b));
    case 'and':
      return a & b;
    case 'or':
      return a | b;
    case 'xor':
      return a ^ b;
    case 'shl':
      return b >= BigInt(width) ? 0n : unsigned(a << b);
    case 'lshr':
      return b >= BigInt(width) ? 0n : a >> b;
    case 'ashr':
      return unsigned(signed(a) >> (b >= BigInt(width) ? BigInt(width - 1) : b));
    case 'zext':
    case 'trunc':
      return unsigned(a);
    case 'sext':
      return unsigned(signed(a));
    case 'equal':
      return a === b ? 1n : 0n;
    case 'ult':
      return a < b ? 1n : 0n;
    case 'slt':
      return signed(a) < signed(b) ? 1n : 0n;
    case 'not':
      return 1n - a;
    case 'differ':
      return a === b ? 0n : 1n;
    case 'pure':
      return bitFunction(term.name, a, from);
    default:
      return undefined;
  }
}

function bitFunction(name: string, value: bigint, width: number): bigint | undefined {
  const text = value.toString(2).padStart(width, '0');
  switch (name) {
    case 'popc':
      return BigInt(text.replaceAll('0', '').length);
    case 'clz':
      return BigInt(value === 0n ? width : text.indexOf('1'));
    case 'brev':
      return BigInt(`0b${[...text].reverse().join('')}`);
    default:
      return undefined;
  }
}
