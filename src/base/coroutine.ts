/**
 * A computation that waits by yielding what begins the wait. Whoever advances it may put a clock on each stretch from one
 * wait to the next, which nobody can do to the stretches of an async function; what begins outside of a stretch, such as
 * the loading of a module, is not cut short with it.
 */
export type Steps<Result> = Generator<() => Promise<unknown>, Result, unknown>;

/** Waits within steps: `const value = yield* settled(() => promise)`. @throws what the promise rejects with */
export function* settled<Value>(begin: () => Promise<Value>): Steps<Value> {
  return (yield begin) as Value;
}

/**
 * Runs steps to their end.
 * @param advance runs one stretch, at once; what it throws ends the whole
 */
export async function complete<Result>(
  steps: Steps<Result>,
  advance: <Value>(stretch: () => Value) => Value = (stretch) => stretch(),
): Promise<Result> {
  let next = advance(() => steps.next());
  while (next.done !== true) {
    const outcome = await settle(next.value);
    next = advance(() => ('error' in outcome ? steps.throw(outcome.error) : steps.next(outcome.value)));
  }
  return next.value;
}

async function settle(
  begin: () => Promise<unknown>,
): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  try {
    return { value: await begin() };
  } catch (error) {
    return { error };
  }
}
