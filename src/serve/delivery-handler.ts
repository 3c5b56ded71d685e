/** Handles a delivery of a webhook. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { changedFiles, git, withoutFilters } from '../app/project/git.ts';
import { exitCodes } from '../report-model/exit-code.ts';
import { answerButton, answerComment, pullState, type Analysed, type BotServices, type PullState } from '../github/bot/bot.ts'; // oxfmt-ignore
import { commentEvents, commentOf } from '../github/bot/event.ts';
import { ensureCommit, findMergeBase, type Clone } from '../github/api/commits.ts';
import { pullRequestFiles } from '../github/api/changed-files.ts';
import { organisationDefaults } from '../github/api/organisation-defaults.ts';
import { parseEvent } from '../github/event.ts';
import { planEarlyEnd, type EarlyEnd } from '../github/plan/incomplete-run.ts';
import { planReview } from '../github/plan/plan.ts';
import { describeProblem, publish, type PublishResult } from '../github/publish/publish.ts';
import type { FileDiff } from '../source/diff.ts';
import type { Installation } from '../github/api/app-client.ts';
import { analyseConfined, AnalysisEnded, type AnalysisResult } from './confined-analysis.ts';
import { maxAttempts, type Delivery } from './delivery-queue.ts';

interface HandlerOptions {
  /** Returns the client of an installation of the App. */
  readonly installation: (id: number) => Promise<Installation>;
  /** Folder for clones and results. */
  readonly folder: string;
  /** Address of the server: `https://github.com`, or that of an Enterprise Server. */
  readonly serverUrl: string;
  readonly searchPath: string;
  /** Time limit of one analysis in milliseconds. */
  readonly milliseconds: number;
  readonly mebibytes: number;
  readonly log: (line: string) => void;
  /** Analysis that tests use instead of the real one. */
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
  readonly result: AnalysisResult;
  readonly base: string;
  readonly diff: readonly FileDiff[];
}

/** Handles deliveries: commands, buttons of check runs, and pull requests that are new or have new commits. */
export function deliveryHandler(options: HandlerOptions): (delivery: Delivery, signal: AbortSignal) => Promise<void> {
  return async ({ id, event, payload, attempts }, signal) => {
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
      const place = { owner: repository.owner.login, repo: repository.name };
      for (const pullNumber of await pullsOf(octokit, place, run)) {
        const target = { ...place, pullNumber };
        const button = { target, author, delivery: id, headSha: run.head_sha, action: action.identifier };
        options.log(`delivery ${id}: ${await answerButton(button, services)}`);
      }
      return;
    }
    const pull = parseEvent(event, value, false);
    const { action } = value as { readonly action?: unknown };
    const isReviewed = ['opened', 'synchronize', 'reopened', 'ready_for_review'].includes(String(action));
    if (pull.kind !== 'pull-request' || !isReviewed) return;
    const { owner, repo, number: pullNumber, headSha } = pull;
    const now = await pullState(octokit, { owner, repo, pullNumber });
    // An outdated delivery is ignored, because each push has a separate delivery.
    if (!now.isOpen || now.headSha !== headSha) return options.log(`delivery ${id}: the pull request has moved on`);
    try {
      await reviewed(now, access, options, signal);
      options.log(`delivery ${id}: reviewed`);
    } catch (error) {
      // After the last failed attempt, the pull request is informed.
      if (attempts + 1 >= maxAttempts)
        await ended({ exitCode: exitCodes.defect, kind: 'defect', message: '' }, now, access, options);
      throw error;
    }
  };
}

/** The pull requests of a check run. The payload does not list pull requests from forks. */
async function pullsOf(
  octokit: Installation['octokit'],
  { owner, repo }: { readonly owner: string; readonly repo: string },
  run: v.InferOutput<typeof pressed>['check_run'],
): Promise<readonly number[]> {
  if (run.pull_requests.length > 0) return run.pull_requests.map(({ number }) => number);
  const asked = { owner, repo, commit_sha: run.head_sha, per_page: 100 };
  const { data } = await octokit.rest.repos.listPullRequestsAssociatedWithCommit(asked);
  return data.filter(({ state, head }) => state === 'open' && head.sha === run.head_sha).map(({ number }) => number);
}

/** Fetches the commits of a pull request, and analyses them in a separate process. */
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
    const defaults = await organisationDefaults(octokit, owner);
    // Each fork has a separate folder of results: a fork must not affect the results of others.
    const place = createHash('sha256')
      .update(`${owner}/${repo}${fork ? `#${pullNumber}` : ''}`)
      .digest('hex');
    const results = join(folder, 'results', place.slice(0, 32));
    mkdirSync(results, { recursive: true });
    const confinement = { temporary: join(work, 'analysis'), results, searchPath, milliseconds, mebibytes, signal };
    const result = await analyseConfined({ root, base, head, diff, fork, defaults }, confinement);
    const sources = new Map(Object.entries(result.sources));
    return { report: result.report, folder: '', source: (file) => sources.get(file), result, base, diff };
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
  let analysis: Analysis;
  try {
    analysis = await analysed(pull, access, options, signal);
  } catch (error) {
    if (!(error instanceof AnalysisEnded)) throw error;
    const { kind, message } = error;
    const exitCode = kind === 'usage' ? exitCodes.usage : exitCodes.incomplete;
    return ended({ exitCode, kind, message }, pull, access, options);
  }
  const { report, source, result, base, diff } = analysis;
  const plan = planReview({
    report,
    diff,
    headSha,
    baseSha: base,
    repository: { serverUrl: options.serverUrl, fullName: `${target.owner}/${target.repo}` },
    trust: result.trust,
    source,
    options: { review: !pull.isDraft },
  });
  told(await publish(access.octokit, target, plan, { comment: true, checkRun: true, buttons: true }), options);
}

/** Posts that the commit has no result, and why. */
async function ended(end: EarlyEnd, pull: PullState, access: Installation, options: HandlerOptions): Promise<void> {
  const plan = planEarlyEnd(end, pull.headSha, [access.token]);
  options.log(
    `${pull.target.owner}/${pull.target.repo}#${pull.target.pullNumber}: ${plan.check.title}. ${end.message}`,
  );
  told(await publish(access.octokit, pull.target, plan, { comment: true, checkRun: true }), options);
}

function told({ problems }: PublishResult, { log }: HandlerOptions): void {
  for (const problem of problems) log(describeProblem(problem));
}
