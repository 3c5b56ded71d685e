/** The bundle as it is in a bare clone: no node_modules, an empty environment, Node 20 as well. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import packageFile from '../../package.json' with { type: 'json' };
import { findNode20 } from './node-20.ts';

const folder = mkdtempSync(join(tmpdir(), 'selvage-bundle-'));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(fileURLToPath(new URL('../../dist', import.meta.url)), join(folder, 'dist'), { recursive: true });
const dist = (file: string): string => join(folder, 'dist', file);

function run(node: string, args: readonly string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(node, args, {
    cwd: folder,
    env: { PATH: '' },
    encoding: 'utf8',
    timeout: 120_000,
    maxBuffer: 2 ** 26,
  });
}

const askZ3 = `
  import { Worker } from 'node:worker_threads';
  const worker = new Worker(new URL(${JSON.stringify(pathToFileURL(dist('z3-worker.js')).href)}));
  worker.once('message', (reply) => { console.log(JSON.stringify(reply.answer)); process.exit(); });
  const scripts = ['(declare-const x Int) (assert (= x 3)) (declare-const p Bool) (assert (=> p (> x 3)))'];
  worker.postMessage({ kind: 'check', session: 1, scripts, assumptions: ['p'], units: 100000 });`;

const node20 = findNode20();
const nodes: readonly (readonly [string, string | undefined])[] = [
  [`Node ${process.versions.node}`, process.execPath],
  ['Node 20', node20],
];

for (const [name, node] of nodes) {
  const skip = node === undefined ? 'no Node 20 here' : false;

  test(`${name}: the version`, { skip }, () => {
    const { status, stdout, stderr } = run(node ?? '', [dist('cli.js'), '--version']);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, `selvage ${packageFile.version}\n`);
  });

  test(`${name}: Z3 runs from beside the bundle`, { skip }, () => {
    const script = join(folder, 'ask-z3.mjs');
    writeFileSync(script, askZ3);
    const { stdout, stderr } = run(node ?? '', [script]);
    assert.equal(stdout, '{"kind":"unsat"}\n', stderr);
  });

  test(`${name}: the demo finds defects, and says the same each time`, { skip }, () => {
    const first = run(node ?? '', [dist('cli.js'), 'demo', '--format', 'json']);
    assert.equal(first.status, 1, first.stderr);
    const { kernels } = JSON.parse(first.stdout) as { kernels: { race: { verdict: string } }[] };
    assert.ok(kernels.some(({ race }) => race.verdict === 'race'));
    assert.ok(kernels.some(({ race }) => race.verdict === 'proved'));
    const reference = run(process.execPath, [dist('cli.js'), 'demo', '--format', 'json']);
    assert.equal(first.stdout, reference.stdout);
  });
}
