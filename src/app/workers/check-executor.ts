/** Executors of checks: this thread, or a worker (`worker-executor.ts`). */
import { checkSteps } from '../../check/check-kernel.ts';
import type { Launch } from '../../launch/launch.ts';
import { type CountedBudget, withoutReplay } from '../../check/request/check-budget.ts';
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
  /** Source that the kernel was lowered from: a worker lowers it again, since kernels contain functions. */
  readonly source: KernelSource;
  /** Values of the markers of candidate edits in the source. In the kernel of the request they are already applied. */
  readonly switches?: MarkerSwitches;
  /** Time limit in milliseconds of CPU time, if it differs from that of the settings. */
  readonly timeout?: number;
  /** The module that the kernel was lowered from, if available. */
  readonly module?: Module;
  /** Called when the check needs the solver. */
  readonly onSolver?: () => void;
}

/** PTX from which kernels are lowered; shared by all kernels of a module. */
export interface KernelSource {
  readonly ptx: string;
  readonly path: string;
  /** The files that `.file` directives name, as reports name them. */
  readonly files: ReadonlyMap<number, string>;
}

export interface CheckLimits {
  /** Deterministic bounds of a check, as counts of operations. */
  readonly counted: CountedBudget;
  /** Milliseconds of CPU time of this process after which workers check the remaining kernels. */
  readonly alone: number;
  /** Milliseconds of CPU time that a check may block this thread before it is restarted in a worker. */
  readonly stretch: number;
  /** Milliseconds of CPU time that a running solver query may exceed the time limit of its kernel. */
  readonly queryGrace: number;
  /** Milliseconds of CPU time that a worker may exceed the time limit of its kernel before it is killed. */
  readonly grace: number;
  /** Wall-clock time of a kernel as a multiple of its CPU time: a thread that waits forever uses no CPU time. */
  readonly patience: number;
  /** Mebibytes of JavaScript's heap for all workers together; each gets at least 512 and at most 4096, or all. */
  readonly memory: number;
}

export interface CheckPlace {
  /**
   * Checks a kernel under one launch.
   * @param milliseconds remaining time of the kernel
   * @param onUsed receives the used part of that time
   * @throws Error in case of an internal error
   * @throws Stopped if this executor cannot complete it
   */
  readonly check: (task: CheckTask, launch: Launch, milliseconds: number, onUsed: (milliseconds: number) => void) => Promise<CheckResult>;
  readonly close: () => Promise<void>;
}

/** The executor that checks in this thread: available at once, but a check in it cannot be interrupted and resumed. */
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
      // A running script can only be interrupted by a limit on its wall-clock time.
      const result = await complete(check(whole), (stretch) => within(limits.stretch * slowdown(), stretch));
      onUsed(deadline.used());
      return deadline.wasCut() ? nondeterministic(result) : result;
    },
  };
}

/** The deterministic bounds of a check. */
export function boundsOf({ proofOnly }: CheckTask['request'], { counted }: CheckLimits): CountedBudget {
  return proofOnly ? withoutReplay(counted) : counted;
}

/** Marks results that could differ with a higher time limit. */
export function nondeterministic({ race, divergence, ...rest }: CheckResult): CheckResult {
  return { ...rest, race: marked(race), divergence: marked(divergence) };
}

function marked<Result extends CheckResult['race'] | CheckResult['divergence']>(result: Result): Result {
  const settled = result.verdict === 'proved' || result.verdict === 'skipped';
  return settled ? result : { ...result, nondeterministic: true };
}

/** The result of an incomplete check. */
export function undecided(checks: CheckRequest['checks'], cause: 'out-of-time' | 'out-of-memory' | 'defect'): CheckResult {
  const reason = { kind: cause };
  return {
    race: { verdict: checks.race ? 'unknown' : 'skipped', reason, findings: [] },
    divergence: { verdict: checks.divergence ? 'unknown' : 'skipped', reason, findings: [] },
    open: nothingOpen,
  };
}
