/** Edits that insert barriers at candidates, or remove them, in the style of the file. */
import { type BarrierCandidate, barrierLevel, groupsIn } from './barrier-candidates.ts';
import { freeName } from '../syntax/element-type.ts';
import { type GuardedBody, type Piece, movedVariables, piecesBetween, pieceText } from './split-condition.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, nodesWhere } from '../syntax/syntax-tree.ts';
import { type TextEdit, type TextStyle, blockOpening, elseSpace, indentOf, lineEnd, lineStart, styleOf } from '../../source/text-edit.ts';

/** The statement to insert at a candidate; `off` removes a barrier. */
export interface PlacedBarrier {
  readonly candidate: BarrierCandidate;
  readonly state: 'off' | 'block' | 'grid' | 'warp' | `warp ${number}` | 'fence' | 'block-fence' | 'wait';
  /** How the file writes the statement, if that is known. */
  readonly words?: string;
}

interface Context {
  readonly source: CudaSource;
  readonly text: string;
  readonly style: TextStyle;
  readonly edits: TextEdit[];
  readonly call: (placed: PlacedBarrier) => string;
  /** Names of the variables that the edits declare. */
  readonly names: Set<string>;
  /** Comments of a removed barrier that move to the only added one; null if none do. */
  readonly remark: Remark | null;
}

/** Comments of a barrier: on separate lines right above it, and after it on its line. */
interface Remark {
  readonly above: readonly string[];
  readonly beside: string;
  /** Start of the lines above. */
  readonly start: number;
}

/** The edits of a placement, in the order in which they apply. */
export function barrierEdits(source: CudaSource, placement: readonly PlacedBarrier[]): TextEdit[] {
  const { text } = source;
  const edits: TextEdit[] = [];
  const context: Context = {
    source,
    text,
    style: styleOf(text),
    edits,
    call: (placed) => writtenBarrier(source, placed),
    names: new Set(),
    remark: movedRemark(source, placement),
  };
  const ordered = [...placement].sort((a, b) => a.candidate.number - b.candidate.number);
  const bare = new Map<SyntaxNode, PlacedBarrier[]>();
  const split = new Map<SyntaxNode, PlacedBarrier>();
  const parted = new Map<GuardedBody, PlacedBarrier[]>();
  for (const placed of ordered) {
    const { candidate } = placed;
    if (candidate.kind === 'condition') parted.set(candidate.body, [...(parted.get(candidate.body) ?? []), placed]);
  }
  for (const { pieces } of parted.keys()) for (const { declares } of pieces) for (const { name } of declares ?? []) context.names.add(name);
  /** Whether the edit of a barrier is part of splitting a conditional statement. */
  const isParted = ({ statement: { start, end }, bare: owner }: BarrierCandidate): boolean =>
    [...parted.keys()].some(
      ({ statement }) => statement.start <= start && end <= statement.end && (owner !== null || start > statement.start),
    );
  for (const placed of ordered) {
    const { candidate, state } = placed;
    if (isParted(candidate) || candidate.kind === 'condition') continue;
    if (candidate.kind === 'existing') {
      if (state === 'off') remove(context, candidate.statement, candidate.bare);
      else if (state !== candidate.level) edits.push({ ...candidate.statement, text: context.call(placed) });
    } else if (candidate.bare) bare.set(candidate.statement, [...(bare.get(candidate.statement) ?? []), placed]);
    else if (candidate.kind === 'split') split.set(candidate.statement, placed);
    else insert(context, placed);
  }
  for (const [statement, placed] of split) {
    const indent = indentOf(text, statement.start);
    edits.push({
      start: statement.start,
      end: statement.end,
      text: splitLines(context, placed).join(`${context.style.lineEnd}${indent}`),
    });
  }
  // Inner braces are closed before outer ones at the same offset.
  const inner = [...bare].sort(([a], [b]) => b.start - a.start);
  for (const [statement, all] of inner) wrap(context, statement, all);
  for (const [body, all] of parted) partCondition(context, body, all, placement);
  if (placement.some(({ state }) => state === 'grid')) includeCooperativeGroups(context);
  return edits.map(({ start, end, text: replacement }) => ({ start, end, text: replacement }));
}

/** The statement that a barrier or fence is, as the function would write it. */
export function writtenBarrier(source: CudaSource, { state, candidate, words }: PlacedBarrier): string {
  if (words !== undefined) return words;
  const { text } = source;
  if (state.startsWith('warp ')) return `__syncwarp(0x${Number(state.slice('warp '.length)).toString(16)});`;
  switch (state) {
    case 'warp':
      return '__syncwarp();';
    case 'fence':
      return '__threadfence();';
    case 'block-fence':
      return '__threadfence_block();';
    case 'grid': {
      const own = text.slice(candidate.function.start, candidate.statement.start);
      const declared = /\b(\w+)\s*=\s*(?:\w+::)*this_grid\s*\(\s*\)/.exec(own)?.[1];
      if (declared !== undefined) return `${declared}.sync();`;
      const alias = /\bnamespace\s+(\w+)\s*=\s*cooperative_groups\s*;/.exec(text)?.[1];
      return `${alias ?? 'cooperative_groups'}::this_grid().sync();`;
    }
    default:
      return ownBarrier(source, candidate) ?? '__syncthreads();';
  }
}

/**
 * A barrier of the block in the notation of the function (`block.sync();`), or else in that of the other barriers of
 * the file, if they agree and the group is declared where all later code of the function is in its scope. Otherwise
 * null.
 */
function ownBarrier(source: CudaSource, { function: definition, statement }: BarrierCandidate): string | null {
  const { text } = source;
  const written = (one: FunctionDefinition): string[] => {
    const groups = groupsIn(source, one);
    const barriers = nodesWhere(
      source.tree(),
      (node) =>
        node.type === 'expression_statement' &&
        node.start >= one.bodyStart &&
        node.end <= one.end &&
        barrierLevel(text, node, groups) === 'block',
    );
    return barriers.map(({ start, end }) => text.slice(start, end));
  };
  const own = new Set(written(definition));
  const [words, ...others] = own.size > 0 ? own : new Set(source.functions.flatMap(written));
  if (words === undefined || others.length > 0) return null;
  const name = groupOf.exec(words)?.[1];
  if (name === undefined) return words;
  if (groupsIn(source, definition).get(name) !== 'block') return null;
  // A parameter is in scope in the whole function.
  if (new RegExp(`\\b${name}\\b`).test(text.slice(definition.start, definition.bodyStart))) return words;
  const before = text.slice(definition.bodyStart, statement.start);
  const declared = before.search(new RegExp(`\\b${name}\\b`));
  const outside = before.slice(0, declared);
  const depth = outside.split('{').length - outside.split('}').length;
  return declared !== -1 && depth <= 1 ? words : null;
}

/** The group in `cta.sync();` and `cg::sync(cta);`. */
const groupOf = /(?:^|\()\s*(\w+)\s*(?:\.\s*sync\b|\)\s*;$)/;

/** The comments of the only removed barrier, if one on a separate line is added instead. */
function movedRemark({ text }: CudaSource, placement: readonly PlacedBarrier[]): Remark | null {
  const [from, ...others] = placement.filter(({ state }) => state === 'off');
  const [to, ...more] = placement.filter(({ state }) => state !== 'off');
  if (!from || !to || others.length > 0 || more.length > 0 || from.candidate.bare || to.candidate.bare) return null;
  if ((to.candidate.kind !== 'before' && to.candidate.kind !== 'after') || !ownLine(text, to.candidate)) return null;
  const { statement } = from.candidate;
  if (!startsLine(text, statement.start)) return null;
  const rest = text.slice(statement.end, lineEnd(text, statement.end));
  const comment = /^[ \t]*(\/\/[^\r\n]*|\/\*(?:(?!\*\/)[^\r\n])*\*\/)?[ \t]*\r?\n?$/.exec(rest);
  // Comments of a barrier that shares its line with other code are not moved.
  if (!comment) return null;
  const beside = comment[1]?.trimEnd() ?? '';
  let start = lineStart(text, statement.start);
  const above: string[] = [];
  while (start > 0) {
    const begin = lineStart(text, start - 1);
    const line = /^[ \t]*(\/\/.*?)[ \t]*\r?\n$/.exec(text.slice(begin, start))?.[1];
    // A comment that ends with a backslash continues on the next line, and a suppression belongs to the line below it.
    if (line === undefined || line.endsWith('\\') || /\bselvage\b/.test(line)) break;
    above.unshift(line);
    start = begin;
  }
  return above.length === 0 && beside === '' ? null : { above, beside, start };
}

/** Where a barrier gets a separate line, and how that is indented; null if it shares a line with other statements. */
function ownLine(text: string, { statement, previous }: BarrierCandidate & { readonly kind: 'before' | 'after' }): OwnLine | null {
  if (!previous) {
    if (!startsLine(text, statement.start)) return null;
    return { at: leadingComment(text, statement.start), indent: indentOf(text, statement.start), isLast: false };
  }
  // After the statement above and the comment on its line.
  const end = contentEnd(text, previous);
  const rest = text.slice(end, lineEnd(text, end));
  if (!/^[ \t]*(?:\/\/.*|\/\*[^\n]*\*\/[ \t]*)?\r?\n?$/.test(rest) || !startsLine(text, previous.start)) return null;
  return { at: lineEnd(text, end), indent: indentOf(text, previous.start), isLast: !rest.endsWith('\n') };
}

interface OwnLine {
  readonly at: number;
  readonly indent: string;
  /** Whether the line above is the last of the file, without a line end. */
  readonly isLast: boolean;
}

function insert({ text, style, edits, call, remark }: Context, placed: PlacedBarrier): void {
  const { candidate } = placed;
  if (candidate.kind !== 'before' && candidate.kind !== 'after') return;
  const { statement, previous } = candidate;
  const words = call(placed);
  const line = ownLine(text, candidate);
  if (line) {
    const { at, indent, isLast } = line;
    const beside = remark && remark.beside !== '' ? ` ${remark.beside}` : '';
    const lines = [...(remark?.above ?? []), `${words}${beside}`].map((one) => `${indent}${one}${style.lineEnd}`);
    edits.push({ start: at, end: at, text: `${isLast ? style.lineEnd : ''}${lines.join('')}` });
  } else if (previous) {
    const end = contentEnd(text, previous);
    edits.push({ start: end, end, text: ` ${words}` });
  } else edits.push({ start: statement.start, end: statement.start, text: `${words} ` });
}

/** Start of the comments on separate lines right above an offset. */
function leadingComment(text: string, offset: number): number {
  let start = lineStart(text, offset);
  while (start > 0) {
    const above = lineStart(text, start - 1);
    if (!/^[ \t]*(?:\/\/|#[ \t]*pragma\b)/.test(text.slice(above, start))) break;
    start = above;
  }
  return start;
}

/** The end of a node, without the line end that some directives include. */
function contentEnd(text: string, node: SyntaxNode): number {
  let end = node.end;
  while (end > node.start && /\s/.test(text[end - 1]!)) end--;
  return end;
}

function startsLine(text: string, offset: number): boolean {
  return /^[ \t]*$/.test(text.slice(lineStart(text, offset), offset));
}

/** Puts a body in braces, with barriers before it, in it and after it. */
function wrap(context: Context, statement: SyntaxNode, all: readonly PlacedBarrier[]): void {
  const { text, style, edits, call } = context;
  const owner = all[0]!.candidate.bare!;
  const outer = indentOf(text, owner.start);
  const indent = outer + style.indent;
  const split = all.find(({ candidate }) => candidate.kind === 'split');
  const of = (kind: 'before' | 'after'): string[] => all.filter(({ candidate }) => candidate.kind === kind).map(call);
  const header = headerEnd(text, statement.start);
  const between = text.slice(header, statement.start);
  const comment = /\S/.test(between) ? between.trimEnd() : '';
  const begin = [...of('before'), ...(split ? splitLines(context, split) : [])];
  const newLine = style.lineEnd;
  // The body itself is not moved, so that edits inside it can be made too.
  const brace = comment === '' ? blockOpening(style, outer) : ` {${comment}`;
  const open = `${brace}${begin.map((line) => `${newLine}${indent}${line}`).join('')}`;
  const close = [...of('after').map((line) => `${newLine}${indent}${line}`), `${newLine}${outer}}`].join('');
  const rest = /^[ \t]*(?:\/\/[^\r\n]*)?/.exec(text.slice(statement.end))![0];
  const after = statement.end + (/^[ \t]*\/\//.test(rest) ? rest.length : 0);
  if (split) {
    edits.push({ start: header, end: statement.end, text: open });
    edits.push({ start: after, end: after, text: close });
    return;
  }
  const sameLine = !between.includes('\n');
  edits.push({
    start: header,
    end: statement.start,
    text: `${open}${newLine}${sameLine ? indent : indentOf(text, statement.start)}`,
  });
  edits.push({ start: after, end: after, text: close });
}

/** The end of the text before a body: `)`, `else` or `do`, without comments. */
function headerEnd(text: string, start: number): number {
  const before = text
    .slice(0, start)
    .replace(/(?:\s|\/\*[^]*?\*\/|\/\/[^\n]*\n)*$/, (tail) => (/\/\//.test(tail) ? tail.replace(/\S/g, ' ') : tail));
  return before.trimEnd().length;
}

/** The lines of a statement that is split. */
function splitLines({ text, call, names }: Context, placed: PlacedBarrier): string[] {
  const { candidate } = placed;
  if (candidate.kind !== 'split') return [];
  const { halves } = candidate;
  const body = text.slice(candidate.function.start, candidate.function.end);
  const variables = Array.from({ length: halves.variables }, () => {
    const name = freeName(`${body} ${[...names].join(' ')}`, 'temp');
    names.add(name);
    return name;
  });
  const { before, after } = halves.parts(variables, halves.types());
  return [...before, call(placed), after];
}

/** Splits a conditional statement, with barriers between its parts. */
function partCondition(
  { text, style, edits, call }: Context,
  body: GuardedBody,
  all: readonly PlacedBarrier[],
  placement: readonly PlacedBarrier[],
): void {
  const { statement, condition, isStable, alternative } = body;
  const bare = all[0]!.candidate.bare;
  const outer = indentOf(text, bare ? bare.start : statement.start);
  const indent = bare ? outer + style.indent : outer;
  const chosen = all.flatMap(({ candidate }) => (candidate.kind === 'condition' ? [candidate.piece] : []));
  const gone = new Set(placement.filter(({ state }) => state === 'off').map(({ candidate }) => candidate.statement));
  // Comments of the barriers that are replaced.
  const barriers = chosen.length === 1 ? body.pieces.filter(({ node }) => gone.has(node)) : [];
  const moved = movedVariables(body, chosen);
  const names = new Set(moved.map(({ name }) => name));
  const own = text.slice(all[0]!.candidate.function.start, all[0]!.candidate.function.end);
  const flag = isStable ? condition : freeName(own, 'isActive');
  const around = (kind: 'before' | 'after'): string[] =>
    bare ? placement.filter(({ candidate }) => candidate.kind === kind && candidate.statement === statement).map(call) : [];
  const lines = [...around('before'), ...moved.map(({ name, type }) => `${type}${type.endsWith('*') ? '' : ' '}${name};`)];
  if (!isStable) lines.push(`const bool ${flag} = ${condition};`);
  for (const [index, part] of piecesBetween(body, chosen).entries()) {
    if (index > 0) {
      const [above, beside] = index === 1 ? [barriers.flatMap((piece) => piece.above), barriers.map((piece) => piece.beside)] : [[], []];
      lines.push(...above, [call(all[index - 1]!), ...beside.filter((words) => words !== '')].join(' '));
    }
    lines.push(`if (${flag})${blockOpening(style, indent)}`);
    for (const piece of part) {
      if (gone.has(piece.node)) continue;
      const whole = isWhole(piece, part);
      if (piece.half === 'store' && whole) continue;
      const words = whole ? text.slice(piece.node.start, piece.node.end) : pieceText(piece, names);
      const comment = whole ? part.find(({ node, half }) => node === piece.node && half === 'store')!.beside : piece.beside;
      for (const remark of piece.above) lines.push(`${style.indent}${remark}`);
      lines.push(`${style.indent}${words}${comment === '' ? '' : ` ${comment}`}`);
    }
    lines.push(index === 0 && alternative !== '' ? `}${elseSpace(style, indent)}${alternative}` : '}');
  }
  lines.push(...around('after'));
  const joined = lines.join(`${style.lineEnd}${indent}`);
  if (!bare) {
    edits.push({ start: statement.start, end: statement.end, text: joined });
    return;
  }
  const header = headerEnd(text, statement.start);
  edits.push({
    start: header,
    end: statement.end,
    text: `${blockOpening(style, outer)}${style.lineEnd}${indent}${joined}${style.lineEnd}${outer}}`,
  });
}

/** Whether both halves of a split assignment are in the same part. */
function isWhole(piece: Piece, part: readonly Piece[]): boolean {
  return piece.half !== null && part.filter(({ node }) => node === piece.node).length === 2;
}

/** Removes a statement, and its line if nothing else is on it. */
function remove({ text, edits, remark }: Context, statement: SyntaxNode, bare: SyntaxNode | null): void {
  if (bare) {
    edits.push({ start: statement.start, end: statement.end, text: ';' });
    return;
  }
  const end = lineEnd(text, statement.end);
  const rest = text.slice(statement.end, end);
  if (remark || (startsLine(text, statement.start) && /^[ \t]*(?:\/\/.*)?\r?\n?$/.test(rest))) {
    edits.push({ start: remark?.start ?? lineStart(text, statement.start), end, text: '' });
  } else {
    const spaces = /^[ \t]*/.exec(rest)![0].length;
    edits.push({ start: statement.start, end: statement.end + spaces, text: '' });
  }
}

function includeCooperativeGroups({ source, text, style, edits }: Context): void {
  if (source.includes.some(({ path }) => path === 'cooperative_groups.h')) return;
  const last = source.includes.at(-1);
  const line = `#include <cooperative_groups.h>${style.lineEnd}`;
  const after = last ? (source.lineStarts[last.line] ?? text.length) : 0;
  edits.push({ start: after, end: after, text: line });
}
