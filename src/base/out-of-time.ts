/** The time limit of an analysis is exceeded. The caller that set the limit reports the results so far. */
export class OutOfTime extends Error {
  override name = 'OutOfTime';
}
