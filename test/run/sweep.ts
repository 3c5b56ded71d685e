/**
 * How much of a sweep is run: a sample in `npm test`, the whole in `npm run test:long` (`sweeps.long.ts`).
 * @param sample - a number of cases, or the step from one case to the next
 */
export function sweep(sample: number, whole: number): number {
  return process.env['SELVAGE_TEST_SWEEPS'] === 'whole' ? whole : sample;
}
