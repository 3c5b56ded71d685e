import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Compiler } from './compiler.ts';
import { confinedEnvironment } from './environment.ts';
import { realPath } from './file-place.ts';
import { runProcess, type ProcessLimits } from '../system/child-process.ts';

const known = new WeakMap<Compiler, Promise<readonly string[]>>();

/**
 * The include folders of the toolkit and of its host compiler, with links resolved: the default search list that the
 * preprocessor prints. Queried once per compiler.
 */
export function includeFolders(compiler: Compiler, limits: ProcessLimits): Promise<readonly string[]> {
  const answer = known.get(compiler) ?? askIncludeFolders(compiler, limits);
  known.set(compiler, answer);
  return answer;
}

async function askIncludeFolders(compiler: Compiler, limits: ProcessLimits): Promise<readonly string[]> {
  const temporary = await mkdtemp(join(tmpdir(), 'selvage-'));
  try {
    await writeFile(join(temporary, 'empty.cu'), '');
    const { stdout, stderr } = await runProcess({
      executable: compiler.path,
      args: ['-E', '-Xcompiler', '-v', '-o', join(temporary, 'empty.ii'), join(temporary, 'empty.cu')],
      cwd: temporary,
      env: confinedEnvironment(compiler.searchPath, temporary),
      limits,
    });
    const real = await Promise.all(parseSearchList(`${stderr}\n${stdout}`).map(realPath));
    return [...new Set(real.filter((path) => path !== null))];
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Parses the folders that gcc or clang lists with `-v`. */
function parseSearchList(text: string): string[] {
  const list = /search starts here:\n([^]*?)End of search list\./.exec(text)?.[1] ?? '';
  return list
    .split('\n')
    .filter((line) => line.startsWith(' '))
    .map((line) => line.trim().replace(/ \(framework directory\)$/, ''));
}
