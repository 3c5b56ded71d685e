import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../../src/base/random.ts';
import { validatorSource } from '../../../src/idempotency/validator/c-source.ts';
import { isKnownToHold, type InstanceArguments } from '../../../src/idempotency/validator/instance-condition.ts';
import { parameters, randomCondition, randomLaunch } from './random-condition.ts';

const sources = ['../../../src/interposer/', '../../../src/idempotency/validator/'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const driver = fileURLToPath(new URL('validator-driver.c', import.meta.url));
const skip = spawnSync('cc', ['--version']).status === 0 ? false : 'no C compiler';

function record({ arguments: bytes, grid, block, dynamicShared }: InstanceArguments): Uint8Array {
  return Buffer.concat([bytes, new Uint8Array(new Uint32Array([...grid, ...block, dynamicShared]).buffer)]);
}

/** Compiles validators with a driver; undefined behaviour ends the program. */
function compile(source: string, folder: string): string {
  writeFileSync(join(folder, 'validators.c'), source);
  copyFileSync(driver, join(folder, 'driver.c'));
  const program = join(folder, 'program');
  const strict = ['-std=c11', '-Wall', '-Wextra', '-Wpedantic', '-Werror'];
  const sanitize = ['-fsanitize=undefined', '-fno-sanitize-recover=all'];
  execFileSync('cc', [...strict, ...sanitize, '-O1', ...sources.map((path) => `-I${path}`), 'validators.c', 'driver.c', '-o', program], {
    cwd: folder,
  });
  return program;
}

test('validators in C give the answers of those in JavaScript', { skip }, (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-validators-'));
  try {
    const random = seededRandom(7);
    const kernels = Array.from({ length: 150 }, (_, index) => ({
      kernel: `k${index}`,
      codeHash: '0'.repeat(64),
      parameters,
      condition: randomCondition(random, 3),
    }));
    const program = compile(validatorSource(kernels), folder);
    const launches = Array.from({ length: 400 }, () => randomLaunch(random));
    const output = execFileSync(program, { input: Buffer.concat(launches.map(record)), maxBuffer: 2 ** 26 });
    const lines = output.toString().trim().split('\n');
    assert.equal(lines.length, launches.length);
    const found = { true: 0, false: 0, changing: 0 };
    for (const [index, launch] of launches.entries()) {
      for (const [which, { condition }] of kernels.entries()) {
        const expected = isKnownToHold(condition, launch);
        found[`${expected}`] += 1;
        assert.equal(lines[index]![which] === '1', expected, `launch ${index} of validator ${which}`);
      }
    }
    found.changing = kernels.filter((_, which) => new Set(lines.map((line) => line[which])).size === 2).length;
    context.diagnostic(JSON.stringify(found));
    assert.ok(found.changing > 60, 'the conditions depend on the launches');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('the name of a kernel cannot end a comment or a string', { skip }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-validators-'));
  try {
    const names = ['*/ int x; /*', '"; int y; "', '\\', 'line\nbreak', '??/', '%s%n', 'Ünïcödé', '', 'int', '9'.repeat(5000)];
    const kernels = names.map((kernel) => ({
      kernel,
      codeHash: '*/"\\',
      parameters,
      pointers: [0, 8],
      condition: { kind: 'always' as const },
      written: {
        sets: [{ base: { kind: 'symbol' as const, name: kernel }, steps: [], bytes: 4 }],
        needs: { kind: 'always' as const },
      },
    }));
    const program = compile(validatorSource(kernels), folder);
    const launch = randomLaunch(seededRandom(3));
    const output = execFileSync(program, { input: record({ ...launch, grid: [1, 1, 1] }) });
    assert.equal(output.toString(), `${'1'.repeat(names.length)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('without kernels there is a table without validators', () => {
  assert.match(validatorSource([]), /selvage_validators\[\] = \{\n {2}\{0\},\n\};/);
});
