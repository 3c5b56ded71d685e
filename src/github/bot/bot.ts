/**
 * Answers a command in a comment of a pull request. Two hosts run this code: the action, for comment events, and the
 * server of a GitHub App. Commands require write permission to the repository. Each command is answered once, in its
 * thread.
 */
import type { Octokit } from '@octokit/rest';
import { applyLineEdits, editsByFile } from '../../report-model/repaired-file.ts';
import { findingsOf, placesOf, type Finding } from '../../report-model/outcome.ts';
import type { KernelReport, Report } from '../../report-model/report.ts';
import { codeSpan, escapeText } from '../../report/markup/inert-markdown.ts';
import { toMarkdown } from '../../report/markup/code-pieces.ts';
import { codes, type Code } from '../../source/codes.ts';
import { hasNonTextBytes } from '../../source/source-bytes.ts';
import { failureOf } from '../api/client.ts';
import type { PullRequestTarget } from '../api/target.ts';
import { reproduction, type ToolPlace } from '../plan/summary.ts';
import { parseMarker } from '../text/marker.ts';
import { commandHelp, parseCommand, type BotCommand } from './command.ts';
import { commitFiles, NotCommitted } from './commit.ts';
import { costAnswer } from './cost-answer.ts';

/** A comment as reported by the event. */
export interface CommandComment {
  readonly target: PullRequestTarget;
  readonly id: number;
  /** Where the comment is: in the conversation, or on a line of the diff. */
  readonly on: 'conversation' | 'line';
  readonly author: { readonly login: string; readonly id: number; readonly isBot: boolean };
  readonly body: string;
}

/** The current state of the pull request on GitHub. */
export interface PullState {
  readonly target: PullRequestTarget;
  readonly headSha: string;
  readonly baseSha: string;
  readonly branch: string;
  readonly isOpen: boolean;
  readonly isFork: boolean;
  readonly isDraft: boolean;
}

export interface Analysed {
  readonly report: Report;
  /** The folder that paths of files are relative to, with a trailing slash; empty for the top of the repository. */
  readonly folder: string;
  /** The text of a file of the head. */
  readonly source: (file: string) => string | undefined;
}

export interface BotServices {
  readonly octokit: Octokit;
  /** Analyses the head of a pull request, with repairs. */
  readonly analyse: (pull: PullState) => Promise<Analysed>;
  /**
   * Reviews the pull request again, and posts the review.
   * @param isRerun whether GitHub waits for the check run to be completed again
   */
  readonly review: (pull: PullState, isRerun?: boolean) => Promise<void>;
  /** Where the reader can obtain Selvage; absent if that is unknown. */
  readonly tool?: ToolPlace | undefined;
}

/** `ignored`: not a command, or no longer one; `refused`: the author lacks permission; `known`: already answered. */
export type BotOutcome = 'ignored' | 'refused' | 'known' | 'answered';

/** Answers a comment, if it is a command. */
export async function answerComment(comment: CommandComment, services: BotServices): Promise<BotOutcome> {
  const command = parseCommand(comment.body);
  if (!command || comment.author.isBot) return 'ignored';
  const { octokit } = services;
  const current = await currentComment(octokit, comment);
  // The comment was deleted or edited meanwhile. The edit is a separate event.
  if (!current || current.body !== comment.body || current.login !== comment.author.login) return 'ignored';
  if (!(await mayCommand(octokit, comment))) {
    await react(octokit, comment, '-1');
    return 'refused';
  }
  if (await isAnswered(octokit, comment, current.thread)) return 'known';
  await react(octokit, comment, 'eyes');
  const text = await answerTo(command, comment, services);
  await reply(octokit, comment, current.thread, `${answerMarker(comment)}\n${text}`);
  return 'answered';
}

/** A press of a button of the check run. */
interface PressedButton {
  readonly target: PullRequestTarget;
  readonly author: CommandComment['author'];
  /** ID of the webhook delivery that reported the press. */
  readonly delivery: string;
  /** The commit of the check run. */
  readonly headSha: string;
  readonly action: 'fix' | 'explain' | 'ignore';
}

/** A press of *Re-run* on a check run or a check suite. */
interface PressedRerun {
  readonly target: PullRequestTarget;
  readonly author: CommandComment['author'];
}

/** Reviews a pull request again, as `/selvage recheck` does. Nothing is posted in the conversation. */
export async function answerRerun({ target, author }: PressedRerun, services: BotServices): Promise<BotOutcome> {
  if (author.isBot) return 'ignored';
  if (!(await mayCommand(services.octokit, { target, author }))) return 'refused';
  const pull = await pullState(services.octokit, target);
  if (!pull.isOpen) return 'ignored';
  await services.review(pull, true);
  return 'answered';
}

/**
 * Answers a button on the conversation of the pull request: it applies to all findings of the check run. *Explain* and
 * *Ignore* need a single finding; if there are several, the answer lists them.
 */
export async function answerButton(button: PressedButton, services: BotServices): Promise<BotOutcome> {
  const { target, author, delivery } = button;
  const { octokit } = services;
  const comment = { target, id: 0, on: 'conversation' as const, author, body: '' };
  if (author.isBot) return 'ignored';
  if (!(await mayCommand(octokit, comment))) return 'refused';
  const marker = `<!-- selvage:answer button ${delivery.replaceAll(/[^\w]/g, '_')} -->`;
  const { owner, repo, pullNumber } = target;
  const page = { owner, repo, issue_number: pullNumber, per_page: 100 };
  const listed = await octokit.paginate(octokit.rest.issues.listComments, page);
  if (listed.some(({ body }) => body?.startsWith(marker) === true)) return 'known';
  const text = await buttonText(button, comment, services);
  await reply(octokit, comment, 0, `${marker}\n@${author.login}: ${text}`);
  return 'answered';
}

async function buttonText({ action, headSha, target }: PressedButton, comment: CommandComment, services: BotServices): Promise<string> {
  const { headSha: now } = await pullState(services.octokit, target);
  if (now !== headSha) return 'That check run is of an earlier commit; use the one of the newest.';
  if (action === 'fix') return answerTo({ kind: 'fix', id: 'all' }, comment, services);
  return answerTo({ kind: 'button', action }, comment, services);
}

/** The answer to *Explain* or *Ignore*. With several findings, it is the list of them. */
async function answerForOnly(
  action: 'explain' | 'ignore',
  comment: CommandComment,
  pull: PullState,
  analysed: Analysed,
  { octokit, tool }: BotServices,
): Promise<string> {
  const [id, ...others] = reportedFingerprints(analysed.report);
  if (id === undefined) return findingTable(analysed.report);
  if (others.length > 0) {
    const hint =
      action === 'ignore' ? 'Name the finding and a reason: `/selvage ignore ID REASON`.' : 'Name the finding: `/selvage explain ID`.';
    return `${hint}\n\n${helpTable()}\n\n${findingTable(analysed.report)}`;
  }
  if (action === 'explain') return explained(await chosen(id, comment, analysed, octokit), pull, analysed, tool);
  refuseForks(pull);
  const reason = `ignored by ${comment.author.login} with the button of the check run`;
  return ignored({ kind: 'ignore', id, reason }, comment, pull, analysed, octokit);
}

/** Fingerprints of the findings that the check run reports: not those that are suppressed, or in the base too. */
function reportedFingerprints({ kernels, comparison }: Report): readonly string[] {
  const found = kernels.flatMap(findingsOf).filter(({ suppressed }) => suppressed === undefined);
  const all = new Set(found.map(({ fingerprint }) => fingerprint));
  for (const fingerprint of comparison?.unchanged ?? []) all.delete(fingerprint);
  return [...all];
}

const answerMarker = ({ on, id }: CommandComment): string => `<!-- selvage:answer ${on} ${id} -->`;

interface CurrentComment {
  readonly body: string;
  readonly login: string;
  /** ID of the first comment of the thread. */
  readonly thread: number;
}

async function currentComment(octokit: Octokit, { target, id, on }: CommandComment): Promise<CurrentComment | undefined> {
  const asked = { owner: target.owner, repo: target.repo, comment_id: id };
  try {
    if (on === 'conversation') {
      const { data } = await octokit.rest.issues.getComment(asked);
      return { body: data.body ?? '', login: data.user?.login ?? '', thread: id };
    }
    const { data } = await octokit.rest.pulls.getReviewComment(asked);
    return { body: data.body, login: data.user.login, thread: data.in_reply_to_id ?? id };
  } catch (error) {
    if (failureOf(error).status === 404) return undefined;
    throw error;
  }
}

async function mayCommand(
  octokit: Octokit,
  { target: { owner, repo }, author }: Pick<CommandComment, 'target' | 'author'>,
): Promise<boolean> {
  try {
    const asked = { owner, repo, username: author.login };
    const { data } = await octokit.rest.repos.getCollaboratorPermissionLevel(asked);
    return data.permission === 'admin' || data.permission === 'write';
  } catch (error) {
    if (failureOf(error).status === 404) return false;
    throw error;
  }
}

async function isAnswered(octokit: Octokit, comment: CommandComment, thread: number): Promise<boolean> {
  const { owner, repo, pullNumber } = comment.target;
  const page = { owner, repo, per_page: 100 };
  const listed: readonly { readonly id: number; readonly body?: string | null }[] =
    comment.on === 'conversation'
      ? await octokit.paginate(octokit.rest.issues.listComments, { ...page, issue_number: pullNumber })
      : await octokit.paginate(octokit.rest.pulls.listReviewComments, { ...page, pull_number: pullNumber });
  return listed.some(({ id, body }) => id !== thread && body?.startsWith(answerMarker(comment)) === true);
}

async function react(octokit: Octokit, { target, id, on }: CommandComment, content: 'eyes' | '-1'): Promise<void> {
  const asked = { owner: target.owner, repo: target.repo, comment_id: id, content };
  try {
    if (on === 'conversation') await octokit.rest.reactions.createForIssueComment(asked);
    else await octokit.rest.reactions.createForPullRequestReviewComment(asked);
  } catch {
    // Errors are ignored: the reaction is optional, since the answer contains more.
  }
}

async function reply(octokit: Octokit, { target, on }: CommandComment, thread: number, body: string): Promise<void> {
  const { owner, repo, pullNumber } = target;
  if (on === 'conversation') await octokit.rest.issues.createComment({ owner, repo, issue_number: pullNumber, body });
  else await octokit.rest.pulls.createReplyForReviewComment({ owner, repo, pull_number: pullNumber, comment_id: thread, body });
}

/** *Explain* or *Ignore*, which apply to the only finding. */
interface ButtonCommand {
  readonly kind: 'button';
  readonly action: 'explain' | 'ignore';
}

async function answerTo(command: BotCommand | ButtonCommand, comment: CommandComment, services: BotServices): Promise<string> {
  try {
    if (command.kind === 'unknown') return `${escapeTextWithCode(command.problem)}\n\n${helpTable()}`;
    const pull = await pullState(services.octokit, comment.target);
    if (!pull.isOpen) return 'The pull request is closed.';
    if (command.kind === 'recheck') {
      await services.review(pull);
      return `Analysed ${pull.headSha.slice(0, 7)} again.`;
    }
    if (command.kind === 'fix' || command.kind === 'ignore') {
      refuseForks(pull);
      // An earlier run was interrupted after it had committed and before it had reported the commit.
      if (await isCommitted(pull, comment, services.octokit)) return `Committed ${pull.headSha.slice(0, 7)}.`;
    }
    const analysed = await services.analyse(pull);
    switch (command.kind) {
      case 'help':
        return `${helpTable()}\n\n${findingTable(analysed.report)}`;
      case 'button':
        return await answerForOnly(command.action, comment, pull, analysed, services);
      case 'cost':
        return costAnswer(command.kernel, analysed.report);
      case 'explain':
        return explained(await chosen(command.id, comment, analysed, services.octokit), pull, analysed, services.tool);
      case 'fix':
        return await fixed(command.id, comment, pull, analysed, services.octokit);
      case 'ignore':
        return await ignored(command, comment, pull, analysed, services.octokit);
    }
  } catch (error) {
    if (error instanceof NotCommitted || error instanceof CommandRefused) return error.message;
    return `Selvage could not do that: ${codeSpan(failureOf(error).message)}`;
  }
}

function escapeTextWithCode(text: string): string {
  const sentence = toMarkdown(text);
  return `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`;
}

/** The pull request as GitHub has it. */
export async function pullState(octokit: Octokit, target: PullRequestTarget): Promise<PullState> {
  const { owner, repo, pullNumber } = target;
  const { data } = await octokit.rest.pulls.get({ owner, repo, pull_number: pullNumber });
  return {
    target,
    headSha: data.head.sha,
    baseSha: data.base.sha,
    branch: data.head.ref,
    isOpen: data.state === 'open',
    isFork: data.head.repo?.full_name !== data.base.repo.full_name,
    isDraft: data.draft === true,
  };
}

/** Thrown if a command cannot be executed. The message states the reason, in Markdown. */
export class CommandRefused extends Error {}

interface Chosen {
  readonly finding: Finding;
  readonly kernel: KernelReport;
}

/** The finding that a command refers to, by the ID in the command or by the finding of its thread. */
async function chosen(id: string | undefined, comment: CommandComment, { report }: Analysed, octokit: Octokit): Promise<Chosen> {
  const names = id === undefined ? await threadFingerprints(comment, octokit) : [id];
  const all = report.kernels.flatMap((kernel) => findingsOf(kernel).map((finding) => ({ finding, kernel })));
  const found = new Map(
    all.filter(({ finding }) => names.some((name) => finding.fingerprint.startsWith(name))).map((one) => [one.finding.fingerprint, one]),
  );
  const [only] = found.values();
  if (only && found.size === 1) return only;
  const why =
    names.length === 0
      ? 'This thread is of no finding; name one.'
      : found.size === 0
        ? `No finding of this commit has the ID ${codeSpan(names.join(', '))}; it may be fixed.`
        : 'Several findings have that ID; name more of its digits.';
  throw new CommandRefused(`${why}\n\n${findingTable(report)}`);
}

async function threadFingerprints({ on, id, target }: CommandComment, octokit: Octokit): Promise<readonly string[]> {
  if (on === 'conversation') return [];
  const { owner, repo } = target;
  const { data } = await octokit.rest.pulls.getReviewComment({ owner, repo, comment_id: id });
  if (data.in_reply_to_id === undefined) return [];
  const { data: first } = await octokit.rest.pulls.getReviewComment({ owner, repo, comment_id: data.in_reply_to_id });
  return parseMarker(first.body)?.fingerprints ?? [];
}

function helpTable(): string {
  const rows = commandHelp.map(([usage, meaning]) => `| \`${usage}\` | ${meaning} |`);
  return ['| command | does |', '|---|---|', ...rows].join('\n');
}

const maxRows = 30;
/** Key of the trailer in commit messages that names the comment with the command. */
const trailer = 'Selvage-Command:';

function findingTable({ kernels }: Report): string {
  const all = kernels.flatMap((kernel) => findingsOf(kernel).map((finding) => ({ finding, kernel })));
  if (all.length === 0) return 'No findings in what this pull request changes.';
  const rows = all.slice(0, maxRows).map(({ finding, kernel }) => {
    const [place] = placesOf(finding);
    const where = place ? `${place.file}:${place.line}` : '';
    const edit = kernel.repair.fixes?.includes(finding.fingerprint) === true ? 'yes' : 'no';
    return `| \`${finding.fingerprint.slice(0, 8)}\` | ${finding.code} | ${codeSpan(where).replaceAll('|', '\\|')} | ${edit} |`;
  });
  const more = all.length > maxRows ? [`\nand ${all.length - maxRows} more.`] : [];
  return ['| ID | finding | place | verified edit |', '|---|---|---|---|', ...rows, ...more].join('\n');
}

function explained({ finding, kernel }: Chosen, { headSha }: PullState, { folder }: Analysed, tool: ToolPlace | undefined): string {
  const { title, explanation, remedy } = codes[finding.code as Code];
  const reproduce = finding.reproduce === undefined ? [] : ['To see it again:', reproduction({ tool, folder, headSha }, finding.reproduce)];
  return [
    `**${escapeText(title)}** (${finding.code}, in ${codeSpan(kernel.name)})`,
    toMarkdown(finding.message),
    toMarkdown(explanation),
    `Remedy: ${toMarkdown(remedy)}`,
    ...reproduce,
  ].join('\n\n');
}

async function fixed(
  id: string | undefined,
  comment: CommandComment,
  pull: PullState,
  analysed: Analysed,
  octokit: Octokit,
): Promise<string> {
  const { kernels } = analysed.report;
  const only = id === 'all' ? undefined : await chosen(id, comment, analysed, octokit);
  const meant = kernels.filter(({ repair }) => {
    const isVerified = repair.status === 'repaired' && repair.verified === true && repair.edits !== undefined;
    return isVerified && (!only || repair.fixes?.includes(only.finding.fingerprint) === true);
  });
  if (meant.length === 0)
    throw new CommandRefused(
      only
        ? `Selvage has no verified edit for this finding${reasonOf(only.kernel)}.`
        : 'Selvage has no verified edits for the findings of this commit.',
    );
  const files = new Map<string, string>();
  for (const [file, distinct] of editsByFile(meant.map(({ repair }) => repair.edits!))) {
    const text = analysed.source(file);
    const overlap = distinct.some((edit, index) => index > 0 && edit.startLine <= distinct[index - 1]!.endLine);
    if (text === undefined || overlap)
      throw new CommandRefused(`The edits of ${codeSpan(file)} cannot be applied together; fix one finding at a time.`);
    files.set(`${analysed.folder}${file}`, applyLineEdits(text, distinct));
  }
  const names = [...new Set(meant.map(({ name }) => name))];
  const subject =
    names.length === 1 ? `Fix what Selvage found in ${plainName(names[0]!)}` : `Fix what Selvage found in ${names.length} kernels`;
  const sha = await committed(octokit, comment, pull, files, subject);
  const isPartial = meant.some(({ repair }) => repair.leaves !== undefined);
  const shown = isPartial ? 'what it fixes is shown to be gone' : 'the kernel is proved with it';
  return `Committed ${sha}: the edit compiles, and ${shown}.`;
}

function reasonOf({ repair: { reason } }: KernelReport): string {
  return reason === undefined ? '' : `: ${toMarkdown(reason)}`;
}

async function ignored(
  { id, reason }: Extract<BotCommand, { kind: 'ignore' }>,
  comment: CommandComment,
  pull: PullState,
  analysed: Analysed,
  octokit: Octokit,
): Promise<string> {
  const { finding } = await chosen(id, comment, analysed, octokit);
  const place = placesOf(finding).find(({ file }) => analysed.source(file) !== undefined);
  if (!place) throw new CommandRefused('The source of this finding is not in the pull request.');
  const lines = analysed.source(place.file)!.split('\n');
  const [before = '', line = ''] = [lines[place.line - 2], lines[place.line - 1]];
  if (before.trimEnd().endsWith('\\')) throw new CommandRefused('The finding is in a macro, where no comment is possible.');
  const end = line.endsWith('\r') ? '\r' : '';
  const indent = /^[ \t]*/.exec(line)?.[0] ?? '';
  lines.splice(place.line - 1, 0, `${indent}// selvage-ignore ${finding.code}: ${reason}${end}`);
  const files = new Map([[`${analysed.folder}${place.file}`, lines.join('\n')]]);
  const sha = await committed(octokit, comment, pull, files, `Suppress ${finding.code} in ${plainName(place.file)}`);
  return `Committed ${sha}: ${finding.code} is suppressed at ${codeSpan(`${place.file}:${place.line}`)}.`;
}

async function isCommitted({ headSha, target }: PullState, comment: CommandComment, octokit: Octokit): Promise<boolean> {
  const { owner, repo } = target;
  const { data } = await octokit.rest.git.getCommit({ owner, repo, commit_sha: headSha });
  return comment.id !== 0 && data.message.split('\n').includes(`${trailer} ${comment.id}`);
}

function refuseForks({ isFork }: PullState): void {
  if (isFork) throw new CommandRefused('The branch is in a fork, which Selvage may not write; its author can apply the suggestion.');
}

/** Text without characters that have a meaning in a commit message. */
function plainName(text: string): string {
  return text.replaceAll(/[^\w./:<>, -]/g, '?').slice(0, 60);
}

async function committed(
  octokit: Octokit,
  { target, author, id }: CommandComment,
  pull: PullState,
  files: ReadonlyMap<string, string>,
  subject: string,
): Promise<string> {
  for (const [file, text] of files)
    if (hasNonTextBytes(text))
      throw new CommandRefused(`${codeSpan(file)} is not UTF-8, and GitHub takes no other text; \`selvage repair --write\` edits it.`);
  const now = await pullState(octokit, target);
  if (now.headSha !== pull.headSha) throw new NotCommitted('The branch has a newer commit by now; run the command again.');
  const trailers = [
    ...(id === 0 ? [] : [`${trailer} ${id}`]),
    `Co-authored-by: ${author.login} <${author.id}+${author.login}@users.noreply.github.com>`,
  ];
  const message = `${subject}\n\n${trailers.join('\n')}\n`;
  const { branch, headSha: head } = pull;
  return (await commitFiles(octokit, target, { branch, head, files, message })).slice(0, 7);
}
