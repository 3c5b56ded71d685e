/** Costs that are higher than before or above a limit, as texts present them. */
import { compareSeverity } from '../../source/severity.ts';
import { count } from '../text/code-text.ts';
import { concernsLaunch, isOfLimit, type Regression } from '../../report-model/regression.ts';
import { violationsOf } from '../../report-model/outcome.ts';
import type { Report } from '../../report-model/report.ts';

/** The costs of a report that are not suppressed, worst first: regressions of the comparison, then exceeded limits. */
export function worseCosts(report: Report): Regression[] {
  const all = [...(report.comparison?.regressions ?? []), ...report.kernels.flatMap(violationsOf)];
  return all.filter(isTold).sort((a, b) => compareSeverity(a.severity, b.severity));
}

function isTold({ suppressed }: Regression): boolean {
  return suppressed === undefined;
}

/** The reason for the cost of a line, if the message does not contain it. */
export function reasonOf({ reason, message }: Regression): string | undefined {
  return reason !== undefined && !message.includes(reason) ? reason : undefined;
}

/** The role of the line of a cost. */
export function lineRole(cost: Regression): string {
  const { build, metric } = cost;
  if (concernsLaunch(cost)) return 'launched here';
  if (build !== undefined) return isOfLimit(cost) ? `this line has the most ${metric}` : 'grew most';
  return isOfLimit(cost) ? 'the kernel' : 'changed';
}

/** The exceeded threshold, in words; empty if none exists, or if the message contains it. */
export function thresholdOf({ limit, base }: Regression): string {
  return limit === undefined || base === null ? '' : `threshold ${limit}`;
}

/** Notes in addition to the message: architecture, threshold, and the reason for the cost of the line. */
export function notesOf(cost: Regression): string[] {
  return [cost.arch ?? '', thresholdOf(cost), reasonOf(cost) ?? ''].filter((part) => part !== '');
}

/** `2 costs worse, 1 limit exceeded, 1 limit not compared`; empty without costs. */
export function costsPhrase(costs: readonly Regression[]): string {
  const open = costs.filter(({ code }) => code === 'limit/not-compared').length;
  const exceeded = costs.filter((cost) => isOfLimit(cost) || concernsLaunch(cost)).length - open;
  const worse = costs.length - exceeded - open;
  return [
    worse > 0 ? count(worse, 'cost worse', 'costs worse') : '',
    exceeded > 0 ? count(exceeded, 'limit exceeded', 'limits exceeded') : '',
    open > 0 ? count(open, 'limit not compared', 'limits not compared') : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}
