/** Programs of a compiler run within limits that the system enforces. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { runProcess, type ResourceLimits } from '../../src/system/child-process.ts';
import { compileUnit } from '../../src/toolchain/compile.ts';
import { compilerLimits } from '../../src/toolchain/confinement.ts';
import { fakeCompiler, request, temporaryFolder, writeFiles, writeProgram } from './fixture.ts';

const roomy: ResourceLimits = { cpuSeconds: 600, memoryBytes: 64 * 2 ** 30, fileBytes: 1 << 30 };

test('a program that computes, allocates or writes without end is stopped', async (t) => {
  const cwd = temporaryFolder(t);
  const run = (script: string, resources: Partial<ResourceLimits>) =>
    runProcess({
      executable: '/bin/sh',
      args: ['-c', script],
      cwd,
      env: { PATH: '/usr/bin:/bin' },
      limits: { milliseconds: 120_000, outputBytes: 1 << 16, resources: { ...roomy, ...resources } },
    });
  assert.deepEqual((await run('echo "$0" fine', {})).stdout, '/bin/sh fine\n');
  assert.deepEqual((await run('while :; do :; done', { cpuSeconds: 1 })).end, { kind: 'time-limit' });
  // Its child processes have the same limits.
  const nested = await run('(while :; do :; done); echo "after $?"', { cpuSeconds: 1 });
  assert.match(nested.stdout, /after 137/);
  const written = await run('head -c 100000 /dev/zero > large; wc -c < large', { fileBytes: 4096 });
  assert.equal(Number(written.stdout), 4096);
  const allocated = await run('x=$(head -c 200000000 /dev/zero | tr "\\0" x); echo ended', { memoryBytes: 64 << 20 });
  assert.doesNotMatch(allocated.stdout, /ended/);
});

test('arguments of a program are not interpreted by the shell that limits it', async (t) => {
  const folder = temporaryFolder(t);
  const program = join(folder, 'a program');
  writeProgram(program, 'console.log(JSON.stringify(process.argv.slice(2)));');
  const words = ['$(touch x)', '`id`', 'a b', '"', "'", '*', '-c', '', '\n'];
  const { stdout } = await runProcess({
    executable: program,
    args: words,
    cwd: folder,
    env: { PATH: '/usr/bin:/bin' },
    limits: { milliseconds: 60_000, outputBytes: 1 << 16, resources: roomy },
  });
  assert.deepEqual(JSON.parse(stdout), words);
});

test('a verification build that exceeds its time is made without optimisation, and reports it', async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, { 'a.cu': '' });
  const compiler = fakeCompiler(
    folder,
    `const fs = require('node:fs');
     if (args.includes('--dryrun')) process.exit(1);
     if (args.includes('-Ofc')) process.exit(137);
     fs.writeFileSync(args[args.indexOf('-o') + 1], args.includes('-O0') ? 'plain' : 'usual');`,
  );
  const { ptx, unoptimised, diagnostics } = await compileUnit({
    ...request(compiler, folder, 'a.cu'),
    limits: compilerLimits,
  });
  assert.deepEqual([ptx, unoptimised], ['plain', 'late']);
  assert.deepEqual(
    diagnostics.map(({ code, severity }) => [code, severity]),
    [['compile/unoptimised', 'notice']],
  );
  const production = await compileUnit({ ...request(compiler, folder, 'a.cu'), build: 'production' });
  assert.deepEqual([production.ptx, production.unoptimised], ['usual', undefined]);
});
