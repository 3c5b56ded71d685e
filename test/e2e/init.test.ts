/** The check that `selvage init` sets up runs: the action, with the configuration that it wrote. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { selvage } from '../app/commands/in-process.ts';
import { layouts } from '../app/setup/layouts.ts';
import { sweep } from '../run/sweep.ts';
import { needsCompiler, pullRequest } from './pull-request.ts';

for (const [name, { files, racy }] of Object.entries(layouts).slice(0, sweep(2, 6))) {
  test(`a repository of the kind ${name}: the first review finds its race`, needsCompiler, async () => {
    const { workspace, server, run } = await pullRequest(files, { 'README.md': 'Kernels.\n' });
    assert.equal((await selvage(['init', '--quiet'], workspace.root)).status, 0);
    assert.match(readFileSync(join(workspace.root, '.selvage.yml'), 'utf8'), /^version: 1$/m);
    server.push(workspace.commit({ 'src/note.txt': 'first review\n' }));
    const ran = await run({ action: 'opened' });
    assert.equal(ran.status, 1, ran.stdout + ran.stderr);
    assert.equal(ran.outputs['errors'], '1');
    assert.equal(ran.outputs['proved'], '1');
    assert.equal(server.reviewComments.length, 1);
    assert.equal(server.reviewComments[0]?.path, racy);
  });
}
