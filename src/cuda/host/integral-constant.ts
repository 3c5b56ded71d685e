/** `std::integral_constant`: types that denote a number, and their objects, which convert to it. */
import type { Interpreter } from './interpreter.ts';
import { integer } from './term.ts';
import { type HostValue, integralConstant, literalValue, integerValue, valueKey } from './value.ts';

/** Whether a type, as written, is a `std::integral_constant`. */
export function isConstantType(written: string): boolean {
  return /^(?:::)?(?:(?:cuda::)?std::)?(?:integral_constant\s*<|bool_constant\s*<|true_type$|false_type$)/.test(
    written,
  );
}

/**
 * An object of a `std::integral_constant`.
 * @param argument the last argument of its template, undefined if absent or unknown
 */
export function constantObject(written: string, argument: string | undefined, host: Interpreter): HostValue {
  const truth = /\btrue_type$/.test(written) ? 'true' : /\bfalse_type$/.test(written) ? 'false' : argument;
  const isTruth = truth === 'true' || truth === 'false';
  const number = isTruth ? integerValue(integer(truth === 'true' ? 1 : 0)) : literalValue(truth ?? '');
  const value = number ?? host.symbol(written);
  const id = `${integralConstant} ${valueKey(value)}`;
  return { kind: 'record', fields: new Map([['value', value]]), rest: { id, label: written, type: integralConstant } };
}

/** Whether a value is an object of `std::integral_constant`. */
export function isConstantObject(value: HostValue): boolean {
  return value.kind === 'record' && value.rest.type === integralConstant;
}

/** The argument of `std::integral_constant<int, 64>::value`, as written; undefined for other names. */
export function memberOfConstant(written: string): string | undefined {
  return /\bintegral_constant\s*<[^<>,]*,\s*(\w+)\s*>\s*::\s*value$/.exec(written)?.[1];
}
