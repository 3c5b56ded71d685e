import type { Octokit } from '@octokit/rest';
import { createClient, type ClientOptions } from '../../src/github/api/client.ts';
import type { GitHubServer } from './server.ts';

/** A client of a test server that never waits unless `changes` specify it. */
export function testClient({ url }: GitHubServer, token: string, changes: Partial<ClientOptions> = {}): Octokit {
  return createClient({
    token,
    apiUrl: url,
    userAgent: 'selvage-test',
    writeInterval: 0,
    retryBudget: 0,
    requestTimeout: 10_000,
    sleep: () => Promise.resolve(),
    now: () => 0,
    ...changes,
  });
}
