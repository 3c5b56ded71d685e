/** The check run: annotations in slices, the conclusion with the last of them. */
import { createHash } from 'node:crypto';
import type { Octokit } from '@octokit/rest';
import type { CheckPlan } from './plan.ts';
import type { Annotation } from './workflow-command.ts';

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
  const same = existing.data.check_runs.some((run) => run.external_id === externalId && run.status === 'completed');
  if (same) return 'unchanged';

  const output = { title: check.title, summary: check.summary };
  const slices = sliced(check.annotations.map(toApi));
  const last = slices.length - 1;
  const state = (index: number) =>
    index === last
      ? ({ status: 'completed', conclusion: check.conclusion } as const)
      : ({ status: 'in_progress' } as const);
  const created = await octokit.rest.checks.create({
    owner,
    repo,
    name: check.name,
    head_sha: headSha,
    external_id: externalId,
    ...state(0),
    output: { ...output, annotations: slices[0] ?? [] },
  });
  for (let index = 1; index <= last; index += 1) {
    await octokit.rest.checks.update({
      owner,
      repo,
      check_run_id: created.data.id,
      ...state(index),
      output: { ...output, annotations: slices[index] ?? [] },
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
