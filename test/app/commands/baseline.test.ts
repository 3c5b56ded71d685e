/** `selvage baseline`: initial findings of a repository are not reported again; fixed ones leave the file. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { parseBaseline, printBaseline } from '../../../src/settings/baseline-file.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { selvage } from './in-process.ts';

const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';
const root = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-baseline-')));
after(() => rmSync(root, { recursive: true, force: true }));
const file = join(root, '.selvage-baseline.json');

const git = (...words: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', ...words], { cwd: root, encoding: 'utf8' }).trim();
function commit(): string {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'change');
  return git('rev-parse', 'HEAD');
}
git('init', '--quiet', '--initial-branch=main');

/** A kernel that reverses a block, with its barrier or without. */
const kernel = (name: string, isRacy: boolean): string => `// selvage: block=64 grid=1
__global__ void ${name}(const int *in, int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[threadIdx.x];
${isRacy ? '' : '  __syncthreads();\n'}  out[threadIdx.x] = s[63 - threadIdx.x];
}
`;
const write = (one: boolean, two: boolean, before = ''): void =>
  writeFileSync(join(root, 'a.cu'), before + kernel('one', one) + kernel('two', two));
const run = (command: string, ...words: string[]) => selvage([command, ...words, '--checks', 'race,divergence'], root);
const kernelsIn = (): string[] => parseBaseline(readFileSync(file, 'utf8'), file).map((entry) => entry.kernel);

test('findings of the baseline are not reported again, on any line; new findings are', { skip }, async () => {
  write(true, false);
  const wrote = await run('baseline');
  assert.equal(wrote.status, 0, wrote.stderr);
  assert.match(wrote.stderr, /wrote 1 finding to \.selvage-baseline\.json; commit it/);
  assert.deepEqual(kernelsIn(), ['one(int const*, int*)']);
  const moved = '// Some\n\n// more lines.\n';
  write(true, true, moved);
  const { status, stdout } = await run('check', 'a.cu');
  assert.equal(status, 1);
  assert.match(stdout, /error\[race\/shared\][^]*a\.cu:13:3/);
  assert.doesNotMatch(stdout, /a\.cu:7:3/);
  assert.match(stdout, /1 error; 1 finding in the baseline/);
  // With --no-baseline all findings are reported, with the unchanged verdict.
  const all = await run('check', 'a.cu', '--no-baseline', '--format', 'json');
  const { kernels } = JSON.parse(all.stdout) as { kernels: { race: { verdict: string; findings: { suppressed?: string }[] } }[] };
  assert.deepEqual(
    kernels.map(({ race }) => [race.verdict, race.findings[0]?.suppressed]),
    [
      ['race', undefined],
      ['race', undefined],
    ],
  );
  // New findings are not added without the command.
  const again = await run('baseline');
  assert.match(again.stderr, /as it should be: 1 finding\n[^]*1 finding not in the baseline: fix it/);
  assert.deepEqual(kernelsIn(), ['one(int const*, int*)']);
});

test('a fixed finding is reported, removed from the baseline, and reported if it reappears', { skip }, async () => {
  write(true, true);
  await run('baseline', '--force');
  assert.equal(kernelsIn().length, 2);
  const both = commit();
  write(false, true);
  const fixed = await run('check', 'a.cu');
  assert.match(fixed.stdout, /suppression\/baseline-fixed[^]*A finding of the baseline is gone \(race\/shared in one/);
  assert.equal(fixed.status, 0);
  // Findings of unanalysed kernels or other launches may still be there.
  for (const words of [
    ['--kernel', 'two'],
    ['--block', '32'],
  ])
    assert.doesNotMatch((await run('check', 'a.cu', ...words)).stdout, /baseline-fixed/);
  const head = commit();
  const review = await run('review', '--base', both, '--head', head);
  assert.equal(review.status, 0, review.stdout);
  // It comes back while its entry is still in the file.
  write(true, true);
  const back = await run('review', '--base', head, '--head', commit());
  assert.equal(back.status, 1, back.stdout);
  assert.match(back.stdout, /race/i);
  write(false, true);
  assert.match((await run('baseline')).stderr, /dropped 1 finding that is fixed; 1 finding left/);
  assert.deepEqual(kernelsIn(), ['two(int const*, int*)']);
  write(false, false);
  assert.match((await run('baseline')).stderr, /no finding is left, so \.selvage-baseline\.json was removed/);
  assert.equal(existsSync(file), false);
  assert.match((await run('baseline')).stderr, /no findings, so no baseline is needed/);
  writeFileSync(join(root, 'broken.cu'), '#include "missing.h"\n');
  const broken = await run('baseline');
  assert.equal(broken.status, 3);
  assert.match(broken.stderr, /no baseline was written: no findings in what could be analysed/);
  rmSync(join(root, 'broken.cu'));
});

test('if a change adds a finding and its baseline entry, both are reported', { skip }, async () => {
  write(false, false);
  const base = commit();
  write(true, false);
  await run('baseline');
  const { status, stdout } = await run('review', '--base', base, '--head', commit());
  assert.equal(status, 1);
  assert.match(stdout, /1 more in the baseline/);
});

test('a baseline that does not compile any more keeps its entries; an invalid file is rejected', { skip }, async () => {
  write(true, true);
  await run('baseline', '--force');
  writeFileSync(join(root, 'a.cu'), 'no CUDA\n');
  const broken = await run('baseline');
  assert.equal(broken.status, 3);
  assert.equal(kernelsIn().length, 2);
  for (const [text, why] of [
    ['{', /JSON/],
    ['{"version":2,"findings":[]}', /version/],
    ['{"version":1,"findings":[{"fingerprint":"../x","code":"","kernel":"","file":""}]}', /findings\.0\.fingerprint/],
    ['{"version":1,"findings":[],"more":1}', /more/],
  ] as const) {
    writeFileSync(file, text);
    const { status, stderr } = await run('check', 'a.cu');
    assert.equal(status, 2);
    assert.match(stderr, why);
    assert.match(stderr, /selvage baseline --force/);
  }
});

test('the file has one line per finding, in an order that does not depend on lines', () => {
  const entry = (file_: string, kernel_: string) => ({ fingerprint: 'aaaa1111', code: 'race/shared', kernel: kernel_, file: file_ });
  const text = printBaseline([entry('b.cu', 'k'), entry('a.cu', 'z'), entry('a.cu', 'k')]);
  assert.deepEqual(
    parseBaseline(text, file).map((one) => `${one.file} ${one.kernel}`),
    ['a.cu k', 'a.cu z', 'b.cu k'],
  );
  assert.equal(text.split('\n').length, 9);
});
