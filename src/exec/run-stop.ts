/** The end of a run before its time. */
import type { RunOutcome } from './launch.ts';

/** Ends a run from inside the code of a thread. */
export class RunStop extends Error {
  readonly outcome: RunOutcome;

  constructor(outcome: RunOutcome) {
    super(outcome);
    this.outcome = outcome;
  }
}
