/** Integer arithmetic and extended-precision arithmetic (PTX ISA 9.7.1, 9.7.2). */
import type { Domain, Width } from './model/domain.ts';
import type { Rule } from './model/operation.ts';
import type { Row, Signature, TypeInformation } from './model/row.ts';
import { clamp, constantPattern, less, greater, lesser, packed, extendOrTruncate } from './arithmetic/bit-arithmetic.ts';
import { bits, pure, pureEffect } from './model/row.ts';

const integerBits = [16, 32, 64];

function isInteger(type: TypeInformation | undefined): type is TypeInformation {
  return type !== undefined && (type.kind === 'unsigned' || type.kind === 'signed') && type.lanes === 1;
}

function isPacked(type: TypeInformation | undefined): type is TypeInformation {
  return type !== undefined && (type.name === 'u16x2' || type.name === 's16x2');
}

type Binary = <V, B>(d: Domain<V, B>, width: Width, signed: boolean, a: V, b: V) => V;

/** `op.type d, a, b` over 16, 32 or 64 bits, and over `u16x2`/`s16x2` if the forms have them. */
function binary(opcode: string, section: string, forms: string, rule: Binary, remark?: string): Row {
  const hasPacked = forms.includes('x2');
  return {
    opcode,
    section,
    forms,
    treatment: 'exact',
    ...(remark && { remark }),
    decode(modifiers) {
      const saturate = opcode !== 'mul' && modifiers.flag('sat');
      const relu = (opcode === 'min' || opcode === 'max') && modifiers.flag('relu');
      const type = modifiers.type();
      if (hasPacked && isPacked(type) && !saturate && !(relu && type.kind !== 'signed')) {
        const signed = type.kind === 'signed';
        return pure(
          32,
          [32, 32],
          'integer',
          bits((d, a, b) => packed(d, 32, [a, b], (x, y) => rectify(d, 16, relu, rule(d, 16, signed, x, y)))),
        );
      }
      if (!isInteger(type) || !integerBits.includes(type.bits)) return null;
      const width = type.bits as Width;
      const signed = type.kind === 'signed';
      if ((saturate || relu) && type.name !== 's32') return null;
      if (saturate) {
        if (opcode !== 'add' && opcode !== 'sub') return null;
        return pure(
          32,
          [32, 32],
          'integer',
          bits((d, a, b) => {
            const wide = d[opcode](64, d.signExtend(32, 64, a), d.signExtend(32, 64, b));
            return d.truncate(64, 32, clamp(d, 64, true, 32, true, wide));
          }),
        );
      }
      return pure(
        width,
        [width, width],
        'integer',
        bits((d, a, b) => rectify(d, width, relu, rule(d, width, signed, a, b))),
      );
    },
  };
}

function rectify<V, B>(d: Domain<V, B>, width: Width, relu: boolean, a: V): V {
  return relu ? greater(d, width, true, a, constantPattern(d, width, 0)) : a;
}

/** The product of twice the width. */
function wideProduct<V, B>(d: Domain<V, B>, width: Width, signed: boolean, a: V, b: V): V {
  const wide = (2 * width) as Width;
  return d.mul(wide, extendOrTruncate(d, width, wide, signed, a), extendOrTruncate(d, width, wide, signed, b));
}

/** The low or high half of the product. */
function halfProduct<V, B>(d: Domain<V, B>, half: 'lo' | 'hi', width: Width, signed: boolean, a: V, b: V): V {
  if (half === 'lo') return d.mul(width, a, b);
  const wide = (2 * width) as Width;
  return d.truncate(wide, width, d.lshr(wide, wideProduct(d, width, signed, a, b), constantPattern(d, wide, width)));
}

/** The 48-bit product of the low 24 bits of each source, its low 32 bits or bits 16 to 47. */
function product24<V, B>(d: Domain<V, B>, half: 'lo' | 'hi', signed: boolean, a: V, b: V): V {
  const [x, y] = [d.factor24(signed, a), d.factor24(signed, b)];
  if (half === 'lo') return d.mul(32, x, y);
  return d.truncate(64, 32, d.lshr(64, wideProduct(d, 32, signed, x, y), constantPattern(d, 64, 16)));
}

const multiply: Row = {
  opcode: 'mul',
  section: '9.7.1.3',
  forms: 'mul{.hi, .lo, .wide}.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64} (.wide: 16 and 32 bits)',
  treatment: 'exact',
  decode(modifiers) {
    const part = modifiers.oneOf('lo', 'hi', 'wide');
    const type = modifiers.type();
    if (!part || !isInteger(type) || !integerBits.includes(type.bits)) return null;
    const width = type.bits as Width;
    const signed = type.kind === 'signed';
    if (part !== 'wide') {
      return pure(
        width,
        [width, width],
        'integer',
        bits((d, a, b) => halfProduct(d, part, width, signed, a, b)),
      );
    }
    if (width === 64) return null;
    const wide = (2 * width) as Width;
    return pure(
      wide,
      [width, width],
      'integer',
      bits((d, a, b) => wideProduct(d, width, signed, a, b)),
    );
  },
};

const multiplyAdd: Row = {
  opcode: 'mad',
  section: '9.7.1.4',
  forms: 'mad{.hi, .lo, .wide}.type d, a, b, c; mad.hi.sat.s32 d, a, b, c; .type = {.u16, .u32, .u64, .s16, .s32, .s64}',
  treatment: 'exact',
  decode(modifiers) {
    const part = modifiers.oneOf('lo', 'hi', 'wide');
    const saturate = modifiers.flag('sat');
    const type = modifiers.type();
    if (!part || !isInteger(type) || !integerBits.includes(type.bits)) return null;
    const width = type.bits as Width;
    const signed = type.kind === 'signed';
    if (saturate && (part !== 'hi' || type.name !== 's32')) return null;
    if (part === 'wide') {
      if (width === 64) return null;
      const wide = (2 * width) as Width;
      return pure(
        wide,
        [width, width, wide],
        'integer',
        bits((d, a, b, c) => d.add(wide, wideProduct(d, width, signed, a, b), c)),
      );
    }
    return pure(
      width,
      [width, width, width],
      'integer',
      bits((d, a, b, c) => {
        const product = halfProduct(d, part, width, signed, a, b);
        return saturate ? addSaturated(d, product, c) : d.add(width, product, c);
      }),
    );
  },
};

function addSaturated<V, B>(d: Domain<V, B>, a: V, b: V): V {
  const sum = d.add(64, d.signExtend(32, 64, a), d.signExtend(32, 64, b));
  return d.truncate(64, 32, clamp(d, 64, true, 32, true, sum));
}

function multiply24(opcode: 'mul24' | 'mad24', section: string): Row {
  return {
    opcode,
    section,
    forms:
      opcode === 'mul24'
        ? 'mul24{.hi, .lo}.type d, a, b; .type = {.u32, .s32}'
        : 'mad24{.hi, .lo}.type d, a, b, c; mad24.hi.sat.s32 d, a, b, c; .type = {.u32, .s32}',
    treatment: 'exact',
    decode(modifiers) {
      const part = modifiers.oneOf('lo', 'hi');
      const saturate = opcode === 'mad24' && modifiers.flag('sat');
      const type = modifiers.type();
      if (!part || !isInteger(type) || type.bits !== 32) return null;
      if (saturate && (part !== 'hi' || type.kind !== 'signed')) return null;
      const signed = type.kind === 'signed';
      if (opcode === 'mul24') {
        return pure(
          32,
          [32, 32],
          'integer',
          bits((d, a, b) => product24(d, part, signed, a, b)),
        );
      }
      return pure(
        32,
        [32, 32, 32],
        'integer',
        bits((d, a, b, c) => {
          const product = product24(d, part, signed, a, b);
          return saturate ? addSaturated(d, product, c) : d.add(32, product, c);
        }),
      );
    },
  };
}

const sumOfDifferences: Row = {
  opcode: 'sad',
  section: '9.7.1.7',
  forms: 'sad.type d, a, b, c; .type = {.u16, .u32, .u64, .s16, .s32, .s64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (!isInteger(type) || !integerBits.includes(type.bits)) return null;
    const width = type.bits as Width;
    const signed = type.kind === 'signed';
    return pure(
      width,
      [width, width, width],
      'integer',
      bits((d, a, b, c) => {
        const difference = d.select(width, less(d, width, signed, a, b), d.sub(width, b, a), d.sub(width, a, b));
        return d.add(width, c, difference);
      }),
    );
  },
};

/** A row for an instruction with one signed integer source and a result of the same type. */
function signedUnary(opcode: string, section: string, rule: <V, B>(d: Domain<V, B>, width: Width, a: V) => V): Row {
  return {
    opcode,
    section,
    forms: `${opcode}.type d, a; .type = {.s16, .s32, .s64}`,
    treatment: 'exact',
    decode(modifiers) {
      const type = modifiers.type();
      if (!isInteger(type) || type.kind !== 'signed' || !integerBits.includes(type.bits)) return null;
      const width = type.bits as Width;
      return pure(
        width,
        [width],
        'integer',
        bits((d, a) => rule(d, width, a)),
      );
    },
  };
}

const absolute = signedUnary('abs', '9.7.1.10', (d, width, a) => {
  const zero = constantPattern(d, width, 0);
  return d.select(width, d.signedLess(width, a, zero), d.sub(width, zero, a), a);
});

const negate = signedUnary('neg', '9.7.1.11', (d, width, a) => d.sub(width, constantPattern(d, width, 0), a));

/** A row for `popc`, `clz` or `brev` on `b32` and `b64`, whose function the domain defines by name. */
function counted(opcode: 'popc' | 'clz' | 'brev', section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}.type d, a; .type = {.b32, .b64}`,
    treatment: 'exact',
    decode(modifiers) {
      const type = modifiers.type();
      if (type?.name !== 'b32' && type?.name !== 'b64') return null;
      const width = type.bits as Width;
      const result = opcode === 'brev' ? width : 32;
      return pure(
        result,
        [width],
        'integer',
        bits((d, a) => d.pure(opcode, result, [{ width, value: a }])),
      );
    },
  };
}

const findLeadingBit: Row = {
  opcode: 'bfind',
  section: '9.7.1.16',
  forms: 'bfind{.shiftamt}.type d, a; .type = {.u32, .u64, .s32, .s64}',
  treatment: 'exact',
  decode(modifiers) {
    const shiftAmount = modifiers.flag('shiftamt');
    const type = modifiers.type();
    if (!isInteger(type) || type.bits < 32) return null;
    const width = type.bits as Width;
    return pure(
      32,
      [width],
      'integer',
      bits((d, a) => {
        // For a signed type, the most significant bit that differs from the sign is searched for.
        const negative = d.signedLess(width, a, constantPattern(d, width, 0));
        const value = type.kind === 'signed' ? d.select(width, negative, d.not(width, a), a) : a;
        const leading = d.pure('clz', 32, [{ width, value }]);
        const none = d.equal(width, value, constantPattern(d, width, 0));
        const position = shiftAmount ? leading : d.sub(32, constantPattern(d, 32, width - 1), leading);
        return d.select(32, none, constantPattern(d, 32, -1), position);
      }),
    );
  },
};

const findNthSet: Row = {
  opcode: 'fns',
  section: '9.7.1.17',
  forms: 'fns.b32 d, mask, base, offset',
  treatment: 'exact',
  decode(modifiers) {
    if (modifiers.type()?.name !== 'b32') return null;
    return pure(
      32,
      [32, 32, 32],
      'integer',
      bits((d, mask, base, offset) =>
        d.pure(
          'fns',
          32,
          [mask, base, offset].map((value) => ({ width: 32, value: value })),
        ),
      ),
    );
  },
};

const extractField: Row = {
  opcode: 'bfe',
  section: '9.7.1.19',
  forms: 'bfe.type d, a, b, c; .type = {.u32, .u64, .s32, .s64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (!isInteger(type) || type.bits < 32) return null;
    const width = type.bits as 32 | 64;
    const signed = type.kind === 'signed';
    return pure(
      width,
      [width, 32, 32],
      'integer',
      bits((d, a, b, c) => {
        // In 128 bits, any position (0 to 255, clamped at the width) plus any length fits, so that overlaps need no
        // cases.
        const position = fieldOperand(d, b);
        const length = fieldOperand(d, c);
        const value = signed ? d.signExtend(width, 128, a) : d.zeroExtend(width, 128, a);
        // Sign extension replicates bit `msb` beyond the end, which also defines a field past the end.
        const field = signed ? d.ashr(128, value, position) : d.lshr(128, value, position);
        const keep = d.sub(128, constantPattern(d, 128, 128), length);
        const high = d.shl(128, field, keep);
        return d.truncate(128, width, signed ? d.ashr(128, high, keep) : d.lshr(128, high, keep));
      }),
    );
  },
};

/** Bits 0 to 7 of a field's position or length, at most 64 past any width, as 128 bits below 128. */
function fieldOperand<V, B>(d: Domain<V, B>, a: V): V {
  const byte = d.and(32, a, constantPattern(d, 32, 0xff));
  return d.zeroExtend(32, 128, lesser(d, 32, false, byte, constantPattern(d, 32, 64)));
}

const insertField: Row = {
  opcode: 'bfi',
  section: '9.7.1.20',
  forms: 'bfi.type f, a, b, c, d; .type = {.b32, .b64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (type?.name !== 'b32' && type?.name !== 'b64') return null;
    const width = type.bits as Width;
    return pure(
      width,
      [width, width, 32, 32],
      'integer',
      bits((d, a, b, c, length) => {
        const mask = fieldMask(d, c, length);
        const field = d.shl(128, d.zeroExtend(width, 128, a), fieldOperand(d, c));
        const kept = d.and(128, d.zeroExtend(width, 128, b), d.not(128, mask));
        return d.truncate(128, width, d.or(128, d.and(128, field, mask), kept));
      }),
    );
  },
};

/** `length` ones from bit `position` up, in 128 bits. */
function fieldMask<V, B>(d: Domain<V, B>, position: V, length: V): V {
  const one = constantPattern(d, 128, 1);
  const ones = d.sub(128, d.shl(128, one, fieldOperand(d, length)), one);
  return d.shl(128, ones, fieldOperand(d, position));
}

const signOrZeroExtend: Row = {
  opcode: 'szext',
  section: '9.7.1.21',
  forms: 'szext.mode.type d, a, b; .mode = {.clamp, .wrap}; .type = {.u32, .s32}',
  treatment: 'exact',
  decode(modifiers) {
    const mode = modifiers.oneOf('clamp', 'wrap');
    const type = modifiers.type();
    if (!mode || !isInteger(type) || type.bits !== 32) return null;
    return pure(
      32,
      [32, 32],
      'integer',
      bits((d, a, b) => {
        const keep = d.sub(64, constantPattern(d, 64, 64), d.zeroExtend(32, 64, limitCount(d, mode, b)));
        const high = d.shl(64, d.zeroExtend(32, 64, a), keep);
        return d.truncate(64, 32, type.kind === 'signed' ? d.ashr(64, high, keep) : d.lshr(64, high, keep));
      }),
    );
  },
};

const bitMask: Row = {
  opcode: 'bmsk',
  section: '9.7.1.22',
  forms: 'bmsk.mode.b32 d, a, b; .mode = {.clamp, .wrap}',
  treatment: 'exact',
  decode(modifiers) {
    const mode = modifiers.oneOf('clamp', 'wrap');
    if (!mode || modifiers.type()?.name !== 'b32') return null;
    return pure(
      32,
      [32, 32],
      'integer',
      bits((d, a, b) => {
        const [position, length] = [a, b].map((value) => limitCount(d, mode, value));
        return d.truncate(128, 32, fieldMask(d, position!, length!));
      }),
    );
  },
};

/** A count of bits limited to 32, or taken modulo 32. */
function limitCount<V, B>(d: Domain<V, B>, mode: 'clamp' | 'wrap', count: V): V {
  return mode === 'clamp' ? lesser(d, 32, false, count, constantPattern(d, 32, 32)) : d.and(32, count, constantPattern(d, 32, 31));
}

/**
 * `dp4a`: the sum of four byte products and `c`; `dp2a`: the sum of two products, of a half of `a` and a byte of `b`,
 * and `c`.
 */
function dotProduct(opcode: 'dp4a' | 'dp2a', section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}${opcode === 'dp2a' ? '{.lo, .hi}' : ''}.atype.btype d, a, b, c; .atype = .btype = {.u32, .s32}`,
    treatment: 'exact',
    decode(modifiers) {
      const part = opcode === 'dp2a' ? modifiers.oneOf('lo', 'hi') : 'lo';
      const left = modifiers.type();
      const right = modifiers.type();
      if (!part || !isInteger(left) || !isInteger(right) || left.bits !== 32 || right.bits !== 32) return null;
      const terms = opcode === 'dp4a' ? 4 : 2;
      const leftWidth = (32 / terms) as 8 | 16;
      return pure(
        32,
        [32, 32, 32],
        'integer',
        bits((d, a, b, c) => {
          let sum = c;
          for (let term = 0; term < terms; term++) {
            const x = d.truncate(32, leftWidth, d.lshr(32, a, constantPattern(d, 32, term * leftWidth)));
            const y = d.truncate(32, 8, d.lshr(32, b, constantPattern(d, 32, (term + (part === 'hi' ? 2 : 0)) * 8)));
            const product = d.mul(
              32,
              extendOrTruncate(d, leftWidth, 32, left.kind === 'signed', x),
              extendOrTruncate(d, 8, 32, right.kind === 'signed', y),
            );
            sum = d.add(32, sum, product);
          }
          return sum;
        }),
      );
    },
  };
}

/** Sum with carry in and out: [sum, carry]. */
function addWithCarry<V, B>(d: Domain<V, B>, width: Width, a: V, b: V, carry: B | null): readonly [V, B] {
  const partial = d.add(width, a, b);
  const first = d.unsignedLess(width, partial, a);
  if (carry === null) return [partial, first];
  const sum = d.select(width, carry, d.add(width, partial, constantPattern(d, width, 1)), partial);
  return [sum, d.either(first, d.unsignedLess(width, sum, partial))];
}

/** `a - b - borrow`: [difference, borrow]. */
function subtractWithBorrow<V, B>(d: Domain<V, B>, width: Width, a: V, b: V, borrow: B | null): readonly [V, B] {
  const partial = d.sub(width, a, b);
  const first = d.unsignedLess(width, a, b);
  if (borrow === null) return [partial, first];
  const difference = d.select(width, borrow, d.sub(width, partial, constantPattern(d, width, 1)), partial);
  return [difference, d.either(first, d.unsignedLess(width, partial, difference))];
}

/** `add.cc`, `addc`, `addc.cc`, `sub.cc`, … (PTX ISA 9.7.2): the carry is the last source and the last result. */
function extended(opcode: 'add' | 'addc' | 'sub' | 'subc' | 'mad' | 'madc', section: string): Row {
  const carryIn = opcode.endsWith('c');
  const isMad = opcode.startsWith('mad');
  const form = `${opcode}${isMad ? '{.hi, .lo}' : ''}${carryIn ? '{.cc}' : '.cc'}.type d, a, b${isMad ? ', c' : ''}`;
  return {
    opcode,
    section,
    forms: `${form}; .type = {.u32, .s32, .u64, .s64}`,
    treatment: 'exact',
    decode(modifiers): Signature | null {
      const part = isMad ? modifiers.oneOf('lo', 'hi') : 'lo';
      const carryOut = modifiers.flag('cc');
      const type = modifiers.type();
      if (!part || (!carryIn && !carryOut)) return null;
      if (!isInteger(type) || type.bits < 32) return null;
      const width = type.bits as Width;
      const evaluate: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
        const carry = carryIn ? (sources.at(-1) as B) : null;
        const [a, b, c] = sources as readonly [V, V, V];
        const pair = isMad
          ? addWithCarry(d, width, halfProduct(d, part, width, type.kind === 'signed', a, b), c, carry)
          : opcode.startsWith('add')
            ? addWithCarry(d, width, a, b, carry)
            : subtractWithBorrow(d, width, a, b, carry);
        return carryOut ? pair : [pair[0]];
      };
      const operands: Width[] = isMad ? [width, width, width] : [width, width];
      return {
        results: carryOut ? [width, 'predicate'] : [width],
        sources: carryIn ? [...operands, 'predicate'] : operands,
        effect: pureEffect,
        cost: 'integer',
        carry: { in: carryIn, out: carryOut },
        evaluate,
      };
    },
  };
}

export const integerRows: readonly Row[] = [
  binary(
    'add',
    '9.7.1.1',
    'add.type d, a, b; add.sat.s32 d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64, .u16x2, .s16x2}',
    (d, width, _signed, a, b) => d.add(width, a, b),
  ),
  binary(
    'sub',
    '9.7.1.2',
    'sub.type d, a, b; sub.sat.s32 d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64, .u16x2, .s16x2}',
    (d, width, _signed, a, b) => d.sub(width, a, b),
  ),
  multiply,
  multiplyAdd,
  multiply24('mul24', '9.7.1.5'),
  multiply24('mad24', '9.7.1.6'),
  sumOfDifferences,
  binary(
    'div',
    '9.7.1.8',
    'div.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}',
    (d, width, signed, a, b) => (signed ? d.sdiv(width, a, b) : d.udiv(width, a, b)),
    'division by zero gives all ones (the ISA leaves it open)',
  ),
  binary(
    'rem',
    '9.7.1.9',
    'rem.type d, a, b; .type = {.u16, .u32, .u64, .s16, .s32, .s64}',
    (d, width, signed, a, b) => (signed ? d.srem(width, a, b) : d.urem(width, a, b)),
    'division by zero gives the dividend (the ISA leaves it open)',
  ),
  absolute,
  negate,
  binary(
    'min',
    '9.7.1.12',
    'min.type d, a, b; min{.relu}.btype d, a, b; .type = {.u16, .u32, .u64, .s64, .u16x2}; .btype = {.s16, .s16x2, .s32}',
    lesser,
  ),
  binary(
    'max',
    '9.7.1.13',
    'max.type d, a, b; max{.relu}.btype d, a, b; .type = {.u16, .u32, .u64, .s64, .u16x2}; .btype = {.s16, .s16x2, .s32}',
    greater,
  ),
  counted('popc', '9.7.1.14'),
  counted('clz', '9.7.1.15'),
  findLeadingBit,
  findNthSet,
  counted('brev', '9.7.1.18'),
  extractField,
  insertField,
  signOrZeroExtend,
  bitMask,
  dotProduct('dp4a', '9.7.1.23'),
  dotProduct('dp2a', '9.7.1.24'),
  extended('add', '9.7.2.1'),
  extended('addc', '9.7.2.2'),
  extended('sub', '9.7.2.3'),
  extended('subc', '9.7.2.4'),
  extended('mad', '9.7.2.5'),
  extended('madc', '9.7.2.6'),
];
