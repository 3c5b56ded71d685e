import type { AssumptionExpression, Condition, IntegerExpression } from './assumption.ts';

/** The parameters that an assumption names: `p` for `p.n`. */
export function namesIn(assumption: AssumptionExpression): string[] {
  return [...new Set(pathsIn(assumption).map((path) => path.split('.')[0] ?? path))];
}

/** Whether an assumption speaks of the block, of the grid. */
export function dimensionsIn(assumption: AssumptionExpression): ReadonlySet<'blockDim' | 'gridDim'> {
  const found = new Set<'blockDim' | 'gridDim'>();
  const expression = (node: IntegerExpression): void => {
    if (node.kind === 'dimension') found.add(node.name);
    else if (node.kind === 'negative') expression(node.operand);
    else if (node.kind === 'arithmetic') {
      expression(node.left);
      expression(node.right);
    }
  };
  const condition = (node: Condition): void => {
    if (node.kind === 'not') condition(node.operand);
    else if (node.kind === 'comparison') {
      expression(node.left);
      expression(node.right);
    } else {
      condition(node.left);
      condition(node.right);
    }
  };
  if (assumption.kind === 'condition') condition(assumption.condition);
  else if (assumption.kind === 'extent') expression(assumption.atLeast);
  return found;
}

/** The parameters and members that an assumption names, as written: `n`, `p.n`. */
export function pathsIn(assumption: AssumptionExpression): string[] {
  const names = new Set<string>();
  const name = (path: string): void => void names.add(path);
  const expression = (node: IntegerExpression): void => {
    if (node.kind === 'parameter') name(node.path.join('.'));
    else if (node.kind === 'negative') expression(node.operand);
    else if (node.kind === 'arithmetic') {
      expression(node.left);
      expression(node.right);
    }
  };
  const condition = (node: Condition): void => {
    if (node.kind === 'not') condition(node.operand);
    else if (node.kind === 'comparison') {
      expression(node.left);
      expression(node.right);
    } else {
      condition(node.left);
      condition(node.right);
    }
  };
  switch (assumption.kind) {
    case 'condition':
      condition(assumption.condition);
      break;
    case 'distinct':
      name(assumption.array);
      break;
    case 'elements':
      name(assumption.array);
      expression(assumption.low);
      expression(assumption.high);
      break;
    case 'apart':
      name(assumption.first);
      name(assumption.second);
      break;
    case 'extent':
      name(assumption.array);
      expression(assumption.atLeast);
      break;
  }
  return [...names];
}
