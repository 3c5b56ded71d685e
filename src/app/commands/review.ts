import { UsageError } from '../../base/usage-error.ts';
import { optionDefaults } from '../../settings/defaults.ts';
import { resolve } from 'node:path';
import { exitCodes, type ExitCode } from '../../report-model/exit-code.ts';
import { analyseRange } from '../compare/review-range.ts';
import { rangeRequest } from './range.ts';
import type { Command, CommandLineServices } from './services.ts';
import { analyseMerged, analyseShard } from '../compare/shards.ts';
import { writeMessage, writeReview } from './output.ts';

/**
 * `selvage review`: the review that the action would post for a range of commits.
 * @throws UsageError if the command line is invalid
 */
export async function reviewCommand(command: Command, services: CommandLineServices): Promise<ExitCode> {
  const { paths, options } = command;
  if (options.base === undefined) throw new UsageError('`selvage review` needs the commit that the change starts from: --base REV.');
  const revisions = { base: options.base, head: options.head ?? optionDefaults.head };
  const request = { ...rangeRequest(command, paths, services), ...revisions };
  const { shard, shards } = options;
  const folder = shards === undefined ? undefined : resolve(services.cwd, shards);
  if (shard && folder !== undefined) {
    await analyseShard(request, shard, folder);
    if (!options.quiet) writeMessage(services, `the results of shard ${shard.index} of ${shard.count} are in ${folder}`);
    return exitCodes.success;
  }
  const analysis = await (folder === undefined ? analyseRange(request) : analyseMerged(request, folder));
  return writeReview({ analysis, headSha: analysis.headSha, failOn: options.failOn }, options, services);
}
