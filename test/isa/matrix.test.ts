/** Matrix instructions, against the fragment formulas of PTX ISA 9.7.14.5 and plain products. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MatrixAccessEffect, MatrixOperation } from '../../src/isa/model/operation.ts';
import { seededRandom } from '../../src/base/random.ts';
import { holderOf, loadFragments, matrixLines, storeFragments } from '../../src/isa/arithmetic/matrix-access.ts';
import type { Product } from '../../src/isa/arithmetic/matrix-layout.ts';
import { elementWidth, matrixSize, elementPlaces, fragmentWords } from '../../src/isa/arithmetic/matrix-layout.ts';
import { matrixResults } from '../../src/isa/arithmetic/matrix-product.ts';
import { decode } from '../../src/isa/table.ts';

function decodeProduct(mnemonic: string): Product {
  const [opcode, ...modifiers] = mnemonic.split('.');
  const effect = decode(opcode!, modifiers)?.effect;
  assert.ok(effect?.kind === 'warp-matrix' && effect.operation.kind === 'product', mnemonic);
  return effect.operation;
}

function mma(rest: string): Product {
  return decodeProduct(`mma.sync.aligned.${rest}`);
}

/** Row and column of the `i`-th element of a lane, by its group (`lane >> 2`) and its number in it (`lane % 4`). */
type Formula = (i: number, group: number, member: number) => readonly [row: number, column: number];

const accumulator: Formula = (i, g, t) => [i < 2 ? g : g + 8, t * 2 + (i & 1)];
const narrowAccumulator: Formula = (i, g, t) => [g, t * 2 + (i & 1)];

/** As the ISA writes them, shape by shape. */
const layouts: readonly { readonly product: string; readonly a: Formula; readonly b: Formula; readonly c: Formula }[] = [
  {
    product: 'm8n8k4.row.col.f64.f64.f64.f64', // 9.7.14.5.2
    a: (_i, g, t) => [g, t],
    b: (_i, g, t) => [t, g],
    c: narrowAccumulator,
  },
  {
    product: 'm8n8k16.row.col.s32.s8.s8.s32', // 9.7.14.5.3
    a: (i, g, t) => [g, t * 4 + i],
    b: (i, g, t) => [t * 4 + i, g],
    c: narrowAccumulator,
  },
  {
    product: 'm8n8k32.row.col.s32.u4.s4.s32', // 9.7.14.5.4
    a: (i, g, t) => [g, t * 8 + i],
    b: (i, g, t) => [t * 8 + i, g],
    c: narrowAccumulator,
  },
  {
    product: 'm8n8k128.row.col.s32.b1.b1.s32.xor.popc', // 9.7.14.5.5
    a: (i, g, t) => [g, t * 32 + i],
    b: (i, g, t) => [t * 32 + i, g],
    c: narrowAccumulator,
  },
  {
    product: 'm16n8k4.row.col.f32.tf32.tf32.f32', // 9.7.14.5.6
    a: (i, g, t) => [i === 0 ? g : g + 8, t],
    b: (_i, g, t) => [t, g],
    c: accumulator,
  },
  {
    product: 'm16n8k8.row.col.f16.f16.f16.f16', // 9.7.14.5.7
    a: (i, g, t) => [i < 2 ? g : g + 8, t * 2 + (i & 1)],
    b: (i, g, t) => [t * 2 + i, g],
    c: accumulator,
  },
  {
    product: 'm16n8k8.row.col.f32.tf32.tf32.f32',
    a: (i, g, t) => [i === 0 || i === 2 ? g : g + 8, i < 2 ? t : t + 4],
    b: (i, g, t) => [i === 0 ? t : t + 4, g],
    c: accumulator,
  },
  {
    product: 'm16n8k16.row.col.f32.bf16.bf16.f32', // 9.7.14.5.8
    a: (i, g, t) => [i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i < 4 ? 0 : 8)],
    b: (i, g, t) => [t * 2 + (i & 1) + (i < 2 ? 0 : 8), g],
    c: accumulator,
  },
  {
    product: 'm16n8k16.row.col.f64.f64.f64.f64',
    a: (i, g, t) => [i % 2 === 0 ? g : g + 8, i % 2 === 0 ? i * 2 + t : i * 2 - 2 + t],
    b: (i, g, t) => [t + i * 4, g],
    c: accumulator,
  },
  {
    product: 'm16n8k16.row.col.s32.u8.s8.s32', // 9.7.14.5.9
    a: (i, g, t) => [i < 4 ? g : g + 8, t * 4 + (i & 3)],
    b: (i, g, t) => [t * 4 + i, g],
    c: accumulator,
  },
  {
    product: 'm16n8k32.row.col.s32.s4.s4.s32', // 9.7.14.5.10
    a: (i, g, t) => [i < 8 ? g : g + 8, t * 8 + (i & 7)],
    b: (i, g, t) => [t * 8 + (i & 7), g],
    c: accumulator,
  },
  {
    product: 'm16n8k32.row.col.f32.e4m3.e5m2.f32',
    a: (i, g, t) => [i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i < 8 ? 0 : 16)],
    b: (i, g, t) => [t * 4 + (i & 3) + (i < 4 ? 0 : 16), g],
    c: accumulator,
  },
  {
    product: 'm16n8k64.row.col.s32.u4.u4.s32', // 9.7.14.5.11
    a: (i, g, t) => [i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i < 16 ? 0 : 32)],
    b: (i, g, t) => [t * 8 + (i & 7) + (i < 8 ? 0 : 32), g],
    c: accumulator,
  },
  {
    product: 'm16n8k128.row.col.s32.b1.b1.s32.and.popc', // 9.7.14.5.12
    a: (i, g, t) => [i < 32 ? g : g + 8, t * 32 + (i & 31)],
    b: (i, g, t) => [t * 32 + i, g],
    c: accumulator,
  },
  {
    product: 'm16n8k256.row.col.s32.b1.b1.s32.xor.popc', // 9.7.14.5.13
    a: (i, g, t) => [i < 32 || (i >= 64 && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i < 64 ? 0 : 128)],
    b: (i, g, t) => [t * 32 + (i & 31) + (i < 32 ? 0 : 128), g],
    c: accumulator,
  },
];

for (const { product: text, a, b, c } of layouts) {
  test(`fragments of mma.${text}`, () => {
    const product = mma(text);
    for (const [matrix, formula] of Object.entries({ a, b, c, d: c }) as ['a' | 'b' | 'c' | 'd', Formula][]) {
      const words = fragmentWords(product, matrix);
      const bits = elementWidth(product[matrix]);
      const columns = matrixSize(product, matrix)[1];
      const places = elementPlaces(product, matrix, words, 0, 0);
      const count = (words * 32) / bits;
      assert.equal(count * 32, places.words.length, `${matrix} is held once`);
      for (let lane = 0; lane < 32; lane++) {
        for (let i = 0; i < count; i++) {
          const [row, column] = formula(i, lane >> 2, lane % 4);
          const at = row * columns + column;
          assert.equal(places.words[at], lane * words + Math.floor((i * bits) / 32), `${matrix}${i} of lane ${lane}`);
          assert.equal(places.shifts[at], (i * bits) % 32);
        }
      }
    }
  });
}

test('mma.m8n8k4 of f16 computes four products (9.7.14.5.1)', () => {
  const product = mma('m8n8k4.row.col.f32.f16.f16.f32');
  for (let lane = 0; lane < 32; lane++) {
    const part = (lane % 16) >> 2;
    const a = elementPlaces(product, 'a', 12, 0, part);
    const c = elementPlaces(product, 'c', 12, 4, part);
    for (let i = 0; i < 4; i++) {
      const row = (lane % 4) + (lane < 16 ? 0 : 4);
      assert.equal(a.words[row * 4 + i], lane * 12 + (i >> 1));
      assert.equal(a.shifts[row * 4 + i], 16 * (i & 1));
    }
    for (let i = 0; i < 8; i++) {
      const row = (lane & 1) + (i & 2) + (lane < 16 ? 0 : 4);
      const column = (i & 4) + (lane & 2) + (i & 1);
      assert.equal(c.words[row * 8 + column], lane * 12 + 4 + i);
    }
  }
});

/** Writes the patterns of a matrix, row by row, into the words of all lanes. */
function fill(product: Product, matrix: 'a' | 'b' | 'c', sources: Uint32Array, patterns: readonly number[]): void {
  const [a, b, c] = (['a', 'b', 'c'] as const).map((name) => fragmentWords(product, name));
  const first = matrix === 'a' ? 0 : matrix === 'b' ? a! : a! + b!;
  const { words, shifts } = elementPlaces(product, matrix, a! + b! + c!, first, 0);
  for (const [at, pattern] of patterns.entries()) sources[words[at]!]! |= pattern << shifts[at]!;
}

/** The elements of D, row by row. */
function read(product: Product, results: Uint32Array): number[] {
  const { words, shifts } = elementPlaces(product, 'd', fragmentWords(product, 'd'), 0, 0);
  const mask = 2 ** elementWidth(product.d) - 1;
  return Array.from(words, (word, at) => ((results[word]! >>> shifts[at]!) & mask) >>> 0);
}

function run(product: Product, a: readonly number[], b: readonly number[], c: readonly number[]): number[] {
  const total = fragmentWords(product, 'a') + fragmentWords(product, 'b') + fragmentWords(product, 'c');
  const sources = new Uint32Array(32 * total);
  fill(product, 'a', sources, a);
  fill(product, 'b', sources, b);
  fill(product, 'c', sources, c);
  return read(product, matrixResults(product, sources));
}

function patternsOf(count: number, next: () => number): number[] {
  return Array.from({ length: count }, next);
}

const single = new DataView(new ArrayBuffer(4));

function singlePattern(value: number): number {
  single.setFloat32(0, value);
  return single.getUint32(0);
}

/** Patterns of small integers in f16 and bf16, by hand: -2 to 3. */
const smallIntegers = {
  f16: [0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200],
  bf16: [0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040],
};

for (const [element, shape] of [
  ['f16', 'm16n8k16'],
  ['f16', 'm16n8k8'],
  ['bf16', 'm16n8k16'],
] as const) {
  test(`mma.${shape} of ${element}: small integers multiply exactly`, () => {
    const random = seededRandom(11);
    const product = mma(`${shape}.row.col.f32.${element}.${element}.f32`);
    const { m, n, k } = product;
    const x = patternsOf(m * k, () => random.below(6));
    const y = patternsOf(k * n, () => random.below(6));
    const z = patternsOf(m * n, () => random.below(100) - 50);
    const pattern = (index: number): number => smallIntegers[element][index]!;
    const actual = run(product, x.map(pattern), y.map(pattern), z.map(singlePattern));
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < n; column++) {
        let sum = z[row * n + column]!;
        for (let depth = 0; depth < k; depth++) sum += (x[row * k + depth]! - 2) * (y[depth * n + column]! - 2);
        assert.equal(actual[row * n + column], singlePattern(sum));
      }
    }
  });
}

test('mma of f16 sums: overflow is infinity in f16, not in f32; NaN is canonical', () => {
  const ones = Array.from({ length: 16 * 8 }, () => 0x3c00);
  const large = Array.from({ length: 16 * 8 }, () => 0x7bff); // 65504
  const half = mma('m16n8k8.row.col.f16.f16.f16.f16');
  const zeros = Array.from({ length: 128 }, () => 0);
  assert.equal(run(half, large, ones.slice(0, 64), zeros)[0], 0x7c00);
  const full = mma('m16n8k8.row.col.f32.f16.f16.f32');
  assert.equal(run(full, large, ones.slice(0, 64), zeros)[0], singlePattern(8 * 65504));
  const nan = [0x7e00, ...ones.slice(1)];
  assert.equal(run(full, nan, ones.slice(0, 64), zeros)[0], 0x7fffffff);
  assert.equal(run(half, nan, ones.slice(0, 64), zeros)[0], 0x7fff);
});

test('mma of tf32 ignores the low 13 bits of its sources', () => {
  const product = mma('m16n8k8.row.col.f32.tf32.tf32.f32');
  const a = Array.from({ length: 128 }, () => 0x3f801fff);
  const b = Array.from({ length: 64 }, () => 0x3f800000);
  assert.equal(
    run(
      product,
      a,
      b,
      Array.from({ length: 128 }, () => 0),
    )[5],
    singlePattern(8),
  );
});

for (const shape of ['m16n8k32', 'm8n8k16'] as const) {
  for (const [left, right] of [
    ['s8', 's8'],
    ['u8', 's8'],
    ['s8', 'u8'],
  ] as const) {
    test(`mma.${shape} of ${left} and ${right} is exact, wraps and saturates`, () => {
      const random = seededRandom(12);
      const product = mma(`${shape}.row.col.s32.${left}.${right}.s32`);
      const { m, n, k } = product;
      const x = patternsOf(m * k, () => random.below(256));
      const y = patternsOf(k * n, () => random.below(256));
      const z = patternsOf(m * n, () => random.below(2 ** 32));
      const number = (type: string, pattern: number): number => (type === 's8' ? (pattern << 24) >> 24 : pattern);
      const wrapped = run(product, x, y, z);
      const limited = run(mma(`${shape}.row.col.satfinite.s32.${left}.${right}.s32`), x, y, z);
      for (let at = 0; at < m * n; at++) {
        let sum = BigInt(z[at]! | 0);
        for (let depth = 0; depth < k; depth++) {
          const a = number(left, x[Math.floor(at / n) * k + depth]!);
          const b = number(right, y[depth * n + (at % n)]!);
          sum += BigInt(a * b);
        }
        assert.equal(wrapped[at], Number(BigInt.asUintN(32, sum)));
        const clamped = sum > 0x7fffffffn ? 0x7fffffffn : sum < -0x80000000n ? -0x80000000n : sum;
        assert.equal(limited[at], Number(BigInt.asUintN(32, clamped)));
      }
    });
  }
}

test('mma of b1 counts bits', () => {
  const random = seededRandom(13);
  for (const bits of ['xor', 'and'] as const) {
    const product = mma(`m8n8k128.row.col.s32.b1.b1.s32.${bits}.popc`);
    const x = patternsOf(8 * 128, () => random.below(2));
    const y = patternsOf(128 * 8, () => random.below(2));
    const actual = run(
      product,
      x,
      y,
      Array.from({ length: 64 }, () => 5),
    );
    for (let at = 0; at < 64; at++) {
      let count = 5;
      for (let depth = 0; depth < 128; depth++) {
        const [a, b] = [x[(at >> 3) * 128 + depth]!, y[depth * 8 + (at & 7)]!];
        count += bits === 'xor' ? a ^ b : a & b;
      }
      assert.equal(actual[at], count);
    }
  }
});

test('mma of f64 is a chain of fused multiply-adds', () => {
  const product = mma('m8n8k4.row.col.f64.f64.f64.f64');
  const view = new DataView(new ArrayBuffer(8));
  const sources = new Uint32Array(32 * 8);
  const put = (word: number, value: number): void => {
    view.setFloat64(0, value);
    sources[word] = view.getUint32(4);
    sources[word + 1] = view.getUint32(0);
  };
  // Row g of A is g+1 at every column; column g of B is 0.1; C is 1.
  for (let lane = 0; lane < 32; lane++) {
    put(lane * 8, (lane >> 2) + 1);
    put(lane * 8 + 2, 0.1);
    put(lane * 8 + 4, 1);
    put(lane * 8 + 6, 1);
  }
  const results = matrixResults(product, sources);
  view.setUint32(0, results[1]!);
  view.setUint32(4, results[0]!);
  // Row 0: 1 + 4 * 0.1, added one by one; the products by 1 are exact.
  assert.equal(view.getFloat64(0), 1 + 0.1 + 0.1 + 0.1 + 0.1);
});

function accessEffect(mnemonic: string): MatrixAccessEffect {
  const [opcode, ...modifiers] = mnemonic.split('.');
  const effect = decode(opcode!, modifiers)?.effect;
  assert.ok(effect?.kind === 'matrix-access', mnemonic);
  return effect;
}

test('ldmatrix: lane 4r+c receives elements 2c and 2c+1 of row r; with .trans, of column r', () => {
  const plain = accessEffect('ldmatrix.sync.aligned.m8n8.x4.shared.b16');
  assert.deepEqual(
    matrixLines(plain, null).slice(0, 3),
    [0, 1, 2].map((lane) => ({ lane, offset: 0 })),
  );
  assert.equal(matrixLines(plain, null).length, 32);
  // The element at row r and column c of matrix m is 64m + 8r + c.
  const elements = Uint16Array.from({ length: 256 }, (_, at) => at);
  const memory = new Uint8Array(elements.buffer);
  const fragments = loadFragments(plain, memory);
  const lane = 4 * 5 + 2;
  for (let matrix = 0; matrix < 4; matrix++) {
    const first = 64 * matrix + 8 * 5 + 4;
    assert.equal(fragments[lane * 4 + matrix], first | ((first + 1) << 16));
  }
  const across = loadFragments(accessEffect('ldmatrix.sync.aligned.m8n8.x4.trans.b16'), memory);
  // Column 5, rows 4 and 5.
  assert.equal(across[lane * 4], (8 * 4 + 5) | ((8 * 5 + 5) << 16));
  for (const trans of ['', '.trans']) {
    const load = accessEffect(`ldmatrix.sync.aligned.m8n8.x2${trans}.b16`);
    const store = accessEffect(`stmatrix.sync.aligned.m8n8.x2${trans}.b16`);
    const bytes = memory.slice(0, 256);
    assert.deepEqual(storeFragments(store, loadFragments(load, bytes)), bytes);
  }
});

test('a byte of a row belongs to the lane whose registers have it', () => {
  for (const trans of ['', '.trans']) {
    const effect = accessEffect(`ldmatrix.sync.aligned.m8n8.x2${trans}.b16`);
    const bytes = effect.lines * effect.lineBytes;
    for (let at = 0; at < bytes; at++) {
      const memory = new Uint8Array(bytes);
      memory[at] = 1;
      const word = loadFragments(effect, memory).findIndex((value) => value !== 0);
      assert.equal(
        holderOf(effect, Math.floor(at / effect.lineBytes), at % effect.lineBytes),
        Math.floor(word / effect.words),
        `${trans} ${at}`,
      );
    }
  }
  // Rows of 16 elements of 4 bytes: each lane has two neighbours, and another two eight columns further.
  const sums = accessEffect('wmma.store.d.sync.aligned.row.m16n16k16.shared.f32');
  const holders = Array.from({ length: 16 }, (_, column) => holderOf(sums, 9, 4 * column));
  assert.deepEqual(holders, [4, 4, 5, 5, 6, 6, 7, 7, 4, 4, 5, 5, 6, 6, 7, 7]);
});

test('movmatrix transposes', () => {
  const load = accessEffect('ldmatrix.sync.aligned.m8n8.x1.b16');
  const across = accessEffect('ldmatrix.sync.aligned.m8n8.x1.trans.b16');
  const memory = new Uint8Array(Uint16Array.from({ length: 64 }, (_, at) => 3 * at).buffer);
  const operation: MatrixOperation = { kind: 'transpose' };
  assert.deepEqual(matrixResults(operation, loadFragments(load, memory)), loadFragments(across, memory));
});

test('wmma: loads, multiplies and stores with the memory layouts of the matrices', () => {
  const random = seededRandom(14);
  const [m, n, k, lead] = [32, 8, 16, 40];
  const product = decodeProduct('wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32');
  const pack = (rows: number, columns: number, value: (row: number, column: number) => number, isColumns: boolean) => {
    const elements = new Uint16Array((isColumns ? columns : rows) * lead);
    for (let row = 0; row < rows; row++)
      for (let column = 0; column < columns; column++)
        elements[isColumns ? column * lead + row : row * lead + column] = smallIntegers.f16[value(row, column) + 2]!;
    return new Uint8Array(elements.buffer);
  };
  const fetch = (effect: MatrixAccessEffect, memory: Uint8Array): Uint32Array => {
    const lines = matrixLines(effect, lead).map(({ offset }) => memory.subarray(offset, offset + effect.lineBytes));
    const bytes = new Uint8Array(effect.lines * effect.lineBytes);
    lines.forEach((line, at) => bytes.set(line, at * effect.lineBytes));
    return loadFragments(effect, bytes);
  };
  const x = patternsOf(m * k, () => random.below(6) - 2);
  const y = patternsOf(k * n, () => random.below(6) - 2);
  const a = fetch(
    accessEffect('wmma.load.a.sync.aligned.row.m32n8k16.f16'),
    pack(m, k, (row, column) => x[row * k + column]!, false),
  );
  const b = fetch(
    accessEffect('wmma.load.b.sync.aligned.col.m32n8k16.f16'),
    pack(k, n, (row, column) => y[row * n + column]!, true),
  );
  const sources = new Uint32Array(32 * 24);
  for (let lane = 0; lane < 32; lane++) {
    sources.set(a.subarray(lane * 8, lane * 8 + 8), lane * 24);
    sources.set(b.subarray(lane * 8, lane * 8 + 8), lane * 24 + 8);
  }
  for (const layout of ['row', 'col']) {
    const store = accessEffect(`wmma.store.d.sync.aligned.${layout}.m32n8k16.f32`);
    const bytes = storeFragments(store, matrixResults(product, sources));
    const stored = new Float32Array(bytes.buffer);
    for (let row = 0; row < m; row++) {
      for (let column = 0; column < n; column++) {
        let sum = 0;
        for (let depth = 0; depth < k; depth++) sum += x[row * k + depth]! * y[depth * n + column]!;
        assert.equal(stored[layout === 'row' ? row * n + column : column * m + row], sum);
      }
    }
  }
});

test('matrix shapes and types that do not exist are unknown', () => {
  for (const rest of [
    'm16n8k4.row.col.f32.f16.f16.f32',
    'm16n8k16.col.row.f32.f16.f16.f32',
    'm8n8k16.row.col.s32.s8.s4.s32',
    'm16n8k16.row.col.s32.f16.f16.s32',
    'm8n8k128.row.col.s32.b1.b1.s32',
  ])
    assert.equal(decode('mma', ['sync', 'aligned', ...rest.split('.')]), null, rest);
  assert.equal(decode('ldmatrix', ['sync', 'aligned', 'm8n8', 'x3', 'b16']), null);
});
