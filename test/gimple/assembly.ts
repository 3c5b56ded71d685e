/** Assembly with comments on its debugging information, as the lowering makes it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder, writeFiles } from '../toolchain/fixture.ts';

export const compilers = ['g++-11', 'g++-12', 'g++-13', 'g++-14', 'g++'].filter((name) => existsSync(`/usr/bin/${name}`));

export function assemblyOf(context: TestContext, compiler: string, program: string, ...flags: string[]): string {
  const folder = temporaryFolder(context);
  writeFiles(folder, { 'program.cpp': program });
  const assembly = join(folder, 'program.s');
  execFileSync(`/usr/bin/${compiler}`, [
    '-std=c++17',
    '-O0',
    '-fwrapv',
    '-g',
    '-dA',
    '-femit-class-debug-always',
    '-w',
    '-S',
    ...flags,
    join(folder, 'program.cpp'),
    '-o',
    assembly,
  ]);
  return readFileSync(assembly, 'utf8');
}
