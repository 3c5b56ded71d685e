/** The command line within the process of the test: as a user meets it, without starting Node for each case. */
import { findAssets } from '../../../src/app/project/assets.ts';
import { runCommandLine } from '../../../src/app/commands/command-line.ts';
import { render } from '../../../src/report/render.ts';
import { renderRun } from '../../../src/report/run-render.ts';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `selvage` with these words in a folder; `terminal`: standard error is one. */
export async function selvage(words: readonly string[], cwd: string, terminal = false): Promise<Ran> {
  let stdout = '';
  let stderr = '';
  const status = await runCommandLine({
    argv: words,
    cwd,
    environment: { ...process.env, NO_COLOR: '1' },
    stdout: { write: (text) => void (stdout += text) },
    stderr: { write: (text) => void (stderr += text), isTTY: terminal },
    assets: findAssets(new URL('../../../src/cli.ts', import.meta.url).href),
    render,
    renderRun,
    renderReview: () => Promise.reject(new Error('no review is rendered here')),
  });
  return { status, stdout, stderr };
}
