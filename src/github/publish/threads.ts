/** The state of the threads of comments: resolved if the finding is settled. */
import type { Octokit } from '@octokit/rest';
import type { PullRequestTarget } from '../api/target.ts';

/** A review comment as the REST API names it. */
interface ThreadStart {
  readonly id: number;
  readonly node_id: string;
}

interface ThreadPage {
  readonly repository?: {
    readonly pullRequest?: {
      readonly reviewThreads?: {
        readonly nodes?: readonly {
          readonly id: string;
          readonly comments: { readonly nodes: readonly { readonly databaseId: number | null }[] };
        }[];
        readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
      };
    };
  };
}

const threadQuery = `query ($owner: String!, $repo: String!, $number: Int!, $after: String) { repository(owner: $owner, name: $repo) { pullRequest(number: $number) { reviewThreads(first: 100, after: $after) { nodes { id comments(first: 1) { nodes { databaseId } } } pageInfo { hasNextPage endCursor } } } } }`;
const mutations = {
  resolve: 'mutation ($id: ID!) { resolveReviewThread(input: { threadId: $id }) { thread { isResolved } } }',
  unresolve: 'mutation ($id: ID!) { unresolveReviewThread(input: { threadId: $id }) { thread { isResolved } } }',
  minimize: 'mutation ($id: ID!) { minimizeComment(input: { subjectId: $id, classifier: OUTDATED }) { minimizedComment { isMinimized } } }',
  unminimize: 'mutation ($id: ID!) { unminimizeComment(input: { subjectId: $id }) { unminimizedComment { isMinimized } } }',
} as const;

/**
 * Threads of a pull request. The text of a comment names what became of its finding; that its thread is folded, too, is
 * only a convenience, so rejected requests are ignored.
 */
interface Threads {
  /** Resolves the thread of a comment, or hides the comment as outdated if the token must not resolve threads. */
  readonly close: (comment: ThreadStart) => Promise<void>;
  readonly reopen: (comment: ThreadStart) => Promise<void>;
}

/** The threads of a pull request; they are listed once, when the first of them is needed. */
export function threadsOf(octokit: Octokit, target: PullRequestTarget): Threads {
  let listed: Promise<ReadonlyMap<number, string>> | undefined;
  const ask = async (mutation: keyof typeof mutations, id: string | undefined): Promise<boolean> => {
    if (id === undefined) return false;
    return octokit.graphql(mutations[mutation], { id }).then(
      () => true,
      () => false,
    );
  };
  const threadOf = async ({ id }: ThreadStart): Promise<string | undefined> =>
    (await (listed ??= threadIds(octokit, target)).catch(() => new Map<number, string>())).get(id);
  return {
    close: async (comment) => {
      if (!(await ask('resolve', await threadOf(comment)))) await ask('minimize', comment.node_id);
    },
    reopen: async (comment) => {
      await ask('unminimize', comment.node_id);
      await ask('unresolve', await threadOf(comment));
    },
  };
}

/** Maximum number of pages of threads that are read. */
const mostPages = 20;

/** IDs of threads by the ID of their first comment. */
async function threadIds(octokit: Octokit, { owner, repo, pullNumber }: PullRequestTarget): Promise<Map<number, string>> {
  const ids = new Map<number, string>();
  let after: string | null = null;
  for (let page = 0; page < mostPages; page++) {
    const answer: ThreadPage = await octokit.graphql<ThreadPage>(threadQuery, {
      owner,
      repo,
      number: pullNumber,
      after,
    });
    const threads = answer.repository?.pullRequest?.reviewThreads;
    for (const { id, comments } of threads?.nodes ?? []) {
      const first = comments.nodes[0]?.databaseId;
      if (typeof first === 'number') ids.set(first, id);
    }
    if (threads?.pageInfo.hasNextPage !== true) break;
    after = threads.pageInfo.endCursor;
  }
  return ids;
}
