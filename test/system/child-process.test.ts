import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { test } from 'node:test';
import { runProcess } from '../../src/system/child-process.ts';
import { temporaryFolder, writeProgram } from '../toolchain/fixture.ts';

const limits = { milliseconds: 20_000, outputBytes: 1 << 20 };

/** A program that starts another, whose id it writes to the file `child`. */
const startsAnother = `
const child = require('node:child_process').spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit' });
require('node:fs').writeFileSync('child', String(child.pid));`;

test('output and exit status of a program are returned; it does not inherit the environment', async (t) => {
  const folder = temporaryFolder(t);
  const executable = join(folder, 'program');
  writeProgram(
    executable,
    `console.log(JSON.stringify([process.argv.slice(2), process.env, process.cwd()])); console.error('bad'); process.exit(3);`,
  );
  process.env['SELVAGE_TEST_TOKEN'] = 'secret';
  t.after(() => delete process.env['SELVAGE_TEST_TOKEN']);
  const args = ['$(echo x)', 'a b', '"; exit 9'];
  const result = await runProcess({ executable, args, cwd: folder, env: { A: '1' }, limits });
  assert.deepEqual(result.end, { kind: 'exited', code: 3 });
  assert.deepEqual(JSON.parse(result.stdout), [args, { A: '1' }, folder]);
  assert.equal(result.stderr, 'bad\n');
});

test('a program that exceeds its time is killed with its descendants', async (t) => {
  const folder = temporaryFolder(t);
  const executable = join(folder, 'program');
  writeProgram(executable, `${startsAnother} console.log('started'); setInterval(() => {}, 1000);`);
  const result = await runProcess({
    executable,
    args: [],
    cwd: folder,
    env: {},
    limits: { ...limits, milliseconds: 1500 },
  });
  assert.deepEqual(result.end, { kind: 'time-limit' });
  assert.equal(result.stdout, 'started\n');
  await assertGone(Number(readFileSync(join(folder, 'child'), 'utf8')));
});

test('descendants of a program end with it', async (t) => {
  const folder = temporaryFolder(t);
  const executable = join(folder, 'program');
  writeProgram(executable, `${startsAnother} process.exit(0);`);
  const result = await runProcess({ executable, args: [], cwd: folder, env: {}, limits });
  assert.deepEqual(result.end, { kind: 'exited', code: 0 });
  await assertGone(Number(readFileSync(join(folder, 'child'), 'utf8')));
});

test('excessive output is truncated and its program killed', async (t) => {
  const folder = temporaryFolder(t);
  const executable = join(folder, 'program');
  writeProgram(executable, `const line = 'x'.repeat(4096); (function more() { process.stderr.write(line, more); })();`);
  const result = await runProcess({
    executable,
    args: [],
    cwd: folder,
    env: {},
    limits: { ...limits, outputBytes: 10_000 },
  });
  assert.deepEqual(result.end, { kind: 'output-limit' });
  assert.equal(result.stderr.length, 10_000);
});

test('an aborted program is killed with its descendants; a later one is not started', async (t) => {
  const folder = temporaryFolder(t);
  const executable = join(folder, 'program');
  writeProgram(executable, `${startsAnother} setInterval(() => {}, 1000);`);
  const controller = new AbortController();
  const { signal } = controller;
  const running = runProcess({ executable, args: [], cwd: folder, env: {}, limits, signal });
  while (!existsSync(join(folder, 'child'))) await wait(20);
  controller.abort();
  assert.deepEqual((await running).end, { kind: 'aborted' });
  await assertGone(Number(readFileSync(join(folder, 'child'), 'utf8')));
  rmSync(join(folder, 'child'));
  const late = await runProcess({ executable, args: [], cwd: folder, env: {}, limits, signal });
  assert.deepEqual(late.end, { kind: 'aborted' });
  assert.ok(!existsSync(join(folder, 'child')));
});

test('a program does not outlive the exit of the process that runs it', async (t) => {
  const folder = temporaryFolder(t);
  const executable = join(folder, 'program');
  writeProgram(executable, `require('node:fs').writeFileSync('child', String(process.pid)); setInterval(() => {}, 1000);`);
  const source = new URL('../../src/system/child-process.ts', import.meta.url).href;
  const host = `
    import { existsSync } from 'node:fs';
    import { runProcess } from ${JSON.stringify(source)};
    void runProcess(${JSON.stringify({ executable, args: [], cwd: folder, env: {}, limits })});
    setInterval(() => { if (existsSync('child')) throw new Error('an error'); }, 20);`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', host], { cwd: folder });
  assert.equal(status, 1);
  await assertGone(Number(readFileSync(join(folder, 'child'), 'utf8')));
});

test('a program that does not exist, or is ended by a signal, is reported', async (t) => {
  const folder = temporaryFolder(t);
  const missing = await runProcess({ executable: join(folder, 'none'), args: [], cwd: folder, env: {}, limits });
  assert.equal(missing.end.kind, 'not-started');
  const executable = join(folder, 'program');
  writeProgram(executable, `process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1000);`);
  const ended = await runProcess({ executable, args: [], cwd: folder, env: {}, limits });
  assert.deepEqual(ended.end, { kind: 'signalled', signal: 'SIGTERM' });
});

/** A killed process may take a moment to exit, and stays a zombie until its parent waits for it. */
async function assertGone(pid: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    const status = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
    if (status === '' || /\) Z /.test(status)) return;
    await wait(50);
  }
  assert.fail(`process ${pid} is still there`);
}
