/** The commands to Selvage in comments of a pull request. */

export type BotCommand =
  /** `id`: the first digits of the finding's fingerprint; absent in the thread of a finding. */
  | { readonly kind: 'explain'; readonly id: string | undefined }
  | { readonly kind: 'fix'; readonly id: string | undefined }
  | { readonly kind: 'ignore'; readonly id: string | undefined; readonly reason: string }
  | { readonly kind: 'cost'; readonly kernel: string }
  | { readonly kind: 'recheck' | 'help' }
  | { readonly kind: 'unknown'; readonly problem: string };

export const commandHelp: readonly (readonly [usage: string, meaning: string])[] = [
  ['/selvage explain ID', 'what a finding means, what a run did, and the remedy'],
  ['/selvage fix ID', 'commit the verified edit of a finding to this branch; `fix all` commits all of them'],
  ['/selvage ignore ID REASON', 'commit a comment that suppresses a finding, with your reason'],
  ['/selvage recheck', 'analyse the pull request again'],
  ['/selvage cost KERNEL', 'what a kernel costs, by metric'],
  ['/selvage help', 'this list'],
];

const longestReason = 300;
const identifier = /^[0-9a-f]{4,64}$/i;

/**
 * Parses the command of a comment: its first line that is not empty has to begin with `/selvage`. Quotations, and
 * commands further down, are ignored.
 * @returns undefined if the comment is not a command
 */
export function parseCommand(body: string): BotCommand | undefined {
  const line = body.split(/\r?\n/).find((text) => text.trim() !== '') ?? '';
  const [, rest] = /^\/selvage(?:[ \t]+(.*))?$/.exec(line.trimEnd()) ?? [undefined, undefined];
  if (rest === undefined && line.trim() !== '/selvage') return undefined;
  const words = (rest ?? '').split(/[ \t]+/).filter((word) => word !== '');
  const [word = 'help', first, ...others] = words;
  const id = first !== undefined && identifier.test(first) ? first.toLowerCase() : undefined;
  switch (word.toLowerCase()) {
    case 'help':
      return { kind: 'help' };
    case 'recheck':
      return { kind: 'recheck' };
    case 'explain':
      if (first !== undefined && id === undefined) return wrong(`${first} is not the ID of a finding`);
      return { kind: 'explain', id };
    case 'fix':
      if (first?.toLowerCase() === 'all') return { kind: 'fix', id: 'all' };
      if (first !== undefined && id === undefined) return wrong(`${first} is not the ID of a finding, nor \`all\``);
      return { kind: 'fix', id };
    case 'ignore': {
      const reason = (id === undefined ? words.slice(1) : others)
        .join(' ')
        .replaceAll(/[\p{Cc}\\]/gu, ' ')
        .trim();
      if (reason === '') return wrong('give a reason: `/selvage ignore ID REASON`');
      if (reason.length > longestReason) return wrong(`a reason has at most ${longestReason} characters`);
      return { kind: 'ignore', id, reason };
    }
    case 'cost':
      return first === undefined ? wrong('name a kernel: `/selvage cost KERNEL`') : { kind: 'cost', kernel: words.slice(1).join(' ') };
    default:
      return wrong(`${word} is not one of the commands`);
  }
}

function wrong(problem: string): BotCommand {
  return { kind: 'unknown', problem };
}
