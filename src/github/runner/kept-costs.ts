/** The history of costs in GitHub's cache. Runs of the default branch add to it, all others only read it. */
import { messageOf } from '../../base/text.ts';
import { hashText } from '../../base/hash.ts';
import type { MeasuredCost } from '../../app/pipeline/cost/cost-series.ts';
import {
  addCosts,
  costsBefore,
  historyVersion,
  maxHistoryBytes,
  parseHistory,
  printHistory,
  type CostHistory,
  type EarlierCosts,
} from '../plan/cost-history.ts';
import { restoreBytes, saveBytes, type CacheService } from './cache-service.ts';

interface KeptCosts {
  readonly earlier: EarlierCosts;
  /** Adds the costs of this run. If two runs save at once, the later one replaces the other. */
  readonly add: (costs: readonly MeasuredCost[], commits: { readonly head: string; readonly base?: string }) => Promise<void>;
}

interface HistoryRequest {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly service: CacheService | undefined;
  /** The name of the job: each has a separate history. */
  readonly name: string;
  readonly log: (line: string) => void;
}

/** Restores the costs of earlier runs of the default branch. A failure does not fail the run. */
export async function keepCosts({ environment, service, name, log }: HistoryRequest): Promise<KeptCosts> {
  if (!service) return { earlier: new Map(), add: async () => undefined };
  const { GITHUB_RUN_ID: id = '0', GITHUB_RUN_ATTEMPT: attempt = '1', GITHUB_JOB: job = '' } = environment;
  const run = /^\d{1,15}$/.test(id) ? Number(id) : 0;
  // Does not depend on the version of Selvage, so that the history survives an update.
  const prefix = `selvage-costs-${historyVersion}-${hashText(name)}-`;
  let known: CostHistory | null = new Map();
  try {
    const bytes = await restoreBytes(service, prefix, maxHistoryBytes);
    const read = bytes && parseHistory(bytes);
    if (bytes && !read) log('The history of costs is damaged, and begins again.');
    known = read ?? known;
  } catch (error) {
    log(`The history of costs cannot be restored: ${messageOf(error)}`);
    known = null;
  }
  return {
    earlier: costsBefore(known ?? new Map(), run),
    async add(costs, commits) {
      // A history that could not be read must not be replaced by one with only this run.
      if (!known) return;
      const text = printHistory(addCosts(known, costs, { run, ...commits }));
      if (text === printHistory(known)) return;
      try {
        const isSaved = await saveBytes(service, `${prefix}${run}-${attempt}-${job.slice(0, 100)}`, Buffer.from(text));
        if (isSaved) log(`The costs of this commit were added to their history (${text.length} bytes).`);
      } catch (error) {
        log(`The history of costs cannot be saved: ${messageOf(error)}`);
      }
    },
  };
}
