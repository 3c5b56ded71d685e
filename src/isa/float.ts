/** Floating-point arithmetic in all precisions (PTX ISA 9.7.3 to 9.7.5). */
import type { Domain, FloatFormat, FloatOperation, Width } from './domain.ts';
import type { CostClass, Rule } from './operation.ts';
import type { Modifiers, Row, Signature, TypeInformation } from './row.ts';
import { constant, packed } from './bit-arithmetic.ts';
import { bits, pure } from './row.ts';

const section = '9.7.3';

const roundings = ['rn', 'rz', 'rm', 'rp'] as const;

function takeFloat(modifiers: Modifiers): TypeInformation | null {
  const type = modifiers.type();
  return type?.kind === 'float' && type.name !== 'tf32' && type.name !== 'f64x2' ? type : null;
}

function costOf(type: TypeInformation, cost: CostClass): CostClass {
  return type.name === 'f64' ? 'double' : cost;
}

/** `operation` on values of `type`, lane by lane. */
function compute(
  type: TypeInformation,
  arity: number,
  operation: Omit<FloatOperation, 'from' | 'to'>,
  cost: CostClass,
): Signature {
  const width = type.bits as Width;
  const format = type.lanes === 2 ? type.name.slice(0, -2) : type.name;
  const full: FloatOperation = { ...operation, from: format, to: format };
  const sources = Array.from({ length: arity }, () => width);
  return pure(
    width,
    sources,
    costOf(type, cost),
    bits((d, ...values) =>
      type.lanes === 1 ? d.float(full, values) : packed(d, width as 32 | 64, values, (...lane) => d.float(full, lane)),
    ),
  );
}

/** `add sub mul fma mad`: rounding `rn` where none is written. */
function arithmetic(opcode: 'add' | 'sub' | 'mul' | 'fma' | 'mad'): Row {
  const isFused = opcode === 'fma' || opcode === 'mad';
  return {
    opcode,
    section,
    decode(modifiers) {
      const rounding = modifiers.oneOf(...roundings) ?? 'rn';
      const ftz = modifiers.flag('ftz');
      const saturate = modifiers.flag('sat');
      const relu = isFused && modifiers.flag('relu');
      const outOfBounds = isFused && modifiers.flag('oob');
      const type = takeFloat(modifiers);
      if (!type || outOfBounds) return null;
      const name = isFused ? (relu ? 'fma.relu' : 'fma') : opcode;
      return compute(type, isFused ? 3 : 2, { name, rounding, ftz, saturate }, 'float');
    },
  };
}

/** `min` and `max`, with two or three sources; `.NaN` hands NaN on, `.xorsign.abs` works on magnitudes. */
function extremum(opcode: 'min' | 'max'): Row {
  return {
    opcode,
    section,
    decode(modifiers, shape) {
      const ftz = modifiers.flag('ftz');
      const nan = modifiers.flag('NaN');
      const xorsign = modifiers.flag('xorsign');
      if (modifiers.flag('abs') !== xorsign) return null;
      const type = takeFloat(modifiers);
      if (!type) return null;
      const name = `${opcode}${nan ? '.nan' : ''}${xorsign ? '.xorsign.abs' : ''}`;
      return compute(type, shape?.length === 4 ? 3 : 2, { name, rounding: 'none', ftz, saturate: false }, 'float');
    },
  };
}

function sign(opcode: 'abs' | 'neg'): Row {
  return {
    opcode,
    section,
    decode(modifiers) {
      const ftz = modifiers.flag('ftz');
      const type = takeFloat(modifiers);
      return type ? compute(type, 1, { name: opcode, rounding: 'none', ftz, saturate: false }, 'float') : null;
    },
  };
}

/** `div rcp sqrt`: correctly rounded, `approx` or `full`. */
function division(opcode: 'div' | 'rcp' | 'sqrt'): Row {
  return {
    opcode,
    section,
    decode(modifiers) {
      const rounding = modifiers.oneOf(...roundings, 'approx', 'full');
      const ftz = modifiers.flag('ftz');
      const type = takeFloat(modifiers);
      if (!type || !rounding || type.lanes !== 1 || type.bits < 32) return null;
      return compute(type, opcode === 'div' ? 2 : 1, { name: opcode, rounding, ftz, saturate: false }, 'special');
    },
  };
}

/** Approximations without a rounding. */
function approximate(opcode: 'rsqrt' | 'sin' | 'cos' | 'lg2' | 'ex2' | 'tanh'): Row {
  return {
    opcode,
    section,
    decode(modifiers) {
      if (!modifiers.flag('approx')) return null;
      const ftz = modifiers.flag('ftz');
      const type = takeFloat(modifiers);
      return type ? compute(type, 1, { name: opcode, rounding: 'approx', ftz, saturate: false }, 'special') : null;
    },
  };
}

interface Fields {
  readonly exponent: bigint;
  readonly fraction: bigint;
  readonly sign: bigint;
}

/** Masks of the fields of a pattern. */
function fieldsOf(format: FloatFormat): Fields {
  return format === 'f64'
    ? { exponent: 0x7ff0000000000000n, fraction: 0x000fffffffffffffn, sign: 0x8000000000000000n }
    : { exponent: 0x7f800000n, fraction: 0x007fffffn, sign: 0x80000000n };
}

/** `copysign d, a, b`: the sign of `a` on the magnitude of `b`. */
const copySign: Row = {
  opcode: 'copysign',
  section,
  decode(modifiers) {
    const type = modifiers.type();
    if (type?.name !== 'f32' && type?.name !== 'f64') return null;
    const width = type.bits as Width;
    const { sign: mask } = fieldsOf(type.name);
    return pure(
      width,
      [width, width],
      costOf(type, 'float'),
      bits((d, a, b) =>
        d.or(width, d.and(width, a, d.constant(width, mask)), d.and(width, b, d.not(width, d.constant(width, mask)))),
      ),
    );
  },
};

const classes = ['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'] as const;

const testProperty: Row = {
  opcode: 'testp',
  section,
  decode(modifiers) {
    const wanted = modifiers.oneOf(...classes);
    const type = modifiers.type();
    if (!wanted || (type?.name !== 'f32' && type?.name !== 'f64')) return null;
    const width = type.bits as Width;
    const { exponent, fraction } = fieldsOf(type.name);
    const evaluate: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const masked = (mask: bigint): V => d.and(width, sources[0] as V, d.constant(width, mask));
      const zero = constant(d, width, 0);
      const top = d.equal(width, masked(exponent), d.constant(width, exponent));
      const bottom = d.equal(width, masked(exponent), zero);
      const whole = d.equal(width, masked(fraction), zero);
      switch (wanted) {
        case 'finite':
          return [d.negate(top)];
        case 'infinite':
          return [d.both(top, whole)];
        case 'number':
          return [d.negate(d.both(top, d.negate(whole)))];
        case 'notanumber':
          return [d.both(top, d.negate(whole))];
        case 'normal':
          return [d.both(d.negate(top), d.negate(bottom))];
        case 'subnormal':
          return [d.both(bottom, d.negate(whole))];
      }
    };
    return pure('predicate', [width], costOf(type, 'float'), evaluate);
  },
};

export const floatRows: readonly Row[] = [
  arithmetic('add'),
  arithmetic('sub'),
  arithmetic('mul'),
  arithmetic('fma'),
  arithmetic('mad'),
  extremum('min'),
  extremum('max'),
  sign('abs'),
  sign('neg'),
  division('div'),
  division('rcp'),
  division('sqrt'),
  approximate('rsqrt'),
  approximate('sin'),
  approximate('cos'),
  approximate('lg2'),
  approximate('ex2'),
  approximate('tanh'),
  copySign,
  testProperty,
];
