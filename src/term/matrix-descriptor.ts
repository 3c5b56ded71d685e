/**
 * Matrix descriptors of `wgmma` (PTX ISA 9.7.15.5.1): bits 0 to 13 are bits 4 to 17 of an address in shared memory, the
 * others specify the layout of the matrix there.
 */
import { possibleBits } from './possible-bits.ts';
import type { Term, TermStore } from './term.ts';

interface DescribedMatrix {
  /** An address of 32 bits: the matrix starts at the multiple of 16 that is not above it. */
  readonly address: Term;
  /** The fields above the start address. */
  readonly fields: bigint;
}

const startField = 0x3fffn;

/** The addends of a descriptor, or of its start field. */
interface Parts {
  address: Term | null;
  numbers: bigint;
  readonly steps: (readonly [Term, bigint])[];
  /** Maximum sum of the steps. */
  longest: bigint;
}

/**
 * Reads a descriptor in the form of compilers and libraries: the sum of a field computed from an address, of constants,
 * and of steps that are added to that field. The address is assumed to be in shared memory, with the steps and without:
 * otherwise it would leave its object.
 * @returns null if it has another form
 */
export function describedMatrix(store: TermStore, descriptor: Term): DescribedMatrix | null {
  const parts: Parts = { address: null, numbers: 0n, steps: [], longest: 0n };
  if (descriptor.width !== 64 || !addParts(parts, descriptor)) return null;
  const numbers = BigInt.asUintN(64, parts.numbers);
  const start = numbers & 0xffffn;
  // A carry out of the field would change the other fields.
  if (!parts.address || start > startField || parts.longest > startField) return null;
  const steps = parts.steps.map(([term, factor]) => [inAddress(store, term), 16n * factor] as const);
  return { address: store.sum(32, 16n * start, [[parts.address, 1n], ...steps]), fields: numbers };
}

/** Adds the addends of a term to `parts`; false if the term has another form. */
function addParts(parts: Parts, term: Term): boolean {
  const [a, b] = term.arguments as [Term, Term];
  if (term.operator === 'constant') {
    parts.numbers += term.value;
    return true;
  }
  // If no bit can be set in both operands, the `or` is a sum.
  if (term.operator === 'or') return (possibleBits(a) & possibleBits(b)) === 0n && addParts(parts, a) && addParts(parts, b);
  if (term.operator === 'sum') {
    parts.numbers += term.value;
    return term.arguments.every((part, i) => {
      const factor = term.coefficients[i]!;
      return factor === 1n ? addParts(parts, part) : addStep(parts, part, factor);
    });
  }
  const field = fieldIn(term);
  if (!field || parts.address) return addStep(parts, term, 1n);
  const inField: Parts = { address: null, numbers: 0n, steps: [], longest: 0n };
  const address = shiftedAddress(field);
  if (address) inField.address = address;
  else if (field.operator !== 'sum' || !field.arguments.every((part, i) => addToField(inField, part, field.coefficients[i]!)))
    return addStep(parts, term, 1n);
  else inField.numbers = field.value;
  if (!inField.address || inField.numbers > startField) return addStep(parts, term, 1n);
  parts.address = inField.address;
  parts.numbers += inField.numbers;
  parts.longest += inField.longest;
  parts.steps.push(...inField.steps);
  return true;
}

function addToField(parts: Parts, term: Term, factor: bigint): boolean {
  const address = factor === 1n && !parts.address ? shiftedAddress(term) : null;
  if (!address) return addStep(parts, term, factor);
  parts.address = address;
  return true;
}

function addStep(parts: Parts, term: Term, factor: bigint): boolean {
  parts.longest += factor * possibleBits(term);
  parts.steps.push([term, factor]);
  return factor > 0n && parts.longest <= startField;
}

/** The operand of which a term is the lowest 14 bits, or the address shifted to them; null for other terms. */
function fieldIn(term: Term): Term | null {
  const [value, operand] = term.arguments as [Term, Term];
  if (term.operator === 'zext' || (term.operator === 'trunc' && term.width >= 16)) return fieldIn(value);
  if (operand?.operator !== 'constant') return null;
  if (term.operator === 'and') return operand.value === startField ? value : null;
  if (term.operator !== 'lshr') return null;
  if (operand.value === 4n) return term;
  // Bits above the field are shifted out, as in the extraction of a field.
  const isCut = value.operator === 'sum' && value.value === 0n && value.arguments.length === 1;
  const isOfField = BigInt(term.width) - operand.value === 14n;
  const factor = isCut ? BigInt.asUintN(term.width, value.coefficients[0]!) : 0n;
  return isOfField && factor === 1n << operand.value ? value.arguments[0]! : null;
}

/** The address, of 32 bits, that is shifted by 4 bits to the right; null for other terms. */
function shiftedAddress(term: Term): Term | null {
  const [value, by] = term.arguments as [Term, Term];
  if (term.operator === 'zext') return shiftedAddress(value);
  return term.operator === 'lshr' && by.operator === 'constant' && by.value === 4n ? wholeAddress(value) : null;
}

/** The operand of a mask that preserves bits 4 to 17 of an address. */
function wholeAddress(term: Term): Term | null {
  const [value, mask] = term.arguments as [Term, Term];
  if (term.operator === 'and') return mask.operator === 'constant' && (mask.value & 0x3fff0n) === 0x3fff0n ? wholeAddress(value) : null;
  if (term.operator === 'zext') return wholeAddress(value);
  return term.width === 32 ? term : null;
}

/** A step in the width of addresses. */
function inAddress(store: TermStore, term: Term): Term {
  return term.width < 32 ? store.zeroExtend(32, term) : store.truncate(32, term);
}
