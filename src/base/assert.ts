/** A violated invariant: an internal error, never caused by the input. The command line exits with 4. */
export class InvariantError extends Error {
  override name = 'InvariantError';
}

/** Throws {@link InvariantError} unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
