/**
 * The cache of GitHub Actions, as its runners offer it (`actions/toolkit`, packages/cache: the cache service of 2025).
 * Results of a pull request are stored under its own merge ref, which no other branch reads.
 */
import { createHash } from 'node:crypto';

/** Address and token of the service. Runners pass both to actions only, not to scripts. */
export interface CacheService {
  /** `ACTIONS_RESULTS_URL` */
  readonly url: string;
  /** `ACTIONS_RUNTIME_TOKEN` */
  readonly token: string;
}

const service = 'twirp/github.actions.results.api.v1.CacheService';
/** Version of the cache entries; changes with their format. Entries of another version are not found. */
const version = createHash('sha256').update('selvage results 1').digest('hex');
const patience = 60_000;

/** The cache service of this run; undefined if none exists, as on an Enterprise Server. */
export function cacheService(environment: Readonly<Record<string, string | undefined>>): CacheService | undefined {
  const { ACTIONS_RESULTS_URL: url, ACTIONS_RUNTIME_TOKEN: token } = environment;
  return url && token && URL.canParse(url) ? { url, token } : undefined;
}

/**
 * The latest entry under a key with this prefix.
 * @param mostBytes a larger entry is not read
 * @throws Error if the service cannot be reached
 */
export async function restoreBytes(from: CacheService, prefix: string, mostBytes: number): Promise<Buffer | undefined> {
  const found = await call(from, 'GetCacheEntryDownloadURL', { key: prefix, restore_keys: [prefix], version });
  const { ok, signed_download_url: url } = found;
  if (ok !== true || typeof url !== 'string' || url === '') return undefined;
  const response = await fetch(url, { signal: AbortSignal.timeout(patience) });
  if (!response.ok || !response.body) throw new Error(`the cache answered with status ${response.status}`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > mostBytes) throw new Error(`the cache contains more than ${mostBytes} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/**
 * Stores bytes under an unused key.
 * @returns false if the key exists
 * @throws Error if the service cannot be reached
 */
export async function saveBytes(to: CacheService, key: string, bytes: Uint8Array): Promise<boolean> {
  const created = await call(to, 'CreateCacheEntry', { key, version });
  const url = created['signed_upload_url'];
  if (created['ok'] !== true || typeof url !== 'string') return false;
  const response = await fetch(url, {
    method: 'PUT',
    headers: { 'x-ms-blob-type': 'BlockBlob', 'content-type': 'application/octet-stream' },
    body: new Uint8Array(bytes),
    signal: AbortSignal.timeout(patience),
  });
  if (!response.ok) throw new Error(`the upload was answered with status ${response.status}`);
  const ended = await call(to, 'FinalizeCacheEntryUpload', { key, version, size_bytes: String(bytes.length) });
  return ended['ok'] === true;
}

async function call({ url, token }: CacheService, method: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(new URL(`${service}/${method}`, url), {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(patience),
  });
  // The key already exists.
  if (response.status === 409) return { ok: false };
  if (!response.ok) throw new Error(`${method} was answered with status ${response.status}`);
  const answer: unknown = await response.json();
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
}
