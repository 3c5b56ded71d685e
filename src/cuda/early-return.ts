import { childIn } from './syntax-tree.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import type { CudaSource } from './syntax.ts';

/** Where something stands in a file; without a column the whole line counts. */
export interface Place {
  readonly line: number;
  readonly column?: number;
}

/**
 * - `returned`: the threads that miss the place have returned;
 * - `passed`: they go on behind it;
 * - `unclear`: the text does not tell.
 */
export type Departure = 'returned' | 'passed' | 'unclear';

const conditional = /^(?:if|for|while|do|switch)_statement$/;
/** Bodies whose `return` leaves something else. */
const nested = /^(?:lambda_expression|class_specifier|struct_specifier)$/;

/**
 * What threads do that take one way out of a branch and do not come to a place: a conditional statement that decides
 * them holds a `return` (or a macro or an instruction that does the same), and the place lies outside of it.
 * @param deciding - where the conditions that differ between threads are computed, in this file
 * @param place - in this file too; undefined where it lies in another
 */
export function departure(source: CudaSource, deciding: readonly Place[], place: Place | undefined): Departure {
  const macros = macrosOf(source.text);
  let returned = false;
  let passed = false;
  let unclear = false;
  for (const at of deciding) {
    const statements = statementsAt(source, at);
    if (statements.length === 0) {
      const line = source.text.split('\n')[at.line - 1] ?? '';
      const leaving = leavingIn(line, macros);
      if (leaving === 'returned') returned = true;
      else if (leaving === 'unclear') unclear = true;
      else passed = true;
    }
    for (const node of statements) {
      const leaving = holdsReturn(node) ? 'returned' : leavingIn(source.text.slice(node.start, node.end), macros);
      if (leaving === 'unclear') unclear = true;
      else if (leaving === 'returned' && !(place && contains(node, place, source.text))) returned = true;
      else passed = true;
    }
  }
  if (unclear || (returned && passed)) return 'unclear';
  return returned ? 'returned' : 'passed';
}

/** The conditional statements that a place decides: the innermost whose condition holds it, else those of the line. */
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
  if (at.column === undefined || found.length < 2) return found;
  // Debug information names the statement: the one that starts at the column, or whose condition is there.
  const here = found.filter((node) => {
    const test = childIn(node, 'condition');
    return startsAt(node, at, source.text) || (test !== undefined && contains(test, at, source.text));
  });
  return here.length > 0 ? here : found;
}

function startsAt(node: SyntaxNode, { line, column }: Place, text: string): boolean {
  return column !== undefined && node.start === offsetOf(text, line, column);
}

function holdsReturn(node: SyntaxNode): boolean {
  if (nested.test(node.type)) return false;
  return node.type === 'return_statement' || node.children.some(holdsReturn);
}

function contains(node: SyntaxNode, { line, column }: Place, text: string): boolean {
  if (column === undefined) return node.line <= line && line <= node.endLine;
  const offset = offsetOf(text, line, column);
  return node.start <= offset && offset < node.end;
}

function offsetOf(text: string, line: number, column: number): number {
  let start = 0;
  for (let at = 1; at < line; at++) start = text.indexOf('\n', start) + 1;
  return start + column - 1;
}

/** The macros that a file defines: what they stand for, by name. */
function macrosOf(text: string): ReadonlyMap<string, string> {
  const macros = new Map<string, string>();
  for (const [, name, body] of text.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\[\s\S])*)/gm))
    macros.set(name!, body!);
  return macros;
}

/** Whether a text leaves the kernel by a macro or an instruction; macros that are not at hand might. */
function leavingIn(text: string, macros: ReadonlyMap<string, string>, depth = 0): 'returned' | 'unclear' | 'neither' {
  if (/\basm\b[^;]*"[^"]*\b(?:exit|ret)\b/.test(text)) return 'returned';
  let isUnclear = false;
  for (const [name] of text.matchAll(/\b[A-Za-z_]\w*\b/g)) {
    const body = macros.get(name);
    if (body === undefined) {
      // At the start of a statement, in capitals: a macro of a header.
      const isForeign = /^[A-Z][A-Z0-9_]{2,}$/.test(name) && new RegExp(`(?:^|[;{}])\\s*${name}\\b`).test(text);
      isUnclear ||= isForeign;
      continue;
    }
    if (/\breturn\b/.test(body)) return 'returned';
    const inner = depth < 4 ? leavingIn(body, macros, depth + 1) : 'unclear';
    if (inner === 'returned') return inner;
    isUnclear ||= inner === 'unclear';
  }
  return isUnclear ? 'unclear' : 'neither';
}
