/**
 * A computation that waits by yielding a function that begins the wait. Its driver can measure the time between two
 * waits, which is impossible for an async function; work that begins outside, such as the loading of a module, is not
 * interrupted with it.
 */
export type Steps<Result> = Generator<() => Promise<unknown>, Result, unknown>;

/** Waits within steps: `const value = yield* settled(() => promise)`. @throws the rejection of the promise */
export function* settled<Value>(begin: () => Promise<Value>): Steps<Value> {
  return (yield begin) as Value;
}

/**
 * Runs steps to their end.
 * @param advance runs to the next wait, synchronously; an exception ends the computation
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

async function settle(begin: () => Promise<unknown>): Promise<{ readonly value: unknown } | { readonly error: unknown }> {
  try {
    return { value: await begin() };
  } catch (error) {
    return { error };
  }
}
