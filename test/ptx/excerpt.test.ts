import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelExcerpt } from '../../src/ptx/excerpt.ts';
import { parsePtx } from '../../src/ptx/parser.ts';

const module = `.version 8.0
.target sm_80
.address_size 64
.file 1 "/builds/secret.cu"
.file 2 "/builds/secret.cuh"
.global .u32 unused;
.global .align 4 .u32 %table[2] = {1, 2};
.global .u64 pointer = generic(%table)+4;
.func (.param .b32 answer) deep(.param .b32 input)
{
	.reg .b32 %r<2>;
	ld.param.u32 %r1, [input];
	st.param.b32 [answer], %r1;
	ret;
}
.func other() { ret; }
.entry second() { ret; }
.pragma "nounroll";
.entry secret(.param .u64 data, .param .u32 count)
{
	.reg .b32 %r<4>, own;
	.reg .b64 %rd<4>;
	.shared .b8 buffer[4];
	.loc 1 5 3
	.loc 2 6 3, function_name $L__info, inlined_at 1 5 3
	ld.param.u64 %rd1, [data];
	mov.u64 %rd2, pointer;
	ld.global.u32 %r1, %table[%r2];
	st.shared.u32 [buffer], %r1;
	{
		.param .b32 argument;
		.param .b32 result;
		st.param.b32 [argument], own;
		call (result), deep, (argument);
	}
$done:
	bra $done;
}
.section .debug_str
{
$L__info:
.b8 115, 0
}
`;

const excerpt = `.version 8.0
.target sm_80
.address_size 64

.global .align 4 .u32 symbol_3[2] = {1, 2};
.global .u64 symbol_4 = generic(symbol_3)+4;
.func (.param .b32 symbol_6) symbol_5(
	.param .b32 symbol_7
)
{
	.reg .b32 %r<2>;
	ld.param.u32 %r1, [symbol_7];
	st.param.b32 [symbol_6], %r1;
	ret;
}
.entry kernel(
	.param .u64 kernel_param_0,
	.param .u32 kernel_param_1
)
{
	.reg .b32 %r<4>;
	.reg .b32 own;
	.reg .b64 %rd<4>;
	.shared .b8 symbol_8[4];
	.loc 1 5 3
	.loc 2 6 3
	ld.param.u64 %rd1, [kernel_param_0];
	mov.u64 %rd2, symbol_4;
	ld.global.u32 %r1, symbol_3[%r2];
	st.shared.u32 [symbol_8], %r1;
	{
		.param .b32 symbol_9;
		.param .b32 symbol_10;
		st.param.b32 [symbol_9], own;
		call (symbol_10), symbol_5, (symbol_9);
	}
$done:
	bra $done;
}
.file 1 "file1.cu"
.file 2 "file2.cu"
`;

test('a kernel with the functions and variables that it reaches, under neutral names', () => {
  const { module: parsed, diagnostics } = parsePtx(module);
  assert.deepEqual(diagnostics, []);
  assert.equal(kernelExcerpt(parsed, 'secret'), excerpt);
  assert.deepEqual(parsePtx(excerpt).diagnostics, []);
});

test('only an entry has an excerpt', () => {
  const { module: parsed } = parsePtx(module);
  for (const name of ['deep', 'pointer', 'nothing']) assert.equal(kernelExcerpt(parsed, name), null, name);
});
