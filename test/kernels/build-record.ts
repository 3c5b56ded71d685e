/**
 * Inputs of the checked-in PTX of the test kernels, in `builds.json`: the compiler and its command lines, and
 * for each file the hashes of the source and of both texts. If nothing of it changed, the compiler would produce the
 * same again.
 */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from '../../src/toolchain/compile.ts';
import { fakeCompiler, includeFolder } from '../toolchain/fixture.ts';
import { compilePortable, ptxFile, root } from './portable-ptx.ts';

export interface BuildRecord {
  /** As nvcc prints its version. */
  readonly compiler: string;
  /** Arguments of nvcc for a file. */
  readonly commands: Readonly<Record<Build, readonly string[]>>;
  /** Hash of `selvage.h`. */
  readonly header: string;
  /** By file: hashes of the source, of its verification build, and of its production build. */
  readonly files: Readonly<Record<string, string>>;
}

export const recordFile = join(root, 'test/kernels/builds.json');

/** The record as it is checked in. */
export function readRecord(): BuildRecord {
  return JSON.parse(readFileSync(recordFile, 'utf8')) as BuildRecord;
}

/** The hashes of a file and of its checked-in PTX. */
export function hashesOf(file: string): string {
  const paths = [join(root, file), ptxFile(file, 'verification'), ptxFile(file, 'production')];
  return paths.map(hashOf).join(' ');
}

/** The hash of `selvage.h`, which every build may include. */
export function headerHash(): string {
  return hashOf(join(includeFolder, 'selvage.h'));
}

function hashOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
}

/** The command line of a build, with placeholders for folders. No compiler is needed. */
export async function commandOf(build: Build): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'selvage-command-'));
  try {
    const seen = join(folder, 'seen.json');
    const compiler = fakeCompiler(
      folder,
      `require('node:fs').writeFileSync(${JSON.stringify(seen)}, JSON.stringify(args)); process.exit(1);`,
    );
    const file = 'test/kernels/race/shared-reverse.cu';
    await compilePortable(compiler, file, build).catch(() => undefined);
    const words = JSON.parse(readFileSync(seen, 'utf8')) as string[];
    const temporary = words[words.indexOf('-o') + 1]!.replace(/\/[^/]*$/, '');
    return words.map((word) => word.replace(join(root, file), 'FILE').replace(temporary, 'TEMPORARY').replace(root, 'ROOT'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
