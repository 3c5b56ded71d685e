/**
 * Active content of a Markdown text, by GitHub's documentation and not by our code: HTML, links, images, mentions
 * and references. Mentions and references are searched in the rendered text, that is after entities are resolved; code
 * is skipped (github/cmark-gfm#181, html-pipeline).
 */

/** Tags of our own, as we write them. */
const ownTags = new Set(['<details>', '</details>', '<summary>', '</summary>', '<sub>', '</sub>']);

/**
 * The active parts of a text, verbatim.
 * @param isOwnLink whether a link may point there
 */
export function activePieces(markdown: string, isOwnLink: (target: string) => boolean): string[] {
  const text = withoutCode(markdown.replaceAll(/^\s*<!-- selvage:[^\n]*? -->$/gm, ''));
  const found = [...text.matchAll(/<[/!?a-zA-Z][^>]*>?/g)].map(([tag]) => tag).filter((tag) => !ownTags.has(tag));
  found.push(...[...text.matchAll(/!\[|^ {0,3}\[[^\]]+\]:/gm)].map(([image]) => image));
  const withoutLinks = text.replaceAll(/\]\(([^()\s]*)\)/g, (link, target: string) => {
    if (!isOwnLink(target)) found.push(link);
    return ']';
  });
  found.push(...[...withoutLinks.matchAll(/\]\(|\b(?:https?:\/\/|www\.)\S*/gi)].map(([link]) => link));
  const rendered = resolved(withoutLinks.replaceAll(/<[^>]*>/g, ''));
  const references = /(?<![\w/])@\w[\w-]*|[\w.+-]+@\w[\w-]*\.\w+|#\d+|\bGH-\d+/gi;
  return [...found, ...[...rendered.matchAll(references)].map(([reference]) => reference)];
}

/** Fenced blocks and code spans are rendered verbatim. */
function withoutCode(markdown: string): string {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of markdown.split('\n')) {
    if (fence === undefined) fence = /^\s*(`{3,})[^`]*$/.exec(line)?.[1];
    else if (new RegExp(`^\\s*${fence}\`*\\s*$`).test(line)) fence = undefined;
    else continue;
    lines.push(fence === undefined && !/^\s*`{3,}\s*$/.test(line) ? line : '');
  }
  const paragraphs = lines.join('\n').split(/\n\s*\n/);
  return paragraphs.map((one) => one.replaceAll(/(?<!`)(`+)(?!`)(?:[^]*?[^`])??\1(?!`)/g, 'code')).join('\n\n');
}

function resolved(text: string): string {
  return text.replaceAll(/&#(\d+);|&(lt|gt|amp|quot);/g, (_, code?: string, name?: string) =>
    code !== undefined ? String.fromCodePoint(Number(code)) : { lt: '<', gt: '>', amp: '&', quot: '"' }[name!]!,
  );
}
