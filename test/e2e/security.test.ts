/**
 * Attacks that a pull request may try, all in one: each is rejected or has no effect, and the other files are reviewed.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { gitSettings } from '../../src/app/project/git.ts';
import { activePieces } from '../github/active-markdown.ts';
import type { ActionRun, Files } from '../github/runner.ts';
import type { GitHubServer } from '../github/server.ts';
import { needsBuild, needsCompiler, pullRequest, TOKEN } from './pull-request.ts';

const folders: string[] = [];
after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-security-'));
  folders.push(folder);
  return folder;
}

function program(path: string, script: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\n${script}`);
  chmodSync(path, 0o755);
}

/** A folder for PATH whose programs record their arguments and then execute the program of their name. */
function recording(...programs: readonly string[]): { path: string; started: (program: string) => string[] } {
  const path = temporary();
  for (const name of programs) {
    const real = execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim();
    program(join(path, name), `{ echo "=== $*"; /usr/bin/env; } >> '${path}/${name}.log'\nexec '${real}' "$@"\n`);
  }
  const started = (name: string): string[] => {
    const log = join(path, `${name}.log`);
    return existsSync(log) ? readFileSync(log, 'utf8').split(/^=== /m).slice(1) : [];
  };
  return { path, started };
}

/** Text that is markup, a mention, a marker, a command or a terminator in each format that it is written to. */
const hostile =
  '@octocat octo/x#1 GH-1 [x](https://evil.example) ![x](https://evil.example/x.png) www.evil.example <!-- selvage:v1 summary --> </code></details><script>alert(1)</script> | ``` `` ` ::error::no ##[error] ::set-output name=errors::0 $(touch sprung)';

const kernel = (barrier: string): string => `#define N$octocat 256
template <int size> __global__ void k$octocat(const int* in, int* out) {
  __shared__ int $octocat[size]; // ${hostile}
  int t = threadIdx.x;
  $octocat[t /* ${hostile} */] = in[t];
${barrier}  out[blockIdx.x * size + t] = $octocat[size - 1 - t]; // \`\`\`\` ${hostile}
}
void start(const int* in, int* out) { k$octocat<N$octocat><<<16, N$octocat>>>(in, out); }
`;

/** Names that are a mention, a command or markup; those that a shell would act on are not compiled. */
const racy = 'src/::error::@octocat #1 ``` [x](evil)/a.cu';
const spoken = 'src/@octocat %0A+=/x.cu';
const shell = 'src/$(touch sprung) <img src=x>.cu';
const base: Files = { [spoken]: kernel('  __syncthreads();\n'), 'README.md': 'kernels\n' };

const evil = { file: `../${spoken}`, directory: '.' };
const database = JSON.stringify([
  {
    ...evil,
    arguments: [
      'nvcc',
      '-ccbin',
      '../bin/gcc',
      '-Xcompiler',
      '-fplugin=../bin/evil.so',
      '--compiler-options',
      '-B../bin',
      '-optf',
      '../.git/config',
      '--options-file=evil.txt',
      '@evil.txt',
      '-fplugin=evil.so',
      '-Xcompiler=-wrapper,../bin/evil',
      '-DX=$(touch sprung)',
      '-include',
      '/etc/passwd',
      '-I/etc',
      '-DSIZE=256',
      '-c',
      evil.file,
    ],
  },
]);

const changes: Files = {
  [spoken]: kernel(''),
  [racy]: kernel(''),
  [shell]: kernel(''),
  'config.cu': `#include ".git/config"\n${kernel('')}`,
  'embed.cu': `const unsigned char x[] = {\n#embed "/proc/self/environ"\n};\nasm(".incbin \\".git/config\\"");\n${kernel('')}`,
  'build/compile_commands.json': database,
  'build/evil.txt': '-ccbin ../bin/gcc\n',
  '.gitattributes': '* filter=evil diff=evil merge=evil\n*.cu filter=lfs -text\n',
  '.gitmodules': '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% sprung\n\tupdate = !touch sprung\n',
  '.lfsconfig': '[lfs]\n\turl = https://evil.example\n',
  '.selvage.yml': `version: 1
paths: { exclude: ['${'*a'.repeat(40)}', '{${'a,'.repeat(200)}b}/**/**/**/**/x'] }
kernels:
  - { match: '${'*$'.repeat(60)}x', block: 32 }
suppress:
  - { code: race/global, path: 'nowhere/**', reason: '${hostile}' }
`,
  'huge.cuh': `// ${'x'.repeat(5_000_000)}\n`,
  'deep.cuh': `${'('.repeat(100_000)}\n__global__ void deep() {${'{'.repeat(50_000)}\n`,
};

const secrets = {
  GITHUB_TOKEN: 'ghs_secret1',
  GH_TOKEN: 'ghs_secret2',
  ACTIONS_RUNTIME_TOKEN: 'secret3',
  ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret4',
  ACTIONS_ID_TOKEN_REQUEST_URL: 'https://secret5.example',
};
const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
const inClone = 'c2VjcmV0NiBvZiB0aGUgY2xvbmU';

interface Attempt {
  readonly result: ActionRun;
  readonly server: GitHubServer;
  /** Is there once a trap was sprung. */
  readonly sprung: string;
  readonly root: string;
  readonly started: (program: string) => string[];
}

let made: Promise<Attempt> | undefined;
const attempt = (): Promise<Attempt> => (made ??= attempted());

/** The run of the action that the tests look at. */
async function attempted(): Promise<Attempt> {
  const { workspace, server, run } = await pullRequest(changes, base);
  const sprung = join(temporary(), 'sprung');
  const trap = `touch '${sprung}'\nexit 1\n`;
  // Programs that a build of the pull request could leave, or its author commits to a folder on PATH.
  const programs = [
    'git',
    'nvcc',
    'gcc',
    'g++',
    'cc1plus',
    'cudafe++',
    'cicc',
    'ptxas',
    'c++filt',
    'cu++filt',
    'sh',
    'env',
    'git-lfs',
    'evil',
  ];
  for (const folder of ['', 'bin', 'build']) for (const name of programs) program(join(workspace.root, folder, name), trap);
  // As if configured by an earlier step; attributes of the commit select the files that a filter is applied to.
  const configured = temporary();
  program(join(configured, 'trap'), `touch '${sprung}'\ncat\n`);
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) program(join(configured, hook), trap);
  const names = ['core.fsmonitor', 'core.pager', 'diff.external', 'diff.evil.command', 'diff.evil.textconv', 'merge.evil.driver'];
  for (const filter of ['evil', 'lfs']) names.push(`filter.${filter}.clean`, `filter.${filter}.smudge`);
  // Not in the clone: the tests read that, too.
  const settings = [...names.map((name) => [name, join(configured, 'trap')] as const), ['core.hooksPath', configured] as const];
  workspace.git('config', 'http.https://github.example/.extraheader', `AUTHORIZATION: basic ${inClone}`);
  const { path, started } = recording('nvcc', 'git');
  const environment = {
    PATH: `.:bin:${workspace.root}/bin::${path}:${process.env['PATH']}`,
    NVCC_PREPEND_FLAGS: '-DSHIFT=1',
    NVCC_APPEND_FLAGS: '-include evil.h',
    CPATH: '/evil',
    LD_PRELOAD: '',
    ...secrets,
    ...gitSettings({}, settings),
  };
  const result = await run({ environment });
  return { result, server, sprung, root: workspace.root, started };
}

test('valid files are reviewed, and each attempt is reported', needsCompiler, async () => {
  const { result, server } = await attempt();
  assert.deepEqual(server.faults, []);
  assert.deepEqual([result.status, result.outputs['errors'], result.outputs['unchanged']], [3, '1', '0'], result.stdout);
  assert.deepEqual(
    server.reviewComments.map(({ path, line }) => [path, line]),
    [[spoken, 6]],
  );
  const refused = [
    'config.cu:1: error: .*include-outside',
    'embed.cu:2: error: .*compile/',
    'touch sprung.* error: .*unsafe-name',
    '::error::.* error: .*unsafe-name',
  ];
  for (const text of refused) assert.match(result.stdout, new RegExp(`^\\S?.*${text}`, 'm'));
  const dropped = /leaves out these flags of build\/compile_commands\.json, which a pull request may not set: (.*)/.exec(
    result.stdout,
  )?.[1];
  assert.match(
    dropped ?? '',
    /^-ccbin \.\.\/bin\/gcc, -Xcompiler -fplugin=\.\.\/bin\/evil\.so, -Xcompiler -B\.\.\/bin, -optf \.\.\/\.git\/config, /,
  );
  assert.match(server.issueComments[0]?.body ?? '', /This change adds assumptions[^]*suppression [^]*paths\.exclude/);
});

test('no program of the workspace is run, and none that its files choose', needsCompiler, async () => {
  const { sprung, root } = await attempt();
  assert.ok(!existsSync(sprung) && !existsSync(join(root, 'sprung')));
});

test('nvcc and git are started without a secret, nvcc without the environment of the job', needsCompiler, async () => {
  const { started } = await attempt();
  const [compilers, gits] = [started('nvcc'), started('git')];
  assert.ok(compilers.length >= 3 && gits.length >= 3, `${compilers.length} and ${gits.length}`);
  for (const text of [...compilers, ...gits]) {
    const [command] = text.split('\n');
    for (const secret of [TOKEN, basic, ...Object.values(secrets)]) assert.ok(!text.includes(secret), command);
    assert.doesNotMatch(text, /^(GITHUB_|GH_|INPUT_|ACTIONS_|RUNNER_)/m, command);
  }
  for (const text of compilers) {
    const names = [...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name!);
    const known = ['PATH', 'HOME', 'TMPDIR', 'LC_ALL', 'SOURCE_DATE_EPOCH', 'GLIBC_TUNABLES', 'PWD', 'SHLVL', '_', 'OLDPWD'];
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
      text,
    );
    assert.doesNotMatch(text.split('\n')[0]!, /evil|-ccbin|-optf|plugin|sprung|\/etc/);
  }
  for (const text of gits) assert.match(text, /core\.fsmonitor=false -c core\.hooksPath=\/dev\/null[^]*GIT_TERMINAL_PROMPT=0/);
});

test('posts contain only text: no mention, reference, link, tag or image of the pull request', needsCompiler, async () => {
  const { result, server } = await attempt();
  const isOwn = (target: string): boolean => target.startsWith('https://github.example/octo/kernels/blob/');
  const check = server.checkRuns[0];
  const bodies = [...server.reviewComments, ...server.reviews, ...server.issueComments].map(({ body }) => body);
  const markdown = [...bodies, check?.summary ?? '', result.summary];
  assert.equal(markdown.length, 5);
  for (const text of markdown) assert.deepEqual(activePieces(text, isOwn), []);
  // Only Selvage writes markers.
  for (const body of bodies) assert.equal(body.split('\n').filter((line) => line.startsWith('<!--')).length, 1);
  const html = result.reports['report-html'] ?? '';
  assert.ok(html.includes('evil.example') && !/<script>alert|<img|<a [^>]*evil|href="https:\/\/evil/.test(html));
  for (const name of ['report-json', 'report-sarif']) JSON.parse(result.reports[name] ?? '');
});

test('the log does not execute commands of the pull request', needsCompiler, async () => {
  const { result } = await attempt();
  const commands = result.stdout.split('\n').filter((line) => /^\s*::/.test(line) || line.includes('##['));
  const [mask, group, stop, resume, end] = commands;
  assert.deepEqual([mask, group, end], [`::add-mask::${TOKEN}`, '::group::Analysis', '::endgroup::']);
  assert.equal(stop?.replace('::stop-commands::', '::'), resume?.slice(0, -2));
  assert.equal(commands.length, 5);
});

test('no secret of the job or of the clone is in any output', needsCompiler, async () => {
  const { result, server } = await attempt();
  const written = [result.stderr, result.summary, ...Object.values(result.reports), JSON.stringify(server.writes())];
  const logged = result.stdout.replace(`::add-mask::${TOKEN}`, '');
  for (const text of [logged, ...written])
    for (const secret of [TOKEN, basic, inClone, ...Object.values(secrets)]) assert.ok(!text.includes(secret));
});

test('files that look like a repository are not treated as one', needsBuild, async () => {
  const sprung = join(temporary(), 'sprung');
  const config = `[core]\n\tbare = true\n[protocol "ext"]\n\tallow = always\n[remote "origin"]\n\turl = ext::sh -c touch% ${sprung}\n`;
  const fake: Files = {
    'sub/HEAD': 'ref: refs/heads/main\n',
    'sub/config': config,
    'sub/objects/x': '',
    'sub/refs/x': '',
  };
  const { run } = await pullRequest({ ...fake, 'sub/a.cu': kernel('') }, { 'sub/a.cu': kernel('  __syncthreads();\n') });
  const result = await run({ inputs: { 'working-directory': 'sub', nvcc: '/no/such/nvcc' } });
  assert.ok(!existsSync(sprung));
  assert.equal(result.status, 2, result.stdout);
});
