/** Scalar and SIMD video instructions on whole registers (PTX ISA 9.7.18). */
import type { Domain, Width } from './model/domain.ts';
import type { Rule } from './model/operation.ts';
import type { Modifiers, Row } from './model/row.ts';
import { clamp, constantPattern, less, greater, lesser } from './arithmetic/bit-arithmetic.ts';
import { bits, pure, uncomputed } from './model/row.ts';

type Sign = 'u32' | 's32';
type Lanes = 1 | 2 | 4;

/** Values are computed as signed numbers of 64 bits: no intermediate result needs more than 34 bits. */
const wide: Width = 64;

type Operation = 'add' | 'sub' | 'abs-difference' | 'minimum' | 'maximum' | 'average';

const operations: Readonly<Record<string, Operation>> = {
  vadd: 'add',
  vsub: 'sub',
  vabsdiff: 'abs-difference',
  vmin: 'minimum',
  vmax: 'maximum',
  vavrg: 'average',
};

function compute<V, B>(d: Domain<V, B>, operation: Operation, a: V, b: V): V {
  switch (operation) {
    case 'add':
      return d.add(wide, a, b);
    case 'sub':
      return d.sub(wide, a, b);
    case 'abs-difference':
      return d.sub(wide, greater(d, wide, true, a, b), lesser(d, wide, true, a, b));
    case 'minimum':
      return lesser(d, wide, true, a, b);
    case 'maximum':
      return greater(d, wide, true, a, b);
    case 'average': {
      // Halves are rounded away from zero.
      const sum = d.add(wide, a, b);
      const isNegative = d.signedLess(wide, sum, constantPattern(d, wide, 0));
      const rounded = d.select(wide, isNegative, sum, d.add(wide, sum, constantPattern(d, wide, 1)));
      return d.ashr(wide, rounded, constantPattern(d, wide, 1));
    }
  }
}

/** The lanes of a 32-bit register as wide numbers, lowest first. */
function split<V, B>(d: Domain<V, B>, lanes: Lanes, sign: Sign, a: V): V[] {
  const width = (32 / lanes) as Width;
  return Array.from({ length: lanes }, (_, lane) => {
    const part = lanes === 1 ? a : d.truncate(32, width, d.lshr(32, a, constantPattern(d, 32, lane * width)));
    return sign === 's32' ? d.signExtend(width, wide, part) : d.zeroExtend(width, wide, part);
  });
}

function saturated<V, B>(d: Domain<V, B>, lanes: Lanes, sign: Sign, a: V): V {
  return clamp(d, wide, true, (32 / lanes) as Width, sign === 's32', a);
}

/** Puts the low bits of the lanes together. */
function joinLanes<V, B>(d: Domain<V, B>, lanes: readonly V[]): V {
  const width = 32 / lanes.length;
  const mask = constantPattern(d, 32, 2 ** width - 1);
  return lanes
    .map((lane, index) => {
      const low = d.truncate(wide, 32, lane);
      return lanes.length === 1 ? low : d.shl(32, d.and(32, low, mask), constantPattern(d, 32, index * width));
    })
    .reduce((whole, lane) => d.or(32, whole, lane));
}

/** The secondary operation of a scalar instruction: `.add`, `.min` or `.max` with the third source. */
function combine<V, B>(d: Domain<V, B>, name: string | undefined, sign: Sign, value: V, c: V): V {
  if (!name) return value;
  const other = sign === 's32' ? d.signExtend(32, wide, c) : d.zeroExtend(32, wide, c);
  if (name === 'add') return d.add(wide, value, other);
  return name === 'min' ? lesser(d, wide, true, value, other) : greater(d, wide, true, value, other);
}

function takeSign(modifiers: Modifiers): Sign | undefined {
  return modifiers.oneOf('u32', 's32');
}

const selectors = 'a part of a register as destination, with a mask or a merge, is opaque';
const secondary = ['add', 'min', 'max'] as const;

function scalar(opcode: string): Row {
  const operation = operations[opcode]!;
  return {
    opcode,
    section: '9.7.18.1.1',
    forms: `${opcode}.dtype.atype.btype{.sat} d, a, b; ${opcode}.dtype.atype.btype{.sat}.op2 d, a, b, c; .dtype = .atype = .btype = {.u32, .s32}; .op2 = {.add, .min, .max}`,
    treatment: 'exact',
    decode(modifiers) {
      const [result, left, right] = [takeSign(modifiers), takeSign(modifiers), takeSign(modifiers)];
      const saturate = modifiers.flag('sat');
      const second = modifiers.oneOf(...secondary);
      if (!result || !left || !right) return null;
      const evaluate: Rule = bits((d, a, b, c) => {
        const value = compute(d, operation, split(d, 1, left, a)[0]!, split(d, 1, right, b)[0]!);
        const limited = saturate ? saturated(d, 1, result, value) : value;
        return d.truncate(wide, 32, combine(d, second, result, limited, c));
      });
      return pure(32, second ? [32, 32, 32] : [32, 32], 'integer', evaluate);
    },
  };
}

function shiftScalar(opcode: 'vshl' | 'vshr'): Row {
  return {
    opcode,
    section: '9.7.18.1.2',
    forms: `${opcode}.dtype.atype.u32{.sat}.mode d, a, b; ${opcode}.dtype.atype.u32{.sat}.mode.op2 d, a, b, c; .mode = {.clamp, .wrap}`,
    treatment: 'exact',
    decode(modifiers) {
      const [result, left] = [takeSign(modifiers), takeSign(modifiers)];
      const amount = modifiers.flag('u32');
      const saturate = modifiers.flag('sat');
      const mode = modifiers.oneOf('clamp', 'wrap');
      const second = modifiers.oneOf(...secondary);
      if (!result || !left || !amount || !mode) return null;
      const evaluate: Rule = bits((d, a, b, c) => {
        const count = mode === 'wrap' ? d.and(32, b, constantPattern(d, 32, 31)) : lesser(d, 32, false, b, constantPattern(d, 32, 32));
        const value = split(d, 1, left, a)[0]!;
        const shifted = d[opcode === 'vshl' ? 'shl' : 'ashr'](wide, value, d.zeroExtend(32, wide, count));
        const limited = saturate ? saturated(d, 1, result, shifted) : shifted;
        return d.truncate(wide, 32, combine(d, second, result, limited, c));
      });
      return pure(32, second ? [32, 32, 32] : [32, 32], 'integer', evaluate);
    },
  };
}

const multiplyAdd: Row = {
  opcode: 'vmad',
  section: '9.7.18.1.3',
  forms: 'vmad.dtype.atype.btype{.po}{.sat}{.scale} d, a, b, c; .scale = {.shr7, .shr15}',
  treatment: 'exact',
  remark: 'saturating forms are unknown values',
  decode(modifiers) {
    const [result, left, right] = [takeSign(modifiers), takeSign(modifiers), takeSign(modifiers)];
    const plusOne = modifiers.flag('po');
    const saturate = modifiers.flag('sat');
    const scale = modifiers.oneOf('shr7', 'shr15');
    // With negated sources the result would be signed, which the operands do not determine.
    if (!result || !left || !right || saturate) return null;
    const isSigned = left === 's32' || right === 's32';
    const evaluate: Rule = bits((d, a, b, c) => {
      const extend = (sign: boolean, value: typeof a): typeof a => (sign ? d.signExtend(32, 128, value) : d.zeroExtend(32, 128, value));
      const product = d.mul(128, extend(left === 's32', a), extend(right === 's32', b));
      const sum = d.add(128, d.add(128, product, extend(isSigned, c)), constantPattern(d, 128, plusOne ? 1 : 0));
      const amount = constantPattern(d, 128, scale === 'shr7' ? 7 : scale === 'shr15' ? 15 : 0);
      return d.truncate(128, 32, d.ashr(128, sum, amount));
    });
    return pure(32, [32, 32, 32], 'integer', evaluate);
  },
};

const comparisons = ['eq', 'ne', 'lt', 'le', 'gt', 'ge'] as const;

function compare<V, B>(d: Domain<V, B>, name: (typeof comparisons)[number], a: V, b: V): B {
  switch (name) {
    case 'eq':
      return d.equal(wide, a, b);
    case 'ne':
      return d.negate(d.equal(wide, a, b));
    case 'lt':
      return less(d, wide, true, a, b);
    case 'le':
      return d.negate(less(d, wide, true, b, a));
    case 'gt':
      return less(d, wide, true, b, a);
    case 'ge':
      return d.negate(less(d, wide, true, a, b));
  }
}

function truthValue<V, B>(d: Domain<V, B>, truth: B): V {
  return d.select(wide, truth, constantPattern(d, wide, 1), constantPattern(d, wide, 0));
}

const setScalar: Row = {
  opcode: 'vset',
  section: '9.7.18.1.4',
  forms: 'vset.atype.btype.cmp d, a, b; vset.atype.btype.cmp.op2 d, a, b, c; .cmp = {.eq, .ne, .lt, .le, .gt, .ge}',
  treatment: 'exact',
  decode(modifiers) {
    const [left, right] = [takeSign(modifiers), takeSign(modifiers)];
    const comparison = modifiers.oneOf(...comparisons);
    const second = modifiers.oneOf(...secondary);
    if (!left || !right || !comparison) return null;
    const evaluate: Rule = bits((d, a, b, c) => {
      const truth = truthValue(d, compare(d, comparison, split(d, 1, left, a)[0]!, split(d, 1, right, b)[0]!));
      return d.truncate(wide, 32, combine(d, second, 'u32', truth, c));
    });
    return pure(32, second ? [32, 32, 32] : [32, 32], 'integer', evaluate);
  },
};

/** Adds the lanes to the third source, or concatenates them. */
function gather<V, B>(d: Domain<V, B>, accumulate: boolean, lanes: readonly V[], c: V): V {
  if (!accumulate) return joinLanes(d, lanes);
  return lanes.map((lane) => d.truncate(wide, 32, lane)).reduce((sum, lane) => d.add(32, sum, lane), c);
}

function packed(opcode: string, lanes: 2 | 4): Row {
  const operation = operations[opcode]!;
  return {
    opcode: `${opcode}${lanes}`,
    section: lanes === 2 ? '9.7.18.2.1' : '9.7.18.2.3',
    forms: `${opcode}${lanes}.dtype.atype.btype{.sat} d, a, b, c; ${opcode}${lanes}.dtype.atype.btype.add d, a, b, c`,
    treatment: 'exact',
    decode(modifiers) {
      const [result, left, right] = [takeSign(modifiers), takeSign(modifiers), takeSign(modifiers)];
      const saturate = modifiers.flag('sat');
      const accumulate = modifiers.flag('add');
      if (!result || !left || !right || (saturate && accumulate)) return null;
      const evaluate: Rule = bits((d, a, b, c) => {
        const others = split(d, lanes, right, b);
        const values = split(d, lanes, left, a).map((value, lane) => {
          const computed = compute(d, operation, value, others[lane]!);
          return saturate ? saturated(d, lanes, result, computed) : computed;
        });
        return gather(d, accumulate, values, c);
      });
      return pure(32, [32, 32, 32], 'integer', evaluate);
    },
  };
}

function setPacked(lanes: 2 | 4): Row {
  return {
    opcode: `vset${lanes}`,
    section: lanes === 2 ? '9.7.18.2.2' : '9.7.18.2.4',
    forms: `vset${lanes}.atype.btype.cmp d, a, b, c; vset${lanes}.atype.btype.cmp.add d, a, b, c`,
    treatment: 'exact',
    decode(modifiers) {
      const [left, right] = [takeSign(modifiers), takeSign(modifiers)];
      const comparison = modifiers.oneOf(...comparisons);
      const accumulate = modifiers.flag('add');
      if (!left || !right || !comparison) return null;
      const evaluate: Rule = bits((d, a, b, c) => {
        const others = split(d, lanes, right, b);
        const truths = split(d, lanes, left, a).map((value, lane) => truthValue(d, compare(d, comparison, value, others[lane]!)));
        return gather(d, accumulate, truths, c);
      });
      return pure(32, [32, 32, 32], 'integer', evaluate);
    },
  };
}

/** A row for forms that select parts of a register. */
function selecting(opcode: string, section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode} with parts of a register as sources: .b0 … .b3, .h0, .h1, .hxy, .bxyzw`,
    treatment: 'havoc',
    remark: selectors,
    decode(modifiers, shape) {
      modifiers.rest();
      // A result that is part of a register is not supported here.
      if (shape?.[0]?.kind === 'other') return null;
      return uncomputed(shape, 1, { kind: 'havoc', reason: 'video instruction' }, 'integer');
    },
  };
}

const scalars = ['vadd', 'vsub', 'vabsdiff', 'vmin', 'vmax'];
const vectors = [...scalars.slice(0, 2), 'vavrg', ...scalars.slice(2)];

export const videoRows: readonly Row[] = [
  ...scalars.flatMap((opcode) => [scalar(opcode), selecting(opcode, '9.7.18.1.1')]),
  ...(['vshl', 'vshr'] as const).flatMap((opcode) => [shiftScalar(opcode), selecting(opcode, '9.7.18.1.2')]),
  multiplyAdd,
  selecting('vmad', '9.7.18.1.3'),
  setScalar,
  selecting('vset', '9.7.18.1.4'),
  ...([2, 4] as const).flatMap((lanes) => [
    ...vectors.flatMap((opcode) => [packed(opcode, lanes), selecting(`${opcode}${lanes}`, lanes === 2 ? '9.7.18.2.1' : '9.7.18.2.3')]),
    setPacked(lanes),
    selecting(`vset${lanes}`, lanes === 2 ? '9.7.18.2.2' : '9.7.18.2.4'),
  ]),
];
