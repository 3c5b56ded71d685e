/** The key of cached code covers all inputs of a compiler. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileUnit, type CompileResult } from '../../src/toolchain/compile.ts';
import { compilerLimits } from '../../src/toolchain/confinement.ts';
import { identityOf, type KeptCode } from '../../src/toolchain/kept-code.ts';
import { wrappedCompiler, flagGroup, nvcc, request, temporaryFolder, writeFiles } from './fixture.ts';

const compiler = nvcc && wrappedCompiler(nvcc);
const skip = compiler?.features.separateFrontEnd ? false : 'no nvcc whose front end is known';

/** Keeps in memory. */
function keptInMemory(): KeptCode {
  const values = new Map<string, unknown>();
  const keyOf = (parts: readonly unknown[]): string => JSON.stringify(parts);
  return { read: (parts) => values.get(keyOf(parts)), write: (parts, value) => void values.set(keyOf(parts), value) };
}

/** Without the headers of the toolkit, which take most of the time. */
const kernel = `__attribute__((global)) void k(int* a) {
  a[0] = 1;
  if (SYNC) asm volatile("bar.sync 0;" ::: "memory");
  a[1] = 2;
}
`;

interface Case {
  readonly name: string;
  readonly unit: string;
  readonly before: Readonly<Record<string, string>>;
  readonly after: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
}

const cases: readonly Case[] = [
  {
    name: 'a file of options',
    unit: kernel,
    before: { 'repo/o.txt': '-DSYNC=1' },
    after: { 'repo/o.txt': '-DSYNC=0' },
    flags: ['--options-file', 'o.txt'],
  },
  {
    name: 'a file of options of the host compiler',
    unit: kernel,
    before: { 'repo/o.txt': '-DSYNC=1' },
    after: { 'repo/o.txt': '-DSYNC=0' },
    flags: ['-Xcompiler', '@o.txt'],
  },
  {
    name: '__has_include of a macro',
    unit: `#define H "over.h"\n#if __has_include(H)\n#include H\n#else\n#define SYNC 1\n#endif\n${kernel}`,
    before: {},
    after: { 'repo/over.h': '#define SYNC 0\n' },
    flags: [],
  },
  {
    name: 'a header that is added before another one',
    unit: `#include "cfg.h"\n${kernel}`,
    before: { 'two/cfg.h': '#define SYNC 1\n' },
    after: { 'one/cfg.h': '#define SYNC 0\n' },
    flags: ['-I../one', '-I../two'],
  },
];

for (const { name, unit, before, after, flags } of cases) {
  test(`cached code is not stale: ${name}`, { skip }, async (t) => {
    const folder = temporaryFolder(t);
    const root = join(folder, 'repo');
    const kept = keptInMemory();
    let made = 0;
    const build = (): Promise<CompileResult> =>
      compileUnit({
        ...request(compiler!, root, 'a.cu'),
        build: 'production',
        withVerification: true,
        flags: [flagGroup(root, ...flags)],
        limits: compilerLimits,
        kept,
        onCompiled: () => void (made += 1),
      });
    writeFiles(folder, { 'repo/a.cu': unit, 'repo/cuda_runtime.h': '', ...before });
    const first = await build();
    assert.match(first.ptx ?? '', /bar\.sync/);
    assert.deepEqual(await build(), first);
    assert.equal(made, 1);
    writeFiles(folder, after);
    const second = await build();
    assert.equal(made, 2);
    for (const ptx of [second.ptx, second.verification]) assert.doesNotMatch(ptx!, /bar\.sync/);
  });
}

test('a changed program has another key, and its cached code is not used', async (t) => {
  const folder = temporaryFolder(t);
  const kept = keptInMemory();
  const program = join(folder, 'cicc');
  writeFiles(folder, { cicc: 'one' });
  const first = await identityOf(program, kept);
  assert.match(first ?? '', /^[0-9a-f]{64}$/);
  assert.equal(await identityOf(program, kept), first);
  writeFiles(folder, { cicc: 'two' });
  assert.notEqual(await identityOf(program, kept), first);
  assert.equal(await identityOf(join(folder, 'none'), kept), null);
});
