/** Outputs of a run in a job of GitHub Actions: log, outputs, summary, saved internal errors. */
import { messageOf } from '../../base/text.ts';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as core from '@actions/core';
import type { Defect } from '../../app/project/progress.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const formats = ['json', 'sarif', 'html'] as const;
export type ReportFormat = (typeof formats)[number];

/** The log of the job. */
export class Log {
  private readonly said = new Set<string>();
  /** Token that ends a section without workflow commands; undefined outside of such a section. */
  private word: string | undefined;

  /** Logs each line once, with workflow commands turned on. */
  writeOnce(lines: readonly string[]): void {
    const fresh = lines.filter((line) => !this.said.has(line));
    if (fresh.length === 0) return;
    const isOff = this.word !== undefined;
    if (isOff) this.turnOn();
    for (const line of fresh) {
      this.said.add(line);
      core.info(line);
    }
    if (isOff) this.turnOff('Repairs');
  }

  /**
   * Disables workflow commands while a function runs, so that GitHub interprets no line of compiler output as a
   * command.
   */
  async withoutCommands<T>(run: () => Promise<T>): Promise<T> {
    this.turnOff('Analysis');
    try {
      return await run();
    } finally {
      this.turnOn();
    }
  }

  private turnOff(group: string): void {
    this.word = randomUUID();
    core.startGroup(group);
    core.info(`::stop-commands::${this.word}`);
  }

  private turnOn(): void {
    core.info(`::${this.word}::`);
    this.word = undefined;
    core.endGroup();
  }
}

/** Saves the input that reproduces an internal error, so that the user can report it. */
export function keepDefect({ kernel, error, files }: Defect, environment: Environment): void {
  const folder = mkdtempSync(join(reportFolder(environment), 'defect-'));
  for (const [name, text] of files) writeFileSync(join(folder, name), text);
  core.info(`Internal error of Selvage in kernel ${kernel}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  core.info(`The input was saved in ${folder}; please report it.`);
}

function reportFolder(environment: Environment): string {
  const folder = join(environment['RUNNER_TEMP'] ?? tmpdir(), 'selvage');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes the reports, and the files that later steps of the job read. */
export async function writeOutputs(
  outputs: Readonly<Record<string, string>>,
  environment: Environment,
  render: (format: ReportFormat) => Promise<string>,
): Promise<void> {
  for (const format of formats) {
    writeOutputFile(environment, `report-${format}`, { name: `report.${format}`, text: await render(format) });
  }
  setOutputs(outputs);
}

/** Writes a file for later steps, and its path as an output. */
export function writeOutputFile(
  environment: Environment,
  output: string,
  { name, text }: { readonly name: string; readonly text: string },
): void {
  const file = join(reportFolder(environment), name);
  writeFileSync(file, text);
  core.setOutput(output, file);
}

/** Sets outputs of the step. A later value replaces an earlier one. */
export function setOutputs(outputs: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(outputs)) core.setOutput(name, value);
}

/** Writes the job summary, replacing the earlier text of this run. */
export async function writeJobSummary(markdown: string): Promise<void> {
  try {
    await core.summary.addRaw(markdown).write({ overwrite: true });
  } catch (error) {
    core.info(`Selvage cannot write the job summary: ${messageOf(error)}`);
  }
}
