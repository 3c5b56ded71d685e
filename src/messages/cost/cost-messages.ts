/** Sentences about a cost that is higher than before, or above a limit. */
import { type BoundMetric, boundTable, isBoundMetric, isShare, type ResourceMetric, resourceTable } from '../../cost/model/metrics.ts';
import type { Regression } from '../../report-model/regression.ts';
import { briefBound } from './bound-text.ts';
import { count } from '../text/code-text.ts';

/** Maximum number of characters of a bound. Of a longer one, a sentence contains only the fastest-growing terms. */
const maxLetters = 80;

type Said = Pick<
  Regression,
  'metric' | 'base' | 'head' | 'baseValue' | 'headValue' | 'at' | 'ratio' | 'growsWith' | 'reason' | 'build' | 'of' | 'launch'
> & {
  /** For a bound: whether in every launch some warp reaches it. If not, it may be higher than any actual cost. */
  readonly isReached?: boolean;
};

/**
 * `the launch touches 4 times the sectors of global memory: 4096 instead of 1024 at n = 4096`, or of bounds: `in its
 * worst case a warp touches 4 times the sectors of global memory: 32*ceil(n/32) instead of 8*ceil(n/32) (4096 instead
 * of 1024 at n = 4096)`; `may touch` if the bound is not known to be reached.
 */
export function regressionMessage(said: Said): string {
  const { base, head, baseValue, headValue, at = {}, reason } = said;
  if (said.of !== undefined) return `${regressionPhrase(said)}${countedText(said)}`;
  if (typeof base !== 'string' || typeof head !== 'string') return `${regressionPhrase(said)}${reason === undefined ? '' : `: ${reason}`}`;
  const isPlain = base === String(baseValue) && head === String(headValue);
  const names = isPlain ? '' : argumentsText(at);
  const values = names === '' ? '' : ` (${headValue} instead of ${baseValue} at ${names})`;
  return `${regressionPhrase(said)}${compiledText(said)}: ${briefBound(head, maxLetters)} instead of ${briefBound(base, maxLetters)}${values}`;
}

/** A short phrase without expressions: `in its worst case a warp touches 4 times the sectors of global memory`. */
function regressionPhrase(said: Said): string {
  const { metric, base, head, ratio, growsWith, baseValue, headValue } = said;
  if (!isBoundMetric(metric)) {
    if (isShare(metric)) return `${metric} falls from ${percent(Number(base))} to ${percent(Number(head))}`;
    return `${amountText(metric, Number(head) - Number(base), 'more ')} (${head} instead of ${base})`;
  }
  const { verb, noun } = boundTable[metric];
  if (said.of === 'access') return accessPhrase(said);
  if (said.of === 'launch') {
    if (headValue === 0) return `the launch ${verb} no ${noun} any more`;
    if (baseValue === 0) return `the launch ${verb} ${noun}, and none before`;
    if (growsWith !== undefined) return `the ${noun} that the launch ${verb} grow faster with ${growsWith}`;
    const share = ratio ?? 1;
    return share < 1
      ? `the launch ${verb} ${Math.round(100 * (1 - share))} % fewer ${noun}`
      : `the launch ${verb} ${times(share)} the ${noun}`;
  }
  if (head === null) return `there is no longer a bound on the ${noun} that a warp ${verb}`;
  if (growsWith !== undefined && base !== '0') return `the bound on the ${noun} that a warp ${verb} grows faster with ${growsWith}`;
  return `in its worst case a warp ${does(said, metric)} ${baseValue === 0 ? `${noun}, and none before` : `${times(ratio ?? 1)} the ${noun}`}`;
}

/** Name of the counted quantity, for a table: `sectors of global memory of the launch, at n = 4096`. */
export function costName({ metric, of, at = {}, growsWith }: Said): string {
  if (!isBoundMetric(metric)) return isShare(metric) ? metric : resourceTable[metric].words[1];
  const whose = of === 'launch' ? ' of the launch' : of === 'access' ? ' of one access' : ' of a warp at worst';
  const names = argumentsText(at);
  const faster = growsWith === undefined ? '' : `, grows faster with ${growsWith}`;
  return `${boundTable[metric].noun}${whose}${names === '' ? '' : ` at ${names}`}${faster}`;
}

/** An amount of a cost, for a table; null without a bound. */
export function amountOf({ metric }: Said, amount: string | number | null): string | null {
  if (typeof amount !== 'number') return amount;
  return isShare(metric) || (metric === 'divwarps' && amount < 1) ? percent(amount) : String(rounded(amount));
}

/** Phrase for a launch with an unknown grid: the cost per access or per branch. */
function accessPhrase({ metric, baseValue = 0, headValue = 0 }: Said): string {
  switch (metric) {
    case 'conflicts':
      return `an access to shared memory takes ${rounded(headValue + 1)} wavefronts instead of ${rounded(baseValue + 1)}`;
    case 'divwarps':
      return `a warp diverges at ${percent(headValue)} of its branches instead of ${percent(baseValue)}`;
    default:
      return `for each sector that its bytes would fill, the kernel touches ${rounded(headValue)} instead of ${rounded(baseValue)}`;
  }
}

/** Values, arguments and dimensions of a counted launch. */
function countedText({ of, baseValue = 0, headValue = 0, at = {}, launch }: Said): string {
  const extents = (size: readonly number[]): string => [...size].join(' x ').replace(/( x 1)+$/, '');
  const places = [argumentsText(at), launch ? `block ${extents(launch.block)}, grid ${extents(launch.grid)}` : ''].filter(
    (part) => part !== '',
  );
  const where = places.length === 0 ? '' : ` at ${places.join(', ')}`;
  return of === 'access' ? where : `: ${Math.round(headValue)} instead of ${Math.round(baseValue)}${where}`;
}

function rounded(amount: number): number {
  return Math.abs(amount) < 100 ? Math.round(amount * 100) / 100 : Math.round(amount);
}

/**
 * The message on an exceeded limit.
 * @param found the cost of the kernel
 */
export function exceededMessage({ limit = '', ...found }: Partial<Said> & Pick<Said, 'metric' | 'head'> & { limit?: string }): string {
  const { metric, head, at = {}, headValue, reason } = found;
  if (!isBoundMetric(metric)) {
    if (isShare(metric))
      return `${metric} ${percent(Number(head))} is below the limit ${limit}${reason === undefined ? '' : `: ${reason}`}`;
    return `the kernel uses ${amountText(metric, Number(head))}, which exceeds the limit ${limit}`;
  }
  const { noun } = boundTable[metric];
  const names = head === String(headValue) ? '' : argumentsText(at);
  const values = names === '' ? '' : ` (${headValue} at ${names})`;
  return `a warp ${does(found, metric)} up to ${typeof head === 'string' ? briefBound(head, maxLetters) : head} ${noun}${compiledText(found)}${values}, which exceeds the limit ${limit}`;
}

/** The message on a limit that could not be compared with the cost of the kernel. */
export function notComparedMessage({ metric, limit }: Pick<Regression, 'metric' | 'limit'>, reason: string): string {
  return `Selvage cannot compare the limit ${metric} ${limit} with the cost of the kernel: ${reason}`;
}

/** Arguments as text: `n = 4096, m = 8`. */
export function argumentsText(at: Readonly<Record<string, number>>): string {
  return Object.entries(at)
    .map(([name, value]) => `${name} = ${value}`)
    .join(', ');
}

/** A share as text: `37.5 %`. */
export function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function does({ isReached = false }: Pick<Said, 'isReached'>, metric: BoundMetric): string {
  const { verb, infinitive } = boundTable[metric];
  return isReached ? verb : `may ${infinitive}`;
}

function compiledText({ build }: Pick<Partial<Said>, 'build'>): string {
  return build === 'production' ? ' in the optimised build' : '';
}

function amountText(metric: ResourceMetric, amount: number, more = ''): string {
  const [one, several] = resourceTable[metric].words;
  return count(amount, `${more}${one}`, `${more}${several}`);
}

/** A ratio as text: `4 times`, `1.3 times`. */
function times(ratio: number): string {
  return `${ratio >= 10 ? Math.round(ratio) : rounded(ratio)} times`;
}
