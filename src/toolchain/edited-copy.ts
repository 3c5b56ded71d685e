/** Copies of units and headers for edits that are tried. Nothing in the repository is written. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { encodeSource } from '../source/source-bytes.ts';
import { isInside, realPath } from './file-place.ts';

/** Edited texts of headers. */
export interface EditedHeaders {
  /** Edited texts by path, relative to the root. */
  readonly texts: ReadonlyMap<string, string>;
  /** The files of the root that the unit includes, as paths relative to the root. */
  readonly files: readonly string[];
}

/** Paths of edited copies for nvcc. */
interface EditedCopy {
  /** Path of the input of nvcc. */
  readonly input: string;
  /** Folders that contain copies, with links resolved. */
  readonly folders: readonly string[];
  /** Path of a copy of the root, with all of its files that the unit includes; null if no header is edited. */
  readonly mirror: string | null;
  /** Converts options with paths of the files to options with paths of the copies. */
  readonly wordsFor: (words: readonly string[]) => readonly string[];
}

interface CopyRequest {
  /** Absolute path of the unit. */
  readonly file: string;
  readonly root: string;
  /** Edited text of the unit. */
  readonly text: string | undefined;
  readonly headers: EditedHeaders | undefined;
  readonly temporary: string;
}

/**
 * Writes the edited texts next to the intermediate files. An edited header is found wherever it is included from, since
 * all files of the root that the unit includes are copied with their relative paths.
 * @returns null without edits
 */
export async function editedCopy({ file, root, text, headers, temporary }: CopyRequest): Promise<EditedCopy | null> {
  if (!headers) return text === undefined ? null : copyOfUnit(text, file, temporary);
  const mirror = join(temporary, 'mirror');
  const unit = relative(root, file);
  for (const path of new Set([unit, ...headers.files])) {
    const copy = join(mirror, path);
    await mkdir(dirname(copy), { recursive: true });
    const edited = path === unit ? text : headers.texts.get(path);
    if (edited === undefined) await copyFile(join(root, path), copy);
    else await writeFile(copy, encodeSource(edited));
  }
  return {
    input: join(mirror, unit),
    folders: [(await realPath(mirror)) ?? mirror],
    mirror,
    wordsFor: (words) => words.flatMap((word) => mirrored(word, { root, mirror, files: headers.files })),
  };
}

/**
 * Writes an edited text of a unit to a file of the same name, and makes relative includes resolve to the folder of the
 * original file.
 */
async function copyOfUnit(text: string, file: string, temporary: string): Promise<EditedCopy> {
  const folder = join(temporary, 'edited');
  await mkdir(folder);
  const copy = join(folder, basename(file));
  await writeFile(copy, encodeSource(text));
  return {
    input: copy,
    folders: [(await realPath(folder)) ?? folder],
    mirror: null,
    wordsFor: (words) => [...words, '-Xcompiler', `-iquote,${dirname(file)}`],
  };
}

/**
 * Options with paths of the copies. A folder of the root is searched after its copy, and a forced include refers to the
 * copy of its file.
 */
function mirrored(
  word: string,
  { root, mirror, files }: { readonly root: string; readonly mirror: string; readonly files: readonly string[] },
): string[] {
  const [, option, path = ''] = /^(-I|-isystem=|-include=)(\/.*)$/.exec(word) ?? [];
  if (option === undefined || !isInside(root, path)) return [word];
  const copy = option + join(mirror, relative(root, path));
  if (option === '-include=') return files.includes(relative(root, path)) ? [copy] : [word];
  return [copy, word];
}
