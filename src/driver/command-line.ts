/** The commands of `selvage`, without the parts that only an entry point may know: they are handed in. */
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nearest } from '../base/nearest.ts';
import { codes, type Code, type CodeEntry } from '../source/codes.ts';
import type { FileDiff } from '../source/diff.ts';
import { helpText, parseCommandLine, type Format, type Invocation, type Options } from './options.ts';
import { exitCodeOf } from './outcome.ts';
import { openProject } from './project.ts';
import type { Report } from './report.ts';
import type { Defect, Progress } from './request.ts';
import { UsageError } from './usage-error.ts';
import { toolVersion } from './version.ts';
import type { Assets } from './assets.ts';

/** What a range of commits comes to, for the renderer of reviews. */
export interface ReviewMaterial {
  readonly report: Report;
  readonly diff: readonly FileDiff[];
  readonly headSha: string;
}

export interface RenderOptions {
  readonly color: boolean;
  readonly verbose: boolean;
  readonly source: (file: string) => string | undefined;
}

/** What the entry point provides. */
export interface CommandLineServices {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: { readonly write: (text: string) => unknown; readonly isTTY?: boolean };
  readonly stderr: { readonly write: (text: string) => unknown; readonly isTTY?: boolean };
  readonly assets: Assets;
  readonly render: (format: Format, report: Report, options: RenderOptions) => Promise<string>;
  /** The review that the action would post, as text. */
  readonly renderReview: (material: ReviewMaterial, options: RenderOptions) => Promise<string>;
}

type Command = Extract<Invocation, { kind: 'command' }>;

/**
 * Runs one command.
 * @returns the exit code
 */
export async function runCommandLine(services: CommandLineServices): Promise<0 | 1 | 2 | 3 | 4> {
  const say = (line: string): void => void services.stderr.write(`selvage: ${line}\n`);
  try {
    const invocation = parseCommandLine(services.argv);
    if (invocation.kind === 'help') {
      services.stdout.write(helpText(invocation.command));
      return 0;
    }
    if (invocation.kind === 'version') {
      services.stdout.write(`selvage ${toolVersion}\n`);
      return 0;
    }
    return await runCommand(invocation, services, say);
  } catch (error) {
    if (error instanceof UsageError) {
      say(error.message);
      return 2;
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const file = saveDefect({ kernel: '', error, files: new Map([['command.json', JSON.stringify(services.argv)]]) });
    say(`a defect of Selvage: ${text}\nThe command was saved in ${file}; report it with the files that it names.`);
    return 4;
  }
}

async function runCommand(command: Command, services: CommandLineServices, say: (line: string) => void) {
  switch (command.command) {
    case 'check':
      return check(command, services, say);
    case 'explain':
      return explain(command, services);
    default:
      throw new UsageError(`\`selvage ${command.command}\` is not available in this version.`);
  }
}

async function check(
  { paths, nvccArguments, options }: Command,
  services: CommandLineServices,
  say: (line: string) => void,
): Promise<0 | 1 | 2 | 3 | 4> {
  if (paths.length === 0)
    throw new UsageError('`selvage check` needs a file, folder or pattern, for example `selvage check src`.');
  const { analyse } = await import('./pipeline.ts');
  const progress = progressTo(say, options);
  const request = await openProject({ paths, nvccArguments, options, progress, services });
  const report = await analyse(request);
  const code = exitCodeOf(report, options.failOn);
  await deliver(report, options, services, (file) => request.tree.text(file));
  for (const { message } of code === 2 || code === 3 ? report.diagnostics.filter((d) => d.severity === 'error') : []) {
    if (options.format !== 'pretty' || options.output !== undefined) say(message);
  }
  return code;
}

function explain({ paths }: Command, { stdout }: CommandLineServices): 0 {
  const [code] = paths;
  const known = Object.keys(codes);
  if (code === undefined || paths.length > 1) {
    throw new UsageError(`\`selvage explain\` needs one code. The codes are: ${known.join(', ')}.`);
  }
  if (!Object.hasOwn(codes, code)) {
    const close = nearest(code, known);
    throw new UsageError(
      `${code} is not a code.${close ? ` Did you mean ${close}?` : ''} The codes are: ${known.join(', ')}.`,
    );
  }
  const { severity, title, explanation, example, remedy }: CodeEntry = codes[code as Code];
  const indented = example.split('\n').map((line) => `    ${line}`);
  stdout.write(
    [`${code} (${severity})`, '', title, '', explanation, '', ...indented, '', `Remedy: ${remedy}`, ''].join('\n'),
  );
  return 0;
}

/** Prints the document, or writes it where `--output` says. */
async function deliver(
  report: Report,
  options: Options,
  services: CommandLineServices,
  source: (file: string) => string | undefined,
): Promise<void> {
  const text = await services.render(options.format, report, renderOptions(options, services, source));
  write(text, options, services);
}

function write(text: string, { output }: Options, { stdout, cwd }: CommandLineServices): void {
  if (output === undefined) stdout.write(text);
  else writeOutput(resolve(cwd, output), text);
}

/** @throws UsageError where the file cannot be written */
function writeOutput(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

function renderOptions(
  { color, verbose, output }: Options,
  { stdout, environment }: CommandLineServices,
  source: (file: string) => string | undefined,
): RenderOptions {
  const forced = (environment['FORCE_COLOR'] ?? '') !== '';
  const refused = (environment['NO_COLOR'] ?? '') !== '';
  const painted = color && !refused && output === undefined && (forced || stdout.isTTY === true);
  return { color: painted, verbose, source };
}

function progressTo(say: (line: string) => void, { verbose, quiet }: Options): Progress {
  return {
    log: (line) => {
      if (verbose && !quiet) say(line);
    },
    defect: (defect) => {
      const text = defect.error instanceof Error ? (defect.error.stack ?? defect.error.message) : String(defect.error);
      say(`a defect of Selvage in kernel ${defect.kernel}: ${text}`);
      say(`the input was saved in ${saveDefect(defect)}; please report it`);
    },
  };
}

/** Saves what shows a defect and returns the folder. */
function saveDefect({ files }: Defect): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'selvage-defect-'));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return folder;
}
