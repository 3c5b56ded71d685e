/** Effects of statements of host code. The states after branches are joined. */
import { integerType, isFloatType } from '../syntax/basic-type.ts';
import { childIn, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { declaredName, sizeIn, suffixOf, sourceTextOf } from '../declarations/declarations.ts';
import { argumentOf, forget } from './calls.ts';
import { bracedValue, withLength } from './braced-value.ts';
import { endsProgram, exposeNamed, unfollowedObject } from './expressions.ts';
import { hasConstructor, implicitCodeOf, isFollowedType, isLibraryType } from '../declarations/record-shape.ts';
import { numberKindOf, nameOfKind, typeOfExpression } from './expression-type.ts';
import { become, evaluatedCondition, joinStates } from './condition.ts';
import { executeLoop } from './loops.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type Frame, type Interpreter, type State, assume, cloneState, converted, dim3Of, typeText } from './interpreter.ts'; // oxfmt-ignore
import {
  type Fact,
  type HostTerm,
  arithmetic,
  compared,
  joinedFact,
  negatedFact,
  one,
  truth,
  zeroTerm,
} from './term.ts';
import { type HostValue, factOf, termOf } from './value.ts';

/** @returns whether the next statement is reached */
export function executeStatement(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  if (!host.step()) return true;
  switch (node.type) {
    case 'compound_statement': {
      const inner: Frame = { ...frame, scope: { cells: new Map(), outer: frame.scope } };
      let isAlive = true;
      for (const child of node.children) {
        // A label inside may be reached by a jump, although the statement is not reached otherwise.
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
      return executeLoop(node, state, { ...frame, scope: { cells: new Map(), outer: frame.scope } }, host);
    case 'switch_statement':
      return switched(node, state, frame, host);
    case 'return_statement': {
      const result = node.children.find(({ type }) => type !== 'return' && type !== ';');
      if (result) exposeArray(result, state, frame, host);
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
      const written = host.silently(() => void host.execute(body, cloneState(state), { ...frame, exits: { returns: [], breaks: [], continues: [] } })); // oxfmt-ignore
      const isThrough = host.execute(body, state, frame);
      const ends = isThrough ? [cloneState(state)] : [];
      for (const handler of handlers) {
        // The exception may be thrown anywhere in the body.
        const caught = cloneState(before);
        caught.epoch = state.epoch + 1;
        for (const cell of written.keys()) if (caught.store.has(cell) || host.initial(cell)) forgetCell(cell, caught, frame, host); // oxfmt-ignore
        const own = childIn(handler, 'body');
        const names = childIn(handler, 'parameters');
        const inner: Frame = { ...frame, scope: { cells: new Map(), outer: frame.scope } };
        for (const parameter of names ? listItems(names) : []) {
          const name = childIn(parameter, 'declarator') && declaredName(host.declarations.text, childIn(parameter, 'declarator')!); // oxfmt-ignore
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
      // Jumps reach this label from anywhere in the function: only constants are known here.
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
      exposeNamed(node, state, frame, host);
      host.opaque(state);
      return true;
  }
  if (/_(?:expression|literal)$|^(?:identifier|true|false|null|nullptr|this)$/.test(node.type)) {
    host.evaluate(node, state, frame);
    return true;
  }
  if (!isIdle.test(node.type)) {
    // A statement of unknown form: its effects are unknown.
    exposeNamed(node, state, frame, host);
    host.opaque(state);
  }
  return true;
}

/** Nodes that have no effect in the interpreter. */
const isIdle =
  /^(?:[{};]|comment|empty_statement|using_declaration|alias_declaration|type_definition|namespace_alias_definition|static_assert_declaration|(?:struct|class|union)_specifier|function_definition|template_declaration|attribute\w*|preproc_\w+)$/; // oxfmt-ignore

/** Forgets the value of a cell. */
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
    const name = sourceTextOf(host.declarations.text, childIn(item, 'name') ?? item);
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
  const base = sourceTextOf(text, type);
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
        const called = sourceTextOf(text, bound);
        host.declare(called, '', host.symbol(called), state, frame);
      }
      continue;
    }
    const own = base + suffixOf(declarator);
    const known = resolvedType(typeText(own, frame), aliases);
    const shape = childIn(type, 'body') && /^(?:struct|class|union)_specifier$/.test(type.type) ? localName(type, text) : undefined; // oxfmt-ignore
    const isReference = nodesWhere(declarator, (inner) => inner.type === 'reference_declarator').length > 0;
    // `dim3 grid(n);` and `int x = y, z(w);` read as the declaration of a function, `void (*f)(int);` declares a pointer.
    const isFunction = declarator.type === 'function_declarator' && childIn(declarator, 'declarator')?.type === 'identifier'; // oxfmt-ignore
    const list = isFunction ? childIn(declarator, 'parameters') : undefined;
    if (list && isOfTypes(list, state, frame, host)) continue;
    const value = declarator.type === 'init_declarator' ? childIn(declarator, 'value') : undefined;
    if (isReference && value) {
      const place = host.place(value, state, frame);
      if (!place) exposeNamed(value, state, frame, host);
      if (place?.kind === 'cell' && place.path.length === 0) {
        frame.scope.cells.set(name, place.cell);
        continue;
      }
      // The variable is a reference to a part of another variable.
      const isConstant = node.children.some((child) => child.type === 'type_qualifier' && sourceTextOf(text, child) === 'const'); // oxfmt-ignore
      if (place && !isConstant) {
        host.write(place, host.symbol(name), state);
        if (place.kind === 'cell') host.expose(place.cell);
        else state.epoch++;
      }
    }
    if (value && !isReference && !/\[\]$/.test(own)) exposeArray(value, state, frame, host);
    const items = list
      ? listItems(list).map((parameter) => asExpression(parameter))
      : value?.type === 'argument_list'
        ? listItems(value)
        : undefined;
    let initial: HostValue;
    const isConstantList = node.children.some((child) => child.type === 'type_qualifier' && sourceTextOf(text, child) === 'const'); // oxfmt-ignore
    const isArray = /\[\]$/.test(own);
    const element = isConstantList && !isArray ? /^(?:std::)?(?:vector|array)<\s*([\w ]+?)\s*[,>]/.exec(known)?.[1] : undefined; // oxfmt-ignore
    if (shape !== undefined || !isFollowedType(known, host.declarations)) {
      const made = items ?? (value ? (value.type === 'initializer_list' ? listItems(value) : [value]) : []);
      const isPlain = shape !== undefined && made.length === 0 && implicitCodeOf(host.declarations).followed.get(shape) === true; // oxfmt-ignore
      const object = isPlain ? host.symbol(name, shape) : unfollowedObject(made, known, state, frame, host);
      const cell = host.declare(name, own, object, state, frame);
      if (!isPlain) host.expose(cell);
      continue;
    }
    if (isLibraryType(known, host.declarations) && !element) {
      for (const item of items ?? (value?.type === 'initializer_list' ? listItems(value) : [])) forget([argumentOf(item, state, frame, host)], state, host); // oxfmt-ignore
      if (value && !items && value.type !== 'initializer_list') host.evaluate(value, state, frame);
      host.declare(name, own, host.symbol(name, known), state, frame);
      continue;
    }
    if (items) initial = constructed(known, items, state, frame, host, name);
    else if (hasConstructor(known, host.declarations) && (!value || value.type === 'initializer_list'))
      initial = constructed(known, value ? listItems(value) : [], state, frame, host, name); // oxfmt-ignore
    else if (value?.type === 'initializer_list') {
      const size = sizeIn(declarator);
      const whole = element ? `${element}[]` : own;
      initial = withLength(bracedValue(value, whole, state, frame, host), whole, value, size && termOf(host.evaluate(size, state, frame))); // oxfmt-ignore
    } else if (value) initial = host.evaluate(value, state, frame);
    else if (known === 'dim3') initial = dim3Of({ kind: 'number', term: one });
    else if (records.has(known.replace(/^.*::/, ''))) initial = defaultRecord(known, state, frame, host);
    else initial = host.symbol(name, known);
    const kind = /^auto$/.test(own) && value ? numberKindOf(value, state, frame, host) : undefined;
    const isStatic = node.children.some((child) => sourceTextOf(text, child) === 'static');
    if (isStatic && !/\bconst(?:expr)?\b/.test(sourceTextOf(text, node))) initial = host.symbol(name, known);
    // A number that is declared constant never changes, even if its address is known.
    const isFixed = !isStatic && (integerType(known) !== undefined || isFloatType(known)) && node.children.some((child) => /^(?:const|constexpr)$/.test(sourceTextOf(text, child))) && !node.children.some((child) => sourceTextOf(text, child) === 'volatile'); // oxfmt-ignore
    const cell = host.declare(name, isFixed ? `const ${own}` : kind ? nameOfKind(kind) : own, converted(initial, typeText(own, frame), aliases), state, frame); // oxfmt-ignore
    if (isStatic) host.outlives(cell);
    if (node.children.some((child) => sourceTextOf(text, child) === 'volatile')) host.expose(cell);
  }
}

/** The name of a record defined in a declaration; empty if unnamed. */
function localName(type: SyntaxNode, text: string): string {
  const name = childIn(type, 'name');
  return name ? sourceTextOf(text, name) : '';
}

/** Whether an apparent list of function parameters is one: it names types, not variables or functions. */
function isOfTypes(list: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  const { text, aliases, records, functions } = host.declarations;
  return listItems(list).every((parameter) => {
    const type = childIn(parameter, 'type');
    if (!type || !/^(?:type_identifier|qualified_identifier)$/.test(type.type)) return parameter.type === 'parameter_declaration'; // oxfmt-ignore
    const name = sourceTextOf(text, type);
    if (host.lookUp(name, frame, state) !== undefined || functions.has(name.replace(/^.*::/, ''))) return false;
    const resolved = resolvedType(typeText(name, frame), aliases);
    return integerType(resolved) !== undefined || isFloatType(resolved) || resolved !== name || records.has(name) || childIn(parameter, 'declarator')?.type === 'identifier'; // oxfmt-ignore
  });
}

/** `b * c`, `f(n)` and `n`, as expressions, if they read as parameters of a function. */
function asExpression(parameter: SyntaxNode): SyntaxNode {
  const [type, declarator] = [childIn(parameter, 'type'), childIn(parameter, 'declarator')];
  const isNamed = type && /^(?:type_identifier|qualified_identifier)$/.test(type.type);
  if (!isNamed) return parameter;
  const name: SyntaxNode = type.type === 'type_identifier' ? { ...type, type: 'identifier' } : type;
  if (!declarator) return name;
  const [token, inner, ...more] = declarator.children;
  if (
    /^(?:pointer|reference)_declarator$/.test(declarator.type) &&
    token &&
    inner?.type === 'identifier' &&
    more.length === 0
  ) {
    // oxfmt-ignore
    const children = [{ ...name, field: 'left' }, { ...token, field: 'operator' }, { ...inner, field: 'right' }];
    return { ...parameter, type: 'binary_expression', children };
  }
  const size = declarator.type === 'abstract_array_declarator' ? childIn(declarator, 'size') : undefined;
  if (size && declarator.children.length === 3) {
    const indices = { ...declarator, type: 'subscript_argument_list', field: 'indices', children: [size] };
    return { ...parameter, type: 'subscript_expression', children: [{ ...name, field: 'argument' }, indices] };
  }
  const list = childIn(declarator, 'parameters');
  if (declarator.type === 'abstract_function_declarator' && list && declarator.children.length === 1) {
    const items = listItems(list).map(asExpression);
    const children = [{ ...name, field: 'function' }, { ...list, type: 'argument_list', field: 'arguments', children: items }]; // oxfmt-ignore
    return { ...parameter, type: 'call_expression', children };
  }
  return parameter;
}

/** The object that a constructor builds from its arguments. */
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
    const fields = new Map(['x', 'y', 'z'].map((axis, at): [string, HostValue] => [axis, values[at] ?? { kind: 'number', term: one }])); // oxfmt-ignore
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
    const fitting = (host.declarations.functions.get(record) ?? []).filter(({ parameters, record: owner }) => owner === record && parameters.filter((one) => !one.value).length <= values.length && values.length <= parameters.length); // oxfmt-ignore
    const [builder, ...others] = fitting;
    // Conversions determine the overload.
    if (builder?.body && others.length === 0) {
      host.invoke(builder, given, state, frame, { self: { kind: 'place', cell: self, path: [] } });
      return host.read({ kind: 'cell', cell: self, path: [] }, state);
    }
    host.unfollowed(record);
    forget(given, state, host);
    host.opaque(state);
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
    if (value) fields.set(name, converted(value.type === 'initializer_list' ? bracedValue(value, own, state, frame, host) : host.evaluate(value, state, frame), own, host.declarations.aliases)); // oxfmt-ignore
    else if (resolvedType(own, host.declarations.aliases) === 'dim3') fields.set(name, dim3Of({ kind: 'number', term: one })); // oxfmt-ignore
  }
  const symbol = host.symbol(type, type);
  return symbol.kind === 'symbol' ? { kind: 'record', fields, rest: symbol.symbol } : symbol;
}

function branch(node: SyntaxNode, state: State, outer: Frame, host: Interpreter): boolean {
  const frame: Frame = { ...outer, scope: { cells: new Map(), outer: outer.scope } };
  const condition = factOf(evaluatedCondition(node, state, frame, host));
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
  const value = termOf(evaluatedCondition(node, state, frame, host));
  const body = childIn(node, 'body');
  const cases = body?.children.filter(({ type }) => type === 'case_statement') ?? [];
  const ends: { state: State; fact: Fact }[] = [];
  let others: Fact = truth(true);
  let fallen: State | null = null;
  // If no label matches, execution continues at `default`, wherever it is; from there it may fall through to labels
  // below.
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
    // A label that the code above falls through to is reached on both paths.
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

/** An array that decays to a pointer to its first element is not followed. */
function exposeArray(value: SyntaxNode, state: State, frame: Frame, host: Interpreter): void {
  const visit = (node: SyntaxNode): readonly SyntaxNode[] => {
    // No decay: an element is read, or the array is an argument of a call, which is handled separately.
    if (/^(?:subscript_expression|call_expression|sizeof_expression|lambda_expression)$/.test(node.type)) return [];
    return node.type === 'identifier' ? [node] : node.children.flatMap(visit);
  };
  for (const inner of visit(value)) {
    if (!/\[\]$/.test(typeOfExpression(inner, state, frame, host) ?? '')) continue;
    const place = host.place(inner, state, frame);
    if (place?.kind === 'cell') host.expose(place.cell);
  }
}
