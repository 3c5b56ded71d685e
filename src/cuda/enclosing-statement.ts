import { childIn, nodesWhere } from './syntax-tree.ts';
import type { SyntaxNode } from './syntax-tree.ts';
import type { CudaSource } from './syntax.ts';

const conditional = /^(?:if|for|while|do|switch)_statement$/;

/**
 * Whether a line stands in the body of the conditional statement or loop whose condition is on another: threads that
 * miss it there have passed it by, where after a `return` they are gone.
 * @param condition - line on which the statement starts, or its condition lies
 * @param line - in the same file
 */
export function standsInside(source: CudaSource, condition: number, line: number): boolean {
  const decides = (node: SyntaxNode): boolean => {
    if (!conditional.test(node.type)) return false;
    const test = childIn(node, 'condition');
    return node.line === condition || (test !== undefined && test.line <= condition && condition <= test.endLine);
  };
  return nodesWhere(source.tree(), decides).some((node) =>
    node.children.some(
      ({ field, line: first, endLine: last }) =>
        (field === 'consequence' || field === 'alternative' || field === 'body') && first <= line && line <= last,
    ),
  );
}
