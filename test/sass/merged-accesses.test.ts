import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { readCubin } from '../../src/sass/cubin/cubin.ts';
import { mergedAccesses } from '../../src/sass/merged-accesses.ts';
import { profileOf } from '../../src/sass/profile.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';

const temporary = mkdtempSync(join(tmpdir(), 'selvage-sass-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** Each thread stores a word, and sums up four that follow each other; of the last four it wants the first and the third. */
const ptx = `.version 9.0
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 out)
{
  .reg .b32 %r<8>;
  .reg .f32 %f<16>;
  .reg .b64 %rd<5>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 4;
  mov.u32 %r3, tile;
  add.s32 %r4, %r3, %r2;
  cvt.rn.f32.u32 %f1, %r1;
  st.shared.f32 [%r4], %f1;
  bar.sync 0;
  xor.b32 %r5, %r2, 496;
  add.s32 %r6, %r3, %r5;
  ld.shared.f32 %f2, [%r6];
  ld.shared.f32 %f3, [%r6+4];
  ld.shared.f32 %f4, [%r6+8];
  ld.shared.f32 %f5, [%r6+12];
  ld.shared.f32 %f6, [%r6+2048];
  ld.shared.f32 %f7, [%r6+2056];
  add.f32 %f8, %f2, %f3;
  add.f32 %f9, %f4, %f5;
  add.f32 %f10, %f8, %f9;
  add.f32 %f11, %f6, %f7;
  add.f32 %f12, %f10, %f11;
  mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.f32 [%rd4], %f12;
  ret;
}
`;

test('loads that the assembler merged have the cost of the wide load', { skip: withoutNvcc }, () => {
  const file = join(temporary, 'rows.ptx');
  writeFileSync(file, ptx);
  execFileSync('ptxas', ['-lineinfo', '-arch=sm_90', file, '-o', `${file}.cubin`]);
  const cubin = readCubin(new Uint8Array(readFileSync(`${file}.cubin`)));
  assert.ok(!('problem' in cubin));
  const [kernel] = lowerModule(parsePtx(ptx).module).kernels;
  const merged = mergedAccesses(kernel!, cubin);
  assert.deepEqual(
    [...merged].map(([{ offset }, bytes]) => [Number(offset), bytes]),
    [
      [0, 16],
      [4, 0],
      [8, 0],
      [12, 0],
    ],
  );
  const conflicts = (of: typeof merged): string => {
    const { bound } = boundKernel({
      kernel: kernel!,
      dimensions: { block: [32, 1, 1], grid: [1, 1, 1] },
      sharedBytes: 0,
      declaredAs: () => 'pointer',
      parameterName: () => null,
      merged: of,
    }).conflicts;
    return expressionText(bound!);
  };
  // Each of the store and the six loads has four lanes at each bank that it accesses; a load of 128 bits has one in
  // each quarter.
  assert.equal(conflicts(new Map()), '21');
  assert.equal(conflicts(merged), '9');
  // The four words that are loaded, and the address of the others.
  assert.ok(profileOf(cubin, 'rows')!.live!.registers >= 5);
});
