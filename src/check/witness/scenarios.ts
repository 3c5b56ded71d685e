/**
 * Confirmation: what the tiers leave open is run in the reference interpreter with dimensions, scalars and blocks that
 * the hits or the solver's model suggest. Only what such a run shows is confirmed.
 */
import type { SymbolicFacts, KernelAndLaunch, BarrierFacts, ElementFacts } from '../context/facts.ts';
import { givenScalar } from '../context/scalars.ts';
import type { Model } from '../../solver/solver.ts';
import { sharedBytesWithoutOptIn } from '../../device/hardware-limits.ts';
import { isStrong } from '../../memory-model/fence.ts';
import type { Dim3 } from '../../base/dim3.ts';
import type { AccessEvent, DivergenceEvent, FaultEvent, RaceEvent } from '../../machine/core/run-result.ts';
import type { Steps } from '../../base/steps.ts';
import type { Access } from '../../analysis/values/access.ts';
import { isGridBarrier } from '../../analysis/barriers/barrier-interval.ts';
import { threadLimit } from '../../analysis/values/launch-bounds.ts';
import type { RunRequest } from '../../machine/core/run-request.ts';
import { needsVectorClocks } from '../../machine/detector/needs-vector-clocks.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { Hit } from '../deciding/enumerate.ts';
import type { PairScope } from '../obligations/instance.ts';
import type { Term } from '../../term/term.ts';
import type { AccessPair } from '../obligations/obligation.ts';
import { replays, shrinking } from '../question/budget.ts';
import { conditionsOf, constantOf, namedPointer, scalarBounds } from '../premises/premises.ts';
import { type ParameterField, isFloat } from '../../launch/parameter-field.ts';
import { type Contents, type Scenario, type Shown, replay, replayRequest } from './replay.ts';
import type { Reason } from '../../verdict/reason.ts';
import { meetsAssumptions, shrink } from './smallest-scenario.ts';

/** Why there may be more than the runs show. */
type ReplayProblem = Extract<Reason, { kind: 'replay' }>['problem'];

/** What a run shows that counts. */
interface Executed {
  readonly races: readonly RaceEvent[];
  readonly divergences: readonly DivergenceEvent[];
  /** Accesses that left their objects. */
  readonly faults: readonly FaultEvent[];
  readonly steps: number;
  readonly wasCutOff: boolean;
  /** It did not end before its time because it had shown what it was made for. */
  readonly isWhole: boolean;
  /** Why there may be more than it shows. */
  readonly problem: ReplayProblem | null;
}

/** Where an open pair might be seen to race. */
interface Hint {
  readonly pair: AccessPair;
  readonly hits: readonly Hit[];
  readonly model: Model | null;
}

/** One value for all scalars, or a power of two of its own for each. */
type PreferredScalars = bigint | 'powers';

/** Values to try for scalars that nothing gives, where the solver's did not show the race. */
const smallScalars: readonly PreferredScalars[] = [1n, 2n, 0n, 'powers'];

/** Blocks that run together where more than two may matter. */
const firstBlocks: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** What arrays are filled with, in the order in which it is tried. */
const allContents: readonly Contents[] = [1, 'falling', 'rising', 3, 0];

/**
 * Arrays that threads synchronise by: counters, locks and flags start at zero, and what would happen if they did not is
 * of no interest.
 */
function synchronisingArrays({ accesses }: SymbolicFacts): ReadonlySet<string> {
  const bases = accesses
    .filter(({ instruction }) => isStrong(instruction))
    .flatMap(({ targets }) => targets.map(({ base }) => base));
  return new Set(bases.flatMap((base) => (base.kind === 'parameter' ? [`${base.index}.${base.offset}`] : [])));
}

/** The least and the largest element of arrays, by `INDEX.OFFSET` of the parameter. */
type ElementRanges = ReadonlyMap<string, { readonly low: bigint; readonly high: bigint }>;

/** What the assumptions say of elements in constants. */
export function elementRanges({ request }: KernelAndLaunch): ElementRanges {
  const ranges = new Map<string, { low: bigint; high: bigint }>();
  for (const { expression } of request.assumptions) {
    if (expression.kind !== 'elements') continue;
    const array = namedPointer(request.parameters, expression.array);
    const [low, high] = [constantOf(expression.low), constantOf(expression.high)];
    if (!array || low === undefined || high === undefined) continue;
    const key = `${array.index}.${array.offset}`;
    const known = ranges.get(key);
    ranges.set(key, {
      low: known && known.low > low ? known.low : low,
      high: known && known.high < high ? known.high : high,
    });
  }
  return ranges;
}

/** The contents of arrays of whose elements something is stated, and of those that start at zero. */
export function settledElements(
  ranges: ElementRanges,
  contents: Contents,
  zeroed: ReadonlySet<string>,
): Scenario['settled'] {
  const settled = new Map([...zeroed].map((array) => [array, 0]));
  for (const [array, { low, high }] of ranges) {
    const usual = BigInt(settled.get(array) ?? (typeof contents === 'number' ? contents : 1));
    settled.set(array, Number(usual < low ? low : usual > high ? high : usual));
  }
  return settled;
}

/** What runs are made of. */
type RunFacts = KernelAndLaunch & SymbolicFacts & ElementFacts & Pick<BarrierFacts, 'inMemory'>;

export class Confirmation {
  /** Races shown, by `pairKey`. */
  readonly races = new Map<string, Shown<RaceEvent>>();
  /** Races that constructs which are not modelled yet may order. */
  readonly ordered = new Map<string, RaceEvent>();
  /** Barriers that threads missed that had not returned. */
  readonly barriers = new Map<InstructionId, Shown<DivergenceEvent>>();
  /** Barriers that threads missed because they had returned. */
  readonly exits = new Map<InstructionId, Shown<DivergenceEvent>>();
  /** Accesses that left their objects, by instruction. */
  readonly faults = new Map<InstructionId, Shown<FaultEvent>>();
  /** Why runs may have shown less than there is. */
  problem: ReplayProblem | null = null;
  /** The scenarios that were run, and whether to the end. */
  private readonly done = new Map<string, { readonly isWhole: boolean }>();
  /** Instructions of all runs so far. */
  private steps = 0;
  /** Runs that were cut off: others are likely to be, and get less. */
  private cutOff = 0;
  /** What the runs showed that looked for smaller scenarios: the findings of a kernel ask for the same ones. */
  private readonly shrunk = new Map<string, Executed>();
  private shrinkingSteps = 0;
  private readonly context: RunFacts;
  private readonly zeroed: ReadonlySet<string>;
  /** Whether the code states what must hold of an execution. */
  private readonly statesAssumptions: boolean;
  private readonly ranges: ElementRanges;
  /** Arrays whose elements in a run are what is stated of them. */
  private readonly met: ReadonlySet<string>;

  constructor(context: RunFacts) {
    this.context = context;
    this.statesAssumptions = context.kernel.blocks.some(({ instructions }) =>
      instructions.some(({ marker }) => marker?.name === 'assume'),
    );
    this.zeroed = synchronisingArrays(context);
    this.ranges = elementRanges(context);
    const { request } = context;
    const isMet = (array: string): boolean =>
      !request.launch.samePointers?.length &&
      request.assumptions.every(({ expression }) => {
        if (expression.kind !== 'distinct' && expression.kind !== 'elements') return true;
        const named = namedPointer(request.parameters, expression.array);
        if (!named || `${named.index}.${named.offset}` !== array) return true;
        return (
          expression.kind === 'elements' &&
          constantOf(expression.low) !== undefined &&
          constantOf(expression.high) !== undefined
        );
      });
    this.met = new Set([...this.ranges.keys()].filter(isMet));
  }

  /** Runs what the hints suggest, until each pair is confirmed or the runs are spent. */
  *runHints(hints: readonly Hint[]): Steps<void> {
    // Pairs of two blocks first: such a run shows races within a block too.
    const keys = new Set(hints.map(({ pair }) => pairKey(pair)));
    const run = (scenario: Scenario | null): Steps<void> => this.runOnce(scenario, keys);
    const ordered = [...hints].sort((a, b) => Number(b.pair.scope === 'grid') - Number(a.pair.scope === 'grid'));
    const { zeroed, races } = this;
    const scenario = (): Scenario | null => this.scenario(null, this.allBlocks(), allContents[0]!);
    /** Who counts up to all blocks waits for all of them: other runs show nothing of what comes then. */
    function* together(pair: AccessPair): Steps<void> {
      if (zeroed.size > 0 && !races.has(pairKey(pair))) yield* run(scenario());
    }
    for (const { pair, hits, model } of ordered) {
      if (pair.scope === 'grid') yield* together(pair);
      const tries = hits.length > 0 ? [...new Set([hits[0]!, hits[hits.length >> 1]!])] : [null];
      for (const contents of dependsOnMemory(this.context, pair) ? allContents : [allContents[0]!]) {
        for (const hit of tries) {
          if (this.races.has(pairKey(pair))) break;
          const blocks = hit ? this.blocksOf(pair, hit) : model && this.modelBlocks(pair.scope, model);
          yield* run(this.scenario(model, blocks, contents));
        }
      }
      if (pair.scope === 'block') yield* together(pair);
      // A stride or an offset of 1 brings neighbours together where sizes that suit the launch keep them apart.
      for (const scalar of smallScalars) {
        if (this.races.has(pairKey(pair)) || !hasOpenScalar(this.context, pair)) break;
        yield* run(this.scenario(null, null, allContents[0]!, scalar));
      }
      // The dimensions of a model may rest on values that it made up.
      if (model && !this.races.has(pairKey(pair))) yield* run(this.scenario(null, null, allContents[0]!));
      // What a block does may depend on how many came before it.
      if (pair.scope === 'grid' && !this.races.has(pairKey(pair)) && dependsOnMemory(this.context, pair))
        yield* run(this.scenario(null, firstBlocks, allContents[0]!));
      // Of two fences the other one may come first.
      if (pair.scope === 'grid' && !this.races.has(pairKey(pair)) && this.ordered.has(pairKey(pair))) {
        const scenario = this.scenario(model, hits[0] ? this.blocksOf(pair, hits[0]) : null, allContents[0]!);
        yield* run(scenario && { ...scenario, blocks: [...scenario.blocks].reverse() });
      }
    }
  }

  /** Runs blocks in which some threads may miss the barrier, until one is seen to. */
  *runBarrier(
    { barrier, earlyExit }: { readonly barrier: Instruction; readonly earlyExit: boolean },
    model: Model | null,
    blocks: readonly (readonly number[])[] | null,
  ): Steps<void> {
    const shown = earlyExit ? this.exits : this.barriers;
    const numbers =
      blocks?.map((block) => this.blockNumber(block)) ?? (model ? this.modelBlocks('block', model) : [0, 1]);
    for (const contents of allContents) {
      if (shown.has(barrier.id)) return;
      yield* this.runOnce(this.scenario(model, numbers, contents));
    }
    if (isGridBarrier(barrier)) yield* this.runGridBarrier(barrier, numbers);
  }

  /** Any block of the grid may be the one that ends before the barrier, with sizes that leave it nothing to do. */
  private *runGridBarrier({ id }: Instruction, numbers: readonly number[]): Steps<void> {
    const [x, y, z] = chosenGrid(this.context, null);
    const blocks = this.allBlocks() ?? [...numbers, x * y * z - 1];
    for (const scalar of [undefined, ...smallScalars]) {
      if (this.barriers.has(id)) return;
      yield* this.runOnce(this.scenario(null, blocks, allContents[0]!, scalar), new Set());
    }
  }

  /** Runs the blocks of these indices. */
  *runBlocks(blocks: readonly (readonly number[])[]): Steps<void> {
    const numbers = blocks.map((block) => this.blockNumber(block));
    yield* this.runOnce(this.scenario(null, numbers, allContents[0]!));
  }

  private blocksOf(pair: AccessPair, hit: Hit): number[] {
    const first = this.blockNumber(hit.firstBlock);
    return pair.scope === 'grid' ? [first, this.blockNumber(hit.secondBlock)] : [first];
  }

  private blockNumber(block: readonly number[]): number {
    const [x, y] = this.context.dimensions.grid;
    return block[0]! + (x ?? 1) * (block[1]! + (y ?? 1) * block[2]!);
  }

  private modelBlocks(scope: PairScope, model: Model): number[] {
    const grid = chosenGrid(this.context, model);
    const at = (side: string): number => {
      const [x, y, z] = ['x', 'y', 'z'].map((axis) => number(model, `b${axis}${side}`) ?? 0);
      return x! + grid[0] * (y! + grid[1] * z!);
    };
    return scope === 'grid' ? [at('_1'), at('_2')] : [at('')];
  }

  /** Every block of a small grid. */
  private allBlocks(): number[] | null {
    const [blocks, threads] = [chosenGrid(this.context, null), chosenBlock(this.context, null)].map(
      ([x, y, z]) => x * y * z,
    );
    return blocks! * threads! > replays.mostThreads ? null : Array.from({ length: blocks! }, (_, number) => number);
  }

  /** Concrete dimensions, blocks and scalars for a run: the launch's own where it gives them. */
  private scenario(
    model: Model | null,
    blocks: readonly number[] | null,
    contents: Contents,
    preferred?: PreferredScalars,
  ): Scenario | null {
    const block = chosenBlock(this.context, model);
    const grid = chosenGrid(this.context, model);
    const scalar = chooseScalars(this.context, model, block, grid, preferred);
    if (!scalar) return null;
    const count = grid[0] * grid[1] * grid[2];
    const list = [...new Set(blocks ?? [0, 1])].filter((candidate) => candidate >= 0 && candidate < count);
    // Where the launch does not say, what every GPU offers.
    const sharedBytes = this.context.request.launch.sharedBytes ?? sharedBytesWithoutOptIn;
    const settled = settledElements(this.ranges, contents, this.zeroed);
    return { block, grid, sharedBytes, scalar, blocks: list.sort((a, b) => a - b), contents, settled };
  }

  /** @param sought keys of pairs: a run that has shown all of them need not go on; none: it goes to its end */
  private *runOnce(scenario: Scenario | null, sought: ReadonlySet<string> = new Set()): Steps<void> {
    const { request, kernel } = this.context;
    if (!scenario || scenario.blocks.length === 0 || this.done.size >= replays.most) return;
    const key = this.keyOfScenario(scenario);
    if (this.done.get(key)?.isWhole === true || request.budget.expired()) return;
    const { replaySteps } = request.budget;
    // Where accesses are ordered by more than barriers, each step takes many times as long.
    const all =
      needsVectorClocks(kernel).length > 0
        ? Math.min(replaySteps, replays.mostStepsWithClocks)
        : replays.stepsOfAll * replaySteps;
    if (this.steps >= all) return;
    const most = Math.min(Math.max(replaySteps / 4 ** this.cutOff, replays.fewestSteps), all - this.steps);
    const left = [...sought].filter((pair) => !this.races.has(pair));
    const result = yield* this.execute(scenario, most, left);
    this.done.set(key, result);
    this.steps += result.steps;
    if (result.wasCutOff) this.cutOff++;
    this.problem = result.problem ?? this.problem;
    for (const event of result.races) this.record(event, scenario);
    for (const event of result.faults)
      if (event.instruction !== null && !this.faults.has(event.instruction))
        this.faults.set(event.instruction, { event, scenario });
    for (const event of result.divergences) {
      const shown = event.kind === 'early-exit' ? this.exits : this.barriers;
      if (event.barrier !== null && !shown.has(event.barrier)) shown.set(event.barrier, { event, scenario });
    }
  }

  private keyOfScenario({ block, grid, blocks, contents, scalar }: Scenario): string {
    const scalars = this.context.fields.filter((field) => !field.isPointer).map((field) => scalar(field));
    return [block, grid, blocks, contents, ...scalars].join(';');
  }

  /** Runs a scenario, to its end or until it has shown the pairs that are sought, and tells what of it counts. */
  private *execute(scenario: Scenario, steps: number, sought: readonly string[]): Steps<Executed> {
    // What comes later decides whether an execution counts that states what it assumes.
    if (sought.length === 0 || this.statesAssumptions) return yield* this.executed(scenario, steps);
    const watch = (): ((race: RaceEvent) => boolean) => {
      const left = new Set(sought);
      return (race) => {
        if (race.unmodelled.length === 0) left.delete(this.keyOf(race));
        return left.size === 0;
      };
    };
    const executed = yield* this.executed(scenario, steps, watch);
    const counted = new Set(executed.races.map((race) => this.keyOf(race)));
    if (executed.isWhole || sought.every((pair) => counted.has(pair))) return executed;
    const again = yield* this.executed(scenario, steps);
    return { ...again, steps: executed.steps + again.steps };
  }

  private *executed(scenario: Scenario, steps: number, watch?: RunRequest['watch']): Steps<Executed> {
    const { request, kernel, fields } = this.context;
    const { launch, parameters, policy } = request;
    const asked = replayRequest(kernel, parameters, fields, launch, scenario, steps, policy.warpLockstep, watch);
    const result = yield* replay({ ...asked, volatileRaces: policy.volatile !== 'allow' });
    const wasCutOff = result.outcome === 'budget';
    let problem: ReplayProblem | null = wasCutOff ? 'too-long' : null;
    const nothing = {
      races: [],
      divergences: [],
      faults: [],
      steps: result.steps,
      wasCutOff,
      isWhole: result.outcome !== 'race-limit',
    };
    if (result.faults.some(({ kind }) => kind === 'unknown-operation' || kind === 'unknown-control'))
      return { ...nothing, problem: 'unknown-instruction' };
    // An execution that breaks what the code states with SELVAGE_ASSUME shows nothing.
    if (result.brokenAssumptions.length > 0) return { ...nothing, problem };
    // Where the run made up a value (a texture, a transcendental function), only what does not rest on it counts.
    const madeUp = result.havocs.length > 0;
    const races = result.races.filter((event) => {
      const indices = [event.first, event.second].map((access) => this.accessOf(access));
      // Nor do the contents that it chose for arrays of which something is stated.
      if (
        indices.some((access) => access && accessTerms(this.context, access).some((term) => this.restsOnStated(term)))
      )
        return false;
      if (!madeUp || indices.every((access) => access && this.isFirm(accessTerms(this.context, access)))) return true;
      problem = 'invented-value';
      return false;
    });
    const isFirm = !madeUp || result.divergences.length === 0 || this.isFirm(branchTerms(this.context));
    if (!isFirm) problem = 'invented-value';
    const faults = madeUp ? [] : result.faults.filter(({ left }) => left);
    return { ...nothing, races, divergences: isFirm ? result.divergences : [], faults, problem };
  }

  /** A race as a run with smaller dimensions and scalars of our choosing shows it, as far as one was found. */
  smallestRace(pair: AccessPair, shown: Shown<RaceEvent>): Steps<Shown<RaceEvent>> {
    const key = pairKey(pair);
    const find = ({ races }: Executed): RaceEvent | undefined =>
      races.find((event) => event.unmodelled.length === 0 && this.keyOf(event) === key);
    return this.smallest(shown, pair.scope, find, [key]);
  }

  /** As {@link smallestRace}, for threads that miss a barrier. */
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
    return [...accesses, ...inMemory.accesses].find(
      (access) => access.instruction.id === instruction && access.operation === operation,
    );
  }

  /** Whether a term depends on an element of an array of which the user states something that runs do not keep to. */
  private restsOnStated(term: Term): boolean {
    const { statedValues } = this.context;
    return term.leaves.some(
      ({ atom }) => atom?.kind === 'havoc' && statedValues.has(atom.value) && !this.isMet(atom.value),
    );
  }

  private isMet(value: number): boolean {
    const { accesses, kernel } = this.context;
    const { definition } = kernel.values[value]!;
    const load = accesses.find(
      ({ instruction }) => definition.kind === 'instruction' && definition.instruction === instruction,
    );
    return (
      load !== undefined &&
      load.targets.every(({ base }) => base.kind === 'parameter' && this.met.has(`${base.index}.${base.offset}`))
    );
  }

  /** Whether terms rest on the launch, arguments and the contents of arrays that the kernel only reads. */
  private isFirm(terms: readonly Term[]): boolean {
    const { kernel, loaded } = this.context;
    return terms.every((term) =>
      term.leaves.every((leaf) => {
        if (leaf.atom!.kind !== 'havoc') return true;
        if (leaf.atom!.value < 0) return false;
        const { definition } = kernel.values[leaf.atom!.value]!;
        if (definition.kind !== 'instruction' || definition.instruction.operation.effect.kind !== 'load') return false;
        return loaded(definition.instruction) === 'fixed';
      }),
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
    if (event.unmodelled.length > 0) this.ordered.set(key, event);
    else if (!this.races.has(key)) this.races.set(key, { event, scenario });
  }
}

function accessTerms({ symbolic }: SymbolicFacts, access: Access): Term[] {
  return [symbolic.reach(access.block), ...access.targets.flatMap(({ offset, condition }) => [offset, condition])];
}

function branchTerms({ kernel, symbolic }: KernelAndLaunch & SymbolicFacts): Term[] {
  return kernel.blocks.flatMap(({ id }) => symbolic.condition(id) ?? []);
}

/** Whether a pair's addresses depend on a scalar that the launch does not give. */
export function hasOpenScalar({ request }: KernelAndLaunch, pair: AccessPair): boolean {
  return pair.obligations.some(({ first, second }) =>
    [first, second].some(({ target }) =>
      target.offset.leaves.some(
        ({ atom }) =>
          atom?.kind === 'parameter' && givenScalar(request.launch, atom.index, atom.offset, atom.bytes) === undefined,
      ),
    ),
  );
}

/** Whether what memory holds decides if a pair's accesses happen, and where. */
function dependsOnMemory({ kernel }: KernelAndLaunch, pair: AccessPair): boolean {
  const isLoaded = (leaf: Term): boolean => {
    if (leaf.atom?.kind !== 'havoc' || leaf.atom.value < 0) return false;
    const { definition } = kernel.values[leaf.atom.value]!;
    return definition.kind === 'phi' || definition.instruction.operation.effect.kind !== 'pure';
  };
  return pair.obligations.some(({ first, second }) =>
    [first, second].some(
      ({ target, conditions }) =>
        target.offset.leaves.some(isLoaded) || conditions.some(({ term }) => term.leaves.some(isLoaded)),
    ),
  );
}

/** Names a pair, for the maps of a confirmation. */
export function pairKey(pair: AccessPair): string {
  return `${pair.scope}:${pair.first.index}:${pair.second.index}`;
}

/** Values for the scalars that meet the stated assumptions; null if none were found. */
export function chooseScalars(
  context: KernelAndLaunch,
  model: Model | null,
  block?: Dim3,
  grid?: Dim3,
  preferred?: PreferredScalars,
): Scenario['scalar'] | null {
  const { launch, parameters, assumptions } = context.request;
  const blockSize = block ?? chosenBlock(context, model);
  const gridSize = grid ?? chosenGrid(context, model);
  const conditions = conditionsOf(assumptions);
  const threads = BigInt(blockSize[0] * blockSize[1] * blockSize[2]);
  const total = threads * BigInt(gridSize[0] * gridSize[1] * gridSize[2]);
  const usual = [total, threads, BigInt(blockSize[0]), 1024n, 64n, 32n, 16n, 2n, 1n, 0n];
  const open = context.fields.filter(({ isPointer }) => !isPointer);
  for (const common of preferred === undefined ? usual : [preferred]) {
    const scalar = (field: ParameterField): bigint => {
      const candidate = common === 'powers' ? 1n << BigInt(Math.max(0, open.indexOf(field))) : common;
      const given = givenScalar(launch, field.index, field.offset, field.bytes);
      if (given !== undefined) return given;
      const mask = (1n << BigInt(8 * field.bytes)) - 1n;
      const solved = model?.get(`p${field.index}_${field.offset}_${field.bytes}`);
      if (typeof solved === 'bigint') return solved & mask;
      if (isFloat(context.kernel, parameters, field)) return field.bytes === 8 ? 0x3ff0000000000000n : 0x3f800000n;
      if (conditions.length === 0) return candidate & mask;
      const bounds = scalarBounds(conditions, parameters, field.index, field.offset, field.bytes);
      const value = candidate < bounds.low ? bounds.low : candidate > bounds.high ? bounds.high : candidate;
      return value & mask;
    };
    if (meetsAssumptions(context, { block: blockSize, grid: gridSize, scalar })) return scalar;
  }
  return null;
}

function number(model: Model | null, name: string): number | null {
  const value = model?.get(name);
  return typeof value === 'bigint' ? Number(value) : null;
}

/** A block to run: the launch's, the solver's where that many threads are allowed, or a small one. */
function chosenBlock({ dimensions, kernel }: KernelAndLaunch, model: Model | null): Dim3 {
  const limit = threadLimit(kernel);
  const open = dimensions.block.filter((size) => size === null).length;
  const small = open <= 1 ? 64 : open === 2 ? 8 : 4;
  const shape = (along: (axis: 0 | 1 | 2) => number): Dim3 => {
    const size = (axis: 0 | 1 | 2): number => dimensions.block[axis] ?? along(axis);
    return [size(0), size(1), size(2)];
  };
  const isAllowed = ([x, y, z]: Dim3): boolean => x * y * z <= limit;
  const solved = shape((axis) => number(model, `n${'xyz'[axis]}`) ?? small);
  if (isAllowed(solved)) return solved;
  for (let size = small; size > 1; size >>= 1) {
    const block = shape(() => size);
    if (isAllowed(block)) return block;
  }
  return shape(() => 1);
}

function chosenGrid({ dimensions }: KernelAndLaunch, model: Model | null): Dim3 {
  const open = dimensions.grid.filter((size) => size === null).length;
  const along = (axis: 0 | 1 | 2): number =>
    dimensions.grid[axis] ?? number(model, `g${'xyz'[axis]}`) ?? (open <= 1 ? 4 : 2);
  return [along(0), along(1), along(2)];
}
