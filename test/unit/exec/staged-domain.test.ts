/** The code that rules write must compute what the same rules compute over the reference. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FloatOperation, Width } from '../../../src/isa/domain.ts';
import type { Operation, ValueType } from '../../../src/isa/operation.ts';
import type { Random } from '../../../src/base/random.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { createFloatRuntime, fastFloat } from '../../../src/exec/float-runtime.ts';
import { fromPattern, stagedDomain, toPattern } from '../../../src/exec/staged-domain.ts';
import { referenceDomain } from '../../../src/isa/reference-domain.ts';
import { decodeExamples } from '../isa/example-module.ts';
import { examples } from '../isa/examples.ts';

type Value = bigint | boolean;

/** Compiles a rule to a function over patterns. */
function compile(operation: Operation): (sources: readonly Value[]) => Value[] {
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

const edges: Readonly<Record<number, readonly bigint[]>> = {
  16: [0n, 1n, 0x7fffn, 0x8000n, 0xffffn, 0x3c00n, 0x7c00n, 0x7e00n, 15n, 16n],
  32: [
    0n, 1n, 2n, 7n, 31n, 32n, 33n, 0x7fffffffn, 0x80000000n, 0xffffffffn, 0x3f800000n, 0xbf800000n, 0x7f800000n,
    0xff800000n, 0x7fc00000n, 0x00800000n, 0x4b800000n, 0x4effffffn, 0xcf000000n,
  ],
  64: [
    0n, 1n, 63n, 64n, 0x7fffffffffffffffn, 0x8000000000000000n, 0xffffffffffffffffn, 0x3ff0000000000000n,
    0x7ff0000000000000n, 0x7ff8000000000000n, 0xffffffffn, 0x100000000n,
  ],
}; // prettier-ignore

function randomBits(random: Random, width: Width): bigint {
  let value = 0n;
  for (let bits = 0; bits < width; bits += 32) value = (value << 32n) | BigInt(random.below(2 ** 32));
  return BigInt.asUintN(width, value);
}

function draw(random: Random, type: ValueType): Value {
  if (type === 'predicate') return random.chance(0.5);
  return random.chance(0.5) && edges[type] ? random.pick(edges[type]) : randomBits(random, type);
}

const show = (values: readonly Value[]): string =>
  values.map((value) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : String(value))).join(', ');

for (const { example, operation } of decodeExamples(examples)) {
  if (!operation?.evaluate || operation.results.length === 0) continue;
  test(example.text, () => {
    const staged = compile(operation);
    const random = seededRandom(7);
    for (let round = 0; round < 200; round++) {
      const sources: readonly Value[] = operation.sources.map((type) => draw(random, type));
      const expected: readonly Value[] = operation.evaluate!<bigint, boolean>(referenceDomain, sources);
      assert.equal(show(staged(sources)), show(expected), `sources ${show(sources)}`);
    }
  });
}
