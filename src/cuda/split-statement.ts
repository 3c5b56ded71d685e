/** Assignments that read memory and then write it, taken apart between the two. */
import { type SyntaxNode, childIn, childOf, nodesWhere } from './syntax-tree.ts';

const sideEffects = /^(?:call_expression|update_expression|assignment_expression|lambda_expression|new_expression)$/;
const memory = /^(?:subscript_expression|pointer_expression|call_expression|field_expression)$/;

/** The assignment of a statement that reads memory and then writes it; null where there is none that can be split. */
export function splittable(text: string, statement: SyntaxNode): SyntaxNode | null {
  const assignment = childOf(statement, 'assignment_expression');
  if (!assignment) return null;
  const left = childIn(assignment, 'left');
  const right = childIn(assignment, 'right');
  const operator = childIn(assignment, 'operator');
  if (!left || !right || right.type === 'initializer_list' || right.type === 'ERROR') return null;
  if (!memory.test(left.type) || nodesWhere(left, ({ type }) => sideEffects.test(type)).length > 0) return null;
  const isCompound = operator !== undefined && text.slice(operator.start, operator.end) !== '=';
  const reads = isCompound || nodesWhere(right, ({ type }) => memory.test(type)).length > 0;
  return reads ? assignment : null;
}

/** `A[i]` and the value that is stored there: `A[i] + (x)` of `A[i] += x`. */
export function splitParts(text: string, assignment: SyntaxNode): { readonly target: string; readonly value: string } {
  const of = (node: SyntaxNode | undefined): string => (node ? text.slice(node.start, node.end) : '');
  const target = of(childIn(assignment, 'left'));
  const right = childIn(assignment, 'right');
  const operator = of(childIn(assignment, 'operator')).replace(/=$/, '');
  if (operator === '') return { target, value: of(right) };
  const isProduct =
    right?.type === 'binary_expression' && /^[+-]$/.test(operator) && /^[*/%]$/.test(of(childIn(right, 'operator')));
  const isPlain =
    isProduct ||
    /^(?:subscript_expression|identifier|number_literal|call_expression|parenthesized_expression)$/.test(
      right?.type ?? '',
    );
  return { target, value: `${target} ${operator} ${isPlain ? of(right) : `(${of(right)})`}` };
}
