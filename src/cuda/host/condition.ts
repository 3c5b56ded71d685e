/** Conditions of statements, and joins of the paths after a branch. */
import { childIn, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { declaredName, sourceTextOf } from '../declarations/declarations.ts';
import { type Frame, type Interpreter, type State, mergeStates } from './interpreter.ts';
import { type Fact, truth } from './term.ts';
import type { HostValue } from './value.ts';

/** The condition of an `if`, `while` or `switch`, with its declarations. */
export function evaluatedCondition(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const clause = childIn(node, 'condition');
  if (!clause) return { kind: 'condition', fact: truth(true) };
  const initial = childIn(clause, 'initializer');
  if (initial) for (const child of initial.children.length > 0 && initial.type === 'init_statement' ? initial.children : [initial]) host.execute(child, state, frame); // oxfmt-ignore
  const value = clause.type === 'condition_clause' ? childIn(clause, 'value') : clause;
  if (!value) return host.symbol('condition');
  if (value.type !== 'declaration') return host.evaluate(value, state, frame);
  const declarator = childIn(value, 'declarator');
  const name = declarator && declaredName(host.declarations.text, declarator);
  const inner = childIn(value, 'value');
  const result = inner ? host.evaluate(inner, state, frame) : host.symbol('condition');
  const type = childIn(value, 'type');
  if (name !== undefined)
    host.declare(name, type ? sourceTextOf(host.declarations.text, type) : '', result, state, frame);
  return result;
}

/** Joins two states into one. */
export function joinStates(state: State, then: State, otherwise: State, condition: Fact, host: Interpreter): void {
  mergeStates(state, then, otherwise, condition, host, (cell) => host.symbol(`cell ${cell}`, host.typeOfCell(cell)));
}

/** Assigns one state to another. */
export function become(state: State, other: State): void {
  state.store = other.store;
  state.facts = other.facts;
  state.epoch = other.epoch;
}
