/** Reads the inputs of the action, except for the token, which the action reads before all others. */
import { parseCommandLine, type Options } from '../settings/options.ts';
import { shellWords } from '../toolchain/shell-words.ts';
import { UsageError } from '../base/usage-error.ts';
import { jobNamePattern } from './text/marker.ts';

export interface ActionInputs {
  /** Whether to write the review and the summary comment. */
  readonly comment: boolean;
  readonly checkRun: boolean;
  readonly maxComments: number;
  readonly reviewDrafts: boolean;
  /** Whether an issue lists the findings of the default branch. */
  readonly issue: boolean;
  readonly allowTarget: boolean;
  /** Folder to analyse, relative to the workspace. */
  readonly workingDirectory: string;
  /** The name of the job in what it posts, if several review one pull request; empty if there is only one. */
  readonly name: string;
  /** Whether results of earlier runs are restored, and results of this run are saved. */
  readonly cache: boolean;
  readonly options: Options;
  /** Arguments for nvcc from the workflow, which are therefore trusted. */
  readonly nvccArguments: readonly string[];
}

/**
 * Channels to which a run may write. If inputs are invalid, those that can be parsed are used, so that the errors are
 * reported.
 */
export function readChannels(get: (name: string) => string): Pick<ActionInputs, 'comment' | 'checkRun' | 'allowTarget' | 'name'> {
  const isOn = (name: string, fallback: boolean): boolean => {
    const text = get(name).toLowerCase();
    return text === 'true' || (text !== 'false' && fallback);
  };
  return {
    comment: isOn('comment', true),
    checkRun: isOn('check-run', true),
    allowTarget: isOn('allow-pull-request-target', false),
    name: jobName(get) ?? '',
  };
}

/** Inputs with the same name and meaning as an option of the command line. */
const OPTIONS = ['nvcc', 'arch', 'checks', 'fail-on', 'timeout', 'config', 'shard', 'shards'] as const;

/**
 * Reads and checks the inputs.
 * @param get the text of an input, empty if it is not set
 * @throws UsageError naming the input
 */
export function readInputs(get: (name: string) => string): ActionInputs {
  const argv = OPTIONS.flatMap((name) => {
    const value = get(name);
    return value === '' ? [] : [`--${name}=${value}`];
  });
  const invocation = parseCommandLine(['review', ...argv]);
  const name = jobName(get);
  if (name === null)
    throw new UsageError(`Input name: use at most 60 letters, digits, spaces and .,:=+_/- instead of ${JSON.stringify(get('name'))}.`);
  if (invocation.kind !== 'command') throw new UsageError('The inputs contain --help; see the README of the action.');
  return {
    comment: booleanInput('comment', get, true),
    checkRun: booleanInput('check-run', get, true),
    maxComments: amount('max-comments', get, 25, 100),
    reviewDrafts: booleanInput('review-drafts', get, false),
    issue: booleanInput('issue', get, false),
    allowTarget: booleanInput('allow-pull-request-target', get, false),
    workingDirectory: get('working-directory') || '.',
    name,
    cache: booleanInput('cache', get, true),
    options: invocation.options,
    nvccArguments: words('nvcc-args', get),
  };
}

/** @throws UsageError unless the input is `true`, `false` or empty */
export function booleanInput(name: string, get: (name: string) => string, fallback: boolean): boolean {
  const text = get(name).toLowerCase();
  if (text === '') return fallback;
  if (text === 'true' || text === 'false') return text === 'true';
  throw new UsageError(`Input ${name}: ${JSON.stringify(text)} is not true or false.`);
}

/** The input `name`; without it, the working directory, unless that is the workspace. Null if it is invalid. */
function jobName(get: (name: string) => string): string | null {
  const stated = get('name').trim();
  if (!jobNamePattern.test(stated)) return null;
  if (stated !== '') return stated;
  const folder = get('working-directory')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/');
  return [...folder]
    .map((letter) => (jobNamePattern.test(letter) ? letter : '-'))
    .join('')
    .slice(0, 60);
}

/** The arguments in a text, split as by a shell; nothing is expanded. */
function words(name: string, get: (name: string) => string): readonly string[] {
  const found = shellWords(get(name));
  if (found === null) throw new UsageError(`Input ${name}: a quotation mark is not closed.`);
  return found;
}

function amount(name: string, get: (name: string) => string, fallback: number, maximum: number): number {
  const text = get(name);
  if (text === '') return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value <= maximum) return value;
  throw new UsageError(`Input ${name}: ${JSON.stringify(text)} is not a whole number from 0 to ${maximum}.`);
}
