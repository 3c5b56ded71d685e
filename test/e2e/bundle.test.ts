/** The bundle as it is in a bare clone: no node_modules, an empty environment, Node 20 as well. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
  worker.on('message', (reply) => {
    if (reply.kind === 'started') return;
    console.log(JSON.stringify(reply.answer));
    process.exit();
  });
  const scripts = ['(declare-const x Int) (assert (= x 3)) (declare-const p Bool) (assert (=> p (> x 3)))'];
  worker.postMessage({ kind: 'check', session: 1, scripts, assumptions: ['p'], units: 100000 });`;

/** Expected output under each Node. */
let demoReport: string | undefined;

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

  test(`${name}: Z3 runs from the folder of the bundle`, { skip }, () => {
    const script = join(folder, 'ask-z3.mjs');
    writeFileSync(script, askZ3);
    const { stdout, stderr } = run(node ?? '', [script]);
    assert.match(stdout, /^\{"kind":"unsat","units":\d+\}\n$/, stderr);
  });

  test(`${name}: the demo finds bugs, and prints the same each time`, { skip }, () => {
    const first = run(node ?? '', [dist('cli.js'), 'demo', '--format', 'json']);
    assert.equal(first.status, 1, first.stderr);
    const { kernels } = JSON.parse(first.stdout) as { kernels: { race: { verdict: string } }[] };
    assert.ok(kernels.some(({ race }) => race.verdict === 'race'));
    assert.ok(kernels.some(({ race }) => race.verdict === 'proved'));
    demoReport ??= run(process.execPath, [dist('cli.js'), 'demo', '--format', 'json']).stdout;
    assert.equal(first.stdout, demoReport);
  });

  test(`${name}: without a compiler the demo reviews the PTX it ships with, also if changed`, { skip }, () => {
    const copy = mkdtempSync(join(folder, 'demo-'));
    cpSync(join(folder, 'dist'), join(copy, 'dist'), { recursive: true });
    // A machine with no program other than Node.
    symlinkSync(node ?? '', join(copy, 'node'));
    const review = (): { status: number | null; stdout: string } => {
      const words = [join(copy, 'dist/cli.js'), 'demo', '--quiet', '--checks', 'race,divergence'];
      const environment = { PATH: copy, HOME: copy, LANG: 'C' };
      return spawnSync(join(copy, 'node'), words, { cwd: copy, env: environment, encoding: 'utf8' });
    };
    const planted = review();
    assert.equal(planted.status, 1);
    for (const file of ['reduce.cu', 'reverse.cu', 'differences.cu']) assert.ok(planted.stdout.includes(`### ${file}`));
    assert.match(planted.stdout, /Data race on shared `?partial/);
    // Edits that are not compiled and proved are not suggested.
    assert.doesNotMatch(planted.stdout, /suggest/i);

    // The barrier after the first store, whose loss was planted.
    for (const build of ['verification', 'production']) {
      const file = join(copy, `dist/demo/head/reduce.${build}.ptx`);
      const text = readFileSync(file, 'utf8');
      const repaired = text.replace(/(\.loc\s+1 7 3[^]*?\bst(?:\.shared)?\.f32[^;]*;\n)/, '$1\tbar.sync \t0;\n');
      assert.notEqual(repaired, text);
      writeFileSync(file, repaired);
    }
    const repaired = review();
    assert.equal(repaired.status, 1, 'the other planted bugs are still there');
    assert.ok(!repaired.stdout.includes('### reduce.cu'));
    for (const file of ['reverse.cu', 'differences.cu']) assert.ok(repaired.stdout.includes(`### ${file}`));
  });
}
