/** What a pull request may try: each attempt is refused or has no effect. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { needsCompiler, pullRequest, TOKEN } from './pull-request.ts';

const SHIFT = `__global__ void shift(const int* in, int* out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  out[t] = s[255 - t];
}

void launchShift(const int* in, int* out) { shift<<<16, 256>>>(in, out); }
`;
const RACY = SHIFT.replace('  __syncthreads();\n', '');
const folders: string[] = [];

after(() => folders.forEach((folder) => rmSync(folder, { recursive: true, force: true })));

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-security-'));
  folders.push(folder);
  return folder;
}

/** A folder for PATH whose programs record what they are started with, and then are what they are called. */
function recording(...programs: readonly string[]): {
  readonly path: string;
  readonly started: (program: string) => string[];
} {
  const folder = temporary();
  for (const program of programs) {
    const real = execFileSync('sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
    const log = join(folder, `${program}.log`);
    writeFileSync(join(folder, program), `#!/bin/sh\n{ echo "=== $*"; env; } >> '${log}'\nexec '${real}' "$@"\n`);
    chmodSync(join(folder, program), 0o755);
  }
  const started = (program: string): string[] => {
    const log = join(folder, `${program}.log`);
    return existsSync(log) ? readFileSync(log, 'utf8').split(/^=== /m).slice(1) : [];
  };
  return { path: `${folder}:${process.env['PATH']}`, started };
}

test(
  'the environment of nvcc and of git holds no secret, and that of nvcc nothing of the job',
  needsCompiler,
  async () => {
    const { workspace, server, run } = await pullRequest({ 'a.cu': RACY }, { 'a.cu': SHIFT });
    workspace.commit({ README: 'merged' });
    const { path, started } = recording('nvcc', 'git');
    const secrets = {
      GITHUB_TOKEN: 'ghs_secret1',
      GH_TOKEN: 'ghs_secret2',
      ACTIONS_RUNTIME_TOKEN: 'secret3',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret4',
      ACTIONS_ID_TOKEN_REQUEST_URL: 'https://secret5.example',
    };
    const flags = {
      NVCC_PREPEND_FLAGS: '-DSHIFT=1',
      NVCC_APPEND_FLAGS: '-include evil.h',
      CPATH: '/evil',
      LD_PRELOAD: '',
    };
    const result = await run({ environment: { PATH: path, ...secrets, ...flags } });
    assert.equal(result.outputs['errors'], '1', result.stdout + result.stderr);
    const [compilers, gits] = [started('nvcc'), started('git')];
    assert.ok(compilers.length >= 3 && gits.length >= 3, `${compilers.length} and ${gits.length}`);
    const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    for (const text of [...compilers, ...gits]) {
      for (const secret of [TOKEN, basic, ...Object.values(secrets)])
        assert.ok(!text.includes(secret), text.split('\n')[0]);
    }
    for (const text of compilers)
      assert.doesNotMatch(
        text,
        /^(GITHUB_|INPUT_|ACTIONS_|RUNNER_|NVCC_(PRE|AP)PEND_FLAGS|CPATH)/m,
        text.split('\n')[0],
      );
    for (const text of gits)
      assert.match(text, /core\.fsmonitor=false -c core\.hooksPath=\/dev\/null[^]*GIT_TERMINAL_PROMPT=0/);
    for (const text of [result.stdout, result.summary, JSON.stringify(server.writes())]) assert.ok(!text.includes(TOKEN.slice(4)) || text === result.stdout); // prettier-ignore
    assert.deepEqual(server.faults, []);
  },
);

test('what a repository configures for git is not run', needsCompiler, async () => {
  const attributes = '* diff=evil filter=evil\n*.cu -text\n';
  const { run } = await pullRequest({ 'a.cu': RACY, '.gitattributes': attributes }, { 'a.cu': SHIFT });
  const trace = join(temporary(), 'ran');
  const program = join(temporary(), 'evil.sh');
  writeFileSync(program, `#!/bin/sh\ntouch '${trace}'\ncat\n`);
  chmodSync(program, 0o755);
  const names = ['core.fsmonitor', 'diff.external', 'diff.evil.command', 'diff.evil.textconv', 'core.pager'];
  const hooks = temporary();
  for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change']) {
    writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch '${trace}'\n`);
    chmodSync(join(hooks, hook), 0o755);
  }
  // As if an earlier step had configured it: the checkout itself is read by the tests, too.
  const settings = [...names.map((name) => [name, program] as const), ['core.hooksPath', hooks] as const];
  const environment = Object.fromEntries([
    ['GIT_CONFIG_COUNT', String(settings.length)],
    ...settings.flatMap(([name, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, name],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ]) as Record<string, string>;
  const result = await run({ environment });
  assert.equal(result.outputs['errors'], '1', result.stdout + result.stderr);
  assert.ok(!existsSync(trace));
});
