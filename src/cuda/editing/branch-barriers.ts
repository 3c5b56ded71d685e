/**
 * Merges barriers in both branches of a condition into one outside: `if (c) { a; B; b; } else { d; B; e; }` becomes `if
 * (c) { a; } else { d; } B; if (c) { b; } else { e; }`.
 */
import { barrierLevel, groupsIn } from './barrier-candidates.ts';
import { freeName } from '../syntax/element-type.ts';
import type { FunctionDefinition } from '../syntax/outline.ts';
import { type Variable, isStableIn, identifiersIn, variablesOf } from './split-condition.ts';
import type { CudaSource } from '../syntax/syntax.ts';
import { type SyntaxNode, childIn, childOf, listItems, nodesWhere } from '../syntax/syntax-tree.ts';
import { type TextEdit, blockOpening, elseSpace, indentOf, styleOf } from '../../source/text-edit.ts';

interface JoinedBranches {
  readonly edit: TextEdit;
  readonly line: number;
  /** Number of barriers after the edit, each instead of two. */
  readonly barriers: number;
  readonly isInLoop: boolean;
}

const leaving = /^(?:return_statement|break_statement|continue_statement|goto_statement|labeled_statement|case_statement|ERROR)$/;

/** The statements between the barriers of a branch. */
interface Branch {
  readonly parts: readonly { readonly items: readonly SyntaxNode[]; readonly from: number; readonly to: number }[];
  readonly barriers: readonly SyntaxNode[];
  /** Variables that one part declares and a later one uses. */
  readonly moved: readonly Variable[];
}

/** The conditions of a function whose branches have the same number of barriers, pairwise of the same kind. */
export function joinBranches(source: CudaSource, definition: FunctionDefinition): JoinedBranches[] {
  const { text } = source;
  const body = nodesWhere(source.tree(), ({ type, start }) => type === 'compound_statement' && start === definition.bodyStart)[0];
  if (!body) return [];
  const loops = nodesWhere(body, ({ type }) => /^(?:for|while|do)_statement$/.test(type));
  return nodesWhere(body, ({ type }) => type === 'compound_statement')
    .flatMap((list) => listItems(list).filter(({ type }) => type === 'if_statement'))
    .flatMap((statement) => {
      const joined = joinedAt(source, definition, statement);
      if (!joined) return [];
      const isInLoop = loops.some(({ start, end }) => start < statement.start && statement.end <= end);
      const { start, end, line } = statement;
      return [{ edit: { start, end, text: joined.text }, line, barriers: joined.barriers, isInLoop }];
    })
    .filter(({ edit }, _, all) => !all.some(({ edit: { start, end } }) => start < edit.start && edit.end <= end));

  function joinedAt(
    { text: whole }: CudaSource,
    { start, end }: FunctionDefinition,
    statement: SyntaxNode,
  ): { readonly text: string; readonly barriers: number } | null {
    const clause = childIn(statement, 'condition');
    const value = clause && childIn(clause, 'value');
    const other = childIn(statement, 'alternative');
    const bodies = [childIn(statement, 'consequence'), other && childOf(other, 'compound_statement')];
    if (!value || /declaration/.test(value.type) || listItems(clause).length !== 1) return null;
    if (childOf(statement, 'constexpr')) return null;
    const groups = groupsIn(source, definition);
    const branches = bodies.map((own) => (own?.type === 'compound_statement' ? branchOf(own) : null));
    const [first, second] = branches;
    if (!first || !second || first.barriers.length === 0) return null;
    const levels = ({ barriers }: Branch): string => barriers.map((node) => barrierLevel(whole, node, groups)).join();
    if (levels(first) !== levels(second)) return null;

    const outside = `${whole.slice(start, statement.start)} ${whole.slice(statement.end, end)}`;
    const moved = new Map<string, Variable>();
    for (const variable of [...first.moved, ...second.moved]) {
      const known = moved.get(variable.name);
      if ((known && known.type !== variable.type) || new RegExp(`\\b${variable.name}\\b`).test(outside)) return null;
      moved.set(variable.name, variable);
    }
    const style = styleOf(whole);
    const indent = indentOf(whole, statement.start);
    const condition = whole.slice(value.start, value.end);
    const isStable = isStableIn(whole, value, statement);
    const flag = isStable ? condition : freeName(whole.slice(start, end), 'isActive');
    const lines = [...moved.values()].map(({ name, type }) => `${type}${type.endsWith('*') ? '' : ' '}${name};`);
    if (!isStable) lines.push(`const bool ${flag} = ${condition};`);
    const names = new Set(moved.keys());
    const nested = (words: string): string => `${blockOpening(style, indent)}${style.lineEnd}${words}${style.lineEnd}${indent}}`;
    const otherwise = (words: string): string => `${elseSpace(style, indent)}else${nested(words)}`;
    for (const [at, part] of first.parts.entries()) {
      if (at > 0) lines.push(whole.slice(first.barriers[at - 1]!.start, first.barriers[at - 1]!.end));
      const [yes, no] = [part, second.parts[at]!].map((own) => partText(own, names, indent + style.indent));
      if (yes !== '') lines.push(`if (${flag})${nested(yes!)}${no === '' ? '' : otherwise(no!)}`);
      else if (no !== '') lines.push(`if (!(${flag}))${nested(no!)}`);
    }
    return { text: lines.join(`${style.lineEnd}${indent}`), barriers: first.barriers.length };

    function branchOf(own: SyntaxNode): Branch | null {
      const items = listItems(own);
      if (nodesWhere(own, ({ type }) => leaving.test(type) || type.startsWith('preproc')).length > 0) return null;
      const isBarrier = (item: SyntaxNode): boolean => item.type === 'expression_statement' && barrierLevel(whole, item, groups) !== null;
      const barriers = items.filter(isBarrier);
      const edges = [own.start + 1, ...barriers.map((node) => node.end)];
      const parts = edges.map((from, at) => {
        const to = barriers[at]?.start ?? own.end - 1;
        return { from, to, items: items.filter((item) => item.start >= from && item.end <= to) };
      });
      const declared: Variable[] = [];
      for (const [at, part] of parts.entries()) {
        const later = new Set(parts.slice(at + 1).flatMap((next) => next.items.flatMap((item) => [...identifiersIn(whole, item)])));
        for (const item of part.items.filter(({ type }) => type === 'declaration')) {
          const variables = variablesOf(whole, item);
          if (!variables) {
            if ([...identifiersIn(whole, item)].some((name) => later.has(name))) return null;
            continue;
          }
          declared.push(...variables.filter(({ name }) => later.has(name)));
        }
      }
      return { parts, barriers, moved: declared };
    }
  }

  function partText({ items, from, to }: Branch['parts'][number], names: ReadonlySet<string>, inner: string): string {
    let words = '';
    let at = from;
    for (const item of items) {
      words += text.slice(at, item.start);
      const variables = item.type === 'declaration' ? (variablesOf(text, item) ?? []) : [];
      const isMoved = variables.some(({ name }) => names.has(name));
      const assigned = variables.flatMap(({ name, type, value }) => {
        if (!names.has(name)) return [`${type} ${name}${value === null ? '' : ` = ${value}`};`];
        return value === null ? [] : [`${name} = ${value};`];
      });
      words += isMoved ? assigned.join(' ') : text.slice(item.start, item.end);
      at = item.end;
    }
    words = (words + text.slice(at, to)).trimEnd();
    const own = words.replace(/^[ \t]*\r?\n/, '');
    return own === '' || own !== words ? own : `${inner}${own.trim()}`;
  }
}
