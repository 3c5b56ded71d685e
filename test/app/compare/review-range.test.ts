import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defaultOptions, type Options } from '../../../src/settings/options.ts';
import { exitCodeOf } from '../../../src/report-model/exit-code.ts';
import { analyseRange, type RangeAnalysis, type RangeRequest } from '../../../src/app/compare/review-range.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { fakeAnswers, writeProgram } from '../../toolchain/fixture.ts';
import { assets, recordingProgress } from './change-fixture.ts';

const cli = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));

// A separate folder of temporary files, which must be empty after each run.
const temporary = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-scratch-')));
process.env['TMPDIR'] = temporary;
after(() => rmSync(temporary, { recursive: true, force: true }));

const skip = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';
const root = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-range-')));
after(() => rmSync(root, { recursive: true, force: true }));

function git(...words: string[]): string {
  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgSign=false'];
  return execFileSync('git', [...identity, ...words], { cwd: root, encoding: 'utf8' }).trim();
}

function commit(files: Readonly<Record<string, string>>): string {
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  git('add', '--all');
  git('commit', '--quiet', '--message', 'change');
  return git('rev-parse', 'HEAD');
}

const kernel = (name: string): string => `
// selvage: block=64 grid=1
__global__ void ${name}(int* p) { p[SLOT] = threadIdx.x; }
`;
git('init', '--quiet', '--initial-branch=main');
const first = commit({
  'slot.cuh': '#define SLOT threadIdx.x\n',
  'uses.cu': `#include "slot.cuh"\n${kernel('uses')}`,
  'ignores.cu': `#if 0\n#include "slot.cuh"\n#endif\n#define SLOT threadIdx.x\n${kernel('ignores')}`,
});

/** Without costs, so that there is one build of a unit. */
const options: Options = { ...defaultOptions(), checks: ['race', 'divergence'] };

function analyseTo(head: string, changes: Partial<RangeRequest> = {}): Promise<RangeAnalysis> {
  return analyseRange({
    root,
    base: first,
    head,
    configurationFrom: 'head',
    trust: 'pull-request',
    options,
    environment: process.env,
    assets,
    progress: recordingProgress(),
    ...changes,
  });
}

const own = new Set(readdirSync(temporary));
const leftBehind = (): string[] => readdirSync(temporary).filter((name) => !own.has(name));

const racy = commit({ 'slot.cuh': '#define SLOT (threadIdx.x / 2)\n' });

test('a changed header reaches the units that include it according to the compiler', { skip }, async () => {
  const { touched, report, baseSha, headSha } = await analyseTo('HEAD');
  assert.deepEqual([baseSha, headSha], [first, racy]);
  assert.deepEqual(
    touched.map(({ unit, reason }) => [unit, reason]),
    [['uses.cu', 'code']],
  );
  assert.deepEqual(
    report.kernels.map(({ race }) => race.verdict),
    ['race'],
  );
  assert.equal(exitCodeOf(report, 'error'), 1);
  assert.deepEqual(report.diagnostics, []);
});

test('the head need not be checked out, and no files remain', { skip }, async () => {
  const expected = await analyseTo(racy);
  git('checkout', '--quiet', first);
  const { report, source } = await analyseTo(racy);
  git('checkout', '--quiet', 'main');
  assert.deepEqual(report, expected.report);
  assert.match(source('slot.cuh') ?? '', /\/ 2/);
  assert.deepEqual(leftBehind(), []);
});

test('the configuration of an untrusted author has no effect; that of a trusted author needs review', { skip }, async () => {
  const silenced = commit({
    '.selvage.yml': 'version: 1\nsuppress: [{ code: race/global, reason: "trust me" }]\n',
  });
  const stranger = await analyseTo(silenced, { configurationFrom: 'base' });
  assert.equal(exitCodeOf(stranger.report, 'error'), 1);
  assert.deepEqual(stranger.trust, []);
  const friend = await analyseTo(silenced);
  assert.equal(exitCodeOf(friend.report, 'error'), 0);
  assert.deepEqual(
    friend.trust.map(({ kind, text }) => [kind, text]),
    [['suppression', 'race/global: trust me']],
  );
  git('reset', '--quiet', '--hard', racy);
});

test('unsafe flags of a pull request are rejected, and nothing of it is compiled', { skip }, async () => {
  const hostile = commit({ '.selvage.yml': 'version: 1\nnvcc: { args: ["-ccbin", "./evil"] }\n' });
  const { report } = await analyseTo(hostile);
  assert.equal(exitCodeOf(report, 'never'), 3);
  assert.ok(report.diagnostics.some(({ code }) => code === 'compile/flag-refused'));
  assert.deepEqual(report.kernels, []);
  assert.deepEqual(report.notAnalysed?.map(({ what }) => what).sort(), ['ignores.cu', 'uses.cu']);
  git('reset', '--quiet', '--hard', racy);
});

test('without a compiler every unit is named as not analysed, exit code 3', async () => {
  const { report } = await analyseTo(racy, { options: { ...options, nvcc: 'no-such-nvcc' } });
  assert.equal(exitCodeOf(report, 'error'), 3);
  assert.deepEqual(
    report.diagnostics.map(({ code }) => code),
    ['compile/no-compiler'],
  );
  assert.ok(report.notAnalysed?.some(({ what }) => what === 'uses.cu'));
});

test('for an untrusted author a named configuration is read from the base, and no link leaves the tree', { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-outside-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const silence = 'version: 1\nsuppress: [{ code: race/global, reason: "trust me" }]\n';
  const named = (config: string): Partial<RangeRequest> => ({ options: { ...options, config } });
  const exitOf = ({ report }: RangeAnalysis): number => exitCodeOf(report, 'error');
  const strict = commit({ 'strict.yml': 'version: 1\n' });
  const racier = commit({ 'slot.cuh': '#define SLOT (threadIdx.x / 4)\n', 'strict.yml': silence });

  for (const config of ['./strict.yml', join(root, 'strict.yml')]) {
    const stranger = { base: strict, configurationFrom: 'base', ...named(config) } as const;
    assert.equal(exitOf(await analyseTo(racier, stranger)), 1, config);
  }
  // The commit counts, not the checkout.
  writeFileSync(join(root, 'strict.yml'), 'version: 1\n');
  assert.equal(exitOf(await analyseTo(racier, { base: strict, ...named('strict.yml') })), 0);
  git('checkout', '--quiet', 'strict.yml');

  writeFileSync(join(folder, 'owner.yml'), silence);
  const owner = await analyseTo(racier, {
    base: strict,
    configurationFrom: 'base',
    ...named(join(folder, 'owner.yml')),
  });
  assert.equal(exitOf(owner), 0, 'files outside of the repository are not part of the change');

  rmSync(join(root, 'strict.yml'));
  symlinkSync(join(folder, 'owner.yml'), join(root, 'strict.yml'));
  symlinkSync(join(folder, 'owner.yml'), join(root, '.selvage.yml'));
  const linked = commit({});
  await assert.rejects(analyseTo(linked, { base: racier, ...named('strict.yml') }), /strict\.yml cannot be read: it leads out/);
  await assert.rejects(analyseTo(linked, { base: racier }), /\.selvage\.yml cannot be read: it leads out/);
  await assert.rejects(
    analyseTo(racier, { configurationFrom: 'base', ...named('strict.yml') }),
    /strict\.yml cannot be read: the file does not exist/,
  );
  git('reset', '--quiet', '--hard', racy);
});

/** An nvcc that fails for `ignores.cu` once it runs for another unit, for which it never ends. */
function hangingCompiler(): string {
  const folder = mkdtempSync(join(temporary, 'nvcc-'));
  own.add(basename(folder));
  const path = join(folder, 'nvcc');
  writeProgram(
    path,
    `${fakeAnswers}
     const { readdirSync, writeFileSync } = require('node:fs');
     const folder = ${JSON.stringify(folder)};
     const first = args.at(-1).endsWith('ignores.cu');
     if (!first) writeFileSync(folder + '/' + process.pid, '');
     setInterval(() => {
       if (!first || readdirSync(folder).length < 2) return;
       console.error('a warning');
       process.exit(1);
     }, 20);`,
  );
  return path;
}

/** The ids of the processes that a hanging compiler has started and that still exist. */
async function runningOf(compiler: string): Promise<string[]> {
  const pids = readdirSync(dirname(compiler)).filter((name) => /^\d+$/.test(name));
  assert.ok(pids.length > 0, 'the compiler was started');
  const running = (): string[] =>
    pids.filter((pid) => {
      const status = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
      return status !== '' && !/\) Z /.test(status);
    });
  for (let attempt = 0; attempt < 100 && running().length > 0; attempt++) await wait(50);
  return running();
}

const everything = 'version: 1\narch: [sm_90]\n';

test('if the analysis fails, running compilers are stopped and the trees removed', async () => {
  const head = commit({ '.selvage.yml': everything });
  git('checkout', '--quiet', first);
  const compiler = hangingCompiler();
  const defect = new Error('an internal error');
  const failing = analyseTo(head, {
    trust: 'user',
    options: { ...options, nvcc: compiler, jobs: 8 },
    progress: {
      ...recordingProgress(),
      log: () => {
        throw defect;
      },
    },
  });
  await assert.rejects(failing, defect);
  assert.deepEqual(await runningOf(compiler), []);
  assert.deepEqual(leftBehind(), []);
  git('checkout', '--quiet', 'main');
  git('reset', '--quiet', '--hard', racy);
});

test('after a signal the command line stops its compilers and removes its files', async () => {
  const head = commit({ '.selvage.yml': everything });
  git('checkout', '--quiet', first);
  const compiler = hangingCompiler();
  const words = [cli, 'review', '--base', first, '--head', head, '--nvcc', compiler, '--jobs', '8'];
  const child = spawn(process.execPath, words, { cwd: root, stdio: 'ignore' });
  while (readdirSync(dirname(compiler)).length < 3) await wait(20);
  child.kill('SIGTERM');
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  assert.deepEqual([code, signal], [143, null]);
  assert.deepEqual(await runningOf(compiler), []);
  assert.deepEqual(leftBehind(), []);
  git('checkout', '--quiet', 'main');
  git('reset', '--quiet', '--hard', racy);
});
