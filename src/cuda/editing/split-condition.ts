/**
 * Splits a conditional statement, so that a barrier can be placed outside of it between two of its statements: `if (c)
 * { a; b; }` becomes `if (c) { a; }`, the barrier, `if (c) { b; }`. Variables that are declared in the first part and
 * used in the second move out; a condition that the first part may change is saved in a variable.
 */
import { elementType, freeName } from '../syntax/element-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import { chainedStore, splitParts, splittable } from './split-statement.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, childOf, listItems, nodesWhere } from '../syntax/syntax-tree.ts';

/** A variable that a piece declares. */
export interface Variable {
  readonly name: string;
  /** With the stars of a pointer, without `const`. */
  readonly type: string;
  readonly value: string | null;
}

/** A statement of the body, or one half of a split assignment. */
export interface Piece {
  readonly node: SyntaxNode;
  readonly text: string;
  /** For an assignment that is split: the half that reads memory, or the half that writes it. */
  readonly half: 'load' | 'store' | null;
  /** Empty if it declares none; null if a declaration cannot move. */
  readonly declares: readonly Variable[] | null;
  readonly names: ReadonlySet<string>;
  /** Comments on the lines above, and at the end of its line. */
  readonly above: readonly string[];
  readonly beside: string;
}

export interface GuardedBody {
  readonly statement: SyntaxNode;
  readonly condition: string;
  /** Whether the condition has the same value after any part of the body. */
  readonly isStable: boolean;
  readonly pieces: readonly Piece[];
  /** By index of the piece that follows: whether the body can be split before that piece. */
  readonly boundaries: readonly boolean[];
  /** `else …`, or nothing. */
  readonly alternative: string;
}

const leaving = /^(?:return_statement|break_statement|continue_statement|goto_statement|labeled_statement|case_statement)$/;
const memory = /^(?:subscript_expression|pointer_expression|call_expression|field_expression|lambda_expression)$/;

/**
 * Reads a conditional statement; null if it cannot be split.
 * @param taken - names of variables that other edits of the function declare; those of this one are added
 */
export function guardedBody(
  source: CudaSource,
  definition: FunctionDefinition,
  statement: SyntaxNode,
  taken: Set<string>,
): GuardedBody | null {
  const { text } = source;
  if (statement.type !== 'if_statement' || childOf(statement, 'constexpr')) return null;
  const clause = childIn(statement, 'condition');
  const value = clause && (childIn(clause, 'value') ?? listItems(clause)[0]);
  const body = childIn(statement, 'consequence');
  if (!value || !body || listItems(clause).length !== 1 || /declaration/.test(value.type)) return null;
  const items = body.type === 'compound_statement' ? listItems(body) : [body];
  const other = childIn(statement, 'alternative');
  const [inner] = items;
  if (items.length === 1 && inner?.type === 'if_statement' && !other) {
    const nested = guardedBody(source, definition, inner, taken);
    if (!nested || nested.alternative !== '') return null;
    const outer = text.slice(value.start, value.end);
    return {
      ...nested,
      statement,
      condition: `${both(outer)} && ${both(nested.condition)}`,
      isStable: nested.isStable && isStableIn(text, value, body),
    };
  }
  if (items.length === 0 || items.some(({ type }) => !/_statement$|^declaration$|^for_range_loop$/.test(type))) return null;
  if (nodesWhere(body, ({ type }) => leaving.test(type) || type === 'ERROR' || type.startsWith('preproc')).length > 0) return null;
  const own = text.slice(definition.start, definition.end);
  const comments = body.type === 'compound_statement' ? body.children.filter(({ type }) => type === 'comment') : [];
  if (comments.some(({ start, line }) => start > items.at(-1)!.end && line !== items.at(-1)!.endLine)) return null;
  const pieces = items.flatMap((item, index) => {
    const from = items[index - 1]?.end ?? body.start;
    const to = items[index + 1]?.start ?? body.end;
    // A `//` comment includes the carriage return at the end of its line.
    const words = ({ start, end }: SyntaxNode): string => text.slice(start, end).trimEnd();
    const above = comments.filter(({ start, line }) => start > from && start < item.start && line !== items[index - 1]?.endLine);
    const beside = comments.filter(({ start, line }) => start > item.end && start < to && line === item.endLine);
    const remarks = { above: above.map(words), beside: beside.map(words).join(' ') };
    return piecesOf(source, definition, item, own, taken, remarks);
  });
  const outside = `${text.slice(definition.start, statement.start)} ${text.slice(statement.end, definition.end)}`;
  const boundaries = pieces.map((_, at) => at > 0 && canPart(pieces, at, outside));
  if (!boundaries.includes(true)) return null;
  return {
    statement,
    condition: text.slice(value.start, value.end),
    isStable: isStableIn(text, value, body),
    pieces,
    boundaries,
    alternative: other ? text.slice(other.start, other.end) : '',
  };
}

/** The condition as an operand of `&&`, in parentheses if necessary. */
function both(condition: string): string {
  return /\|\||\?|[^=!<>]=[^=]|,/.test(condition) ? `(${condition})` : condition;
}

/**
 * Whether a condition has the same value after any part of a body: it reads no memory, and no variable that the body
 * changes.
 */
export function isStableIn(text: string, condition: SyntaxNode, body: SyntaxNode): boolean {
  const changed = new Set(
    nodesWhere(body, ({ type }) => /^(?:assignment_expression|update_expression|declaration)$/.test(type)).flatMap((node) =>
      node.type === 'declaration'
        ? node.children.filter(({ field }) => field === 'declarator').flatMap((part) => declaredIn(text, part))
        : [childIn(node, 'left') ?? childIn(node, 'argument')].flatMap((target) =>
            target?.type === 'identifier' ? [text.slice(target.start, target.end)] : [],
          ),
    ),
  );
  const risky = nodesWhere(condition, ({ type }) => memory.test(type) || /^(?:assignment|update)_expression$/.test(type));
  const isIndex = ({ start, end }: SyntaxNode): boolean => /^(?:threadIdx|blockIdx|blockDim|gridDim)\.[xyz]$/.test(text.slice(start, end));
  // A variable may be passed to a function by reference.
  const hasReferences = nodesWhere(body, ({ type }) => type === 'call_expression').some(
    ({ start, end }) => !/^__sync(?:threads|warp)\(\)$/.test(text.slice(start, end)),
  );
  return risky.every(isIndex) && !hasReferences && [...identifiersIn(text, condition)].every((name) => !changed.has(name));
}

function piecesOf(
  source: CudaSource,
  definition: FunctionDefinition,
  node: SyntaxNode,
  own: string,
  taken: Set<string>,
  { above, beside }: Pick<Piece, 'above' | 'beside'>,
): Piece[] {
  const { text } = source;
  const words = text.slice(node.start, node.end);
  const whole = node.type === 'expression_statement' ? childOf(node, 'assignment_expression') : undefined;
  const chain = whole && chainedStore(text, whole);
  if (chain) {
    const names = identifiersIn(text, node);
    return [
      { node, half: 'load', text: chain.load, declares: [], names, above, beside: '' },
      { node, half: 'store', text: chain.store, declares: [], names, above: [], beside },
    ];
  }
  const assignment = node.type === 'expression_statement' ? splittable(text, node) : null;
  const type = assignment && elementType(source, childIn(assignment, 'left')!, definition.start, definition.end);
  if (assignment && type) {
    const { target, value } = splitParts(text, assignment);
    const name = freeName(`${own} ${[...taken].join(' ')}`, 'temp');
    taken.add(name);
    const left = childIn(assignment, 'left')!;
    return [
      {
        node,
        half: 'load',
        text: `${type} ${name} = ${value};`,
        declares: [{ name, type, value }],
        names: identifiersIn(text, node),
        above,
        beside: '',
      },
      {
        node,
        half: 'store',
        text: `${target} = ${name};`,
        declares: [],
        names: new Set([...identifiersIn(text, left), name]),
        above: [],
        beside,
      },
    ];
  }
  const declares = node.type === 'declaration' ? variablesOf(text, node) : [];
  return [{ node, half: null, text: words, declares, names: identifiersIn(text, node), above, beside }];
}

const plainType = /^(?:u?int\d+_t|size_t|uint|uchar|ushort|ulong|(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|[A-Z])$/;

/** The variables of a declaration; null if one of them cannot be declared first and assigned later. */
export function variablesOf(text: string, node: SyntaxNode): Variable[] | null {
  const type = childIn(node, 'type');
  if (!type) return null;
  const base = text.slice(type.start, type.end);
  if (type.type !== 'primitive_type' && type.type !== 'sized_type_specifier' && !plainType.test(base)) return null;
  const qualifiers = text.slice(node.start, type.start).trim();
  if (qualifiers !== '' && qualifiers !== 'const') return null;
  const variables: Variable[] = [];
  for (const declarator of node.children.filter(({ field }) => field === 'declarator')) {
    const init = declarator.type === 'init_declarator';
    const value = init ? childIn(declarator, 'value') : undefined;
    let inner: SyntaxNode | undefined = init ? childIn(declarator, 'declarator') : declarator;
    let stars = '';
    while (inner?.type === 'pointer_declarator') {
      stars += '*';
      inner = childIn(inner, 'declarator');
    }
    const isAssignable = !init || (value !== undefined && value.type !== 'initializer_list' && value.type !== 'argument_list');
    if (inner?.type !== 'identifier' || !isAssignable) return null;
    variables.push({
      name: text.slice(inner.start, inner.end),
      type: `${stars === '' ? base : `${qualifiers === 'const' ? 'const ' : ''}${base}`}${stars}`,
      value: value ? text.slice(value.start, value.end) : null,
    });
  }
  return variables;
}

function canPart(pieces: readonly Piece[], at: number, outside: string): boolean {
  const later = new Set(pieces.slice(at).flatMap(({ names }) => [...names]));
  return pieces.slice(0, at).every(({ node, declares, names }) => {
    // A declaration of unknown form may declare any of the names.
    if (declares === null) return node.type === 'declaration' && ![...names].some((name) => later.has(name));
    return declares.every(({ name }) => !later.has(name) || !new RegExp(`\\b${name}\\b`).test(outside));
  });
}

/** The name that a declarator declares. */
function declaredIn(text: string, declarator: SyntaxNode): string[] {
  if (declarator.type === 'identifier') return [text.slice(declarator.start, declarator.end)];
  const inner = childIn(declarator, 'declarator');
  return inner ? declaredIn(text, inner) : [];
}

/** The identifiers under a node. */
export function identifiersIn(text: string, node: SyntaxNode): Set<string> {
  return new Set(nodesWhere(node, ({ type }) => type === 'identifier').map(({ start, end }) => text.slice(start, end)));
}

/** The variables that are declared before one of the boundaries and used after it. */
export function movedVariables({ pieces }: GuardedBody, chosen: readonly number[]): Variable[] {
  return pieces.flatMap(({ declares }, index) =>
    (declares ?? []).filter(({ name }) => chosen.some((at) => at > index && pieces.slice(at).some(({ names }) => names.has(name)))),
  );
}

/** Text of a piece after some variables have moved out. */
export function pieceText({ text, declares }: Piece, moved: ReadonlySet<string>): string {
  if (!declares?.some(({ name }) => moved.has(name))) return text;
  return declares
    .flatMap(({ name, type, value }) => {
      if (!moved.has(name)) return [`${type} ${name}${value === null ? '' : ` = ${value}`};`];
      return value === null ? [] : [`${name} = ${value};`];
    })
    .join(' ');
}

/** The pieces between consecutive boundaries. */
export function piecesBetween(body: GuardedBody, chosen: readonly number[]): Piece[][] {
  const edges = [0, ...[...chosen].sort((a, b) => a - b), body.pieces.length];
  return edges.slice(1).map((end, index) => body.pieces.slice(edges[index], end));
}
