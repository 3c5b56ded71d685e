import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePtx } from '../../src/ptx/parser.ts';
import { printModule } from '../../src/ptx/printer.ts';
import { filesBelow, readText, withoutSpans } from './tree.ts';

const files = [...filesBelow('test/ptx/language', '.ptx'), ...filesBelow('test/kernels', '.ptx')];

test(`${files.length} texts print to texts that parse to the same tree`, () => {
  for (const file of files) {
    const first = parsePtx(readText(file), file);
    assert.deepEqual(first.diagnostics, [], file);
    const printed = printModule(first.module);
    const second = parsePtx(printed, file);
    assert.deepEqual(second.diagnostics, [], file);
    assert.deepEqual(withoutSpans(second.module), withoutSpans(first.module), file);
    assert.equal(printModule(second.module), printed, file);
  }
});

test('damaged statements are printed verbatim', () => {
  const text = '.version 8.0\n.target sm_80\n.entry k() {\nmov.u32 %r1 1;\nret;\n}\n';
  assert.ok(printModule(parsePtx(text).module).includes('\tmov.u32 %r1 1;\n\tret;\n}'));
});

test('the text of each construct', () => {
  const items = [
    '.extern .shared .align 16 .b8 dynamic[];',
    '.const[2] .u32 bank;',
    '.global .attribute(.managed) .align 4 .u32 managed = 3;',
    '.visible .global .v2 .f32 pair;',
    '.global .u32 words[2][3] = {{1, 2, 3}, {0x4, 05, 0b110}};',
    '.global .u64 pointers[3] = {words, words+8, generic(words)+4};',
    '.global .u8 bytes[1] = {0xff(words)};',
    '.global .samplerref nearest = {filter_mode = nearest};',
    '.pragma "nounroll";',
    '.section .debug_x { .b8 1 }',
    '.weak .func .attribute(.unified(1,2)) (.param .b32 r) f(\n\t.param .b64 .ptr a,\n\t.param .b64 .ptr .global .align 4 b\n)\n;',
    '.func g(\n\n)\n.noreturn\n{\n}',
    '.entry k(\n\t.param .align 8 .b8 p[24]\n)\n.maxntid 16, 4\n.pragma "x";\n.explicitcluster\n{',
  ];
  const statements = [
    '\t.reg .pred %p<4>;',
    '\t.reg .b32 %r<9>;',
    '\t.reg .b64 %rd<3>;',
    '\t.loc 1 2 3',
    '\t.loc 1 4 5, function_name $L+4, inlined_at 1 2 3',
    'L0:',
    '\t@%p1 bra L0;',
    '\t@!%p1 bra.uni L0;',
    '\tret;',
    '\tld.global.v2.u32 {%r1, _}, [%rd1+-16];',
    '\tld.local.u32 %r1, [16];',
    '\tld.u32 %r1, [%rd1].unified;',
    '\tld.u32 %r1, words[%r2+4];',
    '\tld.u32 %r1, words[1];',
    '\tmov.u64 %rd1, words+8;',
    '\tmov.b32 %r1, 0x1FU;',
    '\tmov.f32 %r1, 1.50;',
    '\tsetp.eq.and.s32 %p1|%p2, %r1, -%r2, !%p3;',
    '\tvadd.u32.u32.u32 %r1, %r2.b0, %r3;',
    '\tcall (%r1), g, (%r2, 3), P;',
    '\tP: .callprototype ( .param .b32 _ ) _ ( );',
    '\tT: .branchtargets L0;',
    '\t// selvage.assume %p1;',
    '\t// selvage.unknown %r1;',
    '\t// SELVAGE_CANDIDATE 3;',
    '\t{',
    '\t\ttex.1d.v4.f32.s32 {%r1, %r2, %r3, %r4}, [bank, bank, {%r1}];',
    '\t}',
  ];
  const files = ['.file 1 "a.cu"', '.file 2 "b.cuh" , 1 , 2'];
  const header = ['.version 8.0', '.target sm_80, texmode_independent', '.address_size 32', ''];
  const text = `${[...header, ...items, ...statements, '}', ...files].join('\n')}\n`;
  assert.equal(printModule(parsePtx(text).module), text);
});
