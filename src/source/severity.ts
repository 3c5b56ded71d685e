export type Severity = 'error' | 'warning' | 'notice';

export const severityRank: Readonly<Record<Severity, number>> = { notice: 0, warning: 1, error: 2 };

/** Orders severities, worst first. */
export function compareSeverity(first: Severity, second: Severity): number {
  return severityRank[second] - severityRank[first];
}
