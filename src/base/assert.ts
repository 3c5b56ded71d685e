/** A broken invariant: a defect of Selvage, never of the input. The command line exits with 4. */
export class InvariantError extends Error {
  override name = 'InvariantError';
}

/** Throws {@link InvariantError} unless `condition` holds. */
export function invariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message);
}
