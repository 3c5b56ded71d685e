/** What an operator sees of the server: its log, its metrics, its help, and its data folder. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { removeLeftovers, removeOld, resultsFolder, spaceProblem } from '../../src/serve/data-folder.ts';
import { jsonLog, knownSecrets } from '../../src/serve/server-log.ts';
import { serverMetrics } from '../../src/serve/server-metrics.ts';
import { readServerSettings } from '../../src/serve/server-settings.ts';
import { helpText } from '../../src/settings/help.ts';
import { serverVariables } from '../../src/settings/server-variables.ts';

const docs = readFileSync(fileURLToPath(new URL('../../src/docs/app.md', import.meta.url)), 'utf8');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'selvage-observation-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('the log is JSON lines without secrets in any field', () => {
  const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const secrets = knownSecrets();
  for (const secret of [pem, 'webhook-secret', 'installation-token']) secrets.add(secret);
  const lines: string[] = [];
  const log = jsonLog(
    (line) => lines.push(line),
    secrets,
    () => Date.UTC(2026, 0, 2, 3, 4, 5),
  );
  log('info', 'a\nb', { repository: 'octo/kernels', pullRequest: 7, delivery: 'd', event: 'ping', outcome: 'answered', duration: 1.5 });
  assert.equal(
    lines[0],
    '{"time":"2026-01-02T03:04:05.000Z","level":"info","message":"a\\nb","repository":"octo/kernels","pullRequest":7,"delivery":"d","event":"ping","outcome":"answered","duration":1.5}',
  );
  const body = pem.split('\n')[3]!;
  const secretTexts = [
    pem,
    `an error quotes ${body} of the key`,
    'webhook-secret installation-token',
    'ghs_16C7e42F292c6912E7710c838347Ae178B4a',
    'github_pat_11ABCDEFG0123456789_abcdefgh',
    'Authorization: Bearer eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiI3NyJ9.c2lnbmF0dXJl',
    'AUTHORIZATION: basic eC1hY2Nlc3MtdG9rZW46Z2hzXzAxMjM0NTY3ODk=',
    'https://x-access-token:0123456789abcdef0123456789abcdef@github.com',
  ];
  const parts = [body, 'webhook-secret', 'installation-token', '16C7e42F', '11ABCDEFG', 'eyJhbGci', 'eC1hY2Nlc3M', '0123456789abcdef'];
  for (const text of secretTexts) {
    log('error', `failed: ${text}`, { repository: text, outcome: text });
    const line = lines.at(-1)!;
    for (const part of parts) assert.ok(!line.includes(part), line);
    assert.match((JSON.parse(line) as { message: string }).message, /^(?:failed: |.*\*\*\*)/);
  }
  log('error', 'x'.repeat(100_000));
  assert.ok(lines.at(-1)!.length < 3000);
});

/** Samples of a page in the text exposition format, by name and labels. Fails if the page is not well-formed. */
function samplesOf(page: string): Map<string, number> {
  const samples = new Map<string, number>();
  const types = new Map<string, string>();
  const helped = new Set<string>();
  assert.ok(page.endsWith('\n'));
  for (const line of page.slice(0, -1).split('\n')) {
    const [, kind, name = '', text = ''] = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/.exec(line) ?? [];
    if (kind === 'HELP') {
      assert.ok(!helped.has(name), `two families ${name}`);
      helped.add(name);
    } else if (kind === 'TYPE') {
      assert.match(text, /^(?:counter|gauge|histogram)$/);
      assert.ok(helped.has(name) && !types.has(name), line);
      types.set(name, text);
    } else {
      const match = /^([a-zA-Z_:][\w:]*)(\{(?:[a-z]\w*="(?:[^"\\\n]|\\["\\n])*",?)+\})? (-?[\d.]+(?:e[+-]?\d+)?)$/.exec(line);
      assert.ok(match, line);
      const [, full = '', labels = '', value] = match;
      const family = types.has(full) ? full : full.replace(/_(?:bucket|sum|count)$/, '');
      assert.ok(types.get(family) === 'histogram' ? family !== full : family === full, line);
      assert.ok(types.has(family), `${full} has no type`);
      assert.ok(types.get(family) !== 'counter' || full.endsWith('_total'), full);
      assert.ok(!samples.has(full + labels), line);
      samples.set(full + labels, Number(value));
    }
  }
  return samples;
}

test('metrics are in the text exposition format, with a histogram of durations', () => {
  const metrics = serverMetrics(1_700_000_000);
  for (const event of ['ping', 'pull_request', 'pull_request', 'in"vented\\', 'push']) metrics.received(event);
  for (const [outcome, seconds] of [
    ['reviewed', 0.5],
    ['reviewed', 7],
    ['failed', 9999],
  ] as const)
    metrics.ended(outcome, seconds);
  metrics.refused(401);
  metrics.repeated();
  metrics.rateLimit(5, 4999);
  metrics.rateLimit(5, 4998);
  const samples = samplesOf(metrics.page({ waiting: 3, running: 2, done: 4, failed: 1 }, true));
  const expected = {
    selvage_queue_length: 3,
    selvage_running: 2,
    'selvage_deliveries{state="done"}': 4,
    'selvage_deliveries_received_total{event="pull_request"}': 2,
    'selvage_deliveries_received_total{event="other"}': 2,
    selvage_deliveries_repeated_total: 1,
    'selvage_requests_refused_total{status="401"}': 1,
    'selvage_runs_total{outcome="reviewed"}': 2,
    'selvage_runs_total{outcome="failed"}': 1,
    selvage_failures_total: 1,
    'selvage_run_duration_seconds_bucket{le="0.5"}': 1,
    'selvage_run_duration_seconds_bucket{le="5"}': 1,
    'selvage_run_duration_seconds_bucket{le="10"}': 2,
    'selvage_run_duration_seconds_bucket{le="3600"}': 2,
    'selvage_run_duration_seconds_bucket{le="+Inf"}': 3,
    selvage_run_duration_seconds_count: 3,
    selvage_run_duration_seconds_sum: 10006.5,
    'selvage_github_requests_left{installation="5"}': 4998,
    selvage_disk_has_space: 1,
    process_start_time_seconds: 1_700_000_000,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(samples.get(name), value, name);
  const none = samplesOf(serverMetrics(0).page({ waiting: 0, running: 0, done: 0, failed: 0 }, false));
  assert.deepEqual([none.get('selvage_failures_total'), none.get('selvage_disk_has_space')], [0, 0]);
});

test('the help of the server lists its variables and no options of checks', () => {
  const help = helpText('serve');
  const names = Object.values(serverVariables).flatMap((topic) => Object.keys(topic));
  for (const name of names) assert.match(help, new RegExp(`^  ${name}  `, 'm'));
  assert.deepEqual(help.match(/--[\w-]+/g), ['--help', '--version']);
  for (const line of help.split('\n')) assert.ok(line.length <= 100, line);
  for (const name of names) assert.match(docs, new RegExp(`^\\|[^|]*\`${name}\`[^|]*\\|`, 'm'), name);
});

test('settings have defaults, and addresses lose their trailing slashes', () => {
  const { app, url, port, jobs, folder: data } = readServerSettings({ SELVAGE_URL: 'https://a.example/x//', PORT: '' });
  assert.deepEqual([app, url, port, jobs], [undefined, 'https://a.example/x', 3000, 2]);
  assert.match(data, /selvage-data$/);
  assert.equal(readServerSettings({ PORT: '65535' }).port, 65_535);
  assert.equal(readServerSettings({ SELVAGE_JOBS: '1' }).jobs, 1);
});

const fill = (path: string, bytes: number): void => {
  mkdirSync(join(path, 'ab'), { recursive: true });
  writeFileSync(join(path, 'ab', 'entry'), Buffer.alloc(bytes));
};

test('folders of analyses that an earlier server left are removed at the start, and nothing else', () => {
  fill(join(folder, 'work-a1b2c3'), 10);
  fill(join(folder, 'work-other'), 10);
  writeFileSync(join(folder, 'app.json'), '{}');
  writeFileSync(join(folder, 'app.json.0123abcd'), '{}');
  writeFileSync(join(folder, 'deliveries.sqlite'), '');
  fill(resultsFolder(folder, 'kept'), 10);
  assert.deepEqual(removeLeftovers(folder), { removed: 3, left: [] });
  assert.deepEqual(readdirSync(folder).sort(), ['app.json', 'deliveries.sqlite', 'results']);
});

test('results are removed when they are old or exceed their space, least recently used first', async () => {
  const now = Date.now();
  const day = 24 * 3_600_000;
  const add = (name: string, days: number, bytes: number): void => {
    const path = resultsFolder(folder, name);
    fill(path, bytes);
    utimesSync(path, (now - days * day) / 1000, (now - days * day) / 1000);
  };
  const left = () => readdirSync(join(folder, 'results')).sort();
  const bounds = { cacheBytes: 2500, longestRun: 3_600_000 };
  add('now', 0, 2000);
  add('yesterday', 1, 400);
  add('recent', 29, 100);
  add('old', 31, 1);
  await removeOld(folder, bounds, now);
  assert.deepEqual(left(), ['now', 'recent', 'yesterday']);
  add('big', 2, 200);
  await removeOld(folder, bounds, now);
  assert.deepEqual(left(), ['now', 'yesterday']);
  // Results that an analysis may be using stay.
  await removeOld(folder, { ...bounds, cacheBytes: 0 }, now);
  assert.deepEqual(left(), ['now']);
  // A use makes results recent.
  add('used', 40, 10);
  resultsFolder(folder, 'used');
  await removeOld(folder, bounds, now);
  assert.deepEqual(left(), ['now', 'used']);
  for (const [name, hours] of [
    ['work-running', 1.9],
    ['work-left', 2.1],
  ] as const) {
    fill(join(folder, name), 1);
    utimesSync(join(folder, name), now / 1000, (now - hours * 3_600_000) / 1000);
  }
  await removeOld(folder, bounds, now);
  assert.deepEqual(readdirSync(folder).sort(), ['results', 'work-running']);
});

test('a folder that cannot be written has no space', { skip: process.getuid?.() === 0 && 'root writes everywhere' }, () => {
  assert.equal(spaceProblem(folder), undefined);
  chmodSync(folder, 0o500);
  assert.equal(spaceProblem(folder), 'writing fails with EACCES');
  chmodSync(folder, 0o700);
});

test('a missing folder has no space, and an existing one is left without a file', () => {
  assert.equal(spaceProblem(folder), undefined);
  assert.deepEqual(readdirSync(folder), []);
  assert.match(spaceProblem(join(folder, 'none')) ?? '', /writing fails with ENOENT/);
});

/** The parts of a compose file that the example uses. */
interface Compose {
  readonly services: Readonly<Record<string, Record<string, unknown>>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

test('the compose example is pinned, has a volume, and sets only variables of the server', () => {
  const text = /^```yaml\n# compose\.yaml\n([^]*?)^```$/m.exec(docs)?.[1] ?? '';
  const { services, volumes } = parse(text) as Compose;
  assert.deepEqual(Object.keys(services), ['selvage']);
  const { build, environment, volumes: mounts, ports, stop_grace_period: grace, ...others } = services['selvage']!;
  assert.deepEqual(Object.keys(others).sort(), ['healthcheck', 'init', 'restart', 'security_opt']);
  const dockerfile = (build as { dockerfile_inline: string }).dockerfile_inline;
  const images = [...dockerfile.matchAll(/^(?:FROM|COPY --from=)\s*(\S+)/gm)].map(([, image]) => image!);
  assert.equal(images.length, 2);
  for (const image of images) assert.match(image, /^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/);
  const names = Object.values(serverVariables).flatMap((topic) => Object.keys(topic));
  for (const name of Object.keys(environment as object)) assert.ok(names.includes(name), name);
  const [volume = '', place] = (mounts as string[])[0]!.split(':');
  assert.ok(volume in volumes);
  assert.equal((environment as Record<string, string>)['SELVAGE_DATA'], place);
  assert.equal(grace, '15s');
  const port = (environment as Record<string, number>)['PORT'];
  assert.match(String((ports as string[])[0]), new RegExp(`:${port}$`));
  assert.match(JSON.stringify(others['healthcheck']), new RegExp(`:${port}/healthz`));
});
