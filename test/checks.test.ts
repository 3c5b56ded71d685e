/** Types, lint, format and bundle, as `npm run check` checks them one after the other. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import packageFile from '../package.json' with { type: 'json' };

const root = fileURLToPath(new URL('..', import.meta.url));
const names = ['typecheck', 'lint', 'check-format', 'check-dist'] as const;

test('`npm run check` is these checks', () => {
  assert.equal(packageFile.scripts.check, names.map((name) => `npm run --silent ${name}`).join(' && '));
});

for (const name of names) {
  test(`npm run ${name}`, () => {
    const { status, stdout, stderr } = spawnSync('npm', ['run', '--silent', name], { cwd: root, encoding: 'utf8' });
    assert.equal(status, 0, `${stdout}${stderr}`);
  });
}
