/** The files a pull request changes, as GitHub shows them: comments can only go where it shows a patch. */
import type { Octokit, RestEndpointMethodTypes } from '@octokit/rest';
import { parseHunks, type FileDiff } from '../../source/diff.ts';
import { failureOf } from './client.ts';
import type { PullRequestTarget } from './target.ts';

type ListedFile = RestEndpointMethodTypes['pulls']['listFiles']['response']['data'][number];

/** Maximum number of files of a pull request that GitHub lists. */
const MAX_LISTED = 3000;

interface ChangedFiles {
  readonly files: readonly FileDiff[];
  /** Lines for the log if the list is not GitHub's own, with the reason. */
  readonly notes: readonly string[];
}

/**
 * Lists the changes of a pull request. Files whose patch GitHub leaves out have null hunks.
 * @param gitDiff changes according to git, for files that the API does not list and for failed requests
 */
export async function pullRequestFiles(
  octokit: Octokit,
  { owner, repo, pullNumber }: PullRequestTarget,
  gitDiff: () => Promise<readonly FileDiff[]>,
): Promise<ChangedFiles> {
  let listed: ListedFile[];
  try {
    const page = { owner, repo, pull_number: pullNumber, per_page: 100 };
    listed = await octokit.paginate(octokit.rest.pulls.listFiles, page);
  } catch (error) {
    const note = `GitHub did not list the changed files (${failureOf(error).message}); Selvage uses git's diff instead.`;
    return { files: await gitDiff(), notes: [note] };
  }
  const files = listed.map(toFileDiff);
  if (files.length < MAX_LISTED) return { files, notes: [] };
  const known = new Set(files.map(({ path }) => path));
  const others = (await gitDiff()).filter(({ path }) => !known.has(path));
  const note = `GitHub lists at most ${MAX_LISTED} changed files. git finds ${others.length} more; Selvage analyses them but cannot comment on them.`;
  return { files: [...files, ...others.map((file) => ({ ...file, hunks: null }))], notes: [note] };
}

function toFileDiff({ filename, previous_filename: previous, status, patch, changes }: ListedFile): FileDiff {
  return {
    path: filename,
    ...(previous === undefined || status !== 'renamed' ? {} : { previousPath: previous }),
    status: status === 'copied' ? 'added' : status === 'changed' || status === 'unchanged' ? 'modified' : status,
    // A file that only moved has no patch and no changed lines; any other without a patch is binary or too large.
    hunks: patch === undefined ? (status === 'renamed' && changes === 0 ? [] : null) : parsedOrNull(patch),
  };
}

/** Hunks of a patch; null if the patch does not parse. */
function parsedOrNull(patch: string): FileDiff['hunks'] {
  try {
    return parseHunks(patch);
  } catch {
    return null;
  }
}
