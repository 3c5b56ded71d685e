import type { Severity } from './severity.ts';

/** One entry of the registry: the output of `selvage explain CODE`. */
export interface CodeEntry {
  readonly severity: Severity;
  /** Title of the code, as one sentence. */
  readonly title: string;
  readonly explanation: string;
  readonly example: string;
  readonly remedy: string;
}
