/** Entry point of the worker thread of Z3: there it loads concurrently with the compiler, and can be killed. */
import { messageOf } from '../base/text.ts';
import { parentPort } from 'node:worker_threads';
import { ownThread } from '../system/cpu-time.ts';
import type { SolverAnswer } from './solver.ts';
import { addScript, checkAssumptions, closeContext, loadZ3, openContext, Z3Error, type Z3Context } from './z3-core.ts';

export type Z3Request =
  | {
      readonly kind: 'check';
      readonly session: number;
      /** Scripts added since the last check. */
      readonly scripts: readonly string[];
      readonly assumptions: readonly string[];
      readonly units: number;
    }
  | { readonly kind: 'dispose'; readonly session: number };

/** The first message of the thread: its name, by which its CPU time can be read. */
export interface Z3Start {
  readonly kind: 'started';
  readonly thread: string | undefined;
}

/** A reply to each `check`, in order. */
export type Z3Reply =
  | { readonly kind: 'answer'; readonly answer: SolverAnswer }
  /** A script or an assumption that Z3 rejects: the session must not be queried again. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Z3 could not be loaded, or trapped: the thread must not be used again. */
  | { readonly kind: 'broken'; readonly message: string };

const contexts = new Map<number, Z3Context>();
const loading = loadZ3();
// The failure is reported by each request.
loading.catch(() => {});

async function serve(request: Z3Request): Promise<Z3Reply | undefined> {
  try {
    const z3 = await loading;
    let context = contexts.get(request.session);
    if (request.kind === 'dispose') {
      contexts.delete(request.session);
      if (context !== undefined) closeContext(context);
      return undefined;
    }
    if (context === undefined) {
      context = openContext(z3);
      contexts.set(request.session, context);
    }
    for (const script of request.scripts) addScript(context, script);
    return { kind: 'answer', answer: checkAssumptions(context, request.assumptions, request.units) };
  } catch (error) {
    const message = messageOf(error);
    return { kind: error instanceof Z3Error ? 'refused' : 'broken', message };
  }
}

parentPort?.postMessage({ kind: 'started', thread: ownThread() } satisfies Z3Start);
parentPort?.on('message', (request: Z3Request) => {
  void serve(request).then((reply) => {
    if (reply !== undefined) parentPort?.postMessage(reply);
  });
});
