/** Kernels for the tests of `selvage run`, as PTX with the lines of a source that the tests name. */

/**
 * A module with one kernel. `%tid` is in `%r0`, `A` and `B` in `%d1` and `%d2`, the addresses of elements of four bytes
 * number `%tid` in `%d3` and `%d4`, `n` in `%r9`. A `;;N` in the body starts line N.
 */
export function kernelSource(body: string, { name = 'k', declarations = '', file = 'k.cu' } = {}): string {
  const lines = body.replaceAll(/;;(\d+)/g, '\n.loc 1 $1 1\n');
  return `.version 8.0
.target sm_80
.address_size 64
${declarations}
.visible .entry ${name}(.param .u64 A, .param .u64 B, .param .u32 n) {
.reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<20>; .reg .pred %p<20>;
.loc 1 1 1
ld.param.u64 %d1, [A];
ld.param.u64 %d2, [B];
ld.param.u32 %r9, [n];
cvta.to.global.u64 %d1, %d1;
cvta.to.global.u64 %d2, %d2;
mov.u32 %r0, %tid.x;
mul.wide.u32 %d5, %r0, 4;
add.s64 %d3, %d1, %d5;
add.s64 %d4, %d2, %d5;
${lines}
ret;
}
.file 1 "${file}"
`;
}

/** A kernel whose parameters are given as PTX declares them, and which reads `bytes` at an offset of each. */
export function parameterKernel(parameters: readonly string[], reads: readonly string[]): string {
  return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(${parameters.join(', ')}) {
.reg .b16 %h<20>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<20>;
${reads.join('\n')}
ret;
}
`;
}
