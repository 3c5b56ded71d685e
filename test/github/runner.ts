/** The environment of an action: a folder with a clone, files for outputs and summary, an event, variables. */
import { execFile, execFileSync, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export type Files = Readonly<Record<string, string | null>>;

/** A real git repository in a temporary folder. */
export interface Workspace {
  readonly root: string;
  /** Commits a tree: the given files on top of a commit (null removes one); returns its id. */
  commit(files: Files, parent?: string): string;
  checkOut(commit: string): void;
  git(...args: string[]): string;
  dispose(): void;
}

/** Disables maintenance of repositories that are removed soon. */
const settings = ['user.name=test', 'user.email=test@example.org', 'maintenance.auto=false'].flatMap((setting) => ['-c', setting]);

export function createWorkspace(): Workspace {
  const root = mkdtempSync(join(tmpdir(), 'selvage-workspace-'));
  const git = (...args: string[]) =>
    execFileSync('git', [...settings, ...args], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  git('init', '-q', '-b', 'main', '--template=');
  return {
    root,
    git,
    commit(files, parent) {
      if (parent !== undefined) git('checkout', '-q', '--detach', parent);
      for (const [path, text] of Object.entries(files)) {
        if (text === null) {
          rmSync(join(root, path));
          continue;
        }
        mkdirSync(dirname(join(root, path)), { recursive: true });
        writeFileSync(join(root, path), text);
      }
      git('add', '--all');
      git('commit', '-q', '-m', 'change');
      return git('rev-parse', 'HEAD');
    },
    checkOut: (commit) => void git('checkout', '-q', '--detach', commit),
    dispose: () => rmSync(root, { recursive: true, force: true }),
  };
}

export interface ActionRun {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly summary: string;
  /** Contents of the files that outputs name, by output. */
  readonly reports: Readonly<Record<string, string>>;
}

export interface ActionSetting {
  /** The file to run. */
  readonly entry: string;
  readonly workspace: string;
  readonly apiUrl: string;
  readonly eventName: string;
  readonly event: unknown;
  readonly token: string;
  readonly repository: string;
  readonly inputs?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Called with the process once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

/** Runs an action as a runner does. */
export async function runAction(setting: ActionSetting): Promise<ActionRun> {
  const temp = mkdtempSync(join(tmpdir(), 'selvage-runner-'));
  const file = (name: string, text = '') => {
    const path = join(temp, name);
    writeFileSync(path, text);
    return path;
  };
  const output = file('output');
  const summary = file('summary');
  const inputs = Object.entries({ 'github-token': setting.token, ...setting.inputs }).map(
    ([name, value]) => [`INPUT_${name.replaceAll(' ', '_').toUpperCase()}`, value] as const,
  );
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: setting.apiUrl,
    GITHUB_SERVER_URL: 'https://github.example',
    GITHUB_GRAPHQL_URL: `${setting.apiUrl}/graphql`,
    GITHUB_REPOSITORY: setting.repository,
    GITHUB_EVENT_NAME: setting.eventName,
    GITHUB_EVENT_PATH: file('event.json', JSON.stringify(setting.event)),
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_STATE: file('state'),
    GITHUB_ENV: file('env'),
    GITHUB_WORKSPACE: setting.workspace,
    GITHUB_RUN_ID: '1',
    GITHUB_RUN_ATTEMPT: '1',
    RUNNER_TEMP: temp,
    RUNNER_OS: 'Linux',
    SELVAGE_WRITE_INTERVAL: '0',
    ...Object.fromEntries(inputs),
    ...setting.environment,
  };
  try {
    const { status, stdout, stderr } = await new Promise<Pick<ActionRun, 'status' | 'stdout' | 'stderr'>>((resolve) => {
      const child = execFile(
        process.execPath,
        [setting.entry],
        { cwd: setting.workspace, env, maxBuffer: 1 << 26, timeout: 300_000 },
        (_error, out, err) => resolve({ status: child.exitCode, stdout: out, stderr: err }),
      );
      setting.onStart?.(child);
    });
    const outputs = existsSync(output) ? parseOutputs(readFileSync(output, 'utf8')) : {};
    const files = Object.entries(outputs).filter(([, file]) => file.startsWith(temp) && existsSync(file));
    return {
      status,
      stdout,
      stderr,
      outputs,
      reports: Object.fromEntries(files.map(([name, file]) => [name, readFileSync(file, 'utf8')])),
      summary: readFileSync(summary, 'utf8'),
    };
  } finally {
    rmSync(temp, { recursive: true, force: true });
  }
}

/** `name<<delimiter`, lines, `delimiter`. */
function parseOutputs(text: string): Record<string, string> {
  const outputs: Record<string, string> = {};
  for (const match of text.matchAll(/^(.+?)<<(ghadelimiter_.+)\r?\n([^]*?)\r?\n\2$/gm)) {
    outputs[match[1] ?? ''] = match[3] ?? '';
  }
  return outputs;
}
