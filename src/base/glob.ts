/** A compiled glob. */
export interface Glob {
  /** Whether it matches a whole text. */
  readonly test: (text: string) => boolean;
}

/** Meaning of the characters of a glob. `*` is any number of characters, `?` is one, in every dialect. */
interface GlobDialect {
  /** The separator that only `**` crosses: `*`, `?` and `[…]` do not match it, and `**` before it may also be empty. */
  readonly separator: string | null;
  /** Whether `{a,b}` are alternatives and `[…]` is a set of characters. If not, they are literals. */
  readonly hasChoices: boolean;
}

/** One step of a glob: consumes a character, or continues at other steps without consuming one. */
type Step = { readonly kind: 'take'; readonly accepts: (character: string) => boolean } | { readonly kind: 'go'; readonly to: number[] };

/** Maximum number of steps of a glob: longer ones are not handwritten, and match nothing. */
const maximumSteps = 10_000;

/**
 * Compiles a glob. Matching takes time proportional to the product of the lengths, for any glob: all paths through it
 * are followed at once.
 * @param pattern the text of the glob; every text is valid
 */
export function compileGlob(pattern: string, dialect: GlobDialect): Glob {
  const steps = compile([...pattern], dialect);
  if (steps.length > maximumSteps) return { test: () => false };
  return { test: (text) => matches(steps, text) };
}

const anything = (): boolean => true;

function compile(pattern: readonly string[], { separator, hasChoices }: GlobDialect): Step[] {
  const withinPart = (character: string): boolean => character !== separator;
  const steps: Step[] = [];
  /** For each open brace, where its alternatives start and the steps that leave them. */
  const groups: { readonly start: number[]; readonly leave: number[][] }[] = [];
  const take = (accepts: (character: string) => boolean): void => void steps.push({ kind: 'take', accepts });
  const go = (...to: number[]): number[] => {
    steps.push({ kind: 'go', to });
    return to;
  };
  const repeat = (accepts: (character: string) => boolean): void => {
    go(steps.length + 1, steps.length + 3);
    take(accepts);
    go(steps.length - 2);
  };
  const endGroup = (): void => {
    for (const leave of groups.pop()?.leave ?? []) leave.push(steps.length);
  };
  const isAt = (index: number, text: string): boolean => [...text].every((c, offset) => pattern[index + offset] === c);
  for (let i = 0; i < pattern.length && steps.length <= maximumSteps; i++) {
    const character = pattern[i] ?? '';
    const group = groups.at(-1);
    if (separator !== null && isAt(i, `**${separator}`) && (i === 0 || pattern[i - 1] === separator)) {
      const skip = go(steps.length + 1);
      repeat(anything);
      take((c) => c === separator);
      skip.push(steps.length);
      i += 2;
    } else if (isAt(i, '**')) {
      repeat(anything);
      i += 1;
    } else if (character === '*') repeat(withinPart);
    else if (character === '?') take(withinPart);
    else if (character === '{' && hasChoices) groups.push({ start: go(steps.length + 1), leave: [] });
    else if (character === ',' && group) {
      group.leave.push(go());
      group.start.push(steps.length);
    } else if (character === '}' && group) endGroup();
    else {
      const end = character === '[' && hasChoices ? pattern.indexOf(']', i + 2) : -1;
      if (end > 0) {
        const isInSet = characterSet(pattern.slice(i + 1, end));
        take((c) => withinPart(c) && isInSet(c));
        i = end;
      } else take((c) => c === character);
    }
  }
  while (groups.length > 0) endGroup();
  return steps;
}

/** `a-z0` or `!a-z0`: one character. */
function characterSet(set: readonly string[]): (character: string) => boolean {
  const isNegated = set[0] === '!';
  const ranges: (readonly [low: string, high: string])[] = [];
  for (let i = isNegated ? 1 : 0; i < set.length; i++) {
    const low = set[i] ?? '';
    const isRange = set[i + 1] === '-' && i + 2 < set.length;
    ranges.push([low, isRange ? (set[i + 2] ?? '') : low]);
    if (isRange) i += 2;
  }
  return (character) => ranges.some(([low, high]) => low <= character && character <= high) !== isNegated;
}

function matches(steps: readonly Step[], text: string): boolean {
  let current = reached(steps, [0]);
  for (const character of text) {
    const next: number[] = [];
    for (const index of current) {
      const step = steps[index];
      if (step?.kind === 'take' && step.accepts(character)) next.push(index + 1);
    }
    if (next.length === 0) return false;
    current = reached(steps, next);
  }
  return current.has(steps.length);
}

/** All steps that can be reached without taking a character. */
function reached(steps: readonly Step[], from: readonly number[]): Set<number> {
  const found = new Set<number>();
  const pending = [...from];
  for (let index = pending.pop(); index !== undefined; index = pending.pop()) {
    if (found.has(index)) continue;
    found.add(index);
    const step = steps[index];
    if (step?.kind === 'go') pending.push(...step.to);
  }
  return found;
}
