/** Objects on GitHub that requests refer to. */
export interface RepositoryTarget {
  readonly owner: string;
  readonly repo: string;
}

export interface PullRequestTarget extends RepositoryTarget {
  readonly pullNumber: number;
}
