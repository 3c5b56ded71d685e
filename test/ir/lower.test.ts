import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { verifyKernel } from './form/verify.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Diagnostic } from '../../src/source/diagnostic.ts';

function lower(text: string): { kernels: Kernel[]; diagnostics: Diagnostic[] } {
  const lowered = lowerModule(parsePtx(`.version 9.0\n.target sm_80\n.address_size 64\n${text}`).module);
  lowered.kernels.forEach(verifyKernel);
  return lowered;
}

function lowerOne(text: string): Kernel {
  const [kernel] = lower(text).kernels;
  assert.ok(kernel);
  return kernel;
}

function golden(name: string): { kernels: Kernel[]; diagnostics: Diagnostic[] } {
  return lowerModule(parsePtx(readFileSync(new URL(`golden/${name}.ptx`, import.meta.url), 'utf8')).module);
}

function instructions(kernel: Kernel): Kernel['blocks'][number]['instructions'] {
  return kernel.blocks.flatMap((block) => block.instructions);
}

test('inlined instructions carry the chain of calls', () => {
  const [kernel] = golden('inline').kernels;
  const shifts = instructions(kernel!).filter((instruction) => instruction.operation.opcode === 'shl');
  assert.deepEqual(
    shifts.map(({ location }) => [location?.file, location?.line, location?.inlinedAt?.file, location?.inlinedAt?.line]),
    [
      ['twice.cuh', 8, 'kernel.cu', 21],
      ['twice.cuh', 8, 'kernel.cu', 22],
    ],
  );
  // A callee without .loc has the location of its call.
  const store = instructions(kernel!).find((instruction) => instruction.operation.opcode === 'st');
  assert.equal(store?.location?.file, 'kernel.cu');
  assert.equal(store?.location?.line, 22);
});

test('unknown instructions and functions are reported once and make the kernel unsupported', () => {
  const { kernels, diagnostics } = golden('calls');
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ['ptx/undefined-function', 'ptx/unknown-instruction'],
  );
  const [known, unknown] = kernels;
  assert.deepEqual(known?.unsupported, []);
  const reasons = unknown?.unsupported.map(({ reason }) => reason) ?? [];
  for (const part of ['elsewhere', 'recursion', 'frobnicate', 'call through a pointer']) {
    assert.ok(
      reasons.some((reason) => reason.includes(part)),
      part,
    );
  }
});

test('a local variable passed to an unknown function stays in memory', () => {
  const unknown = golden('calls').kernels[1]!;
  assert.ok(unknown.objects.some((object) => object.symbol === 'buffer'));
  const call = instructions(unknown).find(
    (instruction) => instruction.operation.effect.kind === 'opaque' && instruction.operation.opcode === 'call',
  );
  assert.equal(call?.arguments[0]?.kind, 'address');
});

test('dead loads of memory that others write stay, dead loads of parameters are removed', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<4>;
    ld.param.u64 %rd1, [p];
    ld.param.u32 %r1, [p+4];
    ld.global.u32 %r2, [%rd1];
    ld.u32 %r3, [%rd1+4];
    atom.global.add.u32 %r1, [%rd1+8], 1;
    ret;
  }`);
  assert.deepEqual(
    instructions(kernel).map(({ operation }) => operation.mnemonic),
    ['ld.param.u64', 'ld.global.u32', 'ld.u32', 'atom.global.add.u32'],
  );
});

test('code after an assertion postdominates it, code after an early exit does not', () => {
  const text = (leave: string): string => `.visible .entry k(.param .u32 n) {
    .reg .pred %p<2>; .reg .b32 %r<2>;
    ld.param.u32 %r1, [n];
    setp.eq.s32 %p1, %r1, 0;
    @%p1 bra $fine;
    ${leave};
  $fine:
    bar.sync 0;
    ret;
  }`;
  assert.equal(lowerOne(text('trap')).postdominators[0], 1);
  assert.equal(lowerOne(text('exit')).postdominators[0], null);
});

test('nested loops are found, with exits and latches', () => {
  const [kernel, forever, irreducible] = golden('loops').kernels;
  assert.equal(kernel!.loops.length, 2);
  const [outer, inner] = kernel!.loops;
  assert.equal(outer!.parent, null);
  assert.equal(inner!.parent, outer!.id);
  assert.ok(outer!.blocks.size > inner!.blocks.size && outer!.blocks.has(inner!.header));
  assert.deepEqual(inner!.latches, [inner!.header]);
  assert.equal(kernel!.loopOf[inner!.header], inner!.id);
  assert.equal(outer!.exits.length, 1);
  assert.deepEqual(forever!.loops[0]!.exits, []);
  assert.deepEqual(
    irreducible!.unsupported.map(({ reason }) => reason),
    ['irreducible control flow'],
  );
});

test('a stack frame is split into its variables, under the assumption that indices stay inside', () => {
  const [slots, escapes] = golden('slots').kernels;
  assert.equal(slots!.assumesLocalBounds, true);
  assert.equal(escapes!.assumesLocalBounds, false);
});

test('a frame whose pointer has other uses stays whole', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) {
    .local .align 8 .b8 __local_depot0[16]; .reg .b64 %SP; .reg .b64 %SPL; .reg .b64 %rd<4>; .reg .b32 %r<2>;
    mov.u64 %SPL, __local_depot0;
    cvta.local.u64 %SP, %SPL;
    ld.param.u64 %rd1, [p];
    st.u32 [%SP+0], 1;
    add.u64 %rd2, %SP, 8;
    add.s64 %rd3, %SP, %rd1;
    st.u32 [%rd3], 2;
    st.u32 [%rd2], 3;
    ld.u32 %r1, [%SP+0];
    st.u32 [%rd1], %r1;
    ret;
  }`);
  const locals = kernel.objects.filter((object) => object.space === 'local');
  assert.deepEqual(
    locals.map((object) => object.bytes),
    [16],
  );
  assert.equal(instructions(kernel).filter(({ operation }) => operation.mnemonic === 'ld.u32').length, 1);
});

test('an access past the end of a local object keeps it in memory', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) {
    .local .align 4 .b8 a[4]; .reg .b64 %rd<2>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p];
    st.local.u32 [a], 7;
    ld.local.u32 %r1, [a+2];
    st.global.u32 [%rd1], %r1;
    ret;
  }`);
  assert.ok(kernel.objects.some((object) => object.symbol === 'a'));
});

test('a stack slot that contains its own address keeps writes made through that address', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) {
    .local .align 8 .b8 a[16]; .reg .b64 %rd<5>; .reg .b32 %r<3>;
    ld.param.u64 %rd1, [p];
    mov.u64 %rd2, a;
    cvta.local.u64 %rd3, %rd2;
    st.u64 [%rd3], %rd3;
    st.u32 [%rd3+8], 1;
    ld.u64 %rd4, [%rd3];
    st.u32 [%rd4+8], 2;
    ld.u32 %r1, [%rd3+8];
    st.global.u32 [%rd1], %r1;
    ret;
  }`);
  const last = instructions(kernel).at(-1)!;
  assert.equal(last.operation.mnemonic, 'st.global.u32');
  assert.notDeepEqual(last.arguments[1], { kind: 'constant', type: 32, value: 1n });
});

test('module variables keep their initial bytes, and the addresses in them', () => {
  const kernel = lowerOne(`
  .const .align 4 .f32 table[3][2] = {{0f3F800000, 0f40000000}, {0f40400000}};
  .global .align 8 .u64 pointer[3] = {7, generic(ring)+8, generic(outside)};
  .global .align 8 .u64 ring = generic(ring);
  .global .align 1 .b8 masked[2] = {0xff(ring), 0xff00(ring)};
  .global .align 8 .u64 unused = generic(ring);
  .extern .global .align 4 .u32 outside;
  .extern .shared .align 16 .b8 dynamic[];
  .visible .entry k() {
    .reg .b64 %rd<3>; .reg .b32 %r<3>;
    ld.const.u32 %r1, [table+4];
    st.global.u32 [outside], %r1;
    st.global.u64 [pointer], 0;
    st.global.u8 [masked], 0;
    st.shared.u32 [dynamic+8], 1;
    ret;
  }`);
  const object = (symbol: string): Kernel['objects'][number] => kernel.objects.find((one) => one.symbol === symbol)!;
  assert.deepEqual([...object('table').initial!], [0, 0, 128, 63, 0, 0, 0, 64, 0, 0, 64, 64, ...new Array<number>(12).fill(0)]);
  const ring = object('ring').id;
  assert.equal(object('pointer').external, false);
  assert.deepEqual(object('pointer').addresses, [
    { at: 8, object: ring, offset: 8n },
    { at: 16, object: object('outside').id, offset: 0n },
  ]);
  assert.deepEqual([...object('pointer').initial!], [7, ...new Array<number>(23).fill(0)]);
  assert.deepEqual(object('ring').addresses, [{ at: 0, object: ring, offset: 0n }]);
  assert.equal(object('masked').external, true);
  assert.equal(object('unused'), undefined);
  assert.equal(object('outside').external, true);
  assert.equal(object('dynamic').bytes, null);
});

test('the workspace of the grid exists in runs, and its address is unconstrained in proofs', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) {
    .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
    mov.u32 %r1, %envreg1;
    mov.u32 %r2, %envreg2;
    mov.u32 %r3, %envreg3;
    st.global.u32 [%rd1], %r1;
    st.global.u32 [%rd1+4], %r2;
    st.global.u32 [%rd1+8], %r3;
    ret;
  }`);
  const unknown = instructions(kernel).filter(({ operation }) => operation.effect.kind === 'havoc');
  assert.equal(unknown.length, 3);
  assert.equal(kernel.objects[kernel.workspace!]?.space, 'global');
  assert.equal(lowerOne('.visible .entry k() { ret; }').workspace, undefined);
});

test('directives of the entry bound its launches', () => {
  const kernel = lowerOne('.visible .entry k(.param .align 8 .b8 s[24])\n.reqntid 32, 4\n.maxntid 128\n{ ret; }');
  assert.deepEqual(kernel.requiredThreads, [32, 4, 1]);
  assert.deepEqual(kernel.maximumThreads, [128, 1, 1]);
  assert.deepEqual(kernel.parameters, [{ index: 0, symbol: 's', type: 'b8', bytes: 24, alignment: 8 }]);
});

test('markers and their operands are preserved by lowering', () => {
  const kernel = lowerOne(`.visible .entry k() {
    .reg .b32 %r<3>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    // selvage.assume %r1;
    // selvage.unknown %r2
    // SELVAGE_CANDIDATE 3
    ret;
  }`);
  assert.deepEqual(
    instructions(kernel).map(({ marker, arguments: operands, results }) => [marker, operands.length, results.length]),
    [
      [{ name: 'assume' }, 1, 0],
      [{ name: 'unknown' }, 0, 1],
      [{ name: 'candidate', number: 3 }, 0, 0],
    ],
  );
});

test('damaged or truncated text and undeclared names make a kernel unsupported', () => {
  const bodies = ['§ nonsense §;', 'add.s32 %r1, %r2, %missing;', 'bra $nowhere;', 'add.s32 %r1, %r2;', '@%r1 bar.sync 0;'];
  for (const body of bodies) {
    const kernel = lowerOne(`.visible .entry k() { .reg .b32 %r<4>; ${body} ret; }`);
    assert.ok(kernel.unsupported.length > 0, body);
  }
  assert.ok(lowerOne('.visible .entry k() { .reg .b32 %r<4>; bar.sync 0;').unsupported.length > 0);
});

/** A kernel that stores the result of a function of two parameters, which `make` writes into `%r5`. */
function ofProduct(make: string): string[] {
  const { kernels } = lower(`
.func (.param .b32 result) product(.param .b32 a, .param .b32 b)
{
  .reg .b32 %r<9>;
  ld.param.u32 %r1, [a];
  ld.param.u32 %r2, [b];
  ${make}
  st.param.b32 [result+0], %r5;
  ret;
$end:
}
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  .param .b32 first;
  .param .b32 second;
  .param .b32 result;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %ctaid.x;
  st.param.b32 [first], %r1;
  st.param.b32 [second], 48;
  call.uni (result), product, (first, second);
  ld.param.b32 %r2, [result];
  st.global.u32 [%rd1], %r2;
  ret;
}`);
  return instructions(kernels[0]!).map(({ operation }) => operation.mnemonic);
}

test('functions that truncate both factors to 24 bits are mul24', () => {
  const unsigned = 'and.b32 %r3, %r1, 16777215; and.b32 %r4, %r2, 16777215; mul.lo.s32 %r5, %r3, %r4;';
  const signed = 'shl.b32 %r6, %r1, 8; shr.s32 %r3, %r6, 8; shl.b32 %r7, %r2, 8; shr.s32 %r4, %r7, 8; mul.lo.s32 %r5, %r3, %r4;';
  assert.ok(ofProduct(unsigned).includes('mul24.lo.u32'));
  assert.ok(ofProduct(signed).includes('mul24.lo.s32'));
  for (const other of [
    unsigned.replace('16777215;', '16777214;'),
    unsigned.replace('and.b32 %r4, %r2, 16777215', 'mov.u32 %r4, %r2'),
    unsigned.replace('mul.lo.s32', 'mul.hi.s32'),
    signed.replace('shr.s32 %r4', 'shr.u32 %r4'),
    signed.replace('shl.b32 %r7, %r2, 8', 'shl.b32 %r7, %r2, 7'),
    unsigned.replace('mul.lo', 'and.b32 %r3, %r2, 1; mul.lo'),
  ])
    assert.ok(!ofProduct(other).some((mnemonic) => mnemonic.startsWith('mul24')), other);
});

test('expanded mathematical functions are one unknown value by default', () => {
  const lines = Array.from({ length: 90 }, () => 'fma.rn.f32 %f1, %f1, %f1, 0f3F800000;').join('\n');
  const text = `.version 9.0\n.target sm_80\n.address_size 64
  .func (.param .b32 result) __nv_longf(.param .b32 x) {
    .reg .f32 %f<2>;
    ld.param.f32 %f1, [x];
    ${lines}
    st.param.f32 [result+0], %f1;
    ret;
  }
  .visible .entry k(.param .u64 p, .param .f32 x) {
    .reg .f32 %f<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.param.f32 %f1, [x];
    { .param .b32 param0; st.param.f32 [param0+0], %f1; .param .b32 retval0;
      call.uni (retval0), __nv_longf, (param0);
      ld.param.f32 %f2, [retval0+0]; }
    st.global.f32 [%rd1], %f2;
    ret;
  }`;
  const { module } = parsePtx(text);
  const count = (abstractMathematics: boolean): number[] => {
    const code = instructions(lowerModule(module, { abstractMathematics }).kernels[0]!);
    return ['havoc', 'pure'].map((kind) => code.filter(({ operation }) => operation.effect.kind === kind).length);
  };
  assert.deepEqual(count(true), [1, 0]);
  assert.deepEqual(count(false), [0, 90]);
});

test('inlining of calls stops at a limit', () => {
  let text = '.func f0() { bar.sync 0; ret; }\n';
  for (let i = 1; i <= 40; i++) text += `.func f${i}() { call.uni f${i - 1}; call.uni f${i - 1}; ret; }\n`;
  const kernel = lowerOne(`${text}.visible .entry k() { call.uni f40; ret; }`);
  assert.equal(kernel.isTooLarge, true);
  assert.match(kernel.unsupported[0]!.reason, /^more than 300000 instructions/);
});

test('objects of ten billion bytes allocate no memory', () => {
  const ofCall = lowerOne(`.func (.param .b8 r[9999999999]) outer(.param .b8 a[9999999999]);
    .visible .entry k() { { .param .b8 a[9999999999]; .param .b8 r[9999999999]; call.uni (r), outer, (a); } ret; }`);
  assert.equal(ofCall.isTooLarge, true);
  const withContents = lowerOne(`.global .b32 big[9999999999] = {1};
    .visible .entry k() { .reg .b32 %r<2>; ld.global.b32 %r1, [big]; st.global.b32 [big], %r1; ret; }`);
  assert.equal(withContents.objects.find(({ symbol }) => symbol === 'big')?.external, true);
});

test('isspacep of the address of a variable is known', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) { .reg .b64 %d<9>; .reg .pred %p<9>; .reg .b32 %r<9>;
    .shared .align 4 .b8 s[64];
    mov.u64 %d1, s; cvta.shared.u64 %d2, %d1; isspacep.shared %p1, %d2; isspacep.global %p2, %d2;
    selp.b32 %r1, 1, 2, %p1; selp.b32 %r2, 4, 8, %p2; add.s32 %r3, %r1, %r2; st.shared.u32 [%d1], %r3; ret; }`);
  const [store] = instructions(kernel);
  assert.equal(store?.operation.opcode, 'st');
  assert.deepEqual(store?.arguments[1], { kind: 'constant', type: 32, value: 9n });
});

test('a texture fetch with a predicate for resident texels', () => {
  const kernel = lowerOne(`.visible .entry k(.param .u64 p) { .reg .b64 %d<9>; .reg .pred %p<9>; .reg .f32 %f<9>;
    ld.param.u64 %d1, [p]; tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%d1, {%f5, %f6}];
    @%p1 st.global.f32 [%d1], %f1; ret; }`);
  assert.deepEqual(kernel.unsupported, []);
  const fetch = instructions(kernel).find(({ operation }) => operation.opcode === 'tex');
  assert.deepEqual(fetch?.operation.results, [32, 32, 32, 32, 'predicate']);
});

const pointers = `
.func (.param .b32 result) twice (.param .b32 a) { .reg .b32 %r<9>;
  ld.param.u32 %r1, [a]; add.s32 %r2, %r1, %r1; st.param.b32 [result], %r2; ret; }
.func (.param .b32 result) next (.param .b32 a) { .reg .b32 %r<9>;
  ld.param.u32 %r1, [a]; add.s32 %r2, %r1, 1; st.param.b32 [result], %r2; ret; }
.func (.param .b32 result) unused (.param .b32 a) { trap; ret; }
.global .align 8 .u64 table[2] = {twice, next};
.visible .entry k(.param .u64 out, .param .u32 which) { .reg .b64 %d<9>; .reg .b32 %r<9>;
  ld.param.u64 %d1, [out]; ld.param.u32 %r1, [which]; mul.wide.u32 %d2, %r1, 8; mov.u64 %d3, table; add.s64 %d4, %d3, %d2;
  ld.global.u64 %d5, [%d4];
  { .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r1;
    prototype: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r0), %d5, (a0), prototype; ld.param.b32 %r2, [r0]; }
  st.global.u32 [%d1], %r2; ret; }`;

test('calls through pointers are resolved to the functions whose address is taken', () => {
  const { module } = parsePtx(`.version 9.0\n.target sm_80\n.address_size 64\n${pointers}`);
  const [executed] = lowerModule(module).kernels;
  assert.ok(executed);
  verifyKernel(executed);
  const mnemonics = instructions(executed).map(({ operation }) => operation.mnemonic);
  assert.equal(mnemonics.filter((mnemonic) => mnemonic === 'setp.eq.b64').length, 2);
  // The remaining case is a pointer to another object.
  assert.equal(mnemonics.filter((mnemonic) => mnemonic === 'call').length, 2);
  const table = executed.objects.find(({ symbol }) => symbol === 'table');
  assert.ok(table?.initial && !table.external);
  const [first, second] = new BigUint64Array(table.initial.slice().buffer);
  assert.ok(first !== 0n && second !== 0n && first !== second);
  const ends = executed.blocks.map(({ terminator }) => terminator.kind);
  assert.equal(ends.includes('unknown'), false);
  assert.equal(ends.includes('trap'), false);
});

test('a pointer to functions of the module is followed; the result of arithmetic on one is unknown', () => {
  const text = (body: string): string => `
    .func (.param .b32 r) one(.param .b32 x) { st.param.b32 [r], 1; ret; }
    .func (.param .b32 r) two(.param .b32 x) { st.param.b32 [r], 2; ret; }
    .visible .entry k(.param .u64 a, .param .u32 n, .param .u64 f) {
      .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<9>;
      ld.param.u32 %r1, [n]; ld.param.u64 %d5, [f]; ld.param.u64 %d6, [a];
      setp.gt.s32 %p1, %r1, 3; mov.u64 %d1, one; mov.u64 %d2, two;
      ${body}
      st.global.u32 [%d6], %r2; ret; }`;
  const call = (pointer: string): string => `{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r1;
    P: .callprototype (.param .b32 _) _ (.param .b32 _);
    call (r), ${pointer}, (x), P; ld.param.b32 %r2, [r]; }`;
  const reasons = (body: string): readonly string[] => lower(text(body)).kernels[0]!.unsupported.map(({ reason }) => reason);
  assert.deepEqual(reasons(`selp.b64 %d3, %d1, %d2, %p1; ${call('%d3')}`), []);
  assert.deepEqual(reasons(`selp.b64 %d3, %d1, 0, %p1; ${call('%d3')}`), []);
  assert.deepEqual(reasons(`@%p1 bra T; mov.u64 %d3, %d1; bra J; T: mov.u64 %d3, %d2; J: ${call('%d3')}`), []);
  // A pointer that the host passes in, and one that may point to something else.
  assert.match(reasons(call('%d5')).join(), /no function of the module/);
  assert.match(reasons(`selp.b64 %d3, %d1, %d5, %p1; ${call('%d3')}`).join(), /no function of the module/);
  // A pointer that the host passes in is one of the stated ones.
  const assume = (register: string): string => `selp.u32 %r3, 1, 0, ${register};\n// selvage.assume %r3;\n`;
  const isOne = 'setp.eq.s64 %p2, %d5, %d1;';
  const isTwo = 'setp.eq.s64 %p3, %d2, %d5;';
  assert.deepEqual(reasons(`${isOne} ${assume('%p2')} ${call('%d5')}`), []);
  assert.deepEqual(reasons(`${isOne} ${isTwo} or.pred %p4, %p2, %p3; ${assume('%p4')} ${call('%d5')}`), []);
  assert.deepEqual(reasons(`${isOne} ${assume('%p2')} max.u64 %d3, %d2, %d5; ${call('%d3')}`), []);
  const open = [
    `setp.ne.s64 %p2, %d5, %d1; ${assume('%p2')}`,
    `${isOne} or.pred %p4, %p2, %p1; ${assume('%p4')}`,
    `${isOne} selp.u32 %r3, 0, 1, %p2;\n// selvage.assume %r3;\n`,
    `${isOne} @%p1 bra J; ${assume('%p2')} J:`,
    `setp.eq.s64 %p2, %d6, %d1; ${assume('%p2')}`,
    `${isOne} ${assume('%p2')} add.s64 %d5, %d5, 8;`,
  ];
  for (const body of open) assert.match(reasons(`${body} ${call('%d5')}`).join(), /no function of the module/, body);
  const [compared] = lower(text('setp.lt.u64 %p2, %d1, %d2; selp.b32 %r2, 1, 0, %p2;')).kernels;
  assert.ok(instructions(compared!).some(({ operation }) => operation.effect.kind === 'havoc'));
});

test('a constant array element is an address; its index counts scalars, as in ptxas', () => {
  const kernel = lowerOne(`
.global .align 16 .b32 words[4][4];
.global .align 16 .v2 .b32 pairs[8];
.visible .entry elements()
{
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  .shared .align 4 .b16 halves[8];
  mov.u64 %d0, words[5];
  ld.global.u32 %r0, [%d0];
  ld.global.u32 %r1, pairs[3];
  add.s32 %r0, %r0, %r1;
  mov.u64 %d2, halves[3];
  st.shared.u16 [%d2], %r0;
  ret;
}`);
  assert.deepEqual(kernel.unsupported, []);
  const bases = instructions(kernel).flatMap(({ arguments: [first] }) => (first?.kind === 'address' ? [first] : []));
  assert.deepEqual(
    bases.map(({ object, offset }) => `${kernel.objects[object]!.symbol}+${offset}`),
    ['words+20', 'pairs+12', 'halves+6'],
  );
});

test('a panic of Rust without a body ends the launch; one with a body executes it', () => {
  const panic = '_ZN4core9panicking18panic_bounds_check17h0a644426c76fc7a6E';
  const calling = (function_: string): Kernel =>
    lowerOne(`${function_}
.visible .entry calls(.param .u64 a)
{
  .reg .b64 %d<4>;
  .reg .pred %p<2>;
  ld.param.u64 %d0, [a];
  setp.eq.u64 %p0, %d0, 0;
  @%p0 bra $L;
  st.global.u32 [%d0], 1;
  ret;
$L:
  { .param .b64 p; st.param.b64 [p], %d0; call.uni ${panic}, (p); }
  trap;
}`);
  const declared = calling(`.extern .func ${panic} (.param .b64 p);`);
  assert.deepEqual(declared.unsupported, []);
  assert.ok(declared.blocks.some(({ terminator }) => terminator.kind === 'trap'));
  const defined = calling(
    `.visible .func ${panic} (.param .b64 p) { .reg .b64 %d<2>; ld.param.u64 %d1, [p]; st.global.u32 [%d1+8], 2; ret; }`,
  );
  const stores = instructions(defined).filter(({ operation }) => operation.opcode === 'st');
  assert.equal(stores.length, 2);
});
