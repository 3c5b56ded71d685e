/** The last phase of a command: the document on standard output or in a file, messages on standard error. */
import { messageOf } from '../../base/text.ts';
import { mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Diagnostic } from '../../source/diagnostic.ts';
import { encodeSource, hasNonTextBytes } from '../../source/source-bytes.ts';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodeOf, type ExitCode } from '../../report-model/exit-code.ts';
import { isFailure } from '../../report-model/outcome.ts';
import type { Report } from '../../report-model/report.ts';
import type { Options } from '../../settings/options.ts';
import type { Defect, Progress } from '../project/progress.ts';
import type { CommandLineServices, RenderOptions, ReviewMaterial } from './services.ts';

/** Writes a message to standard error. */
export function writeMessage({ stderr }: Pick<CommandLineServices, 'stderr'>, line: string): void {
  stderr.write(`selvage: ${line}\n`);
}

/** Prints a report, or writes it to the file of `--output`, and writes errors that the document does not contain. */
export async function writeReport(
  report: Report,
  options: Options,
  services: CommandLineServices,
  source: (file: string) => string | undefined,
): Promise<void> {
  const { format, output } = options;
  print(await services.render(format, report, renderOptions(options, services, source)), options, services);
  if (format !== 'pretty' || output !== undefined) writeErrors(report.diagnostics, services);
}

/** Prints a review as text, or its report in another format. */
export async function writeReview(material: ReviewMaterial, options: Options, services: CommandLineServices): Promise<ExitCode> {
  const { report, nothing, source } = material.analysis;
  if (options.format !== 'pretty') await writeReport(report, options, services, source);
  else {
    print(nothing === undefined ? await services.renderReview(material) : `${nothing}\n`, options, services);
    // The review has no text of the compiler.
    writeErrors(report.diagnostics, services);
  }
  // Errors of the base do not make a comparison fail.
  return exitCodeOf(report, options.failOn, new Set(report.comparison?.new));
}

/** Writes errors that occurred before the document. */
export function writeErrors(diagnostics: readonly Diagnostic[], services: CommandLineServices): void {
  for (const { message, location } of diagnostics.filter(isFailure))
    writeMessage(services, location ? `${location.file}:${location.line}: ${message}` : message);
}

/** Writes a document to standard output, or to the file of `--output`. */
export function print(text: string, { output, format }: Options, { stdout, cwd }: CommandLineServices): void {
  // A patch keeps the byte encoding of the patched file, so that it applies. Other documents and terminal output are
  // UTF-8.
  const isPatch = format === 'pretty' && (output !== undefined || stdout.isTTY !== true) && hasNonTextBytes(text);
  const document = isPatch ? encodeSource(text) : text;
  if (output === undefined) stdout.write(document);
  else writeOutput(resolve(cwd, output), document);
}

/** @throws UsageError if the file cannot be written */
export function writeOutput(file: string, text: string | Uint8Array): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}.`);
  }
}

/** How a document is rendered: in colour if a terminal displays it, or if the environment requests it. */
export function renderOptions(
  { color, verbose, output }: Options,
  { stdout, environment }: CommandLineServices,
  source: (file: string) => string | undefined,
): RenderOptions {
  const forced = (environment['FORCE_COLOR'] ?? '') !== '';
  const refused = (environment['NO_COLOR'] ?? '') !== '';
  const painted = color && !refused && output === undefined && (forced || stdout.isTTY === true);
  return { color: painted, verbose, source };
}

/** Receiver of the progress of an analysis: standard error. */
export function progressTo(services: CommandLineServices, { verbose, quiet }: Options): Progress {
  return {
    log: (line) => {
      if (verbose && !quiet) writeMessage(services, line);
    },
    defect: (defect) => {
      const text = defect.error instanceof Error ? (defect.error.stack ?? defect.error.message) : String(defect.error);
      writeMessage(services, `internal error in kernel ${defect.kernel}: ${text}`);
      writeMessage(services, `the input was saved in ${saveDefect(defect)}; please report it`);
    },
  };
}

/** Saves the files that reproduce an internal error and returns their folder. */
export function saveDefect({ files }: Defect): string {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'selvage-defect-'));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  return folder;
}
