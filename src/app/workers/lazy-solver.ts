import { type KnownAnswers, remembering } from '../../solver/remembering.ts';
import type { Solver, SolverSession } from '../../solver/solver.ts';
import { clock } from '../../system/clock.ts';
import type { Deadline } from '../../system/deadline.ts';
import type { SolverKind } from '../../settings/options.ts';
import { UsageError } from '../../base/usage-error.ts';

/** A solver that starts on the first query. */
export interface LazySolver {
  readonly start: () => Promise<Solver>;
  /** Name of the started solver, for the report; null if none was started. */
  readonly name: () => Promise<string | null>;
  readonly close: () => Promise<void>;
}

/**
 * Determines how to start solvers of a kind. The caller closes them.
 * @param searchPath the value of PATH
 * @throws UsageError if the program is missing, or is not that solver
 */
export async function solverStarter(kind: SolverKind, searchPath: string | undefined): Promise<() => LazySolver> {
  const start = await starterOf(kind, searchPath);
  // Answers to earlier queries. They recur if a check is restarted in a worker, and for kernels of other workers.
  const known: KnownAnswers = new Map();
  return () => lazily(async () => remembering(await start(), known));
}

async function starterOf(kind: SolverKind, searchPath: string | undefined): Promise<() => Promise<Solver>> {
  if (kind === 'wasm') return () => import('../../solver/z3-wasm.ts').then(({ startZ3 }) => startZ3());
  const { findNativeZ3, startNativeZ3 } = await import('../../solver/z3-native.ts');
  const file = findNativeZ3(searchPath);
  if (file === undefined) {
    throw new UsageError(
      '--solver native: there is no z3 on PATH. Install it (apt-get install z3, brew install z3), or leave out the ' +
        'option: the bundled Z3 needs no installation.',
    );
  }
  const start = (): Promise<Solver> => startNativeZ3(file);
  await start().catch((error: Error) => {
    throw new UsageError(`--solver native: ${error.message}`);
  });
  return start;
}

function lazily(begin: () => Promise<Solver>): LazySolver {
  let solver: Promise<Solver> | undefined;
  return {
    start: () => (solver ??= begin()),
    name: async () => (await solver?.catch(() => undefined))?.name ?? null,
    close: async () => {
      await solver?.then((started) => started.close()).catch(() => undefined);
    },
  };
}

/**
 * A solver whose queries end when the time of the check is over.
 * @param grace minimum milliseconds of a query
 */
export function withDeadline(solver: Solver, deadline: Deadline, grace: number): Solver {
  return { ...solver, open: () => sessionWithDeadline(solver.open(), deadline, grace) };
}

function sessionWithDeadline(session: SolverSession, deadline: Deadline, grace: number): SolverSession {
  return {
    add: (script) => session.add(script),
    dispose: () => session.dispose(),
    check: async (assumptions, units) => {
      const began = { cpu: session.cpu?.(), time: clock() };
      const answer = await session.check(assumptions, units, deadline.left() + grace);
      const cpu = session.cpu?.();
      deadline.spend(cpu === undefined || began.cpu === undefined ? clock() - began.time : cpu - began.cpu);
      if (answer.kind !== 'unknown' || !answer.nondeterministic) return answer;
      deadline.cut();
      // The message omits the elapsed time, because reports are deterministic.
      return deadline.left() === 0 ? { ...answer, reason: 'out of time' } : answer;
    },
  };
}
