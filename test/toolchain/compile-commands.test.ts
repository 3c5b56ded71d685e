import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagsOf, parseCompileCommands } from '../../src/toolchain/compile-commands.ts';
import { shellWords } from '../../src/toolchain/shell-words.ts';

test('words are split as a shell does, and nothing is expanded', () => {
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
      '-forward-unknown-to-host-compiler', '-DNDEBUG', '-I../include', '-isystem=/opt/x',
      '--generate-code=arch=compute_80,code=[sm_80]', '-Xcompiler', '-fopenmp', '-std=c++17',
    ],
    directory: '/repo/build',
  }); // prettier-ignore
  assert.deepEqual(flagsOf(database, '/repo/src/b.cu'), { args: ['-DB'], directory: '/repo/build' });
  assert.deepEqual(flagsOf(database, '/repo/build/c.cu'), { args: ['-DC'], directory: '/repo/build' });
  assert.equal(flagsOf(database, '/repo/src/d.cu'), null);
});

test('of flags of the host compiler only what it can do no harm with is left out', () => {
  const flags = [
    '-Wl,-x',
    '-Wp,-MD,x',
    '-Wa,-x',
    '-fplugin=x.so',
    '-B.',
    '-DX',
    '-include',
    '-fno-pic',
    '-Wextra',
    '-O2',
    '-g3',
  ];
  const file = '/repo/a.cu';
  for (const flag of flags) {
    const text = JSON.stringify([{ directory: '/repo', file, arguments: ['nvcc', `-Xcompiler=${flag}`] }]);
    const { args } = flagsOf(parseCompileCommands(text, 'compile_commands.json', '/repo'), file)!;
    const kept = flag.split(',').flatMap((part) => ['-Xcompiler', part]);
    const harmless = ['-fno-pic', '-Wextra', '-O2', '-g3'].includes(flag);
    assert.deepEqual(args, harmless ? [] : kept, flag);
  }
});

test('a database that cannot be read is reported, entry by entry', () => {
  const codesOf = (text: string): string[] =>
    parseCompileCommands(text, 'c.json', '/repo').diagnostics.map(({ code, location }) => `${code} ${location?.file}`);
  assert.deepEqual(codesOf('{'), ['compile/commands c.json']);
  assert.deepEqual(codesOf('{}'), ['compile/commands c.json']);
  const entries = [
    1,
    null,
    {},
    { file: 'a.cu' },
    { file: 'a.cu', command: '"' },
    { file: 'a.cu', arguments: [1] },
    { file: 2, command: 'x' },
  ];
  assert.equal(codesOf(JSON.stringify(entries)).length, entries.length);
  const good = { directory: '/r', file: 'a.cu', command: 'nvcc a.cu' };
  const database = parseCompileCommands(JSON.stringify([{}, good]), 'c.json', '/repo');
  assert.deepEqual([database.commands.length, database.diagnostics.length], [1, 1]);
});
