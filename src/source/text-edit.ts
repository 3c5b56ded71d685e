/** Edits of a text by offsets, and the line ends and indentation of a file. */
/**
 * An edit that replaces [start, end) by a text. Insertions at the same offset keep their order, and precede a
 * replacement there.
 */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * Applies edits that do not overlap.
 * @throws RangeError if two edits overlap
 */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  const order = ({ start, end }: TextEdit): number => (end > start ? 1 : 0);
  const sorted = [...edits].sort((a, b) => a.start - b.start || order(a) - order(b));
  let result = '';
  let at = 0;
  for (const { start, end, text: replacement } of sorted) {
    if (start < at) throw new RangeError('edits overlap');
    result += text.slice(at, start) + replacement;
    at = end;
  }
  return result + text.slice(at);
}

/** Line ends of a file, indentation of a block, and placement of braces. */
export interface TextStyle {
  readonly lineEnd: '\n' | '\r\n';
  readonly indent: string;
  /** Whether opening braces of statements are on separate lines. */
  readonly bracesApart: boolean;
}

/** Finds the most frequent line end and brace placement of a text, and its smallest step of indentation. */
export function styleOf(text: string): TextStyle {
  const all = text.split('\n');
  const carriage = all.filter((line) => line.endsWith('\r')).length;
  const tabs = all.filter((line) => line.startsWith('\t')).length;
  // Continuation lines of a comment (` * …`) are indented by one additional column, so they are ignored.
  const spaces = all.flatMap((line) => /^( +)(?!\*(?:[ /]|$))\S/.exec(line)?.[1]?.length ?? []);
  const steps = [8, 4, 3, 2].filter((step) => {
    const fitting = spaces.filter((width) => width % step === 0).length;
    return fitting * 10 >= spaces.length * 9;
  });
  const step = spaces.length === 0 ? 4 : (steps[0] ?? 2);
  const smallest = Math.min(...spaces.filter((width) => width > 1), step);
  return {
    lineEnd: carriage * 2 > all.length - 1 ? '\r\n' : '\n',
    indent: tabs > spaces.length ? '\t' : ' '.repeat(Math.max(2, smallest)),
    // Braces of functions, which are often on separate lines even if those of statements are not, are ignored.
    bracesApart:
      all.filter((line) => /^[ \t]+\{[ \t]*\r?$/.test(line)).length >
      all.filter((line) => /^[ \t].*(?:\)|\belse|\bdo)[ \t]*\{[ \t]*\r?$/.test(line)).length,
  };
}

/**
 * The text that opens a block after a condition, `else` or `do`: white space and the brace.
 * @param indent of the statement
 */
export function blockOpening({ bracesApart, lineEnd: newLine }: TextStyle, indent: string): string {
  return bracesApart ? `${newLine}${indent}{` : ' {';
}

/** White space between the closing brace of a block and a following `else`. */
export function elseSpace({ bracesApart, lineEnd: newLine }: TextStyle, indent: string): string {
  return bracesApart ? `${newLine}${indent}` : ' ';
}

/** The offset of the start of the line that contains an offset. */
export function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

/** The offset after the line end of the line that contains an offset. */
export function lineEnd(text: string, offset: number): number {
  const at = text.indexOf('\n', offset);
  return at === -1 ? text.length : at + 1;
}

/** The white space at the start of the line that contains an offset. */
export function indentOf(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset), offset))![0];
}
