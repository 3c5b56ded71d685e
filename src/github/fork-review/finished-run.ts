/** The event `workflow_run`: a run of another workflow has ended. GitHub wrote it, and the fork chose only its branch. */
import type { Octokit } from '@octokit/rest';
import * as v from 'valibot';
import type { RepositoryTarget } from '../api/target.ts';

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{40}([0-9a-f]{24})?$/));
const repository = v.object({ full_name: v.string(), name: v.string(), owner: v.object({ login: v.string() }) });

export const finishedRunSchema = v.object({
  repository,
  workflow_run: v.object({
    id: v.number(),
    event: v.string(),
    conclusion: v.optional(v.nullable(v.string())),
    head_sha: sha,
    head_branch: v.nullable(v.string()),
    /** Null if it was deleted. */
    head_repository: v.nullable(repository),
  }),
});

export type FinishedRun = v.InferOutput<typeof finishedRunSchema>;

interface OpenPull {
  readonly number: number;
  readonly headSha: string;
  readonly baseSha: string;
  readonly draft: boolean;
}

/** Whether the head of the run is in another repository. If that was deleted, it was a fork. */
export function isRunOfFork({ repository: own, workflow_run: run }: FinishedRun): boolean {
  return run.head_repository?.full_name !== own.full_name;
}

/** The repository of the run and of the pull request, not that of the fork. */
export function targetOfRun({ repository: own }: FinishedRun): RepositoryTarget {
  return { owner: own.owner.login, repo: own.name };
}

/** The open pull requests of the branch of the run, as GitHub knows them now: their heads may be newer commits. */
export async function openPullsOf(octokit: Octokit, finished: FinishedRun): Promise<readonly OpenPull[]> {
  const { full_name: fullName } = finished.repository;
  const { head_branch: branch, head_repository: from } = finished.workflow_run;
  if (!from || branch === null) return [];
  const head = `${from.owner.login}:${branch}`;
  const { data } = await octokit.rest.pulls.list({ ...targetOfRun(finished), state: 'open', head, per_page: 100 });
  return data
    .filter((pull) => pull.head.repo?.full_name === from.full_name && pull.base.repo.full_name === fullName)
    .map((pull) => ({
      number: pull.number,
      headSha: pull.head.sha,
      baseSha: pull.base.sha,
      draft: pull.draft === true,
    }));
}
