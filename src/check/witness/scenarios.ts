/**
 * Confirmation: executes open obligations in the interpreter, with the given launch and scalars, or with representative
 * ones. Only such a run confirms a finding.
 */
import { constantOf } from '../../assumptions/evaluate.ts';
import type { SymbolicFacts, KernelAndLaunch, BarrierFacts, ElementFacts } from '../context/facts.ts';
import type { Model } from '../../solver/solver.ts';
import { isStrong } from '../../memory-model/fence.ts';
import { extentProduct } from '../../base/dim3.ts';
import type { AccessEvent, DivergenceEvent, FaultEvent, RaceEvent, UndefinedRead } from '../../interpreter/core/run-result.ts';
import type { Steps } from '../../base/coroutine.ts';
import type { Access } from '../../analysis/values/access.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { needsVectorClocks } from '../../interpreter/detector/needs-vector-clocks.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { Hit } from '../deciding/enumerate.ts';
import type { PairScope } from '../obligations/instance.ts';
import type { Term } from '../../term/term.ts';
import type { AccessPair } from '../obligations/obligation.ts';
import { replays, shortRuns, shrinking } from '../request/check-budget.ts';
import { memoryOf } from '../context/scalars.ts';
import { namedPointer } from '../premises/premises.ts';
import type { ParameterField } from '../../launch/parameter-field.ts';
import { avoidingDraw, draws, generatedContents } from '../representative/contents.ts';
import {
  type LaunchInstance,
  isRepresentative,
  shapeOf,
  satisfiesAssumptions,
  representativeLaunches,
} from '../representative/representative-launches.ts';
import { type RunUntil, replayOnce, runKey } from './run-cache.ts';
import { accessTerms, branchTerms, dependsOnMemory, isFirm, madeUpTerms } from './rests-on-memory.ts';
import { type Contents, type Scenario, type Shown, ofNullPointer, replayRequest } from './replay.ts';
import type { Reason } from '../../verdict/reason.ts';
import { shrink } from './smallest-scenario.ts';
import { type OverlapInLaunch, likelyFirst } from './overlap.ts';
import { cornersOf, endsOf } from './some-blocks.ts';
import { type ElementRanges, elementRanges, resolvedElements } from './stated-elements.ts';
import { mayMissStores, synchronisesBlocks, synchronisingArrays } from './synchronising-memory.ts';
import { firstBuffered, firstInterleaved, isInterleaved } from '../../interpreter/core/schedule.ts';

/** Why a run may have missed events. */
type ReplayProblem = Extract<Reason, { kind: 'replay' }>['problem'];

/** The valid results of one run. */
interface Executed {
  readonly races: readonly RaceEvent[];
  readonly divergences: readonly DivergenceEvent[];
  /** Accesses that left their objects. */
  readonly faults: readonly FaultEvent[];
  readonly undefinedReads: readonly UndefinedRead[];
  readonly steps: number;
  readonly wasCutOff: boolean;
  /** Whether the run was not stopped early after the events that it searched for. */
  readonly isWhole: boolean;
  /** Why the run may have missed events; null if it cannot have missed any. */
  readonly problem: ReplayProblem | null;
  /** Whether the run violated a condition of SELVAGE_ASSUME, and so shows nothing. */
  readonly isVoid?: true;
}

/** An open pair with blocks and values for which it may race. */
interface Hint {
  readonly pair: AccessPair;
  readonly hits: readonly Hit[];
  readonly model: Model | null;
  /** Whether the pair overlaps in a launch, by the terms of its addresses. */
  readonly overlapIn?: (launch: LaunchInstance) => OverlapInLaunch;
}

/** Blocks of a run for pairs that may depend on more than two blocks. */
const firstBlocks: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** Limit on the launch instances that are added from models of the solver. */
const maxVaried = 4;

/** Number of large launch instances that are run with contents of all kinds. */
const settingsOfContents = 2;

/** The contents of arrays whose elements have no effect on accesses. */
const usualContents = 1;

/** The seed of the schedule that begins with the last blocks and warps (`interpreter/core/schedule.ts`). */
const reversed = 1;
/** Number of schedules in which blocks alternate after each instruction. */
const interleavedOrders = 3;
/** Number of runs with an undefined value of a shuffle that are kept. */
const undefinedReadsKept = 3;

/** The generations of contents, in the order in which they are tried. */
const allDraws: readonly number[] = Array.from({ length: draws }, (_, draw) => draw);

/** The facts from which runs are built. */
type RunFacts = KernelAndLaunch & SymbolicFacts & ElementFacts & Pick<BarrierFacts, 'inMemory'>;

export class Confirmation {
  /** Races that runs have shown, by `pairKey`. */
  readonly races = new Map<string, Shown<RaceEvent>>();
  /** Races that runs have shown but that constructs which are not modelled yet may order. */
  readonly ordered = new Map<string, RaceEvent>();
  /** For those races, scenarios that ran only the blocks of the race. */
  private readonly orderedIn = new Map<string, Scenario>();
  /** Barriers that some thread missed without having returned. */
  readonly barriers = new Map<InstructionId, Shown<DivergenceEvent>>();
  /** Barriers that some thread missed because it had returned. */
  readonly exits = new Map<InstructionId, Shown<DivergenceEvent>>();
  /** Instructions of a warp at which lanes are missing, or which a lane outside the mask executed. */
  readonly warps = new Map<InstructionId, Shown<DivergenceEvent>>();
  /** Shuffles that returned undefined values, in different launch instances. */
  readonly undefinedReads = new Map<InstructionId, Shown<UndefinedRead>[]>();
  /** Accesses that left their objects, by instruction. */
  readonly faults = new Map<InstructionId, Shown<FaultEvent>>();
  /** Why runs may have missed events. */
  problem: ReplayProblem | null = null;
  /** Completed scenarios, and whether they ran to their end. */
  private readonly done = new Map<string, { readonly isWhole: boolean }>();
  /** Instructions of all runs so far. */
  private steps = 0;
  /** Number of runs that were cut off. Further runs are likely to be, too, and get a smaller budget. */
  private cutOff = 0;
  private hasRunShortly = false;
  /** Results of runs that searched for smaller scenarios, cached as the findings of a kernel need the same ones. */
  private readonly shrunk = new Map<string, Executed>();
  private shrinkingSteps = 0;
  private settingList: readonly LaunchInstance[] | null = null;
  /** Number of launch instances built from models. */
  private varied = 0;
  /** By race, the scenarios in which it was seen. */
  private readonly seenIn = new Map<string, Set<string>>();
  /**
   * Launch instances of which all blocks were run, or the blocks that a pair of one block needs: to their end, or until
   * they showed the events that were searched for.
   */
  private readonly ran: Readonly<Record<PairScope, Set<number>>> = { block: new Set(), grid: new Set() };
  private readonly context: RunFacts;
  private readonly zeroed: ReadonlySet<string>;
  /** Whether threads of several blocks may synchronise by a lock, a flag or a counter. */
  private readonly synchronisesBlocks: boolean;
  /** Whether the kernel contains SELVAGE_ASSUME. */
  private readonly statesAssumptions: boolean;
  private readonly ranges: ElementRanges;
  /** Arrays whose elements satisfy the user's statements in every run. */
  private readonly met: ReadonlySet<string>;

  constructor(context: RunFacts) {
    this.context = context;
    this.statesAssumptions = context.kernel.blocks.some(({ instructions }) => instructions.some(({ marker }) => marker?.name === 'assume'));
    this.zeroed = synchronisingArrays(context);
    this.synchronisesBlocks = synchronisesBlocks(context);
    this.ranges = elementRanges(context);
    const { request } = context;
    const isMet = (array: string): boolean =>
      !request.launch.samePointers?.length &&
      !request.launch.distances?.length &&
      request.assumptions.every(({ expression }) => {
        if (expression.kind !== 'distinct' && expression.kind !== 'elements') return true;
        const named = namedPointer(request.parameters, expression.array);
        if (!named || `${named.index}.${named.offset}` !== array) return true;
        return expression.kind === 'elements' && constantOf(expression.low) !== undefined && constantOf(expression.high) !== undefined;
      });
    this.met = new Set([...this.ranges.keys()].filter(isMet));
  }

  /** By event, the indices of the launch instances that showed it. */
  private readonly seenAt = new Map<string, Set<number>>();

  /**
   * The launch instances to run: representative ones, and variants of these with values from the solver's models; none if
   * the budget is one for proofs, without runs.
   */
  private get settings(): readonly LaunchInstance[] {
    const { budget } = this.context.request;
    return (this.settingList ??= budget.replaySteps > 0 ? [...representativeLaunches(this.context)] : []);
  }

  /** Threads of a block, or of the grid, in the smallest of the large launch instances. */
  fewestThreads(scope: PairScope): number {
    const threads = representativeLaunches(this.context).flatMap(({ block, grid, isLarge }) =>
      isLarge ? [[...block, ...(scope === 'grid' ? grid : [])].reduce((product, size) => product * size, 1)] : [],
    );
    return threads.length > 0 ? Math.min(...threads) : 0;
  }

  /** The generations of contents to run: only one if contents have no effect. */
  private get drawsThatMatter(): readonly number[] {
    const [setting] = this.settings;
    return setting && generatedContents(this.context, setting, 0).size > 0 ? allDraws : allDraws.slice(0, 1);
  }

  /** Runs the hints until each pair is confirmed or the budget of runs is exhausted. */
  *runHints(hints: readonly Hint[]): Steps<void> {
    // Pairs of two blocks first, as their runs show races within a block, too.
    const keys = new Set(hints.map(({ pair }) => pairKey(pair)));
    yield* this.runShortly(keys);
    const ordered = [...hints].sort((a, b) => Number(b.pair.scope === 'grid') - Number(a.pair.scope === 'grid'));
    for (const { pair, hits, model, overlapIn } of ordered) {
      const key = pairKey(pair);
      if (model) this.vary(model);
      const tries = hits.length > 0 ? [...new Set([hits[0]!, hits[hits.length >> 1]!])] : [null];
      const all = this.drawsThatMatter;
      const settings = overlapIn ? likelyFirst(this.settings, overlapIn) : this.settings.map((setting) => ({ setting, blocks: null }));
      for (const draw of all) {
        for (const { setting, blocks: overlapping } of settings) {
          for (const hit of tries) {
            if (this.races.has(key)) break;
            const blocks = hit
              ? this.blocksOf(pair, hit)
              : ((model && this.modelBlocks(pair, model)) ?? overlapping ?? this.endsOf(pair, setting));
            // A counter of arriving blocks needs all blocks; other runs show nothing after it.
            if (blocks && this.synchronisesBlocks) yield* this.runOnce(this.scenario(setting, null, draw), keys);
            // Two threads may be inside what is almost a lock, or one goes on too early. Other blocks may wait forever.
            if (pair.scope === 'grid' && this.synchronisesBlocks && !this.races.has(key))
              yield* this.runOnce({ ...this.scenario(setting, firstBlocks, draw), order: firstInterleaved }, keys, { isBrief: true });
            if (!this.races.has(key)) yield* this.runOnce(this.scenario(setting, blocks, draw), keys);
          }
        }
      }
      const [first] = this.settings;
      if (!first || pair.scope === 'block') continue;
      // The effect of a block may depend on the number of blocks before it.
      if (!this.races.has(key) && dependsOnMemory(this.context, pair)) yield* this.runOnce(this.scenario(first, firstBlocks, 0), keys);
      // If loaded elements decide about the overlap, possibly only few of many blocks overlap.
      if (!this.races.has(key) && this.drawsThatMatter.length > 1 && dependsOnMemory(this.context, pair))
        yield* this.runOnce(this.scenario(first, null, 0), keys);
      // Of two fences, the other one may be executed first.
      if (!this.races.has(key) && this.ordered.has(key)) {
        const scenario = this.scenario(first, hits[0] ? this.blocksOf(pair, hits[0]) : null, 0);
        yield* this.runOnce({ ...scenario, blocks: [...scenario.blocks].reverse() }, keys);
      }
      // The accesses of the two threads may interleave.
      const met = this.orderedIn.get(key);
      for (let order = 0; met && order < interleavedOrders && !this.races.has(key); order++)
        yield* this.runOnce({ ...met, order: firstInterleaved + order }, keys);
      // Each thread may read before the other thread's store is visible.
      if (mayMissStores(this.context) && !this.races.has(key)) {
        const scenario = this.scenario(first, hits[0] ? this.blocksOf(pair, hits[0]) : null, 0);
        yield* this.runOnce({ ...scenario, order: firstBuffered }, keys);
      }
    }
  }

  /**
   * The first and the last block for a pair of one block; null: all blocks. More blocks show no more of such a pair,
   * and a race may require a size for which there are many.
   */
  private endsOf({ scope }: AccessPair, { grid }: LaunchInstance): readonly number[] | null {
    return scope === 'grid' || this.synchronisesBlocks ? null : endsOf(grid);
  }

  /** Runs a small synchronising launch briefly under several schedules, until each pair is confirmed. */
  private *runShortly(keys: ReadonlySet<string>): Steps<void> {
    const [setting] = this.settings;
    const { accesses } = this.context;
    if (!setting || this.hasRunShortly || this.statesAssumptions) return;
    if (!accesses.some(({ instruction }) => isStrong(instruction))) return;
    const scenario = this.scenario(setting, null, 0);
    const threads = [...scenario.block, ...scenario.grid].reduce((product, size) => product * size, 1);
    if (threads > shortRuns.mostThreads || scenario.blocks.length === 0) return;
    this.hasRunShortly = true;
    const orders = Array.from({ length: shortRuns.orders }, (_, order) => order);
    const buffered = mayMissStores(this.context) ? [firstBuffered, firstBuffered + 1] : [];
    const interleaved = Array.from({ length: shortRuns.interleaved }, (_, order) => firstInterleaved + order);
    for (const order of [...orders, ...interleaved, ...buffered]) {
      if ([...keys].every((key) => this.races.has(key)) || this.context.request.budget.expired()) return;
      const steps = Math.min(shortRuns.mostSteps, this.context.request.budget.replaySteps);
      const inOrder = order === 0 ? scenario : { ...scenario, order };
      if (steps > 0) for (const event of (yield* this.executed(inOrder, steps)).races) this.record(event, inOrder);
    }
  }

  /** Runs blocks in which some threads may miss the barrier, until a run shows that. */
  *runBarrier(
    { barrier, earlyExit }: { readonly barrier: Instruction; readonly earlyExit: boolean },
    model: Model | null,
    blocks: readonly (readonly number[])[] | null,
  ): Steps<void> {
    if (model) this.vary(model);
    const shown = earlyExit ? this.exits : this.barriers;
    const numbers = blocks?.map((block) => this.blockNumber(block)) ?? null;
    for (const draw of this.drawsThatMatter)
      for (const setting of this.settings) {
        if (shown.has(barrier.id)) return;
        // Any block of the grid may be the one that ends before a barrier of the grid, so all are run.
        yield* this.runOnce(this.scenario(setting, isGridBarrier(barrier) ? null : numbers, draw));
      }
    // The value that a thread reads from a flag depends on the schedule.
    const [first] = this.settings;
    if (first && this.synchronisesBlocks && !shown.has(barrier.id))
      yield* this.runOnce({ ...this.scenario(first, null, 0), order: reversed });
  }

  /** Runs the launch until one of these instructions of a warp was executed by other lanes than its mask names. */
  *runWarps(instructions: ReadonlySet<InstructionId>): Steps<void> {
    for (const draw of this.drawsThatMatter)
      for (const setting of this.settings) {
        if ([...instructions].some((id) => this.warps.has(id))) return;
        yield* this.runOnce(this.scenario(setting, null, draw));
      }
  }

  /** Runs a few launch instances in which shuffles may return undefined values, and more contents for those that have not yet. */
  *runShuffles(instructions: ReadonlySet<InstructionId>): Steps<void> {
    for (const draw of this.drawsThatMatter)
      for (const setting of this.settings) {
        const times = Array.from(instructions, (id) => this.undefinedReads.get(id)?.length ?? 0);
        if (times.every((count) => count >= (draw === 0 ? undefinedReadsKept : 1))) return;
        yield* this.runOnce(this.scenario(setting, null, draw));
      }
  }

  /** Runs the large launch instances, within the budget, to find those that show a race. */
  *atLargeSettings(pairs: readonly AccessPair[]): Steps<void> {
    const keys = pairs.map(pairKey);
    for (const [at, setting] of this.settings.entries()) {
      if (!setting.isLarge) continue;
      const left = (): string[] => keys.filter((key) => !this.seenAt.get(key)?.has(at));
      for (const draw of this.drawsThatMatter) {
        const open = pairs.filter((pair) => left().includes(pairKey(pair)));
        const widest = open.find(({ scope }) => scope === 'grid') ?? open[0];
        const blocks = widest ? this.endsOf(widest, setting) : null;
        if (open.length > 0) yield* this.runOnce(this.scenario(setting, blocks, draw), new Set(left()));
      }
    }
  }

  /**
   * Runs large launch instances with all generated contents, including those that make threads disjoint as far as
   * contents can.
   */
  *withAllContents(pairs: readonly AccessPair[]): Steps<void> {
    const keys = pairs.map(pairKey);
    if (keys.length === 0) return;
    for (const scenario of this.scenariosOfContents()) {
      const key = this.keyOfScenario(scenario);
      if (!keys.every((pair) => this.seenIn.get(pair)?.has(key))) yield* this.runOnce(scenario, new Set(keys), { isEach: true });
    }
  }

  /** Whether a pair raced with all generated contents. */
  racesWithAllContents(pair: AccessPair): boolean {
    const seen = this.seenIn.get(pairKey(pair));
    const scenarios = this.scenariosOfContents();
    return scenarios.length > 0 && scenarios.every((scenario) => seen?.has(this.keyOfScenario(scenario)));
  }

  private scenariosOfContents(): readonly Scenario[] {
    const large = representativeLaunches(this.context).filter(({ isLarge }) => isLarge);
    return large
      .slice(0, settingsOfContents)
      .flatMap((setting) => [...allDraws, avoidingDraw].map((draw) => this.scenario(setting, null, draw)));
  }

  /** Runs the blocks of these indices, in a small and in a large launch instance. */
  *runBlocks(blocks: readonly (readonly number[])[]): Steps<void> {
    const numbers = blocks.map((block) => this.blockNumber(block));
    const large = this.settings.find(({ isLarge }) => isLarge);
    for (const setting of new Set([this.settings[0], large])) if (setting) yield* this.runOnce(this.scenario(setting, numbers, 0));
  }

  /** Runs blocks of a launch instance, by linear indices. @param hasExtents whether arrays without an extent get the largest one */
  *runLaunch(setting: LaunchInstance, blocks: readonly number[], hasExtents = false): Steps<Scenario> {
    const arrays = hasExtents ? this.context.fields.filter(({ isPointer }) => isPointer) : [];
    const largest = arrays.map(({ index, offset }) => [`${index}.${offset}`, 2 ** 40] as const);
    const scenario = this.scenario(setting, blocks, 0);
    const whole = hasExtents ? { ...scenario, extents: new Map([...largest, ...(scenario.extents ?? [])]) } : scenario;
    yield* this.runOnce(whole);
    return whole;
  }

  /** A short run of these blocks of a launch instance, of which nothing is kept. */
  *observed(
    setting: LaunchInstance,
    blocks: readonly number[],
    steps: number = replays.fewestSteps,
  ): Steps<{ readonly scenario: Scenario; readonly run: Executed } | null> {
    const { budget } = this.context.request;
    const scenario = this.scenario(setting, blocks, 0);
    if (budget.replaySteps === 0 || budget.expired() || scenario.blocks.length === 0) return null;
    return { scenario, run: yield* this.executed(scenario, Math.min(budget.replaySteps, steps)) };
  }

  /**
   * Like {@link atLargeSettings}, for a barrier that threads miss. The last block, in which threads are idle, runs
   * first and briefly: the steps are meant for races.
   */
  *barrierAtLargeSettings({ event }: Shown<DivergenceEvent>, scope: PairScope): Steps<void> {
    for (const [at, setting] of this.settings.entries())
      for (const draw of this.drawsThatMatter)
        if (setting.isLarge && !this.seenAt.get(barrierKey(event))?.has(at)) {
          const scenario = this.scenario(setting, scope === 'block' ? endsOf(setting.grid) : null, draw);
          const blocks = scope === 'block' ? scenario.blocks.toReversed() : scenario.blocks;
          yield* this.runOnce({ ...scenario, blocks }, new Set(), { isBrief: scope === 'block' });
        }
  }

  /** The launch instances that were run, and whether they showed one of the events. */
  standing(keys: readonly string[]): readonly { readonly setting: LaunchInstance; readonly isShown: boolean }[] {
    const needed: PairScope = keys.some((key) => key.startsWith('grid:')) ? 'grid' : 'block';
    return this.settings.flatMap((setting, at) => {
      const isShown = keys.some((key) => this.seenAt.get(key)?.has(at));
      return isShown || this.ran[needed].has(at) ? [{ setting, isShown }] : [];
    });
  }

  /** Adds a launch instance with the values of a model for scalars other than sizes and strides, if representative. */
  private vary(model: Model): void {
    const base = this.settings.find(({ isLarge }) => isLarge) ?? this.settings[0];
    if (!base || this.varied >= maxVaried) return;
    const { scalars } = shapeOf(this.context);
    const wanted = new Map<ParameterField, bigint>();
    for (const { field, isSize, isStride } of scalars) {
      const solved = model.get(`p${field.index}_${field.offset}_${field.bytes}`);
      const value = typeof solved === 'bigint' ? BigInt.asIntN(8 * field.bytes, solved) : null;
      if (value === null || isSize || isStride || value === base.scalar(field)) continue;
      wanted.set(field, BigInt.asUintN(8 * field.bytes, value));
    }
    if (wanted.size === 0) return;
    const setting = { ...base, scalar: (field: ParameterField) => wanted.get(field) ?? base.scalar(field) };
    if (!satisfiesAssumptions(this.context, setting) || !isRepresentative(this.context, setting)) return;
    this.varied++;
    this.settingList = [...this.settings, setting];
  }

  private blocksOf(pair: AccessPair, hit: Hit): number[] {
    const first = this.blockNumber(hit.firstBlock);
    return pair.scope === 'grid' ? [first, this.blockNumber(hit.secondBlock)] : [first];
  }

  private blockNumber(block: readonly number[]): number {
    const [x, y] = this.context.dimensions.grid;
    return block[0]! + (x ?? 1) * (block[1]! + (y ?? 1) * block[2]!);
  }

  /** The blocks of a model if the grid is given; null otherwise, as block indices differ between grids. */
  private modelBlocks({ scope }: AccessPair, model: Model): number[] | null {
    if (this.context.dimensions.grid.includes(null)) return null;
    const at = (side: string): number =>
      this.blockNumber(
        ['x', 'y', 'z'].map((axis) => {
          const value = model.get(`b${axis}${side}`);
          return typeof value === 'bigint' ? Number(value) : 0;
        }),
      );
    return scope === 'grid' ? [at('_1'), at('_2')] : [at('')];
  }

  /**
   * The scenario for a launch instance.
   * @param blocks null: all of them, or the corners of a large grid
   */
  private scenario(setting: LaunchInstance, blocks: readonly number[] | null, draw: number): Scenario {
    const { block, grid, scalar } = setting;
    const count = grid[0] * grid[1] * grid[2];
    const isSmall = count * block[0] * block[1] * block[2] <= replays.mostThreads;
    const usual = isSmall ? Array.from({ length: count }, (_, number) => number) : cornersOf(grid);
    const list = [...new Set(blocks ?? usual)].filter((candidate) => candidate >= 0 && candidate < count);
    const drawn = [...generatedContents(this.context, setting, draw)].filter(([array]) => !this.zeroed.has(array));
    const filled = [...(this.context.request.launch.contents?.arrays ?? [])].map(([index, values]): [string, Contents] => [
      `${index}.0`,
      { kind: 'filled', values },
    ]);
    const settled = new Map<string, Contents>([...drawn, ...resolvedElements(this.ranges, usualContents, this.zeroed), ...filled]);
    const contents = usualContents;
    const at = this.settings.indexOf(setting);
    return {
      block,
      grid,
      ...memoryOf(this.context, setting),
      scalar,
      blocks: list.sort((a, b) => a - b),
      contents,
      settled,
      setting: at,
    };
  }

  /**
   * @param sought keys of pairs: the run may stop once it has shown all of them; empty: it runs to its end
   * @param how `isEach`: events that another run of the launch instance has shown are searched for, too; `isBrief`: the
   *   run is cut off after few steps, and later runs keep their budget
   */
  private *runOnce(
    scenario: Scenario,
    sought: ReadonlySet<string> = new Set(),
    { isEach = false, isBrief = false }: { readonly isEach?: boolean; readonly isBrief?: boolean } = {},
  ): Steps<void> {
    const { request, kernel } = this.context;
    if (scenario.blocks.length === 0 || (this.done.size >= replays.most && !isEach)) return;
    const key = this.keyOfScenario(scenario);
    if (this.done.get(key)?.isWhole === true || request.budget.expired()) return;
    const { replaySteps } = request.budget;
    // If more than barriers orders accesses, each step takes many times as long.
    const all =
      needsVectorClocks(kernel).length > 0 ? Math.min(replaySteps, replays.mostStepsWithClocks) : replays.stepsOfAll * replaySteps;
    if (this.steps >= all) return;
    const ofRun = Math.min(Math.max(replaySteps / 4 ** this.cutOff, replays.fewestSteps), all - this.steps);
    const limit = isBrief ? replays.fewestSteps : ofRun;
    const most = isInterleaved(scenario.order) ? Math.min(limit, replays.mostStepsInterleaved) : Math.min(limit, ofRun);
    const left = isEach ? [...sought] : [...sought].filter((pair) => !this.seenAt.get(pair)?.has(scenario.setting ?? 0));
    const result = yield* this.execute(scenario, most, left);
    this.done.set(key, result);
    this.steps += result.steps;
    if (result.wasCutOff && !isBrief) this.cutOff++;
    this.problem = result.problem ?? this.problem;
    for (const event of result.races) this.record(event, scenario);
    for (const fault of result.faults) {
      const event = ofNullPointer(this.context, fault);
      if (event.left && event.instruction !== null && !this.faults.has(event.instruction))
        this.faults.set(event.instruction, { event, scenario });
    }
    for (const event of result.divergences) {
      const isOfWarp = event.kind === 'missing-lanes' || event.kind === 'outside-mask';
      const shown = event.kind === 'early-exit' ? this.exits : isOfWarp ? this.warps : this.barriers;
      if (event.barrier === null) continue;
      this.noteSeen(barrierKey(event), scenario);
      if (!shown.has(event.barrier)) shown.set(event.barrier, { event, scenario });
    }
    for (const event of result.undefinedReads) {
      const shown = this.undefinedReads.get(event.instruction) ?? [];
      if (shown.length < undefinedReadsKept) this.undefinedReads.set(event.instruction, [...shown, { event, scenario }]);
    }
    if (result.wasCutOff || result.problem !== null || result.isVoid) return;
    const { grid, blocks, setting = 0 } = scenario;
    if (blocks.length >= Math.min(extentProduct(grid), cornersOf(grid).length)) this.ran.grid.add(setting);
    if (blocks.length >= Math.min(extentProduct(grid), 2)) this.ran.block.add(setting);
  }

  private keyOfScenario({ block, grid, blocks, order, settled, scalar }: Scenario): string {
    const contents = [...settled].map(([array, held]) => `${array} ${typeof held === 'object' ? JSON.stringify(held) : held}`);
    const scalars = this.context.fields.filter((field) => !field.isPointer).map((field) => scalar(field));
    return [block, grid, blocks, order, contents, ...scalars].join(';');
  }

  /** Runs a scenario, to its end or until it has shown the pairs, and returns the valid results. */
  private *execute(scenario: Scenario, steps: number, sought: readonly string[]): Steps<Executed> {
    // A stated assumption that is violated later invalidates the whole execution, so the run is not stopped early.
    if (sought.length === 0 || this.statesAssumptions) return yield* this.executed(scenario, steps);
    const watch = (): ((race: RaceEvent) => boolean) => {
      const left = new Set(sought);
      return (race) => {
        if (race.unmodelled.length === 0) left.delete(this.keyOf(race));
        return left.size === 0;
      };
    };
    const places = this.context.accesses.map(({ instruction: { id }, operation }) => [id, operation]);
    const executed = yield* this.executed(scenario, steps, { watch, of: [sought, places] });
    const counted = new Set(executed.races.map((race) => this.keyOf(race)));
    if (executed.isWhole || sought.every((pair) => counted.has(pair))) return executed;
    const again = yield* this.executed(scenario, steps);
    return { ...again, steps: executed.steps + again.steps };
  }

  private *executed(scenario: Scenario, steps: number, until?: RunUntil): Steps<Executed> {
    const { request, kernel, fields } = this.context;
    const { launch, parameters, policy } = request;
    const asked = replayRequest(kernel, parameters, fields, launch, scenario, steps, policy.warpLockstep, until?.watch);
    const key = runKey(kernel, parameters, fields, launch, scenario, [policy, until?.of]);
    const result = yield* replayOnce({ ...asked, volatileRaces: policy.volatile !== 'allow' }, key);
    const wasCutOff = result.outcome === 'budget';
    let problem: ReplayProblem | null = wasCutOff ? 'too-long' : null;
    const nothing = {
      races: [],
      divergences: [],
      faults: [],
      undefinedReads: [],
      steps: result.steps,
      wasCutOff,
      isWhole: result.outcome !== 'race-limit',
    };
    if (result.faults.some(({ kind }) => kind === 'unknown-operation' || kind === 'unknown-control'))
      return { ...nothing, problem: 'unknown-instruction' };
    // An execution that violates a condition of SELVAGE_ASSUME shows nothing.
    if (result.brokenAssumptions.length > 0) return { ...nothing, problem, isVoid: true };
    // If the run used invented values (a texture, a transcendental function), only results independent of these count.
    const madeUp = result.havocs.length > 0;
    const races = result.races.filter((event) => {
      const indices = [event.first, event.second].map((access) => this.accessOf(access));
      // Results that depend on chosen contents of arrays with statements do not count either.
      if (indices.some((access) => access && accessTerms(this.context, access).some((term) => this.restsOnStated(term)))) return false;
      if (!madeUp || indices.every((access) => access && isFirm(this.context, madeUpTerms(this.context, access, result.havocs))))
        return true;
      problem = 'invented-value';
      return false;
    });
    const isPlain = result.divergences.length === 0 && result.undefinedReads.length === 0;
    const isCertain = !madeUp || isPlain || isFirm(this.context, branchTerms(this.context));
    if (!isCertain) problem = 'invented-value';
    const faults = result.faults.filter(({ instruction }) => {
      const at = this.context.accesses.filter((access) => access.instruction.id === instruction);
      return !madeUp || (at.length > 0 && at.every((access) => isFirm(this.context, madeUpTerms(this.context, access, result.havocs))));
    });
    // Whether threads store equal values is unknown if the values may depend on invented ones.
    const told = madeUp ? races.map((event) => ({ ...event, sameValue: false })) : races;
    const { divergences, undefinedReads } = isCertain ? result : nothing;
    return { ...nothing, races: told, divergences, undefinedReads, faults, problem };
  }

  /** A race in the smallest run that was found, by reducing dimensions and chosen scalars. */
  smallestRace(pair: AccessPair, shown: Shown<RaceEvent>): Steps<Shown<RaceEvent>> {
    const key = pairKey(pair);
    const find = ({ races }: Executed): RaceEvent | undefined =>
      races.find((event) => event.unmodelled.length === 0 && this.keyOf(event) === key && (shown.event.sameValue || !event.sameValue));
    return this.smallest(shown, pair.scope, find, [key]);
  }

  /** Like {@link smallestRace}, for threads that miss a barrier. */
  smallestDivergence(shown: Shown<DivergenceEvent>, scope: PairScope): Steps<Shown<DivergenceEvent>> {
    const { barrier, kind } = shown.event;
    const find = ({ divergences }: Executed): DivergenceEvent | undefined =>
      divergences.find((event) => event.barrier === barrier && event.kind === kind);
    return this.smallest(shown, scope, find, []);
  }

  private smallest<Event>(
    shown: Shown<Event>,
    scope: PairScope,
    find: (executed: Executed) => Event | undefined,
    sought: readonly string[],
  ): Steps<Shown<Event>> {
    return shrink(this.context, shown, scope, (scenario) => this.tryAgain(scenario, find, sought));
  }

  private *tryAgain<Event>(
    scenario: Scenario,
    find: (executed: Executed) => Event | undefined,
    sought: readonly string[],
  ): Steps<Event | undefined> {
    const key = this.keyOfScenario(scenario);
    const known = this.shrunk.get(key);
    const event = known && find(known);
    if (event ?? known?.isWhole) return event;
    const { replaySteps, expired } = this.context.request.budget;
    const all = needsVectorClocks(this.context.kernel).length > 0 ? shrinking.mostStepsWithClocks : shrinking.mostSteps;
    const most = Math.min(replaySteps, all - this.shrinkingSteps);
    if (most <= 0 || this.shrunk.size >= shrinking.most || expired()) return undefined;
    const executed = yield* this.execute(scenario, most, sought);
    this.shrunk.set(key, executed);
    this.shrinkingSteps += executed.steps;
    return find(executed);
  }

  private accessOf({ instruction, operation }: AccessEvent): Access | undefined {
    const { accesses, inMemory } = this.context;
    return [...accesses, ...inMemory.accesses].find((access) => access.instruction.id === instruction && access.operation === operation);
  }

  /** Whether a term depends on an element of an array with user statements that runs may violate. */
  private restsOnStated(term: Term): boolean {
    const { statedValues } = this.context;
    return term.leaves.some(({ atom }) => atom?.kind === 'havoc' && statedValues.has(atom.value) && !this.isMet(atom.value));
  }

  private isMet(value: number): boolean {
    const { accesses, kernel } = this.context;
    const { definition } = kernel.values[value]!;
    const load = accesses.find(({ instruction }) => definition.kind === 'instruction' && definition.instruction === instruction);
    return (
      load !== undefined && load.targets.every(({ base }) => base.kind === 'parameter' && this.met.has(`${base.index}.${base.offset}`))
    );
  }

  /** The `pairKey` of the accesses of a race. */
  private keyOf(event: RaceEvent): string {
    const scope: PairScope = event.first.block.join() === event.second.block.join() ? 'block' : 'grid';
    const indices = [event.first, event.second].map((access) => this.accessOf(access)?.index ?? -1);
    return `${scope}:${Math.min(...indices)}:${Math.max(...indices)}`;
  }

  private record(event: RaceEvent, scenario: Scenario): void {
    const key = this.keyOf(event);
    if (event.unmodelled.length > 0) {
      this.ordered.set(key, event);
      const [x, y] = scenario.grid;
      const numbers = [event.first, event.second].map(({ block: [i, j, k] }) => i + x * (j + y * k));
      this.orderedIn.set(key, { ...scenario, blocks: [...new Set(numbers)] });
    } else {
      this.noteSeen(key, scenario);
      this.seenIn.set(key, (this.seenIn.get(key) ?? new Set<string>()).add(this.keyOfScenario(scenario)));
      const shown = this.races.get(key);
      if (!shown || (shown.event.sameValue && !event.sameValue)) this.races.set(key, { event, scenario });
    }
  }

  private noteSeen(key: string, { setting = 0 }: Scenario): void {
    const at = this.seenAt.get(key) ?? new Set<number>();
    this.seenAt.set(key, at.add(setting));
  }
}

/** Key of threads that miss a barrier, for {@link Confirmation.standing}. */
export function barrierKey({ barrier, kind }: DivergenceEvent): string {
  return `${kind}:${barrier}`;
}

/** Key of a pair in the maps of a confirmation. */
export function pairKey(pair: AccessPair): string {
  return `${pair.scope}:${pair.first.index}:${pair.second.index}`;
}
