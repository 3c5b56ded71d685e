import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findCompiler, parseVersion } from '../../src/toolchain/compiler.ts';
import { fakeAnswers, temporaryFolder, writeProgram } from './fixture.ts';

test('the version is parsed from the output of nvcc', () => {
  const text = 'nvcc: NVIDIA (R) Cuda compiler driver\nCuda compilation tools, release 12.9, V12.9.86\nBuild cuda_12.9\n';
  assert.deepEqual(parseVersion(text), { major: 12, minor: 9, text: '12.9.86' });
  assert.equal(parseVersion('gcc (Debian) 12.2.0'), null);
});

test('PATH comes first, then CUDA_HOME, CUDA_PATH, the usual folders', async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ['path', 'home/bin', 'cuda/bin', 'usual/bin']) writeProgram(join(folder, name, 'nvcc'), fakeAnswers);
  writeProgram(join(folder, 'home/bin/ptxas'), '');
  const env = { PATH: `${folder}/nothing:${folder}/path`, CUDA_HOME: `${folder}/home`, CUDA_PATH: `${folder}/cuda` };
  const folders = [join(folder, 'usual')];
  const find = async (query: Parameters<typeof findCompiler>[0]): Promise<string | undefined> => {
    const found = await findCompiler(query);
    return 'compiler' in found ? found.compiler.path : undefined;
  };
  assert.equal(await find({ env, folders }), join(folder, 'path/nvcc'));
  assert.equal(await find({ env: { ...env, PATH: '' }, folders }), join(folder, 'home/bin/nvcc'));
  assert.equal(await find({ env: { CUDA_PATH: env.CUDA_PATH }, folders }), join(folder, 'cuda/bin/nvcc'));
  assert.equal(await find({ env: {}, folders }), join(folder, 'usual/bin/nvcc'));
  assert.equal(await find({ env, folders, path: join(folder, 'cuda') }), join(folder, 'cuda/bin/nvcc'));
  assert.equal(await find({ env, folders, path: join(folder, 'cuda/bin/nvcc') }), join(folder, 'cuda/bin/nvcc'));
  assert.equal(await find({ env, folders, path: join(folder, 'elsewhere') }), undefined);

  const found = await findCompiler({ env: { CUDA_HOME: env.CUDA_HOME }, folders });
  assert.ok('compiler' in found);
  assert.equal(found.compiler.ptxas, join(folder, 'home/bin/ptxas'));
  assert.deepEqual(found.compiler.features, { fastCompile: true, briefDiagnostics: true, separateFrontEnd: true });
});

test('features of an older nvcc are read from its help', async (t) => {
  const folder = temporaryFolder(t);
  for (const [help, features] of [
    ['--Ofast-compile <level>', { fastCompile: true, briefDiagnostics: false, separateFrontEnd: false }],
    ['--brief-diagnostics {true|false}', { fastCompile: false, briefDiagnostics: true, separateFrontEnd: false }],
  ] as const) {
    const answers = `const [word] = process.argv.slice(2);
      if (word === '--version') console.log('Cuda compilation tools, release 12.9, V12.9.86');
      if (word === '--help') console.log('${help}');`;
    writeProgram(join(folder, 'bin/nvcc'), answers);
    const found = await findCompiler({ env: { PATH: join(folder, 'bin') }, folders: [] });
    assert.deepEqual('compiler' in found && found.compiler.features, features);
  }
});

test('without a compiler the diagnostic lists three methods to get one', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin/nvcc'), 'not a program');
  const found = await findCompiler({ env: { PATH: join(folder, 'bin') }, folders: [] });
  assert.ok('diagnostic' in found);
  assert.equal(found.diagnostic.code, 'compile/no-compiler');
  assert.match(found.diagnostic.message, /Jimver\/cuda-toolkit.*cuda-nvcc.*--nvcc PATH.*\.ptx/s);
  const named = await findCompiler({ env: {}, folders: [], path: '/nowhere/nvcc' });
  assert.match('diagnostic' in named ? named.diagnostic.message : '', /^\/nowhere\/nvcc is not an nvcc that runs here/);
});

test('a program on PATH that is not nvcc is skipped', async (t) => {
  const folder = temporaryFolder(t);
  writeProgram(join(folder, 'a/nvcc'), `console.log('hello')`);
  writeProgram(join(folder, 'b/nvcc'), fakeAnswers);
  const found = await findCompiler({ env: { PATH: `${folder}/a:${folder}/b` }, folders: [] });
  assert.equal('compiler' in found && found.compiler.path, join(folder, 'b/nvcc'));
});

test('no program of the workspace is run: not by a relative PATH, not through a link', async (t) => {
  const folder = temporaryFolder(t);
  const workspace = join(folder, 'workspace');
  const trap = `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'sprung'))}, '');${fakeAnswers}`;
  writeProgram(join(workspace, 'bin/nvcc'), trap);
  mkdirSync(join(folder, 'linked'));
  symlinkSync(join(workspace, 'bin/nvcc'), join(folder, 'linked/nvcc'));
  chmodSync(join(folder, 'linked/nvcc'), 0o755);
  const env = { PATH: `.:bin::${workspace}/bin:${folder}/linked`, CUDA_HOME: workspace, CUDA_PATH: '.' };
  const found = await findCompiler({ env, folders: [], outside: workspace });
  assert.ok('diagnostic' in found);
});
