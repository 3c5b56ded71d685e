/**
 * Candidate places for barriers: the boundaries of the statements of device code, inside statements that read and then
 * write memory, and the existing barriers. Each gets a number, and a copy of the text is marked with these numbers, so
 * that one compilation serves all of them.
 */
import type { FunctionDefinition } from '../syntax/outline.ts';
import { type GuardedBody, type Piece, guardedBody, movedVariables, piecesBetween, pieceText } from './split-condition.ts';
import { type SplitStatement, splitStatement } from './split-statement.ts';
import { type CudaSource, macrosFor } from '../syntax/syntax.ts';
import { type SyntaxNode, nodesWhere, positionAt } from '../syntax/syntax-tree.ts';
import { type TextEdit, lineEnd } from '../../source/text-edit.ts';

interface CandidateBase {
  /** Number of its marker. */
  readonly number: number;
  readonly function: FunctionDefinition;
  /** The statement that the candidate is before, after or inside. */
  readonly statement: SyntaxNode;
  /** The control statement whose body `statement` is without braces; an edit has to add them. */
  readonly bare: SyntaxNode | null;
  /** The conditional statements whose bodies contain the candidate, by offset, outermost first. */
  readonly conditions: readonly number[];
  readonly line: number;
  readonly column: number;
}

/** Before or after a statement. */
interface BoundaryCandidate extends CandidateBase {
  readonly kind: 'before' | 'after';
  /** The statement above in the same list, if any. */
  readonly previous: SyntaxNode | null;
  /** The statement list that contains it; null at the end of a list, and for a body without braces. */
  readonly list: SyntaxNode | null;
}

/** Between the read and the write of a statement. */
interface SplitCandidate extends CandidateBase {
  readonly kind: 'split';
  readonly halves: SplitStatement;
}

/** Between two pieces of the body of a conditional statement: the statement is split, and the barrier is outside. */
interface ConditionCandidate extends CandidateBase {
  readonly kind: 'condition';
  readonly body: GuardedBody;
  /** Index of the piece after the barrier. */
  readonly piece: number;
}

/** An existing barrier. */
export interface ExistingCandidate extends CandidateBase {
  readonly kind: 'existing';
  readonly level: 'block' | 'grid';
}

export type BarrierCandidate = BoundaryCandidate | SplitCandidate | ConditionCandidate | ExistingCandidate;

export interface CandidateOptions {
  /** Whether assignments are split; for types with overloaded operators the result may not compile. */
  readonly splits: boolean;
  /** Conditional statements that are split, by their offset. */
  readonly conditions?: ReadonlySet<number>;
}

interface MarkedSource {
  readonly candidates: readonly BarrierCandidate[];
  /** The text with a marker at each candidate and no more lines than before. */
  readonly text: string;
}

const otherBranches = new Set(['preproc_else', 'preproc_elif', 'preproc_elifdef']);
const listTypes = new Set(['compound_statement', 'case_statement', 'preproc_if', 'preproc_ifdef']);
const bodyOwners = new Set(['if_statement', 'for_statement', 'while_statement', 'do_statement', 'else_clause', 'for_range_loop']);
const leaving = new Set(['return_statement', 'break_statement', 'continue_statement', 'goto_statement']);
/** Nodes that contain statements of other functions. */
const closed = new Set(['lambda_expression', 'class_specifier', 'struct_specifier', 'ERROR']);

/** Finds the candidates in all device code of a file. Functions that the host can call too have none. */
export function markCandidates(source: CudaSource, { splits, conditions }: CandidateOptions): MarkedSource {
  const candidates: BarrierCandidate[] = [];
  const edits: TextEdit[] = [];
  const { text, lineStarts } = source;
  const marker = (number: number): string => `asm volatile("// SELVAGE_CANDIDATE ${number}" ::: "memory");`;

  /** Offsets of the conditional statements that are being walked. */
  const around: number[] = [];
  const add = <Kind extends BarrierCandidate>(parts: Omit<Kind, 'number' | 'line' | 'column' | 'conditions'>, offset: number): number => {
    const { line, column } = positionAt(lineStarts, offset);
    const number = candidates.length;
    candidates.push({ ...parts, number, line, column, conditions: [...around] } as unknown as Kind);
    return number;
  };

  function inFunction(definition: FunctionDefinition, body: SyntaxNode): void {
    const taken = new Set<string>();
    const groups = groupsIn(source, definition);

    /** The statements of a list, with the places between them. */
    function list(node: SyntaxNode): void {
      const items = node.children.filter(isItem);
      let previous: SyntaxNode | null = null;
      for (const statement of items) {
        // A pragma or a macro that is not a statement applies to the next statement, and a label is reached by jumps:
        // no barrier can be placed between them and that statement.
        const isHeld = previous !== null && (previous.type === 'preproc_call' || isHeader(previous));
        if (!isHeld && statement.type !== 'case_statement') before(node, statement, previous);
        inside(statement, null);
        previous = statement;
      }
      for (const { type } of items) if (type === 'ERROR') return;
      const end = items.at(-1);
      if (node.type === 'compound_statement' && end && !leaving.has(end.type) && !/^(?:case_|preproc_call)/.test(end.type)) after(end);
      for (const child of node.children) if (otherBranches.has(child.type)) list(child);
    }

    function before(node: SyntaxNode, statement: SyntaxNode, previous: SyntaxNode | null): void {
      if (statement.type === 'ERROR' || previous?.type === 'ERROR') return;
      const parts = { function: definition, statement, bare: null, previous, list: node };
      if (!isDirective(statement)) {
        const number = add<BoundaryCandidate>({ kind: 'before', ...parts }, statement.start);
        edits.push({ start: statement.start, end: statement.start, text: `${marker(number)} ` });
        return;
      }
      // A directive needs a separate line: the marker goes after the node above.
      if ((previous && isDirective(previous)) || (!previous && node.type !== 'compound_statement')) return;
      const offset = previous ? previous.end : node.start + 1;
      const number = add<BoundaryCandidate>({ kind: 'before', ...parts }, offset);
      edits.push({ start: offset, end: offset, text: ` ${marker(number)}` });
    }

    /**
     * Whether a node is a macro such as `FOR (i, n)`, which parses as a statement without a semicolon but is the head
     * of the next statement.
     */
    function isHeader({ type, end }: SyntaxNode): boolean {
      return type === 'expression_statement' && text[end - 1] !== ';';
    }

    /** After the last statement of a block. */
    function after(statement: SyntaxNode): void {
      const parts = { function: definition, statement, bare: null, previous: statement, list: null };
      const number = add<BoundaryCandidate>({ kind: 'after', ...parts }, statement.end);
      const offset = isDirective(statement) ? lineEnd(text, statement.end) : statement.end;
      edits.push({ start: offset, end: offset, text: ` ${marker(number)} ` });
    }

    /** Candidates within a statement. */
    function inside(statement: SyntaxNode, bare: SyntaxNode | null): void {
      if (closed.has(statement.type)) return;
      if (statement.type === 'expression_statement' || statement.type === 'declaration') {
        const lambdas = lambdaBodies(text, statement);
        if (lambdas.length === 0) return expression(statement, bare);
        return lambdas.forEach(list);
      }
      if (listTypes.has(statement.type)) return list(statement);
      if (statement.type === 'if_statement' && conditions?.has(statement.start)) {
        const guarded = guardedBody(source, definition, statement, taken);
        if (guarded) return takenApart(guarded, bare);
      }
      if (statement.type === 'if_statement') around.push(statement.start);
      for (const child of statement.children) {
        if (isBodyOf(statement, child)) bareBody(statement, child);
        else if (isNested(statement, child)) inside(child, null);
      }
      if (statement.type === 'if_statement') around.pop();
    }

    /** A body of a control statement without braces. */
    function bareBody(owner: SyntaxNode, statement: SyntaxNode): void {
      if (isExisting(statement)) return inside(statement, owner);
      const parts = { function: definition, statement, bare: owner, previous: null, list: null };
      const first = add<BoundaryCandidate>({ kind: 'before', ...parts }, statement.start);
      edits.push({ start: statement.start, end: statement.start, text: `{ ${marker(first)} ` });
      inside(statement, owner);
      if (leaving.has(statement.type)) {
        edits.push({ start: statement.end, end: statement.end, text: ' }' });
        return;
      }
      const last = add<BoundaryCandidate>({ kind: 'after', ...parts }, statement.end);
      edits.push({ start: statement.end, end: statement.end, text: ` ${marker(last)} }` });
    }

    function takenApart(guarded: GuardedBody, bare: SyntaxNode | null): void {
      const { statement, condition, pieces, boundaries, alternative } = guarded;
      const parts = { function: definition, bare };
      const chosen = boundaries.flatMap((can, at) => (can ? [at] : []));
      const moved = movedVariables(guarded, chosen);
      const names = new Set(moved.map(({ name }) => name));
      const flag = `selvage_${candidates.length}`;
      const pieceSource = (piece: Piece): string => {
        const level = barrierLevel(text, piece.node, groups);
        if (level === null) return pieceText(piece, names);
        const { node } = piece;
        return marker(add<ExistingCandidate>({ kind: 'existing', ...parts, statement: node, bare: null, level }, node.start));
      };
      const blocks = piecesBetween(guarded, chosen).map((part, index) => {
        const at = chosen[index - 1];
        const before =
          at === undefined
            ? ''
            : marker(add<ConditionCandidate>({ kind: 'condition', ...parts, statement, body: guarded, piece: at }, pieces[at]!.node.start));
        return `${before} if (${flag}) { ${part.map(pieceSource).join(' ')} } ${index === 0 ? alternative : ''}`;
      });
      const declared = moved.map(({ name, type }) => `${type} ${name};`).join(' ');
      const replacement = `{ const bool ${flag} = (${condition}); ${declared} ${blocks.join(' ')} }`;
      const original = text.slice(statement.start, statement.end);
      edits.push({ start: statement.start, end: statement.end, text: onOneLine(replacement, original) });
    }

    function isExisting(statement: SyntaxNode): boolean {
      return statement.type === 'expression_statement' && barrierLevel(text, statement, groups) !== null;
    }

    function expression(statement: SyntaxNode, bare: SyntaxNode | null): void {
      const level = barrierLevel(text, statement, groups);
      if (level !== null) {
        const number = add<ExistingCandidate>({ kind: 'existing', function: definition, statement, bare, level }, statement.start);
        edits.push({ start: statement.start, end: statement.end, text: marker(number) });
        return;
      }
      const halves = splits ? splitStatement(source, definition, statement) : null;
      if (!halves) return;
      const number = add<SplitCandidate>({ kind: 'split', function: definition, statement, bare, halves }, statement.start);
      const names = Array.from({ length: halves.variables }, (_, index) => `selvage_${number}_${index}`);
      const { before, after } = halves.parts(
        names,
        names.map(() => 'auto'),
      );
      const words = [...before, marker(number), after].join(' ');
      const replacement = halves.declares ? words : `{ ${words} }`;
      edits.push({
        start: statement.start,
        end: statement.end,
        text: onOneLine(replacement, text.slice(statement.start, statement.end)),
      });
    }

    list(body);
  }

  const hostMacros = macrosFor('__host__', source.visibleMacros);
  for (const definition of source.functions) {
    const header = text.slice(definition.start, definition.bodyStart);
    const words = header.match(/[A-Za-z_]\w*/g) ?? [];
    const isOfHost = words.some((word) => /^(?:__host__|constexpr|consteval)$/.test(word) || hostMacros.has(word));
    if (definition.kind === 'host' || isOfHost) continue;
    const [body] = nodesWhere(source.tree(), ({ type, start }) => type === 'compound_statement' && start === definition.bodyStart);
    if (body) inFunction(definition, body);
  }
  return { candidates, text: applyInOrder(text, edits) };
}

/** A replacement with the same number of line ends as the replaced text. */
function onOneLine(replacement: string, original: string): string {
  const lines = (words: string): number => words.split('\n').length - 1;
  return replacement + '\n'.repeat(Math.max(0, lines(original) - lines(replacement)));
}

function applyInOrder(text: string, edits: readonly TextEdit[]): string {
  // Insertions at one offset keep their order; a replacement at that offset keeps its place among them.
  const sorted = edits.map((edit, order) => ({ ...edit, order })).sort((a, b) => a.start - b.start || a.order - b.order);
  let result = '';
  let at = 0;
  for (const { start, end, text: inserted } of sorted) {
    result += text.slice(at, start) + inserted;
    at = Math.max(at, end);
  }
  return result + text.slice(at);
}

/** The bodies of the lambdas in a statement that only the device calls. */
function lambdaBodies(text: string, statement: SyntaxNode): SyntaxNode[] {
  const all = nodesWhere(statement, ({ type }) => type === 'lambda_expression');
  // Lambdas inside another lambda are found when the statements of that lambda are walked.
  const outermost = all.filter((one) => !all.some((other) => other.start < one.start && one.end <= other.end));
  return outermost.flatMap((lambda) => {
    const body = lambda.children.find(({ type }) => type === 'compound_statement');
    const isOfDevice = body && !/\b(?:__host__|constexpr|consteval)\b/.test(text.slice(lambda.start, body.start));
    return isOfDevice ? [body] : [];
  });
}

const statementType =
  /_statement$|^(?:declaration|for_range_loop|preproc_if|preproc_ifdef|using_declaration|alias_declaration|type_definition|static_assert_declaration)$/;

/** A macro such as `FOR (i, n) { … }` parses as the definition of a function, which cannot be inside a function. */
function isItem({ type, field }: SyntaxNode): boolean {
  if (type === 'function_definition') return true;
  return field !== 'value' && (statementType.test(type) || type === 'preproc_call' || type === 'ERROR');
}

function isDirective({ type }: SyntaxNode): boolean {
  return type.startsWith('preproc');
}

function isNested(owner: SyntaxNode, { type }: SyntaxNode): boolean {
  if (type === 'compound_statement' || type === 'else_clause') return true;
  return owner.type === 'else_clause' && type === 'if_statement';
}

/** Whether a child is the body of a control statement and has no braces. */
function isBodyOf(owner: SyntaxNode, child: SyntaxNode): boolean {
  if (!bodyOwners.has(owner.type) || child.type === 'compound_statement') return false;
  if (owner.type === 'else_clause') return child.type !== 'if_statement' && statementType.test(child.type);
  return child.field === 'body' || child.field === 'consequence';
}

/**
 * Levels of barriers by name: of `sync()` of the groups of threads in a function, and of statements that use a macro
 * (`macro SYNC()`).
 */
type Groups = ReadonlyMap<string, 'block' | 'grid'>;

/** The groups that a function declares, and the macros of its file that are barriers. */
export function groupsIn({ text: whole, visibleMacros: macros }: CudaSource, { start, end }: FunctionDefinition): Groups {
  const groups = new Map<string, 'block' | 'grid'>();
  const text = whole.slice(start, end);
  for (const { name, parameters } of macros) {
    const isBarrier = macros.every((one) => one.name !== name || /^__syncthreads\s*\(\s*\)\s*;?$/.test(one.value.trim()));
    if (isBarrier && (parameters ?? []).join('') === '') groups.set(`macro ${name}${parameters ? '()' : ''}`, 'block');
  }
  const assigned = /\b(\w+)\s*=\s*(?:\w+::)*this_(grid|thread_block)\s*\(\s*\)/g;
  const declared = /\b(grid_group|thread_block)\s*&?\s+(\w+)\b/g;
  for (const [, name, kind] of text.matchAll(assigned)) groups.set(name!, kind === 'grid' ? 'grid' : 'block');
  for (const [, kind, name] of text.matchAll(declared)) groups.set(name!, kind === 'grid_group' ? 'grid' : 'block');
  return groups;
}

/** The level of the barrier that a statement executes; null if the statement is not a barrier. */
export function barrierLevel(text: string, statement: SyntaxNode, groups: Groups): 'block' | 'grid' | null {
  const words = text.slice(statement.start, statement.end).replace(/\s+/g, '');
  if (words === '__syncthreads();') return 'block';
  const macro = groups.get(`macro ${words.slice(0, -1)}`);
  if (macro !== undefined) return macro;
  const made =
    /^(?:\w+::)*this_(grid|thread_block)\(\)\.sync\(\);$/.exec(words) ??
    /^(?:\w+::)*sync\((?:\w+::)*this_(grid|thread_block)\(\)\);$/.exec(words);
  if (made) return made[1] === 'grid' ? 'grid' : 'block';
  const name = (/^(\w+)\.sync\(\);$/.exec(words) ?? /^(?:\w+::)*(?:sync|synchronize)\((\w+)\);$/.exec(words))?.[1];
  return (name !== undefined && groups.get(name)) || null;
}
