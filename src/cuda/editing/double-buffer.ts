/**
 * Double-buffers the shared arrays of a loop: iterations alternate between two copies. `tile[t] = …; barrier;
 * use(tile[u]);` then needs no second barrier, since the next iteration writes the other copy.
 */
import { type TextEdit, indentOf, lineEnd, lineStart, styleOf } from '../../source/text-edit.ts';
import { freeName } from '../syntax/element-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, listItems, nodesWhere } from '../syntax/syntax-tree.ts';
import { barrierLevel, groupsIn } from './barrier-candidates.ts';

interface DoubleBuffer {
  readonly edits: readonly TextEdit[];
  readonly arrays: readonly string[];
  /** Line of the loop. */
  readonly line: number;
}

const loop = /^(?:for|while)_statement$/;
const leaving = /^(?:continue_statement|goto_statement|labeled_statement|return_statement|lambda_expression|ERROR)$/;

/**
 * Doubles arrays.
 * @param names of the arrays
 * @param lines of their accesses that race
 * @returns null unless one loop contains all of their accesses: first those that write, then a barrier of the block,
 *   then those that read
 */
export function doubleBuffer(source: CudaSource, names: ReadonlySet<string>, lines: readonly number[]): DoubleBuffer | null {
  const definition = source.functions.find(
    ({ kind, firstLine, lastLine }) => kind !== 'host' && lines.every((line) => firstLine <= line && line <= lastLine),
  );
  if (!definition || names.size === 0 || lines.length === 0) return null;
  const { text } = source;
  const wordOf = ({ start, end }: SyntaxNode): string => text.slice(start, end);
  const isInside = ({ start, end }: SyntaxNode, outer: SyntaxNode): boolean => outer.start <= start && end <= outer.end;
  const all = nodesWhere(source.tree(), ({ start, end }) => start >= definition.bodyStart && end <= definition.end);
  const around = all.filter(({ type, line, endLine }) => loop.test(type) && lines.every((one) => line < one && one <= endLine));
  // Of the loops that contain all lines, the innermost is the last one.
  const statement = around.at(-1);
  const body = statement && childIn(statement, 'body');
  if (!statement || body?.type !== 'compound_statement') return null;
  if (nodesWhere(body, ({ type }) => leaving.test(type) || /^preproc_(?:if|else|elif)/.test(type)).length > 0) return null;
  const items = listItems(body);
  const groups = groupsIn(source, definition);
  const barriers = items.filter((item) => item.type === 'expression_statement' && barrierLevel(text, item, groups) === 'block');
  const [barrier] = barriers;
  if (!barrier || barriers.length > 1) return null;

  const edits: TextEdit[] = [];
  const own = text.slice(definition.start, definition.end);
  const which = freeName(own, 'buffer');
  const insert = (at: number, words: string): void => void edits.push({ start: at, end: at, text: words });
  const declared = new Set<string>();
  for (const node of all) {
    if (node.type !== 'identifier' || !names.has(wordOf(node))) continue;
    if (node.field === 'declarator') {
      if (!isSharedArray(node, all, text) || declared.has(wordOf(node))) return null;
      declared.add(wordOf(node));
      insert(node.end, '[2]');
      continue;
    }
    const isElement = all.some((one) => one.type === 'subscript_expression' && childIn(one, 'argument') === node);
    if (!isElement || !isInside(node, body)) return null;
    if (isWritten(node, all) ? node.end > barrier.start : node.start < barrier.end) return null;
    insert(node.end, `[${which}]`);
  }
  if (declared.size < names.size) return null;
  const newLine = styleOf(text).lineEnd;
  const before = startOf(text, statement, definition);
  insert(before, `${indentOf(text, statement.start)}int ${which} = 0;${newLine}`);
  const last = items.at(-1)!;
  insert(lineEnd(text, last.end), `${indentOf(text, barrier.start)}${which} ^= 1;${newLine}`);
  if (body.line === body.endLine || body.endLine === last.endLine) return null;
  return { edits, arrays: [...names], line: statement.line };
}

/** `__shared__ float a[16][17];` with the identifier of the array. */
function isSharedArray(name: SyntaxNode, all: readonly SyntaxNode[], text: string): boolean {
  const declaration = all.findLast(({ type, start, end }) => type === 'declaration' && start <= name.start && name.end <= end);
  const words = declaration && text.slice(declaration.start, name.start);
  const isArray = all.some(({ type, children }) => type === 'array_declarator' && children.includes(name));
  return isArray && words !== undefined && /\b__shared__\b/.test(words) && !/\bextern\b/.test(words);
}

/** Whether an assignment writes a subscripted name. Writes of an update or a call are not distinguished from reads. */
function isWritten(name: SyntaxNode, all: readonly SyntaxNode[]): boolean {
  let element = name;
  for (;;) {
    const outer = all.find(({ type, children }) => /^(?:subscript|field)_expression$/.test(type) && children[0] === element);
    if (!outer) break;
    element = outer;
  }
  return all.some(({ type, children }) => type === 'assignment_expression' && children[0] === element);
}

/** The start of the line of a loop, or of the pragmas and comments right above it. */
function startOf(text: string, { start }: SyntaxNode, { bodyStart }: FunctionDefinition): number {
  let at = lineStart(text, start);
  for (;;) {
    const above = at > 0 ? lineStart(text, at - 1) : 0;
    if (above <= bodyStart || !/^\s*(?:#\s*pragma\b|\/\/)/.test(text.slice(above, at))) return at;
    at = above;
  }
}
