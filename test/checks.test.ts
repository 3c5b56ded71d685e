/** Types, lint, format and bundle, as `npm run check` checks them one after the other. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import packageFile from '../package.json' with { type: 'json' };

/** Checks of unchanged inputs are cached in a folder that `npm ci` does not remove. */
const cache = process.env['SELVAGE_TEST_CACHE'];
const kept: Readonly<Record<string, readonly string[]>> =
  cache === undefined
    ? {}
    : {
        typecheck: ['--incremental', '--tsBuildInfoFile', join(cache, 'types.json')],
      };

const root = fileURLToPath(new URL('..', import.meta.url));
const names = ['typecheck', 'lint', 'check-format', 'check-dist'] as const;

test('`npm run check` is these checks', () => {
  assert.equal(packageFile.scripts.check, names.map((name) => `npm run --silent ${name}`).join(' && '));
});

for (const name of names) {
  test(`npm run ${name}`, () => {
    const words = ['run', '--silent', name, '--', ...(kept[name] ?? [])];
    const { status, stdout, stderr } = spawnSync('npm', words, { cwd: root, encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
  });
}
