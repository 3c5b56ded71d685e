import { messageOf } from '../base/text.ts';
import { randomBytes } from 'node:crypto';
import { accessSync, chmodSync, constants, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../base/usage-error.ts';
import { encodeSource } from '../source/source-bytes.ts';

export interface Replacement {
  /** Name in messages. */
  readonly file: string;
  /** Absolute; a link is followed. */
  readonly path: string;
  /** Contents of the file when it was read. */
  readonly before: string;
  readonly text: string;
}

/**
 * Replaces the contents of files, once all of them are known to be writable. Each is first written to a temporary file
 * in its folder, so that a full disk or a crash leaves the complete old or new one.
 * @throws UsageError if one is read-only, or has changed since it was read
 */
export function replaceFiles(files: readonly Replacement[]): void {
  const ready: { readonly target: string; readonly beside: string; readonly file: string }[] = [];
  try {
    for (const { file, path, before, text } of files) {
      const target = writable(file, path);
      if (!readFileSync(target).equals(encodeSource(before)))
        throw new UsageError(`Selvage wrote no file: ${file} has changed since the analysis. Run the command again.`);
      const beside = join(dirname(target), `.selvage-${randomBytes(6).toString('hex')}`);
      ready.push({ target, beside, file });
      writeFileSync(beside, encodeSource(text), { flag: 'wx' });
      chmodSync(beside, statSync(target).mode);
    }
    for (const { target, beside } of ready) renameSync(beside, target);
  } catch (error) {
    for (const { beside } of ready) rmSync(beside, { force: true });
    if (error instanceof UsageError) throw error;
    const { file } = ready.at(-1) ?? files[0]!;
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}. Apply the printed patch with \`git apply\`.`);
  }
}

/** The file itself after following links, if it may be written. */
function writable(file: string, path: string): string {
  const target = realpathSync(path);
  let reason = '';
  if ((statSync(target).mode & 0o222) === 0) reason = 'it is read-only';
  else {
    try {
      accessSync(target, constants.W_OK);
      accessSync(dirname(target), constants.W_OK);
    } catch {
      reason = 'you have no permission to write it or its folder';
    }
  }
  if (reason === '') return target;
  throw new UsageError(
    `Selvage wrote no file: ${file} cannot be written because ${reason}. Allow it (chmod u+w) and run the command again, or apply the printed patch with \`git apply\`.`,
  );
}
