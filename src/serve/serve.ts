/** `selvage serve`: runs the server of a GitHub App. */
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UsageError } from '../base/usage-error.ts';
import { exitCodes } from '../report-model/exit-code.ts';
import { appClients } from '../github/api/app-client.ts';
import { knownApp, registerApp, type AppIdentity } from './app-registration.ts';
import { deliveryHandler } from './delivery-handler.ts';
import { openQueue, type DeliveryQueue } from './delivery-queue.ts';
import { startWebhooks } from './webhook-server.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Time limit in minutes and memory limit in mebibytes of one analysis, number of concurrent analyses, and the port. */
const defaults = { minutes: 20, mebibytes: 3072, jobs: 2, port: 3000 } as const;

/**
 * Serves webhooks until the signal.
 * @returns the exit code
 */
export async function serve(
  environment: Environment,
  signal: AbortSignal,
  log: (line: string) => void,
): Promise<number> {
  try {
    const folder = resolve(environment['SELVAGE_DATA'] ?? 'selvage-data');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const queue = queueIn(folder);
    const serverUrl = environment['GITHUB_SERVER_URL'] ?? 'https://github.com';
    const apiUrl = environment['GITHUB_API_URL'] ?? 'https://api.github.com';
    const host = environment['HOST'] ?? '127.0.0.1';
    let port = number(environment, 'PORT', defaults.port);
    let app = statedApp(environment) ?? knownApp(folder);
    if (!app) {
      const { SELVAGE_URL: url, SELVAGE_ORGANIZATION: organisation } = environment;
      const made = await registerApp({ host, port, url: url?.replace(/\/+$/, ''), organisation, serverUrl, apiUrl, folder, log, signal }); // oxfmt-ignore
      if (!made) return exitCodes.success;
      ({ app, port } = made);
    }
    const handle = deliveryHandler({
      installation: appClients({
        appId: app.appId,
        privateKey: app.privateKey,
        apiUrl,
        // A GitHub Enterprise Server without rate limits needs no pause.
        writeInterval: number(environment, 'SELVAGE_WRITE_INTERVAL', 1000),
      }),
      folder,
      serverUrl,
      searchPath: environment['PATH'] ?? '',
      milliseconds: number(environment, 'SELVAGE_MINUTES', defaults.minutes) * 60_000,
      mebibytes: number(environment, 'SELVAGE_MEBIBYTES', defaults.mebibytes),
      log,
    });
    const server = await startWebhooks({
      port,
      host,
      secret: app.secret,
      queue,
      handle,
      most: number(environment, 'SELVAGE_JOBS', defaults.jobs),
      patience: number(environment, 'SELVAGE_MINUTES', defaults.minutes) * 60_000 + 60_000,
      log,
    });
    log(`listening on port ${server.port}; webhooks go to /webhook, health is at /healthz, metrics at /metrics`);
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), { once: true });
    });
    log('stopping: deliveries that are being handled come to their end, others wait for the next start');
    await server.stop();
    return exitCodes.success;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    log(error.message);
    return exitCodes.usage;
  }
}

/** The App whose identity the environment specifies. */
function statedApp(environment: Environment): AppIdentity | undefined {
  if ((environment['SELVAGE_APP_ID'] ?? '') === '') return undefined;
  return {
    appId: needed(environment, 'SELVAGE_APP_ID'),
    privateKey: privateKeyOf(environment),
    secret: needed(environment, 'SELVAGE_WEBHOOK_SECRET'),
  };
}

function queueIn(folder: string): DeliveryQueue {
  try {
    return openQueue(join(folder, 'deliveries.sqlite'));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new UsageError(`The queue of deliveries cannot be opened (${why}). \`selvage serve\` needs Node 24, which has SQLite.`); // oxfmt-ignore
  }
}

function needed(environment: Environment, name: string): string {
  const value = environment[name];
  if (value === undefined || value === '') throw new UsageError(`Set ${name}; the settings page of the App has it.`);
  return value;
}

function privateKeyOf(environment: Environment): string {
  const file = environment['SELVAGE_PRIVATE_KEY_FILE'];
  if (file === undefined) return needed(environment, 'SELVAGE_PRIVATE_KEY').replaceAll('\\n', '\n');
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`SELVAGE_PRIVATE_KEY_FILE: ${file} cannot be read.`);
  }
}

function number(environment: Environment, name: string, usual: number): number {
  const text = environment[name];
  if (text === undefined || text === '') return usual;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0)
    throw new UsageError(`${name}: ${JSON.stringify(text)} is not a non-negative integer.`);
  return value;
}
