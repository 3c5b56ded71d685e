/**
 * How GitHub applies a suggestion, from its documentation and not from our code: the lines of the comment
 * are replaced, whole, by the content of the block. A file with CRLF has only CRLF afterwards (w3c/cbor-ld#112; the
 * web editor announces it: "we will normalize them to Windows-style (CRLF)").
 */

/** A comment of a review as it is posted, as far as suggestions need it. */
export interface PostedComment {
  readonly path: string;
  readonly line: number;
  readonly startLine?: number;
  readonly body: string;
}

/** A fenced code block (CommonMark 0.31, section 4.5) with no indentation. */
export interface FencedBlock {
  readonly info: string;
  readonly lines: readonly string[];
}

/** All fenced blocks of a text, in order; one that is not closed ends with the text. */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: { info: string; lines: string[] }[] = [];
  let open: { readonly fence: string; readonly block: { info: string; lines: string[] } } | null = null;
  for (const line of markdown.split('\n')) {
    if (open) {
      const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1];
      if (closing !== undefined && closing[0] === open.fence[0] && closing.length >= open.fence.length) open = null;
      else open.block.lines.push(line);
      continue;
    }
    const start = /^(`{3,}|~{3,})([^`]*)$/.exec(line);
    if (!start) continue;
    open = { fence: start[1]!, block: { info: start[2]!.trim(), lines: [] } };
    blocks.push(open.block);
  }
  return blocks;
}

/**
 * Commits the suggestions of comments on one file, as one batch.
 * @throws Error if GitHub would reject it: more than one on a line, an invalid range or one outside of the file
 */
export function commitSuggestions(text: string, comments: readonly PostedComment[]): string {
  const endsWithNewline = text.endsWith('\n');
  const lines = (endsWithNewline ? text.slice(0, -1) : text).split('\n').map((line) => line.replace(/\r$/, ''));
  const replaced = new Set<number>();
  const parts = comments.flatMap((comment) =>
    fencedBlocks(comment.body)
      .filter(({ info }) => info === 'suggestion')
      .map(({ lines: content }) => ({ comment, content })),
  );
  for (const { comment } of parts) {
    const { line, startLine } = comment;
    if (startLine !== undefined && startLine >= line) throw new Error('the start line must precede the end line');
    const first = startLine ?? line;
    if (first < 1 || line > lines.length) throw new Error(`lines ${first} to ${line} are not in the file`);
    for (let at = first; at <= line; at++) {
      if (replaced.has(at)) throw new Error(`two suggestions replace line ${at}`);
      replaced.add(at);
    }
  }
  const sorted = [...parts].sort((a, b) => b.comment.line - a.comment.line);
  for (const { comment, content } of sorted) {
    const first = comment.startLine ?? comment.line;
    lines.splice(first - 1, comment.line - first + 1, ...content);
  }
  const lineEnd = text.includes('\r\n') ? '\r\n' : '\n';
  return lines.join(lineEnd) + (endsWithNewline ? lineEnd : '');
}
