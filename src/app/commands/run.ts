import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { runExitCode, type ExitCode } from '../../report-model/exit-code.ts';
import { openProject } from '../build/open-project.ts';
import { kindOf } from '../project/source-tree.ts';
import { runLaunch } from '../run/run-job.ts';
import type { Command, CommandLineServices } from './services.ts';
import { print, progressTo, renderOptions, writeErrors } from './output.ts';

/**
 * `selvage run`: one launch of one kernel in the interpreter.
 * @throws UsageError if the command line is invalid
 */
export async function runCommand({ paths, nvccArguments, options }: Command, services: CommandLineServices): Promise<ExitCode> {
  const { format } = options;
  const [path] = paths;
  if (path === undefined || paths.length > 1 || kindOf(resolve(services.cwd, path)) === 'folder') {
    throw new UsageError('`selvage run` needs one file, for example `selvage run reduce.cu --kernel reduce`.');
  }
  if (format !== 'pretty' && format !== 'json') {
    throw new UsageError(`\`selvage run\` prints pretty or json, not ${format}.`);
  }
  if (options.arch.length > 1) throw new UsageError('`selvage run` runs one build: give --arch once.');
  const progress = progressTo(services, options);
  const job = await openProject({ paths, nvccArguments, options, progress, services });
  try {
    const { report, diagnostics } = await runLaunch({ job, cwd: services.cwd, terminal: services.stderr });
    writeErrors(diagnostics, services);
    if (report) {
      const shown = renderOptions(options, services, (file) => job.project.tree.text(file));
      print(await services.renderRun(format, report, shown), options, services);
    }
    return runExitCode(report, diagnostics, options.failOn);
  } finally {
    await job.project.builder.close();
  }
}
