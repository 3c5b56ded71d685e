/**
 * The canonical text of expressions and conditions. Statements parse from it again. Trees with one text have
 * one value, so that texts are also keys; symbols are printed as `‹id›` there.
 */
import type { AssumptionExpression, Fact, HostTerm } from './expression.ts';
import { precedences } from './operators.ts';

/** Texts of trees, which share their parts. */
const knownTexts = new WeakMap<HostTerm | Fact, string>();

function remembered<Node extends HostTerm | Fact>(node: Node, print: (node: Node) => string): string {
  let text = knownTexts.get(node);
  if (text === undefined) knownTexts.set(node, (text = print(node)));
  return text;
}

/** The canonical text of an assumption, which parses to the same expression. */
export function printAssumption(assumption: AssumptionExpression): string {
  switch (assumption.kind) {
    case 'condition':
      return printCondition(assumption.condition);
    case 'distinct':
      return `distinct(${assumption.array})`;
    case 'elements':
      return `${assumption.array}[*] in ${printExpression(assumption.low)}..${printExpression(assumption.high)}`;
    case 'apart':
      return `apart(${assumption.first}, ${assumption.second})`;
    case 'pointers-apart':
      return `apart(${assumption.array}[*])`;
    case 'extent':
      return `extent(${assumption.array}) >= ${printExpression(assumption.atLeast)}`;
  }
}

/** The canonical text of a condition. */
export function printCondition(condition: Fact): string {
  return remembered(condition, textOfCondition);
}

function textOfCondition(condition: Fact): string {
  switch (condition.kind) {
    case 'truth':
      return String(condition.value);
    case 'unknown':
      return `?‹${condition.id}›`;
    case 'comparison':
      // C would compare before `&` and `|`.
      return `${operand(condition.left, precedences['<<']!)} ${condition.operator} ${operand(condition.right, precedences['<<']!)}`;
    case 'not': {
      const text = printCondition(condition.operand);
      return condition.operand.kind === 'not' ? `!${text}` : `!(${text})`;
    }
    case 'and':
    case 'or': {
      const level = ({ kind }: Fact): number => (kind === 'or' ? 1 : kind === 'and' ? 2 : 3);
      const own = level(condition);
      const wrap = (node: Fact, least: number): string => (level(node) < least ? `(${printCondition(node)})` : printCondition(node));
      const sign = condition.kind === 'and' ? '&&' : '||';
      return `${wrap(condition.left, own)} ${sign} ${wrap(condition.right, own + 1)}`;
    }
  }
}

/** The canonical text of an expression. */
export function printExpression(expression: HostTerm): string {
  switch (expression.kind) {
    case 'integer':
      return expression.text ?? String(expression.value);
    case 'parameter':
      return expression.path.join('.');
    case 'dimension':
      return `${expression.name}.${'xyz'[expression.axis]}`;
    case 'symbol':
      return `‹${expression.symbol.id}›`;
    case 'choice':
      return remembered(
        expression,
        ({ condition, then, otherwise }) => `(${printCondition(condition)} ? ${printExpression(then)} : ${printExpression(otherwise)})`,
      );
    case 'arithmetic':
      return remembered(expression, textOfArithmetic);
  }
}

type Arithmetic = Extract<HostTerm, { kind: 'arithmetic' }>;

function isNegation({ left }: Arithmetic): boolean {
  return left.kind === 'integer' && left.text === '';
}

const levelOfNegation = 9;

function textOfArithmetic(expression: Arithmetic): string {
  const { operator, left, right } = expression;
  if (isNegation(expression)) return `-${operand(right, levelOfNegation)}`;
  const own = precedences[operator] ?? 0;
  return `${operand(left, own)} ${operator} ${operand(right, own + 1)}`;
}

/** An operand, in parentheses if its operator is below a level of precedence. */
function operand(node: HostTerm, least: number): string {
  const text = printExpression(node);
  if (node.kind !== 'arithmetic') return text;
  return (isNegation(node) ? levelOfNegation : (precedences[node.operator] ?? 0)) < least ? `(${text})` : text;
}
