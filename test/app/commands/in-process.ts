/** The command line for users within the process of the test, without starting Node for each case. */
import { findAssets } from '../../../src/app/project/assets.ts';
import { runCommandLine } from '../../../src/app/commands/command-line.ts';
import { planReview, renderPlan } from '../../../src/github/plan/plan.ts';
import type { Format } from '../../../src/settings/options.ts';
import { render } from '../../../src/report/render.ts';
import { renderRun } from '../../../src/report/run-render.ts';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The reports, in each of `RunSetting.formats`. */
  readonly rendered: ReadonlyMap<Format, string>;
}

export interface RunSetting {
  /** Standard error is one. */
  readonly terminal?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
  /** URL of the file that started the program; the assets are next to it. */
  readonly entry?: string;
  /** Renders the report in these formats as well, without another analysis. */
  readonly formats?: readonly Format[];
}

const source = new URL('../../../src/cli.ts', import.meta.url).href;

/** Runs `selvage` with these arguments in a folder. */
export async function selvage(
  words: readonly string[],
  cwd: string,
  { terminal = false, environment = { NO_COLOR: '1' }, formats = [], entry = source }: RunSetting = {},
): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  const rendered = new Map<Format, string>();
  const status = await runCommandLine({
    argv: words,
    cwd,
    environment: { ...process.env, ...environment },
    stdout: { write: (text) => void (stdout += typeof text === 'string' ? text : Buffer.from(text).toString('latin1')) },
    stderr: { write: (text) => void (stderr += text), isTTY: terminal },
    assets: findAssets(entry),
    async render(format, report, options) {
      for (const one of formats) rendered.set(one, await render(one, report, options));
      return render(format, report, options);
    },
    renderRun,
    async renderReview({ analysis: { report, diff, trust, source }, headSha, failOn }) {
      return renderPlan(planReview({ report, diff, headSha, failOn, trust, source }));
    },
  });
  return { status, stdout, stderr, rendered };
}
