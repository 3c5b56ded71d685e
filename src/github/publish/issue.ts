/** The issue that lists the findings of the default branch: opened, updated, closed and opened again. */
import type { Octokit, RestEndpointMethodTypes } from '@octokit/rest';
import type { RepositoryTarget } from '../api/target.ts';
import type { IssuePlan } from '../plan/issue-plan.ts';
import { parseMarker } from '../text/marker.ts';
import { cachedViewer } from './own-comments.ts';
import { describeProblem, problemOf } from './publish.ts';

type Issue = RestEndpointMethodTypes['issues']['listForRepo']['response']['data'][number];

/** Outcome for the issue. `declined`: a user closed it as not planned, so it remains closed. */
type IssueResult = 'created' | 'updated' | 'reopened' | 'closed' | 'unchanged' | 'none' | 'declined';

const PER_PAGE = 100;
/**
 * Maximum number of pages of other authors' issues that are searched if the list of the account's own issues is empty.
 */
const MOST_PAGES = 3;

/** Updates the issue, and returns the result. Never throws for a rejected request. */
export async function publishIssue(octokit: Octokit, target: RepositoryTarget, plan: IssuePlan): Promise<string[]> {
  try {
    return [`The issue on the findings of the branch: ${await bringUpToDate(octokit, target, plan)}.`];
  } catch (error) {
    return [describeProblem(problemOf('issue', 'issues: write', error))];
  }
}

/** Creates or updates the issue. A second call with the same plan writes nothing. */
async function bringUpToDate(
  octokit: Octokit,
  { owner, repo }: RepositoryTarget,
  { name, title, body, text, stands }: IssuePlan,
): Promise<IssueResult> {
  const viewer = cachedViewer(octokit);
  const all = await ownIssues(octokit, { owner, repo }, await viewer(), name);
  const open = all.find(({ state }) => state === 'open');
  const edit = async (issue: Issue, change: 'open' | 'closed' | null): Promise<void> => {
    const state = change === null ? {} : change === 'closed' ? { state: change, state_reason: 'completed' as const } : { state: change };
    await octokit.rest.issues.update({ owner, repo, issue_number: issue.number, title, body, ...state });
  };
  if (!stands) {
    if (!open) return 'none';
    await edit(open, 'closed');
    return 'closed';
  }
  if (open) {
    if (parseMarker(open.body)?.text === text && open.title === title) return 'unchanged';
    await edit(open, null);
    return 'updated';
  }
  const [closed] = all;
  if (closed?.state_reason === 'not_planned') return 'declined';
  if (closed) {
    await edit(closed, 'open');
    return 'reopened';
  }
  await octokit.rest.issues.create({ owner, repo, title, body });
  return 'created';
}

/** The issues of this account with a marker of Selvage, the newest first. Another author could copy the marker. */
async function ownIssues(octokit: Octokit, { owner, repo }: RepositoryTarget, login: string, name: string): Promise<Issue[]> {
  const isOwn = (issue: Issue): boolean => {
    const marker = parseMarker(issue.body);
    return issue.pull_request === undefined && issue.user?.login === login && marker?.kind === 'issue' && marker.name === name;
  };
  const page = { owner, repo, state: 'all', per_page: PER_PAGE } as const;
  const byAccount = await octokit.paginate(octokit.rest.issues.listForRepo, { ...page, creator: login });
  const found = byAccount.filter(isOwn);
  if (byAccount.length > 0) return found;
  // The server may not list issues by the login of an App.
  const issues: Issue[] = [];
  for (let number = 1; number <= MOST_PAGES; number += 1) {
    const { data } = await octokit.rest.issues.listForRepo({ ...page, sort: 'updated', page: number });
    issues.push(...data.filter(isOwn));
    if (data.length < PER_PAGE) break;
  }
  return issues;
}
