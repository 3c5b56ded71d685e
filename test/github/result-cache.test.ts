/** Results carried from run to run in CI, with a simulated cache service. */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { packResults, unpackResults } from '../../src/app/cache/pack.ts';
import { storeIn } from '../../src/app/cache/result-store.ts';
import { keepResults, serviceOf, type ResultCache } from '../../src/github/runner/result-cache.ts';

const TOKEN = 'runtime-token';

let temporary: string;
let server: Server;
let url: string;
/** Entries by key, in the order of creation. */
let entries: Map<string, Buffer>;
let requests: string[];
let isDown: boolean;

beforeEach(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'selvage-service-'));
  entries = new Map();
  requests = [];
  isDown = false;
  server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const [, kind = '', key = ''] = /^\/(?:twirp\/github\.actions\.results\.api\.v1\.CacheService\/)?(\w+)(?:\/(.*))?$/.exec(request.url ?? '') ?? []; // oxfmt-ignore
      requests.push(kind);
      const respond = (answer: object, status = 200): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer)); // oxfmt-ignore
      if (isDown) return respond({ msg: 'down' }, 503);
      // Signed addresses need no token, and must not receive it.
      const isSigned = kind === 'blob';
      assert.equal(request.headers.authorization, isSigned ? undefined : `Bearer ${TOKEN}`);
      if (isSigned && request.method === 'GET') return void response.end(entries.get(decodeURIComponent(key)));
      if (isSigned) {
        assert.equal(request.headers['x-ms-blob-type'], 'BlockBlob');
        entries.set(decodeURIComponent(key), body);
        return void response.writeHead(201).end();
      }
      const asked = JSON.parse(body.toString()) as { key: string; restore_keys?: string[]; version: string };
      assert.match(asked.version, /^[0-9a-f]{64}$/);
      if (kind === 'GetCacheEntryDownloadURL') {
        const found = [...entries.keys()].findLast((name) =>
          asked.restore_keys?.some((prefix) => name.startsWith(prefix)),
        );
        return respond(found === undefined ? { ok: false } : { ok: true, signed_download_url: `${url}blob/${encodeURIComponent(found)}` }); // oxfmt-ignore
      }
      if (kind === 'CreateCacheEntry' && entries.has(asked.key)) return respond({ code: 'already_exists' }, 409);
      if (kind === 'CreateCacheEntry') return respond({ ok: true, signed_upload_url: `${url}blob/${encodeURIComponent(asked.key)}` }); // oxfmt-ignore
      return respond({ ok: true, entry_id: '1' });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
afterEach(() => {
  server.close();
  rmSync(temporary, { recursive: true });
});

function keep(run: number, mayWrite = true, lines: string[] = []): Promise<ResultCache> {
  const environment = { RUNNER_TEMP: temporary, GITHUB_RUN_ID: String(run), ACTIONS_RESULTS_URL: url, ACTIONS_RUNTIME_TOKEN: TOKEN }; // oxfmt-ignore
  return keepResults({ environment, service: serviceOf(environment), mayWrite, log: (line) => void lines.push(line) });
}

test('results of one run are read by the next', async () => {
  const first = await keep(1);
  const store = storeIn(first.folder);
  const key = store.keyOf('check', ['kernel']);
  store.write(key, { verdict: 'proved' });
  await first.save();
  const second = await keep(2);
  assert.deepEqual(storeIn(second.folder).read(key), { verdict: 'proved' });
  // Without new entries nothing is uploaded.
  const before = entries.size;
  await second.save();
  assert.equal(entries.size, before);
  assert.deepEqual(readdirSync(temporary), []);
});

test('a run for a fork reads and never writes', async () => {
  const first = await keep(1);
  const key = storeIn(first.folder).keyOf('check', ['kernel']);
  storeIn(first.folder).write(key, 'known');
  await first.save();
  requests = [];
  const fork = await keep(2, false);
  assert.equal(storeIn(fork.folder).read(key), 'known');
  storeIn(fork.folder).write(storeIn(fork.folder).keyOf('check', ['other']), 'poison');
  await fork.save();
  assert.deepEqual(requests, ['GetCacheEntryDownloadURL', 'blob']);
  assert.equal(entries.size, 1);
});

test('an unavailable or invalid service is reported and harmless', async () => {
  isDown = true;
  const lines: string[] = [];
  const kept = await keep(1, true, lines);
  storeIn(kept.folder).write(storeIn(kept.folder).keyOf('check', ['kernel']), 1);
  await kept.save();
  assert.match(lines.join('\n'), /cannot be restored: .*503[^]*cannot be cached: .*503/);
  assert.equal(serviceOf({}), undefined);
  assert.equal(serviceOf({ ACTIONS_RESULTS_URL: 'none', ACTIONS_RUNTIME_TOKEN: 'x' }), undefined);
});

test('of a truncated or unknown pack the intact entries are read, of a full one the newest', () => {
  const store = storeIn(temporary);
  const keys = ['a', 'b', 'c'].map((name) => store.keyOf('check', [name]));
  for (const key of keys) store.write(key, { key });
  const pack = packResults(temporary, 1 << 20);
  for (let length = 0; length <= pack.length; length += 7) {
    const folder = mkdtempSync(join(tmpdir(), 'selvage-pack-'));
    const count = unpackResults(folder, pack.subarray(0, length));
    const read = keys.filter((key) => storeIn(folder).read(key) !== undefined);
    assert.equal(read.length, count);
    rmSync(folder, { recursive: true });
  }
  assert.equal(unpackResults(temporary, Buffer.from('something else')), 0);
  assert.ok(packResults(temporary, 500).length <= 500);
});
