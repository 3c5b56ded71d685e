import { findAssets } from './app/project/assets.ts';
import { analyseRange, type RangeRequest } from './app/compare/review-range.ts';
import { analyseMerged, analyseShard } from './app/compare/shards.ts';
import { analyseRepository } from './app/pipeline/whole-repository.ts';
import { runAction } from './github/action-run.ts';
import { render } from './report/render.ts';
import { collectAtOnce, loadNodeModules, optimiseLate } from './system/engine-flags.ts';

loadNodeModules();
optimiseLate();
collectAtOnce();
const assets = findAssets(import.meta.url);

process.exitCode = await runAction({
  environment: process.env,
  analyse({ diff, fork, ...asked }) {
    const { shard, shards } = asked.options;
    const request: RangeRequest = {
      ...asked,
      assets,
      fromMergeBase: false,
      changedFiles: diff,
      configurationFrom: fork ? 'base' : 'head',
      trust: 'pull-request',
    };
    if (shards === undefined) return analyseRange(request);
    return shard ? analyseShard(request, shard, shards) : analyseMerged(request, shards);
  },
  check: (request) => analyseRepository({ ...request, assets }),
  render: (format, { report, source }) => render(format, report, { color: false, verbose: true, source }),
});
