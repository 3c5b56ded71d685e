/** Exit codes of the commands. If several apply, the first of 2, 4, 3, 1, 0 wins. */
import type { Diagnostic } from '../source/diagnostic.ts';
import type { FailOn } from '../settings/options.ts';
import { isFailure, tally, type Tally } from './outcome.ts';
import type { Report } from './report.ts';
import type { RunReport } from './run-report.ts';

export const exitCodes = {
  /** No finding is at or above `--fail-on`. */
  success: 0,
  /** Some finding is at or above `--fail-on`. */
  findings: 1,
  /** Wrong usage or configuration, or contradictory assumptions. */
  usage: 2,
  /** No compiler, a file that does not compile or parse, or a run that stopped early. */
  incomplete: 3,
  /** An internal error of Selvage. */
  defect: 4,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/**
 * The exit code for a report.
 * @param fingerprints of the findings to consider; if absent, all are considered
 */
export function exitCodeOf(report: Report, failOn: FailOn, only?: ReadonlySet<string>): ExitCode {
  return firstThatApplies(report.diagnostics, false, tally(report, only), failOn);
}

/**
 * The exit code of `selvage run`.
 * @param report absent if no kernel was run
 */
export function runExitCode(report: RunReport | undefined, diagnostics: readonly Diagnostic[], failOn: FailOn): ExitCode {
  const findings = report?.findings ?? [];
  const isIncomplete = !report || findings.some(({ code }) => code === 'run/budget' || code === 'run/unsupported');
  const amount = (severity: string): number => findings.filter((finding) => finding.severity === severity).length;
  return firstThatApplies(
    diagnostics,
    isIncomplete,
    { errors: amount('error'), warnings: amount('warning'), notices: amount('notice') },
    failOn,
  );
}

/** Codes of errors in statements of the user, which are wrong usage. */
const stated: ReadonlySet<string> = new Set(['config', 'annotation', 'assumption', 'suppression']);

function firstThatApplies(
  diagnostics: readonly Diagnostic[],
  isIncomplete: boolean,
  { errors, warnings }: Tally,
  failOn: FailOn,
): ExitCode {
  const families = diagnostics.filter(isFailure).map(({ code }) => code.split('/')[0]!);
  if (families.some((family) => stated.has(family))) return exitCodes.usage;
  if (families.includes('internal')) return exitCodes.defect;
  if (families.length > 0 || isIncomplete) return exitCodes.incomplete;
  const failing = { never: 0, error: errors, warning: errors + warnings }[failOn];
  return failing > 0 ? exitCodes.findings : exitCodes.success;
}
