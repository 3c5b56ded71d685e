/**
 * Loops of host code: executed iteration by iteration, or summarised by one iteration that represents all of them, or
 * all except the first.
 */
import { childIn, childOf, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { bracedValue } from './braced-value.ts';
import { become, evaluatedCondition, joinStates } from './condition.ts';
import { declaredName, sourceTextOf } from '../declarations/declarations.ts';
import { type Exits, type Frame, type HostEvent, type Interpreter, type State, type Writes, assume, cloneState, converted, typeText, withPart } from './interpreter.ts'; // oxfmt-ignore
import { type Fact, type HostTerm, arithmetic, compared, termConstant, integer, termKey, negatedFact, one, symbolsOf, truth, zeroTerm } from './term.ts'; // oxfmt-ignore
import { type HostValue, extentsOf, factOf, termOf } from './value.ts';

/** Maximum trip count of a loop with known bounds that is executed iteration by iteration. */
const maxRounds = 64;

/**
 * Executes a loop.
 * @returns whether the next statement is reached
 */
export function executeLoop(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  const declarator = node.type === 'for_range_loop' ? childIn(node, 'declarator') : undefined;
  const range = declarator?.type === 'reference_declarator' ? childIn(node, 'right') : undefined;
  const ranged = range && host.place(range, state, frame);
  const isConstant = node.children.some((child) => child.type === 'type_qualifier');
  // The loop variable is a reference, through which the elements may change.
  if (ranged?.kind === 'cell' && !isConstant) host.expose(ranged.cell);
  const initial = childIn(node, 'initializer');
  if (initial) {
    if (initial.type === 'declaration') host.execute(initial, state, frame);
    else host.evaluate(initial, state, frame);
  }
  const before = cloneState(state);
  const isFirst = node.type === 'do_statement';
  const rounds = node.type === 'for_range_loop' ? undefined : shortRounds(node, state, frame, host);
  if (rounds !== undefined && host.attempt(() => unrolled(node, rounds, state, frame, host))) return true;
  if (node.type === 'for_range_loop' && host.attempt(() => unrolledRange(node, state, frame, host))) return true;
  become(state, cloneState(before));
  if (node.type === 'for_range_loop' || !host.reaches(node)) return summarised(node, state, frame, host, isFirst);
  let isThrough = true;
  const isTold = host.attempt((emitted) => {
    const start = host.spent();
    const changed = new Set<string>();
    isThrough = summarised(node, state, frame, host, isFirst, 'all alike', changed);
    return host.spent() - start > maxOfFirstRound || !emitted().some((event) => isLeftOpen(event, changed));
  });
  if (isTold) return isThrough;
  become(state, before);
  return summarised(node, state, frame, host, isFirst, 'first apart');
}

/**
 * Whether a launch has an extent that differs between the iterations of a loop and that none of its arguments
 * determines.
 */
function isLeftOpen(event: HostEvent, changed: ReadonlySet<string>): boolean {
  if (event.kind !== 'launch') return false;
  const isChanged = (id: string): boolean => changed.has(id) || changed.has(id.replace(/\.[xyz]$/, ''));
  const symbols = (values: readonly (HostTerm | null)[]): string[] => values.flatMap((term) => (term ? [...symbolsOf(term).keys()] : [])); // oxfmt-ignore
  const told = new Set(symbols((event.arguments ?? []).map(termOf)));
  const extents = [event.grid, event.block].flatMap((value) => (value && extentsOf(value)) ?? []);
  return symbols(extents).some((id) => isChanged(id) && !told.has(id));
}

/** One iteration: the body, then the update. @returns whether another iteration may follow */
function round(node: SyntaxNode, state: State, frame: Frame, host: Interpreter, breaks: State[]): boolean {
  const body = childIn(node, 'body');
  const continues: State[] = [];
  const exits: Exits = { returns: frame.exits.returns, breaks, continues };
  let isAlive = !body || host.execute(body, state, { ...frame, exits });
  for (const left of continues) {
    if (isAlive) joinStates(state, left, cloneState(state), host.undecided(), host);
    else become(state, left);
    isAlive = true;
  }
  const update = childIn(node, 'update');
  if (isAlive && update) host.evaluate(update, state, frame);
  return isAlive;
}

function loopCondition(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): Fact {
  const condition = childIn(node, 'condition');
  if (!condition) return truth(true);
  if (node.type === 'while_statement') return factOf(evaluatedCondition(node, state, frame, host));
  return factOf(host.evaluate(condition, state, frame));
}

/**
 * The trip count that the condition and the step of a loop imply, without its body: 0 if it has no step.
 * @returns undefined if it exceeds the limit
 */
function shortRounds(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): number | undefined {
  const update = childIn(node, 'update');
  if (!update) return 0;
  const trial = cloneState(state);
  let rounds: number | undefined;
  host.silently(() => {
    for (let count = 0; count <= maxRounds && rounds === undefined; count++) {
      const condition = loopCondition(node, trial, frame, host);
      if (condition.kind !== 'truth') break;
      if (!condition.value) rounds = count;
      host.evaluate(update, trial, frame);
    }
  });
  return rounds;
}

/** Maximum work of one iteration for which the first iteration is executed separately. */
const maxOfFirstRound = 4000;

/** Maximum work on the iterations of a loop that reaches no launch: its results rarely affect a launch. */
const maxOfSideLoop = 1000;

/**
 * Executes the iterations one by one.
 * @param rounds expected trip count, if known
 * @returns whether the loop ended
 */
function unrolled(node: SyntaxNode, rounds: number, state: State, frame: Frame, host: Interpreter): boolean {
  const breaks: State[] = [];
  const start = host.spent();
  const most = host.reaches(node) ? Infinity : maxOfSideLoop;
  for (let count = 0; count <= maxRounds && host.spent() - start <= most; count++) {
    // Each iteration is expected to cost the same.
    if (count === 1 && (host.spent() - start) * rounds > most) return false;
    if (count > 0 || node.type !== 'do_statement') {
      const condition = loopCondition(node, state, frame, host);
      if (condition.kind !== 'truth') return false;
      if (!condition.value) return true;
    }
    const isAlive = round(node, state, frame, host, breaks);
    const [left, ...others] = breaks;
    // The iteration that certainly breaks is the last one.
    if (!isAlive && left && others.length === 0) {
      become(state, left);
      return true;
    }
    if (!isAlive || left) return false;
  }
  return false;
}

/** Executes the loop for each element of an array. @returns whether the loop ended */
function unrolledRange(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  const right = childIn(node, 'right');
  const isList = right?.type === 'initializer_list';
  const elements = (): Extract<HostValue, { kind: 'record' }> | undefined => {
    const value = right && (isList ? bracedValue(right, '', state, frame, host) : host.evaluate(right, state, frame));
    return value?.kind === 'record' ? value : undefined;
  };
  const length = isList ? listItems(right).length : elements()?.length;
  if (length === undefined || length > maxRounds) return false;
  const most = host.reaches(node) ? Infinity : host.spent() + maxOfSideLoop;
  for (let index = 0; index < length; index++) {
    const element = elements()?.fields.get(String(index));
    if (!element || host.spent() > most) return false;
    const inner: Frame = { ...frame, scope: { cells: new Map(), outer: frame.scope } };
    declareElement(node, state, inner, host, element);
    const breaks: State[] = [];
    const isAlive = round(node, state, inner, host, breaks);
    const [left, ...others] = breaks;
    if (!isAlive && left && others.length === 0) {
      become(state, left);
      return true;
    }
    if (!isAlive || left) return false;
  }
  return true;
}

/**
 * Executes one iteration that represents all of them: variables that the loop changes may have any value within the
 * bounds of steps and conditions. Or executes the first iteration exactly, and one that represents the others; an
 * additional iteration before that determines the changes.
 * @param changed gets the symbols for the changed variables
 */
function summarised(
  node: SyntaxNode,
  state: State,
  frame: Frame,
  host: Interpreter,
  isFirst: boolean,
  rounds: 'all alike' | 'first apart' = 'all alike',
  changed = new Set<string>(),
): boolean {
  const written = writtenIn(node, state, frame, host);
  const start = cloneState(state);
  const halved: { readonly first: HostTerm; readonly now: HostTerm }[] = [];
  const steps = stepsOf(node, host);
  state.epoch++;
  for (const [cell, writes] of written) {
    const before = start.store.get(cell) ?? host.initial(cell);
    if (before === undefined) continue;
    const value = afterWrites(before, cell, writes, labelOf(cell, frame, host), frame, host, changed);
    state.store.set(cell, value);
    const [first, now] = [termOf(before), termOf(value)];
    const name = [...steps.keys()].find((known) => host.lookUp(known, frame, state) === cell);
    const own = name === undefined ? undefined : steps.get(name);
    // Valid only if nothing else in the loop writes the variable.
    if (first && now && own && [...writes.by].every((writer) => writer === own.node))
      progression(first, now, own, host);
    if (first && now && own?.operator === '/') halved.push({ first, now });
  }
  if (node.type === 'for_range_loop') declareElement(node, state, frame, host);
  const after = cloneState(state);
  const condition = isFirst ? truth(true) : loopCondition(node, state, frame, host);
  const breaks: State[] = [];
  if (condition.kind !== 'truth' || condition.value) {
    assume(state, condition);
    // A variable that is divided in each iteration and is still positive is at most its initial value.
    for (const { first, now } of halved) if (isPositive(condition, now)) assume(state, compared('<=', now, first));
    if (rounds === 'all alike') round(node, state, frame, host, breaks);
    else roundsApart(node, start, state, frame, host, isFirst, breaks);
  }
  become(state, after);
  if (!isFirst && node.type !== 'for_range_loop') {
    const end = loopCondition(node, state, frame, host);
    if (breaks.length === 0) assume(state, negatedFact(end));
    if (end.kind === 'truth' && end.value && breaks.length === 0) return false;
  }
  return true;
}

/**
 * @param start state before the first iteration
 * @param state state before any iteration, with the condition of the loop
 */
function roundsApart(
  node: SyntaxNode,
  start: State,
  state: State,
  frame: Frame,
  host: Interpreter,
  isFirst: boolean,
  breaks: State[],
): void {
  const first = cloneState(start);
  const isEntered = isFirst ? truth(true) : loopCondition(node, first, frame, host);
  if (isEntered.kind === 'truth' && !isEntered.value) return;
  assume(first, isEntered);
  round(node, first, frame, host, breaks);
  let isAlive = true;
  const unseen: Frame = { ...frame, exits: { returns: [], breaks: [], continues: [] } };
  host.silently(() => (isAlive = round(node, state, unseen, host, [])));
  const again = isAlive ? loopCondition(node, state, frame, host) : truth(false);
  if (again.kind === 'truth' && !again.value) return;
  assume(state, again);
  round(node, state, frame, host, breaks);
}

function labelOf(cell: number, frame: Frame, host: Interpreter): string {
  for (let scope: Frame['scope'] | null = frame.scope; scope; scope = scope.outer)
    for (const [name, own] of scope.cells) if (own === cell) return name;
  return `variable of type ${host.typeOfCell(cell)}`;
}

function declareElement(node: SyntaxNode, state: State, frame: Frame, host: Interpreter, element?: HostValue): void {
  const { text } = host.declarations;
  const [type, declarator] = [childIn(node, 'type'), childIn(node, 'declarator')];
  const name = declarator && declaredName(text, declarator);
  if (name === undefined || !type) return;
  const own = sourceTextOf(text, type);
  const value = element ?? host.symbol(name, own === 'auto' ? undefined : own);
  host.declare(name, own, converted(value, typeText(own, frame), host.declarations.aliases), state, frame);
}

/**
 * Value of a variable after writes: unknown, or with unknown fields if only these were written.
 * @param changed gets the symbols for the unknown values
 */
function afterWrites(
  before: HostValue,
  cell: number,
  { fields }: Pick<Writes, 'fields'>,
  label: string,
  frame: Frame,
  host: Interpreter,
  changed: Set<string>,
): HostValue {
  const fresh = (name: string, type?: string): HostValue => {
    const symbol = host.symbol(name, type);
    if (symbol.kind === 'symbol') changed.add(symbol.symbol.id);
    return symbol;
  };
  if (before.kind === 'record' && !fields.has(''))
    return [...fields].reduce((value, field) => withPart(value, [field], fresh(`${label}.${field}`)), before as HostValue); // oxfmt-ignore
  const type = host.typeOfCell(cell);
  return converted(fresh(label, type), typeText(type, frame), host.declarations.aliases);
}

/** The cells that a loop writes, in any iteration. */
function writtenIn(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): ReadonlyMap<number, Writes> {
  const all = new Map<number, { readonly by: Set<SyntaxNode | undefined>; readonly fields: Set<string> }>();
  // A later iteration may write more than the first, because of the values that the first has written: repeat until
  // nothing is added.
  for (let [before, now] = [-1, 0]; before !== now;) {
    before = now;
    const dry = cloneState(state);
    dry.epoch++;
    for (const [cell, writes] of all) dry.store.set(cell, afterWrites(dry.store.get(cell) ?? host.initial(cell) ?? host.symbol('any round'), cell, writes, 'any round', frame, host, new Set())); // oxfmt-ignore
    const written = host.silently(() => {
      if (node.type === 'for_range_loop') declareElement(node, dry, frame, host);
      loopCondition(node, dry, frame, host);
      round(node, dry, { ...frame, exits: { returns: [], breaks: [], continues: [] } }, host, []);
    });
    for (const [cell, { by, fields }] of written) {
      // Variables of the body are new in each iteration, and so are symbols for memory.
      if (!state.store.has(cell) && (host.initial(cell) === undefined || host.typeOfCell(cell) === '')) continue;
      const own = all.get(cell) ?? { by: new Set(), fields: new Set() };
      for (const one of by) own.by.add(one);
      for (const field of fields) own.fields.add(field);
      all.set(cell, own);
    }
    now = [...all.values()].reduce((sum, { fields }) => sum + 1 + fields.size, 0);
  }
  return all;
}

/** Whether a condition implies that a number is positive. */
function isPositive(condition: Fact, now: HostTerm): boolean {
  if (condition.kind === 'and') return isPositive(condition.left, now) || isPositive(condition.right, now);
  if (condition.kind !== 'comparison') return false;
  const { operator, left, right } = condition;
  const least = termConstant(right);
  return termKey(left) === termKey(now) && least !== undefined && ((operator === '>' && least >= 0n) || (operator === '>=' && least >= 1n)); // oxfmt-ignore
}

type Step = { readonly operator: '+' | '-' | '*' | '/'; readonly by: bigint; readonly node: SyntaxNode };

/** The variables that one statement of a loop steps by a constant, once in each iteration. */
function stepsOf(node: SyntaxNode, host: Interpreter): Map<string, Step> {
  const { text } = host.declarations;
  const steps = new Map<string, Step | null>();
  for (const inner of nodesWhere(node, ({ type }) => /^(?:assignment|update)_expression$/.test(type))) {
    if (within(childIn(node, 'initializer'), inner)) continue;
    const target = childIn(inner, inner.type === 'update_expression' ? 'argument' : 'left');
    if (target?.type !== 'identifier') continue;
    const name = sourceTextOf(text, target);
    steps.set(name, steps.has(name) ? null : stepOf(inner, name, text));
  }
  for (const inner of nodesWhere(node, ({ type }) => type === 'pointer_expression')) {
    const target = childIn(inner, 'argument');
    if (childIn(inner, 'operator')?.type === '&' && target?.type === 'identifier')
      steps.set(sourceTextOf(text, target), null);
  }
  return new Map([...steps].flatMap(([name, step]): [string, Step][] => (step ? [[name, step]] : [])));
}

function within(outer: SyntaxNode | undefined, inner: SyntaxNode): boolean {
  return outer !== undefined && outer.start <= inner.start && inner.end <= outer.end;
}

function stepOf(node: SyntaxNode, name: string, text: string): Step | null {
  const operator = childIn(node, 'operator')?.type ?? childOf(node, '++')?.type ?? childOf(node, '--')?.type ?? '';
  if (node.type === 'update_expression') return { operator: operator === '++' ? '+' : '-', by: 1n, node };
  const right = childIn(node, 'right');
  if (!right) return null;
  const read = (sign: string, operand: string): Step | null => {
    if (!/^\d{1,9}[uUlL]*$/.test(operand)) return null;
    const by = BigInt(operand.replace(/[uUlL]+$/, ''));
    if (by === 0n) return null;
    if (sign === '<<' || sign === '>>') return by > 30n ? null : { operator: sign === '<<' ? '*' : '/', by: 1n << by, node }; // oxfmt-ignore
    return /^[-+*/]$/.test(sign) ? { operator: sign as Step['operator'], by, node } : null;
  };
  if (operator !== '=') return read(operator.slice(0, -1), sourceTextOf(text, right));
  const form = /^([A-Za-z_]\w*)\s*([-+*/]|<<|>>)\s*(\d+)$/.exec(sourceTextOf(text, right));
  return form?.[1] === name ? read(form[2] ?? '', form[3] ?? '') : null;
}

/** Facts about a variable in every iteration: its start, and its constant step. */
function progression(first: HostTerm, now: HostTerm, { operator, by }: Step, host: Interpreter): void {
  const start = termConstant(first);
  const isPower = start !== undefined && start > 0n && (start & (start - 1n)) === 0n && (by & (by - 1n)) === 0n;
  switch (operator) {
    case '+':
    case '-': {
      host.know(compared(operator === '+' ? '>=' : '<=', now, first));
      const rest = start === undefined || by === 1n ? null : arithmetic('%', now, integer(by));
      if (rest && start !== undefined && start >= 0n && operator === '+')
        host.know(compared('==', rest, integer(start % by)));
      return;
    }
    case '*':
      if (start !== undefined && start > 0n) host.know(compared('>=', now, first));
      break;
    case '/':
      // With a negative value the product would decrease.
      if (start === undefined || start < 0n) return;
      host.know(compared('<=', now, first));
      host.know(compared('>=', now, zeroTerm));
  }
  const less = isPower ? arithmetic('-', now, one) : null;
  const mask = less && arithmetic('&', now, less);
  if (mask) host.know(compared('==', mask, zeroTerm));
}
