/**
 * Clients for the repositories in which a GitHub App is installed. Each installation has a token, which is valid for an
 * hour.
 */
import { createSign } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Octokit } from '@octokit/rest';
import { createClient } from './client.ts';
import { toolVersion } from '../../system/version.ts';

interface AppCredentials {
  readonly appId: string;
  /** Private key in PEM format, as GitHub generates it. */
  readonly privateKey: string;
  readonly apiUrl: string;
  /** Milliseconds between two requests that write. */
  readonly writeInterval: number;
  /** Receives each new token of an installation. */
  readonly onToken?: (token: string) => void;
  /** Receives the number of requests that an installation has left in the current hour, after each request. */
  readonly onRateLimit?: (installation: number, left: number) => void;
}

export interface Installation {
  readonly octokit: Octokit;
  /** The current token. The client replaces one that GitHub refuses. */
  readonly token: string;
}

/** Tokens are renewed this number of milliseconds before they expire. */
const margin = 300_000;

/** Makes clients of installations, and caches their tokens until they expire. */
export function appClients({
  appId,
  privateKey,
  apiUrl,
  writeInterval,
  onToken,
  onRateLimit,
}: AppCredentials): (installation: number) => Promise<Installation> {
  const known = new Map<number, { readonly token: string; readonly ends: number }>();
  const tokenOf = async (installation: number, refused?: string): Promise<string> => {
    const kept = known.get(installation);
    if (kept && kept.token !== refused && kept.ends - margin > Date.now()) return kept.token;
    const asApp = clientWith(apiUrl, appToken(appId, privateKey, Date.now()), writeInterval);
    const { data } = await asApp.rest.apps.createInstallationAccessToken({ installation_id: installation });
    known.set(installation, { token: data.token, ends: Date.parse(data.expires_at) });
    onToken?.(data.token);
    return data.token;
  };
  return async (installation) => {
    let token = await tokenOf(installation);
    const octokit = clientWith(apiUrl, token, writeInterval, async (refused) => {
      token = await tokenOf(installation, refused);
      return token;
    });
    octokit.hook.after('request', ({ headers }) => {
      const left = Number(headers['x-ratelimit-remaining'] ?? '?');
      if (Number.isInteger(left)) onRateLimit?.(installation, left);
    });
    return {
      octokit,
      get token() {
        return token;
      },
    };
  };
}

/**
 * The App created from a manifest, with its key.
 * @param code as GitHub returned it; valid for an hour, and once
 */
export async function registeredApp(
  apiUrl: string,
  code: string,
): Promise<{
  readonly id: number;
  readonly pem: string;
  readonly webhook_secret: string | null;
  readonly html_url: string;
}> {
  const { data } = await clientWith(apiUrl, '', 0).rest.apps.createFromManifest({ code });
  return data;
}

/** A client of the server. It may wait longer than that of a job, because no user waits for the result. */
function clientWith(apiUrl: string, token: string, writeInterval: number, renewedToken?: (refused: string) => Promise<string>): Octokit {
  return createClient({
    token,
    renewedToken,
    apiUrl,
    userAgent: `selvage/${toolVersion}`,
    writeInterval,
    retryBudget: 180_000,
    requestTimeout: 30_000,
    sleep,
    now: Date.now,
  });
}

/** Token of the App itself: a JSON Web Token of RS256 for ten minutes (RFC 7519; GitHub: authenticating as an App). */
export function appToken(appId: string, privateKey: string, now: number): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  // The token is dated a minute earlier, because clocks may differ.
  const seconds = Math.floor(now / 1000) - 60;
  const text = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode({ iat: seconds, exp: seconds + 600, iss: appId })}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey).toString('base64url')}`;
}
