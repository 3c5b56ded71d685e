/** The program that `cli.ts` loads: the commands, with the parts that only an entry point may import. */
import { findAssets } from './app/project/assets.ts';
import { runCommandLine } from './app/commands/command-line.ts';
import { interruptible } from './system/interruption.ts';
import { render } from './report/render.ts';
import { renderRun } from './report/run-render.ts';

/**
 * Runs the command that the process was started with.
 * @param entry `import.meta.url` of the entry point
 * @returns the exit code
 */
export async function runProgram(entry: string): Promise<number> {
  // The reader of a pipe may stop early: `selvage check … | head`.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  return interruptible((signal) =>
    runCommandLine({
      argv: process.argv.slice(2),
      cwd: process.cwd(),
      environment: process.env,
      stdout: process.stdout,
      stderr: process.stderr,
      assets: findAssets(entry),
      signal,
      render,
      renderRun,
      async renderReview({ analysis: { report, diff, trust, source }, headSha, failOn }) {
        const { planReview, renderPlan } = await import('./github/plan.ts');
        return renderPlan(planReview({ report, diff, headSha, failOn, trust, source }));
      },
    }),
  );
}
