import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import type { ExitCode } from '../../report-model/exit-code.ts';
import { analyseDemo, demoCommits } from './demo-change.ts';
import type { Command, CommandLineServices } from './services.ts';
import { progressTo, renderOptions, writeMessage, writeReview, writeOutput } from './output.ts';

/**
 * `selvage demo`: the review of the bundled example pull request, and its report as a page.
 * @throws UsageError if the command line is invalid
 */
export async function demoCommand({ paths, nvccArguments, options }: Command, services: CommandLineServices): Promise<ExitCode> {
  if (paths.length > 0) throw new UsageError('`selvage demo` takes no path; `selvage check PATH` analyses your own code.');
  const { environment, assets, signal } = services;
  const progress = progressTo(services, options);
  const analysis = await analyseDemo({ options, nvccArguments, environment, assets, progress, signal });
  const page = await services.render('html', analysis.report, renderOptions(options, services, analysis.source));
  const file = options.format === 'html' && options.output !== undefined ? options.output : 'selvage-demo.html';
  writeOutput(resolve(services.cwd, file), page);
  if (!options.quiet) writeMessage(services, `wrote ${file}`);
  return writeReview({ analysis, headSha: demoCommits.head, failOn: options.failOn }, options, services);
}
