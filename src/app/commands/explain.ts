import { nearest } from '../../base/nearest.ts';
import { UsageError } from '../../base/usage-error.ts';
import { exitCodes, type ExitCode } from '../../report-model/exit-code.ts';
import type { CodeEntry } from '../../source/code-entry.ts';
import { codes, type Code } from '../../source/codes.ts';
import type { Command, CommandLineServices } from './services.ts';

/** All codes with their titles, grouped by the prefix before the slash. */
function codeList(): string {
  const groups = new Map<string, string>();
  for (const [code, { title }] of Object.entries<CodeEntry>(codes)) {
    const group = code.slice(0, code.indexOf('/'));
    groups.set(group, `${groups.get(group) ?? ''}${code}\n    ${title}\n`);
  }
  return [...groups.values()].join('\n');
}

/**
 * `selvage explain`: documentation of a diagnostic code.
 * @throws UsageError if the command line is invalid
 */
export async function explainCommand({ paths }: Command, { stdout }: CommandLineServices): Promise<ExitCode> {
  const [code] = paths;
  const known = Object.keys(codes);
  if (paths.length > 1) throw new UsageError('`selvage explain` explains one code; without a code it lists all.');
  if (code === undefined) {
    stdout.write(codeList());
    return exitCodes.success;
  }
  if (!Object.hasOwn(codes, code)) {
    const close = nearest(code, known);
    throw new UsageError(
      close
        ? `${code} is not a code. Did you mean ${close}? \`selvage explain\` without a code lists all.`
        : `${code} is not a code. The codes are: ${known.join(', ')}.`,
    );
  }
  const { severity, title, explanation, example, remedy }: CodeEntry = codes[code as Code];
  const indented = example.split('\n').map((line) => `    ${line}`);
  stdout.write([`${code} (${severity})`, '', title, '', explanation, '', ...indented, '', `Remedy: ${remedy}`, ''].join('\n'));
  return exitCodes.success;
}
