/** The check run: its conclusion with the first annotations, and the others in slices. */
import type { Octokit } from '@octokit/rest';
import { hashText } from '../../base/hash.ts';
import { count } from '../../messages/text/code-text.ts';
import type { RepositoryTarget } from '../api/target.ts';
import type { ReviewPlan } from '../plan/review-plan.ts';
import type { Annotation } from '../text/workflow-command.ts';

/** Maximum number of annotations that GitHub accepts in one request. */
const ANNOTATIONS_PER_REQUEST = 50;

const levels = { error: 'failure', warning: 'warning', notice: 'notice' } as const;

/**
 * Buttons of the check run. Only Apps receive the event of a pressed button. GitHub accepts at most three, with labels
 * of 20 characters.
 */
const buttons = [
  { label: 'Fix', description: 'Commit all verified edits', identifier: 'fix' },
  { label: 'Ignore', description: 'Suppress the finding, or list several', identifier: 'ignore' },
  { label: 'Explain', description: 'Explain the finding, or list several', identifier: 'explain' },
];

/** The ID of a check run whose analysis has begun; that of the job has another one. */
const startedId = 'selvage: in progress';

/**
 * Creates the check run of a commit while it is analysed, unless the commit has one.
 * @param before the commit of the last run, for an estimate
 */
export async function startCheckRun(
  octokit: Octokit,
  { owner, repo }: RepositoryTarget,
  { name, headSha, files }: { readonly name: string; readonly headSha: string; readonly files: number },
  before?: string,
): Promise<void> {
  const runsOf = async (ref: string) => (await octokit.rest.checks.listForRef({ owner, repo, ref, check_name: name })).data.check_runs;
  if ((await runsOf(headSha)).length > 0) return;
  const last = before === undefined ? undefined : (await runsOf(before)).find(({ status }) => status === 'completed');
  const seconds = last?.started_at && last.completed_at ? (Date.parse(last.completed_at) - Date.parse(last.started_at)) / 1000 : 0;
  const estimate = seconds >= 1 ? `The last run took ${durationText(seconds)}.` : 'The kernels that they affect are compiled and checked.';
  const output = { title: `Analysing ${count(files, 'changed file')}`, summary: estimate };
  await octokit.rest.checks.create({ owner, repo, name, head_sha: headSha, external_id: startedId, status: 'in_progress', output });
}

function durationText(seconds: number): string {
  return seconds < 90 ? count(Math.round(seconds), 'second') : count(Math.round(seconds / 60), 'minute');
}

/**
 * Creates the check run of a commit, or completes the one in progress. If the commit already has an identical one, nothing is written. If only its texts
 * on repairs differ, they are updated, unless the search for repairs is not finished.
 */
export async function publishCheckRun(
  octokit: Octokit,
  { owner, repo }: RepositoryTarget,
  { headSha, check, verdicts, isWhole }: Pick<ReviewPlan, 'headSha' | 'check' | 'verdicts' | 'isWhole'>,
  { buttons: hasButtons = false, isRerun = false }: { readonly buttons?: boolean; readonly isRerun?: boolean } = {},
): Promise<'posted' | 'unchanged'> {
  // Annotations can only be added to a run, so different ones need a new run.
  const externalId = `${verdicts}:${hashText(check.summary)}`;
  const existing = await octokit.rest.checks.listForRef({ owner, repo, ref: headSha, check_name: check.name });
  const same = existing.data.check_runs.find((run) => run.external_id?.split(':')[0] === verdicts && run.status === 'completed');
  const output = { title: check.title, summary: check.summary };
  if (same) {
    // An earlier run whose requests failed may have omitted some annotations.
    const missing = sliced(check.annotations.slice(same.output.annotations_count).map(toApi));
    const isRenewed = isWhole && same.external_id !== externalId;
    if (!isRenewed && !isRerun && missing[0]!.length === 0) return 'unchanged';
    // The suite of a run that a user repeats has no conclusion until a run of it is completed.
    const repeated = isRerun ? ({ status: 'completed', conclusion: check.conclusion } as const) : {};
    const words = isWhole ? output : { title: check.title, summary: same.output.summary ?? check.summary };
    for (const annotations of missing) {
      const renewed = isRenewed ? { external_id: externalId } : {};
      await octokit.rest.checks.update({ owner, repo, check_run_id: same.id, ...renewed, ...repeated, output: { ...words, annotations } });
    }
    return 'posted';
  }

  const [first = [], ...others] = sliced(check.annotations.map(toApi));
  const started = existing.data.check_runs.find((run) => run.external_id === startedId && run.status === 'in_progress');
  const completed = {
    owner,
    repo,
    external_id: externalId,
    status: 'completed',
    conclusion: check.conclusion,
    output: { ...output, annotations: first },
    ...(hasButtons && check.conclusion !== 'success' ? { actions: buttons } : {}),
  } as const;
  // The check run gets its conclusion first: if later requests fail, it does not remain in progress.
  const created = started
    ? await octokit.rest.checks.update({ ...completed, check_run_id: started.id })
    : await octokit.rest.checks.create({ ...completed, name: check.name, head_sha: headSha });
  for (const annotations of others) {
    await octokit.rest.checks.update({
      owner,
      repo,
      check_run_id: created.data.id,
      output: { ...output, annotations },
    });
  }
  return 'posted';
}

function toApi({ path, startLine, endLine, severity, title, message }: Annotation) {
  return {
    path,
    start_line: startLine,
    end_line: endLine,
    annotation_level: levels[severity],
    title,
    message,
  };
}

/** Splits items into slices of one request. There is at least one slice, which may be empty. */
function sliced<T>(items: readonly T[]): T[][] {
  const slices: T[][] = [[]];
  for (const item of items) {
    let slice = slices[slices.length - 1] as T[];
    if (slice.length === ANNOTATIONS_PER_REQUEST) slices.push((slice = []));
    slice.push(item);
  }
  return slices;
}
