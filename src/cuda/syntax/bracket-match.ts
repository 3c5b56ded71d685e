import type { Token } from './token.ts';

const closerOf: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const closers = new Set(Object.values(closerOf));

interface Conditional {
  /** Brackets that are open at the start of the conditional. */
  readonly before: readonly number[];
  /** Brackets that are open at the end of each branch except the last. */
  readonly branches: (readonly number[])[];
}

/**
 * Pairs the brackets of a token list. The branches of a preprocessor conditional are alternatives: each starts with the
 * brackets open before it, and if all leave the same number open, the closer after them closes one in each branch.
 * @returns for each token the index of its partner; -1 for tokens without one
 */
export function matchBrackets(tokens: readonly Token[]): Int32Array {
  const partner = new Int32Array(tokens.length).fill(-1);
  const alternatives = new Map<number, number[]>();
  const conditionals: Conditional[] = [];
  let open: number[] = [];
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind === 'directive') {
      const name = /^#\s*(\w*)/.exec(text)?.[1];
      if (name === 'if' || name === 'ifdef' || name === 'ifndef') conditionals.push({ before: [...open], branches: [] });
      else if (name === 'else' || name?.startsWith('elif')) {
        conditionals.at(-1)?.branches.push(open);
        open = [...(conditionals.at(-1)?.before ?? open)];
      } else if (name === 'endif') {
        for (const branch of conditionals.pop()?.branches ?? []) {
          if (branch.length !== open.length) continue;
          for (const [depth, opener] of branch.entries()) {
            const last = open[depth] ?? opener;
            if (opener !== last) alternatives.set(last, [...(alternatives.get(last) ?? []), opener]);
          }
        }
      }
    } else if (kind === 'punctuation' && text in closerOf) open.push(index);
    else if (kind === 'punctuation' && closers.has(text)) {
      const depth = open.findLastIndex((opener) => closerOf[tokens[opener]?.text ?? ''] === text);
      if (depth === -1) continue;
      const opener = open[depth] ?? 0;
      open.length = depth;
      partner[opener] = index;
      partner[index] = opener;
      for (const other of alternatives.get(opener) ?? []) partner[other] = index;
    }
  }
  return partner;
}
