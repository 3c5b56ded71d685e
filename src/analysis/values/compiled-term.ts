/**
 * Translates terms to JavaScript source. Numbers are exact integers, 32-bit values in the range of
 * `LinearView.natural`.
 */
import type { SymbolicKernel } from './symbolic.ts';
import { inside, readingOf, signedBounds, unsignedBounds } from '../../term/linear.ts';
import type { Term } from '../../term/term.ts';

/** Thrown for a term that has no exact form in JavaScript numbers. */
export class Unexpressible extends Error {
  override name = 'Unexpressible';
}

type NameLeaf = (leaf: Term) => { readonly name: string | null; readonly offset: bigint };

const safe = 1n << 52n;
/** Source code repeats shared subterms: a deep term with several uses of each would grow exponentially. */
const maxTerms = 4000;

function requireShort(term: Term): void {
  if (term.size > maxTerms) throw new Unexpressible('a value that is computed in too many steps');
}

/** The value of a term in the range of `LinearView.natural`. */
export function compileValue(symbolic: SymbolicKernel, term: Term, name: NameLeaf): string {
  requireShort(term);
  const reading = readingOf(term);
  if (reading) {
    const inner = term.arguments[0]!;
    if (inner.width > 32) throw new Unexpressible('64-bit values that may wrap around');
    return narrow(symbolic, inner, name, reading === 'signed');
  }
  if (term.operator === 'atom') return leafText(term, name);
  if (term.width > 32) return wide(symbolic, term, name);
  const range = symbolic.view.natural(term);
  if (inside(range, unsignedBounds(term.width))) return narrow(symbolic, term, name, false);
  if (inside(range, signedBounds(term.width))) return narrow(symbolic, term, name, true);
  throw new Unexpressible('values that may wrap around');
}

/** A 64-bit term as an exact integer. */
function wide(symbolic: SymbolicKernel, term: Term, name: NameLeaf): string {
  const range = symbolic.view.natural(term);
  if (range.low < -safe || range.high > safe || range.assumes.length > 0) throw new Unexpressible('64-bit values that may wrap around');
  const value = (inner: Term): string => compileValue(symbolic, inner, name);
  const [a, b, c] = term.arguments as [Term, Term, Term];
  switch (term.operator) {
    case 'constant':
      return `${BigInt.asIntN(term.width, term.value)}`;
    case 'atom':
      return leafText(term, name);
    case 'sum':
      return `(${BigInt.asIntN(term.width, term.value)}${term.arguments.map((part, i) => ` + ${term.coefficients[i]!} * ${value(part)}`).join('')})`;
    case 'mul':
      return `(${value(a)} * ${value(b)})`;
    case 'sext':
      return narrow(symbolic, a, name, true);
    case 'zext':
      return narrow(symbolic, a, name, false);
    case 'select':
      return `(${compileTruth(symbolic, a, name)} ? ${value(b)} : ${value(c)})`;
    case 'and':
      if (b.operator === 'constant' && (b.value & (b.value + 1n)) === 0n && symbolic.view.natural(a).low >= 0n)
        return `(${value(a)} % ${b.value + 1n})`;
      break;
    case 'lshr':
    case 'ashr':
    case 'udiv':
    case 'sdiv':
    case 'urem':
    case 'srem': {
      const divisor = term.operator.endsWith('shr') && b.operator === 'constant' ? `${1n << b.value}` : value(b);
      if (symbolic.view.natural(a).low < 0n || symbolic.view.natural(a).high > 1n << 40n) break;
      if (!term.operator.endsWith('shr') && symbolic.view.natural(b).low <= 0n) break;
      if (term.operator.endsWith('shr') && b.operator !== 'constant') break;
      return term.operator.endsWith('rem') ? `(${value(a)} % ${divisor})` : `Math.floor(${value(a)} / ${divisor})`;
    }
    default:
  }
  throw new Unexpressible(`a 64-bit ${term.operator}`);
}

function leafText(leaf: Term, name: NameLeaf): string {
  const { name: text, offset } = name(leaf);
  if (text === null) return `${offset}`;
  return offset === 0n ? text : `(${text} + ${offset})`;
}

/** A term of at most 32 bits as the signed or unsigned value of exactly its width. */
function narrow(symbolic: SymbolicKernel, term: Term, name: NameLeaf, signed: boolean): string {
  const pattern = bits(symbolic, term, name);
  if (term.width === 32) return signed ? pattern : `(${pattern} >>> 0)`;
  if (term.width > 32) return wide(symbolic, term, name);
  const shift = 32 - term.width;
  return signed ? `(${pattern} << ${shift} >> ${shift})` : `(${pattern} & ${(1n << BigInt(term.width)) - 1n})`;
}

/** A term of at most 32 bits as a 32-bit pattern in an int32; narrower ones are correct modulo 2^width only. */
function bits(symbolic: SymbolicKernel, term: Term, name: NameLeaf): string {
  const pattern = (inner: Term): string => bits(symbolic, inner, name);
  const [a, b, c] = term.arguments as [Term, Term, Term];
  const asInt = (value: bigint): string => `${BigInt.asIntN(32, value)}`;
  const exactWidth = (inner: Term, signed: boolean): string => narrow(symbolic, inner, name, signed);
  switch (term.operator) {
    case 'constant':
      return asInt(term.width < 32 ? BigInt.asIntN(term.width, term.value) : term.value);
    case 'atom':
      return `(${leafText(term, name)} | 0)`;
    case 'sum': {
      const parts = term.arguments.map((part, i) => ` + ${multiple(pattern(part), term.coefficients[i]!)}`);
      return `((${asInt(BigInt.asIntN(term.width, term.value))}${parts.join('')}) | 0)`;
    }
    case 'mul':
      return `Math.imul(${pattern(a)}, ${pattern(b)})`;
    case 'and':
      return `(${pattern(a)} & ${pattern(b)})`;
    case 'or':
      return `(${pattern(a)} | ${pattern(b)})`;
    case 'xor':
      return `(${pattern(a)} ^ ${pattern(b)})`;
    case 'shl':
      return `(${amountBelow(symbolic, b, term.width, name)} ? ${pattern(a)} << ${pattern(b)} : 0)`;
    case 'lshr':
      return `(${amountBelow(symbolic, b, term.width, name)} ? ${exactWidth(a, false)} >>> ${pattern(b)} | 0 : 0)`;
    case 'ashr':
      return `(${exactWidth(a, true)} >> Math.min(31, ${exactWidth(b, false)}))`;
    case 'udiv':
      return `(${exactWidth(b, false)} === 0 ? -1 : ${exactWidth(a, false)} / ${exactWidth(b, false)} | 0)`;
    case 'urem':
      return `(${exactWidth(b, false)} === 0 ? ${pattern(a)} : ${exactWidth(a, false)} % ${exactWidth(b, false)} | 0)`;
    case 'sdiv':
      return `(${exactWidth(b, true)} === 0 ? -1 : ${exactWidth(a, true)} / ${exactWidth(b, true)} | 0)`;
    case 'srem':
      return `(${exactWidth(b, true)} === 0 ? ${pattern(a)} : ${exactWidth(a, true)} % ${exactWidth(b, true)} | 0)`;
    case 'zext':
      return `(${exactWidth(a, false)} | 0)`;
    case 'sext':
      return exactWidth(a, true);
    case 'trunc':
      if (a.width <= 32) return pattern(a);
      return `Number(BigInt.asIntN(32, BigInt(${wide(symbolic, a, name)})))`;
    case 'select':
      return `(${compileTruth(symbolic, a, name)} ? ${pattern(b)} : ${pattern(c)})`;
    default:
      throw new Unexpressible(term.operator === 'pure' ? `${term.name} of a value` : term.operator);
  }
}

/** Products modulo 2^32: a double would lose their low bits. */
function multiple(text: string, coefficient: bigint): string {
  if (coefficient === 1n) return text;
  return `Math.imul(${BigInt.asIntN(32, coefficient)}, ${text})`;
}

function amountBelow(symbolic: SymbolicKernel, amount: Term, width: number, name: NameLeaf): string {
  return `${narrow(symbolic, amount, name, false)} < ${width}`;
}

/** A truth value. */
export function compileTruth(symbolic: SymbolicKernel, term: Term, name: NameLeaf): string {
  requireShort(term);
  const [a, b, c] = term.arguments as [Term, Term, Term];
  const truth = (inner: Term): string => compileTruth(symbolic, inner, name);
  const number = (inner: Term, signed: boolean): string =>
    inner.width <= 32 ? narrow(symbolic, inner, name, signed) : signed ? wide(symbolic, inner, name) : unsignedWide(symbolic, inner, name);
  switch (term.operator) {
    case 'constant':
      return term.value === 1n ? 'true' : 'false';
    case 'not':
      return `!${truth(a)}`;
    case 'all':
      return `(${term.arguments.map(truth).join(' && ')})`;
    case 'any':
      return `(${term.arguments.map(truth).join(' || ')})`;
    case 'differ':
      return `(${truth(a)} !== ${truth(b)})`;
    case 'select':
      return `(${truth(a)} ? ${truth(b)} : ${truth(c)})`;
    case 'equal':
      return `(${number(a, true)} === ${number(b, true)})`;
    case 'slt':
      return `(${number(a, true)} < ${number(b, true)})`;
    case 'ult':
      return `(${number(a, false)} < ${number(b, false)})`;
    default:
      throw new Unexpressible('a condition over values that are not known');
  }
}

function unsignedWide(symbolic: SymbolicKernel, term: Term, name: NameLeaf): string {
  if (symbolic.view.natural(term).low < 0n) throw new Unexpressible('an unsigned 64-bit comparison of a negative number');
  return wide(symbolic, term, name);
}
