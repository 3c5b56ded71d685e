import { normalizeSpace } from '../syntax/outline.ts';
import { childIn, childOf, listItems, nodesWhere, pathTo, stripParentheses } from '../syntax/syntax-tree.ts';
import type { SyntaxNode } from '../syntax/syntax-tree.ts';
import type { CudaSource } from '../syntax/syntax.ts';

export type AccessOperation = 'read' | 'write' | 'atomic';

/** An access in the source text. */
interface Access {
  readonly operation: AccessOperation;
  readonly node: SyntaxNode;
  /** Identifiers that name the accessed object: `p`, `out` and `p.out` of `p.out[i]`. */
  readonly names: readonly string[];
}

/** Longer texts are not shown whole. */
const maximumText = 80;
const builtinVariables = new Set(['threadIdx', 'blockIdx', 'blockDim', 'gridDim']);
/** Functions that read through their first argument. */
const loads = /^__ld(?:g|cg|ca|cs|lu|cv)$/;
const stores = /^__st(?:wb|cg|cs|wt)$/;
const asynchronousCopies = /^(?:__pipeline_memcpy_async|memcpy_async)$/;

/**
 * The source text of an access, found by the line of its debug information: the compiler names the line on which the
 * expression starts, and columns that are too coarse to distinguish accesses.
 * @param location - in this source
 * @param array - name of the array accessed, if known
 * @param ordinal - it is the n-th access (from 0, in order of evaluation) of this kind on this array on this line
 * @param count - accesses found on the line: the ordinal is used only if the text has the same number
 * @returns on one line; undefined if the access is ambiguous in the text
 */
export function accessText(
  source: CudaSource,
  location: { readonly line: number; readonly column?: number },
  operation: AccessOperation,
  array?: string,
  ordinal?: number,
  count?: number,
): string | undefined {
  const { line } = location;
  const definition = source.functions.find(({ firstLine, lastLine }) => firstLine <= line && line <= lastLine);
  if (!definition) return undefined;
  const body = pathTo(source.tree(), definition.bodyStart, definition.end).at(-1) ?? source.tree();
  const shared = sharedVariables(source, body);
  const accesses: Access[] = [];
  collect(source.text, body, shared, (access) => accesses.push(access));
  const onLine = accesses.filter((access) => access.operation === operation && access.node.line === line);
  let candidates = onLine;
  if (array !== undefined) {
    candidates = onLine.filter(({ names }) => names.includes(array));
    if (candidates.length === 0) {
      // The array may be accessed through a pointer of another name, but not through the name of another array.
      const others = new Set([...shared.arrays, ...shared.scalars]);
      if (definition.kind === 'kernel') for (const { name } of definition.parameters) others.add(name ?? '');
      candidates = onLine.filter(({ names }) => !names.some((name) => others.has(name)));
      ordinal = undefined;
    }
  }
  const texts = candidates.map(({ node }) => normalizeSpace(source.text.slice(node.start, node.end)));
  const chosen = texts.every((text) => text === texts[0])
    ? texts[0]
    : ordinal === undefined || (count ?? texts.length) !== texts.length
      ? undefined
      : texts[ordinal];
  return chosen !== undefined && chosen.length > maximumText ? `${chosen.slice(0, maximumText - 1)}…` : chosen;
}

interface SharedVariables {
  readonly arrays: ReadonlySet<string>;
  /** Variables that are not arrays: a use of the bare name is an access. */
  readonly scalars: ReadonlySet<string>;
}

const memoryQualifiers = /^(?:__shared__|__device__|__managed__)$/;

/** Variables in shared and global memory that the body or the file declares. */
function sharedVariables(source: CudaSource, body: SyntaxNode): SharedVariables {
  const arrays = new Set<string>();
  const scalars = new Set<string>();
  const declarations = [
    ...nodesWhere(body, ({ type }) => type === 'declaration'),
    ...source.tree().children.filter(({ type }) => type === 'declaration'),
  ];
  for (const declaration of declarations) {
    const qualifiers = declaration.children.flatMap((child) => [child, ...child.children]);
    if (!qualifiers.some(({ type }) => memoryQualifiers.test(type))) continue;
    for (const child of declaration.children) {
      if (child.field !== 'declarator') continue;
      const isArray = nodesWhere(child, ({ type }) => type === 'array_declarator').length > 0;
      const name = nodesWhere(child, ({ type }) => type === 'identifier')[0];
      if (name) (isArray ? arrays : scalars).add(source.text.slice(name.start, name.end));
    }
  }
  return { arrays, scalars };
}

/** Reports the accesses under a node in order of evaluation. */
function collect(text: string, root: SyntaxNode, shared: SharedVariables, report: (access: Access) => void): void {
  const slice = (node: SyntaxNode): string => text.slice(node.start, node.end);

  const isAccess = (node: SyntaxNode): boolean => {
    switch (node.type) {
      case 'subscript_expression':
        return true;
      case 'pointer_expression':
        return childIn(node, 'operator')?.type === '*';
      case 'field_expression': {
        const argument = childIn(node, 'argument');
        return childIn(node, 'operator')?.type === '->' || (argument !== undefined && isAccess(stripParentheses(argument)));
      }
      case 'identifier':
        return shared.scalars.has(slice(node));
      default:
        return false;
    }
  };
  /** `x.f` with x in memory, not `x->f`. */
  const isMember = (node: SyntaxNode): boolean =>
    node.type === 'field_expression' && childIn(node, 'operator')?.type === '.' && isAccess(node);
  /** Identifiers in the base of the access, without those in its indices. */
  const namesOf = (node: SyntaxNode): string[] => {
    switch (node.type) {
      case 'identifier':
        return [slice(node)];
      case 'field_expression': {
        const argument = childIn(node, 'argument');
        const field = childIn(node, 'field');
        const own = normalizeSpace(slice(node)).replaceAll('->', '.');
        return [...(argument ? namesOf(argument) : []), ...(field ? [slice(field), own] : [])];
      }
      case 'subscript_expression':
      case 'cast_expression':
      case 'pointer_expression': {
        const inner = childIn(node, node.type === 'cast_expression' ? 'value' : 'argument');
        return inner ? namesOf(inner) : [];
      }
      case 'parenthesized_expression':
        return listItems(node).flatMap(namesOf);
      case 'binary_expression':
        return ['left', 'right'].flatMap((side) => namesOf(childIn(node, side) ?? node.children[0] ?? node));
      case 'call_expression': {
        // A cast in the form of a call: reinterpret_cast<float4*>(p)[i].
        const list = childIn(node, 'arguments');
        return childIn(node, 'function')?.type === 'template_function' && list ? listItems(list).flatMap(namesOf) : [];
      }
      default:
        return [];
    }
  };

  /** Visits the operands of an access, which are read before the access itself. */
  const visitOperands = (node: SyntaxNode): void => {
    const argument = childIn(node, 'argument');
    if (node.type === 'subscript_expression') {
      // In a[i][j] and t.a[i], the expression before the last index denotes an array and is not an access.
      const base = argument && stripParentheses(argument);
      if (base) (base.type === 'subscript_expression' || isMember(base) ? visitOperands : visit)(base);
      const indices = childIn(node, 'indices');
      if (indices) visit(indices);
    } else if (node.type === 'field_expression') {
      if (argument) (isMember(node) ? visitOperands : visit)(stripParentheses(argument));
    } else if (argument) visit(argument);
  };
  const access = (node: SyntaxNode, ...operations: readonly AccessOperation[]): void => {
    visitOperands(node);
    for (const operation of operations) report({ operation, node, names: namesOf(node) });
  };
  const target = (node: SyntaxNode, ...operations: readonly AccessOperation[]): void => {
    const place = stripParentheses(node);
    if (isAccess(place)) access(place, ...operations);
    else visit(place);
  };
  /** The pointee of a pointer argument: `&x` is x, another expression p represents *p. */
  const pointee = (node: SyntaxNode | undefined, operation: AccessOperation, shown: SyntaxNode | undefined = node): void => {
    if (!node) return;
    const place = stripParentheses(node);
    const inner = place.type === 'pointer_expression' && childIn(place, 'operator')?.type === '&' ? childIn(place, 'argument') : undefined;
    const named = inner ?? place;
    if (inner && isAccess(inner)) visitOperands(inner);
    else visit(named);
    report({ operation, node: shown ?? named, names: namesOf(named) });
  };

  const visit = (node: SyntaxNode): void => {
    switch (node.type) {
      case 'assignment_expression': {
        const left = childIn(node, 'left');
        const right = childIn(node, 'right');
        if (right) visit(right);
        const isCompound = childIn(node, 'operator')?.type !== '=';
        if (left) target(left, ...(isCompound ? (['read', 'write'] as const) : (['write'] as const)));
        return;
      }
      case 'update_expression': {
        const argument = childIn(node, 'argument');
        if (argument) target(argument, 'read', 'write');
        return;
      }
      case 'pointer_expression':
        if (childIn(node, 'operator')?.type === '&') {
          const argument = childIn(node, 'argument');
          if (argument && isAccess(stripParentheses(argument))) visitOperands(stripParentheses(argument));
          else if (argument) visit(argument);
          return;
        }
        break;
      case 'init_declarator': {
        const value = childIn(node, 'value');
        if (value) visit(value);
        return;
      }
      case 'for_statement':
        for (const part of ['initializer', 'condition', 'body', 'update']) {
          const child = childIn(node, part);
          if (child) visit(child);
        }
        return;
      case 'sizeof_expression':
      case 'alignof_expression':
      case 'decltype':
      case 'array_declarator':
      case 'comment':
        return;
      case 'call_expression': {
        const list = childIn(node, 'arguments');
        const callee = childIn(node, 'function');
        const name = callee ? (/(\w+)\s*(?:<[^>]*>)?$/.exec(slice(callee))?.[1] ?? '') : '';
        const items = list ? listItems(list) : [];
        const operation = name.startsWith('atomic') ? 'atomic' : loads.test(name) ? 'read' : stores.test(name) ? 'write' : undefined;
        if (operation !== undefined) {
          for (const item of items.slice(1)) visit(item);
          pointee(items[0], operation, operation === 'atomic' ? node : undefined);
        } else if (asynchronousCopies.test(name)) {
          pointee(items[1], 'read');
          pointee(items[0], 'write');
        } else {
          if (callee && callee.type !== 'identifier') visit(callee);
          for (const item of items) visit(item);
        }
        return;
      }
    }
    if (isAccess(node)) {
      const argument = childIn(node, 'argument');
      if (!argument || !builtinVariables.has(slice(argument))) access(node, 'read');
      return;
    }
    for (const child of node.children) visit(child);
  };
  visit(childOf(root, 'compound_statement') ?? root);
}
