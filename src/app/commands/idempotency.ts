import { messageOf } from '../../base/text.ts';
import { copyFileSync, cpSync, createReadStream, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodeOf, exitCodes, type ExitCode } from '../../report-model/exit-code.ts';
import { openProject } from '../build/open-project.ts';
import type { CheckedKernel } from '../build/phase-data.ts';
import { interposerBuildCommand } from '../../interposer/build-command.ts';
import { idempotencyPhrase } from '../../messages/idempotency.ts';
import { emittedReadme, interposerFolder, validatorsBuildCommand, validatorsFile } from '../idempotency/emitted-readme.ts';
import { judgeSequence, type SequencedLaunch } from '../idempotency/sequence.ts';
import { classifyLaunch, tracedKernels, validatorsOf } from '../idempotency/validators.ts';
import { checkKernels } from '../pipeline/project-check.ts';
import { kindOf } from '../project/source-tree.ts';
import type { Command, CommandLineServices } from './services.ts';
import { print, progressTo, writeMessage, writeErrors, writeReport, writeOutput } from './output.ts';

/**
 * `selvage idempotency`: the classes of kernels; verdicts of the launches of a trace; validators in C.
 * @throws UsageError if the command line is invalid
 */
export async function idempotencyCommand({ paths, nvccArguments, options }: Command, services: CommandLineServices): Promise<ExitCode> {
  const { launches, emit } = options;
  if (paths.length === 0)
    throw new UsageError('`selvage idempotency` needs a file, folder or pattern, for example `selvage idempotency src`.');
  const trace = launches === undefined ? undefined : resolve(services.cwd, launches);
  if (trace !== undefined && kindOf(trace) !== 'file') throw new UsageError(`--launches ${launches}: the file does not exist.`);
  const progress = progressTo(services, options);
  const job = await openProject({ paths, nvccArguments, options, progress, services });
  const { tree, builder } = job.project;
  try {
    const { report, kernels } = await checkKernels(job);
    if (emit !== undefined) writeValidators(resolve(services.cwd, emit), kernels, services);
    if (trace === undefined) {
      await writeReport(report, options, services, (file) => tree.text(file));
      return exitCodeOf(report, options.failOn);
    }
    writeErrors(report.diagnostics, services);
    const { text, malformed } = await judged(trace, kernels);
    print(text, options, services);
    const code = exitCodeOf(report, 'never');
    return code === exitCodes.success && malformed > 0 ? exitCodes.incomplete : code;
  } finally {
    await builder.close();
  }
}

/** A verdict for each line of a trace that is not blank, then for each sequence, as lines of JSON. */
async function judged(trace: string, checked: readonly CheckedKernel[]): Promise<{ readonly text: string; readonly malformed: number }> {
  const kernels = tracedKernels(checked);
  const verdicts: string[] = [];
  const sequences = new Map<string, SequencedLaunch[]>();
  let [line, malformed] = [0, 0];
  for await (const text of createInterface({ input: createReadStream(trace, 'utf8'), crlfDelay: Infinity })) {
    line += 1;
    if (text.trim() === '') continue;
    const { verdict, isMalformed, sequenced } = classifyLaunch(text, line, kernels);
    if (isMalformed) malformed += 1;
    if (sequenced) sequences.set(sequenced.sequence, [...(sequences.get(sequenced.sequence) ?? []), sequenced.launch]);
    verdicts.push(`${JSON.stringify(verdict)}\n`);
  }
  for (const [name, launches] of sequences) verdicts.push(`${JSON.stringify(judgeSequence(name, launches))}\n`);
  return { text: verdicts.join(''), malformed };
}

/** @throws UsageError if a file cannot be written */
function writeValidators(folder: string, kernels: readonly CheckedKernel[], services: CommandLineServices): void {
  const { validatorHeaders, interposer } = services.assets;
  try {
    mkdirSync(folder, { recursive: true });
    for (const [name, path] of validatorHeaders) copyFileSync(path, join(folder, name));
    const isOfInterposer = (path: string): boolean => !/\.(?:ts|md)$/.test(path);
    cpSync(interposer, join(folder, interposerFolder), { recursive: true, filter: isOfInterposer });
  } catch (error) {
    throw new UsageError(`${folder} cannot be written: ${messageOf(error)}.`);
  }
  const judged = kernels.map(({ report }) => ({
    name: report.name,
    phrase: report.idempotency ? idempotencyPhrase(report.idempotency) : 'not classified',
  }));
  writeOutput(join(folder, validatorsFile), validatorsOf(kernels));
  writeOutput(join(folder, 'README.md'), emittedReadme(judged));
  writeMessage(services, `validators were written to ${folder}; in that folder, compile them with`);
  writeMessage(services, `  ${validatorsBuildCommand}`);
  writeMessage(services, 'and the interposer, which asks them before each launch of a program, with');
  writeMessage(services, `  ${interposerBuildCommand(interposerFolder)}`);
}
