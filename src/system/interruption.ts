import { constants } from 'node:os';
import { setImmediate } from 'node:timers/promises';

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

/** The signal that came, if one did. */
let received: Interruption | undefined;

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
      received = interruption;
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

/**
 * Runs a function that keeps the thread for long. A listener for a signal would not be called before it returns, and so
 * would keep the process from being ended; without one the system ends the process at once. What compilers left stays
 * behind then.
 * @throws Interruption where a signal came before
 */
export async function withDefaultSignals<Result>(run: () => Result): Promise<Result> {
  // A signal that has come is told in the next round of the event loop: removing its listener would lose it.
  for (let round = 0; round < 2; round++) await setImmediate();
  if (received) throw received;
  const held = endingSignals.map((name) => ({ name, listeners: process.listeners(name) }));
  for (const { name } of held) process.removeAllListeners(name);
  try {
    return run();
  } finally {
    for (const { name, listeners } of held) for (const listener of listeners) process.on(name, listener);
  }
}
