/**
 * Variables that other code may access: an expression takes their address, or binds a reference to them. Uses of the
 * kinds listed here keep a variable local to the code that names it; any other use does not.
 */
import { integerType, isFloatType } from '../syntax/basic-type.ts';
import { childIn, listItems, nodesWhere, stripParentheses, type SyntaxNode } from '../syntax/syntax-tree.ts';
import { type Declarations, type FunctionDeclaration, declaredName, sourceTextOf } from './declarations.ts';
import { isHarmless } from './library-function.ts';
import { hasConstructor, implicitCodeOf, isFollowedType, recordNamed } from './record-shape.ts';
import { resolvedType } from './resolved-type.ts';

/**
 * Use of an expression: its `value` is read; a `part` of its object is read or written; or it is a `place` that may be
 * retained.
 */
type Use = 'value' | 'part' | 'place';

/** Functions of libraries that retain an address which they are given, or pass it on. */
const keeping = /Async$|^(?:addressof|cudaHostRegister|cudaLaunchHostFunc|cudaStreamAddCallback|cudaGraph(?!ics)\w*|cuGraph(?!ics)\w*|cudaUserObject\w*)$/; // oxfmt-ignore

/** Methods of libraries that copy their arguments. */
const copying = /^(?:push_back|resize|reserve|assign|at|width|precision|setw|substr|find|count|fill)$/;

const statements =
  /^(?:compound_statement|expression_statement|if_statement|else_clause|for_statement|while_statement|do_statement|switch_statement|case_statement|labeled_statement|try_statement|catch_clause|condition_clause|declaration|init_statement|attributed_statement|throw_statement|break_statement|continue_statement|goto_statement|function_definition|template_declaration|namespace_definition|declaration_list|linkage_specification|translation_unit|field_declaration_list|struct_specifier|class_specifier|union_specifier|field_declaration|preproc_\w+|field_initializer_list|argument_list|enum_specifier|enumerator_list|enumerator|static_assert_declaration)$/; // oxfmt-ignore

/** Cache of searches by the part of the unit that they visited; null for a search in progress. */
const known = new WeakMap<SyntaxNode, Search | null>();

/** Names of variables, in a part of a unit, that other code may access. */
export function reachableNames(within: SyntaxNode, declarations: Declarations): ReadonlySet<string> {
  return searched(within, declarations)?.names ?? new Set();
}

/** Names of variables, in a part of a unit, that other code may access, even if only during a call. */
export function lentNames(within: SyntaxNode, declarations: Declarations): ReadonlySet<string> {
  const search = searched(within, declarations);
  return new Set([...(search?.names ?? []), ...(search?.lent ?? [])]);
}

function searched(within: SyntaxNode, declarations: Declarations): Search | null {
  let search = known.get(within);
  if (search === undefined) {
    known.set(within, null);
    known.set(within, (search = new Search(declarations, within)));
  }
  return search;
}

class Search {
  readonly names = new Set<string>();
  /**
   * Names of variables whose address is passed for the duration of a call, or to a stream: they may be written
   * meanwhile.
   */
  readonly lent = new Set<string>();
  /** Names whose value is copied: copies of pointers point to the same memory. */
  readonly copied = new Set<string>();
  readonly #declarations: Declarations;
  readonly #text: string;
  readonly #arrays: ReadonlySet<string>;
  readonly #operators: ReadonlySet<string>;
  /** Names of which every declaration is that of a number: operators on these variables run no code of the unit. */
  readonly #numbers: ReadonlySet<string>;
  #returnsReference = false;

  constructor(declarations: Declarations, within: SyntaxNode) {
    this.#declarations = declarations;
    this.#text = declarations.text;
    this.#operators = implicitCodeOf(declarations).operators;
    const arrays = nodesWhere(within, ({ type }) => type === 'array_declarator');
    this.#arrays = new Set(arrays.flatMap((node) => declaredName(this.#text, node) ?? []));
    this.#numbers = numbersIn(within, declarations);
    this.#visit(within, 'value');
  }

  #visit(node: SyntaxNode, use: Use): void {
    const in_ = (field: string, how: Use): void => {
      for (const child of node.children) if (child.field === field) this.#visit(child, how);
    };
    const all = (how: Use): void => node.children.forEach((child) => this.#visit(child, how));
    const overloaded = (operator: string | undefined, how: Use): Use => operator !== undefined && this.#operators.has(operator) && !this.#isOfNumbers(node) ? 'place' : how; // oxfmt-ignore
    const operator = childIn(node, 'operator')?.type;
    switch (node.type) {
      case 'identifier':
      case 'type_identifier': {
        const name = this.#text.slice(node.start, node.end);
        if (use === 'place' || (use === 'value' && this.#arrays.has(name))) this.names.add(name);
        if (use !== 'part') this.copied.add(name);
        return;
      }
      case 'qualified_identifier':
        in_('name', use);
        return;
      case 'parenthesized_expression':
        all(use);
        return;
      case 'comma_expression':
        in_('left', 'value');
        in_('right', use);
        return;
      case 'conditional_expression':
        in_('condition', 'value');
        in_('consequence', use);
        in_('alternative', use);
        return;
      case 'binary_expression': {
        // `std::cin >> n` writes `n`; the address of an operand of a comparison is not retained.
        if (operator === '>>') for (const child of node.children) if (child.type === 'identifier') this.lent.add(sourceTextOf(this.#text, child)); // oxfmt-ignore
        const how: Use = /^(?:>>|[<>]=?|[!=]=|&&|\|\|)$/.test(operator ?? '') ? 'part' : 'value';
        in_('left', overloaded(operator, how));
        in_('right', overloaded(operator, how));
        return;
      }
      case 'unary_expression':
        in_('argument', overloaded(operator, operator === '!' ? 'part' : 'value'));
        return;
      case 'update_expression':
        in_('argument', overloaded(operator, use === 'place' ? 'place' : 'part'));
        return;
      case 'assignment_expression':
        in_('left', overloaded(operator, use === 'place' ? 'place' : 'part'));
        in_('right', overloaded(operator, 'value'));
        return;
      case 'subscript_expression':
        in_('argument', overloaded('[]', use === 'place' ? 'place' : 'part'));
        in_('indices', overloaded('[]', 'value'));
        return;
      case 'subscript_argument_list':
        all(use);
        return;
      case 'field_expression':
        if (operator === '.') in_('argument', use === 'place' ? 'place' : 'part');
        else if (operator === '->') in_('argument', overloaded('->', use === 'place' ? 'value' : 'part'));
        else all('place');
        return;
      case 'pointer_expression':
        in_('argument', operator === '&' ? 'place' : overloaded('*', use === 'place' ? 'value' : 'part'));
        return;
      case 'cast_expression': {
        const type = childIn(node, 'type');
        in_('value', type && sourceTextOf(this.#text, type).includes('&') ? 'place' : 'value');
        return;
      }
      case 'sizeof_expression':
      case 'alignof_expression':
      case 'decltype':
      case 'template_argument_list':
      case 'template_parameter_list':
      case 'parameter_list':
      case 'comment':
        return;
      case 'call_expression':
        this.#visitCall(node, use);
        return;
      case 'lambda_expression':
        this.#visitLambda(node);
        return;
      case 'compound_literal_expression':
      case 'new_expression': {
        const type = childIn(node, 'type');
        in_('placement', 'place');
        for (const field of ['arguments', 'value', 'declarator']) in_(field, this.#keeps(type ? sourceTextOf(this.#text, type) : '') ? 'place' : 'value'); // oxfmt-ignore
        return;
      }
      case 'new_declarator':
        all('value');
        return;
      case 'initializer_list':
      case 'initializer_pair':
      case 'argument_list':
        all(use);
        return;
      case 'delete_expression':
        all('value');
        return;
      case 'return_statement':
        all(this.#returnsReference ? 'place' : 'value');
        return;
      case 'for_range_loop': {
        const declarator = childIn(node, 'declarator');
        in_('right', declarator?.type === 'reference_declarator' ? 'place' : 'part');
        in_('initializer', 'value');
        in_('body', 'value');
        return;
      }
      case 'declaration':
        this.#visitDeclaration(node);
        return;
      case 'function_definition': {
        const declarator = childIn(node, 'declarator');
        const before = this.#returnsReference;
        this.#returnsReference = declarator?.type === 'reference_declarator';
        for (const child of node.children) if (child.field !== 'declarator' && child.field !== 'type') this.#visit(child, 'value'); // oxfmt-ignore
        this.#returnsReference = before;
        return;
      }
      case 'field_initializer_list':
        // Members may be bound to the arguments of a constructor.
        for (const item of listItems(node)) for (const child of item.children) if (/_list$/.test(child.type)) this.#visit(child, 'place'); // oxfmt-ignore
        return;
    }
    if (node.children.length === 0) return;
    if (statements.test(node.type)) all('value');
    else this.#addAll(node);
  }

  /** Whether an expression consists of numbers, without a call. */
  #isOfNumbers(node: SyntaxNode): boolean {
    switch (node.type) {
      case 'identifier':
        return this.#numbers.has(this.#text.slice(node.start, node.end));
      case 'number_literal':
      case 'char_literal':
      case 'true':
      case 'false':
        return true;
      case 'parenthesized_expression':
      case 'binary_expression':
      case 'unary_expression':
      case 'update_expression':
      case 'assignment_expression':
        return node.children.every((child) => !/\w/.test(child.type) || this.#isOfNumbers(child));
      default:
        return false;
    }
  }

  #addAll(node: SyntaxNode): void {
    for (const inner of nodesWhere(node, ({ type }) => /^(?:type_)?identifier$/.test(type))) this.names.add(sourceTextOf(this.#text, inner)); // oxfmt-ignore
  }

  #lend(node: SyntaxNode): void {
    for (const inner of nodesWhere(node, ({ type }) => type === 'identifier'))
      this.lent.add(sourceTextOf(this.#text, inner));
  }

  /** Whether an object of a type may retain references to its initialisers. */
  #keeps(type: string): boolean {
    const resolved = resolvedType(type, this.#declarations.aliases);
    if (integerType(resolved) || isFloatType(resolved) || /[*\]]\s*(?:const)?\s*$|^(?:void|dim3|auto)$/.test(resolved)) return false; // oxfmt-ignore
    return /&/.test(resolved) || !isFollowedType(resolved, this.#declarations) || hasConstructor(resolved, this.#declarations); // oxfmt-ignore
  }

  #visitDeclaration(node: SyntaxNode): void {
    const type = childIn(node, 'type');
    if (type && childIn(type, 'body')) this.#visit(type, 'value');
    const written = type ? sourceTextOf(this.#text, type) : '';
    for (const declarator of node.children) {
      if (declarator.field !== 'declarator') continue;
      const isArray = nodesWhere(declarator, (inner) => inner.type === 'array_declarator').length > 0;
      const isPointer = nodesWhere(declarator, (inner) => inner.type === 'pointer_declarator').length > 0;
      const use: Use = !isPointer && this.#keeps(written) ? 'place' : 'value';
      if (declarator.type === 'function_declarator') {
        if (use === 'place') this.#addAll(childIn(declarator, 'parameters') ?? declarator);
        continue;
      }
      const value = childIn(declarator, 'value');
      const head = childIn(declarator, 'declarator');
      const isBound = head !== undefined && /^(?:reference|structured_binding)_declarator$/.test(head.type);
      if (value) this.#visit(value, isBound ? 'place' : isArray && value.type === 'initializer_list' ? 'value' : use);
      if (isArray) for (const size of nodesWhere(declarator, (inner) => inner.type === 'array_declarator')) for (const child of size.children) if (child.field === 'size') this.#visit(child, 'value'); // oxfmt-ignore
    }
  }

  #visitLambda(node: SyntaxNode): void {
    const own = new Set(nodesWhere(node, ({ type }) => /declarator$|^parameter_declaration$/.test(type)).flatMap((inner) => declaredName(this.#text, inner) ?? [])); // oxfmt-ignore
    const captures = childIn(node, 'captures');
    if (captures) this.#addAll(captures);
    const body = childIn(node, 'body');
    if (!body) return;
    for (const inner of nodesWhere(body, ({ type }) => type === 'identifier')) {
      const name = sourceTextOf(this.#text, inner);
      if (!own.has(name)) this.names.add(name);
    }
    const before = this.#returnsReference;
    this.#returnsReference = /->[^{]*(?:&|\bauto\b)/.test(this.#text.slice(node.start, body.start));
    this.#visit(body, 'value');
    this.#returnsReference = before;
  }

  #visitCall(node: SyntaxNode, use: Use): void {
    const callee = childIn(node, 'function');
    const list = childIn(node, 'arguments');
    const items = list ? listItems(list) : [];
    const visitAll = (how: (at: number) => Use): void => items.forEach((item, at) => this.#visit(item, how(at)));
    const launch = node.children.find(({ type }) => type === 'kernel_call_syntax');
    if (launch) {
      for (const item of listItems(launch)) this.#visit(item, 'value');
      visitAll(() => 'value');
      return;
    }
    if (!callee) return this.#addAll(node);
    const written = sourceTextOf(this.#text, callee).replace(/\s*::\s*/g, '::').replace(/^::/, ''); // oxfmt-ignore
    const plain = written.replace(/<[^]*$/, '');
    const name = plain.replace(/^.*(?:::|->|\.)/, '');
    if (callee.type === 'field_expression') {
      const object = childIn(callee, 'argument');
      const isArrow = childIn(callee, 'operator')?.type === '->';
      if (object) this.#visit(object, isArrow && !this.#operators.has('->') ? 'value' : 'place');
    } else if (!/^(?:identifier|qualified_identifier|template_function|primitive_type)$/.test(callee.type))
      this.#visit(callee, 'place');
    if (/_cast$/.test(plain)) return visitAll(() => (/&\s*>$/.test(written) ? 'place' : 'value'));
    if (name === 'move' || name === 'forward') return visitAll(() => use);
    const { functions, records } = this.#declarations;
    const isType = callee.type === 'primitive_type' || integerType(plain) !== undefined || isFloatType(plain) || plain === 'dim3'; // oxfmt-ignore
    if (isType || (records.has(name) && !this.#keeps(name))) return visitAll(() => 'value');
    const own = (functions.get(name) ?? []).filter(
      ({ record }) => record === undefined || recordNamed(name) !== record,
    );
    const isOfLibrary = own.length === 0 && !functions.has(name) && !records.has(name);
    if (isOfLibrary && callee.type === 'field_expression')
      return visitAll(() => (copying.test(name) ? 'value' : 'place'));
    if (isOfLibrary && isHarmless(plain) && !keeping.test(name)) {
      for (const item of items) {
        if (/^(?:swap|exchange)$/.test(name)) this.#lend(item);
        // An argument whose address is passed for the duration of the call.
        let lent = stripParentheses(item);
        while (lent.type === 'cast_expression') lent = stripParentheses(childIn(lent, 'value') ?? lent.children[0]!);
        const isAddress = lent.type === 'pointer_expression' && childIn(lent, 'operator')?.type === '&';
        this.#visit(isAddress ? (childIn(lent, 'argument') ?? lent) : item, 'part');
      }
      return;
    }
    items.forEach((item, at) => {
      const inner = stripParentheses(item);
      const isAddress = inner.type === 'pointer_expression' && childIn(inner, 'operator')?.type === '&';
      const isComplete = own.length > 0 && own.length === functions.get(name)?.length;
      if (!own.every(({ parameters }) => parameters[at]?.isReference === false)) this.#lend(inner);
      const takes = isComplete ? own.map((one) => this.#taking(one, at)) : ['place' as const];
      if (takes.every((one) => one === 'value' || (one === 'lent' && !isAddress)))
        this.#visit(item, takes.includes('lent') ? 'part' : 'value'); // oxfmt-ignore
      else if (isAddress && takes.every((one) => one === 'pointed'))
        this.#visit(childIn(inner, 'argument') ?? inner, 'part');
      else this.#visit(item, takes.every((one) => one === 'value' || one === 'pointed') ? 'value' : 'place');
    });
  }

  /**
   * Use of an argument by a function: it reads its `value`; the object that it names or points to is `lent` during the
   * call; or it may be retained.
   */
  #taking({ parameters, body, node }: FunctionDeclaration, at: number): 'value' | 'lent' | 'pointed' | 'place' {
    const parameter = parameters[at];
    if (!parameter || parameter.isPack || this.#keeps(parameter.type)) return 'place';
    const search = body ? searched(node, this.#declarations) : null;
    if (parameter.isReference) return search?.names.has(parameter.name) === false ? 'lent' : 'place';
    const isPointer = /^[^*]*\*\s*(?:const)?$/.test(parameter.type);
    return isPointer && search?.copied.has(parameter.name) === false ? 'pointed' : 'value';
  }
}

/**
 * Names that are declared in a part of a unit, each time as a number, and nowhere else in the unit as anything else.
 */
function numbersIn(within: SyntaxNode, { text, aliases, variables, records }: Declarations): ReadonlySet<string> {
  const numbers = new Set<string>();
  const others = new Set<string>();
  for (const node of nodesWhere(within, ({ type }) => /declaration$|^for_range_loop$/.test(type))) {
    const type = childIn(node, 'type');
    const known = type && resolvedType(sourceTextOf(text, type), aliases);
    const isNumber = known !== undefined && (integerType(known) !== undefined || isFloatType(known));
    for (const declarator of node.children.filter(({ field }) => field === 'declarator')) {
      const own = declarator.type === 'init_declarator' ? childIn(declarator, 'declarator') : declarator;
      if (isNumber && own?.type === 'identifier') numbers.add(sourceTextOf(text, own));
      else for (const inner of nodesWhere(declarator, ({ type: kind }) => kind === 'identifier')) others.add(sourceTextOf(text, inner)); // oxfmt-ignore
    }
  }
  const fields = new Set([...records.values()].flatMap((record) => record.fields.map(({ name }) => name)));
  return new Set([...numbers].filter((name) => !others.has(name) && !variables.has(name) && !fields.has(name)));
}
