/** Initialised data of a real unit, and directives that are not understood. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { type DataObject, readInitialisedData } from '../../src/gimple/initialised-data.ts';
import { assemblyOf, compilers } from './assembly.ts';

const program = `extern int outside[4];
struct Plan { int width; Plan(int w) : width(w) {} virtual int blocks() const { return width; } virtual ~Plan() {} };
struct Wide : Plan { using Plan::Plan; int blocks() const override { return width + 1; } };
struct Entry { const char* name; int (*code)(int); short level; float scale; long double wide; };
static int twice(int n) { return 2 * n; }
static int table[3] = {1, -2, 3};
extern const Entry entries[]; const Entry entries[] = {{"first", twice, -1, 1.5f, 0}, {"sec\\"\\\\\\n\\001z\\303\\251\\t", nullptr, 2, -2, 0}};
int* places[] = {outside + 2, nullptr, table, outside - 1};
static const double doubles[2] = {1.5, -2};
static const unsigned long longs[] = {0xffffffffffffffff, 1ul << 63, 0x123456789abcdef0};
static const unsigned char bytes[] = {255, 0, 7};
static const unsigned short halves[] = {65535, 258};
char text[8] = "abc";
long zeros[5]; static int unset; static char large[3 << 20] = {1};
inline int shared = 6; __attribute__((weak)) int replaced = 7;
thread_local int own = 4;
int run(int n) {
  static int counter = 7; static const char* const names[] = {"x", "y"};
  Wide wide(n);
  switch (n) { case 0: return 3; case 1: return 5; case 2: return 8; case 3: return 13; case 4: return 1; case 5: return table[1]; }
  return names[n][0] + counter++ + doubles[n] + longs[n] + bytes[n] + halves[n] + unset + large[n] + own + wide.blocks() + shared * 3.25;
}
`;

/** Contents as numbers of `width` bytes, addresses as text. */
function valuesOf(object: DataObject | undefined, width: number): (bigint | string)[] {
  assert.ok(object);
  const view = new DataView(object.contents.buffer);
  const values: (bigint | string)[] = [];
  for (let at = 0; at < object.bytes; at += width) {
    const pointer = object.pointers.get(at);
    const [low, high] = width === 8 ? [view.getUint32(at, true), view.getUint32(at + 4, true)] : [0, 0];
    const number =
      width === 8
        ? (BigInt(high) << 32n) | BigInt(low)
        : BigInt(width === 4 ? view.getUint32(at, true) : width === 2 ? view.getUint16(at, true) : view.getUint8(at));
    values.push(pointer ? `${pointer.symbol}${pointer.addend < 0 ? '' : '+'}${pointer.addend}` : number);
  }
  return values;
}

function flagsOf(object: DataObject | undefined): string {
  assert.ok(object);
  const { isReadOnly, isInternal, isWeak } = object;
  return `${isReadOnly ? 'read-only ' : ''}${isInternal ? 'internal ' : ''}${isWeak ? 'weak ' : ''}`.trim();
}

const latin1 = (object: DataObject | undefined): string => Buffer.from(object!.contents).toString('latin1');

for (const compiler of compilers) {
  test(`contents and addresses of objects by ${compiler}`, (context) => {
    const data = readInitialisedData(assemblyOf(context, compiler, program));
    assert.deepEqual(valuesOf(data.get('_ZL5table'), 4), [1n, 2n ** 32n - 2n, 3n]);
    assert.deepEqual(valuesOf(data.get('places'), 8), ['outside+8', 0n, '_ZL5table+0', 'outside-4']);
    assert.deepEqual(valuesOf(data.get('_ZL5longs'), 8), [2n ** 64n - 1n, 2n ** 63n, 0x123456789abcdef0n]);
    assert.deepEqual(valuesOf(data.get('_ZL5bytes'), 1), [255n, 0n, 7n]);
    assert.deepEqual(valuesOf(data.get('_ZL6halves'), 2), [65535n, 258n]);
    assert.deepEqual([...new Float64Array(data.get('_ZL7doubles')!.contents.buffer)], [1.5, -2]);
    assert.equal(latin1(data.get('text')), 'abc\0\0\0\0\0');
    assert.deepEqual(valuesOf(data.get('zeros'), 8), [0n, 0n, 0n, 0n, 0n]);
    assert.deepEqual(valuesOf(data.get('_ZL5unset'), 4), [0n]);
    assert.deepEqual(valuesOf(data.get('_ZZ3runiE7counter'), 4), [7n]);
    assert.deepEqual(valuesOf(data.get('_ZTV4Wide'), 8), [0n, '_ZTI4Wide+0', '_ZNK4Wide6blocksEv+0', '_ZN4WideD1Ev+0', '_ZN4WideD0Ev+0']);
    assert.equal(latin1(data.get('_ZTS4Plan')), '4Plan\0');
    for (const [symbol, object] of data) assert.equal(object.contents.length, object.bytes, symbol);
    for (const symbol of ['_ZL5large', 'own', 'outside', '_Z3runi']) assert.ok(!data.has(symbol), symbol);
    assert.deepEqual(
      [...data.keys()].filter((symbol) => symbol.startsWith('.') && !symbol.startsWith('.LC')),
      [],
    );
  });

  test(`a table of structures by ${compiler}, its strings and functions`, (context) => {
    const data = readInitialisedData(assemblyOf(context, compiler, program));
    const entries = data.get('entries')!;
    const view = new DataView(entries.contents.buffer);
    assert.equal(entries.bytes, 96);
    assert.deepEqual([...entries.pointers.keys()], [0, 8, 48]);
    assert.deepEqual(entries.pointers.get(8), { symbol: '_ZL5twicei', addend: 0 });
    const strings = [0, 48].map((at) => data.get(entries.pointers.get(at)!.symbol));
    assert.deepEqual(
      strings.map((one) => latin1(one)),
      ['first\0', 'sec"\\\n\x01z\xc3\xa9\t\0'],
    );
    assert.deepEqual([view.getInt16(16, true), view.getFloat32(20, true)], [-1, 1.5]);
    assert.deepEqual([view.getInt16(64, true), view.getFloat32(68, true)], [2, -2]);
    for (const one of strings) assert.equal(flagsOf(one), 'read-only internal');
    assert.ok(
      [...data.values()].some(
        (one) => one.symbol.startsWith('.LC') && one.bytes === 8 && new Float64Array(one.contents.buffer)[0] === 3.25,
      ),
    );
  });

  test(`which objects ${compiler} makes read-only, internal and weak`, (context) => {
    const data = readInitialisedData(assemblyOf(context, compiler, program));
    const expected: Readonly<Record<string, string>> = {
      _ZL5table: 'internal',
      entries: 'read-only',
      places: '',
      text: '',
      zeros: '',
      _ZL5unset: 'internal',
      shared: 'weak',
      replaced: 'weak',
      _ZL5longs: 'read-only internal',
      _ZZ3runiE7counter: 'internal',
      _ZZ3runiE5names: 'read-only internal',
      _ZTV4Wide: 'read-only weak',
    };
    for (const [symbol, flags] of Object.entries(expected)) assert.equal(flagsOf(data.get(symbol)), flags, symbol);
  });
}

/** Contents of an object with these directives, or null if it is left out. */
function contentsOf(...directives: string[]): number[] | null {
  const text = ['\t.data', '\t.align 8', '\t.type\tx, @object', 'x:', ...directives.map((one) => `\t${one}`), '\t.text', ''];
  const object = readInitialisedData(text.join('\n')).get('x');
  return object ? [...object.contents] : null;
}

test('each directive gives its bytes', () => {
  const expected: readonly (readonly [directive: string, bytes: readonly number[]])[] = [
    ['.byte\t1, -1', [1, 255]],
    ['.value\t258', [2, 1]],
    ['.short\t-2', [254, 255]],
    ['.2byte\t0x102', [2, 1]],
    ['.long\t16909060', [4, 3, 2, 1]],
    ['.4byte\t-1', [255, 255, 255, 255]],
    ['.quad\t-9223372036854775808', [0, 0, 0, 0, 0, 0, 0, 128]],
    ['.8byte\t1', [1, 0, 0, 0, 0, 0, 0, 0]],
    ['.string\t"a\\b\\f\\r\\0a\\12"', [97, 8, 12, 13, 0, 97, 10, 0]],
    ['.ascii\t"ab"', [97, 98]],
    ['.zero\t3', [0, 0, 0]],
    ['.space\t2,7', [7, 7]],
  ];
  for (const [directive, bytes] of expected) assert.deepEqual(contentsOf(directive), bytes, directive);
  assert.deepEqual(contentsOf('.byte\t1', '.align 4'), [1]);
});

test('an object with anything that is not understood is left out', () => {
  for (const directive of [
    '.quad\ta-b',
    '.quad\t.',
    '.quad\ta@GOTPCREL',
    '.long\ta',
    '.long\ta-.',
    '.byte\t08',
    '.base64\t"YQ=="',
    '.fill\t3',
    '.string\t"a',
    '.string\t"a", "b"',
    '.ascii\t"\\x41"',
    '.string\t"é"',
    '.zero\t1048577',
    '.zero\t-1',
    '.uleb128 3',
    '.float\t1',
  ])
    assert.equal(contentsOf('.byte\t1', directive), null, directive);
  assert.equal(contentsOf('.byte\t1', '.align 4', '.byte\t2'), null);
  assert.equal(contentsOf('.zero\t1048576', '.byte\t1'), null);
  assert.deepEqual(contentsOf('.zero\t1048576')?.length, 1 << 20);
});

test('an object of another size than declared is left out', () => {
  const sized = (size: number): boolean =>
    readInitialisedData(`\t.data\n\t.type\tx, @object\n\t.size\tx, ${size}\nx:\n\t.long\t1\n\t.text\n`).has('x');
  assert.ok(sized(4) && !sized(8) && !sized(3));
});

test('common symbols are zero, and internal if local', () => {
  const data = readInitialisedData('\t.local\ta\n\t.comm\ta,3,1\n\t.comm\tb,2,2\n\t.lcomm\tc,1\n\t.comm\td,2000000,8\n');
  assert.deepEqual(
    [...data.values()].map((one) => `${one.symbol} ${one.contents.join('')} ${flagsOf(one)}`.trim()),
    ['a 000 internal', 'b 00', 'c 0 internal'],
  );
});

test('data elsewhere belongs to no object', () => {
  const unit = (...lines: string[]): ReadonlyMap<string, DataObject> => readInitialisedData(`${lines.join('\n')}\n`);
  assert.equal(unit('\t.text', '\t.type\tx, @object', 'x:', '\t.long\t1').size, 0);
  for (const section of ['.tdata', '.tbss.x', '.own,"awT",@progbits', '.own,"ax",@progbits', '.gcc_except_table'])
    assert.equal(unit(`\t.section\t${section}`, '\t.type\tx, @object', 'x:', '\t.long\t1').size, 0, section);
  assert.equal(unit('\t.section\t.own,"aw",@progbits', '\t.type\tx, @object', 'x:', '\t.long\t1').size, 1);
  assert.equal(unit('\t.section\t.rodata', '.L4:', '\t.long\t1').size, 0);
  assert.equal(unit('\t.section\t.debug_info,"",@progbits', '\t.data', '.LC1:', '\t.long\t1').size, 1);
  assert.equal(unit('\t.text', '\t.section\t.debug_info,"",@progbits', '\t.data', '.LC1:', '\t.long\t1').size, 0);
  const split = unit(
    '\t.data',
    '.LC1:',
    '\t.long\t1',
    'foo: .long 3',
    '\t.long\t4',
    '\t.data',
    '.LC2:',
    '\t.long\t2',
    '\t.globl\tf',
    '\t.long\t3',
  );
  for (const [symbol, first] of [
    ['.LC1', 1],
    ['.LC2', 2],
  ] as const)
    assert.deepEqual([...split.get(symbol)!.contents], [first, 0, 0, 0]);
});

test('the reader of data takes any text', () => {
  const source = readFileSync(new URL('launches.gimple', import.meta.url), 'utf8');
  assert.equal(readInitialisedData(source).size, 0);
  assert.equal(readInitialisedData('').size, 0);
});
