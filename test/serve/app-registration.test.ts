/** Message for the owner of a new App if GitHub does not send required values. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { registerApp } from '../../src/serve/app-registration.ts';
import { pressButton } from './app-fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'selvage-registration-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('an App whose webhook has no secret: the log has instructions, and the App is not stored', async () => {
  const app = { id: 77, pem: 'key', webhook_secret: null, html_url: 'https://github.example/apps/mine' };
  const api = createServer((_, response) => response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(app)));
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const apiUrl = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
  const stop = new AbortController();
  const said: string[] = [];
  let opened: (page: string) => void = () => undefined;
  const page = new Promise<string>((resolve) => (opened = resolve));
  const registered = registerApp({
    host: '127.0.0.1',
    port: 0,
    url: undefined,
    organisation: undefined,
    serverUrl: 'https://github.example',
    apiUrl,
    folder,
    log: (_, message) => void said.push(message),
    print: (line) => {
      const [, address] = /open (http\S+)/.exec(line) ?? [];
      if (address !== undefined) opened(address);
    },
    signal: stop.signal,
  });
  await assert.rejects(pressButton(await page), /The log of the server has the reason/);
  const told = said.at(-1) ?? '';
  assert.match(told, /^the App is not set up: GitHub made the App https:\/\/github\.example\/apps\/mine/);
  assert.match(told, /set a webhook secret and generate a private key\. Then start the server with SELVAGE_APP_ID=77,/);
  assert.equal(existsSync(join(folder, 'app.json')), false);
  // GitHub sends its first webhook while the App is being made.
  const base = new URL(await page).origin;
  const ping = await fetch(`${base}/webhook`, { method: 'POST', headers: { 'x-github-event': 'ping' }, body: '{}' });
  const health = await fetch(`${base}/healthz`);
  const other = await fetch(`${base}/webhook`, { method: 'POST', headers: { 'x-github-event': 'push' }, body: '{}' });
  assert.deepEqual([ping.status, health.status, other.status], [200, 200, 404]);
  stop.abort();
  assert.equal(await registered, undefined);
  await new Promise((resolve) => api.close(resolve));
});

test('an address without encryption is warned about, except for that of this computer', async () => {
  const warned = async (url: string): Promise<readonly string[]> => {
    const stop = new AbortController();
    const warnings: string[] = [];
    const options = {
      host: '127.0.0.1',
      port: 0,
      url,
      organisation: undefined,
      serverUrl: 'https://github.com',
      apiUrl: 'http://127.0.0.1:1',
      folder,
    };
    const log = (severity: string, message: string): void => void (severity === 'warning' && warnings.push(message));
    await registerApp({ ...options, log, print: () => stop.abort(), signal: stop.signal });
    return warnings;
  };
  assert.match(
    (await warned('http://selvage.example.org')).join(),
    /^SELVAGE_URL begins with http:\/\/: .* is not encrypted; use https:\/\/$/,
  );
  for (const url of ['https://selvage.example.org', 'http://localhost:3000', 'http://127.0.0.1:3000'])
    assert.deepEqual(await warned(url), []);
});
