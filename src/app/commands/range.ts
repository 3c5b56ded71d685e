/** Revisions on the command line. */
import { resolve } from 'node:path';
import { UsageError } from '../../base/usage-error.ts';
import type { RangeRequest } from '../compare/review-range.ts';
import { defaultsFrom } from '../build/open-project.ts';
import { relativeTo, repositoryRoot } from '../project/source-tree.ts';
import type { Command, CommandLineServices } from './services.ts';
import { progressTo } from './output.ts';

/**
 * A range of the repository of the working directory, which is trusted.
 * @throws UsageError without a repository
 */
export function rangeRequest(
  { nvccArguments, options }: Command,
  paths: readonly string[],
  services: CommandLineServices,
): Omit<RangeRequest, 'base' | 'head'> {
  const { cwd, environment, assets, signal } = services;
  const root = repositoryRoot(cwd);
  if (root === undefined) throw new UsageError(`${cwd} is not in a git repository, so no commits can be compared.`);
  return {
    root,
    paths: paths.map((path) => relativeTo(root, resolve(cwd, path))).filter((path) => path !== root),
    configurationFrom: 'head',
    trust: 'user',
    options: { ...options, ...(options.config && { config: resolve(cwd, options.config) }) },
    defaults: defaultsFrom(options, cwd),
    nvccArguments,
    environment,
    assets,
    progress: progressTo(services, options),
    signal,
  };
}
