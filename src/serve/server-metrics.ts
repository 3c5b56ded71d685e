/** Counters of the server in Prometheus' text exposition format, version 0.0.4. */
import type { DeliveryQueue } from './delivery-queue.ts';

export interface ServerMetrics {
  /** A delivery with a valid signature has arrived. */
  readonly received: (event: string) => void;
  /** A delivery that arrived before has arrived again. */
  readonly repeated: () => void;
  /** A request was rejected with an HTTP status. */
  readonly refused: (status: number) => void;
  /** An attempt at a delivery has ended. */
  readonly ended: (outcome: string, seconds: number) => void;
  /** Requests to GitHub that an installation has left in the current hour. */
  readonly rateLimit: (installation: number, left: number) => void;
  /** The page of `/metrics`. */
  readonly page: (counts: ReturnType<DeliveryQueue['counts']>, hasSpace: boolean) => string;
}

/** Events that have a separate label value; others are counted together, because a sender could invent names. */
const knownEvents: ReadonlySet<string> = new Set([
  'check_run',
  'check_suite',
  'installation',
  'installation_repositories',
  'installation_target',
  'issue_comment',
  'ping',
  'pull_request',
  'pull_request_review_comment',
]);

/** Upper bounds of the buckets of durations, in seconds. */
const bounds = [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1200, 3600];

type Labels = Readonly<Record<string, string | number>>;

/** Makes counters that are all zero. @param start of the process, in seconds since 1970 */
export function serverMetrics(start: number): ServerMetrics {
  const events = new Map<string, number>();
  const refusals = new Map<number, number>();
  const outcomes = new Map<string, number>();
  const limits = new Map<number, number>();
  const buckets = bounds.map(() => 0);
  let [repeated, failures, runs, seconds] = [0, 0, 0, 0];
  return {
    received: (event) => increment(events, knownEvents.has(event) ? event : 'other'),
    repeated: () => void (repeated += 1),
    refused: (status) => increment(refusals, status),
    ended(outcome, duration) {
      increment(outcomes, outcome);
      if (outcome === 'failed') failures += 1;
      runs += 1;
      seconds += duration;
      for (const [index, bound] of bounds.entries()) if (duration <= bound) buckets[index]! += 1;
    },
    rateLimit: (installation, left) => void limits.set(installation, left),
    page(counts, hasSpace) {
      const { family, text } = exposition();
      family('selvage_queue_length', 'gauge', 'Deliveries that wait to be handled.', [[{}, counts.waiting]]);
      family('selvage_running', 'gauge', 'Deliveries that are being handled.', [[{}, counts.running]]);
      family('selvage_deliveries', 'gauge', 'Stored deliveries, by state.', rows('state', Object.entries(counts)));
      family('selvage_deliveries_received_total', 'counter', 'Deliveries with a valid signature, by event.', rows('event', events));
      family('selvage_deliveries_repeated_total', 'counter', 'Deliveries that had arrived before.', [[{}, repeated]]);
      family('selvage_requests_refused_total', 'counter', 'Rejected webhook requests, by HTTP status.', rows('status', refusals));
      family('selvage_runs_total', 'counter', 'Attempts at deliveries that have ended, by outcome.', rows('outcome', outcomes));
      family('selvage_failures_total', 'counter', 'Attempts at deliveries that failed.', [[{}, failures]]);
      const histogram: [Labels, number, string][] = bounds.map((bound, at) => [{ le: bound }, buckets[at]!, '_bucket']);
      histogram.push([{ le: '+Inf' }, runs, '_bucket'], [{}, seconds, '_sum'], [{}, runs, '_count']);
      family('selvage_run_duration_seconds', 'histogram', 'Durations of attempts at deliveries.', histogram);
      family(
        'selvage_github_requests_left',
        'gauge',
        "Requests that GitHub's rate limit leaves, by installation.",
        rows('installation', limits),
      );
      family('selvage_disk_has_space', 'gauge', 'Whether the data folder has space for deliveries.', [[{}, Number(hasSpace)]]);
      family('process_resident_memory_bytes', 'gauge', 'Resident memory of the server.', [[{}, process.memoryUsage.rss()]]);
      family('process_start_time_seconds', 'gauge', 'Start of the server, in seconds since 1970.', [[{}, start]]);
      return text();
    },
  };
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function rows(label: string, values: Iterable<readonly [string | number, number]>): [Labels, number][] {
  return [...values].map(([name, value]) => [{ [label]: name }, value]);
}

/** A page that families of samples are added to. A sample is its labels, its value and the suffix of its name. */
function exposition() {
  const lines: string[] = [];
  const labelText = (labels: Labels): string => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(String(value))}"`);
    return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
  };
  const family = (
    name: string,
    type: 'counter' | 'gauge' | 'histogram',
    help: string,
    samples: readonly (readonly [Labels, number, string?])[],
  ): void => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value, suffix = ''] of samples) lines.push(`${name}${suffix}${labelText(labels)} ${value}`);
  };
  return { family, text: () => `${lines.join('\n')}\n` };
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
