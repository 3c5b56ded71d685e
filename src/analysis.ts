/** The process in which `selvage serve` analyses a pull request: a file of JSON with what is asked, and one for the answer. */
import { readFileSync, writeFileSync } from 'node:fs';
import { findAssets } from './app/project/assets.ts';
import { analyseRange } from './app/compare/review-range.ts';
import { parseCommandLine } from './settings/options.ts';
import type { AnalysisAnswer, AnalysisRequest } from './serve/confined-analysis.ts';

const [, , asked = '', answer = ''] = process.argv;
const { diff, fork, ...range } = JSON.parse(readFileSync(asked, 'utf8')) as AnalysisRequest;
const invocation = parseCommandLine(['review']);
if (invocation.kind !== 'command') throw new Error('there is no command `review`');
const { report, trust, source } = await analyseRange({
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
const files = [...diff.map(({ path }) => path), ...report.kernels.flatMap(({ repair }) => (repair.edits ?? []).map(({ file }) => file))]; // prettier-ignore
const sources = Object.fromEntries(
  files.flatMap((file) => (source(file) === undefined ? [] : [[file, source(file)!]])),
);
const whole: AnalysisAnswer = { report, trust, sources };
writeFileSync(answer, JSON.stringify(whole));
