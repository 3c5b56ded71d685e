/** What statements of host code do. Branches meet again; a loop is gone through round by round, or once for all rounds. */
import { integerType, isFloatType } from '../syntax/basic-type.ts';
import { childIn, childOf, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { declaredName, sizeIn, suffixOf, textOf } from './declarations.ts';
import { argumentOf, forget } from './calls.ts';
import { bracedValue, withLength } from './braced-value.ts';
import { endsProgram, exposeNamed, typeOfExpression } from './expressions.ts';
import { type Exits, type Frame, type HostEvent, type Interpreter, type State, type Writes, assume, cloneState, converted, dim3Of, meet, resolvedType, typeText, withPart } from './interpreter.ts'; // prettier-ignore
import { type Fact, type HostTerm, arithmetic, compared, termConstant, integer, joinedFact, termKey, negatedFact, one, symbolsOf, truth, zeroTerm } from './term.ts'; // prettier-ignore
import { type HostValue, extentsOf, factOf, termOf } from './value.ts';

/** Rounds of a loop with known bounds that are gone through one by one. */
const mostRounds = 64;

/** @returns whether what follows the statement is reached */
export function executeStatement(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  if (!host.step()) return true;
  switch (node.type) {
    case 'compound_statement': {
      const inner: Frame = { ...frame, scope: { cells: new Map(), outer: frame.scope } };
      let isAlive = true;
      for (const child of node.children) {
        // A jump may lead to a label that nothing else reaches.
        if (!isAlive && nodesWhere(child, ({ type }) => type === 'labeled_statement').length === 0) continue;
        isAlive = host.execute(child, state, inner);
      }
      return isAlive;
    }
    case 'declaration':
      declare(node, state, frame, host);
      return true;
    case 'enum_specifier':
      declareEnumerators(node, state, frame, host);
      return true;
    case 'expression_statement': {
      for (const child of node.children) if (child.type !== ';') host.evaluate(child, state, frame);
      return !node.children.some((child) => endsProgram(child, host.declarations.text));
    }
    case 'if_statement':
      return branch(node, state, frame, host);
    case 'for_statement':
    case 'while_statement':
    case 'do_statement':
    case 'for_range_loop':
      return loop(node, state, { ...frame, scope: { cells: new Map(), outer: frame.scope } }, host);
    case 'switch_statement':
      return switched(node, state, frame, host);
    case 'return_statement': {
      const result = node.children.find(({ type }) => type !== 'return' && type !== ';');
      const value =
        result?.type === 'initializer_list'
          ? bracedValue(result, frame.function?.returns ?? '', state, frame, host)
          : result
            ? host.evaluate(result, state, frame)
            : host.symbol('nothing');
      frame.exits.returns.push({ state: cloneState(state), value });
      return false;
    }
    case 'break_statement':
      frame.exits.breaks?.push(cloneState(state));
      return false;
    case 'continue_statement':
      frame.exits.continues?.push(cloneState(state));
      return false;
    case 'throw_statement':
    case 'goto_statement':
      return false;
    case 'try_statement': {
      const body = childIn(node, 'body');
      const handlers = node.children.filter(({ type }) => type === 'catch_clause');
      if (!body || handlers.length === 0) return body ? host.execute(body, state, frame) : true;
      const before = cloneState(state);
      const written = host.silently(() => void host.execute(body, cloneState(state), { ...frame, exits: { returns: [], breaks: [], continues: [] } })); // prettier-ignore
      const isThrough = host.execute(body, state, frame);
      const ends = isThrough ? [cloneState(state)] : [];
      for (const handler of handlers) {
        // The exception may come from anywhere in the body.
        const caught = cloneState(before);
        caught.epoch = state.epoch + 1;
        for (const cell of written.keys()) if (caught.store.has(cell) || host.initial(cell)) forgetCell(cell, caught, frame, host); // prettier-ignore
        const own = childIn(handler, 'body');
        const names = childIn(handler, 'parameters');
        const inner: Frame = { ...frame, scope: { cells: new Map(), outer: frame.scope } };
        for (const parameter of names ? listItems(names) : []) {
          const name = childIn(parameter, 'declarator') && declaredName(host.declarations.text, childIn(parameter, 'declarator')!); // prettier-ignore
          if (name) host.declare(name, '', host.symbol(name), caught, inner);
        }
        if (!own || host.execute(own, caught, inner)) ends.push(caught);
      }
      const [first, ...rest] = ends;
      if (!first) return false;
      become(state, first);
      for (const end of rest) joinStates(state, end, cloneState(state), host.undecided(), host);
      return true;
    }
    case 'labeled_statement': {
      // Jumps lead here from anywhere in the function: nothing is known of what it holds but what never changes.
      state.facts = [];
      state.epoch++;
      for (const cell of state.store.cells()) forgetCell(cell, state, frame, host);
      const body = node.children.filter(({ type }) => /_statement$|^declaration$/.test(type));
      let isAlive = true;
      for (const child of body) isAlive = isAlive && host.execute(child, state, frame);
      return isAlive;
    }
    case 'else_clause':
    case 'attributed_statement': {
      let isAlive = true;
      for (const child of node.children)
        if (/_statement$|^declaration$/.test(child.type)) isAlive = isAlive && host.execute(child, state, frame);
      return isAlive;
    }
    case 'ERROR':
      for (const child of node.children)
        if (/_statement$|^declaration$/.test(child.type)) host.execute(child, state, frame);
      return true;
  }
  return true;
}

/** What a cell holds is not known any more. */
function forgetCell(cell: number, state: State, frame: Frame, host: Interpreter): void {
  const type = host.typeOfCell(cell);
  if (/\b(?:const|constexpr)\b/.test(type)) return;
  const value = converted(host.symbol('after a jump', type), typeText(type, frame), host.declarations.aliases);
  host.write({ kind: 'cell', cell, path: [] }, value, state);
}

/** The enumerators of an enumeration within a function: constants of its scope. */
function declareEnumerators(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): void {
  let next: HostTerm | null = zeroTerm;
  for (const item of childIn(node, 'body')?.children ?? []) {
    if (item.type !== 'enumerator') continue;
    const name = textOf(host.declarations.text, childIn(item, 'name') ?? item);
    const value = childIn(item, 'value');
    const own: HostTerm | null = value ? termOf(host.evaluate(value, state, frame)) : next;
    host.declare(name, 'const int', own ? { kind: 'number', term: own } : host.symbol(name), state, frame);
    next = own && arithmetic('+', own, one);
  }
}

function declare(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): void {
  const { text, aliases, records } = host.declarations;
  const type = childIn(node, 'type');
  if (!type) return;
  const base = textOf(text, type);
  if (type.type === 'enum_specifier') declareEnumerators(type, state, frame, host);
  for (const declarator of node.children.filter(({ field }) => field === 'declarator')) {
    const name = declaredName(text, declarator);
    if (name === undefined) continue;
    const bindings = nodesWhere(declarator, ({ type: kind }) => kind === 'structured_binding_declarator');
    if (bindings.length > 0) {
      const source = childIn(declarator, 'value');
      const place = source && host.place(source, state, frame);
      if (source && !place) host.evaluate(source, state, frame);
      if (place?.kind === 'cell') host.expose(place.cell);
      for (const bound of bindings.flatMap((list) => nodesWhere(list, ({ type: kind }) => kind === 'identifier'))) {
        const called = textOf(text, bound);
        host.declare(called, '', host.symbol(called), state, frame);
      }
      continue;
    }
    const own = base + suffixOf(declarator);
    const known = resolvedType(typeText(own, frame), aliases);
    const isReference = nodesWhere(declarator, (inner) => inner.type === 'reference_declarator').length > 0;
    // `dim3 grid(n);` and `int x = y, z(w);` read as the declaration of a function.
    const list = declarator.type === 'function_declarator' ? childIn(declarator, 'parameters') : undefined;
    const value = declarator.type === 'init_declarator' ? childIn(declarator, 'value') : undefined;
    if (isReference && value) {
      const place = host.place(value, state, frame);
      if (!place) exposeNamed(value, state, frame, host);
      if (place?.kind === 'cell' && place.path.length === 0) {
        frame.scope.cells.set(name, place.cell);
        continue;
      }
      // A part of a variable by another name.
      const isConstant = node.children.some((child) => child.type === 'type_qualifier' && textOf(text, child) === 'const'); // prettier-ignore
      if (place && !isConstant) {
        host.write(place, host.symbol(name), state);
        if (place.kind === 'cell') host.expose(place.cell);
        else state.epoch++;
      }
    }
    if (value && /\*$/.test(own)) exposeArray(value, state, frame, host);
    const items = list
      ? listItems(list).flatMap((parameter) => childIn(parameter, 'type') ?? [])
      : value?.type === 'argument_list'
        ? listItems(value)
        : undefined;
    let initial: HostValue;
    if (items) initial = constructed(known, items, state, frame, host, name);
    else if (hasConstructor(known, host) && (!value || value.type === 'initializer_list'))
      initial = constructed(known, value ? listItems(value) : [], state, frame, host, name); // prettier-ignore
    else if (value?.type === 'initializer_list') {
      const size = sizeIn(declarator);
      initial = withLength(bracedValue(value, own, state, frame, host), own, value, size && termOf(host.evaluate(size, state, frame))); // prettier-ignore
    } else if (value) initial = host.evaluate(value, state, frame);
    else if (known === 'dim3') initial = dim3Of({ kind: 'number', term: one });
    else if (records.has(known.replace(/^.*::/, ''))) initial = defaultRecord(known, state, frame, host);
    else initial = host.symbol(name, known);
    const isStatic = node.children.some((child) => textOf(text, child) === 'static');
    if (isStatic && !/\bconst(?:expr)?\b/.test(textOf(text, node))) initial = host.symbol(name, known);
    // Nothing changes a number that is declared constant, whoever knows where it is.
    const isFixed = !isStatic && (integerType(known) !== undefined || isFloatType(known)) && node.children.some((child) => /^(?:const|constexpr)$/.test(textOf(text, child))) && !node.children.some((child) => textOf(text, child) === 'volatile'); // prettier-ignore
    const cell = host.declare(name, isFixed ? `const ${own}` : own, converted(initial, typeText(own, frame), aliases), state, frame); // prettier-ignore
    // Members of a union are one memory.
    if (records.get(known.replace(/^.*::/, ''))?.isUnion) host.expose(cell);
    // `T t(f, g(n));` reads as the declaration of a function with parameters.
    for (const parameter of list ? listItems(list) : []) exposeNamed(childIn(parameter, 'declarator'), state, frame, host); // prettier-ignore
  }
}

/** Whether a type has a constructor in the text. */
function hasConstructor(type: string, host: Interpreter): boolean {
  const record = type.replace(/^.*::/, '').replace(/<[^]*$/, '');
  return (host.declarations.functions.get(record) ?? []).some((one) => one.record === record);
}

/** What a constructor makes of its arguments. */
function constructed(
  type: string,
  items: readonly SyntaxNode[],
  state: State,
  frame: Frame,
  host: Interpreter,
  name: string,
): HostValue {
  const given = items.map((item) => argumentOf(item, state, frame, host));
  const values = given.map(({ value }) => value);
  const [first] = values;
  if (type === 'dim3') {
    const [only] = values;
    if (values.length === 1 && only) return dim3Of(only);
    const fields = new Map(['x', 'y', 'z'].map((axis, at): [string, HostValue] => [axis, values[at] ?? { kind: 'number', term: one }])); // prettier-ignore
    const converts = (value: HostValue): HostValue => converted(value, 'unsigned', host.declarations.aliases);
    const whole = new Map([...fields].map(([axis, value]) => [axis, converts(value)]));
    return { kind: 'record', fields: whole, rest: { id: `dim3 ${name}`, label: name } };
  }
  const record = type.replace(/^.*::/, '').replace(/<[^]*$/, '');
  if (host.declarations.records.has(record)) {
    const self = host.declare(
      `${name} (under construction)`,
      type,
      defaultRecord(type, state, frame, host),
      state,
      frame,
    );
    const builder = host.declarations.functions
      .get(record)
      ?.find(({ body, parameters, record: owner }) => body && owner === record && parameters.length === values.length);
    if (builder) {
      host.invoke(builder, given, state, frame, { self: { kind: 'place', cell: self, path: [] } });
      return host.read({ kind: 'cell', cell: self, path: [] }, state);
    }
    host.unfollowed(record);
    forget(given, state, host);
    host.disturb(state);
    return host.symbol(name, type);
  }
  if (values.length === 1 && first && !/vector|<|string/.test(type)) return first;
  forget(given, state, host);
  return host.symbol(name, type);
}

/** A record as its declaration initialises it. */
function defaultRecord(type: string, state: State, frame: Frame, host: Interpreter): HostValue {
  const record = host.declarations.records.get(type.replace(/^.*::/, '').replace(/<[^]*$/, ''));
  const fields = new Map<string, HostValue>();
  for (const { name, type: own, value } of record?.fields ?? []) {
    if (value) fields.set(name, converted(value.type === 'initializer_list' ? bracedValue(value, own, state, frame, host) : host.evaluate(value, state, frame), own, host.declarations.aliases)); // prettier-ignore
    else if (resolvedType(own, host.declarations.aliases) === 'dim3') fields.set(name, dim3Of({ kind: 'number', term: one })); // prettier-ignore
  }
  const symbol = host.symbol(type, type);
  return symbol.kind === 'symbol' ? { kind: 'record', fields, rest: symbol.symbol } : symbol;
}

/** The condition of an `if`, `while` or `switch`; what it declares is declared. */
function conditionOf(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const clause = childIn(node, 'condition');
  if (!clause) return { kind: 'condition', fact: truth(true) };
  const initial = childIn(clause, 'initializer');
  if (initial) for (const child of initial.children.length > 0 && initial.type === 'init_statement' ? initial.children : [initial]) host.execute(child, state, frame); // prettier-ignore
  const value = clause.type === 'condition_clause' ? childIn(clause, 'value') : clause;
  if (!value) return host.symbol('condition');
  if (value.type !== 'declaration') return host.evaluate(value, state, frame);
  const declarator = childIn(value, 'declarator');
  const name = declarator && declaredName(host.declarations.text, declarator);
  const inner = childIn(value, 'value');
  const result = inner ? host.evaluate(inner, state, frame) : host.symbol('condition');
  const type = childIn(value, 'type');
  if (name !== undefined) host.declare(name, type ? textOf(host.declarations.text, type) : '', result, state, frame);
  return result;
}

function joinStates(state: State, then: State, otherwise: State, condition: Fact, host: Interpreter): void {
  meet(state, then, otherwise, condition, host, (cell) => host.symbol(`cell ${cell}`, host.typeOfCell(cell)));
}

function become(state: State, other: State): void {
  state.store = other.store;
  state.facts = other.facts;
  state.epoch = other.epoch;
}

function branch(node: SyntaxNode, state: State, outer: Frame, host: Interpreter): boolean {
  const frame: Frame = { ...outer, scope: { cells: new Map(), outer: outer.scope } };
  const condition = factOf(conditionOf(node, state, frame, host));
  const then = childIn(node, 'consequence');
  const otherwise = childIn(node, 'alternative');
  const run = (body: SyntaxNode | undefined, within: State): boolean => !body || host.execute(body, within, frame);
  if (condition.kind === 'truth') return run(condition.value ? then : otherwise, state);
  const [a, b] = [cloneState(state), cloneState(state)];
  assume(a, condition);
  assume(b, negatedFact(condition));
  const [first, second] = [run(then, a), run(otherwise, b)];
  if (first && second) joinStates(state, a, b, condition, host);
  else if (first || second) become(state, first ? a : b);
  return first || second;
}

function switched(node: SyntaxNode, state: State, outer: Frame, host: Interpreter): boolean {
  const frame: Frame = { ...outer, exits: { ...outer.exits, breaks: [] } };
  const value = termOf(conditionOf(node, state, frame, host));
  const body = childIn(node, 'body');
  const cases = body?.children.filter(({ type }) => type === 'case_statement') ?? [];
  const ends: { state: State; fact: Fact }[] = [];
  let others: Fact = truth(true);
  let fallen: State | null = null;
  // Where no label fits, `default` is next, wherever it stands; what is under it may fall into labels below.
  const labelFact = (one: SyntaxNode): Fact => {
    const label = childIn(one, 'value');
    const own = label && termOf(host.evaluate(label, cloneState(state), frame));
    return value && own ? compared('==', value, own) : host.undecided();
  };
  const factsOfLabels = new Map(cases.filter((one) => childIn(one, 'value')).map((one) => [one, labelFact(one)]));
  for (const own of factsOfLabels.values()) others = joinedFact('and', others, negatedFact(own));
  const run = (one: SyntaxNode, fact: Fact): void => {
    if (fact.kind === 'truth' && !fact.value && !fallen) return;
    const within: State = fallen ?? cloneState(state);
    if (!fallen) assume(within, fact);
    const breaks: State[] = [];
    const inner: Frame = { ...frame, exits: { ...frame.exits, breaks } };
    let isAlive = true;
    const statements = one.children.filter(
      ({ type, field }) => field !== 'value' && !/^(?:case|default|:)$/.test(type),
    );
    for (const statement of statements) isAlive = isAlive && host.execute(statement, within, inner);
    for (const left of breaks) ends.push({ state: left, fact });
    fallen = isAlive ? within : null;
  };
  for (const one of cases) {
    const fact = factsOfLabels.get(one) ?? others;
    // A label that what is above falls through to is reached in both ways.
    if (fallen) {
      const above: State = fallen;
      fallen = null;
      const merged = cloneState(above);
      const direct = cloneState(state);
      assume(direct, fact);
      joinStates(merged, above, direct, host.undecided(), host);
      fallen = merged;
    }
    run(one, fact);
  }
  if (fallen) ends.push({ state: fallen, fact: others });
  if (!cases.some((one) => !childIn(one, 'value')) && !(others.kind === 'truth' && !others.value)) {
    const rest = cloneState(state);
    assume(rest, others);
    ends.push({ state: rest, fact: others });
  }
  const [last] = ends.slice(-1);
  if (!last) return false;
  let result = last.state;
  for (const { state: left, fact } of ends.slice(0, -1).reverse()) {
    const merged = cloneState(state);
    joinStates(merged, left, result, fact, host);
    result = merged;
  }
  become(state, result);
  return true;
}

function loop(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  const declarator = node.type === 'for_range_loop' ? childIn(node, 'declarator') : undefined;
  const range = declarator?.type === 'reference_declarator' ? childIn(node, 'right') : undefined;
  const ranged = range && host.place(range, state, frame);
  const isConstant = node.children.some((child) => child.type === 'type_qualifier');
  // The elements change by another name.
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
    return host.spent() - start > mostOfFirstRound || !emitted().some((event) => isLeftOpen(event, changed));
  });
  if (isTold) return isThrough;
  become(state, before);
  return summarised(node, state, frame, host, isFirst, 'first apart');
}

/** Whether a launch has an extent that the rounds of a loop change, and of which no argument of it says more. */
function isLeftOpen(event: HostEvent, changed: ReadonlySet<string>): boolean {
  if (event.kind !== 'launch') return false;
  const isChanged = (id: string): boolean => changed.has(id) || changed.has(id.replace(/\.[xyz]$/, ''));
  const symbols = (values: readonly (HostTerm | null)[]): string[] => values.flatMap((term) => (term ? [...symbolsOf(term).keys()] : [])); // prettier-ignore
  const told = new Set(symbols((event.arguments ?? []).map(termOf)));
  const extents = [event.grid, event.block].flatMap((value) => (value && extentsOf(value)) ?? []);
  return symbols(extents).some((id) => isChanged(id) && !told.has(id));
}

/** One round: the body, then what follows it. @returns whether another round may follow */
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
  if (node.type === 'while_statement') return factOf(conditionOf(node, state, frame, host));
  return factOf(host.evaluate(condition, state, frame));
}

/**
 * The rounds after which the condition and the step of a loop, without its body, end it: 0 where it has no step.
 * @returns undefined where these are more rounds than are gone through
 */
function shortRounds(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): number | undefined {
  const update = childIn(node, 'update');
  if (!update) return 0;
  const trial = cloneState(state);
  let rounds: number | undefined;
  host.silently(() => {
    for (let count = 0; count <= mostRounds && rounds === undefined; count++) {
      const condition = loopCondition(node, trial, frame, host);
      if (condition.kind !== 'truth') break;
      if (!condition.value) rounds = count;
      host.evaluate(update, trial, frame);
    }
  });
  return rounds;
}

/** Work of one round above which the first round is not gone through apart from the others. */
const mostOfFirstRound = 4000;

/** Work that goes into the rounds of a loop that leads to no launch: what it leaves behind rarely matters there. */
const mostOfSideLoop = 1000;

/**
 * Goes through the rounds one by one.
 * @param rounds as many as there are to be, as far as that is known
 * @returns whether that came to an end
 */
function unrolled(node: SyntaxNode, rounds: number, state: State, frame: Frame, host: Interpreter): boolean {
  const breaks: State[] = [];
  const start = host.spent();
  const most = host.reaches(node) ? Infinity : mostOfSideLoop;
  for (let count = 0; count <= mostRounds && host.spent() - start <= most; count++) {
    // As one round costs, so will the others.
    if (count === 1 && (host.spent() - start) * rounds > most) return false;
    if (count > 0 || node.type !== 'do_statement') {
      const condition = loopCondition(node, state, frame, host);
      if (condition.kind !== 'truth') return false;
      if (!condition.value) return true;
    }
    const isAlive = round(node, state, frame, host, breaks);
    const [left, ...others] = breaks;
    // The round that surely breaks is the last one.
    if (!isAlive && left && others.length === 0) {
      become(state, left);
      return true;
    }
    if (!isAlive || left) return false;
  }
  return false;
}

/** Goes through the elements of an array one by one. @returns whether that came to an end */
function unrolledRange(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  const right = childIn(node, 'right');
  const isList = right?.type === 'initializer_list';
  const elements = (): Extract<HostValue, { kind: 'record' }> | undefined => {
    const value = right && (isList ? bracedValue(right, '', state, frame, host) : host.evaluate(right, state, frame));
    return value?.kind === 'record' ? value : undefined;
  };
  const length = isList ? listItems(right).length : elements()?.length;
  if (length === undefined || length > mostRounds) return false;
  const most = host.reaches(node) ? Infinity : host.spent() + mostOfSideLoop;
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
 * One round that stands for all of them: what they change may have any value, within what steps and conditions tell. Or
 * the first round as it is, and one that stands for the others: before these comes a round, which tells what it leaves.
 * @param changed gets the symbols for what the rounds change
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
    // Only where nothing else in the loop writes it.
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
    // What is positive after divisions was not less before.
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
 * @param start what holds before the first round
 * @param state what holds before any round, with the condition of the loop
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

/** An array that becomes a pointer to its first element is not followed. */
function exposeArray(value: SyntaxNode, state: State, frame: Frame, host: Interpreter): void {
  for (const inner of nodesWhere(value, ({ type }) => type === 'identifier')) {
    if (!/\[\]$/.test(typeOfExpression(inner, state, frame, host) ?? '')) continue;
    const place = host.place(inner, state, frame);
    if (place?.kind === 'cell') host.expose(place.cell);
  }
}

function declareElement(node: SyntaxNode, state: State, frame: Frame, host: Interpreter, element?: HostValue): void {
  const { text } = host.declarations;
  const [type, declarator] = [childIn(node, 'type'), childIn(node, 'declarator')];
  const name = declarator && declaredName(text, declarator);
  if (name === undefined || !type) return;
  const own = textOf(text, type);
  const value = element ?? host.symbol(name, own === 'auto' ? undefined : own);
  host.declare(name, own, converted(value, typeText(own, frame), host.declarations.aliases), state, frame);
}

/**
 * What a variable may hold after it was written: anything, or where only fields of it were, anything in these.
 * @param changed gets the symbols for that
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
    return [...fields].reduce((value, field) => withPart(value, [field], fresh(`${label}.${field}`)), before as HostValue); // prettier-ignore
  const type = host.typeOfCell(cell);
  return converted(fresh(label, type), typeText(type, frame), host.declarations.aliases);
}

/** The cells that a loop writes, in whatever round. */
function writtenIn(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): ReadonlyMap<number, Writes> {
  const all = new Map<number, { readonly by: Set<SyntaxNode | undefined>; readonly fields: Set<string> }>();
  // What the first round does not write, a later one may, with what the first one wrote.
  for (let [before, now] = [-1, 0]; before !== now;) {
    before = now;
    const dry = cloneState(state);
    dry.epoch++;
    for (const [cell, writes] of all) dry.store.set(cell, afterWrites(dry.store.get(cell) ?? host.initial(cell) ?? host.symbol('any round'), cell, writes, 'any round', frame, host, new Set())); // prettier-ignore
    const written = host.silently(() => {
      if (node.type === 'for_range_loop') declareElement(node, dry, frame, host);
      loopCondition(node, dry, frame, host);
      round(node, dry, { ...frame, exits: { returns: [], breaks: [], continues: [] } }, host, []);
    });
    for (const [cell, { by, fields }] of written) {
      // Variables of the body are new in each round, and so is what stands for memory.
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

/** Whether a condition says that a number is positive. */
function isPositive(condition: Fact, now: HostTerm): boolean {
  if (condition.kind === 'and') return isPositive(condition.left, now) || isPositive(condition.right, now);
  if (condition.kind !== 'comparison') return false;
  const { operator, left, right } = condition;
  const least = termConstant(right);
  return termKey(left) === termKey(now) && least !== undefined && ((operator === '>' && least >= 0n) || (operator === '>=' && least >= 1n)); // prettier-ignore
}

type Step = { readonly operator: '+' | '-' | '*' | '/'; readonly by: bigint; readonly node: SyntaxNode };

/** The variables that one statement of a loop steps by a constant, once in each round. */
function stepsOf(node: SyntaxNode, host: Interpreter): Map<string, Step> {
  const { text } = host.declarations;
  const steps = new Map<string, Step | null>();
  for (const inner of nodesWhere(node, ({ type }) => /^(?:assignment|update)_expression$/.test(type))) {
    if (within(childIn(node, 'initializer'), inner)) continue;
    const target = childIn(inner, inner.type === 'update_expression' ? 'argument' : 'left');
    if (target?.type !== 'identifier') continue;
    const name = textOf(text, target);
    steps.set(name, steps.has(name) ? null : stepOf(inner, name, text));
  }
  for (const inner of nodesWhere(node, ({ type }) => type === 'pointer_expression')) {
    const target = childIn(inner, 'argument');
    if (childIn(inner, 'operator')?.type === '&' && target?.type === 'identifier')
      steps.set(textOf(text, target), null);
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
    if (sign === '<<' || sign === '>>') return by > 30n ? null : { operator: sign === '<<' ? '*' : '/', by: 1n << by, node }; // prettier-ignore
    return /^[-+*/]$/.test(sign) ? { operator: sign as Step['operator'], by, node } : null;
  };
  if (operator !== '=') return read(operator.slice(0, -1), textOf(text, right));
  const form = /^([A-Za-z_]\w*)\s*([-+*/]|<<|>>)\s*(\d+)$/.exec(textOf(text, right));
  return form?.[1] === name ? read(form[2] ?? '', form[3] ?? '') : null;
}

/** What holds of a variable in every round: it starts somewhere and is stepped by a constant. */
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
      // A negative number grows.
      if (start === undefined || start < 0n) return;
      host.know(compared('<=', now, first));
      host.know(compared('>=', now, zeroTerm));
  }
  const less = isPower ? arithmetic('-', now, one) : null;
  const mask = less && arithmetic('&', now, less);
  if (mask) host.know(compared('==', mask, zeroTerm));
}
