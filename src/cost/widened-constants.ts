/**
 * Arithmetic of `float` values that a constant without the suffix `f` promotes to double precision (`x * 0.5`): C++
 * converts the other operand, and the result back.
 */
import type { Instruction, Kernel, Operand, ValueId } from '../ir/form/kernel.ts';
import type { Location } from '../source/location.ts';

/** A constant of a double-precision instruction whose operands and results are floats. */
interface WidenedConstant {
  readonly location: Location;
  readonly value: number;
}

const arithmetic = /^(?:add|sub|mul|fma|mad|div|sqrt|rsqrt|rcp|min|max|setp|set|neg|abs)\b.*\.f64\b/;
const comparing = /^setp?\b/;
const widening = /^cvt\.f64\.f32\b/;
const narrowing = /^cvt(?:\.\w+)*\.f32\.f64\b/;

/** The constants of a kernel that make float arithmetic double: operands come from floats, and results become floats again. */
export function widenedConstants(kernel: Kernel, placeOf: (location: Location) => Location): readonly WidenedConstant[] {
  const makers = new Map<ValueId, Instruction>();
  const users = new Map<ValueId, Instruction[]>();
  /** Operands of phis, branches and other instructions, which do not show whether a double was a float. */
  const elsewhere = new Set<ValueId>();
  for (const { phis, instructions } of kernel.blocks) {
    for (const { inputs } of phis) for (const input of inputs) if (input.kind === 'value') elsewhere.add(input.id);
    for (const instruction of instructions) {
      for (const result of instruction.results) if (result !== null) makers.set(result, instruction);
      for (const operand of instruction.arguments)
        if (operand.kind === 'value') users.set(operand.id, [...(users.get(operand.id) ?? []), instruction]);
    }
  }
  if (![...makers.values()].some(({ operation }) => widening.test(operation.mnemonic))) return [];

  const known = new Map<ValueId, boolean>();
  /** Whether a double was converted from a float, or computed from such doubles and constants. */
  const comesFromFloat = (operand: Operand): boolean => {
    if (operand.kind === 'constant') return true;
    if (operand.kind !== 'value') return false;
    const before = known.get(operand.id);
    if (before !== undefined) return before;
    known.set(operand.id, false);
    const maker = makers.get(operand.id);
    const mnemonic = maker?.operation.mnemonic ?? '';
    const answer = widening.test(mnemonic) || (arithmetic.test(mnemonic) && maker!.arguments.every(comesFromFloat));
    known.set(operand.id, answer);
    return answer;
  };
  const seen = new Map<ValueId, boolean>();
  /** Whether all uses of a double are comparisons or conversions back to float. */
  const becomesFloat = (value: ValueId): boolean => {
    const before = seen.get(value);
    if (before !== undefined) return before;
    seen.set(value, true);
    const all = users.get(value) ?? [];
    const answer =
      all.length > 0 &&
      !elsewhere.has(value) &&
      all.every((user) => {
        const { mnemonic } = user.operation;
        if (narrowing.test(mnemonic) || comparing.test(mnemonic)) return true;
        return arithmetic.test(mnemonic) && user.results.every((result) => result === null || becomesFloat(result));
      });
    seen.set(value, answer);
    return answer;
  };

  const found = new Map<string, WidenedConstant>();
  for (const { instructions } of kernel.blocks) {
    for (const instruction of instructions) {
      const { operation, arguments: operands, results, location } = instruction;
      if (!location || !arithmetic.test(operation.mnemonic)) continue;
      const constants = operands.flatMap((operand) => (operand.kind === 'constant' ? [operand.value] : []));
      if (constants.length === 0 || constants.length === operands.length) continue;
      const isNarrowed = comparing.test(operation.mnemonic) || results.every((result) => result === null || becomesFloat(result));
      if (!operands.every(comesFromFloat) || !isNarrowed) continue;
      const { file, line } = placeOf(location);
      for (const value of constants.map(doubleOf)) found.set(`${file}:${line}:${value}`, { location: { file, line }, value });
    }
  }
  return [...found.values()];
}

/** The number that 64 bits encode (IEEE 754 binary64). */
function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, bits));
  return view.getFloat64(0);
}

/** A floating literal without a suffix, not part of a name or of another number. */
const literal = /(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?![\w.])/g;

/**
 * The literal of a line that a constant was compiled from: the literal with its value, reciprocal (compilers divide by
 * multiplying) or negative; otherwise the first literal without a suffix.
 */
export function literalOf(text: string, value: number): string | undefined {
  const all = [...text.replace(/\/\/.*$|"(?:[^"\\]|\\.)*"/g, '').matchAll(literal)].map(([one]) => one);
  const isMeant = (one: string): boolean => [Number(one), 1 / Number(one)].some((own) => Math.abs(own) === Math.abs(value));
  return all.find(isMeant) ?? all[0];
}
