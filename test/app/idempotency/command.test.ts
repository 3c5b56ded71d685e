/** `selvage idempotency` on kernels of the corpus: classes, launches of a trace, validators. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { LaunchVerdict } from '../../../src/app/idempotency/validators.ts';
import type { Report } from '../../../src/report-model/report.ts';
import schema from '../../../src/report/report.schema.json' with { type: 'json' };
import { selvage } from '../commands/in-process.ts';

const kernels = fileURLToPath(new URL('../../idempotency/kernels/element-wise.production.ptx', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-idempotency-')));
after(() => rmSync(folder, { recursive: true, force: true }));
const withoutC = spawnSync('cc', ['--version']).status === 0 ? false : 'no C compiler';

const words = ['idempotency', kernels, '--block', '64', '--grid', '4', '--kernel', '/^vector/'];

test('each kernel has a class, a conditional one a condition, and no verdict without a request', async () => {
  const run = await selvage([...words, '--format', 'json'], folder, { formats: ['pretty', 'markdown', 'html'] });
  assert.equal(run.status, 0, run.stderr);
  const report = JSON.parse(run.stdout) as Report;
  const validate = new Ajv2020({ strict: false }).compile(schema);
  assert.ok(validate(report), JSON.stringify(validate.errors));
  const found = report.kernels.map(({ name, idempotency, race }) => [name, idempotency?.kernel, race.verdict]);
  assert.deepEqual(found, [
    ['vectorSet(int*, int)', 'idempotent', 'skipped'],
    ['vectorAdd(int*, int const*, int const*)', 'conditional', 'skipped'],
    ['vectorInc(int*)', 'non-idempotent', 'skipped'],
  ]);
  const [, add, increment] = report.kernels;
  assert.equal(add?.idempotency?.condition, 'unless `param0` overlaps `param1` or `param2`');
  assert.deepEqual(increment?.idempotency?.details?.[0]?.kind, 'read-then-write');
  assert.deepEqual(
    increment.idempotency.details[0].locations.map(({ line }) => line),
    [18, 18],
  );
  assert.deepEqual(increment.idempotency.witness?.block, [64, 1, 1]);
  for (const format of ['pretty', 'markdown', 'html'] as const) {
    assert.match(run.rendered.get(format)!, /idempotent unless .*param0.* overlaps .*param1.* or .*param2/);
    assert.match(run.rendered.get(format)!, /reads .*param0.* and writes the same bytes afterwards/);
  }
});

test('together with verdicts the class is in the report, and printed with --verbose', async () => {
  const run = await selvage(['check', ...words.slice(1), '--checks', 'race,divergence,idempotency', '--format', 'json'], folder, {
    formats: ['pretty'],
  });
  const { kernels: reported } = JSON.parse(run.stdout) as Report;
  assert.deepEqual(
    reported.map(({ race, idempotency }) => [race.verdict, idempotency?.kernel]),
    [
      ['proved', 'idempotent'],
      ['proved', 'conditional'],
      ['proved', 'non-idempotent'],
    ],
  );
  assert.doesNotMatch(run.rendered.get('pretty')!, /idempotent/);
  const verbose = await selvage(['check', ...words.slice(1), '--checks', 'race,idempotency', '--verbose'], folder);
  assert.match(verbose.stdout, /idempotent unless/);
});

/** The result for `vectorAdd` without further facts. */
const lines: readonly (readonly [unknown, LaunchVerdict['verdict'], RegExp?])[] = [
  [{ arguments: ['0x10000', '0x10400', '0x10800'] }, 'idempotent'],
  [{ arguments: ['0x10000', '0x10400', '0x0fc00'] }, 'idempotent'],
  [{ arguments: ['0x10000', '0x103ff', '0x10800'] }, 'undecided', /unless `param0` overlaps/],
  [{ arguments: ['0x10000', '0x10000', '0x10800'] }, 'undecided', /unless `param0` overlaps/],
  [{ arguments: ['0x10000', '0x10400', '0x10800'], grid: 5 }, 'undecided', /condition/],
  [{ arguments: ['0xfffffffffffffc04', '0x10400', '0x10800'] }, 'undecided', /condition/],
  [{ arguments: ['0x10000', '0x10400'] }, 'undecided', /3 parameters, and the launch 2/],
  [{ arguments: '00'.repeat(23) }, 'undecided', /23 bytes and not 24/],
  [{ arguments: ['0x10000000000000000', '0x10400', '0x10800'] }, 'undecided', /64 bits/],
  [{ arguments: ['0x10000', '0x10400', '0x10800'], block: 0 }, 'undecided', /no device/],
  [{ kernel: 'vectorInc', arguments: ['0x10000'] }, 'non-idempotent', /writes the same bytes afterwards/],
  [{ kernel: 'vectorSet', arguments: ['0x10000', 7] }, 'idempotent'],
  [{ kernel: 'vectorSub', arguments: [] }, 'undecided', /"vectorSub" is not known/],
];

test('launches of a trace are classified, line by line', async () => {
  const whole = lines.map(([fields]) => ({ kernel: 'vectorAdd', grid: 4, block: 64, ...(fields as object) }));
  writeFileSync(join(folder, 'trace.jsonl'), whole.map((line) => `${JSON.stringify(line)}\n\n`).join(''));
  const run = await selvage([...words, '--launches', 'trace.jsonl'], folder);
  assert.equal(run.status, 0, run.stderr);
  const verdicts = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LaunchVerdict);
  assert.equal(verdicts.length, lines.length);
  for (const [index, [fields, verdict, reason]] of lines.entries()) {
    assert.equal(verdicts[index]?.line, 2 * index + 1);
    assert.equal(verdicts[index].verdict, verdict, JSON.stringify([fields, verdicts[index]]));
    if (reason) assert.match(verdicts[index].reason!, reason);
    else assert.equal(verdicts[index].reason, undefined);
  }
});

test('a malformed line: the other launches are classified, exit code 3', async () => {
  const good = JSON.stringify({ kernel: 'vectorSet', grid: 4, block: 64, arguments: ['0x10000', 7] });
  writeFileSync(join(folder, 'damaged.jsonl'), `${good}\n${good.slice(0, 30)}\n${good}`);
  const run = await selvage([...words, '--launches', 'damaged.jsonl'], folder);
  assert.equal(run.status, 3);
  const verdicts = run.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as LaunchVerdict);
  assert.deepEqual(
    verdicts.map(({ verdict }) => verdict),
    ['idempotent', 'undecided', 'idempotent'],
  );
  assert.match(verdicts[1]!.reason!, /not JSON/);
});

test('validators are written with the headers that they include, and compile', { skip: withoutC }, async () => {
  const run = await selvage([...words, '--emit', 'validators'], folder);
  assert.equal(run.status, 0, run.stderr);
  const [command, interposer] = [...run.stderr.matchAll(/with\nselvage: {3}(.*)\n/g)].map(([, text]) => text!);
  assert.ok(command && interposer, run.stderr);
  const target = join(folder, 'validators');
  assert.deepEqual(readdirSync(target).sort(), [
    'README.md',
    'interposer',
    'selvage-idempotency.h',
    'selvage-validator.h',
    'selvage-validators.c',
  ]);
  assert.match(readFileSync(join(target, 'selvage-validators.c'), 'utf8'), /selvage_apart/);
  const compiled = spawnSync('sh', ['-c', `${command} -Wall -Wextra -Werror`], { cwd: target, encoding: 'utf8' });
  assert.equal(compiled.status, 0, compiled.stderr);
  assert.ok(readdirSync(target).includes('selvage-validators.so'));
  const readme = readFileSync(join(target, 'README.md'), 'utf8');
  assert.ok(readme.includes(command) && readme.includes(interposer));
  assert.match(readme, /vectorInc\(int\*\)`: not idempotent/);
  if (process.platform !== 'linux') return;
  const built = spawnSync('sh', ['-c', interposer], { cwd: target, encoding: 'utf8' });
  assert.equal(built.status, 0, built.stderr);
  assert.ok(readdirSync(target).includes('libselvage-idempotency.so'));
});
