/** Inputs of a run on GitHub Actions: a client of the API, and the event. */
import { messageOf } from '../../base/text.ts';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import * as core from '@actions/core';
import type { Octokit } from '@octokit/rest';
import { UsageError } from '../../base/usage-error.ts';
import { toolVersion } from '../../system/version.ts';
import { createClient } from '../api/client.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const writeInterval = 1000;
const retryBudget = 180_000;
const requestTimeout = 30_000;

/** Creates the API client for the server on which the run takes place. */
export function clientFor(token: string, environment: Environment): Octokit {
  // A GitHub Enterprise Server without rate limits needs no pause.
  const interval = Number(environment['SELVAGE_WRITE_INTERVAL'] ?? writeInterval);
  return createClient({
    token,
    apiUrl: environment['GITHUB_API_URL'] ?? 'https://api.github.com',
    userAgent: `selvage/${toolVersion}`,
    writeInterval: Number.isFinite(interval) && interval >= 0 ? interval : writeInterval,
    retryBudget,
    requestTimeout,
    sleep,
    now: Date.now,
    // If the user reruns a job with debug logging, requests and responses are logged.
    trace: core.isDebug() ? core.debug : undefined,
  });
}

/** @throws UsageError if the file of the event cannot be read */
export function eventPayload(environment: Environment): unknown {
  const file = environment['GITHUB_EVENT_PATH'];
  if (file === undefined || file === '') return undefined;
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw new UsageError(`Selvage cannot read the event file: ${messageOf(error)}`);
  }
}
