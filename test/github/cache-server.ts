/** A simulated cache service of GitHub Actions. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const TOKEN = 'runtime-token';

export interface CacheServer {
  /** Variables of a runner that has the service. */
  readonly environment: { readonly ACTIONS_RESULTS_URL: string; readonly ACTIONS_RUNTIME_TOKEN: string };
  /** Entries by key, in the order of creation. */
  readonly entries: Map<string, Buffer>;
  /** Kinds of the requests so far. */
  readonly requests: string[];
  /** Whether every request fails. */
  isDown: boolean;
  close(): void;
}

export async function startCacheServer(): Promise<CacheServer> {
  const [entries, requests] = [new Map<string, Buffer>(), [] as string[]];
  const http = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts);
      const [, kind = '', key = ''] =
        /^\/(?:twirp\/github\.actions\.results\.api\.v1\.CacheService\/)?(\w+)(?:\/(.*))?$/.exec(request.url ?? '') ?? [];
      requests.push(kind);
      const respond = (answer: object, status = 200): void =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      if (server.isDown) return respond({ msg: 'down' }, 503);
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
        const found = [...entries.keys()].findLast((name) => asked.restore_keys?.some((prefix) => name.startsWith(prefix)));
        return respond(found === undefined ? { ok: false } : { ok: true, signed_download_url: `${url}blob/${encodeURIComponent(found)}` });
      }
      if (kind === 'CreateCacheEntry' && entries.has(asked.key)) return respond({ code: 'already_exists' }, 409);
      if (kind === 'CreateCacheEntry') return respond({ ok: true, signed_upload_url: `${url}blob/${encodeURIComponent(asked.key)}` });
      return respond({ ok: true, entry_id: '1' });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/`;
  const environment = { ACTIONS_RESULTS_URL: url, ACTIONS_RUNTIME_TOKEN: TOKEN };
  const server: CacheServer = { environment, entries, requests, isDown: false, close: () => void http.close() };
  return server;
}
