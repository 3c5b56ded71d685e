/**
 * The budget of a check of one kernel under one launch, with its numbers; those of the solver are in `solver/budget.ts`.
 * Budgets are counted in work, so that the same input gives the same report. They do not bound a kernel as a whole, whose
 * pairs are as many as they are: that is what the time limit is for (`app/workers/`).
 */
import { effortOfOpen, unitsPerQuery } from '../../solver/budget.ts';

export interface CountedBudget {
  /** Z3 resource units for one query. */
  readonly solverUnits: number;
  /** Evaluations of an access in the enumeration tier, for one pair. */
  readonly evaluations: number;
  /** Instructions executed in one replay. */
  readonly replaySteps: number;
}

/** What is left to the solver of what it may take in all questions of a check. */
export interface SolverEffort {
  left: number;
  /** What is kept for later questions, as those that are asked now cannot lead to a proof any more. */
  kept: number;
  /** What there is besides for those that come later: once a statement has made a proof, others are tried that say less. */
  reserve?: number;
}

/** Bounds what is asked before {@link useReserve}. */
export function limitEffort(effort: SolverEffort | undefined, most: number): void {
  if (!effort) return;
  effort.reserve = Math.max(0, effort.left - most);
  effort.left -= effort.reserve;
}

/** Takes what {@link limitEffort} has left over. */
export function useReserve(effort: SolverEffort | undefined): void {
  if (!effort) return;
  effort.left += effort.reserve ?? 0;
  effort.reserve = 0;
}

/** Whether the solver is asked no more. */
export function isSpent(effort: SolverEffort | undefined): boolean {
  return effort !== undefined && effort.left <= effort.kept;
}

/** Bounds what is still asked where something stays open, so that nothing is proved any more. */
export function capRemainingEffort({
  budget: { effort },
  proofOnly,
  untilOpen,
}: {
  readonly budget: CheckBudget;
  readonly proofOnly?: boolean;
  readonly untilOpen?: boolean;
}): void {
  // Repairs are made of all that stays open.
  if (!effort || proofOnly) return;
  effort.kept = Math.max(effort.kept, effort.left - (untilOpen ? 0 : effortOfOpen));
}

export interface CheckBudget extends CountedBudget {
  /** Shared by all parts of a check; absent where it is not bounded. */
  readonly effort?: SolverEffort;
  /** True once the wall clock has cut the kernel short: what is not decided by then is `unknown`. */
  readonly expired: () => boolean;
}

/** What each check gets; chosen by hand, round numbers. */
export const usualBudget: CountedBudget = {
  solverUnits: unitsPerQuery,
  evaluations: 4_000_000,
  replaySteps: 8_000_000,
};

/** The budget of a check that asks for a proof alone: nothing is run. */
export function withoutReplay(budget: CountedBudget): CountedBudget {
  return { ...budget, replaySteps: 0 };
}

/** What the check that tries a statement gets, as a share of the budget of the check. */
const trialShare = 4;

/** The budget of the check that tries a statement: it is asked whether a proof succeeds, nothing is run. */
export function budgetOfTrial(budget: CheckBudget): CheckBudget {
  return {
    ...budget,
    solverUnits: Math.ceil(budget.solverUnits / trialShare),
    evaluations: Math.ceil(budget.evaluations / trialShare),
    replaySteps: 0,
  };
}

/** Replays of one kernel: how many, and their instructions; fewer where vector clocks order the accesses. */
export const replays = {
  most: 16,
  /** Instructions of all of them, in those of one. */
  stepsOfAll: 4,
  mostStepsWithClocks: 2_000_000,
  /** Of two blocks that are run an instruction at a time: they meet soon, or wait for each other. */
  mostStepsInterleaved: 50_000,
  /** Instructions that one gets however many were cut off before. */
  fewestSteps: 300_000,
  /** Threads of a run of all blocks. */
  mostThreads: 16_384,
} as const;

/**
 * Short runs of small launches in which threads synchronise: in several orders of blocks and warps, since who comes first
 * decides what happens. They end early, because threads may wait for what never comes.
 */
export const shortRuns = { orders: 4, interleaved: 8, mostSteps: 20_000, mostThreads: 256 } as const;

/** Runs of a whole launch that decide what is open: threads, and instructions of all of them. */
export const decidingRuns = { mostThreads: 65_536, mostSteps: 8_000_000 } as const;

/** Replays of one kernel that look for smaller scenarios, and their instructions. */
export const shrinking = { most: 48, mostSteps: 400_000, mostStepsWithClocks: 50_000 } as const;
