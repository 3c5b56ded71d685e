import type { Severity } from './severity.ts';
import type { Code } from './codes.ts';
import type { Location } from './location.ts';

/** A message about a file or the run, not about a kernel. `message` states the remedy. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: Code;
  readonly message: string;
  readonly location?: Location;
  /**
   * Fingerprint, if the diagnostic is a finding about the program. Invariant under changes that do not affect the
   * finding.
   */
  readonly fingerprint?: string;
}

/** Removes duplicates: both builds report the same diagnostics for a file that does not compile. */
export function distinctDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()];
}
