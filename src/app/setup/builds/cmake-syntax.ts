/** Syntax of CMake: commands with their arguments, and the blocks that they form. */

import type { Branch } from './branches.ts';

/** An argument of a command. */
export interface CMakeArgument {
  /** Without quotes and brackets; references to variables are not replaced. */
  readonly text: string;
  /** `bracket` arguments contain no references. */
  readonly form: 'plain' | 'quoted' | 'bracket';
}

export interface CMakeCommand {
  /** In lower case. */
  readonly name: string;
  readonly words: readonly CMakeArgument[];
  readonly line: number;
}

export type CMakeNode =
  | { readonly kind: 'command'; readonly command: CMakeCommand }
  | { readonly kind: 'if'; readonly branches: readonly Branch<CMakeCommand, CMakeNode>[] }
  | {
      readonly kind: 'block';
      /** `foreach`, `while`, `function` or `macro`. */
      readonly command: CMakeCommand;
      readonly body: readonly CMakeNode[];
    };

/** Parses a `CMakeLists.txt`; other text is skipped. */
export function parseCMake(text: string): CMakeNode[] {
  const commands = commandsOf(text);
  let at = 0;
  const nodesUntil = (isEnd: (name: string) => boolean): CMakeNode[] => {
    const nodes: CMakeNode[] = [];
    while (at < commands.length && !isEnd(commands[at]!.name)) {
      const command = commands[at++]!;
      if (command.name === 'if') nodes.push(branchesOf(command));
      else if (/^(?:foreach|while|function|macro)$/.test(command.name)) {
        const body = nodesUntil((name) => name === `end${command.name}`);
        at++;
        nodes.push({ kind: 'block', command, body });
      } else nodes.push({ kind: 'command', command });
    }
    return nodes;
  };
  const branchesOf = (first: CMakeCommand): CMakeNode => {
    const branches: Branch<CMakeCommand, CMakeNode>[] = [];
    let condition: CMakeCommand | undefined = first;
    for (;;) {
      branches.push({ condition, body: nodesUntil((name) => /^(?:elseif|else|endif)$/.test(name)) });
      const next = commands[at++];
      if (next === undefined || next.name === 'endif') return { kind: 'if', branches };
      condition = next.name === 'else' ? undefined : next;
    }
  };
  return nodesUntil(() => false);
}

function commandsOf(text: string): CMakeCommand[] {
  const commands: CMakeCommand[] = [];
  const start = /([A-Za-z_]\w*)[ \t]*\(|#\[(=*)\[|#/g;
  let line = 1;
  let counted = 0;
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const [whole, name, equals] = match;
    for (; counted < match.index; counted++) if (text[counted] === '\n') line++;
    if (name === undefined) {
      start.lastIndex = endOfComment(text, match.index, equals);
      continue;
    }
    const { words, end } = argumentsFrom(text, match.index + whole.length);
    commands.push({ name: name.toLowerCase(), words, line });
    start.lastIndex = end;
  }
  return commands;
}

/** @param equals the `=` signs of a bracket comment, undefined for a comment of one line */
function endOfComment(text: string, start: number, equals: string | undefined): number {
  const end = equals === undefined ? text.indexOf('\n', start) : text.indexOf(`]${equals}]`, start);
  return end < 0 ? text.length : end + (equals === undefined ? 0 : equals.length + 2);
}

/** @param start the place after the opening parenthesis */
function argumentsFrom(text: string, start: number): { words: CMakeArgument[]; end: number } {
  const words: CMakeArgument[] = [];
  let depth = 1;
  let at = start;
  while (at < text.length) {
    const rest = text.slice(at, at + 64);
    const [bracket, equals] = /^#?\[(=*)\[/.exec(rest) ?? [];
    if (/^\s/.test(rest)) at++;
    else if (bracket !== undefined && equals !== undefined) {
      const close = text.indexOf(`]${equals}]`, at);
      const end = close < 0 ? text.length : close;
      if (!bracket.startsWith('#')) words.push({ text: text.slice(at + bracket.length, end).replace(/^\n/, ''), form: 'bracket' });
      at = end + equals.length + 2;
    } else if (rest.startsWith('#')) at = endOfComment(text, at, undefined);
    else if (rest.startsWith('"')) {
      const end = endOfQuote(text, at + 1);
      words.push({ text: text.slice(at + 1, end).replaceAll('\\\n', ''), form: 'quoted' });
      at = end + 1;
    } else if (rest.startsWith('(') || rest.startsWith(')')) {
      depth += rest.startsWith('(') ? 1 : -1;
      at++;
      if (depth === 0) return { words, end: at };
      words.push({ text: rest[0]!, form: 'plain' });
    } else {
      const end = endOfPlain(text, at);
      words.push({ text: text.slice(at, end), form: 'plain' });
      at = end;
    }
  }
  return { words, end: at };
}

function endOfQuote(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return Math.min(at, text.length);
}

/** An argument without quotes may contain quoted parts, and parentheses of references: `-DNAME="a b"`. */
function endOfPlain(text: string, start: number): number {
  let at = start;
  while (at < text.length && !/[\s()#]/.test(text[at]!)) {
    if (text[at] === '\\') at += 2;
    else if (text[at] === '"') at = endOfQuote(text, at + 1) + 1;
    else if (text.startsWith('$(', at)) at = text.indexOf(')', at) < 0 ? text.length : text.indexOf(')', at) + 1;
    else at++;
  }
  return Math.max(start + 1, Math.min(at, text.length));
}
