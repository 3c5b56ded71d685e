import { childIn, nodesWhere } from './syntax-tree.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import type { CudaSource } from './syntax.ts';

const conditional = /^(?:if|for|while|do|switch)_statement$/;

/**
 * Whether threads that take one way out of a branch may have returned before they come to a place: a conditional
 * statement on one of the lines holds a `return`, and the place lies outside of it. Where a macro hides what the line
 * does, they may.
 * @param lines - of the branch and of what computes its condition
 * @param place - in the same file; without a column the whole line counts
 */
export function mayHaveReturned(
  source: CudaSource,
  lines: ReadonlySet<number>,
  place: { readonly line: number; readonly column?: number } | undefined,
): boolean {
  const isHere = (node: SyntaxNode): boolean => {
    const test = childIn(node, 'condition');
    return (
      lines.has(node.line) ||
      (test !== undefined && [...lines].some((line) => test.line <= line && line <= test.endLine))
    );
  };
  const statements = nodesWhere(source.tree(), (node) => conditional.test(node.type) && isHere(node));
  const holdsReturn = (node: SyntaxNode): boolean =>
    nodesWhere(node, ({ type }) => type === 'return_statement').length > 0;
  if (statements.some((node) => holdsReturn(node) && !(place && contains(node, place, source.text)))) return true;
  return macrosOn(source, lines).some((name) => {
    const body = new RegExp(`^[ \\t]*#[ \\t]*define[ \\t]+${name}\\b((?:[^\\n\\\\]|\\\\[\\s\\S])*)`, 'm').exec(
      source.text,
    )?.[1];
    return body === undefined || /\breturn\b/.test(body);
  });
}

function contains(node: SyntaxNode, { line, column }: { line: number; column?: number }, text: string): boolean {
  if (column === undefined) return node.line <= line && line <= node.endLine;
  let start = 0;
  for (let at = 1; at < line; at++) start = text.indexOf('\n', start) + 1;
  const offset = start + column - 1;
  return node.start <= offset && offset < node.end;
}

/** Names in capitals that are used like functions on these lines. */
function macrosOn(source: CudaSource, lines: ReadonlySet<number>): string[] {
  const all = source.text.split('\n');
  return [...lines].flatMap((line) =>
    [...(all[line - 1] ?? '').matchAll(/\b([A-Z][A-Z0-9_]{2,})\s*\(/g)].map(([, name]) => name!),
  );
}
