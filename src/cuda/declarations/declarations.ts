/** Declarations of a translation unit: functions, variables, records, enumerators, names of types. */
import { childIn, childOf, listItems, nodesWhere, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { normalizeSpace } from '../syntax/outline.ts';

interface HostParameter {
  readonly name: string;
  /** Type as written, without the name and `&`. */
  readonly type: string;
  /** Whether it is a reference through which the function may change the argument. */
  readonly isReference: boolean;
  readonly isPack: boolean;
  readonly value: SyntaxNode | undefined;
}

interface TemplateParameter {
  readonly name: string;
  readonly isType: boolean;
  readonly value: SyntaxNode | undefined;
}

export interface FunctionDeclaration {
  readonly name: string;
  /** Namespaces and records around it. */
  readonly path: readonly string[];
  readonly parameters: readonly HostParameter[];
  readonly template: readonly TemplateParameter[];
  readonly isKernel: boolean;
  readonly isDevice: boolean;
  /** Whether it has internal linkage: `static`, or in an anonymous namespace. */
  readonly isInternal: boolean;
  /** The record that it is a member of. */
  readonly record: string | undefined;
  readonly returns: string;
  /** Absent in a declaration without a body. */
  readonly body: SyntaxNode | undefined;
  /** `n_(n)` of a constructor. */
  readonly initialisers: SyntaxNode | undefined;
  readonly node: SyntaxNode;
}

export interface HostVariable {
  readonly name: string;
  readonly path: readonly string[];
  readonly type: string;
  readonly value: SyntaxNode | undefined;
  /** Elements of an array, if specified. */
  readonly size: SyntaxNode | undefined;
  readonly isConstant: boolean;
  readonly isInternal: boolean;
}

interface RecordDeclaration {
  readonly name: string;
  readonly isUnion: boolean;
  /** Whether the record has a base, whose members are members of the record too. */
  readonly hasBase: boolean;
  /**
   * Whether an object consists only of the fields, aligned only by their types: no union, bit-field, base, virtual
   * function, attribute or unnamed field. False if another record has the name, too.
   */
  readonly isPlain: boolean;
  /** Names of the parameters of its template. */
  readonly template: readonly string[];
  /** Fields in their order. */
  readonly fields: readonly { readonly name: string; readonly type: string; readonly value: SyntaxNode | undefined }[];
}

export interface Declarations {
  readonly text: string;
  readonly root: SyntaxNode;
  /** Whether the unit has `using` directives, so that names of other namespaces may be written unqualified. */
  readonly hasUsing: boolean;
  /** Functions by the last part of their name. */
  readonly functions: ReadonlyMap<string, readonly FunctionDeclaration[]>;
  readonly variables: ReadonlyMap<string, readonly HostVariable[]>;
  readonly records: ReadonlyMap<string, RecordDeclaration>;
  /** Enumerators by name; null if several have the name. */
  readonly enumerators: ReadonlyMap<string, { readonly value: SyntaxNode | undefined; readonly before: string | undefined } | null>; // oxfmt-ignore
  /** Aliases: types by other names. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Names of variables that some statement assigns to, or whose address it takes. */
  readonly assigned: ReadonlySet<string>;
}

/** The text of a node on one line. */
export function sourceTextOf(text: string, node: SyntaxNode): string {
  return normalizeSpace(text.slice(node.start, node.end));
}

/** Reads the declarations of a unit. */
export function readDeclarations(text: string, root: SyntaxNode): Declarations {
  const functions = new Map<string, FunctionDeclaration[]>();
  const variables = new Map<string, HostVariable[]>();
  const records = new Map<string, RecordDeclaration>();
  const enumerators = new Map<string, { value: SyntaxNode | undefined; before: string | undefined } | null>();
  const aliases = new Map<string, string>();
  const several = typesOfOneName(text, root);
  const add = <Entry>(map: Map<string, Entry[]>, name: string, entry: Entry): void => {
    const list = map.get(name);
    if (list) list.push(entry);
    else map.set(name, [entry]);
  };

  const enumeratorsOf = (node: SyntaxNode): void => {
    let before: string | undefined;
    for (const item of childIn(node, 'body')?.children ?? []) {
      if (item.type !== 'enumerator') continue;
      const name = sourceTextOf(text, childIn(item, 'name') ?? item);
      // A name of several enumerators is not resolved.
      enumerators.set(name, enumerators.has(name) ? null : { value: childIn(item, 'value'), before });
      before = name;
    }
  };
  const recordOf = (
    node: SyntaxNode,
    name: string,
    path: readonly string[],
    isInternal: boolean,
    template: readonly string[],
  ): void => {
    const body = childIn(node, 'body');
    if (!body) return;
    const fields: { name: string; type: string; value: SyntaxNode | undefined }[] = [];
    for (const member of body.children) {
      if (member.type === 'field_declaration') {
        const inner = childIn(member, 'type');
        if (inner) typeOf(inner, [...path, name], isInternal);
        const type = inner ? sourceTextOf(text, inner) : '';
        for (const [at, child] of member.children.entries()) {
          if (child.field !== 'declarator') continue;
          const called = declaredName(text, child);
          const value = member.children.slice(at + 1, at + 3).find(({ field }) => field === 'default_value');
          const words = member.children.map((word) => sourceTextOf(text, word));
          if (called !== undefined && words.includes('static') && child.type !== 'function_declarator') {
            const isConstant = words.some((word) => /^const(?:expr)?$/.test(word));
            const own = { name: called, path: [...path, name], type: type + suffixOf(child), value, size: sizeIn(child), isConstant, isInternal: true }; // oxfmt-ignore
            add(variables, called, own);
            continue;
          }
          if (called && !functionDeclarator(child)) fields.push({ name: called, type: type + suffixOf(child), value });
          else if (called) declared(member, child, [...path, name], [], isInternal, name);
        }
      } else visit(member, [...path, name], isInternal, name);
    }
    const hasBase = childOf(node, 'base_class_clause') !== undefined;
    const isPlain = !several.has(name) && !records.has(name) && template.length === 0 && hasPlainLayout(text, node, body); // oxfmt-ignore
    records.set(name, { name, fields, isUnion: node.type === 'union_specifier', hasBase, isPlain, template });
  };
  /** Declarations within a type definition: a record or an enumeration. */
  const typeOf = (
    node: SyntaxNode,
    path: readonly string[],
    isInternal: boolean,
    called?: string,
    template: readonly string[] = [],
  ): void => {
    const own = childIn(node, 'name');
    const name = own ? sourceTextOf(text, own) : called;
    if (node.type === 'enum_specifier') enumeratorsOf(node);
    else if (/^(?:struct|class|union)_specifier$/.test(node.type) && name !== undefined)
      recordOf(node, name, path, isInternal, template);
  };
  const declared = (
    node: SyntaxNode,
    declarator: SyntaxNode,
    path: readonly string[],
    template: readonly TemplateParameter[],
    isInternal: boolean,
    record: string | undefined,
  ): void => {
    const head = functionDeclarator(declarator);
    const called = head && childIn(head, 'declarator');
    if (!head || !called) return;
    const written = sourceTextOf(text, called)
      .replace(/\s/g, '')
      .replace(/<[^]*$/, '');
    const parts = written.split('::').filter((part) => part !== '');
    const name = parts.pop();
    if (name === undefined) return;
    const words = node.children.filter(({ field, type }) => field === null || /qualifier|specifier/.test(type));
    const has = (word: string): boolean => words.some((child) => sourceTextOf(text, child) === word);
    const owner = parts.at(-1);
    add(functions, name, {
      name,
      path: [...path, ...parts],
      parameters: parametersOf(text, childIn(head, 'parameters')),
      template,
      isKernel: has('__global__'),
      isDevice: has('__device__'),
      isInternal: isInternal || (has('static') && record === undefined),
      record: record ?? (owner !== undefined && records.has(owner) ? owner : undefined),
      returns: sourceTextOf(text, childIn(node, 'type') ?? head).slice(0, childIn(node, 'type') ? undefined : 0) + suffixOf(declarator), // oxfmt-ignore
      body: childIn(node, 'body'),
      initialisers: childOf(node, 'field_initializer_list'),
      node,
    });
  };
  const visit = (
    node: SyntaxNode,
    path: readonly string[],
    isInternal: boolean,
    record: string | undefined,
    template: readonly TemplateParameter[] = [],
  ): void => {
    switch (node.type) {
      case 'namespace_definition': {
        const name = childIn(node, 'name');
        const parts = name ? sourceTextOf(text, name).split('::') : [];
        const body = childIn(node, 'body');
        for (const child of body?.children ?? []) visit(child, [...path, ...parts.map((part) => part.trim())], isInternal || !name, record); // oxfmt-ignore
        return;
      }
      case 'template_declaration': {
        const parameters = templateParameters(text, childIn(node, 'parameters'));
        for (const child of node.children) if (child.field !== 'parameters') visit(child, path, isInternal, record, parameters); // oxfmt-ignore
        return;
      }
      case 'function_definition': {
        const declarator = childIn(node, 'declarator');
        if (declarator) declared(node, declarator, path, template, isInternal, record);
        return;
      }
      case 'struct_specifier':
      case 'class_specifier':
      case 'union_specifier':
      case 'enum_specifier':
        typeOf(
          node,
          path,
          isInternal,
          undefined,
          template.map(({ name }) => name),
        );
        return;
      case 'type_definition': {
        const type = childIn(node, 'type');
        const name = childIn(node, 'declarator');
        if (type && name) {
          const called = declaredName(text, name) ?? sourceTextOf(text, name);
          typeOf(type, path, isInternal, called);
          const own = childIn(type, 'name');
          aliases.set(called, (childIn(type, 'body') ? (own ? sourceTextOf(text, own) : called) : sourceTextOf(text, type)) + suffixOf(name)); // oxfmt-ignore
        }
        return;
      }
      case 'alias_declaration': {
        const [name, type] = [childIn(node, 'name'), childIn(node, 'type')];
        if (name && type) aliases.set(sourceTextOf(text, name), sourceTextOf(text, type));
        return;
      }
      case 'declaration': {
        const type = childIn(node, 'type');
        if (type) typeOf(type, path, isInternal);
        const words = node.children.filter(({ field }) => field === null).map((child) => sourceTextOf(text, child));
        for (const declarator of node.children.filter(({ field }) => field === 'declarator')) {
          if (functionDeclarator(declarator) && declarator.type !== 'init_declarator') {
            declared(node, declarator, path, template, isInternal, record);
            continue;
          }
          const name = declaredName(text, declarator);
          if (name === undefined || !type) continue;
          add(variables, name, {
            name,
            path,
            type: sourceTextOf(text, type) + suffixOf(declarator),
            value: declarator.type === 'init_declarator' ? childIn(declarator, 'value') : undefined,
            size: sizeIn(declarator),
            isConstant: words.some((word) => /^const(?:expr|init)?$/.test(word)) && !/\*/.test(suffixOf(declarator)),
            isInternal: isInternal || words.some((word) => /^(?:static|const|constexpr)$/.test(word)),
          });
        }
        return;
      }
      case 'linkage_specification':
      case 'declaration_list':
      case 'translation_unit':
      case 'ERROR':
      case 'preproc_if':
      case 'preproc_ifdef':
      case 'preproc_else':
        for (const child of node.children) visit(child, path, isInternal, record, template);
    }
  };
  visit(root, [], false, undefined);
  for (const name of several) aliases.delete(name);
  const hasUsing = /\busing\s/.test(text);
  return {
    text,
    root,
    hasUsing,
    functions,
    variables,
    records,
    enumerators,
    aliases,
    assigned: assignedNames(text, root),
  };
}

/** Names that denote several types: of records or aliases in different scopes, also within functions. */
function typesOfOneName(text: string, root: SyntaxNode): ReadonlySet<string> {
  const known = new Map<string, string>();
  const several = new Set<string>();
  const add = (name: string, what: string): void => {
    if ((known.get(name) ?? what) !== what) several.add(name);
    known.set(name, what);
  };
  const declares = /^(?:struct_specifier|class_specifier|union_specifier|alias_declaration|type_definition)$/;
  for (const node of nodesWhere(root, ({ type }) => declares.test(type))) {
    const [type, name, body] = [childIn(node, 'type'), childIn(node, 'name'), childIn(node, 'body')];
    if (node.type === 'alias_declaration') {
      if (name && type) add(`alias ${sourceTextOf(text, name)}`, sourceTextOf(text, type));
    } else if (node.type === 'type_definition') {
      for (const one of node.children.filter(({ field }) => field === 'declarator'))
        if (type)
          add(`alias ${declaredName(text, one) ?? sourceTextOf(text, one)}`, sourceTextOf(text, type) + suffixOf(one));
    } else if (name && body) add(`record ${sourceTextOf(text, name)}`, String(node.start));
  }
  return new Set([...several].map((name) => name.replace(/^\w+ /, '')));
}

/** Whether a record consists only of its fields, aligned only by their types. */
function hasPlainLayout(text: string, node: SyntaxNode, body: SyntaxNode): boolean {
  if (!/^(?:struct|class)\s*\w*\s*$/.test(text.slice(node.start, body.start))) return false;
  if (/\b(?:virtual|alignas|union|__align__|__attribute__|_Alignas)\b|\[\[/.test(sourceTextOf(text, body)))
    return false;
  const after = /^\s*([^;]*)/.exec(text.slice(body.end, body.end + 200))?.[1] ?? '';
  if (/\b(?:alignas|__align__|__attribute__)\b/.test(after)) return false;
  return body.children.every((member) => {
    if (member.type !== 'field_declaration') return !/^(?:ERROR|preproc)/.test(member.type);
    const isNamed = member.children.some(({ field }) => field === 'declarator');
    return isNamed && nodesWhere(member, ({ type }) => type === 'bitfield_clause' || type === 'ERROR').length === 0;
  });
}

function assignedNames(text: string, root: SyntaxNode): Set<string> {
  const names = new Set<string>();
  const add = (node: SyntaxNode | undefined): void => {
    let place = node;
    while (place && place.type !== 'identifier') {
      place = place.type === 'qualified_identifier' ? childIn(place, 'name') : (childIn(place, 'argument') ?? listItems(place)[0]); // oxfmt-ignore
    }
    if (place) names.add(text.slice(place.start, place.end));
  };
  for (const node of nodesWhere(root, ({ type }) => /^(?:assignment|update|pointer)_expression$/.test(type))) {
    if (node.type === 'assignment_expression') add(childIn(node, 'left'));
    else if (node.type === 'update_expression' || childIn(node, 'operator')?.type === '&')
      add(childIn(node, 'argument'));
  }
  return names;
}

/** The name that a declarator declares. */
export function declaredName(text: string, declarator: SyntaxNode): string | undefined {
  let node: SyntaxNode | undefined = declarator;
  while (node && !/^(?:field_|type_)?identifier$/.test(node.type)) {
    node =
      childIn(node, 'declarator') ?? node.children.find(({ type }) => /(?:^|_)(?:declarator|identifier)$/.test(type));
  }
  return node && text.slice(node.start, node.end);
}

/** `*` and `[]` of a declarator, as the end of the type. */
export function suffixOf(declarator: SyntaxNode): string {
  let suffix = '';
  let node: SyntaxNode | undefined = declarator;
  while (node) {
    if (/pointer_declarator$/.test(node.type)) suffix += '*';
    if (/array_declarator$/.test(node.type)) suffix += '[]';
    node = childIn(node, 'declarator') ?? node.children.find(({ type }) => /_declarator$/.test(type));
  }
  return suffix;
}

/** The number of elements that a declarator of an array states. */
export function sizeIn(declarator: SyntaxNode): SyntaxNode | undefined {
  const [array] = nodesWhere(declarator, ({ type }) => type === 'array_declarator');
  return array && childIn(array, 'size');
}

/** The declarator of a function within another one; undefined if it declares a variable. */
function functionDeclarator(declarator: SyntaxNode): SyntaxNode | undefined {
  let node: SyntaxNode | undefined = declarator;
  while (node && node.type !== 'function_declarator') {
    if (/^(?:init|parenthesized|array)_declarator$/.test(node.type)) return undefined;
    node = childIn(node, 'declarator') ?? node.children.find(({ type }) => /_declarator$/.test(type));
  }
  const inner = node && childIn(node, 'declarator');
  // A pointer to a function is a variable.
  return inner?.type === 'parenthesized_declarator' ? undefined : node;
}

/** The parameters of a function or lambda. */
export function parametersOf(text: string, list: SyntaxNode | undefined): HostParameter[] {
  const parameters: HostParameter[] = [];
  for (const node of list ? listItems(list) : []) {
    if (!/parameter_declaration$/.test(node.type)) continue;
    const type = childIn(node, 'type');
    const declarator = childIn(node, 'declarator');
    const written = type ? sourceTextOf(text, type) : '';
    if (written === 'void' && !declarator) continue;
    const isConstant = node.children.some(
      (child) => child.type === 'type_qualifier' && sourceTextOf(text, child) === 'const',
    );
    parameters.push({
      name: (declarator && declaredName(text, declarator)) ?? '',
      type: written + (declarator ? suffixOf(declarator) : ''),
      isReference: !isConstant && declarator !== undefined && nodesWhere(declarator, (inner) => inner.type === '&' || inner.type === '&&').length > 0, // oxfmt-ignore
      isPack: /variadic/.test(node.type) || (declarator !== undefined && isVariadic(declarator)),
      value: childIn(node, 'default_value'),
    });
  }
  return parameters;
}

/** Whether a declarator is that of a pack; the packs in the parameters of a function that it points to do not count. */
function isVariadic(declarator: SyntaxNode): boolean {
  if (declarator.type === 'variadic_declarator') return true;
  if (!/^(?:pointer|reference)_declarator$/.test(declarator.type)) return false;
  return declarator.children.some(isVariadic);
}

function templateParameters(text: string, list: SyntaxNode | undefined): TemplateParameter[] {
  return (list ? listItems(list) : []).map((node) => {
    const isType = /type_parameter/.test(node.type);
    const name = childIn(node, 'name') ?? childIn(node, 'declarator') ?? childOf(node, 'type_identifier');
    return {
      name: name ? (declaredName(text, name) ?? sourceTextOf(text, name)) : '',
      isType,
      value: childIn(node, 'default_type') ?? childIn(node, 'default_value'),
    };
  });
}
