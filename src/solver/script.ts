/** Validation of scripts before they are passed to Z3. */

const declarations =
  /\(\s*declare-(?:const\s+(\|[^|]*\||[^\s()|]+)|fun\s+(\|[^|]*\||[^\s()|]+)\s*\(\s*\))\s*(Int|Bool|\(\s*_\s+BitVec\s+\d+\s*\))\s*\)/g;

const commandHead = /\s*([^\s()|";]*)/y;
const allowedCommand = /^(?:declare-const|declare-fun|define-fun|define-const|assert)$/;

/**
 * Rejects scripts unsuitable for Z3: a top-level command other than a declaration, a definition or an assertion (some
 * affect other solvers, as `set-option` does, and Z3 silently skips unknown ones), or a script that does not end with
 * its last command, so that the text after it would be swallowed.
 * @returns the problem, as a sentence without its end
 */
export function scriptProblem(script: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < script.length; at += 1) {
    const character = script[at];
    if (character === '(') {
      if (depth === 0) {
        commandHead.lastIndex = at + 1;
        const head = commandHead.exec(script)?.[1] ?? '';
        if (!allowedCommand.test(head)) return `command ${head} is not allowed in a script`;
      }
      depth += 1;
    } else if (character === ')') {
      depth -= 1;
      if (depth < 0) return 'a script closes more parentheses than it opens';
    } else if (character === ';' || character === '|' || character === '"') {
      const end = script.indexOf(character === ';' ? '\n' : character, at + 1);
      if (end < 0) return 'a script ends within a comment, name or string';
      at = end;
    }
  }
  return depth > 0 ? 'a script opens more parentheses than it closes' : undefined;
}

/**
 * The constants that a script declares, without bars around their names, with the default value if a model omits one.
 */
export function declaredConstants(script: string): Map<string, bigint | boolean> {
  const constants = new Map<string, bigint | boolean>();
  for (const [, constant, nullary, sort] of script.matchAll(declarations)) {
    const name = constant ?? nullary;
    if (name !== undefined) constants.set(unquoted(name), sort === 'Bool' ? false : 0n);
  }
  return constants;
}

/** A name without the bars that SMT-LIB may put around it. */
export function unquoted(name: string): string {
  return name.startsWith('|') ? name.slice(1, -1) : name;
}
