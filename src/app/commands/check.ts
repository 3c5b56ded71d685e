import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodeOf, type ExitCode } from '../../report-model/exit-code.ts';
import { openProject } from '../build/open-project.ts';
import { writeCertificates } from '../pipeline/certificates.ts';
import { writeReproducer } from './reproducer.ts';
import { checkKernels } from '../pipeline/project-check.ts';
import type { Command, CommandLineServices } from './services.ts';
import { isMachineCode } from './machine-code-name.ts';
import { progressTo, writeReport } from './output.ts';

/**
 * `selvage check` and `selvage cost`.
 * @throws UsageError if the command line is invalid
 */
export async function checkCommand(given: Command, services: CommandLineServices): Promise<ExitCode> {
  const { command, paths, nvccArguments, options } = given;
  if (paths.length === 0)
    throw new UsageError(`\`selvage ${command}\` needs a file, folder or pattern, for example \`selvage ${command} src\`.`);
  if (command === 'cost' && paths.every(isMachineCode)) {
    const { machineCodeCost } = await import('./machine-code.ts');
    return machineCodeCost(given, services);
  }
  const progress = progressTo(services, options);
  const job = await openProject({ paths, nvccArguments, options, progress, services });
  const { tree, builder } = job.project;
  try {
    if (options.print !== undefined) {
      const { printKernels } = await import('./print-kernels.ts');
      return await printKernels(job, options.print, services);
    }
    const { report, decided } = await checkKernels(job);
    if (options.saveReproducer !== undefined)
      writeReproducer(
        resolve(services.cwd, options.saveReproducer),
        decided.map(({ entry }) => entry),
      );
    if (options.certificates !== undefined) writeCertificates(resolve(services.cwd, options.certificates), decided);
    await writeReport(report, options, services, (file) => tree.text(file));
    return exitCodeOf(report, options.failOn);
  } finally {
    await builder.close();
  }
}
