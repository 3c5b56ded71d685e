import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { suggestedLaunch } from '../../../src/app/pipeline/unstated-launches.ts';
import type { Report } from '../../../src/report-model/report.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';
import { temporaryFolder, withoutNvcc, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from '../commands/in-process.ts';

/** A kernel that reads some special registers, with these directives and declarations. */
function kernelOf(registers: readonly string[], directives = '', declarations = '') {
  const reads = registers.map((register, index) => `mov.u32 %r${index}, %${register};\nst.global.u32 [%rd0+${4 * index}], %r${index};`);
  const ptx = `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n${directives}\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<2>;\n${declarations}\nld.param.u64 %rd0, [a];\n${reads.join('\n')}\nret;\n}\n`;
  const [kernel] = lowerModule(parsePtx(ptx, 'k.ptx').module).kernels;
  assert.ok(kernel);
  return kernel;
}

test('a launch is suggested by the indices that a kernel reads, its bounds, template arguments and tiles', () => {
  const plane = ['tid.x', 'tid.y', 'ctaid.x', 'ctaid.y'];
  const tile = '.shared .align 4 .b8 s[4224];\nst.shared.u32 [s], 0;';
  assert.deepEqual(suggestedLaunch(kernelOf(['tid.x', 'ctaid.x']), 'k'), ['256', '64']);
  assert.deepEqual(suggestedLaunch(kernelOf(plane), 'k'), ['16,16', '64,64']);
  assert.deepEqual(suggestedLaunch(kernelOf([...plane, 'tid.z'], '', tile), 'k'), ['8,8,4', '64,64']);
  assert.deepEqual(suggestedLaunch(kernelOf(plane, '', tile), 'k'), ['32,32', '64,64']);
  assert.deepEqual(suggestedLaunch(kernelOf(['tid.x']), 'k<float, 128, 3>'), ['128', '64']);
  assert.deepEqual(suggestedLaunch(kernelOf(['tid.x'], '.maxntid 96'), 'k'), ['96', '64']);
  assert.deepEqual(suggestedLaunch(kernelOf(['tid.x'], '.reqntid 8, 4, 1'), 'k'), ['8,4', '64']);
});

const scattered = `__global__ void scattered(float *a, const int *p, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[p[i] + 1] = a[p[i]];
}
`;

async function notesOf(root: string, ...words: string[]): Promise<string[]> {
  const { stdout } = await selvage(['check', ...words, '--format', 'json', '--fail-on', 'never'], root);
  const { diagnostics } = JSON.parse(stdout) as Report;
  return diagnostics.filter(({ code }) => code === 'launch/unstated').map(({ message }) => message);
}

test('a suggestion for CUDA can be pasted, and ends the note', { skip: withoutNvcc }, async (t: TestContext) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': scattered });
  const [note, ...others] = await notesOf(root, 'a.cu');
  assert.deepEqual(others, []);
  assert.match(note!, /^Selvage found no launch of 1 kernel \(`scattered`\), and took any block and grid/);
  const [, comment] = /`(\/\/ selvage: [^`]+)` at a\.cu:1\./.exec(note!) ?? [];
  assert.equal(comment, '// selvage: block=256 grid=64 arg(n=4096)');
  writeFileSync(join(root, 'a.cu'), `${comment}\n${readFileSync(join(root, 'a.cu'), 'utf8')}`);
  assert.deepEqual(await notesOf(root, 'a.cu'), []);
});

test('for PTX an entry of the configuration is suggested, which can be pasted', async (t) => {
  const root = temporaryFolder(t);
  const ptx = `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd0, [a];\nld.param.u32 %r0, [n];\nmov.u32 %r1, %tid.x;\nrem.u32 %r2, %r1, %r0;\nmul.wide.u32 %rd1, %r2, 4;\nadd.s64 %rd2, %rd0, %rd1;\nst.global.u32 [%rd2], %r1;\nret;\n}\n`;
  writeFiles(root, { 'k.ptx': ptx });
  const [note] = await notesOf(root, 'k.ptx');
  const [, line] = /for example `(- [^`]+)`/.exec(note ?? '') ?? [];
  assert.equal(line, "- { match: 'k', block: [256], grid: [64], args: { param1: 4096 } }");
  writeFiles(root, { '.selvage.yml': `version: 1\nkernels:\n  ${line}\n` });
  assert.deepEqual(await notesOf(root, 'k.ptx'), []);
});

test('nothing is reported for kernels that are proved under every launch', async (t) => {
  const root = temporaryFolder(t);
  const ptx = `.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n`;
  writeFiles(root, { 'k.ptx': ptx });
  assert.deepEqual(await notesOf(root, 'k.ptx'), []);
});
