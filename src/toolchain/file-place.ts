import { realpathSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';

/** Whether `path` is `folder` itself or below it. Both are absolute; links are not followed. */
export function isInside(folder: string, path: string): boolean {
  const rest = relative(folder, path);
  return !(rest === '..' || rest.startsWith(`..${sep}`) || isAbsolute(rest));
}

/**
 * The absolute path of a file as a compiler opens it. `..` is not resolved: after a link it leads elsewhere, and after a
 * folder that does not exist nowhere.
 */
export function pathIn(folder: string, name: string): string {
  return isAbsolute(name) ? name : `${folder}/${name}`;
}

/** Real path after all links are resolved, or null if it does not exist. */
export async function realPath(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

/** Like {@link realPath}, but synchronous: for hundreds of files, this takes a fifth of the time. */
export function realPathNow(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

/**
 * Whether a path may be an argument of nvcc. nvcc passes its arguments to a shell inside double quotes, where `$(…)`,
 * backquotes and the like are still evaluated; and line ends terminate a command.
 */
export function isShellSafe(path: string): boolean {
  // oxlint-disable-next-line no-control-regex
  return !/[$`"\\!\u0000-\u001f\u007f]/.test(path);
}

/** Like {@link isShellSafe}, for untrusted names: letters, digits and the punctuation of ordinary paths. */
export function isPlainPath(path: string): boolean {
  return /^[\p{L}\p{N} _.,+=@%/-]*$/u.test(path);
}

/** Maximum number of files that are listed. */
const maxListed = 100_000;

/**
 * Whether a project may have a header, so that its folder is not stated: a file of that name, or one that a build system
 * makes the header of. In a project with too many files, any header may be one.
 */
export async function headersOf(root: string): Promise<(header: string) => boolean> {
  const files: string[] = [];
  const folders = [''];
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory() && entry.name !== '.git') folders.push(path);
      else if (!entry.isDirectory()) files.push(path);
    }
    if (files.length + folders.length > maxListed) return () => true;
  }
  return (header) => files.some((path) => [header, `${header}.in`].some((name) => path === name || path.endsWith(`/${name}`)));
}
