/** Moves, permutes, conversions of values and of addresses (PTX ISA 9.7.9). */
import type { Domain, Width } from './model/domain.ts';
import type { Rule, ValueType } from './model/operation.ts';
import type { OperandShape, Row, Signature, TypeInformation } from './model/row.ts';
import { clamp, concatenate, constantPattern, joinHalves, extendOrTruncate } from './arithmetic/bit-arithmetic.ts';
import { addressWidth, bits, pure, pureEffect, relaxedWidth } from './model/row.ts';

/** Widths of the elements of a vector operand of `whole` bits in total; elements `_` share the remaining bits. */
function elementWidths(shape: OperandShape, index: number, whole: number): readonly Width[] | null {
  const widths = shape[index]!.widths;
  const each = (whole / widths.length) as Width;
  if (![2, 4].includes(widths.length) || each < 8 || widths.some((width) => width !== null && width !== each)) return null;
  return widths.map(() => each);
}

/** `mov` of registers, constants and addresses. */
const move: Row = {
  opcode: 'mov',
  section: '9.7.9.3',
  forms:
    'mov.type d, a; .type = {.pred, .b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}; a: register, constant, variable, function, label',
  treatment: 'exact',
  remark: 'the address of a function is an unknown value',
  decode(modifiers, shape) {
    const type = modifiers.type();
    // The assembler also accepts vector braces around a single register.
    if (!type || type.lanes !== 1 || shape?.some(({ kind, widths }) => kind === 'vector' && widths.length !== 1)) return null;
    if (type.kind === 'predicate') return pure('predicate', ['predicate'], 'free', (_d, [a]) => [a!]);
    const width = type.bits as Width;
    return pure(width, [width], 'free', (_d, [a]) => [a!]);
  },
};

/** `mov` of each element of a vector. */
const moveVector: Row = {
  opcode: 'mov',
  section: '9.7.9.3',
  forms: 'mov.vec.type {d, …}, {a, …}; .vec = {.v2, .v4}; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}',
  treatment: 'exact',
  decode(modifiers, shape) {
    const vector = modifiers.oneOf('v2', 'v4');
    const type = modifiers.type();
    if (!vector || !type || type.lanes !== 1 || type.kind === 'predicate') return null;
    const count = Number(vector.slice(1));
    if (shape?.some(({ kind, widths }) => kind !== 'vector' || widths.length !== count)) return null;
    const widths = Array.from({ length: count }, () => type.bits as Width);
    return { results: widths, sources: widths, effect: pureEffect, cost: 'free', evaluate: (_d, values) => values };
  },
};

/** Packing `mov.b32 d, {a, b}` and unpacking `mov.b32 {a, b}, d`. */
const movePacked: Row = {
  opcode: 'mov',
  section: '9.7.9.4',
  forms: 'mov.type d, {a, …}; mov.type {d, …}, a; .type = {.b16, .b32, .b64, .b128}',
  treatment: 'exact',
  decode(modifiers, shape) {
    const type = modifiers.type();
    if (!type || type.lanes !== 1 || type.kind !== 'bits') return null;
    const width = type.bits as Width;
    if (shape?.[0]?.kind === 'vector') {
      const widths = elementWidths(shape, 0, width);
      if (!widths) return null;
      const unpack: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) =>
        widths.map((part, index) => d.truncate(width, part, d.lshr(width, sources[0] as V, constantPattern(d, width, index * part))));
      return { results: widths, sources: [width], effect: pureEffect, cost: 'integer', evaluate: unpack };
    }
    const widths = shape?.[1]?.kind === 'vector' ? elementWidths(shape, 1, width) : null;
    if (!widths) return null;
    return pure(
      width,
      widths,
      'integer',
      bits((d, ...parts) => concatenate(d, width, parts, widths[0]!)),
    );
  },
};

const integerRoundings = ['rni', 'rzi', 'rmi', 'rpi'] as const;
const floatRoundings = ['rn', 'rz', 'rm', 'rp', 'rna'] as const;

function isInteger(type: TypeInformation): boolean {
  return (type.kind === 'unsigned' || type.kind === 'signed') && type.lanes === 1 && type.bits <= 64;
}

/** `cvt`. Registers may be wider than the types: a source is truncated, a result extended according to its type. */
const convert: Row = {
  opcode: 'cvt',
  section: '9.7.9.21',
  forms:
    'cvt{.irnd}{.ftz}{.sat}.dtype.atype d, a; cvt{.frnd}{.ftz}{.sat}.dtype.atype d, a; cvt.frnd2{.relu}{.satfinite}.htype.f32 d, a; cvt.frnd2{.relu}{.satfinite}.ptype.f32 d, a, b; .irnd = {.rni, .rzi, .rmi, .rpi}; .frnd = {.rn, .rz, .rm, .rp}; .frnd2 = {.rn, .rz, .rna}; .htype = {.f16, .bf16, .tf32}; .ptype = {.f16x2, .bf16x2}; .dtype = .atype = {.u8, .u16, .u32, .u64, .s8, .s16, .s32, .s64, .f16, .bf16, .f32, .f64}',
  treatment: 'exact',
  decode(modifiers, shape) {
    const integerRounding = modifiers.oneOf(...integerRoundings);
    const rounding = modifiers.oneOf(...floatRoundings);
    const ftz = modifiers.flag('ftz');
    const saturate = modifiers.flag('sat');
    const relu = modifiers.flag('relu');
    const satfinite = modifiers.flag('satfinite');
    const to = modifiers.type();
    const from = modifiers.type();
    if (!to || !from || from.lanes !== 1 || to.kind === 'predicate' || from.kind === 'predicate') return null;
    const name = `cvt${relu ? '.relu' : ''}${satfinite ? '.satfinite' : ''}`;
    if (to.lanes === 2) {
      return from.name === 'f32' && to.bits === 32 && rounding && !integerRounding && !ftz
        ? convertPair(to, rounding, saturate, name)
        : null;
    }
    const resultWidth = relaxedWidth(shape, 0, to.bits as Width);
    const sourceWidth = relaxedWidth(shape, 1, from.bits as Width);
    if (!resultWidth || !sourceWidth) return null;
    if (name !== 'cvt' && (from.name !== 'f32' || !/^(b?f16|tf32)$/.test(to.name))) return null;
    const source = <V, B>(d: Domain<V, B>, a: V): V => extendOrTruncate(d, sourceWidth, from.bits as Width, false, a);
    const result = <V, B>(d: Domain<V, B>, a: V): V => extendOrTruncate(d, to.bits as Width, resultWidth, to.kind === 'signed', a);
    if (isInteger(to) && isInteger(from)) {
      if (integerRounding || rounding || ftz) return null;
      return convertIntegers(to, from, saturate, resultWidth, sourceWidth, source, result);
    }
    const bothFloat = to.kind === 'float' && from.kind === 'float';
    if (!bothFloat && !(to.kind === 'float' && isInteger(from)) && !(from.kind === 'float' && isInteger(to))) return null;
    if (integerRounding && rounding) return null;
    const operation = {
      name,
      from: from.name,
      to: to.name,
      rounding: integerRounding ?? rounding ?? 'none',
      ftz,
      saturate,
    };
    return pure(
      resultWidth,
      [sourceWidth],
      'convert',
      bits((d, a) => result(d, d.float(operation, [source(d, a)]))),
    );
  },
};

function convertIntegers(
  to: TypeInformation,
  from: TypeInformation,
  saturate: boolean,
  resultWidth: Width,
  sourceWidth: Width,
  source: <V, B>(d: Domain<V, B>, a: V) => V,
  result: <V, B>(d: Domain<V, B>, a: V) => V,
): Signature {
  const fromWidth = from.bits as Width;
  const toWidth = to.bits as Width;
  const fromSigned = from.kind === 'signed';
  return pure(
    resultWidth,
    [sourceWidth],
    'convert',
    bits((d, a) => {
      const cut = source(d, a);
      const limited = saturate ? clamp(d, fromWidth, fromSigned, toWidth, to.kind === 'signed', cut) : cut;
      return result(d, extendOrTruncate(d, fromWidth, toWidth, fromSigned, limited));
    }),
  );
}

/** `cvt.rn.f16x2.f32 d, a, b`: `a` goes to the upper half. */
function convertPair(to: TypeInformation, rounding: string, saturate: boolean, name: string): Signature {
  const format = to.name.slice(0, -2);
  const operation = { name, from: 'f32', to: format, rounding, ftz: false, saturate };
  return pure(
    32,
    [32, 32],
    'convert',
    bits((d, a, b) => joinHalves(d, 32, d.float(operation, [b]), d.float(operation, [a]))),
  );
}

/** `cvt.pack.sat.ctype.itype[.b32] d, a, b[, c]`: saturates `a` and `b`, packs them, `c` shifted in above. */
const convertPack: Row = {
  opcode: 'cvt',
  section: '9.7.9.22',
  forms: 'cvt.pack.sat.type.s32 d, a, b; cvt.pack.sat.type.s32.b32 d, a, b, c; .type = {.u16, .s16}, with c {.u8, .s8, .u4, .s4, .u2, .s2}',
  treatment: 'exact',
  decode(modifiers) {
    if (!modifiers.flag('pack') || !modifiers.flag('sat')) return null;
    const part = modifiers.matching(/^[us](2|4|8|16)$/);
    if (modifiers.type()?.name !== 's32' || !part) return null;
    const width = Number(part.slice(1));
    const third = modifiers.flag('b32');
    if (third !== width < 16) return null;
    const signed = part.startsWith('s');
    const low = signed ? -(1n << BigInt(width - 1)) : 0n;
    const high = signed ? (1n << BigInt(width - 1)) - 1n : (1n << BigInt(width)) - 1n;
    const sources: ValueType[] = third ? [32, 32, 32] : [32, 32];
    return pure(
      32,
      sources,
      'convert',
      bits((d, a, b, c) => {
        const [upper, lower] = [a, b].map((value) => {
          const atMost = d.select(32, d.signedLess(32, constantPattern(d, 32, high), value), constantPattern(d, 32, high), value);
          const limited = d.select(32, d.signedLess(32, atMost, constantPattern(d, 32, low)), constantPattern(d, 32, low), atMost);
          return d.and(32, limited, constantPattern(d, 32, (1n << BigInt(width)) - 1n));
        });
        const both = d.or(32, d.shl(32, upper!, constantPattern(d, 32, width)), lower!);
        return third ? d.or(32, d.shl(32, c, constantPattern(d, 32, 2 * width)), both) : both;
      }),
    );
  },
};

/** Spaces whose generic addresses equal their own; `shared` and `local` have windows, so the domain is asked. */
const identitySpaces = ['global', 'const', 'param', 'param::entry'];

/** `cvta.space`: to a generic address; `cvta.to.space`: from one. */
const convertAddress: Row = {
  opcode: 'cvta',
  section: '9.7.9.20',
  forms: 'cvta.space.u64 d, a; cvta.to.space.u64 d, a; .space = {.global, .const, .param{::entry}, .shared{::cta, ::cluster}, .local}',
  treatment: 'exact',
  remark: 'where the windows of shared and local memory lie is ours; global, constant and parameter addresses are generic ones',
  decode(modifiers, shape) {
    const to = modifiers.flag('to');
    const space = modifiers.oneOf(...identitySpaces, 'shared', 'shared::cta', 'shared::cluster', 'local');
    const type = modifiers.type();
    if (!space || type?.name !== 'u64' || addressWidth(shape, 1) !== 64) return null;
    if (identitySpaces.includes(space)) return pure(64, [64], 'integer', (_d, [a]) => [a!]);
    const name = `cvta${to ? '.to' : ''}.${space === 'local' ? 'local' : 'shared'}`;
    return pure(
      64,
      [64],
      'integer',
      bits((d, a) => d.pure(name, 64, [{ width: 64, value: a }])),
    );
  },
};

/** Spaces with windows in the domain, by their names in `isspacep`. */
const windowed: Readonly<Record<string, string>> = {
  global: 'global',
  local: 'local',
  shared: 'shared',
  'shared::cta': 'shared',
  'shared::cluster': 'shared',
};

const isSpace: Row = {
  opcode: 'isspacep',
  section: '9.7.9.19',
  forms: 'isspacep.space p, a; .space = {.global, .local, .shared{::cta, ::cluster}}',
  treatment: 'exact',
  remark: 'shared memory of other blocks of a cluster has no addresses yet; constant and parameter addresses count as global',
  decode(modifiers) {
    const space = windowed[modifiers.oneOf(...Object.keys(windowed)) ?? ''];
    if (!space) return null;
    return pure('predicate', [64], 'integer', <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const inside = d.pure(`isspacep.${space}`, 32, [{ width: 64, value: sources[0] as V }]);
      return [d.negate(d.equal(32, inside, constantPattern(d, 32, 0)))];
    });
  },
};

const isConstantSpace: Row = {
  opcode: 'isspacep',
  section: '9.7.9.19',
  forms: 'isspacep.space p, a; .space = {.const, .param{::entry}}',
  treatment: 'havoc',
  decode(modifiers) {
    if (!modifiers.oneOf('const', 'param', 'param::entry')) return null;
    const reason = 'where the windows of constants and parameters lie';
    return { results: ['predicate'], sources: [64], effect: { kind: 'havoc', reason }, cost: 'integer' };
  },
};

const permuteModes = ['f4e', 'b4e', 'rc8', 'ecl', 'ecr', 'rc16'] as const;

/** `prmt`: each byte of the result is one of the eight of `b:a`, or copies of its sign bit. */
const permute: Row = {
  opcode: 'prmt',
  section: '9.7.9.7',
  forms: 'prmt.b32{.mode} d, a, b, c; .mode = {.f4e, .b4e, .rc8, .ecl, .ecr, .rc16}',
  treatment: 'exact',
  decode(modifiers) {
    const mode = modifiers.flag('b32') ? modifiers.oneOf(...permuteModes) : null;
    if (mode === null) return null;
    return pure(
      32,
      [32, 32, 32],
      'integer',
      bits((d, a, b, c) => {
        const bytes = d.or(64, d.shl(64, d.zeroExtend(32, 64, b), constantPattern(d, 64, 32)), d.zeroExtend(32, 64, a));
        const chosen = [0, 1, 2, 3].map((position) => {
          const { index, replicate } = permuteSelector(d, mode, c, position);
          const amount = d.zeroExtend(32, 64, d.shl(32, index, constantPattern(d, 32, 3)));
          const byte = d.truncate(64, 8, d.lshr(64, bytes, amount));
          return replicate === null ? byte : d.select(8, replicate, d.ashr(8, byte, constantPattern(d, 8, 7)), byte);
        });
        return concatenate(d, 32, chosen, 8);
      }),
    );
  },
};

/** Selected byte for `position` of the result, and whether only its sign is replicated. */
function permuteSelector<V, B>(
  d: Domain<V, B>,
  mode: (typeof permuteModes)[number] | undefined,
  c: V,
  position: number,
): { readonly index: V; readonly replicate: B | null } {
  const three = d.and(32, c, constantPattern(d, 32, 3));
  const at = constantPattern(d, 32, position);
  switch (mode) {
    case undefined: {
      const nibble = d.lshr(32, c, constantPattern(d, 32, 4 * position));
      const sign = d.and(32, nibble, constantPattern(d, 32, 8));
      return {
        index: d.and(32, nibble, constantPattern(d, 32, 7)),
        replicate: d.negate(d.equal(32, sign, constantPattern(d, 32, 0))),
      };
    }
    case 'f4e':
      return { index: d.add(32, three, at), replicate: null };
    case 'b4e':
      return { index: d.and(32, d.sub(32, three, at), constantPattern(d, 32, 7)), replicate: null };
    case 'rc8':
      return { index: three, replicate: null };
    case 'ecl':
      return { index: d.select(32, d.unsignedLess(32, three, at), at, three), replicate: null };
    case 'ecr':
      return { index: d.select(32, d.unsignedLess(32, three, at), three, at), replicate: null };
    case 'rc16': {
      const low = d.shl(32, d.and(32, c, constantPattern(d, 32, 1)), constantPattern(d, 32, 1));
      return { index: d.add(32, low, constantPattern(d, 32, position & 1)), replicate: null };
    }
  }
}

export const conversionRows: readonly Row[] = [
  move,
  moveVector,
  movePacked,
  convert,
  convertPack,
  convertAddress,
  isSpace,
  isConstantSpace,
  permute,
];
