/** Wrong usage or configuration. Selvage analyses nothing and exits with 2. The message states a remedy. */
export class UsageError extends Error {
  override name = 'UsageError';
}
