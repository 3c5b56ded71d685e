/** `check --print`: intermediate results of a check instead of its report. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';
import { type Ran, selvage } from './in-process.ts';

/** Two threads exchange elements of shared memory with a barrier in between: `s[t] = t; a[t] = s[63 - t]`. */
const ptx = `.version 8.0
.target sm_80
.address_size 64
.visible .entry mirror(.param .u64 mirror_param_0)
{
  .reg .b32 %r<6>;
  .reg .b64 %d<4>;
  .shared .align 4 .b8 s[256];
  ld.param.u64 %d1, [mirror_param_0];
  cvta.to.global.u64 %d1, %d1;
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, s;
  add.s32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  sub.s32 %r4, %r3, %r2;
  ld.shared.u32 %r5, [%r4+252];
  mul.wide.u32 %d2, %r1, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], %r5;
  ret;
}
`;

/** Threads below n write `a[i]` and `a[i + n]`, i the index in the grid: the solver proves them disjoint. */
const halves = `.version 8.0
.target sm_80
.address_size 64
.visible .entry halves(.param .u64 a, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<5>;
  .reg .b64 %d<5>;
  ld.param.u64 %d1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r4, %r3, %r2, %r4;
  setp.ge.s32 %p1, %r4, %r1;
  @%p1 bra END;
  cvta.to.global.u64 %d1, %d1;
  mul.wide.s32 %d2, %r4, 4;
  add.s64 %d3, %d1, %d2;
  st.global.u32 [%d3], 1;
  mul.wide.s32 %d4, %r1, 4;
  add.s64 %d3, %d3, %d4;
  st.global.u32 [%d3], 2;
END:
  ret;
}
`;

function printed(context: TestContext, ...words: string[]): Promise<Ran> {
  const root = temporaryFolder(context);
  writeFiles(root, { 'mirror.ptx': ptx });
  return selvage(['check', 'mirror.ptx', '--block', '64', '--grid', '1', ...words], root);
}

test('the IR is printed as it is checked', async (context) => {
  const { status, stdout } = await printed(context, '--print', 'ir');
  assert.equal(status, 0);
  assert.match(stdout, /^kernel mirror\n[^]*\nb0:\n[^]* {2}bar\.sync 0\n[^]* {2}exit\n$/);
});

test('accesses are printed as terms over the thread', async (context) => {
  const { stdout } = await printed(context, '--print', 'symbolic');
  assert.match(stdout, /^blockDim\.x = 64, blockDim\.y = 1, blockDim\.z = 1$/m);
  assert.match(stdout, /^access 0: write of 4 bytes in shared memory at mirror\.ptx:15, b0\n {2}s \+ threadIdx\.x \* 4 bytes if true$/m);
  assert.match(stdout, /^access 1: read of 4 bytes in shared memory at mirror\.ptx:18, b0$/m);
});

test('intervals begin at the entry and at the barrier', async (context) => {
  const { stdout } = await printed(context, '--print', 'intervals');
  assert.match(
    stdout,
    /interval 0: from the entry\n {4}access 0 \(write, mirror\.ptx:15\)\n {2}interval 1: from the barrier at mirror\.ptx:16\n/,
  );
  assert.match(stdout, /access 1 \(read, mirror\.ptx:18\)\n {4}access 2 \(write, mirror\.ptx:21\)\n/);
});

test('a write and a read that a barrier separates share no obligation', async (context) => {
  const { stdout } = await printed(context, '--print', 'obligations');
  const pairs = [...stdout.matchAll(/^pair \d+ \((\w+), race\): access (\d) .*, access (\d) /gm)].map(
    ([, scope, a, b]) => `${scope} ${a} ${b}`,
  );
  assert.deepEqual(pairs, ['block 0 0', 'block 2 2']);
  assert.match(stdout, /two threads access disjoint bytes\n {4}thread 1: s \+ threadIdx\.x \* 4 bytes if true\n/);
});

test('queries are printed as SMT-LIB scripts, with the answers', async (context) => {
  const root = temporaryFolder(context);
  writeFiles(root, { 'halves.ptx': halves });
  const { stdout } = await selvage(['check', 'halves.ptx', '--print', 'smt'], root);
  const questions = stdout.split(/^\(reset\) ; /m).slice(1);
  assert.ok(questions.length > 0);
  for (const question of questions) assert.match(question, /^unsat, by built-in\n\(declare-const [^]*\n\(check-sat\)\n$/);
});

test('an unknown argument and an unmatched kernel are rejected', async (context) => {
  const unknown = await printed(context, '--print', 'ast');
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /--print ast.*ir.*obligations/);
  const unmatched = await printed(context, '--print', 'ir', '--kernel', 'other');
  assert.equal(unmatched.status, 2);
});
