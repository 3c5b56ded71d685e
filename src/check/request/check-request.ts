/** Request and result of a check of one kernel under one launch. */
import type { ParameterSource, StatedAssumption } from '../../launch/parameter-source.ts';
import type { Certificate } from '../../certificate/certificate.ts';
import type { Severity } from '../../source/severity.ts';
import type { Departure } from '../../cuda/reading/early-return.ts';
import type { InstructionId, Kernel } from '../../ir/form/kernel.ts';
import type { Answers } from '../../solver/answers.ts';
import type { Solver } from '../../solver/solver.ts';
import type { Location } from '../../source/location.ts';
import type { Launch } from '../../launch/launch.ts';
import type { CheckBudget } from './check-budget.ts';
import type { Assumption, DivergenceResult, RaceResult } from '../../verdict/finding.ts';
import type { Reason } from '../../verdict/reason.ts';

export interface CheckRequest {
  readonly kernel: Kernel;
  /** Name of the kernel in reports: `ns::reduce<256, float>`. */
  readonly name: string;
  /** Identity of the kernel in fingerprints: distinguishes kernels of the same name in different files. */
  readonly identity: string;
  /** Parameters in the source, by index; shorter or empty if the source is not available (PTX input). */
  readonly parameters: readonly ParameterSource[];
  /** Name of a memory object in reports, from its symbol: demangled, without the function to which it belongs. */
  readonly objectName: (symbol: string) => string;
  readonly launch: Launch;
  readonly assumptions: readonly StatedAssumption[];
  readonly checks: { readonly race: boolean; readonly divergence: boolean };
  readonly policy: CheckPolicy;
  /**
   * How the threads that do not reach a location leave: by returning or by bypassing it. It is determined from the
   * locations of the conditions on which these threads differ, since both compile to the same code. Undefined if the
   * source is not available.
   */
  readonly departure?: (deciding: readonly Location[], place: Location, branch?: Location) => Promise<Departure | undefined>;
  /** Whether only a proof is needed: no runs, and no trials of deciding facts. */
  readonly proofOnly?: boolean;
  /** Whether certificates of proofs are recorded. */
  readonly certificates?: boolean;
  /** Whether the check tries a statement: only a proof counts, so the first open obligation ends the check. */
  readonly untilOpen?: boolean;
  /** Starts the solver on first use, as most kernels need none. */
  readonly solver: () => Promise<Solver>;
  /** Cached answers of the solver, from other kernels, too; absent without a cache. */
  readonly answers?: Answers;
  readonly budget: CheckBudget;
}

/** Severities and semantics that the configuration may set. */
export interface CheckPolicy {
  readonly race: Severity;
  /**
   * Severity of races whose threads store equal values; `proved`: tolerated under the assumption `equal-value-writes`.
   */
  readonly sameValueWrites: Severity | 'proved';
  /** Severity of `race/volatile`; `allow`: volatile accesses count as relaxed atomics of system scope. */
  readonly volatile: 'error' | 'warning' | 'allow';
  /** Severity of possible races, which no run has confirmed; never more severe than a confirmed finding would be. */
  readonly undecided: 'warning' | 'notice';
  /** Whether the threads of a warp are assumed to execute in lockstep, with the assumption `warp-lockstep`. */
  readonly warpLockstep: boolean;
  readonly divergence: Severity;
  readonly earlyExit: Severity;
  /** Severity of an index that wraps around from a size on, which no given launch has; `allow`: it is not reported. */
  readonly overflow: Severity | 'allow';
  /** Severity of an address that only some values of a scalar align, if no launch gives it; `allow`: it is not reported. */
  readonly alignment: Severity | 'allow';
}

export interface CheckResult {
  readonly race: RaceResult;
  readonly divergence: DivergenceResult;
  /** Whether the stated assumptions are contradictory: an error of the user, and nothing is proved. */
  readonly contradiction?: true;
  /** Locations of accesses that the user's statements exclude; the verdicts do not cover these accesses. */
  readonly switchedOff?: readonly Location[];
  /** Preconditions of the proof that the launch never satisfies, so that no execution of the launch is proved. */
  readonly brokenPreconditions?: readonly string[];
  /** Instructions not proved to be free of races or of divergence; not in reports. */
  readonly open: OpenObligations;
  /** Certificates of proofs, if requested. */
  readonly certificates?: readonly Certificate[];
}

/** The value of `open` if the open obligations are unknown. */
export const nothingOpen: OpenObligations = { races: [], barriers: [], earlyExits: [], warps: [], beside: null };

export interface OpenObligations {
  readonly races: readonly OpenRace[];
  /** Barriers that some threads of the block may not reach, or, for grid barriers, some blocks. */
  readonly barriers: readonly InstructionId[];
  /** Barriers that threads do not reach because they have returned. */
  readonly earlyExits: readonly InstructionId[];
  /** Instructions that the lanes of a warp must execute together but may not. */
  readonly warps: readonly InstructionId[];
  /** Why the pairs other than these races are not proved to be free of races; null if they are. */
  readonly beside: Reason | null;
}

/** Two accesses, by threads of one block or of different blocks, without a proof that they do not race. */
interface OpenRace {
  readonly scope: 'block' | 'grid';
  readonly first: InstructionId;
  readonly second: InstructionId;
  /** The reason for the missing proof. */
  readonly reason: Reason;
}

/** A proof that no execution reaches an access: what it assumes, and its certificates if those are requested. */
export interface Exclusion extends Pick<CheckResult, 'certificates'> {
  readonly assumptions: readonly Assumption[];
}
