import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileUnit, type Build } from '../../src/toolchain/compile.ts';
import type { Compiler } from '../../src/toolchain/compiler.ts';
import { isInside } from '../../src/toolchain/file-place.ts';
import { includeFolders } from '../../src/toolchain/include-folders.ts';

export const kernelFolder = dirname(fileURLToPath(import.meta.url));
export const root = resolve(kernelFolder, '../..');

const limits = { milliseconds: 120_000, outputBytes: 1 << 20 };

/** The test kernels, or those of another folder, relative to the root. */
export function kernelFiles(folder: string = kernelFolder): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.cu'))
    .map((path) => relative(root, join(folder, path)))
    .sort();
}

/** Path of the checked-in PTX of a test kernel. */
export function ptxFile(file: string, build: Build): string {
  return join(root, file.replace(/\.cu$/, build === 'verification' ? '.ptx' : '.production.ptx'));
}

/**
 * Compiles a test kernel to PTX that is the same on every computer with the same nvcc: no local folder
 * in the names of files, no build number.
 * @throws with the diagnostics if it does not compile
 */
export async function compilePortable(compiler: Compiler, file: string, build: Build, arch = 'sm_80'): Promise<string> {
  const { ptx, diagnostics } = await compileUnit({
    compiler,
    file,
    root,
    build,
    arch,
    flags: [],
    trust: 'user',
    limits,
    include: join(root, 'src/toolchain/include'),
    onLog: () => {},
  });
  if (ptx === undefined) throw new Error(`${file}: ${diagnostics.map(({ message }) => message).join('; ')}`);
  const folders = await includeFolders(compiler, limits);
  return ptx
    .replaceAll(/^(\s*\.file\s+\d+\s+)"([^"]*)"/gm, (_, start, path) => `${start}"${portablePath(path, folders)}"`)
    .replaceAll(/^\/\/ Compiler Build ID:.*\n/gm, '')
    .replaceAll(folderHash, '$1,48,48,48,48,48,48,48,48');
}

/** In the debug strings, as bytes: `_INTERNAL_` and the hash that follows the folder. */
const folderHash = /(95,73,78,84,69,82,78,65,76,95)(?:,\d+){8}/g;

function portablePath(path: string, folders: readonly string[]): string {
  if (isInside(root, resolve(root, path))) return relative(root, resolve(root, path));
  const absolute = realpathSync(resolve(root, path));
  const around = folders.filter((folder) => isInside(folder, absolute)).sort((a, b) => b.length - a.length);
  const name = around[0] === undefined ? absolute.replace(/^.*\//, '') : relative(around[0], absolute);
  return existsSync(join(around[0] ?? '', 'cuda_runtime.h')) ? `cuda/${name}` : `system/${name}`;
}
