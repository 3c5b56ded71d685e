/** A compiled pattern over paths. */
export interface PathPattern {
  readonly test: (path: string) => boolean;
}

/** One step of a pattern: takes a character, or goes on at other steps without taking one. */
type Step =
  | { readonly kind: 'take'; readonly accepts: (character: string) => boolean }
  | { readonly kind: 'go'; readonly to: number[] };

/** Steps of a pattern at most: what is longer no person wrote, and matches nothing. */
const maximumSteps = 10_000;

/**
 * Compiles a pattern over paths with forward slashes: `**` is any number of folders, `*` and `?` stay within one,
 * `{a,b}` are alternatives, `[…]` is a set of characters. Matching takes time proportional to the product of the
 * lengths, whatever the pattern: all ways through it are followed at once.
 */
export function pathPattern(pattern: string): PathPattern {
  const steps = compile([...pattern]);
  if (steps.length > maximumSteps) return { test: () => false };
  return { test: (path) => matches(steps, path) };
}

/** Whether a word holds any of the characters that make it a pattern. */
export function isPattern(word: string): boolean {
  return /[*?[{]/.test(word);
}

const anything = (): boolean => true;
const withinFolder = (character: string): boolean => character !== '/';

function compile(pattern: readonly string[]): Step[] {
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
    if (isAt(i, '**/') && (i === 0 || pattern[i - 1] === '/')) {
      const skip = go(steps.length + 1);
      repeat(anything);
      take((c) => c === '/');
      skip.push(steps.length);
      i += 2;
    } else if (isAt(i, '**')) {
      repeat(anything);
      i += 1;
    } else if (character === '*') repeat(withinFolder);
    else if (character === '?') take(withinFolder);
    else if (character === '{') groups.push({ start: go(steps.length + 1), leave: [] });
    else if (character === ',' && group) {
      group.leave.push(go());
      group.start.push(steps.length);
    } else if (character === '}' && group) endGroup();
    else {
      const end = character === '[' ? pattern.indexOf(']', i + 2) : -1;
      if (end > 0) {
        take(characterSet(pattern.slice(i + 1, end)));
        i = end;
      } else take((c) => c === character);
    }
  }
  while (groups.length > 0) endGroup();
  return steps;
}

/** `a-z0` or `!a-z0`: one character, never the slash between folders. */
function characterSet(set: readonly string[]): (character: string) => boolean {
  const isNegated = set[0] === '!';
  const ranges: (readonly [low: string, high: string])[] = [];
  for (let i = isNegated ? 1 : 0; i < set.length; i++) {
    const low = set[i] ?? '';
    const isRange = set[i + 1] === '-' && i + 2 < set.length;
    ranges.push([low, isRange ? (set[i + 2] ?? '') : low]);
    if (isRange) i += 2;
  }
  return (character) =>
    withinFolder(character) && ranges.some(([low, high]) => low <= character && character <= high) !== isNegated;
}

function matches(steps: readonly Step[], path: string): boolean {
  let current = reached(steps, [0]);
  for (const character of path) {
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
