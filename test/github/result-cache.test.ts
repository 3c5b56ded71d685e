/** Results carried from run to run in CI, with a simulated cache service. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { packResults, unpackResults } from '../../src/app/cache/pack.ts';
import { storeIn } from '../../src/app/cache/result-store.ts';
import { keepResults, serviceOf, type ResultCache } from '../../src/github/runner/result-cache.ts';
import { startCacheServer, type CacheServer } from './cache-server.ts';

let temporary: string;
let server: CacheServer;

beforeEach(async () => {
  temporary = mkdtempSync(join(tmpdir(), 'selvage-service-'));
  server = await startCacheServer();
});
afterEach(() => {
  server.close();
  rmSync(temporary, { recursive: true });
});

function keep(run: number, mayWrite = true, lines: string[] = []): Promise<ResultCache> {
  const environment = { RUNNER_TEMP: temporary, GITHUB_RUN_ID: String(run), ...server.environment };
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
  const before = server.entries.size;
  await second.save();
  assert.equal(server.entries.size, before);
  assert.deepEqual(readdirSync(temporary), []);
});

test('a run for a fork reads and never writes', async () => {
  const first = await keep(1);
  const key = storeIn(first.folder).keyOf('check', ['kernel']);
  storeIn(first.folder).write(key, 'known');
  await first.save();
  server.requests.length = 0;
  const fork = await keep(2, false);
  assert.equal(storeIn(fork.folder).read(key), 'known');
  storeIn(fork.folder).write(storeIn(fork.folder).keyOf('check', ['other']), 'poison');
  await fork.save();
  assert.deepEqual(server.requests, ['GetCacheEntryDownloadURL', 'blob']);
  assert.equal(server.entries.size, 1);
});

test('an unavailable or invalid service is reported and harmless', async () => {
  server.isDown = true;
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
