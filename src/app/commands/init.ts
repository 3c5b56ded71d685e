import { existsSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodes, type ExitCode } from '../../report-model/exit-code.ts';
import { kindOf, repositoryRoot } from '../project/source-tree.ts';
import { actionName, isPublished } from '../setup/action-name.ts';
import { initialFiles, type InitialFile } from '../setup/initial-files.ts';
import { trialBuild } from '../setup/trial-build.ts';
import { survey, type Survey } from '../setup/survey.ts';
import type { Command, CommandLineServices } from './services.ts';
import { writeMessage, writeOutput } from './output.ts';

/**
 * `selvage init`: writes the workflow and the configuration of a repository from its kernels and build files. It
 * replaces a file only with `--force`.
 * @throws UsageError if the path is not a folder, or contains no CUDA code
 */
export async function initCommand({ paths, options }: Command, services: CommandLineServices): Promise<ExitCode> {
  const [folder = '.', ...others] = paths;
  if (others.length > 0) throw new UsageError('`selvage init` takes one folder.');
  const start = resolve(services.cwd, folder);
  if (kindOf(start) !== 'folder') throw new UsageError(`${folder} is not a folder.`);
  const root = repositoryRoot(realpathSync(start)) ?? realpathSync(start);
  const { dryRun, force } = options.init;
  const action = options.init.action ?? (await actionName(services.assets.include, services.environment));
  const found = await survey(root, services.environment);
  if (found.units.length === 0 && found.loneHeaders.length === 0)
    throw new UsageError(`There is no .cu file and no header with a kernel under ${folder}.`);
  const files = initialFiles(found, action);
  if (dryRun) {
    for (const { path, text } of files) services.stdout.write(`# ${path}\n${text}\n`);
    return exitCodes.success;
  }
  if (!options.quiet) writeMessage(services, foundText(found));
  for (const file of files) writeMessage(services, write(root, file, force));
  if (!options.quiet) {
    for (const folder of found.absentSubmodules)
      writeMessage(
        services,
        `the submodule ${folder} is not checked out, so its headers are not known; run \`git submodule update --init\` and \`selvage init --force\``,
      );
  }
  if (!isPublished(action) && !options.quiet)
    writeMessage(
      services,
      `replace ${action} in .github/workflows/selvage.yml and .selvage.yml by the repository of the action, or give it with --action`,
    );
  if (!options.quiet) writeMessage(services, await trialBuild(root, found, options, services));
  return exitCodes.success;
}

/** Writes a file and returns a message on the result. */
function write(root: string, { path, text }: InitialFile, force: boolean): string {
  const file = join(root, path);
  const isThere = existsSync(file);
  if (isThere && readFileSync(file, 'utf8') === text) return `${path} is as it should be`;
  if (isThere && !force) return `${path} is there already and was kept; --force replaces it, --dry-run prints the new one`;
  mkdirSync(dirname(file), { recursive: true });
  writeOutput(file, text);
  return `${isThere ? 'replaced' : 'wrote'} ${path}`;
}

function foundText({ kernels, units, loneHeaders, systems, unlaunched }: Survey): string {
  const number = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? '' : 's'}`;
  const built = systems.length === 0 ? 'no build file' : `built by ${systems.join(', ')}`;
  const open = unlaunched.length === 0 ? '' : `; no launch was found of ${unlaunched.length} of them`;
  const where = units.length > 0 ? number(units.length, '.cu file') : number(loneHeaders.length, 'header');
  return `found ${number(kernels, 'kernel')} in ${where}, ${built}${open}`;
}
