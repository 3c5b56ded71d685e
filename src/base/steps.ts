/**
 * A computation that waits for promises by yielding them. Whoever advances it may put a clock on each stretch from one
 * wait to the next, which nobody can do to the stretches of an async function.
 */
export type Steps<Result> = Generator<Promise<unknown>, Result, unknown>;

/** Waits within steps: `const value = yield* settled(promise)`. @throws what the promise rejects with */
export function* settled<Value>(promise: Promise<Value>): Steps<Value> {
  return (yield promise) as Value;
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
    const outcome = await next.value.then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    );
    next = advance(() => ('error' in outcome ? steps.throw(outcome.error) : steps.next(outcome.value)));
  }
  return next.value;
}
