/** `--facts`: the facts of a file next to a `.ptx` are used by proofs and runs, and must match the kernels. */
import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Report } from '../../../src/report-model/report.ts';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from './in-process.ts';

/** Thread t of block b writes elements `param1 * b + 4 * t` to `+ 3`, in the manner of Triton; the lines are of `add.py`. */
const ptx = `.version 8.4
.target sm_80
.address_size 64
.visible .entry add(.param .u64 add_param_0, .param .u32 add_param_1)
.maxntid 128, 1, 1
{
  .reg .b32 %r<12>;
  .reg .b64 %rd<6>;
$L__func_begin0:
  .loc 1 7 0
  ld.param.u64 %rd1, [add_param_0];
  ld.param.u32 %r1, [add_param_1];
  .loc 1 8 24
  // begin inline asm
  mov.u32 %r2, %ctaid.x;
  // end inline asm
  .loc 1 9 30
  mul.lo.s32 %r3, %r2, %r1;
  mov.u32 %r4, %tid.x;
  shl.b32 %r5, %r4, 2;
  and.b32 %r6, %r5, 508;
  add.s32 %r7, %r3, %r6;
  mul.wide.s32 %rd2, %r7, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 12 20
  // begin inline asm
  st.global.v4.b32 [ %rd3 + 0 ], { %r4, %r4, %r4, %r4 };
  // end inline asm
  ret;
}
.file 1 "/model/add.py"
`;

async function check(root: string, facts: string, ...words: string[]): Promise<Report> {
  writeFiles(root, { 'facts.json': facts });
  const ran = await selvage(['check', 'add.ptx', '--facts', 'facts.json', '--format', 'json', ...words], root);
  assert.equal(ran.stderr, '');
  return JSON.parse(ran.stdout) as Report;
}

function rootWithKernel(context: TestContext): string {
  const root = temporaryFolder(context);
  writeFiles(root, { 'add.ptx': ptx });
  return root;
}

test('launch and arguments of the file are used; options take precedence', async (context) => {
  const root = rootWithKernel(context);
  const facts = '{ "kernels": [{ "match": "add", "block": 128, "grid": 4, "args": { "param1": 512 } }] }';
  const { kernels } = await check(root, facts);
  assert.deepEqual(
    kernels.map(({ race }) => race?.verdict),
    ['proved'],
  );
  const overlapping = await check(root, facts, '--arg', 'param1=256');
  const [kernel] = overlapping.kernels;
  assert.equal(kernel?.race?.verdict, 'race');
});

test('a finding is on the line of the program that .loc names', async (context) => {
  const root = rootWithKernel(context);
  const facts = '{ "kernels": [{ "match": "add", "block": 128, "grid": 4, "args": { "param1": 256 } }] }';
  const { kernels } = await check(root, facts);
  const [finding] = kernels[0]?.race?.findings ?? [];
  assert.ok(finding && 'first' in finding);
  const place = { file: '/model/add.py', line: 12, column: 20 };
  assert.deepEqual([finding.first.location, finding.second.location], [place, place]);
});

test('a run takes its launch from the file', async (context) => {
  const root = rootWithKernel(context);
  writeFiles(root, { 'facts.json': '{ "kernels": [{ "match": "add", "block": 128, "grid": 2, "args": { "param1": 512 } }] }' });
  const ran = await selvage(['run', 'add.ptx', '--facts', 'facts.json', '--arg', 'param0=int32[1024]'], root);
  assert.equal(ran.status, 0, ran.stderr + ran.stdout);
});

test('facts on missing kernels and parameters are rejected with their place', async (context) => {
  const root = rootWithKernel(context);
  const refusal = async (facts: string): Promise<string> => {
    writeFiles(root, { 'facts.json': facts });
    const ran = await selvage(['check', 'add.ptx', '--facts', 'facts.json'], root);
    assert.equal(ran.status, 2, ran.stdout);
    return ran.stderr;
  };
  const unknown = await refusal('{ "kernels": [{ "match": "ad" }] }');
  assert.match(unknown, /facts\.json:1:15: "match": "ad" matches no kernel; did you mean "add"\?/);
  const named = await refusal('{ "kernels": [{ "match": "softmax_kernel" }] }');
  assert.match(named, /matches no kernel; the kernels are: add\./);
  const parameter = await refusal('{ "kernels": [{ "match": "add", "args": { "n": 1 } }] }');
  assert.match(parameter, /no kernel that "add" matches has the parameter n\. There are: param0, param1\./);
  const assumption = await refusal('{ "kernels": [{ "match": "add",\n "assume": ["n > 1"] }] }');
  assert.match(assumption, /facts\.json:2:\d+: "assume": "n > 1" names a parameter that no kernel/);
  assert.match(await refusal('{ "kernels": [{ "match": "add", } ] }'), /This is not valid JSON/);
  const ran = await selvage(['check', 'add.ptx', '--facts', 'none.json'], root);
  assert.match(ran.stderr, /The facts in none\.json cannot be read/);
});
