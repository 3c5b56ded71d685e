import { constants } from 'node:os';

// Not SIGHUP: a listener would undo what `nohup` has set.
const endingSignals = ['SIGINT', 'SIGTERM'] as const;

/** A signal asked the process to end. It is the reason of the abort that ends an analysis. */
export class Interruption extends Error {
  /** As shells give it for a process that a signal ended. */
  readonly exitCode: number;

  constructor(signal: (typeof endingSignals)[number]) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/**
 * Runs a function that a signal can interrupt, so that it stops its compilers and removes its temporary files. A second
 * signal ends the process at once.
 */
export async function interruptible<Result>(run: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController();
  const listeners = endingSignals.map((name) => {
    const interruption = new Interruption(name);
    const listener = (): void => {
      if (controller.signal.aborted) process.exit(interruption.exitCode);
      controller.abort(interruption);
    };
    process.on(name, listener);
    return { name, listener };
  });
  try {
    return await run(controller.signal);
  } finally {
    for (const { name, listener } of listeners) process.off(name, listener);
  }
}
