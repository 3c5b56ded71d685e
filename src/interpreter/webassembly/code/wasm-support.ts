/**
 * Functions that staged WebAssembly code calls: functions in the module, generated on first use, and imports that
 * compute on bigints operations without short code.
 */
import type { Width } from '../../../isa/model/domain.ts';
import type { FunctionBody, FunctionHandle, ModuleBuilder, WasmType } from './wasm-module.ts';
import type { Item, WasmLocal } from './wasm-value.ts';
import { computeFloat } from '../../../isa/arithmetic/float-operation.ts';
import { floatFormats } from '../../../isa/arithmetic/soft-float.ts';
import { append, bind, call, f32, f64, i32, i64, wasmLocal, wasmType } from './wasm-value.ts';

/** The name under which a module imports these functions. */
export const arithmeticModule = 'arithmetic';

/** A function of patterns, up to 64 bits each. */
interface ForeignFunction {
  /** Unique within a module. */
  readonly name: string;
  readonly sources: readonly Width[];
  readonly result: Width | 'predicate';
  readonly compute: (sources: readonly bigint[]) => bigint;
}

/** Functions of doubles by which approximations are computed, as in the reference. */
const mathematics = {
  sin: Math.sin,
  cos: Math.cos,
  lg2: Math.log2,
  ex2: (x: number): number => 2 ** x,
  tanh: Math.tanh,
} as const;

type MathName = keyof typeof mathematics;

/** Whether a name is that of a function that modules import from the host. */
export function isMathName(name: string): name is MathName {
  return name in mathematics;
}

/** Round to nearest even, toward zero, down, up, to nearest with ties away. */
export type NarrowRounding = 'rn' | 'rz' | 'rm' | 'rp' | 'rna';

/**
 * Dependencies of the functions of one module; `functions` is to be passed as {@link arithmeticModule} when it is
 * loaded.
 */
export class WasmSupport {
  readonly functions: Record<string, WebAssembly.ImportedFunction> = {};
  readonly #module: ModuleBuilder;
  readonly #helpers = new Map<string, FunctionHandle>();

  constructor(module: ModuleBuilder) {
    this.#module = module;
  }

  /** An imported function on bigints; each call allocates at least once. */
  foreign(description: ForeignFunction): FunctionHandle {
    const { name, sources, result, compute } = description;
    this.functions[name] ??= (...values: readonly (number | bigint)[]): number | bigint => {
      const pattern = compute(values.map((value, index) => BigInt.asUintN(sources[index]!, BigInt(value))));
      return result === 64 ? pattern : Number(BigInt.asIntN(32, pattern));
    };
    return this.#module.importFunction(arithmeticModule, name, sources.map(wasmType), [wasmType(result)]);
  }

  /** A function from double to double. */
  mathematics(name: MathName): FunctionHandle {
    this.functions[name] ??= mathematics[name];
    return this.#module.importFunction(arithmeticModule, name, ['f64'], ['f64']);
  }

  #helper(
    name: string,
    parameters: readonly WasmType[],
    result: WasmType,
    build: (body: FunctionBody, ...parameters: WasmLocal[]) => void,
  ): FunctionHandle {
    let helper = this.#helpers.get(name);
    if (!helper) {
      const body = this.#module.addFunction(parameters, [result]);
      this.#helpers.set(name, body);
      build(body, ...parameters.map((type, index) => wasmLocal(type, index)));
      helper = body;
    }
    return helper;
  }

  /** The bits of an i32 or i64 in reverse order. */
  reverse(type: 'i32' | 'i64'): FunctionHandle {
    return this.#helper(`brev.${type}`, [type], type, (body, source) => {
      const constant = (value: bigint): Item => (type === 'i32' ? i32(Number(BigInt.asIntN(32, value))) : i64(value));
      let value = source;
      for (let shift = 1n; shift < (type === 'i32' ? 32n : 64n); shift *= 2n) {
        // Mask of the bits that are shifted up: of every pair of groups of `shift` bits, the lower group.
        let mask = 0n;
        for (let at = 0n; at < 64n; at += 2n * shift) mask |= ((1n << shift) - 1n) << at;
        value = bind(
          body,
          type,
          value,
          constant(mask),
          `${type}.and`,
          constant(shift),
          `${type}.shl`,
          value,
          constant(shift),
          `${type}.shr_u`,
          constant(mask),
          `${type}.and`,
          `${type}.or`,
        );
      }
      append(body, value);
    });
  }

  /** The number of an f16 pattern, as f32. */
  widenHalf(): FunctionHandle {
    return this.#helper('widen.f16', ['i32'], 'f32', (body, source) => {
      const magnitude = bind(body, 'i32', source, i32(0x7fff), 'i32.and', i32(13), 'i32.shl');
      append(
        body,
        magnitude,
        i32(0x7f800000),
        'i32.or',
        'f32.reinterpret_i32',
        magnitude,
        'f32.reinterpret_i32',
        f32(2 ** 112),
        'f32.mul',
        magnitude,
        i32(0x0f800000),
        'i32.ge_u',
        'select',
        source,
        i32(16),
        'i32.shl',
        'f32.reinterpret_i32',
        'f32.copysign',
      );
    });
  }

  /** The pattern in `format` (one of `f16 bf16 tf32 f32`) of a double. */
  narrow(format: string, rounding: NarrowRounding): FunctionHandle {
    return this.#helper(`narrow.${format}.${rounding}`, ['f64'], 'i32', (body, source) => {
      const { exponentBits, fractionBits, padding, nan } = floatFormats[format]!;
      const lowest = 2 - 2 ** (exponentBits - 1);
      const infinity = (2 ** exponentBits - 1) * 2 ** fractionBits;
      const sign = padding + exponentBits + fractionBits;
      const whole = bind(body, 'i64', source, 'i64.reinterpret_f64');
      const negative = bind(body, 'i32', whole, i64(63n), 'i64.shr_u', 'i32.wrap_i64');
      const field = bind(body, 'i32', whole, i64(52n), 'i64.shr_u', 'i32.wrap_i64', i32(0x7ff), 'i32.and');
      const fraction = bind(body, 'i64', whole, i64((1n << 52n) - 1n), 'i64.and');
      const signed = bind(body, 'i32', negative, i32(sign), 'i32.shl');
      append(body, field, i32(0x7ff), 'i32.eq');
      body.if();
      append(body, i32(Number(BigInt.asIntN(32, nan))), signed, i32(infinity << padding), 'i32.or');
      append(body, fraction, i64(0n), 'i64.ne', 'select', 'return');
      body.end();
      append(body, whole, i64((1n << 63n) - 1n), 'i64.and', 'i64.eqz');
      body.if();
      append(body, signed, 'return');
      body.end();
      // The exponent of the unit in the last place: of the number, or of the subnormals. Subnormal doubles are far
      // smaller, so their missing leading bit does not matter: they are neither zero nor at least half a unit.
      const exponent = bind(body, 'i32', field, i32(1023), 'i32.sub');
      const below = bind(body, 'i32', i32(lowest), exponent, 'i32.sub', i32(0), exponent, i32(lowest), 'i32.lt_s', 'select');
      const wanted = bind(body, 'i32', below, i32(52 - fractionBits), 'i32.add');
      const shift = bind(body, 'i64', wanted, i32(55), wanted, i32(55), 'i32.lt_s', 'select', 'i64.extend_i32_u');
      const mantissa = bind(body, 'i64', fraction, i64(1n << 52n), 'i64.or');
      const kept = bind(body, 'i64', mantissa, shift, 'i64.shr_u');
      const rest = bind(body, 'i64', mantissa, kept, shift, 'i64.shl', 'i64.sub');
      const half = bind(body, 'i64', i64(1n), shift, i64(1n), 'i64.sub', 'i64.shl');
      const inexact: Item[] = [rest, i64(0n), 'i64.ne'];
      const ups: Record<NarrowRounding, Item[]> = {
        rn: [rest, half, 'i64.gt_u', rest, half, 'i64.eq', kept, 'i32.wrap_i64', 'i32.and', 'i32.or'],
        rna: [rest, half, 'i64.ge_u'],
        rz: [i32(0)],
        rm: [...inexact, negative, 'i32.and'],
        rp: [...inexact, negative, 'i32.eqz', 'i32.and'],
      };
      const bits = bind(
        body,
        'i32',
        kept,
        'i32.wrap_i64',
        ...ups[rounding],
        'i32.add',
        exponent,
        i32(lowest),
        exponent,
        i32(lowest),
        'i32.gt_s',
        'select',
        i32(lowest),
        'i32.sub',
        i32(fractionBits),
        'i32.shl',
        'i32.add',
      );
      const overflow: Record<NarrowRounding, Item[]> = {
        rn: [i32(infinity)],
        rna: [i32(infinity)],
        rz: [i32(infinity - 1)],
        rm: [i32(infinity - 1), negative, 'i32.add'],
        rp: [i32(infinity), negative, 'i32.sub'],
      };
      // The exponent bounds the shifted sum: a double too large for the format must not wrap around.
      append(
        body,
        ...overflow[rounding],
        bits,
        bits,
        i32(infinity),
        'i32.ge_u',
        exponent,
        i32(2 ** (exponentBits - 1)),
        'i32.ge_s',
        'i32.or',
        'select',
        i32(padding),
        'i32.shl',
        signed,
        'i32.or',
      );
    });
  }

  /** The sum of doubles, rounded to odd if it is not exact: rounding it again then equals a single rounding. */
  sumToOdd(): FunctionHandle {
    return this.#helper('sum.odd', ['f64', 'f64'], 'f64', (body, x, y) => {
      const sum = bind(body, 'f64', x, y, 'f64.add');
      append(body, toOdd(body, sum, lostInSum(body, x, y, sum)));
    });
  }

  /**
   * `a * b + c` of doubles with one rounding, after Boldo and Melquiond ("Emulation of FMA and correctly rounded sums",
   * 2008): product and sums with their errors, the sum of the errors rounded to odd. If an intermediate exponent could
   * leave the range, the reference computes the result.
   */
  fusedDouble(): FunctionHandle {
    return this.#helper('fma.f64', ['f64', 'f64', 'f64'], 'f64', (body, a, b, c) => {
      const product = bind(body, 'f64', a, b, 'f64.mul');
      const field = (x: WasmLocal): Item[] => [x, 'i64.reinterpret_f64', i64(52n), 'i64.shr_u', 'i32.wrap_i64', i32(0x7ff), 'i32.and'];
      /** Whether the number is within 2^-900 to 2^900 by its exponent. */
      const moderate = (x: WasmLocal): Item[] => [...field(x), i32(123), 'i32.sub', i32(1800), 'i32.lt_u'];
      append(body, ...moderate(a), ...moderate(b), 'i32.and', ...moderate(c), 'i32.and', ...moderate(product), 'i32.and');
      body.if();
      const high = (x: WasmLocal): WasmLocal => {
        const scaled = bind(body, 'f64', x, f64(134217729), 'f64.mul');
        return bind(body, 'f64', scaled, scaled, x, 'f64.sub', 'f64.sub');
      };
      const [ah, bh] = [high(a), high(b)];
      const [al, bl] = [bind(body, 'f64', a, ah, 'f64.sub'), bind(body, 'f64', b, bh, 'f64.sub')];
      const error = bind(
        body,
        'f64',
        ah,
        bh,
        'f64.mul',
        product,
        'f64.sub',
        ah,
        bl,
        'f64.mul',
        'f64.add',
        al,
        bh,
        'f64.mul',
        'f64.add',
        al,
        bl,
        'f64.mul',
        'f64.add',
      );
      const low = bind(body, 'f64', c, error, 'f64.add');
      const lowLost = lostInSum(body, c, error, low);
      const sum = bind(body, 'f64', product, low, 'f64.add');
      const sumLost = lostInSum(body, product, low, sum);
      append(body, sum, lowLost, sumLost, call(this.sumToOdd()), 'f64.add', 'return');
      body.end();
      const whenever = (condition: readonly Item[], ...result: readonly Item[]): void => {
        append(body, ...condition);
        body.if();
        append(body, ...result, 'return');
        body.end();
      };
      const unbounded = (x: WasmLocal): Item[] => [...field(x), i32(0x7ff), 'i32.eq'];
      const isZero = (x: WasmLocal): Item[] => [x, f64(0), 'f64.eq'];
      const exact: Item[] = [...unbounded(a), ...unbounded(b), 'i32.or', ...isZero(a), 'i32.or', ...isZero(b), 'i32.or'];
      whenever(exact, product, c, 'f64.add');
      // The product is zero or infinite only by rounding.
      whenever(isZero(c), product);
      whenever(unbounded(c), c);
      const foreign = this.foreign({
        name: 'fma.rn.f64',
        sources: [64, 64, 64],
        result: 64,
        compute: (sources) => computeFloat({ name: 'fma', from: 'f64', to: 'f64', rounding: 'rn', ftz: false, saturate: false }, sources),
      });
      for (const x of [a, b, c]) append(body, x, 'i64.reinterpret_f64');
      append(body, call(foreign), 'f64.reinterpret_i64');
    });
  }
}

/** The rounding error of `sum = x + y`: a double (Knuth's two-sum). */
export function lostInSum(body: FunctionBody, x: WasmLocal, y: WasmLocal, sum: WasmLocal): WasmLocal {
  const part = bind(body, 'f64', sum, x, 'f64.sub');
  return bind(body, 'f64', x, sum, part, 'f64.sub', 'f64.sub', y, part, 'f64.sub', 'f64.add');
}

/**
 * The double `sum` with its last bit set if it is not exact: an even `sum` is moved toward the lost part.
 * @param lost NaN if a source was not finite
 */
export function toOdd(body: FunctionBody, sum: WasmLocal, lost: WasmLocal): WasmLocal {
  const result = bind(body, 'f64', sum);
  const bits = bind(body, 'i64', sum, 'i64.reinterpret_f64');
  append(body, lost, f64(0), 'f64.ne', lost, lost, 'f64.eq', 'i32.and');
  append(body, bits, 'i32.wrap_i64', i32(1), 'i32.and', 'i32.eqz', 'i32.and');
  body.if();
  // Away from zero if the lost part has the sign of the sum.
  append(body, bits, i64(1n), i64(-1n), lost, f64(0), 'f64.gt', sum, f64(0), 'f64.gt', 'i32.eq', 'select');
  append(body, 'i64.add', 'f64.reinterpret_i64');
  body.set(result.index);
  body.end();
  return result;
}
