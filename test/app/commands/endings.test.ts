/** Ends of the program: by a signal, or without space for its output. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, openSync, closeSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'selvage-endings-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A kernel that stores `2 ** depth` times, by functions that call each other twice. */
function callsThatMultiply(depth: number): string {
  const call = (index: number): string => `{ .param .u64 q; st.param.u64 [q], %d1; call f${index}, (q); }`;
  const inner = Array.from(
    { length: depth },
    (_, index) => `.func f${index + 1}(.param .u64 p) { .reg .u64 %d<2>; ld.param.u64 %d1, [p]; ${call(index)} ${call(index)} ret; }`,
  );
  return `.version 8.0
.target sm_80
.address_size 64
.func f0(.param .u64 p) { .reg .u64 %d<2>; .reg .u32 %r<2>; ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; st.global.u32 [%d1], %r1; ret; }
${inner.join('\n')}
.visible .entry k(.param .u64 a) { .reg .u64 %d<2>; ld.param.u64 %d1, [a]; ${call(depth)} ret; }
`;
}

test('a kernel whose inlined calls grow exponentially is too large', () => {
  writeFileSync(join(folder, 'endless.ptx'), callsThatMultiply(40));
  const words = [program, 'check', 'endless.ptx', '--no-color'];
  const { status, stdout } = spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
  assert.match(stdout, /race unknown: the kernel is too large, together with the functions that it calls/);
  assert.match(stdout, /barrier divergence unknown: the kernel is too large/);
});

// The largest accepted size: parsing it blocks the thread for seconds.
test('after a signal the program ends at once', { skip: process.platform === 'win32' }, async () => {
  writeFileSync(join(folder, 'large.ptx'), callsThatMultiply(14));
  for (const milliseconds of [700, 1500]) {
    const words = [program, 'check', 'large.ptx'];
    const child = spawn(process.execPath, words, { cwd: folder, stdio: 'ignore' });
    const ended = once(child, 'exit');
    await wait(milliseconds);
    const isRunning = child.exitCode === null;
    child.kill('SIGTERM');
    const [code, signal] = (await ended) as [number | null, string | null];
    assert.ok(!isRunning || code === 143 || signal === 'SIGTERM', `${code} ${signal}`);
  }
});

test('no space for the output: a message on standard error, exit code 4', { skip: !existsSync('/dev/full') }, () => {
  for (const words of [['explain', 'race/shared'], ['--help'], ['check', 'small.ptx', '--format', 'json']]) {
    writeFileSync(join(folder, 'small.ptx'), callsThatMultiply(1));
    const full = openSync('/dev/full', 'w');
    const ran = spawnSync(process.execPath, [program, ...words], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', full, 'pipe'],
    });
    closeSync(full);
    assert.equal(ran.status, 4, ran.stderr);
    assert.match(ran.stderr, /^selvage: standard output cannot be written: no space is left\. [^\n]*\n$/);
  }
});
