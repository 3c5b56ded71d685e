/** `selvage serve`: runs the server of a GitHub App. */
import { messageOf } from '../base/text.ts';
import { join } from 'node:path';
import { UsageError } from '../base/usage-error.ts';
import { exitCodes } from '../report-model/exit-code.ts';
import { appClients } from '../github/api/app-client.ts';
import { guardGroups } from '../system/child-process.ts';
import { knownApp } from './app-identity.ts';
import { registerApp } from './app-registration.ts';
import { confinement, type Confinement } from './confined-analysis.ts';
import { prepareDataFolder, removeLeftovers, removeOld, spaceProblem } from './data-folder.ts';
import { deliveryHandler } from './delivery-handler.ts';
import { openQueue, type DeliveryQueue } from './delivery-queue.ts';
import { jsonLog, knownSecrets, type ServerLog } from './server-log.ts';
import { serverMetrics } from './server-metrics.ts';
import { readServerSettings, type ServerSettings } from './server-settings.ts';
import { startWebhooks } from './webhook-server.ts';

interface ServeOutput {
  /** Receives lines for the owner who starts the server. */
  readonly print: (line: string) => void;
  /** Receives the lines of the log. */
  readonly log: (line: string) => void;
}

/** Milliseconds between two removals of old files. */
const removalInterval = 3_600_000;
/** Milliseconds that a delivery may take in addition to its analysis. */
const beyondAnalysis = 60_000;

/**
 * Serves webhooks until the signal. Requests and analyses that do not react to it may still be active afterwards: the
 * caller ends the process.
 * @returns the exit code
 */
export async function serve(
  environment: Readonly<Record<string, string | undefined>>,
  signal: AbortSignal,
  { print, log: write }: ServeOutput,
): Promise<number> {
  const secrets = knownSecrets();
  const log = jsonLog(write, secrets);
  try {
    const settings = readServerSettings(environment);
    const { folder, apiUrl, serverUrl, host, searchPath, milliseconds, mebibytes, cacheBytes, writeInterval } = settings;
    guardGroups();
    prepareDataFolder(folder);
    const queue = queueIn(folder);
    clean(folder, log);
    const confined = await checkedConfinement(settings, log);
    let app = settings.app ?? knownApp(folder);
    let { port } = settings;
    if (!app) {
      const made = await registerApp({ ...settings, log, print, signal });
      if (!made) return exitCodes.success;
      ({ app, port } = made);
    }
    for (const secret of [app.privateKey, app.secret]) secrets.add(secret);
    const metrics = serverMetrics(Math.floor(Date.now() / 1000 - process.uptime()));
    const longestRun = milliseconds + beyondAnalysis;
    const handle = deliveryHandler({
      installation: appClients({
        ...app,
        apiUrl,
        writeInterval,
        onToken: secrets.add,
        onRateLimit: metrics.rateLimit,
      }),
      folder,
      serverUrl,
      searchPath,
      milliseconds,
      mebibytes,
      spaceProblem: () => spaceProblem(folder),
      log,
    });
    const server = await startWebhooks({
      port,
      host,
      secret: app.secret,
      queue,
      handle,
      most: settings.jobs,
      patience: longestRun,
      spaceProblem: () => spaceProblem(folder),
      confinement: confined.kind,
      metrics,
      log,
    });
    const removal = setInterval(
      () => void removeOld(folder, { cacheBytes, longestRun }, Date.now()).catch(() => undefined),
      removalInterval,
    );
    void removeOld(folder, { cacheBytes, longestRun }, Date.now()).catch(() => undefined);
    log('info', `listening on port ${server.port}; webhooks go to /webhook, health is at /healthz, metrics at /metrics`);
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener('abort', () => done(), { once: true });
    });
    log('info', 'stopping: running deliveries have 7 s to end; the others are handled after the next start');
    clearInterval(removal);
    await server.stop();
    log('info', 'stopped');
    return exitCodes.success;
  } catch (error) {
    if (error instanceof UsageError) {
      log('error', error.message);
      return exitCodes.usage;
    }
    log('error', `internal error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return exitCodes.defect;
  }
}

/** Removes what an earlier server left, and logs it. */
function clean(folder: string, log: ServerLog): void {
  const { removed, left } = removeLeftovers(folder);
  if (removed > 0) log('info', `removed ${removed} folders that an earlier server left`);
  if (left.length > 0) log('warning', `these folders of an earlier server cannot be removed: ${left.join(', ')}`);
}

/** @throws UsageError if the confinement is required and incomplete */
async function checkedConfinement({ searchPath, requiresConfinement }: ServerSettings, log: ServerLog): Promise<Confinement> {
  const confined = await confinement(searchPath);
  if (confined.kind === 'full') return confined;
  const missing =
    confined.kind === 'none'
      ? 'analyses can reach the network, and programs that they start may outlive them'
      : 'programs that analyses start may outlive them';
  const why = `\`unshare\` cannot make the namespaces that confine analyses on this system: ${missing}`;
  if (requiresConfinement)
    throw new UsageError(
      `SELVAGE_REQUIRE_CONFINEMENT: ${why}. Install util-linux and allow user namespaces, or run the server where they are allowed.`,
    );
  log('warning', why);
  return confined;
}

function queueIn(folder: string): DeliveryQueue {
  try {
    return openQueue(join(folder, 'deliveries.sqlite'));
  } catch (error) {
    const why = messageOf(error);
    if (/locked/.test(why))
      throw new UsageError(`SELVAGE_DATA: another server uses the folder ${folder}. Stop it, or give another folder.`);
    throw new UsageError(`The queue of deliveries cannot be opened (${why}). \`selvage serve\` needs Node 24, which has SQLite.`);
  }
}
