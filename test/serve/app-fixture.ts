/** A GitHub that makes an App of a server from its manifest, installs it, and sends it webhooks. */
import { createHmac, createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Api } from '../github/openapi.ts';
import type { Handler, ServerOptions } from '../github/server.ts';

const APP = 77;
export const INSTALLATION = 5;
export const WEBHOOK_SECRET = 'a secret of the webhook';
const CODE = 'code-of-the-manifest';

const { privateKey, publicKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

/** Environment variables of a server that has the App already. */
export function appEnvironment(): Record<'SELVAGE_APP_ID' | 'SELVAGE_PRIVATE_KEY' | 'SELVAGE_WEBHOOK_SECRET', string> {
  return { SELVAGE_APP_ID: String(APP), SELVAGE_PRIVATE_KEY: privateKey, SELVAGE_WEBHOOK_SECRET: WEBHOOK_SECRET };
}

/** Responses of GitHub for an App, in addition to those for its repository. */
export function appOptions(token: string): Pick<ServerOptions, 'isToken' | 'token'> & {
  readonly more: (api: Api) => Readonly<Record<string, Handler>>;
} {
  return {
    token,
    isToken: (given, path) =>
      path === `/app-manifests/${CODE}/conversions` || (path === `/app/installations/${INSTALLATION}/access_tokens` && isAppToken(given)),
    more: (api) => ({
      'POST /app-manifests/{code}/conversions': () => ({
        status: 201,
        body: { ...api.example('integration-from-manifest'), id: APP, pem: privateKey, webhook_secret: WEBHOOK_SECRET },
      }),
      'POST /app/installations/{installation_id}/access_tokens': () => {
        const ends = new Date(Date.now() + 3_600_000).toISOString();
        return { status: 201, body: { ...api.example('installation-token'), token, expires_at: ends } };
      },
    }),
  };
}

function isAppToken(token: string): boolean {
  const [head = '', claims = '', signature = ''] = token.split('.');
  const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(createPublicKey(publicKey), signature, 'base64url');
  const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString() || '{}') as { iss?: string };
  return isSigned && iss === String(APP);
}

/** `selvage serve` as a process. */
export interface ServedApp {
  readonly child: ChildProcess;
  readonly lines: readonly string[];
  /** The first line that it has written, or will, that matches. */
  readonly line: (pattern: RegExp) => Promise<RegExpExecArray>;
  /** The outcome of a delivery, once it has ended. */
  readonly outcome: (delivery: string) => Promise<string>;
}

/** Starts the server. @param prefix a command that starts the command after it */
export function startServing(
  entry: string,
  environment: Readonly<Record<string, string>>,
  cwd: string,
  prefix: readonly string[] = [],
): ServedApp {
  const [executable, ...args] = [...prefix, process.execPath, entry, 'serve'];
  const child = spawn(executable, args, {
    cwd,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const input of [child.stdout, child.stderr]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      for (const wake of waiting) wake();
    });
  }
  child.once('close', () => {
    lines.push('the server ended');
    for (const wake of waiting) wake();
  });
  const find = (pattern: RegExp) => lines.map((line) => pattern.exec(line)).find((match) => match !== null);
  const awaited = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const match = find(pattern);
        if (match) resolve(match);
        else if (lines.includes('the server ended')) reject(new Error(`no ${pattern}:\n${lines.join('\n')}`));
        else return void waiting.add(look);
        waiting.delete(look);
      };
      look();
    });
  return {
    child,
    lines,
    line: awaited,
    outcome: async (delivery) => (await awaited(new RegExp(`"delivery":"${delivery}".*"outcome":"([^"]*)"`)))[1]!,
  };
}

/** Acts as the owner's browser on the page of a server that has no App yet. @returns the manifest */
export async function pressButton(page: string): Promise<Record<string, unknown>> {
  const html = await (await fetch(page)).text();
  const unescaped = (text: string) =>
    text
      .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&');
  const manifest = JSON.parse(unescaped(/name="manifest" value="([^"]*)"/.exec(html)?.[1] ?? '')) as Record<string, unknown>;
  const state = new URL(unescaped(/action="([^"]*)"/.exec(html)?.[1] ?? '')).searchParams.get('state') ?? '';
  const back = new URL(String(manifest['redirect_url']));
  back.searchParams.set('code', CODE);
  back.searchParams.set('state', state);
  const answer = await fetch(back);
  if (!answer.ok) throw new Error(`the App was not made: ${await answer.text()}`);
  return manifest;
}

/** Sends a webhook as GitHub does. @returns the status of the answer */
export async function deliver(port: number | string, id: string, event: string, payload: object, secret = WEBHOOK_SECRET): Promise<number> {
  const body = JSON.stringify({ ...payload, installation: { id: INSTALLATION } });
  const response = await fetch(`http://127.0.0.1:${port}/webhook`, {
    method: 'POST',
    headers: {
      'x-github-delivery': id,
      'x-github-event': event,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    },
    body,
  });
  await response.text();
  return response.status;
}
