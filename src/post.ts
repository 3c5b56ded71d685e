import * as core from '@actions/core';
import { booleanInput, readInputs } from './github/inputs.ts';
import { runPost } from './github/fork-review/post-run.ts';

const { comment, checkRun, maxComments, reviewDrafts, options } = readInputs(core.getInput);
const token = core.getInput('github-token');
if (token !== '') core.setSecret(token);

process.exitCode = await runPost(process.env, {
  token,
  info: core.info,
  error: core.error,
  comment,
  checkRun,
  maxComments,
  reviewDrafts,
  failOn: options.failOn,
  repeated: booleanInput('repeated', core.getInput, false),
});
