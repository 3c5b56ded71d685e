/** A worker thread that checks kernels. It is killed if a check does not terminate. */
import { Worker } from 'node:worker_threads';
import type { SolverSession } from '../../solver/solver.ts';
import { boundsOf, nondeterministic, undecided, type CheckLimits, type CheckPlace, type KernelSource } from './check-executor.ts';
import type { FromWorker, QueryReply, Question, ToWorker } from './check-service.ts';
import { cpuOf } from '../../system/cpu-time.ts';
import { deadlineIn, type Deadline } from '../../system/deadline.ts';
import { withDeadline, type LazySolver } from './lazy-solver.ts';

export interface WorkerOptions {
  /** Entry point of the thread; by default the file next to the bundle, or in the source tree. */
  readonly entry?: URL;
  /** Number of workers. */
  readonly jobs: number;
  readonly solver: () => LazySolver;
  readonly limits: CheckLimits;
}

/**
 * Time limit in milliseconds for starting a thread and lowering a kernel, before the time limit of the kernel applies.
 */
const startingTime = 120_000;

interface Running {
  readonly worker: Worker;
  readonly solver: LazySolver;
  readonly sources: Map<KernelSource, number>;
  hasEnded: boolean;
}

/** An executor with a separate thread and solver. Both start on demand, and restart after they were killed. */
export function placeInWorker({ entry = ownEntry(), jobs, solver: makeSolver, limits }: WorkerOptions): CheckPlace {
  let running: Running | undefined;

  function start(): Running {
    const worker = new Worker(entry, {
      // Command-line flags and environment variables of the program do not apply to the worker.
      execArgv: [],
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: Math.min(limits.memory, Math.max(512, Math.min(4096, Math.floor(limits.memory / jobs)))),
      },
    });
    const started: Running = { worker, solver: makeSolver(), sources: new Map(), hasEnded: false };
    worker.on('error', () => {});
    worker.on('exit', () => (started.hasEnded = true));
    return started;
  }

  async function stop(): Promise<void> {
    const stopped = running;
    running = undefined;
    if (stopped) await Promise.all([stopped.worker.terminate(), stopped.solver.close()]);
  }

  return {
    close: stop,
    async check({ request, source, switches, onSolver }, launch, milliseconds, onUsed) {
      if (running?.hasEnded === true) await stop();
      running ??= start();
      const { worker, solver, sources } = running;
      const send = (message: ToWorker): void => worker.postMessage(message);
      let key = sources.get(source);
      if (key === undefined) {
        key = sources.size;
        sources.set(source, key);
        send({ kind: 'source', key, source });
      }
      const { kernel, objectName, departure, ...rest } = request;
      void objectName;
      const sessions = new Map<number, SolverSession>();
      let deadline: Deadline = deadlineIn(milliseconds);
      const answer = async (question: Question): Promise<unknown> => {
        switch (question.kind) {
          case 'departure':
            return departure?.(...question.places);
          case 'solver':
            onSolver?.();
            return (await solver.start()).name;
          case 'query': {
            let session = sessions.get(question.session);
            if (!session) {
              session = withDeadline(await solver.start(), deadline, limits.queryGrace).open();
              sessions.set(question.session, session);
            }
            for (const script of question.scripts) session.add(script);
            const before = deadline.spent();
            const answer = await session.check(question.assumptions, question.units);
            return { answer, cpu: deadline.spent() - before } satisfies QueryReply;
          }
        }
      };
      const end = await new Promise<End>((resolve) => {
        const timer = setTimeout(() => resolve({ kind: 'slow' }), startingTime);
        let stop = (): void => clearTimeout(timer);
        const settle = (result: End): void => {
          stop();
          worker.off('message', onMessage).off('error', onError).off('exit', onExit).off('messageerror', onError);
          resolve(result);
        };
        const onMessage = (message: FromWorker): void => {
          switch (message.kind) {
            case 'begun': {
              const { thread } = message;
              const own = (): number | undefined => (thread === undefined ? undefined : cpuOf(thread));
              deadline = deadlineIn(milliseconds, own, limits.patience);
              stop();
              stop = deadline.whenOver(limits.grace, () => settle({ kind: 'slow' }));
              return;
            }
            case 'question': {
              const { id } = message;
              answer(message.question).then(
                (value) => send({ kind: 'reply', id, value }),
                (error: unknown) => send({ kind: 'refusal', id, error }),
              );
              return;
            }
            case 'dispose':
              sessions.get(message.session)?.dispose();
              sessions.delete(message.session);
              return;
            case 'result':
            case 'defect':
              settle(message);
          }
        };
        const onError = (error: Error & { code?: string }): void =>
          settle(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? { kind: 'memory' } : { kind: 'broken', message: error.message });
        const onExit = (code: number): void => settle({ kind: 'broken', message: `its thread ended with code ${code}` });
        worker.on('message', onMessage).on('error', onError).on('exit', onExit).on('messageerror', onError);
        send({
          kind: 'check',
          source: key,
          request: {
            ...rest,
            symbol: kernel.symbol,
            launch,
            asksDeparture: departure !== undefined,
            ...(switches && { switches }),
            counted: boundsOf(request, limits),
            milliseconds,
            patience: limits.patience,
          },
        });
      });
      onUsed(deadline.used());
      for (const session of sessions.values()) session.dispose();
      switch (end.kind) {
        case 'result':
          return deadline.wasCut() ? nondeterministic(end.result) : end.result;
        case 'defect':
          throw end.error;
        case 'slow':
          await stop();
          return nondeterministic(undecided(request.checks, 'out-of-time'));
        case 'memory':
          await stop();
          return nondeterministic(undecided(request.checks, 'out-of-memory'));
        case 'broken':
          await stop();
          throw new Error(`the worker broke down: ${end.message}`);
      }
    },
  };
}

type End =
  | Extract<FromWorker, { kind: 'result' | 'defect' }>
  | { readonly kind: 'slow' | 'memory' }
  | { readonly kind: 'broken'; readonly message: string };

function ownEntry(): URL {
  return new URL(`./kernel-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
}
