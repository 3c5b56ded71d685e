import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findNativeZ3 } from '../../../src/solver/z3-native.ts';
import { renderJson } from '../../../src/report/json.ts';
import { analyseCheckedIn } from '../../kernels/checked-in.ts';
import { root } from '../../kernels/portable-ptx.ts';

const program = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const folder = 'test/kernels';
/** Proofs, races, divergence, several kernels and launches, and queries of the solver. */
const names = [
  'race/two-kernels-one-racy',
  'race/tickets',
  'race/scatter-by-table',
  'divergence/vote-loop',
  'divergence/private-array-condition',
];

function selvage(words: readonly string[], environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, ...environment };
  return spawnSync(process.execPath, [program, 'check', ...words], { cwd: root, env, encoding: 'utf8' });
}

test('two runs print the same bytes for any number of jobs', () => {
  const files = names.map((name) => `${folder}/${name}.ptx`);
  const launch = ['--block', '64', '--grid', '4', '--format', 'json'];
  const runs = ['1', '1', '2'].map((jobs) => selvage([...files, ...launch, '--jobs', jobs]));
  for (const { status, stdout, stderr } of runs) {
    // Some of them race at every large size.
    assert.equal(status, 1, stderr);
    assert.equal(stdout, runs[0]!.stdout);
  }
  for (const verdict of ['proved', 'race', 'divergent']) assert.match(runs[0]!.stdout, RegExp(`"verdict": "${verdict}"`));
});

for (const name of names) {
  test(`worker threads and the main thread give the same report: ${name}`, async () => {
    const file = `${folder}/${name}.cu`;
    const limits = { alone: 0, stretch: 1 };
    const [here, there] = [
      await analyseCheckedIn(file, { options: { jobs: 1 } }),
      await analyseCheckedIn(file, { options: { jobs: 2 }, checking: { limits } }),
    ];
    assert.equal(renderJson(there), renderJson(here));
  });
}

const z3 = findNativeZ3(process.env['PATH']);

test('z3 of PATH and the bundled one do not contradict each other', { skip: z3 === undefined && 'no z3' }, async () => {
  // A file with a query that the built-in procedures leave to Z3.
  const file = `${folder}/race/bit-reversal.cu`;
  const [wasm, native] = [await analyseCheckedIn(file), await analyseCheckedIn(file, { options: { solver: 'native' } })];
  assert.match(wasm.toolchain.solver ?? '', /wasm/);
  assert.match(native.toolchain.solver ?? '', /native/);
  for (const [index, { race }] of wasm.kernels.entries()) {
    const verdicts = [race.verdict, native.kernels[index]!.race.verdict].sort().join();
    assert.notEqual(verdicts, 'proved,race', wasm.kernels[index]!.name);
  }
});

test('--solver native without z3 gives a remedy before any analysis', () => {
  const words = [`${folder}/race/shared-reverse.ptx`, '--block', '256', '--grid', '4', '--solver', 'native'];
  const { status, stdout, stderr } = selvage(words, { PATH: '/nonexistent' });
  assert.equal(status, 2);
  assert.equal(stdout, '');
  assert.match(stderr, /^selvage: --solver native: there is no z3 on PATH\. Install it/);
});
