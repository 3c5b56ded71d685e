/** Compiles one unit as the written configuration states, so that `init` can report what is missing. */
import { join } from 'node:path';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { UsageError } from '../../base/usage-error.ts';
import { kindOf } from '../project/source-tree.ts';
import type { Assets } from '../project/assets.ts';
import { openProject } from '../build/open-project.ts';
import type { Options } from '../../settings/options.ts';
import { headerUnit, workflowToolkit, type Survey } from './survey.ts';
import { isTorchHeader, toolkitPackage } from './toolkit-headers.ts';

interface TrialServices {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly assets: Assets;
  readonly signal?: AbortSignal | undefined;
}

/** Most units that are tried. */
const mostTrials = 3;

const notTried = 'nvcc was not found, so it is not known whether the files compile with this configuration';

/**
 * Compiles units until one compiles.
 * @returns the outcome as the text of a message
 */
export async function trialBuild(root: string, found: Survey, options: Options, services: TrialServices): Promise<string> {
  // A copy of the program without its files cannot compile.
  if (kindOf(services.assets.include) === undefined) return notTried;
  try {
    return await firstThatCompiles(root, found, options, services);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
}

async function firstThatCompiles(root: string, found: Survey, options: Options, services: TrialServices): Promise<string> {
  const failures: string[] = [];
  for (const unit of unitsToTry(found)) {
    const project = await openProject({
      paths: [join(root, unit)],
      nvccArguments: [],
      options,
      progress: { log: () => undefined, defect: () => undefined },
      services: { cwd: root, ...services },
    });
    const { builder, units } = project.project;
    try {
      if (!builder.compiles) return notTried;
      const [first] = units;
      const [arch] = project.settings.configuration.arch;
      if (first === undefined || arch === undefined) continue;
      const { ptx, diagnostics } = await builder.build(first, 'production', arch);
      if (ptx !== undefined) return `${unit} compiles with this configuration`;
      failures.push(failureText(unit, diagnostics, root, found));
    } finally {
      await builder.close();
    }
  }
  return failures[0] ?? 'nothing was compiled: the repository has only headers';
}

/** Units without headers that are missing, first; of these, units without flags that only they have. */
function unitsToTry({ units, foreignHeaders, unitFlags, loneHeaders }: Survey): readonly string[] {
  if (units.length === 0) return loneHeaders.length > 0 ? [headerUnit] : [];
  const missing = (unit: string): number => foreignHeaders.get(unit)?.length ?? 0;
  const own = (unit: string): number => unitFlags.get(unit)?.length ?? 0;
  return [...units].sort((a, b) => missing(a) - missing(b) || own(a) - own(b) || (a < b ? -1 : 1)).slice(0, mostTrials);
}

/** The reason of a failure, and the remedy. */
function failureText(unit: string, diagnostics: readonly Diagnostic[], root: string, found: Survey): string {
  const [error] = diagnostics.filter(({ severity }) => severity === 'error');
  const text = error?.message ?? 'nvcc wrote no PTX';
  const place = error?.location === undefined ? unit : `${error.location.file}:${error.location.line}`;
  const header = /(?:fatal error: |file does not compile: |cannot open source file ")([\w./+-]+\.?\w*)(?:"|: No such file)/.exec(text)?.[1];
  const reason = `${unit} does not compile with this configuration: ${place}: `;
  if (header === undefined) return `${reason}${text} If your build compiles it, add its flags to nvcc.args of .selvage.yml`;
  return `${reason}the header ${header} is not found. ${headerRemedy(header, root, found)}`;
}

function headerRemedy(header: string, root: string, { headerFolders, generatedHeaders, absentSubmodules, needsTorch }: Survey): string {
  if (generatedHeaders.has(header)) return 'The build writes it: run its configure step before Selvage, here and in the workflow';
  const folder = headerFolders(header);
  if (folder !== undefined && kindOf(join(root, folder)) === 'folder') return `Add '-I${folder}' to nvcc.args of .selvage.yml`;
  const provider = toolkitPackage(header, workflowToolkit);
  if (provider !== undefined) return `The toolkit here lacks the package ${provider}, which the workflow installs`;
  if (needsTorch && isTorchHeader(header)) return 'The workflow installs PyTorch; here, give its include folders after --';
  if (absentSubmodules.length > 0) return 'Check the submodules out and run `selvage init --force`';
  return `Install its library, here and in the workflow, and add its folder to nvcc.args of .selvage.yml: '-isystem=/path/to/include'`;
}
