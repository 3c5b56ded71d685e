/** `selvage init`: its detection, the files that it writes, and those that it does not touch. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { parse } from 'yaml';
import { parseConfiguration } from '../../../src/settings/configuration-parser.ts';
import { createWorkspace, type Files } from '../../github/runner.ts';
import { selvage } from '../commands/in-process.ts';
import { layouts } from './layouts.ts';

const made: string[] = [];
after(() => made.forEach((folder) => rmSync(folder, { recursive: true })));

function folderOf(files: Files): string {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-init-'));
  made.push(folder);
  mkdirSync(join(folder, '.git'));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text ?? '');
  }
  return folder;
}

/** The entry of a copy without its history. */
const notCloned = pathToFileURL(join(tmpdir(), 'selvage-copy/dist/cli.js')).href;

const workflowPath = '.github/workflows/selvage.yml';
const read = (folder: string, path: string): string => readFileSync(join(folder, path), 'utf8');

interface Workflow {
  readonly on: Readonly<Record<string, { readonly types?: readonly string[]; readonly branches?: readonly string[] } | null>>;
  readonly permissions: object;
  readonly concurrency: { readonly group: string };
  readonly jobs: {
    readonly selvage: {
      readonly steps: readonly { readonly uses?: string; readonly run?: string; readonly with?: Readonly<Record<string, unknown>> }[];
    };
  };
}

test('each layout gets a workflow and a configuration with the flags of its build files', async () => {
  for (const [name, { files, flags }] of Object.entries(layouts)) {
    const folder = folderOf(files);
    const ran = await selvage(['init', '--quiet', '--action', 'octo/selvage@v1'], folder);
    assert.equal(ran.status, 0, ran.stderr);
    const text = read(folder, '.selvage.yml');
    const { configuration, diagnostics } = parseConfiguration(text, '.selvage.yml');
    assert.deepEqual(diagnostics, [], name);
    assert.deepEqual(configuration.nvcc.args.toSorted(), flags.toSorted(), name);
    assert.match(text, /^# yaml-language-server: \$schema=https:\/\/\S+\/octo\/selvage\/v1\/src\/settings\/configuration\.schema\.json\n/);
    const workflow = parse(read(folder, workflowPath)) as Workflow;
    assert.ok(workflow.on['pull_request']?.types?.includes('ready_for_review'));
    assert.ok('merge_group' in workflow.on && !('pull_request_target' in workflow.on));
    // Pull requests read the cache of the default branch.
    assert.deepEqual(workflow.on['push'], { branches: ['main'] });
    assert.ok('workflow_dispatch' in workflow.on);
    assert.deepEqual(workflow.permissions, {});
    const { steps } = workflow.jobs.selvage;
    assert.equal(steps.at(-1)?.uses, 'octo/selvage@v1');
    assert.equal(steps[0]?.with?.['persist-credentials'], false);
    for (const { run } of steps) assert.doesNotMatch(run ?? '', /\$\{\{/);
    // The step would write a database that the configuration does not name.
    const isUseful = 'CMakeLists.txt' in files && configuration.nvcc.compileCommands.length === 0;
    assert.equal(
      steps.some(({ run }) => run?.startsWith('cmake ') === true),
      isUseful,
      name,
    );
  }
});

test('architectures: sm_80 unless the build specifies others', async () => {
  const cases: [string, string[]][] = [
    ['set(CMAKE_CUDA_ARCHITECTURES 75 80 90)', ['sm_80']],
    ['set(CMAKE_CUDA_ARCHITECTURES "90a-real;100")', ['sm_90']],
    ['set_target_properties(k PROPERTIES CUDA_ARCHITECTURES 61)', ['sm_80']],
    ['set(CMAKE_CUDA_ARCHITECTURES native)', ['sm_80']],
  ];
  for (const [line, expected] of cases) {
    const folder = folderOf({ 'CMakeLists.txt': `${line}\n`, 'k.cu': '__global__ void k() {}\n' });
    await selvage(['init', '--quiet'], folder);
    const { configuration } = parseConfiguration(read(folder, '.selvage.yml'), 'c.yml');
    assert.deepEqual(configuration.arch, expected, line);
  }
});

test('nothing is overwritten without --force, and a dry run writes nothing', async () => {
  const { files } = layouts['Make']!;
  const folder = folderOf({ ...files, '.selvage.yml': 'version: 1\n' });
  const dry = await selvage(['init', '--dry-run'], folder);
  assert.match(dry.stdout, /^# \.github\/workflows\/selvage\.yml\n[^]*\n# \.selvage\.yml\n[^]*-DEXTRA=3/);
  assert.ok(!existsSync(join(folder, workflowPath)));
  const first = await selvage(['init'], folder, { entry: notCloned });
  assert.match(first.stderr, /\.selvage\.yml is there already and was kept; --force replaces it/);
  assert.match(first.stderr, /wrote \.github\/workflows\/selvage\.yml/);
  assert.match(first.stderr, /replace OWNER\/selvage@v0 in .* by the repository of the action/);
  assert.equal(read(folder, '.selvage.yml'), 'version: 1\n');
  const forced = await selvage(['init', '--force'], folder);
  assert.match(forced.stderr, /replaced \.selvage\.yml/);
  assert.match(forced.stderr, /selvage\.yml is as it should be/);
  assert.match(read(folder, '.selvage.yml'), /-DEXTRA=3/);
});

test('the workflow uses the action of the repository that provides the command', async () => {
  const folder = folderOf({ 'k.cu': '__global__ void k() {}\n' });
  const workspace = createWorkspace();
  made.push(workspace.root);
  const include = 'dist/include/selvage.h';
  const commit = workspace.commit({ 'action.yml': 'name: Selvage\n', [include]: '' });
  const entry = pathToFileURL(join(workspace.root, 'dist/cli.js')).href;
  const used = async (environment: Readonly<Record<string, string>> = {}): Promise<readonly [string | undefined, boolean]> => {
    const { stdout, stderr } = await selvage(['init', '--dry-run'], folder, { entry, environment });
    assert.equal(stderr, '');
    return [/^ +- uses: (\S*selvage@\S+)$/m.exec(stdout)?.[1], stdout.includes(`/${commit}/src/settings/`)];
  };
  assert.deepEqual(await used(), ['OWNER/selvage@v0', false], 'no remote');
  for (const url of [
    'https://github.com/octo/my-selvage.git',
    'git@github.com:octo/my-selvage',
    'ssh://git@github.com/octo/my-selvage.git',
    'https://x-access-token:secret@github.com/octo/my-selvage',
  ]) {
    workspace.git('config', 'remote.origin.url', url);
    assert.deepEqual(await used(), [`octo/my-selvage@${commit}`, true], url);
  }
  workspace.git('tag', 'v0');
  assert.deepEqual(await used(), ['octo/my-selvage@v0', false]);
  const ofStep = {
    GITHUB_ACTION_REPOSITORY: 'octo/selvage',
    GITHUB_ACTION_REF: 'v0.3.1',
    GITHUB_ACTION_PATH: workspace.root,
  };
  assert.deepEqual(await used(ofStep), ['octo/selvage@v0.3.1', false]);
  assert.deepEqual(await used({ ...ofStep, GITHUB_ACTION_PATH: folder }), ['octo/my-selvage@v0', false], 'a step of another action');
  rmSync(join(workspace.root, 'action.yml'));
  assert.deepEqual(await used(), ['OWNER/selvage@v0', false], 'a repository with a copy');
});

test('kernels without a launch, third-party folders, and headers of PyTorch are reported', async () => {
  const folder = folderOf({
    'a.cu': '__global__ void used() {}\n__global__ void alone(int* p) {}\nvoid f() { used<<<1, 32>>>(); }\n',
    'b.cu': '#include <torch/extension.h>\n',
    'third_party/lib/c.cu': '__global__ void theirs() {}\n',
    'build/CMakeCache.txt': '',
    'build/Makefile': 'FLAGS = -DFROM_BUILD\n',
  });
  const { stderr } = await selvage(['init'], folder);
  assert.match(stderr, /found 2 kernels in 2 \.cu files, no build file; no launch was found of 1 of them/);
  const text = read(folder, '.selvage.yml');
  assert.match(text, /^#  - \{ match: 'alone', block: 256 \}$/m);
  assert.doesNotMatch(text, /used|FROM_BUILD/);
  assert.match(text, /exclude:\n {4}- 'third_party\/\*\*'\n/);
  const workflow = parse(read(folder, workflowPath)) as Workflow;
  assert.equal(workflow.jobs.selvage.steps.at(-1)?.with?.['nvcc-args'], '${{ steps.torch.outputs.flags }}');
});

test('names in the repository cannot inject a workflow or a key', async () => {
  const evil = "x'\n  evil: true\n#${{ secrets.A }}";
  const folder = folderOf({
    'setup.py': `CUDAExtension(include_dirs=["in'c"], extra_compile_args={'nvcc': ["-DA='b'", "-DB=$(id)", "-DC=\${{ x }}", "--options-file=x", "-ccbin=y"]})\n`,
    "in'c/a.h": '',
    'k.cu': '__global__ void k() {}\n',
    [`third_party/${evil.replaceAll('\n', '')}/k.cu`]: '__global__ void k() {}\n',
  });
  await selvage(['init', '--quiet'], folder);
  const { configuration, diagnostics } = parseConfiguration(read(folder, '.selvage.yml'), 'c.yml');
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(
    configuration.nvcc.args.toSorted(),
    ['-DB=$(id)', '-DC=${{', "-Iin'c"].filter((flag) => configuration.nvcc.args.includes(flag)).toSorted(),
  );
  assert.doesNotMatch(configuration.nvcc.args.join(' '), /options-file|ccbin/);
  assert.doesNotMatch(read(folder, workflowPath), /secrets|\$\(id\)/);
});

test('a folder without CUDA, a file and an invalid action are rejected', async () => {
  const folder = folderOf({ 'a.cpp': 'int main() {}\n' });
  assert.equal((await selvage(['init'], folder)).status, 2);
  assert.match((await selvage(['init', 'a.cpp'], folder)).stderr, /is not a folder/);
  assert.match((await selvage(['init', '--action', 'x y'], folder)).stderr, /OWNER\/REPO@v0/);
  assert.match((await selvage(['check', '.', '--force'], folder)).stderr, /belongs to `selvage init`/);
});
