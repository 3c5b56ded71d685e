import { realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';

/** Whether `path` is `folder` or lies under it. Both absolute; links are not followed. */
export function isInside(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return !(rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest));
}

/** Where a path leads when all links are followed, or null where nothing is. */
export async function realPath(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

/** As {@link realPath}, at once: of hundreds of files in turn that takes a fifth of the time. */
export function realPathNow(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/**
 * Whether a path may stand in an argument of nvcc. nvcc hands its arguments to a shell inside double quotes, where
 * `$(…)`, backquotes and the like are still evaluated; and lines end a command.
 */
export function isShellSafe(path: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[$`"\\!\u0000-\u001f\u007f]/.test(path);
}

/** As {@link isShellSafe}, for names that a stranger chooses: letters, digits and the punctuation of ordinary paths. */
export function isPlainPath(path: string): boolean {
  return /^[\p{L}\p{N} _.,+=@%/-]*$/u.test(path);
}
