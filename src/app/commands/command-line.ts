/** The commands of `selvage`, without the parts that only an entry point may know: they are handed in. */
import type { RunFormat } from '../../settings/options.ts';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nearest } from '../../base/nearest.ts';
import { codes, type Code, type CodeEntry } from '../../source/codes.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import {
  helpText,
  parseCommandLine,
  type FailOn,
  type Format,
  type Invocation,
  type Options,
} from '../../settings/options.ts';
import { loadCompiled } from '../../system/code-cache.ts';
import { exitCodeOf } from '../../document/outcome.ts';
import type { Assets } from '../project/assets.ts';
import type { ChangeAnalysis } from '../compare/change.ts';
import { Interruption } from '../../system/interruption.ts';
import { openProject } from '../build/open-project.ts';
import type { Report } from '../../document/report.ts';
import type { RangeRequest } from '../compare/review-range.ts';
import type { RunReport } from '../../document/run-report.ts';
import type { AnalysisRequest, Defect, Progress } from '../project/request.ts';
import { kindOf, relativeTo, repositoryRoot } from '../project/source-tree.ts';
import { UsageError } from '../../base/usage-error.ts';
import { toolVersion } from '../../system/version.ts';

/** What a range of commits comes to, for the renderer of reviews. */
export interface ReviewMaterial {
  readonly analysis: ChangeAnalysis;
  readonly headSha: string;
  readonly failOn: FailOn;
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
  /** Aborted with an `Interruption` when the process is told to end. */
  readonly signal?: AbortSignal | undefined;
  readonly render: (format: Format, report: Report, options: RenderOptions) => Promise<string>;
  readonly renderRun: (format: RunFormat, report: RunReport, options: RenderOptions) => Promise<string>;
  /** The review that the action would post, as text. */
  readonly renderReview: (material: ReviewMaterial) => Promise<string>;
}

type Say = (line: string) => void;
export type ExitCode = 0 | 1 | 2 | 3 | 4;
type Command = Extract<Invocation, { kind: 'command' }>;

/**
 * Runs one command.
 * @returns the exit code: 0 to 4, or that of the signal that ended it
 */
export async function runCommandLine(services: CommandLineServices): Promise<number> {
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
    const reason: unknown = services.signal?.reason;
    if (reason instanceof Interruption) return reason.exitCode;
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

async function runCommand(command: Command, services: CommandLineServices, say: Say) {
  switch (command.command) {
    case 'check':
    case 'cost':
      return check(command, services, say);
    case 'repair':
      return repair(command, services, say);
    case 'explain':
      return explain(command, services);
    case 'review':
      return review(command, services, say);
    case 'compare':
      return compare(command, services, say);
    case 'demo':
      return demo(command, services, say);
    case 'run':
      return run(command, services, say);
    default:
      throw new UsageError(`\`selvage ${command.command}\` is not available in this version.`);
  }
}

async function check(
  { command, paths, nvccArguments, options }: Command,
  services: CommandLineServices,
  say: Say,
): Promise<ExitCode> {
  if (paths.length === 0)
    throw new UsageError(
      `\`selvage ${command}\` needs a file, folder or pattern, for example \`selvage ${command} src\`.`,
    );
  const opening = openProject({ paths, nvccArguments, options, progress: progressTo(say, options), services });
  // Loads while the compiler answers.
  const [request] = await Promise.all([opening, loadCompiled(() => import('../pipeline/pipeline.ts'))]);
  const report = await analysed(request);
  const code = exitCodeOf(report, options.failOn);
  await deliver(report, options, services, (file) => request.tree.text(file));
  sayErrors(report, options, say);
  return code;
}

async function repair(
  { paths, nvccArguments, options }: Command,
  services: CommandLineServices,
  say: Say,
): Promise<ExitCode> {
  if (paths.length === 0)
    throw new UsageError('`selvage repair` needs a file, folder or pattern, for example `selvage repair src`.');
  const request = await openProject({ paths, nvccArguments, options, progress: progressTo(say, options), services });
  const report = await analysed(request);
  const source = (file: string): string | undefined => request.tree.text(file);
  // First of all: where the files cannot be written, the patch is still to be had.
  await deliver(report, options, services, source);
  sayErrors(report, options, say);
  if (options.write) {
    const { repairedFiles } = await import('../../document/repaired-file.ts');
    const { replaceFiles } = await import('../../system/replace-file.ts');
    const edited = [...repairedFiles(report.kernels, source)];
    const files = edited.map(([file, text]) => ({ file, path: resolve(request.tree.root, file), before: source(file)!, text })); // prettier-ignore
    replaceFiles(files);
    if (!options.quiet)
      say(edited.length === 0 ? 'nothing to write' : `wrote ${edited.map(([file]) => file).join(', ')}`);
  }
  return exitCodeOf(report, options.failOn);
}

async function analysed(request: AnalysisRequest): Promise<Report> {
  const { analyse } = await import('../pipeline/pipeline.ts');
  try {
    return await analyse(request);
  } finally {
    await request.builder.close();
  }
}

async function review(command: Command, services: CommandLineServices, say: Say): Promise<ExitCode> {
  const { paths, options } = command;
  if (options.base === undefined)
    throw new UsageError('`selvage review` needs the revision to start from: --base REV.');
  const { analyseRange } = await import('../compare/review-range.ts');
  const revisions = { base: options.base, head: options.head ?? 'HEAD' };
  const analysis = await analyseRange({ ...rangeRequest(command, paths, services, say), ...revisions });
  return deliverReview({ analysis, headSha: analysis.headSha, failOn: options.failOn }, options, services, say);
}

async function demo(
  { paths, nvccArguments, options }: Command,
  services: CommandLineServices,
  say: Say,
): Promise<ExitCode> {
  if (paths.length > 0)
    throw new UsageError('`selvage demo` takes no path; `selvage check PATH` analyses your own code.');
  const { analyseDemo, demoCommits } = await import('./demo.ts');
  const { environment, assets, signal } = services;
  const progress = progressTo(say, options);
  const analysis = await analyseDemo({ options, nvccArguments, environment, assets, progress, signal });
  const page = await services.render('html', analysis.report, renderOptions(options, services, analysis.source));
  const file = options.format === 'html' && options.output !== undefined ? options.output : 'selvage-demo.html';
  writeOutput(resolve(services.cwd, file), page);
  if (!options.quiet) say(`wrote ${file}`);
  return deliverReview({ analysis, headSha: demoCommits.head, failOn: options.failOn }, options, services, say);
}

async function run({ paths, nvccArguments, options }: Command, services: CommandLineServices, say: Say) {
  const { format } = options;
  const [path] = paths;
  if (path === undefined || paths.length > 1 || kindOf(resolve(services.cwd, path)) === 'folder') {
    throw new UsageError('`selvage run` needs one file, for example `selvage run reduce.cu --kernel reduce`.');
  }
  if (format !== 'pretty' && format !== 'json') {
    throw new UsageError(`\`selvage run\` prints pretty or json, not ${format}.`);
  }
  if (options.arch.length > 1) throw new UsageError('`selvage run` runs one build: give --arch once.');
  const { runLaunch, runExitCode } = await import('../run/run.ts');
  const project = await openProject({ paths, nvccArguments, options, progress: progressTo(say, options), services });
  try {
    const outcome = await runLaunch({ project, cwd: services.cwd, terminal: services.stderr });
    for (const diagnostic of outcome.diagnostics) if (diagnostic.severity === 'error') say(withPlace(diagnostic));
    if (outcome.report) {
      const source = (file: string): string | undefined => project.tree.text(file);
      write(
        await services.renderRun(format, outcome.report, renderOptions(options, services, source)),
        options,
        services,
      );
    }
    return runExitCode(outcome, options.failOn);
  } finally {
    await project.builder.close();
  }
}

/** A review as text, or its report in another format. */
async function deliverReview(
  material: ReviewMaterial,
  options: Options,
  services: CommandLineServices,
  say: Say,
): Promise<ExitCode> {
  const { report, nothing, source } = material.analysis;
  if (options.format !== 'pretty') await deliver(report, options, services, source);
  else if (nothing !== undefined) write(`${nothing}\n`, options, services);
  else write(await services.renderReview(material), options, services);
  sayErrors(report, options, say);
  // A change is not failed for what was wrong before it.
  return exitCodeOf(report, options.failOn, new Set(report.comparison?.new));
}

async function compare(command: Command, services: CommandLineServices, say: Say): Promise<ExitCode> {
  const [before, after, ...paths] = command.paths;
  if (before === undefined || after === undefined) {
    throw new UsageError('`selvage compare` needs two revisions or two files: selvage compare BASE HEAD.');
  }
  const { options } = command;
  const files = [before, after].map((path) => kindOf(resolve(services.cwd, path)) === 'file');
  if (files[0] !== files[1])
    throw new UsageError(
      `\`selvage compare\` needs two revisions or two files; ${files[0] ? after : before} is not a file.`,
    );
  const { report, source } = files[0]
    ? await compareFiles(before, after, command, services, say)
    : await compareRevisions(before, after, paths, command, services, say);
  await deliver(report, options, services, source);
  sayErrors(report, options, say);
  return exitCodeOf(report, options.failOn, new Set(report.comparison?.new));
}

interface Comparable {
  readonly report: Report;
  readonly source: (file: string) => string | undefined;
}

async function compareFiles(
  before: string,
  after: string,
  { nvccArguments, options }: Command,
  services: CommandLineServices,
  say: Say,
): Promise<Comparable> {
  const { analyseChange } = await import('../compare/change.ts');
  const progress = progressTo(say, options);
  const open = (path: string) => openProject({ paths: [path], nvccArguments, options, progress, services });
  const base = await open(before);
  try {
    const head = await open(after);
    try {
      const [was] = base.units;
      const renamed = new Map(head.units.flatMap(({ path }) => (was && was.path !== path ? [[path, was.path]] : [])));
      const units = { base: base.units, head: head.units, renamed, notAnalysed: [] };
      const diagnostics = [...base.diagnostics, ...head.diagnostics];
      const names = { base: before, head: after };
      return await analyseChange({ base, head: { ...head, diagnostics }, names, diff: [], units });
    } finally {
      await head.builder.close();
    }
  } finally {
    await base.builder.close();
  }
}

async function compareRevisions(
  before: string,
  after: string,
  paths: readonly string[],
  command: Command,
  services: CommandLineServices,
  say: Say,
): Promise<Comparable> {
  const { analyseRange } = await import('../compare/review-range.ts');
  const request = rangeRequest(command, paths, services, say);
  return analyseRange({ ...request, base: before, head: after, fromMergeBase: false });
}

/** A range of the repository of the working directory, for its own user. */
function rangeRequest(
  { nvccArguments, options }: Command,
  paths: readonly string[],
  { cwd, environment, assets, signal }: CommandLineServices,
  say: Say,
): Omit<RangeRequest, 'base' | 'head'> {
  const root = repositoryRoot(cwd);
  if (root === undefined) throw new UsageError(`${cwd} is not in a git repository; revisions need one.`);
  return {
    root,
    paths: paths.map((path) => relativeTo(root, resolve(cwd, path))).filter((path) => path !== root),
    configurationFrom: 'head',
    trust: 'user',
    options: { ...options, ...(options.config && { config: resolve(cwd, options.config) }) },
    nvccArguments,
    environment,
    assets,
    progress: progressTo(say, options),
    signal,
  };
}

/** Errors of the run go to standard error too where the document does not show them to who waits at the terminal. */
function sayErrors(report: Report, { format, output }: Options, say: Say): void {
  if (format === 'pretty' && output === undefined) return;
  for (const diagnostic of report.diagnostics) if (diagnostic.severity === 'error') say(withPlace(diagnostic));
}

function withPlace({ message, location }: Diagnostic): string {
  return location ? `${location.file}:${location.line}: ${message}` : message;
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

function progressTo(say: Say, { verbose, quiet }: Options): Progress {
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
