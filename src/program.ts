/** The program that `cli.ts` loads: the commands, with the parts that only an entry point may import. */
import { findAssets } from './app/project/assets.ts';
import { runCommandLine } from './app/commands/command-line.ts';
import { exitCodes } from './report-model/exit-code.ts';
import { interruptible } from './system/interruption.ts';
import { render } from './report/render.ts';
import { renderRun } from './report/run-render.ts';

/**
 * Runs the command that the process was started with.
 * @param entry `import.meta.url` of the entry point
 * @returns the exit code
 */
export async function runProgram(entry: string): Promise<number> {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe may stop early: `selvage check … | head`.
    if (error.code === 'EPIPE') return;
    const cause = error.code === 'ENOSPC' ? 'no space is left' : error.message;
    process.stderr.write(
      `selvage: standard output cannot be written: ${cause}. What was printed is not complete. Free some space, or write the report to another disk with --output FILE.\n`,
    );
    process.once('exit', () => {
      process.exitCode = exitCodes.defect;
    });
  });
  process.stderr.on('error', () => undefined);
  if (process.argv[2] === 'serve' && process.argv.length === 3) {
    const { runServer } = await import('./serve/server-process.ts');
    return runServer();
  }
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
        const { planReview, renderPlan } = await import('./github/plan/plan.ts');
        return renderPlan(planReview({ report, diff, headSha, failOn, trust, source }));
      },
    }),
  );
}
