/** The HTTP server of a GitHub App: queues webhooks, and reports its state. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as v from 'valibot';
import type { Delivery, DeliveryQueue } from './delivery-queue.ts';

export interface WebhookServer {
  readonly port: number;
  /** Accepts no more deliveries, waits for running ones, and closes. */
  readonly stop: () => Promise<void>;
}

interface WebhookOptions {
  readonly port: number;
  readonly host?: string;
  readonly secret: string;
  readonly queue: DeliveryQueue;
  /** Handles a delivery; one that rejects is retried. */
  readonly handle: (delivery: Delivery, signal: AbortSignal) => Promise<void>;
  /** Maximum number of concurrent deliveries, each of a different pull request. */
  readonly most: number;
  /** Time limit in milliseconds of a delivery, after which it counts as failed. */
  readonly patience: number;
  readonly log: (line: string) => void;
  readonly now?: () => number;
}

/** Maximum bytes of a request body: GitHub sends at most 25 MB. */
const maxBytes = 25 << 20;
/** The maximum delay of a timer of Node, in milliseconds. */
const maxWait = 2 ** 31 - 1;
const events = new Set(['issue_comment', 'pull_request_review_comment', 'pull_request', 'check_run']);

/** Whether a body is signed with the secret (`X-Hub-Signature-256`). */
export function isSigned(secret: string, body: Uint8Array, signature: string | undefined): boolean {
  if (secret === '' || signature === undefined) return false;
  const wanted = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

/** Starts the server. Deliveries that an earlier server has left are handled first. */
export async function startWebhooks(options: WebhookOptions): Promise<WebhookServer> {
  const { queue, secret, log, now = Date.now } = options;
  const running = new Set<Promise<void>>();
  const totals = { received: 0, known: 0, refused: 0, handled: 0, failed: 0 };
  let isStopping = false;
  let later: NodeJS.Timeout | undefined;

  const pump = (): void => {
    while (!isStopping && running.size < options.most) {
      const delivery = queue.take(now());
      if (!delivery) return wait();
      const work = handled(delivery);
      running.add(work);
      void work.finally(() => {
        running.delete(work);
        pump();
      });
    }
  };

  /** Polls the queue again at the time of the next retry. */
  const wait = (): void => {
    clearTimeout(later);
    const next = queue.nextAttempt();
    if (next !== undefined) later = setTimeout(pump, Math.max(1, Math.min(next - now(), maxWait)));
  };

  const handled = async (delivery: Delivery): Promise<void> => {
    try {
      await options.handle(delivery, AbortSignal.timeout(options.patience));
      queue.end(delivery.id, now());
      totals.handled += 1;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log(`delivery ${delivery.id} (${delivery.event}) failed: ${why}`);
      queue.end(delivery.id, now(), why);
      totals.failed += 1;
    }
  };

  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(request);
    const header = (name: string): string | undefined => [request.headers[name]].flat()[0];
    if (!body) return refuse(response, 413, 'the body is too large');
    if (!isSigned(secret, body, header('x-hub-signature-256'))) return refuse(response, 401, 'the signature is wrong');
    const [id, event] = [header('x-github-delivery') ?? '', header('x-github-event') ?? ''];
    if (!/^[\w-]{1,100}$/.test(id)) return refuse(response, 400, 'the delivery has no ID');
    const payload = body.toString('utf8');
    const about = pullOf(payload);
    if (about === undefined) return refuse(response, 400, 'the body is not a payload of a repository');
    totals.received += 1;
    if (isStopping) return refuse(response, 503, 'the server is stopping');
    if (!events.has(event)) return respond(response, 202, { status: 'not of interest' });
    const isNew = queue.add({ id, event, payload, ...about }, now());
    if (!isNew) totals.known += 1;
    // The delivery is stored on disk before the response: GitHub waits at most ten seconds for it.
    respond(response, 202, { status: isNew ? 'queued' : 'known' });
    pump();
  };

  const refuse = (response: ServerResponse, status: number, error: string): void => {
    totals.refused += 1;
    respond(response, status, { error });
  };

  const metrics = (): string => {
    const lines = Object.entries(queue.counts()).map(
      ([state, number]) => `selvage_deliveries{state="${state}"} ${number}`,
    );
    for (const [name, number] of Object.entries(totals)) lines.push(`selvage_deliveries_${name}_total ${number}`);
    lines.push(`process_resident_memory_bytes ${process.memoryUsage.rss()}`);
    return `${lines.join('\n')}\n`;
  };

  const server = createServer((request, response) => {
    const { method, url } = request;
    if (method === 'POST' && url === '/webhook') {
      receive(request, response).catch(() => response.destroy());
    } else if (method === 'GET' && url === '/healthz')
      respond(response, isStopping ? 503 : 200, { status: isStopping ? 'stopping' : 'ok' }); // oxfmt-ignore
    else if (method === 'GET' && url === '/metrics')
      response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(metrics()); // oxfmt-ignore
    else respond(response, 404, { error: 'there is nothing here' });
  });
  server.requestTimeout = 30_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host ?? '127.0.0.1', resolve);
  });
  pump();
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      isStopping = true;
      clearTimeout(later);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      await Promise.allSettled(running);
      server.closeIdleConnections();
      await closed;
      queue.close();
    },
  };
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

const aboutSchema = v.object({
  repository: v.object({ full_name: v.pipe(v.string(), v.regex(/^[\w.-]+\/[\w.-]+$/)) }),
  issue: v.optional(v.object({ number: v.number() })),
  pull_request: v.optional(v.object({ number: v.number() })),
  check_run: v.optional(v.object({ pull_requests: v.array(v.object({ number: v.number() })) })),
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
  const { repository, issue, pull_request: pull, check_run: run } = parsed.output;
  return { repository: repository.full_name, pull: (pull ?? issue ?? run?.pull_requests[0])?.number ?? 0 };
}
