/**
 * Z3 as WebAssembly in a worker thread, as a {@link Solver}. No limit inside Z3 is a hard one, so the thread is killed
 * when a check exceeds its CPU limit; the sessions then continue in a new thread, from their recorded scripts.
 */
import { Worker } from 'node:worker_threads';
import z3Package from 'z3-solver/package.json' with { type: 'json' };
import { cpuOf, ownThread } from '../system/cpu-time.ts';
import { afterCpu } from '../system/deadline.ts';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';
import type { Z3Reply, Z3Request, Z3Start } from './z3-worker.ts';

interface Z3Options {
  /** Default limit in milliseconds of CPU, after which a check is killed. Generous: `units` bound it. */
  readonly hardLimit?: number;
}

/**
 * Starts loading Z3 in a thread and returns at once. A failure to load appears as `unknown` of each check. The thread
 * does not keep the process alive, except during a check.
 */
export function startZ3(options: Z3Options = {}): Promise<Solver> {
  const { hardLimit = 120_000 } = options;
  let worker: Worker | undefined;
  /** By thread: its name for the system, once it has reported it. */
  const names = new WeakMap<Worker, string>();
  let closed = false;
  let sessions = 0;
  /** Z3 decides one query at a time: each check waits for the one before, so that its CPU time is separate. */
  let last: Promise<unknown> = Promise.resolve();

  function running(): Worker {
    if (worker !== undefined) return worker;
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
    const started = new Worker(new URL(`./z3-worker.${extension}`, import.meta.url), {
      // Flags of the main program, such as --input-type, do not apply to the worker.
      execArgv: [],
      // Z3 recurses on the stack of the thread.
      resourceLimits: { stackSizeMb: 32 },
    });
    // A thread that dies between checks is replaced at the next check; during a check, `ask` receives the error.
    started.on('error', () => {});
    started.once('message', ({ thread }: Z3Start) => {
      if (thread !== undefined) names.set(started, thread);
    });
    started.on('exit', () => {
      if (worker === started) worker = undefined;
    });
    started.unref();
    worker = started;
    return started;
  }

  async function kill(): Promise<void> {
    const dead = worker;
    worker = undefined;
    await dead?.terminate();
  }

  /** The CPU time of a thread; 0 while it starts, undefined if the system does not report it. */
  function cpuOfThread(thread: Worker): number | undefined {
    const name = names.get(thread);
    if (name !== undefined) return cpuOf(name);
    return ownThread() === undefined ? undefined : 0;
  }

  async function ask(request: Z3Request, thread: Worker, milliseconds: number): Promise<Z3Reply | 'killed'> {
    let settle: (reply: Z3Reply | 'killed') => void = () => {};
    const replied = new Promise<Z3Reply | 'killed'>((resolve) => (settle = resolve));
    const onError = (error: Error): void => settle({ kind: 'broken', message: error.message });
    const onExit = (): void => settle({ kind: 'broken', message: 'its thread ended' });
    const onReply = (reply: Z3Reply | Z3Start): void => {
      if (reply.kind !== 'started') settle(reply);
    };
    const stop = afterCpu(
      milliseconds,
      () => cpuOfThread(thread),
      () => settle('killed'),
    );
    thread.on('message', onReply);
    thread.once('error', onError);
    thread.once('exit', onExit);
    thread.ref();
    thread.postMessage(request);
    const reply = await replied;
    stop();
    thread.off('message', onReply);
    thread.off('error', onError);
    thread.off('exit', onExit);
    thread.unref();
    if (reply === 'killed' || reply.kind === 'broken') await kill();
    return reply;
  }

  function open(): SolverSession {
    const session = (sessions += 1);
    const scripts: string[] = [];
    /** Number of scripts already passed to `home`, the thread of this session. */
    let sent = 0;
    let home: Worker | undefined;
    let refusal: string | undefined;
    let cpu: number | undefined = 0;

    async function decide(assumptions: readonly string[], units: number, limit: number): Promise<SolverAnswer> {
      if (closed) return { kind: 'unknown', reason: 'the solver was closed' };
      if (refusal !== undefined) throw new Error(refusal);
      const thread = running();
      if (home !== thread) {
        home = thread;
        sent = 0;
      }
      const request: Z3Request = { kind: 'check', session, scripts: scripts.slice(sent), assumptions, units };
      sent = scripts.length;
      const before = cpuOfThread(thread);
      const reply = await ask(request, thread, limit);
      const after = reply === 'killed' ? (before ?? 0) + limit : cpuOfThread(thread);
      cpu = cpu === undefined || before === undefined || after === undefined ? undefined : cpu + after - before;
      if (reply === 'killed') {
        return { kind: 'unknown', reason: `solver killed after ${limit / 1000} s`, nondeterministic: true };
      }
      switch (reply.kind) {
        case 'answer':
          return reply.answer;
        case 'refused':
          refusal = reply.message;
          throw new Error(refusal);
        case 'broken':
          return { kind: 'unknown', reason: `Z3 broke down: ${reply.message}`, nondeterministic: true };
      }
    }

    return {
      add: (script) => {
        scripts.push(script);
      },
      check: (assumptions, units, milliseconds = hardLimit) => {
        const answer = last.then(() => decide(assumptions, units, milliseconds));
        last = answer.catch(() => {});
        return answer;
      },
      cpu: () => cpu,
      dispose: () => {
        void last.then(() => {
          if (home === worker) home?.postMessage({ kind: 'dispose', session } satisfies Z3Request);
        });
      },
    };
  }

  running();
  return Promise.resolve({
    name: `z3-solver ${z3Package.version} (wasm)`,
    open,
    close: async () => {
      closed = true;
      await kill();
    },
  });
}
