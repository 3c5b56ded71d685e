/** What is said of costs that are worse than before, or than a limit. */
import type { Regression } from '../document/regression.ts';
import type { ComparedMetric } from '../settings/cost-policy.ts';

type Said = Pick<Regression, 'metric' | 'base' | 'head' | 'baseValue' | 'headValue' | 'at' | 'ratio' | 'growsWith' | 'reason' | 'build'>; // prettier-ignore

/** What a warp does, and what there is more of. */
const words: Readonly<Partial<Record<ComparedMetric, readonly [verb: string, noun: string]>>> = {
  sectors: ['touches', 'sectors of global memory'],
  conflicts: ['has', 'bank conflicts'],
  divwarps: ['splits at', 'branches'],
  steps: ['executes', 'instructions'],
  work: ['does', 'work'],
  span: ['takes', 'cycles'],
};

/** `every warp touches 4 times the sectors of global memory: 32*ceil(n/32) instead of 8*ceil(n/32) (4096 instead of 1024 at n = 4096)`. */
export function regressionMessage(said: Said): string {
  const { base, head, baseValue, headValue, at = {} } = said;
  if (typeof base === 'number' || typeof head === 'number') return regressionPhrase(said) + why(said);
  if (head === null) return regressionPhrase(said) + why(said);
  const names = Object.entries(at).map(([name, value]) => `${name} = ${value}`);
  const isPlain = base === String(baseValue) && head === String(headValue);
  const values = names.length === 0 || isPlain ? '' : ` (${headValue} instead of ${baseValue} at ${names.join(', ')})`;
  const build = said.build === 'production' ? ' as compiled' : '';
  return `${regressionPhrase(said)}${build}: ${head} instead of ${base}${values}`;
}

/** In few words, without expressions: `every warp touches 4 times the sectors of global memory`. */
export function regressionPhrase({ metric, base, head, ratio, growsWith, baseValue }: Said): string {
  switch (metric) {
    case 'registers':
      return `${plural(Number(head) - Number(base), 'more register')} (${head} instead of ${base})`;
    case 'sharedBytes':
      return `${plural(Number(head) - Number(base), 'more byte')} of shared memory (${head} instead of ${base})`;
    case 'spillBytes':
      return base === 0
        ? `${plural(Number(head), 'byte')} stored and reloaded by spills, before none`
        : `${head} bytes stored and reloaded by spills instead of ${base}`;
    case 'occupancy':
      return `occupancy ${percent(Number(base))} → ${percent(Number(head))}`;
    default: {
      const [verb, noun] = words[metric]!;
      if (head === null) return `what a warp costs in ${noun} has no bound any more`;
      const more = baseValue === 0 ? `${noun} now, before none` : `${times(ratio ?? 1)} the ${noun}`;
      if (growsWith !== undefined && base !== '0')
        return `the ${noun} that every warp ${verb} grow faster with ${growsWith}`;
      return `every warp ${verb} ${more}`;
    }
  }
}

/**
 * What is said of a limit.
 * @param reason why it could not be compared; undefined where it is exceeded
 */
export function limitMessage(
  {
    metric,
    head,
    limit = '',
    at,
    headValue,
    build,
    reason: why,
  }: Partial<Said> & Pick<Said, 'metric' | 'head'> & { limit?: string },
  reason: string | undefined,
): string {
  if (reason !== undefined) return `the limit ${metric} ${limit} cannot be compared: ${reason}`;
  const because = why === undefined ? '' : `: ${why}`;
  switch (metric) {
    case 'occupancy':
      return `occupancy ${percent(Number(head))} is below its limit ${limit}${because}`;
    case 'registers':
      return `${plural(Number(head), 'register')} are above the limit ${limit}`;
    case 'sharedBytes':
      return `${plural(Number(head), 'byte')} of shared memory are above the limit ${limit}`;
    case 'spillBytes':
      return `${plural(Number(head), 'byte')} stored and reloaded by spills are above the limit ${limit}`;
    default: {
      const names = Object.entries(at ?? {}).map(([name, value]) => `${name} = ${value}`);
      const values = names.length === 0 || head === String(headValue) ? '' : ` (${headValue} at ${names.join(', ')})`;
      const compiled = build === 'production' ? ' as compiled' : '';
      return `a warp ${words[metric]![0]} up to ${head} ${words[metric]![1]}${compiled}${values}, above the limit ${limit}`;
    }
  }
}

function why({ reason }: Said): string {
  return reason === undefined ? '' : `: ${reason}`;
}

/** `4 times`, `1.3 times`. */
function times(ratio: number): string {
  const rounded = ratio >= 10 ? Math.round(ratio) : Math.round(ratio * 100) / 100;
  return `${rounded} times`;
}

/** `37.5 %`. */
export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function plural(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}
