/** Places on GitHub that requests are about. */
export interface RepositoryTarget {
  readonly owner: string;
  readonly repo: string;
}

export interface PullRequestTarget extends RepositoryTarget {
  readonly pullNumber: number;
}
