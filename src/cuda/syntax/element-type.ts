/** Names and types of variables that an edit declares. */
import type { CudaSource } from './syntax.ts';
import { type SyntaxNode, childIn, nodesWhere } from './syntax-tree.ts';

/** A name that does not occur in a text. */
export function freeName(text: string, wanted: string): string {
  for (let number = 1; ; number++) {
    const name = number === 1 ? wanted : `${wanted}${number}`;
    if (!new RegExp(`\\b${name}\\b`).test(text)) return name;
  }
}

/**
 * The declared type of the object that an expression names: an element of an array, `*p`, or a variable. Undefined if
 * not evident.
 * @param start - of the function that contains the expression
 * @param end - of that function
 */
export function elementType(source: CudaSource, target: SyntaxNode, start: number, end: number): string | undefined {
  const { text } = source;
  let array: SyntaxNode | undefined = target;
  let subscripts = 0;
  while (array?.type === 'subscript_expression' || array?.type === 'pointer_expression') {
    if (array.type === 'pointer_expression' && text[array.start] !== '*') return undefined;
    array = childIn(array, 'argument');
    subscripts++;
  }
  if (array?.type !== 'identifier') return undefined;
  const name = text.slice(array.start, array.end);
  const all = nodesWhere(
    source.tree(),
    (node) => /^(?:parameter_declaration|declaration)$/.test(node.type) && node.start < target.start && declares(text, node, name),
  );
  const isInside = (node: SyntaxNode, from: number, to: number): boolean => node.start >= from && node.end <= to;
  const own = all.filter((node) => isInside(node, start, end));
  const declarations =
    own.length > 0 ? own : all.filter((node) => !source.functions.some((other) => isInside(node, other.start, other.end)));
  const [only] = declarations;
  const type = only && childIn(only, 'type');
  if (declarations.length !== 1 || !type || !/^(?:primitive_type|sized_type_specifier|type_identifier)$/.test(type.type)) return undefined;
  const words = text.slice(only.start, only.end);
  const declarator = nodesWhere(only, (node) => node.field === 'declarator' && declares(text, node, name))[0];
  const levels = declarator ? nodesWhere(declarator, ({ type: kind }) => /^(?:pointer_declarator|array_declarator)$/.test(kind)).length : 0;
  if (levels !== subscripts || /\bauto\b/.test(words)) return undefined;
  return text.slice(type.start, type.end).replace(/\s+/g, ' ');
}

function declares(text: string, node: SyntaxNode, name: string): boolean {
  const declarators = nodesWhere(node, ({ type, field }) => type === 'identifier' && field === 'declarator');
  return declarators.some(({ start, end }) => text.slice(start, end) === name);
}
