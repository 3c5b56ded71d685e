/** What a delivery of a webhook makes Selvage do. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { changedFiles, git, withoutFilters } from '../app/project/git.ts';
import { answerButton, answerComment, type Analysed, type BotServices, type PullState } from '../github/bot/bot.ts';
import { commentEvents, commentOf } from '../github/bot/event.ts';
import { ensureCommit, findMergeBase, type Clone } from '../github/api/commits.ts';
import { pullRequestFiles } from '../github/api/changed-files.ts';
import { parseEvent } from '../github/event.ts';
import { planReview } from '../github/plan/plan.ts';
import { publish } from '../github/publish/publish.ts';
import type { FileDiff } from '../source/diff.ts';
import type { Installation } from '../github/api/app-client.ts';
import { analyseConfined, type AnalysisAnswer } from './confined-analysis.ts';
import type { Delivery } from './delivery-queue.ts';

interface HandlerOptions {
  /** The client of an installation of the App. */
  readonly installation: (id: number) => Promise<Installation>;
  /** For clones and results. */
  readonly folder: string;
  /** `https://github.com`, or that of an Enterprise Server. */
  readonly serverUrl: string;
  readonly searchPath: string;
  /** Of one analysis. */
  readonly milliseconds: number;
  readonly mebibytes: number;
  readonly log: (line: string) => void;
  /** In place of the analysis, for tests. */
  readonly analyse?: BotServices['analyse'];
}

const installed = v.object({ installation: v.object({ id: v.number() }) });
const pressed = v.object({
  action: v.literal('requested_action'),
  requested_action: v.object({ identifier: v.picklist(['fix', 'explain', 'ignore']) }),
  repository: v.object({ name: v.string(), owner: v.object({ login: v.string() }) }),
  sender: v.object({ login: v.string(), id: v.number(), type: v.string() }),
  check_run: v.object({ head_sha: v.string(), pull_requests: v.array(v.object({ number: v.number() })) }),
});

interface Analysis extends Analysed {
  readonly answer: AnalysisAnswer;
  readonly base: string;
  readonly diff: readonly FileDiff[];
}

/** Handles deliveries: commands, buttons of check runs, and pull requests that are new or have new commits. */
export function deliveryHandler(options: HandlerOptions): (delivery: Delivery, signal: AbortSignal) => Promise<void> {
  return async ({ id, event, payload }, signal) => {
    const value: unknown = JSON.parse(payload);
    const app = v.safeParse(installed, value);
    if (!app.success) return options.log(`delivery ${id}: it is of no installation of the App`);
    const access = await options.installation(app.output.installation.id);
    const { octokit } = access;
    const services: BotServices = {
      octokit,
      analyse: options.analyse ?? ((pull) => analysed(pull, access, options, signal)),
      review: (pull) => reviewed(pull, access, options, signal),
    };
    if (commentEvents.has(event)) {
      const comment = commentOf(event, value);
      if (comment) options.log(`delivery ${id}: ${await answerComment(comment, services)}`);
      return;
    }
    if (event === 'check_run') {
      const press = v.safeParse(pressed, value);
      if (!press.success) return;
      const { repository, sender, check_run: run, requested_action: action } = press.output;
      const author = { login: sender.login, id: sender.id, isBot: sender.type !== 'User' };
      for (const { number: pullNumber } of run.pull_requests) {
        const target = { owner: repository.owner.login, repo: repository.name, pullNumber };
        const button = { target, author, delivery: id, headSha: run.head_sha, action: action.identifier };
        options.log(`delivery ${id}: ${await answerButton(button, services)}`);
      }
      return;
    }
    const pull = parseEvent(event, value, false);
    const { action } = value as { readonly action?: unknown };
    const isReviewed = ['opened', 'synchronize', 'reopened', 'ready_for_review'].includes(String(action));
    if (pull.kind !== 'pull-request' || !isReviewed) return;
    const { owner, repo, number: pullNumber, headSha, baseSha, draft: isDraft, fork: isFork } = pull;
    const target = { owner, repo, pullNumber };
    await services.review({ target, headSha, baseSha, isDraft, isFork, isOpen: true, branch: '' });
  };
}

/** Fetches the commits of a pull request, and analyses them in a process of its own. */
async function analysed(
  pull: PullState,
  { octokit, token }: Installation,
  { folder, serverUrl, searchPath, milliseconds, mebibytes }: HandlerOptions,
  signal: AbortSignal,
): Promise<Analysis> {
  const { target, headSha: head, isFork: fork } = pull;
  const { owner, repo, pullNumber } = target;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, 'work-'));
  try {
    const root = join(work, 'clone');
    mkdirSync(root);
    const environment = { PATH: searchPath, HOME: work };
    const clone: Clone = { root, environment, serverUrl, token };
    await git(clone, ['init', '-q']);
    await git(clone, ['remote', 'add', 'origin', `${serverUrl}/${owner}/${repo}.git`]);
    const base = await findMergeBase(octokit, clone, { ...target, ...pull });
    await ensureCommit(clone, base);
    await ensureCommit(clone, head);
    await git(clone, ['checkout', '-q', '--detach', head], await withoutFilters(clone));
    const { files: diff } = await pullRequestFiles(octokit, target, () => changedFiles(clone, base, head));
    // What a fork brings keeps its results to itself.
    const place = createHash('sha256')
      .update(`${owner}/${repo}${fork ? `#${pullNumber}` : ''}`)
      .digest('hex');
    const results = join(folder, 'results', place.slice(0, 32));
    mkdirSync(results, { recursive: true });
    const confinement = { temporary: join(work, 'analysis'), results, searchPath, milliseconds, mebibytes, signal };
    const answer = await analyseConfined({ root, base, head, diff, fork }, confinement);
    const sources = new Map(Object.entries(answer.sources));
    return { report: answer.report, folder: '', source: (file) => sources.get(file), answer, base, diff };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function reviewed(
  pull: PullState,
  access: Installation,
  options: HandlerOptions,
  signal: AbortSignal,
): Promise<void> {
  const { target, headSha } = pull;
  const { report, source, answer, base, diff } = await analysed(pull, access, options, signal);
  const plan = planReview({
    report,
    diff,
    headSha,
    baseSha: base,
    repository: { serverUrl: options.serverUrl, fullName: `${target.owner}/${target.repo}` },
    trust: answer.trust,
    source,
    options: { review: !pull.isDraft },
  });
  const result = await publish(access.octokit, target, plan, { comment: true, checkRun: true, buttons: true });
  for (const { channel, message } of result.problems) options.log(`${channel}: ${message}`);
}
