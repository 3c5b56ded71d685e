/** The structure of expressions and conditions: their parts, sizes, names and symbols. */
import type { AssumptionExpression, Condition, Fact, HostSymbol, HostTerm, IntegerExpression, LaunchName } from './expression.ts';

type Node = HostTerm | Fact;

/** The direct parts of an expression or condition, in the order of its text. */
function partsIn(node: Node): readonly Node[] {
  switch (node.kind) {
    case 'arithmetic':
    case 'comparison':
    case 'and':
    case 'or':
      return [node.left, node.right];
    case 'not':
      return [node.operand];
    case 'choice':
      return [node.condition, node.then, node.otherwise];
    default:
      return [];
  }
}

/** Cache of the sizes of conditions, which share their parts. Terms have their sizes. */
const knownSizes = new WeakMap<Node, number>();

/** The number of nodes of a tree. */
export function treeSize(node: Node): number {
  if (node.kind === 'integer' || node.kind === 'symbol') return 1;
  let size = 'size' in node ? node.size : knownSizes.get(node);
  if (size === undefined) {
    size = partsIn(node).reduce((sum, part) => sum + treeSize(part), 1);
    knownSizes.set(node, size);
  }
  return size;
}

/** Maximum size of terms and conditions; larger ones become symbols, since no launch needs them. */
export const maxTreeSize = 160;

/** Whether a condition exceeds the size that launches need. */
export function isLarge(fact: Fact): boolean {
  return treeSize(fact) > maxTreeSize;
}

/** The part of a node that is not a node: its operator, value or name. */
function labelOf(node: Node): bigint | boolean | string {
  switch (node.kind) {
    case 'integer':
    case 'truth':
      return node.value;
    case 'parameter':
      return node.path.join('.');
    case 'dimension':
      return `${node.name}.${node.axis}`;
    case 'symbol':
      return node.symbol.id;
    case 'unknown':
      return node.id;
    case 'arithmetic':
    case 'comparison':
      return node.operator;
    default:
      return '';
  }
}

/** Whether two expressions, or two conditions, are equal. Nodes share parts, and their texts do not, so that no text is made. */
export function isSame(a: Node, b: Node): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind || labelOf(a) !== labelOf(b) || treeSize(a) !== treeSize(b)) return false;
  const others = partsIn(b);
  return partsIn(a).every((part, at) => isSame(part, others[at]!));
}

/** The names of numbers in an expression or a condition, in the order of its text. */
export function launchNamesIn(node: IntegerExpression | Condition): readonly LaunchName[] {
  if (node.kind === 'parameter' || node.kind === 'dimension') return [node];
  return (partsIn(node) as readonly (IntegerExpression | Condition)[]).flatMap(launchNamesIn);
}

/** The symbols in a term or a condition by id, in the order of their first use. */
export function symbolsOf(node: Node, found = new Map<string, HostSymbol>()): Map<string, HostSymbol> {
  if (node.kind === 'symbol') found.set(node.symbol.id, node.symbol);
  for (const part of partsIn(node)) symbolsOf(part, found);
  return found;
}

/** Whether nothing in a term is a symbol. */
export function isClosed(term: HostTerm): boolean {
  return symbolsOf(term).size === 0;
}

/** Whether a term has a choice in it. */
export function hasChoice(term: Node): boolean {
  return term.kind === 'choice' || partsIn(term).some(hasChoice);
}

/** The parameters that an assumption names: `p` for `p.n`. */
export function namesIn(assumption: AssumptionExpression): string[] {
  return [...new Set(pathsIn(assumption).map((path) => path.split('.')[0] ?? path))];
}

/** The dimensions that an assumption mentions: of the block, of the grid. */
export function dimensionsIn(assumption: AssumptionExpression): ReadonlySet<'blockDim' | 'gridDim'> {
  return new Set(numbersIn(assumption).flatMap((name) => (name.kind === 'dimension' ? [name.name] : [])));
}

/** The parameters and members that an assumption names, as written: `n`, `p.n`. */
export function pathsIn(assumption: AssumptionExpression): string[] {
  const arrays =
    assumption.kind === 'condition' ? [] : assumption.kind === 'apart' ? [assumption.first, assumption.second] : [assumption.array];
  const scalars = numbersIn(assumption).flatMap((name) => (name.kind === 'parameter' ? [name.path.join('.')] : []));
  return [...new Set([...arrays, ...scalars])];
}

/** The names of numbers in an assumption, in the order of its text. */
function numbersIn(assumption: AssumptionExpression): readonly LaunchName[] {
  switch (assumption.kind) {
    case 'condition':
      return launchNamesIn(assumption.condition);
    case 'elements':
      return [...launchNamesIn(assumption.low), ...launchNamesIn(assumption.high)];
    case 'extent':
      return launchNamesIn(assumption.atLeast);
    case 'distinct':
    case 'apart':
    case 'pointers-apart':
      return [];
  }
}
