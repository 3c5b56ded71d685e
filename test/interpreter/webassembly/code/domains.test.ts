/**
 * Each rule of the instruction table means the same over every domain: bigint reference, generated JavaScript, generated
 * WebAssembly, terms. Sources are edge values and random ones; some are constants in the code, which domains fold.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '../../../../src/base/random.ts';
import type { FloatLayout } from '../../../../src/isa/arithmetic/soft-float.ts';
import type { Domain, FloatOperation, Width } from '../../../../src/isa/model/domain.ts';
import type { Operation, ValueType } from '../../../../src/isa/model/operation.ts';
import type { Value } from './domain-values.ts';
import type { FunctionBody } from '../../../../src/interpreter/webassembly/code/wasm-module.ts';
import type { WasmLocal, WasmValue } from '../../../../src/interpreter/webassembly/code/wasm-value.ts';
import { seededRandom } from '../../../../src/base/random.ts';
import { createFloatRuntime, fastFloat } from '../../../../src/interpreter/javascript/float-runtime.ts';
import { fromPattern, literal, patternWidth, stagedDomain, toPattern } from '../../../../src/interpreter/javascript/staged-domain.ts';
import { wasmDomain, word, wordsOf } from '../../../../src/interpreter/webassembly/code/wasm-domain.ts';
import { ModuleBuilder } from '../../../../src/interpreter/webassembly/code/wasm-module.ts';
import { WasmSupport, arithmeticModule } from '../../../../src/interpreter/webassembly/code/wasm-support.ts';
import {
  append,
  pushForVariable,
  setVariable,
  variable,
  wasmConstant,
  wasmLocal,
  wasmType,
} from '../../../../src/interpreter/webassembly/code/wasm-value.ts';
import { referenceDomain } from '../../../../src/isa/arithmetic/reference-domain.ts';
import { floatFormats, negated, pack, product, unpack } from '../../../../src/isa/arithmetic/soft-float.ts';
import { termDomain } from '../../../../src/term/term-domain.ts';
import { evaluateTerm } from '../../../../src/term/evaluate-term.ts';
import { TermStore } from '../../../../src/term/term.ts';
import { decodeExamples } from '../../../isa/example-module.ts';
import { examples } from '../../../isa/examples.ts';
import { drawValue, drawValues, randomBits, showValues } from './domain-values.ts';

/** A rule as a function of patterns; undefined if it has no value. */
type Evaluator = (sources: readonly Value[]) => readonly (Value | undefined)[];

/** Sources that are constants in the code; undefined: a variable. */
type Fixed = readonly (Value | undefined)[];

function reference(operation: Operation): Evaluator {
  return (sources) => operation.evaluate!<bigint, boolean>(referenceDomain, sources);
}

function javascript(operation: Operation, fixed: Fixed): Evaluator {
  const lines: string[] = [];
  const operations: FloatOperation[] = [];
  let names = 0;
  const domain = stagedDomain({
    bind(expression) {
      lines.push(`const t${names} = ${expression};`);
      return `t${names++}`;
    },
    fastFloat,
    floatOperation: (float) => operations.push(float) - 1,
  });
  const sources = operation.sources.map((type, index) => {
    const value = fixed[index];
    if (value !== undefined) return typeof value === 'bigint' ? literal(type as 32, value) : String(value);
    lines.push(`const s${index} = ${type === 'predicate' ? `S[${index}]` : fromPattern(type, `S[${index}]`)};`);
    return `s${index}`;
  });
  const results = operation.evaluate!(domain, sources).map((code, index) => {
    const type = operation.results[index]!;
    return type === 'predicate' ? code : toPattern(type, code);
  });
  const body = `${lines.join('\n')}\nreturn [${results.join(', ')}];`;
  const staged = new Function('F', 'S', body) as (floats: unknown, values: readonly Value[]) => Value[];
  const runtime = createFloatRuntime(operations);
  return (values) => staged(runtime, values);
}

const memory = new WebAssembly.Memory({ initial: 1 });
const cells = new BigUint64Array(memory.buffer);
/** Sources and results take 16 bytes each. */
const resultsAt = 32;

function loadSource(body: FunctionBody, type: ValueType, slot: number, numbers: boolean): WasmValue {
  const load = (local: 'i32' | 'i64', offset: number): WasmLocal => {
    body.i32(0);
    body.memory(`${local}.load`, offset);
    const index = body.local(local);
    body.set(index);
    return wasmLocal(local, index);
  };
  if (type === 128) return { kind: 'pair', low: load('i64', 16 * slot), high: load('i64', 16 * slot + 8) };
  const source = load(wasmType(type), 16 * slot);
  if (!numbers || (type !== 32 && type !== 64)) return source;
  const target = variable(body, type, type === 32 ? 'f32' : 'f64');
  pushForVariable(body, target, source);
  setVariable(body, target);
  return target;
}

/** A function of a module. */
interface Variant {
  readonly fixed: Fixed;
  /** Whether sources also have the number of their pattern. */
  readonly numbers: boolean;
}

/** One module for all variants: a module takes far longer to make than a function. */
function webassembly(operation: Operation, variants: readonly Variant[]): readonly Evaluator[] {
  const builder = new ModuleBuilder();
  builder.importMemory('test', 'memory', { minimum: 1 });
  const support = new WasmSupport(builder);
  for (const [number, { fixed, numbers }] of variants.entries()) {
    const body = builder.addFunction([], []);
    const domain = wasmDomain({ body, support });
    const sources = operation.sources.map((type, index) => {
      const value = fixed[index];
      if (value === undefined) return loadSource(body, type, index, numbers);
      return typeof value === 'bigint' ? wasmConstant(type as 32, value) : domain.truth(value);
    });
    for (const [index, value] of operation.evaluate!(domain, sources).entries()) {
      const type = operation.results[index]!;
      const slot = 16 * (resultsAt + index);
      const words = type === 128 ? Object.values(wordsOf(value)) : [word(value)];
      for (const [half, item] of words.entries()) {
        body.i32(0);
        append(body, item);
        body.memory(`${wasmType(type === 128 ? 64 : type)}.store`, slot + 8 * half);
      }
    }
    builder.exportFunction(`run${number}`, body);
  }
  const module = new WebAssembly.Module(builder.encode());
  const imports = { test: { memory }, [arithmeticModule]: support.functions };
  const { exports } = new WebAssembly.Instance(module, imports);
  return variants.map((_, number) => {
    const run = exports[`run${number}`] as () => void;
    return (values) => {
      cells.fill(0n, 0, 2 * resultsAt + 16);
      for (const [index, value] of values.entries()) {
        cells[2 * index] = BigInt.asUintN(64, BigInt(value));
        cells[2 * index + 1] = BigInt(value) >> 64n;
      }
      run();
      return operation.results.map((type, index) => {
        const pattern = cells[2 * (resultsAt + index)]! | (cells[2 * (resultsAt + index) + 1]! << 64n);
        if (type === 'predicate') return pattern === 1n ? true : pattern === 0n ? false : undefined;
        return pattern;
      });
    };
  });
}

function terms(operation: Operation, fixed: Fixed): Evaluator {
  const store = new TermStore();
  const domain = termDomain(store);
  const sources = operation.sources.map((type, index) => {
    const value = fixed[index];
    if (typeof value === 'boolean') return store.truth(value);
    if (value !== undefined) return store.constant(type as 32, value);
    const atom = store.atom(type === 'predicate' ? 8 : type, { kind: 'havoc', value: index });
    return type === 'predicate' ? store.equal(atom, store.constant(8, 1n)) : atom;
  });
  const results = operation.evaluate!(domain, sources);
  return (values) => {
    const memo = new Map();
    return results.map((term, index) => {
      const value = evaluateTerm(term, (leaf) => (leaf.atom?.kind === 'havoc' ? BigInt(values[leaf.atom.value]!) : undefined), memo);
      return value !== undefined && operation.results[index] === 'predicate' ? value === 1n : value;
    });
  };
}

/** Asserts that all domains agree on `rounds` samples of sources, and on some with constants among them. */
function compareDomains(operation: Operation, seed: number, rounds: number, draw = drawValues): void {
  const random = seededRandom(seed);
  const expected = reference(operation);
  const fixedVariants = 4;
  const variants = Array.from({ length: fixedVariants + 1 }, (_, variant): Fixed =>
    operation.sources.map((type) => (variant > 0 && random.chance(0.6) ? drawValue(random, type) : undefined)),
  );
  const functions = webassembly(
    operation,
    variants.flatMap((fixed) => [
      { fixed, numbers: false },
      { fixed, numbers: true },
    ]),
  );
  for (const [variant, fixed] of variants.entries()) {
    const evaluators = {
      javascript: javascript(operation, fixed),
      webassembly: functions[2 * variant]!,
      'webassembly with numbers': functions[2 * variant + 1]!,
      terms: terms(operation, fixed),
    };
    for (let round = 0; round < (variant === 0 ? rounds : 8); round++) {
      const drawn = draw(random, operation.sources);
      const sources = drawn.map((value, index) => fixed[index] ?? value);
      const wanted = expected(sources);
      for (const [name, evaluate] of Object.entries(evaluators)) {
        const values = evaluate(sources);
        // The value of an uninterpreted term is unknown.
        const comparable = wanted.map((value, at) => (name === 'terms' && values[at] === undefined ? undefined : value));
        // Texts take longer to write than values to compare.
        if (values.length === comparable.length && values.every((value, at) => value === comparable[at])) continue;
        const detail = `${operation.mnemonic} as ${name}, sources ${showValues(sources)}, fixed ${showValues(fixed)}`;
        assert.equal(showValues(values), showValues(comparable), detail);
      }
    }
  }
}

for (const [number, { example, operation }] of decodeExamples(examples).entries()) {
  if (!operation?.evaluate || operation.results.length === 0) continue;
  test(example.text, () => compareDomains(operation, number, 100));
}

/** An operation of the table's form around one of the domain. */
function floatRule(float: FloatOperation, arity: number): Operation {
  const from = patternWidth(float.from);
  return {
    mnemonic: Object.values(float).join('.'),
    opcode: float.name,
    results: [patternWidth(float.to)],
    sources: Array.from({ length: arity }, () => from),
    effect: { kind: 'pure' },
    cost: 'float',
    section: '9.7.3',
    evaluate: <V, B>(domain: Domain<V, B>, sources: readonly (V | B)[]) => [domain.float(float, sources as V[])],
  };
}

const arities: Readonly<Record<string, number>> = {
  add: 2,
  sub: 2,
  mul: 2,
  div: 2,
  fma: 3,
  'fma.relu': 3,
  sqrt: 1,
  rcp: 1,
  rsqrt: 1,
  sin: 1,
  cos: 1,
  lg2: 1,
  ex2: 1,
  tanh: 1,
  neg: 1,
  abs: 1,
  min: 2,
  max: 3,
  'min.nan': 3,
  'max.nan': 2,
  'min.xorsign.abs': 2,
  'max.nan.xorsign.abs': 2,
  'max.xorsign.abs': 3,
  'min.abs': 3,
  'max.nan.abs': 3,
};

for (const format of ['f16', 'bf16', 'f32', 'f64']) {
  test(`every operation on ${format}, with its roundings and modes`, () => {
    for (const [name, arity] of Object.entries(arities)) {
      for (const rounding of ['rn', 'rz', 'rm', 'rp', 'approx', 'none']) {
        for (const ftz of [false, true]) {
          for (const saturate of [false, true]) {
            const float = { name, from: format, to: format, rounding, ftz, saturate };
            compareDomains(floatRule(float, arity), 1, 40);
          }
        }
      }
    }
  });
}

/** Factors of few bits, a product of any magnitude, and a third number that overlaps or cancels some of its bits. */
function drawFused(random: Random, format: FloatLayout): readonly bigint[] {
  const { exponentBits, fractionBits } = format;
  const width = (1 + exponentBits + fractionBits) as Width;
  const top = 2 ** exponentBits - 2;
  const number = (exponent: number): bigint => {
    const fractions = [
      randomBits(random, width),
      1n << BigInt(random.below(fractionBits)),
      -(1n << BigInt(random.below(fractionBits))),
      BigInt(random.below(64)),
    ];
    const field = BigInt(Math.min(Math.max(0, exponent), top)) << BigInt(fractionBits);
    const sign = BigInt(random.below(2)) << BigInt(width - 1);
    return sign | field | BigInt.asUintN(fractionBits, random.pick(fractions));
  };
  const first = random.below(top + 1);
  const wanted = random.pick([random.between(-fractionBits - 4, fractionBits + 4), random.below(top), random.below(2 * top)]);
  const a = number(first);
  const b = number(wanted + top / 2 - first);
  if (random.chance(0.7)) return [a, b, number(wanted + random.between(-2 * fractionBits - 3, 2 * fractionBits + 3))];
  const opposite = negated(product(unpack(format, a, false), unpack(format, b, false)));
  return [a, b, pack(format, opposite, 'rn', false) ^ (random.chance(0.5) ? 1n << BigInt(random.below(6)) : 0n)];
}

for (const name of ['f32', 'f64', 'bf16', 'f16']) {
  test(`fused multiply-add of ${name} rounds once`, () => {
    const float = { name: 'fma', from: name, to: name, rounding: 'rn', saturate: false };
    for (const ftz of [false, true]) {
      compareDomains(floatRule({ ...float, ftz }, 3), 3, 3000, (random) => drawFused(random, floatFormats[name]!));
    }
  });
}

const integers = ['s8', 'u8', 's16', 'u16', 's32', 'u32', 's64', 'u64'];
const floats = ['f16', 'bf16', 'tf32', 'f32', 'f64'];

for (const from of [...integers, ...floats]) {
  test(`every conversion from ${from}, with its roundings and modes`, () => {
    for (const to of [...integers, ...floats]) {
      if (integers.includes(from) && integers.includes(to)) continue;
      for (const rounding of ['rn', 'rz', 'rm', 'rp', 'rna', 'rni', 'rzi', 'rmi', 'rpi', 'none']) {
        for (const mode of [{}, { ftz: true }, { saturate: true }, { name: 'cvt.relu' }, { name: 'cvt.satfinite' }]) {
          const float = { name: 'cvt', from, to, rounding, ftz: false, saturate: false, ...mode };
          compareDomains(floatRule(float, 1), 2, 40);
        }
      }
    }
  });
}
