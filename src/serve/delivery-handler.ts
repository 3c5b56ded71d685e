/** Handles a delivery of a webhook. */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { changedFiles, git, withoutFilters } from '../app/project/git.ts';
import { exitCodes } from '../report-model/exit-code.ts';
import {
  answerButton,
  answerComment,
  answerRerun,
  pullState,
  type Analysed,
  type BotOutcome,
  type BotServices,
  type PullState,
} from '../github/bot/bot.ts';
import { commentEvents, commentOf } from '../github/bot/comment-event.ts';
import { ensureCommit, findMergeBase, type Clone } from '../github/api/commits.ts';
import { pullRequestFiles } from '../github/api/changed-files.ts';
import { organisationDefaults } from '../github/api/organisation-defaults.ts';
import { parseEvent } from '../github/event.ts';
import { planEarlyEnd, type EarlyEnd } from '../github/plan/incomplete-run.ts';
import { planReview } from '../github/plan/plan.ts';
import { describeProblem, publish, type PublishResult } from '../github/publish/publish.ts';
import type { PullRequestTarget } from '../github/api/target.ts';
import type { FileDiff } from '../source/diff.ts';
import type { Installation } from '../github/api/app-client.ts';
import { publishedAction, publishedTag } from '../system/version.ts';
import { analyseConfined, AnalysisEnded, type AnalysisResult } from './confined-analysis.ts';
import { resultsFolder, workPrefix } from './data-folder.ts';
import { maxAttempts, type Delivery } from './delivery-queue.ts';
import type { LogContext, ServerLog } from './server-log.ts';

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
  readonly log: ServerLog;
  /** Why the folder cannot be written; undefined if it can. */
  readonly spaceProblem?: () => string | undefined;
  /** Analysis that tests use instead of the real one. */
  readonly analyse?: BotServices['analyse'];
}

interface ReviewOptions extends HandlerOptions {
  /** Whether GitHub waits for the check run to be completed again. */
  readonly isRerun?: boolean | undefined;
}

const installed = v.object({ installation: v.object({ id: v.number() }) });
const commitOfChecks = v.object({
  head_sha: v.string(),
  pull_requests: v.array(v.object({ number: v.number() })),
});
const pressed = {
  repository: v.object({ name: v.string(), owner: v.object({ login: v.string() }) }),
  sender: v.object({ login: v.string(), id: v.number(), type: v.string() }),
};
/** Events of check runs and suites that a user causes by a button. */
const pressedSchema = v.union([
  v.object({
    ...pressed,
    action: v.literal('requested_action'),
    requested_action: v.object({ identifier: v.picklist(['fix', 'explain', 'ignore']) }),
    check_run: commitOfChecks,
  }),
  v.object({ ...pressed, action: v.literal('rerequested'), check_run: commitOfChecks }),
  v.object({ ...pressed, action: v.literal('rerequested'), check_suite: commitOfChecks }),
]);

/** Where the readers of reviews can obtain Selvage. */
const tool = { url: `https://github.com/${publishedAction}`, ref: publishedTag };

interface Analysis extends Analysed {
  readonly result: AnalysisResult;
  readonly base: string;
  readonly diff: readonly FileDiff[];
}

/**
 * What became of a delivery. `outdated`: the pull request has other commits by now, or is closed; `not analysed`: the
 * pull request was informed why; `ignored`: nothing is to be done.
 */
type DeliveryOutcome = BotOutcome | 'reviewed' | 'outdated' | 'not analysed';

/** Handles deliveries: commands, buttons of check runs, and pull requests that are new or have new commits. */
export function deliveryHandler(given: HandlerOptions): (delivery: Delivery, signal: AbortSignal) => Promise<DeliveryOutcome> {
  return async ({ id, event, payload, attempts }, signal) => {
    const log: ServerLog = (level, message, context) => given.log(level, message, { delivery: id, event, ...context });
    const options = { ...given, log };
    const value: unknown = JSON.parse(payload);
    const app = v.safeParse(installed, value);
    if (!app.success) return 'ignored';
    const access = await options.installation(app.output.installation.id);
    const { octokit } = access;
    const services: BotServices = {
      octokit,
      analyse: options.analyse ?? ((pull) => analysed(pull, access, options, signal)),
      review: async (pull, isRerun) => void (await reviewed(pull, access, { ...options, isRerun }, signal)),
      tool,
    };
    if (commentEvents.has(event)) {
      const comment = commentOf(event, value);
      return comment ? answerComment(comment, services) : 'ignored';
    }
    if (event === 'check_run' || event === 'check_suite') return answerPress(id, value, services);
    const pull = parseEvent(event, value, false);
    const { action } = value as { readonly action?: unknown };
    const isReviewed = ['opened', 'synchronize', 'reopened', 'ready_for_review'].includes(String(action));
    if (pull.kind !== 'pull-request' || !isReviewed) return 'ignored';
    const { owner, repo, number: pullNumber, headSha } = pull;
    const current = await pullState(octokit, { owner, repo, pullNumber });
    // An outdated delivery is ignored, because each push has a separate delivery.
    if (!current.isOpen || current.headSha !== headSha) return 'outdated';
    try {
      return await reviewed(current, access, options, signal);
    } catch (error) {
      // After the last failed attempt, the pull request is informed.
      if (attempts + 1 >= maxAttempts && !signal.aborted && options.spaceProblem?.() === undefined)
        await ended({ exitCode: exitCodes.defect, kind: 'defect', message: '' }, current, access, options);
      throw error;
    }
  };
}

/** Answers a button of a check run, and *Re-run* of a check run or suite, in each pull request of the commit. */
async function answerPress(delivery: string, value: unknown, services: BotServices): Promise<DeliveryOutcome> {
  const press = v.safeParse(pressedSchema, value);
  if (!press.success) return 'ignored';
  const { repository, sender } = press.output;
  const commit = 'check_run' in press.output ? press.output.check_run : press.output.check_suite;
  const author = { login: sender.login, id: sender.id, isBot: sender.type !== 'User' };
  const place = { owner: repository.owner.login, repo: repository.name };
  let outcome: DeliveryOutcome = 'outdated';
  for (const pullNumber of await pullsOf(services.octokit, place, commit)) {
    const target = { ...place, pullNumber };
    if ('requested_action' in press.output) {
      const { identifier: action } = press.output.requested_action;
      outcome = await answerButton({ target, author, delivery, headSha: commit.head_sha, action }, services);
    } else outcome = await answerRerun({ target, author }, services);
  }
  return outcome;
}

/** The pull requests of a check run. The payload does not list pull requests from forks. */
async function pullsOf(
  octokit: Installation['octokit'],
  { owner, repo }: { readonly owner: string; readonly repo: string },
  commit: v.InferOutput<typeof commitOfChecks>,
): Promise<readonly number[]> {
  if (commit.pull_requests.length > 0) return commit.pull_requests.map(({ number }) => number);
  const asked = { owner, repo, commit_sha: commit.head_sha, per_page: 100 };
  const { data } = await octokit.rest.repos.listPullRequestsAssociatedWithCommit(asked);
  return data.filter(({ state, head }) => state === 'open' && head.sha === commit.head_sha).map(({ number }) => number);
}

/** Fetches the commits of a pull request, and analyses them in a separate process. */
async function analysed(
  pull: PullState,
  access: Installation,
  { folder, serverUrl, searchPath, milliseconds, mebibytes }: HandlerOptions,
  signal: AbortSignal,
): Promise<Analysis> {
  const { octokit } = access;
  const { target, headSha: head, isFork: fork } = pull;
  const { owner, repo, pullNumber } = target;
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(folder, workPrefix));
  try {
    const root = join(work, 'clone');
    mkdirSync(root);
    const environment = { PATH: searchPath, HOME: work };
    await git({ root, environment }, ['init', '-q']);
    await git({ root, environment }, ['remote', 'add', 'origin', `${serverUrl}/${owner}/${repo}.git`]);
    const clone: Clone = {
      root,
      environment,
      serverUrl,
      // Read for each fetch: a request may have replaced the token.
      get token() {
        return access.token;
      },
      remedy: 'The App needs read access to the contents of the repository, and the server access to GitHub.',
    };
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
    const results = resultsFolder(folder, place.slice(0, 32));
    const limits = { temporary: join(work, 'analysis'), results, searchPath, milliseconds, mebibytes, signal };
    const result = await analyseConfined({ root, base, head, diff, fork, defaults }, limits);
    const sources = new Map(Object.entries(result.sources));
    return { report: result.report, folder: '', source: (file) => sources.get(file), result, base, diff };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function reviewed(pull: PullState, access: Installation, options: ReviewOptions, signal: AbortSignal): Promise<DeliveryOutcome> {
  const { target, headSha } = pull;
  let analysis: Analysis;
  try {
    analysis = await analysed(pull, access, options, signal);
  } catch (error) {
    // On a full disk the analysis is repeated later.
    if (!(error instanceof AnalysisEnded) || options.spaceProblem?.() !== undefined) throw error;
    const { kind, message } = error;
    const exitCode = kind === 'usage' ? exitCodes.usage : exitCodes.incomplete;
    await ended({ exitCode, kind, message }, pull, access, options);
    return 'not analysed';
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
    tool,
    host: 'app',
    options: { review: !pull.isDraft },
  });
  logProblems(await publish(access.octokit, target, plan, { ...channels(options), buttons: true }), target, options);
  return 'reviewed';
}

/** Posts that the commit has no result, and why. */
async function ended(end: EarlyEnd, pull: PullState, access: Installation, options: ReviewOptions): Promise<void> {
  const plan = planEarlyEnd({ ...end, host: 'app' }, pull.headSha, [access.token]);
  options.log('warning', [plan.check.title, end.message].filter((text) => text !== '').join('. '), placeOf(pull.target));
  logProblems(await publish(access.octokit, pull.target, plan, channels(options)), pull.target, options);
}

function channels({ isRerun = false }: ReviewOptions) {
  return { comment: true, checkRun: true, isRerun };
}

function logProblems({ problems }: PublishResult, target: PullRequestTarget, { log }: HandlerOptions): void {
  for (const problem of problems) log('warning', describeProblem(problem, 'app'), placeOf(target));
}

function placeOf({ owner, repo, pullNumber }: PullRequestTarget): LogContext {
  return { repository: `${owner}/${repo}`, pullRequest: pullNumber };
}
