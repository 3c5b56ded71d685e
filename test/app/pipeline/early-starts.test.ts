import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Report } from '../../../src/report-model/report.ts';
import { earlyStarts } from '../../../src/app/pipeline/early-starts.ts';
import type { CheckedKernel } from '../../../src/app/build/phase-data.ts';
import { earlierEnded } from '../../../src/check/stable-memory.ts';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from '../commands/in-process.ts';

/** A kernel that executes an instruction, stores its index, and executes another instruction. */
function kernel(name: string, instruction: string, last: string): string {
  return `.visible .entry ${name}(.param .u64 a)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd0, [a];\nmov.u32 %r0, %tid.x;\n${instruction}\nmul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd2, %rd0, %rd1;\nst.global.u32 [%rd2], %r0;\n${last}\nret;\n}\n`;
}

test('kernels that may overlap their predecessor share one notice', async (t: TestContext) => {
  const root = temporaryFolder(t);
  const kernels = [
    ['waits', 'griddepcontrol.wait;', ''],
    ['waitsLate', '', 'griddepcontrol.wait;'],
    ['lets', 'griddepcontrol.launch_dependents;', ''],
    ['waitsAndLets', 'griddepcontrol.wait;', 'griddepcontrol.launch_dependents;'],
    ['plain', '', ''],
  ].map(([name, instruction, last]) => kernel(name!, instruction!, last!));
  writeFiles(root, { 'k.ptx': `.version 8.0\n.target sm_90\n.address_size 64\n${kernels.join('')}` });
  const words = [
    'check',
    'k.ptx',
    '--block',
    '64',
    '--grid',
    '1',
    '--checks',
    'race,idempotency',
    '--format',
    'json',
    '--fail-on',
    'never',
  ];
  const { stdout } = await selvage(words, root);
  const { diagnostics, kernels: reports } = JSON.parse(stdout) as Report;
  const notices = diagnostics.filter(({ code }) => code === 'launch/starts-early');
  assert.equal(notices.length, 1);
  assert.match(notices[0]!.message, /^2 kernels .*: `waitsLate` and `lets`\.$/);
  const ended = 'the kernel before it in the stream has ended';
  const wait = 'kernels launched after it wait for its end before they access its arrays';
  const results = reports.map(({ name, race: { verdict, assumptions = [] }, idempotency }) => {
    const texts = assumptions.flatMap(({ kind, text }) => (kind === 'stable-memory' ? [text] : []));
    return [name, verdict, texts, idempotency?.kernel];
  });
  assert.deepEqual(results, [
    ['waits', 'proved', [], 'unknown'],
    ['waitsLate', 'proved', [ended], 'unknown'],
    ['lets', 'proved', [ended, wait], 'unknown'],
    ['waitsAndLets', 'proved', [wait], 'unknown'],
    ['plain', 'proved', [], 'idempotent'],
  ]);
});

test('a target before sm_90 has no early starts', async (t: TestContext) => {
  const root = temporaryFolder(t);
  const late = kernel('waitsLate', '', 'griddepcontrol.wait;');
  writeFiles(root, { 'k.ptx': `.version 8.0\n.target sm_80\n.address_size 64\n${late}` });
  const words = ['check', 'k.ptx', '--block', '64', '--grid', '1', '--checks', 'race', '--format', 'json', '--fail-on', 'never'];
  const { diagnostics, kernels } = JSON.parse((await selvage(words, root)).stdout) as Report;
  assert.deepEqual(
    diagnostics.filter(({ code }) => code === 'launch/starts-early'),
    [],
  );
  assert.deepEqual(
    kernels.map(({ race: { verdict, assumptions = [] } }) => [verdict, assumptions.filter(({ kind }) => kind === 'stable-memory')]),
    [['proved', []]],
  );
});

test('a kernel with a finding on an early access is not in the notice', () => {
  const check = { verdict: 'proved', assumptions: [{ kind: 'stable-memory', text: earlierEnded }] };
  const entryOf = (qualified: string, more = {}): CheckedKernel =>
    ({ entry: { name: { qualified } }, report: { launches: [{ race: check, divergence: check }] }, ...more }) as unknown as CheckedKernel;
  const noticeOf = (...kernels: CheckedKernel[]): string | undefined => earlyStarts(kernels)[0]?.message;
  const found = { early: [{ fingerprint: 'f', severity: 'error' }] };
  assert.match(noticeOf(entryOf('late'), entryOf('found', found)) ?? '', /^1 kernel may start early.*`late`\.$/);
  assert.equal(noticeOf(entryOf('found', found)), undefined);
});
