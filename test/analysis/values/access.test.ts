/** Accesses of instructions: bytes, memory, and the matrices in shared memory that products of warp groups read. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { contextOf, kernelOf, requestFor } from '../../check/kernel-text.ts';

/** `FIRST+BYTES` of the two matrices of a product, whose descriptor has the upper half `upper`. */
function matricesOf(address: string, upper: string): string[] {
  const body = `mov.u32 %r30, t; ${address} bfe.u32 %r40, %r30, 4, 14; cvt.u64.u32 %d30, %r40; or.b64 %d30, %d30, ${upper}; mov.pred %p9, 1;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d30, %d30, %p9, 1, 1, 0, 0;`;
  const kernel = kernelOf(body, '.shared .align 1024 .b8 t[16384];');
  const { accesses } = kernelContext(requestFor(kernel, { block: [128, 1, 1] }));
  return accesses.map(({ bytes, targets, isCopy }) => `${BigInt.asIntN(32, targets[0]!.offset.value)}+${bytes}${isCopy ? '' : ' at once'}`);
}

test('a matrix has whole swizzled rows if its place in them is unknown (PTX ISA 9.7.15.5.1)', () => {
  // 64 and 8 rows of 16 halves: 8 of them follow each 1024 bytes, in rows of 128, 32 or, without swizzling, 16 bytes.
  const [rowsOf128, rowsOf32, plain] = ['0x4000004000000000', '0xc000004000000000', '0x0000004000080000'] as const;
  const cases: [string, string, string[]][] = [
    ['', rowsOf128, ['0+8192', '0+1024']],
    ['add.u32 %r30, %r30, 2048;', rowsOf128, ['2048+8192', '2048+1024']],
    ['mad.lo.u32 %r30, %r9, 1024, %r30;', rowsOf128, ['0+8192', '0+1024']],
    // 16-byte chunks of unknown number, and unknown bytes, which the descriptor drops.
    ['mad.lo.u32 %r30, %r9, 16, %r30;', rowsOf128, ['-112+8320', '-112+1152']],
    ['mad.lo.u32 %r30, %r9, 8, %r30;', rowsOf128, ['-127+8335', '-127+1167']],
    ['', rowsOf32, ['0+7424', '0+256']],
    ['add.u32 %r30, %r30, 16;', rowsOf32, ['0+7456', '0+288']],
    ['mad.lo.u32 %r30, %r9, 1024, %r30; add.u32 %r30, %r30, 32;', rowsOf32, ['32+7424', '32+256']],
    ['mad.lo.u32 %r30, %r9, 16, %r30;', rowsOf32, ['-16+7456', '-16+288']],
    ['', plain, ['0+7424', '0+256']],
    ['mad.lo.u32 %r30, %r9, 16, %r30;', plain, ['0+7424', '0+256']],
    ['mad.lo.u32 %r30, %r9, 8, %r30;', plain, ['-15+7439', '-15+271']],
  ];
  for (const [address, upper, expected] of cases) assert.deepEqual(matricesOf(address, upper), expected, `${address} ${upper}`);
});

test('bytes, memory and stored values of accesses', () => {
  const describe = (body: string): string[] =>
    contextOf(body).accesses.map(({ operation, bytes, memory, stored, strong, isCopy, targets }) =>
      [
        operation,
        bytes,
        memory,
        targets[0]!.offset.value,
        stored && `${stored.length} stored`,
        strong !== null && 'strong',
        isCopy && 'copy',
      ]
        .filter((one) => one !== null && one !== false)
        .join(' '),
    );
  const cases: [string, string[]][] = [
    ['st.u8 [%d1+3], %r0;', ['write 1 global 3 1 stored']],
    ['st.v4.u32 [%d1], {%r0, %r0, %r0, %r0};', ['write 16 global 0 4 stored']],
    ['ld.shared.v2.u64 {%d20, %d21}, [s+16]; st.u64 [%d1], %d20;', ['read 16 shared 16', 'write 8 global 0 1 stored']],
    ['st.volatile.u32 [%d1], %r0;', ['write 4 global 0 1 stored strong']],
    ['cp.async.cg.shared.global [s], [%d1+32], 16;', ['write 16 shared 0 copy', 'read 16 global 32 copy']],
    ['cp.async.ca.shared.global [s], [%d1], 8;', ['write 8 shared 0 copy', 'read 8 global 0 copy']],
    ['ld.param.u32 %r20, [n]; .local .b32 own; st.local.u32 [own], %r20;', []],
  ];
  for (const [body, expected] of cases) assert.deepEqual(describe(body), expected, body);
});

test('in a block that one iteration of a loop reaches, addresses are those of that iteration', () => {
  const offsetsOf = (condition: string): string[] => {
    const { accesses } = contextOf(`mov.u32 %r20, 0;
LOOP: ${condition} @!%p1 bra END; mul.wide.s32 %d20, %r20, 8; add.s64 %d20, %d1, %d20; st.u32 [%d20], %r0; add.s32 %r20, %r20, 1; bra LOOP;
END:`);
    return accesses.map(({ targets: [target] }) => (target!.offset.operator === 'constant' ? String(target!.offset.value) : 'varies'));
  };
  assert.deepEqual(offsetsOf('setp.eq.s32 %p1, %r20, 0;'), ['0']);
  assert.deepEqual(offsetsOf('setp.lt.s32 %p1, %r20, 2;'), ['varies']);
  assert.deepEqual(offsetsOf('setp.ne.s32 %p1, %r20, 5;'), ['varies']);
  assert.deepEqual(offsetsOf('setp.eq.s32 %p2, %r20, 0; setp.eq.s32 %p3, %r20, %r9; or.pred %p1, %p2, %p3;'), ['varies']);
});
