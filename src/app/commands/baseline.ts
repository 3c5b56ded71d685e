import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { exitCodeOf, type ExitCode } from '../../report-model/exit-code.ts';
import { isFailure } from '../../report-model/outcome.ts';
import { baselineName, parseBaseline, printBaseline, type BaselineEntry } from '../../settings/baseline-file.ts';
import { openProject } from '../build/open-project.ts';
import { entriesOf, goneFrom } from '../pipeline/baselined-findings.ts';
import { checkKernels } from '../pipeline/project-check.ts';
import { repositoryRoot } from '../project/source-tree.ts';
import type { Command, CommandLineServices } from './services.ts';
import { progressTo, writeMessage, writeErrors, writeOutput } from './output.ts';

/**
 * `selvage baseline`: writes the findings of a repository to a file, so that only new ones are reported. An existing
 * file loses fixed findings; new findings are added only with `--force`.
 */
export async function baselineCommand({ paths, nvccArguments, options: given }: Command, services: CommandLineServices): Promise<ExitCode> {
  const options = { ...given, baseline: false };
  const where = paths.length > 0 ? paths : [repositoryRoot(services.cwd) ?? services.cwd];
  const progress = progressTo(services, options);
  const job = await openProject({ paths: where, nvccArguments, options, progress, services });
  const { tree, builder } = job.project;
  try {
    const { report, units } = await checkKernels(job);
    const file = join(tree.root, baselineName);
    const isThere = existsSync(file);
    const old = isThere && !options.init.force ? parseBaseline(readFileSync(file, 'utf8'), baselineName) : undefined;
    const found = entriesOf(report);
    writeErrors(report.diagnostics, services);
    const present = new Set(found.map(({ fingerprint }) => fingerprint));
    const exists = (path: string): boolean => tree.text(path) !== undefined;
    const gone = new Set(old && goneFrom(old, { options, units, kernels: report.kernels, present, exists }));
    const known = new Set(old?.map(({ fingerprint }) => fingerprint));
    const kept: readonly BaselineEntry[] = old ? old.filter((entry) => !gone.has(entry)) : found;
    const added = old ? found.filter(({ fingerprint }) => !known.has(fingerprint)) : [];
    const writeLine = (line: string): void => {
      if (!options.quiet) writeMessage(services, line);
    };
    if (kept.length > 0) writeOutput(file, printBaseline(kept));
    else if (isThere) rmSync(file);
    const number = (amount: number): string => `${amount} finding${amount === 1 ? '' : 's'}`;
    const isWhole = !report.diagnostics.some(isFailure);
    if (kept.length === 0 && isThere) writeLine(`no finding is left, so ${baselineName} was removed`);
    else if (kept.length === 0)
      writeLine(isWhole ? 'no findings, so no baseline is needed' : 'no baseline was written: no findings in what could be analysed');
    else if (!old) writeLine(`wrote ${number(kept.length)} to ${baselineName}; commit it, and only new findings are reported`);
    else if (gone.size > 0)
      writeLine(
        `dropped ${number(gone.size)} that ${gone.size === 1 ? 'is' : 'are'} fixed; ${number(kept.length)} left in ${baselineName}`,
      );
    else writeLine(`${baselineName} is as it should be: ${number(kept.length)}`);
    if (added.length > 0)
      writeLine(
        `${number(added.length)} not in the baseline: fix ${added.length === 1 ? 'it' : 'them'} (see \`selvage check\`), or write the baseline again with --force`,
      );
    return exitCodeOf(report, 'never');
  } finally {
    await builder.close();
  }
}
