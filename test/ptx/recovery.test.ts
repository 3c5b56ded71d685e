/** Recovery after damage: which text is damaged, which statements and items survive, and where the error is. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModuleItem, PtxStatement } from '../../src/ptx/ast.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

const header = '.version 8.0\n.target sm_80\n.address_size 64\n';

/** Opcodes, labels and kinds of statements that are not declarations; damaged text is in angle brackets. */
function outline(body: readonly PtxStatement[]): string {
  return body
    .filter(({ kind }) => kind !== 'variable')
    .map((statement) => {
      if (statement.kind === 'scope') return `{ ${outline(statement.body)} }`;
      if (statement.kind === 'damage') return `<${statement.text}>`;
      if (statement.kind === 'label') return `${statement.name}:`;
      return statement.kind === 'instruction' ? statement.opcode : statement.kind;
    })
    .join(' ');
}

function itemText(item: ModuleItem): string {
  if (item.kind === 'damage') return `<${item.text}>`;
  if (item.kind === 'variable') return item.name;
  if (item.kind !== 'entry' && item.kind !== 'func') return item.kind;
  const marks = `${item.truncated ? ' truncated' : ''}${item.faulty ? ' faulty' : ''}`;
  return `${item.name}${item.body ? `(${outline(item.body)})` : ''}${marks}`;
}

type Case = readonly [text: string, items: string, errors: string];

/** Of a body; line 5 is the first of the text. */
const bodies: readonly Case[] = [
  ['mov.u32 %r1, 1\nadd.s32 %r1, %r1, 1;', 'k(<mov.u32 %r1, 1> add) faulty', '5:14 syntax'],
  ['mov.u32 %r1\nadd.s32 %r1, %r1, 1;', 'k(<mov.u32 %r1> add) faulty', '5:9 syntax'],
  ['mov.u32\nadd.s32 %r1, %r1, 1;', 'k(<mov.u32> add) faulty', '5:1 syntax'],
  ['mov.u32 %r1, 1 add.s32 %r1, %r1, 1;\nbar.sync 0;', 'k(<mov.u32 %r1, 1 add.s32 %r1, %r1, 1;> bar) faulty', '5:16 syntax'],
  ['mov.u32 %r1, (\n1\nadd.s32 %r1, %r1, 1;', 'k(<mov.u32 %r1, ( 1> add) faulty', '6:1 syntax'],
  ['ld.v2.u32 {%r1, %r2, [%rd1];\nbar.sync 0;', 'k(<ld.v2.u32 {%r1, %r2, [%rd1];> bar) faulty', '5:22 syntax'],
  ['ld.v2.u32 %r1, %r2}, [%rd1];\nbar.sync 0;', 'k(<ld.v2.u32 %r1, %r2}, [%rd1];> bar) faulty', '5:19 syntax'],
  ['mov.b64 %rd1, %r1, %r2};\nbar.sync 0;', 'k(<mov.b64 %rd1, %r1, %r2};> bar) faulty', '5:23 syntax'],
  ['setp.eq.s32 {%p1}|{%p2}|%p3, 1, 2;\nbar.sync 0;', 'k(<setp.eq.s32 {%p1}|{%p2}|%p3, 1, 2;> bar) faulty', '5:19 syntax'],
  ['{ mov.u32 %r1 }\nbar.sync 0;', 'k({ <mov.u32 %r1> } bar) faulty', '5:15 syntax'],
  ['{ mov.u32 %r1, {%r2 }\nbar.sync 0;\n}', 'k({ <mov.u32 %r1, {%r2 }> bar }) faulty', '5:21 syntax'],
  ['x y z\n@%p1 bar.sync 0;', 'k(<x y z> bar) faulty', '5:5 syntax'],
  ['x y z\n.reg .b32 t;\nbar.sync 0;', 'k(<x y z> bar) faulty', '5:5 syntax'],
  ['x y z\nL: bar.sync 0;', 'k(<x y z> L: bar) faulty', '5:5 syntax'],
  ['x y z\n{ bar.sync 0; }', 'k(<x y z { bar.sync 0;> <}>) faulty', '5:5 syntax, 6:15 syntax'],
  ['x y z\n{ .reg .b32 t; bar.sync 0; }', 'k(<x y z> { bar }) faulty', '5:5 syntax'],
  ['x y z\nret;\nbar.sync 0;', 'k(<x y z> ret bar) faulty', '5:5 syntax'],
  ['x y z\nbra L;\nL: bar.sync 0;', 'k(<x y z> bra L: bar) faulty', '5:5 syntax'],
  ['x y z\nfoo;\nbar.sync 0;', 'k(<x y z foo;> bar) faulty', '5:5 syntax'],
  ['x y z\n%p.x;\nbar.sync 0;', 'k(<x y z %p.x;> bar) faulty', '5:5 syntax'],
  ['} bar.sync 0;', 'k(<}> bar) faulty', '5:1 syntax'],
  ['} } bar.sync 0;', 'k(<}> <}> bar) faulty', '5:1 syntax, 5:3 syntax'],
  ['} @%p1 ret;', 'k(<}> ret) faulty', '5:1 syntax'],
  ['} { ret; }', 'k(<}> { ret }) faulty', '5:1 syntax'],
  ['} .reg .b32 t;', 'k(<}>) faulty', '5:1 syntax'],
  ['.extern .shared .b8 s[];\nbar.sync 0;', 'k(<.extern .shared .b8 s[];> bar) faulty', '5:1 syntax'],
  ['.extern .func f;\nbar.sync 0;', 'k() truncated faulty f <bar.sync 0; }>', '5:1 syntax, 6:1 syntax'],
  ['.visible .entry z() { ret; }', 'k() truncated faulty z(ret <}>) faulty', '5:1 syntax, 5:28 syntax'],
  ['.frob 1;\nbar.sync 0;', 'k(<.frob 1;> bar) faulty', '5:1 syntax'],
  ['.branchtargets L;\nbar.sync 0;', 'k(<.branchtargets L;> bar) faulty', '5:1 syntax'],
  ['.visible .b8 s;\nbar.sync 0;', 'k() truncated faulty <.visible .b8 s; bar.sync 0; }>', '5:1 syntax, 5:10 syntax'],
  ['L: .branchtargets 1 2;\nbar.sync 0;', 'k(<L: .branchtargets 1 2;> bar) faulty', '5:19 syntax'],
  ['@%p1 9;\nbar.sync 0;', 'k(<@%p1 9;> bar) faulty', '5:6 syntax'],
  [
    '// selvage.assume 1.5\n// selvage.assume -1.5\n// selvage.assume -3\n// selvage.assume 0x\n// selvage.assume x\n// selvage.assume xy\n// selvage.assume x.y\n// selvage.assume p',
    'k(marker <> marker <> marker marker <> <>) faulty',
    '6:1 marker, 8:1 marker, 11:1 marker, 12:1 marker',
  ],
  ['.loc 1 2 3 bar.sync 0;', 'k(loc bar)', ''],
  ['T: .branchtargets L<65>;', 'k(<T: .branchtargets L<65>;>) faulty', '5:24 limit'],
];

/** Of a module; line 5 is the first of the text. */
const modules: readonly Case[] = [
  ['3 .global .u32 x;\n.global .u32 y;', '<3 .global .u32 x;> y', '5:1 syntax'],
  ['3; .global .u32 x;\n.global .u32 y;', '<3;> x y', '5:1 syntax'],
  ['3 } .global .u32 x;\n.global .u32 y;', '<3 }> x y', '5:1 syntax'],
  ['3 .entry x() { ret; }', '<3> x(ret)', '5:1 syntax'],
  ['3 .reg .u32 x;\n.global .u32 y;', '<3 .reg .u32 x;> y', '5:1 syntax'],
  ['.global .u32 x\n.global .u32 y;', '<.global .u32 x> y', '6:1 syntax'],
  ['.global .u32 x y; .global .u32 z;', '<.global .u32 x y;> z', '5:16 syntax'],
  ['.file x\n.file 2 "b.cu"', '<.file x>', '5:7 syntax'],
  ['.section x\n.file 2 "b.cu"', '<.section x>', '5:10 syntax'],
  ['.entry a(.param .u64 p { ret; }\n.entry b() { ret; }', 'a(<.entry a(.param .u64 p {> ret) faulty b(ret)', '5:24 syntax'],
  ['.entry a(.param .u64 p\n.entry b() { ret; }', '<.entry a(.param .u64 p> b(ret)', '6:1 syntax'],
  ['.entry a(.param .u64 p;\n.entry b() { ret; }', '<.entry a(.param .u64 p;> b(ret)', '5:23 syntax'],
  ['.entry { ret; }\n.entry b() { ret; }', '<.entry { ret; }> b(ret)', '5:8 syntax'],
  ['.entry { { ret; } ret; }\n.entry b() { ret; }', '<.entry { { ret; } ret; }> b(ret)', '5:8 syntax'],
  ['.entry ;\n.entry b() { ret; }', '<.entry ;> b(ret)', '5:8 syntax'],
  ['.entry a() .maxntid\nret;\n}\n.entry b() { ret; }', 'a(<.entry a() .maxntid> ret) faulty b(ret)', '6:1 syntax'],
  ['.entry a()\n.reg .b32 x;\nret;\n}\n.entry b() { ret; }', 'a(<.entry a()> ret) faulty b(ret)', '6:1 syntax'],
  ['.entry a() { ret; } 3\n.entry b() { ret; }', 'a(ret) truncated faulty <3> b(ret)', '5:21 syntax'],
  ['.entry a() { ret; } .visible 3;\n.entry b() { ret; }', 'a(ret) truncated faulty <.visible 3;> b(ret)', '5:30 syntax'],
  ['.func a();\n3', 'a <3>', '6:1 syntax'],
  ['.entry a() { ret; }\n}\n.entry b() { ret; }', 'a(ret <}>) faulty b(ret)', '5:19 syntax'],
  ['.entry a() { ret;\n.visible .entry b() { ret; }', 'a(ret) truncated faulty b(ret)', '6:1 syntax'],
  ['.entry a() { ret; /* no end', 'a(ret) truncated faulty', '5:1 truncated'],
  ['.entry a() { ret; }\n/* no end', 'a(ret) truncated faulty', '6:1 truncated'],
  ['.entry a() { ret; }\n.section .debug_str { .b8 1,', 'a(ret) truncated faulty <.section .debug_str { .b8 1,>', '6:28 truncated'],
  ['.entry a() { ret; }\n.global .u32', 'a(ret) truncated faulty <.global .u32>', '6:9 truncated'],
];

for (const [what, cases, around] of [
  ['a body', bodies, (text) => `${header}.entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n${text}\n}\n`],
  ['a module', modules, (text) => `${header}\n${text}`],
] as const satisfies (readonly [string, readonly Case[], (text: string) => string])[])
  test(`recovery in ${what}`, () => {
    for (const [text, items, errors] of cases) {
      const { module, diagnostics } = parsePtx(around(text), 'k.ptx');
      assert.equal(module.items.map(itemText).join(' ').replaceAll('\n', ' '), items, text);
      const places = diagnostics.map(({ location, code }) => `${location!.line}:${location!.column} ${code.slice('ptx/'.length)}`);
      assert.equal(places.join(', '), errors, text);
    }
  });

test('a range of branch targets has at most 64 labels', () => {
  const targets = (text: string, count: number): string[] => {
    const labels = Array.from({ length: count }, (_, at) => `L${at}:`).join(' ');
    return parsePtx(`${header}.entry k() { M: T: .branchtargets ${text}; ${labels} ret; }`).diagnostics.map(({ code }) => code);
  };
  assert.deepEqual(targets('L<64>', 64), []);
  assert.deepEqual(targets('L<65>', 65), ['ptx/limit']);
  assert.deepEqual(targets('M, L<63>', 63), []);
  assert.deepEqual(targets('M, L<64>', 64), ['ptx/limit']);
});

test('scopes nest 200 deep', () => {
  const nested = (depth: number): string[] =>
    parsePtx(`${header}.entry k() {\n${'{ '.repeat(depth)} ret; ${' }'.repeat(depth)}\nret; }`).diagnostics.map(({ code }) => code);
  assert.deepEqual(nested(200), []);
  assert.deepEqual(nested(201), ['ptx/limit']);
});

test('initial values nest 16 deep', () => {
  const nested = (depth: number): string[] =>
    parsePtx(`${header}.global .u32 x = ${'{ '.repeat(depth)} 1 ${' }'.repeat(depth)};`).diagnostics.map(({ code }) => code);
  assert.deepEqual(nested(16), []);
  assert.deepEqual(nested(17), ['ptx/limit']);
});

test('100 errors are listed, the others are counted', () => {
  const errors = (count: number): string[] => {
    const text = `${header}.entry k() {\n${';\n'.repeat(count)}ret; }`;
    return parsePtx(text).diagnostics.map(({ message }) => message.split(' ', 1)[0]!);
  };
  assert.equal(errors(100).length, 100);
  assert.deepEqual(errors(101).slice(100), ['1']);
  assert.deepEqual(errors(300).slice(100), ['200']);
  // Errors of undeclared names count too.
  const undeclared = Array.from({ length: 130 }, (_, at) => `mov.u32 %x${at}, 1;`).join('\n');
  const { diagnostics } = parsePtx(`${header}.entry k() {\n${';\n'.repeat(90)}ret; }\n.entry l() {\n${undeclared}\n}`);
  assert.equal(diagnostics.length, 101);
  assert.match(diagnostics[100]!.message, /^120 further errors/);
  assert.equal(diagnostics[100]!.location?.line, diagnostics[99]!.location?.line);
});
