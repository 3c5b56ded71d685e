/**
 * Milliseconds on a monotonic clock. Not `performance.now()`, with which Node loads all of its module for measurements:
 * 5 ms, a tenth of a small check.
 */
export function clock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
