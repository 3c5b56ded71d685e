/** `check --save-reproducer`: one kernel without the names of its program, with the verdict that it has there. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import type { Report } from '../../../src/report-model/report.ts';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from './in-process.ts';

/** `tile[t] = scale(in[i]); out[i] = tile[63 - t]` with or without a barrier in between, next to another kernel. */
const ptx = (barrier: string): string => `.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 secretFactor;
.global .align 4 .u32 unrelated;
.func (.param .b32 result) secretScale(.param .b32 value)
{
  .reg .b32 %r<4>;
  ld.param.b32 %r1, [value];
  ld.global.u32 %r2, [secretFactor];
  mul.lo.s32 %r3, %r1, %r2;
  st.param.b32 [result], %r3;
  ret;
}
.visible .entry add(.param .u64 add_param_0, .param .u64 add_param_1, .param .u32 add_param_2)
{
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  .reg .pred %p<2>;
  .shared .align 4 .b8 secretTile[256];
  ld.param.u64 %d1, [add_param_0];
  ld.param.u64 %d2, [add_param_1];
  cvta.to.global.u64 %d1, %d1;
  cvta.to.global.u64 %d2, %d2;
  ld.param.u32 %r9, [add_param_2];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.s32 %r3, %r2, 64, %r1;
  setp.ge.s32 %p1, %r3, %r9;
  mul.wide.s32 %d3, %r3, 4;
  add.s64 %d4, %d1, %d3;
  add.s64 %d5, %d2, %d3;
  mov.u32 %r6, 0;
  .loc 1 7 3
  @%p1 bra secretLabel;
  ld.global.u32 %r4, [%d5];
  call.uni (%r6), secretScale, (%r4);
secretLabel:
  shl.b32 %r5, %r1, 2;
  mov.u32 %r7, secretTile;
  add.s32 %r8, %r7, %r5;
  st.shared.u32 [%r8], %r6;
  ${barrier}
  sub.s32 %r8, %r7, %r5;
  ld.shared.u32 %r10, [%r8+252];
  @%p1 bra end;
  st.global.u32 [%d4], %r10;
end:
  ret;
}
.visible .entry other() { ret; }
.file 1 "/builds/secret/add.cu"
`;

const words = ['--checks', 'race,divergence', '--format', 'json'];

async function verdicts(root: string, ...more: string[]): Promise<unknown[]> {
  const report = JSON.parse((await selvage(['check', ...more, ...words], root)).stdout) as Report;
  return report.kernels.map(({ race, divergence }) => [race?.verdict, divergence?.verdict]);
}

function rootWith(context: TestContext, barrier: string): string {
  const root = temporaryFolder(context);
  writeFiles(root, { 'add.ptx': ptx(barrier) });
  return root;
}

const launch = ['--kernel', 'add', '--block', '64', '--assume', 'gridDim.x == (param2 + 63) / 64'];

for (const [barrier, race] of [
  ['bar.sync 0;', 'proved'],
  ['', 'race'],
] as const)
  test(`the reproducer of a kernel that is ${race} is too, and has no name of the program`, async (context) => {
    const root = rootWith(context, barrier);
    assert.deepEqual(await verdicts(root, 'add.ptx', ...launch, '--save-reproducer', 'saved'), [[race, 'proved']]);
    const folder = join(root, 'saved');
    assert.deepEqual(readdirSync(folder).sort(), ['commands.txt', 'kernel.ptx', 'launch-0.json']);
    const texts = ['kernel.ptx', 'launch-0.json', 'commands.txt'].map((file) => readFileSync(join(folder, file), 'utf8'));
    // Labels are not names of a program: the compiler generates them.
    assert.doesNotMatch(texts.join('').replaceAll('secretLabel', ''), /secret|unrelated|other|add_param/);
    assert.match(texts[0]!, /add\.s64/);
    assert.equal(texts[2], 'selvage check kernel.ptx --facts launch-0.json\n');
    assert.deepEqual(await verdicts(folder, 'kernel.ptx', '--facts', 'launch-0.json'), [[race, 'proved']]);
  });

test('several kernels are rejected', async (context) => {
  const ran = await selvage(['check', 'add.ptx', '--save-reproducer', 'saved', ...words], rootWith(context, ''));
  assert.equal(ran.status, 2);
  assert.match(ran.stderr, /Select it with --kernel; the kernels are: add, other\./);
});
