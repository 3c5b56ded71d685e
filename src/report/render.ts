import type { Format } from '../settings/options.ts';
import type { Report } from '../report-model/report.ts';
import type { PrettyOptions } from './pretty.ts';

/** The report in a format; the renderer is loaded on demand. */
export async function render(format: Format, report: Report, options: PrettyOptions): Promise<string> {
  switch (format) {
    case 'pretty':
      return (await import('./pretty.ts')).renderPretty(report, options);
    case 'json':
      return (await import('./json.ts')).renderJson(report);
    case 'sarif':
      return (await import('./sarif.ts')).renderSarif(report);
    case 'markdown':
      return (await import('./markdown.ts')).renderMarkdown(report, options);
    case 'html':
      return (await import('./html.ts')).renderHtml(report, options);
  }
}
