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
import type { CheckBudget } from './budget.ts';
import type { DivergenceResult, RaceResult } from '../../verdict/finding.ts';
import type { Reason } from '../../verdict/reason.ts';

export interface CheckRequest {
  readonly kernel: Kernel;
  /** Its name in reports: `ns::reduce<256, float>`. */
  readonly name: string;
  /** Identity of the kernel in fingerprints: distinguishes kernels of the same name in different files. */
  readonly identity: string;
  /** By parameter index; shorter or empty if the source is not available (PTX input). */
  readonly parameters: readonly ParameterSource[];
  /** Name in reports of a memory object, from its symbol (demangled, without the function it belongs to). */
  readonly objectName: (symbol: string) => string;
  readonly launch: Launch;
  readonly assumptions: readonly StatedAssumption[];
  readonly checks: { readonly race: boolean; readonly divergence: boolean };
  readonly policy: CheckPolicy;
  /**
   * How the threads that miss a place leave, determined from the places of the conditions that differ between them:
   * returning and bypassing compile to the same code. Undefined if the source is not available.
   */
  readonly departure?: (
    deciding: readonly Location[],
    place: Location,
    branch?: Location,
  ) => Promise<Departure | undefined>;
  /** Only a proof is needed: no runs, and no trials of deciding facts. */
  readonly proofOnly?: boolean;
  /** Whether certificates of proofs are recorded. */
  readonly certificates?: boolean;
  /** A statement is tried: only a proof counts, so the first open obligation ends the check. */
  readonly untilOpen?: boolean;
  /** Started on first use: most kernels need no solver. */
  readonly solver: () => Promise<Solver>;
  /** Earlier answers, of other kernels too; absent: none. */
  readonly answers?: Answers;
  readonly budget: CheckBudget;
}

/** Severities that the configuration may set. */
export interface CheckPolicy {
  readonly race: Severity;
  /** `proved`: tolerated, with the assumption `equal-value-writes`. */
  readonly sameValueWrites: Severity | 'proved';
  /** For `race/volatile`; `allow`: volatile accesses are as relaxed atomics of system scope. */
  readonly volatile: 'error' | 'warning' | 'allow';
  /** For possible races, which no run has confirmed; no finding becomes more severe than it would be if confirmed. */
  readonly undecided: 'warning' | 'notice';
  /** Take the threads of a warp to execute in lockstep, with the assumption `warp-lockstep`. */
  readonly warpLockstep: boolean;
  readonly divergence: Severity;
  readonly earlyExit: Severity;
}

export interface CheckResult {
  readonly race: RaceResult;
  readonly divergence: DivergenceResult;
  /** The stated assumptions contradict each other: an error of the user, and nothing is proved. */
  readonly contradiction?: true;
  /** Places of accesses that statements switch off: the verdicts do not cover them. */
  readonly switchedOff?: readonly Location[];
  /** Preconditions of the proof that the launch never satisfies: no execution of it is proved. */
  readonly brokenPreconditions?: readonly string[];
  /** Instructions not proved to be free of races and of divergence; not in reports. */
  readonly open: OpenObligations;
  /** Certificates of proofs, if requested. */
  readonly certificates?: readonly Certificate[];
}

/** If it is unknown which obligations are open. */
export const nothingOpen: OpenObligations = { races: [], barriers: [], earlyExits: [], warps: [], beside: null };

export interface OpenObligations {
  readonly races: readonly OpenRace[];
  /** Barriers that some threads of the block may miss, or some blocks in case of grid barriers. */
  readonly barriers: readonly InstructionId[];
  /** Barriers that threads miss because they have returned. */
  readonly earlyExits: readonly InstructionId[];
  /** Instructions that the lanes of a warp have to execute together, and may not. */
  readonly warps: readonly InstructionId[];
  /** Why pairs other than these races are not proved to be free of races either; null if they are. */
  readonly beside: Reason | null;
}

/** Two accesses without a proof that a barrier orders them, of threads of one block or of different blocks. */
interface OpenRace {
  readonly scope: 'block' | 'grid';
  readonly first: InstructionId;
  readonly second: InstructionId;
  /** The obstacle to a proof. */
  readonly reason: Reason;
}
