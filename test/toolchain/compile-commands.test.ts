import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagsOf, parseCompileCommands } from '../../src/toolchain/compile-commands.ts';
import { shellWords } from '../../src/toolchain/shell-words.ts';

test('arguments are split as a shell does, without expansion', () => {
  const cases: readonly (readonly [string, readonly string[] | null])[] = [
    ['nvcc -c  a.cu\t-o b', ['nvcc', '-c', 'a.cu', '-o', 'b']],
    [`a 'b c' "d e"f`, ['a', 'b c', 'd ef']],
    [String.raw`-DX=\"1\" -DY="\"a b\"" '\n'`, ['-DX="1"', '-DY="a b"', '\\n']],
    [String.raw`"a\b\\c\$d\e"`, [String.raw`a\b\c$d\e`]],
    ['a\\\nb "c\\\nd"', ['ab', 'cd']],
    [`'' ""`, ['', '']],
    ['$(touch x) `y` $HOME *', ['$(touch', 'x)', '`y`', '$HOME', '*']],
    [String.raw`a\ b`, ['a b']],
    [`"open`, null],
    [`'open`, null],
    ['end\\', null],
    ['', []],
  ];
  for (const [command, words] of cases) assert.deepEqual(shellWords(command), words, command);
});

test('a command becomes the flags of its file', () => {
  const entries = [
    {
      directory: '/repo/build',
      file: '../src/a.cu',
      command:
        '/usr/bin/ccache /usr/local/cuda/bin/nvcc -forward-unknown-to-host-compiler -DNDEBUG -I../include -isystem=/opt/x --generate-code=arch=compute_80,code=[sm_80] -Xcompiler=-fPIC,-Wall,-fopenmp -Xptxas -v -std=c++17 -x cu -c /repo/src/a.cu -o CMakeFiles/a.o -MD -MT a.o -MF a.d',
    },
    { directory: '/repo/build', file: '/repo/src/b.cu', arguments: ['nvcc', '-DB', '-c', '../src/b.cu'] },
    { file: 'c.cu', arguments: ['nvcc', '-DC', 'c.cu'] },
    { directory: '/repo/build', file: '/repo/src/b.cu', arguments: ['nvcc', '-DSECOND'] },
  ];
  const database = parseCompileCommands(JSON.stringify(entries), 'build/compile_commands.json', '/repo');
  assert.deepEqual(database.diagnostics, []);
  assert.deepEqual(flagsOf(database, '/repo/src/a.cu'), {
    args: [
      '-forward-unknown-to-host-compiler',
      '-DNDEBUG',
      '-I../include',
      '-isystem=/opt/x',
      '--generate-code=arch=compute_80,code=[sm_80]',
      '-Xcompiler',
      '-fopenmp',
      '-std=c++17',
    ],
    origin: 'build/compile_commands.json',
    directory: '/repo/build',
  });
  assert.deepEqual(flagsOf(database, '/repo/src/b.cu'), {
    args: ['-DB'],
    origin: 'build/compile_commands.json',
    directory: '/repo/build',
  });
  assert.deepEqual(flagsOf(database, '/repo/build/c.cu'), {
    args: ['-DC'],
    origin: 'build/compile_commands.json',
    directory: '/repo/build',
  });
});

test('only harmless flags of the host compiler are left out', () => {
  const flags = ['-Wl,-x', '-Wp,-MD,x', '-Wa,-x', '-fplugin=x.so', '-B.', '-DX', '-include', '-fno-pic', '-Wextra', '-O2', '-g3'];
  const file = '/repo/a.cu';
  for (const flag of flags) {
    const text = JSON.stringify([{ directory: '/repo', file, arguments: ['nvcc', `-Xcompiler=${flag}`] }]);
    const args = argsOf(parseCompileCommands(text, 'compile_commands.json', '/repo'), file);
    const kept = flag.split(',').flatMap((part) => ['-Xcompiler', part]);
    const harmless = ['-fno-pic', '-Wextra', '-O2', '-g3'].includes(flag);
    assert.deepEqual(args, harmless ? [] : kept, flag);
  }
});

/** The flags of a file that has them. */
function argsOf(database: ReturnType<typeof parseCompileCommands>, file: string, readText?: (path: string) => string) {
  const found = flagsOf(database, file, readText);
  assert.ok(found && 'args' in found);
  return found.args;
}

const databaseOf = (entries: unknown, file = 'compile_commands.json') => parseCompileCommands(JSON.stringify(entries), file, '/repo');

test('an invalid database is reported, and an invalid entry with its number', () => {
  const codesOf = (text: string): string[] =>
    parseCompileCommands(text, 'c.json', '/repo').diagnostics.map(({ code, location }) => `${code} ${location?.file}`);
  assert.deepEqual(codesOf('{'), ['compile/commands c.json']);
  assert.deepEqual(codesOf('{}'), ['compile/commands c.json']);
  const good = { directory: '/r', file: 'a.cu', command: 'nvcc -DA a.cu' };
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`;
  for (const entry of ['1', 'null', '{}', '[]', '"a.cu"', deep, '{"file":2,"command":"x"}', '{"file":["a.cu"]}']) {
    const { diagnostics } = parseCompileCommands(`[${JSON.stringify(good)}, ${entry}]`, 'c.json', '/repo');
    assert.equal(diagnostics.length, 1, entry);
    assert.match(diagnostics[0]!.message, /^Entry 2 .* has no text as its "file"\. Let the build write it again\.$/);
  }
  const [elsewhere] = databaseOf([{ ...good, directory: 5 }]).diagnostics;
  assert.match(elsewhere!.message, /^Entry 1 .* has no text as its "directory"/);
});

test('errors in the command of an entry are reported only for its unit', () => {
  for (const [wrong, problem] of [
    [{ command: 'nvcc "' }, /cannot be split into words: a quotation is not closed/],
    [{ command: ' ' }, /its command is empty/],
    [{ command: 5 }, /its entry has a "command" that is not a string/],
    [{ command: null }, /its entry has a "command" that is not a string/],
    [{}, /its entry has neither "arguments" nor a "command"/],
    [{ arguments: [] }, /its entry has neither "arguments" nor a "command"/],
    [{ arguments: ['nvcc', 5], command: 'nvcc a.cu' }, /the "arguments" of its entry are not a list of strings/],
    [{ arguments: 'nvcc a.cu' }, /the "arguments" of its entry are not a list of strings/],
  ] as const) {
    const database = databaseOf([
      { directory: '/repo', file: 'a.cu', ...wrong },
      { directory: '/repo', file: 'b.cu', command: 'nvcc -DB b.cu' },
    ]);
    assert.match((flagsOf(database, '/repo/a.cu') as { problem: string }).problem, problem);
    assert.deepEqual(argsOf(database, '/repo/b.cu'), ['-DB']);
    const isText = 'command' in wrong && typeof wrong.command === 'string';
    if (!isText || 'arguments' in wrong) assert.deepEqual(argsOf(database, '/repo/c.cu'), ['-DB'], 'of no such entry');
  }
});

test('a unit without an entry gets the flags of the nearest CUDA file', () => {
  const entry = (file: string, flag: string) => ({ directory: '/repo', file, command: `nvcc ${flag} -c ${file}` });
  const database = databaseOf([
    entry('src/deep/er/c.cu', '-DDEEPER'),
    entry('src/other/a.cu', '-DOTHER'),
    entry('src/b.cu', '-DB'),
    entry('src/a.cu', '-DA'),
    entry('src/deep/host.cpp', '-DHOST'),
  ]);
  const of = (file: string) => argsOf(database, `/repo/${file}`).join();
  assert.equal(of('src/new.cu'), '-DA');
  assert.equal(of('src/deep/new.cu'), '-DDEEPER');
  assert.equal(of('src/other/more/new.cu'), '-DOTHER');
  assert.equal(of('test/new.cu'), '-DA');
  const found = flagsOf(database, '/repo/src/new.cu');
  assert.equal(found && 'sibling' in found && found.sibling, '/repo/src/a.cu');
  assert.equal(flagsOf(databaseOf([entry('a.cpp', '-DHOST')]), '/repo/a.cu'), null);
});

test('options of clang as a compiler of CUDA are translated to those of nvcc', () => {
  const command =
    'ccache /usr/bin/clang++-18 --driver-mode=g++ -DX -D Y=2 -I../include -isystem /opt/x -isystem/opt/y -iquote q ' +
    '-O3 -g -Wall -fPIC -std=gnu++2a -x cuda --cuda-path=/usr/local/cuda --cuda-gpu-arch=sm_70 --offload-arch=sm_90 ' +
    '-ffast-math -fgpu-rdc -fcuda-flush-denormals-to-zero -ffp-contract=off -Xclang -fcuda-allow-variadic-functions ' +
    '-include pre.h -Xcuda-ptxas -v -mllvm -x -MD -MT a.o -MF a.d -o a.o -c a.cu';
  const database = databaseOf([{ directory: '/repo/build', file: 'a.cu', command }]);
  assert.deepEqual(argsOf(database, '/repo/build/a.cu'), [
    '-DX',
    '-DY=2',
    '-I../include',
    '-isystem',
    '/opt/x',
    '-isystem',
    '/opt/y',
    '-Iq',
    '-std=c++20',
    '-arch=sm_70',
    '-arch=sm_90',
    '-use_fast_math',
    '-rdc=true',
    '-ftz=true',
    '-fmad=false',
    '-include',
    'pre.h',
  ]);
});

test('an options file, as CMake writes it, is read if files may be read', () => {
  const command = 'nvcc -DX --options-file CMakeFiles/a.rsp -c a.cu';
  const database = databaseOf([{ directory: '/repo/build', file: 'a.cu', command }]);
  const readText = (path: string) => (path === '/repo/build/CMakeFiles/a.rsp' ? '-I/repo/a -isystem="/repo/b c"\n' : '');
  assert.deepEqual(argsOf(database, '/repo/build/a.cu', readText), ['-DX', '-I/repo/a', '-isystem=/repo/b c']);
  assert.deepEqual(argsOf(database, '/repo/build/a.cu'), ['-DX', '--options-file', 'CMakeFiles/a.rsp']);
});

test('one of ten thousand entries is found, some of them of missing files', () => {
  const entries = Array.from({ length: 10_000 }, (_, index) => ({
    directory: '/repo/build',
    file: `../src/part${index % 100}/file${index}.cu`,
    command: `/usr/bin/nvcc -DINDEX=${index} ${'-I/missing/include '.repeat(20)} -c /other/spelling/file${index}.cu`,
  }));
  const database = databaseOf(entries);
  assert.equal(database.commands.size, 10_000);
  assert.equal(argsOf(database, '/repo/src/part99/file9999.cu')[0], '-DINDEX=9999');
  assert.ok(argsOf(database, '/repo/src/part99/file9999.cu').every((word) => word.startsWith('-')));
  assert.equal(argsOf(database, '/repo/src/part7/none.cu')[0], '-DINDEX=1007');
  // Files outside of the repository are not neighbours.
  const outside = entries.map((entry) => ({ ...entry, directory: '/missing/build' }));
  assert.equal(flagsOf(databaseOf(outside), '/repo/src/part7/none.cu'), null);
});
