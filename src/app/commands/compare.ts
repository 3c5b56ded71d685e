import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodeOf, type ExitCode } from '../../report-model/exit-code.ts';
import { openProject } from '../build/open-project.ts';
import { analyseChange } from '../compare/change.ts';
import type { ChangeAnalysis } from '../compare/change-request.ts';
import { analyseRange } from '../compare/review-range.ts';
import { kindOf } from '../project/source-tree.ts';
import { isMachineCode } from './machine-code-name.ts';
import { rangeRequest } from './range.ts';
import type { Command, CommandLineServices } from './services.ts';
import { progressTo, writeReport } from './output.ts';

/**
 * `selvage compare`: two revisions, or two files.
 * @throws UsageError if the command line is invalid
 */
export async function compareCommand(command: Command, services: CommandLineServices): Promise<ExitCode> {
  const [before, after, ...paths] = command.paths;
  if (before === undefined || after === undefined) {
    throw new UsageError('`selvage compare` needs two commits or two files: selvage compare BASE HEAD.');
  }
  const { options } = command;
  const files = [before, after].map((path) => kindOf(resolve(services.cwd, path)) === 'file');
  if (files[0] !== files[1])
    throw new UsageError(`\`selvage compare\` needs two commits or two files; ${files[0] ? after : before} is not a file.`);
  if (files[0] && [before, after].every(isMachineCode)) {
    const { compareMachineCode } = await import('./machine-code.ts');
    return compareMachineCode(before, after, command, services);
  }
  const { report, source } = files[0]
    ? await compareFiles(before, after, command, services)
    : await analyseRange({ ...rangeRequest(command, paths, services), base: before, head: after, fromMergeBase: false });
  await writeReport(report, options, services, source);
  return exitCodeOf(report, options.failOn, new Set(report.comparison?.new));
}

async function compareFiles(
  before: string,
  after: string,
  { nvccArguments, options }: Command,
  services: CommandLineServices,
): Promise<ChangeAnalysis> {
  const progress = progressTo(services, options);
  const open = (path: string) => openProject({ paths: [path], nvccArguments, options, progress, services });
  const base = await open(before);
  try {
    const head = await open(after);
    try {
      const [was, is] = [base.project.units, head.project.units];
      const renamed = new Map(is.flatMap(({ path }) => (was[0] && was[0].path !== path ? [[path, was[0].path]] : [])));
      const diagnostics = [...base.project.diagnostics, ...head.project.diagnostics];
      return await analyseChange({
        base,
        head: { ...head, project: { ...head.project, diagnostics } },
        tools: head.tools,
        names: { base: before, head: after },
        diff: [],
        units: { base: was, head: is, renamed, notAnalysed: [], excluded: [] },
      });
    } finally {
      await head.project.builder.close();
    }
  } finally {
    await base.project.builder.close();
  }
}
