/** The process in which `selvage serve` analyses a pull request: request and result are JSON files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { findAssets } from './app/project/assets.ts';
import { analyseRange } from './app/compare/review-range.ts';
import { UsageError } from './base/usage-error.ts';
import { parseCommandLine } from './settings/options.ts';
import { guardGroups } from './system/child-process.ts';
import type { AnalysisAnswer, AnalysisRequest } from './serve/confined-analysis.ts';

// The server may end this process at any time. Its compilers must end too.
guardGroups();
const [, , asked = '', answer = ''] = process.argv;
const request = JSON.parse(readFileSync(asked, 'utf8')) as AnalysisRequest;
writeFileSync(answer, JSON.stringify(await answerOf(request)));

async function answerOf({ diff, fork, ...range }: AnalysisRequest): Promise<AnalysisAnswer> {
  const invocation = parseCommandLine(['review']);
  if (invocation.kind !== 'command') throw new Error('unknown command `review`');
  try {
    const { report, trust, texts, nothing } = await analyseRange({
      ...range,
      assets: findAssets(import.meta.url),
      fromMergeBase: false,
      changedFiles: diff,
      configurationFrom: fork ? 'base' : 'head',
      trust: 'pull-request',
      options: invocation.options,
      environment: process.env,
      progress: {
        log: () => undefined,
        defect: ({ kernel, error }) => process.stderr.write(`${kernel}: ${String(error)}\n`),
      },
    });
    const sources = Object.fromEntries([...texts].flatMap(([file, text]) => (text === undefined ? [] : [[file, text]])));
    return { report, trust, sources, ...(nothing !== undefined && { nothing }) };
  } catch (error) {
    if (error instanceof UsageError) return { wrong: error.message };
    throw error;
  }
}
