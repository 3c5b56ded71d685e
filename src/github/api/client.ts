/** The only place that builds a GitHub client: base address, retries, the pause between writes. */
import { defaults } from '@actions/github/lib/utils';
import { Octokit } from '@octokit/rest';
import type { OctokitOptions } from '@octokit/core/types';

export interface ClientOptions {
  readonly token: string;
  /** Returns a token instead of one that GitHub refuses because it expired or was revoked. */
  readonly renewedToken?: ((refused: string) => Promise<string>) | undefined;
  /** Value of `GITHUB_API_URL`; by default `https://api.github.com`. */
  readonly apiUrl: string;
  readonly userAgent: string;
  /** Milliseconds between two requests that write: GitHub asks for at least 1,000. */
  readonly writeInterval: number;
  /** Maximum total milliseconds that a client waits for rate limits. */
  readonly retryBudget: number;
  /** Time limit of one request in milliseconds. */
  readonly requestTimeout: number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly now: () => number;
  /** Receives each request, its response and its duration; undefined to trace nothing. */
  readonly trace?: ((line: string) => void) | undefined;
}

/** Relevant parts of a failed request. */
export interface RequestFailure {
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  readonly message: string;
}

const ATTEMPTS = 4;
const DEFAULT_RATE_WAIT = 60_000;

/** A client for the API at `apiUrl`. Requests wait out rate limits and are retried if that is safe, within bounds. */
export function createClient(options: ClientOptions): Octokit {
  const proxied: OctokitOptions = defaults;
  const client = new Octokit({
    baseUrl: options.apiUrl,
    userAgent: options.userAgent,
    // The proxy of the runner, if it has one.
    request: { ...proxied.request },
    // Octokit logs a request with its response at one of these two levels.
    log: { debug: ignore, info: options.trace ?? ignore, warn: ignore, error: options.trace ?? ignore },
  });
  let { token } = options;
  let nextWrite = 0;
  let waited = 0;
  client.hook.wrap('request', async (request, parameters) => {
    // All requests to the GraphQL API here are queries.
    const reads = parameters.method === 'GET' || parameters.url === '/graphql';
    let isRenewed = false;
    for (let attempt = 1; ; attempt += 1) {
      if (!reads) {
        const pause = nextWrite - options.now();
        if (pause > 0) await options.sleep(pause);
        nextWrite = options.now() + options.writeInterval;
      }
      const signal = AbortSignal.timeout(options.requestTimeout);
      try {
        // Other hooks of the client receive this object, and ignore one that is passed to `request`.
        Object.assign(parameters.headers, authorization(token));
        parameters.request = { ...parameters.request, signal };
        return withData(await request(parameters));
      } catch (error) {
        // The refused request had no effect.
        if (failureOf(error).status === 401 && options.renewedToken && !isRenewed) {
          isRenewed = true;
          token = await options.renewedToken(token);
          continue;
        }
        const wait = retryDelay(error, reads, attempt, options.now());
        if (wait === undefined || attempt >= ATTEMPTS || waited + wait > options.retryBudget) throw error;
        waited += wait;
        await options.sleep(wait);
      }
    }
  });
  return client;
}

/** The header for a token; JSON Web Tokens, of Apps, have three parts. */
function authorization(token: string): { readonly authorization?: string } {
  if (token === '') return {};
  return { authorization: `${token.split('.').length === 3 ? 'bearer' : 'token'} ${token}` };
}

/**
 * Checks that a response is JSON, or empty by its status 204. A proxy, or a server under maintenance, responds with a
 * page and status 200; the request then had no effect.
 */
function withData<Response extends { readonly status: number; readonly data: unknown }>(response: Response): Response {
  const { status, data } = response;
  const isJson = typeof data === 'object' && data !== null && !(data instanceof ArrayBuffer);
  if (status === 204 || isJson) return response;
  throw new Error(`GitHub answered with status ${status}, but not in JSON`);
}

/** The failure of a request, from any thrown value. */
export function failureOf(error: unknown): RequestFailure {
  if (!(error instanceof Error)) return { status: 0, message: String(error) };
  const status = 'status' in error && typeof error.status === 'number' ? error.status : 0;
  return { status, message: error.message };
}

/** Whether a failure means that the token lacks the permission: unlike a rate limit or an archived repository. */
export function isPermissionFailure({ status, message }: RequestFailure): boolean {
  return status === 403 && /not accessible|permission|must have|forbidden/i.test(message);
}

/**
 * Milliseconds to wait before the request is sent again; undefined if it must not be. A write is retried only if GitHub
 * reports that it had no effect: after a time-out or a server error it may have succeeded.
 */
function retryDelay(error: unknown, reads: boolean, attempt: number, now: number): number | undefined {
  const failure = failureOf(error);
  const limited = failure.status === 429 || (failure.status === 403 && /rate limit/i.test(failure.message));
  if (limited) return rateLimitDelay(headersOf(error), now);
  if (reads && (failure.status === 0 || failure.status >= 500)) return 1000 * 2 ** (attempt - 1);
  return undefined;
}

function rateLimitDelay(headers: Readonly<Record<string, string | number | undefined>>, now: number): number {
  const after = Number(headers['retry-after']);
  if (Number.isFinite(after) && after >= 0) return after * 1000;
  const reset = Number(headers['x-ratelimit-reset']) * 1000;
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(0, reset - now);
  return DEFAULT_RATE_WAIT;
}

function headersOf(error: unknown): Readonly<Record<string, string | number | undefined>> {
  if (error === null || typeof error !== 'object' || !('response' in error)) return {};
  const { response } = error;
  if (response === null || typeof response !== 'object' || !('headers' in response)) return {};
  return response.headers as Readonly<Record<string, string | number | undefined>>;
}

function ignore(): void {
  // Octokit's own logging is disabled: the caller, who knows the consequences of a failure, writes the log.
}
