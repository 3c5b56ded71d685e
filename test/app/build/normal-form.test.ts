import assert from 'node:assert/strict';
import { test } from 'node:test';
import { normalForm } from '../../../src/app/build/normal-form.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';

const header = '.version 8.0\n.target sm_80\n.address_size 64\n';
const helper = (body: string, hash = 'c2de202b'): string => `
.func (.param .b32 r) _ZN34_INTERNAL_${hash}_4_a_cu_43dd60ee3addEi(.param .b32 p)
{
	.reg .b32 %r<3>;
	ld.param.u32 %r1, [p];
	${body}
	st.param.b32 [r+0], %r2;
	ret;
}`;
const kernel = (line: number, label: string, hash = 'c2de202b', name = 'k'): string => `
.visible .entry ${name}(.param .u64 ${name}_param_0)
{
	.reg .pred %p<2>;
	.reg .b32 %r<3>;
	.reg .b64 %rd<2>;
	.loc 1 ${line} 3
	ld.param.u64 %rd1, [${name}_param_0];
	mov.u32 %r1, %tid.x;
	setp.eq.u32 %p1, %r1, 0;
	@%p1 bra ${label};
	{
	.param .b32 param0;
	st.param.b32 [param0+0], %r1;
	.param .b32 retval0;
	call.uni (retval0), _ZN34_INTERNAL_${hash}_4_a_cu_43dd60ee3addEi, (param0);
	ld.param.b32 %r2, [retval0+0];
	}
	st.global.u32 [%rd1], %r2;
${label}:
	ret;
}`;
const file = '\n\t.file 1 "a.cu"\n';
const add = 'add.s32 %r2, %r1, 1;';
const form = (text: string, symbol = 'k'): string => normalForm(parsePtx(header + text + file).module, symbol);
const reference = form(helper(add) + kernel(5, '$L__BB0_2'));

test('line numbers, label numbers and unit hashes do not change the normal form', () => {
  assert.equal(form(helper(add, '0f0f0f0f') + kernel(99, '$L__BB7_2', '0f0f0f0f')), reference);
});

test('other kernels of the module do not change the normal form', () => {
  assert.equal(form(kernel(1, '$L__BB0_1', 'c2de202b', 'other') + helper(add) + kernel(5, '$L__BB1_2')), reference);
});

test('code of the kernel and of its callees changes the normal form', () => {
  assert.notEqual(form(helper('add.s32 %r2, %r1, 2;') + kernel(5, '$L__BB0_2')), reference);
  assert.notEqual(form(helper(add) + kernel(5, '$L__BB0_2').replace('0;', '1;')), reference);
});

test('module variables used by the kernel change the normal form', () => {
  const use = kernel(5, '$L__BB0_2').replace('mov.u32 %r1, %tid.x;', 'ld.global.u32 %r1, [table];');
  const table = (first: number): string => `\n.global .align 4 .u32 table[2] = {${first}, 2};\n`;
  assert.notEqual(form(table(1) + helper(add) + use), form(table(3) + helper(add) + use));
});
