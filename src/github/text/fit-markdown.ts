/** Markdown within GitHub's size limits. */
/** Budget of one comment in UTF-8 bytes: GitHub rejects bodies of more than 65,536 characters. */
export const COMMENT_BUDGET = 64_000;
/** Budget of a check run's summary in UTF-8 bytes: GitHub rejects more than 65,535 characters. */
export const CHECK_SUMMARY_BUDGET = 64_000;
/** Budget of a step's job summary in UTF-8 bytes: GitHub drops a file of more than 1 MiB. */
export const JOB_SUMMARY_BUDGET = 1_000_000;

/** Length in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * Cuts Markdown to `budget` UTF-8 bytes if it is longer: at the last blank line of the final fifth if there is one,
 * otherwise at the last line end; closes open fences and folded sections and adds `note`.
 */
export function fitMarkdown(text: string, budget: number, note: string): string {
  if (byteLength(text) <= budget) return text;
  // The closing lines are short, except for a fence as long as the text itself; 400 bytes cover the usual ones.
  const room = budget - byteLength(note) - 400;
  const prefix = prefixOfBytes(text, room);
  const blank = prefix.lastIndexOf('\n\n');
  const head = prefix.slice(0, blank >= prefix.length * 0.8 ? blank : Math.max(0, prefix.lastIndexOf('\n')));
  const { fence, sections } = openConstructs(head);
  const closing = (fence === undefined ? '' : `\n${fence}`) + '\n\n</details>'.repeat(sections);
  return `${head}${closing}\n\n${note}`;
}

/** The longest prefix of at most `budget` UTF-8 bytes that does not split a character. */
export function prefixOfBytes(text: string, budget: number): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= budget) return text;
  let end = Math.max(0, budget);
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder().decode(bytes.subarray(0, end));
}

function openConstructs(text: string): { fence: string | undefined; sections: number } {
  let fence: string | undefined;
  let sections = 0;
  for (const line of text.split('\n')) {
    const ticks = /^`{3,}/.exec(line)?.[0];
    if (fence !== undefined) {
      if (line.trimEnd() === fence) fence = undefined;
    } else if (ticks !== undefined) {
      fence = ticks;
    } else if (line.startsWith('<details>')) {
      sections += 1;
    } else if (line.startsWith('</details>')) {
      sections -= 1;
    }
  }
  return { fence, sections };
}
