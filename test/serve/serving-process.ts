/** A server of webhooks that a test kills: its answers go to a GitHub of the test. */
import { openQueue } from '../../src/serve/delivery-queue.ts';
import { deliveryHandler } from '../../src/serve/delivery-handler.ts';
import { serverMetrics } from '../../src/serve/server-metrics.ts';
import { startWebhooks } from '../../src/serve/webhook-server.ts';
import { createClient } from '../../src/github/api/client.ts';
import { SOURCE, twoRaces } from '../github/bot-fixture.ts';

const [, , file = '', apiUrl = '', secret = ''] = process.argv;
const octokit = createClient({
  token: 'secret-token',
  apiUrl,
  userAgent: 'selvage-test',
  writeInterval: 0,
  retryBudget: 0,
  requestTimeout: 10_000,
  sleep: () => Promise.resolve(),
  now: () => 0,
});
const server = await startWebhooks({
  port: 0,
  secret,
  queue: openQueue(file),
  most: 4,
  patience: 30_000,
  metrics: serverMetrics(0),
  log: () => undefined,
  handle: deliveryHandler({
    installation: async () => ({ octokit, token: 'secret-token' }),
    folder: '',
    serverUrl: '',
    searchPath: '',
    milliseconds: 1000,
    mebibytes: 100,
    log: () => undefined,
    analyse: async () => ({ report: twoRaces(), folder: '', source: () => SOURCE }),
  }),
});
process.send?.(server.port);
