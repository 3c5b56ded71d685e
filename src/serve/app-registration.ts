/**
 * Creates a GitHub App of this server from a manifest: the owner opens a page of the server and presses its button,
 * GitHub asks for a name, and sends the App's key back (GitHub: registering an App from a manifest). Nothing is copied
 * by hand.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { registeredApp } from '../github/api/app-client.ts';
import { failureOf } from '../github/api/client.ts';
import { escapeHtml } from '../report/markup/html-text.ts';
import { publishedAction } from '../system/version.ts';
import { identityFile, privateKeyProblem, type AppIdentity } from './app-identity.ts';
import { listenOn } from './listening.ts';
import type { ServerLog } from './server-log.ts';

interface RegistrationOptions {
  readonly host: string;
  readonly port: number;
  /** Address of this server for GitHub and browsers, without a trailing slash; by default its own address. */
  readonly url: string | undefined;
  /** The organisation that will own the App; by default the user who presses the button. */
  readonly organisation: string | undefined;
  readonly serverUrl: string;
  readonly apiUrl: string;
  readonly folder: string;
  readonly log: ServerLog;
  /** Prints a line for the owner. It contains the key of the page, which must not be in the log. */
  readonly print: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Description, permissions and events of the App. */
function appManifest(url: string): object {
  return {
    name: `selvage-${randomBytes(3).toString('hex')}`,
    url: `https://github.com/${publishedAction}`,
    description: 'Checks the CUDA kernels of pull requests for data races and barrier divergence',
    public: false,
    hook_attributes: { url: `${url}/webhook`, active: true },
    redirect_url: `${url}/setup/done`,
    default_permissions: {
      contents: 'write',
      pull_requests: 'write',
      checks: 'write',
      issues: 'read',
      metadata: 'read',
    },
    default_events: ['pull_request', 'issue_comment', 'pull_request_review_comment', 'check_run', 'check_suite'],
  };
}

/**
 * Waits until the App has been created, and stores its key in the folder.
 * @returns the App and the port of the page; undefined if the signal came first
 */
export async function registerApp(options: RegistrationOptions): Promise<{ readonly app: AppIdentity; readonly port: number } | undefined> {
  const { host, organisation, serverUrl, apiUrl, folder, log, print, signal } = options;
  const key = randomBytes(16).toString('hex');
  let done: (app: AppIdentity | undefined) => void = () => undefined;
  const made = new Promise<AppIdentity | undefined>((resolve) => (done = resolve));
  let isUsed = false;

  const server = createServer((request, response) => {
    const asked = new URL(request.url ?? '/', 'http://localhost');
    // GitHub sends its first webhook before the secret is known. Without the secret nothing can follow from it.
    const isPing = asked.pathname === '/webhook' && request.headers['x-github-event'] === 'ping';
    if (isPing || asked.pathname === '/healthz')
      return void response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end('{"status":"no App yet"}');
    const given = asked.searchParams.get(asked.pathname === '/setup' ? 'key' : 'state') ?? '';
    // The request must contain the key of this registration: otherwise anyone could make the server work for another
    // App.
    if (!['/setup', '/setup/done'].includes(asked.pathname) || !isKey(given, key) || isUsed)
      return page(response, 404, 'There is nothing here.');
    if (asked.pathname === '/setup') {
      const owner = organisation === undefined ? '' : `/organizations/${encodeURIComponent(organisation)}`;
      const action = `${serverUrl}${owner}/settings/apps/new?state=${key}`;
      const manifest = escapeHtml(JSON.stringify(appManifest(url)));
      return page(
        response,
        200,
        `<form action="${escapeHtml(action)}" method="post"><input type="hidden" name="manifest" value="${manifest}"><button>Make the GitHub App</button></form><p>It hears of ${escapeHtml(`${url}/webhook`)}, which GitHub has to reach.</p>`,
      );
    }
    isUsed = true;
    convert(asked.searchParams.get('code') ?? '', response).catch((error: unknown) => {
      isUsed = false;
      log('error', `the App is not set up: ${failureOf(error).message}`);
      page(response, 502, 'The App is not set up. The log of the server has the reason.');
    });
  });
  const convert = async (code: string, response: ServerResponse): Promise<void> => {
    if (!/^[\w-]{1,200}$/.test(code)) throw new Error('the answer of GitHub has no code');
    const { id, pem, webhook_secret: secret, html_url: home } = await registeredApp(apiUrl, code);
    if (!secret)
      throw new Error(
        `GitHub made the App ${home}, but gave its webhook no secret. In the settings of the App, set a webhook secret and generate a private key. Then start the server with SELVAGE_APP_ID=${id}, SELVAGE_PRIVATE_KEY_FILE and SELVAGE_WEBHOOK_SECRET.`,
      );
    const problem = privateKeyProblem(pem);
    if (problem !== undefined) throw new Error(`GitHub made the App ${home}, but its key ${problem}`);
    const app: AppIdentity = { appId: String(id), privateKey: pem, secret };
    const beside = `${identityFile(folder)}.${randomBytes(6).toString('hex')}`;
    writeFileSync(beside, `${JSON.stringify(app)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(beside, identityFile(folder));
    const install = `${home}/installations/new`;
    log('info', `the App ${home} is made, and its key is in ${identityFile(folder)}; install it for repositories: ${install}`);
    page(response, 200, `<p>The App is made. <a href="${escapeHtml(install)}">Install it for repositories</a>.</p>`);
    response.once('close', () => done(app));
  };

  const port = await listenOn(server, host, options.port);
  const own = `http://${host}:${port}`;
  const url = options.url ?? own;
  if (options.url === undefined && serverUrl === 'https://github.com')
    log('warning', `SELVAGE_URL is not set; GitHub has to reach this server, and cannot reach ${own}`);
  if (options.url !== undefined && /^http:/.test(options.url) && !/^(?:localhost|127\.|\[::1\])/.test(new URL(options.url).hostname))
    log(
      'warning',
      'SELVAGE_URL begins with http://: what GitHub sends, the code for the key of the App too, is not encrypted; use https://',
    );
  log('info', 'no App exists yet: standard output has the address of a page with a button that makes it');
  print(`No App exists yet: open ${url}/setup?key=${key} and press the button.`);
  signal.addEventListener('abort', () => done(undefined), { once: true });
  if (signal.aborted) done(undefined);
  const app = await made;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
  return app && { app, port };
}

function isKey(given: string, key: string): boolean {
  return given.length === key.length && timingSafeEqual(Buffer.from(given), Buffer.from(key));
}

/** @param body HTML */
function page(response: ServerResponse, status: number, body: string): void {
  const text = `<!doctype html><meta charset="utf-8"><title>Selvage</title><h1>Selvage</h1>${body}\n`;
  const headers = {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
    connection: 'close',
  };
  response.writeHead(status, headers).end(text);
}
