/** The command line: parses it, runs the command, and maps exceptions of a command to an exit code. */
import { UsageError } from '../../base/usage-error.ts';
import { exitCodes, type ExitCode } from '../../report-model/exit-code.ts';
import { helpText } from '../../settings/help.ts';
import { parseCommandLine, type CommandName } from '../../settings/options.ts';
import { loadCompiled } from '../../system/code-cache.ts';
import { Interruption } from '../../system/interruption.ts';
import { toolVersion } from '../../system/version.ts';
import type { Command, CommandLineServices } from './services.ts';
import { saveDefect, writeMessage } from './output.ts';

type RunCommand = (command: Command, services: CommandLineServices) => Promise<ExitCode>;

/** One file per command, loaded on demand. */
const commands: Readonly<Partial<Record<CommandName, () => Promise<RunCommand>>>> = {
  check: async () => (await loadCompiled(() => import('./check.ts'))).checkCommand,
  cost: async () => (await loadCompiled(() => import('./check.ts'))).checkCommand,
  idempotency: async () => (await import('./idempotency.ts')).idempotencyCommand,
  repair: async () => (await import('./repair.ts')).repairCommand,
  review: async () => (await import('./review.ts')).reviewCommand,
  compare: async () => (await import('./compare.ts')).compareCommand,
  run: async () => (await import('./run.ts')).runCommand,
  demo: async () => (await import('./demo.ts')).demoCommand,
  baseline: async () => (await import('./baseline.ts')).baselineCommand,
  init: async () => (await import('./init.ts')).initCommand,
  explain: async () => (await import('./explain.ts')).explainCommand,
};

/**
 * Runs one command.
 * @returns the exit code, one of `exitCodes` or that of the signal that ended it
 */
export async function runCommandLine(services: CommandLineServices): Promise<number> {
  try {
    const invocation = parseCommandLine(services.argv);
    if (invocation.kind === 'help') {
      services.stdout.write(helpText(invocation.command));
      return exitCodes.success;
    }
    if (invocation.kind === 'version') {
      services.stdout.write(`selvage ${toolVersion}\n`);
      return exitCodes.success;
    }
    const load = commands[invocation.command];
    if (invocation.command === 'serve')
      throw new UsageError(
        '`selvage serve` takes no options and no paths; its settings are environment variables, which `selvage serve --help` lists.',
      );
    if (!load) throw new UsageError(`\`selvage ${invocation.command}\` is not available in this version.`);
    const run = await load();
    return await run(invocation, services);
  } catch (error) {
    const reason: unknown = services.signal?.reason;
    if (reason instanceof Interruption) return reason.exitCode;
    if (error instanceof UsageError) {
      writeMessage(services, error.message);
      return exitCodes.usage;
    }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    const file = saveDefect({ kernel: '', error, files: new Map([['command.json', JSON.stringify(services.argv)]]) });
    writeMessage(services, `internal error: ${text}\nSelvage saved the command in ${file}; please report it with the files that it names.`);
    return exitCodes.defect;
  }
}
