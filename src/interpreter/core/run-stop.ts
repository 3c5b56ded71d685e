import type { RunOutcome } from './run-result.ts';
/** Premature end of a run. */

/** Ends a run from inside the code of a thread. */
export class RunStop extends Error {
  readonly outcome: RunOutcome;

  constructor(outcome: RunOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}
