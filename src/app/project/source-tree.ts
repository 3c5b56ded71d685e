import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { decodeSource } from '../../source/source-bytes.ts';

/** Maximum bytes of a source. Larger files contain no handwritten CUDA. */
export const largestSource = 4 * 1024 * 1024;
const MAX_FILES = 50_000;
const skippedFolders = new Set(['node_modules', 'CMakeFiles', '__pycache__']);

const unitFile = /\.cu$/;
const headerFile = /\.(?:cuh|h|hh|hpp|hxx|inl|inc|ipp|tcc)$/;
const hostFile = /\.(?:c|cc|cpp|cxx)$/;

/** A folder of sources: the repository, or one revision of it. Paths are relative to it, with forward slashes. */
export interface SourceTree {
  /** Absolute path of the folder, with symbolic links resolved. */
  readonly root: string;
  /** All sources and headers, sorted; read once. */
  readonly sources: () => readonly string[];
  /** The text of a file, as `decodeSource` returns it; undefined if it cannot be read. Read once. */
  readonly text: (path: string) => string | undefined;
}

/**
 * Opens a folder; nothing is read yet.
 * @throws if it does not exist
 */
export function openSourceTree(folder: string): SourceTree {
  const root = realpathSync(folder);
  const texts = new Map<string, string | undefined>();
  let sources: readonly string[] | undefined;
  return {
    root,
    sources: () => (sources ??= listFiles(root, isSource)),
    text(path) {
      if (!texts.has(path)) texts.set(path, readText(root, path));
      return texts.get(path);
    },
  };
}

/** A translation unit of CUDA. */
export function isUnit(path: string): boolean {
  return unitFile.test(path);
}

/** A file that units include. */
export function isHeader(path: string): boolean {
  return headerFile.test(path);
}

/** Any file that may contain a kernel, a launch or an include. */
export function isSource(path: string): boolean {
  return unitFile.test(path) || headerFile.test(path) || hostFile.test(path);
}

/** The files under `folder` that `accept` selects, relative to it, sorted; hidden folders are left out. */
export function listFiles(folder: string, accept: (path: string) => boolean): string[] {
  const found: string[] = [];
  const visit = (prefix: string): void => {
    let entries;
    try {
      entries = readdirSync(join(folder, prefix), { withFileTypes: true });
    } catch {
      return;
    }
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (found.length >= MAX_FILES) return;
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!entry.name.startsWith('.') && !skippedFolders.has(entry.name)) visit(path);
      } else if ((entry.isFile() || entry.isSymbolicLink()) && accept(path)) found.push(path);
    }
  };
  visit('');
  return found;
}

/** The nearest folder at or above `start` that is the top of a git checkout. */
export function repositoryRoot(start: string): string | undefined {
  for (let folder = start; ;) {
    if (kindOf(join(folder, '.git')) !== undefined) return folder;
    const parent = resolve(folder, '..');
    if (parent === folder) return undefined;
    folder = parent;
  }
}

/** `file` relative to `root` with forward slashes if it is inside; otherwise unchanged, with forward slashes. */
export function relativeTo(root: string, file: string): string {
  const path = relative(root, file);
  const inside = path !== '' && !isAbsolute(path) && path !== '..' && !path.startsWith(`..${sep}`);
  return (inside ? path : file).split(sep).join('/');
}

/**
 * Type of a path after links are resolved; undefined if it does not exist, or is a device or a pipe, which may be
 * endless.
 */
export function kindOf(path: string): 'file' | 'folder' | undefined {
  try {
    const stats = statSync(path);
    return stats.isDirectory() ? 'folder' : stats.isFile() ? 'file' : undefined;
  } catch {
    return undefined;
  }
}

function readText(root: string, path: string): string | undefined {
  const file = mayBeRead(root, path);
  try {
    return file === undefined ? undefined : decodeSource(readFileSync(file));
  } catch {
    return undefined;
  }
}

/**
 * Real path of a file of the tree; undefined if the file is too large, not regular, or outside of the tree. Links that
 * leave the tree are not followed, because a link in a pull request could name any file of the host.
 */
export function mayBeRead(root: string, path: string): string | undefined {
  try {
    const file = realpathSync(resolve(root, path));
    const stats = statSync(file);
    // A pipe or a device may be endless.
    const isWhole = stats.isFile() && stats.size <= largestSource;
    return isAbsolute(relativeTo(root, file)) || !isWhole ? undefined : file;
  } catch {
    return undefined;
  }
}
