/** A pull request whose comments are commands to Selvage, on a GitHub that accepts commits. */
import assert from 'node:assert/strict';
import type { Analysed, BotServices, CommandComment } from '../../src/github/bot/bot.ts';
import { applyLineEdits } from '../../src/report-model/repaired-file.ts';
import type { Report } from '../../src/report-model/report.ts';
import { testClient } from './client.ts';
import { memoryRepository, type Tree } from './memory-repository.ts';
import { SOME_USER, type Account } from './objects.ts';
import { BASE, HEAD, kernel, race, report } from './report-fixture.ts';
import {
  Refusal,
  startGitHub,
  type GitHubServer,
  type Handler,
  type IssueComment,
  type ReviewComment,
  type ServerOptions,
} from './server.ts';

export const TARGET = { owner: 'octo', repo: 'kernels', pullNumber: 7 };
const TOKEN = 'secret-token';

export const SOURCE = Array.from({ length: 30 }, (_, index) => `  line ${index + 1};\n`).join('');
const REPAIRED = { file: 'src/a.cu', startLine: 13, endLine: 12, replacement: '  __syncthreads();\n' };

/** Two races, one of them with an edit. */
export function twoRaces(): Report {
  const at = (line: number) => ({ file: 'src/a.cu', line });
  const one = kernel('first', [race({ fingerprint: 'aaaa1111', first: at(12), second: at(14), reproduce: 'selvage run' })]);
  const two = kernel('second', [race({ fingerprint: 'bbbb2222', first: at(20), second: at(22) })]);
  const repair = { status: 'repaired', verified: true, edits: [REPAIRED], fixes: ['aaaa1111'] } as const;
  return report([
    { ...one, repair },
    { ...two, repair: { status: 'unrepairable', reason: 'no barrier orders `s`' } },
  ]);
}

export interface Commit {
  readonly sha: string;
  readonly parent: string;
  readonly message: string;
  readonly files: ReadonlyMap<string, string>;
}

export class BotPull {
  readonly permissions = new Map<string, string>([[SOME_USER.login, 'write']]);
  readonly reactions: [comment: number, content: string][] = [];
  readonly commits: Commit[] = [];
  head = HEAD;
  isFork = false;
  mayPush = true;
  analyses = 0;
  reviews = 0;
  /** Awaited by each analysis. */
  during: () => Promise<void> = async () => undefined;
  server!: GitHubServer;
  /** The base, and the regular files of the head. */
  private base = BASE;
  private files: readonly string[] = ['src/a.cu'];

  static async open(setting: Partial<ServerOptions> & { readonly files?: readonly string[] } = {}): Promise<BotPull> {
    const { files, more, ...options } = setting;
    const pull = new BotPull();
    const trees: ReadonlyMap<string, Tree> = new Map([
      [BASE, new Map<string, string>()],
      [HEAD, new Map([['src/a.cu', SOURCE]])],
    ]);
    const whole: ServerOptions = {
      ...TARGET,
      baseSha: BASE,
      headSha: HEAD,
      repository: memoryRepository(trees),
      token: TOKEN,
      ...options,
      more: (api) => ({ ...pull.routes((name) => api.example(name)), ...more?.(api) }),
    };
    pull.head = whole.headSha;
    pull.base = whole.baseSha;
    pull.files = files ?? pull.files;
    pull.server = await startGitHub(whole);
    return pull;
  }

  addComment(body: string, author: Account = SOME_USER): CommandComment {
    return this.commentOf(this.server.addComment(author, body), author);
  }

  commentOf({ id, body }: IssueComment, { login, id: user, type }: Account = SOME_USER): CommandComment {
    return { target: TARGET, id, on: 'conversation', author: { login, id: user, isBot: type === 'Bot' }, body };
  }

  services(analysed: Partial<Analysed> = {}): BotServices {
    return {
      octokit: testClient(this.server, TOKEN, { writeInterval: 0 }),
      analyse: async () => {
        this.analyses += 1;
        await this.during();
        return {
          report: twoRaces(),
          folder: '',
          source: (file) => (file === 'src/a.cu' ? SOURCE : undefined),
          ...analysed,
        };
      },
      review: async () => void (this.reviews += 1),
    };
  }

  /** Comments of Selvage in the conversation, oldest first. */
  answers(): string[] {
    return this.server.issueComments.filter(({ account }) => account.type === 'Bot').map(({ body }) => body);
  }

  private routes(example: (name: string) => object): Record<string, Handler> {
    const trees = new Map<string, ReadonlyMap<string, string>>([['t'.repeat(40), new Map()]]);
    const pending = new Map<string, Commit>();
    const gitCommit = (sha: string) => ({
      ...example('git-commit'),
      sha,
      message: pending.get(sha)?.message ?? 'Something',
      tree: { sha: 't'.repeat(40), url: 'https://x' },
    });
    const commentIn = (id: string | undefined): IssueComment => {
      const found = this.server.issueComments.find((comment) => String(comment.id) === id);
      if (!found) throw new Refusal(404, 'Not Found');
      return found;
    };
    const lineCommentIn = (id: string | undefined): ReviewComment => {
      const found = this.server.reviewComments.find((comment) => String(comment.id) === id);
      if (!found) throw new Refusal(404, 'Not Found');
      return found;
    };
    const lineComment = ({ id, body, account, inReplyTo }: ReviewComment) => {
      const { in_reply_to_id: _, ...some } = example('pull-request-review-comment') as { user: object; in_reply_to_id?: number };
      const user = { ...some.user, login: account.login, id: account.id };
      return { ...some, id, body, user, ...(inReplyTo !== undefined && { in_reply_to_id: inReplyTo }) };
    };
    const needsPush = (): void => {
      if (!this.mayPush) throw new Refusal(403, 'Resource not accessible by integration');
    };
    return {
      'GET /repos/{owner}/{repo}/pulls/{pull_number}': ({ params }) => {
        const pull = example('pull-request') as Record<string, Record<string, unknown>>;
        const repo = pull['base']!['repo'] as object;
        const own = { ...repo, full_name: 'octo/kernels' };
        const from = this.isFork ? { ...repo, full_name: 'mallory/kernels' } : own;
        return {
          status: 200,
          body: {
            ...pull,
            number: Number(params[2]),
            state: this.server.settings.state,
            requested_teams: [],
            head: { ...pull['head'], sha: this.head, ref: 'topic', repo: from },
            base: { ...pull['base'], sha: this.base, repo: own },
          },
        };
      },
      'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls': ({ params }) => {
        const [some] = example('pull-request-simple-items') as unknown as [{ head: object }];
        const open = {
          ...some,
          number: TARGET.pullNumber,
          state: 'open',
          requested_teams: [],
          head: { ...some.head, sha: this.head },
        };
        return { status: 200, list: params[2] === this.head ? [open] : [] };
      },
      'GET /repos/{owner}/{repo}/issues/comments/{comment_id}': ({ params }) => {
        const { id, body, account } = commentIn(params[2]);
        return {
          status: 200,
          body: {
            ...example('issue-comment'),
            id,
            body,
            user: { ...(example('issue-comment') as { user: object }).user, login: account.login, id: account.id },
          },
        };
      },
      'GET /repos/{owner}/{repo}/collaborators/{username}/permission': ({ params }) => {
        const permission = this.permissions.get(params[2] ?? '');
        if (permission === undefined) throw new Refusal(404, 'Not Found');
        const body = example('repository-collaborator-permission-response-if-user-has-admin-permissions');
        const user = { ...(body as { user: object }).user, role_name: permission };
        return { status: 200, body: { ...body, permission, user } };
      },
      'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions': ({ params, body }) => {
        const { content } = body as { content: string };
        this.reactions.push([commentIn(params[2]).id, content]);
        return { status: 201, body: { ...example('reaction'), content } };
      },
      'GET /repos/{owner}/{repo}/pulls/comments/{comment_id}': ({ params }) => ({
        status: 200,
        body: lineComment(lineCommentIn(params[2])),
      }),
      'POST /repos/{owner}/{repo}/pulls/comments/{comment_id}/reactions': ({ params, body }) => {
        const { content } = body as { content: string };
        this.reactions.push([lineCommentIn(params[2]).id, content]);
        return { status: 201, body: { ...example('reaction'), content } };
      },
      'POST /repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies': ({ params, body }) => {
        // GitHub accepts replies only to the first comment of a thread.
        if (lineCommentIn(params[3]).inReplyTo !== undefined) throw new Refusal(422, 'Validation Failed');
        this.server.commentOnLine(this.server.settings.account, { inReplyTo: Number(params[3]) }, (body as { body: string }).body);
        return { status: 201, body: lineComment(this.server.reviewComments.at(-1)!) };
      },
      'GET /repos/{owner}/{repo}/git/commits/{commit_sha}': ({ params }) => ({ status: 200, body: gitCommit(params[2] ?? '') }),
      'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': () => ({
        status: 200,
        body: {
          sha: 't'.repeat(40),
          url: 'https://x',
          truncated: false,
          tree: [
            ...this.files.map((path) => ({ path, mode: '100644', type: 'blob', sha: '1'.repeat(40), size: 10, url: 'https://x' })),
            { path: 'src/link.cu', mode: '120000', type: 'blob', sha: '1'.repeat(40), size: 10, url: 'https://x' },
          ],
        },
      }),
      'POST /repos/{owner}/{repo}/git/trees': ({ body }) => {
        needsPush();
        const { tree } = body as { tree: { path: string; content: string }[] };
        const sha = String(trees.size).padStart(40, 'e');
        trees.set(sha, new Map(tree.map(({ path, content }) => [path, content])));
        return { status: 201, body: { sha, url: 'https://x', truncated: false, tree: [] } };
      },
      'POST /repos/{owner}/{repo}/git/commits': ({ body }) => {
        needsPush();
        const { message, tree, parents } = body as { message: string; tree: string; parents: [string] };
        const sha = String(pending.size + 1).padStart(40, 'c');
        pending.set(sha, { sha, parent: parents[0], message, files: trees.get(tree)! });
        return { status: 201, body: gitCommit(sha) };
      },
      'PATCH /repos/{owner}/{repo}/git/refs/{ref}': ({ params, body }) => {
        needsPush();
        const { sha, force } = body as { sha: string; force?: boolean };
        assert.equal(params[2], 'heads/topic');
        assert.notEqual(force, true);
        const commit = pending.get(sha)!;
        if (commit.parent !== this.head) throw new Refusal(422, 'Update is not a fast forward');
        this.head = sha;
        this.commits.push(commit);
        return { status: 200, body: { ...example('git-ref'), object: { type: 'commit', sha, url: 'https://x' } } };
      },
    };
  }
}

export const FIXED = applyLineEdits(SOURCE, [REPAIRED]);
