/** Clients of an App's installations: tokens that expire, rate limits, and the time limit of requests. */
import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, test } from 'node:test';
import { answerComment } from '../../src/github/bot/bot.ts';
import { appClients } from '../../src/github/api/app-client.ts';
import { createClient } from '../../src/github/api/client.ts';
import { BotPull } from '../github/bot-fixture.ts';
import type { Fault } from '../github/server.ts';
import { appEnvironment, appOptions, INSTALLATION } from './app-fixture.ts';

/** GitHub accepts only the newest token. */
let tokens: string[];
let pull: BotPull;
beforeEach(async () => {
  tokens = [];
  const base = appOptions('');
  pull = await BotPull.open({
    token: 'none',
    isToken: (given, path) => given === tokens.at(-1) || base.isToken!(given, path),
    more: (api) => ({
      ...base.more(api),
      'POST /app/installations/{installation_id}/access_tokens': () => {
        tokens.push(`ghs_token${tokens.length + 1}`);
        const ends = new Date(Date.now() + 3_600_000).toISOString();
        return { status: 201, body: { ...api.example('installation-token'), token: tokens.at(-1), expires_at: ends } };
      },
    }),
  });
});
afterEach(() => pull.server.close());

function clients(seen: { readonly tokens?: string[]; readonly limits?: [number, number][] } = {}) {
  const { SELVAGE_APP_ID: appId, SELVAGE_PRIVATE_KEY: privateKey } = appEnvironment();
  return appClients({
    appId,
    privateKey,
    apiUrl: pull.server.url,
    writeInterval: 0,
    onToken: (token) => seen.tokens?.push(token),
    onRateLimit: (installation, left) => seen.limits?.push([installation, left]),
  });
}

const refused: Fault = { answer: { status: 401, body: '{"message":"Bad credentials"}', headers: { 'content-type': 'application/json' } } };

test('a token that expires during a command is replaced once, and each request has its effect once', async () => {
  const seen = { tokens: [] as string[] };
  const installation = clients(seen);
  const access = await installation(INSTALLATION);
  assert.equal(access.token, 'ghs_token1');
  // The answer to the command is written with the expired token.
  pull.server.settings.fault = ({ method, path }) => {
    const isFirst = method === 'POST' && path.endsWith('/comments') && tokens.length === 1;
    return isFirst ? refused : undefined;
  };
  const services = { ...pull.services(), octokit: access.octokit };
  assert.equal(await answerComment(pull.addComment('/selvage help'), services), 'answered');
  assert.deepEqual(seen.tokens, ['ghs_token1', 'ghs_token2']);
  assert.equal(access.token, 'ghs_token2');
  assert.equal(pull.answers().length, 1);
  assert.deepEqual(pull.reactions.length, 1);
  // The new token is used by later clients, and no other one is made.
  assert.equal((await installation(INSTALLATION)).token, 'ghs_token2');
  // A client that still has the old token takes the new one.
  assert.equal(tokens.length, 2);
});

test('two clients with one expired token: the second one takes the token of the first', async () => {
  const installation = clients();
  const [one, other] = [await installation(INSTALLATION), await installation(INSTALLATION)];
  tokens.push('revoked elsewhere');
  const get = ({ octokit }: typeof one) => octokit.rest.pulls.get({ owner: 'octo', repo: 'kernels', pull_number: 7 });
  await get(one);
  assert.deepEqual([one.token, tokens.length], ['ghs_token3', 3]);
  await get(other);
  assert.deepEqual([other.token, tokens.length], ['ghs_token3', 3]);
});

test('a token that GitHub keeps refusing ends the request', async () => {
  const { octokit } = await clients()(INSTALLATION);
  let requests = 0;
  pull.server.settings.fault = ({ path }) => (path.startsWith('/repos/') ? (requests++, refused) : undefined);
  await assert.rejects(octokit.rest.pulls.get({ owner: 'octo', repo: 'kernels', pull_number: 7 }), /Bad credentials/);
  assert.deepEqual([requests, tokens.length], [2, 2]);
});

test('the number of requests that the rate limit leaves is reported by installation', async () => {
  const limits: [number, number][] = [];
  const { octokit } = await clients({ limits })(INSTALLATION);
  pull.server.settings.requestsLeft = 4999;
  for (let request = 0; request < 2; request += 1) await octokit.rest.pulls.get({ owner: 'octo', repo: 'kernels', pull_number: 7 });
  assert.deepEqual(limits, [
    [INSTALLATION, 4999],
    [INSTALLATION, 4998],
  ]);
});

test('a request that GitHub does not answer ends at its time limit', { timeout: 10_000 }, async () => {
  const silent = createServer();
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const octokit = createClient({
    token: 'token',
    apiUrl: `http://127.0.0.1:${(silent.address() as AddressInfo).port}`,
    userAgent: 'selvage-test',
    writeInterval: 0,
    retryBudget: 0,
    requestTimeout: 100,
    sleep: () => Promise.resolve(),
    now: () => 0,
  });
  await assert.rejects(octokit.rest.meta.get(), /timeout/);
  silent.close();
});
