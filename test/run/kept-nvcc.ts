import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCompiler } from '../../src/toolchain/compiler.ts';
import { runProcess } from '../../src/system/child-process.ts';

/** Milliseconds after which a build is made again. */
const age = 30 * 24 * 60 * 60 * 1000;

/**
 * Makes a folder with an nvcc that caches its builds (`nvcc.sh`), and the ptxas next to it.
 * @param folder - of the builds that are cached between runs
 * @param environment - whose PATH is searched
 * @returns a folder in it, to be put first on PATH; null if nvcc is not installed
 */
export async function keptNvcc(folder: string, environment: NodeJS.ProcessEnv = process.env): Promise<string | null> {
  const found = await findCompiler({ env: environment, folders: [] });
  if (!('compiler' in found) || found.compiler.ptxas === null) return null;
  const { path, ptxas, searchPath } = found.compiler;
  const ask = async (executable: string): Promise<string> => {
    const env = { PATH: searchPath.join(':') };
    const limits = { milliseconds: 30_000, outputBytes: 1 << 20 };
    return (await runProcess({ executable, args: ['--version'], cwd: folder, env, limits })).stdout;
  };
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const script = fileURLToPath(new URL('nvcc.sh', import.meta.url));
  const reader = fileURLToPath(new URL('read-texts.awk', import.meta.url));
  const header = fileURLToPath(new URL('../../src/toolchain/include/selvage.h', import.meta.url));
  // The host compiler's preprocessor is part of it, and its output decides whether a build is cached.
  const host = join(searchPath.find((name) => statSync(join(name, 'gcc'), { throwIfNoEntry: false })) ?? '', 'gcc');
  const identity = [
    ...(await Promise.all([path, host].map(ask))),
    `${path} ${statSync(path).size} ${statSync(path).mtimeMs}`,
    readFileSync(header, 'utf8'),
    ...[script, reader].map((file) => readFileSync(file, 'utf8')),
  ].join('\n');
  const own = join(folder, createHash('sha256').update(identity).digest('hex').slice(0, 16));
  if (!statSync(own, { throwIfNoEntry: false })) {
    const fresh = mkdtempSync(join(folder, 'fresh-'));
    mkdirSync(join(fresh, 'builds'));
    copyFileSync(script, join(fresh, 'nvcc'));
    copyFileSync(reader, join(fresh, 'read-texts.awk'));
    chmodSync(join(fresh, 'nvcc'), 0o755);
    symlinkSync(ptxas, join(fresh, 'ptxas'));
    writeFileSync(join(fresh, 'compiler'), `${path}\n`);
    try {
      renameSync(fresh, own);
    } catch {
      // Another run was first.
      rmSync(fresh, { recursive: true });
    }
  }
  removeOld(folder);
  removeOld(join(own, 'builds'));
  return own;
}

function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (Date.now() - made > age) rmSync(path, { recursive: true, force: true });
  }
}
