import type { Severity } from './severity.ts';
import type { Code } from './codes.ts';
import type { Location } from './location.ts';

/** A message about a file or the run, not about a kernel. `message` says what to do. */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: Code;
  readonly message: string;
  readonly location?: Location;
  /** Of a finding about the program: the same before and after a change that leaves it as it is. */
  readonly fingerprint?: string;
}

/** Each diagnostic once: both builds say the same of a file that does not compile. */
export function distinctDiagnostics(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  return [...new Map(diagnostics.map((diagnostic) => [JSON.stringify(diagnostic), diagnostic])).values()];
}
