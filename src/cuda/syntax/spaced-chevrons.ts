/** Launches written as `kernel << <grid, block >> > (…)`, as C++ formatters leave them; nvcc accepts this form. */

const spacedOpening = /(?<=[\w>]\s*)(?:<<(\s+)<|<(\s+)<<)(?![<=])/g;

/**
 * A text in which `<<<` and `>>>` of launches are contiguous. The blanks within them move after them, so that all other
 * text keeps its place.
 */
export function withWholeChevrons(text: string): string {
  if (!/<<\s+<|<\s+<</.test(text)) return text;
  let whole = text;
  for (const { 0: found, 1: blanks, 2: others, index } of text.matchAll(spacedOpening)) {
    whole = replaced(whole, index, found.length, `<<<${blanks ?? others}`);
    const end = closingOf(text, index + found.length);
    if (end) whole = replaced(whole, end.start, end.length, `>>>${end.blanks}`);
  }
  return whole;
}

function replaced(text: string, start: number, length: number, by: string): string {
  return text.slice(0, start) + by + text.slice(start + length);
}

/**
 * The closing brackets of a launch configuration that begins at an offset, if there are blanks between them; null
 * otherwise.
 */
function closingOf(text: string, from: number): { start: number; length: number; blanks: string } | null {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at]!;
    if ('([{'.includes(character)) depth++;
    else if (')]}'.includes(character)) depth--;
    if (depth < 0 || (depth === 0 && character === ';')) return null;
    if (depth > 0 || character !== '>') continue;
    const closing = /^(?:>>(\s*)>|>(\s+)>>)/.exec(text.slice(at, at + 64));
    if (closing) return { start: at, length: closing[0].length, blanks: closing[1] ?? closing[2] ?? '' };
  }
  return null;
}
