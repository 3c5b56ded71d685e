/** `selvage serve` as a process: its start, its stop, its end by SIGKILL, and a full disk. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BotPull, TARGET } from '../github/bot-fixture.ts';
import { SOME_USER } from '../github/objects.ts';
import { pullRequestPayload } from '../github/payload.ts';
import { gitRepository } from '../github/repository.ts';
import { createWorkspace } from '../github/runner.ts';
import { appEnvironment, appOptions, deliver, startServing, type ServedApp } from './app-fixture.ts';

const ENTRY = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));
const TOKEN = 'ghs_0123456789abcdefghij';
const isOld = Number(process.versions.node.split('.')[0]) < 24;
const needsServer = { skip: isOld && 'this Node has no SQLite', timeout: 120_000 };

/** A command that starts another one where no namespaces can be made, as in most containers. */
const unconfined = ['/usr/bin/unshare', '-r', '/bin/sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"'];
const runs = (words: readonly string[]): boolean => spawnSync(words[0]!, words.slice(1)).status === 0;
const mayNest = runs([...unconfined, '/bin/true']);
const isConfined = runs(['/usr/bin/unshare', '-rnpf', '--kill-child', '/bin/true']);

const workspace = createWorkspace();
const kernel = '__global__ void k(int *a) { a[threadIdx.x] = 1; }\n';
const baseSha = workspace.commit({ 'src/a.cu': kernel });
const headSha = workspace.commit({ 'src/a.cu': `${kernel}// more\n` });
after(() => workspace.dispose());

let folder: string;
let pull: BotPull;
const apps: ServedApp[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'selvage-operation-'));
  mkdirSync(join(folder, 'octo'));
  symlinkSync(workspace.root, join(folder, 'octo/kernels.git'));
  pull = await BotPull.open({ ...appOptions(TOKEN), baseSha, headSha, repository: gitRepository(workspace.root) });
});
afterEach(async () => {
  for (const { child } of apps.splice(0)) child.kill('SIGKILL');
  await pull.server.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const environment = (): Record<string, string> => ({
  ...appEnvironment(),
  PATH: process.env['PATH'] ?? '',
  HOME: folder,
  PORT: '0',
  SELVAGE_DATA: join(folder, 'data'),
  SELVAGE_WRITE_INTERVAL: '0',
  GITHUB_API_URL: pull.server.url,
  GITHUB_SERVER_URL: `file://${folder}`,
});

/** Starts a server that has an App. */
async function started(changes: Record<string, string> = {}, prefix: readonly string[] = []) {
  const app = startServing(ENTRY, { ...environment(), ...changes }, folder, prefix);
  apps.push(app);
  const [, port = ''] = await app.line(/listening on port (\d+)/);
  return { app, port };
}

const opened = () => {
  const about = { owner: TARGET.owner, repo: TARGET.repo, number: TARGET.pullNumber, headSha, baseSha };
  return pullRequestPayload('opened', about);
};

const until = async (is: () => boolean, milliseconds: number, what: () => string): Promise<void> => {
  const deadline = Date.now() + milliseconds;
  while (!is()) {
    assert.ok(Date.now() < deadline, what());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

test('a wrong setting is reported in one line of the log, with the exit code 2', needsServer, async () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  writeFileSync(join(folder, 'file'), 'no key');
  mkdirSync(join(folder, 'broken'));
  writeFileSync(join(folder, 'broken/app.json'), JSON.stringify({ appId: '1', privateKey: 'no key', secret: 's' }));
  const taken = createServer();
  after(() => taken.close());
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as AddressInfo;
  const withoutApp = { SELVAGE_APP_ID: '', SELVAGE_PRIVATE_KEY: '', SELVAGE_WEBHOOK_SECRET: '' };
  const wrong: readonly [Record<string, string>, RegExp][] = [
    [{ SELVAGE_PRIVATE_KEY: 'secret-not-a-key' }, /^SELVAGE_PRIVATE_KEY is not a private key in PEM format\. Generate/],
    [{ SELVAGE_PRIVATE_KEY: String(ec) }, /^SELVAGE_PRIVATE_KEY is a private key of type ec, not of type rsa/],
    [{ SELVAGE_PRIVATE_KEY_FILE: join(folder, 'file') }, /^SELVAGE_PRIVATE_KEY_FILE: \S+ is not a private key/],
    [{ SELVAGE_PRIVATE_KEY_FILE: join(folder, 'none') }, /^SELVAGE_PRIVATE_KEY_FILE: \S+ cannot be read \(ENOENT\)/],
    [{ SELVAGE_WEBHOOK_SECRET: '' }, /^SELVAGE_APP_ID is set, so set SELVAGE_WEBHOOK_SECRET, too/],
    [{ ...withoutApp, SELVAGE_APP_ID: '1' }, /so set SELVAGE_PRIVATE_KEY_FILE or SELVAGE_PRIVATE_KEY, and SELVAGE_WEBHOOK_SECRET, too/],
    [{ SELVAGE_JOB: '3' }, /^SELVAGE_JOB is not a setting of the server\. Did you mean SELVAGE_JOBS\?/],
    [{ SELVAGE_APP_ID: '' }, /^SELVAGE_PRIVATE_KEY is set, but SELVAGE_APP_ID is not/],
    [{ PORT: String(port) }, /^PORT: port \d+ of 127\.0\.0\.1 is in use/],
    [{ ...withoutApp, PORT: String(port) }, /^PORT: port \d+ of 127\.0\.0\.1 is in use/],
    [{ PORT: 'http' }, /^PORT: "http" is not an integer from 0 to 65535/],
    [{ PORT: '65536' }, /^PORT: "65536" is not an integer/],
    [{ HOST: '203.0.113.1' }, /^HOST: "203\.0\.113\.1" is not an address of this computer/],
    [{ SELVAGE_URL: 'selvage.example.org' }, /^SELVAGE_URL: "selvage\.example\.org" is not an address/],
    [{ GITHUB_API_URL: 'ftp://x' }, /^GITHUB_API_URL: "ftp:\/\/x" is not an address/],
    [{ SELVAGE_JOBS: '0' }, /^SELVAGE_JOBS: "0" is not an integer from 1 to/],
    [{ SELVAGE_MINUTES: '1.5' }, /^SELVAGE_MINUTES: "1\.5" is not an integer/],
    [{ SELVAGE_DATA: join(folder, 'file') }, /^SELVAGE_DATA: the folder \S+ cannot be written \(EEXIST\)/],
    [{ SELVAGE_DATA: join(folder, 'file/data') }, /^SELVAGE_DATA: the folder \S+ cannot be written \(ENOTDIR\)/],
    [{ SELVAGE_DATA: '/proc/selvage/data' }, /^SELVAGE_DATA: the folder \S+ cannot be written \(ENOENT\)/],
    [{ ...withoutApp, SELVAGE_DATA: join(folder, 'broken') }, /app\.json does not contain an App/],
  ];
  for (const [change, message] of wrong) {
    const env = { ...environment(), ...change };
    const { status, stdout, stderr } = spawnSync(process.execPath, [ENTRY, 'serve'], { env, cwd: folder, encoding: 'utf8' });
    const lines = stderr.trim().split('\n');
    const entry = JSON.parse(lines[0]!) as Record<string, string>;
    assert.deepEqual([status, stdout, lines.length, entry['level']], [2, '', 1, 'error'], stderr);
    assert.match(entry['message'] ?? '', message);
    assert.doesNotMatch(stderr, /secret-not-a-key|\bat \S+:\d+/);
  }
});

test('the log has one JSON object a line, with what is known of a delivery, and no secret', needsServer, async () => {
  const { app, port } = await started();
  const { id, body } = pull.server.addComment(SOME_USER, '/selvage recheck');
  const repository = { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } };
  const comment = { id, body, user: SOME_USER };
  await deliver(port, 'ping', 'ping', {});
  await deliver(port, 'd1', 'issue_comment', { action: 'created', repository, issue: { number: 7, pull_request: {} }, comment });
  await app.outcome('d1');
  const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  assert.match(page, /selvage_runs_total\{outcome="answered"\} 1\n/);
  assert.match(page, /selvage_run_duration_seconds_count 1\n/);
  app.child.kill('SIGTERM');
  await app.line(/the server ended/);
  const entries = app.lines.slice(0, -1).map((line) => JSON.parse(line) as Record<string, unknown>);
  for (const { time, level, message } of entries) {
    assert.match(String(time), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    assert.match(String(level), /^(?:info|warning|error)$/);
    assert.equal(typeof message, 'string');
  }
  const ended = entries.find(({ outcome }) => outcome !== undefined);
  const { time: _, duration, ...known } = ended!;
  assert.equal(typeof duration, 'number');
  assert.deepEqual(known, {
    level: 'info',
    message: 'delivery handled',
    delivery: 'd1',
    event: 'issue_comment',
    repository: 'octo/kernels',
    pullRequest: 7,
    outcome: 'answered',
  });
  const all = app.lines.join('\n');
  const secrets = [TOKEN, ...Object.values(appEnvironment()).filter((value) => value.length > 5)];
  for (const secret of secrets) assert.ok(!all.includes(secret), secret);
});

test('SIGTERM ends the server within 10 s while a client keeps a request open', needsServer, async () => {
  const { app, port } = await started();
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => undefined);
  socket.write('POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n{"a');
  await new Promise((resolve) => setTimeout(resolve, 200));
  const start = Date.now();
  app.child.kill('SIGTERM');
  await app.line(/the server ended/);
  assert.ok(Date.now() - start < 10_000);
  assert.equal(app.child.exitCode, 0, app.lines.join('\n'));
  socket.destroy();
});

/** A folder with an nvcc that never ends, and starts a program that never ends. @param mark in its command line */
function endlessCompiler(mark: string): string {
  const tools = join(folder, 'tools');
  mkdirSync(tools, { recursive: true });
  writeFileSync(join(tools, 'nvcc'), `#!/bin/sh\ntouch '${folder}/compiling'\nsleep ${mark} &\nexec sleep ${mark}\n`);
  chmodSync(join(tools, 'nvcc'), 0o755);
  return `${tools}:/usr/bin:/bin`;
}

/** IDs of processes whose command line contains a text. */
function processesWith(text: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}

const isLinux = process.platform === 'linux';
for (const [name, prefix, isPossible] of [
  ['with namespaces', [], isConfined],
  ['without namespaces', unconfined, mayNest],
] as const) {
  const skip = needsServer.skip || (!(isLinux && isPossible) && 'this system has other namespaces');
  test(
    `kill -9 of the server ends its analyses and their compilers, and the next start removes their files, ${name}`,
    { ...needsServer, skip },
    async () => {
      const data = join(folder, 'data');
      const mark = `9${process.pid}.${prefix.length}`;
      const PATH = endlessCompiler(mark);
      const { app, port } = await started({ PATH }, prefix);
      const health = (await (await fetch(`http://127.0.0.1:${port}/healthz`)).json()) as { confinement: string };
      assert.equal(health.confinement, prefix.length === 0 ? 'full' : 'none');
      const warned = app.lines.some((line) => /"level":"warning".*unshare.*can reach the network/.test(line));
      assert.equal(warned, prefix.length > 0);
      assert.equal(await deliver(port, 'd1', 'pull_request', opened()), 202);
      // Of the compiler and its program there are two processes.
      await until(
        () => processesWith(mark).length >= 2,
        60_000,
        () => app.lines.join('\n'),
      );
      const works = () => readdirSync(data).filter((one) => one.startsWith('work-'));
      assert.equal(works().length, 1);
      const own = [...processesWith(mark), ...processesWith(data)];
      assert.ok(own.length >= 3, own.join(' '));
      app.child.kill('SIGKILL');
      await until(
        () => [...processesWith(mark), ...processesWith(data)].length === 0,
        5000,
        () =>
          processesWith(mark)
            .map((pid) => readFileSync(`/proc/${pid}/stat`, 'latin1'))
            .join('\n'),
      );
      assert.equal(works().length, 1);
      // The next server continues with the delivery, in a new folder.
      const [left] = works();
      const second = await started({ PATH }, prefix);
      await second.app.line(/removed 1 folders that an earlier server left/);
      assert.ok(!existsSync(join(data, left!)));
      // Without a running analysis no folder is left.
      await until(
        () => processesWith(mark).length >= 2,
        60_000,
        () => second.app.lines.join('\n'),
      );
      const start = Date.now();
      second.app.child.kill('SIGTERM');
      await second.app.line(/the server ended/);
      assert.ok(Date.now() - start < 10_000, `${Date.now() - start} ms`);
      await second.app.line(/"delivery":"d1".*"outcome":"interrupted"/);
      assert.deepEqual(works(), []);
      await until(
        () => processesWith(mark).length === 0,
        5000,
        () => 'a process is left',
      );
    },
  );
}

test(
  'a missing confinement is fatal if it is required',
  { ...needsServer, skip: needsServer.skip || (!mayNest && 'no user namespaces') },
  async () => {
    const app = startServing(ENTRY, { ...environment(), SELVAGE_REQUIRE_CONFINEMENT: '1' }, folder, unconfined);
    apps.push(app);
    await app.line(/the server ended/);
    assert.equal(app.child.exitCode, 2);
    assert.match(app.lines[0]!, /"level":"error","message":"SELVAGE_REQUIRE_CONFINEMENT: .*unshare/);
  },
);

/** A command that starts another one with a small disk as its data folder. */
const smallDisk = (data: string): string[] => [
  '/usr/bin/unshare',
  '-rm',
  '/bin/sh',
  '-c',
  `mount -t tmpfs -o size=48m none '${data}' && exec "$0" "$@"`,
];
const mayMount = isLinux && runs([...smallDisk(tmpdir()), '/bin/true']);

test(
  'a full disk: no delivery is confirmed and then lost, and the server survives',
  { ...needsServer, skip: needsServer.skip || (!mayMount && 'no mount namespaces') },
  async () => {
    const data = join(folder, 'data');
    mkdirSync(data);
    const { app, port } = await started({}, smallDisk(data));
    // The disk of the server, which other processes see through it.
    const disk = `/proc/${app.child.pid}/root${data}`;
    const repository = { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } };
    const confirmed: string[] = [];
    const ask = async (name: string): Promise<void> => {
      const { id, body } = pull.server.addComment(SOME_USER, '/selvage nothing');
      const comment = { id, body, user: SOME_USER };
      const status = await deliver(port, name, 'issue_comment', {
        action: 'created',
        repository,
        issue: { number: 7, pull_request: {} },
        comment,
        padding: 'x'.repeat(200_000),
      });
      if (status < 300) confirmed.push(name);
      else assert.equal(status, 503);
    };
    await ask('before');
    assert.equal(await app.outcome('before'), 'answered');
    try {
      writeFileSync(join(disk, 'filler'), Buffer.alloc(64 << 20));
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
    }
    assert.equal(statfsSync(disk).bavail, 0);
    for (let index = 0; index < 20; index += 1) await ask(`full${index}`);
    assert.ok(confirmed.length < 21);
    await app.line(/"level":"error","message":"no delivery is handled until the data folder can be written/);
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 503);
    assert.match(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text(), /selvage_disk_has_space 0\n/);
    rmSync(join(disk, 'filler'));
    await app.line(/the data folder can be written again/);
    await ask('after');
    for (const name of confirmed) assert.equal(await app.outcome(name), 'answered');
    assert.ok(confirmed.includes('after'));
    assert.equal(app.child.exitCode, null);
    assert.equal(pull.answers().length, confirmed.length);
  },
);
