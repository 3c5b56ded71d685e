/** Updates of memory (`A[i] += v`) as atomic functions of CUDA. */
import { elementType } from '../syntax/element-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, childOf, listItems, nodesWhere, stripParentheses } from '../syntax/syntax-tree.ts';
import type { TextEdit } from '../../source/text-edit.ts';

/** An update rewritten with an atomic. */
export interface AtomicUpdate {
  readonly edit: TextEdit;
  readonly line: number;
  /** Inclusive. */
  readonly endLine: number;
  /** The updated lvalue, as written. */
  readonly target: string;
  /** Kind of the update: updates of one group commute with each other. */
  readonly group: 'sum' | 'and' | 'or' | 'xor' | 'min' | 'max';
  /** Whether it may be a floating-point sum: the order of the threads determines its rounding. */
  readonly isFloat: boolean;
}

type Operation = 'Add' | 'Sub' | 'And' | 'Or' | 'Xor' | 'Min' | 'Max';

const byOperator: Readonly<Record<string, Operation>> = { '+': 'Add', '-': 'Sub', '&': 'And', '|': 'Or', '^': 'Xor' };
const groups: Readonly<Record<Operation, AtomicUpdate['group']>> = {
  Add: 'sum',
  Sub: 'sum',
  And: 'and',
  Or: 'or',
  Xor: 'xor',
  Min: 'min',
  Max: 'max',
};
const integers = /^(?:int|unsigned(?: int)?|unsigned long long(?: int)?|u?int32_t|uint64_t)$/;
const floats = /^(?:float|double)$/;

/** The updates in the device code of a file whose statements touch one of the lines. */
export function atomicUpdates(source: CudaSource, lines: ReadonlySet<number>): AtomicUpdate[] {
  const updates: AtomicUpdate[] = [];
  for (const definition of source.functions) {
    if (definition.kind === 'host') continue;
    const inside = nodesWhere(
      source.tree(),
      ({ type, start, end }) => /^(?:expression|if)_statement$/.test(type) && start >= definition.bodyStart && end <= definition.end,
    );
    for (const statement of inside) {
      const touched = [...lines].some((line) => statement.line <= line && line <= statement.endLine);
      const update = touched ? updateOf(source, definition, statement) : null;
      if (update) updates.push(update);
    }
  }
  // A comparison around an assignment is replaced as a whole.
  return updates.filter(
    ({ edit }) =>
      !updates.some(
        (other) =>
          other.edit !== edit &&
          other.edit.start <= edit.start &&
          edit.end <= other.edit.end &&
          other.edit.end - other.edit.start > edit.end - edit.start,
      ),
  );
}

function updateOf(source: CudaSource, definition: FunctionDefinition, statement: SyntaxNode): AtomicUpdate | null {
  const found = statement.type === 'if_statement' ? extremum(source.text, statement) : plainUpdate(source.text, statement);
  if (!found) return null;
  const { target, operation, value } = found;
  const { text } = source;
  const type = elementType(source, target, definition.start, definition.end);
  if (type === undefined || nodesWhere(target, ({ type: kind }) => sideEffects.test(kind)).length > 0) return null;
  // The instances determine the type of a template parameter: the compiler decides whether there is an atomic for that
  // type.
  const isOpen = definition.templateParameters.some(({ name, type: of }) => name === type && /^(?:typename|class)$/.test(of));
  const isFloat = floats.test(type) || isOpen;
  if (!isFloat && !integers.test(type)) return null;
  if (isFloat && operation !== 'Add' && operation !== 'Sub') return null;
  // CUDA has no `atomicSub` for these types.
  const negated = operation === 'Sub' && !/^(?:int|unsigned(?: int)?|u?int32_t)$/.test(type);
  const name = negated ? 'Add' : operation;
  const operand = negated ? `-(${value})` : value;
  const isWide = /64|long long/.test(type) && type !== 'unsigned long long';
  const pointed = target.type === 'pointer_expression' ? childIn(target, 'argument') : undefined;
  const written = text.slice(target.start, target.end);
  const address = pointed?.type === 'identifier' ? text.slice(pointed.start, pointed.end) : `&${written}`;
  const pointer = isWide ? `(unsigned long long *)${address}` : address;
  return {
    edit: { start: statement.start, end: statement.end, text: `atomic${name}(${pointer}, ${operand});` },
    line: statement.line,
    endLine: statement.endLine,
    target: written,
    group: groups[operation],
    isFloat,
  };
}

const sideEffects = /^(?:call_expression|update_expression|assignment_expression)$/;

interface Update {
  readonly target: SyntaxNode;
  readonly operation: Operation;
  readonly value: string;
}

/** `A[i] += v;`, `A[i]++;`, `A[i] = A[i] + v;`, `A[i] = max(A[i], v);` */
function plainUpdate(text: string, statement: SyntaxNode): Update | null {
  const words = (node: SyntaxNode): string => text.slice(node.start, node.end);
  const increment = childOf(statement, 'update_expression');
  if (increment) {
    const target = childIn(increment, 'argument');
    return target ? { target, operation: words(increment).includes('++') ? 'Add' : 'Sub', value: '1' } : null;
  }
  const assignment = childOf(statement, 'assignment_expression');
  const target = assignment && childIn(assignment, 'left');
  const right = assignment && childIn(assignment, 'right');
  const operator = assignment && childIn(assignment, 'operator');
  if (!target || !right || !operator) return null;
  const compound = byOperator[words(operator).slice(0, -1)];
  if (words(operator) !== '=') return compound ? { target, operation: compound, value: words(right) } : null;
  const same = (node: SyntaxNode | undefined): boolean =>
    node !== undefined && words(stripParentheses(node)).replace(/\s/g, '') === words(target).replace(/\s/g, '');
  const value = stripParentheses(right);
  if (value.type === 'binary_expression') {
    const [a, b] = [childIn(value, 'left'), childIn(value, 'right')];
    const operation = byOperator[words(childIn(value, 'operator') ?? value)];
    if (!operation || !a || !b) return null;
    if (same(a)) return { target, operation, value: words(b) };
    return same(b) && operation !== 'Sub' ? { target, operation, value: words(a) } : null;
  }
  if (value.type === 'call_expression') {
    const called = childIn(value, 'function');
    const list = childIn(value, 'arguments');
    const name = called ? /^(?:::)?(?:std::)?(min|max)$/.exec(words(called))?.[1] : undefined;
    const [a, b] = list ? listItems(list) : [];
    if (name === undefined || !a || !b) return null;
    const operation = name === 'min' ? 'Min' : 'Max';
    return same(a) ? { target, operation, value: words(b) } : same(b) ? { target, operation, value: words(a) } : null;
  }
  return null;
}

/** `if (v > A[i]) A[i] = v;` */
function extremum(text: string, statement: SyntaxNode): Update | null {
  const words = (node: SyntaxNode): string => text.slice(node.start, node.end).replace(/\s+/g, ' ');
  const clause = childIn(statement, 'condition');
  const condition = clause && childIn(clause, 'value');
  let body = childIn(statement, 'consequence');
  if (body?.type === 'compound_statement') body = listItems(body).length === 1 ? listItems(body)[0] : undefined;
  const assignment = body?.type === 'expression_statement' ? childOf(body, 'assignment_expression') : undefined;
  const target = assignment && childIn(assignment, 'left');
  const value = assignment && childIn(assignment, 'right');
  if (!condition || !assignment || !target || !value || childIn(statement, 'alternative')) return null;
  if (condition.type !== 'binary_expression' || words(childIn(assignment, 'operator') ?? value) !== '=') return null;
  const [left, right] = [childIn(condition, 'left'), childIn(condition, 'right')];
  const operator = words(childIn(condition, 'operator') ?? condition);
  if (!left || !right || !/^[<>]=?$/.test(operator)) return null;
  const isForward = words(left) === words(value) && words(right) === words(target);
  const isBackward = words(left) === words(target) && words(right) === words(value);
  if (!isForward && !isBackward) return null;
  const isGreater = operator.startsWith('>') === isForward;
  return { target, operation: isGreater ? 'Max' : 'Min', value: words(value) };
}
