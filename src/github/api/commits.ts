/** The commits of a pull request, in the clone of the job: often shallow, often without the base. */
import { messageOf } from '../../base/text.ts';
import type { Octokit } from '@octokit/rest';
import { git, gitSettings, mergeBase, type Repository } from '../../app/project/git.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { RepositoryTarget } from './target.ts';

/** Time limit in milliseconds of a git command that contacts the server. */
const patience = 120_000;

export interface Clone extends Repository {
  /** Value of `GITHUB_SERVER_URL`: the token is sent to no other server. */
  readonly serverUrl: string;
  readonly token: string;
  /** Remedy if a commit cannot be fetched; by default, that of a job. */
  readonly remedy?: string;
}

interface ChangeOfCommits extends RepositoryTarget {
  readonly baseSha: string;
  readonly headSha: string;
}

/**
 * The commit that the change starts from: the merge base of head and base branch, as in GitHub's diff. If the API
 * fails, the history of the clone is used, otherwise the base commit.
 */
export async function findMergeBase(octokit: Octokit, clone: Clone, change: ChangeOfCommits): Promise<string> {
  const { owner, repo, baseSha, headSha } = change;
  try {
    const basehead = `${baseSha}...${headSha}`;
    const { data } = await octokit.rest.repos.compareCommitsWithBasehead({ owner, repo, basehead, per_page: 1 });
    return data.merge_base_commit.sha;
  } catch {
    // A failure of the API is ignored, because the clone may contain the merge base.
  }
  try {
    return await mergeBase(clone, baseSha, headSha);
  } catch {
    return baseSha;
  }
}

/**
 * The commit that a push is compared with: the previous one, or, if that was removed by a forced push, the first
 * parent.
 * @throws UsageError with the remedy
 */
export async function commitBefore(clone: Clone, { baseSha, headSha }: Omit<ChangeOfCommits, 'owner' | 'repo'>): Promise<string> {
  await ensureCommit(clone, headSha);
  if (!/^0+$/.test(baseSha)) {
    try {
      await ensureCommit(clone, baseSha);
      return baseSha;
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
    }
  }
  const { code, stdout } = await git(clone, ['rev-parse', '--verify', '--quiet', `${headSha}^1`]);
  if (code === 0) return stdout.trim();
  throw new UsageError(`The clone does not contain the commit before ${headSha}. Use actions/checkout with \`fetch-depth: 2\`.`);
}

/**
 * Fetches a commit that the clone lacks, without history.
 * @throws UsageError with the remedy
 */
export async function ensureCommit(clone: Clone, sha: string): Promise<void> {
  const present = await git(clone, ['cat-file', '-e', `${sha}^{commit}`]);
  if (present.code === 0) return;
  const failure = await fetchFailure(clone, sha);
  if (failure === null) return;
  throw new UsageError(
    `The clone has no commit ${sha}, and fetching it failed (${failure}). ${clone.remedy ?? 'Use actions/checkout with `fetch-depth: 0`.'}`,
  );
}

/** Fetches a commit. @returns why that failed; null if it succeeded */
async function fetchFailure(clone: Clone, sha: string): Promise<string | null> {
  const words = ['fetch', '--no-tags', '--no-recurse-submodules', '--depth=1', 'origin', sha];
  try {
    const { code, stderr } = await git(clone, words, credentials(clone), patience);
    if (code === 0) return null;
    const lines = stderr.trim().split('\n');
    return lines.find((line) => line.startsWith('fatal:')) ?? (lines[0] || `exit code ${code}`);
  } catch (error) {
    return messageOf(error);
  }
}

/** HTTP credentials for a token, in the format of git and of actions/checkout. */
export function basicCredentials(token: string): string {
  return Buffer.from(`x-access-token:${token}`).toString('base64');
}

/**
 * Git settings that contain the token for one fetch. They are passed in the environment, because other processes can
 * read arguments.
 */
function credentials({ serverUrl, token, environment }: Clone): Record<string, string> {
  if (token === '') return {};
  const key = `http.${serverUrl}/.extraheader`;
  // An empty value removes a header that actions/checkout may have left: GitHub rejects a request with two such
  // headers.
  return gitSettings(environment, [
    [key, ''],
    [key, `AUTHORIZATION: basic ${basicCredentials(token)}`],
  ]);
}
