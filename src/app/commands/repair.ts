import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodeOf, type ExitCode } from '../../report-model/exit-code.ts';
import { repairedFiles } from '../../report-model/repaired-file.ts';
import { replaceFiles } from '../../system/replace-file.ts';
import { openProject } from '../build/open-project.ts';
import { checkProject } from '../pipeline/project-check.ts';
import type { Command, CommandLineServices } from './services.ts';
import { progressTo, writeMessage, writeReport } from './output.ts';

/**
 * `selvage repair`.
 * @throws UsageError if the command line is invalid
 */
export async function repairCommand({ paths, nvccArguments, options: given }: Command, services: CommandLineServices): Promise<ExitCode> {
  if (paths.length === 0) throw new UsageError('`selvage repair` needs a file, folder or pattern, for example `selvage repair src`.');
  // Findings that the baseline contains are repaired as well.
  const options = { ...given, baseline: false };
  const progress = progressTo(services, options);
  const job = await openProject({ paths, nvccArguments, options, progress, services });
  const { tree, builder } = job.project;
  try {
    const report = await checkProject(job);
    const source = (file: string): string | undefined => tree.text(file);
    // The report is written before the sources: the patch is available even if the sources cannot be written.
    await writeReport(report, options, services, source);
    if (options.write) {
      const edited = [...repairedFiles(report.kernels, source)];
      replaceFiles(edited.map(([file, text]) => ({ file, path: resolve(tree.root, file), before: source(file)!, text })));
      const files = edited.map(([file]) => file).join(', ');
      if (!options.quiet) writeMessage(services, edited.length === 0 ? 'nothing to write' : `wrote ${files}`);
    }
    return exitCodeOf(report, options.failOn);
  } finally {
    await builder.close();
  }
}
