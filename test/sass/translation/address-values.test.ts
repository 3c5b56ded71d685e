/** Values of addresses: each operation of the SASS against PTX that computes the same value, and against all others. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foreignAddresses } from '../../../src/sass/translation/address-values.ts';
import { codeOf, exit, firstLine, kernelOf, type Written } from './machine-code.ts';

const version = 80;
/** `%r0` in R0, `%r9` in R9. */
const inputs: readonly Written[] = [
  { code: 0x919, to: 0, set: [[72, 8, 0x21]] },
  { code: 0xa02, to: 9, constant: 0x170 },
];
/** The store of R30 to the address in R5; 32 bits. */
const store = (more: Partial<Written> = {}): Written => ({
  code: 0x388,
  a: 5,
  b: 30,
  displacement: 0,
  line: firstLine + 1,
  ...more,
  set: [[73, 3, 4], ...(more.set ?? [])],
});

/** PTX whose line after the first stores to an address, and lines of faults of code for it. */
function faultsOf(
  ptx: readonly string[],
  code: readonly Written[],
  options: { readonly version?: number; readonly directives?: string } = {},
): number[] {
  const kernel = kernelOf(ptx, options.directives);
  const made = codeOf(options.version ?? version, [...code, exit]);
  assert.equal(made.flow.unknown, undefined);
  return foreignAddresses(kernel, made.flow, made.registers, options.version ?? version, made.lineOf).map(({ ptxLine }) => ptxLine);
}

type Row = readonly [ptx: string, ...code: readonly Written[]];
const shift = (type: number, isRight: boolean, isHigh: boolean, more: Partial<Written>, wraps = false): Written => ({
  code: 0x819,
  to: 5,
  ...more,
  set: [
    [73, 2, type],
    [75, 1, wraps ? 1 : 0],
    [76, 1, isRight ? 1 : 0],
    [80, 1, isHigh ? 1 : 0],
  ],
});
const logic = (table: number, more: Partial<Written>): Written => ({ code: 0x212, to: 5, a: 0, b: 9, ...more, set: [[72, 8, table]] });
const special = (register: number, to = 5): Written => ({ code: 0x919, to, set: [[72, 8, register]] });

/** PTX that computes `%r5` in one line, and code that computes R5. Each row has another value. */
const rows: readonly Row[] = [
  ['add.s32 %r5, %r0, %r9;', { code: 0x210, to: 5, a: 0, b: 9 }],
  ['sub.s32 %r5, %r0, %r9;', { code: 0x210, to: 5, a: 0, b: 9, set: [[63, 1, 1]] }],
  ['sub.s32 %r5, %r9, %r0;', { code: 0x210, to: 5, a: 0, b: 9, set: [[72, 1, 1]] }],
  ['neg.s32 %r5, %r9;', { code: 0x210, to: 5, c: 9, set: [[75, 1, 1]] }],
  ['add.s32 %r5, %r0, 52;', { code: 0x810, to: 5, a: 0, immediate: 52 }],
  ['add.s32 %r5, %r0, -52;', { code: 0x810, to: 5, a: 0, immediate: -52 }],
  ['mad.lo.s32 %r5, %r0, 2, %r9;', { code: 0xa10, to: 5, a: 0, constant: 0x170, c: 0 }],
  [
    'sub.s32 %r5, 0, %r0; sub.s32 %r5, %r5, %r9;',
    {
      code: 0xa10,
      to: 5,
      a: 0,
      constant: 0x170,
      set: [
        [72, 1, 1],
        [63, 1, 1],
      ],
    },
  ],
  ['mad.lo.s32 %r5, %r0, %r9, %r0;', { code: 0x224, to: 5, a: 0, b: 9, c: 0 }],
  ['mad.lo.s32 %r5, %r0, 12, %r9;', { code: 0x824, to: 5, a: 0, immediate: 12, c: 9 }],
  ['mad.lo.s32 %r5, %r0, %r0, %r9;', { code: 0x624, to: 5, a: 0, constant: 0x170, c: 0 }],
  ['mad.lo.s32 %r5, %r0, %r9, 20;', { code: 0x424, to: 5, a: 0, c: 9, immediate: 20 }],
  ['mul.lo.s32 %r5, %r0, %r9; sub.s32 %r5, 0, %r5;', { code: 0x224, to: 5, a: 0, b: 9, set: [[72, 1, 1]] }],
  [
    'mad.lo.s32 %r5, %r0, %r9, 4;',
    { code: 0x802, to: 12, immediate: 0, set: [[80, 1, 0]] },
    { code: 0x225, to: 4, a: 0, b: 9, c: 12 },
    { code: 0x810, to: 5, a: 4, immediate: 4 },
  ],
  [
    'mad.lo.s32 %r5, %r0, 8, %r9;',
    {
      code: 0x211,
      to: 5,
      a: 0,
      b: 9,
      set: [
        [75, 5, 3],
        [80, 1, 0],
      ],
    },
  ],
  [
    'mad.lo.s32 %r5, %r9, 16, %r0;',
    {
      code: 0x211,
      to: 5,
      a: 9,
      b: 0,
      set: [
        [75, 5, 4],
        [80, 1, 0],
      ],
    },
  ],
  ['and.b32 %r5, %r0, %r9;', logic(0xc0, {})],
  ['or.b32 %r5, %r0, %r9;', logic(0xfc, {})],
  ['xor.b32 %r5, %r0, %r9;', logic(0x3c, {})],
  ['not.b32 %r5, %r9;', logic(0x33, {})],
  ['not.b32 %r5, %r0;', logic(0x0f, {})],
  ['and.b32 %r5, %r9, 28;', { ...logic(0xc0, { a: 9, immediate: 28 }), code: 0x812 }],
  ['and.b32 %r5, %r9, 28; xor.b32 %r5, %r5, %r0;', { ...logic(0x6a, { a: 9, immediate: 28, c: 0 }), code: 0x812 }],
  ['and.b32 %r5, %r9, %r0; or.b32 %r5, %r5, 3;', { code: 0x802, to: 6, immediate: 3 }, logic(0xea, { c: 6 })],
  ['shl.b32 %r5, %r9, 3;', shift(3, false, false, { a: 9, immediate: 3 })],
  ['shr.u32 %r5, %r9, 3;', shift(3, true, true, { immediate: 3, c: 9 })],
  ['shr.u32 %r5, %r9, 5;', shift(1, true, false, { a: 9, immediate: 5 })],
  ['not.b32 %r5, %r9; shr.s32 %r5, %r5, 3;', { ...logic(0x33, {}), to: 6 }, shift(2, true, true, { immediate: 3, c: 6 })],
  ['shr.s32 %r5, %r9, 3;', shift(2, true, true, { immediate: 3, c: 9 })],
  ['shr.s32 %r5, %r9, 31;', shift(0, true, true, { a: 0, immediate: 31, c: 9 })],
  ['shf.r.wrap.b32 %r5, %r0, %r9, 5;', shift(1, true, false, { a: 0, immediate: 5, c: 9 })],
  ['shf.l.wrap.b32 %r5, %r0, %r9, 5;', shift(1, false, true, { a: 0, immediate: 5, c: 9 })],
  ['shl.b32 %r5, %r9, 1;', shift(3, false, false, { a: 9, immediate: 33 }, true)],
  ['mov.u32 %r5, 0;', shift(3, false, false, { a: 9, immediate: 33 })],
  ['mov.u32 %r5, %r9;', { code: 0x202, to: 5, b: 9 }],
  ['mov.u32 %r5, 4660;', { code: 0x802, to: 5, immediate: 4660, set: [[80, 1, 0]] }],
  ['mov.u32 %r5, 4661;', { code: 0x431, to: 5, immediate: 4661 }],
  ['mov.u32 %r5, %ntid.x;', { code: 0xa02, to: 5, constant: 0 }],
  ['mov.u32 %r5, %ntid.y;', { code: 0xa02, to: 5, constant: 4 }],
  ['mov.u32 %r5, %ntid.z;', { code: 0xa02, to: 5, constant: 8 }],
  ['mov.u32 %r5, %nctaid.x;', { code: 0xa02, to: 5, constant: 12 }],
  ['mov.u32 %r5, %nctaid.y;', { code: 0xa02, to: 5, constant: 16 }],
  ['mov.u32 %r5, %nctaid.z;', { code: 0xa02, to: 5, constant: 20 }],
  ['mov.u32 %r5, %tid.y;', special(0x22)],
  ['mov.u32 %r5, %tid.z;', special(0x23)],
  ['mov.u32 %r5, %ctaid.x;', special(0x25)],
  ['mov.u32 %r5, %ctaid.y;', special(0x26)],
  ['mov.u32 %r5, %ctaid.z;', special(0x27)],
  ['mov.u32 %r5, %laneid;', special(0)],
  ['add.s32 %r5, %r0, 1;', special(0x88, 6), { code: 0x810, to: 5, a: 0, immediate: 1, c: 6 }],
  [
    'add.s32 %r5, %r0, 2;',
    {
      code: 0x805,
      to: 6,
      set: [
        [72, 8, 255],
        [80, 1, 0],
      ],
    },
    { code: 0x810, to: 5, a: 0, immediate: 2, c: 6 },
  ],
  [
    'mad.lo.s32 %r5, %r0, 3, %r9;',
    { code: 0xab9, to: 4, constant: 0x170, set: [[73, 3, 4]] },
    { code: 0xc24, to: 6, a: 0, b: 4 },
    { code: 0x824, to: 5, a: 0, immediate: 3, c: 9 },
  ],
  [
    'mad.lo.s32 %r5, %r0, 5, %r9;',
    { code: 0xab9, to: 4, constant: 0x170, set: [[73, 3, 4]] },
    { code: 0x824, to: 6, a: 0, immediate: 5 },
    { code: 0xc10, to: 5, a: 6, b: 4 },
  ],
  [
    'mad.lo.s32 %r5, %r0, 7, %r9; add.s32 %r5, %r5, 7;',
    { code: 0xab9, to: 4, constant: 0x170, set: [[73, 3, 4]] },
    { code: 0x890, to: 4, a: 4, immediate: 7, c: 63 },
    { code: 0x824, to: 6, a: 0, immediate: 7 },
    { code: 0xc10, to: 5, a: 6, b: 4 },
  ],
  ['add.s32 %r5, %r9, 9;', { code: 0x3c2, to: 4, a: 9 }, { code: 0x802, to: 6, immediate: 9 }, { code: 0xc10, to: 5, a: 6, b: 4 }],
  [
    'mul.lo.s32 %r5, %r0, 9; sub.s32 %r5, %r5, %r9;',
    { code: 0x882, to: 4, immediate: 9 },
    { code: 0xc24, to: 6, a: 0, b: 4 },
    { code: 0x210, to: 5, a: 6, b: 9, set: [[63, 1, 1]] },
  ],
  ['cvt.u32.u64 %r5, %d1;', { code: 0xa02, to: 5, constant: 0x160 }],
  ['shr.u64 %d3, %d1, 32; cvt.u32.u64 %r5, %d3;', { code: 0xa02, to: 5, constant: 0x164 }],
  ['cvt.u32.u64 %r5, %d2;', { code: 0xb82, to: 5, constant: 0x168, set: [[73, 3, 4]] }],
  [
    'add.s64 %d3, %d1, 1; cvt.u32.u64 %r5, %d3;',
    { code: 0xb82, to: 6, constant: 0x160, set: [[73, 3, 5]] },
    { code: 0x810, to: 5, a: 6, immediate: 1 },
  ],
  ['shr.u64 %d3, %d2, 32; cvt.u32.u64 %r5, %d3;', { code: 0xb82, to: 4, constant: 0x168, set: [[73, 3, 5]] }],
];

test('an address that is computed by another operation, or from other operands, is found', () => {
  const pair = (at: number, from: number): number[] =>
    faultsOf([rows[at]![0], 'st.shared.u32 [%r5], %r0;'], [...inputs, ...(rows[from]!.slice(1) as Written[]), store()]);
  for (const [at, [ptx]] of rows.entries()) assert.deepEqual(pair(at, at), [], ptx);
  // The lowest bits of two rows may be equal by chance in no trial of five.
  for (const at of rows.keys())
    for (const from of [at + 1, at + 2, at + 7]) {
      const other = from % rows.length;
      if (rows[other]![0] !== rows[at]![0]) assert.deepEqual(pair(at, other), [firstLine + 1], `${rows[at]![0]} by ${rows[other]![0]}`);
    }
});

test('operations that are not evaluated give no fault', () => {
  const unknown: readonly (readonly Written[])[] = [
    // Upper halves, carries, unknown special registers, guarded and missing definitions, code without a known meaning.
    [
      {
        code: 0x211,
        to: 5,
        a: 0,
        b: 9,
        set: [
          [75, 5, 3],
          [80, 1, 1],
        ],
      },
    ],
    [
      {
        code: 0x211,
        to: 5,
        a: 0,
        b: 9,
        set: [
          [75, 5, 3],
          [80, 1, 0],
          [74, 1, 1],
        ],
      },
    ],
    [{ code: 0x210, to: 5, a: 0, b: 9, set: [[74, 1, 1]] }],
    [{ code: 0x227, to: 5, a: 0, b: 9 }],
    [{ code: 0x225, to: 4, a: 0, b: 9 }],
    [special(0x50)],
    [
      {
        code: 0x805,
        to: 5,
        set: [
          [72, 8, 0x50],
          [80, 1, 0],
        ],
      },
    ],
    [{ code: 0x202, to: 5, b: 0, set: [[80, 1, 1]] }],
    [
      { code: 0x202, to: 5, b: 0 },
      { code: 0x202, to: 5, b: 9, guard: 0 },
    ],
    [{ code: 0x202, to: 5, b: 7 }],
    [{ code: 0x431, to: 5, a: 0, immediate: 9 }],
    [{ code: 0x431, to: 5, c: 0, immediate: 9 }],
    [{ code: 0x231, to: 5, b: 9 }],
    [{ code: 0x301, to: 5, b: 9 }],
    [{ code: 0x216, to: 5, a: 0, b: 9 }],
    [{ code: 0x582, to: 5, c: 0 }],
    [{ code: 0xb82, to: 5, a: 0, constant: 0x160, set: [[73, 3, 4]] }],
    [{ code: 0xb82, to: 5, constant: 0x160, set: [[73, 3, 2]] }],
    [{ code: 0xfff, to: 5 }],
  ];
  for (const code of unknown)
    assert.deepEqual(
      faultsOf(['mov.u32 %r5, 12345;', 'st.shared.u32 [%r5], %r0;'], [...inputs, ...code, store()]),
      [],
      JSON.stringify(code),
    );
  const known = [{ code: 0x202, to: 5, b: 0 }];
  for (const ptx of ['{ .reg .u32 %c; mov.u32 %c, %clock; mov.u32 %r5, %c; }', 'mov.u32 %r5, %warpid;'])
    assert.deepEqual(faultsOf([ptx, 'st.shared.u32 [%r5], %r0;'], [...inputs, ...known, store()]), [], ptx);
});

test('displacement, scale and uniform register are part of an address of shared memory', () => {
  const scaled = (scale: number): Partial<Written> => ({ a: 0, set: [[78, 2, scale]] });
  const uniform: Written = { code: 0xab9, to: 4, constant: 0x170, set: [[73, 3, 4]] };
  const forms: readonly (readonly [string, string, readonly Written[], Partial<Written>])[] = [
    ['mov.u32 %r5, %r9;', '%r5+8', [], { a: 9, displacement: 8 }],
    ['mov.u32 %r5, %r9;', '%r5+-8', [], { a: 9, displacement: -8 }],
    ['mul.lo.u32 %r5, %r0, 4;', '%r5', [], scaled(1)],
    ['mul.lo.u32 %r5, %r0, 8;', '%r5', [], scaled(2)],
    ['mul.lo.u32 %r5, %r0, 16;', '%r5', [], scaled(3)],
    ['mov.u32 %r5, %r0;', '%r5', [], scaled(0)],
    ['add.u32 %r5, %r0, %r9;', '%r5+4', [uniform], { a: 0, displacement: 4, c: 4, set: [[91, 1, 1]] }],
    [
      'mad.lo.u32 %r5, %r0, 4, %r9;',
      '%r5',
      [uniform],
      {
        a: 0,
        c: 4,
        set: [
          [78, 2, 1],
          [91, 1, 1],
        ],
      },
    ],
    ['mov.u32 %r5, %r9;', '%r5+12', [uniform], { c: 4, a: 255, displacement: 12, set: [[91, 1, 1]] }],
    ['mov.u32 %r5, 16;', '%r5', [], { a: 255, displacement: 16 }],
  ];
  for (const [at, [ptx, address]] of forms.entries())
    for (const [from, [, , before, access]] of forms.entries())
      assert.deepEqual(
        faultsOf([ptx, `st.shared.u32 [${address}], %r0;`], [...inputs, ...before, store(access)]),
        at === from ? [] : [firstLine + 1],
        `${at} ${from}`,
      );
  // Loads have their uniform register in another field.
  const load = (more: Partial<Written>): Written => ({
    code: 0x984,
    to: 30,
    ...more,
    line: firstLine + 1,
    set: [[73, 3, 4], ...(more.set ?? [])],
  });
  const loading = (displacement: number) =>
    faultsOf(
      ['add.u32 %r5, %r0, %r9;', 'ld.shared.u32 %r6, [%r5+4];'],
      [...inputs, uniform, load({ a: 0, displacement, b: 4, set: [[91, 1, 1]] })],
    );
  assert.deepEqual([loading(4), loading(8)], [[], [firstLine + 1]]);
});

test('an address of global memory has a descriptor from sm_80 on', () => {
  const ptx = ['add.s64 %d3, %d1, 24;', 'st.global.u32 [%d3+8], %r0;'];
  const pointer: Written = { code: 0xa02, to: 4, constant: 0x160 };
  const upper: Written = { code: 0xa02, to: 5, constant: 0x164 };
  const global = (displacement: number, more: Partial<Written> = {}): Written =>
    store({ code: 0x986, a: 4, displacement, ...more, set: [[72, 1, 1], ...(more.set ?? [])] });
  const described = (bank: number): readonly Written[] => [
    pointer,
    upper,
    { code: 0xab9, to: 4, constant: bank, set: [[73, 3, 5]] },
    global(36, { c: 4, set: [[91, 1, 1]] }),
  ];
  assert.deepEqual(faultsOf(ptx, [pointer, upper, global(32)]), []);
  assert.deepEqual(faultsOf(ptx, [pointer, upper, global(36)]), [firstLine + 1]);
  assert.deepEqual(faultsOf(ptx, described(0x118)), [firstLine + 1], 'the wrong displacement with a descriptor');
  assert.deepEqual(faultsOf(ptx, described(0x160)), [], 'a register of unknown contents');
  // At another place on later architectures.
  const later = (bank: number): readonly number[] => {
    const [, , descriptor, access] = described(bank);
    const at = (offset: number): Written => ({ code: 0xa02, to: offset === 0x210 ? 4 : 5, constant: offset });
    return faultsOf(ptx, [at(0x210), at(0x214), descriptor!, access!], { version: 90 });
  };
  assert.deepEqual([later(0x208), later(0x118)], [[firstLine + 1], []]);
  // Before, the register is added.
  const added = (displacement: number) =>
    faultsOf(
      ptx,
      [upper, { code: 0xab9, to: 4, constant: 0x160, set: [[73, 3, 4]] }, global(displacement, { a: 255, c: 4, set: [[91, 1, 1]] })],
      {
        version: 75,
      },
    );
  assert.deepEqual([added(32), added(36)], [[], [firstLine + 1]]);
});

test('a value that was loaded is identified by its line and its word', () => {
  const ptx = ['ld.global.v2.u32 {%r5, %r6}, [%d1];', 'st.shared.u32 [%r5], %r0;', 'st.shared.u32 [%r6], %r0;'];
  const pointer: readonly Written[] = [
    { code: 0xa02, to: 4, constant: 0x160 },
    { code: 0xa02, to: 5, constant: 0x164 },
  ];
  const load: Written = {
    code: 0x981,
    to: 6,
    a: 4,
    displacement: 0,
    line: firstLine,
    set: [
      [72, 1, 1],
      [73, 3, 5],
    ],
  };
  const stores = (one: number, other: number, of = load): number[] =>
    faultsOf(ptx, [...pointer, of, store({ a: one, line: firstLine + 1 }), store({ a: other, line: firstLine + 2 })]);
  assert.deepEqual(stores(6, 7), []);
  assert.deepEqual(stores(7, 6), [firstLine + 1, firstLine + 2]);
  assert.deepEqual(stores(6, 6), [firstLine + 2]);
  // A load of another width, or on another line, is not the load of the PTX.
  assert.deepEqual(
    stores(7, 6, {
      ...load,
      set: [
        [72, 1, 1],
        [73, 3, 6],
      ],
    }),
    [],
  );
  assert.deepEqual(stores(7, 6, { ...load, line: firstLine + 5 }), []);
  const twoLoads = ['ld.global.u32 %r5, [%d1];', 'ld.global.u32 %r6, [%d1+4];', 'st.shared.u32 [%r5], %r6;'];
  const one = (line: number, to: number, displacement: number): Written => ({
    ...load,
    line,
    to,
    displacement,
    set: [
      [72, 1, 1],
      [73, 3, 4],
    ],
  });
  const through = (register: number) =>
    faultsOf(twoLoads, [...pointer, one(firstLine, 6, 0), one(firstLine + 1, 7, 4), store({ a: register, line: firstLine + 2 })]);
  assert.deepEqual([through(6), through(7)], [[], [firstLine + 2]]);
});

test('addresses in an array differ from each other as in the PTX', () => {
  const stores = [
    'mov.u32 %r1, s; add.s32 %r1, %r1, %r0;',
    'st.shared.u32 [%r1], %r0;',
    'st.shared.u32 [%r1+4], %r0;',
    'st.shared.u32 [%r1+8], %r0;',
  ];
  const other = ['mov.u32 %r2, t; add.s32 %r2, %r2, %r0;', 'st.shared.u32 [%r2], %r0;'];
  const at = (line: number, displacement: number): Written => store({ a: 0, displacement, line: firstLine + line });
  const faults = (...code: readonly Written[]) => faultsOf([...stores, ...other], [...inputs, ...code]);
  assert.deepEqual(faults(at(1, 64), at(2, 68), at(3, 72)), []);
  assert.deepEqual(faults(at(1, 64), at(2, 72), at(3, 72)), [firstLine + 2]);
  assert.deepEqual(faults(at(1, 64), at(2, 68), at(3, 68)), [firstLine + 3]);
  assert.deepEqual(faults(at(1, 64), at(2, 68), at(3, 72), at(5, 1000)), [], 'the address of another array is unknown');
  // A different register is an error even if the displacement is unknown.
  assert.deepEqual(faults(at(1, 64), store({ a: 9, displacement: 68, line: firstLine + 2 })), [firstLine + 2]);
});

test('only single copies of loads, and all of stores, are compared; accesses of other widths are not', () => {
  const ptx = ['mov.u32 %r5, %r9;', 'st.shared.u32 [%r5], %r0;', 'ld.shared.u32 %r6, [%r5];', 'st.shared.u32 [%r5+64], %r6;'];
  const wrong = (more: Partial<Written> = {}): Written => store({ a: 0, ...more });
  const load = (a: number): Written => ({ code: 0x984, to: 30, a, displacement: 0, line: firstLine + 2, set: [[73, 3, 4]] });
  const faults = (...code: readonly Written[]) => faultsOf(ptx, [...inputs, ...code]);
  assert.deepEqual(faults(wrong(), store({ a: 9 })), [firstLine + 1]);
  assert.deepEqual(faults(load(0)), [firstLine + 2]);
  assert.deepEqual(faults(load(0), load(9)), []);
  for (const type of [0, 2, 5, 6]) assert.deepEqual(faults({ ...wrong(), set: [[73, 3, type]] }), [], String(type));
  assert.deepEqual(faults(wrong({ line: firstLine + 2 })), [], 'a store on the line of a load');
  assert.deepEqual(faults(wrong({ line: firstLine })), [], 'a line without an access');
  assert.deepEqual(faults({ ...wrong(), code: 0x387 }), [], 'local memory');
  // Two accesses on one line of the PTX.
  const twice = ['mov.u32 %r5, %r9;', 'st.shared.u32 [%r5], %r0; st.shared.u32 [%r5+4], %r0;'];
  assert.deepEqual(faultsOf(twice, [...inputs, wrong()]), []);
  // From sm_100 on the operands are not known.
  assert.deepEqual(faultsOf(ptx, [...inputs, wrong()], { version: 100 }), []);
});

test('thread indices are below the known numbers of threads', () => {
  const masked = ['and.b32 %r5, %r0, 31;', 'st.shared.u32 [%r5], %r0;'];
  const unmasked = [...inputs, store({ a: 0 })];
  // The mask has no effect if a block has at most 32 threads along the axis.
  const rowsOf: readonly (readonly [string, readonly string[], readonly Written[], readonly number[]])[] = [
    ['', masked, unmasked, [firstLine + 1]],
    ['.reqntid 32, 1, 1', masked, unmasked, []],
    ['.reqntid 256, 1, 1', masked, unmasked, [firstLine + 1]],
    ['.maxntid 32, 1, 1', masked, unmasked, []],
    ['.maxntid 8, 4, 1', masked, unmasked, []],
    ['.maxntid 64, 1, 1', masked, unmasked, [firstLine + 1]],
    ['.maxntid 1, 1, 1', ['mov.u32 %r5, 0;', masked[1]!], unmasked, []],
    ['.reqntid 1, 1, 1', ['mov.u32 %r5, 0;', masked[1]!], unmasked, []],
    ['.reqntid 2, 1, 1', ['mov.u32 %r5, 0;', masked[1]!], unmasked, [firstLine + 1]],
    ['.reqntid 48, 2, 1', ['mov.u32 %r5, %ntid.x;', masked[1]!], [{ code: 0x802, to: 5, immediate: 48, set: [[80, 1, 0]] }, store()], []],
    ['.reqntid 48, 2, 1', ['mov.u32 %r5, %ntid.y;', masked[1]!], [{ code: 0x802, to: 5, immediate: 2, set: [[80, 1, 0]] }, store()], []],
    [
      '.reqntid 48, 2, 1',
      ['mov.u32 %r5, %tid.y; shr.u32 %r5, %r5, 1;', masked[1]!],
      [{ code: 0x802, to: 5, immediate: 0, set: [[80, 1, 0]] }, store()],
      [],
    ],
    [
      '.reqntid 48, 3, 1',
      ['mov.u32 %r5, %tid.y; shr.u32 %r5, %r5, 1;', masked[1]!],
      [{ code: 0x802, to: 5, immediate: 0, set: [[80, 1, 0]] }, store()],
      [firstLine + 1],
    ],
  ];
  for (const [directives, ptx, code, expected] of rowsOf)
    assert.deepEqual(faultsOf(ptx, code, { directives }), expected, `${directives} ${ptx[0]}`);
});
