/** Terms in the words of CUDA C++: for assumptions, messages and fingerprints. */
import { absolute } from '../../base/integer.ts';
import { isFunctionReference } from '../../ir/form/function-address.ts';
import { readingOf } from '../../term/linear.ts';
import { type Term, isFactor24, unshifted } from '../../term/term.ts';

export interface TermNames {
  readonly parameter: (index: number, offset: number) => string;
  readonly object: (object: number) => string;
  /** Text for an unknown value, for example the element that a load reads; undefined if it has no name. */
  readonly unknown?: (value: number) => string | undefined;
}

const axes = ['x', 'y', 'z'] as const;

/** Longer terms are not printed. */
const maxTerms = 400;

/** C++ precedence of the operators, by the printed form of a term. */
const precedence: Readonly<Record<string, number>> = {
  '*': 10,
  '/': 10,
  '%': 10,
  '+': 9,
  '<<': 8,
  '>>': 8,
  '<': 7,
  '>=': 7,
  '==': 6,
  '!=': 6,
  '&': 5,
  '^': 4,
  '|': 3,
  '&&': 2,
  '||': 1,
};

const operators: Readonly<Record<string, string>> = {
  sum: '+',
  mul: '*',
  udiv: '/',
  sdiv: '/',
  urem: '%',
  srem: '%',
  and: '&',
  or: '|',
  xor: '^',
  shl: '<<',
  lshr: '>>',
  ashr: '>>',
  equal: '==',
  slt: '<',
  ult: '<',
  differ: '!=',
  all: '&&',
  any: '||',
};

const negated: Readonly<Record<string, string>> = { slt: '>=', ult: '>=', equal: '!=' };

/** A factor of `mul24`, printed. */
function factorShown({ operator, arguments: [a] }: Term): Term {
  if (operator === 'and') return a!;
  const { constant, coefficients } = unshifted(a!);
  const isAlone = constant === 0n && coefficients.length === 1 && coefficients[0] === 1n;
  return isAlone ? a!.arguments[0]! : { ...a!, value: constant, coefficients };
}

/** The operator that a term prints as; undefined for names, constants and calls. */
function operatorOf(term: Term): string | undefined {
  if (isFactor24(term)) return operatorOf(factorShown(term));
  const [inner] = term.arguments;
  if (inner && /^([zs]ext|trunc)$/.test(term.operator)) return operatorOf(inner);
  if (inner && readingOf(term)) return operatorOf(inner);
  if (inner && term.operator === 'not') return negated[inner.operator];
  return operators[term.operator];
}

/** Prints a term; unknown values and parts that are too long read as `?`. */
export function printTerm(term: Term, names: TermNames): string {
  if (term.size > maxTerms) return '?';
  const print = (inner: Term): string => printTerm(inner, names);
  /** In parentheses if C++ would parse it differently, or a reader might. */
  const nested = (inner: Term, outer: string): string => {
    const own = operatorOf(inner);
    return own !== undefined && precedence[own]! <= precedence[outer]! ? `(${print(inner)})` : print(inner);
  };
  const infix = (operator: string, [a, b] = term.arguments): string => {
    // Constants are on the right of an equation.
    const [left, right] = /[!=]=/.test(operator) && a!.operator === 'constant' ? [b!, a!] : [a!, b!];
    return `${nested(left, operator)} ${operator} ${nested(right, operator)}`;
  };
  if (isFactor24(term)) return print(factorShown(term));
  switch (term.operator) {
    case 'constant':
      if (term.width === 0) return term.value === 1n ? 'true' : 'false';
      if (term.width === 64 && isFunctionReference(term.value)) return '(a function)';
      return BigInt.asIntN(term.width, term.value).toString();
    case 'atom': {
      const atom = term.atom!;
      switch (atom.kind) {
        case 'thread':
          return `threadIdx.${axes[atom.axis]}`;
        case 'block':
          return `blockIdx.${axes[atom.axis]}`;
        case 'block-size':
          return `blockDim.${axes[atom.axis]}`;
        case 'grid-size':
          return `gridDim.${axes[atom.axis]}`;
        case 'parameter':
          return names.parameter(atom.index, atom.offset);
        case 'object':
          return names.object(atom.object);
        case 'iteration':
          return 'round';
        case 'havoc':
          return names.unknown?.(atom.value) ?? '?';
        case 'line':
          return 'line';
        default:
          return '?';
      }
    }
    case 'sum': {
      let text = '';
      term.arguments.forEach((part, i) => {
        const coefficient = term.coefficients[i]!;
        const size = absolute(coefficient);
        const product = size === 1n ? nested(part, '+') : `${nested(part, '*')} * ${size}`;
        text += text === '' ? (coefficient < 0n ? `-${product}` : product) : ` ${coefficient < 0n ? '-' : '+'} ${product}`;
      });
      const constant = BigInt.asIntN(term.width, term.value);
      if (constant !== 0n) text += ` ${constant < 0n ? '-' : '+'} ${absolute(constant)}`;
      return text;
    }
    case 'mul':
    case 'udiv':
    case 'sdiv':
    case 'urem':
    case 'srem':
    case 'and':
    case 'or':
    case 'xor':
    case 'shl':
    case 'lshr':
    case 'ashr':
    case 'equal':
    case 'slt':
    case 'ult':
    case 'differ':
      return infix(operators[term.operator]!);
    case 'zext':
    case 'sext':
    case 'trunc':
      return print(term.arguments[0]!);
    case 'select':
      return `(${print(term.arguments[0]!)} ? ${print(term.arguments[1]!)} : ${print(term.arguments[2]!)})`;
    case 'pure':
    case 'test':
      if (readingOf(term)) return print(term.arguments[0]!);
      return `${term.name}(${term.arguments.map(print).join(', ')})`;
    case 'not': {
      const inner = term.arguments[0]!;
      const operator = negated[inner.operator];
      return operator === undefined ? `!(${print(inner)})` : infix(operator, inner.arguments);
    }
    case 'all':
    case 'any': {
      const operator = operators[term.operator]!;
      return term.arguments.map((part) => nested(part, operator)).join(` ${operator} `);
    }
  }
}
