/**
 * Compiles a pattern over paths with forward slashes: `**` is any number of folders, `*` and `?` stay within one,
 * `{a,b}` are alternatives, `[…]` is a set of characters.
 */
export function pathPattern(pattern: string): RegExp {
  let source = '';
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const character = pattern.charAt(i);
    if (pattern.startsWith('**/', i) && (i === 0 || pattern[i - 1] === '/')) {
      source += '(?:.*/)?';
      i += 2;
    } else if (pattern.startsWith('**', i)) {
      source += '.*';
      i += 1;
    } else if (character === '*') source += '[^/]*';
    else if (character === '?') source += '[^/]';
    else if (character === '{') {
      source += '(?:';
      depth += 1;
    } else if (character === '}' && depth > 0) {
      source += ')';
      depth -= 1;
    } else if (character === ',' && depth > 0) source += '|';
    else if (character === '[' && pattern.indexOf(']', i + 2) > 0) {
      const end = pattern.indexOf(']', i + 2);
      const set = pattern
        .slice(i + 1, end)
        .replace(/[\\\]^]/g, '\\$&')
        .replace(/^!/, '^');
      source += `[${set}]`;
      i = end;
    } else source += character.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  }
  return new RegExp(`^${source}${')'.repeat(depth)}$`);
}

/** Whether a word holds any of the characters that make it a pattern. */
export function isPattern(word: string): boolean {
  return /[*?[{]/.test(word);
}
