import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileErrors, type MessageContext } from '../../src/toolchain/compiler-messages.ts';
import { temporaryFolder, writeFiles } from './fixture.ts';

function context(root: string, trust: 'user' | 'pull-request'): MessageContext {
  return { root, unit: 'src/a.cu', directory: root, trust };
}

const remedy = 'State the folder of the header with `-- -I FOLDER`, or with `nvcc.args` in `.selvage.yml`.';

test('errors of nvcc, its front end and the host compiler get file and line', async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'src/a.cu': '', 'src/b.h': '' });
  const output = [
    `${root}/src/a.cu(12): error: identifier "blockdim" is undefined`,
    '          y = blockdim;',
    `${root}/src/a.cu(13): warning #177-D: variable "x" was declared but never referenced`,
    `src/b.h(4): error #20: identifier "q" is undefined`,
    `${root}/src/a.cu:3:10: fatal error: missing.h: No such file or directory`,
    `/usr/include/stdio.h(7): error: expected a ";"`,
    `nvcc fatal   : Unsupported gpu architecture 'sm_20'`,
    `nvcc error   : 'cicc' died due to signal 9 (Kill signal)`,
    '2 errors detected in the compilation of "a.cu".',
  ].join('\n');
  const places = (await compileErrors(output, context(root, 'user'))).map(
    ({ message, location }) => `${location?.file}:${location?.line}:${location?.column ?? ''} ${message}`,
  );
  assert.deepEqual(places, [
    'src/a.cu:12: The file does not compile: identifier "blockdim" is undefined',
    'src/b.h:4: The file does not compile: identifier "q" is undefined',
    'src/a.cu:3:10 The file does not compile: missing.h: No such file or directory. ' + remedy,
    'src/a.cu:1: The file does not compile: expected a ";"',
    `src/a.cu:1: The file does not compile: Unsupported gpu architecture 'sm_20'`,
    `src/a.cu:1: The file does not compile: 'cicc' died due to signal 9 (Kill signal)`,
  ]);
});

test('messages of every phase of nvcc are parsed, in any form', async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'src/a.cu': '' });
  const cases: readonly (readonly [string, string])[] = [
    [
      '<command-line>: fatal error: nope.h: No such file or directory\ncompilation terminated.',
      `nope.h: No such file or directory. ${remedy}`,
    ],
    ['<command-line>: error: macro names must be identifiers', 'macro names must be identifiers'],
    ["gcc: error: unrecognized command-line option '-foo'", "unrecognized command-line option '-foo'"],
    ['Command-line error: invalid option: --foo\n\n1 catastrophic error detected in this compilation.', 'invalid option: --foo'],
    ["ptxas unit.ptx, line 7; error   : Unknown symbol 'x'", "Unknown symbol 'x'"],
    ['cudafe++ error   : no input', 'no input'],
    ['LLVM ERROR: out of memory', 'out of memory'],
    ['Error: Internal Compiler Error (codegen): "unsupported operation"', 'Internal Compiler Error (codegen): "unsupported operation"'],
    [
      '/opt/bin/nvcc: error while loading shared libraries: libm.so.6: failed',
      '/opt/bin/nvcc: error while loading shared libraries: libm.so.6: failed',
    ],
    [
      'nope: No such file or directory\nnvcc fatal   : Failed to preprocess host compiler properties.',
      'Failed to preprocess host compiler properties.',
    ],
    ['one word\nthis tool failed in its own words\nlast', 'this tool failed in its own words'],
    ['one word\n\nlast words\n', 'last words'],
  ];
  for (const [output, reason] of cases) {
    const [first] = await compileErrors(output, context(root, 'user'));
    assert.equal(first?.message, `The file does not compile: ${reason}`, output);
    const [hidden] = await compileErrors(output, context(root, 'pull-request'));
    assert.match(hidden?.message ?? '', /^The file does not compile: [a-z #,]+\. See the log/);
  }
});

test('an error at the end of the file is reported at its last line', async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'src/a.cu': 'int f() {\n  return 1;\n\n' });
  const [error, ...others] = await compileErrors('At end of source: error: expected a "}"\n', context(root, 'user'));
  assert.deepEqual(
    [others, error?.location, error?.message],
    [[], { file: 'src/a.cu', line: 2 }, 'The file does not compile: expected a "}", at the end of the file'],
  );
});

test('for a pull request neither texts of the compiler nor invented places are passed on', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(folder, { 'repo/src/a.cu': '', 'secret.txt': '' });
  const output = [
    `${root}/src/a.cu(2): error: identifier "AKIA_SECRET" is undefined`,
    `${folder}/secret.txt(3): error: expected a "@team"`,
    `@everyone(4): error: static assertion failed with "AKIA_SECRET"`,
    `${root}/src/a.cu(5): error: AKIA_SECRET`,
    `${root}/src/a.cu(99999999999): error: AKIA_SECRET`,
  ].join('\n');
  const diagnostics = await compileErrors(output, context(root, 'pull-request'));
  assert.doesNotMatch(JSON.stringify(diagnostics), /AKIA|everyone|team|secret/);
  assert.deepEqual(
    diagnostics.map(({ location }) => `${location?.file}:${location?.line}`),
    ['src/a.cu:2', 'src/a.cu:1', 'src/a.cu:1', 'src/a.cu:5', 'src/a.cu:1'],
  );
  assert.match(diagnostics[0]!.message, /an identifier is not defined/);
  assert.match(diagnostics[1]!.message, /syntax error/);
  assert.match(diagnostics[2]!.message, /static assertion/);
});

test('messages are one line of printable text of limited length, and their number is limited', async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'src/a.cu': '' });
  const one = await compileErrors(`src/a.cu(1): error: \u001b[31mred\u001b[0m\u202e\u0007 ${'x'.repeat(500)}`, context(root, 'user'));
  assert.match(one[0]!.message, /^The file does not compile: red   x{190,}…$/);
  const lines = Array.from({ length: 50 }, (_, line) => `src/a.cu(${line + 1}): error: bad`);
  const many = await compileErrors(lines.join('\n'), context(root, 'user'));
  assert.equal(many.length, 21);
  assert.equal(many[20]!.message, 'This file has 30 more errors, which are not listed.');
});

test('removed features of newer toolkits get a hint in addition to the error', async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'src/a.cu': '' });
  const names = [
    'texture is not a template',
    'identifier "cudaThreadSynchronize" is undefined',
    'identifier "__shfl" is undefined',
    'identifier "toString" is undefined',
  ];
  for (const trust of ['user', 'pull-request'] as const) {
    const output = names.map((name, index) => `src/a.cu(${index + 1}): error: ${name}`).join('\n');
    const hints = (await compileErrors(output, context(root, trust))).filter(({ code }) => code === 'compile/removed-api');
    assert.deepEqual(
      hints.map(
        ({ severity, location, message }) =>
          `${severity} ${location?.line} ${/cuda\w+|__shfl_sync/.exec(message.replace('cudaThreadSynchronize', ''))?.[0]}`,
      ),
      ['notice 1 cudaTextureObject_t', 'notice 2 cudaDeviceSynchronize', 'notice 3 __shfl_sync'],
    );
  }
});
