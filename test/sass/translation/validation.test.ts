/** Machine code of a few instructions against PTX: which instruction is missed, moved, weaker or of another access. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TranslationFault, validateTranslation } from '../../../src/sass/translation/translation.ts';
import { at, cubinOf, exit, fields, firstLine, functionOf, kernelOf, type Written } from './machine-code.ts';

/** Lines of bodies are counted from 0 in this file. */

/** `%r0` in R0, `%r9` in R9, `%d1` in R2 and R3, `%d2` in R4 and R5, the address of `s` plus 4 tid.x in R6. */
const inputs: readonly Written[] = [
  { code: 0x919, to: 0, set: [[72, 8, 0x21]] },
  { code: 0xa02, to: 9, constant: 0x170 },
  { code: 0xa02, to: 2, constant: 0x160 },
  { code: 0xa02, to: 3, constant: 0x164 },
  { code: 0xa02, to: 4, constant: 0x168 },
  { code: 0xa02, to: 5, constant: 0x16c },
];
const start = inputs.length;
/** Something on a line that has no required instruction. */
const code = (line: number): Written => ({ code: 0x210, to: 40, a: 0, b: 9, line: at(line) });
const barrier = (line: number, form = 0): Written => ({ code: 0xb1d, line: at(line), set: [[77, 2, form]] });
const fence = (line: number, scope: number, isSequential: boolean): Written => ({
  code: 0x992,
  line: at(line),
  set: [
    [76, 3, scope],
    [79, 1, isSequential ? 0 : 1],
  ],
});
const storeGlobal = (line: number, more: Partial<Written> = {}, type = 4): Written =>
  fields({ code: 0x986, a: 2, b: 0, displacement: 0, line: at(line), ...more }, [72, 1, 1], [73, 3, type]);
const storeShared = (line: number, more: Partial<Written> = {}, type = 4): Written =>
  fields({ code: 0x388, a: 6, b: 0, displacement: 0, line: at(line), ...more }, [73, 3, type]);
const loadGlobal = (line: number, more: Partial<Written> = {}, type = 4): Written =>
  fields({ code: 0x981, to: 20, a: 2, displacement: 0, line: at(line), ...more }, [72, 1, 1], [73, 3, type]);
const loadShared = (line: number, more: Partial<Written> = {}, type = 4): Written =>
  fields({ code: 0x984, to: 21, a: 6, displacement: 0, line: at(line), ...more }, [73, 3, type]);
const reduction = (line: number): Written =>
  fields({ code: 0x98e, a: 2, b: 0, displacement: 0, line: at(line) }, [72, 1, 1], [73, 3, 0], [77, 4, 7]);
const copy = (line: number): Written => fields({ code: 0xfae, to: 6, a: 2, line: at(line) }, [72, 1, 1], [73, 3, 4]);
const group = (line: number): Written => ({ code: 0x9af, line: at(line) });
const wait = (line: number, left: number): Written => ({
  code: 0x91a,
  line: at(line),
  set: [
    [32, 32, 0],
    [38, 6, left],
    [44, 3, 0],
  ],
});
const compare = (predicate: number, line: number): Written => ({ code: 0x20c, a: 0, b: 9, line: at(line), set: [[81, 3, predicate]] });
/** A branch to an instruction of the code after the inputs. */
const branch = (line: number | undefined, target: number, guard = 7): Written => ({
  code: 0x947,
  target: target + start,
  guard,
  ...(line !== undefined && { line: at(line) }),
});

function text(fault: TranslationFault): string {
  if (fault.kind === 'unseparated' || fault.kind === 'reversed')
    return `${fault.kind} ${fault.what} ${fault.earlier - firstLine}-${fault.later - firstLine}`;
  return `${fault.kind} ${fault.what} ${fault.ptxLine - firstLine}`;
}

interface Options {
  readonly kinds?: readonly TranslationFault['kind'][];
  readonly version?: number;
  readonly directives?: string;
}

/** The faults of some kinds; code ends with an exit. */
function faults(ptx: readonly string[], written: readonly Written[], { kinds, version = 80, directives }: Options = {}): string[] {
  const translation = validateTranslation(kernelOf(ptx, directives), cubinOf('k', version, [...inputs, ...written, exit]));
  assert.ok(translation.checked, JSON.stringify(translation));
  return translation.faults.filter(({ kind }) => !kinds || kinds.includes(kind)).map(text);
}
const missing = (ptx: readonly string[], written: readonly Written[], version = 80): string[] =>
  faults(ptx, written, { kinds: ['missing'], version });

test('each required instruction has code on its line', () => {
  const line = 'add.u32 %r1, %r0, 1; st.shared.u32 [s+512], %r1;';
  const other = [code(0), storeShared(0)];
  const rows: readonly (readonly [string, string, Written | undefined])[] = [
    ['barrier', 'bar.sync 0;', barrier(1)],
    ['barrier', 'bar.red.popc.u32 %r2, 0, %p1;', barrier(1, 2)],
    ['', 'bar.arrive 1, 64;', undefined],
    ['fence', 'fence.acq_rel.cta;', fence(1, 0, false)],
    ['fence', 'fence.acq_rel.gpu;', fence(1, 2, false)],
    ['fence', 'fence.sc.sys;', fence(1, 3, true)],
    ['fence', 'membar.gl;', fence(1, 2, true)],
    ['atomic', 'red.global.add.u32 [%d1], %r0;', reduction(1)],
    ['atomic', 'red.global.add.u32 [%d1], %r0;', storeGlobal(1)],
    ['store', 'st.global.u32 [%d1], %r0;', storeGlobal(1)],
    ['store', 'st.shared.u32 [s], %r0;', storeShared(1)],
    ['store', 'st.u32 [%d1], %r0;', { ...storeGlobal(1), code: 0x985 }],
    ['', 'st.local.u32 [%d1], %r0;', undefined],
    ['', 'ld.global.u32 %r2, [%d1];', undefined],
    ['store', 'wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d1], {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};', undefined],
    ['', 'wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%d1];', undefined],
    ['', 'ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r0];', undefined],
    ['copy', 'cp.async.ca.shared.global [%r0], [%d1], 4;', copy(1)],
    ['group', 'cp.async.commit_group;', group(1)],
    ['wait', 'cp.async.wait_group 1;', wait(1, 1)],
    ['mbarrier', 'mbarrier.init.shared.b64 [%r0], 64;', storeShared(1, {}, 5)],
  ];
  for (const [what, ptx, made] of rows) {
    const body = [line, ptx, line.replace('512', '516')];
    const rest = [...other, storeShared(2)];
    assert.deepEqual(missing(body, rest), what === '' ? [] : [`missing ${what} 1`], ptx);
    if (made) assert.deepEqual(missing(body, [...rest.slice(0, 2), made, ...rest.slice(2)]), [], ptx);
    // Code of an unknown kind may be any of them; code of another kind is not.
    assert.deepEqual(missing(body, [...rest, { code: 0xfff, line: at(1) }]), [], ptx);
    if (what !== '') assert.deepEqual(missing(body, [...rest, code(1)]), [`missing ${what} 1`], ptx);
  }
  const all = missing([line, 'cp.async.ca.shared.global [%r0], [%d1], 4;', 'cp.async.wait_all;'], [...other, copy(1), wait(2, 0)]);
  assert.deepEqual(all, ['missing group 2']);
});

test('a fence has the scope and the order of its PTX, a wait leaves at most its groups', () => {
  const around = (ptx: string) => ['st.shared.u32 [s], %r0;', ptx, 'st.shared.u32 [s+4], %r0;'];
  const of = (ptx: string, one: Written) => missing(around(ptx), [storeShared(0), one, storeShared(2)]);
  const scopes = ['cta', 'gpu', 'sys'];
  for (const [wanted, scope] of scopes.entries())
    for (const made of [0, 1, 2])
      for (const isSequential of [false, true]) {
        const encodings = [0, 2, 3];
        assert.deepEqual(
          of(`fence.acq_rel.${scope};`, fence(1, encodings[made]!, isSequential)),
          made >= wanted ? [] : ['missing fence 1'],
        );
        assert.deepEqual(
          of(`fence.sc.${scope};`, fence(1, encodings[made]!, isSequential)),
          made >= wanted && isSequential ? [] : ['missing fence 1'],
        );
      }
  assert.deepEqual(of('fence.acq_rel.cluster;'.replace('cluster', 'gpu'), fence(1, 4, false)), [], 'an unknown scope is the widest one');
  for (const left of [0, 1, 2])
    assert.deepEqual(of('cp.async.wait_group 1;', wait(1, left)), left <= 1 ? [] : ['missing wait 1'], String(left));
  // Another scoreboard is not that of copies.
  assert.deepEqual(
    of('cp.async.wait_group 1;', {
      ...wait(1, 0),
      set: [
        [32, 32, 0],
        [44, 3, 1],
      ],
    }),
    ['missing wait 1'],
  );
  // Of two fences one may be wider.
  assert.deepEqual(missing(around('fence.acq_rel.gpu;'), [storeShared(0), fence(1, 0, false), fence(1, 2, false), storeShared(2)]), []);
  // The smallest number of groups counts.
  assert.deepEqual(missing(around('cp.async.wait_group 1;'), [storeShared(0), wait(1, 3), wait(1, 1), wait(1, 2), storeShared(2)]), []);
});

test('a releasing atomic or store, and an arrival before sm_90, need a fence', () => {
  const rest = [storeShared(0), storeShared(2)];
  const around = (ptx: string) => ['st.shared.u32 [s], %r0;', ptx, 'st.shared.u32 [s+4], %r0;'];
  const of = (ptx: string, made: readonly Written[], version = 80) => missing(around(ptx), [rest[0]!, ...made, rest[1]!], version);
  const atomics: readonly (readonly [string, number, boolean])[] = [
    ['red.release.gpu.global.add.u32 [%d1], %r0;', 2, true],
    ['red.release.cta.global.add.u32 [%d1], %r0;', 0, true],
    ['red.relaxed.gpu.global.add.u32 [%d1], %r0;', 2, false],
    ['atom.acquire.gpu.global.add.u32 %r1, [%d1], %r0;', 2, false],
    ['atom.acq_rel.gpu.global.add.u32 %r1, [%d1], %r0;', 2, true],
  ];
  for (const [ptx, scope, needs] of atomics) {
    assert.deepEqual(of(ptx, [reduction(1)]), needs ? ['missing fence 1'] : [], ptx);
    assert.deepEqual(of(ptx, [fence(1, scope, false), reduction(1)]), [], ptx);
  }
  assert.deepEqual(of('st.release.gpu.global.u32 [%d1], %r0;', [storeGlobal(1)]), ['missing fence 1']);
  assert.deepEqual(of('st.relaxed.gpu.global.u32 [%d1], %r0;', [storeGlobal(1)]), []);
  const arrival: Written = fields({ code: 0x38c, to: 22, a: 6, b: 0, displacement: 0, line: at(1) }, [73, 3, 2]);
  const arrive = 'mbarrier.arrive.shared.b64 %d3, [%r0];';
  assert.deepEqual(of(arrive, [arrival]), ['missing fence 1']);
  assert.deepEqual(of(arrive, [fence(1, 0, false), arrival]), []);
  assert.deepEqual(of(arrive, []), ['missing mbarrier 1', 'missing fence 1']);
  assert.deepEqual(of(arrive, [arrival], 90), []);
  assert.deepEqual(of('mbarrier.test_wait.shared.b64 %p1, [%r0], %d1;', []), []);
});

test('an instruction is required if its block has code, or if all launches or the predicate of the code execute it', () => {
  const body = (...then: readonly string[]) => ['setp.gt.u32 %p1, %r0, 7;', '@%p1 bra END;', ...then, 'END: st.global.u32 [%d1], %r0;'];
  const store = 'st.shared.u32 [s], %r0;';
  const end = (index: number) => storeGlobal(index);
  assert.deepEqual(missing(body(store), [end(3)]), [], 'neither predicate nor block have code');
  assert.deepEqual(missing(body(store), [compare(0, 0), end(3)]), ['missing store 2'], 'the predicate has code');
  assert.deepEqual(
    missing(body('ld.volatile.shared.u32 %r1, [s+8];', store), [code(2), end(4)]),
    ['missing store 3'],
    'its block has code',
  );
  assert.deepEqual(
    missing(body('ld.volatile.shared.u32 %r1, [s+8];', store), [{ ...code(2), code: 0x918 }, end(4)]),
    [],
    'a NOP is not code',
  );
  assert.deepEqual(missing(body(store), [{ ...code(0), line: 5 }]), ['missing store 3'], 'each launch executes the last one');
  const combined = (operation: string) => [
    'setp.gt.u32 %p1, %r0, 7; setp.lt.u32 %p2, %r9, 5;',
    `${operation} %p3, %p1, %p2;`,
    '@%p3 bra END;',
    store,
    'END: st.global.u32 [%d1], %r0;',
  ];
  for (const operation of ['and.pred', 'or.pred', 'xor.pred'])
    assert.deepEqual(missing(combined(operation), [compare(0, 0), end(4)]), ['missing store 3'], operation);
  assert.deepEqual(missing(combined('and.pred'), [end(4)]), []);
  const both = [
    'setp.gt.u32 %p1, %r0, 7;',
    'setp.lt.u32 %p2, %r9, 5;',
    'and.pred %p3, %p1, %p2;',
    '@%p3 bra END;',
    store,
    'END: st.global.u32 [%d1], %r0;',
  ];
  assert.deepEqual(missing(both, [compare(0, 0), end(5)]), [], 'only one of two predicates has code');
  assert.deepEqual(missing(both, [compare(0, 0), compare(1, 1), end(5)]), ['missing store 4']);
  // Blocks after a block that has code.
  const after = body(
    'setp.lt.u32 %p2, %r9, 5; ld.volatile.shared.u32 %r1, [s+8];',
    '@%p2 bra JOIN;',
    'ld.volatile.shared.u32 %r2, [s+8];',
    `JOIN: ${store}`,
  );
  assert.deepEqual(missing(after, [code(4), end(6)]), ['missing store 5']);
});

test('stores may be merged into wider ones of the same base', () => {
  const two = ['st.global.u32 [%d1], %r0;', 'st.global.u32 [%d1+4], %r9;'];
  assert.deepEqual(missing(two, [storeGlobal(0, {}, 5)]), []);
  assert.deepEqual(missing(two, [storeGlobal(1, {}, 5)]), []);
  assert.deepEqual(missing(two, [storeGlobal(0, {}, 4)]), ['missing store 1']);
  const four = [...two, 'st.global.u32 [%d1+8], %r0;', 'st.global.u32 [%d1+12], %r9;'];
  assert.deepEqual(missing(four, [storeGlobal(0, {}, 6)]), []);
  assert.deepEqual(missing(four, [storeGlobal(0, {}, 5)]), ['missing store 1', 'missing store 2', 'missing store 3']);
  assert.deepEqual(missing(four, [storeGlobal(0, {}, 5), storeGlobal(2, {}, 5)]), []);
  // Bases may be recomputed: the spare bits of another base suffice.
  const bases = ['st.global.u32 [%d1], %r0;', 'st.global.u32 [%d2], %r9;'];
  assert.deepEqual(missing(bases, [storeGlobal(0, {}, 5)]), []);
  assert.deepEqual(missing(bases, [storeGlobal(0, {}, 4)]), ['missing store 1']);
  assert.deepEqual(missing([...bases, 'st.global.u64 [%d2+8], %d1;'], [storeGlobal(0, {}, 5)]), ['missing store 1', 'missing store 2']);
  // Spare bits that the same base needs are not those of another one.
  const mixed = [...two, 'st.global.u32 [%d2], %r9;'];
  assert.deepEqual(missing(mixed, [storeGlobal(0, {}, 5)]), ['missing store 2']);
});

test('code on another line of the same kind may be that of the instruction', () => {
  const body = ['st.global.u32 [%d1], %r0;', '// a line without an instruction', 'st.global.u32 [%d2], %r9;'];
  assert.deepEqual(missing(body, [storeGlobal(0)]), ['missing store 2']);
  assert.deepEqual(missing(body, [storeGlobal(0), storeGlobal(1)]), ['missing store 2'], 'a line without a computation');
  assert.deepEqual(
    missing(['st.global.u32 [%d1], %r0;', 'add.u32 %r1, %r0, %r9;', 'st.global.u32 [%d2], %r1;'], [storeGlobal(0), storeGlobal(1)]),
    [],
  );
  const fences = ['st.global.u32 [%d1], %r0;', 'add.u32 %r1, %r0, %r9;', 'fence.acq_rel.gpu;', 'st.global.u32 [%d2], %r1;'];
  assert.deepEqual(missing(fences, [storeGlobal(0), storeGlobal(3), fence(1, 2, false)]), []);
  assert.deepEqual(missing(fences, [storeGlobal(0), storeGlobal(3)]), ['missing fence 2']);
  const barriers = ['st.shared.u32 [s], %r0;', 'bar.sync 0;', 'st.shared.u32 [s], %r9;'];
  assert.deepEqual(missing(barriers, [storeShared(0), storeShared(2)]), ['missing barrier 1']);
});

test('a barrier on the line of an access, and an access on the line of a barrier, are strays', () => {
  const body = ['st.shared.u32 [s], %r0;', 'bar.sync 0;', 'ld.shared.u32 %r1, [s+4];', 'st.global.u32 [%d1], %r1;'];
  const strays = (...made: readonly Written[]) => faults(body, made, { kinds: ['stray'] });
  assert.deepEqual(strays(storeShared(0), barrier(1), loadShared(2), storeGlobal(3)), []);
  assert.deepEqual(strays(storeShared(1), barrier(0), loadShared(2), storeGlobal(3)), ['stray access 1', 'stray barrier 0']);
  assert.deepEqual(strays(loadShared(1)), ['stray access 1']);
  assert.deepEqual(strays(reduction(1)), ['stray access 1']);
  assert.deepEqual(strays({ ...storeShared(1), code: 0x387 }), [], 'a spill');
  assert.deepEqual(strays({ ...storeShared(1), line: 5 }), [], 'a line of a parameter');
  assert.deepEqual(strays(code(1)), []);
  const mixed = ['st.shared.u32 [s], %r0; bar.sync 0; st.shared.u32 [s], %r9;', 'membar.cta;'];
  assert.deepEqual(faults(mixed, [barrier(0), storeShared(0), storeShared(1)], { kinds: ['stray'] }), []);
});

test('accesses that only the code may execute without a separator between them are found', () => {
  const body = (separator: string) => ['st.shared.u32 [s], %r0;', separator, 'ld.shared.u32 %r1, [s+4];', 'st.global.u32 [%d1], %r1;'];
  const order = (separator: string, ...made: readonly Written[]) => faults(body(separator), made, { kinds: ['unseparated', 'reversed'] });
  const accesses = [storeShared(0), loadShared(2), storeGlobal(3)] as const;
  const rows: readonly (readonly [string, Written, string])[] = [
    ['bar.sync 0;', barrier(1), 'barrier'],
    ['fence.acq_rel.cta;', fence(1, 0, false), 'fence'],
    ['fence.acq_rel.gpu;', fence(1, 2, false), 'fence'],
    ['cp.async.wait_group 0;', wait(1, 0), 'wait'],
  ];
  for (const [ptx, separator, what] of rows) {
    assert.deepEqual(order(ptx, accesses[0], separator, accesses[1], accesses[2]), [], ptx);
    const moved = order(ptx, accesses[0], accesses[1], accesses[2], separator);
    assert.ok(moved.includes(`unseparated ${what} 0-2`) && moved.includes(`unseparated ${what} 0-3`), `${ptx} ${moved.join(', ')}`);
    assert.ok(order(ptx, separator, ...accesses).includes(`unseparated ${what} 0-2`), ptx);
  }
  // A fence of the block does not separate as one of the device does.
  const narrow = order('fence.acq_rel.gpu;', accesses[0], fence(1, 0, false), accesses[1], accesses[2]);
  assert.deepEqual([...new Set(narrow)], ['unseparated fence 0-2', 'unseparated fence 0-3']);
  // Loads of constant memory through another path are not ordered.
  const cached = ['st.shared.u32 [s], %r0;', 'bar.sync 0;', 'ld.global.nc.u32 %r1, [%d2];', 'st.global.u32 [%d1], %r1;'];
  assert.deepEqual(faults(cached, [storeShared(0), loadGlobal(2, { a: 4 }), barrier(1), storeGlobal(3)], { kinds: ['unseparated'] }), []);
  // One path around the barrier is enough.
  const around = order('bar.sync 0;', accesses[0], branch(1, 3, 0), barrier(1), accesses[1], accesses[2]);
  assert.deepEqual(around, ['unseparated barrier 0-2', 'unseparated barrier 0-3']);
  // Of several accesses before a barrier, each that is moved is found.
  const three = [
    'st.shared.u32 [s], %r0;',
    'st.shared.u32 [s+4], %r9;',
    'st.shared.u32 [s+8], %r0;',
    'bar.sync 0;',
    'ld.shared.u32 %r1, [s+4];',
  ];
  const [one, two, last] = [storeShared(0), storeShared(1, { b: 9 }), storeShared(2)];
  const late = (...made: readonly Written[]) => faults([...three, 'st.global.u32 [%d1], %r1;'], made, { kinds: ['unseparated'] });
  const rest = [loadShared(4), storeGlobal(5, { b: 21 })];
  assert.deepEqual(late(one, two, last, barrier(3), ...rest), []);
  assert.deepEqual(late(one, barrier(3), two, last, ...rest), [
    'unseparated barrier 1-4',
    'unseparated barrier 2-4',
    'unseparated barrier 1-5',
    'unseparated barrier 2-5',
  ]);
  // Arrivals do not separate.
  const arrival = order('bar.sync 0;', accesses[0], barrier(1, 1), accesses[1], accesses[2]);
  assert.deepEqual(arrival, ['unseparated barrier 0-2', 'unseparated barrier 0-3']);
});

test('a wait follows the copies that it is for', () => {
  const body = [
    'cp.async.ca.shared.global [%r0], [%d1], 4;',
    'cp.async.commit_group;',
    'cp.async.wait_group 0;',
    'ld.shared.u32 %r1, [%r0];',
    'st.global.u32 [%d1], %r1;',
  ];
  const order = (...made: readonly Written[]) => faults(body, made, { kinds: ['unseparated'] });
  const [one, two, three, four, five] = [copy(0), group(1), wait(2, 0), loadShared(3), storeGlobal(4)] as const;
  assert.deepEqual(order(one, two, three, four, five), []);
  assert.deepEqual(order(one, two, four, three, five), ['unseparated wait 0-3']);
  assert.deepEqual(order(three, one, two, four, five), ['unseparated wait 0-3', 'unseparated wait 0-4']);
});

test('an access moved before a warp barrier is found, unless the PTX may execute it there', () => {
  const body = ['st.shared.u32 [s], %r0;', 'bar.warp.sync -1;', 'ld.shared.u32 %r1, [s+4];', 'st.global.u32 [%d1], %r1;'];
  const order = (...made: readonly Written[]) => faults(body, made, { kinds: ['reversed'] });
  assert.deepEqual(order(storeShared(0), loadShared(2), storeGlobal(3)), []);
  assert.deepEqual(order(loadShared(2), storeShared(0), storeGlobal(3)), ['reversed warp barrier 0-2']);
  assert.deepEqual(order(storeGlobal(3), loadShared(2), storeShared(0)), ['reversed warp barrier 0-2', 'reversed warp barrier 0-3']);
  assert.deepEqual(faults(body.with(1, '// none'), [loadShared(2), storeShared(0), storeGlobal(3)], { kinds: ['reversed'] }), []);
  const loop = [
    'L: st.shared.u32 [s], %r0;',
    'bar.warp.sync -1;',
    'ld.shared.u32 %r1, [s+4];',
    'st.global.u32 [%d1], %r1; add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 9;',
    '@%p1 bra L;',
  ];
  assert.deepEqual(faults(loop, [loadShared(2), storeShared(0), storeGlobal(3)], { kinds: ['reversed'] }), []);
});

test('an access is at least as strong as on its line', () => {
  const of = (ptx: string, made: Written, version = 80) =>
    faults([ptx, 'st.shared.u32 [s], %r1;'], [made, storeShared(1)], { kinds: ['weaker'], version });
  const encodings = [0, 4, 5, 7, 10] as const;
  const reach = [0, 0, 1, 2, 3];
  const wanted: readonly (readonly [string, number])[] = [
    ['ld.global.u32 %r1, [%d1];', 0],
    ['ld.relaxed.cta.global.u32 %r1, [%d1];', 1],
    ['ld.relaxed.gpu.global.u32 %r1, [%d1];', 2],
    ['ld.acquire.gpu.global.u32 %r1, [%d1];', 2],
    ['ld.relaxed.sys.global.u32 %r1, [%d1];', 3],
    ['ld.volatile.global.u32 %r1, [%d1];', 3],
  ];
  for (const [ptx, scope] of wanted)
    for (const [index, encoding] of encodings.entries())
      assert.deepEqual(
        of(ptx, fields(loadGlobal(0), [77, 4, encoding])),
        reach[index]! < scope ? ['weaker access 0'] : [],
        `${ptx} ${encoding}`,
      );
  assert.deepEqual(of('ld.volatile.global.u32 %r1, [%d1];', fields(loadGlobal(0), [77, 4, 3])), [], 'an unknown encoding');
  assert.deepEqual(of('st.volatile.global.u32 [%d1], %r0;', fields(storeGlobal(0), [77, 4, 0])), ['weaker access 0']);
  assert.deepEqual(of('st.volatile.shared.u32 [s], %r0;', storeShared(0)), [], 'shared memory is coherent');
  assert.deepEqual(of('ld.relaxed.gpu.u32 %r1, [%d1];', { ...fields(loadGlobal(0), [77, 4, 5]), code: 0x980 }), ['weaker access 0']);
  // Before sm_80 the scope and the strength have separate fields.
  const old: readonly (readonly [number, number, number | undefined])[] = [
    [0, 2, 1],
    [1, 2, undefined],
    [2, 2, 2],
    [3, 2, 3],
    [2, 0, 0],
    [2, 1, 0],
  ];
  for (const [scope, strength, expected] of old) {
    const found = of('ld.relaxed.gpu.global.u32 %r1, [%d1];', fields(loadGlobal(0), [77, 2, scope], [79, 2, strength]), 75);
    assert.deepEqual(found, expected !== undefined && expected < 2 ? ['weaker access 0'] : [], `${scope} ${strength}`);
  }
  // Of several accesses of a line the weakest counts, and other kinds do not.
  const two = 'ld.relaxed.gpu.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+4];';
  assert.deepEqual(of(two, fields(loadGlobal(0), [77, 4, 0])), []);
  assert.deepEqual(of('atom.relaxed.gpu.global.add.u32 %r1, [%d1], 1;', fields(loadGlobal(0), [77, 4, 0])), []);
});

test('kernels that are not checked have a reason', () => {
  const reasonOf = (ptx: readonly string[], made: readonly Written[], bodies: Parameters<typeof cubinOf>[3] = [], symbol = 'k'): string => {
    const translation = validateTranslation(kernelOf(ptx), cubinOf(symbol, 80, [...inputs, ...made, exit], bodies));
    return translation.checked ? 'checked' : translation.reason;
  };
  const body = ['st.global.u32 [%d1], %r0;'];
  assert.equal(reasonOf(body, [storeGlobal(0)]), 'checked');
  assert.equal(reasonOf(body, [storeGlobal(0)], [], 'other'), 'the assembler made no code of it');
  assert.equal(reasonOf(body, [{ ...storeGlobal(0), line: undefined as never }]), 'its code has no lines of the PTX');
  assert.match(reasonOf(body, [storeGlobal(0), { code: 0x949 }]), /indirect/);
  const call: Written = { code: 0x944, target: 100 };
  assert.equal(reasonOf(body, [storeGlobal(0), call]), 'a call of a function that is not inlined');
  const divide = functionOf('$__internal_0_$__cuda_sm20_div_u64', 'k', [exit], 1600);
  assert.equal(reasonOf(body, [storeGlobal(0), call], [divide]), 'checked');
  assert.equal(reasonOf(body, [storeGlobal(0), call], [{ ...divide, symbol: 'user' }]), 'a call of a function that is not inlined');
  assert.equal(reasonOf(body, [storeGlobal(0), call], [{ ...divide, kernel: 'm' }]), 'a call of a function that is not inlined');
  assert.equal(reasonOf(body, [storeGlobal(0), { code: 0x343 }]), 'a call of a function that is not inlined');
  const printing = { ...cubinOf('k', 80, [...inputs, storeGlobal(0), { code: 0x343 }, exit]), callsRuntimeAlone: true };
  assert.ok(validateTranslation(kernelOf(body), printing).checked);
});

test('a called body that waits is a barrier', () => {
  const body = ['st.shared.u32 [s], %r0;', 'bar.sync 1, 64;', 'ld.shared.u32 %r1, [s+4];', 'st.global.u32 [%d1], %r1;'];
  const call: Written = { code: 0x944, target: 100, line: at(1) };
  const of = (symbol: string): string[] => {
    const written = [...inputs, storeShared(0), call, loadShared(2), storeGlobal(3), exit];
    const translation = validateTranslation(kernelOf(body), cubinOf('k', 80, written, [functionOf(symbol, 'k', [exit], 1600)]));
    assert.ok(translation.checked);
    return translation.faults.filter(({ kind }) => kind === 'missing' || kind === 'unseparated').map(text);
  };
  assert.deepEqual(of('__cuda_sm70_barrier_sync'), []);
  assert.deepEqual(of('__cuda_sm20_div_u64'), ['missing barrier 1', 'unseparated barrier 0-2', 'unseparated barrier 0-3']);
});
