/** Stops code of this thread that does not return. */
import { Script } from 'node:vm';
import { OutOfTime } from '../base/out-of-time.ts';
import { slowdown } from './cpu-time.ts';
import type { Deadline } from './deadline.ts';

/** The code was stopped. Its `finally` blocks did not run: its data must not be used again. */
export class Stopped extends Error {
  override name = 'Stopped';
}

const name = 'selvage.stretch';

/** Node supports no longer timeouts. */
const longest = 2 ** 31 - 1;
let script: Script | undefined;

/**
 * Runs a function, and stops it when it takes too long: Node can only do that to a script, which calls the function.
 * @param milliseconds at least 1
 * @throws Stopped when it did
 */
export function within<Value>(milliseconds: number, run: () => Value): Value {
  script ??= new Script(`globalThis[Symbol.for(${JSON.stringify(name)})]()`);
  let result: { readonly value: Value } | undefined;
  Reflect.set(globalThis, Symbol.for(name), () => {
    result = { value: run() };
  });
  try {
    script.runInThisContext({ timeout: Math.min(Math.ceil(milliseconds), longest), displayErrors: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new Stopped();
    throw error;
  } finally {
    Reflect.deleteProperty(globalThis, Symbol.for(name));
  }
  if (!result) throw new Stopped();
  return result.value;
}

/** Code that does not check the time itself is stopped after this multiple of its remaining time. */
const overrun = 2;

/**
 * Runs a part of an analysis that blocks the thread, in the remaining time of the whole.
 * @param run throws {@link OutOfTime} if it finds that the time is over
 * @returns null if it did not finish; the deadline was cut then
 */
export function inTime<Value>(deadline: Deadline, run: () => Value): Value | null {
  if (deadline.expired()) return null;
  try {
    return within(Math.max(1, overrun * deadline.left() * slowdown()), run);
  } catch (error) {
    if (!(error instanceof Stopped) && !(error instanceof OutOfTime)) throw error;
    deadline.cut();
    return null;
  }
}
