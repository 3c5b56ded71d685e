/** The check run: its conclusion with the first annotations, and the others in slices. */
import { createHash } from 'node:crypto';
import type { Octokit } from '@octokit/rest';
import type { CheckPlan } from '../plan/review-plan.ts';
import type { Annotation } from '../text/workflow-command.ts';

/** GitHub refuses more in one request. */
const ANNOTATIONS_PER_REQUEST = 50;

const levels = { error: 'failure', warning: 'warning', notice: 'notice' } as const;

/** Makes the check run of a commit. Where the commit has the same one already, nothing is written. */
export async function publishCheckRun(
  octokit: Octokit,
  { owner, repo }: { readonly owner: string; readonly repo: string },
  { headSha, check }: { readonly headSha: string; readonly check: CheckPlan },
): Promise<'posted' | 'unchanged'> {
  // Annotations can only be added to a run, so a run is either the same or made anew.
  const externalId = createHash('sha256').update(JSON.stringify(check)).digest('hex');
  const existing = await octokit.rest.checks.listForRef({ owner, repo, ref: headSha, check_name: check.name });
  const same = existing.data.check_runs.find((run) => run.external_id === externalId && run.status === 'completed');
  const append = async (id: number, slices: readonly ApiAnnotation[][]): Promise<void> => {
    for (const annotations of slices) {
      const output = { title: check.title, summary: check.summary, annotations };
      await octokit.rest.checks.update({ owner, repo, check_run_id: id, output });
    }
  };
  if (same) {
    // A run whose requests failed may have left some out.
    const missing = check.annotations.slice(same.output.annotations_count);
    if (missing.length === 0) return 'unchanged';
    await append(same.id, sliced(missing.map(toApi)));
    return 'posted';
  }

  const output = { title: check.title, summary: check.summary };
  const [first = [], ...others] = sliced(check.annotations.map(toApi));
  // It is concluded at once: whatever becomes of later requests, the run does not stay in progress.
  const created = await octokit.rest.checks.create({
    owner,
    repo,
    name: check.name,
    head_sha: headSha,
    external_id: externalId,
    status: 'completed',
    conclusion: check.conclusion,
    output: { ...output, annotations: first },
  });
  await append(created.data.id, others);
  return 'posted';
}

type ApiAnnotation = ReturnType<typeof toApi>;

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

/** At least one slice, which may be empty. */
function sliced<T>(items: readonly T[]): T[][] {
  const slices: T[][] = [[]];
  for (const item of items) {
    let slice = slices[slices.length - 1] as T[];
    if (slice.length === ANNOTATIONS_PER_REQUEST) slices.push((slice = []));
    slice.push(item);
  }
  return slices;
}
