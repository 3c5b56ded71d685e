/** The compared launches of a kernel of the base and of the head, and the arguments at which both run. */
import type { Dim3 } from '../../../base/dim3.ts';
import { tiedGrid } from '../../../check/representative/launch-constraints.ts';
import { type LaunchInstance, representativeLaunches } from '../../../check/representative/representative-launches.ts';
import type { KernelContext } from '../../../check/context/facts.ts';
import { givenScalar } from '../../../check/context/scalars.ts';
import { dimensionsIn } from '../../../assumptions/parts.ts';
import { type ParameterField, fieldName } from '../../../launch/parameter-field.ts';
import type { Launch } from '../../../launch/launch.ts';
import type { Settings } from '../../../settings/settings.ts';
import { policyOf } from '../../../settings/configuration.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import { countedContext, countedScalars } from '../../counted/counted-context.ts';
import type { Deadline } from '../../../system/deadline.ts';
import { inTime } from '../../../system/script-timeout.ts';
import { type CountedRun, countLaunch } from '../../counted/counted-run.ts';

/** A launch of the head, its counterpart in the base, and the counts of both at some sizes. */
export interface ComparedLaunch {
  readonly base: Launch;
  readonly head: Launch;
  /** Whether the host program determines the number of blocks: only then is the work of the whole launch comparable. */
  readonly isWhole: boolean;
  /** Whether the block dimensions are unspecified, so that Selvage chose them. */
  readonly isBlockChosen: boolean;
  readonly points: readonly ComparedPoint[];
}

/** Both sides at one choice of arguments. */
export interface ComparedPoint {
  readonly isLarge: boolean;
  /** Scalars of the head that affect the counts, by name. */
  readonly at: Readonly<Record<string, number>>;
  readonly base: CountedRun;
  readonly head: CountedRun;
}

/** Maximum number of compared launches of a kernel: changed ones first. */
export const maxLaunches = 6;
/** Threads of a block if the kernel suggests no number, and a smaller number that is tried as well. */
const usualThreads = 256;
const otherBlock: Dim3 = [128, 1, 1];
/** Maximum number of argument choices for each launch. */
const maxPoints = 3;

/**
 * Runs the launches of a kernel and of its counterpart.
 * @param names names of the parameters of the base in the head
 * @param deadline - after it, only the launches that were already run are returned
 */
export function compareLaunches(
  base: LaunchedKernel,
  head: LaunchedKernel,
  names: ReadonlyMap<string, string>,
  settings: Settings,
  deadline: Deadline,
): ComparedLaunch[] {
  const policy = policyOf(settings.configuration);
  return pairsOf(base.launches, head.launches)
    .slice(0, maxLaunches)
    .flatMap(([before, after]) => {
      const compareNow = (was: Launch, is: Launch): ComparedLaunch[] => {
        const contexts = [countedContext(base, was, policy), countedContext(head, is, policy)] as const;
        const points = pointsOf(...contexts, names);
        if (points.length === 0) return [];
        const isBlockChosen = contexts.some(({ dimensions }) => dimensions.block.includes(null)) || is !== after;
        return [{ base: before, head: after, isWhole: isGridKnown(before) && isGridKnown(after), isBlockChosen, points }];
      };
      const compare = (was: Launch, is: Launch): ComparedLaunch[] => inTime(deadline, () => compareNow(was, is)) ?? [];
      const own = compare(before, after);
      const [block] = own.flatMap(({ points }) => points.filter(({ isLarge }) => isLarge).map(({ head: run }) => run.block));
      const isFree = own[0]?.isBlockChosen === true && block?.[0] === usualThreads && block[1] === 1 && block[2] === 1;
      if (!isFree || before.block !== null || after.block !== null) return own;
      // A change that is an improvement at one block size may be a regression at another.
      return [...own, ...compare({ ...before, block: otherBlock }, { ...after, block: otherBlock })];
    });
}

function isGridKnown({ grid, ties = [] }: Launch): boolean {
  return grid !== null || ties.some(({ expression }) => dimensionsIn(expression).has('gridDim'));
}

/** Corresponding launches: identical ones, then those at the same position. */
function pairsOf(base: readonly Launch[], head: readonly Launch[]): readonly (readonly [Launch, Launch])[] {
  const key = ({ block, grid, sharedBytes, scalars, ties = [] }: Launch): string =>
    JSON.stringify([block, grid, sharedBytes, [...scalars].map(([at, value]) => [at, String(value)]), ties.map(({ text }) => text)]);
  const left = [...base];
  const take = (wanted: (launch: Launch) => boolean): Launch | undefined => {
    const at = left.findIndex(wanted);
    return at < 0 ? undefined : left.splice(at, 1)[0];
  };
  const same = new Map(head.map((launch) => [launch, take((one) => key(one) === key(launch))]));
  // The remaining launches are paired in order.
  const pairs = head.flatMap((launch) => {
    const was = same.get(launch) ?? (base.length === head.length ? take(() => true) : undefined);
    return was ? [[was, launch] as const] : [];
  });
  const isSame = ([, launch]: (typeof pairs)[number]): boolean => same.get(launch) !== undefined;
  return [...pairs.filter((pair) => !isSame(pair)), ...pairs.filter(isSame)];
}

function pointsOf(base: KernelContext, head: KernelContext, names: ReadonlyMap<string, string>): ComparedPoint[] {
  const points: ComparedPoint[] = [];
  for (const setting of settingsOf(head)) {
    const before = settingOfBase(base, head, setting, names);
    const [was, is] = [before && countLaunch(base, before), countLaunch(head, setting)];
    if (was && is) points.push({ isLarge: setting.isLarge, at: countedScalars(head, setting), base: was, head: is });
  }
  // Counts at small sizes do not predict counts at large ones.
  const isEnough = points.some(({ isLarge }) => isLarge) || !representativeLaunches(head).some(({ isLarge }) => isLarge);
  return isEnough ? points : [];
}

/** One small size and two large ones, if the arguments permit them. */
function settingsOf(context: KernelContext): readonly LaunchInstance[] {
  const all = representativeLaunches(context);
  const small = all.filter(({ isLarge }) => !isLarge);
  const chosen = [small[0], ...all.filter(({ isLarge }) => isLarge), small.at(-1)].filter((one) => one !== undefined);
  return [...new Set(chosen)].slice(0, maxPoints);
}

/** The arguments of the head for the base. Arguments that the launch of the base determines take precedence. */
function settingOfBase(
  base: KernelContext,
  head: KernelContext,
  setting: LaunchInstance,
  names: ReadonlyMap<string, string>,
): LaunchInstance | null {
  const nameIn = ({ request, kernel }: KernelContext, field: ParameterField): string => fieldName(request.parameters, field, kernel);
  // The grid may depend on parameters that the kernel does not read.
  const unread = head.kernel.parameters.flatMap(({ index, bytes }): ParameterField[] =>
    bytes > 8 || head.fields.some((field) => field.index === index) ? [] : [{ index, offset: 0, bytes, isPointer: false }],
  );
  const scalars = [...unread, ...head.fields.filter(({ isPointer }) => !isPointer)];
  const known = new Map(scalars.map((field) => [nameIn(head, field), field]));
  const own = representativeLaunches(base).find(({ isLarge }) => isLarge === setting.isLarge) ?? representativeLaunches(base)[0];
  if (!own) return null;
  const scalar = (field: ParameterField): bigint => {
    const name = nameIn(base, field);
    const given = givenScalar(base.request.launch, field.index, field.offset, field.bytes);
    const same = known.get(names.get(name) ?? name);
    const value = same && sizeOfPart(setting.scalar(same), partOf(head, same), partOf(base, field));
    return BigInt.asUintN(8 * field.bytes, given ?? value ?? own.scalar(field));
  };
  const { block, grid } = base.dimensions;
  const chosen = { ...setting, scalar, block: sizesOr(block, setting.block), grid: sizesOr(grid, setting.grid) };
  const tied = tiedGrid(base, chosen);
  return tied && { ...chosen, grid: tied };
}

/** Divisor by which the host program divides a size before it passes the quotient as a parameter. */
function partOf({ request: { launch } }: KernelContext, { index }: ParameterField): bigint {
  return BigInt(launch.parts?.find(([at]) => at === index)?.[1] ?? 1);
}

/**
 * Converts a quotient to another divisor: if one side passes `n / 4` and the other `n`, the values differ by a factor
 * of four.
 */
function sizeOfPart(value: bigint, own: bigint, wanted: bigint): bigint {
  return own === wanted ? value : (value * own + wanted - 1n) / wanted;
}

function sizesOr(sizes: readonly (number | null)[], other: LaunchInstance['block']): LaunchInstance['block'] {
  return [sizes[0] ?? other[0], sizes[1] ?? other[1], sizes[2] ?? other[2]];
}
