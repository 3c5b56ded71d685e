import type { AssumptionExpression, Condition, IntegerExpression } from './assumption.ts';

/** A name of a number in an expression. */
type Leaf = Extract<IntegerExpression, { kind: 'parameter' | 'dimension' }>;

/** The parameters that an assumption names: `p` for `p.n`. */
export function namesIn(assumption: AssumptionExpression): string[] {
  return [...new Set(pathsIn(assumption).map((path) => path.split('.')[0] ?? path))];
}

/** The dimensions that an assumption mentions: of the block, of the grid. */
export function dimensionsIn(assumption: AssumptionExpression): ReadonlySet<'blockDim' | 'gridDim'> {
  return new Set(leavesOf(assumption).flatMap((leaf) => (leaf.kind === 'dimension' ? [leaf.name] : [])));
}

/** The parameters and members that an assumption names, as written: `n`, `p.n`. */
export function pathsIn(assumption: AssumptionExpression): string[] {
  const scalars = leavesOf(assumption).flatMap((leaf) => (leaf.kind === 'parameter' ? [leaf.path.join('.')] : []));
  switch (assumption.kind) {
    case 'condition':
      return [...new Set(scalars)];
    case 'distinct':
    case 'elements':
    case 'pointers-apart':
    case 'extent':
      return [...new Set([assumption.array, ...scalars])];
    case 'apart':
      return [...new Set([assumption.first, assumption.second])];
  }
}

/** The names of numbers in an expression, in the order of its text. */
export function leavesOfExpression(expression: IntegerExpression): Leaf[] {
  if (expression.kind === 'parameter' || expression.kind === 'dimension') return [expression];
  if (expression.kind === 'negative') return leavesOfExpression(expression.operand);
  if (expression.kind !== 'arithmetic') return [];
  return [...leavesOfExpression(expression.left), ...leavesOfExpression(expression.right)];
}

/** The names of numbers in an assumption, in the order of its text. */
function leavesOf(assumption: AssumptionExpression): Leaf[] {
  const ofCondition = (node: Condition): Leaf[] => {
    if (node.kind === 'not') return ofCondition(node.operand);
    if (node.kind === 'comparison') return [...leavesOfExpression(node.left), ...leavesOfExpression(node.right)];
    return [...ofCondition(node.left), ...ofCondition(node.right)];
  };
  switch (assumption.kind) {
    case 'condition':
      return ofCondition(assumption.condition);
    case 'elements':
      return [...leavesOfExpression(assumption.low), ...leavesOfExpression(assumption.high)];
    case 'extent':
      return leavesOfExpression(assumption.atLeast);
    case 'distinct':
    case 'apart':
    case 'pointers-apart':
      return [];
  }
}
