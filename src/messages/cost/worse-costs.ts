/** Costs that are worse than before or than a limit, as texts show them. */
import { compareSeverity } from '../../source/severity.ts';
import { count } from '../text/code-text.ts';
import { concernsLaunch, isOfLimit, type Regression } from '../../report-model/regression.ts';
import { violationsOf } from '../../report-model/outcome.ts';
import type { Report } from '../../report-model/report.ts';

/** All of a report that nobody silenced, worst first: those of the comparison, then limits. */
export function worseCosts(report: Report): Regression[] {
  const all = [...(report.comparison?.regressions ?? []), ...report.kernels.flatMap(violationsOf)];
  return all.filter(isTold).sort((a, b) => compareSeverity(a.severity, b.severity));
}

function isTold({ suppressed }: Regression): boolean {
  return suppressed === undefined;
}

/** What is said of a line beyond the message, if there is more. */
export function reasonOf({ reason, message }: Regression): string | undefined {
  return reason !== undefined && !message.includes(reason) ? reason : undefined;
}

/** What the line of a cost is to it. */
export function lineRole(cost: Regression): string {
  const { build, metric } = cost;
  if (concernsLaunch(cost)) return 'launched here';
  if (build !== undefined) return isOfLimit(cost) ? `this line has the most ${metric}` : 'grew most';
  return isOfLimit(cost) ? 'the kernel' : 'changed';
}

/** The threshold that is exceeded, in words; empty where none is, or the message has it. */
export function thresholdOf({ limit, base }: Regression): string {
  return limit === undefined || base === null ? '' : `threshold ${limit}`;
}

/** What is said beside the message: architecture, threshold, and why the line costs that. */
export function notesOf(cost: Regression): string[] {
  return [cost.arch ?? '', thresholdOf(cost), reasonOf(cost) ?? ''].filter((part) => part !== '');
}

/** `2 costs worse, 1 limit exceeded, 1 limit not compared`; empty where nothing is. */
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
