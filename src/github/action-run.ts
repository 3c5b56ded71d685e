/** Runs the action, from the event to the exit code. */
import { messageOf } from '../base/text.ts';
import { resolve } from 'node:path';
import * as core from '@actions/core';
import type { Octokit } from '@octokit/rest';
import { exitCodes } from '../report-model/exit-code.ts';
import type { ChangeAnalysis } from '../app/compare/change-request.ts';
import { changedFiles, folderInRepository } from '../app/project/git.ts';
import { clock } from '../system/clock.ts';
import { interruptible, Interruption } from '../system/interruption.ts';
import type { DefaultsText } from '../settings/configuration.ts';
import type { Options } from '../settings/options.ts';
import type { Progress } from '../app/project/progress.ts';
import { UsageError } from '../base/usage-error.ts';
import { diffWithin, type FileDiff } from '../source/diff.ts';
import { pullRequestFiles } from './api/changed-files.ts';
import { organisationDefaults } from './api/organisation-defaults.ts';
import { basicCredentials, commitBefore, ensureCommit, findMergeBase, type Clone } from './api/commits.ts';
import { planEarlyEnd, type EarlyEnd } from './plan/incomplete-run.ts';
import { answerComment, CommandRefused, type CommandComment } from './bot/bot.ts';
import { commentEvents, commentOf } from './bot/comment-event.ts';
import { parseEvent, type PullRequestEvent, type PushEvent, type RepositoryEvent } from './event.ts';
import { readChannels, readInputs, type ActionInputs } from './inputs.ts';
import type { PullRequestTarget } from './api/target.ts';
import { planReview, type PlanInput } from './plan/plan.ts';
import { planIssue } from './plan/issue-plan.ts';
import { toolName } from './plan/summary.ts';
import { startCheckRun } from './publish/check-run.ts';
import { describeProblem, publish, publishCheck, type PublishResult } from './publish/publish.ts';
import { publishIssue } from './publish/issue.ts';
import type { ReviewPlan } from './plan/review-plan.ts';
import type { CacheService } from './runner/cache-service.ts';
import { keepCosts } from './runner/kept-costs.ts';
import { clientFor, eventPayload } from './runner/run-client.ts';
import { Log, keepDefect, setOutputs, writeJobSummary, writeOutputFile, writeOutputs, type ReportFormat } from './runner/runner-job.ts';
import { keepResults, serviceOf } from './runner/result-cache.ts';
import { openPullsOf, targetOfRun, type FinishedRun } from './fork-review/finished-run.ts';
import { printReviewData, reviewFile } from './fork-review/review-data.ts';
import { logText } from './text/workflow-command.ts';

/** Input of the analysis of a range. The head commit is not trusted, so its flags must pass an allow-list. */
interface RangeRequest {
  /** Top of the repository, or a folder in it, absolute. */
  readonly root: string;
  /** The commit that the change starts from. */
  readonly base: string;
  readonly head: string;
  readonly diff: readonly FileDiff[];
  /** Whether the head is in a fork. Its configuration then has no effect. */
  readonly fork: boolean;
  readonly options: Options;
  /** The configuration of the organisation for all its repositories. */
  readonly defaults: DefaultsText | undefined;
  readonly nvccArguments: readonly string[];
  readonly environment: Environment;
  readonly progress: Progress;
  /** Aborts the analysis, which then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with the verdicts if repairs are still to be searched for. */
  readonly decided?: (analysis: RangeResult) => Promise<void>;
}

type WholeRequest = Pick<RangeRequest, 'root' | 'options' | 'defaults' | 'nvccArguments' | 'environment' | 'progress' | 'signal'>;

type RangeResult = Pick<ChangeAnalysis, 'report' | 'trust' | 'costs' | 'nothing' | 'source'>;

type Environment = Readonly<Record<string, string | undefined>>;

interface ActionServices {
  /** The environment of the process. Secrets are removed from it before anything is compiled. */
  readonly environment: Record<string, string | undefined>;
  readonly analyse: (request: RangeRequest) => Promise<RangeResult>;
  /** Checks the whole repository. */
  readonly check: (request: WholeRequest) => Promise<Pick<RangeResult, 'report' | 'costs' | 'source'>>;
  readonly render: (format: ReportFormat, analysis: Pick<RangeResult, 'report' | 'source'>) => Promise<string>;
}

// The compiler may be exploited by a pull request to run code, so its environment must not contain secrets.
const SECRETS = [
  'INPUT_GITHUB-TOKEN',
  'GITHUB_TOKEN',
  'GH_TOKEN',
  'ACTIONS_RUNTIME_TOKEN',
  'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
  'ACTIONS_ID_TOKEN_REQUEST_URL',
];

/**
 * Reviews the pull request whose event started the job.
 * @returns the exit code, one of `exitCodes` or that of the signal that ended it
 */
export async function runAction(services: ActionServices): Promise<number> {
  const { environment } = services;
  const token = core.getInput('github-token');
  if (token !== '') core.setSecret(token);
  const cache = serviceOf(environment);
  if (cache) core.setSecret(cache.token);
  for (const name of SECRETS) delete environment[name];
  let started: StartedReview | undefined;
  try {
    const channels = readChannels(core.getInput);
    const name = environment['GITHUB_EVENT_NAME'] ?? '';
    const comment = commentEvents.has(name) ? commentOf(name, eventPayload(environment)) : undefined;
    const octokit = clientFor(token, environment);
    if (comment) {
      const inputs = readInputs(core.getInput);
      return await interruptible((signal) => answer(comment, { token, channels, cache, octokit }, inputs, services, signal));
    }
    const place = { repository: environment['GITHUB_REPOSITORY'], sha: environment['GITHUB_SHA'] };
    const parsed = parseEvent(name, eventPayload(environment), channels.allowTarget, place);
    const event = parsed.kind === 'fork-run' ? await repeatedEvent(octokit, parsed.finished) : parsed;
    if (event.kind === 'other') {
      core.info(event.message);
      return exitCodes.success;
    }
    if (event.kind === 'refused') throw new UsageError(event.message);
    started = { event, channels, token, cache, octokit, isTold: false };
    const [inputs, begun] = [readInputs(core.getInput), started];
    return await interruptible((signal) => run(begun, inputs, services, signal));
  } catch (error) {
    const end = earlyEnd(error);
    // If verdicts were posted, they are valid even though the search for repairs failed.
    if (started?.isTold) return end.exitCode;
    if (started) await publishEnd(end, started);
    else setOutputs({ conclusion: 'failure', 'exit-code': String(end.exitCode) });
    return end.exitCode;
  }
}

/**
 * The pull request whose run has ended, to repeat its analysis.
 * @throws UsageError if several have the branch and commit of the run
 */
async function repeatedEvent(octokit: Octokit, finished: FinishedRun) {
  const { head_sha: headSha } = finished.workflow_run;
  const pulls = (await openPullsOf(octokit, finished)).filter((pull) => pull.headSha === headSha);
  const [pull] = pulls;
  if (!pull)
    return {
      kind: 'other',
      message: `Nothing to do: ${headSha} is not the head of an open pull request of the branch of the run.`,
    } as const;
  if (pulls.length > 1) {
    const numbers = pulls.map(({ number }) => `#${number}`).join(', ');
    throw new UsageError(
      `The pull requests ${numbers} have the branch and commit of the run, and GitHub does not report which of them started it. Close the others, and run this job again.`,
    );
  }
  return { kind: 'pull-request', ...targetOfRun(finished), ...pull, fork: true, isRepeat: true } as const;
}

/** A run whose event is known. */
interface StartedReview {
  readonly event: PullRequestEvent | PushEvent | RepositoryEvent;
  readonly channels: Pick<ActionInputs, 'comment' | 'checkRun' | 'name'>;
  readonly token: string;
  /** Cache of results of earlier runs, if this runner has it. */
  readonly cache: CacheService | undefined;
  readonly octokit: Octokit;
  /** Whether posting of the verdicts has begun. */
  isTold: boolean;
}

/** Logs why a run ends without a result. */
function earlyEnd(error: unknown): EarlyEnd {
  if (error instanceof Interruption) {
    core.info('The run was cancelled.');
    return { exitCode: error.exitCode, kind: 'cancelled', message: '' };
  }
  if (error instanceof UsageError) {
    core.error(error.message);
    return { exitCode: exitCodes.usage, kind: 'usage', message: error.message };
  }
  core.error(`Internal error of Selvage: ${messageOf(error)}`);
  if (error instanceof Error) core.info(logText(error.stack ?? ''));
  return { exitCode: exitCodes.defect, kind: 'defect', message: '' };
}

/** Posts that the analysis of this commit ended without a result. */
async function publishEnd(end: EarlyEnd, { event, channels, token, octokit }: StartedReview): Promise<void> {
  const secrets = token === '' ? [] : [token, basicCredentials(token)];
  const plan = planEarlyEnd(end, event.headSha, secrets, channels.name);
  setOutputs(plan.outputs);
  await writeJobSummary(plan.jobSummary);
  const log = new Log();
  switch (event.kind) {
    case 'pull-request':
      if (event.isRepeat === true) return;
      return log.writeOnce(toldLines(plan, await publish(octokit, targetOf(event), plan, channels)));
    case 'push':
      return log.writeOnce(toldLines(plan, await publishCheck(octokit, event, plan, channels.checkRun)));
    case 'repository':
      return;
  }
}

function targetOf({ owner, repo, number }: PullRequestEvent): PullRequestTarget {
  return { owner, repo, pullNumber: number };
}

async function run(started: StartedReview, inputs: ActionInputs, services: ActionServices, signal: AbortSignal): Promise<number> {
  const { event, token, octokit } = started;
  const { environment } = services;
  const serverUrl = environment['GITHUB_SERVER_URL'] ?? 'https://github.com';
  const root = resolve(environment['GITHUB_WORKSPACE'] ?? '.', inputs.workingDirectory);
  const clone: Clone = { root, environment, serverUrl, token };
  switch (event.kind) {
    case 'repository':
      return checkRepository(octokit, event, clone, inputs, services, signal, started.cache);
    case 'push': {
      const base = await commitBefore(clone, event);
      const publishPlan = (plan: ReviewPlan) => publishCheck(octokit, event, plan, inputs.checkRun);
      const change: Change = { base, files: await changedFiles(clone, base, event.headSha), isReviewed: false, publishPlan };
      return review(started, clone, change, inputs, services, signal);
    }
    case 'pull-request': {
      const target = targetOf(event);
      const base = await findMergeBase(octokit, clone, event);
      await ensureCommit(clone, base);
      await ensureCommit(clone, event.headSha);
      const { files, notes } = await pullRequestFiles(octokit, target, () => changedFiles(clone, base, event.headSha));
      for (const note of notes) core.info(logText(note));
      const { comment, checkRun } = inputs;
      const publishPlan = (plan: ReviewPlan) => publish(octokit, target, plan, { comment, checkRun, isOfFork: event.fork });
      const change: Change = { base, files, isReviewed: !event.draft || inputs.reviewDrafts, publishPlan };
      return review(started, clone, change, inputs, services, signal);
    }
  }
}

/**
 * Events whose runs belong to the default branch, regardless of the pull request. Such a run must not write cache
 * entries, which runs of the default branch would read.
 */
const onDefaultBranch: ReadonlySet<string> = new Set([...commentEvents, 'pull_request_target', 'workflow_run']);

/** Whether a run is of a commit of the default branch. Only such runs add to the history of costs. */
function isOfDefaultBranch(event: StartedReview['event'], environment: Environment): boolean {
  // A merge queue runs on commits that may never be part of the branch.
  if (event.kind === 'push') return environment['GITHUB_EVENT_NAME'] === 'push';
  return event.kind === 'repository' && event.isDefaultBranch;
}

/** A range of commits. */
interface Change {
  readonly base: string;
  readonly files: readonly FileDiff[];
  /** Whether comments are posted on its lines. */
  readonly isReviewed: boolean;
  readonly publishPlan: (plan: ReviewPlan) => Promise<PublishResult>;
}

async function review(
  started: StartedReview,
  clone: Clone,
  { base, files, isReviewed, publishPlan }: Change,
  inputs: ActionInputs,
  services: ActionServices,
  signal: AbortSignal,
): Promise<number> {
  const { event, cache } = started;
  const { environment } = services;
  const { root, serverUrl } = clone;
  const fork = event.kind === 'pull-request' && event.fork;
  const isRepeat = event.kind === 'pull-request' && event.isRepeat === true;

  signal.throwIfAborted();
  const shards = inputs.options.shards === undefined ? {} : { shards: resolve(root, inputs.options.shards) };
  const kept = await keepResults({
    environment,
    service: inputs.cache ? cache : undefined,
    mayWrite: !fork && !onDefaultBranch.has(environment['GITHUB_EVENT_NAME'] ?? ''),
    log: (line) => core.info(logText(line)),
  });
  const { shard } = inputs.options;
  const costs = await costHistory(inputs, environment, shard ? undefined : cache);
  const folder = await folderInRepository(clone);
  if (inputs.checkRun && !fork && !shard) {
    const begun = { name: toolName(inputs.name), headSha: event.headSha, files: diffWithin(files, folder).length };
    const before = event.kind === 'pull-request' ? event.beforeSha : event.kind === 'push' ? event.baseSha : undefined;
    // Only a convenience: the check run is created later if it does not exist.
    await startCheckRun(started.octokit, event, begun, before).catch(() => undefined);
  }
  const log = new Log();
  const defaults = await organisationDefaults(started.octokit, event.owner);
  let isReadOnly = isRepeat;
  const post = async (analysis: RangeResult, stage: 'verdicts' | 'whole'): Promise<ReviewPlan> => {
    const { report, trust, nothing, source } = analysis;
    const plan = planReview({
      report,
      folder,
      diff: diffWithin(files, folder),
      headSha: event.headSha,
      name: inputs.name,
      baseSha: base,
      failOn: inputs.options.failOn,
      ...toolOf(environment),
      repository: { serverUrl, fullName: `${event.owner}/${event.repo}` },
      trust,
      source,
      history: costs.earlier,
      stage,
      options: { maxComments: inputs.maxComments, review: isReviewed },
    });
    // Output that needs no network is written first, so that a network failure cannot lose the findings.
    log.writeOnce(nothing === undefined ? plan.log : [nothing]);
    await writeOutputs(plan.outputs, environment, (format) => services.render(format, analysis));
    await writeJobSummary(plan.jobSummary);
    if (event.kind === 'pull-request') {
      const data = {
        repository: `${event.owner}/${event.repo}`,
        pullRequest: event.number,
        head: event.headSha,
        base,
        folder,
        name: inputs.name,
        trust: trust ?? [],
        report,
      };
      writeOutputFile(environment, 'review-data', { name: reviewFile, text: printReviewData(data) });
    }
    started.isTold = true;
    // What the token must not write for the verdicts, it must not write for the repairs either.
    if (!isReadOnly) {
      const result = await publishPlan(plan);
      isReadOnly = fork && result.problems.length > 0 && result.problems.every(({ permission }) => permission !== undefined);
      log.writeOnce(toldLines(plan, isReadOnly ? { ...result, problems: [] } : result));
      if (isReadOnly) log.writeOnce([readOnlyText]);
    }
    return plan;
  };
  const analysis = await log.withoutCommands(() =>
    services.analyse({
      root,
      base,
      head: event.headSha,
      diff: files,
      fork,
      options: { ...inputs.options, ...shards },
      defaults,
      nvccArguments: inputs.nvccArguments,
      environment: { ...environment, SELVAGE_CACHE: kept.folder },
      signal,
      progress: progressOf(environment),
      ...(!shard && { decided: async (verdicts) => void (await post(verdicts, 'verdicts')) }),
    }),
  );
  await kept.save();
  if (isOfDefaultBranch(event, environment)) await costs.add(analysis.costs, { head: event.headSha, base });
  if (shard) {
    core.info(`The results of shard ${shard.index} of ${shard.count} are in ${shards.shards ?? ''}.`);
    setOutputs({ conclusion: 'success', 'exit-code': '0' });
    return exitCodes.success;
  }
  const { exitCode } = await post(analysis, 'whole');
  // The job that posts is run only if this one succeeds, and its check run fails for the findings.
  return isRepeat ? exitCodes.success : exitCode;
}

/** Answers a comment, if it is a command. */
async function answer(
  comment: CommandComment,
  started: Pick<StartedReview, 'token' | 'channels' | 'cache' | 'octokit'>,
  inputs: ActionInputs,
  services: ActionServices,
  signal: AbortSignal,
): Promise<number> {
  const { octokit, token, cache } = started;
  const { environment } = services;
  const outcome = await answerComment(comment, {
    octokit,
    async analyse(pull) {
      const serverUrl = environment['GITHUB_SERVER_URL'] ?? 'https://github.com';
      const root = resolve(environment['GITHUB_WORKSPACE'] ?? '.', inputs.workingDirectory);
      const clone: Clone = { root, environment, serverUrl, token };
      const { headSha: head, isFork: fork } = pull;
      refuseForks(fork, inputs);
      const base = await findMergeBase(octokit, clone, { ...pull.target, ...pull });
      await ensureCommit(clone, base);
      await ensureCommit(clone, head);
      const { files: diff } = await pullRequestFiles(octokit, pull.target, () => changedFiles(clone, base, head));
      const log = (line: string): void => core.info(logText(line));
      const kept = await keepResults({ environment, service: inputs.cache ? cache : undefined, mayWrite: false, log });
      const defaults = await organisationDefaults(octokit, pull.target.owner);
      const { report, source } = await new Log().withoutCommands(() =>
        services.analyse({
          root,
          base,
          head,
          diff,
          fork,
          options: inputs.options,
          defaults,
          nvccArguments: inputs.nvccArguments,
          environment: { ...environment, SELVAGE_CACHE: kept.folder },
          signal,
          progress: { log, defect: (defect) => keepDefect(defect, environment) },
        }),
      );
      await kept.save();
      return { report, folder: await folderInRepository(clone), source: source ?? (() => undefined) };
    },
    async review({ target: { owner, repo, pullNumber: number }, isFork: fork, isDraft: draft, headSha, baseSha }) {
      refuseForks(fork, inputs);
      const event: PullRequestEvent = { kind: 'pull-request', owner, repo, number, headSha, baseSha, draft, fork };
      await run({ ...started, event, isTold: false }, inputs, services, signal);
    },
  });
  core.info(`The comment was ${outcome}.`);
  return exitCodes.success;
}

/**
 * Rejects a pull request from a fork: like a run of `pull_request_target`, a run that a comment started has a token
 * with write permission.
 */
function refuseForks(isFork: boolean, { allowTarget }: Pick<ActionInputs, 'allowTarget'>): void {
  if (!isFork || allowTarget) return;
  throw new CommandRefused(
    'This pull request comes from a fork. Compiling runs code of its author, and a job that a comment started has a token that can write. Use Selvage as an App, which analyses without a token, or set the input `allow-pull-request-target` to true if you accept this.',
  );
}

/** Checks the whole repository as it is checked out. */
async function checkRepository(
  octokit: Octokit,
  event: RepositoryEvent,
  clone: Clone,
  inputs: ActionInputs,
  { environment, check, render }: ActionServices,
  signal: AbortSignal,
  cache: CacheService | undefined,
): Promise<number> {
  const { name, options, nvccArguments, issue: isIssueKept, cache: isKept } = inputs;
  const log = new Log();
  const { root, serverUrl } = clone;
  const kept = await keepResults({
    environment,
    service: isKept ? cache : undefined,
    mayWrite: true,
    log: (line) => core.info(logText(line)),
  });
  const request: WholeRequest = {
    root,
    options,
    defaults: await organisationDefaults(octokit, event.owner),
    nvccArguments,
    environment: { ...environment, SELVAGE_CACHE: kept.folder },
    progress: progressOf(environment),
    signal,
  };
  const { report, costs, source } = await log.withoutCommands(() => check(request));
  await kept.save();
  if (isOfDefaultBranch(event, environment)) await (await costHistory(inputs, environment, cache)).add(costs, { head: event.headSha });
  const plan = planReview({
    name,
    report,
    source,
    folder: await folderInRepository(clone),
    diff: [],
    headSha: event.headSha,
    failOn: options.failOn,
    ...toolOf(environment),
    repository: { serverUrl, fullName: `${event.owner}/${event.repo}` },
  });
  log.writeOnce([...plan.log, ...plan.workflowCommands.commands]);
  await writeOutputs(plan.outputs, environment, (format) => render(format, { report, source }));
  await writeJobSummary(plan.jobSummary);
  const issue = isIssueKept && event.isDefaultBranch ? planIssue(plan, event.branch) : null;
  if (issue) log.writeOnce(await publishIssue(octokit, event, issue));
  return plan.exitCode;
}

function costHistory(
  { name, cache: isKept }: ActionInputs,
  environment: Environment,
  service: CacheService | undefined,
): ReturnType<typeof keepCosts> {
  return keepCosts({
    environment,
    service: isKept ? service : undefined,
    name,
    log: (line) => core.info(logText(line)),
  });
}

/** Receiver of the progress of an analysis: the log of the job. */
function progressOf(environment: Environment): Progress {
  const log = (line: string): void => core.info(logText(line));
  const start = clock();
  const step = (line: string): void => log(`[${((clock() - start) / 1000).toFixed(1)} s] ${line}`);
  return { log, step, defect: (defect) => keepDefect(defect, environment) };
}

/** Repository and revision of the action; unknown in a workflow that runs the action from its own checkout. */
function toolOf(environment: Environment): Pick<PlanInput, 'tool'> {
  const [name = '', ref = ''] = [environment['GITHUB_ACTION_REPOSITORY'], environment['GITHUB_ACTION_REF']];
  if (!/^[\w.-]+\/[\w.-]+$/.test(name) || !/^[\w.][\w./-]*$/.test(ref)) return {};
  return { tool: { url: `${environment['GITHUB_SERVER_URL'] ?? 'https://github.com'}/${name}`, ref } };
}

const readOnlyText =
  'The token of a pull request from a fork is read-only: the findings are in annotations and in the job summary. A second workflow can post them as a review; see src/docs/github.md of Selvage, "Forks".';

/** Lines on the results of publishing, and annotations if no check run contains them. */
function toldLines(plan: ReviewPlan, result: PublishResult): string[] {
  const lines = result.problems.map((problem) => logText(describeProblem(problem)));
  if (result.movedTo !== undefined) {
    lines.push(`The pull request has a newer commit (${result.movedTo}), so this run posts no comments.`);
  }
  if (result.check !== 'off' && result.check !== 'failed') return lines;
  lines.push(...plan.workflowCommands.commands);
  const { leftOver } = plan.workflowCommands;
  if (leftOver > 0) lines.push(`GitHub's limit leaves out ${leftOver} more annotations; the job summary has all findings.`);
  return lines;
}
