import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { compilingBuilder } from '../../../src/app/build/builder.ts';
import type { Unit } from '../../../src/app/project/input-files.ts';
import { defaultOptions } from '../../../src/settings/options.ts';
import { parsedConfiguration } from '../../../src/app/build/open-project.ts';
import type { UnitBuilder } from '../../../src/app/project/unit-builder.ts';
import { openSourceTree } from '../../../src/app/project/source-tree.ts';
import { fakeCompiler, temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';
import { assets } from '../compare/change-fixture.ts';

interface Setting {
  /** Behaviour of the compiler, as JavaScript. */
  readonly compiler: string;
  readonly configuration?: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Arguments of nvcc on the command line. */
  readonly args?: readonly string[];
  readonly config?: string;
  readonly log?: string[];
}

async function builderFor(t: TestContext, setting: Setting): Promise<{ builder: UnitBuilder; unit: Unit }> {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(root, { 'a.cu': '', ...setting.files });
  const tree = openSourceTree(root);
  const { configuration } = await parsedConfiguration(setting.configuration ?? 'version: 1\n', '.selvage.yml');
  const builder = await compilingBuilder(fakeCompiler(folder, setting.compiler), {
    tree,
    configuration,
    options: { ...defaultOptions(), ...(setting.config && { config: join(root, setting.config) }) },
    userFlags: { args: setting.args ?? [], directory: root },
    trust: 'pull-request',
    assets,
    progress: { log: (line) => setting.log?.push(line), defect: ({ error }) => assert.fail(String(error)) },
    databaseRoot: root,
  });
  t.after(builder.close);
  return { builder, unit: { kind: 'cuda', path: 'a.cu', file: join(root, 'a.cu') } };
}

const database = JSON.stringify([{ directory: '.', file: '../a.cu', command: 'nvcc --run -c ../a.cu' }]);

test('a rejected flag is reported at the place that specifies it', async (t) => {
  const { builder, unit } = await builderFor(t, {
    compiler: '',
    configuration: 'version: 1\nnvcc: { args: ["-ccbin=x"], compile-commands: build/compile_commands.json }\n',
    files: { 'build/compile_commands.json': database },
    args: ['--options-file=y'],
  });
  const { diagnostics } = await builder.build(unit, 'verification', 'sm_80');
  const refused = diagnostics.map(({ code, message }) => [code, /^Selvage rejects the flag ([^:]*):/.exec(message)?.[1]]);
  assert.deepEqual(refused, [
    ['compile/flag-refused', '--run of build/compile_commands.json'],
    ['compile/flag-refused', '-ccbin=x of .selvage.yml'],
    ['compile/flag-refused', '--options-file=y of the command line'],
  ]);
});

test('of several compilation databases the first with an entry for a unit is used', async (t) => {
  const entry = (file: string, flag: string) => JSON.stringify([{ directory: '.', file, command: `nvcc ${flag} -c ${file}` }]);
  const { builder, unit } = await builderFor(t, {
    compiler: '',
    configuration: 'version: 1\nnvcc: { compile-commands: [b/compile_commands.json, c/compile_commands.json] }\n',
    files: {
      'b/compile_commands.json': entry('../b.cu', '--run=b'),
      'c/compile_commands.json': entry('../a.cu', '--run=c'),
    },
  });
  const { diagnostics } = await builder.build(unit, 'verification', 'sm_80');
  assert.match(diagnostics[0]?.message ?? '', /^Selvage rejects the flag --run=c of c\/compile_commands\.json/);
});

test('flags of an explicit configuration are reported at that configuration', async (t) => {
  const configuration = 'version: 1\nnvcc: { args: ["-ccbin=x"] }\n';
  const { builder, unit } = await builderFor(t, { compiler: '', configuration, config: 'ci/checks.yml' });
  const [refused] = (await builder.build(unit, 'production', 'sm_80')).diagnostics;
  assert.match(refused?.message ?? '', /^Selvage rejects the flag -ccbin=x of ci\/checks\.yml:/);
});

test('compiler output is logged once, although both builds produce it', async (t) => {
  const log: string[] = [];
  const compiler = `
    if (args.includes('-M')) { console.log('a.o : ' + args.at(-1)); process.exit(); }
    console.error('a.cu(1): warning: one\\n  int one;\\n      ^\\n');
    if (args.includes('-Ofc')) console.error('a.cu(2): warning: two\\n');
    process.exit(1);`;
  const { builder, unit } = await builderFor(t, { compiler, log });
  for (const kind of ['verification', 'production'] as const) await builder.build(unit, kind, 'sm_80');
  const text = log.join('\n');
  for (const warning of ['one;', 'warning: one', 'warning: two']) assert.equal(text.split(warning).length, 2, text);
});

test('a closed builder compiles nothing more', async (t) => {
  const { builder, unit } = await builderFor(t, { compiler: '' });
  await builder.close();
  await assert.rejects(builder.build(unit, 'verification', 'sm_80'), { name: 'AbortError' });
});

const saysFlags = `
  if (args.includes('-M')) { console.log('a.o : ' + args.at(-1)); process.exit(); }
  console.error('a.cu(1): error: ' + args.filter((word) => word.startsWith('-D') && !word.includes('_')).join());
  process.exit(1);`;

test('a compilation database is found at the root, in a build folder and in out', async (t) => {
  const entry = (flag: string) => JSON.stringify([{ directory: '.', file: 'SELF', command: `nvcc -D${flag} SELF` }]);
  const places: readonly (readonly [Readonly<Record<string, string>>, string])[] = [
    [{ 'compile_commands.json': entry('ROOT').replaceAll('SELF', 'a.cu'), 'build/compile_commands.json': '[]' }, 'ROOT'],
    [{ 'build-debug/compile_commands.json': entry('DEBUG').replaceAll('SELF', '../a.cu') }, 'DEBUG'],
    [{ 'cmake-build-release/compile_commands.json': entry('CLION').replaceAll('SELF', '../a.cu') }, 'CLION'],
    [{ 'out/compile_commands.json': entry('OUT').replaceAll('SELF', '../a.cu') }, 'OUT'],
    [{ 'deep/build/compile_commands.json': entry('DEEP').replaceAll('SELF', '../../a.cu') }, ''],
    [{ 'build/compile_commands.json': '{ torn' }, ''],
  ];
  for (const [files, flag] of places) {
    const log: string[] = [];
    const { builder, unit } = await builderFor(t, { compiler: saysFlags, files, log });
    await builder.build(unit, 'production', 'sm_80');
    assert.match(log.join(), flag === '' ? /error:\s*$/ : new RegExp(`error: -D${flag}\\b`));
  }
});

test('a unit that does not compile with the flags of another is reported', async (t) => {
  const files = {
    'build/compile_commands.json': JSON.stringify([{ directory: '.', file: '../b.cu', command: 'nvcc -DB b.cu' }]),
  };
  const { builder, unit } = await builderFor(t, { compiler: saysFlags, files });
  const { diagnostics } = await builder.build(unit, 'production', 'sm_80');
  assert.equal(diagnostics.at(-1)?.code, 'compile/commands');
  assert.match(diagnostics.at(-1)!.message, /has no entry for a\.cu, .* the flags of b\.cu/);
});
