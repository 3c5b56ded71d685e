/** The values of expressions of host code. */
import type { ArithmeticOperator, ComparisonOperator } from '../assumptions/assumption.ts';
import { integerType, isFloatType, sizeOfType } from '../syntax/basic-type.ts';
import { childIn, childOf, listItems, nodesWhere, stripParentheses, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { bracedValue } from './braced-value.ts';
import { textOf } from './declarations.ts';
import { type Frame, type Interpreter, type HostPlace, type State, assume, cloneState, converted, meet, moved, resolvedType, sizeOfNamed, typeText } from './interpreter.ts'; // prettier-ignore
import {
  type HostTerm,
  arithmetic,
  compared,
  integer,
  joinedFact,
  termKey,
  negatedFact,
  one,
  zeroTerm,
} from './term.ts';
import { constantObject, isConstantObject, isConstantType, memberOfConstant } from './integral-constant.ts';
import { nullPointer, type HostFunction, type HostScope, type HostValue, eitherValue, factOf, hostField, literalValue, numberValue, quotientOf, symbolField, symbolOf, termOf } from './value.ts'; // prettier-ignore

const arithmeticOperators = /^(?:[-+*/%&|]|<<)$/;
const comparisonOperators = /^(?:[<>]=?|[!=]=)$/;

/** The value of an expression. What it assigns is assigned. */
export function hostValueOf(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const { text } = host.declarations;
  const written = (): string => textOf(text, node);
  const unknown = (): HostValue => host.symbol(written());
  const at = (inner: SyntaxNode | undefined): HostValue => (inner ? host.evaluate(inner, state, frame) : unknown());
  if (!host.step()) return unknown();
  switch (node.type) {
    case 'number_literal':
      return literalValue(text.slice(node.start, node.end)) ?? unknown();
    case 'true':
    case 'false':
      return numberValue(integer(node.type === 'true' ? 1 : 0));
    case 'null':
    case 'nullptr':
      return nullPointer;
    case 'char_literal': {
      const code = /^'(.)'$/s.exec(text.slice(node.start, node.end))?.[1]?.charCodeAt(0);
      return code === undefined ? unknown() : numberValue(integer(code));
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
    case 'unary_expression':
      return unary(childIn(node, 'operator')?.type ?? '', at(childIn(node, 'argument'))) ?? unknown();
    case 'binary_expression':
      return binary(node, state, frame, host) ?? unknown();
    case 'conditional_expression': {
      const condition = factOf(at(childIn(node, 'condition')));
      const [then, otherwise] = [childIn(node, 'consequence'), childIn(node, 'alternative')];
      if (condition.kind === 'truth') return at(condition.value ? then : otherwise);
      // `assert` is a conditional expression once it is expanded.
      if (otherwise && endsProgram(otherwise, text)) {
        assume(state, condition);
        return at(then);
      }
      const [a, b] = [cloneState(state), cloneState(state)];
      const first = then ? host.evaluate(then, a, frame) : unknown();
      const second = otherwise ? host.evaluate(otherwise, b, frame) : unknown();
      meet(state, a, b, condition, host, () => unknown());
      const either = eitherValue(condition, first, second);
      if (!either) for (const value of [first, second]) host.lose(value);
      return either ?? unknown();
    }
    case 'cast_expression': {
      const type = childIn(node, 'type');
      const value = at(childIn(node, 'value'));
      return type ? cast(value, textOf(text, type), frame, host) : value;
    }
    case 'sizeof_expression': {
      const type = childIn(node, 'type');
      if (type) return numberValue(sizeOfNamed(typeText(textOf(text, type), frame), host.declarations));
      const operand = stripParentheses(childIn(node, 'value') ?? node);
      const named = typeText(textOf(text, operand), frame);
      const own = typeOfExpression(operand, state, frame, host);
      const value = own !== undefined && /^[^[\]]*\[\]$/.test(own) && operand.type === 'identifier' && !isArrayParameter(named, text) ? host.evaluate(operand, state, frame) : undefined; // prettier-ignore
      if (value?.kind === 'record' && value.length !== undefined) {
        const size = arithmetic('*', sizeOfNamed(own!.replace(/\[\]$/, ''), host.declarations), integer(value.length));
        return size ? numberValue(size) : unknown();
      }
      if (own === undefined || /\[\]/.test(own)) {
        const isType = host.declarations.aliases.has(named) || host.declarations.records.has(named) || sizeOfType(named) !== undefined; // prettier-ignore
        return isType ? numberValue(sizeOfNamed(named, host.declarations)) : unknown();
      }
      return numberValue(sizeOfNamed(own, host.declarations));
    }
    case 'assignment_expression':
      return assign(node, state, frame, host);
    case 'update_expression': {
      const operand = childIn(node, 'argument');
      const operator = childIn(node, 'operator');
      const place = operand && host.place(operand, state, frame);
      const before = place ? host.read(place, state) : at(operand);
      if (operand && !place) exposeNamed(operand, state, frame, host);
      if (!place || !operand || !operator) return unknown();
      const type = typeOfExpression(operand, state, frame, host);
      const after = combined(operator.type === '++' ? '+' : '-', before, numberValue(one), type, host) ?? unknown();
      host.write(place, after, state, node);
      return operator.start < operand.start ? after : before;
    }
    case 'field_expression': {
      const place = host.place(node, state, frame);
      return place ? host.read(place, state) : hostField(at(childIn(node, 'argument')), fieldName(node, text));
    }
    case 'subscript_expression':
    case 'pointer_expression': {
      const isAddress = node.type === 'pointer_expression' && childIn(node, 'operator')?.type === '&';
      if (isAddress) return address(childIn(node, 'argument'), state, frame, host) ?? unknown();
      const inner = childIn(node, 'argument');
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
      return list ? bracedValue(list, type ? textOf(text, type) : '', state, frame, host) : unknown();
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
      const length = childOf(node, 'new_declarator') && childIn(childOf(node, 'new_declarator')!, 'length');
      const count = length ? termOf(at(length)) : null;
      const element = type && sizeOfNamed(typeText(textOf(text, type), frame), host.declarations);
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
    case 'extension_expression':
      return at(node.children.at(-1));
  }
  // What has parts that assign is evaluated for that.
  for (const child of node.children) if (/_expression$/.test(child.type)) at(child);
  return unknown();
}

/** Nothing is known any more of the variables that a text names: it changes one of them. */
export function exposeNamed(node: SyntaxNode | undefined, state: State, frame: Frame, host: Interpreter): void {
  for (const inner of node ? nodesWhere(node, ({ type }) => /^(?:type_)?identifier$/.test(type)) : []) {
    const cell = host.lookUp(textOf(host.declarations.text, inner), frame, state);
    if (cell !== undefined) host.expose(cell);
  }
}

/** The variables that a lambda sees: copies of those that it captures by value. */
function capturedScope(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostScope {
  const list = childIn(node, 'captures');
  const captures = list ? textOf(host.declarations.text, list).slice(1, -1).split(',').map((one) => one.trim()) : []; // prettier-ignore
  const cells = new Map<string, number>();
  const inner: Frame = { ...frame, scope: { cells, outer: frame.scope } };
  const copy = (name: string): void => {
    const cell = host.lookUp(name, frame, state);
    if (cell !== undefined) host.declare(name, host.typeOfCell(cell), host.read({ kind: 'cell', cell, path: [] }, state), state, inner); // prettier-ignore
  };
  if (captures.includes('=')) {
    const named = new Set<string>();
    for (let scope: HostScope | null = frame.scope; scope; scope = scope.outer) for (const name of scope.cells.keys()) named.add(name); // prettier-ignore
    for (const name of named) if (!captures.includes(`&${name}`)) copy(name);
  }
  for (const capture of captures) {
    const [, name, initial] = /^([A-Za-z_]\w*)\s*(?:[={]\s*([^]*?)\}?)?$/.exec(capture) ?? [];
    if (name === undefined || name === 'this') continue;
    if (initial === undefined) copy(name);
    else {
      const cell = host.lookUp(initial, frame, state);
      const value = cell === undefined ? host.symbol(name) : host.read({ kind: 'cell', cell, path: [] }, state);
      host.declare(name, cell === undefined ? '' : host.typeOfCell(cell), value, state, inner);
    }
  }
  return inner.scope;
}

/** Whether an expression is a call of what does not return. */
export function endsProgram(node: SyntaxNode, text: string): boolean {
  const callee = node.type === 'call_expression' ? childIn(node, 'function') : undefined;
  return callee !== undefined && /^(?:std::)?(?:_?exit|abort|terminate|quick_exit|__assert_fail)$/.test(textOf(text, callee)); // prettier-ignore
}

/** A name: an argument of a template, a variable, an enumerator, a function. */
function named(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const { declarations } = host;
  const { text } = declarations;
  const written = textOf(text, node).replace(/\s*::\s*/g, '::');
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
  if (found.before === undefined) return numberValue(zeroTerm);
  const before = enumeratorValue(found.before, state, frame, host, depth + 1);
  const next = before && termOf(before);
  const value = next && arithmetic('+', next, one);
  return value && numberValue(value);
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

/** The arguments of a template as text; undefined for what is not known. */
export function templateArguments(
  list: SyntaxNode,
  state: State,
  frame: Frame,
  host: Interpreter,
): readonly (string | undefined)[] {
  const { declarations } = host;
  return listItems(list).map((item) => {
    const written = textOf(declarations.text, item);
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

/** An object of a type without an initialiser, where the type is `std::integral_constant`; null for other types. */
export function constantOfType(type: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue | null {
  const written = textOf(host.declarations.text, type);
  if (!isConstantType(written)) return null;
  const list = nodesWhere(type, (node) => node.type === 'template_argument_list')[0];
  return constantObject(written, list ? templateArguments(list, state, frame, host).at(-1) : undefined, host);
}

function unary(operator: string, operand: HostValue): HostValue | null {
  if (operator === '+') return operand;
  if (operator === '!') return { kind: 'condition', fact: negatedFact(factOf(operand)) };
  if (operator === '~') {
    const mask = termOf(operand);
    // Of a number: what else it may be, its width would decide.
    return mask?.kind === 'integer' ? numberValue(integer(-mask.value - 1n)) : null;
  }
  if (operator !== '-') return null;
  if (operand.kind === 'quotient') {
    // Of zero it is a zero of another sign, which no quotient is.
    if (operand.numerator.kind !== 'integer' || operand.numerator.value === 0n) return null;
    const numerator = arithmetic('-', zeroTerm, operand.numerator);
    return numerator && { ...operand, numerator };
  }
  const term = termOf(operand);
  const value = term && arithmetic('-', zeroTerm, term);
  return value && numberValue(value);
}

function binary(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue | null {
  const operator = childIn(node, 'operator')?.type ?? '';
  const [left, right] = [childIn(node, 'left'), childIn(node, 'right')];
  if (!left || !right) return null;
  const first = host.evaluate(left, state, frame);
  if (operator === '&&' || operator === '||') {
    const fact = factOf(first);
    const isDecided = fact.kind === 'truth' && fact.value === (operator === '||');
    if (isDecided) return { kind: 'condition', fact };
    const rest = cloneState(state);
    const isAsked = operator === '&&' ? fact : negatedFact(fact);
    assume(rest, isAsked);
    const second = factOf(host.evaluate(right, rest, frame));
    meet(state, rest, cloneState(state), isAsked, host, (cell) => host.symbol(`cell ${cell}`));
    return { kind: 'condition', fact: joinedFact(operator === '&&' ? 'and' : 'or', fact, second) };
  }
  const second = host.evaluate(right, state, frame);
  if (operator === '>>' && first.kind !== 'number' && !isShifted(left, state, frame, host)) {
    // `std::cin >> n`
    const place = host.place(right, state, frame);
    if (place) host.write(place, host.symbol('input', typeOfExpression(right, state, frame, host)), state);
    return null;
  }
  const type = typeOfExpression(left, state, frame, host);
  if (comparisonOperators.test(operator)) return comparison(operator as ComparisonOperator, first, second);
  const other = typeOfExpression(right, state, frame, host);
  if (operator === '+' && isPointer(second, other) && !isPointer(first, type))
    return combined('+', second, first, other, host);
  return combined(operator, first, second, type, host);
}

/** Whether the left side of `>>` is an integer, not a stream. */
function isShifted(left: SyntaxNode, state: State, frame: Frame, host: Interpreter): boolean {
  let node = stripParentheses(left);
  while (node.type === 'binary_expression') node = stripParentheses(childIn(node, 'left') ?? node.children[0]!);
  if (node.type === 'number_literal' || node.type === 'sizeof_expression') return true;
  const type = typeOfExpression(node, state, frame, host);
  return type !== undefined && integerType(resolvedType(type, host.declarations.aliases)) !== undefined;
}

function comparison(operator: ComparisonOperator, first: HostValue, second: HostValue): HostValue | null {
  if (first.kind === 'quotient' || second.kind === 'quotient') {
    const [a, b] = [quotientOf(first), quotientOf(second)];
    const [left, right] = a && b ? [arithmetic('*', a.numerator, b.denominator), arithmetic('*', b.numerator, a.denominator)] : []; // prettier-ignore
    return left && right ? { kind: 'condition', fact: compared(operator, left, right) } : null;
  }
  const [a, b] = [termOf(first), termOf(second)];
  if (!a || !b) return null;
  return { kind: 'condition', fact: compared(operator, a, b) };
}

function isPointer(value: HostValue, type: string | undefined): boolean {
  return (
    value.kind === 'pointer' ||
    value.kind === 'place' ||
    (type !== undefined && /(?:\*|\[\])\s*(?:const)?\s*$/.test(type))
  );
}

/** The value of an operator of arithmetic; of pointers too. */
function combined(
  operator: string,
  first: HostValue,
  second: HostValue,
  type: string | undefined,
  host: Interpreter,
): HostValue | null {
  if (isPointer(first, type)) {
    if (operator !== '+' && operator !== '-') return null;
    if (first.kind === 'place') {
      host.expose(first.cell);
      return null;
    }
    const by = termOf(second);
    const signed = by && operator === '-' ? arithmetic('-', zeroTerm, by) : by;
    return moved(first, signed, type, host.declarations);
  }
  if (first.kind === 'quotient' || second.kind === 'quotient') {
    const [a, b] = [quotientOf(first), quotientOf(second)];
    return a && b ? quotientOperation(operator, a, b) : null;
  }
  const isReal = type !== undefined && isFloatType(type);
  if (isReal) return null;
  const [a, b] = [termOf(first), termOf(second)];
  if (!a || !b) return null;
  if (operator === '>>') {
    if (a.kind === 'integer' && b.kind === 'integer' && b.value >= 0n && b.value < 63n) return numberValue(integer(a.value >> b.value)); // prettier-ignore
    const shift = b.kind === 'integer' && b.value >= 0n && b.value < 63n ? integer(1n << b.value) : null;
    const quotient = shift && arithmetic('/', a, shift);
    return quotient && numberValue(quotient);
  }
  if (operator === '^' && a.kind === 'integer' && b.kind === 'integer') return numberValue(integer(a.value ^ b.value));
  if (!arithmeticOperators.test(operator)) return null;
  const term = arithmetic(operator as ArithmeticOperator, a, b);
  // Below zero an unsigned number starts again at its largest.
  const isUnsigned = type !== undefined && integerType(resolvedType(type, host.declarations.aliases))?.signed === false;
  if (isUnsigned && term?.kind === 'integer' && term.value < 0n) return null;
  return term && numberValue(term);
}

interface Quotient {
  readonly numerator: HostTerm;
  readonly denominator: HostTerm;
}

function quotientOperation(operator: string, a: Quotient, b: Quotient): HostValue | null {
  // A quotient that floating-point numbers only come near to: one more operation may round to either side.
  const isExact = ({ denominator: term }: Quotient): boolean => term.kind === 'integer' && term.value > 0n && (term.value & (term.value - 1n)) === 0n; // prettier-ignore
  if (!isExact(a) || !isExact(b)) return null;
  const times = (x: HostTerm, y: HostTerm): HostTerm | null => arithmetic('*', x, y);
  const isNegative = [a, b].some(({ numerator }) => numerator.kind === 'integer' && numerator.value < 0n);
  const make = (numerator: HostTerm | null, denominator: HostTerm | null): HostValue | null => {
    if (!numerator || !denominator) return null;
    if (numerator.kind === 'integer' && denominator.kind === 'integer') {
      // A zero that may be negative, and what a `float` does not hold, are no quotients.
      if (numerator.value === 0n && isNegative && /[*/]/.test(operator)) return null;
      const value = Number(numerator.value) / Number(denominator.value);
      if (operator !== '/' && Math.fround(value) !== value) return null;
    }
    return { kind: 'quotient', numerator, denominator };
  };
  switch (operator) {
    case '*':
      return make(times(a.numerator, b.numerator), times(a.denominator, b.denominator));
    case '/':
      return make(times(a.numerator, b.denominator), times(a.denominator, b.numerator));
    case '+':
    case '-': {
      const [left, right] = [times(a.numerator, b.denominator), times(b.numerator, a.denominator)];
      return make(left && right && arithmetic(operator, left, right), times(a.denominator, b.denominator));
    }
  }
  return null;
}

function cast(value: HostValue, type: string, frame: Frame, host: Interpreter): HostValue {
  return converted(value, typeText(type, frame), host.declarations.aliases);
}

function assign(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const [left, right] = [childIn(node, 'left'), childIn(node, 'right')];
  const operator = childIn(node, 'operator')?.type ?? '=';
  if (!left || !right) return host.symbol('assignment');
  const type = typeOfExpression(left, state, frame, host);
  let value =
    right.type === 'initializer_list'
      ? bracedValue(right, type ?? '', state, frame, host)
      : host.evaluate(right, state, frame);
  const place = host.place(left, state, frame);
  if (operator !== '=') {
    const before = place ? host.read(place, state) : host.evaluate(left, state, frame);
    value =
      combined(operator.slice(0, -1), before, value, type, host) ?? host.symbol(textOf(host.declarations.text, left));
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

function fieldName(node: SyntaxNode, text: string): string {
  const field = childIn(node, 'field');
  return field ? textOf(text, field) : '';
}

function address(operand: SyntaxNode | undefined, state: State, frame: Frame, host: Interpreter): HostValue | null {
  if (!operand) return null;
  const node = stripParentheses(operand);
  const { text, functions } = host.declarations;
  if (/^(?:identifier|qualified_identifier|template_function)$/.test(node.type)) {
    const value = host.evaluate(node, state, frame);
    if (value.kind === 'function' && functions.has(value.name.replace(/^.*::/, ''))) return value;
    const name = textOf(text, node)
      .replace(/\s/g, '')
      .replace(/<[^]*$/, '');
    // A function that is declared in a header outside of the project.
    if (host.lookUp(name, frame, state) === undefined && node.type !== 'identifier') return functionNamed(node, name, state, frame, host); // prettier-ignore
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
  const symbol = place ? place.symbol : { id: `&${textOf(text, node)}`, label: textOf(text, node) };
  return { kind: 'symbol', symbol: { id: `&${symbol.id}`, label: symbol.label } };
}

/** Whether some function takes an array of a name, which is a pointer there. */
function isArrayParameter(name: string, text: string): boolean {
  return new RegExp(`[(,]\\s*(?:(?:const|volatile|unsigned|signed|long|short|struct)\\s+)*[\\w:]+(?:<[^<>;]*>)?\\s+(?:const\\s+)?${name}\\s*\\[`).test(text); // prettier-ignore
}

/** The declared type of what an expression names; undefined where no declaration tells. */
export function typeOfExpression(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): string | undefined {
  const { declarations } = host;
  const inner = stripParentheses(node);
  switch (inner.type) {
    case 'pack_element': {
      const cell = host.lookUp(inner.field ?? '', frame, state);
      return cell === undefined ? undefined : host.typeOfCell(cell);
    }
    case 'identifier':
    case 'qualified_identifier': {
      const cell = host.lookUp(textOf(declarations.text, inner).replace(/\s/g, ''), frame, state);
      if (cell !== undefined) return typeText(host.typeOfCell(cell), frame);
      const record = frame.function?.record === undefined ? undefined : declarations.records.get(frame.function.record);
      return record?.fields.find(({ name }) => name === textOf(declarations.text, inner))?.type;
    }
    case 'cast_expression': {
      const type = childIn(inner, 'type');
      return type && typeText(textOf(declarations.text, type).replace(/\s+(?=\*)/g, ''), frame);
    }
    case 'compound_literal_expression': {
      const type = childIn(inner, 'type');
      return type && typeText(textOf(declarations.text, type), frame);
    }
    case 'call_expression': {
      const callee = childIn(inner, 'function');
      const target = callee && /_cast\s*<([^]*)>\s*$/.exec(textOf(declarations.text, callee))?.[1];
      return target === undefined ? undefined : typeText(target.trim(), frame);
    }
    case 'field_expression': {
      const object = childIn(inner, 'argument');
      const owner = object && typeOfExpression(object, state, frame, host);
      if (owner === undefined) return undefined;
      const known = resolvedType(owner, declarations.aliases).replace(/[*&\s]+$/, '');
      if (/^(?:dim3|uint3|int3|int2|uint2)$/.test(known)) return 'int';
      return declarations.records.get(known.replace(/^.*::/, ''))?.fields.find(({ name }) => name === fieldName(inner, declarations.text))?.type; // prettier-ignore
    }
    case 'subscript_expression':
    case 'pointer_expression': {
      const object = childIn(inner, 'argument');
      const outer = object && typeOfExpression(object, state, frame, host);
      if (outer === undefined) return undefined;
      if (childIn(inner, 'operator')?.type === '&') return `${outer}*`;
      return /(?:\*|\[\])\s*(?:const)?\s*$/.test(outer)
        ? outer.replace(/(?:\*|\[\])\s*(?:const)?\s*$/, '').trim()
        : undefined;
    }
    case 'binary_expression': {
      const [left, right] = [childIn(inner, 'left'), childIn(inner, 'right')];
      const first = left && typeOfExpression(left, state, frame, host);
      return first !== undefined && /\*/.test(first) ? first : right && typeOfExpression(right, state, frame, host);
    }
  }
  return undefined;
}

/** The variable or memory that an expression names; null where it names none. */
export function placeNamed(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostPlace | null {
  const { text } = host.declarations;
  const inner = stripParentheses(node);
  switch (inner.type) {
    case 'identifier':
    case 'qualified_identifier': {
      const name = textOf(text, inner).replace(/\s/g, '');
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
      const name = fieldName(inner, text);
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
      const key = at?.kind === 'integer' ? String(at.value) : at ? `[${textOf(text, index)} ${termKey(at)}]` : null; // prettier-ignore
      if (key === null) return null;
      const type = typeOfExpression(array, state, frame, host);
      if (type !== undefined && /\*\s*(?:const)?$/.test(type)) {
        const value = host.evaluate(array, state, frame);
        if (value.kind === 'place') {
          // Another element than the first: of the array that the variable is a part of.
          if (key !== '0') host.expose(value.cell);
          return { kind: 'cell', cell: value.cell, path: value.path };
        }
        const id = memoryId(value, host);
        return { kind: 'memory', symbol: { id: `${id}[${key}]@${state.epoch}`, label: textOf(text, inner) } };
      }
      const outer = host.place(array, state, frame);
      if (outer) return partPlace(outer, key);
      const id = memoryId(host.evaluate(array, state, frame), host);
      return { kind: 'memory', symbol: { id: `${id}[${key}]@${state.epoch}`, label: textOf(text, inner) } };
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

/** What `*pointer` names. */
function pointedPlace(value: HostValue, node: SyntaxNode, state: State, host: Interpreter): HostPlace {
  if (value.kind === 'place') return { kind: 'cell', cell: value.cell, path: value.path };
  const id = memoryId(value, host);
  return { kind: 'memory', symbol: { id: `*${id}@${state.epoch}`, label: textOf(host.declarations.text, node) } };
}

/** Tells the memory that a pointer leads to from all other. */
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
