/** Replaces early returns of kernels by guards: `if (c) return; …` becomes `if (!c) { … }`, which can be split. */
import { oppositeOperators } from '../../assumptions/operators.ts';
import { elementType } from '../syntax/element-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, listItems, nodesWhere } from '../syntax/syntax-tree.ts';
import { type TextEdit, blockOpening, indentOf, lineStart, styleOf } from '../../source/text-edit.ts';

interface ReturnGuard {
  readonly edit: TextEdit;
  /** Line of the first removed return. */
  readonly line: number;
}

const leaving = /^(?:return_statement|goto_statement|labeled_statement|ERROR)$/;

/**
 * The edit that replaces the first returns of a kernel by a guard; null if the kernel has none, or returns later too.
 */
export function guardReturn(source: CudaSource, definition: FunctionDefinition): ReturnGuard | null {
  const { text } = source;
  if (definition.kind !== 'kernel') return null;
  const [body] = nodesWhere(source.tree(), ({ type, start }) => type === 'compound_statement' && start === definition.bodyStart);
  const items = body ? listItems(body) : [];
  const first = items.findIndex((item) => returned(item) !== null);
  if (first === -1) return null;
  const tests: SyntaxNode[] = [];
  let next = first;
  for (let test = returned(items[next]!); test; test = next < items.length ? returned(items[next]!) : null) {
    tests.push(test);
    next++;
  }
  const rest = items.slice(next);
  const start = rest[0]?.start ?? 0;
  const last = rest.at(-1)?.end ?? 0;
  const end = last + (/^[ \t]*\/\/[^\r\n]*/.exec(text.slice(last))?.[0].length ?? 0);
  const isPlain = rest.every((item) => nodesWhere(item, ({ type }) => leaving.test(type) || type.startsWith('preproc')).length === 0);
  if (rest.length === 0 || !isPlain) return null;
  const style = styleOf(text);
  const indent = indentOf(text, items[first]!.start);
  // Variables shared by a block are declared outside.
  const shared = rest.filter(({ type, start: from, end: to }) => type === 'declaration' && /\b__shared__\b/.test(text.slice(from, to)));
  const from = lineStart(text, start);
  const inner = /^[ \t]*$/.test(text.slice(from, start)) ? from : start;
  const comment = text.slice(items[next - 1]!.end, inner).replace(/^[ \t]*\r?\n?/, '');
  let kept = comment + text.slice(inner, end);
  for (const { start: at, end: to } of shared)
    kept = kept.replace(new RegExp(`[ \\t]*${escape(text.slice(at, to))}[ \\t]*\\r?\\n?`), () => '');
  const condition = tests.map((test) => negated(source, definition, test, tests.length > 1)).join(' && ');
  const lines = [
    ...shared.map(({ start: at, end: to }) => `${text.slice(at, to)}${style.lineEnd}${indent}`),
    `if (${condition})${blockOpening(style, indent)}${style.lineEnd}`,
    kept.trimEnd().replaceAll(/^(?=[^\r\n])/gm, style.indent),
    `${style.lineEnd}${indent}}`,
  ];
  return {
    edit: { start: items[first]!.start, end, text: lines.join('') },
    line: items[first]!.line,
  };
}

function escape(words: string): string {
  return words.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** The condition of a statement that only returns; null for other statements. */
function returned(statement: SyntaxNode): SyntaxNode | null {
  if (statement.type !== 'if_statement' || childIn(statement, 'alternative')) return null;
  const clause = childIn(statement, 'condition');
  const value = clause && childIn(clause, 'value');
  let body = childIn(statement, 'consequence');
  if (body?.type === 'compound_statement') body = listItems(body).length === 1 ? listItems(body)[0] : undefined;
  if (!value || listItems(clause).length !== 1 || /declaration/.test(value.type)) return null;
  return body?.type === 'return_statement' && listItems(body).every(({ type }) => /^(?:return|;)$/.test(type)) ? value : null;
}

const opposite: Readonly<Record<string, string>> = oppositeOperators;
const integer = /^(?:const )?(?:unsigned(?: (?:int|char|short|long|long long))?|int|char|short|long|long long|bool|size_t|u?int\d+_t)$/;

/** The negation of a comparison, `i < n` for `i >= n`, for integers: with NaN operands both comparisons are false. */
function negated(source: CudaSource, definition: FunctionDefinition, test: SyntaxNode, isOperand: boolean): string {
  const { text } = source;
  const words = text.slice(test.start, test.end);
  if (test.type === 'unary_expression' && words.startsWith('!')) return words.slice(1).trim();
  const [left, right] = [childIn(test, 'left'), childIn(test, 'right')];
  const operator = childIn(test, 'operator');
  const other = test.type === 'binary_expression' && operator && opposite[text.slice(operator.start, operator.end)];
  const isInteger = (node: SyntaxNode): boolean => {
    const own = text.slice(node.start, node.end);
    if (node.type === 'number_literal') return /^\d+$/.test(own);
    if (/^(?:threadIdx|blockIdx|blockDim|gridDim)\.[xyz]$/.test(own)) return true;
    if (node.type === 'binary_expression' || node.type === 'parenthesized_expression')
      return node.children.every((child) => !/expression|literal|identifier/.test(child.type) || isInteger(child));
    return node.type === 'identifier' && integer.test(elementType(source, node, definition.start, definition.end) ?? '');
  };
  if (!other || !left || !right || !isInteger(left) || !isInteger(right)) return `!(${words})`;
  const flipped = `${text.slice(left.start, left.end)} ${other} ${text.slice(right.start, right.end)}`;
  return isOperand && /&&|\|\|/.test(flipped) ? `(${flipped})` : flipped;
}
