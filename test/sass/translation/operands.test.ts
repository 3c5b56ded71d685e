/** Origins of addresses and data in SASS against those of the PTX, and results without a use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { constantLeaf, parameterOffsets, specialLeaf } from '../../../src/sass/translation/address-origins.ts';
import { isZeroIn, knownThreads, longestRow } from '../../../src/sass/translation/block-extents.ts';
import { waysAroundLoops } from '../../../src/sass/translation/loop-bypasses.ts';
import { mismatchedOperands } from '../../../src/sass/translation/operand-match.ts';
import { CodeOrigins, SourceOrigins } from '../../../src/sass/translation/origins.ts';
import { unusedResults } from '../../../src/sass/translation/unused-results.ts';
import { at, codeOf, exit, fields, firstLine, kernelOf, type Written } from './machine-code.ts';

/** tid.x in R0, `n` in R9, `a` in R2 and R3, `b` in R4 and R5. */
const inputs: readonly Written[] = [
  { code: 0x919, to: 0, set: [[72, 8, 0x21]] },
  { code: 0xa02, to: 9, constant: 0x170 },
  { code: 0xa02, to: 2, constant: 0x160 },
  { code: 0xa02, to: 3, constant: 0x164 },
  { code: 0xa02, to: 4, constant: 0x168 },
  { code: 0xa02, to: 5, constant: 0x16c },
];
const load = (line: number, to: number, more: Partial<Written> = {}, type = 4): Written =>
  fields({ code: 0x981, a: 2, displacement: 0, line: at(line), to, ...more }, [72, 1, 1], [73, 3, type]);
const store = (line: number, b: number, more: Partial<Written> = {}, type = 4): Written =>
  fields({ code: 0x986, a: 2, b, displacement: 0, line: at(line), ...more }, [72, 1, 1], [73, 3, type]);
const shared = (line: number, a: number, b: number, more: Partial<Written> = {}): Written =>
  fields({ code: 0x388, a, b, displacement: 0, line: at(line), ...more }, [73, 3, 4]);
const add = (to: number, a: number, b: number, line?: number): Written => ({
  code: 0x210,
  to,
  a,
  b,
  ...(line !== undefined && { line: at(line) }),
});
const float = (to: number, a: number, b: number, line: number): Written => ({ code: 0x221, to, a, b, line: at(line) });
const move = (to: number, b: number): Written => ({ code: 0x202, to, b, set: [[80, 1, 0]] });
const branch = (target: number, guard = 0): Written => ({ code: 0x947, target: target + inputs.length, guard });

/** `data 2` for an operand of another access on line 2 of a body, with `!` if it is certain. */
function mismatches(ptx: readonly string[], code: readonly Written[], { version = 80, directives = '' } = {}): string[] {
  const { flow, registers, lineOf } = codeOf(version, [...inputs, ...code, exit]);
  assert.equal(flow.unknown, undefined);
  return mismatchedOperands(kernelOf(ptx, directives), flow, registers, version, lineOf).map(
    ({ what, isCertain, ptxLine }) => `${what} ${ptxLine - firstLine}${isCertain ? '!' : ''}`,
  );
}

test('the address of an access has the parameters, indices and loads of its line', () => {
  const stores = ['st.global.u32 [%d1], %r0;', 'st.global.u32 [%d2], %r0;'];
  assert.deepEqual(mismatches(stores, [store(0, 0), store(1, 0, { a: 4 })]), []);
  assert.deepEqual(mismatches(stores, [store(0, 0, { a: 4 }), store(1, 0)]), ['address 0!', 'address 1!']);
  const byIndex = ['shl.b32 %r1, %r0, 2;', 'st.shared.u32 [%r1], %r9;', 'shl.b32 %r2, %r9, 2;', 'st.shared.u32 [%r2], %r0;'];
  assert.deepEqual(mismatches(byIndex, [shared(1, 0, 9), shared(3, 9, 0)]), []);
  assert.deepEqual(mismatches(byIndex, [shared(1, 9, 9), shared(3, 0, 0)]), ['address 1!', 'address 3!']);
  // An additional origin is not certain to be wrong.
  assert.deepEqual(mismatches(byIndex, [add(30, 0, 9), shared(1, 30, 9), shared(3, 9, 0)]), ['address 1']);
  const loaded = ['ld.global.u32 %r1, [%d1];', 'ld.global.u32 %r2, [%d2];', 'st.shared.u32 [%r1], %r0;', 'st.shared.u32 [%r2], %r9;'];
  const loads = [load(0, 20), load(1, 21, { a: 4 })];
  assert.deepEqual(mismatches(loaded, [...loads, shared(2, 20, 0), shared(3, 21, 9)]), []);
  assert.deepEqual(mismatches(loaded, [...loads, shared(2, 21, 0), shared(3, 20, 9)]), ['address 2!', 'address 3!']);
  // If one of the loads has no code, it is unknown which one replaced it.
  assert.deepEqual(mismatches(loaded, [load(0, 20), shared(2, 20, 0), shared(3, 20, 9)]), []);
  // A constant address lacks the index that its line adds.
  const indexed = ['mov.u32 %r1, s; add.u32 %r1, %r1, %r0;', 'st.shared.u32 [%r1], %r9;'];
  assert.deepEqual(mismatches(indexed, [shared(1, 255, 9)]), []);
  assert.deepEqual(mismatches(indexed, [{ code: 0x802, to: 30, immediate: 8, set: [[80, 1, 0]] }, shared(1, 30, 9)]), ['address 1']);
  assert.deepEqual(
    mismatches(indexed, [{ code: 0x802, to: 30, immediate: 8, set: [[80, 1, 0]] }, shared(1, 30, 9)], { directives: '.reqntid 1, 1, 1' }),
    [],
  );
});

test('accesses of other spaces on the line of an access are not compared with it', () => {
  const body = ['add.u32 %r1, %r0, %r9;', 'st.global.u32 [%d2], %r1;'];
  const spill = (more: Partial<Written>): Written => fields({ code: 0x387, a: 1, b: 0, displacement: 0, line: at(1), ...more }, [73, 3, 4]);
  assert.deepEqual(mismatches(body, [add(20, 0, 9, 0), store(1, 20, { a: 4 })]), []);
  assert.deepEqual(mismatches(body, [add(20, 0, 9, 0), spill({ b: 0 }), store(1, 20, { a: 4 })]), []);
  assert.deepEqual(mismatches(body, [add(20, 0, 9, 0), spill({ a: 9, b: 9 }), store(1, 20, { a: 4 })]), []);
  assert.deepEqual(mismatches(body, [add(20, 0, 9, 0), spill({ b: 0 }), store(1, 20)]), ['address 1!']);
});

test('a store to an address in a uniform register has its data in another field', () => {
  const body = ['ld.global.u32 %r1, [%d1];', 'ld.global.u32 %r2, [%d1+4];', 'st.global.u32 [%d2], %r1;', 'st.global.u32 [%d2+4], %r2;'];
  const stores = (first: number, second: number): Written[] =>
    [first, second].map((c, i) => fields({ code: 0x385, a: 4, c, line: at(2 + i) }, [32, 24, 4 * i], [72, 1, 1], [73, 3, 4]));
  const loads = [load(0, 20), load(1, 21, { displacement: 4 })];
  assert.deepEqual(mismatches(body, [...loads, ...stores(20, 21)]), []);
  assert.deepEqual(mismatches(body, [...loads, ...stores(21, 20)]), ['data 2', 'data 3']);
});

test('the data of a store has the origins of its line', () => {
  const body = [
    'ld.global.u32 %r1, [%d1+64];',
    'ld.global.u32 %r2, [%d1+68];',
    'st.global.u32 [%d2], %r1;',
    'st.global.u32 [%d2+4], %r2;',
    'add.u32 %r3, %r0, %r9;',
    'st.global.u32 [%d2+8], %r3;',
  ];
  const loads = [load(0, 20, { displacement: 64 }), load(1, 21, { displacement: 68 })];
  const to = (line: number, b: number, displacement: number): Written => store(line, b, { a: 4, displacement });
  const rest = [add(22, 0, 9, 4), to(5, 22, 8)];
  assert.deepEqual(mismatches(body, [...loads, to(2, 20, 0), to(3, 21, 4), ...rest]), []);
  assert.deepEqual(mismatches(body, [...loads, to(2, 21, 0), to(3, 20, 4), ...rest]), ['data 2', 'data 3']);
  assert.deepEqual(mismatches(body, [...loads, to(2, 20, 0), to(3, 21, 4), add(22, 0, 9, 4), to(5, 20, 8)]), ['data 5!']);
  assert.deepEqual(mismatches(body, [...loads, to(2, 20, 0), to(3, 21, 4), to(5, 0, 8)]), [], 'a part of the origins');
  assert.deepEqual(mismatches(body, [...loads, to(2, 255, 0), to(3, 21, 4), ...rest]), ['data 2']);
  // A copy has the origins of its source, on any path.
  assert.deepEqual(mismatches(body, [...loads, move(30, 20), to(2, 30, 0), to(3, 21, 4), ...rest]), []);
  assert.deepEqual(mismatches(body, [...loads, move(30, 21), to(2, 30, 0), to(3, 21, 4), ...rest]), ['data 2!']);
  const either = [...loads, move(30, 20), branch(5), move(30, 21), to(2, 30, 0), to(3, 21, 4), ...rest];
  assert.deepEqual(mismatches(body, either), []);
  // Displacements of one base are those of the PTX.
  assert.deepEqual(mismatches(body, [...loads, to(2, 20, 4), to(3, 21, 4), ...rest]), ['address 2']);
});

test('stored floating-point values are computed on their line', () => {
  const body = [
    'ld.global.f32 %f1, [%d1+64];',
    'add.f32 %f2, %f1, %f1;',
    'mul.f32 %f3, %f1, %f1;',
    'st.global.f32 [%d2], %f2;',
    'st.global.f32 [%d2+4], %f3;',
  ];
  const before = [load(0, 20, { displacement: 64 }), float(21, 20, 20, 1), { ...float(22, 20, 20, 2), code: 0x220 }];
  const to = (line: number, b: number, displacement: number): Written => store(line, b, { a: 4, displacement });
  assert.deepEqual(mismatches(body, [...before, to(3, 21, 0), to(4, 22, 4)]), []);
  assert.deepEqual(mismatches(body, [...before, to(3, 22, 0), to(4, 21, 4)]), ['data 3', 'data 4']);
  assert.deepEqual(mismatches(body, [...before, to(3, 20, 0), to(4, 22, 4)]), ['data 3']);
  assert.deepEqual(mismatches(body, [...before, to(3, 255, 0), to(4, 22, 4)]), ['data 3']);
  // Code without a line, copies, and lines without code are not evidence.
  assert.deepEqual(mismatches(body, [...before, { ...float(23, 20, 20, 1), line: undefined as never }, to(3, 23, 0), to(4, 22, 4)]), []);
  assert.deepEqual(mismatches(body, [before[0]!, before[2]!, to(3, 22, 0), to(4, 22, 4)]), []);
  assert.deepEqual(mismatches(body, [...before, move(23, 22), to(3, 23, 0), to(4, 22, 4)]), []);
  const pair = ['ld.global.f32 %f1, [%d1+64];', 'add.f32 %f2, %f1, %f1;', 'mul.f32 %f3, %f1, %f1;', 'st.global.v2.f32 [%d2], {%f2, %f3};'];
  assert.deepEqual(mismatches(pair, [...before, store(3, 21, { a: 4 }, 5)]), []);
  const turned = [before[0]!, float(22, 20, 20, 1), { ...float(21, 20, 20, 2), code: 0x220 }];
  assert.deepEqual(mismatches(pair, [...turned, store(3, 21, { a: 4 }, 5)]), ['data 3']);
  const zero = ['st.global.u32 [%d1], 0;', 'st.global.u32 [%d1+4], %r9;'];
  assert.deepEqual(mismatches(zero, [store(0, 255), store(1, 9, { displacement: 4 })]), []);
});

test('a store has the width of its line, unless it was split or merged; a load is executed', () => {
  const body = ['st.global.u64 [%d1], %d2;', 'ld.volatile.global.u32 %r1, [%d1+16]; '];
  assert.deepEqual(mismatches(body, [store(0, 4, {}, 5)]), []);
  assert.deepEqual(mismatches(body, [store(0, 4, {}, 4)]), ['data 0']);
  assert.deepEqual(mismatches(body, [store(0, 4, {}, 4), store(0, 5, { displacement: 4 }, 4)]), [], 'split');
  assert.deepEqual(mismatches(body, [store(0, 4, {}, 5), store(0, 4, {}, 4)]), ['data 0'], 'one of two copies');
  assert.deepEqual(mismatches(body, [store(0, 4, {}, 5), load(1, 20, { guard: 15, displacement: 16 })]), ['data 1']);
  assert.deepEqual(mismatches(body, [store(0, 4, {}, 5), load(1, 20, { guard: 8, displacement: 16 })]), []);
  assert.deepEqual(
    mismatches(body, [store(0, 4, {}, 5), load(1, 20, { guard: 15, displacement: 16 }), load(1, 20, { displacement: 16 })]),
    [],
  );
  const two = ['ld.global.u32 %r1, [%d1+64];', 'st.global.u32 [%d2], %r1;', 'st.global.u32 [%d2+4], %r9;'];
  const pair = [load(0, 20, { displacement: 64 }), move(21, 9)];
  assert.deepEqual(mismatches(two, [...pair, store(1, 20, { a: 4 }, 5)]), [], 'merged');
  assert.deepEqual(mismatches(two, [...pair, move(20, 9), store(1, 20, { a: 4 }, 5)]), ['data 1!']);
});

test('an atomic has the operands of its line; one that became a loop is not compared', () => {
  const body = ['red.global.add.u32 [%d1], %r0;', 'red.global.add.u32 [%d2], %r9;'];
  const red = (line: number, a: number, b: number): Written =>
    fields({ code: 0x98e, a, b, displacement: 0, line: at(line) }, [72, 1, 1], [73, 3, 0]);
  assert.deepEqual(mismatches(body, [red(0, 2, 0), red(1, 4, 9)]), []);
  assert.deepEqual(mismatches(body, [red(0, 4, 0), red(1, 2, 9)]), ['address 0!', 'address 1!']);
  assert.deepEqual(mismatches(body, [red(0, 2, 9), red(1, 4, 0)]), ['data 0!', 'data 1!']);
  assert.deepEqual(mismatches(body, [red(0, 4, 0), load(0, 20), red(1, 4, 9)]), []);
  assert.deepEqual(mismatches(body, [red(0, 4, 0), red(1, 4, 9), store(0, 0, { code: 0x387 })]), []);
});

test('words of constant bank 0 are dimensions and parameters, by architecture', () => {
  const name = (version: number, offset: number): string | number | null => {
    const leaf = constantLeaf(version, offset);
    return leaf && (leaf.kind === 'special' ? leaf.name.replace('special ', '') : leaf.offset);
  };
  const sizes = ['ntid.x', 'ntid.y', 'ntid.z', 'nctaid.x', 'nctaid.y', 'nctaid.z'];
  for (const [index, size] of sizes.entries()) assert.equal(name(80, 4 * index), size);
  const rows: readonly (readonly [number, number, string | number | null])[] = [
    [80, 24, null],
    [80, 0x15c, null],
    [80, 0x160, 0],
    [80, 0x164, 4],
    [89, 0x160, 0],
    [90, 0x160, null],
    [90, 0x210, 0],
    [90, 0, 'ntid.x'],
    [99, 0x210, 0],
    [100, 0x210, null],
    [100, 0x380, 0],
    [100, 0x37c, null],
    [100, 0, null],
    [100, 0x360, 'ntid.x'],
    [100, 0x368, 'ntid.z'],
    [100, 0x36c, null],
    [100, 0x370, 'nctaid.x'],
    [100, 0x378, 'nctaid.z'],
  ];
  for (const [version, offset, expected] of rows) assert.equal(name(version, offset), expected, `${version} ${offset}`);
  const specials = { 0: 'laneid', 0x21: 'tid.x', 0x22: 'tid.y', 0x23: 'tid.z', 0x25: 'ctaid.x', 0x26: 'ctaid.y', 0x27: 'ctaid.z' };
  for (const [register, expected] of Object.entries(specials)) assert.equal(specialLeaf(Number(register)), `special ${expected}`);
  assert.equal(specialLeaf(0x24), undefined);
  assert.deepEqual(parameterOffsets(kernelOf([])), { at: [0, 8, 16], bytes: 20 });
});

test('dimensions of the block that ptxas knows', () => {
  const rows: readonly (readonly [string, readonly number[] | undefined, number, readonly boolean[]])[] = [
    ['', undefined, 1024, [false, false, false]],
    ['.reqntid 64, 2, 1', [64, 2, 1], 64, [false, false, true]],
    ['.maxntid 64, 2, 1', undefined, 128, [false, false, false]],
    ['.maxntid 1, 1, 1', [1, 1, 1], 1, [true, true, true]],
    ['.maxntid 1, 2, 1', undefined, 2, [false, false, false]],
    ['.maxntid 2048, 1, 1', undefined, 1024, [false, false, false]],
    ['.reqntid 1, 64, 1', [1, 64, 1], 1, [true, false, true]],
  ];
  for (const [directives, threads, row, zeros] of rows) {
    const kernel = kernelOf([], directives);
    assert.deepEqual([knownThreads(kernel), longestRow(kernel)], [threads, row], directives);
    assert.deepEqual(
      ['x', 'y', 'z'].map((axis) => isZeroIn(kernel, `special tid.${axis}`)),
      zeros,
      directives,
    );
    assert.equal(isZeroIn(kernel, 'special ctaid.x'), false);
  }
});

test('the blocks that enter a loop also lead to its exits', () => {
  const kernel = kernelOf([
    'mov.u32 %r1, 0;',
    'L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r9;',
    '@%p1 bra L;',
    'M: add.u32 %r1, %r1, 2; setp.lt.u32 %p2, %r1, 99;',
    '@%p2 bra M;',
    'st.global.u32 [%d1], %r1;',
  ]);
  const ways = waysAroundLoops(kernel).map(({ predecessors, isStart }) => [[...predecessors].sort((a, b) => a - b), isStart]);
  const [first, second] = kernel.loops.map(({ header }): number => header).sort((a, b) => a - b) as [number, number];
  assert.equal(kernel.loops.length, 2);
  const entries = kernel.blocks[first]!.predecessors.filter((one) => one < first);
  const isBetween = kernel.blocks[second]!.predecessors.filter((one) => one < second);
  const end = kernel.blocks.findIndex(({ id, predecessors }) => id > second && predecessors.some((one) => one >= second));
  for (const one of entries) assert.ok((ways[isBetween[0]!]![0] as number[]).includes(one) || (ways[second]![0] as number[]).includes(one));
  // A path around the first loop may also go around the second one.
  for (const one of entries)
    assert.ok([second, end, ...isBetween].filter((block) => (ways[block]![0] as number[]).includes(one)).length >= 1);
  assert.deepEqual(ways.map(([, isStart]) => isStart).slice(0, 1), [true]);
  const atStart = kernelOf([
    'L: atom.global.add.u32 %r1, [%d1], 1; setp.lt.u32 %p1, %r1, %r9;',
    '@%p1 bra L;',
    'st.global.u32 [%d1], %r1;',
  ]);
  assert.ok(waysAroundLoops(atStart)[0]!.isStart);
});

test('origins of values of the PTX', () => {
  const leavesOf = (body: readonly string[], store: number, hasConditions = true): string => {
    const kernel = kernelOf(body);
    const source = new SourceOrigins(kernel);
    const found = kernel.blocks.flatMap(({ instructions }) => instructions).find(({ ptxLine }) => ptxLine === at(store))!;
    if (!hasConditions) return [...source.neededFor(found.arguments[1]!)].sort().join(', ');
    const { leaves, isOpen, isMerged } = source.of(found.arguments[1]!);
    return (
      [...leaves]
        .map((leaf) => leaf.replace(/^load (\d+)$/, (_, line) => `load ${Number(line) - firstLine}`))
        .sort()
        .join(', ') +
      (isOpen ? ' open' : '') +
      (isMerged ? ' merged' : '')
    );
  };
  const rows: readonly (readonly [string, string])[] = [
    ['mov.u32 %r1, 5;', ''],
    ['mov.u32 %r1, %ctaid.y;', 'special ctaid.y'],
    ['add.u32 %r1, %r0, %r9;', 'parameter 16, special tid.x'],
    ['cvt.u32.u64 %r1, %d2;', 'parameter 8'],
    ['ld.global.u32 %r1, [%d1];', 'load 0'],
    ['atom.global.add.u32 %r1, [%d1], 1;', 'load 0'],
    ['ld.local.u32 %r1, [%d1];', 'load 0 open'],
    ['mov.u32 %r1, %clock;', 'load 0'],
    ['setp.gt.u32 %p1, %r0, 3; selp.b32 %r1, %r9, 7, %p1;', 'parameter 16, special tid.x'],
    ['shfl.sync.idx.b32 %r1, %r9, 0, 31, -1;', 'parameter 16'],
  ];
  for (const [ptx, expected] of rows) assert.equal(leavesOf([ptx, 'st.shared.u32 [s], %r1;'], 1), expected, ptx);
  const joined = [
    'mov.u32 %r1, %r9;',
    'setp.gt.u32 %p1, %r0, 3;',
    '@%p1 bra J;',
    'ld.global.u32 %r1, [%d1];',
    'J: st.shared.u32 [s], %r1;',
  ];
  assert.equal(leavesOf(joined, 4), 'load 3, parameter 16, special tid.x merged');
  assert.equal(leavesOf(joined, 4, false), `load ${at(3)}, parameter 16`);
  const chosen = ['setp.gt.u32 %p1, %r0, 3; selp.b32 %r1, %r9, 7, %p1;', 'st.shared.u32 [s], %r1;'];
  assert.equal(leavesOf(chosen, 1, false), 'parameter 16');
  assert.equal(leavesOf(['ld.local.u32 %r1, [%d1];', 'st.shared.u32 [s], %r1;'], 1, false), '');
  const loop = [
    'mov.u32 %r1, %ctaid.x;',
    'L: add.u32 %r1, %r1, %r9;',
    'setp.lt.u32 %p1, %r1, 99;',
    '@%p1 bra L;',
    'st.shared.u32 [s], %r1;',
  ];
  assert.equal(leavesOf(loop, 4), 'parameter 16, special ctaid.x merged');
  assert.equal(leavesOf(loop, 4, false), 'parameter 16');
  const given = (ptx: string): number[] | null => {
    const kernel = kernelOf([ptx, 'st.shared.f32 [s], %f1;']);
    const found = kernel.blocks.flatMap(({ instructions }) => instructions).find(({ ptxLine }) => ptxLine === at(1))!;
    const lines = new SourceOrigins(kernel).givenAt(found.arguments[1]!);
    return lines && [...lines].map((line) => line - firstLine);
  };
  assert.deepEqual([given('ld.global.f32 %f1, [%d1];'), given('ld.shared.f32 %f1, [s+4];'), given('ld.f32 %f1, [%d1];')], [[0], [0], [0]]);
  assert.deepEqual([given('mov.b32 %f1, %r0;'), given('ld.local.f32 %f1, [%d1];'), given('mov.f32 %f1, 0f3F800000;')], [null, null, null]);
  assert.deepEqual(given('ld.global.f32 %f2, [%d1]; add.f32 %f1, %f2, %f2;'), [0]);
});

test('origins of values of the code', () => {
  const body = ['ld.global.u32 %r1, [%d1];', 'mov.u32 %r2, %clock;', 'add.u32 %r3, %r1, %r2; st.shared.u32 [s], %r3;'];
  const leavesOf = (code: readonly Written[], register = 30, version = 80): string => {
    const { flow, registers, lineOf } = codeOf(version, [...inputs, ...code, move(50, register), exit]);
    const found = new CodeOrigins(flow, registers, version, lineOf, kernelOf(body)).ofRegister(inputs.length + code.length, register);
    return found === null
      ? 'unknown'
      : found
          .map(
            ({ leaves, isOpen, isMerged }) =>
              [...leaves]
                .map((leaf) => leaf.replace(/^load (\d+)$/, (_, line) => `load ${Number(line) - firstLine}`))
                .sort()
                .join(', ') +
              (isOpen ? ' open' : '') +
              (isMerged ? ' merged' : ''),
          )
          .sort()
          .join(' | ');
  };
  const special = (register: number, line?: number, code = 0x919): Written => ({
    code,
    to: 30,
    set: [
      [72, 8, register],
      [80, 1, 0],
    ],
    ...(line !== undefined && { line: at(line) }),
  });
  const rows: readonly (readonly [string, readonly Written[], string])[] = [
    ['a load', [load(0, 30)], 'load 0'],
    ['a load on a line that does not load', [load(2, 30)], ' open'],
    ['a load without a line', [{ ...load(0, 30), line: undefined as never }], ' open'],
    ['a load from local memory', [{ ...load(0, 30), code: 0x983, a: 7 }], ' open'],
    ['a special register', [special(0x25)], 'special ctaid.x'],
    ['the zero of special registers', [special(255)], ''],
    ['a clock', [special(0x50, 1)], 'load 1'],
    ['a clock without a line', [special(0x50)], ''],
    ['another special register on the line of a clock', [special(0x34, 1)], 'load 1'],
    ['another special register', [special(0x34, 0)], ''],
    ['a constant', [{ code: 0xa02, to: 30, constant: 0x170, set: [[80, 1, 0]] }], 'parameter 16'],
    ['the upper half of a parameter', [{ code: 0xa02, to: 30, constant: 0x164, set: [[80, 1, 0]] }], 'parameter 0'],
    ['a dimension', [{ code: 0xa02, to: 30, constant: 4, set: [[80, 1, 0]] }], 'special ntid.y'],
    [
      'another bank',
      [
        {
          code: 0xa02,
          to: 30,
          constant: 4,
          set: [
            [54, 5, 3],
            [80, 1, 0],
          ],
        },
      ],
      '',
    ],
    ['a sum', [add(30, 0, 9)], 'parameter 16, special tid.x'],
    ['a sum with a constant', [{ code: 0xa10, to: 30, a: 0, constant: 0x168 }], 'parameter 8, special tid.x'],
    ['a wide load of parameters', [{ code: 0xb82, to: 29, constant: 0x168, set: [[73, 3, 6]] }], 'parameter 8'],
    ['a computed address of a constant', [{ code: 0x582, to: 30, c: 0 }], 'special tid.x'],
    [
      'a uniform register',
      [
        { code: 0xab9, to: 4, constant: 0x170, set: [[73, 3, 4]] },
        { code: 0xc02, to: 30, b: 4, set: [[80, 1, 0]] },
      ],
      'parameter 16',
    ],
    ['a copy', [move(31, 0), move(30, 31)], 'special tid.x'],
    ['a shuffle', [{ code: 0xf89, to: 30, a: 9 }], 'parameter 16'],
    ['a vote', [{ code: 0x806, to: 30 }], ' open'],
    ['a texture', [{ code: 0x361, to: 30 }], ' open'],
    ['unknown code', [{ code: 0xfff, to: 30 }], ' open'],
    ['nothing', [], ''],
    ['two definitions', [move(30, 0), branch(3), move(30, 9)], 'parameter 16 | special tid.x'],
    ['a copy of two definitions', [move(31, 0), branch(3), move(31, 9), move(30, 31)], 'parameter 16 | special tid.x'],
    ['a sum of two definitions', [move(31, 0), branch(3), move(31, 9), add(30, 31, 4)], 'parameter 16, parameter 8, special tid.x merged'],
  ];
  for (const [what, code, expected] of rows) assert.equal(leavesOf(code), expected, what);
  assert.equal(leavesOf([], 60, 100), 'unknown');
  assert.equal(leavesOf([special(0x34, 0)], 30, 100), ' open');
  assert.equal(leavesOf([special(0x50, 1)], 30, 100), 'load 1');
});

/** Lines of results without a use. */
function unused(ptx: readonly string[], code: readonly Written[], version = 80): number[] {
  const { flow, lineOf } = codeOf(version, [...inputs, ...code, exit]);
  return unusedResults(kernelOf(ptx), flow, version, lineOf).map((one) => (lineOf(one) ?? 0) - firstLine);
}

test('a result that the PTX uses and the code does not is found', () => {
  const body = [
    'ld.global.f32 %f1, [%d1];',
    'add.f32 %f2, %f1, %f1;',
    'st.global.f32 [%d2], %f2;',
    'add.u32 %r1, %r0, %r9;',
    'st.shared.u32 [s], %r1;',
    'setp.gt.u32 %p1, %r1, 7;',
    '@%p1 bra X;',
    'bar.sync 0;',
    'X: ret;',
  ];
  const [value, sum, to, index, other] = [
    load(0, 20),
    float(21, 20, 20, 1),
    store(2, 21, { a: 4 }),
    add(22, 0, 9, 3),
    shared(4, 255, 22),
  ] as const;
  assert.deepEqual(unused(body, [value, sum, to, index, other]), []);
  assert.deepEqual(unused(body, [value, sum, index, other]), [1]);
  assert.deepEqual(unused(body, [value, sum, to, index]), [3]);
  assert.deepEqual(unused(body, [value, index, other]), [0]);
  assert.deepEqual(unused(body, [value, sum, index, other], 100), []);
  // The line has no result that the PTX uses.
  assert.deepEqual(unused(body, [value, { ...sum, line: at(7) }, to, float(40, 20, 20, 7), index, other]), []);
  // Copies, upper halves of addresses, and integers that were computed again.
  assert.deepEqual(unused(body, [value, sum, to, { code: 0x219, to: 41, a: 0, b: 9, line: at(3) }, index, other]), []);
  assert.deepEqual(unused(body, [value, sum, to, { code: 0x224, to: 41, b: 9, c: 0, line: at(3) }, index, other]), []);
  assert.deepEqual(unused(body, [value, sum, to, { code: 0x224, to: 41, a: 0, b: 9, c: 0, line: at(3) }, index, other]), [3]);
  assert.deepEqual(unused(body, [value, sum, to, add(41, 0, 9, 3), index, other]), []);
  assert.deepEqual(unused(body, [value, sum, float(41, 20, 20, 1), to, index, other]), [1]);
  // With spills, only values that are not computed again count.
  const spill: Written = fields({ code: 0x387, a: 1, b: 0, displacement: 0 }, [73, 3, 4]);
  assert.deepEqual(unused(body, [spill, value, sum, to, index]), []);
  assert.deepEqual(unused(body, [spill, value, sum, index, other]), [1]);
  assert.deepEqual(
    unused(body, [spill, value, sum, to, fields({ code: 0x983, a: 1, to: 42, displacement: 0, line: at(0) }, [73, 3, 4]), index, other]),
    [],
  );
  // A load that only an unused copy of a computation uses.
  const twice = ['ld.global.u32 %r1, [%d1];', 'add.u32 %r2, %r1, %r9;', 'st.global.u32 [%d2], %r2;'];
  assert.deepEqual(unused(twice, [load(0, 20), add(21, 20, 9, 1), add(22, 0, 9, 1), store(2, 22, { a: 4 })]), [0]);
  assert.deepEqual(unused(twice, [load(0, 20), add(21, 20, 9, 1), add(22, 20, 9, 1), store(2, 22, { a: 4 })]), []);
  const branching = ['setp.gt.u32 %p1, %r0, 7;', '@%p1 bra X;', 'bar.sync 0;', 'X: ret;'];
  assert.deepEqual(unused(branching, [add(20, 0, 9, 0)]), [0]);
  const joined = ['mov.u32 %r1, 1;', 'setp.gt.u32 %p1, %r0, 7;', '@%p1 bra J;', 'add.u32 %r1, %r9, 3;', 'J: st.shared.u32 [s], %r1;'];
  assert.deepEqual(unused(joined, [add(20, 0, 9, 3)]), [3]);
});
