/**
 * The domain whose values are WebAssembly locals and constants: interpreting a rule of the instruction table over it
 * appends the code that computes the result (see `wasm-value.ts` for the forms of values). Operations on constants are
 * computed at once, by the reference.
 */
import type { Domain, Width } from '../../../isa/model/domain.ts';
import type { FunctionBody, WasmOperator } from './wasm-module.ts';
import type { WasmSupport } from './wasm-support.ts';
import type { Item, WasmLocal, WasmValue, WasmWord } from './wasm-value.ts';
import { invariant } from '../../../base/assert.ts';
import { localWindow, sharedWindow } from '../../../isa/model/address-window.ts';
import { referenceDomain } from '../../../isa/arithmetic/reference-domain.ts';
import { emitComparison, emitFloat } from './wasm-float.ts';
import { append, bind, call, i32, i64, wasmConstant, wasmType } from './wasm-value.ts';

interface WasmStagingContext {
  /** The function that the code is appended to. */
  readonly body: FunctionBody;
  /** Helpers and imports of its module. */
  readonly support: WasmSupport;
}

/** A value of up to 64 bits. */
export function word(value: WasmValue): WasmWord {
  invariant(value.kind !== 'pair', 'a value of 128 bits where a word is expected');
  return value;
}

/** The words of a value of 128 bits. */
export function wordsOf(value: WasmValue): { readonly low: WasmWord; readonly high: WasmWord } {
  if (value.kind === 'pair') return value;
  invariant(value.kind === 'constant', 'a word where a value of 128 bits is expected');
  return { low: wasmConstant(64, value.value), high: wasmConstant(64, value.value >> 64n) };
}

function pair(low: WasmValue, high: WasmValue): WasmValue {
  return { kind: 'pair', low: word(low), high: word(high) };
}

function allOnes(width: Width): bigint {
  return (1n << BigInt(width)) - 1n;
}

function isConstant(value: WasmValue, expected: bigint): boolean {
  return value.kind === 'constant' && value.value === expected;
}

/** Upper bound of `value` as an unsigned number. */
function limitOf(value: WasmValue): number {
  if (value.kind === 'constant') return Number(value.value);
  return value.kind === 'local' ? (value.limit ?? Infinity) : Infinity;
}

function limited(value: WasmLocal, limit: number): WasmLocal {
  return limit < 2 ** 32 ? { ...value, limit } : value;
}

type Division = 'udiv' | 'sdiv' | 'urem' | 'srem';
type Bitwise = 'and' | 'or' | 'xor';
type Binary = 'add' | 'sub' | 'mul' | Division | Bitwise | 'shl' | 'lshr' | 'ashr';
type BinaryRule = (width: Width, a: WasmValue, b: WasmValue) => WasmValue;

function operator(width: Width, name: string): WasmOperator {
  return `${wasmType(width)}.${name}` as WasmOperator;
}

/** The domain that appends to `context.body`. */
export function wasmDomain(context: WasmStagingContext): Domain<WasmValue, WasmWord> {
  const { body, support } = context;
  const zero64 = wasmConstant(64, 0n);
  const one64 = wasmConstant(64, 1n);

  /** The result of the items: an i64, or an i32 of which only the low `width` bits are significant. */
  const wrapped = (width: Width, ...items: readonly Item[]): WasmLocal => {
    if (width >= 32) return bind(body, wasmType(width), ...items);
    const mask = Number(allOnes(width));
    return limited(bind(body, 'i32', ...items, i32(mask), 'i32.and'), mask);
  };

  /** Pushes a sign-extended value of up to 64 bits. */
  const signed = (width: Width, value: WasmValue): Item[] =>
    width >= 32 ? [word(value)] : [word(value), width === 8 ? 'i32.extend8_s' : 'i32.extend16_s'];

  /** Computes operations on constants by the reference. */
  const folding =
    (name: Binary, emit: BinaryRule): BinaryRule =>
    (width, a, b) =>
      a.kind === 'constant' && b.kind === 'constant'
        ? wasmConstant(width, referenceDomain[name](width, a.value, b.value))
        : emit(width, a, b);

  const add = folding('add', (width, a, b) => {
    if (isConstant(b, 0n)) return a;
    if (isConstant(a, 0n)) return b;
    if (width < 128) return wrapped(width, word(a), word(b), operator(width, 'add'));
    const [x, y] = [wordsOf(a), wordsOf(b)];
    const low = word(add(64, x.low, y.low));
    const carry = domain.select(64, domain.unsignedLess(64, low, x.low), one64, zero64);
    return pair(low, add(64, add(64, x.high, y.high), carry));
  });

  const sub = folding('sub', (width, a, b) => {
    if (isConstant(b, 0n)) return a;
    if (width < 128) return wrapped(width, word(a), word(b), operator(width, 'sub'));
    const [x, y] = [wordsOf(a), wordsOf(b)];
    const borrow = domain.select(64, domain.unsignedLess(64, x.low, y.low), one64, zero64);
    return pair(sub(64, x.low, y.low), sub(64, sub(64, x.high, y.high), borrow));
  });

  const mul = folding('mul', (width, a, b) => {
    if (isConstant(a, 0n) || isConstant(b, 0n)) return wasmConstant(width, 0n);
    if (isConstant(b, 1n)) return a;
    if (isConstant(a, 1n)) return b;
    if (width < 128) return wrapped(width, word(a), word(b), operator(width, 'mul'));
    const [x, y] = [wordsOf(a), wordsOf(b)];
    const cross = add(64, mul(64, x.low, y.high), mul(64, x.high, y.low));
    return pair(mul(64, x.low, y.low), add(64, highProduct(x.low, y.low), cross));
  });

  /** The upper half of the product of unsigned words. */
  const highProduct = (a: WasmWord, b: WasmWord): WasmValue => {
    const low = (value: WasmWord): WasmLocal => bind(body, 'i64', value, i64(0xffffffffn), 'i64.and');
    const high = (value: WasmWord): WasmLocal => bind(body, 'i64', value, i64(32n), 'i64.shr_u');
    const [al, ah, bl, bh] = [low(a), high(a), low(b), high(b)];
    // No sum overflows: (2^32 - 1)^2 + 2^32 - 1 < 2^64.
    const first = bind(body, 'i64', ah, bl, 'i64.mul', al, bl, 'i64.mul', i64(32n), 'i64.shr_u', 'i64.add');
    const second = bind(body, 'i64', al, bh, 'i64.mul', low(first), 'i64.add');
    return bind(body, 'i64', ah, bh, 'i64.mul', high(first), 'i64.add', high(second), 'i64.add');
  };

  /** Code of a division, which does not trap: divisors 0 and -1 are tested for, unless the divisor is constant. */
  const division = (name: Division): BinaryRule => {
    const isSigned = name.startsWith('s');
    const isQuotient = name.endsWith('div');
    return folding(name, (width, a, b) => {
      if (width === 128) return foreignDivision(name, a, b);
      const type = wasmType(width);
      const sources = isSigned ? [...signed(width, a), ...signed(width, b)] : [word(a), word(b)];
      const items: Item[] = [...sources, operator(width, `${isQuotient ? 'div' : 'rem'}_${isSigned ? 's' : 'u'}`)];
      const byZero = isQuotient ? wasmConstant(width, allOnes(width)) : word(a);
      const canOverflow = isSigned && isQuotient && width >= 32;
      if (b.kind === 'constant') {
        if (b.value === 0n) return byZero;
        if (canOverflow && b.value === allOnes(width)) return sub(width, wasmConstant(width, 0n), a);
        return wrapped(width, ...items);
      }
      append(body, word(b), operator(width, 'eqz'));
      body.if(type);
      append(body, byZero);
      body.else();
      if (canOverflow) {
        append(body, word(b), wasmConstant(width, allOnes(width)), operator(width, 'eq'));
        body.if(type);
        append(body, wasmConstant(width, 0n), word(a), operator(width, 'sub'));
        body.else();
      }
      append(body, ...items);
      if (canOverflow) body.end();
      body.end();
      return wrapped(width);
    });
  };

  const foreignDivision = (name: Division, a: WasmValue, b: WasmValue): WasmValue => {
    const [x, y] = [wordsOf(a), wordsOf(b)];
    const half = (shift: bigint): WasmLocal => {
      const target = support.foreign({
        name: `${name}.b128.${shift}`,
        sources: [64, 64, 64, 64],
        result: 64,
        compute: ([al, ah, bl, bh]) => BigInt.asUintN(64, referenceDomain[name](128, al! | (ah! << 64n), bl! | (bh! << 64n)) >> shift),
      });
      return bind(body, 'i64', x.low, x.high, y.low, y.high, call(target));
    };
    return pair(half(0n), half(64n));
  };

  const bitwise = (name: Bitwise): BinaryRule => {
    const rule = folding(name, (width, a, b) => {
      if (width === 128) {
        const [x, y] = [wordsOf(a), wordsOf(b)];
        return pair(rule(64, x.low, y.low), rule(64, x.high, y.high));
      }
      const [value, constant] = a.kind === 'constant' ? [b, a] : [a, b];
      const zero = isConstant(constant, 0n);
      const ones = isConstant(constant, allOnes(width));
      if (name === 'and' ? ones : zero) return value;
      if (name === 'and' ? zero : name === 'or' && ones) return constant;
      const result = bind(body, wasmType(width), word(a), word(b), operator(width, name));
      const [x, y] = [limitOf(a), limitOf(b)];
      if (name === 'and') return limited(result, Math.min(x, y));
      return limited(result, 2 ** (Math.floor(Math.log2(Math.max(x, y, 1))) + 1) - 1);
    });
    return rule;
  };

  const and = bitwise('and');
  const or = bitwise('or');
  const xor = bitwise('xor');

  type Shift = 'shl' | 'lshr' | 'ashr';
  const instructions = { shl: 'shl', lshr: 'shr_u', ashr: 'shr_s' } as const;

  const shift = (name: Shift): BinaryRule => {
    const rule = folding(name, (width, a, amount) => {
      if (isConstant(amount, 0n)) return a;
      if (width === 128) return shift128(name, wordsOf(a), wordsOf(amount));
      const shifted = (by: WasmWord): Item[] => [
        ...(name === 'ashr' ? signed(width, a) : [word(a)]),
        by,
        operator(width, instructions[name]),
      ];
      if (amount.kind === 'constant') {
        if (amount.value >= BigInt(width)) {
          if (name !== 'ashr') return wasmConstant(width, 0n);
          return wrapped(width, ...shifted(wasmConstant(width, BigInt(width - 1))));
        }
        if (name !== 'lshr') return wrapped(width, ...shifted(amount));
        const limit = Math.min(limitOf(a), 2 ** width) / 2 ** Number(amount.value);
        return limited(bind(body, wasmType(width), ...shifted(amount)), Math.ceil(limit));
      }
      const count = word(amount);
      const maxWidth = Math.max(width, 32) as 32 | 64;
      const bound = wasmConstant(maxWidth, BigInt(name === 'ashr' ? maxWidth : width));
      if (limitOf(count) < Number(bound.value)) return wrapped(width, ...shifted(count));
      const within: Item[] = [count, bound, operator(width, 'lt_u'), 'select'];
      if (name === 'ashr') {
        const most = bind(body, wasmType(width), count, wasmConstant(maxWidth, BigInt(maxWidth - 1)), ...within);
        return wrapped(width, ...shifted(most));
      }
      return wrapped(width, ...shifted(count), wasmConstant(maxWidth, 0n), ...within);
    });
    return rule;
  };

  interface Words {
    readonly low: WasmWord;
    readonly high: WasmWord;
  }

  /** Shifts of 128 bits: one for amounts below 64 and one for larger amounts, with a `select` by the amount. */
  const shift128 = (name: Shift, { low, high }: Words, amount: Words): WasmValue => {
    const fill = name === 'ashr' ? ashr(64, high, wasmConstant(64, 63n)) : zero64;
    const [from, into] = name === 'shl' ? [low, high] : [high, low];
    // `whole` is the word that shifts in zeros or signs, `mixed` the word that shifts in bits of the other one.
    const arrange = (whole: WasmValue, mixed: WasmValue): WasmValue => (name === 'shl' ? pair(whole, mixed) : pair(mixed, whole));
    const single = name === 'shl' ? shl : name === 'lshr' ? lshr : ashr;
    const [along, against] = name === 'shl' ? [shl, lshr] : [lshr, shl];
    if (amount.low.kind === 'constant' && amount.high.kind === 'constant') {
      const count = amount.high.value === 0n ? amount.low.value : 128n;
      const by = (value: bigint): WasmWord => wasmConstant(64, value);
      if (count >= 128n) return pair(fill, fill);
      if (count >= 64n) return arrange(fill, single(64, from, by(count - 64n)));
      return arrange(single(64, from, by(count)), or(64, along(64, into, by(count)), against(64, from, by(64n - count))));
    }
    const small = bind(body, 'i64', amount.low, i64(63n), 'i64.and');
    const count: WasmLocal = { ...small, limit: 63 };
    const rest: WasmLocal = { ...bind(body, 'i64', small, i64(63n), 'i64.xor'), limit: 63 };
    const moved = single(64, from, count);
    const mixed = or(64, along(64, into, count), against(64, against(64, from, one64), rest));
    const isSmall = domain.both(domain.unsignedLess(64, amount.low, wasmConstant(64, 64n)), domain.equal(64, amount.high, zero64));
    const isBelow =
      limitOf(amount.low) < 128 && isConstant(amount.high, 0n)
        ? domain.truth(true)
        : domain.both(domain.unsignedLess(64, amount.low, wasmConstant(64, 128n)), domain.equal(64, amount.high, zero64));
    return arrange(domain.select(64, isSmall, moved, fill), domain.select(64, isSmall, mixed, domain.select(64, isBelow, moved, fill)));
  };

  const shl = shift('shl');
  const lshr = shift('lshr');
  const ashr = shift('ashr');

  const comparison =
    (name: 'equal' | 'unsignedLess' | 'signedLess', emit: (width: Width, a: WasmValue, b: WasmValue) => WasmWord) =>
    (width: Width, a: WasmValue, b: WasmValue): WasmWord =>
      a.kind === 'constant' && b.kind === 'constant' ? domain.truth(referenceDomain[name](width, a.value, b.value)) : emit(width, a, b);

  const less = (name: 'unsignedLess' | 'signedLess'): ((width: Width, a: WasmValue, b: WasmValue) => WasmWord) =>
    comparison(name, (width, a, b) => {
      if (width === 128) {
        const [x, y] = [wordsOf(a), wordsOf(b)];
        return domain.either(
          domain[name](64, x.high, y.high),
          domain.both(domain.equal(64, x.high, y.high), domain.unsignedLess(64, x.low, y.low)),
        );
      }
      if (name === 'unsignedLess') {
        if (b.kind === 'constant' && limitOf(a) < Number(b.value)) return domain.truth(true);
        return bind(body, 'i32', word(a), word(b), operator(width, 'lt_u'));
      }
      return bind(body, 'i32', ...signed(width, a), ...signed(width, b), operator(width, 'lt_s'));
    });

  /** Logical operations: constants are folded. */
  const junction =
    (name: 'both' | 'either' | 'differ', instruction: WasmOperator) =>
    (a: WasmWord, b: WasmWord): WasmWord => {
      const [value, constant] = a.kind === 'constant' ? [b, a] : [a, b];
      if (constant.kind !== 'constant') return bind(body, 'i32', a, b, instruction);
      const isTrue = constant.value === 1n;
      if (name === 'differ') return isTrue ? domain.negate(value) : value;
      return isTrue === (name === 'both') ? value : constant;
    };

  const domain: Domain<WasmValue, WasmWord> = {
    constant: wasmConstant,
    add,
    sub,
    mul,
    udiv: division('udiv'),
    sdiv: division('sdiv'),
    urem: division('urem'),
    srem: division('srem'),
    and,
    or,
    xor,
    not: (width, a) => xor(width, a, wasmConstant(width, allOnes(width))),
    shl,
    lshr,
    ashr,
    zeroExtend: (from, to, a) => {
      if (a.kind === 'constant') return wasmConstant(to, a.value);
      if (from === to) return a;
      if (to === 128) return pair(domain.zeroExtend(from, 64, a), zero64);
      if (to !== 64) return a;
      const limit = Math.min(limitOf(a), 2 ** from - 1);
      return limited(bind(body, 'i64', word(a), 'i64.extend_i32_u'), limit);
    },
    signExtend: (from, to, a) => {
      if (a.kind === 'constant') return wasmConstant(to, BigInt.asIntN(from, a.value));
      if (from === to) return a;
      if (to === 128) {
        const low = domain.signExtend(from, 64, a);
        return pair(low, ashr(64, low, wasmConstant(64, 63n)));
      }
      if (to === 64) return bind(body, 'i64', ...signed(from, a), 'i64.extend_i32_s');
      return wrapped(to, ...signed(from, a));
    },
    truncate: (from, to, a) => {
      if (a.kind === 'constant') return wasmConstant(to, a.value);
      if (from === to) return a;
      if (from === 128) return domain.truncate(64, to, wordsOf(a).low);
      if (from === 64) return wrapped(to, word(a), 'i32.wrap_i64');
      return limitOf(a) < 2 ** to ? a : wrapped(to, word(a));
    },
    factor24: (isSigned, a) => {
      if (!isSigned) return domain.and(32, a, wasmConstant(32, 0xffffffn));
      const eight = wasmConstant(32, 8n);
      return ashr(32, domain.shl(32, a, eight), eight);
    },
    equal: comparison('equal', (width, a, b) => {
      if (width === 128) {
        const [x, y] = [wordsOf(a), wordsOf(b)];
        return domain.both(domain.equal(64, x.low, y.low), domain.equal(64, x.high, y.high));
      }
      if (isConstant(b, 0n)) return bind(body, 'i32', word(a), operator(width, 'eqz'));
      return bind(body, 'i32', word(a), word(b), operator(width, 'eq'));
    }),
    unsignedLess: less('unsignedLess'),
    signedLess: less('signedLess'),
    select: (width, condition, a, b) => {
      if (condition.kind === 'constant') return condition.value === 1n ? a : b;
      if (width === 128) {
        const [x, y] = [wordsOf(a), wordsOf(b)];
        return pair(domain.select(64, condition, x.low, y.low), domain.select(64, condition, x.high, y.high));
      }
      const result = bind(body, wasmType(width), word(a), word(b), condition, 'select');
      return limited(result, Math.max(limitOf(a), limitOf(b)));
    },
    truth: (value) => wasmConstant(1, value ? 1n : 0n),
    negate: (a) => (a.kind === 'constant' ? domain.truth(a.value === 0n) : bind(body, 'i32', a, 'i32.eqz')),
    both: junction('both', 'i32.and'),
    either: junction('either', 'i32.or'),
    differ: junction('differ', 'i32.xor'),
    selectTruth: (condition, a, b) => {
      if (condition.kind === 'constant') return condition.value === 1n ? a : b;
      return bind(body, 'i32', a, b, condition, 'select');
    },
    float: (operation, sources) => emitFloat(context, operation, sources.map(word)),
    compareFloat: (name, format, ftz, a, b) => emitComparison(context, name, format, ftz, word(a), word(b)),
    pure: (name, width, sources) => emitPure(context, name, width, sources),
  };
  return domain;
}

/** Emits code for functions that the instruction table names for the domain. */
function emitPure(
  { body, support }: WasmStagingContext,
  name: string,
  width: Width,
  sources: readonly { readonly width: Width; readonly value: WasmValue }[],
): WasmValue {
  const [first] = sources;
  const constants = sources.flatMap(({ width: own, value }) => (value.kind === 'constant' ? [{ width: own, value: value.value }] : []));
  if (constants.length === sources.length) return wasmConstant(width, referenceDomain.pure(name, width, constants));
  const window = /^cvta(\.to)?\.(shared|local)$/.exec(name);
  if (window && first) {
    const base = i64(window[2] === 'shared' ? sharedWindow : localWindow);
    return bind(body, 'i64', word(first.value), base, window[1] ? 'i64.sub' : 'i64.add');
  }
  if (first && first.width >= 32 && first.width <= 64) {
    const value = word(first.value);
    const type = wasmType(first.width);
    if (name === 'brev' && width === first.width) return bind(body, type, value, call(support.reverse(type)));
    if ((name === 'popc' || name === 'clz') && width === 32) {
      const count: Item[] = [value, `${type}.${name === 'popc' ? 'popcnt' : 'clz'}`];
      return limited(bind(body, 'i32', ...count, ...(type === 'i64' ? ['i32.wrap_i64' as const] : [])), first.width);
    }
  }
  const target = support.foreign({
    name: `${name}.${width}.${sources.map((source) => source.width).join('.')}`,
    sources: sources.map((source) => source.width),
    result: width,
    compute: (patterns) =>
      referenceDomain.pure(
        name,
        width,
        patterns.map((value, index) => ({ width: sources[index]!.width, value })),
      ),
  });
  return bind(body, wasmType(width), ...sources.map((source) => word(source.value)), call(target));
}
