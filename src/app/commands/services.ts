/** Services that the entry point, which may import from all folders, passes to the commands. */
import type { FailOn, Format, Invocation, RunFormat } from '../../settings/options.ts';
import type { Report } from '../../report-model/report.ts';
import type { RunReport } from '../../report-model/run-report.ts';
import type { ChangeAnalysis } from '../compare/change-request.ts';
import type { Assets } from '../project/assets.ts';

/** One command of the command line. */
export type Command = Extract<Invocation, { kind: 'command' }>;

export interface CommandLineServices {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stdout: { readonly write: (text: string | Uint8Array) => unknown; readonly isTTY?: boolean };
  readonly stderr: { readonly write: (text: string) => unknown; readonly isTTY?: boolean };
  readonly assets: Assets;
  /** Aborted with an `Interruption` when the process receives a signal to end. */
  readonly signal?: AbortSignal | undefined;
  readonly render: (format: Format, report: Report, options: RenderOptions) => Promise<string>;
  readonly renderRun: (format: RunFormat, report: RunReport, options: RenderOptions) => Promise<string>;
  /** The review that the action would post, as text. */
  readonly renderReview: (material: ReviewMaterial) => Promise<string>;
}

export interface RenderOptions {
  readonly color: boolean;
  readonly verbose: boolean;
  readonly source: (file: string) => string | undefined;
}

/** Analysis of a range of commits, for the renderer of reviews. */
export interface ReviewMaterial {
  readonly analysis: ChangeAnalysis;
  readonly headSha: string;
  readonly failOn: FailOn;
}
