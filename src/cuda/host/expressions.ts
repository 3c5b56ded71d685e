/** The values of expressions of host code. */
import type { ComparisonOperator } from '../assumptions/assumption.ts';
import { integerType, isFloatType, sizeOfType } from '../syntax/basic-type.ts';
import { childIn, childOf, listItems, nodesWhere, stripParentheses, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { combined, comparison, isPointer, unary } from './arithmetic.ts';
import { bracedValue } from './braced-value.ts';
import { sourceTextOf } from '../declarations/declarations.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { isHarmless } from '../declarations/library-function.ts';
import { hasConstructor, implicitCodeOf, isFollowedType, recordNamed } from '../declarations/record-shape.ts';
import { asComputed, intKind, memberName, numberKindOf, typeOfExpression } from './expression-type.ts';
import { type Frame, type Interpreter, type HostPlace, type State, assume, cloneState, converted, mergeStates, moved, sizeOfNamed, typeText } from './interpreter.ts'; // oxfmt-ignore
import { arithmetic, integer, joinedFact, termKey, negatedFact, one, zeroTerm } from './term.ts';
import { constantObject, isConstantObject, isConstantType, memberOfConstant } from './integral-constant.ts';
import { nullPointer, type HostFunction, type HostScope, type HostValue, eitherValue, factOf, hostField, literalValue, integerValue, symbolField, symbolOf, termOf } from './value.ts'; // oxfmt-ignore

const comparisonOperators = /^(?:[<>]=?|[!=]=)$/;

/** Evaluates an expression, with its assignments. */
export function hostValueOf(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const { text } = host.declarations;
  const written = (): string => sourceTextOf(text, node);
  const unknown = (): HostValue => host.symbol(written());
  const at = (inner: SyntaxNode | undefined): HostValue => (inner ? host.evaluate(inner, state, frame) : unknown());
  if (!host.step()) return unknown();
  switch (node.type) {
    case 'number_literal':
      return asComputed(literalValue(text.slice(node.start, node.end)) ?? unknown(), numberKindOf(node, state, frame, host)) ?? unknown(); // oxfmt-ignore
    case 'true':
    case 'false':
      return integerValue(integer(node.type === 'true' ? 1 : 0));
    case 'null':
    case 'nullptr':
      return nullPointer;
    case 'char_literal': {
      const code = /^'(.)'$/s.exec(text.slice(node.start, node.end))?.[1]?.charCodeAt(0);
      return code === undefined ? unknown() : integerValue(integer(code));
    }
    case 'string_literal':
    case 'concatenated_string':
    case 'raw_string_literal':
      return { kind: 'text', text: text.slice(node.start, node.end).replace(/^[^"]*"|"$/g, '') };
    case 'parenthesized_expression':
      return at(listItems(node)[0]);
    case 'comma_expression': {
      at(childIn(node, 'left'));
      return at(childIn(node, 'right'));
    }
    case 'this':
      return frame.self ?? unknown();
    case 'identifier':
    case 'type_identifier':
    case 'qualified_identifier':
    case 'template_function':
    case 'template_type':
      return named(node, state, frame, host);
    case 'unary_expression': {
      const [operator, operand] = [childIn(node, 'operator')?.type ?? '', childIn(node, 'argument')];
      const value = at(operand);
      if (operand && runsOperator(operator, [[operand, value]], state, frame, host)) return unknown();
      return unary(operator, value, operand && numberKindOf(operand, state, frame, host)) ?? unknown();
    }
    case 'binary_expression':
      return binary(node, state, frame, host) ?? unknown();
    case 'conditional_expression': {
      const condition = factOf(at(childIn(node, 'condition')));
      const [then, otherwise] = [childIn(node, 'consequence'), childIn(node, 'alternative')];
      const kind = numberKindOf(node, state, frame, host);
      const inKind = (value: HostValue): HostValue => asComputed(value, kind) ?? unknown();
      if (condition.kind === 'truth') return inKind(at(condition.value ? then : otherwise));
      // The expansion of `assert` is a conditional expression.
      if (otherwise && endsProgram(otherwise, text)) {
        assume(state, condition);
        return at(then);
      }
      const [a, b] = [cloneState(state), cloneState(state)];
      const first = then ? inKind(host.evaluate(then, a, frame)) : unknown();
      const second = otherwise ? inKind(host.evaluate(otherwise, b, frame)) : unknown();
      mergeStates(state, a, b, condition, host, () => unknown());
      const either = eitherValue(condition, first, second);
      if (!either) for (const value of [first, second]) host.lose(value);
      return either ?? unknown();
    }
    case 'cast_expression': {
      const type = childIn(node, 'type');
      const call = type && callInParentheses(node, state, frame, host);
      if (call) return host.call(call, state, frame);
      const value = at(childIn(node, 'value'));
      return type ? cast(value, sourceTextOf(text, type), frame, host) : value;
    }
    case 'sizeof_expression': {
      const type = childIn(node, 'type');
      if (type) return integerValue(sizeOfNamed(typeText(sourceTextOf(text, type), frame), host.declarations));
      const operand = stripParentheses(childIn(node, 'value') ?? node);
      const named = typeText(sourceTextOf(text, operand), frame);
      const own = typeOfExpression(operand, state, frame, host);
      const value = own !== undefined && /^[^[\]]*\[\]$/.test(own) && operand.type === 'identifier' && !isArrayParameter(named, text) ? host.evaluate(operand, state, frame) : undefined; // oxfmt-ignore
      if (value?.kind === 'record' && value.length !== undefined) {
        const size = arithmetic('*', sizeOfNamed(own!.replace(/\[\]$/, ''), host.declarations), integer(value.length));
        return size ? integerValue(size) : unknown();
      }
      if (own === undefined || /\[\]/.test(own)) {
        const isType = host.declarations.aliases.has(named) || host.declarations.records.has(named) || sizeOfType(named) !== undefined; // oxfmt-ignore
        return isType ? integerValue(sizeOfNamed(named, host.declarations)) : unknown();
      }
      return integerValue(sizeOfNamed(own, host.declarations));
    }
    case 'assignment_expression':
      return assign(node, state, frame, host);
    case 'update_expression': {
      const operand = childIn(node, 'argument');
      const operator = childIn(node, 'operator');
      const place = operand && host.place(operand, state, frame);
      const before = place ? host.read(place, state) : at(operand);
      if (operand && operator && runsOperator(operator.type, [[operand, before]], state, frame, host)) return unknown();
      if (operand && !place) exposeNamed(operand, state, frame, host);
      if (!place || !operand || !operator) return unknown();
      const type = typeOfExpression(operand, state, frame, host);
      const kinds = [numberKindOf(operand, state, frame, host), intKind] as const;
      const next =
        combined(operator.type === '++' ? '+' : '-', before, integerValue(one), type, host, kinds) ?? unknown();
      const after = type === undefined ? next : converted(next, type, host.declarations.aliases);
      host.write(place, after, state, node);
      return operator.start < operand.start ? after : before;
    }
    case 'field_expression': {
      if (!isMemberAccess(node)) {
        // A pointer to a member.
        exposeNamed(node, state, frame, host);
        host.opaque(state);
        return unknown();
      }
      const place = host.place(node, state, frame);
      return place ? host.read(place, state) : hostField(at(childIn(node, 'argument')), memberName(node, text));
    }
    case 'subscript_expression':
    case 'pointer_expression': {
      const isAddress = node.type === 'pointer_expression' && childIn(node, 'operator')?.type === '&';
      if (isAddress) return address(childIn(node, 'argument'), state, frame, host) ?? unknown();
      const inner = childIn(node, 'argument');
      const overloaded = node.type === 'pointer_expression' ? '*' : '[]';
      if (inner && implicitCodeOf(host.declarations).operators.has(overloaded) && runsOperator(overloaded, [[inner, at(inner)]], state, frame, host)) return unknown(); // oxfmt-ignore
      const value = inner && node.type === 'pointer_expression' ? at(inner) : undefined;
      if (value?.kind === 'function' || value?.kind === 'lambda') return value;
      const place = value ? pointedPlace(value, node, state, host) : host.place(node, state, frame);
      return place ? host.read(place, state) : unknown();
    }
    case 'call_expression':
      return host.call(node, state, frame);
    case 'compound_literal_expression': {
      const [type, list] = [childIn(node, 'type'), childIn(node, 'value')];
      const constant = type && list && listItems(list).length === 0 ? constantOfType(type, state, frame, host) : null;
      if (constant) return constant;
      const made = type ? resolvedType(typeText(sourceTextOf(text, type), frame), host.declarations.aliases) : '';
      if (list && !isFollowedType(made, host.declarations)) return unfollowedObject(listItems(list), made, state, frame, host); // oxfmt-ignore
      return list ? bracedValue(list, type ? sourceTextOf(text, type) : '', state, frame, host) : unknown();
    }
    case 'initializer_list':
      return bracedValue(node, '', state, frame, host);
    case 'lambda_expression': {
      const lambda = { kind: 'lambda', node, scope: capturedScope(node, state, frame, host), frame } as const;
      host.made(lambda, state);
      return lambda;
    }
    case 'new_expression': {
      const type = childIn(node, 'type');
      const [placement, arguments_] = [childIn(node, 'placement'), childIn(node, 'arguments')];
      for (const list of [placement, arguments_]) for (const item of list ? listItems(list) : []) at(item);
      if (placement) exposeNamed(placement, state, frame, host);
      const made = type ? resolvedType(typeText(sourceTextOf(text, type), frame), host.declarations.aliases) : '';
      const isMade = isFollowedType(made, host.declarations) && !hasConstructor(made, host.declarations);
      if (arguments_ && !isMade) exposeNamed(arguments_, state, frame, host);
      if (placement || !isMade) host.opaque(state);
      const length = childOf(node, 'new_declarator') && childIn(childOf(node, 'new_declarator')!, 'length');
      const count = length ? termOf(at(length)) : null;
      const element = type && sizeOfNamed(typeText(sourceTextOf(text, type), frame), host.declarations);
      const bytes = (count && element && arithmetic('*', count, element)) ?? undefined;
      return { kind: 'pointer', memory: host.memory(written(), bytes), offset: zeroTerm };
    }
    case 'pack_element': {
      const cell = host.lookUp(node.field ?? '', frame, state);
      return cell === undefined ? unknown() : host.read({ kind: 'cell', cell, path: [] }, state);
    }
    case 'compound_statement':
      host.execute(node, state, frame);
      return unknown();
    case 'gnu_asm_expression':
      exposeNamed(node, state, frame, host);
      return unknown();
    case 'delete_expression':
      for (const child of node.children) if (!/^(?:delete|\[|\]|::)$/.test(child.type)) at(child);
      if (implicitCodeOf(host.declarations).hasDestructors) host.opaque(state);
      return unknown();
    case 'extension_expression':
      return at(node.children.at(-1));
  }
  if (unevaluated.test(node.type)) return unknown();
  // An expression of unknown form: its effects are unknown.
  exposeNamed(node, state, frame, host);
  host.opaque(state);
  return unknown();
}

/** Nodes that compute nothing: types, sizes, attributes. */
const unevaluated = /^(?:alignof_expression|offsetof_expression|user_defined_literal|primitive_type|sized_type_specifier|type_descriptor|placeholder_type_specifier|auto|decltype|dependent_type|comment|;|requires_expression)$/; // oxfmt-ignore

/** Whether an operand may be an object for which the unit overloads an operator. */
function mayBeObject(node: SyntaxNode, value: HostValue, state: State, frame: Frame, host: Interpreter): boolean {
  const type = typeOfExpression(node, state, frame, host);
  const resolved = type === undefined ? '' : resolvedType(type, host.declarations.aliases);
  if (integerType(resolved) || isFloatType(resolved) || /[*\]]\s*(?:const)?\s*$/.test(resolved)) return false;
  if (implicitCodeOf(host.declarations).followed.has(recordNamed(resolved))) return true;
  if (value.kind === 'symbol') return integerType(value.symbol.type ?? '') === undefined;
  return value.kind === 'record' || value.kind === 'lambda';
}

/** Whether an operator runs code of the unit: then its effects are unknown. */
function runsOperator(
  operator: string,
  operands: readonly (readonly [SyntaxNode, HostValue])[],
  state: State,
  frame: Frame,
  host: Interpreter,
): boolean {
  // oxfmt-ignore
  if (!implicitCodeOf(host.declarations).operators.has(operator)) return false;
  if (!operands.some(([node, value]) => mayBeObject(node, value, state, frame, host))) return false;
  for (const [node, value] of operands) {
    exposeNamed(node, state, frame, host);
    host.lose(value);
  }
  host.opaque(state);
  return true;
}

/** Makes all variables unknown that a text names, since it may change any of them. */
export function exposeNamed(node: SyntaxNode | undefined, state: State, frame: Frame, host: Interpreter): void {
  for (const inner of node ? nodesWhere(node, ({ type }) => /^(?:type_)?identifier$/.test(type)) : []) {
    const cell = host.lookUp(sourceTextOf(host.declarations.text, inner), frame, state);
    if (cell !== undefined) host.expose(cell);
  }
}

/** The variables that are visible in a lambda: copies of those that it captures by value. */
function capturedScope(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostScope {
  const { text } = host.declarations;
  const list = childIn(node, 'captures');
  const cells = new Map<string, number>();
  const inner: Frame = { ...frame, scope: { cells, outer: frame.scope } };
  const declarator = childIn(node, 'declarator');
  const isMutable = declarator !== undefined && /\bmutable\b/.test(text.slice(declarator.start, declarator.end));
  const declare = (name: string, type: string, value: HostValue): void => {
    const cell = host.declare(name, type, value, state, inner);
    // Each copy of a mutable lambda has its own copy of the variable.
    if (isMutable) host.expose(cell);
  };
  const copy = (name: string): void => {
    const cell = host.lookUp(name, frame, state);
    if (cell !== undefined) declare(name, host.typeOfCell(cell), host.read({ kind: 'cell', cell, path: [] }, state));
  };
  const byReference = new Set<string>();
  const captures = list?.children ?? [];
  for (const [at, capture] of captures.entries()) {
    const isReference = captures[at - 1]?.type === '&';
    if (capture.type === 'identifier') {
      const name = sourceTextOf(text, capture);
      if (isReference) byReference.add(name);
      else copy(name);
    } else if (capture.type === 'lambda_capture_initializer') {
      const [left, right] = [childIn(capture, 'left'), childIn(capture, 'right')];
      if (!left || !right) continue;
      const place = childOf(capture, '&') ? host.place(right, state, frame) : undefined;
      if (place?.kind === 'cell' && place.path.length === 0) cells.set(sourceTextOf(text, left), place.cell);
      else {
        if (place !== undefined) exposeNamed(right, state, frame, host);
        const value = place === undefined ? host.evaluate(right, state, frame) : host.symbol(sourceTextOf(text, left));
        declare(sourceTextOf(text, left), typeOfExpression(right, state, frame, host) ?? '', value);
      }
    }
  }
  if (captures.some((one) => one.type === 'lambda_default_capture' && sourceTextOf(text, one) === '=')) {
    const named = new Set<string>();
    for (let scope: HostScope | null = frame.scope; scope; scope = scope.outer) for (const name of scope.cells.keys()) named.add(name); // oxfmt-ignore
    for (const name of named) if (!byReference.has(name) && !cells.has(name)) copy(name);
  }
  return inner.scope;
}

/** Whether an expression is a call of a function that does not return. */
export function endsProgram(node: SyntaxNode, text: string): boolean {
  const callee = node.type === 'call_expression' ? childIn(node, 'function') : undefined;
  return callee !== undefined && /^(?:std::)?(?:_?exit|abort|terminate|quick_exit|__assert_fail)$/.test(sourceTextOf(text, callee)); // oxfmt-ignore
}

/** The value of a name: a template argument, a variable, an enumerator or a function. */
function named(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const { declarations } = host;
  const { text } = declarations;
  const written = sourceTextOf(text, node).replace(/\s*::\s*/g, '::');
  const bound = frame.template.get(written);
  if (bound !== undefined) {
    const number = literalValue(bound);
    if (number) return number;
  }
  const plain = written.replace(/<[^]*$/, '');
  const last = plain.replace(/^.*::/, '');
  if (!written.includes('<')) {
    const cell = host.lookUp(plain, frame, state);
    if (cell !== undefined) return host.read({ kind: 'cell', cell, path: [] }, state);
    if (frame.self && declarations.records.size > 0 && frame.function?.record !== undefined) {
      const record = declarations.records.get(frame.function.record);
      if (record?.fields.some(({ name }) => name === last)) {
        const place = memberPlace(frame.self, last, state);
        return place ? host.read(place, state) : hostField(frame.self, last);
      }
    }
    const enumerator = enumeratorValue(last, state, frame, host, 0);
    if (enumerator) return enumerator;
  }
  if (declarations.functions.has(last)) return functionNamed(node, plain, state, frame, host);
  const ofType = memberOfConstant(typeText(written, frame));
  const constant = ofType === undefined ? null : literalValue(ofType);
  if (constant) return constant;
  const typed = /^decltype\((\w+)\)::value$/.exec(written)?.[1];
  const cell = typed === undefined ? undefined : host.lookUp(typed, frame, state);
  const object = cell === undefined ? undefined : host.read({ kind: 'cell', cell, path: [] }, state);
  if (object && isConstantObject(object)) return hostField(object, 'value');
  return { kind: 'symbol', symbol: { id: `name ${written}`, label: written } };
}

/** A member of the object that a method is called on. */
function memberPlace(self: HostValue, name: string, state: State): HostPlace | null {
  if (self.kind === 'place') return { kind: 'cell', cell: self.cell, path: [...self.path, name] };
  const { id, label } = symbolOf(self);
  return { kind: 'memory', symbol: { id: `${id}->${name}@${state.epoch}`, label: `${label}->${name}` } };
}

function enumeratorValue(name: string, state: State, frame: Frame, host: Interpreter, depth: number): HostValue | null {
  const found = host.declarations.enumerators.get(name);
  if (!found || depth > 200) return null;
  if (found.value) return host.evaluate(found.value, state, frame);
  if (found.before === undefined) return integerValue(zeroTerm);
  const before = enumeratorValue(found.before, state, frame, host, depth + 1);
  const next = before && termOf(before);
  const value = next && arithmetic('+', next, one);
  return value && integerValue(value);
}

/** A function with the arguments of its template. */
export function functionNamed(
  node: SyntaxNode,
  name: string,
  state: State,
  frame: Frame,
  host: Interpreter,
): HostFunction {
  const template = nodesWhere(node, ({ type }) => type === 'template_function' || type === 'template_type').at(-1);
  const list = template && childIn(template, 'arguments');
  return {
    kind: 'function',
    name: name.replace(/^::/, ''),
    templateArguments: list ? templateArguments(list, state, frame, host) : [],
  };
}

/** The arguments of a template as text; undefined if unknown. */
export function templateArguments(
  list: SyntaxNode,
  state: State,
  frame: Frame,
  host: Interpreter,
): readonly (string | undefined)[] {
  const { declarations } = host;
  return listItems(list).map((item) => {
    const written = sourceTextOf(declarations.text, item);
    const bound = frame.template.get(written);
    if (bound !== undefined) return bound;
    const type = typeText(written, frame);
    const constant = memberOfConstant(type);
    if (constant !== undefined) return constant;
    const resolved = resolvedType(type, declarations.aliases);
    const isType =
      item.type === 'type_descriptor' &&
      (resolved !== written || /^[\w ]+\*?$/.test(resolved)) &&
      host.lookUp(written, frame, state) === undefined &&
      !declarations.enumerators.has(written.replace(/^.*::/, ''));
    if (isType) return declarations.variables.has(written) ? undefined : resolved;
    const inner = item.type === 'type_descriptor' ? (childIn(item, 'type') ?? item) : item;
    const term = termOf(host.evaluate(inner, cloneState(state), frame));
    return term?.kind === 'integer' ? String(term.value) : undefined;
  });
}

/** An object of a type without an initialiser, if the type is `std::integral_constant`; null for other types. */
export function constantOfType(type: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue | null {
  const written = sourceTextOf(host.declarations.text, type);
  if (!isConstantType(written)) return null;
  const list = nodesWhere(type, (node) => node.type === 'template_argument_list')[0];
  return constantObject(written, list ? templateArguments(list, state, frame, host).at(-1) : undefined, host);
}

function binary(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue | null {
  const operator = childIn(node, 'operator')?.type ?? '';
  const [left, right] = [childIn(node, 'left'), childIn(node, 'right')];
  if (!left || !right) return null;
  const first = host.evaluate(left, state, frame);
  if (operator === '&&' || operator === '||') {
    const fact = factOf(first);
    const isOverloaded = implicitCodeOf(host.declarations).operators.has(operator);
    if (isOverloaded) {
      host.evaluate(right, state, frame);
      host.opaque(state);
      return null;
    }
    const isDecided = fact.kind === 'truth' && fact.value === (operator === '||');
    if (isDecided) return { kind: 'condition', fact };
    const rest = cloneState(state);
    const isAsked = operator === '&&' ? fact : negatedFact(fact);
    assume(rest, isAsked);
    const second = factOf(host.evaluate(right, rest, frame));
    mergeStates(state, rest, cloneState(state), isAsked, host, (cell) => host.symbol(`cell ${cell}`));
    return { kind: 'condition', fact: joinedFact(operator === '&&' ? 'and' : 'or', fact, second) };
  }
  const second = host.evaluate(right, state, frame);
  const operands = [[left, first], [right, second]] as const; // oxfmt-ignore
  if (runsOperator(operator, operands, state, frame, host)) return null;
  if (operator === '>>' && first.kind !== 'number' && !isShifted(left, state, frame, host)) {
    // `std::cin >> n`
    const place = host.place(right, state, frame);
    if (place) host.write(place, host.symbol('input', typeOfExpression(right, state, frame, host)), state);
    return null;
  }
  const type = typeOfExpression(left, state, frame, host);
  const kinds = [numberKindOf(left, state, frame, host), numberKindOf(right, state, frame, host)] as const;
  if (comparisonOperators.test(operator)) return comparison(operator as ComparisonOperator, first, second, kinds);
  const other = typeOfExpression(right, state, frame, host);
  if (operator === '+' && isPointer(second, other) && !isPointer(first, type))
    return combined('+', second, first, other, host, kinds);
  return combined(operator, first, second, type, host, kinds);
}

/** Whether the left side of `>>` is an integer, not a stream. */
function isShifted(left: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  let node = stripParentheses(left);
  while (node.type === 'binary_expression') node = stripParentheses(childIn(node, 'left') ?? node.children[0]!);
  if (node.type === 'number_literal' || node.type === 'sizeof_expression') return true;
  const type = typeOfExpression(node, state, frame, host);
  return type !== undefined && integerType(resolvedType(type, host.declarations.aliases)) !== undefined;
}

/** Evaluates `(f)(x, y)`, which parses as a cast, as a call if `f` names a function or a variable; null for a cast. */
function callInParentheses(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): SyntaxNode | null {
  const { declarations } = host;
  const [type, value] = [childIn(node, 'type'), childIn(node, 'value')];
  if (!type || value?.type !== 'parenthesized_expression') return null;
  const named = type.children.length === 1 ? type.children[0]! : type;
  if (!/^(?:type_identifier|qualified_identifier|template_type)$/.test(named.type)) return null;
  const written = sourceTextOf(declarations.text, named).replace(/\s*::\s*/g, '::');
  const plain = written.replace(/<[^]*$/, '');
  const last = plain.replace(/^.*::/, '');
  const resolved = resolvedType(typeText(written, frame), declarations.aliases);
  const isType = integerType(resolved) !== undefined || sizeOfType(resolved) !== undefined || resolved !== written || declarations.records.has(last); // oxfmt-ignore
  const isNamed = declarations.functions.has(last) || host.lookUp(plain, frame, state) !== undefined;
  const items: SyntaxNode[] = [];
  for (let rest = listItems(value)[0]; rest;) {
    const isList = rest.type === 'comma_expression';
    items.unshift(isList ? childIn(rest, 'right')! : rest);
    rest = isList ? childIn(rest, 'left') : undefined;
  }
  // A cast has one operand.
  if (!isNamed && (isType || (items.length < 2 && !isHarmless(plain)))) return null;
  const callee = { ...named, type: plain === last ? 'identifier' : 'qualified_identifier', field: 'function' };
  return { ...node, type: 'call_expression', children: [callee, { ...value, type: 'argument_list', field: 'arguments', children: items }] }; // oxfmt-ignore
}

/** An object of a record that is not followed: the object may change its initialisers. */
export function unfollowedObject(
  items: readonly SyntaxNode[],
  type: string,
  state: State,
  frame: Frame,
  host: Interpreter,
): HostValue {
  // oxfmt-ignore
  for (const item of items) {
    host.lose(host.evaluate(item, state, frame));
    exposeNamed(item, state, frame, host);
  }
  host.unfollowed(recordNamed(type));
  host.opaque(state);
  return host.symbol(type, type);
}

function cast(value: HostValue, type: string, frame: Frame, host: Interpreter): HostValue {
  // Memory that is read by another type, partially or as bits, is not followed.
  const element = /^(?:const\s+)?([^*&]*[^*&\s])\s*\*(?:\s*const)?$/.exec(type)?.[1];
  if (value.kind === 'place' && element !== undefined && element !== 'void') {
    const own = value.path.length === 0 ? host.typeOfCell(value.cell) : undefined;
    const { aliases } = host.declarations;
    if (own === undefined || resolvedType(own, aliases) !== resolvedType(element, aliases)) host.expose(value.cell);
  }
  return converted(value, typeText(type, frame), host.declarations.aliases);
}

function assign(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const [left, right] = [childIn(node, 'left'), childIn(node, 'right')];
  const operator = childIn(node, 'operator')?.type ?? '=';
  if (!left || !right) return host.symbol('assignment');
  const type = typeOfExpression(left, state, frame, host);
  const { operators } = implicitCodeOf(host.declarations);
  const isOwn = type !== undefined && !isFollowedType(resolvedType(type, host.declarations.aliases), host.declarations);
  if (
    isOwn ||
    (operators.has(operator) &&
      (type === undefined || implicitCodeOf(host.declarations).followed.has(recordNamed(type))))
  ) {
    // oxfmt-ignore
    const written = [left, right].map((part) => (part.type === 'initializer_list' ? host.symbol('list') : host.evaluate(part, state, frame))); // oxfmt-ignore
    const isObject = isOwn || mayBeObject(left, written[0]!, state, frame, host);
    if (isObject) {
      for (const part of [left, right]) exposeNamed(part, state, frame, host);
      for (const one of written) host.lose(one);
      host.opaque(state);
      return host.symbol('assignment', type);
    }
  }
  let value =
    right.type === 'initializer_list'
      ? bracedValue(right, type ?? '', state, frame, host)
      : host.evaluate(right, state, frame);
  const place = host.place(left, state, frame);
  const given = /\[\]$/.test(typeOfExpression(right, state, frame, host) ?? '')
    ? host.place(right, state, frame)
    : null;
  if (given?.kind === 'cell' && !/\[\]$/.test(type ?? '')) {
    // An array becomes a pointer to its first element.
    if (place && (type === undefined || /\*\s*(?:const)?$/.test(type))) value = { kind: 'place', cell: given.cell, path: [...given.path, '0'] }; // oxfmt-ignore
    if (place?.kind !== 'cell') host.expose(given.cell);
  }
  if (operator !== '=') {
    const before = place ? host.read(place, state) : host.evaluate(left, state, frame);
    value =
      combined(operator.slice(0, -1), before, value, type, host, [
        numberKindOf(left, state, frame, host),
        numberKindOf(right, state, frame, host),
      ]) ?? host.symbol(sourceTextOf(host.declarations.text, left));
  }
  if (type !== undefined) value = converted(value, type, host.declarations.aliases);
  if (place) host.write(place, value, state, node);
  else {
    // `(a ? b : c) = 1`, `s.get() = 1`, `std::tie(a, b) = f()`
    exposeNamed(left, state, frame, host);
    host.disturb(state);
  }
  return value;
}

function address(operand: SyntaxNode | undefined, state: State, frame: Frame, host: Interpreter): HostValue | null {
  if (!operand) return null;
  const node = stripParentheses(operand);
  const { text, functions } = host.declarations;
  if (/^(?:identifier|qualified_identifier|template_function)$/.test(node.type)) {
    const value = host.evaluate(node, state, frame);
    if (value.kind === 'function' && functions.has(value.name.replace(/^.*::/, ''))) return value;
    const name = sourceTextOf(text, node)
      .replace(/\s/g, '')
      .replace(/<[^]*$/, '');
    // A function that is declared in a header outside of the project.
    if (host.lookUp(name, frame, state) === undefined && node.type !== 'identifier') return functionNamed(node, name, state, frame, host); // oxfmt-ignore
  }
  if (node.type === 'subscript_expression') {
    const array = childIn(node, 'argument');
    const indices = childIn(node, 'indices');
    const [index] = indices ? listItems(indices).filter(({ type }) => !/^[[\]]$/.test(type)) : [];
    const type = array && typeOfExpression(array, state, frame, host);
    const base = array && host.evaluate(array, state, frame);
    if (array && base && index && type !== undefined && /\*\s*(?:const)?$/.test(type))
      return moved(base, termOf(host.evaluate(index, state, frame)), type, host.declarations);
  }
  const place = host.place(node, state, frame);
  if (place?.kind === 'cell') return { kind: 'place', cell: place.cell, path: place.path };
  const symbol = place ? place.symbol : { id: `&${sourceTextOf(text, node)}`, label: sourceTextOf(text, node) };
  return { kind: 'symbol', symbol: { id: `&${symbol.id}`, label: symbol.label } };
}

/** Whether some function takes an array of a name, which is a pointer there. */
function isArrayParameter(name: string, text: string): boolean {
  return new RegExp(`[(,]\\s*(?:(?:const|volatile|unsigned|signed|long|short|struct)\\s+)*[\\w:]+(?:<[^<>;]*>)?\\s+(?:const\\s+)?${name}\\s*\\[`).test(text); // oxfmt-ignore
}

/** The variable or memory that an expression names; null if it names none. */
export function placeNamed(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostPlace | null {
  const { text } = host.declarations;
  const inner = stripParentheses(node);
  switch (inner.type) {
    case 'identifier':
    case 'qualified_identifier': {
      const name = sourceTextOf(text, inner).replace(/\s/g, '');
      const cell = host.lookUp(name, frame, state);
      if (cell !== undefined) return { kind: 'cell', cell, path: [] };
      const record =
        frame.function?.record === undefined ? undefined : host.declarations.records.get(frame.function.record);
      const isMember = record?.fields.some((field) => field.name === name) === true;
      return isMember && frame.self ? memberPlace(frame.self, name, state) : null;
    }
    case 'field_expression': {
      const object = childIn(inner, 'argument');
      if (!object) return null;
      const name = memberName(inner, text);
      if (!isMemberAccess(inner)) return null;
      if (childIn(inner, 'operator')?.type === '->')
        return memberPlace(host.evaluate(object, state, frame), name, state);
      const outer = host.place(object, state, frame);
      return outer && partPlace(outer, name);
    }
    case 'subscript_expression': {
      const array = childIn(inner, 'argument');
      const indices = childIn(inner, 'indices');
      const [index] = indices ? listItems(indices).filter(({ type }) => !/^[[\]]$/.test(type)) : [];
      if (!array || !index) return null;
      const at = termOf(host.evaluate(index, state, frame));
      const key = at?.kind === 'integer' ? String(at.value) : at ? `[${sourceTextOf(text, index)} ${termKey(at)}]` : null; // oxfmt-ignore
      if (key === null) return null;
      const type = typeOfExpression(array, state, frame, host);
      if (type !== undefined && /\*\s*(?:const)?$/.test(type)) {
        const value = host.evaluate(array, state, frame);
        if (value.kind === 'place') {
          // An index other than 0: any element of the array that contains the variable.
          if (key !== '0') host.expose(value.cell);
          return { kind: 'cell', cell: value.cell, path: value.path };
        }
        const id = memoryId(value, host);
        return { kind: 'memory', symbol: { id: `${id}[${key}]@${state.epoch}`, label: sourceTextOf(text, inner) } };
      }
      const outer = host.place(array, state, frame);
      if (outer) return partPlace(outer, key);
      const id = memoryId(host.evaluate(array, state, frame), host);
      return { kind: 'memory', symbol: { id: `${id}[${key}]@${state.epoch}`, label: sourceTextOf(text, inner) } };
    }
    case 'pointer_expression': {
      const operand = childIn(inner, 'argument');
      if (!operand || childIn(inner, 'operator')?.type === '&') return null;
      return pointedPlace(host.evaluate(operand, state, frame), inner, state, host);
    }
    case 'cast_expression': {
      const value = childIn(inner, 'value');
      return value ? host.place(value, state, frame) : null;
    }
    case 'pack_element': {
      const cell = host.lookUp(inner.field ?? '', frame, state);
      return cell === undefined ? null : { kind: 'cell', cell, path: [] };
    }
    case 'this':
      return frame.self?.kind === 'place' ? { kind: 'cell', cell: frame.self.cell, path: frame.self.path } : null;
  }
  return null;
}

/** Whether an expression names a member, and does not use a pointer to member: `x.*m`. */
function isMemberAccess(node: SyntaxNode): boolean {
  return /^(?:\.|->)$/.test(childIn(node, 'operator')?.type ?? '') && !childOf(node, 'ERROR');
}

/** The place that `*pointer` names. */
function pointedPlace(value: HostValue, node: SyntaxNode, state: State, host: Interpreter): HostPlace {
  if (value.kind === 'place') return { kind: 'cell', cell: value.cell, path: value.path };
  const id = memoryId(value, host);
  return { kind: 'memory', symbol: { id: `*${id}@${state.epoch}`, label: sourceTextOf(host.declarations.text, node) } };
}

/** A key of the memory that a pointer points to. */
function memoryId(value: HostValue, host: Interpreter): string {
  if (value.kind !== 'pointer') return symbolOf(value).id;
  if (!value.offset) return symbolOf(host.symbol(value.memory.label)).id;
  const at = termKey(value.offset);
  return at === '0' ? value.memory.id : `${value.memory.id}+${at}`;
}

function partPlace(outer: HostPlace, name: string): HostPlace {
  if (outer.kind === 'cell') return { ...outer, path: [...outer.path, name] };
  return { kind: 'memory', symbol: symbolOf(symbolField(outer.symbol, name)) };
}
