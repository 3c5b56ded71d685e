/** Logic and shift instructions (PTX ISA 9.7.8). */
import type { Domain, Width } from './model/domain.ts';
import type { Rule } from './model/operation.ts';
import type { Row } from './model/row.ts';
import { constantPattern, shift } from './arithmetic/bit-arithmetic.ts';
import { bits, pure, pureEffect } from './model/row.ts';

/** A rule over truth values, with one result. */
function truths(rule: <V, B>(domain: Domain<V, B>, ...sources: B[]) => B): Rule {
  return <V, B>(domain: Domain<V, B>, sources: readonly (V | B)[]) => [rule(domain, ...(sources as B[]))];
}

function bitwise(opcode: 'and' | 'or' | 'xor', section: string): Row {
  const truth = ({ and: 'both', or: 'either', xor: 'differ' } as const)[opcode];
  return {
    opcode,
    section,
    forms: `${opcode}.type d, a, b; .type = {.pred, .b16, .b32, .b64}`,
    treatment: 'exact',
    decode(modifiers) {
      const type = modifiers.type();
      if (type?.kind === 'predicate') {
        return pure(
          'predicate',
          ['predicate', 'predicate'],
          'integer',
          truths((d, a, b) => d[truth](a, b)),
        );
      }
      if (type?.kind !== 'bits' || type.bits < 16 || type.bits > 64) return null;
      const width = type.bits as Width;
      return pure(
        width,
        [width, width],
        'integer',
        bits((d, a, b) => d[opcode](width, a, b)),
      );
    },
  };
}

const not: Row = {
  opcode: 'not',
  section: '9.7.8.4',
  forms: 'not.type d, a; .type = {.pred, .b16, .b32, .b64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (type?.kind === 'predicate')
      return pure(
        'predicate',
        ['predicate'],
        'integer',
        truths((d, a) => d.negate(a)),
      );
    if (type?.kind !== 'bits' || type.bits < 16 || type.bits > 64) return null;
    const width = type.bits as Width;
    return pure(
      width,
      [width],
      'integer',
      bits((d, a) => d.not(width, a)),
    );
  },
};

const logicalNot: Row = {
  opcode: 'cnot',
  section: '9.7.8.5',
  forms: 'cnot.type d, a; .type = {.b16, .b32, .b64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (type?.kind !== 'bits' || type.bits < 16 || type.bits > 64) return null;
    const width = type.bits as Width;
    return pure(
      width,
      [width],
      'integer',
      bits((d, a) =>
        d.select(width, d.equal(width, a, constantPattern(d, width, 0)), constantPattern(d, width, 1), constantPattern(d, width, 0)),
      ),
    );
  },
};

/** The function of three inputs whose truth table is `table`, as a sum of minterms. */
function threeInput<V, B>(d: Domain<V, B>, table: number, a: V, b: V, c: V): V {
  let sum: V | undefined;
  for (let minterm = 0; minterm < 8; minterm++) {
    if (!((table >> minterm) & 1)) continue;
    const literal = (value: V, bit: number): V => ((minterm >> bit) & 1 ? value : d.not(32, value));
    const product = d.and(32, d.and(32, literal(a, 2), literal(b, 1)), literal(c, 0));
    sum = sum === undefined ? product : d.or(32, sum, product);
  }
  return sum ?? constantPattern(d, 32, 0);
}

/** `lop3.b32 d, a, b, c, table` and `lop3.op.b32 d|p, a, b, c, table, q` with `p = (d != 0) op q`. */
const logicThree: Row = {
  opcode: 'lop3',
  section: '9.7.8.6',
  forms: 'lop3.b32 d, a, b, c, immLut; lop3.BoolOp.b32 d|p, a, b, c, immLut, q; .BoolOp = {.or, .and}',
  treatment: 'exact',
  readsLiterals: true,
  decode(modifiers, shape) {
    const combine = modifiers.oneOf('or', 'and');
    if (modifiers.type()?.name !== 'b32') return null;
    const table = shape?.[4]?.literal;
    if (table === undefined) return null;
    const rule: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const [a, b, c] = sources as V[];
      const value = threeInput(d, Number(table & 0xffn), a!, b!, c!);
      if (!combine) return [value];
      const set = d.negate(d.equal(32, value, constantPattern(d, 32, 0)));
      const q = sources[4] as B;
      return [value, combine === 'or' ? d.either(set, q) : d.both(set, q)];
    };
    return {
      results: combine ? [32, 'predicate'] : [32],
      sources: combine ? [32, 32, 32, 32, 'predicate'] : [32, 32, 32, 32],
      effect: pureEffect,
      cost: 'integer',
      evaluate: rule,
    };
  },
};

const shiftLeft: Row = {
  opcode: 'shl',
  section: '9.7.8.8',
  forms: 'shl.type d, a, b; .type = {.b16, .b32, .b64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (type?.kind !== 'bits' || type.bits < 16 || type.bits > 64) return null;
    const width = type.bits as 16 | 32 | 64;
    return pure(
      width,
      [width, 32],
      'integer',
      bits((d, a, b) => shift(d, 'shl', width, a, b)),
    );
  },
};

const shiftRight: Row = {
  opcode: 'shr',
  section: '9.7.8.9',
  forms: 'shr.type d, a, b; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (!type || !['unsigned', 'signed', 'bits'].includes(type.kind)) return null;
    if (type.lanes !== 1 || type.bits < 16 || type.bits > 64) return null;
    const width = type.bits as 16 | 32 | 64;
    const kind = type.kind === 'signed' ? 'ashr' : 'lshr';
    return pure(
      width,
      [width, 32],
      'integer',
      bits((d, a, b) => shift(d, kind, width, a, b)),
    );
  },
};

/** `shf`: shifts the 64-bit value `b:a` and keeps the high (`l`) or low (`r`) half. */
const funnelShift: Row = {
  opcode: 'shf',
  section: '9.7.8.7',
  forms: 'shf.l.mode.b32 d, a, b, c; shf.r.mode.b32 d, a, b, c; .mode = {.clamp, .wrap}',
  treatment: 'exact',
  decode(modifiers) {
    const direction = modifiers.oneOf('l', 'r');
    const mode = modifiers.oneOf('clamp', 'wrap');
    if (!direction || !mode || modifiers.type()?.name !== 'b32') return null;
    return pure(
      32,
      [32, 32, 32],
      'integer',
      bits((d, a, b, c) => {
        const limit = constantPattern(d, 32, mode === 'clamp' ? 32 : 31);
        const limited = mode === 'wrap' ? d.and(32, c, limit) : d.select(32, d.unsignedLess(32, limit, c), limit, c);
        const amount = d.zeroExtend(32, 64, limited);
        const both = d.or(64, d.shl(64, d.zeroExtend(32, 64, b), constantPattern(d, 64, 32)), d.zeroExtend(32, 64, a));
        const half = direction === 'r' ? d.lshr(64, both, amount) : d.lshr(64, d.shl(64, both, amount), constantPattern(d, 64, 32));
        return d.truncate(64, 32, half);
      }),
    );
  },
};

export const logicRows: readonly Row[] = [
  bitwise('and', '9.7.8.1'),
  bitwise('or', '9.7.8.2'),
  bitwise('xor', '9.7.8.3'),
  not,
  logicalNot,
  logicThree,
  shiftLeft,
  shiftRight,
  funnelShift,
];
