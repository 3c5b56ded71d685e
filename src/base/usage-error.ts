/** Wrong usage or configuration: nothing is analysed and the program exits with 2. The message names the remedy. */
export class UsageError extends Error {
  override name = 'UsageError';
}
