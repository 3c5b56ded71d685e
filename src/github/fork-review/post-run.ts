/**
 * The second of two stages: posts the results of a run without write permission, for pull requests from forks. It runs
 * with write permission, on the default branch, and compiles nothing. The results of the first stage are not trusted,
 * also if a job of this repository repeated the analysis: GitHub determines their pull request and its changes, and the
 * text of the review is generated here.
 */
import type { Octokit } from '@octokit/rest';
import * as v from 'valibot';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodes } from '../../report-model/exit-code.ts';
import type { KernelReport, RepairEdit, Report } from '../../report-model/report.ts';
import { diffWithin } from '../../source/diff.ts';
import type { FailOn } from '../../settings/options.ts';
import { pullRequestFiles } from '../api/changed-files.ts';
import { failureOf } from '../api/client.ts';
import type { RepositoryTarget } from '../api/target.ts';
import { planReview } from '../plan/plan.ts';
import type { ReviewPlan } from '../plan/review-plan.ts';
import { describeProblem, publish } from '../publish/publish.ts';
import { clientFor, eventPayload } from '../runner/run-client.ts';
import { logText } from '../text/workflow-command.ts';
import { onlyFile, RefusedArtifact } from './archive.ts';
import { finishedRunSchema, isRunOfFork, openPullsOf, targetOfRun, type FinishedRun } from './finished-run.ts';
import { parseReviewData, reviewArtifact, reviewFile, type ReviewData } from './review-data.ts';

/** Maximum bytes of the archive, and of the file in it. */
const maxBytes = { archive: 16 << 20, file: 64 << 20 } as const;
/** Maximum number of files of the head that are read to show the repairs of a review. */
const maxSources = 20;
const patience = 60_000;

interface PostOptions {
  readonly token: string;
  readonly comment: boolean;
  readonly checkRun: boolean;
  readonly maxComments: number;
  readonly reviewDrafts: boolean;
  readonly failOn: FailOn;
  /** Whether an earlier job of this run repeated the analysis. Only its artifact is read then. */
  readonly repeated: boolean;
  /** Receive lines for the log. */
  readonly info: (line: string) => void;
  readonly error: (line: string) => void;
}

/**
 * Posts the review of a finished run.
 * @returns the exit code: 0 also if there is nothing to post, 2 if the results are rejected
 */
export async function runPost(environment: Readonly<Record<string, string | undefined>>, options: PostOptions): Promise<number> {
  const { token, info, error: fail } = options;
  try {
    const name = environment['GITHUB_EVENT_NAME'] ?? '';
    if (name !== 'workflow_run') throw new UsageError(`post/ runs on workflow_run, not on ${JSON.stringify(name)}.`);
    const parsed = v.safeParse(finishedRunSchema, eventPayload(environment));
    if (!parsed.success) throw new UsageError('The event file is not a workflow_run payload.');
    const octokit = clientFor(token, environment);
    const found = await reviewOf(octokit, parsed.output, options, environment);
    if (typeof found === 'string') {
      info(logText(found));
      return exitCodes.success;
    }
    const { target, plan } = found;
    const result = await publish(octokit, target, plan, { comment: options.comment, checkRun: options.checkRun });
    for (const problem of result.problems) info(logText(describeProblem(problem)));
    if (result.movedTo !== undefined) info('The pull request has a newer commit, so this run posts no comments.');
    return result.problems.length > 0 ? exitCodes.incomplete : exitCodes.success;
  } catch (error) {
    if (error instanceof RefusedArtifact || error instanceof UsageError) {
      fail(logText(`Nothing was posted: ${error.message}`));
      return exitCodes.usage;
    }
    fail(logText(`Nothing was posted: ${failureOf(error).message}`));
    return exitCodes.defect;
  }
}

/** The review of a run and its target, or why the review is missing. */
async function reviewOf(
  octokit: Octokit,
  finished: FinishedRun,
  options: PostOptions,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly target: RepositoryTarget & { readonly pullNumber: number }; readonly plan: ReviewPlan } | string> {
  const { repository: own, workflow_run: run } = finished;
  const place = targetOfRun(finished);
  if (run.event !== 'pull_request') return `The run was started by ${run.event}, not by a pull request.`;
  if (environment['GITHUB_REPOSITORY'] !== own.full_name) throw new UsageError('The event is of another repository.');
  const isFork = isRunOfFork(finished);
  if (options.repeated && !isFork) return 'The run was of a branch of this repository, so it posted its review itself.';
  const source = options.repeated ? thisRun(environment) : { id: run.id, headSha: run.head_sha };
  const archive = await artifactOf(octokit, place, source, options.token, environment);
  if (archive === undefined) return `The run left no artifact ${reviewArtifact}.`;
  const data = parseReviewData(onlyFile(archive, reviewFile, maxBytes.file));
  const pull = await pullOf(octokit, finished, data);
  const target = { ...place, pullNumber: pull.number };
  const base = await mergeBaseOf(octokit, place, pull.baseSha, run.head_sha);
  if (data.base !== base) throw new RefusedArtifact('it compares with another commit than the pull request does');
  const { files } = await pullRequestFiles(octokit, target, () =>
    Promise.reject(new UsageError('GitHub does not list all files of the pull request.')),
  );
  const { folder } = data;
  const report = withoutForeignEdits(data.report);
  const sources = await sourcesOf(octokit, place, run.head_sha, folder, report, options);
  const checked: Report = { ...report, kernels: report.kernels.map((kernel) => plainRepair(kernel, sources)) };
  const plan = planReview({
    report: checked,
    folder,
    diff: diffWithin(files, folder),
    headSha: run.head_sha,
    name: data.name,
    ...(isFork && { analysedBy: options.repeated ? 'repository' : 'fork' }),
    baseSha: base,
    failOn: options.failOn,
    repository: { serverUrl: environment['GITHUB_SERVER_URL'] ?? 'https://github.com', fullName: own.full_name },
    trust: data.trust,
    source: (file) => sources.get(file),
    options: { maxComments: options.maxComments, review: !pull.draft || options.reviewDrafts },
  });
  return { target, plan };
}

/** The run that produced an artifact. */
interface ArtifactSource {
  readonly id: number;
  /** The commit of the run: the head of a fork, or the default branch if the event was `workflow_run`. */
  readonly headSha: string;
}

/** @throws UsageError if the environment is not that of a runner */
function thisRun({ GITHUB_RUN_ID: id = '', GITHUB_SHA: headSha = '' }: Readonly<Record<string, string | undefined>>): ArtifactSource {
  if (/^\d+$/.test(id) && /^[0-9a-f]{40,64}$/.test(headSha)) return { id: Number(id), headSha };
  throw new UsageError('The environment of the runner lacks GITHUB_RUN_ID or GITHUB_SHA.');
}

/** The archive of the artifact of a run; undefined if it has none. */
async function artifactOf(
  octokit: Octokit,
  { owner, repo }: RepositoryTarget,
  { id, headSha }: ArtifactSource,
  token: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Buffer | undefined> {
  const asked = { owner, repo, run_id: id, name: reviewArtifact, per_page: 100 };
  const { data } = await octokit.rest.actions.listWorkflowRunArtifacts(asked);
  const own = data.artifacts.filter(({ name }) => name === reviewArtifact);
  const [artifact] = own;
  if (!artifact) return undefined;
  if (own.length > 1) throw new RefusedArtifact(`the run left ${own.length} artifacts of the name ${reviewArtifact}`);
  if (artifact.expired) throw new RefusedArtifact('the artifact has expired');
  if (artifact.workflow_run?.id !== id || artifact.workflow_run.head_sha !== headSha)
    throw new RefusedArtifact('the artifact is of another run');
  if (artifact.size_in_bytes > maxBytes.archive) throw new RefusedArtifact(`the artifact has more than ${maxBytes.archive} bytes`);
  const api = environment['GITHUB_API_URL'] ?? 'https://api.github.com';
  const first = await fetch(`${api}/repos/${owner}/${repo}/actions/artifacts/${artifact.id}/zip`, {
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'selvage' },
    redirect: 'manual',
    signal: AbortSignal.timeout(patience),
  });
  // The storage belongs to a third party: the token is not sent to it.
  const location = first.status >= 300 && first.status < 400 ? first.headers.get('location') : null;
  const response = location === null ? first : await fetch(location, { signal: AbortSignal.timeout(patience) });
  if (!response.ok || !response.body) throw new Error(`the artifact cannot be read: status ${response.status}`);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of response.body as AsyncIterable<Uint8Array>) {
    size += part.length;
    if (size > maxBytes.archive) throw new RefusedArtifact(`the artifact has more than ${maxBytes.archive} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The open pull request whose head was analysed, as GitHub knows it. */
async function pullOf(octokit: Octokit, finished: FinishedRun, data: ReviewData) {
  const { head_sha: head } = finished.workflow_run;
  if (data.repository !== finished.repository.full_name) throw new RefusedArtifact('it is of another repository');
  if (data.head !== head) throw new RefusedArtifact('it is of another commit than the run');
  const pull = (await openPullsOf(octokit, finished)).find(({ number }) => number === data.pullRequest);
  if (!pull) throw new RefusedArtifact(`#${data.pullRequest} is not an open pull request of the branch of the run`);
  if (pull.headSha !== head) throw new RefusedArtifact('the pull request has another commit by now');
  return pull;
}

async function mergeBaseOf(octokit: Octokit, { owner, repo }: RepositoryTarget, base: string, head: string): Promise<string> {
  const asked = { owner, repo, basehead: `${base}...${head}`, per_page: 1 };
  const { data } = await octokit.rest.repos.compareCommitsWithBasehead(asked);
  return data.merge_base_commit.sha;
}

/** The report without edits of files that contain no kernel of a finding. Selvage does not produce such edits. */
function withoutForeignEdits(report: Report): Report {
  const kernels = report.kernels.map((kernel) => {
    const { edits } = kernel.repair;
    const isOwn = !edits || edits.every(({ file }) => file === kernel.location?.file);
    return isOwn ? kernel : withoutEdits(kernel);
  });
  return { ...report, kernels };
}

function withoutEdits(kernel: KernelReport): KernelReport {
  const reason = 'for a fork only edits that add barriers or fences are shown';
  return { ...kernel, repair: { status: 'skipped', reason } };
}

/** The text of the files that repairs edit, as GitHub has them at the head. */
async function sourcesOf(
  octokit: Octokit,
  { owner, repo }: RepositoryTarget,
  head: string,
  folder: string,
  { kernels }: Report,
  { info }: Pick<PostOptions, 'info'>,
): Promise<ReadonlyMap<string, string>> {
  const files = [...new Set(kernels.flatMap(({ repair }) => (repair.edits ?? []).map(({ file }) => file)))];
  const sources = new Map<string, string>();
  for (const file of files.slice(0, maxSources)) {
    try {
      const { data } = await octokit.rest.repos.getContent({ owner, repo, path: `${folder}${file}`, ref: head });
      if (Array.isArray(data) || data.type !== 'file' || !('content' in data)) continue;
      sources.set(file, Buffer.from(data.content, 'base64').toString('utf8'));
    } catch (error) {
      info(logText(`${file} cannot be read: ${failureOf(error).message}`));
    }
  }
  return sources;
}

/** Lines that an edit of Selvage may add: barriers and fences, one per line. */
const barrier = /^\s*(?:__syncthreads\(\)|__syncwarp\((?:0x[0-9a-fA-F]+|\d+)?u?\)|__threadfence(?:_block|_system)?\(\));\s*$/;

/**
 * A kernel with the edit that its review suggests, if that only adds barriers to the text of the head. The data of a
 * run can be forged, and a reader would take the edit for verified.
 */
function plainRepair(kernel: KernelReport, sources: ReadonlyMap<string, string>): KernelReport {
  const { edits, alternatives: _, ...repair } = kernel.repair;
  if (!edits) return { ...kernel, repair };
  const isPlain = edits.every((edit) => addsBarriers(edit, sources.get(edit.file)));
  return isPlain ? { ...kernel, repair: { ...repair, edits } } : withoutEdits(kernel);
}

function addsBarriers({ startLine, endLine, replacement }: RepairEdit, source: string | undefined): boolean {
  if (source === undefined || startLine < 1 || endLine < startLine - 1) return false;
  const before = source.split(/\r?\n/).slice(startLine - 1, endLine);
  const after = replacement.replace(/\r?\n$/, '').split(/\r?\n/);
  const kept = after.filter((line) => !barrier.test(line));
  return kept.join('\n') === before.filter((line) => !barrier.test(line)).join('\n') && after.length <= before.length + 4;
}
