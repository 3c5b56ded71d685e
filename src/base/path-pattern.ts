import { compileGlob, type Glob } from './glob.ts';

/**
 * Compiles a glob over paths with forward slashes: `**` is any number of folders, `*` and `?` stay within one,
 * `{a,b}` are alternatives, `[…]` is a set of characters.
 */
export function pathPattern(pattern: string): Glob {
  return compileGlob(pattern, { separator: '/', hasChoices: true });
}

/** Whether a word contains a character that makes it a pattern. */
export function isPattern(word: string): boolean {
  return /[*?[{]/.test(word);
}
