/**
 * Results of runs of a launch, and their severity according to section 2 of the design. It is derived from the runs
 * and from the origins of addresses, and from nothing else that the check computes:
 *
 * - An index that leaves an object of known extent at the launch: an error. An index over a dimension that the
 *   launch leaves open is not counted: the block of a run is then our choice, and indices are assumed to stay inside.
 * - Threads that do not reach a barrier: as a race whose address depends on no contents.
 * - A race of volatile accesses that no lock and no flag explains: a warning.
 * - A race whose address depends on contents of arrays: a warning if a load or an atomic is among the racing accesses
 *   of the array, otherwise (only stores) a notice. Elements of small types leave no choice: an error is correct too.
 * - Any other race or divergence: an error if every size and all contents show it; a warning if only some sizes do;
 *   a warning or a notice if only some contents do, as they may be special or usual.
 * - Stores of equal values, volatile or not: a warning, or a notice if they are of one literal, or of one warp.
 *
 * In a run with a made-up value only races count whose places and paths depend on no value of memory.
 *
 * Sizes are those of the launch, otherwise three large representative ones; contents are three samples. If the launch
 * does not specify the dynamic shared memory, a run has the maximum: an index beyond it leaves that of every launch.
 */
import { recognised } from '../../src/app/run/run-findings.ts';
import type { Access } from '../../src/analysis/values/access.ts';
import type { KernelContext } from '../../src/check/context/facts.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import { draws, generatedContents } from '../../src/check/representative/contents.ts';
import { type LaunchInstance, representativeLaunches } from '../../src/check/representative/representative-launches.ts';
import { type Contents, replayRequest } from '../../src/check/witness/replay.ts';
import { elementRanges, resolvedElements } from '../../src/check/witness/stated-elements.ts';
import { namedPointer } from '../../src/check/premises/premises.ts';
import type { CheckRequest } from '../../src/check/request/check-request.ts';
import { maximumSharedBytes } from '../../src/device/hardware-limits.ts';
import type { AccessEvent, RaceEvent, RunResult } from '../../src/interpreter/core/run-result.ts';
import type { InstructionId } from '../../src/ir/form/kernel.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import { isStrong } from '../../src/memory-model/fence.ts';
import type { Term } from '../../src/term/term.ts';
import { isInBounds } from '../fuzz/soundness-run.ts';

export type Told = 'none' | 'notice' | 'warning' | 'error';
export const severities: readonly Told[] = ['none', 'notice', 'warning', 'error'];

/** A result of runs of a kernel against it. */
export interface Shown {
  readonly what: 'race' | 'divergence' | 'out of bounds';
  /** Correct severities. */
  readonly right: readonly Told[];
  /** As text, for the list of misses. */
  readonly text: string;
}

export interface Sights {
  readonly shown: readonly Shown[];
  readonly runs: number;
  /** Whether the block does not divide some size. */
  readonly hasRest: boolean;
}

const mostSizes = 3;
/** Schedules of blocks and warps. */
const schedules = [undefined, 1, 2, 3] as const;
/** Step limit of a run by default. */
const usualSteps = 150_000;
/** Limit of threads that are run; of a larger launch only some blocks are. */
const mostThreads = 8192;

/** The runs with a result. */
interface Seen {
  readonly sizes: Set<number>;
  readonly contents: Set<number>;
}

interface SeenRace extends Seen {
  readonly event: RaceEvent;
  isEqual: boolean;
  isVolatile: boolean;
}

/**
 * Runs the launch of a request at its sizes, in all schedules and with all contents.
 * @param steps after which a run ends
 */
export function sightsOf(request: CheckRequest, steps = usualSteps): Sights {
  const { kernel, parameters, launch, policy } = request;
  // As in the check, the constraints of the host program are assumed.
  const context = kernelContext({ ...request, assumptions: [...request.assumptions, ...(launch.ties ?? [])] });
  const large = representativeLaunches(context).filter(({ isLarge }) => isLarge);
  const settings = (large.length > 0 ? large : representativeLaunches(context)).slice(-mostSizes);
  const races = new Map<string, SeenRace>();
  const barriers = new Map<string, Seen & { readonly text: string }>();
  const faults = new Map<string, Seen & { readonly text: string }>();
  const note = <S extends Seen>(table: Map<string, S>, key: string, size: number, draw: number, make: () => S): S => {
    const seen = table.get(key) ?? make();
    table.set(key, seen);
    seen.sizes.add(size);
    seen.contents.add(draw);
    return seen;
  };
  const zeroed = synchronisingArrays(context);
  // Runs have other contents than the program if it states that the counters of a kernel are distinct.
  const isStated = context.request.assumptions.some(({ expression }) => {
    const array = expression.kind === 'distinct' ? namedPointer(parameters, expression.array) : null;
    return array !== null && zeroed.has(`${array.index}.${array.offset}`);
  });
  if (isStated) return { shown: [], runs: 0, hasRest: false };
  // Sizes with a run that ended; a run that was cut off may miss races.
  const ended = new Set<number>();
  let runs = 0;
  let ways = 1;
  for (const [size, setting] of settings.entries()) {
    const drawn = Array.from({ length: draws }, (_, draw) => generatedContents(context, setting, draw));
    // If no contents decide anything, all runs are equal.
    ways = Math.max(ways, drawn[0]!.size > 0 ? draws : 1);
    for (const [draw, contents] of drawn.slice(0, drawn[0]!.size > 0 ? draws : 1).entries()) {
      const own = [...contents].filter(([array]) => !zeroed.has(array));
      const settled = new Map<string, Contents>([...own, ...resolvedElements(elementRanges(context), 1, zeroed)]);
      const { block, grid, scalar } = setting;
      const sharedBytes = launch.sharedBytes ?? maximumSharedBytes;
      const scenario = { block, grid, sharedBytes, scalar, blocks: blocksOf(setting), contents: 1, settled };
      const asked = replayRequest(kernel, parameters, context.fields, launch, scenario, steps, policy.warpLockstep);
      for (const seed of schedules) {
        const result = runKernel({ ...asked, volatileRaces: policy.volatile !== 'allow', ...(seed !== undefined && { seed }) });
        runs++;
        if (!counts(result)) continue;
        if (result.outcome !== 'budget') ended.add(size);
        const madeUp = result.havocs.length > 0;
        const isRecognised = recognised(context, result.races);
        for (const event of result.races) {
          if (event.unmodelled.length > 0 || !isInBounds(context, event) || isRecognised(event)) continue;
          if (madeUp && !isFirm(context, event)) continue;
          const key = [event.first, event.second]
            .map(({ instruction }) => instruction)
            .sort((a, b) => a - b)
            .join();
          const seen = note(races, `${key} ${event.kind}`, size, draw, () => ({
            event,
            isEqual: true,
            isVolatile: event.kind === 'volatile',
            sizes: new Set(),
            contents: new Set(),
          }));
          seen.isEqual &&= event.sameValue;
        }
        if (madeUp) continue;
        for (const { kind, barrier } of result.divergences)
          if (kind !== 'early-exit')
            note(barriers, String(barrier), size, draw, () => ({
              text: `${kind} at barrier ${barrier}`,
              sizes: new Set(),
              contents: new Set(),
            }));
        for (const { left, instruction, message } of result.faults)
          if (left && isOfLaunch(context, instruction))
            note(faults, String(instruction), size, draw, () => ({ text: message, sizes: new Set(), contents: new Set() }));
      }
    }
  }
  const whereText = ({ sizes, contents }: Seen): string =>
    `sizes ${[...sizes].join()} of ${new Set([...ended, ...sizes]).size}, contents ${[...contents].join()} of ${ways}`;
  const isEverywhere = ({ sizes, contents }: Seen): boolean => [...ended].every((size) => sizes.has(size)) && contents.size === ways;
  const usual = (seen: Seen): readonly Told[] =>
    isEverywhere(seen) ? ['error'] : seen.contents.size < ways ? ['warning', 'notice'] : ['warning'];
  const objects = new Map<string, SeenRace[]>();
  for (const seen of races.values()) objects.set(seen.event.object, [...(objects.get(seen.event.object) ?? []), seen]);
  const shown = [...races.values()].map((seen): Shown => {
    const { event } = seen;
    const accesses = [event.first, event.second].map((one) => accessOf(context, one));
    const rests = accesses.some(
      (access) => !access || access.targets.some(({ base, offset }) => base.kind === 'unknown' || restsOnContents(context, offset)),
    );
    const isSmall = accesses.some(
      (access) => access && access.targets.some(({ offset }) => offset.leaves.some((leaf) => loadedBytes(context, leaf) < 4)),
    );
    const hasLoad = objects
      .get(event.object)!
      .some((other) => [other.event.first, other.event.second].some(({ operation }) => operation !== 'write'));
    const right =
      seen.isEqual && event.first.operation === 'write' && event.second.operation === 'write'
        ? (['none', 'notice', 'warning'] as const)
        : seen.isVolatile
          ? (['warning'] as const)
          : rests
            ? [hasLoad ? ('warning' as const) : ('notice' as const), ...(isSmall ? (['error'] as const) : [])]
            : usual(seen);
    const text = `${event.kind} on ${event.object} of ${event.first.operation} ${event.first.instruction} and ${event.second.operation} ${event.second.instruction}, ${whereText(seen)}${rests ? ', by contents' : ''}`;
    return { what: 'race', right, text };
  });
  const missed = [...barriers.values()].map((seen): Shown => ({
    what: 'divergence',
    right: usual(seen),
    text: `${seen.text}, ${whereText(seen)}`,
  }));
  // An index that leaves its object only for some contents is assumed not to.
  const left = [...faults.values()]
    .filter(({ contents }) => contents.size === ways)
    .map((seen): Shown => ({ what: 'out of bounds', right: isEverywhere(seen) ? ['error'] : ['error', 'warning'], text: seen.text }));
  return { shown: [...shown, ...missed, ...left], runs, hasRest: settings.some((setting) => leavesRest(context, setting)) };
}

/** Correct severities of a kernel with these results of runs: those that the worst of each allows. */
export function rightSeverities(shown: readonly Shown[]): readonly Told[] {
  const rank = (told: Told): number => severities.indexOf(told);
  const least = Math.max(0, ...shown.map(({ right }) => Math.min(...right.map(rank))));
  const all = new Set(shown.flatMap(({ right }) => right));
  return severities.filter((told) => rank(told) >= least && (all.has(told) || rank(told) === least));
}

/** Whether a run is meaningful: it satisfied the assumptions of the code. */
function counts({ brokenAssumptions, faults }: RunResult): boolean {
  return brokenAssumptions.length === 0 && !faults.some(({ kind }) => kind === 'unknown-operation' || kind === 'unknown-control');
}

function blocksOf({ block, grid }: LaunchInstance): readonly number[] {
  const count = grid[0] * grid[1] * grid[2];
  const most = Math.max(4, Math.floor(mostThreads / (block[0] * block[1] * block[2])));
  const all = Array.from({ length: count }, (_, number) => number);
  return count <= most ? all : [...all.slice(0, most - 2), ...all.slice(-2)];
}

/** Words that are accessed atomically, strongly or as volatile start at 0. */
function synchronisingArrays({ accesses }: KernelContext): ReadonlySet<string> {
  const bases = accesses.filter(({ instruction }) => isStrong(instruction)).flatMap(({ targets }) => targets.map(({ base }) => base));
  return new Set(bases.flatMap((base) => (base.kind === 'parameter' ? [`${base.index}.${base.offset}`] : [])));
}

function leavesRest({ fields }: KernelContext, { block, scalar }: LaunchInstance): boolean {
  const threads = BigInt(block[0] * block[1] * block[2]);
  return fields.some((field) => !field.isPointer && scalar(field) % threads !== 0n);
}

/**
 * Whether the address of an access depends neither on a dimension that the launch leaves open nor on an array:
 * representative contents are in the range in which indices stay in their objects.
 */
function isOfLaunch(context: KernelContext, id: InstructionId | null): boolean {
  const { symbolic, dimensions, kernel } = context;
  const instruction = kernel.blocks.flatMap(({ instructions }) => instructions).find((one) => one.id === id);
  // A copy has the address that it writes, then that which it reads.
  const addresses = instruction?.arguments.slice(0, instruction.operation.effect.kind === 'copy' ? 2 : 1) ?? [];
  return addresses.every((address) =>
    symbolic.operand(address).leaves.every((leaf) => {
      const { atom } = leaf;
      if (atom?.kind === 'thread' || atom?.kind === 'block-size') return dimensions.block[atom.axis] !== null;
      if (atom?.kind === 'block' || atom?.kind === 'grid-size') return dimensions.grid[atom.axis] !== null;
      return !restsOnContents(context, leaf);
    }),
  );
}

function accessOf({ accesses }: KernelContext, { instruction, operation }: AccessEvent): Access | undefined {
  return accesses.find((access) => access.instruction.id === instruction && access.operation === operation);
}

/** Whether a race is independent of values that the run made up (of textures, for example), by its places and paths. */
function isFirm(context: KernelContext, { first, second }: RaceEvent): boolean {
  return [first, second].every((event) => {
    const access = accessOf(context, event);
    const terms = access && [
      context.symbolic.reach(access.block),
      ...access.targets.flatMap(({ offset, condition }) => [offset, condition]),
    ];
    return terms?.every((term) => term.leaves.every(({ atom }) => atom?.kind !== 'havoc')) === true;
  });
}

function restsOnContents(context: KernelContext, term: Term): boolean {
  return term.leaves.some((leaf) => loadedBytes(context, leaf) < Infinity);
}

/** Bytes of values read from an array without specified contents; Infinity: not read. */
function loadedBytes({ kernel, accesses }: KernelContext, { atom }: Term): number {
  const definition = atom?.kind === 'havoc' && atom.value >= 0 ? kernel.values[atom.value]!.definition : undefined;
  if (definition?.kind !== 'instruction') return Infinity;
  const { instruction } = definition;
  if (instruction.operation.effect.kind !== 'load' || isStrong(instruction)) return Infinity;
  const access = accesses.find((candidate) => candidate.instruction === instruction);
  const isOfModule = access?.targets.every(({ base }) => base.kind === 'object' && base.object.space === 'global');
  return isOfModule === true ? Infinity : instruction.operation.effect.bytes;
}
