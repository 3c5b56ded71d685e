import { childIn } from '../syntax/syntax-tree.ts';
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import type { CudaSource } from '../syntax/syntax.ts';

/** A place in a file. Compilers give the column of the first token of a line to all that it contains. */
interface Place {
  readonly line: number;
}

/**
 * - `returned`: the threads that do not reach the place have returned;
 * - `passed`: they continue after it;
 * - `unclear`: the text does not determine it.
 */
export type Departure = 'returned' | 'passed' | 'unclear';

const conditional = /^(?:if|for|while|do|switch)_statement$/;
/** Nodes whose statements leave another function. */
const nested = /^(?:lambda_expression|class_specifier|struct_specifier)$/;

/**
 * Behavior of threads that take one branch and do not reach a place: returned if a conditional statement that decides
 * them contains a `return` (or a macro or an instruction that does the same), and the place is outside of it.
 * @param deciding - where the conditions that differ between threads are computed, in this file
 * @param place - in this file too; undefined if it is in another
 * @param branch - where the code branches: for conditions that are computed ahead
 */
export function departure(source: CudaSource, deciding: readonly Place[], place: Place | undefined, branch?: Place): Departure {
  const macros = macrosOf(source.text);
  let returned = false;
  let passed = false;
  let unclear = false;
  for (const at of deciding) {
    const own = statementsAt(source, at);
    const statements = own.length === 0 && branch ? statementsAt(source, branch) : own;
    if (statements.length === 0) {
      const all = source.text.split('\n');
      const leaving = leavingIn([at, ...(branch ? [branch] : [])].map(({ line }) => all[line - 1] ?? '').join('\n'), macros);
      if (leaving === 'returned') returned = true;
      else if (leaving === 'unclear') unclear = true;
      else passed = true;
    }
    for (const node of statements) {
      const leaving = containsType(node, 'return_statement') ? 'returned' : leavingIn(source.text.slice(node.start, node.end), macros);
      const isInside = place ? contains(node, place, source.text) : 'no';
      if (leaving === 'unclear' || containsType(node, 'goto_statement')) unclear = true;
      else if (leaving !== 'returned' || isInside === 'yes') passed = true;
      else if (isInside === 'no') returned = true;
      else unclear = true;
    }
  }
  if (unclear || (returned && passed)) return 'unclear';
  return returned ? 'returned' : 'passed';
}

/** The conditional statements on a line: columns do not reliably distinguish several. */
function statementsAt(source: CudaSource, at: Place): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.line > at.line || node.endLine < at.line) return;
    if (conditional.test(node.type)) {
      const test = childIn(node, 'condition');
      const isHere = node.line === at.line || (test !== undefined && test.line <= at.line && at.line <= test.endLine);
      if (isHere) found.push(node);
    }
    node.children.forEach(visit);
  };
  visit(source.tree());
  return found;
}

function containsType(node: SyntaxNode, type: string): boolean {
  if (nested.test(node.type)) return false;
  return node.type === type || node.children.some((child) => containsType(child, type));
}

/** Whether the code on a line is part of a statement: unclear if the line contains code of it and other code. */
function contains(node: SyntaxNode, { line }: Place, text: string): 'yes' | 'no' | 'unclear' {
  if (line < node.line || line > node.endLine) return 'no';
  if (node.line < line && line < node.endLine) return 'yes';
  const start = startOf(text, line);
  const end = (text.indexOf('\n', start) + 1 || text.length + 1) - 1;
  const code = (from: number, to: number): boolean =>
    /[^\s{}]/.test(text.slice(from, Math.max(from, to)).replace(/\/\/.*|\/\*.*?\*\//g, ''));
  const inside = code(Math.max(start, node.start), Math.min(end, node.end));
  const outside = code(start, Math.min(end, node.start)) || code(Math.max(start, node.end), end);
  return inside && outside ? 'unclear' : inside ? 'yes' : 'no';
}

function startOf(text: string, line: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) start = text.indexOf('\n', start) + 1;
  return start;
}

/** The macros that a file defines: bodies by name. */
function macrosOf(text: string): ReadonlyMap<string, string> {
  const macros = new Map<string, string>();
  for (const [, name, body] of text.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\[\s\S])*)/gm)) macros.set(name!, body!);
  return macros;
}

/** Whether a macro or an instruction in a text ends the thread; an unknown macro may. */
function leavingIn(text: string, macros: ReadonlyMap<string, string>, depth = 0): 'returned' | 'unclear' | 'neither' {
  if (/\basm\b[^;]*"[^"]*\b(?:exit|ret)\b/.test(text)) return 'returned';
  let isUnclear = false;
  for (const [name] of text.matchAll(/\b[A-Za-z_]\w*\b/g)) {
    const body = macros.get(name);
    if (body === undefined) {
      // A word in capitals at the start of a statement is a macro of a header.
      const isUnknownMacro = /^[A-Z][A-Z0-9_]{2,}$/.test(name) && new RegExp(`(?:^|[;{}])\\s*${name}\\b`).test(text);
      isUnclear ||= isUnknownMacro;
      continue;
    }
    if (/\breturn\b/.test(body)) return 'returned';
    const inner = depth < 4 ? leavingIn(body, macros, depth + 1) : 'unclear';
    if (inner === 'returned') return inner;
    isUnclear ||= inner === 'unclear';
  }
  return isUnclear ? 'unclear' : 'neither';
}
