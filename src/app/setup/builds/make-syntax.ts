/** Syntax of makefiles: lines, conditions, rules. */

import type { Branch } from './branches.ts';

export interface MakeLine {
  readonly text: string;
  readonly line: number;
  /** Whether it begins with a tab: a line of a recipe, if a rule is before it. */
  readonly isTabbed: boolean;
}

/** With a condition such as `ifeq (a,b)`. */
export type MakeBranch = Branch<string, MakeNode>;

export type MakeNode =
  | { readonly kind: 'line'; readonly line: MakeLine }
  | { readonly kind: 'if'; readonly branches: readonly MakeBranch[] }
  | { readonly kind: 'define'; readonly name: string; readonly text: string };

/** Parses a makefile. */
export function parseMake(text: string): MakeNode[] {
  const lines = logicalLines(text);
  let at = 0;
  const word = (): string => /^(?:ifeq|ifneq|ifdef|ifndef|else|endif)\b/.exec(lines[at]?.text.trim() ?? '')?.[0] ?? '';
  const nodesUntil = (isEnd: () => boolean): MakeNode[] => {
    const nodes: MakeNode[] = [];
    while (at < lines.length && !isEnd()) {
      const line = lines[at]!;
      const [, name] = /^\s*(?:override\s+|export\s+)*define\s+([^\s=:+?]+)/.exec(line.text) ?? [];
      if (name !== undefined) nodes.push(definition(name));
      else if (word().startsWith('if')) nodes.push(branches());
      else {
        // A stray `else` or `endif` has no effect.
        if (word() === '') nodes.push({ kind: 'line', line });
        at++;
      }
    }
    return nodes;
  };
  const definition = (name: string): MakeNode => {
    const body: string[] = [];
    for (at++; at < lines.length && !/^\s*endef\b/.test(lines[at]!.text); at++) body.push(lines[at]!.text);
    at++;
    return { kind: 'define', name, text: body.join('\n') };
  };
  const branches = (): MakeNode => {
    const found: MakeBranch[] = [];
    let condition: string | undefined = lines[at++]!.text.trim();
    for (;;) {
      found.push({ condition, body: nodesUntil(() => /^(?:else|endif)$/.test(word())) });
      const next = lines[at++]?.text.trim() ?? 'endif';
      if (next.startsWith('endif')) return { kind: 'if', branches: found };
      const rest = next.slice('else'.length).trim();
      condition = rest === '' ? undefined : rest;
    }
  };
  return nodesUntil(() => false);
}

/** Lines with continuations joined and comments removed; comments of recipes are left to the shell. */
function logicalLines(text: string): MakeLine[] {
  const result: MakeLine[] = [];
  let pending: { text: string; line: number } | undefined;
  for (const [index, physical] of text.split(/\r?\n/).entries()) {
    const joined = pending === undefined ? physical : `${pending.text} ${physical.trim()}`;
    const line = pending?.line ?? index + 1;
    if (/(?:^|[^\\])(?:\\\\)*\\$/.test(joined)) {
      pending = { text: joined.slice(0, -1).trimEnd(), line };
      continue;
    }
    pending = undefined;
    const isTabbed = joined.startsWith('\t');
    const plain = isTabbed ? joined : joined.replace(/(^|[^\\])#.*$/, '$1');
    if (plain.trim() !== '') result.push({ text: plain, line, isTabbed });
  }
  return result;
}

/** The operands of `ifeq (a,b)`, `ifeq "a" "b"`. */
export function makeOperands(text: string): readonly [string, string] | undefined {
  const trimmed = text.trim();
  if (trimmed.startsWith('(')) {
    let depth = 0;
    for (let at = 0; at < trimmed.length; at++) {
      if (/[({]/.test(trimmed[at]!)) depth++;
      else if (/[)}]/.test(trimmed[at]!)) depth--;
      else if (trimmed[at] === ',' && depth === 1) {
        const end = trimmed.lastIndexOf(')');
        return [trimmed.slice(1, at).trim(), trimmed.slice(at + 1, end < at ? trimmed.length : end).trim()];
      }
    }
    return undefined;
  }
  const [, , first, , second] = /^(["'])(.*?)\1\s+(["'])(.*?)\3$/.exec(trimmed) ?? [];
  return first === undefined || second === undefined ? undefined : [first, second];
}
