/** Floating-point arithmetic on `f32`, pairs of it, and `f64` (PTX ISA 9.7.3). */
import type { Domain, FloatFormat, FloatOperation, Width } from './model/domain.ts';
import type { CostClass, Rule } from './model/operation.ts';
import type { Modifiers, OperandShape, Row, Signature, TypeInformation } from './model/row.ts';
import { constantPattern, packed } from './arithmetic/bit-arithmetic.ts';
import { bits, pure } from './model/row.ts';

export const floatRoundings = ['rn', 'rz', 'rm', 'rp'] as const;

function takeFloat(modifiers: Modifiers): TypeInformation | null {
  const type = modifiers.type();
  return type?.name === 'f32' || type?.name === 'f64' ? type : null;
}

/** Reads the type: `f32`, `f64`, and `f32x2` of sm_100. */
function takePackable(modifiers: Modifiers): TypeInformation | null {
  const type = modifiers.type();
  return type?.name === 'f32' || type?.name === 'f64' || type?.name === 'f32x2' ? type : null;
}

function costOf(type: TypeInformation, cost: CostClass): CostClass {
  return type.name === 'f64' ? 'double' : cost;
}

/**
 * Applies `operation` to values of `type`, lane by lane.
 * @param arity number of sources
 */
export function computeLanes(
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

/** `add sub mul fma mad`: rounding `rn` if unspecified. */
function arithmetic(opcode: 'add' | 'sub' | 'mul' | 'fma' | 'mad', section: string): Row {
  const isFused = opcode === 'fma' || opcode === 'mad';
  const operands = isFused ? 'd, a, b, c' : 'd, a, b';
  return {
    opcode,
    section,
    forms: `${opcode}{.rnd}{.ftz}{.sat}.f32 ${operands}; ${opcode}{.rnd}.f64 ${operands}; ${opcode}{.rnd}{.ftz}.f32x2 ${operands}; .rnd = {.rn, .rz, .rm, .rp}`,
    treatment: 'exact',
    ...(opcode === 'mad' && { remark: 'the same as fma, as on every target since sm_20' }),
    decode(modifiers) {
      const rounding = modifiers.oneOf(...floatRoundings) ?? 'rn';
      const ftz = modifiers.flag('ftz');
      const saturate = modifiers.flag('sat');
      const type = takePackable(modifiers);
      if (!type) return null;
      return computeLanes(type, isFused ? 3 : 2, { name: isFused ? 'fma' : opcode, rounding, ftz, saturate }, 'float');
    },
  };
}

/** `min` and `max`, with two or three sources; `.NaN` propagates NaN, `.xorsign.abs` compares magnitudes. */
function extremum(opcode: 'min' | 'max', section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}{.ftz}{.NaN}{.xorsign.abs}.f32 d, a, b; ${opcode}{.ftz}{.NaN}{.abs}.f32 d, a, b, c; ${opcode}.f64 d, a, b`,
    treatment: 'exact',
    decode(modifiers, shape) {
      const ftz = modifiers.flag('ftz');
      const name = takeExtremum(opcode, modifiers, shape);
      const type = takeFloat(modifiers);
      if (!type || !name) return null;
      const operation = { name, rounding: 'none', ftz, saturate: false };
      if (shape?.length !== 4) return computeLanes(type, 2, operation, 'float');
      if (type.name !== 'f32') return null;
      const full: FloatOperation = { ...operation, from: 'f32', to: 'f32' };
      return pure(
        32,
        [32, 32, 32],
        'float',
        bits((d, a, b, c) => d.float(full, [d.float(full, [a, b]), c])),
      );
    },
  };
}

/** The name of a minimum or maximum for the domain, or null if the modifiers form none. */
export function takeExtremum(opcode: 'min' | 'max', modifiers: Modifiers, shape: OperandShape | undefined): string | null {
  const nan = modifiers.flag('NaN') ? '.nan' : '';
  const xorsign = modifiers.flag('xorsign');
  const absolute = modifiers.flag('abs');
  const isThree = shape?.length === 4;
  if (isThree ? xorsign : absolute !== xorsign) return null;
  return `${opcode}${nan}${xorsign ? '.xorsign' : ''}${absolute ? '.abs' : ''}`;
}

function sign(opcode: 'abs' | 'neg', section: string): Row {
  return {
    opcode,
    section,
    forms: `${opcode}{.ftz}.f32 d, a; ${opcode}.f64 d, a`,
    treatment: 'exact',
    remark: 'a NaN keeps its payload; only its sign bit changes',
    decode(modifiers) {
      const ftz = modifiers.flag('ftz');
      const type = takeFloat(modifiers);
      return type ? computeLanes(type, 1, { name: opcode, rounding: 'none', ftz, saturate: false }, 'float') : null;
    },
  };
}

/** `div rcp sqrt` correctly rounded. */
function division(opcode: 'div' | 'rcp' | 'sqrt', section: string): Row {
  const operands = opcode === 'div' ? 'd, a, b' : 'd, a';
  return {
    opcode,
    section,
    forms: `${opcode}.rnd{.ftz}.f32 ${operands}; ${opcode}.rnd.f64 ${operands}; .rnd = {.rn, .rz, .rm, .rp}`,
    treatment: 'exact',
    decode(modifiers) {
      const rounding = modifiers.oneOf(...floatRoundings);
      const ftz = modifiers.flag('ftz');
      const type = takeFloat(modifiers);
      if (!type || !rounding) return null;
      return computeLanes(type, opcode === 'div' ? 2 : 1, { name: opcode, rounding, ftz, saturate: false }, 'special');
    },
  };
}

type Approximation = 'div' | 'rcp' | 'sqrt' | 'rsqrt' | 'sin' | 'cos' | 'lg2' | 'ex2' | 'tanh';

/** Approximations for which the ISA only bounds the error. */
function approximate(
  opcode: Approximation,
  section: string,
  precision: 'f32' | 'f64',
  remark: string,
  modes: readonly string[] = ['approx'],
): Row {
  const operands = opcode === 'div' ? 'd, a, b' : 'd, a';
  return {
    opcode,
    section,
    forms: modes.map((mode) => `${opcode}.${mode}${precision === 'f32' ? '{.ftz}' : ''}.${precision} ${operands}`).join('; '),
    treatment: 'approximate',
    remark,
    decode(modifiers) {
      const rounding = modifiers.oneOf(...modes);
      const ftz = precision === 'f32' && modifiers.flag('ftz');
      const type = modifiers.type();
      if (!rounding || type?.name !== precision) return null;
      return computeLanes(type, opcode === 'div' ? 2 : 1, { name: opcode, rounding, ftz, saturate: false }, 'special');
    },
  };
}

/** The upper word of a double, the only part that the gross approximations read and write. */
const upperWord = 0xffffffff00000000n;

/** `rcp.approx.ftz.f64` and `rsqrt.approx.ftz.f64`. */
function grossApproximation(opcode: 'rcp' | 'rsqrt', section: string): Row {
  const operation = { name: opcode, from: 'f64', to: 'f64', rounding: 'approx', ftz: true, saturate: false };
  return {
    opcode,
    section,
    forms: `${opcode}.approx.ftz.f64 d, a`,
    treatment: 'approximate',
    remark: 'of the upper word of the source, cut to an upper word; the error is not stated',
    decode(modifiers) {
      if (!modifiers.flag('approx') || !modifiers.flag('ftz') || modifiers.type()?.name !== 'f64') return null;
      return pure(
        64,
        [64],
        'special',
        bits((d, a) => {
          const mask = d.constant(64, upperWord);
          return d.and(64, d.float(operation, [d.and(64, a, mask)]), mask);
        }),
      );
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
  section: '9.7.3.2',
  forms: 'copysign.type d, a, b; .type = {.f32, .f64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (type?.name !== 'f32' && type?.name !== 'f64') return null;
    const width = type.bits as Width;
    const { sign: mask } = fieldsOf(type.name);
    return pure(
      width,
      [width, width],
      costOf(type, 'float'),
      bits((d, a, b) => d.or(width, d.and(width, a, d.constant(width, mask)), d.and(width, b, d.not(width, d.constant(width, mask))))),
    );
  },
};

const classes = ['finite', 'infinite', 'number', 'notanumber', 'normal', 'subnormal'] as const;

const testProperty: Row = {
  opcode: 'testp',
  section: '9.7.3.1',
  forms: 'testp.op.type p, a; .op = {.finite, .infinite, .number, .notanumber, .normal, .subnormal}; .type = {.f32, .f64}',
  treatment: 'exact',
  decode(modifiers) {
    const wanted = modifiers.oneOf(...classes);
    const type = modifiers.type();
    if (!wanted || (type?.name !== 'f32' && type?.name !== 'f64')) return null;
    const width = type.bits as Width;
    const { exponent, fraction } = fieldsOf(type.name);
    const evaluate: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const masked = (mask: bigint): V => d.and(width, sources[0] as V, d.constant(width, mask));
      const zero = constantPattern(d, width, 0);
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
  testProperty,
  copySign,
  arithmetic('add', '9.7.3.3'),
  arithmetic('sub', '9.7.3.4'),
  arithmetic('mul', '9.7.3.5'),
  arithmetic('fma', '9.7.3.6'),
  arithmetic('mad', '9.7.3.7'),
  division('div', '9.7.3.8'),
  approximate('div', '9.7.3.8', 'f32', 'at most 2 ulp (approx: for 2^-126 <= |b| <= 2^126)', ['approx', 'full']),
  sign('abs', '9.7.3.9'),
  sign('neg', '9.7.3.10'),
  extremum('min', '9.7.3.11'),
  extremum('max', '9.7.3.12'),
  division('rcp', '9.7.3.13'),
  approximate('rcp', '9.7.3.13', 'f32', 'at most 1 ulp'),
  grossApproximation('rcp', '9.7.3.14'),
  division('sqrt', '9.7.3.15'),
  approximate('sqrt', '9.7.3.15', 'f32', 'relative error at most 2^-23'),
  approximate('rsqrt', '9.7.3.16', 'f32', 'relative error at most 2^-22.9'),
  approximate('rsqrt', '9.7.3.16', 'f64', 'the error is not stated'),
  grossApproximation('rsqrt', '9.7.3.17'),
  approximate('sin', '9.7.3.18', 'f32', 'absolute error at most 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]'),
  approximate('cos', '9.7.3.19', 'f32', 'absolute error at most 2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]'),
  approximate('lg2', '9.7.3.20', 'f32', 'error at most 2^-22, absolute in (0.5, 2), relative elsewhere'),
  approximate('ex2', '9.7.3.21', 'f32', 'at most 2 ulp'),
  approximate('tanh', '9.7.3.22', 'f32', 'relative error at most 2^-11'),
];
