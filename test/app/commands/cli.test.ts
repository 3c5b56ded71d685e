/** The command line for users: exit codes, output streams, and every kind of invalid input. */
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report } from '../../../src/report-model/report.ts';
import schema from '../../../src/report/report.schema.json' with { type: 'json' };
import { codes } from '../../../src/source/codes.ts';
import { findCompiler } from '../../../src/toolchain/compiler.ts';
import { selvage as inProcess } from './in-process.ts';

const program = fileURLToPath(new URL('../../../src/cli.ts', import.meta.url));
const example = fileURLToPath(new URL('../../../src/app/commands/demo/', import.meta.url));
const withoutNvcc = 'compiler' in (await findCompiler({ env: process.env })) ? false : 'no nvcc';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-cli-')));
after(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ['reduce', 'matmul', 'reverse', 'differences']) {
  cpSync(join(example, `head/${name}.verification.ptx`), join(folder, `${name}.ptx`));
}
const ptx = readFileSync(join(folder, 'matmul.ptx'), 'utf8');
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);

/** Within this process. */
function selvage(words: readonly string[], environment: Readonly<Record<string, string>> = {}, cwd = folder) {
  return inProcess(words, cwd, { environment: { NO_COLOR: '', FORCE_COLOR: '', ...environment } });
}

/** As a program. */
function selvageProgram(words: readonly string[]) {
  const env = { ...process.env, NO_COLOR: '', FORCE_COLOR: '' };
  return spawnSync(process.execPath, [program, ...words], { cwd: folder, env, encoding: 'utf8', maxBuffer: 2 ** 26 });
}

const validate = new Ajv2020({ strict: false }).compile(schema);
function reportOf({ stdout }: { readonly stdout: string }): Report {
  const report = JSON.parse(stdout) as Report;
  assert.ok(validate(report), JSON.stringify(validate.errors));
  return report;
}

const launch = ['--block', '256', '--grid', '64', '--arg', 'param2=16000'];

test('a race: the document on standard output, exit code 1', () => {
  const run = selvageProgram(['check', 'reduce.ptx', ...launch, '--format', 'json']);
  assert.equal(run.status, 1, run.stderr);
  assert.equal(run.stderr, '');
  const report = reportOf(run);
  assert.equal(report.kernels[0]?.race.verdict, 'race');
  assert.equal(report.kernels[0]?.launches[0]?.source, 'option');
  assert.equal(report.kernels[0]?.race.findings[0]?.witnessOrigin, 'given');
  assert.deepEqual(report.toolchain, { compiler: null, solver: report.toolchain.solver ?? null });
});

test('contradictory assumptions, or ones that exclude the launch: an error, exit code 2, nothing proved', async () => {
  for (const assume of [['param2 == 16000', 'param2 < 64'], ['blockDim.x == 128']]) {
    const run = await selvage([
      'check',
      'reduce.ptx',
      '--block',
      '256',
      '--grid',
      '64',
      ...assume.flatMap((text) => ['--assume', text]),
      '--format',
      'json',
    ]);
    assert.equal(run.status, 2, run.stderr);
    assert.match(run.stderr, /^selvage: reduce\.cu:\d+: The assumptions about reduce contradict each other, or its launch with block 256/);
    const { kernels, diagnostics } = reportOf(run);
    assert.equal(kernels[0]?.race.verdict, 'unknown');
    assert.equal(kernels[0].divergence.verdict, 'unknown');
    assert.deepEqual(
      diagnostics.map(({ severity, code }) => [severity, code]),
      [['error', 'assumption/contradictory']],
    );
  }
});

test('two runs give the same bytes, as a program and within this process', async () => {
  const words = ['check', '.', '--format', 'json'];
  const { stdout } = selvageProgram(words);
  assert.equal(reportOf({ stdout }).kernels.length, 4);
  assert.equal((await selvage(words)).stdout, stdout);
});

test('a proof: exit code 0', () => {
  const run = selvageProgram(['check', 'matmul.ptx', '--block', '16,16', '--grid', '16,16', '--arg', 'param3=256', '--format', 'json']);
  assert.equal(run.status, 0, run.stderr);
  const [kernel] = reportOf(run).kernels;
  assert.deepEqual([kernel?.race.verdict, kernel?.divergence.verdict], ['proved', 'proved']);
});

test('--fail-on decides which findings fail', async () => {
  assert.equal((await selvage(['check', 'reduce.ptx', ...launch, '--fail-on', 'never'])).status, 0);
});

test('--checks omits the other check', async () => {
  const [kernel] = reportOf(await selvage(['check', 'matmul.ptx', '--checks', 'divergence', '--format', 'json'])).kernels;
  assert.equal(kernel?.race.verdict, 'skipped');
  assert.notEqual(kernel?.divergence.verdict, 'skipped');
});

test('--output receives the document, standard output stays empty', async () => {
  for (const format of ['json', 'sarif', 'markdown', 'html', 'pretty']) {
    const run = await selvage(['check', 'matmul.ptx', '--format', format, '--output', 'out.txt']);
    assert.equal(run.stdout, '');
    assert.ok(readFileSync(join(folder, 'out.txt'), 'utf8').length > 100, format);
  }
  assert.equal((await selvage(['check', 'matmul.ptx', '--output', 'missing/out.txt'])).status, 2);
});

test('colours are used on terminals, or on request', async () => {
  assert.ok(!(await selvage(['check', 'matmul.ptx'])).stdout.includes('\u001b'));
  assert.ok((await selvage(['check', 'matmul.ptx'], { FORCE_COLOR: '1' })).stdout.includes('\u001b'));
  assert.ok(!(await selvage(['check', 'matmul.ptx', '--no-color'], { FORCE_COLOR: '1' })).stdout.includes('\u001b'));
  assert.ok(!(await selvage(['check', 'matmul.ptx'], { FORCE_COLOR: '1', NO_COLOR: '1' })).stdout.includes('\u001b'));
});

test('a report contains times only with --timings', async () => {
  assert.equal(reportOf(await selvage(['check', 'matmul.ptx', '--format', 'json'])).timings, undefined);
  assert.ok(reportOf(await selvage(['check', 'matmul.ptx', '--format', 'json', '--timings'])).timings);
});

test('help and version', async () => {
  assert.match((await selvage(['--help'])).stdout, /selvage COMMAND/);
  assert.match((await selvage(['check', '--help'])).stdout, /^selvage check/);
  assert.match(selvageProgram(['--version']).stdout, /^selvage \d+\.\d+\.\d+\n$/);
});

test('every diagnostic code has an explanation', async () => {
  for (const code of ['race/shared', 'internal/defect']) {
    const run = await selvage(['explain', code]);
    assert.equal(run.status, 0);
    assert.ok(run.stdout.includes(codes[code as 'race/shared'].remedy));
  }
  const all = await selvage(['explain']);
  assert.equal(all.status, 0);
  assert.match(all.stdout, /^race\/shared\n {4}Two threads of a block [^]*\n\nbarrier\/divergent\n/);
  const unknown = await selvage(['explain', 'race/share']);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /Did you mean race\/shared/);
  assert.ok(!unknown.stderr.includes('config/yaml'), 'the intended code, not a hundred others');
  assert.match((await selvage(['explain', 'sharks'])).stderr, /The codes are: race\/shared, .*config\/yaml/);
});

/** Invalid command lines: no analysis, the message on standard error, exit code 2. */
const wrongUsage: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no path', ['check'], /needs a file/],
  ['a file that is not there', ['check', 'nothing.cu'], /nothing\.cu does not exist/],
  ['a kernel pattern that matches nothing', ['check', 'matmul.ptx', '--kernel', 'mat'], /--kernel mat matches no kernel.*matmul/],
  ['a block of no threads', ['check', 'matmul.ptx', '--block', '0'], /below 1/],
  ['a block of too many threads', ['check', 'matmul.ptx', '--block', '4096'], /1024/],
  ['an option of another command', ['check', 'matmul.ptx', '--blocks', '4'], /--blocks belongs to .selvage run./],
  ['a malformed assumption', ['check', 'matmul.ptx', '--assume', 'n +'], /column \d/],
  ['an assumption about a name that PTX lacks', ['check', 'matmul.ptx', '--assume', 'n > 0'], /param0, param1, param2, param3/],
  ['paths for the server', ['serve', 'matmul.ptx'], /takes no options and no paths/],
  ['a trace that is not there', ['idempotency', 'matmul.ptx', '--launches', 'none.jsonl'], /none\.jsonl: the file does not exist/],
  ['a trace for another command', ['check', 'matmul.ptx', '--launches', 'none.jsonl'], /belongs to .selvage idempotency./],
  ['a review without a base', ['review'], /--base/],
  ['a comparison of one thing', ['compare', 'matmul.ptx'], /two commits or two files/],
  ['a file and a revision', ['compare', 'matmul.ptx', 'HEAD'], /HEAD is not a file/],
  ['a configuration that is not there', ['check', 'matmul.ptx', '--config', 'none.yml'], /none\.yml cannot be read/],
];
for (const [name, words, expected] of wrongUsage) {
  test(`rejected: ${name}`, async () => {
    const run = await selvage(words);
    assert.equal(run.status, 2, run.stderr);
    assert.match(run.stderr, expected);
    assert.equal(run.stdout, '');
  });
}

test('rejected: a configuration with an unknown key, a wrong type, malformed YAML', async () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['version: 1\nkernel:\n  - match: a\n', /bad\.yml:2:1: .*did you mean "kernels"/],
    ['version: 1\narch: 80\n', /bad\.yml:2:7: /],
    ['version: 1\npaths: [\n', /bad\.yml:\d+:\d+: .*YAML/],
    ['version: 1\nkernels:\n  - { match: a, block: [2048, 1, 1] }\n', /bad\.yml:3:\d+: .*1024/],
  ];
  for (const [text, expected] of cases) {
    write('bad.yml', text);
    const run = await selvage(['check', 'matmul.ptx', '--config', 'bad.yml']);
    assert.equal(run.status, 2, text);
    assert.match(run.stderr, expected);
    assert.equal(run.stdout, '');
  }
});

test('a truncated PTX file: a diagnostic with a line, nothing proved, exit code 3', async () => {
  write('cut.ptx', ptx.slice(0, ptx.length / 2));
  const run = await selvage(['check', 'cut.ptx', 'reduce.ptx', '--format', 'json']);
  assert.equal(run.status, 3, run.stderr);
  const report = reportOf(run);
  const [problem] = report.diagnostics.filter(({ severity }) => severity === 'error');
  assert.equal(problem?.location?.file, 'cut.ptx');
  assert.ok((problem?.location?.line ?? 0) > 1);
  for (const kernel of report.kernels.filter(({ name }) => name.startsWith('matmul'))) {
    assert.notEqual(kernel.race.verdict, 'proved');
  }
  assert.ok(
    report.kernels.some(({ name }) => name.startsWith('reduce')),
    'the other file is reported',
  );
  assert.ok(run.stderr.length > 0);
});

test('no nvcc: three alternatives are suggested, exit code 3, and PTX is still analysed', async () => {
  write('some.cu', '__global__ void k() {}\n');
  const run = await selvage(['check', 'some.cu', 'matmul.ptx', '--nvcc', 'no-such-nvcc', '--format', 'json']);
  assert.equal(run.status, 3);
  const report = reportOf(run);
  assert.deepEqual(
    report.diagnostics.map(({ code }) => code),
    ['compile/no-compiler', 'launch/unstated'],
  );
  assert.match(run.stderr, /nvcc/);
  assert.equal(report.kernels.length, 1);
  rmSync(join(folder, 'some.cu'));
});

test('files outside the working directory are named from the folder of all', { skip: withoutNvcc }, async () => {
  for (const name of ['first', 'second', 'cwd']) mkdirSync(join(folder, name));
  write('first/a.cu', '__global__ void first(int* own) { own[threadIdx.x] = 1; }\n');
  write('second/b.cu', '__global__ void second(int* own) { own[threadIdx.x / 2] += 1; }\n');
  const words = ['check', '../first/a.cu', '../second/b.cu', '--block', '32', '--grid', '1', '--checks', 'race'];
  const { stdout } = await selvage(words, {}, join(folder, 'cwd'));
  assert.match(stdout, /^first\/a\.cu$/m);
  assert.match(stdout, /^second\/b\.cu$/m);
  assert.match(stdout, /`own\[threadIdx\.x \/ 2\]`/);
  for (const name of ['first', 'second', 'cwd']) rmSync(join(folder, name), { recursive: true });
});

test('a file that does not compile does not affect another one that does', { skip: withoutNvcc }, async () => {
  write('broken.cu', '__global__ void k() {\n  int i = ;\n}\n');
  write('fine.cu', '// selvage: block=32 grid=1\n__global__ void k(int* p) { p[threadIdx.x] = 1; }\n');
  const run = await selvage(['check', 'broken.cu', 'fine.cu', '--format', 'json']);
  assert.equal(run.status, 3, run.stderr);
  const report = reportOf(run);
  assert.deepEqual(
    report.diagnostics.map(({ location }) => [location?.file, location?.line]),
    [['broken.cu', 2]],
  );
  assert.deepEqual(
    report.kernels.map(({ name, race }) => [name, race.verdict]),
    [['k(int*)', 'proved']],
  );
  assert.match(run.stderr, /expected an expression/);
  rmSync(join(folder, 'broken.cu'));
  rmSync(join(folder, 'fine.cu'));
});

test('arguments after -- are passed to nvcc', { skip: withoutNvcc }, async () => {
  write(
    'size.cu',
    '// selvage: block=SIZE grid=1\n__global__ void k(int* p) { p[threadIdx.x % COUNT] = threadIdx.x; }\n'.replace('SIZE', '32'),
  );
  const verdict = async (count: number) =>
    reportOf(await selvage(['check', 'size.cu', '--format', 'json', '--', `-DCOUNT=${count}`])).kernels[0]?.race.verdict;
  assert.equal(await verdict(32), 'proved');
  assert.equal(await verdict(16), 'race');
  rmSync(join(folder, 'size.cu'));
});

test('two files are compared by their findings', async () => {
  cpSync(join(example, 'base/reduce.verification.ptx'), join(folder, 'before.ptx'));
  const worse = await selvage(['compare', 'before.ptx', 'reduce.ptx', ...launch, '--format', 'json']);
  assert.equal(worse.status, 1, worse.stderr);
  assert.equal(reportOf(worse).comparison?.new.length, 1);
  const better = await selvage(['compare', 'reduce.ptx', 'before.ptx', ...launch, '--format', 'json']);
  assert.equal(better.status, 0);
  assert.equal(reportOf(better).comparison?.fixed.length, 1);
  const same = await selvage(['compare', 'reduce.ptx', 'reduce.ptx', ...launch, '--format', 'json']);
  assert.equal(same.status, 0, 'earlier findings do not fail the run');
  assert.equal(reportOf(same).comparison?.unchanged.length, 1);
});

test('the demo without a compiler: the review, a page, exit code 1', async () => {
  const run = await selvage(['demo'], { PATH: '', CUDA_HOME: '', CUDA_PATH: '' });
  assert.equal(run.status, 1, run.stderr);
  for (const name of ['reduce.cu', 'reverse.cu', 'differences.cu']) assert.match(run.stdout, new RegExp(`### ${name}`));
  assert.doesNotMatch(run.stdout, /### matmul\.cu|```suggestion/);
  const page = join(folder, 'selvage-demo.html');
  assert.match(readFileSync(page, 'utf8'), /Data race|race\/shared/);
  rmSync(page);
  const document = await selvage(['demo', '--format', 'json', '--quiet'], { PATH: '', CUDA_HOME: '', CUDA_PATH: '' });
  assert.equal(document.stderr, '');
  assert.equal(reportOf(document).kernels.length, 4);
  assert.ok(existsSync(page));
});

test('a review of a range of commits', { skip: withoutNvcc }, async () => {
  const repository = join(folder, 'repository');
  const git = (...words: string[]): void => {
    const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgSign=false'];
    execFileSync('git', [...identity, ...words], { cwd: repository, stdio: 'ignore' });
  };
  cpSync(join(example, 'base'), repository, { recursive: true, filter: (path) => !path.endsWith('.ptx') });
  git('init', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--message', 'base');
  writeFileSync(join(repository, 'README.md'), 'text\n');
  git('add', '--all');
  git('commit', '--message', 'text');
  const words = ['review', '--base', 'HEAD~1'];
  const nothing = await selvage(words, {}, repository);
  assert.equal(nothing.status, 0, nothing.stderr);
  assert.equal(nothing.stdout, 'Nothing to review: no CUDA code changes.\n');

  cpSync(join(example, 'head/reduce.cu'), join(repository, 'reduce.cu'));
  git('commit', '--all', '--message', 'head');
  const run = await selvage(words, {}, repository);
  assert.equal(run.status, 1, run.stderr);
  assert.match(run.stdout, /### reduce\.cu:\d/);
  const report = reportOf(await selvage([...words, '--format', 'json'], {}, repository));
  assert.deepEqual(
    report.kernels.map(({ name }) => name),
    ['reduce(float const*, float*, int)'],
  );
  assert.equal(report.comparison?.new.length, 1);

  writeFileSync(join(repository, 'scale.cu'), '__global__ void scale(float* v) { v[0] = factor; }\n');
  git('add', '--all');
  git('commit', '--message', 'not compiled');
  const failing = await selvage(words, {}, repository);
  assert.match(failing.stdout, /A CUDA file does not compile/);
  assert.match(failing.stderr, /scale\.cu:1: The file does not compile: identifier "factor" is undefined/);
  git('reset', '--hard', 'HEAD~1');

  const compared = await selvage(['compare', 'HEAD', 'HEAD~1', '--format', 'json'], {}, repository);
  assert.equal(compared.status, 0, compared.stderr);
  assert.equal(reportOf(compared).comparison?.fixed.length, 1);
  const unknown = await selvage(['review', '--base', 'nothing'], {}, repository);
  assert.equal(unknown.status, 2);
  assert.match(unknown.stderr, /The commit nothing is not in this repository/);
});
