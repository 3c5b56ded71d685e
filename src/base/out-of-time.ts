/** An analysis that looks at its time has none left. Whoever gave it the time says what was found so far. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}
