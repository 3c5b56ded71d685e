/** Calls in host code: of functions with a known body, of known functions of CUDA and C++, and of all others. */
import { childIn, childOf, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { type FunctionDeclaration, parametersOf, sourceTextOf } from '../declarations/declarations.ts';
import { bracedValue } from './braced-value.ts';
import { constantOfType, exposeNamed, functionNamed, templateArguments, unfollowedObject } from './expressions.ts';
import { typeOfExpression } from './expression-type.ts';
import { resolvedType } from '../declarations/resolved-type.ts';
import { type HostArgument, type Frame, type Interpreter, type HostPlace, type State, cloneState, converted, dim3Of, mergeStates, typeText } from './interpreter.ts'; // oxfmt-ignore
import { noteContents } from './device-contents.ts';
import { isConstantObject } from './integral-constant.ts';
import { isHarmless, isOfLibrary } from '../declarations/library-function.ts';
import { hasConstructor, implicitCodeOf, isFollowedType, recordNamed } from '../declarations/record-shape.ts';
import { basicTypeOf } from '../syntax/basic-type.ts';
import { callKnown } from './known-functions.ts';
import { readChevronLaunch, readLaunchCall } from './launch-reading.ts';
import { type Fact, joinedFact, truth } from './term.ts';
import { type HostValue, type HostScope, eitherValue, hostField, symbolOf, valueKey } from './value.ts'; // oxfmt-ignore

/** Maximum depth of nested calls that are followed. */
const deepest = 14;

/** The value of a call, after its effects. */
export function evaluateCall(node: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostValue {
  const { text, records, functions, aliases } = host.declarations;
  const callee = childIn(node, 'function');
  if (!callee) return host.symbol('call');
  if (childOf(node, 'kernel_call_syntax')) {
    readChevronLaunch(node, state, frame, host);
    return host.symbol('launch');
  }
  const list = childIn(node, 'arguments');
  const items = list ? expandPacks(listItems(list), frame, host) : [];
  const written = sourceTextOf(text, callee).replace(/\s*::\s*/g, '::');
  const cast = /^(?:static_cast|const_cast|reinterpret_cast|dynamic_cast)\s*<([^]*)>$/.exec(written)?.[1];
  const [only] = items;
  if (cast !== undefined && only) {
    const value = host.evaluate(only, state, frame);
    return converted(value, typeText(cast, frame), aliases);
  }
  const plain = written.replace(/<[^]*$/, '').replace(/^::/, '');
  const name = plain.replace(/^.*(?:::|->|\.)/, '');
  if (plain === 'dim3' || resolvedType(plain, aliases) === 'dim3') return extentsCall(items, state, frame, host);
  if (callee.type === 'primitive_type' && only) return converted(host.evaluate(only, state, frame), written, aliases);
  const constant = items.length === 0 ? constantOfType(callee, state, frame, host) : null;
  if (constant) return constant;
  if (readLaunchCall(name, node, items, state, frame, host)) return host.symbol(`${name}()`);

  if (callee.type === 'field_expression') return methodCall(callee, items, state, frame, host);
  const given = (): HostArgument[] => items.map((item) => argumentOf(item, state, frame, host));
  const isNamed = /^(?:identifier|qualified_identifier|template_function)$/.test(callee.type);
  const variable = isNamed && !written.includes('<') ? host.lookUp(plain, frame, state) : undefined;
  const target = variable !== undefined || !isNamed ? host.evaluate(callee, state, frame) : undefined;
  if (target && isConstantObject(target) && items.length === 0) return hostField(target, 'value'); // oxfmt-ignore
  if (target?.kind === 'lambda') return callLambda(target, given(), state, frame, host);
  if (target?.kind === 'function' && functions.has(target.name.replace(/^.*::/, ''))) {
    const result = callNamed(target.name, target.templateArguments, given(), state, frame, host);
    if (result) return result;
  } else if (isNamed && functions.has(name) && !records.has(name)) {
    const reference = functionNamed(callee, plain, state, frame, host);
    const template = reference.kind === 'function' ? reference.templateArguments : [];
    const result = callNamed(plain, template, given(), state, frame, host, node);
    if (result) return result;
  }
  if (!target && records.has(name)) return madeByName(name, items, state, frame, host);
  if (target?.kind === 'function')
    for (const one of [target, ...(target.others ?? [])]) host.unfollowed(one.name.replace(/^.*::/, '')); // oxfmt-ignore
  else if (functions.has(name)) host.unfollowed(name);
  const values = given();
  if (!target) noteContents(name, values, items, state, host);
  const known = target || !isOfLibrary(plain) ? null : callKnown(name, values, items, state, host);
  if (known) return known;
  return unknownCall(target ? undefined : plain, values, node, state, host);
}

/** Creates an object by the name of its record: `C(x)`. */
function madeByName(
  name: string,
  items: readonly SyntaxNode[],
  state: State,
  frame: Frame,
  host: Interpreter,
): HostValue {
  if (hasConstructor(name, host.declarations) || !isFollowedType(name, host.declarations)) return unfollowedObject(items, name, state, frame, host); // oxfmt-ignore
  for (const item of items) host.lose(host.evaluate(item, state, frame));
  return host.symbol(name, name);
}

/** Arguments with packs instead of `args...`. */
export function expandPacks(items: readonly SyntaxNode[], frame: Frame, host: Interpreter): readonly SyntaxNode[] {
  const { text } = host.declarations;
  return items.flatMap((item) => {
    if (item.type !== 'parameter_pack_expansion') return [item];
    const pattern = childIn(item, 'pattern') ?? item;
    // `std::forward<Args>(args)...`
    const names = nodesWhere(pattern, ({ type }) => type === 'identifier').map((inner) => sourceTextOf(text, inner));
    const pack = names.map((name) => packs.get(frame.scope)?.get(name) ?? outerPack(frame.scope, name)).find((found) => found !== undefined); // oxfmt-ignore
    return pack ? [...pack] : [item];
  });
}

/** Arguments of a parameter pack, as nodes that name their cells. */
const packs = new WeakMap<HostScope, Map<string, readonly SyntaxNode[]>>();

function outerPack(scope: HostScope | null, name: string): readonly SyntaxNode[] | undefined {
  for (let at = scope; at; at = at.outer) {
    const found = packs.get(at)?.get(name);
    if (found) return found;
  }
  return undefined;
}

/** An argument, evaluated. */
export function argumentOf(item: SyntaxNode, state: State, frame: Frame, host: Interpreter): HostArgument {
  const isPlace = /^(?:identifier|field_expression|subscript_expression|pointer_expression|qualified_identifier)$/.test(item.type); // oxfmt-ignore
  const isAddress = item.type === 'pointer_expression' && childIn(item, 'operator')?.type === '&';
  const place: HostPlace | null = isPlace && !isAddress ? host.place(item, state, frame) : null;
  // An lvalue is evaluated once: its side effects (`a[i++]`) must not happen twice.
  const evaluated = (): HostValue => item.type === 'initializer_list' ? bracedValue(item, '', state, frame, host) : host.evaluate(item, state, frame); // oxfmt-ignore
  const value =
    place && (item.type !== 'pointer_expression' || hasEffects(item)) ? host.read(place, state) : evaluated();
  return { value, place, type: typeOfExpression(item, state, frame, host) };
}

function hasEffects(node: SyntaxNode): boolean {
  return nodesWhere(node, ({ type }) => /^(?:assignment|update|call)_expression$/.test(type)).length > 0;
}

function extentsCall(items: readonly SyntaxNode[], state: State, frame: Frame, host: Interpreter): HostValue {
  const values = items.map((item) =>
    converted(host.evaluate(item, state, frame), 'unsigned', host.declarations.aliases),
  );
  const [first] = values;
  if (values.length === 1 && first) return dim3Of(first);
  const one: HostValue = { kind: 'number', term: { kind: 'integer', value: 1n } };
  const fields = new Map(['x', 'y', 'z'].map((axis, at): [string, HostValue] => [axis, values[at] ?? one]));
  const id = [...fields.values()].map(valueKey).join();
  return { kind: 'record', fields, rest: { id: `dim3 ${id}`, label: 'dim3' } };
}

/** A call of a function by its name; null if no body is available, or the overload is ambiguous. */
function callNamed(
  path: string,
  template: readonly (string | undefined)[],
  given: readonly HostArgument[],
  state: State,
  frame: Frame,
  host: Interpreter,
  node?: SyntaxNode,
): HostValue | null {
  const name = path.replace(/^.*::/, '');
  const isQualified = path.includes('::');
  const around = frame.function?.path ?? [];
  const isBrought = isQualified || host.declarations.hasUsing;
  // A method needs an object. A function of a namespace that does not enclose the call has to be qualified, or made
  // visible by `using`.
  const isVisible = (one: FunctionDeclaration): boolean => isQualified || (one.record !== undefined ? one.record === frame.function?.record : isBrought || one.path.every((part, at) => around[at] === part)); // oxfmt-ignore
  const candidates = (host.declarations.functions.get(name) ?? []).filter((one) => fits(one, path, given.length) && isVisible(one)); // oxfmt-ignore
  const withBody = candidates.filter(({ body }) => body);
  // Implicit conversions determine the overload, and the dynamic type of the object a virtual method.
  const isVirtual = candidates.some(({ record }) => record !== undefined) && implicitCodeOf(host.declarations).virtualMethods.has(name); // oxfmt-ignore
  if (withBody.length > 1 || isVirtual) host.unfollowed(name);
  if (isVirtual) return null;
  if (withBody.length === 0) {
    if (node && candidates.length > 0)
      host.emit({
        kind: 'call',
        node,
        name,
        declared: candidates,
        arguments: given.map(({ value }) => abroad(value, host)),
        facts: state.facts,
      });
    return null;
  }
  // An explicit specialisation looks like a separate function.
  const own = withBody.length > 1 ? (template.length > 0 ? [] : meant(withBody, given, host)) : withBody;
  const [only] = own;
  if (!only || own.length !== 1 || only.isKernel) return null;
  const self = only.record !== undefined && frame.function?.record === only.record ? frame.self : undefined;
  return host.invoke(only, given, state, frame, { template, ...(self ? { self } : {}) });
}

/** A value as passed to another translation unit: variables of this unit are unknown there. */
function abroad(value: HostValue, host: Interpreter): HostValue {
  if (value.kind === 'place' || value.kind === 'lambda') return host.symbol('from another file');
  if (value.kind !== 'record') return value;
  return { ...value, fields: new Map([...value.fields].map(([name, field]) => [name, abroad(field, host)])) };
}

function fits({ parameters, path }: FunctionDeclaration, written: string, count: number): boolean {
  const parts = written
    .split('::')
    .slice(0, -1)
    .filter((part) => part !== '');
  const isInScope = parts.every((part, at) => path.at(at - parts.length) === part);
  const least = parameters.filter(({ value, isPack }) => !value && !isPack).length;
  return isInScope && least <= count && (count <= parameters.length || parameters.some(({ isPack }) => isPack));
}

/** The overload whose parameter types equal those of the arguments. */
function meant(
  candidates: readonly FunctionDeclaration[],
  given: readonly HostArgument[],
  host: Interpreter,
): readonly FunctionDeclaration[] {
  const plain = (type: string): string => basicTypeOf(resolvedType(type, host.declarations.aliases).replace(/&/g, '').replace(/\[\]$/, '*')); // oxfmt-ignore
  const isExact = ({ parameters, template }: FunctionDeclaration): boolean =>
    template.length === 0 &&
    parameters.length === given.length &&
    given.every(({ type }, at) => type !== undefined && plain(type) === plain(parameters[at]!.type));
  return candidates.filter(isExact);
}

/** Executes the body of a function. @returns null if it cannot be followed */
export function invokeFunction(
  declaration: FunctionDeclaration,
  given: readonly HostArgument[],
  state: State,
  frame: Frame,
  host: Interpreter,
  { template = [], self }: { readonly template?: readonly (string | undefined)[]; readonly self?: HostValue } = {},
): HostValue | null {
  const { body } = declaration;
  if (!body || frame.depth >= deepest || !host.step(5)) return null;
  const bound = bindTemplate(declaration, template, given, host);
  const scope: HostScope = { cells: new Map(), outer: null };
  const exits = { returns: [] as { state: State; value: HostValue }[], breaks: undefined, continues: undefined };
  const inner: Frame = { scope, function: declaration, template: bound, self, depth: frame.depth + 1, exits };
  bindParameters(declaration, given, state, inner, host);
  if (declaration.initialisers && self?.kind === 'place') {
    const { fields = [] } = host.declarations.records.get(declaration.record ?? '') ?? {};
    const placeOf = (item: SyntaxNode): number => fields.findIndex(({ name }) => name === fieldOf(item, host));
    // Initialisers are executed in the order of the fields, not in that of the list.
    for (const item of listItems(declaration.initialisers)
      .filter(({ type }) => type === 'field_initializer')
      .toSorted((a, b) => placeOf(a) - placeOf(b))) {
      const name = item.children.find(({ type }) => type === 'field_identifier');
      const list = item.children.find(({ type }) => /^(?:argument_list|initializer_list)$/.test(type));
      const [value] = list ? listItems(list) : [];
      if (placeOf(item) < 0) {
        // An initialiser that calls another constructor, or that of a base.
        if (list) exposeNamed(list, state, inner, host);
        host.opaque(state);
        continue;
      }
      if (!name || !value) continue;
      const field = sourceTextOf(host.declarations.text, name);
      const type = host.declarations.records.get(declaration.record ?? '')?.fields.find((one) => one.name === field)?.type ?? ''; // oxfmt-ignore
      const evaluated = converted(host.evaluate(value, state, inner), type, host.declarations.aliases);
      host.write({ kind: 'cell', cell: self.cell, path: [...self.path, field] }, evaluated, state);
    }
  }
  const isAlive = host.execute(body, state, inner);
  const type = typeText(declaration.returns, inner);
  const result = leave(state, isAlive, exits.returns, host);
  if (
    result &&
    !isFollowedType(resolvedType(type, host.declarations.aliases), host.declarations) &&
    !/[&*]\s*$/.test(type)
  ) {
    // The object is copied or created by code that is not followed.
    host.lose(result);
    return host.symbol(declaration.name, type);
  }
  return result && converted(result, type, host.declarations.aliases);
}

/** The name of the member that an item of a constructor's list initialises. */
function fieldOf(item: SyntaxNode, host: Interpreter): string | undefined {
  const name = item.children.find(({ type }) => type === 'field_identifier');
  return name && sourceTextOf(host.declarations.text, name);
}

/** Joins the states at the exits of a function. */
function leave(
  state: State,
  isAlive: boolean,
  returns: readonly { readonly state: State; readonly value: HostValue }[],
  host: Interpreter,
): HostValue | null {
  const ends = isAlive ? [...returns, { state: cloneState(state), value: host.symbol('nothing') }] : [...returns];
  const last = ends.pop();
  if (!last) return host.symbol('nothing');
  let { state: result, value } = last;
  const base = state.facts.length;
  for (const end of ends.reverse()) {
    const own = end.state.facts.slice(Math.min(base, end.state.facts.length));
    const shared = new Set(result.facts);
    const fact = own
      .filter((one) => !shared.has(one))
      .reduce<Fact>((all, one) => joinedFact('and', all, one), truth(true));
    const condition: Fact = fact.kind === 'truth' ? { kind: 'unknown', id: symbolOf(host.symbol('way out')).id } : fact;
    const merged = cloneState(result);
    mergeStates(merged, end.state, result, condition, host, (cell) => host.symbol(`cell ${cell}`, host.typeOfCell(cell))); // oxfmt-ignore
    const either = eitherValue(condition, end.value, value);
    if (!either) for (const one of [end.value, value]) host.lose(one);
    value = either ?? host.symbol('result');
    result = merged;
  }
  state.store = result.store;
  state.facts = result.facts;
  state.epoch = result.epoch;
  return value;
}

function bindParameters(
  { parameters }: Pick<FunctionDeclaration, 'parameters'>,
  given: readonly HostArgument[],
  state: State,
  inner: Frame,
  host: Interpreter,
): void {
  for (const [at, parameter] of parameters.entries()) {
    if (parameter.isPack) {
      bindPack(parameter.name, given.slice(at), state, inner, host);
      return;
    }
    const argument = given[at];
    if (parameter.isReference && argument?.place?.kind === 'cell' && argument.place.path.length === 0) {
      inner.scope.cells.set(parameter.name, argument.place.cell);
      continue;
    }
    // An array becomes a pointer to its first element, which is not followed.
    if (argument?.place?.kind === 'cell' && /\[\]$/.test(argument.type ?? '')) host.expose(argument.place.cell);
    const value = argument?.value ?? (parameter.value ? host.evaluate(parameter.value, state, inner) : host.symbol(parameter.name)); // oxfmt-ignore
    const type = typeText(parameter.type, inner);
    if (!parameter.isReference && !isCopied(type, argument?.type, value, host)) {
      host.lose(value);
      host.expose(host.declare(parameter.name, parameter.type, host.symbol(parameter.name, type), state, inner));
      continue;
    }
    host.declare(parameter.name, parameter.type, converted(value, type, host.declarations.aliases), state, inner);
    // A reference to a part of a record that the function may change.
    if (parameter.isReference && argument?.place && !/\bconst\b/.test(parameter.type)) {
      // The reference is not followed: from here on, the contents of that part are unknown.
      host.write(argument.place, host.symbol(parameter.name), state);
    }
  }
}

/** Whether a parameter of a type is a field-by-field copy of its argument. */
function isCopied(type: string, given: string | undefined, value: HostValue, host: Interpreter): boolean {
  const { declarations } = host;
  const known = resolvedType(type, declarations.aliases);
  if (!isFollowedType(known, declarations)) return false;
  if (value.kind !== 'record' || given === undefined || !implicitCodeOf(declarations).followed.has(recordNamed(known))) return true; // oxfmt-ignore
  return recordNamed(resolvedType(given, declarations.aliases)) === recordNamed(known);
}

/** Declares a separate variable for each argument of a pack. */
function bindPack(name: string, given: readonly HostArgument[], state: State, inner: Frame, host: Interpreter): void {
  const nodes = given.map(({ value, type }, at): SyntaxNode => {
    const cell = host.declare(`${name}#${at}`, type ?? '', value, state, inner);
    inner.scope.cells.set(`${name}#${at}`, cell);
    return { type: 'pack_element', field: `${name}#${at}`, start: 0, end: 0, line: 1, endLine: 1, children: [] };
  });
  const own = packs.get(inner.scope) ?? new Map<string, readonly SyntaxNode[]>();
  own.set(name, nodes);
  packs.set(inner.scope, own);
}

/** The parameters of a template, from explicit arguments and from the types of arguments. */
function bindTemplate(
  { template, parameters }: FunctionDeclaration,
  written: readonly (string | undefined)[],
  given: readonly HostArgument[],
  host: Interpreter,
): ReadonlyMap<string, string> {
  const bound = new Map<string, string>();
  const { aliases, text } = host.declarations;
  for (const [at, parameter] of template.entries()) {
    const argument = written[at];
    if (argument !== undefined) {
      bound.set(parameter.name, argument);
      continue;
    }
    if (at < written.length) continue;
    if (parameter.isType) {
      const deduced = parameters.flatMap(({ type }, index) => {
        const own = new RegExp(`^(?:const )?${parameter.name}\\b\\s*(?:const)?\\s*(\\**)$`).exec(type);
        const actual = given[index]?.type;
        if (!own || actual === undefined) return [];
        const plain = resolvedType(actual, aliases)
          .replace(/\[\]$/, '*')
          .replace(/\bconst\b/g, '')
          .trim();
        const stars = own[1] ?? '';
        return plain.endsWith(stars) && plain !== 'auto' ? [plain.slice(0, plain.length - stars.length).trim()] : [];
      });
      const [type] = deduced;
      if (type !== undefined && type !== '') bound.set(parameter.name, type);
      else if (parameter.value) bound.set(parameter.name, sourceTextOf(text, parameter.value));
    } else if (parameter.value) bound.set(parameter.name, sourceTextOf(text, parameter.value));
  }
  return bound;
}

/** A call of a lambda. */
export function callLambda(
  called: Extract<HostValue, { kind: 'lambda' }>,
  given: readonly HostArgument[],
  state: State,
  frame: Frame,
  host: Interpreter,
): HostValue {
  const { node, scope, frame: defined } = called;
  const declarator = childIn(node, 'declarator');
  const body = childIn(node, 'body');
  host.called(called);
  const outer = defined as Frame;
  if (!body || frame.depth >= deepest || !host.step(5)) return host.symbol('lambda');
  const parameters = parametersOf(host.declarations.text, declarator && childIn(declarator, 'parameters'));
  const exits = { returns: [] as { state: State; value: HostValue }[], breaks: undefined, continues: undefined };
  const inner: Frame = { ...outer, scope: { cells: new Map(), outer: scope }, depth: frame.depth + 1, exits };
  bindParameters({ parameters }, given, state, inner, host);
  const isAlive = host.execute(body, state, inner);
  return leave(state, isAlive, exits.returns, host) ?? host.symbol('lambda');
}

/** Methods without arguments that return the memory of their object; any other may return new memory each time. */
const accessor = /^(?:(?:mutable|const)_)?(?:data|data_ptr|c?begin|get|ptr|raw|buffer|device_ptr|device_pointer|size|length|numel|width|height|rows|cols)$/i; // oxfmt-ignore

function methodCall(
  callee: SyntaxNode,
  items: readonly SyntaxNode[],
  state: State,
  frame: Frame,
  host: Interpreter,
): HostValue {
  const { text, functions, aliases } = host.declarations;
  const object = childIn(callee, 'argument');
  const field = childIn(callee, 'field');
  if (!object || !field) return host.symbol('call');
  const name = sourceTextOf(text, field)
    .replace(/<[^]*$/, '')
    .trim();
  const type = resolvedType(typeOfExpression(object, state, frame, host) ?? '', aliases);
  const record = type
    .replace(/[*&\s]+$/, '')
    .replace(/<[^]*$/, '')
    .replace(/^.*::/, '');
  const candidates = (functions.get(name) ?? []).filter(
    (one) => one.body && one.record === record && fits(one, name, items.length),
  );
  const [only] = candidates;
  const place = host.place(object, state, frame);
  const isArrow = childIn(callee, 'operator')?.type === '->';
  const isVirtual = implicitCodeOf(host.declarations).virtualMethods.has(name);
  // A method that another type overrides may be meant.
  if ((functions.get(name) ?? []).some((one) => one.body && one.record !== record)) host.unfollowed(name);
  if (only && candidates.length === 1 && !isVirtual) {
    const given = items.map((item) => argumentOf(item, state, frame, host));
    const self: HostValue =
      !isArrow && place?.kind === 'cell' ? { kind: 'place', cell: place.cell, path: place.path } : host.evaluate(object, state, frame); // oxfmt-ignore
    const list = nodesWhere(field, (inner) => inner.type === 'template_argument_list')[0];
    const template = list ? templateArguments(list, state, frame, host) : [];
    const result = host.invoke(only, given, state, frame, { self, template });
    if (result) return result;
  }
  const isOfUnit = functions.has(name);
  if (isOfUnit) host.unfollowed(name);
  const held = host.evaluate(object, state, frame);
  const owner = symbolOf(held);
  // A method that returns the memory of an object lets others write it.
  if (place?.kind === 'cell' && held.kind === 'record' && !/^(?:size|length|numel|width|height|rows|cols)$/.test(name)) host.expose(place.cell); // oxfmt-ignore
  if (items.length === 0 && accessor.test(name) && !isOfUnit) {
    const id = `${owner.id}.${name}()${isArrow ? `@${state.epoch}` : ''}`;
    return { kind: 'symbol', symbol: { id, label: `${sourceTextOf(text, object)}.${name}()` } };
  }
  const given = items.map((item) => argumentOf(item, state, frame, host));
  forget(given, state, host);
  const isConstant = /^(?:c_str|empty|at|front|back|find|count|good|fail|open|close|push_back|emplace_back)$/.test(
    name,
  );
  if (!isConstant && place) host.write(place, host.symbol(sourceTextOf(text, object), type), state);
  if (isOfUnit || isVirtual) host.opaque(state);
  else host.disturb(state);
  return host.symbol(`${sourceTextOf(text, object)}.${name}()`);
}

/** A call of an unknown function: it may change objects whose address it is given. */
function unknownCall(
  path: string | undefined,
  given: readonly HostArgument[],
  node: SyntaxNode,
  state: State,
  host: Interpreter,
): HostValue {
  const label = sourceTextOf(host.declarations.text, node);
  const name = path?.replace(/^.*::/, '');
  const own = name === undefined ? [] : (host.declarations.functions.get(name) ?? []);
  if (path !== undefined && name !== undefined && own.length === 0 && isHarmless(path)) {
    // Outputs of the function are unknown: `cudaMemcpy(&n, …)`.
    forget(filledBy(name, given), state, host, true);
    return host.symbol(label);
  }
  const declared = path === undefined ? [] : own.filter((one) => fits(one, path, given.length));
  const byValue =
    declared.length > 0 && declared.every(({ parameters }) => !parameters.some(({ isReference }) => isReference));
  forget(given, state, host, byValue);
  // Code of the unit may change objects that are not passed to it here.
  if (path === undefined || own.some(({ body }) => body)) host.opaque(state);
  else host.disturb(state);
  return host.symbol(label, declared.length === 1 && declared[0]!.template.length === 0 ? declared[0]!.returns : undefined); // oxfmt-ignore
}

/** Makes unknown the arguments that are passed by address, or may be passed by reference. */
export function forget(given: readonly HostArgument[], state: State, host: Interpreter, byValue = false): void {
  for (const { value, place, type } of given) {
    if (value.kind === 'function') for (const one of [value, ...(value.others ?? [])]) host.unfollowed(one.name.replace(/^.*::/, '')); // oxfmt-ignore
    if (value.kind === 'record') host.lose(value);
    if (value.kind === 'lambda') {
      host.handed(value, state);
      const frame = value.frame as Frame;
      const written = host.silently(() => callLambda(value, [], cloneState(state), frame, host));
      for (const cell of written.keys()) {
        host.escape(cell);
        if (state.store.has(cell)) host.write({ kind: 'cell', cell, path: [] }, host.symbol('changed by a lambda', host.typeOfCell(cell)), state); // oxfmt-ignore
      }
    }
    if (value.kind === 'place') {
      host.escape(value.cell);
      const before = { kind: 'cell' as const, cell: value.cell, path: value.path };
      host.write(before, host.symbol('out-parameter', value.path.length === 0 ? host.typeOfCell(value.cell) : undefined), state); // oxfmt-ignore
    }
    const isArray = type !== undefined && /\[\]$/.test(type);
    if (place?.kind === 'cell' && (isArray || !byValue)) host.escape(place.cell);
    if ((isArray || !byValue) && place) host.write(place, host.symbol('argument by reference', type), state);
  }
}

/** The arguments that a function of CUDA or C may write through. */
function filledBy(name: string, given: readonly HostArgument[]): readonly HostArgument[] {
  if (/^(?:cudaMemcpy\w*ToSymbol\w*|v?f?printf|puts|putchar|assert|free|cudaFree\w*|cudaMemset\w*|strlen|ato[ilf]|min|max)$/.test(name)) return []; // oxfmt-ignore
  return /^(?:cudaMemcpy\w*|cuMemcpy\w*|mem(?:cpy|set|move))$/.test(name) ? given.slice(0, 1) : given;
}
