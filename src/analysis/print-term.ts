/** Terms in the words of CUDA C++: for assumptions, messages and fingerprints. */
import type { Term } from '../term/term.ts';

export interface TermNames {
  readonly parameter: (index: number, offset: number) => string;
  readonly object: (object: number) => string;
}

const axes = ['x', 'y', 'z'] as const;

/** Longer terms than this are not worth reading. */
const mostTerms = 400;

/** Prints a term; unknown values and parts that are too long read as `?`. */
export function printTerm(term: Term, names: TermNames): string {
  if (term.size > mostTerms) return '?';
  const print = (inner: Term): string => printTerm(inner, names);
  const nested = (inner: Term): string => (inner.operator === 'sum' ? `(${print(inner)})` : print(inner));
  const infix = (operator: string): string => `${nested(term.arguments[0]!)} ${operator} ${nested(term.arguments[1]!)}`;
  switch (term.operator) {
    case 'constant':
      if (term.width === 0) return term.value === 1n ? 'true' : 'false';
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
        default:
          return '?';
      }
    }
    case 'sum': {
      let text = '';
      term.arguments.forEach((part, i) => {
        const coefficient = term.coefficients[i]!;
        const size = coefficient < 0n ? -coefficient : coefficient;
        const product = size === 1n ? nested(part) : `${nested(part)} * ${size}`;
        text +=
          text === '' ? (coefficient < 0n ? `-${product}` : product) : ` ${coefficient < 0n ? '-' : '+'} ${product}`;
      });
      const constant = BigInt.asIntN(term.width, term.value);
      if (constant !== 0n) text += ` ${constant < 0n ? '-' : '+'} ${constant < 0n ? -constant : constant}`;
      return text;
    }
    case 'mul':
      return infix('*');
    case 'udiv':
    case 'sdiv':
      return infix('/');
    case 'urem':
    case 'srem':
      return infix('%');
    case 'and':
      return infix('&');
    case 'or':
      return infix('|');
    case 'xor':
      return infix('^');
    case 'shl':
      return infix('<<');
    case 'lshr':
    case 'ashr':
      return infix('>>');
    case 'zext':
    case 'sext':
    case 'trunc':
      return print(term.arguments[0]!);
    case 'select':
      return `(${print(term.arguments[0]!)} ? ${print(term.arguments[1]!)} : ${print(term.arguments[2]!)})`;
    case 'pure':
    case 'test':
      if (term.name === 'signed' || term.name === 'unsigned') return print(term.arguments[0]!);
      return `${term.name}(${term.arguments.map(print).join(', ')})`;
    case 'equal':
      return infix('==');
    case 'slt':
    case 'ult':
      return infix('<');
    case 'not': {
      const inner = term.arguments[0]!;
      if (inner.operator === 'slt' || inner.operator === 'ult')
        return `${nested(inner.arguments[0]!)} >= ${nested(inner.arguments[1]!)}`;
      if (inner.operator === 'equal') return `${nested(inner.arguments[0]!)} != ${nested(inner.arguments[1]!)}`;
      return `!(${print(inner)})`;
    }
    case 'differ':
      return infix('!=');
    case 'all':
      return term.arguments.map((part) => (part.operator === 'any' ? `(${print(part)})` : print(part))).join(' && ');
    case 'any':
      return term.arguments.map((part) => (part.operator === 'all' ? `(${print(part)})` : print(part))).join(' || ');
  }
}
