import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Report } from '../../../src/report-model/report.ts';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';
import { selvage } from '../commands/in-process.ts';

/** A kernel that executes an instruction, then stores its index. */
function kernel(name: string, instruction: string): string {
  return `.visible .entry ${name}(.param .u64 a)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<4>;\nld.param.u64 %rd0, [a];\nmov.u32 %r0, %tid.x;\n${instruction}\nmul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd2, %rd0, %rd1;\nst.global.u32 [%rd2], %r0;\nret;\n}\n`;
}

test('kernels that may overlap their predecessor share one notice', async (t: TestContext) => {
  const root = temporaryFolder(t);
  const kernels = [
    ['waits', 'griddepcontrol.wait;'],
    ['lets', 'griddepcontrol.launch_dependents;'],
    ['plain', ''],
  ].map(([name, instruction]) => kernel(name!, instruction!));
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
  assert.match(notices[0]!.message, /^2 kernels .*: `waits` and `lets`\.$/);
  const told = new Map(
    reports.map(({ name, race, idempotency }) => [
      name,
      [race.verdict, race.assumptions?.some(({ kind }) => kind === 'stable-memory'), idempotency?.kernel],
    ]),
  );
  assert.deepEqual(
    [...told],
    [
      ['waits', ['proved', true, 'unknown']],
      ['lets', ['proved', true, 'unknown']],
      ['plain', ['proved', false, 'idempotent']],
    ],
  );
});
