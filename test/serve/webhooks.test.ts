/** Webhooks of a GitHub App: which are accepted, that they survive kills, and that each delivery is handled once. */
import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { createHmac, createVerify, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { seededRandom } from '../../src/base/random.ts';
import { appToken } from '../../src/github/api/app-client.ts';
import { openQueue, type Delivery } from '../../src/serve/delivery-queue.ts';
import { serverMetrics } from '../../src/serve/server-metrics.ts';
import { isSigned, startWebhooks, type WebhookServer } from '../../src/serve/webhook-server.ts';
import { BotPull } from '../github/bot-fixture.ts';
import { sweep } from '../run/sweep.ts';

const SECRET = 'It is a secret';
const skip = Number(process.versions.node.split('.')[0]) < 24 && 'this Node has no SQLite';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'selvage-serve-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const signature = (body: string, secret = SECRET): string => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

async function send(port: number, id: string, body: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${port}/webhook`, {
    method: 'POST',
    headers: {
      'x-github-delivery': id,
      'x-github-event': 'issue_comment',
      'x-hub-signature-256': signature(body),
      ...headers,
    },
    body,
  });
  await response.text();
  return response.status;
}

const payload = (repository = 'octo/kernels', more: object = {}): string =>
  JSON.stringify({ repository: { full_name: repository }, ...more });

/** Options of a server on the queue of the test. */
function options(
  handle: (delivery: Delivery, signal: AbortSignal) => Promise<unknown>,
  queue = openQueue(join(folder, 'queue.sqlite'), 1),
) {
  return {
    port: 0,
    secret: SECRET,
    handle: async (delivery: Delivery, signal: AbortSignal) => {
      await handle(delivery, signal);
      return 'handled';
    },
    most: 4,
    patience: 10_000,
    metrics: serverMetrics(0),
    log: () => undefined,
    queue,
  };
}

async function serving(
  handle: (delivery: Delivery) => Promise<unknown>,
  run: (server: WebhookServer) => Promise<void>,
  most = 4,
): Promise<void> {
  const server = await startWebhooks({ ...options(handle), most });
  try {
    await run(server);
  } finally {
    await server.stop();
  }
}

test('a signature depends on the exact bytes and on the secret', () => {
  // GitHub's own example (docs: validating webhook deliveries).
  const body = Buffer.from('Hello, World!');
  const known = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17';
  assert.equal(isSigned("It's a Secret to Everybody", body, known), true);
  assert.equal(isSigned("It's a Secret to Everybody", Buffer.from('Hello, World'), known), false);
  assert.equal(isSigned('', body, `sha256=${createHmac('sha256', '').update(body).digest('hex')}`), false);
  for (const wrong of [undefined, '', 'sha256=', known.slice(0, -1), known.replace('7', '8'), known.replace('sha256', 'sha1')])
    assert.equal(isSigned("It's a Secret to Everybody", body, wrong), false);
});

test('the token of an App is signed by its key, and valid for ten minutes', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const now = Date.UTC(2026, 0, 1);
  const [head = '', claims = '', sign = ''] = appToken('77', privateKey.export({ type: 'pkcs8', format: 'pem' }) as string, now).split('.');
  assert.equal(createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, sign, 'base64url'), true);
  assert.deepEqual(JSON.parse(Buffer.from(claims, 'base64url').toString()), {
    iat: now / 1000 - 60,
    exp: now / 1000 + 540,
    iss: '77',
  });
});

test('unsigned, incomplete or irrelevant deliveries are not stored; a replay is recognized', { skip }, async () => {
  const handled: string[] = [];
  await serving(
    async ({ id }) => void handled.push(id),
    async ({ port }) => {
      assert.equal(await send(port, 'a', payload()), 202);
      assert.equal(await send(port, 'a', payload()), 202);
      assert.equal(await send(port, 'b', payload(), { 'x-hub-signature-256': signature(payload(), 'other') }), 401);
      assert.equal(await send(port, 'c', payload(), { 'x-hub-signature-256': '' }), 401);
      assert.equal(await send(port, 'd e', payload()), 400);
      assert.equal(await send(port, 'f', '{'), 400);
      assert.equal(await send(port, 'g', '{}'), 400);
      assert.equal(await send(port, 'h', payload(), { 'x-github-event': 'push' }), 202);
      const health = await fetch(`http://127.0.0.1:${port}/healthz`);
      assert.deepEqual([health.status, await health.json()], [200, { status: 'ok' }]);
      const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      assert.match(metrics, /selvage_deliveries_repeated_total 1\n/);
      assert.match(metrics, /selvage_requests_refused_total\{status="401"\} 2\n/);
      assert.match(metrics, /selvage_requests_refused_total\{status="400"\} 3\n/);
      assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
    },
  );
  assert.deepEqual(handled, ['a']);
  // A replay after a restart is known too.
  await serving(
    async ({ id }) => void handled.push(id),
    async ({ port }) => void (await send(port, 'a', payload())),
  );
  assert.deepEqual(handled, ['a']);
});

test('deliveries of repositories alternate; those of one pull request are sequential', { skip }, async () => {
  const queue = openQueue(':memory:');
  const add = (id: string, repository: string, pull: number, at: number) =>
    queue.add({ id, event: 'x', payload: '', repository, pull }, at);
  for (let index = 0; index < 6; index += 1) add(`busy${index}`, 'a/busy', index % 2, index);
  for (let index = 0; index < 2; index += 1) add(`calm${index}`, 'b/calm', 7, 10 + index);
  const order: string[][] = [];
  for (;;) {
    const round: string[] = [];
    for (let next = queue.take(0); next; next = queue.take(0)) round.push(next.id);
    if (round.length === 0) break;
    order.push(round);
    for (const id of round) queue.end(id, 0);
  }
  assert.deepEqual(order, [
    ['busy0', 'calm0', 'busy1'],
    ['calm1', 'busy2', 'busy3'],
    ['busy4', 'busy5'],
  ]);
  queue.close();
});

test('a failed delivery waits longer after each attempt, and delays no other', { skip }, () => {
  const queue = openQueue(':memory:', 1000);
  queue.add({ id: 'a', event: 'x', payload: '', repository: 'a/a', pull: 1 }, 0);
  assert.equal(queue.take(0)?.id, 'a');
  queue.end('a', 0, 'no network');
  assert.equal(queue.nextAttempt(), 1000);
  queue.add({ id: 'b', event: 'x', payload: '', repository: 'a/a', pull: 1 }, 1);
  assert.equal(queue.take(999)?.id, 'b');
  queue.end('b', 999);
  assert.equal(queue.take(999), undefined);
  assert.equal(queue.take(1000)?.id, 'a');
  queue.end('a', 1000, 'no network');
  assert.equal(queue.nextAttempt(), 5000);
  queue.close();
});

test('a failing delivery is retried a bounded number of times, and then abandoned', { skip }, async () => {
  let attempts = 0;
  await serving(
    async () => {
      attempts += 1;
      throw new Error('no network');
    },
    async ({ port }) => {
      await send(port, 'a', payload());
      while (!(await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()).includes('selvage_deliveries{state="failed"} 1'))
        await new Promise((resolve) => setTimeout(resolve, 5));
    },
  );
  assert.equal(attempts, 5);
});

test('a graceful stop waits for active deliveries, and keeps the others queued', { skip }, async () => {
  const handled: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const handle = async ({ id }: Delivery): Promise<void> => {
    await held;
    handled.push(id);
  };
  const server = await startWebhooks({ ...options(handle), most: 1 });
  for (const id of ['a', 'b', 'c']) await send(server.port, id, payload());
  const stopped = server.stop();
  release();
  await stopped;
  assert.deepEqual(handled, ['a']);
  await serving(
    async ({ id }) => void handled.push(id),
    async () => undefined,
    2,
  );
  const left = openQueue(join(folder, 'queue.sqlite'));
  assert.equal(left.counts().waiting + left.counts().done, 3);
  left.close();
});

test('ping and installation events are answered with 200, without a repository', { skip }, async () => {
  const handled: string[] = [];
  await serving(
    async ({ id }) => void handled.push(id),
    async ({ port }) => {
      for (const [event, status] of [
        ['ping', 200],
        ['installation', 200],
        ['installation_repositories', 200],
        ['push', 202],
        ['check_suite', 400],
      ] as const)
        assert.equal(await send(port, event, '{"zen":"Keep it logically awesome."}', { 'x-github-event': event }), status);
      const unsigned = { 'x-github-event': 'ping', 'x-hub-signature-256': signature('{}', 'other') };
      assert.equal(await send(port, 'unsigned', '{}', unsigned), 401);
      const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      assert.match(page, /selvage_deliveries_received_total\{event="ping"\} 1\n/);
      assert.match(page, /selvage_deliveries_received_total\{event="other"\} 1\n/);
    },
  );
  assert.deepEqual(handled, []);
});

test('a check suite is queued with its pull request', { skip }, async () => {
  const found: number[] = [];
  await serving(
    async ({ pull }) => void found.push(pull),
    async ({ port }) => {
      const suite = payload('octo/kernels', { check_suite: { pull_requests: [{ number: 7 }] } });
      assert.equal(await send(port, 'suite', suite, { 'x-github-event': 'check_suite' }), 202);
    },
  );
  assert.deepEqual(found, [7]);
});

/** Opens a connection that never sends the whole body of its request. */
async function halfRequest(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  await new Promise<void>((resolve) => socket.once('connect', resolve));
  socket.write('POST /webhook HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n{"a');
  // The server has read it.
  await new Promise((resolve) => setTimeout(resolve, 50));
  return socket;
}

test('a stop closes open connections when the running work has ended', { skip, timeout: 20_000 }, async () => {
  const work = new AbortController();
  const server = await startWebhooks({
    ...options(() => new Promise<void>((resolve) => work.signal.addEventListener('abort', () => resolve()))),
  });
  await send(server.port, 'a', payload());
  const socket = await halfRequest(server.port);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const start = Date.now();
  const stopped = server.stop();
  setTimeout(() => work.abort(), 300);
  await stopped;
  await closed;
  const took = Date.now() - start;
  assert.ok(took >= 250 && took < 3000, `${took} ms`);
  const queue = openQueue(join(folder, 'queue.sqlite'));
  assert.deepEqual(queue.counts(), { waiting: 0, running: 0, done: 1, failed: 0 });
  queue.close();
});

test('a stop aborts work that takes too long, which is handled again and not counted', { skip, timeout: 20_000 }, async () => {
  for (const isDeaf of [false, true]) {
    const handle = async (_: Delivery, signal: AbortSignal): Promise<void> =>
      new Promise((_, reject) => {
        if (!isDeaf) signal.addEventListener('abort', () => reject(new Error('aborted')));
      });
    for (let run = 0; run < 2; run += 1) {
      const server = await startWebhooks({ ...options(handle), grace: 50 });
      if (run === 0) await send(server.port, `deaf-${isDeaf}`, payload());
      await halfRequest(server.port);
      const start = Date.now();
      await server.stop();
      assert.ok(Date.now() - start < 3000);
    }
    const queue = openQueue(join(folder, 'queue.sqlite'));
    assert.equal(queue.counts().waiting, 1);
    assert.equal(queue.take(Number.MAX_SAFE_INTEGER)?.attempts, 0);
    queue.end(`deaf-${isDeaf}`, 0);
    queue.close();
  }
});

test('a queue that cannot be written: deliveries are refused, ends are stored later, and the server goes on', { skip }, async () => {
  const queue = openQueue(join(folder, 'queue.sqlite'), 1);
  let isFull = false;
  const full =
    <Arguments extends unknown[], Result>(call: (...given: Arguments) => Result) =>
    (...given: Arguments): Result => {
      if (isFull) throw new Error('database or disk is full');
      return call(...given);
    };
  const [handled, lines]: string[][] = [[], []];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const server = await startWebhooks({
    ...options(async ({ id }) => {
      handled!.push(id);
      if (id === 'a') await held;
    }, queue),
    queue: {
      ...queue,
      add: full(queue.add),
      take: full(queue.take),
      end: full(queue.end),
      release: full(queue.release),
    },
    diskPause: 20,
    log: (level, message) => void lines!.push(`${level}: ${message}`),
  });
  const health = async () => (await fetch(`http://127.0.0.1:${server.port}/healthz`)).status;
  assert.equal(await send(server.port, 'a', payload()), 202);
  isFull = true;
  release();
  assert.equal(await send(server.port, 'b', payload()), 503);
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await health(), 503);
  assert.equal(queue.counts().running, 1);
  isFull = false;
  while ((await health()) !== 200) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await send(server.port, 'b', payload()), 202);
  while (queue.counts().done < 2) await new Promise((resolve) => setTimeout(resolve, 5));
  await server.stop();
  assert.deepEqual(handled, ['a', 'b']);
  assert.equal(lines!.filter((line) => line.startsWith('error: no delivery is handled')).length, 1);
  assert.match(lines!.join('\n'), /error: delivery not stored: database or disk is full[^]*info: the data folder can be written again/);
});

test('work that fails because the disk is full is repeated, and does not count as a failure', { skip }, async () => {
  let problem: string | undefined;
  let attempts = 0;
  const queue = openQueue(join(folder, 'queue.sqlite'), 1);
  const server = await startWebhooks({
    ...options(async () => {
      attempts += 1;
      problem = attempts <= 7 ? 'less than 32 MiB are free' : undefined;
      if (problem !== undefined) {
        setTimeout(() => (problem = undefined), 5);
        throw new Error('ENOSPC');
      }
    }, queue),
    diskPause: 10,
    spaceProblem: () => problem,
  });
  await send(server.port, 'a', payload());
  while (queue.counts().done === 0) {
    assert.equal(queue.counts().failed, 0);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.equal(attempts, 8);
  await server.stop();
});

test('a second server on the same queue is refused while the first one runs', { skip, timeout: 20_000 }, () => {
  const file = join(folder, 'queue.sqlite');
  const first = openQueue(file);
  assert.throws(() => openQueue(file), /locked/);
  first.close();
  openQueue(file).close();
});

test('deliveries with duplicates, out of order, and a server that is killed: each comment is answered once', { skip }, async () => {
  const deliveries = sweep(60, 500);
  const kills = sweep(10, 20);
  const pull = await BotPull.open();
  const children: ChildProcess[] = [];
  after(() => children.forEach((child) => child.kill('SIGKILL')));
  const entry = fileURLToPath(new URL('serving-process.ts', import.meta.url));
  const start = async (): Promise<{ readonly child: ChildProcess; readonly port: number }> => {
    const child = fork(entry, [join(folder, 'queue.sqlite'), pull.server.url, SECRET], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    children.push(child);
    const port = await new Promise<number>((resolve) => child.once('message', (message) => resolve(message as number)));
    return { child, port };
  };
  const draw = seededRandom(11);
  const comments = Array.from({ length: deliveries }, () => pull.addComment('/selvage help'));
  const bodies = comments.map(({ id, author, body }, index) => ({
    id: `delivery-${index}`,
    body: payload('octo/kernels', {
      action: 'created',
      installation: { id: 1 },
      repository: { full_name: 'octo/kernels', name: 'kernels', owner: { login: 'octo' } },
      issue: { number: 7, pull_request: {} },
      comment: { id, body, user: { login: author.login, id: author.id, type: 'User' } },
    }),
  }));
  // Each at least once, a third of them twice, in any order.
  const sent = [...bodies, ...bodies.filter(() => draw.chance(1 / 3))].sort(() => draw.next() - 0.5);
  const killAt = new Set(Array.from({ length: kills }, (_, index) => Math.floor(((index + 0.5) * sent.length) / kills)));
  let running = await start();
  for (const [index, { id, body }] of sent.entries()) {
    for (;;) {
      try {
        assert.equal(await send(running.port, id, body), 202);
        break;
      } catch (error) {
        if ((error as Error).name === 'AssertionError') throw error;
        running = await start();
      }
    }
    if (killAt.has(index)) {
      await new Promise((resolve) => setTimeout(resolve, draw.below(60)));
      const gone = new Promise((resolve) => running.child.once('exit', resolve));
      running.child.kill('SIGKILL');
      await gone;
      running = await start();
    }
  }
  const deadline = Date.now() + 240_000;
  for (;;) {
    const metrics = await (await fetch(`http://127.0.0.1:${running.port}/metrics`)).text();
    if (metrics.includes(`selvage_deliveries{state="done"} ${deliveries}`)) break;
    assert.ok(Date.now() < deadline, metrics);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  running.child.kill('SIGKILL');
  const answered = pull.answers().map((body) => /^<!-- selvage:answer conversation (\d+) -->/.exec(body)?.[1]);
  assert.deepEqual(
    answered.map(Number).sort((a, b) => a - b),
    comments.map(({ id }) => id),
  );
  await pull.server.close();
});
