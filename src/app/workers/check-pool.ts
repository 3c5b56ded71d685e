/**
 * Assigns checks to executors. This thread starts with the first checks, because starting a worker takes longer than
 * checking most kernels. Checks that block this thread too long, and those that remain after a while, go to workers,
 * which can be killed.
 */
import { totalmem } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Steps } from '../../base/coroutine.ts';
import type { CheckRequest, CheckResult } from '../../check/request/check-request.ts';
import { nondeterministic, placeHere, undecided, type CheckLimits, type CheckPlace, type CheckTask } from './check-executor.ts';
import { usualBudget } from '../../check/request/check-budget.ts';
import { shareNoWrappers } from '../../system/engine-flags.ts';
import { solverStarter, type LazySolver } from './lazy-solver.ts';
import type { SolverKind } from '../../settings/options.ts';
import { Stopped } from '../../system/script-timeout.ts';
import type { WorkerOptions } from './worker-executor.ts';

export const checkLimits: CheckLimits = {
  counted: usualBudget,
  alone: 1000,
  stretch: 1000,
  queryGrace: 2000,
  grace: 5000,
  patience: 20,
  memory: (0.75 * totalmem()) / 2 ** 20,
};

export interface CheckSettings {
  readonly solver: SolverKind;
  /** Maximum number of concurrent workers. */
  readonly jobs: number;
  /** Milliseconds of CPU time for each kernel. */
  readonly timeout: number;
  /** The value of PATH. */
  readonly searchPath: string | undefined;
  /** Aborts waiting checks, which then reject with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<CheckLimits>;
  /** Entry point of workers, and the function that checks in this thread; replaced in tests. */
  readonly entry?: URL;
  readonly check?: ((request: CheckRequest) => Steps<CheckResult>) | undefined;
}

/** Outcome of the check of one launch. */
export type CheckOutcome = { readonly result: CheckResult } | { readonly defect: unknown };

/** Whether the result does not depend on time, memory or the version of this program. */
export function isWhole(outcome: CheckOutcome): outcome is { readonly result: CheckResult } {
  if ('defect' in outcome) return false;
  const { race, divergence } = outcome.result;
  return [race, divergence].every(
    ({ nondeterministic, reason }) =>
      nondeterministic !== true && reason?.kind !== 'out-of-time' && reason?.kind !== 'out-of-memory' && reason?.kind !== 'defect',
  );
}

export interface KernelChecks {
  /** Checks a kernel when an executor is free. @returns an outcome for each launch */
  readonly check: (task: CheckTask) => Promise<readonly CheckOutcome[]>;
  /**
   * Starts the solver of this thread unless it already runs. Called while the inputs of a later check are being
   * compiled.
   */
  readonly startSolver: () => void;
  /** A solver in addition to those of the checks, started on demand; the caller closes it. */
  readonly newSolver: () => LazySolver;
  /** Name of the solver, for the report; null if none was started. */
  readonly solverName: () => Promise<string | null>;
  /** Ends all threads and solver processes. */
  readonly close: () => Promise<void>;
}

/**
 * Makes the executors of checks. The caller closes them.
 * @throws UsageError if the requested solver is missing
 */
export async function openChecks(settings: CheckSettings): Promise<KernelChecks> {
  const { jobs, timeout, signal, entry } = settings;
  const limits = { ...checkLimits, ...settings.limits };
  const startSolver = await solverStarter(settings.solver, settings.searchPath);
  const solvers: LazySolver[] = [];
  const makeSolver = (): LazySolver => {
    const solver = startSolver();
    solvers.push(solver);
    return solver;
  };
  const here = placeHere(makeSolver(), limits, settings.check);
  const places = [here];
  const free: CheckPlace[] = [here];
  const waiting: ((place: CheckPlace) => void)[] = [];
  let began: NodeJS.CpuUsage | undefined;
  let onlyWatches = false;

  function addWorker(): CheckPlace {
    shareNoWrappers();
    const place = workerPlace({ ...(entry && { entry }), jobs, solver: makeSolver, limits });
    places.push(place);
    return place;
  }

  function give(place: CheckPlace): void {
    const next = waiting.shift();
    if (next) next(place);
    else free.push(place);
  }

  /**
   * Transfers the remaining checks to workers; this thread then only monitors them. The executor that requests it gets
   * the first worker itself.
   */
  function handOver(): void {
    if (onlyWatches) return;
    onlyWatches = true;
    const index = free.indexOf(here);
    if (index >= 0) free.splice(index, 1);
    // The kernel that this thread is still checking counts as a worker.
    for (let count = index >= 0 ? 0 : 1; count < jobs; count += 1) give(addWorker());
  }

  /** Milliseconds of CPU time that the threads of this process have used since the first check. */
  const worked = (): number => {
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 1000;
  };
  const isLate = (): boolean => jobs > 1 && waiting.length > 0 && worked() >= limits.alone;
  let timer: NodeJS.Timeout | undefined;

  async function acquire(): Promise<CheckPlace> {
    if (began === undefined) {
      began = process.cpuUsage();
      // Checks the time while this thread waits for the solver. Timers do not fire while it computes; then `release`
      // checks the time.
      timer = setInterval(
        () => {
          if (isLate()) handOver();
          if (onlyWatches) clearInterval(timer);
        },
        Math.max(50, limits.alone),
      );
      timer.unref();
    }
    const place = free.shift() ?? (await new Promise<CheckPlace>((resolve) => waiting.push(resolve)));
    // A check without a solver never yields to the event loop: here the process can receive the signal to end.
    await setImmediate();
    return place;
  }

  function release(place: CheckPlace): void {
    if (place !== here) give(place);
    else if (onlyWatches) give(addWorker());
    else if (isLate()) {
      free.push(here);
      handOver();
    } else give(here);
  }

  async function check(task: CheckTask): Promise<readonly CheckOutcome[]> {
    const outcomes: CheckOutcome[] = [];
    let place = await acquire();
    let spent = 0;
    const time = task.timeout ?? timeout;
    try {
      for (let index = 0; index < task.launches.length;) {
        signal?.throwIfAborted();
        try {
          const result =
            spent > time + limits.grace
              ? nondeterministic(undecided(task.request.checks, 'out-of-time'))
              : await place.check(task, task.launches[index]!, Math.max(0, time - spent), (used) => (spent += used));
          outcomes.push({ result });
        } catch (error) {
          if (error instanceof Stopped) {
            handOver();
            place = addWorker();
            // The check restarts with its full time limit: results must not depend on the executor.
            continue;
          }
          outcomes.push({ defect: error });
        }
        index += 1;
      }
    } finally {
      release(place);
    }
    return outcomes;
  }

  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  aborted.catch(() => {});

  return {
    check: (task) => Promise.race([check(task), aborted]),
    newSolver: startSolver,
    startSolver: () => void solvers[0]!.start().catch(() => undefined),
    solverName: async () => {
      const names = await Promise.all(solvers.map((solver) => solver.name()));
      return names.find((name) => name !== null) ?? null;
    },
    close: async () => {
      clearInterval(timer);
      await Promise.all(places.map((place) => place.close()));
    },
  };
}

/** An executor in a worker whose code is loaded when it receives its first kernel. */
function workerPlace(options: WorkerOptions): CheckPlace {
  let loading: Promise<CheckPlace> | undefined;
  return {
    async check(...task) {
      loading ??= import('./worker-executor.ts').then(({ placeInWorker }) => placeInWorker(options));
      return (await loading).check(...task);
    },
    close: async () => (await loading)?.close(),
  };
}
