/** Operations that the passes create: copies, conversions between widths, unknown values and effects. */
import type { Width } from '../../isa/model/domain.ts';
import type { Effect, Operation, ValueType } from '../../isa/model/operation.ts';

function operation(
  mnemonic: string,
  results: readonly ValueType[],
  sources: readonly ValueType[],
  effect: Effect,
  evaluate?: NonNullable<Operation['evaluate']>,
): Operation {
  const opcode = mnemonic.split('.', 1)[0] ?? mnemonic;
  return { mnemonic, opcode, results, sources, effect, cost: 'free', section: '', ...(evaluate && { evaluate }) };
}

const pure: Effect = { kind: 'pure' };
const copies = new Map<ValueType, Operation>();

/** `mov`: the copy that renaming folds away. */
export function copyOperation(type: ValueType): Operation {
  let copy = copies.get(type);
  if (!copy) {
    copy = operation(type === 'predicate' ? 'mov.pred' : `mov.b${type}`, [type], [type], pure, (_domain, [a]) => [a!]);
    copies.set(type, copy);
  }
  return copy;
}

/** True for an operation that returns its only source unchanged. */
export function isCopy(candidate: Operation): boolean {
  return (
    candidate.opcode === 'mov' &&
    candidate.effect.kind === 'pure' &&
    candidate.sources.length === 1 &&
    candidate.results.length === 1 &&
    candidate.sources[0] === candidate.results[0]
  );
}

/** Widens, by zeros or by the sign, or narrows. */
export function convertOperation(from: Width, to: Width, signed: boolean): Operation {
  const letter = signed ? 's' : 'u';
  return operation(`cvt.${letter}${to}.${letter}${from}`, [to], [from], pure, (domain, [a]) => [
    to < from
      ? domain.truncate(from, to, a as never)
      : signed
        ? domain.signExtend(from, to, a as never)
        : domain.zeroExtend(from, to, a as never),
  ]);
}

/** The sum of two values of `width` bits, which wraps around. */
export function addOperation(width: Width): Operation {
  return operation(`add.s${width}`, [width], [width, width], pure, (domain, [a, b]) => [domain.add(width, a as never, b as never)]);
}

/** The `to` bits of a slot of `from` bits that start at `shift`. */
export function extractOperation(from: Width, to: Width, shift: number): Operation {
  if (shift === 0) return convertOperation(from, to, false);
  return operation(`extract.b${to}.b${from}.${shift}`, [to], [from], pure, (domain, [a]) => [
    domain.truncate(from, to, domain.lshr(from, a as never, domain.constant(from, BigInt(shift)))),
  ]);
}

/** A slot of `whole` bits with the `part` bits from `shift` on replaced; sources: slot, part. */
export function insertOperation(whole: Width, part: Width, shift: number): Operation {
  const hole = ((1n << BigInt(whole)) - 1n) ^ (((1n << BigInt(part)) - 1n) << BigInt(shift));
  return operation(`insert.b${whole}.b${part}.${shift}`, [whole], [whole, part], pure, (domain, [slot, value]) => [
    domain.or(
      whole,
      domain.and(whole, slot as never, domain.constant(whole, hole)),
      domain.shl(whole, domain.zeroExtend(part, whole, value as never), domain.constant(whole, BigInt(shift))),
    ),
  ]);
}

export const negation: Operation = operation('not.pred', ['predicate'], ['predicate'], pure, (domain, [a]) => [domain.negate(a as never)]);

/** Whether two addresses of 64 bits are the same. */
export const equalAddresses: Operation = operation('setp.eq.b64', ['predicate'], [64, 64], pure, (domain, [a, b]) => [
  domain.equal(64, a as never, b as never),
]);

/**
 * An operation without effect whose results may have any value.
 * @param mnemonic its original mnemonic, for the printer
 * @param reason why the values are not known
 */
export function havocOperation(mnemonic: string, reason: string, results: readonly ValueType[]): Operation {
  return operation(mnemonic, results, [], { kind: 'havoc', reason });
}

/**
 * Reads of `%envreg1` and `%envreg2`: the high and the low word of the address of `Kernel.workspace`. Arbitrary values
 * in proofs; known in the interpreter.
 */
export const workspaceHigh: Operation = havocOperation('mov', 'special register %envreg1', [32]);
export const workspaceLow: Operation = havocOperation('mov', 'special register %envreg2', [32]);

/**
 * An operation with an unknown effect: a kernel that can reach it is never proved.
 * @param mnemonic its original mnemonic, for the printer
 * @param reason why its effect is unknown, for the verdict
 * @param callee the function without a body that it calls
 */
export function opaqueOperation(
  mnemonic: string,
  reason: string,
  results: readonly ValueType[],
  sources: readonly ValueType[],
  callee?: string,
): Operation {
  return operation(mnemonic, results, sources, { kind: 'opaque', reason, ...(callee !== undefined && { callee }) });
}

/** Reads `width` bits of a `.param` slot of a call; source: address. */
export function slotLoad(width: Width): Operation {
  const effect: Effect = {
    kind: 'load',
    space: 'param',
    bytes: width / 8,
    lanes: 1,
    extend: 'zero',
    semantics: 'weak',
    scope: 'cta',
    nonCoherent: false,
  };
  return operation(`ld.param.b${width}`, [width], [64], effect);
}

/** The counterpart of `slotLoad`; sources: address, value of `width` bits. */
export function slotStore(width: Width): Operation {
  const effect: Effect = { kind: 'store', space: 'param', bytes: width / 8, lanes: 1, semantics: 'weak', scope: 'cta' };
  return operation(`st.param.b${width}`, [], [64, width], effect);
}

export const gridBarrier: Operation = { ...operation('barrier.grid', [], [], { kind: 'grid-barrier' }), cost: 'sync' };
