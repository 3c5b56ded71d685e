/** Casts that compute an index in 64 bits: which operand, in which style, and which values prevent it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { widerIndices } from '../../../src/cuda/editing/wider-index.ts';
import { applyEdits } from '../../../src/source/text-edit.ts';
import { cudaParser, lineOf } from '../syntax/grammar.ts';

const parser = await cudaParser();

/** A kernel with these statements, in which the access is on the line with `@`, and products on lines with `@` or `#`. */
function widened(body: string, before = ''): { readonly edits: readonly string[]; readonly narrow: readonly string[] } {
  const text = `${before}__global__ void k(float* out, int rows, int cols) {\n${body}\n}\n`;
  const lines = text.split('\n').flatMap((line, at) => (/[@#]/.test(line) ? [at + 1] : []));
  const { candidates, narrow } = widerIndices(parser.parse(text, 'k.cu'), lineOf(text, '@'), new Set(lines));
  const changed = (edited: string): string =>
    edited
      .split('\n')
      .filter((line) => !text.split('\n').includes(line))
      .map((line) => line.replace(/\s*\/\/.*$/, '').trim())
      .join(' ');
  return {
    edits: candidates.map(({ edits }) => changed(applyEdits(text, edits))),
    narrow: narrow.map(({ kind, name, line }) => `${kind} ${name} ${line}`),
  };
}

test('the first factor that is not a literal is cast, a simple one rather than a sum', () => {
  const cases: readonly (readonly [string, ...string[]])[] = [
    ['out[blockIdx.x * cols + 1]', 'out[size_t(blockIdx.x) * cols + 1]'],
    ['out[4 * rows]', 'out[4 * size_t(rows)]'],
    ['out[rows << 2]', 'out[size_t(rows) << 2]'],
    ['out[(rows + 1) << 2]', 'out[size_t(rows + 1) << 2]'],
    ['out[(rows + 1) * cols]', 'out[(rows + 1) * size_t(cols)]'],
    ['out[(rows + 1) * (cols + 1)]', 'out[size_t(rows + 1) * (cols + 1)]'],
    // Of a chain the first factor, so that all of its products are of 64 bits.
    ['out[rows * cols * 3]', 'out[size_t(rows) * cols * 3]', 'out[size_t(rows) * cols * 3]'],
    ['*(out + rows * cols)', '*(out + size_t(rows) * cols)'],
    ['*reinterpret_cast<float*>(out + rows * cols)', '*reinterpret_cast<float*>(out + size_t(rows) * cols)'],
  ];
  for (const [access, ...expected] of cases) {
    assert.deepEqual(
      widened(`    ${access} = 1.f; // @`).edits,
      expected.map((one) => `${one} = 1.f;`),
      access,
    );
  }
});

test('the outer product comes first, then those in it, then two of one sum together', () => {
  assert.deepEqual(widened('    out[(rows * 8 + 1) * cols] = 1.f; // @').edits, [
    'out[(rows * 8 + 1) * size_t(cols)] = 1.f;',
    'out[(size_t(rows) * 8 + 1) * cols] = 1.f;',
  ]);
  assert.deepEqual(widened('    out[rows * 8 + 9 * cols] = 1.f; // @').edits, [
    'out[size_t(rows) * 8 + 9 * cols] = 1.f;',
    'out[rows * 8 + 9 * size_t(cols)] = 1.f;',
    'out[size_t(rows) * 8 + 9 * size_t(cols)] = 1.f;',
  ]);
});

test('products of 64 bits, of other lines and of other values stay as they are', () => {
  for (const wide of [
    'big * cols',
    'size_t(rows) * cols',
    '(long long)rows * cols',
    'static_cast<size_t>(rows) * cols',
    '4l * rows',
    'sizeof(int) * rows',
  ])
    assert.deepEqual(widened(`    long long big = 1;\n    out[${wide}] = 1.f; // @`).edits, [], wide);
  assert.deepEqual(widened('    int at = rows * cols;\n    out[at] = 1.f; // @').edits, []);
  assert.deepEqual(widened('    out[cols] = rows * cols; // @').edits, []);
  assert.deepEqual(widened('    out[sizeof(rows * cols)] = 1.f; // @').edits, []);
});

test('the cast and the type are as the function writes them, or else as the file does', () => {
  const access = '    out[rows * cols] = 1.f; // @';
  const others = (own: string): string => `${own}\n${access}`;
  assert.deepEqual(widened(others('    rows = (size_t)cols;')).edits, ['out[(size_t)rows * cols] = 1.f;']);
  assert.deepEqual(widened(others('    rows = static_cast<int64_t>(cols);')).edits, ['out[static_cast<int64_t>(rows) * cols] = 1.f;']);
  assert.deepEqual(widened(others('    rows = (float)cols;')).edits, ['out[(size_t)rows * cols] = 1.f;']);
  // Casts of pointers do not count.
  assert.deepEqual(widened(others('    int* p = (int*)out;')).edits, ['out[size_t(rows) * cols] = 1.f;']);
  const file = 'int64_t other(int i) { return static_cast<int64_t>(i); }\n';
  assert.deepEqual(widened(access, file).edits, ['out[static_cast<int64_t>(rows) * cols] = 1.f;']);
  assert.deepEqual(widened(others('    rows = size_t(cols);'), file).edits, ['out[size_t(rows) * cols] = 1.f;']);
  assert.deepEqual(widened('    out[(rows + 1) * (cols + 1)] = (float)cols; // @').edits, [
    'out[(size_t)(rows + 1) * (cols + 1)] = (float)cols;',
  ]);
});

test('where the sign of a product matters the type is signed', () => {
  for (const [operator, isSigned] of [
    ['/', true],
    ['%', true],
    ['>>', true],
    ['-', false],
    ['+', false],
  ] as const) {
    const cast = isSigned ? '(long long)rows' : 'size_t(rows)';
    assert.deepEqual(widened(`    out[rows * cols ${operator} 3] = 1.f; // @`).edits, [`out[${cast} * cols ${operator} 3] = 1.f;`]);
  }
  assert.deepEqual(widened('    out[rows * cols / 3] = 1.f; // @', '#include <cstdint>\n').edits, ['out[int64_t(rows) * cols / 3] = 1.f;']);
});

test('variables between the product and the access get a wider type, those of 64 bits and pointers do not', () => {
  assert.deepEqual(widened('    const int at = rows * cols; // #\n    out[at] = 1.f; // @').edits, [
    'const long long at = (long long)rows * cols;',
  ]);
  assert.deepEqual(widened('    unsigned at = rows * cols; // #\n    out[at] = 1.f; // @').edits, ['size_t at = size_t(rows) * cols;']);
  assert.deepEqual(widened('    long long at = rows * cols; // #\n    out[at] = 1.f; // @').edits, [
    'long long at = (long long)rows * cols;',
  ]);
  assert.deepEqual(widened('    auto at = rows * cols; // #\n    out[at] = 1.f; // @').edits, ['auto at = size_t(rows) * cols;']);
  assert.deepEqual(widened('    float* row = out + rows * cols; // #\n    row[1] = 1.f; // @').edits, [
    'float* row = out + size_t(rows) * cols;',
  ]);
  assert.deepEqual(widened('    int a = rows * cols; // #\n    int b = a + 1;\n    out[b] = 1.f; // @').edits, [
    'long long a = (long long)rows * cols; long long b = a + 1;',
  ]);
  assert.deepEqual(widened('    int at;\n    at = rows * cols; // #\n    out[at] = 1.f; // @').edits, [
    'long long at; at = (long long)rows * cols;',
  ]);
  // Another variable of the name, in a block that ends before.
  const shadowed = '    { float at = 1.f; out[0] = at; }\n    int at = rows * cols; // #\n    out[at] = 1.f; // @';
  assert.deepEqual(widened(shadowed).edits, ['long long at = (long long)rows * cols;']);
});

test('a variable that is more than an index keeps its type', () => {
  const used = (use: string): readonly string[] => {
    const { edits, narrow } = widened(`    int at = rows * cols; // #\n    long long big = 1; ${use}\n    out[at] = 1.f; // @`);
    assert.equal(edits.length, narrow.length === 0 ? 1 : 0, use);
    return narrow;
  };
  for (const use of [
    'out[2 * at + 1] = 0.f;',
    'if (at < rows) return;',
    'at += cols;',
    'at++;',
    'float* p = out + at;',
    '*(out + at) = 0.f;',
    'big = at;',
    'size_t wide = at;',
    'auto more = at + 1;',
    'big = (long long)at;',
    '__stcs(out + at, 1.f);',
  ])
    assert.deepEqual(used(use), use === 'big = at;' ? ['other-use at 3'] : [], use);
  for (const use of [
    'out[0] = at;',
    'float f = at;',
    'int other = at;',
    'printf("%d", at);',
    'out[0] = (float)at;',
    'out[0] = -at;',
    'out[1] = at & 3;',
  ])
    assert.deepEqual(used(use), ['other-use at 3'], use);
});

test('types of interfaces and of several variables stay', () => {
  assert.deepEqual(widened('    int at = rows * cols, next = at; // #\n    out[next] = 1.f; // @').narrow, ['declared-together next 2']);
  const place = '__device__ int place(int r, int c) { return r * c; } // #\n';
  assert.deepEqual(widened('    out[place(rows, cols)] = 1.f; // @', place), { edits: [], narrow: ['result place 1'] });
  assert.deepEqual(widened('    out[place(rows, cols) * cols] = 1.f; // @', place.replace('#', '')).edits, [
    'out[size_t(place(rows, cols)) * cols] = 1.f;',
  ]);
  const text =
    '__device__ void put(float* p, int at) {\n    p[at] = 1.f; // @\n}\n__global__ void k(float* out, int n) {\n    put(out, n * 3); // #\n}\n';
  const { candidates, narrow } = widerIndices(parser.parse(text, 'k.cu'), 2, new Set([5]));
  assert.deepEqual([candidates, narrow], [[], [{ kind: 'parameter', name: 'at', line: 1 }]]);
  // The product is in the function itself.
  const own = widerIndices(parser.parse(text.replace('p[at]', 'p[at * 3]'), 'k.cu'), 2, new Set([2]));
  assert.deepEqual([own.candidates.length, own.narrow], [1, []]);
});

test('functions of one line are distinguished by their lines, and host functions stay as they are', () => {
  const text = [
    '__device__ int first(int r, int c) { return r * c; }',
    '__global__ void k(float* out, int r, int c) { out[r * c] = out[first(r, c)]; }',
    '__device__ int last(int r, int c) { return r * c; }',
    'void host(float* out, int r, int c) { out[r * c] = 1.f; }',
  ].join('\n');
  const source = parser.parse(text, 'k.cu');
  const own = widerIndices(source, 2, new Set([2]));
  assert.deepEqual([own.candidates.map(({ casts }) => casts), own.narrow], [[[{ line: 2, text: 'size_t(r) * c' }]], []]);
  assert.deepEqual(widerIndices(source, 2, new Set([1])).narrow, [{ kind: 'result', name: 'first', line: 1 }]);
  assert.deepEqual(widerIndices(source, 2, new Set([3])).narrow, []);
  assert.deepEqual(widerIndices(source, 4, new Set([4])), { candidates: [], narrow: [] });
});

test('casts of other functions count only if the function has none', () => {
  const other = (name: string, cast: string): string => `float ${name}(int i) { return ${cast} + ${cast}; }\n`;
  const after = (own: string): string => {
    const text = `${other('a', '(float)i')}__global__ void k(float* out, int r, int c) {\n    ${own}\n    out[r * c] = 1.f;\n}\n${other('b', '(float)i')}`;
    const [only] = widerIndices(parser.parse(text, 'k.cu'), 4, new Set([4])).candidates;
    return only?.casts[0]?.text ?? '';
  };
  assert.equal(after('r = static_cast<int>(1.f);'), 'static_cast<size_t>(r) * c');
  assert.equal(after('r = 1;'), '(size_t)r * c');
});

test('the sign of one variable or of one product decides for the type of the casts', () => {
  // One variable is unsigned, the other one is not.
  const mixed = '    unsigned a = rows * cols; // #\n    int b = a + 1;\n    out[b] = 1.f; // @';
  assert.deepEqual(widened(mixed).edits, ['size_t a = (long long)rows * cols; long long b = a + 1;']);
  const divided = widened('    out[rows * 8 / 3 + cols * 9] = 1.f; // @').edits;
  assert.equal(divided.at(-1), 'out[(long long)rows * 8 / 3 + (long long)cols * 9] = 1.f;');
});

test('declarations after a use, and in blocks that do not contain it, are of other variables', () => {
  const later = '    out[cols * rows] = 1.f; // @\n    { long cols = 1; out[cols] = 1.f; }';
  assert.deepEqual(widened(later).edits, ['out[size_t(cols) * rows] = 1.f;']);
  // A use in the next block is one of the parameter.
  const before = '    { int rows = 1; out[0] = rows; }\n    int at = cols * rows; // #\n    out[at] = 1.f; // @';
  assert.deepEqual(widened(before).edits, ['long long at = (long long)cols * rows;']);
});

test('a variable that another wider one is computed from, in an assignment or an initialiser, becomes wider with it', () => {
  const assigned = '    int a = rows * cols; // #\n    int b;\n    b = a + 1;\n    out[b] = 1.f; // @';
  assert.deepEqual(widened(assigned).edits, ['long long a = (long long)rows * cols; long long b;']);
  const shifted = '    int a = rows * cols; // #\n    int other = 1;\n    other = a;\n    out[a] = other; // @';
  assert.deepEqual(widened(shifted), { edits: [], narrow: ['other-use a 4'] });
  // In its own initialiser the name is not yet another use.
  assert.deepEqual(widened('    int a = rows * cols, *p = nullptr; // #\n    out[a] = *p; // @').narrow, ['declared-together a 2']);
});

test('variables that are computed from themselves, and from each other on many paths, take few steps', () => {
  assert.deepEqual(widened('    float* p = out;\n    p = p + rows * cols; // #\n    p[1] = 1.f; // @').edits, [
    'p = p + size_t(rows) * cols;',
  ]);
  assert.deepEqual(widened('    int at = 0;\n    at = at + rows * cols; // #\n    out[at] = 1.f; // @').edits, [
    'long long at = 0; at = at + (long long)rows * cols;',
  ]);
  const names = Array.from({ length: 40 }, (_, at) => `a${at}`);
  const chain = names.map(
    (name, at) => `    int ${name} = ${at === 0 ? 'rows' : `${names[at - 1]} + ${names[at - 1]} + ${names[at - 1]}`};`,
  );
  const { edits } = widened(`${chain.join('\n')}\n    out[a39 + rows * cols] = 1.f; // @`);
  assert.deepEqual(edits, ['out[a39 + size_t(rows) * cols] = 1.f;']);
});

test('a function is searched from its first line to its last', () => {
  const lines = [
    '__device__ int place(int r, int c,',
    '                     int d) {',
    '    return r * c + d; }',
    '__global__ void k(float* out, int r) {',
    '    out[place(r, r, 1)] = 1.f; }',
  ];
  const source = parser.parse(lines.join('\n'), 'k.cu');
  for (const line of [1, 3])
    assert.deepEqual(widerIndices(source, 5, new Set([line])).narrow, [{ kind: 'result', name: 'place', line: 1 }]);
  for (const line of [4, 5]) assert.deepEqual(widerIndices(source, 5, new Set([line])).narrow, []);
});

test('constants of templates and members have no declaration, and stay', () => {
  assert.deepEqual(widened('    out[W * 8 + this->pitch * rows] = 1.f; // @').edits, [
    'out[size_t(W) * 8 + this->pitch * rows] = 1.f;',
    'out[W * 8 + size_t(this->pitch) * rows] = 1.f;',
    'out[size_t(W) * 8 + size_t(this->pitch) * rows] = 1.f;',
  ]);
});

test('a sum with a pointer is an address, one with a number is not, and bits of a number are another one', () => {
  const used = (use: string): readonly string[] =>
    widened(`    int at = rows * cols; // #\n    float* p = out; int q = 1;\n    ${use}\n    out[at] = 1.f; // @`).narrow;
  assert.deepEqual(used('__stcs(p + at, 1.f);'), []);
  assert.deepEqual(used('__stcs(at + p, 1.f);'), []);
  assert.deepEqual(used('clear(q + at, 1.f);'), ['other-use at 4']);
  assert.deepEqual(used('clear(1 + at, 1.f);'), ['other-use at 4']);
  assert.deepEqual(used('out[at & 3] = 1.f;'), ['other-use at 4']);
  assert.deepEqual(used('out[at ^ 3] = 1.f;'), ['other-use at 4']);
});

test('a parameter of 64 bits makes a product wide, one of 32 bits does not', () => {
  const text = '__global__ void k(float* out, long long big, int small) {\n    out[small * big] = out[small * small]; // @\n}\n';
  const { candidates } = widerIndices(parser.parse(text, 'k.cu'), 2, new Set([2]));
  assert.deepEqual(
    candidates.map(({ casts }) => casts[0]!.text),
    ['(long long)small * small'],
  );
});
