/** Launches that a report must list for a kernel, parsed from the first lines of its file. */
import { printExpression } from '../../src/assumptions/print-assumption.ts';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import { type Lookup, evaluateCondition, evaluateExpression } from '../../src/assumptions/evaluate.ts';

/** Names, such as `n` or `gridDim.x`, and their values. */
type Point = ReadonlyMap<string, bigint>;

/** Expectations of a launch at a place. `README.md` documents their syntax. */
export interface ExpectedLaunch {
  /** As it is written. */
  readonly text: string;
  /** `FILE:LINE` of the site. */
  readonly place: string;
  /** Values that the launch must have, by its numbers or by its constraints. */
  readonly gives: Point;
  /** Values of the other arguments. */
  readonly where: Point;
  /** Values that the launch must allow, or must exclude. */
  readonly permits?: Point;
  readonly excludes?: Point;
  /** Elements of arrays. */
  readonly extents: Point;
  readonly shared?: number;
  readonly cluster?: number;
  readonly cooperative: boolean;
}

export interface JudgedLaunch {
  readonly block?: readonly number[] | null;
  readonly grid?: readonly number[] | null;
  readonly cluster?: readonly number[] | null;
  readonly sharedBytes?: number | null;
  readonly cooperative?: boolean;
  readonly location?: { readonly file: string; readonly line: number };
  /** Arguments that are numbers. */
  readonly args?: Readonly<Record<string, number | string>>;
  /** Relations of its dimensions and arguments, in the language of assumptions. */
  readonly ties?: readonly string[];
  readonly race: { readonly assumptions?: readonly Assumed[] };
  readonly divergence: { readonly assumptions?: readonly Assumed[] };
}

interface Assumed {
  readonly kind: string;
  readonly text: string;
}

const axes = ['x', 'y', 'z'] as const;

/**
 * Parses the text after the word `launch`.
 * @throws if it is malformed
 */
export function parseLaunch(text: string): ExpectedLaunch {
  const [place = '', ...words] = text.split(' ');
  if (!/^\S+:\d+$/.test(place)) throw new Error(`no place of a launch: ${text}`);
  const points = new Map<string, Point>();
  let gives = new Map<string, bigint>();
  let launch: ExpectedLaunch = { text, place, gives, where: new Map(), extents: new Map(), cooperative: false };
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, kind, value] = /^(block|grid|cluster|shared)=([\d,]+)$/.exec(word) ?? [];
    if (word === 'cooperative') launch = { ...launch, cooperative: true };
    else if (kind === 'cluster' || kind === 'shared') launch = { ...launch, [kind]: Number(value) };
    else if (kind !== undefined) {
      const given = value!.split(',').map(BigInt);
      gives = new Map([...gives, ...axes.map((axis, index) => [`${kind}Dim.${axis}`, given[index] ?? 1n] as const)]);
    } else if (['args', 'where', 'permits', 'excludes', 'extent'].includes(word) && !points.has(word)) {
      points.set(word, pointOf(words.shift() ?? ''));
    } else throw new Error(`malformed: launch ${text}`);
  }
  const [permits, excludes] = [points.get('permits'), points.get('excludes')];
  return {
    ...launch,
    gives: new Map([...gives, ...(points.get('args') ?? [])]),
    where: points.get('where') ?? new Map(),
    extents: points.get('extent') ?? new Map(),
    ...(permits && { permits }),
    ...(excludes && { excludes }),
  };
}

/** `n=1000,gridDim.x=4` */
function pointOf(text: string): Point {
  return new Map(
    text.split(',').map((part) => {
      const [, name, value] = /^([A-Za-z_][\w.]*)=(-?\d+)$/.exec(part) ?? [];
      if (name === undefined || value === undefined) throw new Error(`no value: ${part}`);
      return [name, BigInt(value)];
    }),
  );
}

/** Differences between the launches of a kernel and an expected one; empty if one of them satisfies it. */
export function launchDifferences(expected: ExpectedLaunch, launches: readonly JudgedLaunch[]): string[] {
  const here = launches.filter(({ location }) => location && `${location.file}:${location.line}` === expected.place);
  if (here.length === 0) return [`no launch at ${expected.place}`];
  const isMet = expected.excludes
    ? here.every((launch) => !allows(launch, expected.excludes!))
    : here.some((launch) => isAsExpected(expected, launch));
  return isMet ? [] : [`not as expected: launch ${expected.text}`];
}

function isAsExpected(expected: ExpectedLaunch, launch: JudgedLaunch): boolean {
  const { gives, where, extents, permits, shared, cluster, cooperative } = expected;
  const point = new Map([...where, ...gives]);
  return (
    allows(launch, permits ?? point) &&
    [...gives].every(([name, value]) => isGiven(launch, point, name, value)) &&
    [...extents].every(([array, elements]) => extentOf(launch, array, point) === elements) &&
    (shared === undefined || launch.sharedBytes === shared) &&
    (cluster === undefined || launch.cluster?.[0] === cluster) &&
    // `permits` does not constrain other properties.
    (permits !== undefined || launch.cooperative === cooperative)
  );
}

/** Whether the launch has this value there and no other: its neighbours are not allowed. */
function isGiven(launch: JudgedLaunch, point: Point, name: string, value: bigint): boolean {
  const assumptions = [...(launch.race.assumptions ?? []), ...(launch.divergence.assumptions ?? [])];
  if (assumptions.some(({ kind, text }) => kind === 'launch' && text === `${name} = ${value}`)) return true;
  return [value - 1n, value + 1n].every((other) => !allows(launch, new Map([...point, [name, other]])));
}

/** Whether no known property of a launch contradicts these values. */
function allows(launch: JudgedLaunch, point: Point): boolean {
  const isOther = [...point].some(([name, value]) => {
    const given = dimensionOf(launch, name) ?? launch.args?.[name];
    return given !== undefined && BigInt(given) !== value;
  });
  return !isOther && (launch.ties ?? []).every((tie) => holds(tie, lookupOf(launch, point)) !== false);
}

function dimensionOf({ block, grid }: JudgedLaunch, name: string): number | undefined {
  const [, dimension, axis] = /^(block|grid)Dim\.([xyz])$/.exec(name) ?? [];
  const extents = dimension === 'block' ? block : dimension === 'grid' ? grid : undefined;
  return extents?.[axes.findIndex((one) => one === axis)];
}

function lookupOf(launch: JudgedLaunch, point: Point): Lookup {
  return (leaf) => {
    const name = printExpression(leaf);
    const given = dimensionOf(launch, name) ?? launch.args?.[name];
    return point.get(name) ?? (given === undefined ? undefined : BigInt(given));
  };
}

/** @throws if a tie is not in the language of assumptions */
function holds(tie: string, lookup: Lookup): boolean | undefined {
  const parsed = parseAssumption(tie);
  if (!('expression' in parsed)) throw new Error(`a constraint that is not an assumption: ${tie}`);
  return parsed.expression.kind === 'condition' ? evaluateCondition(parsed.expression.condition, lookup) : undefined;
}

/** Minimum number of elements of an array, according to a constraint. */
function extentOf(launch: JudgedLaunch, array: string, point: Point): bigint | undefined {
  const extents = (launch.ties ?? []).flatMap((tie) => {
    const parsed = parseAssumption(tie);
    return 'expression' in parsed && parsed.expression.kind === 'extent' && parsed.expression.array === array
      ? [evaluateExpression(parsed.expression.atLeast, lookupOf(launch, point))]
      : [];
  });
  return extents.find((elements) => elements !== undefined);
}
