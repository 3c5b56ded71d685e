/**
 * Checks one kernel under one launch: barrier divergence first, since barrier intervals rest on it, then races within
 * blocks and between blocks. What the tiers leave open is run in the interpreter; only what it shows is a finding that
 * is confirmed.
 */
import { type Access, collectAccesses, writtenObjects } from '../analysis/access.ts';
import { type IntervalResult, barrierIntervals } from '../analysis/barrier-interval.ts';
import { controlDependence } from '../analysis/control-dependence.ts';
import type { Dimensions } from '../analysis/launch-bounds.ts';
import { type Base } from '../analysis/memory-base.ts';
import { type TermNames, printTerm } from '../analysis/print-term.ts';
import { type SymbolicKernel, evaluateSymbolically } from '../analysis/symbolic.ts';
import { type UniformityResult, inferUniformity } from '../analysis/uniformity.ts';
import { hashText } from '../base/hash.ts';
import type { AssumptionExpression } from '../cuda/assumption.ts';
import type { DivergenceEvent, RaceEvent } from '../exec/launch.ts';
import type { BlockId, Instruction, InstructionId, Kernel } from '../ir/kernel.ts';
import type { Severity } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import type { Solver } from '../solver/solver.ts';
import type { Bounds } from '../term/linear.ts';
import type { Term } from '../term/term.ts';
import {
  type DivergenceObligation,
  divergenceObligations,
  enumerateBranch,
  unmodelledBarriers,
} from './barrier-divergence.ts';
import type { Hit } from './enumerate.ts';
import { Instances, type PairScope } from './instance.ts';
import type { Dim3, Launch } from './launch.ts';
import { LinearEncoding } from './linear-encoding.ts';
import { type AccessPair, type MayAlias, type Obligation, blockPairs, gridPairs } from './obligation.ts';
import { LinearTier, type TierContext, decideCheaply } from './pair-tiers.ts';
import {
  conditionsOf,
  encodeCondition,
  evaluateCondition,
  isUnsignedType,
  namedScalar,
  scalarBounds,
  type ValueOf,
} from './premises.ts';
import {
  type ParameterField,
  type Scenario,
  describeWitness,
  fieldName,
  parameterFields,
  parameterName,
  replay,
} from './replay.ts';
import type {
  AccessDescription,
  Assumption,
  DivergenceFinding,
  DivergenceResult,
  RaceFinding,
  RaceResult,
  Witness,
} from './verdict.ts';

/** What the source tells of a kernel parameter, by position. */
export interface ParameterSource {
  readonly name: string;
  /** Type as written, for example `const float *`. */
  readonly type: string;
  /** Members of a struct parameter, where its definition is at hand: byte offsets from its start. */
  readonly fields?: readonly { readonly name: string; readonly offset: number; readonly type: string }[];
}

/** An assumption of the user with where it was stated and how it reads. */
export interface StatedAssumption {
  readonly expression: AssumptionExpression;
  readonly text: string;
  readonly location?: Location;
}

export interface CheckRequest {
  readonly kernel: Kernel;
  /** As reports show it: `ns::reduce<256, float>`. */
  readonly name: string;
  /** By parameter index; shorter or empty where the source is not at hand (PTX input). */
  readonly parameters: readonly ParameterSource[];
  /** Name in reports of a memory object, from its symbol (demangled, without the function it belongs to). */
  readonly objectName: (symbol: string) => string;
  readonly launch: Launch;
  readonly assumptions: readonly StatedAssumption[];
  readonly checks: { readonly race: boolean; readonly divergence: boolean };
  readonly policy: CheckPolicy;
  /** Started on first use: most kernels need no solver. */
  readonly solver: () => Promise<Solver>;
  readonly budget: CheckBudget;
}

/** Severities that the configuration may set. */
export interface CheckPolicy {
  readonly race: Severity;
  /** `proved`: tolerated, with the assumption `equal-value-writes`. */
  readonly sameValueWrites: Severity | 'proved';
  readonly divergence: Severity;
  readonly earlyExit: Severity;
}

/** Counted budgets, so that the same input gives the same report. */
export interface CheckBudget {
  /** Z3 resource units for one query. */
  readonly solverUnits: number;
  /** Evaluations of an access in the enumeration tier, for one pair. */
  readonly evaluations: number;
  /** Instructions executed in one replay. */
  readonly replaySteps: number;
  /** True once the wall clock has cut the kernel short: what is not decided by then is `unknown`. */
  readonly expired: () => boolean;
}

export interface CheckResult {
  readonly race: RaceResult;
  readonly divergence: DivergenceResult;
  /** The stated assumptions exclude each other: an error of their author, and nothing is proved. */
  readonly contradiction?: string;
}

/** Replays of one kernel at most. */
const mostRuns = 10;

/** Checks one kernel under one launch. Never throws for what the input may hold; a defect of ours throws. */
export async function checkKernel(request: CheckRequest): Promise<CheckResult> {
  const check = new KernelCheck(request);
  try {
    return await check.run();
  } finally {
    check.dispose();
  }
}

/** A divergence obligation or access pair that the tiers left open. */
interface OpenPair {
  readonly pair: AccessPair;
  readonly hits: readonly Hit[];
  readonly model: ReadonlyMap<string, bigint | boolean> | null;
  readonly reason: string;
  readonly budget: boolean;
}

interface ConfirmedRace {
  readonly event: RaceEvent;
  readonly scenario: Scenario;
}

interface ConfirmedDivergence {
  readonly event: DivergenceEvent;
  readonly scenario: Scenario;
}

class KernelCheck {
  private readonly request: CheckRequest;
  private readonly kernel: Kernel;
  private readonly dimensions: Dimensions;
  private readonly symbolic: SymbolicKernel;
  private readonly accesses: readonly Access[];
  private readonly fields: readonly ParameterField[];
  private readonly tiers = new Map<PairScope, { tier: LinearTier; encoding: LinearEncoding }>();
  private readonly assumptions = new Map<string, Assumption>();
  private readonly confirmedRaces = new Map<string, ConfirmedRace>();
  private readonly orderedRaces = new Map<string, RaceEvent>();
  private readonly confirmedBarriers = new Map<InstructionId, ConfirmedDivergence>();
  private readonly scenariosRun = new Set<string>();

  private replayProblem: string | null = null;

  constructor(request: CheckRequest) {
    this.request = request;
    this.kernel = request.kernel;
    this.dimensions = dimensionsOf(request.kernel, request.launch);
    const conditions = conditionsOf(request.assumptions);
    this.symbolic = evaluateSymbolically(request.kernel, {
      dimensions: this.dimensions,
      scalar: (index, offset, bytes) => scalarOf(request.launch, index, offset, bytes),
      scalarBounds: (index, offset, bytes): Bounds | undefined => {
        if (conditions.length === 0) return undefined;
        return scalarBounds(conditions, request.parameters, index, offset, bytes);
      },
      sharedBytes: request.launch.sharedBytes,
    });
    this.accesses = collectAccesses(this.symbolic);
    const bases = this.accesses.flatMap((access) => access.targets.map(({ base }) => base));
    this.fields = parameterFields(request.kernel, bases, request.parameters);
  }

  dispose(): void {
    for (const { tier } of this.tiers.values()) tier.dispose();
  }

  async run(): Promise<CheckResult> {
    const { kernel, symbolic, request } = this;
    if (conditionsOf(request.assumptions).length > 0 && this.findScalars(null) === null) {
      const contradiction = await this.contradiction();
      if (contradiction) return this.undecided(contradiction, { contradiction });
    }
    const dependences = controlDependence(kernel);
    const isWritten = writtenObjects(this.accesses);
    const before = inferUniformity(kernel, dependences, isWritten, new Set());
    const divergence = await this.checkDivergence(dependences, before);
    const uniformity =
      divergence.provedBranches.size > 0
        ? inferUniformity(kernel, dependences, isWritten, divergence.provedBranches)
        : before;
    const intervals = barrierIntervals(symbolic, this.accesses, uniformity);
    const race = await this.checkRaces(intervals, uniformity, divergence.open.length === 0);
    const divergenceResult = this.divergenceResult(divergence, race.verdict === 'proved');
    return {
      race: request.checks.race
        ? this.raceResult(race, divergenceResult.verdict)
        : { verdict: 'skipped', findings: [] },
      divergence: request.checks.divergence ? divergenceResult : { verdict: 'skipped', findings: [] },
    };
  }

  private undecided(reason: string, more: Partial<CheckResult> = {}): CheckResult {
    return {
      race: { verdict: 'unknown', reason, findings: [] },
      divergence: { verdict: 'unknown', reason, findings: [] },
      ...more,
    };
  }

  // Solver.

  private async linear(
    scope: PairScope,
    uniformity: UniformityResult,
  ): Promise<{ tier: LinearTier; encoding: LinearEncoding; instances: Instances }> {
    const instances = new Instances(this.symbolic, uniformity, scope);
    let entry = this.tiers.get(scope);
    if (!entry) {
      const solver = await this.request.solver();
      const encoding = new LinearEncoding(this.symbolic, instances, this.dimensions);
      const premises = this.premises(encoding);
      entry = { encoding, tier: new LinearTier(solver, encoding, premises, this.request.budget.solverUnits) };
      this.tiers.set(scope, entry);
    }
    return { ...entry, instances };
  }

  private fieldAt(index: number, offset: number): ParameterField | undefined {
    return this.fields.find((field) => field.index === index && field.offset === offset);
  }

  /** The stated assumptions in the solver's words. */
  private premises(encoding: LinearEncoding): string[] {
    const { store, view } = this.symbolic;
    const reading = { side: 1 as const, rounds: [] };
    const texts: string[] = [];
    for (const condition of conditionsOf(this.request.assumptions)) {
      const text = encodeCondition(
        condition,
        {
          parameter: ({ index, offset, type }) => {
            const field = this.fieldAt(index, offset);
            if (!field || field.isPointer) return null;
            const given = scalarOf(this.request.launch, index, offset, field.bytes);
            const width = field.bytes * 8;
            const term =
              given !== undefined
                ? store.constant(width, given)
                : store.atom(width, { kind: 'parameter', index, offset, bytes: field.bytes });
            return encoding.linear(isUnsignedType(type) ? view.unsigned(term) : view.signed(term), reading);
          },
          dimension: (name, axis) => {
            const size = (name === 'blockDim' ? this.dimensions.block : this.dimensions.grid)[axis];
            if (size !== null) return String(size);
            const kind = name === 'blockDim' ? 'block-size' : 'grid-size';
            return encoding.linear(view.unsigned(store.atom(32, { kind, axis })), reading);
          },
        },
        this.request.parameters,
      );
      if (text !== null) texts.push(text);
    }
    encoding.takeAssumptions();
    return texts;
  }

  private async contradiction(): Promise<string | null> {
    const nothing = inferUniformity(this.kernel, controlDependence(this.kernel), () => true, new Set());
    const { tier } = await this.linear('grid', nothing);
    const result = await tier.decide('true');
    if (result.kind !== 'proved') return null;
    return `the assumptions exclude each other: ${this.request.assumptions.map(({ text }) => text).join('; ')}`;
  }

  // Divergence.

  private async checkDivergence(
    dependences: readonly (readonly BlockId[])[],
    uniformity: UniformityResult,
  ): Promise<DivergenceState> {
    const provedBranches = new Set<BlockId>();
    const open: { obligation: DivergenceObligation; reason: string; budget: boolean }[] = [];
    const earlyExits: DivergenceObligation[] = [];
    const decided = new Map<BlockId, 'proved' | { reason: string; budget: boolean }>();
    const context = this.context(uniformity, 'block');
    for (const obligation of divergenceObligations(this.symbolic, dependences, uniformity)) {
      let result = decided.get(obligation.branch);
      if (!result) {
        result = await this.decideBranch(context, obligation, uniformity);
        decided.set(obligation.branch, result);
      }
      if (result === 'proved') provedBranches.add(obligation.branch);
      else if (obligation.earlyExit) earlyExits.push(obligation);
      else open.push({ obligation, ...result });
    }
    const unseen = [...open.map(({ obligation }) => obligation), ...earlyExits];
    if (unseen.some(({ barrier }) => !this.confirmedBarriers.has(barrier.id)))
      this.runOnce(this.scenario(null, null, [0, 1]));
    return {
      provedBranches,
      open,
      earlyExits,
      uniformity,
      stableBranches: this.reliesOnMemory(dependences, uniformity),
    };
  }

  /** Some barrier is reached by a branch that is uniform only if no two threads race on what it reads. */
  private reliesOnMemory(dependences: readonly (readonly BlockId[])[], uniformity: UniformityResult): boolean {
    void dependences;
    return this.kernel.blocks.some((block) => block.successors.length > 1 && uniformity.branch(block.id) === 'stable');
  }

  private async decideBranch(
    context: TierContext,
    obligation: DivergenceObligation,
    uniformity: UniformityResult,
  ): Promise<'proved' | { reason: string; budget: boolean }> {
    const enumerated = enumerateBranch(context, obligation);
    if (enumerated.kind === 'uniform') return 'proved';
    const condition = this.print(obligation.condition);
    const reason = `the condition ${condition} may differ between threads of a block`;
    if (enumerated.kind === 'varying') {
      this.runOnce(this.scenario(null, null, [this.blockNumber(enumerated.block)]));
      return { reason, budget: false };
    }
    if (obligation.conditions.length === 0) return { reason, budget: false };
    const { tier, encoding } = await this.linear('block', uniformity);
    const result = await tier.decide(encoding.together(obligation.conditions));
    if (result.kind === 'proved') {
      this.assumeNoWrap(result.assumes);
      return 'proved';
    }
    if (result.kind === 'budget') return { reason: result.reason, budget: true };
    if (result.model) this.runOnce(this.scenario(null, result.model, null));
    return { reason, budget: false };
  }

  private divergenceResult(state: DivergenceState, raceFree: boolean): DivergenceResult {
    const { kernel, request } = this;
    const findings: DivergenceFinding[] = [];
    const seen = new Set<string>();
    const add = (obligation: DivergenceObligation, kind: 'divergent' | 'early-exit'): boolean => {
      const confirmed = this.confirmedBarriers.get(obligation.barrier.id);
      const barrier = place(kernel, obligation.barrier);
      const line = `${barrier.file}:${barrier.line}:${kind}`;
      if (seen.has(line)) return confirmed !== undefined;
      seen.add(line);
      const condition = this.print(obligation.condition);
      const code = kind === 'early-exit' ? 'barrier/early-exit' : 'barrier/divergent';
      const policy = kind === 'early-exit' ? request.policy.earlyExit : request.policy.divergence;
      const origin =
        confirmed && this.isGiven([obligation.condition, ...obligation.conditions.map(({ term }) => term)])
          ? 'given'
          : 'chosen';
      const absent = confirmed?.event.absent?.thread;
      const arrived = confirmed?.event.arrived[0];
      const who =
        absent && arrived ? `thread ${tuple(arrived)} waits there, thread ${tuple(absent)} does not come` : '';
      findings.push({
        code,
        severity: kind === 'early-exit' ? policy : confirmed && origin === 'given' ? policy : weaker(policy),
        fingerprint: hashText([code, request.name, condition, this.ordinalOfBarrier(obligation.barrier)].join('|')),
        kind,
        barrier,
        condition,
        confirmed: confirmed !== undefined,
        ...(confirmed && { witness: this.witness(confirmed.scenario), witnessOrigin: origin }),
        message:
          kind === 'early-exit'
            ? `Some threads of the block have returned before this barrier (${condition}); sm_70 and later count them as arrived.`
            : `Not all threads of the block reach this barrier: it depends on ${condition}${who ? `; ${who}` : ''}.`,
      });
      return confirmed !== undefined;
    };
    let confirmed = false;
    for (const { obligation } of state.open) if (add(obligation, 'divergent')) confirmed = true;
    for (const obligation of state.earlyExits) add(obligation, 'early-exit');
    const assumptions = this.listAssumptions();
    if (confirmed) return { verdict: 'divergent', assumptions, findings };
    const weak = this.weakness();
    if (weak) return { verdict: 'unknown', reason: weak, findings };
    const budget = state.open.find((entry) => entry.budget);
    if (budget) return { verdict: 'unknown', reason: budget.reason, findings };
    if (state.open.length > 0) return { verdict: 'possible', reason: state.open[0]!.reason, findings };
    if (unmodelledBarriers(kernel).length > 0)
      return { verdict: 'possible', reason: 'barriers of part of a block or of the grid are not modelled', findings };
    if (state.stableBranches && !raceFree)
      return {
        verdict: 'possible',
        reason: 'a barrier depends on memory that the kernel writes, and it is not shown to be free of races',
        findings,
      };
    return { verdict: 'proved', assumptions, findings };
  }

  // Races.

  private context(uniformity: UniformityResult, scope: PairScope): TierContext {
    return {
      symbolic: this.symbolic,
      instances: new Instances(this.symbolic, uniformity, scope),
      dimensions: this.dimensions,
      evaluations: this.request.budget.evaluations,
    };
  }

  private async checkRaces(
    intervals: IntervalResult,
    uniformity: UniformityResult,
    convergent: boolean,
  ): Promise<RaceState> {
    const aliased = new Set<string>();
    const mayAlias = this.aliasing(aliased);
    const pairs = [
      ...blockPairs(this.symbolic, intervals.intervals, mayAlias),
      ...(this.dimensions.grid.every((size) => size === 1) ? [] : gridPairs(this.symbolic, this.accesses, mayAlias)),
    ];
    const contexts = { block: this.context(uniformity, 'block'), grid: this.context(uniformity, 'grid') };
    const waiting: { pair: AccessPair; obligation: Obligation; hits: readonly Hit[]; exact: boolean }[] = [];
    const open: OpenPair[] = [];
    const sameValue = new Set<AccessPair>();
    for (const pair of pairs) {
      const context = contexts[pair.scope];
      const left: { obligation: Obligation; hits: readonly Hit[]; exact: boolean }[] = [];
      for (const obligation of pair.obligations) {
        if (!obligation.resolved) {
          open.push({ pair, hits: [], model: null, reason: 'a pointer whose target is not known', budget: false });
          left.length = 0;
          break;
        }
        const result = decideCheaply(context, obligation);
        if (result.kind === 'proved') this.assumeNoWrap(result.assumes);
        else left.push({ obligation, hits: result.hits, exact: result.exact });
      }
      for (const entry of left) waiting.push({ pair, ...entry });
      if (left.length > 0 && left.every(({ obligation }) => this.storesSame(context.instances, obligation)))
        sameValue.add(pair);
    }

    // Hits first: what a run confirms needs no solver.
    const hinted = waiting.filter(({ hits }) => hits.length > 0);
    if (hinted.length > 0)
      this.runScenarios(
        hinted.map(({ pair, hits }) => ({ pair, hits, model: null })),
        true,
      );
    for (const { pair, obligation, hits, exact } of waiting) {
      if (this.confirmedRaces.has(pairKey(pair))) continue;
      if (exact) {
        open.push({ pair, hits, model: null, reason: 'the accesses overlap', budget: false });
        continue;
      }
      if (this.request.budget.expired()) {
        open.push({ pair, hits, model: null, reason: 'out of time', budget: true });
        continue;
      }
      const { tier, encoding } = await this.linear(pair.scope, uniformity);
      const result = await tier.decide(encoding.overlap(obligation));
      if (result.kind === 'proved') {
        this.assumeNoWrap(result.assumes);
        continue;
      }
      const model = result.kind === 'open' ? result.model : null;
      const reason = this.whyOpen(obligation) ?? result.reason;
      open.push({ pair, hits, model, reason, budget: result.kind === 'budget' });
      if (model) this.runScenarios([{ pair, hits, model }], false);
    }
    for (const { pair } of waiting)
      if (this.confirmedRaces.has(pairKey(pair)) && !open.some((entry) => entry.pair === pair))
        open.push({ pair, hits: [], model: null, reason: '', budget: false });

    const relies = contexts.block.instances.reliesOnRaceFreedom;
    void relies;
    let verdict: RaceState['verdict'] = 'proved';
    for (const entry of open) {
      if (this.isConfirmed(entry.pair)) verdict = 'race';
      else if (verdict !== 'race') verdict = entry.budget ? 'unknown' : verdict === 'proved' ? 'possible' : verdict;
    }
    if (verdict === 'proved' && (intervals.truncated || !convergent)) verdict = 'possible';
    return { verdict, open, sameValue, aliased, truncated: intervals.truncated, pairs: pairs.length };
  }

  private isConfirmed(pair: AccessPair): boolean {
    return this.confirmedRaces.has(pairKey(pair)) && !this.isIndirect(pair);
  }

  /** An address that is read from memory: the contents that a run chose decide whether threads meet. */
  private isIndirect(pair: AccessPair): boolean {
    return pair.obligations.some(({ first, second }) =>
      [first, second].some(({ target }) => target.offset.leaves.some((leaf) => this.isLoaded(leaf))),
    );
  }

  private isLoaded(leaf: Term): boolean {
    if (leaf.atom?.kind !== 'havoc' || leaf.atom.value < 0) return false;
    const { definition } = this.kernel.values[leaf.atom.value]!;
    return definition.kind === 'instruction' && definition.instruction.operation.effect.kind === 'load';
  }

  private whyOpen(obligation: Obligation): string | null {
    for (const { target } of [obligation.first, obligation.second]) {
      for (const leaf of target.offset.leaves) {
        if (leaf.atom?.kind !== 'havoc') continue;
        if (!this.isLoaded(leaf)) return 'an index that is not followed';
        const { definition } = this.kernel.values[leaf.atom.value]!;
        if (definition.kind !== 'instruction') continue;
        const source = this.accesses.find((access) => access.instruction === definition.instruction);
        const name = source ? this.baseName(source.targets[0]!.base) : 'memory';
        return `an index is read from ${name}: threads meet unless its elements are distinct`;
      }
    }
    return null;
  }

  /** Whether both threads provably store the same value. */
  private storesSame(instances: Instances, obligation: Obligation): boolean {
    const { first, second } = obligation;
    const a = first.access.stored;
    const b = second.access.stored;
    if (!a || !b || a.length !== b.length || first.access.bytes !== second.access.bytes) return false;
    return a.every((term, lane) => {
      const other = b[lane]!;
      if (term.operator === 'constant' || other.operator === 'constant') return term === other;
      return instances.key(term, first.reading) === instances.key(other, second.reading);
    });
  }

  private aliasing(aliased: Set<string>): MayAlias {
    const shareSpace = (a: Base, b: Base): boolean => isSharedObject(a) === isSharedObject(b);
    return (a, b) => {
      if (a.kind === 'unknown' || b.kind === 'unknown') return 'unknown';
      if (a.key === b.key) return 'same';
      if (a.kind === 'object' && b.kind === 'object') return 'apart';
      if (!shareSpace(a, b)) return 'apart';
      if (a.kind === 'parameter' && b.kind === 'parameter') {
        const together = this.request.launch.aliases.some(
          ([x, y]) => (x === a.index && y === b.index) || (x === b.index && y === a.index),
        );
        if (together && a.offset === 0 && b.offset === 0) return 'same';
      }
      for (const base of [a, b]) aliased.add(this.baseName(base));
      return 'apart';
    };
  }

  private raceResult(state: RaceState, divergence: DivergenceResult['verdict']): RaceResult {
    const { request } = this;
    const findings = new Map<string, RaceFinding>();
    let tolerated = false;
    let confirmed = false;
    let open: { reason: string; budget: boolean } | null = null;
    for (const entry of state.open) {
      const same = state.sameValue.has(entry.pair);
      if (same && request.policy.sameValueWrites === 'proved') {
        tolerated = true;
        continue;
      }
      const finding = this.raceFinding(entry, same);
      if (finding.confirmed) confirmed = true;
      else if (!open || (entry.budget && !open.budget)) open = { reason: this.openReason(entry), budget: entry.budget };
      const key = [finding.code, finding.array, ...linesOf(finding)].join('|');
      const known = findings.get(key);
      if (!known || (finding.confirmed && !known.confirmed)) findings.set(key, finding);
    }
    const list = [...findings.values()];
    if (tolerated) this.assume('equal-value-writes', 'threads that write the same element write the same value');
    if (confirmed) return { verdict: 'race', assumptions: this.listAssumptions(), findings: list };
    const weak = this.weakness();
    if (weak) return { verdict: 'unknown', reason: weak, findings: list };
    if (open) return { verdict: open.budget ? 'unknown' : 'possible', reason: open.reason, findings: list };
    if (state.truncated)
      return { verdict: 'unknown', reason: 'too many combinations of loop rounds between barriers', findings: list };
    if (divergence !== 'proved')
      return {
        verdict: 'possible',
        reason: 'barrier divergence is not excluded, and barriers order threads only without it',
        findings: list,
      };
    if (this.accesses.length > 0) this.assume('in-bounds', 'every index stays in its array');
    if (state.aliased.size > 1) this.assume('no-alias', `${[...state.aliased].sort().join(', ')} do not overlap`);
    return { verdict: 'proved', assumptions: this.listAssumptions(), findings: list };
  }

  private openReason(entry: OpenPair): string {
    const ordered = this.orderedRaces.get(pairKey(entry.pair));
    if (ordered) return `the accesses may be ordered by what is not modelled yet: ${ordered.unmodelled.join(', ')}`;
    return this.replayProblem && entry.reason === 'the accesses overlap' ? this.replayProblem : entry.reason;
  }

  private raceFinding(entry: OpenPair, sameValue: boolean): RaceFinding {
    const { pair } = entry;
    const { policy, name } = this.request;
    const shown = this.confirmedRaces.get(pairKey(pair));
    const confirmed = shown !== undefined && !this.isIndirect(pair);
    const [a, b] = shown ? this.inOrderOf(pair, shown.event) : [pair.first, pair.second];
    const memory = pair.first.memory === 'generic' ? pair.second.memory : pair.first.memory;
    const array = this.baseName(pair.first.targets[0]!.base);
    const kind = kindOf(a, b);
    const terms = pair.obligations.flatMap(({ first, second }) => [first.target.offset, second.target.offset, ...first.conditions.map(({ term }) => term), ...second.conditions.map(({ term }) => term)]); // prettier-ignore
    const origin = this.isGiven(terms) ? 'given' : 'chosen';
    const base = sameValue && policy.sameValueWrites !== 'proved' ? policy.sameValueWrites : policy.race;
    const severity = confirmed && origin === 'given' ? base : weaker(base);
    const first = this.describeAccess(a, confirmed ? shown?.event.first : undefined);
    const second = this.describeAccess(b, confirmed ? shown?.event.second : undefined);
    const where = first.location?.line === second.location?.line ? `line ${first.location?.line ?? '?'}` : `lines ${first.location?.line ?? '?'} and ${second.location?.line ?? '?'}`; // prettier-ignore
    const launched =
      origin === 'chosen' && confirmed ? ` (races if launched with ${this.describeChoice(shown.scenario)})` : '';
    const message = confirmed
      ? `Thread ${who(shown.event.first, pair.scope)} ${verb[a.operation]} ${array} while thread ${who(shown.event.second, pair.scope)} ${verb[b.operation]} the same ${shown.event.bytes === 1 ? 'byte' : `${shown.event.bytes} bytes`}; ${pair.scope === 'block' ? `no __syncthreads() separates ${where}` : `nothing orders blocks at ${where}`}${launched}.`
      : `Two threads may ${nouns[a.operation]} and ${nouns[b.operation]} the same element of ${array} at ${where}: ${this.openReason(entry)}.`;
    return {
      code: memory === 'shared' ? 'race/shared' : memory === 'global' ? 'race/global' : 'race/generic',
      severity,
      fingerprint: hashText(
        ['race', name, array, pair.scope, kind, this.accessIdentity(pair.first), this.accessIdentity(pair.second)].join(
          '|',
        ),
      ),
      kind,
      memory,
      scope: this.scopeOf(pair, shown?.event),
      array,
      ...(sameValue && { sameValue }),
      first,
      second,
      confirmed,
      ...(confirmed && { witness: this.witness(shown.scenario), witnessOrigin: origin }),
      message,
    };
  }

  /** The accesses of a pair in the order in which an event names them. */
  private inOrderOf(pair: AccessPair, event: RaceEvent): [Access, Access] {
    return event.first.instruction === pair.first.instruction.id
      ? [pair.first, pair.second]
      : [pair.second, pair.first];
  }

  private scopeOf(pair: AccessPair, event: RaceEvent | undefined): 'warp' | 'block' | 'grid' {
    if (pair.scope === 'grid') return 'grid';
    const { block } = this.dimensions;
    if (!event || block.some((size) => size === null)) return 'block';
    const warp = ([x, y, z]: Dim3): number => Math.floor((x + block[0]! * (y + block[1]! * z)) / 32);
    return warp(event.first.thread) === warp(event.second.thread) ? 'warp' : 'block';
  }

  private describeAccess(access: Access, event: { thread: Dim3; block: Dim3 } | undefined): AccessDescription {
    return {
      operation: access.operation,
      memory: access.memory,
      bytes: access.bytes,
      location: place(this.kernel, access.instruction),
      ...(event && { thread: event.thread, block: event.block }),
    };
  }

  /** What an access is, independent of where it stands in the file. */
  private accessIdentity(access: Access): string {
    const text = this.print(access.targets[0]!.offset);
    const like = this.accesses.filter(
      (other) => other.operation === access.operation && this.print(other.targets[0]!.offset) === text,
    );
    return `${access.operation}:${text}:${like.indexOf(access)}`;
  }

  private ordinalOfBarrier(barrier: Instruction): number {
    return this.kernel.blocks.flatMap((block) => block.instructions).filter(({ operation }) => operation.effect.kind === 'barrier').indexOf(barrier); // prettier-ignore
  }

  // Runs.

  /** Runs the scenarios that the open pairs suggest, until each is confirmed or the budget is spent. */
  private runScenarios(
    hints: readonly {
      readonly pair: AccessPair;
      readonly hits: readonly Hit[];
      readonly model: ReadonlyMap<string, bigint | boolean> | null;
    }[],
    broad: boolean,
  ): void {
    // Pairs of two blocks first: such a run shows races within a block too.
    const ordered = [...hints].sort((a, b) => (a.pair.scope === b.pair.scope ? 0 : a.pair.scope === 'grid' ? -1 : 1));
    for (const { pair, hits, model } of ordered) {
      if (this.confirmedRaces.has(pairKey(pair))) continue;
      const tries = hits.length > 0 ? [hits[0]!, ...(broad ? [hits[hits.length >> 1]!] : [])] : [null];
      for (const hit of tries) {
        if (this.confirmedRaces.has(pairKey(pair))) break;
        const blocks = hit
          ? pair.scope === 'grid'
            ? [this.blockNumber(hit.firstBlock), this.blockNumber(hit.secondBlock)]
            : [this.blockNumber(hit.firstBlock)]
          : null;
        this.runOnce(this.scenario(pair, model, blocks));
      }
    }
  }

  private blockNumber(block: readonly number[]): number {
    const [x, y] = this.dimensions.grid;
    return block[0]! + (x ?? 1) * (block[1]! + (y ?? 1) * block[2]!);
  }

  /** Concrete dimensions, blocks and scalars for a run: the launch's own where it gives them. */
  private scenario(
    pair: AccessPair | null,
    model: ReadonlyMap<string, bigint | boolean> | null,
    blocks: readonly number[] | null,
  ): Scenario | null {
    const fromModel = (name: string): number | null => {
      const value = model?.get(name);
      return typeof value === 'bigint' ? Number(value) : null;
    };
    const block = chosenBlock(this.dimensions, this.kernel, fromModel);
    const grid = chosenGrid(this.dimensions, fromModel);
    const scalars = this.findScalars(model, block, grid);
    if (!scalars) return null;
    let chosen = blocks;
    if (!chosen && model) {
      const at = (side: string): number => {
        const [x, y, z] = ['x', 'y', 'z'].map((axis) => fromModel(`b${axis}${side}`) ?? 0);
        return x! + grid[0] * (y! + grid[1] * z!);
      };
      chosen = pair?.scope === 'grid' ? [at('_1'), at('_2')] : [at('')];
    }
    const count = grid[0] * grid[1] * grid[2];
    const list = [...new Set(chosen ?? [0, 1])].filter((number) => number >= 0 && number < count);
    return {
      block,
      grid,
      sharedBytes: this.request.launch.sharedBytes ?? 48 * 1024,
      scalar: scalars,
      blocks: list.sort((a, b) => a - b),
    };
  }

  /** Values for the scalars that meet the stated assumptions; null if none were found. */
  private findScalars(
    model: ReadonlyMap<string, bigint | boolean> | null,
    block: Dim3 = chosenBlock(this.dimensions, this.kernel, () => null),
    grid: Dim3 = chosenGrid(this.dimensions, () => null),
  ): Scenario['scalar'] | null {
    const { launch, parameters, assumptions } = this.request;
    const conditions = conditionsOf(assumptions);
    const threads = BigInt(block[0] * block[1] * block[2]);
    const total = threads * BigInt(grid[0] * grid[1] * grid[2]);
    for (const candidate of [total, threads, BigInt(block[0]), 1024n, 64n, 32n, 16n, 2n, 1n, 0n]) {
      const scalar = (field: ParameterField): bigint => {
        const given = scalarOf(launch, field.index, field.offset, field.bytes);
        if (given !== undefined) return given;
        const solved = model?.get(`p${field.index}_${field.offset}_${field.bytes}`);
        const mask = (1n << BigInt(8 * field.bytes)) - 1n;
        if (typeof solved === 'bigint') return solved & mask;
        const type = this.kernel.parameters[field.index]?.type;
        if (type === 'f32') return 0x3f800000n;
        if (type === 'f64') return 0x3ff0000000000000n;
        if (conditions.length === 0) return candidate & mask;
        const bounds = scalarBounds(conditions, parameters, field.index, field.offset, field.bytes);
        const value = candidate < bounds.low ? bounds.low : candidate > bounds.high ? bounds.high : candidate;
        return value & mask;
      };
      const valueOf: ValueOf = (name) => {
        if (name.kind === 'dimension') {
          const size = (name.name === 'blockDim' ? block : grid)['xyz'.indexOf(name.axis)]!;
          return BigInt(size);
        }
        const named = namedScalar(parameters, name.path);
        const field = named && this.fieldAt(named.index, named.offset);
        if (!field || field.isPointer) return null;
        return isUnsignedType(named.type) ? scalar(field) : BigInt.asIntN(field.bytes * 8, scalar(field));
      };
      if (conditions.every((condition) => evaluateCondition(condition, valueOf) !== false)) return scalar;
    }
    return null;
  }

  private runOnce(scenario: Scenario | null): void {
    if (!scenario || scenario.blocks.length === 0 || this.scenariosRun.size >= mostRuns) return;
    const key = [scenario.block, scenario.grid, scenario.blocks, ...this.fields.filter((field) => !field.isPointer).map((field) => scenario.scalar(field))].join(';'); // prettier-ignore
    if (this.scenariosRun.has(key) || this.request.budget.expired()) return;
    this.scenariosRun.add(key);
    const { launch, parameters, budget } = this.request;
    const result = replay(this.kernel, parameters, this.fields, launch, scenario, budget.replaySteps);
    if (result.outcome === 'budget') this.replayProblem = 'the replay was too long to finish';
    if (result.faults.some(({ kind }) => kind === 'unknown-operation' || kind === 'unknown-control')) {
      this.replayProblem = 'the replay met an instruction that is not known';
      return;
    }
    for (const event of result.races) this.record(event, scenario);
    for (const event of result.divergences) {
      if (event.barrier !== null && !this.confirmedBarriers.has(event.barrier))
        this.confirmedBarriers.set(event.barrier, { event, scenario });
    }
  }

  private record(event: RaceEvent, scenario: Scenario): void {
    const scope: PairScope = event.first.block.join() === event.second.block.join() ? 'block' : 'grid';
    const indices = [event.first, event.second].map(
      ({ instruction }) => this.accesses.find((access) => access.instruction.id === instruction)?.index ?? -1,
    );
    const key = `${scope}:${Math.min(...indices)}:${Math.max(...indices)}`;
    if (event.unmodelled.length > 0) this.orderedRaces.set(key, event);
    else if (!this.confirmedRaces.has(key)) this.confirmedRaces.set(key, { event, scenario });
  }

  // Words and assumptions.

  private readonly names: TermNames = {
    parameter: (index, offset) => fieldName(this.request.parameters, { index, offset }, this.request.kernel),
    object: (object) => this.request.objectName(this.request.kernel.objects[object]!.symbol),
  };

  private print(term: Term): string {
    const text = printTerm(term, this.names);
    return text.length > 160 ? `${text.slice(0, 157)}...` : text;
  }

  private baseName(base: Base): string {
    if (base.kind === 'object') return this.request.objectName(base.object.symbol);
    if (base.kind === 'parameter')
      return base.offset === 0 && !/^b/.test(this.kernel.parameters[base.index]?.type ?? '')
        ? parameterName(this.request.parameters, base.index)
        : fieldName(this.request.parameters, base, this.kernel);
    return 'memory';
  }

  /** Whether every dimension and every scalar that decides about these terms was given. */
  private isGiven(terms: readonly Term[]): boolean {
    const { launch } = this.request;
    if (launch.block === null || (launch.grid === null && this.dimensions.grid.some((size) => size === null)))
      return false;
    return terms.every((term) =>
      term.leaves.every((leaf) => {
        if (leaf.atom!.kind === 'havoc') return false;
        if (leaf.atom!.kind !== 'parameter') return true;
        const { index, offset } = leaf.atom!;
        return this.fields.some((field) => field.index === index && field.offset === offset && field.isPointer);
      }),
    );
  }

  private describeChoice(scenario: Scenario): string {
    const scalars = this.fields
      .filter(
        (field) =>
          !field.isPointer && scalarOf(this.request.launch, field.index, field.offset, field.bytes) === undefined,
      )
      .map(
        (field) =>
          `${fieldName(this.request.parameters, field, this.kernel)} = ${BigInt.asIntN(field.bytes * 8, scenario.scalar(field))}`,
      );
    return [`block ${tuple(scenario.block)}`, `grid ${tuple(scenario.grid)}`, ...scalars].join(', ');
  }

  private witness(scenario: Scenario): Witness {
    return describeWitness(this.kernel, this.request.name, this.request.parameters, this.fields, scenario);
  }

  private assume(kind: Assumption['kind'], text: string, location?: Location): void {
    this.assumptions.set(`${kind}|${text}`, { kind, text, ...(location && { location }) });
  }

  private assumeNoWrap(terms: readonly Term[]): void {
    for (const term of terms) this.assume('no-wrap', `${this.print(term)} does not exceed ${term.width} bits`);
  }

  private listAssumptions(): Assumption[] {
    const list: Assumption[] = [];
    const { launch } = this.request;
    for (const [name, given, resolved] of [
      ['blockDim', launch.block, this.dimensions.block],
      ['gridDim', launch.grid, this.dimensions.grid],
    ] as const) {
      // prettier-ignore
      if (given) list.push({ kind: 'launch', text: `${name} = ${tuple(given)}` });
      else resolved.forEach((size, axis) => size !== null && list.push({ kind: 'launch', text: `${name}.${'xyz'[axis]} = ${size}` }));
    }
    for (const [index, value] of launch.scalars) {
      const field = this.fields.find((candidate) => candidate.index === index);
      if (field && !field.isPointer)
        list.push({
          kind: 'launch',
          text: `${parameterName(this.request.parameters, index)} = ${BigInt.asIntN(field.bytes * 8, value)}`,
        });
    }
    for (const { text, location } of this.request.assumptions)
      list.push({ kind: 'user', text, ...(location && { location }) });
    return [...list, ...this.assumptions.values()];
  }

  /** Why nothing about this kernel can be proved. */
  private weakness(): string | null {
    const unsupported = this.kernel.unsupported[0];
    if (unsupported) return `not understood: ${unsupported.reason}`;
    for (const block of this.kernel.blocks) {
      for (const { operation } of block.instructions) {
        const { effect } = operation;
        if (effect.kind === 'async-copy') return 'asynchronous copies are not modelled yet';
        if (effect.kind === 'opaque') return `the effect of ${operation.mnemonic} is not known`;
        if (effect.kind === 'surface-store') return 'surface writes are not modelled yet';
      }
    }
    return null;
  }
}

interface DivergenceState {
  readonly provedBranches: ReadonlySet<BlockId>;
  readonly open: readonly {
    readonly obligation: DivergenceObligation;
    readonly reason: string;
    readonly budget: boolean;
  }[];
  readonly earlyExits: readonly DivergenceObligation[];
  readonly uniformity: UniformityResult;
  readonly stableBranches: boolean;
}

interface RaceState {
  readonly verdict: 'proved' | 'race' | 'possible' | 'unknown';
  readonly open: readonly OpenPair[];
  readonly sameValue: ReadonlySet<AccessPair>;
  readonly aliased: ReadonlySet<string>;
  readonly truncated: boolean;
  readonly pairs: number;
}

const verb = { read: 'reads', write: 'writes', atomic: 'updates' } as const;
const nouns = { read: 'read', write: 'write', atomic: 'update' } as const;

function pairKey(pair: AccessPair): string {
  return `${pair.scope}:${pair.first.index}:${pair.second.index}`;
}

function kindOf(a: Access, b: Access): RaceFinding['kind'] {
  const kinds = new Set([a.operation, b.operation]);
  if (kinds.has('atomic')) return kinds.has('read') ? 'atomic-read' : kinds.has('write') ? 'atomic-write' : 'scope';
  return kinds.has('read') ? 'read-write' : 'write-write';
}

function linesOf(finding: RaceFinding): number[] {
  return [finding.first.location?.line ?? 0, finding.second.location?.line ?? 0].sort((a, b) => a - b);
}

function tuple(dim: readonly number[]): string {
  return `(${dim.join(', ')})`;
}

function who(event: { thread: Dim3; block: Dim3 }, scope: PairScope): string {
  return scope === 'grid' ? `${tuple(event.thread)} of block ${tuple(event.block)}` : tuple(event.thread);
}

/** What is not certain within the given launch is at most a warning. */
function weaker(severity: Severity): Severity {
  return severity === 'error' ? 'warning' : severity;
}

function isSharedObject(base: Base): boolean {
  return base.kind === 'object' && base.object.space === 'shared';
}

/** Headers of the toolkit: `…/cuda-13.0/…/include/…`, and `cuda/…` in PTX whose paths were made relative. */
const toolkitHeader = /(^|\/)cuda[^/]*\/(.*\/)?[^/]+\.(h|hpp|cuh|inl)$|^cuda\//;

/** Where the user wrote an instruction: the innermost frame outside the toolkit's headers. */
function place(kernel: Kernel, instruction: Instruction): Location {
  const fallback = kernel.location ?? { file: kernel.symbol, line: Math.max(1, instruction.ptxLine) };
  for (let frame = instruction.location; frame; frame = frame.inlinedAt)
    if (!toolkitHeader.test(frame.file)) return frame;
  return fallback;
}

function scalarOf(launch: Launch, index: number, offset: number, bytes: number): bigint | undefined {
  const value = launch.scalars.get(index);
  if (value === undefined) return undefined;
  return BigInt.asUintN(bytes * 8, value >> BigInt(8 * offset));
}

/** The launch's dimensions; without any, an axis that the kernel never reads is 1, the others are symbolic. */
function dimensionsOf(kernel: Kernel, launch: Launch): Dimensions {
  const read = new Set<string>();
  for (const block of kernel.blocks) {
    const visit = (operand: { kind: string; register?: string }): void => {
      if (operand.kind === 'special' && operand.register) read.add(operand.register);
    };
    for (const instruction of block.instructions) instruction.arguments.forEach(visit);
    for (const phi of block.phis) phi.inputs.forEach(visit);
    if (block.terminator.kind === 'branch') visit(block.terminator.condition);
  }
  const usesLane = ['laneid', 'warpid'].some((name) => read.has(name));
  const axis = (name: string, i: number): number | null =>
    read.has(`${name}.${'xyz'[i]}`) || (name === 'tid' && usesLane) ? null : 1;
  const required = kernel.requiredThreads;
  const block = launch.block ?? required ?? null;
  return {
    block: block ? [block[0], block[1], block[2]] : [axis('tid', 0), axis('tid', 1), axis('tid', 2)],
    grid: launch.grid
      ? [launch.grid[0], launch.grid[1], launch.grid[2]]
      : [axis('ctaid', 0), axis('ctaid', 1), axis('ctaid', 2)],
  };
}

/** A block to run: the launch's, the solver's, or a small one over the axes that matter. */
function chosenBlock(dimensions: Dimensions, kernel: Kernel, fromModel: (name: string) => number | null): Dim3 {
  const open = dimensions.block.filter((size) => size === null).length;
  const size = open <= 1 ? 64 : open === 2 ? 8 : 4;
  return dimensions.block.map((given, i) => {
    if (given !== null) return given;
    const limit = kernel.maximumThreads?.[i];
    return fromModel(`n${'xyz'[i]}`) ?? (limit ? Math.min(size, limit) : size);
  }) as unknown as Dim3;
}

function chosenGrid(dimensions: Dimensions, fromModel: (name: string) => number | null): Dim3 {
  const open = dimensions.grid.filter((size) => size === null).length;
  const size = open <= 1 ? 4 : 2;
  return dimensions.grid.map((given, i) => given ?? fromModel(`g${'xyz'[i]}`) ?? size) as unknown as Dim3;
}
