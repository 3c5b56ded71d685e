/** Worker side of checks: lowers and checks kernels, and requests services that only the main thread has. */
import type { MessagePort } from 'node:worker_threads';
import { complete, type Steps } from '../../base/coroutine.ts';
import type { Launch } from '../../launch/launch.ts';
import type { CountedBudget } from '../../check/request/check-budget.ts';
import type { CheckRequest, CheckResult } from '../../check/request/check-request.ts';
import { objectName } from '../../cuda/names/demangle.ts';
import type { Departure } from '../../cuda/reading/early-return.ts';
import type { Kernel } from '../../ir/form/kernel.ts';
import { lowerModule } from '../../ir/lower.ts';
import { type MarkerSwitches, switchMarkers } from '../../ir/form/switch-markers.ts';
import type { Module } from '../../ptx/ast.ts';
import { parsePtx } from '../../ptx/parser.ts';
import { Answers } from '../../solver/answers.ts';
import type { Solver, SolverAnswer } from '../../solver/solver.ts';
import { nondeterministic, type KernelSource } from './check-executor.ts';
import { ownThread, threadCpu } from '../../system/cpu-time.ts';
import { deadlineIn, type Deadline } from '../../system/deadline.ts';

/** The part of a request that can be sent to another thread. */
interface SentRequest extends Omit<CheckRequest, 'kernel' | 'objectName' | 'departure' | 'launch' | 'solver' | 'budget'> {
  readonly symbol: string;
  readonly launch: Launch;
  readonly asksDeparture: boolean;
  readonly switches?: MarkerSwitches;
  readonly counted: CountedBudget;
  /** Remaining time of the kernel in milliseconds. */
  readonly milliseconds: number;
  readonly patience: number;
}

export type ToWorker =
  | { readonly kind: 'source'; readonly key: number; readonly source: KernelSource }
  | { readonly kind: 'check'; readonly source: number; readonly request: SentRequest }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: unknown };

/** Requests for services that the worker lacks. */
export type Question =
  | { readonly kind: 'departure'; readonly places: Parameters<NonNullable<CheckRequest['departure']>> }
  | { readonly kind: 'solver' }
  | {
      readonly kind: 'query';
      readonly session: number;
      /** SMT commands added since the last query. */
      readonly scripts: readonly string[];
      readonly assumptions: readonly string[];
      readonly units: number;
    };

/** Reply to a solver query, with the milliseconds of CPU time that the solver used. */
export interface QueryReply {
  readonly answer: SolverAnswer;
  readonly cpu: number;
}

export type FromWorker =
  /**
   * The kernel is lowered and its time limit starts. It counts the CPU time of this thread, if the system reports it.
   */
  | { readonly kind: 'begun'; readonly thread: string | undefined }
  | { readonly kind: 'question'; readonly id: number; readonly question: Question }
  | { readonly kind: 'dispose'; readonly session: number }
  | { readonly kind: 'result'; readonly result: CheckResult }
  | { readonly kind: 'defect'; readonly error: unknown };

/** Answers checks that arrive on a port, sequentially. */
export function serveChecks(port: MessagePort, check: (request: CheckRequest) => Steps<CheckResult>): void {
  const post = (message: FromWorker): void => port.postMessage(message);
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>();
  let questions = 0;
  const ask = <Answer>(question: Question): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const id = (questions += 1);
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      post({ kind: 'question', id, question });
    });
  const sources = new Map<number, KernelSource>();
  const modules = new Map<number, Module>();
  const lowered = new Map<string, Kernel>();
  const answers = new Answers();
  let sessions = 0;
  const solver = (name: string, deadline: Deadline): Solver => ({
    name,
    close: async () => undefined,
    open: () => {
      const session = (sessions += 1);
      let scripts: string[] = [];
      return {
        add: (script) => void scripts.push(script),
        check: async (assumptions, units) => {
          const added = scripts;
          scripts = [];
          const reply = await ask<QueryReply>({ kind: 'query', session, scripts: added, assumptions, units });
          deadline.spend(reply.cpu);
          return reply.answer;
        },
        dispose: () => post({ kind: 'dispose', session }),
      };
    },
  });

  /** Lowers the kernel of a module that this worker checks. Other workers may check other kernels of the module. */
  function kernelOf(key: number, symbol: string): Kernel | undefined {
    const name = `${key} ${symbol}`;
    const known = lowered.get(name);
    if (known) return known;
    const module = modules.get(key) ?? parse(sources.get(key)!);
    modules.set(key, module);
    const [found] = lowerModule(module, {}, (one) => one === symbol).kernels;
    if (found) lowered.set(name, found);
    return found;
  }

  async function run(key: number, sent: SentRequest): Promise<CheckResult> {
    const { symbol, asksDeparture, switches, counted, milliseconds, patience, ...request } = sent;
    const found = kernelOf(key, symbol);
    if (!found) throw new Error(`${symbol} is not in its own module`);
    const kernel = switches ? switchMarkers(found, switches) : found;
    const deadline = deadlineIn(milliseconds, threadCpu, patience);
    post({ kind: 'begun', thread: ownThread() });
    const steps = check({
      ...request,
      kernel,
      answers,
      objectName,
      ...(asksDeparture && {
        departure: (...places) => ask<Departure | undefined>({ kind: 'departure', places }),
      }),
      solver: async () => solver(await ask<string>({ kind: 'solver' }), deadline),
      budget: { ...counted, expired: deadline.expired },
    });
    const result = await complete(steps);
    return deadline.wasCut() ? nondeterministic(result) : result;
  }

  port.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'source':
        sources.set(message.key, message.source);
        return;
      case 'check':
        run(message.source, message.request)
          .then((result) => post({ kind: 'result', result }))
          .catch((error: unknown) => post({ kind: 'defect', error }));
        return;
      case 'reply':
      case 'refusal': {
        const question = waiting.get(message.id);
        waiting.delete(message.id);
        if (message.kind === 'reply') question?.resolve(message.value);
        else question?.reject(message.error);
      }
    }
  });
}

function parse({ ptx, path, files }: KernelSource): Module {
  return { ...parsePtx(ptx, path).module, files };
}
