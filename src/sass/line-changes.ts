/** Changes in the SASS of a kernel, by source line: amounts of each kind of work, and instructions. */
import { diffArrays } from 'diff';
import type { Location } from '../source/location.ts';
import type { SassInstruction } from './instruction/decode.ts';
import { instructionShape, instructionText } from './listing.ts';
import type { CodeProfile, LineProfile, WorkKind } from './profile.ts';

/** A number in the base, and in the head. */
type BeforeAfter = readonly [before: number, after: number];

export interface LineChange {
  /** Location in the head; undefined if the line was removed, or the code belongs to no line. */
  readonly location: Location | undefined;
  /** Location in the base; undefined if the line is new, or the code belongs to no line. */
  readonly was: Location | undefined;
  readonly instructions: BeforeAfter;
  /** Kinds of work whose amount changed. */
  readonly work: ReadonlyMap<WorkKind, BeforeAfter>;
  /** Instructions with a prefix: `-` for the base only, `+` for the head only, a space for both. */
  readonly diff: readonly string[];
}

/** Kinds that describe how work is done, not the work itself; they would list otherwise unchanged lines. */
const manner: ReadonlySet<WorkKind> = new Set(['uniform', 'guarded', 'conversion', 'other']);

/** Number of unchanged instructions listed around a change. */
const context = 2;
/** Maximum number of listed instructions of a line. */
const maxListed = 40;
/** Maximum number of removed and added instructions; the time of the comparison is quadratic in it. */
const maxEdits = 1000;

/** Key of a line: file and number. */
export function lineKey(location: { readonly file: string; readonly line: number } | undefined): string {
  return location ? `${location.file}\n${location.line}` : '';
}

/**
 * The lines whose instructions changed. Registers, addresses, encodings, and the order of the instructions of a line
 * are ignored.
 * @param baseOf the line of the base that corresponds to a line of the head; null if the line is new
 * @returns largest changes first
 */
export function changedLines(
  base: CodeProfile,
  head: CodeProfile,
  baseOf: (location: Location) => { readonly file: string; readonly line: number } | null,
): LineChange[] {
  const shapes = [base, head].map(({ lines, version }) =>
    shapesOf(
      lines.flatMap(({ code }) => code),
      version,
    ),
  );
  // No changes: reformatting may move code from line to line.
  if (shapes[0] === shapes[1]) return [];
  const left = new Map(base.lines.map((line) => [lineKey(line.location), line]));
  const pairs: (readonly [LineProfile | undefined, LineProfile])[] = head.lines.map((line) => {
    const place = line.location ? baseOf(line.location) : undefined;
    const was = place === null ? undefined : left.get(lineKey(place));
    if (was) left.delete(lineKey(was.location));
    return [was, line];
  });
  const moved = new Map<string, LineProfile[]>();
  for (const line of left.values()) {
    const key = shapesOf(line.code, base.version);
    moved.set(key, [...(moved.get(key) ?? []), line]);
  }
  const versions: BeforeAfter = [base.version, head.version];
  const changes = pairs.flatMap(([was, is]) => {
    // Code that was removed from one line and added to another one only moved.
    const same = was ? undefined : moved.get(shapesOf(is.code, head.version))?.shift();
    if (same) left.delete(lineKey(same.location));
    return same ? [] : (changeOf(was, is, versions) ?? []);
  });
  for (const line of left.values()) {
    const change = changeOf(line, undefined, versions);
    if (change) changes.push(change);
  }
  const size = ({ instructions: [before, after], work }: LineChange): number =>
    [...work.values()].reduce((total, [less, more]) => total + Math.abs(more - less), Math.abs(after - before));
  return changes.sort((a, b) => size(b) - size(a));
}

/** Key of the instructions regardless of their order and registers. */
function shapesOf(code: readonly SassInstruction[], version: number): string {
  return code
    .map((one) => instructionShape(one, version))
    .sort()
    .join('\n');
}

function changeOf(was: LineProfile | undefined, is: LineProfile | undefined, versions: BeforeAfter): LineChange | undefined {
  const diff = instructionDiff(was?.code ?? [], is?.code ?? [], versions);
  if (diff.length === 0) return undefined;
  const kinds = new Set([...(was?.work.keys() ?? []), ...(is?.work.keys() ?? [])]);
  const work = [...kinds].flatMap((kind) => {
    const both: BeforeAfter = [was?.work.get(kind) ?? 0, is?.work.get(kind) ?? 0];
    return both[0] === both[1] || manner.has(kind) ? [] : [[kind, both] as const];
  });
  return {
    location: is?.location,
    was: was?.location,
    instructions: [was?.instructions ?? 0, is?.instructions ?? 0],
    work: new Map(work.sort(([a], [b]) => (a < b ? -1 : 1))),
    diff,
  };
}

interface Row {
  readonly sign: '-' | '+' | ' ';
  readonly shape: string;
  readonly text: string;
}

/** The instructions of both sides as one list; empty if both sides have the same instructions, in any order. */
function instructionDiff(before: readonly SassInstruction[], after: readonly SassInstruction[], [old, version]: BeforeAfter): string[] {
  const [left, right] = [before.map((one) => instructionShape(one, old)), after.map((one) => instructionShape(one, version))];
  const parts = diffArrays(left, right, { maxEditLength: maxEdits }) ?? [
    { value: left, removed: true, added: false },
    { value: right, removed: false, added: true },
  ];
  const rows: Row[] = [];
  let [from, to] = [0, 0];
  for (const { value, removed, added } of parts) {
    for (const shape of value) {
      rows.push(
        removed
          ? { sign: '-', shape, text: instructionText(before[from]!, old) }
          : { sign: added ? '+' : ' ', shape, text: instructionText(after[to]!, version) },
      );
      if (!added) from += 1;
      if (!removed) to += 1;
    }
  }
  return listed(withoutMoves(rows));
}

/** The rows without those of moved instructions: an instruction removed in one place and added in another. */
function withoutMoves(rows: readonly Row[]): Row[] {
  const gone = new Map<string, number>();
  for (const { sign, shape } of rows) if (sign === '-') gone.set(shape, (gone.get(shape) ?? 0) + 1);
  const moved = new Map<string, number>();
  const kept = rows.map((row): Row => {
    const many = row.sign === '+' ? (gone.get(row.shape) ?? 0) : 0;
    if (many === 0) return row;
    gone.set(row.shape, many - 1);
    moved.set(row.shape, (moved.get(row.shape) ?? 0) + 1);
    return { ...row, sign: ' ' };
  });
  return kept.filter(({ sign, shape }) => {
    const many = sign === '-' ? (moved.get(shape) ?? 0) : 0;
    if (many > 0) moved.set(shape, many - 1);
    return many === 0;
  });
}

/** Changed rows with unchanged ones around them. */
function listed(rows: readonly Row[]): string[] {
  if (rows.every(({ sign }) => sign === ' ')) return [];
  const isNear = rows.map((_, at) => rows.slice(Math.max(0, at - context), at + context + 1).some(({ sign }) => sign !== ' '));
  const lines: string[] = [];
  let same = 0;
  const close = (): void => {
    if (same > 0) lines.push(`  (${same} the same)`);
    same = 0;
  };
  for (const [at, { sign, text }] of rows.entries()) {
    if (!isNear[at]) {
      same += 1;
      continue;
    }
    close();
    lines.push(`${sign} ${text}`);
  }
  close();
  return lines.length <= maxListed ? lines : [...lines.slice(0, maxListed - 1), `  (${lines.length - maxListed + 1} more)`];
}
