import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findNativeZ3, startNativeZ3 } from '../../src/solver/z3-native.ts';
import { decide, testSolver } from './solver-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'selvage-native-'));
after(() => rmSync(folder, { recursive: true }));

/** Prints the strings that it is to echo. */
const answering = 'while read -r line; do case "$line" in "(echo "*) line=${line#*?\\"}; echo "${line%\\"*}";; esac; done';
/** A program that simulates Z3: a shell script. */
function program(name: string, body: string): string {
  const file = join(folder, name);
  writeFileSync(file, `#!/bin/sh\ncase "$1" in --version) echo 'Z3 version 9.9.9 - 64 bit'; exit;; esac\n${body}\n`);
  chmodSync(file, 0o755);
  return file;
}

const z3 = findNativeZ3(process.env['PATH']);
if (z3 === undefined) test('z3 as a child process answers queries', { skip: 'no z3 on PATH' }, () => {});
else {
  const file = new URL('../../src/solver/z3-native.ts', import.meta.url).href;
  await testSolver(
    () => startNativeZ3(z3),
    `import { startNativeZ3 } from ${JSON.stringify(file)};\nconst z3 = await startNativeZ3(${JSON.stringify(z3)});`,
  );
}

test('the first executable z3 on PATH is used, none from a relative folder', () => {
  const found = program('z3', 'exit 0');
  assert.equal(findNativeZ3(`/nonexistent:${folder}`), found);
  assert.equal(findNativeZ3('.:bin'), undefined);
  assert.equal(findNativeZ3(undefined), undefined);
  chmodSync(found, 0o644);
  assert.equal(findNativeZ3(folder), undefined);
});

test('a program other than Z3 is rejected', async () => {
  await assert.rejects(startNativeZ3('/bin/echo'), /\/bin\/echo is not a Z3 that runs here/);
  await assert.rejects(startNativeZ3(join(folder, 'missing')), /ENOENT/);
});

test('the environment of z3 contains only the language of its messages', async () => {
  process.env['SELVAGE_TEST_SECRET'] = 'hidden';
  const file = program('environment', `[ -z "$SELVAGE_TEST_SECRET$HOME" ] && echo unsat; ${answering}`);
  const solver = await startNativeZ3(file);
  assert.equal(solver.name, 'z3 9.9.9 (native)');
  assert.deepEqual(await decide(solver, '(declare-const x Int)'), { kind: 'unsat' });
  await solver.close();
});

test('a z3 process that dies, hangs or prints an invalid answer leaves queries undecided', async () => {
  const dying = await startNativeZ3(program('dying', 'read line; echo oops; exit 1'));
  const broken = await decide(dying, '(declare-const x Int)');
  assert.deepEqual(broken, { kind: 'unknown', reason: 'Z3 broke down: oops\n', nondeterministic: true });
  await dying.close();

  const hanging = await startNativeZ3(program('hanging', 'exec sleep 1000'));
  const killed = await decide(hanging, '(declare-const x Int)', 1000, 100);
  assert.deepEqual(killed, { kind: 'unknown', reason: 'solver killed after 0.1 s', nondeterministic: true });
  const session = hanging.open();
  const waiting = session.check([], 1000);
  setImmediate(() => void hanging.close());
  assert.equal((await waiting).kind, 'unknown', 'closed in mid-check');

  const babbling = await startNativeZ3(program('babbling', `echo maybe; ${answering}`));
  await assert.rejects(decide(babbling, '(declare-const x Int)'), /Z3: maybe/);
  await babbling.close();
});
