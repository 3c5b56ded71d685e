import type { Domain, FloatOperation } from '../isa/model/domain.ts';
import type { Term, TermStore } from './term.ts';

/** The instruction table over terms, for the prover. Floating point stays uninterpreted. */
export function termDomain(store: TermStore): Domain<Term, Term> {
  return {
    constant: (width, value) => store.constant(width, value),
    add: (width, a, b) => store.add(width, a, b),
    sub: (width, a, b) => store.sub(width, a, b),
    mul: (width, a, b) => store.mul(width, a, b),
    udiv: (width, a, b) => store.divide('udiv', width, a, b),
    sdiv: (width, a, b) => store.divide('sdiv', width, a, b),
    urem: (width, a, b) => store.divide('urem', width, a, b),
    srem: (width, a, b) => store.divide('srem', width, a, b),
    and: (width, a, b) => keptIfNegative(store, a, b) ?? keptIfNegative(store, b, a) ?? store.and(width, a, b),
    or: (width, a, b) => store.or(width, a, b),
    xor: (width, a, b) => store.xor(width, a, b),
    not: (width, a) => store.sum(width, -1n, [[a, -1n]]),
    shl: (width, a, amount) => store.shift('shl', width, a, amount),
    lshr: (width, a, amount) => store.shift('lshr', width, a, amount),
    ashr: (width, a, amount) => store.shift('ashr', width, a, amount),
    zeroExtend: (_from, to, a) => store.zeroExtend(to, a),
    signExtend: (_from, to, a) => store.signExtend(to, a),
    truncate: (_from, to, a) => store.truncate(to, a),
    factor24: (signed, a) => store.factor24(signed, a),
    equal: (_width, a, b) => store.equal(a, b),
    unsignedLess: (_width, a, b) => store.unsignedLess(a, b),
    signedLess: (_width, a, b) => store.signedLess(a, b),
    select: (_width, condition, a, b) => store.select(condition, a, b),
    truth: (value) => store.truth(value),
    negate: (a) => store.not(a),
    both: (a, b) => store.all([a, b]),
    either: (a, b) => store.any([a, b]),
    differ: (a, b) => store.differ(a, b),
    selectTruth: (condition, a, b) => store.select(condition, a, b),
    float: (operation, sources) => store.pure(floatName(operation), resultWidth(operation), sources),
    compareFloat: (comparison, format, ftz, a, b) => store.test(`${comparison}.${format}${ftz ? '.ftz' : ''}`, [a, b]),
    pure: (name, width, sources) =>
      store.pure(
        name,
        width,
        sources.map((source) => source.value),
      ),
  };
}

/** `y` masked by the sign of `x`: `x < 0 ? y : 0`, as in indices that may count from the end. */
function keptIfNegative(store: TermStore, sign: Term, kept: Term): Term | null {
  const [x, by] = sign.arguments;
  const isMask = sign.operator === 'ashr' && by!.operator === 'constant' && by!.value === BigInt(sign.width - 1);
  if (!isMask || kept.operator === 'constant') return null;
  const zero = store.constant(sign.width, 0n);
  return store.select(store.signedLess(x!, zero), kept, zero);
}

function floatName(operation: FloatOperation): string {
  const { name, from, to, rounding, ftz, saturate } = operation;
  return `${name}.${to}.${from}.${rounding}${ftz ? '.ftz' : ''}${saturate ? '.sat' : ''}`;
}

const widths: Readonly<Record<string, number>> = { f16: 16, bf16: 16, tf32: 32, f32: 32, f64: 64 };

function resultWidth(operation: FloatOperation): number {
  return widths[operation.to] ?? Number(operation.to.slice(1));
}
