import type { RunFormat } from '../settings/options.ts';
import type { RunReport } from '../report-model/run-report.ts';
import type { PrettyOptions } from './pretty.ts';

/** The document of a run in a format; the renderer is loaded on demand. */
export async function renderRun(format: RunFormat, report: RunReport, options: PrettyOptions): Promise<string> {
  if (format === 'json') return JSON.stringify(report, null, 2) + '\n';
  return (await import('./run-pretty.ts')).renderRunPretty(report, options);
}
