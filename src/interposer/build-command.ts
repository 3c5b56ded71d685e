/** How the interposer is built. */

/**
 * The command that builds the interposer with the host compiler of a Unix shell.
 *
 * @param folder path of `interposer` of the sources; it is quoted
 * @param output path of the shared object; it is quoted
 */
export function interposerBuildCommand(folder: string, output = 'libselvage-idempotency.so'): string {
  const quoted = (text: string): string => (/^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
  return `cc -std=c11 -O2 -shared -fPIC -pthread -o ${quoted(output)} ${quoted(folder)}/*.c ${quoted(folder)}/code/*.c -ldl`;
}
