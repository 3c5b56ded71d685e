/** Commits to the branch of a pull request through the API. A process with a token must not check out the branch. */
import type { Octokit } from '@octokit/rest';
import { failureOf } from '../api/client.ts';
import type { RepositoryTarget } from '../api/target.ts';

/** Why the commit failed, as a message for the reader. */
export class NotCommitted extends Error {}

interface CommitRequest {
  readonly branch: string;
  /** The commit that the edited texts are based on. It must still be the head of the branch. */
  readonly head: string;
  /** New text by path from the top of the repository. */
  readonly files: ReadonlyMap<string, string>;
  readonly message: string;
}

/**
 * Commits edited texts on top of a commit.
 * @returns the new commit
 * @throws NotCommitted if the branch has moved, or the token may not write it
 */
export async function commitFiles(
  octokit: Octokit,
  { owner, repo }: RepositoryTarget,
  { branch, head, files, message }: CommitRequest,
): Promise<string> {
  const place = { owner, repo };
  const { data: parent } = await octokit.rest.git.getCommit({ ...place, commit_sha: head });
  const { data: whole } = await octokit.rest.git.getTree({ ...place, tree_sha: parent.tree.sha, recursive: '1' });
  const entries = [...files].map(([path, content]) => {
    const mode = whole.tree.find((entry) => entry.path === path)?.mode;
    if (mode !== '100644' && mode !== '100755') throw new NotCommitted(`${path} is not a regular file of the branch.`);
    return { path, mode, type: 'blob', content } as const;
  });
  try {
    const { data: tree } = await octokit.rest.git.createTree({ ...place, base_tree: parent.tree.sha, tree: entries });
    const { data: made } = await octokit.rest.git.createCommit({ ...place, message, tree: tree.sha, parents: [head] });
    // The update is not forced: of two concurrent commits, the second is rejected.
    await octokit.rest.git.updateRef({ ...place, ref: `heads/${branch}`, sha: made.sha, force: false });
    return made.sha;
  } catch (error) {
    const { status, message: why } = failureOf(error);
    if (status === 422 || status === 409) throw new NotCommitted('The branch has a newer commit by now; run the command again.');
    if (status === 403 || status === 404)
      throw new NotCommitted(`Selvage may not write this branch: it needs \`contents: write\` (${why}).`);
    throw error;
  }
}
