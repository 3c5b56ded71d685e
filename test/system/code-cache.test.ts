import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import module from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const skip = 'enableCompileCache' in module ? false : 'this Node keeps no compiled code';

function cacheHome(context: TestContext): { home: string; folder: string } {
  const home = mkdtempSync(join(tmpdir(), 'selvage-test-'));
  context.after(() => rmSync(home, { recursive: true, force: true }));
  return { home, folder: join(home, 'selvage', 'code') };
}

function runVersion(environment: Record<string, string>): void {
  // The tests keep compiled code themselves.
  const { CI: _ci, NODE_COMPILE_CACHE: _cache, ...inherited } = process.env;
  const { status, stderr } = spawnSync(process.execPath, [program, '--version'], {
    encoding: 'utf8',
    env: { ...inherited, ...environment },
  });
  assert.equal(status, 0, stderr);
}

test('compiled code is cached in a folder that only the user can read', { skip }, (context) => {
  const { home, folder } = cacheHome(context);
  runVersion({ XDG_CACHE_HOME: home });
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.notDeepEqual(readdirSync(folder), []);
});

test('nothing is cached in CI, in a folder that others may write, or under a relative path', { skip }, (context) => {
  const { home, folder } = cacheHome(context);
  runVersion({ XDG_CACHE_HOME: home, CI: 'true' });
  assert.equal(existsSync(folder), false);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o777);
  runVersion({ XDG_CACHE_HOME: home });
  assert.deepEqual(readdirSync(folder), []);
  runVersion({ XDG_CACHE_HOME: 'selvage-relative-cache' });
  assert.equal(existsSync('selvage-relative-cache'), false);
});

test('if the cache folder cannot be created, the program runs without a cache', { skip }, () => {
  runVersion({ XDG_CACHE_HOME: '/dev/null' });
});
