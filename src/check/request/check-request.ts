/** What a check of one kernel under one launch is asked, and what it answers. */
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
  /** As reports show it: `ns::reduce<256, float>`. */
  readonly name: string;
  /** Names the kernel in fingerprints: it tells it from one of the same name in another file. */
  readonly identity: string;
  /** By parameter index; shorter or empty where the source is not at hand (PTX input). */
  readonly parameters: readonly ParameterSource[];
  /** Name in reports of a memory object, from its symbol (demangled, without the function it belongs to). */
  readonly objectName: (symbol: string) => string;
  readonly launch: Launch;
  readonly assumptions: readonly StatedAssumption[];
  readonly checks: { readonly race: boolean; readonly divergence: boolean };
  readonly policy: CheckPolicy;
  /**
   * What threads do that miss a place, told by where the conditions stand that differ between them: those that return
   * and those that pass it by compile to the same code. Undefined where the source is not at hand.
   */
  readonly departure?: (
    deciding: readonly Location[],
    place: Location,
    branch?: Location,
  ) => Promise<Departure | undefined>;
  /** Whether it is proved is all that is asked: nothing is run, and no fact tried that would decide. */
  readonly proofOnly?: boolean;
  /** Whether what is proved is kept with what proves it. */
  readonly certificates?: boolean;
  /** A statement is tried: only a proof counts, so that the first that stays open ends it. */
  readonly untilOpen?: boolean;
  /** Started on first use: most kernels need no solver. */
  readonly solver: () => Promise<Solver>;
  /** What was answered before, of other kernels too; absent: nothing. */
  readonly answers?: Answers;
  readonly budget: CheckBudget;
}

/** Severities that the configuration may set. */
export interface CheckPolicy {
  readonly race: Severity;
  /** `proved`: tolerated, with the assumption `equal-value-writes`. */
  readonly sameValueWrites: Severity | 'proved';
  /** Of `race/volatile`; `allow`: volatile accesses are as relaxed atomics of system scope. */
  readonly volatile: 'error' | 'warning' | 'allow';
  /** Of possible races, which no run has confirmed; no finding becomes more severe than it would be if confirmed. */
  readonly undecided: 'warning' | 'notice';
  /** Take the threads of a warp to execute in lockstep, with the assumption `warp-lockstep`. */
  readonly warpLockstep: boolean;
  readonly divergence: Severity;
  readonly earlyExit: Severity;
}

export interface CheckResult {
  readonly race: RaceResult;
  readonly divergence: DivergenceResult;
  /** The stated assumptions exclude each other: an error of their author, and nothing is proved. */
  readonly contradiction?: true;
  /** Where accesses stand that what is stated switches off: the verdicts say nothing of them. */
  readonly switchedOff?: readonly Location[];
  /** Preconditions of the proof that the launch never meets: no execution of it is proved. */
  readonly brokenPreconditions?: readonly string[];
  /** What is not shown to be free of races and of divergence, by instruction; not in reports. */
  readonly open: OpenObligations;
  /** What was proved, where the request asks for it. */
  readonly certificates?: readonly Certificate[];
}

/** Where nothing tells what is open. */
export const nothingOpen: OpenObligations = { races: [], barriers: [], earlyExits: [], warps: [], beside: null };

export interface OpenObligations {
  readonly races: readonly OpenRace[];
  /** Barriers that some threads of the block, or for those of the grid some blocks, may miss. */
  readonly barriers: readonly InstructionId[];
  /** Barriers that threads miss because they have returned. */
  readonly earlyExits: readonly InstructionId[];
  /** What the lanes of a warp have to execute together, and may not. */
  readonly warps: readonly InstructionId[];
  /** Why pairs that are not among these races are not shown to be free of races either; null where they are. */
  readonly beside: Reason | null;
}

/** Two accesses that no barrier is shown to order, of threads of one block or of different blocks. */
interface OpenRace {
  readonly scope: 'block' | 'grid';
  readonly first: InstructionId;
  readonly second: InstructionId;
  /** What stood in the way of a proof. */
  readonly reason: Reason;
}
