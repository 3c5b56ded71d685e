import {
  type Extents,
  type ConstantValue,
  NotConstant,
  numberOf,
  wholeNumber,
  truthOf,
  extentsOf,
  singleValue,
  convertTo,
  applyBinary,
  shorten,
} from './constant-value.ts';
import { basicTypeOf, integerType, sizeOfType } from '../syntax/basic-type.ts';
import { childIn, childOf, listItems, nodesWhere, pathTo, stripParentheses } from '../syntax/syntax-tree.ts';
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import type { CudaParser, CudaSource, MacroDefinition } from '../syntax/syntax.ts';

/** A node and the text that its offsets refer to. */
interface Fragment {
  readonly node: SyntaxNode;
  readonly text: string;
}

/** Where an expression stands. */
export interface EvaluationScope {
  readonly source: CudaSource;
  /** The nodes around it, from the root inwards; empty where only the file's constants are in scope. */
  readonly path: readonly SyntaxNode[];
  readonly offset: number;
  /** Parameters of the function being evaluated. */
  readonly bindings?: ReadonlyMap<string, ConstantValue>;
}

/** A variable as declared. */
interface Variable {
  readonly type: string;
  /** Missing where it has no initialiser. */
  readonly value: SyntaxNode | undefined;
  readonly declaration: SyntaxNode;
  readonly scope: EvaluationScope;
  readonly isConstant: boolean;
}

export interface Evaluator {
  /** @throws NotConstant */
  readonly evaluate: (fragment: Fragment, scope: EvaluationScope) => ConstantValue;
  /** The local variable of a name that is in scope and never changes; undefined where there is none of that name. */
  readonly local: (name: string, scope: EvaluationScope) => Variable | undefined;
}

const maximumDepth = 40;
/** Functions that take their arguments by value whatever they are called with. */
const harmless =
  /^(?:cuda\w*|cu[A-Z]\w*|printf|fprintf|snprintf|malloc|calloc|free|memset|memcpy|min|max|ceil\w*|floor\w*|sqrt\w*|log\w*|pow\w*|abs|assert|dim3|make_\w+|static_cast|reinterpret_cast|int|float|double|size_t|to_string)$/;

/**
 * Evaluates the integer constants of host code: literals, macros, `const` and `constexpr`, enumerators, locals that
 * are assigned once, `dim3`, arithmetic, `sizeof`, `min`, `max`, `ceil`, and functions of a single `return`.
 * @param sources - whose constants can be in scope: the source itself and the headers that it includes
 */
export function createEvaluator(parser: CudaParser, sources: readonly CudaSource[]): Evaluator {
  let depth = 0;
  const around = (source: CudaSource): readonly CudaSource[] => [...new Set([source, ...sources])];
  const parsed = new Map<CudaSource, SyntaxNode>();
  /** Headers may have been read without the parser; their trees are made when something is looked up in them. */
  const treeOf = (source: CudaSource): SyntaxNode => {
    let tree = parsed.get(source) ?? source.tree();
    if (tree.children.length === 0) tree = parser.parse(source.text, source.file).tree();
    parsed.set(source, tree);
    return tree;
  };

  const slice = ({ node, text }: Fragment): string => text.slice(node.start, node.end);

  const evaluate = (fragment: Fragment, scope: EvaluationScope): ConstantValue => {
    if (depth >= maximumDepth) throw new NotConstant('is defined too deeply');
    depth++;
    try {
      return valueOf(fragment, scope);
    } finally {
      depth--;
    }
  };

  const valueOf = (fragment: Fragment, scope: EvaluationScope): ConstantValue => {
    const { node, text } = fragment;
    const at = (inner: SyntaxNode | undefined): ConstantValue => {
      if (!inner) throw new NotConstant(`is not understood: ${shorten(slice(fragment))}`);
      return evaluate({ node: inner, text }, scope);
    };
    switch (node.type) {
      case 'number_literal':
        return numberOf(slice(fragment));
      case 'true':
      case 'false':
        return node.type === 'true';
      case 'parenthesized_expression':
        return at(listItems(node)[0]);
      case 'identifier':
      case 'type_identifier':
        return named(slice(fragment), scope);
      case 'qualified_identifier':
        return named(slice(fragment).replace(/^.*::\s*/s, ''), { ...scope, path: [] });
      case 'unary_expression': {
        const operand = at(childIn(node, 'argument'));
        switch (childIn(node, 'operator')?.type ?? '') {
          case '-':
            return typeof operand === 'number' ? -operand : -wholeNumber(operand);
          case '+':
            return operand;
          case '!':
            return !truthOf(operand);
          case '~':
            return ~wholeNumber(operand);
        }
        break;
      }
      case 'binary_expression':
        return applyBinary(
          childIn(node, 'operator')?.type ?? '',
          () => at(childIn(node, 'left')),
          () => at(childIn(node, 'right')),
        );
      case 'conditional_expression':
        return at(childIn(node, truthOf(at(childIn(node, 'condition'))) ? 'consequence' : 'alternative'));
      case 'cast_expression':
        return convertTo(at(childIn(node, 'value')), slice({ node: childIn(node, 'type') ?? node, text }));
      case 'sizeof_expression': {
        const operand = childIn(node, 'type') ?? stripParentheses(childIn(node, 'value') ?? node);
        const type = slice({ node: operand, text });
        const size = sizeOfType(type);
        if (size === undefined) throw new NotConstant(`has sizeof(${shorten(type)}), which is not known here`);
        return BigInt(size);
      }
      case 'field_expression': {
        const object = at(childIn(node, 'argument'));
        const axis = ['x', 'y', 'z'].indexOf(slice({ node: childIn(node, 'field') ?? node, text }));
        if (Array.isArray(object) && axis >= 0) return BigInt((object as Extents)[axis] ?? 1);
        break;
      }
      case 'compound_literal_expression': {
        const type = slice({ node: childIn(node, 'type') ?? node, text });
        const list = childIn(node, 'value');
        // `{16, 16}` alone reads as a literal without a type.
        if (/^(?:dim3)?$/.test(basicTypeOf(type)) && list) return extentsOf(listItems(list).map(at));
        const single = list && listItems(list).length === 1 ? listItems(list)[0] : undefined;
        if (single) return convertTo(at(single), type);
        break;
      }
      case 'initializer_list':
        return extentsOf(listItems(node).map(at));
      case 'call_expression':
        return call(fragment, scope, at);
    }
    throw new NotConstant(`is not a constant that can be read here: ${shorten(slice(fragment))}`);
  };

  const call = (
    fragment: Fragment,
    scope: EvaluationScope,
    at: (node: SyntaxNode | undefined) => ConstantValue,
  ): ConstantValue => {
    const { node, text } = fragment;
    const callee = childIn(node, 'function');
    const list = childIn(node, 'arguments');
    if (!callee || !list) throw new NotConstant(`is not understood: ${shorten(slice(fragment))}`);
    const items = listItems(list);
    const written = slice({ node: callee, text });
    const cast = /^(?:static_cast|const_cast)\s*<([^]*)>$/.exec(written)?.[1];
    if (cast !== undefined) return convertTo(at(items[0]), cast);
    const name = written.replace(/<[^]*>\s*$/, '').replace(/^.*::\s*/s, '');
    if (name === 'dim3') return extentsOf(items.map(at));
    if (integerType(written) && items.length === 1) return convertTo(at(items[0]), written);
    const macro = macroNamed(name, scope.source);
    if (macro?.parameters)
      return evaluate(
        expand(
          macro,
          items.map((item) => slice({ node: item, text })),
        ),
        scope,
      );
    const values = items.map(at);
    switch (name) {
      case 'min':
      case 'max': {
        const [first, second] = values.map(wholeNumber);
        if (first === undefined || second === undefined || values.length !== 2) break;
        return (name === 'min') === first < second ? first : second;
      }
      case 'ceil':
      case 'ceilf':
      case 'floor':
      case 'floorf': {
        const value = Number(values[0]);
        // Beyond this a float does not hold every whole number.
        if (Math.abs(value) > 2 ** 24) throw new NotConstant('is rounded as a float');
        return name.startsWith('ceil') ? Math.ceil(value) : Math.floor(value);
      }
    }
    return inlined(name, values, scope);
  };

  /** The value of a call of a function whose body is one `return`. */
  const inlined = (name: string, values: readonly ConstantValue[], scope: EvaluationScope): ConstantValue => {
    const found = around(scope.source).flatMap((source) =>
      source.functions.filter((definition) => definition.name === name).map((definition) => ({ source, definition })),
    );
    const [only] = found;
    if (!only || found.length > 1) throw new NotConstant(`calls ${name}(), which is not known here`);
    const { source, definition } = only;
    const body = pathTo(treeOf(source), definition.bodyStart, definition.end).at(-1);
    const statements = body?.type === 'compound_statement' ? listItems(body) : [];
    const result = statements[0]?.type === 'return_statement' ? statements[0].children[1] : undefined;
    if (!result || statements.length !== 1 || values.length !== definition.parameters.length) {
      throw new NotConstant(`calls ${name}(), which is more than one return`);
    }
    const bindings = new Map(
      definition.parameters.map(({ name: parameter = '', type }, index): [string, ConstantValue] => [
        parameter,
        convertTo(values[index] ?? 0n, type),
      ]),
    );
    return evaluate({ node: result, text: source.text }, { source, path: [], offset: result.start, bindings });
  };

  const named = (name: string, scope: EvaluationScope): ConstantValue => {
    const bound = scope.bindings?.get(name);
    if (bound !== undefined) return bound;
    const macro = macroNamed(name, scope.source);
    if (macro) return evaluate(expand(macro, []), { ...scope, path: scope.path });
    const variable = local(name, scope);
    if (variable) return variableValue(name, variable);
    return global(name, scope);
  };

  const variableValue = (name: string, variable: Variable): ConstantValue => {
    const { type, value, scope } = variable;
    const { text } = scope.source;
    if (basicTypeOf(type) === 'dim3') return dim3Value(name, variable);
    if (!value) throw new NotConstant(`${name} has no value where it is declared`);
    const initial =
      value.type === 'argument_list' || value.type === 'initializer_list'
        ? singleValue(listItems(value).map((node) => evaluate({ node, text }, scope)))
        : evaluate({ node: value, text }, scope);
    return /\bauto\b/.test(type) ? initial : convertTo(initial, type);
  };

  /** `dim3 b(16, 16);`, or `dim3 b; b.x = 16;` with each component set once, right in the block of the declaration. */
  const dim3Value = (name: string, { value, declaration, scope }: Variable): ConstantValue => {
    const { text } = scope.source;
    const evaluateAt = (node: SyntaxNode): ConstantValue => evaluate({ node, text }, scope);
    let initial: Extents = [1, 1, 1];
    if (value?.type === 'argument_list' || value?.type === 'initializer_list')
      initial = extentsOf(listItems(value).map(evaluateAt));
    else if (value?.type === 'parameter_list') {
      // `dim3 b(n);` reads as the declaration of a function.
      initial = extentsOf(
        listItems(value).map((parameter) => {
          const type = childIn(parameter, 'type');
          if (!type || childIn(parameter, 'declarator')) throw new NotConstant(`${name} is not understood`);
          return evaluateAt(type);
        }),
      );
    } else if (value) {
      const result = evaluateAt(value);
      initial = Array.isArray(result) ? (result as Extents) : extentsOf([result]);
    }
    const block = scope.path.findLast((node) => node.children.includes(declaration));
    const changed = [...initial] as [number, number, number];
    const fieldWrites = nodesWhere(scope.path[0] ?? declaration, (node) => {
      const left = node.type === 'assignment_expression' ? childIn(node, 'left') : undefined;
      const object = left?.type === 'field_expression' ? childIn(left, 'argument') : undefined;
      return object !== undefined && text.slice(object.start, object.end) === name && inFunction(node, scope);
    });
    for (const write of fieldWrites) {
      const isDirect = block?.children.some(
        (statement) => statement.type === 'expression_statement' && statement.children[0] === write,
      );
      const left = childIn(write, 'left');
      const field = left && childIn(left, 'field');
      const right = childIn(write, 'right');
      const axis = field ? ['x', 'y', 'z'].indexOf(text.slice(field.start, field.end)) : -1;
      const isSimple = childIn(write, 'operator')?.type === '=';
      const isRepeated = fieldWrites.some((other) => other !== write && sameField(other, write, text));
      if (!isDirect || !right || axis < 0 || !isSimple || isRepeated || write.end > scope.offset) {
        throw new NotConstant(`${name} changes after its declaration`);
      }
      changed[axis] = Number(wholeNumber(evaluate({ node: right, text }, { ...scope, offset: write.start })));
    }
    return changed;
  };

  const local = (name: string, scope: EvaluationScope): Variable | undefined => {
    const { source, path } = scope;
    const { text } = source;
    for (let level = path.length - 1; level >= 0; level--) {
      const node = path[level];
      if (!node || !/^(?:compound_statement|for_statement|for_range_loop|if_statement|function_definition|lambda_expression|case_statement|while_statement|condition_clause)$/.test(node.type)) continue; // prettier-ignore
      if (node.type === 'function_definition' || node.type === 'lambda_expression') {
        requireNoParameter(name, node, source);
        if (node.type === 'function_definition') break;
        continue;
      }
      if (node.type === 'for_range_loop' && declaredNames(childIn(node, 'declarator') ?? node, text).includes(name)) {
        throw new NotConstant(`${name} changes with each iteration`);
      }
      const condition = childOf(node, 'condition_clause');
      const found = declarationsIn([...node.children, ...(condition?.children ?? [])])
        .filter((declaration) => declaration.start < scope.offset)
        .flatMap((declaration) => variableIn(declaration, name, { ...scope, path: path.slice(0, level + 1) }) ?? []);
      const [variable] = found;
      if (!variable) continue;
      if (found.length > 1) throw new NotConstant(`${name} has several definitions`);
      if (!variable.isConstant) requireUnchanged(name, variable, scope);
      return variable;
    }
    return undefined;
  };

  /** @throws NotConstant where a function, its template or a lambda has a parameter or capture of this name */
  const requireNoParameter = (name: string, node: SyntaxNode, source: CudaSource): void => {
    const { text } = source;
    const parameters = nodesWhere(childIn(node, 'declarator') ?? node, ({ type }) =>
      /parameter_declaration$/.test(type),
    );
    const definition = source.functions.find(({ start, end }) => start <= node.start && node.end <= end);
    const isTemplateParameter = definition?.templateParameters.some((parameter) => parameter.name === name);
    if (isTemplateParameter || parameters.some((parameter) => declaredNames(parameter, text).includes(name))) {
      throw new NotConstant(`${name} is a parameter of the function around the launch`);
    }
    const captures = childIn(node, 'captures');
    if (captures && new RegExp(`\\b${name}\\s*=`).test(text.slice(captures.start, captures.end))) {
      throw new NotConstant(`${name} is a capture of a lambda`);
    }
  };

  const variableIn = (declaration: SyntaxNode, name: string, scope: EvaluationScope): Variable | undefined => {
    const { text } = scope.source;
    const type = declaration.children
      .filter(
        ({ field, type: kind }) => field === 'type' || kind === 'type_qualifier' || kind === 'storage_class_specifier',
      )
      .map((node) => text.slice(node.start, node.end))
      .join(' ');
    for (const child of declaration.children) {
      if (child.field !== 'declarator') continue;
      const initialized = child.type === 'init_declarator';
      const declarator = initialized ? childIn(child, 'declarator') : child;
      if (!declarator || !declaredNames(declarator, text).includes(name)) continue;
      if (declarator.type === 'structured_binding_declarator') throw new NotConstant(`${name} is part of a binding`);
      const isFunction = declarator.type === 'function_declarator';
      if (declarator.type === 'reference_declarator' && !/\bconst\b/.test(type)) {
        throw new NotConstant(`${name} is a reference`);
      }
      const stars =
        declarator.type === 'pointer_declarator' ? ' *' : declarator.type === 'array_declarator' ? ' []' : '';
      const value =
        declaration.type === 'field_declaration'
          ? childIn(declaration, 'default_value')
          : initialized
            ? childIn(child, 'value')
            : isFunction
              ? childIn(declarator, 'parameters')
              : undefined;
      const isConstant = /\bconst(?:expr)?\b/.test(type) && stars === '';
      return { type: type + stars, value, declaration, scope, isConstant };
    }
    return undefined;
  };

  /** @throws NotConstant unless nothing in the function can change the variable */
  const requireUnchanged = (name: string, variable: Variable, scope: EvaluationScope): void => {
    const { text } = scope.source;
    const root = functionAround(scope) ?? scope.path[0];
    if (!root) return;
    const isName = (node: SyntaxNode | undefined): boolean =>
      node?.type === 'identifier' && text.slice(node.start, node.end) === name;
    const isDim3 = basicTypeOf(variable.type) === 'dim3';
    const visit = (node: SyntaxNode, parent: SyntaxNode | undefined): void => {
      const changed = (how: string): never => {
        throw new NotConstant(`${name} ${how}`);
      };
      if (node.type === 'assignment_expression' || node.type === 'update_expression') {
        const target = stripParentheses(childIn(node, 'left') ?? childIn(node, 'argument') ?? node);
        if (isName(target)) changed('changes after its declaration');
        // Components of a dim3 are followed where its value is made.
        if (!isDim3 && target.type === 'field_expression' && isName(childIn(target, 'argument'))) changed('changes after its declaration'); // prettier-ignore
      } else if (node.type === 'pointer_expression' && childIn(node, 'operator')?.type === '&') {
        if (isName(childIn(node, 'argument')) && parent?.type !== 'initializer_list') changed('has its address taken');
      } else if (node.type === 'binary_expression' && childIn(node, 'operator')?.type === '>>') {
        if (isName(childIn(node, 'right')) && /(?:cin|in|stream|is)\b/.test(leftmost(node, text)))
          changed('is read from a stream');
      } else if (node.type === 'init_declarator' && childIn(node, 'declarator')?.type === 'reference_declarator') {
        if (isName(childIn(node, 'value'))) changed('is bound to a reference');
      } else if (node.type === 'call_expression' && !childOf(node, 'kernel_call_syntax')) {
        const list = childIn(node, 'arguments');
        const callee = childIn(node, 'function');
        const position = list ? listItems(list).findIndex(isName) : -1;
        if (callee && position >= 0 && mayChange(text.slice(callee.start, callee.end), position, scope.source)) {
          changed(`may be changed by ${shorten(text.slice(callee.start, callee.end))}()`);
        }
      }
      const isTransparent = node.type === 'cast_expression' || node.type === 'parenthesized_expression';
      for (const child of node.children) visit(child, isTransparent ? parent : node);
    };
    visit(root, undefined);
  };

  /** Whether a function may take its argument by reference. */
  const mayChange = (callee: string, position: number, source: CudaSource): boolean => {
    const name = callee.replace(/<[^]*>\s*$/, '').replace(/^.*(?:::|\.|->)\s*/s, '');
    if (harmless.test(name)) return false;
    const macros = around(source).flatMap((each) => each.macros.filter((macro) => macro.name === name));
    if (macros.length > 0) return macros.some(({ value }) => /(?<![=<>!])=(?!=)|\+\+|--|(?<!&)&(?!&)/.test(value));
    const definitions = around(source).flatMap(({ functions }) =>
      functions.filter((definition) => definition.name === name),
    );
    if (definitions.length === 0) return true;
    return definitions.some(({ parameters }) => {
      const type = parameters[position]?.type ?? '&';
      return type.includes('&') && !/\bconst\b/.test(type);
    });
  };

  const macroNamed = (name: string, source: CudaSource): MacroDefinition | undefined => {
    const found = around(source).flatMap(({ macros }) => macros.filter((macro) => macro.name === name));
    const [first] = found;
    if (found.some(({ value }) => value !== first?.value)) throw new NotConstant(`${name} has several definitions`);
    return first;
  };

  const expand = ({ name, parameters = [], value }: MacroDefinition, given: readonly string[]): Fragment => {
    if (parameters.length > 0 && parameters.length !== given.length) throw new NotConstant(`${name} is not understood`);
    const substituted = value.replace(/[A-Za-z_]\w*/g, (word) => {
      const index = parameters.indexOf(word);
      return index === -1 ? word : `(${given[index] ?? ''})`;
    });
    const text = `int value = (${substituted});`;
    const declaration = parser.parse(text).tree().children[0];
    const declarator = declaration && childIn(declaration, 'declarator');
    const node = declarator && childIn(declarator, 'value');
    if (!node || declaration.end < text.length) throw new NotConstant(`${name} is not a constant`);
    return { node, text };
  };

  /** A constant of a file, namespace or class, or an enumerator. */
  const global = (name: string, scope: EvaluationScope): ConstantValue => {
    const word = new RegExp(`\\b${name.replace(/\W/g, '')}\\b`);
    for (const source of around(scope.source)) {
      if (!word.test(source.text)) continue;
      const outer: EvaluationScope = { source, path: [], offset: source.text.length };
      const values: ConstantValue[] = [];
      for (const { node, kind } of globalsOf(treeOf(source))) {
        if (kind === 'enumerators') {
          const value = enumerator(node, name, outer);
          if (value !== undefined) values.push(value);
        } else {
          const variable = variableIn(node, name, outer);
          if (!variable) continue;
          if (!variable.isConstant) throw new NotConstant(`${name} is a variable of the file`);
          values.push(variableValue(name, variable));
        }
      }
      const [first] = values;
      if (values.some((value) => String(value) !== String(first)))
        throw new NotConstant(`${name} has several definitions`);
      if (first !== undefined) return first;
    }
    throw new NotConstant(`${name} is not known here`);
  };

  const enumerator = (list: SyntaxNode, name: string, scope: EvaluationScope): bigint | undefined => {
    const { text } = scope.source;
    let next = 0n;
    for (const item of listItems(list)) {
      if (item.type !== 'enumerator') continue;
      const own = childIn(item, 'name');
      const value = childIn(item, 'value');
      if (value && own && text.slice(own.start, own.end) !== name) {
        // Only what the values after it start from.
        try {
          next = wholeNumber(evaluate({ node: value, text }, scope)) + 1n;
        } catch (error) {
          if (!(error instanceof NotConstant)) throw error;
          return undefined;
        }
        continue;
      }
      if (own && text.slice(own.start, own.end) === name)
        return value ? wholeNumber(evaluate({ node: value, text }, scope)) : next;
      next++;
    }
    return undefined;
  };

  return { evaluate, local };
}

const containers =
  /^(?:translation_unit|namespace_definition|declaration_list|linkage_specification|preproc_\w+|struct_specifier|class_specifier|field_declaration_list|template_declaration|declaration|ERROR)$/;

/** Declarations and lists of enumerators outside functions. */
function globalsOf(root: SyntaxNode): { node: SyntaxNode; kind: 'declaration' | 'enumerators' }[] {
  const found: { node: SyntaxNode; kind: 'declaration' | 'enumerators' }[] = [];
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'enumerator_list') found.push({ node, kind: 'enumerators' });
    else if (node.type === 'declaration' || node.type === 'field_declaration')
      found.push({ node, kind: 'declaration' });
    if (node.type === 'enum_specifier' || containers.test(node.type)) node.children.forEach(visit);
  };
  visit(root);
  return found;
}

/** The declarations among the statements of a block, those in preprocessor conditionals included. */
function declarationsIn(statements: readonly SyntaxNode[]): SyntaxNode[] {
  return statements.flatMap((statement) =>
    statement.type === 'declaration'
      ? [statement]
      : statement.type.startsWith('preproc_')
        ? declarationsIn(statement.children)
        : [],
  );
}

function functionAround({ path }: EvaluationScope): SyntaxNode | undefined {
  return path.find(({ type }) => type === 'function_definition');
}

function inFunction(node: SyntaxNode, scope: EvaluationScope): boolean {
  const around = functionAround(scope);
  return !around || (around.start <= node.start && node.end <= around.end);
}

function sameField(a: SyntaxNode, b: SyntaxNode, text: string): boolean {
  const [left, right] = [a, b].map((node) => childIn(node, 'left'));
  return (
    left !== undefined && right !== undefined && text.slice(left.start, left.end) === text.slice(right.start, right.end)
  );
}

/** The names that a declarator or parameter declares, and no name in its initialiser or sizes. */
function declaredNames(node: SyntaxNode, text: string): string[] {
  if (node.type === 'identifier' || node.type === 'field_identifier') return [text.slice(node.start, node.end)];
  if (node.type === 'init_declarator' || /parameter_declaration$/.test(node.type) || /declarator$/.test(node.type)) {
    return node.children
      .filter(({ field, type }) => field === 'declarator' || (field === null && /declarator$|identifier$/.test(type)))
      .flatMap((child) => declaredNames(child, text));
  }
  return [];
}

function leftmost(node: SyntaxNode, text: string): string {
  let left = node;
  for (let next = childIn(left, 'left'); next; next = childIn(left, 'left')) left = next;
  return text.slice(left.start, left.end);
}
