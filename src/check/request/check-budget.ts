/**
 * The budget of a check of one kernel under one launch, with its limits; those of the solver are in `solver/limits.ts`.
 * Budgets are counted in work, so that the same input gives the same report. They do not bound the check of a kernel as
 * a whole, whose number of pairs is unbounded: the time limit does (`app/workers/`).
 */
import { effortOfOpen, unitsPerQuery } from '../../solver/limits.ts';

export interface CountedBudget {
  /** Z3 resource units for one query. */
  readonly solverUnits: number;
  /** Evaluations of an access in the enumeration tier, for one pair. */
  readonly evaluations: number;
  /** Instructions executed in one replay. */
  readonly replaySteps: number;
  /** Factor of all other budgets of a check: the effort of the solver, and that of runs and overlaps. */
  readonly factor: number;
}

/** Remaining effort of the solver for all questions of a check. */
export interface SolverEffort {
  left: number;
  /** Effort that the current questions may not use, reserved for later questions. */
  kept: number;
  /** Effort held back until a statement suffices for a proof. It is used to try weaker statements. */
  reserve?: number;
}

/** Limits the remaining effort, and holds back the excess until {@link useReserve}. */
export function limitEffort(effort: SolverEffort | undefined, most: number): void {
  if (!effort) return;
  effort.reserve = Math.max(0, effort.left - most);
  effort.left -= effort.reserve;
}

/** Makes the effort that {@link limitEffort} held back available. */
export function useReserve(effort: SolverEffort | undefined): void {
  if (!effort) return;
  effort.left += effort.reserve ?? 0;
  effort.reserve = 0;
}

/** Whether the effort is exhausted, so that the solver is not queried again. */
export function isSpent(effort: SolverEffort | undefined): boolean {
  return effort !== undefined && effort.left <= effort.kept;
}

/** Limits the effort for further questions once an obligation stays open, as no proof is possible any more. */
export function capRemainingEffort({
  budget: { effort, factor },
  proofOnly,
  untilOpen,
}: {
  readonly budget: CheckBudget;
  readonly proofOnly?: boolean;
  readonly untilOpen?: boolean;
}): void {
  // A check that looks for repairs needs all open obligations.
  if (!effort || proofOnly) return;
  effort.kept = Math.max(effort.kept, effort.left - (untilOpen ? 0 : factor * effortOfOpen));
}

export interface CheckBudget extends CountedBudget {
  /** Effort shared by all parts of a check; absent if unlimited. */
  readonly effort?: SolverEffort;
  /** True once the wall clock has cut the kernel short: undecided obligations are then `unknown`. */
  readonly expired: () => boolean;
}

/** The budget of each check; rounded values, chosen by hand. */
export const usualBudget: CountedBudget = {
  solverUnits: unitsPerQuery,
  evaluations: 4_000_000,
  replaySteps: 8_000_000,
  factor: 1,
};

/** The budget of each check, several times as large. */
export function multipliedBudget(factor: number): CountedBudget {
  const { solverUnits, evaluations, replaySteps } = usualBudget;
  return { solverUnits: factor * solverUnits, evaluations: factor * evaluations, replaySteps: factor * replaySteps, factor };
}

/** The budget of a check that only needs a proof, without runs. */
export function withoutReplay(budget: CountedBudget): CountedBudget {
  return { ...budget, replaySteps: 0 };
}

/** Divisor of the budget for a check that tries a statement. */
const trialShare = 4;

/** The reduced budget of a check that tries a statement, which is repeated only for a proof, without runs. */
export function budgetOfTrial(budget: CheckBudget): CheckBudget {
  return {
    ...budget,
    solverUnits: Math.ceil(budget.solverUnits / trialShare),
    evaluations: Math.ceil(budget.evaluations / trialShare),
    replaySteps: 0,
  };
}

/**
 * Limits on the replays of one kernel: their number and instructions. The limit is smaller if vector clocks order
 * accesses.
 */
export const replays = {
  most: 16,
  /** Instructions of all replays together, as a multiple of those of one. */
  stepsOfAll: 4,
  mostStepsWithClocks: 2_000_000,
  /** For two blocks that alternate after each instruction: they synchronise soon or wait for each other forever. */
  mostStepsInterleaved: 50_000,
  /** Instructions granted to a replay even if many earlier ones were cut off. */
  fewestSteps: 300_000,
  /** Threads of a run that contains all blocks of the grid. */
  mostThreads: 16_384,
} as const;

/**
 * Short runs of small launches in which threads synchronise: under several schedules of blocks and warps, since the
 * outcome depends on the schedule. They end early, because threads may wait forever.
 */
export const shortRuns = { orders: 4, interleaved: 8, mostSteps: 20_000, mostThreads: 256 } as const;

/** Limits on runs of a whole launch that decide open pairs: number of threads, and instructions of all threads. */
export const decidingRuns = { mostThreads: 65_536, mostSteps: 8_000_000 } as const;

/** Limits on the replays of one kernel that search for smaller scenarios, and on their instructions. */
export const shrinking = { most: 48, mostSteps: 400_000, mostStepsWithClocks: 50_000 } as const;

/** Limit on a run that searches for reads of shared memory that no thread has written: a longer one would be restarted. */
export const initialisationRun = { mostSteps: 250_000 } as const;

/** Limits on runs that show whether an undefined value has an effect: instructions of a run, and values tried. */
export const undefinedRuns = { mostSteps: 2_000_000, values: 3 } as const;
