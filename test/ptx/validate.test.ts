/** Rules beyond the grammar: declarations and labels, with the line of each error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePtx } from '../../src/ptx/parser.ts';

const header = '.version 8.6\n.target sm_90a\n.address_size 64\n';

function errorsOf(text: string): string[] {
  return parsePtx(text, 'k.ptx').diagnostics.map(
    ({ code, location, message }) => `${location!.line} ${code.slice(4)} ${/`[^`]*`/.exec(message)?.[0] ?? ''}`,
  );
}

/** Line 5 is the first of the statements. */
const inBody = (text: string, before = ''): string =>
  `${header}${before}.entry k(.param .u64 p) { .reg .pred %p<4>; .reg .b32 %r<9>;\n${text}\n}\n`;

test('names of operands are declared, each error once', () => {
  const cases: [string, string[]][] = [
    ['mov.b64 {%r1, %x1}, 1;', ['5 undeclared `%x1`']],
    ['mov.b64 1, {%x1, %x2};', ['5 undeclared `%x1`', '5 undeclared `%x2`']],
    ['setp.eq.s32 %x1|%x2, 1, 2;', ['5 undeclared `%x1`', '5 undeclared `%x2`']],
    ['and.pred %p1, !%x1, %p2;', ['5 undeclared `%x1`']],
    ['add.s32 %r1, -%x1, 1;', ['5 undeclared `%x1`']],
    ['ld.u32 %r1, [%x1];', ['5 undeclared `%x1`']],
    ['ld.u32 %r1, [x1];', ['5 undeclared `x1`']],
    ['ld.u32 %r1, [16];', []],
    ['ld.u32 %r1, x1[%x2];', ['5 undeclared `x1`', '5 undeclared `%x2`']],
    ['tex.1d.v4.f32.s32 %r1, [x1, x2, {%x3}];', ['5 undeclared `x1`', '5 undeclared `x2`', '5 undeclared `%x3`']],
    ['call (x1), x2, (x3);', ['5 undeclared `x1`', '5 undeclared `x2`', '5 undeclared `x3`']],
    ['vadd.u32.u32.u32 %r1, %x1.b0, %r2.b9;', ['5 undeclared `%x1`', '5 undeclared `%r2.b9`']],
    ['mov.u32 %r1, %r2.x; mov.u32 %r1, %r2.a; mov.u32 %r1, %r2.h1; mov.u32 %r1, %r2.b10;', []],
    ['mov.u32 %r1, %r2.h8;', ['5 undeclared `%r2.h8`']],
    ['mov.u32 %r1, _; mov.f32 %r1, 0f00000000;', []],
    ['@%x1 ret; @!%x1 ret; @%x2 ret;', ['5 undeclared `%x1`', '5 undeclared `%x2`']],
    ['// selvage.assume %x1\nret;', ['5 undeclared `%x1`']],
    ['bra x1;', ['5 undefined-label `x1`']],
    ['brx.idx %r1, x1;', ['5 undefined-label `x1`']],
    ['bra x1; bra x1; bra x2;', ['5 undefined-label `x1`', '5 undefined-label `x2`']],
    ['mov.u64 %r1, L; L:', []],
    ['T: .calltargets x1, k;', ['5 undeclared `x1`']],
    ['T: .branchtargets x1, L; L:', ['5 undefined-label `x1`']],
    ['mov.u32 %r1, p;', []],
    // A label does not declare a register.
    ['L: mov.u32 %L, 1;', ['5 undeclared `%L`']],
  ];
  for (const [text, expected] of cases) assert.deepEqual(errorsOf(inBody(text)), expected, text);
});

test('declarations: once in a scope, before their use, and none of a special register', () => {
  const cases: [string, string[]][] = [
    ['.reg .b32 a;\n.reg .b32 a;', ['6 duplicate `a`']],
    ['.reg .b32 a;\n.shared .b32 a;', ['6 duplicate `a`']],
    ['.reg .b32 a<3>;\n.reg .b32 a<3>;', ['6 duplicate `a<>`']],
    ['.reg .b32 a<3>;\n.reg .b32 a;', []],
    ['.reg .b32 a<3>;\n.reg .b32 a2;', ['6 duplicate `a2`']],
    ['.reg .b32 a<3>;\n.reg .b32 a3;', []],
    ['.reg .b32 a;\n{ .reg .b32 a; }', []],
    ['.reg .b32 a<3>;\n{ .reg .b32 a2; }', []],
    ['{ .reg .b32 a; }\n{ .reg .b32 a; mov.b32 a, a; }', []],
    ['{ .reg .b32 a; }\nmov.b32 a, 1;', ['6 undeclared `a`']],
    ['{ .reg .b32 a; mov.b32 a, 1; }\nmov.b32 %r1, a;', ['6 undeclared `a`']],
    // An inner scope ends, and a register of the outer one is still known.
    ['.reg .b32 a; mov.b32 a, 1; { .shared .b32 a; mov.b64 %r1, a; }\nmov.b32 a, 2;', []],
    ['mov.b32 %r1, a;\n.reg .b32 a;', ['5 undeclared `a`']],
    ['a: .reg .b32 a;', ['5 duplicate `a`']],
    ['a: { .reg .b32 a; }', []],
    ['a:\na: ret;', ['6 duplicate `a`']],
    ['a: { a: ret; }', []],
    ['a:\na: .calltargets k;', ['6 duplicate `a`']],
    ['.shared .b32 _x; .reg .b32 %tidx, %clocks<9>;', []],
    ['.reg .b32 %tid;', ['5 duplicate `%tid`']],
    ['.shared .b32 %laneid;', ['5 duplicate `%laneid`']],
    ['.reg .b32 %clock<65>;', ['5 duplicate `%clock`']],
    ['.reg .b32 %clock<64>;', []],
    ['.reg .b32 %pm<1>;', ['5 duplicate `%pm`']],
    ['.reg .b32 %envreg<1>;', ['5 duplicate `%envreg`']],
    ['.reg .b32 %reserved_smem_offset_<1>;', ['5 duplicate `%reserved_smem_offset_`']],
    ['.global .u64 a = b;', ['5 undeclared `b`']],
    ['.global .u64 a[2] = {1, b};', ['5 undeclared `b`']],
    ['.global .u64 a = k;', []],
    ['.param .b32 p;', ['5 duplicate `p`']],
    ['{ L: ret; }\nbra L;', ['6 undefined-label `L`']],
    ['L: { bra L; { bra L; } }', []],
    ['{ bra L; }\nL: ret;', []],
  ];
  for (const [text, expected] of cases) assert.deepEqual(errorsOf(inBody(text)), expected, text);
});

test('items: bodies, declarations, parameters', () => {
  const cases: [string, string[]][] = [
    ['.entry k();', ['4 no-body `k`']],
    ['.entry k();\n.entry k() { ret; }', []],
    ['.func k();', []],
    ['.func k() { ret; }\n.func k() { ret; }', ['5 duplicate `k`']],
    ['.func k();\n.func k();\n.func k() { ret; }', []],
    ['.global .u32 a;\n.global .u32 a;', ['5 duplicate `a`']],
    ['.extern .global .u32 a;\n.global .u32 a;\n.global .u32 a;', ['6 duplicate `a`']],
    ['.global .u32 a;\n.extern .global .u32 a;\n.global .u32 a;', []],
    ['.global .u64 a[2] = {1, b};', ['4 undeclared `b`']],
    ['.global .u64 a = k;\n.func k();', []],
    ['.func (.reg .b32 a) k(.reg .b32 b) { mov.b32 a, b; ret; }', []],
    ['.func (.param .b32 a) k(.param .b32 a) { ret; }', ['4 duplicate `a`']],
    ['.func k(.param .b32 _, .param .b32 _) { ret; }', []],
    ['.func k(.param .b32 a) { mov.b32 %a, a; ret; }', ['4 undeclared `%a`']],
    ['.func k(.reg .b32 %tid) { ret; }', ['4 duplicate `%tid`']],
    ['.global .u32 a;\n.func k(.param .b32 a) { .reg .b32 a; ret; }', ['5 duplicate `a`']],
    ['.func k() { .reg .b32 a; }\n.func l() { mov.b32 a, 1; }', ['5 undeclared `a`']],
    ['.global .u32 a;\n.func k() { mov.b32 a, a; ld.u32 %r1, [a]; }', ['5 undeclared `%r1`']],
    // A declaration may be missing because of damage; then only registers and labels are reported.
    ['3;\n.func k() { .reg .b32 a; mov.b32 a, b; bra L; mov.b32 %c, a; }', ['4 syntax `3`', '5 undefined-label `L`', '5 undeclared `%c`']],
  ];
  for (const [text, expected] of cases) assert.deepEqual(errorsOf(header + text), expected, text);
});

test('only the functions with errors are faulty', () => {
  const faulty = (text: string): unknown[] =>
    parsePtx(header + text).module.items.map((item) => (item.kind === 'entry' || item.kind === 'func' ? item.faulty === true : null));
  assert.deepEqual(faulty('.entry a() { ret; } .entry b() { bra L; } .global .u64 x = y; .func c() { ret; }'), [false, true, null, false]);
  assert.deepEqual(faulty('.entry a() { ret; } .entry b();'), [false, false]);
  assert.deepEqual(faulty('.func a() { ret; } .func a() { ret; }'), [false, true]);
});
