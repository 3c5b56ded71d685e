/**
 * Splits statements that read memory and then write it between the two: the value that was read is saved in a variable,
 * a barrier can follow, and the write is after it. The order of evaluation is preserved.
 */
import { elementType } from '../syntax/element-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, childOf, listItems, nodesWhere } from '../syntax/syntax-tree.ts';

const sideEffects = /^(?:call_expression|update_expression|assignment_expression|lambda_expression|new_expression)$/;
const memory = /^(?:subscript_expression|pointer_expression|call_expression|field_expression)$/;

/** A statement in two halves. */
export interface SplitStatement {
  /** The types of the variables with the values of the first half, `auto` if not evident. */
  readonly types: () => readonly string[];
  /** The statements before the barrier and the one after it, with names for these variables. */
  readonly parts: (names: readonly string[], types: readonly string[]) => { readonly before: readonly string[]; readonly after: string };
  /** How many variables there are. */
  readonly variables: number;
  /** Whether the second half declares names that others use, so that it cannot be enclosed in braces. */
  readonly declares: boolean;
}

/** The halves of a statement; null if it cannot be split. */
export function splitStatement(source: CudaSource, definition: FunctionDefinition, statement: SyntaxNode): SplitStatement | null {
  const { text } = source;
  if (statement.type === 'declaration') return splitDeclaration(source, definition, statement);
  if (statement.type !== 'expression_statement') return null;
  const comma = childOf(statement, 'comma_expression');
  if (comma) return splitComma(text, comma);
  const call = childOf(statement, 'call_expression');
  if (call) return splitCall(source, statement, call, false);
  const assignment = childOf(statement, 'assignment_expression');
  if (!assignment) return null;
  const chain = chainedStore(text, assignment);
  if (chain) {
    const { load, store } = chain;
    return { variables: 0, types: () => [], declares: false, parts: () => ({ before: [load], after: store }) };
  }
  const inner = innermost(assignment);
  if (inner !== assignment) return splitInner(source, definition, statement, inner, false);
  if (splittable(text, statement)) return splitAssignment(source, definition, statement, assignment);
  const right = childIn(assignment, 'right');
  return right?.type === 'call_expression' ? splitCall(source, statement, right, false) : null;
}

/** The assignment of a statement that reads memory and then writes it; null if none can be split. */
export function splittable(text: string, statement: SyntaxNode): SyntaxNode | null {
  const assignment = childOf(statement, 'assignment_expression');
  return assignment && readsAndWrites(text, assignment) ? assignment : null;
}

function readsAndWrites(text: string, assignment: SyntaxNode): boolean {
  const left = childIn(assignment, 'left');
  const right = childIn(assignment, 'right');
  const operator = childIn(assignment, 'operator');
  if (!left || !right || right.type === 'initializer_list' || right.type === 'ERROR') return false;
  const isCompound = operator !== undefined && text.slice(operator.start, operator.end) !== '=';
  if (!memory.test(left.type) || hasEffects(text, left)) return false;
  return isCompound || containsType(right, memory);
}

/** `A[i]` and the value that is stored there: `A[i] + (x)` of `A[i] += x`. */
export function splitParts(text: string, assignment: SyntaxNode): { readonly target: string; readonly value: string } {
  const of = (node: SyntaxNode | undefined): string => (node ? text.slice(node.start, node.end) : '');
  const target = of(childIn(assignment, 'left'));
  const right = childIn(assignment, 'right');
  const operator = of(childIn(assignment, 'operator')).replace(/=$/, '');
  if (operator === '') return { target, value: of(right) };
  const isProduct = right?.type === 'binary_expression' && /^[+-]$/.test(operator) && /^[*/%]$/.test(of(childIn(right, 'operator')));
  const isPlain =
    isProduct || /^(?:subscript_expression|identifier|number_literal|call_expression|parenthesized_expression)$/.test(right?.type ?? '');
  return { target, value: `${target} ${operator} ${isPlain ? of(right) : `(${of(right)})`}` };
}

/** `x = A[t] = A[t + 1]`: the last assignment of a chain. */
function innermost(assignment: SyntaxNode): SyntaxNode {
  const right = childIn(assignment, 'right');
  return right?.type === 'assignment_expression' ? innermost(right) : assignment;
}

/**
 * `A[t] = sum = sum + A[t + 1]`: the value stored is that of a variable, which is assigned first.
 * @returns the statements of both, null if the statement is not such a chain
 */
export function chainedStore(text: string, assignment: SyntaxNode): { readonly load: string; readonly store: string } | null {
  const inner = innermost(assignment);
  const variable = childIn(inner, 'left');
  const value = childIn(inner, 'right');
  if (inner === assignment || variable?.type !== 'identifier' || !value || !containsType(value, memory)) return null;
  const targets: SyntaxNode[] = [];
  for (let node = assignment; node !== inner; node = childIn(node, 'right')!) {
    const target = childIn(node, 'left');
    const operator = childIn(node, 'operator');
    if (!target || !operator || text.slice(operator.start, operator.end) !== '=') return null;
    targets.push(target);
  }
  if (!targets.some(({ type }) => memory.test(type)) || targets.some((target) => hasEffects(text, target))) return null;
  return {
    load: `${text.slice(inner.start, inner.end)};`,
    store: `${text.slice(assignment.start, inner.start)}${text.slice(variable.start, variable.end)};`,
  };
}

function splitAssignment(
  source: CudaSource,
  definition: FunctionDefinition,
  statement: SyntaxNode,
  assignment: SyntaxNode,
): SplitStatement | null {
  const { text } = source;
  const left = childIn(assignment, 'left')!;
  const right = childIn(assignment, 'right')!;
  const operator = text.slice(left.end, right.start).trim();
  // The right side of a compound assignment is evaluated first, and a call may change operands of the left side.
  if (operator === '=' || !changesMemory(source, right)) return splitInner(source, definition, statement, assignment, false);
  const target = text.slice(left.start, left.end);
  return {
    variables: 2,
    types: () => ['auto', typeOf(source, definition, left)],
    declares: false,
    parts: ([first, second], [ofFirst, ofSecond]) => ({
      before: [
        `${ofFirst} ${first} = ${text.slice(right.start, right.end)};`,
        `${ofSecond} ${second} = ${target} ${operator.slice(0, -1)} ${first};`,
      ],
      after: `${target} = ${second};`,
    }),
  };
}

/** Splits an assignment inside a statement, if the statement evaluates it first. */
function splitInner(
  source: CudaSource,
  definition: FunctionDefinition,
  statement: SyntaxNode,
  assignment: SyntaxNode,
  declares: boolean,
): SplitStatement | null {
  const { text } = source;
  if (!readsAndWrites(text, assignment)) return null;
  const { target, value } = splitParts(text, assignment);
  // `A[i] + f()` may read `A[i]` before the call.
  const isCompound = !/^=/.test(text.slice(childIn(assignment, 'left')!.end).trimStart());
  if (isCompound && changesMemory(source, childIn(assignment, 'right')!)) return null;
  return {
    variables: 1,
    types: () => [typeOf(source, definition, childIn(assignment, 'left')!)],
    declares,
    parts: ([name], [type]) => ({
      before: [`${type} ${name} = ${value};`],
      after: `${text.slice(statement.start, assignment.start)}${target} = ${name}${text.slice(assignment.end, statement.end)}`,
    }),
  };
}

/** `f(s, t, g(s, t))`: the arguments that read memory, if the function is one that can write it. */
function splitCall(source: CudaSource, statement: SyntaxNode, call: SyntaxNode, declares: boolean): SplitStatement | null {
  const { text } = source;
  const called = childIn(call, 'function');
  const list = childIn(call, 'arguments');
  const name = called && text.slice(called.start, called.end);
  if (name === undefined || !list) return null;
  const all = listItems(list);
  const own = source.functions.filter((other) => other.name === name && other.parameters.length === all.length);
  if (own.length !== 1 && !/^atomic[A-Z]\w*$/.test(name)) return null;
  const parameters = own[0]?.parameters;
  const read = all.flatMap((argument, index) => {
    const type = parameters?.[index]?.type ?? '';
    const isAddress = argument.type === 'pointer_expression' && text[argument.start] === '&';
    return type.includes('&') || isAddress || !containsType(argument, memory) ? [] : [{ argument, type }];
  });
  if (read.length === 0) return null;
  return {
    variables: read.length,
    types: () => read.map(({ type }) => (arithmetic.test(type) ? type.replace(/\bconst\s+/, '') : 'auto')),
    declares,
    parts: (names, types) => {
      let at = statement.start;
      let after = '';
      for (const [index, { argument }] of read.entries()) {
        after += text.slice(at, argument.start) + names[index]!;
        at = argument.end;
      }
      return {
        before: read.map(({ argument: { start, end } }, index) => `${types[index]} ${names[index]} = ${text.slice(start, end)};`),
        after: after + text.slice(at, statement.end),
      };
    },
  };
}

const arithmetic =
  /^(?:const\s+)?(?:unsigned(?: (?:int|char|short|long|long long))?|int|char|short|long|long long|float|double|bool|size_t|u?int\d+_t)$/;

/** `int old = A[t] = A[t + 1];`, `int old = f(s, g(s));`, `int a = f(s), b = g(s);` */
function splitDeclaration(source: CudaSource, definition: FunctionDefinition, statement: SyntaxNode): SplitStatement | null {
  const { text } = source;
  const type = childIn(statement, 'type');
  if (!type || /\b(?:__shared__|extern|static|__constant__)\b/.test(text.slice(statement.start, type.end))) return null;
  const declarators = statement.children.filter(({ field }) => field === 'declarator');
  const [first, second] = declarators;
  const value = first?.type === 'init_declarator' ? childIn(first, 'value') : undefined;
  if (!first || !value) return null;
  if (!second) {
    if (value.type === 'assignment_expression') {
      const inner = innermost(value);
      return splitInner(source, definition, statement, inner, true);
    }
    return value.type === 'call_expression' ? splitCall(source, statement, value, true) : null;
  }
  const later = declarators.slice(1);
  if (!later.some((node) => containsType(node, sideEffects)) || !containsType(value, memory)) return null;
  const base = text.slice(statement.start, first.start);
  return {
    variables: 0,
    types: () => [],
    declares: true,
    parts: () => ({
      before: [`${text.slice(statement.start, first.end)};`],
      after: `${base}${text.slice(second.start, statement.end)}`,
    }),
  };
}

/** `a = A[t + 1], A[t] = a;` */
function splitComma(text: string, comma: SyntaxNode): SplitStatement | null {
  const left = childIn(comma, 'left');
  const right = childIn(comma, 'right');
  if (!left || !right || !containsType(left, memory) || !containsType(right, memory)) return null;
  return {
    variables: 0,
    types: () => [],
    declares: false,
    parts: () => ({
      before: [`${text.slice(left.start, left.end)};`],
      after: `${text.slice(right.start, right.end)};`,
    }),
  };
}

function typeOf(source: CudaSource, { start, end }: FunctionDefinition, target: SyntaxNode): string {
  return elementType(source, target, start, end) ?? 'auto';
}

function containsType(node: SyntaxNode, types: RegExp): boolean {
  return nodesWhere(node, ({ type }) => types.test(type)).length > 0;
}

/** `block.thread_rank()`, and other queries of a group of threads without side effects. */
const ofGroup = /(?:\.|->)(?:thread_rank|size|num_threads|meta_group_rank|meta_group_size)\(\)$/;

/** Whether evaluating an expression twice, or later, may give another result. */
function hasEffects(text: string, expression: SyntaxNode): boolean {
  return nodesWhere(expression, ({ type }) => sideEffects.test(type)).some(
    ({ type, start, end }) => type !== 'call_expression' || !ofGroup.test(text.slice(start, end).replace(/\s/g, '')),
  );
}

/**
 * Whether evaluating an expression may change memory: it assigns, or calls a function that is not known to leave it
 * unchanged.
 */
function changesMemory({ text, functions }: CudaSource, expression: SyntaxNode): boolean {
  return nodesWhere(expression, ({ type }) => sideEffects.test(type)).some((node) => {
    if (node.type !== 'call_expression') return true;
    const called = childIn(node, 'function');
    const name = called ? text.slice(called.start, called.end) : '';
    return functions.some((other) => other.name === name) || /^(?:atomic|__shfl|__sync|asm)/.test(name);
  });
}
