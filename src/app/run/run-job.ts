import { messageOf } from '../../base/text.ts';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import type { RunReport } from '../../report-model/run-report.ts';
import type { Launch } from '../../launch/launch.ts';
import { refusedSharedBytes } from '../../launch/shared-memory-limit.ts';
import { distinctDiagnostics, type Diagnostic } from '../../source/diagnostic.ts';
import { policyOf } from '../../settings/configuration.ts';
import { refusedText } from '../../messages/text/launch-text.ts';
import { clock } from '../../system/clock.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import { prepare, type Prepared } from '../pipeline/prepare.ts';
import type { Job } from '../project/job.ts';
import { bindArguments, type Binding } from './run-binding.ts';
import { chooseLaunch, requireBlocks, requireDumps, selectKernel, trackedArrays } from './run-choice.ts';
import { executeSchedules, type Terminal } from './run-execution.ts';
import { reportOf } from './run-outcome.ts';
import { readWitness, type RunWitness } from './run-witness.ts';

interface RunCommand {
  /** Job with the project of the given path; the caller closes its builder. */
  readonly job: Job;
  readonly cwd: string;
  readonly terminal: Terminal;
}

interface RunOutcomeReport {
  /** Absent if no kernel was run. */
  readonly report?: RunReport;
  /** Diagnostics of compiling and reading the file. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * All phases of `selvage run`: compiles, binds the arguments, runs, and reports.
 * @throws UsageError if the command line does not determine one launch of one kernel
 */
export async function runLaunch({ job, cwd, terminal }: RunCommand): Promise<RunOutcomeReport> {
  const { options } = job.settings;
  const { input, blocks: given } = options.run;
  const started = clock();
  // 1. Read the witness, if one is given.
  const witness: RunWitness | undefined = input === undefined ? undefined : openWitness(input, options.kernel, cwd);

  // 2. Build, lower, state facts and find launches, as a check does.
  const { sources, units }: Prepared = await prepare(buildOnly(job));
  const diagnostics = [...job.project.diagnostics, ...distinctDiagnostics(units.flatMap((unit) => unit.diagnostics))];
  if (units.some(({ compiled }) => !compiled)) return { diagnostics };

  // 3. Choose the kernel and the launch, and bind the arguments.
  const entry: LaunchedKernel = selectKernel(options, units, witness);
  const launch: Launch = chooseLaunch(entry, options, witness);
  const refused = refusal(entry, launch);
  if (refused) return { diagnostics: [...diagnostics, refused] };
  const binding: Binding = bindArguments({
    kernel: entry.kernel,
    name: entry.name.qualified,
    parameters: entry.parameters,
    given: options.args,
    stated: launch.scalars,
    witness,
    readFile: (path) => readBytes(resolve(cwd, path)),
  });
  const track = trackedArrays(options.run.track, entry.kernel, binding);
  requireDumps(options.run.dump, binding);
  requireBlocks(given, launch);
  const prepared = clock();

  // 4. Run.
  const blocks = given ?? witness?.schedule?.blocks;
  const ran = await executeSchedules({ settings: job.settings, terminal, entry, launch, binding, track, blocks }, witness?.schedule?.order);
  const finished = clock();

  // 5. Assemble the report.
  const told = { policy: policyOf(job.settings.configuration), options, witness, track, cwd, ...ran };
  const report: RunReport = await reportOf(entry, sources, launch, binding, told);
  const timings = { prepare: Math.round(prepared - started), run: Math.round(finished - prepared) };
  return { diagnostics, report: options.timings ? { ...report, timings } : report };
}

/** Why no device accepts the launch, as a check reports it; null if a device may accept it. */
function refusal({ name, kernel }: LaunchedKernel, launch: Launch): Diagnostic | null {
  const bytes = refusedSharedBytes(kernel, launch);
  if (bytes === null) return null;
  const message = `${name.qualified}: ${refusedText(bytes)}`;
  return { severity: 'error', code: 'launch/refused', message, ...(kernel.location && { location: kernel.location }) };
}

function openWitness(input: string, kernel: string | undefined, cwd: string): RunWitness {
  const [, file = input, fingerprint] = /^(.*)#([^#/]+)$/.exec(input) ?? [];
  const read = readBytes(resolve(cwd, file));
  if ('problem' in read) throw new UsageError(`--input ${file} ${read.problem}.`);
  return readWitness(new TextDecoder().decode(read), file, { fingerprint, kernel });
}

function readBytes(path: string): Uint8Array | { readonly problem: string } {
  try {
    return new Uint8Array(readFileSync(path));
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const reason = isMissing ? 'the file does not exist' : messageOf(error);
    return { problem: `cannot be read from ${path}: ${reason}` };
  }
}

/** The project with one build of each unit. Without the arguments, because those of `run` need not be scalars. */
function buildOnly({ project, settings, tools }: Job): Job {
  const { builder } = project;
  const { options } = settings;
  return {
    project: {
      ...project,
      builder: {
        ...builder,
        build: async (unit, kind, arch) => (kind === 'production' ? { diagnostics: [] } : builder.build(unit, options.run.build, arch)),
      },
    },
    settings: { ...settings, options: { ...options, args: new Map() } },
    tools,
  };
}
