import type { TreeCursor } from 'web-tree-sitter';

/** A node of the syntax tree, copied out of the parser. Offsets are UTF-16 units from 0; lines count from 1. */
export interface SyntaxNode {
  /** Name in the grammar, or the token itself for punctuation and keywords; `ERROR` for text that did not parse. */
  readonly type: string;
  /** Name of the field of the parent that contains this node. */
  readonly field: string | null;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly endLine: number;
  readonly children: readonly SyntaxNode[];
}

/** Deeper nodes are dropped, so that walking the tree recursively is safe. */
const maximumDepth = 400;

/** Offsets at which the lines of `text` start. */
export function lineStartsOf(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The line (from 1) and column (from 1, UTF-16 units) of an offset. */
export function positionAt(lineStarts: readonly number[], offset: number): { line: number; column: number } {
  let low = 0;
  let high = lineStarts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((lineStarts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return { line: low + 1, column: offset - (lineStarts[low] ?? 0) + 1 };
}

/** Copies the tree under a cursor into plain nodes. */
export function copyTree(
  cursor: TreeCursor,
  types: readonly (string | null)[],
  fields: readonly (string | null)[],
  lineStarts: readonly number[],
): SyntaxNode {
  const copy = (depth: number): SyntaxNode => {
    const { startIndex: start, endIndex: end } = cursor;
    const children: SyntaxNode[] = [];
    const node = {
      type: types[cursor.nodeTypeId] ?? 'ERROR',
      field: fields[cursor.currentFieldId] ?? null,
      start,
      end,
      line: positionAt(lineStarts, start).line,
      endLine: positionAt(lineStarts, end).line,
      children,
    };
    if (depth < maximumDepth && cursor.gotoFirstChild()) {
      do children.push(copy(depth + 1));
      while (cursor.gotoNextSibling());
      cursor.gotoParent();
    }
    return node;
  };
  return copy(0);
}

/** The child in a field, if there is one. */
export function childIn(node: SyntaxNode, field: string): SyntaxNode | undefined {
  return node.children.find((child) => child.field === field);
}

/** The first child of a type, if there is one. */
export function childOf(node: SyntaxNode, type: string): SyntaxNode | undefined {
  return node.children.find((child) => child.type === type);
}

/** The items of a parenthesised, comma-separated list, without brackets, commas and comments. */
export function listItems(node: SyntaxNode): readonly SyntaxNode[] {
  return node.children.filter((child) => !/^(?:[()[\]{},<>]|<<<|>>>|comment)$/.test(child.type));
}

/** All nodes under (and with) a node for which `select` holds, in the order of the text. */
export function nodesWhere(node: SyntaxNode, select: (node: SyntaxNode) => boolean): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  const visit = (current: SyntaxNode): void => {
    if (select(current)) found.push(current);
    for (const child of current.children) visit(child);
  };
  visit(node);
  return found;
}

/** The nodes that contain a range of the text, from the root to the smallest. */
export function pathTo(root: SyntaxNode, start: number, end: number): SyntaxNode[] {
  const path = [root];
  for (let node: SyntaxNode | undefined = root; node;) {
    node = node.children.find((child) => child.start <= start && child.end >= end && child.end > child.start);
    if (node) path.push(node);
  }
  return path;
}

/** The expression in parentheses. */
export function stripParentheses(node: SyntaxNode): SyntaxNode {
  let inner = node;
  while (inner.type === 'parenthesized_expression') {
    const item = listItems(inner)[0];
    if (!item) return inner;
    inner = item;
  }
  return inner;
}
