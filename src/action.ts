import { findAssets } from './app/project/assets.ts';
import { analyseRange } from './app/compare/review-range.ts';
import { runAction } from './github/action-run.ts';
import { render } from './report/render.ts';
import { optimiseLate } from './system/engine-flags.ts';

optimiseLate();
const assets = findAssets(import.meta.url);

process.exitCode = await runAction({
  environment: process.env,
  analyse: ({ diff, fork, ...request }) =>
    analyseRange({
      ...request,
      assets,
      fromMergeBase: false,
      changedFiles: diff,
      configurationFrom: fork ? 'base' : 'head',
      trust: 'pull-request',
    }),
  render: (format, { report, source }) => render(format, report, { color: false, verbose: true, source }),
});
