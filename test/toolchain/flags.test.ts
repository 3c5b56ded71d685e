import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { selectFlags } from '../../src/toolchain/flags.ts';
import { temporaryFolder, writeFiles } from './fixture.ts';

const origin = '.selvage.yml';

test('the allow-list passes flags that affect device code, one argument an option', async (t) => {
  const directory = temporaryFolder(t);
  mkdirSync(join(directory, 'include'));
  writeFiles(directory, { 'config.h': '' });
  const args = [
    '-std=c++17',
    '--std',
    'c++20',
    '-O3',
    '-O',
    '2',
    '--use_fast_math',
    '-ftz=true',
    '--fmad',
    'false',
    '-DN=4',
    '-D',
    'NAME="1.0"',
    '--define-macro=A,B=2',
    '-UX',
    '-Iinclude',
    '--include-path',
    'include,.',
    '-isystem=include',
    '-include',
    'config.h',
    '-maxrregcount=32',
    '--expt-relaxed-constexpr',
    '--extended-lambda',
    '-w',
    '-rdc',
    'true',
    '-dc',
    '-diag-suppress=177,20',
  ];
  const selected = await selectFlags({ args, origin, directory, trust: 'pull-request', roots: [directory] });
  assert.deepEqual(selected.diagnostics, []);
  assert.deepEqual(selected.flags, [
    '-std=c++17',
    '-std=c++20',
    '-O3',
    '-O2',
    '-use_fast_math',
    '-ftz=true',
    '-fmad=false',
    '-DN=4',
    '-DNAME="1.0"',
    '-DA',
    '-DB=2',
    '-UX',
    `-I${directory}/include`,
    `-I${directory}/include`,
    `-I${directory}`,
    `-isystem=${directory}/include`,
    `-include=${directory}/config.h`,
    '-maxrregcount=32',
    '-expt-relaxed-constexpr',
    '-extended-lambda',
    '-w',
    '-rdc=true',
    '-rdc=true',
    '-diag-suppress=177,20',
  ]);
});

test("flags that Selvage's build sets are removed, and the architectures are reported", async (t) => {
  const directory = temporaryFolder(t);
  const args = [
    '-c',
    '-o',
    'x.o',
    '-ptx',
    '-G',
    '-lineinfo',
    '-MD',
    '-MF',
    'x.d',
    '-MT',
    'x',
    '-arch=sm_90',
    '--gpu-architecture',
    'compute_80',
    '-gencode',
    'arch=compute_75,code=[sm_75,compute_75]',
    '--generate-code=arch=compute_90a,code=sm_90a',
    '-x',
    'cu',
    '-DKEPT',
  ];
  for (const trust of ['user', 'pull-request'] as const) {
    const selected = await selectFlags({ args, origin, directory, trust, roots: [directory] });
    assert.deepEqual(selected.diagnostics, []);
    assert.deepEqual(selected.flags, ['-DKEPT']);
    assert.deepEqual(selected.architectures, ['sm_90', 'compute_80', 'compute_75', 'sm_75', 'compute_90a', 'sm_90a']);
  }
});

const refused: readonly (readonly string[])[] = [
  // Programs.
  ['-ccbin', 'evil'],
  ['-ccbin=evil'],
  ['--compiler-bindir', 'evil'],
  ['--compiler-bindir=evil'],
  ['-Xcompiler', '-fplugin=x.so'],
  ['-Xcompiler=-B.'],
  ['-Xcompiler=-wrapper,sh'],
  ['--compiler-options=-fplugin=x.so'],
  ['-compiler-options', '-B.'],
  ['-fplugin=x.so'],
  ['-Xcicc', '-x'],
  ['-Xcudafe', '--x'],
  ['-Xcompiler=-fPIC,-fplugin=x.so'],
  ['-arbin=x'],
  ['--run'],
  ['-run'],
  ['--use-local-env'],
  ['-ldir=.'],
  ['-target-dir', 'x'],
  ['-forward-unknown-opts'],
  // Option files.
  ['--options-file', 'x'],
  ['--options-file=x'],
  ['-optf', 'x'],
  ['-optf=x'],
  ['@x'],
  ['-Xcompiler=@x'],
  // Options that write or keep files.
  ['--keep'],
  ['--keep-dir=.'],
  ['-keep-dir', '.'],
  ['-time=x'],
  ['-odir=.'],
  ['-dryrun'],
  ['--save-temps'],
  // Paths that lead outside.
  ['-I/etc'],
  ['-I', '/'],
  ['-I..'],
  ['-I=../x'],
  ['-Iinside,/etc'],
  ['-isystem', '/home'],
  ['-include', '/etc/passwd'],
  ['-include=../x.h'],
  ['-include', 'x/../../y.h'],
  ['-include', '.git/config'],
  ['-Ilink'],
  ['-I.git'],
  ['-I', '.git/hooks'],
  ['-I/proc/self/cwd'],
  ['--include-path=/dev'],
  ['-I'],
  // Words that would reach a shell, or become another option.
  ['-DX=$(touch y)'],
  ['-DX=`touch y`'],
  ['-DX=1 -ccbin y'],
  ['-DX=1;y'],
  ['-DX=\\$(y)'],
  ['-DX="a b"'],
  ['-DX="$(y)"'],
  ['-DX=1\ny'],
  ['-DX=a"b'],
  ["-DX='y'"],
  ['-DX=a|b'],
  ['-DX=a&b'],
  ['-DX=<y'],
  ['-D', '-ccbin'],
  ['-D'],
  ['-D='],
  ['-D1=2'],
  ['-DF(x)=x'],
  ['-DX=*'],
  ['-UX;y'],
  ['-U$(y)'],
  ['-Ia$(y)'],
  ['-I"'],
  ['-DX=1,-ccbin=y'],
  ['-DX=é'],
  ['-Ｄ', 'X'],
  // Look-alikes and odd spellings.
  ['—ccbin=x'],
  ['‐DX'],
  ['---DX'],
  ['-std=c++17 -x'],
  ['-std=c++17,-ccbin'],
  ['--std=evil'],
  ['-O=3;y'],
  ['-maxrregcount=1x'],
  ['-ftz=$(y)'],
  ['-w=1'],
  ['x.cu'],
  ['-'],
  [''],
  ['--'],
  ['-std'],
  ['-Wl,x'],
  ['-Wp,x'],
  ['-default-stream=x'],
  ['--use_fast_mat'],
  ['-diag-suppress=1,x'],
  ['-dc=x'],
];

for (const args of refused) {
  test(`a pull request may not set ${JSON.stringify(args)}`, async (t) => {
    const folder = temporaryFolder(t);
    const directory = join(folder, 'workspace');
    mkdirSync(join(directory, 'inside'), { recursive: true });
    mkdirSync(join(directory, '.git/hooks'), { recursive: true });
    symlinkSync('/etc', join(directory, 'link'));
    const selected = await selectFlags({ args, origin, directory, trust: 'pull-request', roots: [directory] });
    assert.ok(selected.diagnostics.length > 0, `passed on as ${selected.flags.join(' ')}`);
    const [diagnostic] = selected.diagnostics;
    assert.equal(diagnostic!.code, 'compile/flag-refused');
    assert.match(diagnostic!.message, /^Selvage rejects the flag .* of \.selvage\.yml:/);
    assert.doesNotMatch(diagnostic!.message, /[^\x20-\x7e]/);
    const shown = [...(args[0] ?? '')].map((character) => (/[\x20-\x7e]/.test(character) ? character : '?')).join('');
    assert.ok(diagnostic!.message.includes(shown.slice(0, 80)));
  });
}

test('flags without effect on device code are left out and listed, from any author', async (t) => {
  const directory = temporaryFolder(t);
  const both = ['-Xcompiler', '-fPIC,-Wall', '-Wextra', '-pthread', '-fvisibility=hidden', '-march=native', '-DX'];
  for (const trust of ['user', 'pull-request'] as const) {
    const selected = await selectFlags({ args: both, origin, directory, trust, roots: [directory] });
    assert.deepEqual(selected.diagnostics, []);
    assert.deepEqual(selected.flags, ['-DX']);
    assert.deepEqual(selected.dropped, ['-Xcompiler -fPIC,-Wall', '-Wextra', '-pthread', '-fvisibility=hidden', '-march=native']);
  }
  const args = ['-forward-unknown-to-host-compiler', '-Xptxas=-v', '-Xlinker', '-rpath', '-lx', '-L', 'y', '-DX'];
  const later = await selectFlags({ args, origin, directory, trust: 'pull-request', roots: [directory] });
  assert.deepEqual([later.flags, later.diagnostics], [['-DX'], []]);
  assert.deepEqual(later.dropped, ['-Xptxas=-v', '-Xlinker -rpath', '-lx', '-L y']);
});

test('flags that a pull request may not set are left out, if the user did not name their database', async (t) => {
  const directory = temporaryFolder(t);
  const args = ['-DX', '-isystem=/etc/x', '-ccbin=g++', '-std=c++17'];
  const request = { args, origin: 'build/compile_commands.json', directory, roots: [directory] };
  const found = await selectFlags({ ...request, trust: 'pull-request', isFound: true });
  assert.deepEqual(found.flags, ['-DX', '-std=c++17']);
  assert.deepEqual([found.refused, found.diagnostics], [['-isystem=/etc/x', '-ccbin=g++'], []]);
  const named = await selectFlags({ ...request, trust: 'pull-request' });
  assert.deepEqual(
    named.diagnostics.map(({ code }) => code),
    ['compile/flag-refused', 'compile/flag-refused'],
  );
});

test('flags for the host compiler that may change device code stay', async (t) => {
  const directory = temporaryFolder(t);
  for (const trust of ['user', 'pull-request'] as const) {
    const selected = await selectFlags({
      args: ['-Xcompiler=-fPIC,-fopenmp'],
      origin,
      directory,
      trust,
      roots: [directory],
    });
    assert.deepEqual([selected.flags, selected.diagnostics], [['-Xcompiler', '-fopenmp'], []]);
  }
});

test('a header given by -include is found in the folder or on the search path', async (t) => {
  const directory = temporaryFolder(t);
  writeFileSync(join(directory, 'own.h'), '');
  for (const trust of ['user', 'pull-request'] as const) {
    const args = ['-include', 'cstdint', '-include=own.h', '-include', 'cuda/std/atomic'];
    const selected = await selectFlags({ args, origin, directory, trust, roots: [directory] });
    assert.deepEqual(selected.diagnostics, []);
    assert.deepEqual(selected.flags, ['-include=cstdint', `-include=${join(directory, 'own.h')}`, '-include=cuda/std/atomic']);
  }
});

test('the user’s own flags are unchanged', async (t) => {
  const directory = temporaryFolder(t);
  const args = ['-ccbin', 'g++-12', '-Xcompiler=-fopenmp', '-DX=a b', '-I..', '--any-flag', '-Xcicc', '-O1'];
  const selected = await selectFlags({ args, origin, directory, trust: 'user', roots: [] });
  assert.deepEqual(selected.diagnostics, []);
  assert.deepEqual(selected.flags, [
    '-ccbin',
    'g++-12',
    '-Xcompiler=-fopenmp',
    '-DX=a b',
    `-I${join(directory, '..')}`,
    '--any-flag',
    '-Xcicc',
    '-O1',
  ]);
});
