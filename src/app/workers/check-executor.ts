/** Where kernels are checked: this thread, or a worker (`worker-executor.ts`). */
import { checkSteps } from '../../check/check-kernel.ts';
import type { Launch } from '../../launch/launch.ts';
import { type CountedBudget, withoutReplay } from '../../check/request/budget.ts';
import { type CheckRequest, type CheckResult, nothingOpen } from '../../check/request/check-request.ts';
import type { MarkerSwitches } from '../../ir/form/switch-markers.ts';
import type { Module } from '../../ptx/ast.ts';
import { complete, type Steps } from '../../base/coroutine.ts';
import { withDeadline, type LazySolver } from './lazy-solver.ts';
import { Answers } from '../../solver/answers.ts';
import { slowdown, threadCpu } from '../../system/cpu-time.ts';
import { deadlineIn } from '../../system/deadline.ts';
import { within } from '../../system/script-timeout.ts';

/** A kernel to check under each of its launches. */
export interface CheckTask {
  readonly request: Omit<CheckRequest, 'launch' | 'solver' | 'budget'>;
  readonly launches: readonly Launch[];
  /** What the kernel was lowered from: a worker lowers it again, since kernels hold functions. */
  readonly source: KernelSource;
  /** What stands at the markers of candidates in the source; in the kernel of the request they are switched already. */
  readonly switches?: MarkerSwitches;
  /** Milliseconds of CPU for it, where they are others than the settings give. */
  readonly timeout?: number;
  /** The module that the kernel was lowered from, where it is at hand. */
  readonly module?: Module;
  /** Is told when the check asks for the solver. */
  readonly onSolver?: () => void;
}

/** One for all kernels of a module. */
export interface KernelSource {
  readonly ptx: string;
  readonly path: string;
  /** The files that `.file` directives name, as reports name them. */
  readonly files: ReadonlyMap<number, string>;
}

export interface CheckLimits {
  /** Bounds that are counted. */
  readonly counted: CountedBudget;
  /** Milliseconds of CPU that this process works before workers take over what is left, where there may be some. */
  readonly alone: number;
  /** Milliseconds of CPU that a check may keep this thread from anything else before it is begun anew in a worker. */
  readonly stretch: number;
  /** Milliseconds of CPU from the end of a kernel's time to that of a query of the solver. */
  readonly queryGrace: number;
  /** Milliseconds of CPU from the end of a kernel's time to that of its worker. */
  readonly grace: number;
  /** How many times its CPU time a kernel may take by the clock: what waits for ever uses none. */
  readonly patience: number;
  /** Mebibytes of JavaScript's heap for all workers together; each gets at least 512 and at most 4096, or all. */
  readonly memory: number;
}

export interface CheckPlace {
  /**
   * Checks a kernel under one launch.
   * @param milliseconds what is left of the kernel's time
   * @param onUsed is told how many of them were used
   * @throws Error where a defect of ours shows
   * @throws Stopped where this is not the place for it
   */
  readonly check: (task: CheckTask, launch: Launch, milliseconds: number, onUsed: (milliseconds: number) => void) => Promise<CheckResult>; // oxfmt-ignore
  readonly close: () => Promise<void>;
}

/** This thread: it costs nothing to begin, and can only be stopped for good. */
export function placeHere(
  solver: LazySolver,
  limits: CheckLimits,
  check: (request: CheckRequest) => Steps<CheckResult> = checkSteps,
): CheckPlace {
  const answers = new Answers();
  return {
    close: () => solver.close(),
    check: async ({ request, onSolver }, launch, milliseconds, onUsed) => {
      const deadline = deadlineIn(milliseconds, threadCpu, limits.patience);
      const whole: CheckRequest = {
        ...request,
        launch,
        answers,
        solver: async () => {
          onSolver?.();
          return withDeadline(await solver.start(), deadline, limits.queryGrace);
        },
        budget: { ...boundsOf(request, limits), expired: deadline.expired },
      };
      // A script can only be stopped by the clock.
      const result = await complete(check(whole), (stretch) => within(limits.stretch * slowdown(), stretch));
      onUsed(deadline.used());
      return deadline.wasCut() ? nondeterministic(result) : result;
    },
  };
}

/** The counted bounds of a check. */
export function boundsOf({ proofOnly }: CheckTask['request'], { counted }: CheckLimits): CountedBudget {
  return proofOnly ? withoutReplay(counted) : counted;
}

/** Marks what more time may have decided. */
export function nondeterministic({ race, divergence, ...rest }: CheckResult): CheckResult {
  return { ...rest, race: marked(race), divergence: marked(divergence) };
}

function marked<Result extends CheckResult['race'] | CheckResult['divergence']>(result: Result): Result {
  const settled = result.verdict === 'proved' || result.verdict === 'skipped';
  return settled ? result : { ...result, nondeterministic: true };
}

/** The result of a check that did not come to its end. */
export function undecided(
  checks: CheckRequest['checks'],
  cause: 'out-of-time' | 'out-of-memory' | 'defect',
): CheckResult {
  const reason = { kind: cause };
  return {
    race: { verdict: checks.race ? 'unknown' : 'skipped', reason, findings: [] },
    divergence: { verdict: checks.divergence ? 'unknown' : 'skipped', reason, findings: [] },
    open: nothingOpen,
  };
}
