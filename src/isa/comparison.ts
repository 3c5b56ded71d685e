/** Comparison and selection (PTX ISA 9.7.6, and 9.7.7 for half precision). */
import type { Domain, FloatComparison, FloatFormat, Width } from './model/domain.ts';
import type { Rule } from './model/operation.ts';
import type { Modifiers, Row, TypeInformation } from './model/row.ts';
import { constantPattern, halves, joinHalves } from './arithmetic/bit-arithmetic.ts';
import { pure, pureEffect } from './model/row.ts';

const floatComparisons: readonly string[] = [
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'equ',
  'neu',
  'ltu',
  'leu',
  'gtu',
  'geu',
  'num',
  'nan',
] satisfies FloatComparison[];

const comparisons = [...floatComparisons, 'lo', 'ls', 'hi', 'hs'];

/** `lo ls hi hs` are other names of the unsigned comparisons. */
const plain: Readonly<Record<string, string>> = { lo: 'lt', ls: 'le', hi: 'gt', hs: 'ge' };

function compareIntegers<V, B>(d: Domain<V, B>, comparison: string, width: Width, signed: boolean, a: V, b: V): B {
  const below = (x: V, y: V): B => (signed ? d.signedLess(width, x, y) : d.unsignedLess(width, x, y));
  switch (plain[comparison] ?? comparison) {
    case 'eq':
      return d.equal(width, a, b);
    case 'ne':
      return d.negate(d.equal(width, a, b));
    case 'lt':
      return below(a, b);
    case 'le':
      return d.negate(below(b, a));
    case 'gt':
      return below(b, a);
    default:
      return d.negate(below(a, b));
  }
}

interface Comparison {
  readonly type: TypeInformation;
  readonly combine: 'and' | 'or' | 'xor' | undefined;
  /** Compares each lane (two for packed types), before the results are combined with the predicate. */
  readonly compare: <V, B>(d: Domain<V, B>, a: V, b: V) => readonly B[];
}

/**
 * The common part of `set` and `setp`: comparison, combination, `.ftz`, source type; null if `isHalf` does not match
 * that type.
 */
function decodeComparison(modifiers: Modifiers, isHalf: boolean): Comparison | null {
  const name = modifiers.oneOf(...comparisons);
  const combine = modifiers.oneOf('and', 'or', 'xor');
  const ftz = modifiers.flag('ftz');
  const type = modifiers.type();
  if (!name || !type || type.kind === 'predicate' || type.bits < 16 || type.bits > 64) return null;
  if (isHalf !== /^b?f16/.test(type.name)) return null;
  if (type.kind === 'float') {
    if (!floatComparisons.includes(name) || (type.lanes === 2 && type.bits !== 32)) return null;
    const format = (type.lanes === 2 ? type.name.slice(0, -2) : type.name) as FloatFormat;
    const comparison = name as FloatComparison;
    return {
      type,
      combine,
      compare: (d, a, b) =>
        type.lanes === 1
          ? [d.compareFloat(comparison, format, ftz, a, b)]
          : halves(d, 32, a).map((low, lane) => d.compareFloat(comparison, format, ftz, low, halves(d, 32, b)[lane]!)),
    };
  }
  if (ftz || type.lanes !== 1) return null;
  const unsignedOnly = name in plain;
  if (!unsignedOnly && !['eq', 'ne', 'lt', 'le', 'gt', 'ge'].includes(name)) return null;
  if (unsignedOnly && type.kind !== 'unsigned') return null;
  if (type.kind === 'bits' && name !== 'eq' && name !== 'ne') return null;
  const width = type.bits as Width;
  return { type, combine, compare: (d, a, b) => [compareIntegers(d, name, width, type.kind === 'signed', a, b)] };
}

function combineTruth<V, B>(d: Domain<V, B>, combine: Comparison['combine'], a: B, c: B): B {
  if (!combine) return a;
  return combine === 'and' ? d.both(a, c) : combine === 'or' ? d.either(a, c) : d.differ(a, c);
}

const fullTypes = '.type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}';
const halfTypes = '.type = {.f16, .f16x2, .bf16, .bf16x2}';
const fullResults = '.dtype = {.u32, .s32, .f32}; .stype as .type of setp';
const halfResults = '.dtype = {.f16, .f16x2, .bf16, .bf16x2, .u16, .s16, .u32, .s32}; .stype = {.f16, .f16x2, .bf16, .bf16x2}';

/** `setp.cmp.bop.type p|q, a, b, c`: `p = cmp op c`, `q = !cmp op c`; a packed type has a predicate for each lane. */
const setPredicate = (isHalf: boolean): Row => ({
  opcode: 'setp',
  section: isHalf ? '9.7.7.2' : '9.7.6.2',
  forms: `setp.CmpOp{.ftz}.type p[|q], a, b; setp.CmpOp.BoolOp{.ftz}.type p[|q], a, b, {!}c; ${isHalf ? halfTypes : fullTypes}`,
  treatment: 'exact',
  decode(modifiers, shape) {
    const comparison = decodeComparison(modifiers, isHalf);
    if (!comparison) return null;
    const { type, combine } = comparison;
    const two = shape?.[0]?.kind === 'pair';
    if (type.lanes === 2 && !two) return null;
    const evaluate: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const [a, b] = sources as V[];
      const [first, second] = comparison.compare(d, a!, b!);
      const truths = two ? [first!, second ?? d.negate(first!)] : [first!];
      return truths.map((truth) => combineTruth(d, combine, truth, sources[2] as B));
    };
    const width = type.bits as Width;
    return {
      results: two ? ['predicate', 'predicate'] : ['predicate'],
      sources: combine ? [width, width, 'predicate'] : [width, width],
      effect: pureEffect,
      cost: 'integer',
      evaluate,
    };
  },
});

const trueValues: Readonly<Record<string, bigint>> = { f32: 0x3f800000n, f16: 0x3c00n, bf16: 0x3f80n };

/** `set.cmp.bop.dtype.stype d, a, b, c`: all ones, or 1.0, if true. */
const set = (isHalf: boolean): Row => ({
  opcode: 'set',
  section: isHalf ? '9.7.7.1' : '9.7.6.1',
  forms: `set.CmpOp{.ftz}.dtype.stype d, a, b; set.CmpOp.BoolOp{.ftz}.dtype.stype d, a, b, {!}c; ${isHalf ? halfResults : fullResults}`,
  treatment: 'exact',
  decode(modifiers) {
    const name = modifiers.oneOf(...comparisons);
    const combine = modifiers.oneOf('and', 'or', 'xor');
    const ftz = modifiers.flag('ftz');
    const result = modifiers.type();
    if (!name || !result || result.bits < 16 || result.bits > 32 || result.kind === 'predicate') return null;
    modifiers.putBack([name, ...(combine ? [combine] : []), ...(ftz ? ['ftz'] : [])]);
    const comparison = decodeComparison(modifiers, isHalf);
    if (!comparison) return null;
    // Packed halves give a packed type, or masks of 16 bits in an integer of 32.
    const { lanes } = comparison.type;
    if (lanes !== result.lanes && !(lanes === 2 && result.kind !== 'float' && result.bits === 32)) return null;
    const laneType = result.lanes === 2 ? result.name.slice(0, -2) : result.name;
    const laneWidth = (result.bits / lanes) as Width;
    const truth = result.kind === 'float' ? trueValues[laneType] : (1n << BigInt(laneWidth)) - 1n;
    if (truth === undefined) return null;
    const evaluate: Rule = <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const [a, b] = sources as V[];
      const masks = comparison
        .compare(d, a!, b!)
        .map((lane) =>
          d.select(
            laneWidth,
            combineTruth(d, combine, lane, sources[2] as B),
            d.constant(laneWidth, truth),
            constantPattern(d, laneWidth, 0),
          ),
        );
      return [masks.length === 1 ? masks[0]! : joinHalves(d, 32, masks[0]!, masks[1]!)];
    };
    const width = comparison.type.bits as Width;
    const sources = combine ? ([width, width, 'predicate'] as const) : [width, width];
    return pure(result.bits as Width, sources, 'integer', evaluate);
  },
});

const selectByPredicate: Row = {
  opcode: 'selp',
  section: '9.7.6.3',
  forms: 'selp.type d, a, b, c; .type = {.b16, .b32, .b64, .u16, .u32, .u64, .s16, .s32, .s64, .f32, .f64}',
  treatment: 'exact',
  decode(modifiers) {
    const type = modifiers.type();
    if (!type || type.kind === 'predicate' || type.lanes !== 1 || type.bits < 16 || type.bits > 64) return null;
    const width = type.bits as Width;
    return pure(width, [width, width, 'predicate'], 'integer', <V, B>(d: Domain<V, B>, [a, b, c]: readonly (V | B)[]) => [
      d.select(width, c as B, a as V, b as V),
    ]);
  },
};

/** `slct.dtype.ctype d, a, b, c`: `a` if `c >= 0`; a NaN selects `b`. */
const selectBySign: Row = {
  opcode: 'slct',
  section: '9.7.6.4',
  forms: 'slct.dtype.s32 d, a, b, c; slct{.ftz}.dtype.f32 d, a, b, c; .dtype as .type of selp',
  treatment: 'exact',
  decode(modifiers) {
    const ftz = modifiers.flag('ftz');
    const type = modifiers.type();
    const control = modifiers.type();
    if (!type || type.kind === 'predicate' || type.lanes !== 1 || type.bits < 16 || type.bits > 64) return null;
    if (control?.name !== 's32' && control?.name !== 'f32') return null;
    const width = type.bits as Width;
    return pure(width, [width, width, 32], 'integer', <V, B>(d: Domain<V, B>, sources: readonly (V | B)[]) => {
      const [a, b, c] = sources as V[];
      const zero = constantPattern(d, 32, 0);
      const notNegative = control.name === 's32' ? d.negate(d.signedLess(32, c!, zero)) : d.compareFloat('ge', 'f32', ftz, c!, zero);
      return [d.select(width, notNegative, a!, b!)];
    });
  },
};

export const comparisonRows: readonly Row[] = [
  set(false),
  set(true),
  setPredicate(false),
  setPredicate(true),
  selectByPredicate,
  selectBySign,
];
