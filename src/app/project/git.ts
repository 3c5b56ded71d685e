import { realpathSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, isAbsolute, join } from 'node:path';
import { kindOf, relativeTo, repositoryRoot } from './source-tree.ts';
import { parseHunks, type FileDiff } from '../../source/diff.ts';
import { UsageError } from '../../base/usage-error.ts';
import { runProcess } from '../../system/child-process.ts';

/** Time limit of a git command in milliseconds; generous, because the user waits for the history or the diff. */
const patience = 60 * 60 * 1000;
/** Folders that are searched for programs if PATH is not set. */
const usualPath = '/usr/local/bin:/usr/bin:/bin';
const maxOutput = 512 * 1024 * 1024;

/** A git repository on disk. */
export interface Repository {
  /** Top of the repository, or a folder in it. */
  readonly root: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * The commit of a revision.
 * @throws UsageError if it does not exist
 */
export async function resolveCommit(repository: Repository, revision: string): Promise<string> {
  const found = await git(repository, ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`]);
  if (found.code === 0) return found.stdout.trim();
  const shallow = await git(repository, ['rev-parse', '--is-shallow-repository']);
  const hint =
    shallow.stdout.trim() === 'true'
      ? 'The checkout is shallow; fetch the history (actions/checkout with fetch-depth: 0).'
      : 'Fetch it, or give another commit.';
  throw new UsageError(`The commit ${revision} is not in this repository. ${hint}`);
}

/** The day of a commit in the time zone of its committer, `2027-06-30`; undefined if git does not report it. */
export async function dayOf(repository: Repository, commit: string): Promise<string | undefined> {
  const found = await git(repository, ['show', '--no-patch', '--format=%cs', '--end-of-options', commit]);
  const day = found.stdout.trim();
  return found.code === 0 && /^\d{4}-\d\d-\d\d$/.test(day) ? day : undefined;
}

/**
 * The common ancestor of two commits, where a branch started.
 * @throws UsageError if their histories are unrelated
 */
export async function mergeBase(repository: Repository, base: string, head: string): Promise<string> {
  const found = await git(repository, ['merge-base', base, head]);
  if (found.code === 0) return found.stdout.trim();
  throw new UsageError(`The commits ${base} and ${head} have no common history here; fetch it (actions/checkout with fetch-depth: 0).`);
}

/** Changes between two commits, one entry per file, in the order of the paths. */
export async function changedFiles(repository: Repository, base: string, head: string): Promise<FileDiff[]> {
  const options = ['--no-color', '--no-ext-diff', '--no-textconv', '--find-renames', '--no-relative', '--ignore-submodules'];
  const raw = await mustSucceed(repository, ['diff', ...options, '--raw', '-z', base, head, '--']);
  const patch = await mustSucceed(repository, ['diff', ...options, '--unified=3', '--patch', base, head, '--']);
  // The patch quotes unusual names, the raw list does not; both have the same order.
  const patches = patch.split(/^diff --git .*\n/m).slice(1);
  const fields = raw.split('\0');
  const files: FileDiff[] = [];
  for (let at = 0; at + 1 < fields.length;) {
    const status = fields[at]?.split(' ').at(-1) ?? '';
    const renamed = status.startsWith('R') || status.startsWith('C');
    const previous = fields[at + 1] ?? '';
    const path = renamed ? (fields[at + 2] ?? '') : previous;
    at += renamed ? 3 : 2;
    const body = patches[files.length] ?? '';
    files.push({
      path,
      ...(status.startsWith('R') ? { previousPath: previous } : {}),
      status: status.startsWith('R')
        ? 'renamed'
        : status === 'A' || status.startsWith('C')
          ? 'added'
          : status === 'D'
            ? 'removed'
            : 'modified',
      hunks: hunksOf(body),
    });
  }
  return files;
}

function hunksOf(patch: string): FileDiff['hunks'] {
  const start = patch.search(/^@@ /m);
  if (start === -1) return /^(?:Binary files|GIT binary patch)/m.test(patch) ? null : [];
  try {
    return parseHunks(patch.slice(start));
  } catch {
    return null;
  }
}

/** Path of the root in its repository: empty at the top, otherwise with a trailing slash. */
export async function folderInRepository(repository: Repository): Promise<string> {
  return (await mustSucceed(repository, ['rev-parse', '--show-prefix'])).replace(/\n$/, '');
}

/** Whether the files on disk are those of a commit. */
export async function isCheckedOut(repository: Repository, commit: string): Promise<boolean> {
  const current = await git(repository, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}']);
  if (current.code !== 0 || current.stdout.trim() !== commit) return false;
  const filters = await withoutFilters(repository);
  const status = await git(repository, ['status', '--porcelain', '--untracked-files=no', '--ignore-submodules'], filters);
  return status.code === 0 && status.stdout === '';
}

interface CheckedOutTree {
  readonly root: string;
  readonly dispose: () => Promise<void>;
}

/** Writes the files of a commit below the root to a temporary folder; checkout, index and branches are unchanged. */
export async function checkOut(repository: Repository, commit: string): Promise<CheckedOutTree> {
  const temporary = await realpath(await mkdtemp(join(tmpdir(), 'selvage-tree-')));
  const dispose = (): Promise<void> => rm(temporary, { recursive: true, force: true });
  const root = join(temporary, 'tree');
  const index = { GIT_INDEX_FILE: join(temporary, 'index') };
  try {
    await mustSucceed(repository, ['read-tree', commit], index);
    const filters = await withoutFilters(repository);
    await mustSucceed(repository, ['checkout-index', '--all', '--quiet', `--prefix=${root}/`], { ...index, ...filters });
    // If the root is a folder of the repository, git writes only that folder. The commit may lack it.
    const folder = join(root, await folderInRepository(repository));
    await mkdir(folder, { recursive: true });
    return { root: folder, dispose };
  } catch (error) {
    await dispose();
    throw error;
  }
}

/**
 * Variables with which git runs no filter. The configuration of the host names the programs (`filter.lfs.process`), but
 * the attributes of a commit select the files that they process, and its `.lfsconfig` the location of the contents.
 */
export async function withoutFilters(repository: Repository): Promise<Record<string, string>> {
  const listed = await git(repository, ['config', '--null', '--name-only', '--get-regexp', String.raw`^filter\..*\.`]);
  const drivers = new Set(listed.stdout.split('\0').flatMap((name) => /^(filter\..*)\./s.exec(name)?.[1] ?? []));
  const settings = [...drivers].flatMap((driver) => [
    ...['clean', 'smudge', 'process'].map((command) => [`${driver}.${command}`, ''] as const),
    [`${driver}.required`, 'false'] as const,
  ]);
  return gitSettings(repository.environment, settings);
}

/** Git settings in the form of environment variables, appended to those that the environment already has. */
export function gitSettings(
  environment: Repository['environment'],
  settings: readonly (readonly [name: string, value: string])[],
): Record<string, string> {
  const count = Number(environment['GIT_CONFIG_COUNT'] ?? 0) || 0;
  const variables = settings.flatMap(([name, value], at) => [
    [`GIT_CONFIG_KEY_${count + at}`, name] as const,
    [`GIT_CONFIG_VALUE_${count + at}`, value] as const,
  ]);
  return { ...Object.fromEntries(variables), GIT_CONFIG_COUNT: String(count + settings.length) };
}

/** Environment variables of a CI job that git does not need: tokens, inputs of the workflow, files of the runner. */
const ofTheJob = /^(?:ACTIONS|GH|GITHUB|INPUT|RUNNER)_/;

interface GitResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function mustSucceed(
  repository: Repository,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { code, stdout, stderr } = await git(repository, words, environment);
  if (code === 0) return stdout;
  throw new UsageError(`git ${words[0]} failed: ${stderr.trim() || `exit code ${code}`}`);
}

/**
 * The first git on PATH. Entries that are relative, or in the repository or the workspace, are left out: programs of a
 * pull request are never run.
 * @throws UsageError without a git
 */
function gitProgram(root: string, environment: Repository['environment']): string {
  const workspaces = [repositoryRoot(root) ?? root, environment['GITHUB_WORKSPACE']].flatMap((folder) => realFolder(folder) ?? []);
  const isInside = (file: string): boolean => workspaces.some((folder) => file === folder || !isAbsolute(relativeTo(folder, file)));
  for (const folder of (environment['PATH'] ?? usualPath).split(delimiter)) {
    const program = join(folder, process.platform === 'win32' ? 'git.exe' : 'git');
    if (!isAbsolute(folder) || kindOf(program) !== 'file') continue;
    if (!isInside(program) && !isInside(realpathSync(program))) return program;
  }
  throw new UsageError('git is not installed, or not on PATH.');
}

function realFolder(folder: string | undefined): string | undefined {
  return folder !== undefined && kindOf(folder) === 'folder' ? realpathSync(folder) : undefined;
}

/**
 * Runs git in a repository, without pager, prompt, hooks, or a monitor program of the repository's configuration. A
 * bare repository inside a folder is ignored: files of a commit can imitate one.
 * @param words the command and its arguments
 * @param environment variables in addition to those of the repository
 * @param milliseconds time limit, after which git is killed
 * @throws UsageError if git is missing, takes longer or prints too much
 */
export async function git(
  { root, environment: inherited }: Repository,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  milliseconds = patience,
): Promise<GitResult> {
  const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.quotePath=false', 'safe.bareRepository=explicit'];
  // In a job with a container, the checkout belongs to another user, and git refuses to read it by default.
  const workspace = realFolder(inherited['GITHUB_WORKSPACE']);
  const checkout = realpathSync(repositoryRoot(root) ?? root);
  if (workspace !== undefined && (checkout === workspace || !isAbsolute(relativeTo(workspace, checkout))))
    settings.push(`safe.directory=${checkout}`);
  const kept = Object.entries(inherited).filter(([name]) => !ofTheJob.test(name));
  const { end, stdout, stderr } = await runProcess({
    executable: gitProgram(root, inherited),
    args: [...settings.flatMap((setting) => ['-c', setting]), ...words],
    cwd: root,
    env: {
      ...Object.fromEntries(kept),
      ...environment,
      GIT_TERMINAL_PROMPT: '0',
      GIT_OPTIONAL_LOCKS: '0',
      LC_ALL: 'C',
    },
    limits: { milliseconds, outputBytes: maxOutput },
  });
  switch (end.kind) {
    case 'exited':
      return { code: end.code, stdout, stderr };
    case 'not-started':
      throw new UsageError(end.reason);
    case 'time-limit':
      throw new UsageError(`git ${words[0]} was stopped after ${milliseconds / 1000} s.`);
    case 'output-limit':
      throw new UsageError(`git ${words[0]} was stopped: it printed more than ${maxOutput / 2 ** 20} MiB.`);
    case 'signalled':
    case 'aborted':
      return { code: 1, stdout, stderr };
  }
}
