/** Changes between the SASS of a kernel and its base: in total, then by line. */
import type { Location } from '../source/location.ts';
import { lineKey } from './line-changes.ts';
import type { Repetition, CodeProfile, LineProfile, WorkKind } from './profile.ts';

/** The number of accesses of one width in bits. */
export interface Accesses {
  readonly count: number;
  readonly bits: number;
}

/** A change of the SASS of a kernel, at the line with the largest part of it. */
export type CodeChange = {
  readonly location: Location | undefined;
  /** Loops around the line in the head: none, some, or some with an innermost one that contains no other loop. */
  readonly loop: 'none' | 'outer' | 'inner';
  /** Maximum trip count of the innermost loop around the line, each time it is entered; absent if unknown. */
  readonly rounds?: Repetition;
} & (
  | { readonly kind: 'spills'; readonly before: number; readonly after: number; readonly areSpills: boolean }
  | {
      readonly kind: 'accesses';
      readonly access: 'load' | 'store';
      readonly space: string;
      readonly before: readonly Accesses[];
      readonly after: readonly Accesses[];
    }
  | { readonly kind: 'work'; readonly work: CountedWork; readonly before: number; readonly after: number }
  | { readonly kind: 'instructions'; readonly before: number; readonly after: number }
);

/** Work reported only by count: synchronisation, reported before the accesses, and the rest. */
const ordering = ['barrier', 'fence', 'atomic'] as const;
const arithmetic = ['double', 'division', 'tensor', 'special', 'copy', 'texture', 'call'] as const;
export type CountedWork = (typeof ordering)[number] | (typeof arithmetic)[number];

type Work = ReadonlyMap<WorkKind, number>;
const none: Work = new Map();

/** A line of the head with its corresponding line in the base. */
interface LinePair {
  readonly location: Location | undefined;
  readonly loop: CodeChange['loop'];
  readonly rounds: LineProfile['rounds'];
  readonly before: Work;
  readonly after: Work;
  readonly instructionsBefore: number;
  readonly instructionsAfter: number;
}

function loopOf({ depth, isInner }: LineProfile): CodeChange['loop'] {
  if (depth === 0) return 'none';
  return isInner ? 'inner' : 'outer';
}

/**
 * Compares the SASS of a kernel with that of the base. Work that only moved to another line is not a change.
 * @param baseOf the line of the base that corresponds to a line of the head; null if the line is new
 * @returns most significant changes first; empty if the work is the same
 */
export function compareCode(
  base: CodeProfile,
  head: CodeProfile,
  baseOf: (location: Location) => { readonly file: string; readonly line: number } | null,
): CodeChange[] {
  const left = new Map(base.lines.map((line) => [lineKey(line.location), line]));
  const pairs: LinePair[] = head.lines.map((line) => {
    const key = line.location ? baseOf(line.location) : undefined;
    const was = key === null ? undefined : left.get(lineKey(key));
    if (was) left.delete(lineKey(was.location));
    return {
      location: line.location,
      loop: loopOf(line),
      rounds: line.rounds,
      before: was?.work ?? none,
      after: line.work,
      instructionsBefore: was?.instructions ?? 0,
      instructionsAfter: line.instructions,
    };
  });
  // Removed lines have no location in the head.
  for (const { work, instructions } of left.values()) {
    pairs.push({
      location: undefined,
      loop: 'none',
      rounds: undefined,
      before: work,
      after: none,
      instructionsBefore: instructions,
      instructionsAfter: 0,
    });
  }
  const changes: CodeChange[] = [];
  const most = (size: (pair: LinePair) => number, sign: number): LinePair | undefined => {
    let found: LinePair | undefined;
    // Work is weighted by its number of executions.
    const weight = (pair: LinePair): number => size(pair) * sign * (pair.rounds?.all.weight ?? 1);
    for (const pair of pairs) if (weight(pair) > Math.max(0, found ? weight(found) : 0)) found = pair;
    return found;
  };
  const spillsOf = (work: Work): number => sum(work, ['spill load', 'spill store']);
  const [spillsBefore, spillsAfter] = [spillsOf(base.work), spillsOf(head.work)];
  if (spillsBefore !== spillsAfter) {
    const pair = most((one) => spillsOf(one.after) - spillsOf(one.before), Math.sign(spillsAfter - spillsBefore));
    const place = placeOf(pair);
    const { spillBytes = 0 } = spillsAfter > spillsBefore ? head : base;
    const areSpills = spillBytes > 0;
    // All spills of a kernel are one change, at the line with most of them.
    changes.push({ ...place, kind: 'spills', before: spillsBefore, after: spillsAfter, areSpills });
  }
  const countedChanges = (kinds: readonly CountedWork[]): void => {
    for (const work of kinds) {
      const [before, after] = [base.work.get(work) ?? 0, head.work.get(work) ?? 0];
      if (before === after) continue;
      const pair = most((one) => (one.after.get(work) ?? 0) - (one.before.get(work) ?? 0), Math.sign(after - before));
      changes.push({ ...placeOf(pair), kind: 'work', work, before, after });
    }
  };
  countedChanges(ordering);
  for (const space of ['global', 'shared', 'generic', 'surface'] as const) {
    for (const access of ['load', 'store'] as const) {
      const family = (work: Work): Map<number, number> => widths(work, `${access} ${space} `);
      const [before, after] = [family(base.work), family(head.work)];
      if (difference(before, after) === 0) continue;
      const pair = most((one) => difference(family(one.before), family(one.after)), 1);
      // If the accesses have the same number of bits in different widths, they are one change, even on several lines.
      const isRegrouped = totalBits(before) === totalBits(after);
      const gaining = most((one) => gained(family(one.before), family(one.after)), 1);
      const isOfLine = pair?.location !== undefined && (!isRegrouped || totalBits(family(pair.before)) === totalBits(family(pair.after)));
      changes.push({
        ...placeOf(isOfLine ? pair : isRegrouped ? gaining : undefined),
        kind: 'accesses',
        access,
        space,
        before: accessesOf(isOfLine ? family(pair.before) : before),
        after: accessesOf(isOfLine ? family(pair.after) : after),
      });
    }
  }
  countedChanges(arithmetic);
  if (changes.length === 0 && base.instructions !== head.instructions) {
    const pair = most((one) => one.instructionsAfter - one.instructionsBefore, Math.sign(head.instructions - base.instructions));
    changes.push({ ...placeOf(pair), kind: 'instructions', before: base.instructions, after: head.instructions });
  }
  return changes;
}

function placeOf(pair: LinePair | undefined): Pick<CodeChange, 'location' | 'loop' | 'rounds'> {
  const { location, loop = 'none', rounds } = pair ?? {};
  return { location, loop, ...(rounds && loop !== 'none' && { rounds: rounds.inner }) };
}

function sum(work: Work, kinds: readonly WorkKind[]): number {
  return kinds.reduce((total, kind) => total + (work.get(kind) ?? 0), 0);
}

/** Number of accesses by width, for kinds of work with a prefix. */
function widths(work: Work, prefix: string): Map<number, number> {
  return new Map(
    [...work].flatMap(([kind, count]) => (kind.startsWith(prefix) ? [[Number(kind.slice(prefix.length)), count] as const] : [])),
  );
}

function difference(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>): number {
  return [...new Set([...a.keys(), ...b.keys()])].reduce((total, bits) => total + Math.abs((a.get(bits) ?? 0) - (b.get(bits) ?? 0)), 0);
}

function totalBits(of: ReadonlyMap<number, number>): number {
  return [...of].reduce((total, [bits, count]) => total + bits * count, 0);
}

/** Number of added accesses, over all widths. */
function gained(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((total, [bits, count]) => total + Math.max(0, count - (before.get(bits) ?? 0)), 0);
}

function accessesOf(of: ReadonlyMap<number, number>): Accesses[] {
  return [...of].map(([bits, count]) => ({ bits, count })).sort((a, b) => a.bits - b.bits);
}
