/** Wrong usage or configuration. Selvage analyses nothing and exits with 2. The message says what to do. */
export class UsageError extends Error {
  override name = 'UsageError';
}
