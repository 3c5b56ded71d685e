/** The HTTP server of a GitHub App: queues webhooks, and reports its state. */
import { messageOf } from '../base/text.ts';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import * as v from 'valibot';
import type { Delivery, DeliveryQueue } from './delivery-queue.ts';
import { listenOn } from './listening.ts';
import type { LogContext, ServerLog } from './server-log.ts';
import type { ServerMetrics } from './server-metrics.ts';

export interface WebhookServer {
  readonly port: number;
  /**
   * Accepts no more deliveries, gives running ones a short time, and closes all connections. A delivery that does not
   * end in this time is aborted, and handled after the next start.
   */
  readonly stop: () => Promise<void>;
}

interface WebhookOptions {
  readonly port: number;
  readonly host?: string;
  readonly secret: string;
  readonly queue: DeliveryQueue;
  /** Handles a delivery, and returns the outcome in a word; one that rejects is retried. */
  readonly handle: (delivery: Delivery, signal: AbortSignal) => Promise<string>;
  /** Maximum number of concurrent deliveries, each of a different pull request. */
  readonly most: number;
  /** Time limit in milliseconds of a delivery, after which it counts as failed. */
  readonly patience: number;
  readonly log: ServerLog;
  readonly metrics: ServerMetrics;
  /** Why no delivery can be handled now; undefined if that is possible. */
  readonly spaceProblem?: () => string | undefined;
  /** How analyses are confined, for `/healthz`. */
  readonly confinement?: string;
  /** Milliseconds that running deliveries have after a stop. */
  readonly grace?: number;
  /** Milliseconds until a full disk is tried again. */
  readonly diskPause?: number;
  readonly now?: () => number;
}

/** Maximum bytes of a request body: GitHub sends at most 25 MB. */
const maxBytes = 25 << 20;
/** The maximum delay of a timer of Node, in milliseconds. */
const maxWait = 2 ** 31 - 1;
/** Milliseconds that running deliveries have after a stop, and aborted ones after that: together less than 10 s. */
const usualGrace = 7000;
const abortTime = 1000;
/** Milliseconds until a full disk, or a queue that cannot be written, is tried again. */
const usualDiskPause = 5000;
/** Events that are stored and handled. */
const handledEvents = new Set(['issue_comment', 'pull_request_review_comment', 'pull_request', 'check_run', 'check_suite']);

/** Whether a body is signed with the secret (`X-Hub-Signature-256`). */
export function isSigned(secret: string, body: Uint8Array, signature: string | undefined): boolean {
  if (secret === '' || signature === undefined) return false;
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

/** Starts the server. Deliveries that an earlier server has left are handled first. */
export async function startWebhooks(options: WebhookOptions): Promise<WebhookServer> {
  const { queue, secret, log, metrics, diskPause = usualDiskPause, now = Date.now } = options;
  const running = new Map<string, Promise<void>>();
  /** By delivery that has ended, what stores this: the disk may be full. */
  const unstored = new Map<string, () => void>();
  const stopping = new AbortController();
  let isStopping = false;
  let isClosed = false;
  let problem: string | undefined;
  let later: NodeJS.Timeout | undefined;

  const pump = (): void => {
    clearTimeout(later);
    if (isStopping || !storeEnds()) return;
    try {
      noteProblem(options.spaceProblem?.());
      if (problem !== undefined) return pumpAt(now() + diskPause);
      while (running.size < options.most) {
        const delivery = queue.take(now());
        if (!delivery) return pumpAt(queue.nextAttempt());
        running.set(delivery.id, attempt(delivery));
      }
    } catch (error) {
      pumpLater(error);
    }
  };

  const pumpAt = (time: number | undefined): void => {
    clearTimeout(later);
    if (time !== undefined && !isStopping) later = setTimeout(pump, Math.max(0, Math.min(time - now(), maxWait)));
  };

  const pumpLater = (error: unknown): void => {
    noteProblem(`the queue cannot be written: ${messageOf(error)}`);
    pumpAt(now() + diskPause);
  };

  const noteProblem = (found: string | undefined): void => {
    if (found !== undefined && problem === undefined) log('error', `no delivery is handled until the data folder can be written: ${found}`);
    if (found === undefined && problem !== undefined) log('info', 'the data folder can be written again');
    problem = found;
  };

  /** Stores which deliveries have ended. @returns false if that is to be repeated later */
  const storeEnds = (): boolean => {
    try {
      for (const [id, store] of unstored) {
        store();
        unstored.delete(id);
      }
      return true;
    } catch (error) {
      pumpLater(error);
      return false;
    }
  };

  /** Handles a delivery, and stores that it has ended. Never rejects. */
  const attempt = async (delivery: Delivery): Promise<void> => {
    const { id, event, repository, pull } = delivery;
    const start = now();
    const ended = (outcome: string): LogContext => {
      const duration = (now() - start) / 1000;
      metrics.ended(outcome, duration);
      return { delivery: id, event, repository, ...(pull > 0 && { pullRequest: pull }), outcome, duration };
    };
    let store = (): void => queue.end(id, now());
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(options.patience), stopping.signal]);
      const outcome = await options.handle(delivery, signal);
      if (!isClosed) log('info', 'delivery handled', ended(outcome));
    } catch (error) {
      if (!isClosed) store = failed(id, messageOf(error), ended);
    }
    if (isClosed) return;
    unstored.set(id, store);
    running.delete(id);
    if (storeEnds()) pumpAt(now());
  };

  /** Logs a failure. @returns what stores it */
  const failed = (id: string, why: string, ended: (outcome: string) => LogContext): (() => void) => {
    if (stopping.signal.aborted) {
      log('warning', 'delivery interrupted by the stop; it is handled after the next start', ended('interrupted'));
      return () => queue.release(id, 0);
    }
    const space = options.spaceProblem?.();
    if (space !== undefined) {
      // The delivery is not the cause: its files are removed by now. So the attempt does not count.
      log('error', `delivery postponed, ${space}: ${why}`, ended('postponed'));
      return () => queue.release(id, now() + diskPause);
    }
    log('error', `delivery failed: ${why}`, ended('failed'));
    return () => queue.end(id, now(), why);
  };

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const header = (name: string): string | undefined => [request.headers[name]].flat()[0];
    if (!body) return refuse(response, 413, 'the body is too large');
    if (!isSigned(secret, body, header('x-hub-signature-256'))) return refuse(response, 401, 'the signature is wrong');
    const [id, event] = [header('x-github-delivery') ?? '', header('x-github-event') ?? ''];
    if (!/^[\w-]{1,100}$/.test(id)) return refuse(response, 400, 'the delivery has no ID');
    metrics.received(event);
    if (!handledEvents.has(event)) {
      // GitHub's page of deliveries shows these answers to the owner of the App.
      const isOfApp = event === 'ping' || event.startsWith('installation');
      if (isOfApp) log('info', `GitHub reaches this server: ${event}`, { delivery: id, event });
      return respond(response, isOfApp ? 200 : 202, { status: isOfApp ? 'ok' : 'not of interest' });
    }
    const payload = body.toString('utf8');
    const about = pullOf(payload);
    if (about === undefined) return refuse(response, 400, 'the body is not a payload of a repository');
    if (isStopping) return refuse(response, 503, 'the server is stopping');
    let isNew: boolean;
    try {
      isNew = queue.add({ id, event, payload, ...about }, now());
    } catch (error) {
      log('error', `delivery not stored: ${messageOf(error)}`, { delivery: id, event, repository: about.repository });
      pumpLater(error);
      return refuse(response, 503, 'the delivery cannot be stored');
    }
    if (!isNew) metrics.repeated();
    // The delivery is stored on disk before the response: GitHub waits at most ten seconds for it.
    respond(response, 202, { status: isNew ? 'queued' : 'known' });
    pump();
  };

  const refuse = (response: ServerResponse, status: number, error: string): void => {
    metrics.refused(status);
    respond(response, status, { error });
  };

  const health = (response: ServerResponse): void => {
    const status = isStopping ? 'stopping' : problem === undefined ? 'ok' : 'no space';
    const { confinement } = options;
    respond(response, status === 'ok' ? 200 : 503, { status, ...(problem !== undefined && { problem }), confinement });
  };

  const server = createServer((request, response) => {
    const { method, url } = request;
    if (method === 'POST' && url === '/webhook') {
      receive(request, response).catch(() => response.destroy());
    } else if (method === 'GET' && url === '/healthz') health(response);
    else if (method === 'GET' && url === '/metrics')
      response
        .writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' })
        .end(metrics.page(queue.counts(), problem === undefined));
    else respond(response, 404, { error: 'there is nothing here' });
  });
  server.requestTimeout = 30_000;
  const port = await listenOn(server, options.host ?? '127.0.0.1', options.port);
  pump();
  return {
    port,
    async stop() {
      isStopping = true;
      clearTimeout(later);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const work = Promise.all(running.values());
      await inTime(work, options.grace ?? usualGrace);
      stopping.abort(new Error('the server is stopping'));
      // A request that is not complete by now would delay the stop as long as its sender likes.
      server.closeAllConnections();
      await inTime(work, abortTime);
      await closed;
      isClosed = true;
      for (const id of running.keys()) giveBack(id);
      queue.close();
    },
  };

  /** Queues a delivery again whose handler did not react to the stop. */
  function giveBack(id: string): void {
    try {
      queue.release(id, 0);
    } catch {
      // The next start does that.
    }
  }
}

/** Waits for work, at most for a time in milliseconds. */
async function inTime(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const timer = new AbortController();
  await Promise.race([work, sleep(milliseconds, undefined, { signal: timer.signal }).catch(() => undefined)]);
  timer.abort();
}

function respond(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** The body of a request; undefined if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length;
    if (size > maxBytes) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

const pulls = v.optional(v.object({ pull_requests: v.array(v.object({ number: v.number() })) }));
const aboutSchema = v.object({
  repository: v.object({ full_name: v.pipe(v.string(), v.regex(/^[\w.-]+\/[\w.-]+$/)) }),
  issue: v.optional(v.object({ number: v.number() })),
  pull_request: v.optional(v.object({ number: v.number() })),
  check_run: pulls,
  check_suite: pulls,
});

/** Repository and pull request of a payload; undefined without a repository. */
function pullOf(payload: string): Pick<Delivery, 'repository' | 'pull'> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(payload);
  } catch {
    return undefined;
  }
  const parsed = v.safeParse(aboutSchema, value);
  if (!parsed.success) return undefined;
  const { repository, issue, pull_request: pull, check_run: run, check_suite: suite } = parsed.output;
  const [ofCheck] = [...(run?.pull_requests ?? []), ...(suite?.pull_requests ?? [])];
  return { repository: repository.full_name, pull: (pull ?? issue ?? ofCheck)?.number ?? 0 };
}
