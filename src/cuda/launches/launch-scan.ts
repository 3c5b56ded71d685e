/** Recognises launches in a text without parsing it: `<<<…>>>`, or a function of the runtime API. */
const launchText = /<\s*<\s*<|\bcu(?:da)?Launch(?:Cooperative)?Kernel|\bcu(?:da)?Graph\w*(?:Kernel\w*|AddNode|NodeSetParams)/;

/** Whether a text may contain launches; most files without launches need not be parsed. */
export function mayLaunch(text: string): boolean {
  return launchText.test(text);
}

/**
 * Names of the kernels that a text may launch, without namespaces: a superset, which contains other words of the calls
 * too.
 */
export function namesLaunchedIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  if (!mayLaunch(text)) return names;
  for (const match of text.matchAll(/\b([A-Za-z_]\w*)\s*(?:<[^<>;{}]*>)?\s*<\s*<\s*</g)) names.add(match[1] ?? '');
  for (const match of text.matchAll(/\bcudaLaunch\w*\s*\(([^;]*)/g)) {
    for (const [word] of (match[1] ?? '').matchAll(/[A-Za-z_]\w*/g)) names.add(word);
  }
  return names;
}

/** Words that may precede a call. Any other word before a name and a parenthesis makes it a declaration. */
const beforeCall = /^(?:return|else|do|throw|case|goto|new|delete|not|and|or|xor|co_return|co_await|co_yield)$/;

/**
 * Whether a text may call a free function of a name; avoids parsing most files that only mention it. Comments, strings,
 * declarations, and calls of methods do not count; in doubt, the answer is yes.
 */
export function mayCall(text: string, name: string): boolean {
  const lines = withoutComments(text).replaceAll(/\\\r?\n/g, ' ');
  for (const { index } of lines.matchAll(wordOf(name))) {
    const line = lines.slice(lines.lastIndexOf('\n', index) + 1, index);
    if (/^\s*#\s*define\b/.test(line)) return true;
    const before = lines.slice(Math.max(0, index - 80), index);
    const isCall = /^\s*(?:[(<]|$)/.test(lines.slice(index + name.length, index + name.length + 80));
    if (!isCall || /(?:\.|->)\s*$/.test(before)) continue;
    // Only on the same line: the previous line may be a directive.
    const word = /\b([A-Za-z_]\w*)[ \t]+$/.exec(line)?.[1];
    if (word === undefined || beforeCall.test(word)) return true;
  }
  return false;
}

/** Whether a text contains a name outside of comments; in doubt, the answer is yes. */
export function containsName(text: string, name: string): boolean {
  if (!wordOf(name).test(text)) return false;
  return wordOf(name).test(text.includes('R"') ? text : text.replaceAll(commentOrLiteral, (part) => (part.startsWith('/') ? ' ' : part)));
}

const commentOrLiteral = /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\.)'/g;

/** A text without comments and literals; unchanged if a raw string may hide which is which. */
function withoutComments(text: string): string {
  return text.includes('R"') ? text : text.replaceAll(commentOrLiteral, ' ');
}

function wordOf(name: string): RegExp {
  return new RegExp(`(?<![A-Za-z0-9_])${name.replace(/\W/g, '')}(?![A-Za-z0-9_])`, 'g');
}

/** Whether a text defines a function of a name, as far as this can be determined without parsing. */
export function definesFunction(text: string, name: string): boolean {
  return new RegExp(`${wordOf(name).source}\\s*\\([^;{}()]*\\)\\s*\\{`).test(withoutComments(text));
}
