import type { Report } from '../report-model/report.ts';

/** The report as the document that `report.schema.json` describes. */
export function renderJson(report: Report): string {
  return JSON.stringify(report, null, 2) + '\n';
}
