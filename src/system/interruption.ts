import { constants } from 'node:os';
import { setImmediate } from 'node:timers/promises';

// Not SIGHUP: a listener would override the setting of `nohup`.
const endingSignals = ['SIGINT', 'SIGTERM'] as const;

/** A signal asked the process to end. It is the reason of the abort that ends an analysis. */
export class Interruption extends Error {
  /** Status of shells for a process that a signal ended. */
  readonly exitCode: number;

  constructor(signal: (typeof endingSignals)[number]) {
    super(`ended by ${signal}`);
    this.exitCode = 128 + constants.signals[signal];
  }
}

/** The received signal, if any. */
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
 * Runs a function that blocks the thread for long. A listener for a signal would not be called before it returns, and
 * so would prevent the end of the process; without one the system ends the process at once, leaving temporary files of
 * compilers.
 * @throws Interruption if a signal arrived before
 */
export async function withDefaultSignals<Result>(run: () => Result): Promise<Result> {
  // A received signal is delivered in the next iteration of the event loop: removing its listener would lose it.
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
