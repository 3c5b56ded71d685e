import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { compileUnit, parseRule, unitDependencies } from '../../src/toolchain/compile.ts';
import { fakeCompiler, flagGroup, nvcc, request, temporaryFolder, withoutNvcc, writeFiles } from './fixture.ts';

const kernel = '__global__ void k(int* a) { a[threadIdx.x] = 1; }\n';
const codesOf = (result: { diagnostics: readonly { code: string }[] }): string[] => result.diagnostics.map(({ code }) => code);

test('the compiler inherits no environment, and works in a folder outside of the repository', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(root, { 'a.cu': kernel, '.git/config': 'token' });
  const compiler = fakeCompiler(
    folder,
    `require('node:fs').writeFileSync(args[args.indexOf('-o') + 1], JSON.stringify({ args, env: process.env, cwd: process.cwd() }));
     const kept = args[args.indexOf('--keep-dir') + 1]; require('node:fs').writeFileSync(kept + '/a.cpp1.ii', '');`,
  );
  const secrets = [
    'INPUT_TOKEN',
    'GITHUB_TOKEN',
    'ACTIONS_RUNTIME_TOKEN',
    'NVCC_APPEND_FLAGS',
    'NVCC_PREPEND_FLAGS',
    'NVCC_CCBIN',
    'CPATH',
    'LD_PRELOAD_X',
  ];
  for (const name of secrets) process.env[name] = 'secret-value';
  t.after(() => secrets.forEach((name) => delete process.env[name]));
  const result = await compileUnit(request(compiler, root, 'a.cu'));
  const seen: { args: string[]; env: Record<string, string>; cwd: string } = JSON.parse(result.ptx ?? '');
  assert.deepEqual(Object.keys(seen.env).sort(), ['GLIBC_TUNABLES', 'HOME', 'LC_ALL', 'PATH', 'SOURCE_DATE_EPOCH', 'TMPDIR']);
  assert.doesNotMatch(JSON.stringify(seen), /secret-value/);
  assert.equal(seen.env['PATH'], compiler.searchPath.join(':'));
  assert.ok(!seen.env['HOME']!.startsWith(root));
  assert.equal(seen.args.at(-1), join(root, 'a.cu'));
  assert.ok(!existsSync(seen.env['TMPDIR']!), 'the temporary folder is removed');
});

test('a compiler that hangs or floods is stopped', async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, { 'a.cu': kernel });
  const base = request(
    fakeCompiler(
      folder,
      `if (args.includes('-DFLOOD')) { const x = 'x'.repeat(4096); (function more() { process.stdout.write(x, more); })(); } else setInterval(() => {}, 1000);`,
    ),
    folder,
    'a.cu',
  );
  const hung = await compileUnit({ ...base, limits: { milliseconds: 700, outputBytes: 1 << 16 } });
  assert.deepEqual(codesOf(hung), ['compile/limit']);
  assert.match(hung.diagnostics[0]!.message, /after 0.7 seconds/);
  assert.equal(hung.ptx, undefined);
  const flooded = await compileUnit({
    ...base,
    flags: [flagGroup(folder, '-DFLOOD')],
    limits: { milliseconds: 20_000, outputBytes: 1 << 16 },
  });
  assert.deepEqual(codesOf(flooded), ['compile/limit']);
  assert.match(flooded.diagnostics[0]!.message, /more than 65536 bytes/);
});

test('an untrusted file without cached preprocessed text is not used', async (t) => {
  const folder = temporaryFolder(t);
  writeFiles(folder, { 'repo/a.cu': kernel });
  const root = join(folder, 'repo');
  const compiler = fakeCompiler(
    folder,
    `if (args.includes('-M')) console.log('a.o : ' + args.at(-1)); else require('node:fs').writeFileSync(args[args.indexOf('-o') + 1] ?? '/dev/null', 'ptx');`,
  );
  assert.equal((await compileUnit(request(compiler, root, 'a.cu'))).ptx, 'ptx');
  const result = await compileUnit({ ...request(compiler, root, 'a.cu'), trust: 'pull-request' });
  assert.equal(result.ptx, undefined);
  assert.deepEqual(codesOf(result), ['compile/failed']);
});

test('a rejected flag, a name that a shell interprets, an unknown architecture: nvcc is not run', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  const names = ['$(touch x).cu', '`touch x`.cu', 'a"b.cu', 'a\\b.cu', 'a\nb.cu', 'sub$(id)/a.cu'];
  writeFiles(root, Object.fromEntries([...names, 'a.cu', 'a;b.cu'].map((name) => [name, kernel])));
  const compiler = fakeCompiler(folder, `require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '');`);
  const base = request(compiler, root, 'a.cu');
  for (const trust of ['user', 'pull-request'] as const) {
    for (const file of names) assert.deepEqual(codesOf(await compileUnit({ ...base, trust, file })), ['compile/unsafe-name'], file);
    assert.deepEqual(codesOf(await compileUnit({ ...base, trust, arch: 'sm_80 -ccbin x' })), ['compile/failed']);
    assert.deepEqual(codesOf(await compileUnit({ ...base, trust, file: 'none.cu' })), ['compile/failed']);
  }
  assert.ok(!existsSync(join(folder, 'ran')));
  assert.deepEqual(codesOf(await compileUnit({ ...base, trust: 'pull-request', file: 'a;b.cu' })), ['compile/unsafe-name']);
  const refused = await compileUnit({
    ...base,
    trust: 'pull-request',
    flags: [
      flagGroup(root, '-DA'),
      { args: ['-ccbin', 'x'], origin: 'compile_commands.json', directory: root },
      { args: ['-Xcicc=-v'], origin: 'the command line', directory: root },
    ],
  });
  assert.deepEqual(codesOf(refused), ['compile/flag-refused', 'compile/flag-refused']);
  assert.match(refused.diagnostics[0]!.message, /-ccbin x of compile_commands\.json/);
  assert.match(refused.diagnostics[1]!.message, /-Xcicc=-v of the command line/);
});

test('the prerequisites of a rule are read as make reads them', () => {
  const text = 'a b.o : /w/a\\ b.cu \\\n    /w/c\\#d.h \\\n /w/e$$f.h\n';
  assert.deepEqual(parseRule(text), ['/w/a b.cu', '/w/c#d.h', '/w/e$f.h']);
});

test('the two builds: one preserves every access, one is executed', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'a.cu': `__global__ void k(int* __restrict__ a, const int* __restrict b) {
  __shared__ int dead[32];
  dead[threadIdx.x] = 1;
  int v = b[0];
  __syncthreads();
  a[threadIdx.x] = v + b[0];
}
`,
  });
  const base = request(nvcc!, root, 'a.cu');
  const verification = await compileUnit(base);
  const production = await compileUnit({ ...base, build: 'production' });
  assert.deepEqual([...verification.diagnostics, ...production.diagnostics], []);
  const loads = (ptx: string | undefined): number => ptx!.match(/\bld\.(?!param)/g)?.length ?? 0;
  assert.deepEqual([loads(verification.ptx), loads(production.ptx)], [2, 1]);
  assert.match(verification.ptx!, /st\.shared|st\.u32[^]*st\.u32/);
  assert.match(production.ptx!, /ld\.global\.nc/);
  assert.doesNotMatch(production.ptx!, /dead/);
  for (const { ptx, dependencies } of [verification, production]) {
    assert.match(ptx!, /\.loc\s+1 6 /);
    assert.match(ptx!, /\.target sm_80/);
    assert.deepEqual(dependencies, ['a.cu']);
  }
});

test('selvage.h affects only the verification build, and reads no memory', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'a.cu': `#include "selvage.h"
struct Size { int n; };
__global__ void k(int* a, int n, Size size, float f, double d, bool b, char c, unsigned short h, long long l) {
  __shared__ float s[8];
  SELVAGE_ASSUME(n % 32 == 0);
  if (n > 3) SELVAGE_ASSUME(size.n > n); else SELVAGE_HAVOC(n);
  SELVAGE_HAVOC(size.n); SELVAGE_HAVOC(f); SELVAGE_HAVOC(d); SELVAGE_HAVOC(b); SELVAGE_HAVOC(c);
  SELVAGE_HAVOC(h); SELVAGE_HAVOC(l); SELVAGE_HAVOC(a); SELVAGE_HAVOC(s[n]);
  a[n] = f + d + b + c + h + l + size.n;
}
`,
  });
  const base = request(nvcc!, root, 'a.cu');
  const verification = await compileUnit({ ...base, trust: 'pull-request' });
  assert.deepEqual(verification.diagnostics, []);
  assert.equal(verification.ptx!.match(/^\s*\/\/ selvage\.assume %r\d+;$/gm)?.length, 2);
  assert.equal(verification.ptx!.match(/^\s*\/\/ selvage\.unknown %\w+$/gm)?.length, 8);
  assert.doesNotMatch(verification.ptx!, /ld\.shared/);
  const production = await compileUnit({ ...base, build: 'production' });
  assert.deepEqual(production.diagnostics, []);
  assert.doesNotMatch(production.ptx!, /selvage\./);
});

test('headers that use restrict still compile without it', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  const headers = ['cooperative_groups.h', 'cuda_fp16.h', 'mma.h', 'cmath', 'vector', 'cstring', 'algorithm'];
  writeFiles(root, { 'a.cu': headers.map((header) => `#include <${header}>\n`).join('') + kernel });
  const result = await compileUnit(request(nvcc!, root, 'a.cu'));
  assert.deepEqual(result.diagnostics, []);
  assert.match(result.ptx!, /\.entry/);
});

test('errors become diagnostics; the messages of the compiler are logged', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'src/a.cu': '#include "b.h"\n__global__ void k(int* a) { a[0] = SECRET_NAME; }\nvoid f() { cudaThreadSynchronize(); }\n',
    'src/b.h': 'inline int g() { return other_name }\n',
  });
  let log = '';
  const base = { ...request(nvcc!, root, 'src/a.cu'), onLog: (text: string) => (log += text) };
  const places = (diagnostics: readonly { code: string; location?: { file: string; line: number } }[]): string[] =>
    diagnostics.map(({ code, location }) => `${code} ${location?.file}:${location?.line}`);
  const expected = ['compile/failed src/b.h:1', 'compile/failed src/b.h:1', 'compile/failed src/a.cu:2', 'compile/failed src/a.cu:3'];
  const user = await compileUnit(base);
  assert.equal(user.ptx, undefined);
  assert.match(JSON.stringify(user.diagnostics), /SECRET_NAME/);
  assert.deepEqual(user.dependencies, ['src/a.cu', 'src/b.h']);
  log = '';
  const stranger = await compileUnit({ ...base, trust: 'pull-request' });
  assert.match(log, /SECRET_NAME/);
  assert.doesNotMatch(JSON.stringify(stranger.diagnostics), /SECRET_NAME|other_name/);
  for (const result of [user, stranger]) {
    const found = places(result.diagnostics);
    for (const place of expected) assert.ok(found.includes(place), `${place} in ${found.join(', ')}`);
    assert.ok(codesOf(result).includes('compile/removed-api') === /cudaThreadSynchronize/.test(log));
  }
  const missing = await compileUnit({
    ...base,
    trust: 'pull-request',
    file: 'src/a.cu',
    flags: [flagGroup(base.root, '-include', 'src/none.h')],
  });
  assert.deepEqual(places(missing.diagnostics), ['compile/failed src/a.cu:1']);
});

const escapes: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
  ['an absolute path', { 'a.cu': '#include "OUTSIDE/secret.h"\n' }],
  ['a path that climbs out', { 'a.cu': '#include "../secret.h"\n' }],
  ['a link', { 'a.cu': '#include "link.h"\n' }],
  ['a folder that is a link', { 'a.cu': '#include "up/secret.h"\n' }],
  ['.. after a folder that is a link', { 'a.cu': '#include "far/../secret.h"\n', 'secret.h': '' }],
  ['the configuration of git', { 'a.cu': '#include ".git/config"\n' }],
  ['a device', { 'a.cu': '#include "/dev/null"\n' }],
  ['the environment', { 'a.cu': '#include "/proc/self/environ"\n' }],
  ['a macro', { 'a.cu': '#define P "../secret.h"\n#include P\n' }],
  ['a header of the repository', { 'a.cu': '#include "b.h"\n', 'b.h': '#include "../secret.h"\n' }],
  ['the device pass only', { 'a.cu': '#ifdef __CUDA_ARCH__\n#include "../secret.h"\n#endif\n' }],
  ['the host pass only', { 'a.cu': '#ifndef __CUDA_ARCH__\n#include "../secret.h"\n#endif\n' }],
  ['one build only', { 'a.cu': '#ifdef __SELVAGE__\n#include "../secret.h"\n#endif\n' }],
  ['one architecture only', { 'a.cu': '#if __CUDA_ARCH__ == 800\n#include "../secret.h"\n#endif\n' }],
  ['#line, which makes messages quote it', { 'a.cu': '#line 1 "OUTSIDE/secret.h"\n#warning x\nint a = y;\n' }],
  ['#include_next', { 'a.cu': '#include "b.h"\n', 'b.h': '#include_next "../secret.h"\n' }],
];

for (const [name, files] of escapes) {
  test(`a pull request reads no file outside of the workspace: ${name}`, { skip: withoutNvcc }, async (t) => {
    const folder = temporaryFolder(t);
    const root = join(folder, 'repo');
    const expanded = Object.entries(files).map(([path, text]) => [
      path,
      text.replaceAll('OUTSIDE', folder) + (path === 'a.cu' ? kernel : ''),
    ]);
    writeFiles(root, { ...Object.fromEntries(expanded), '.git/config': 'int SECRET_7f3a;\n' });
    writeFiles(folder, { 'secret.h': 'int SECRET_7f3a = undefined_7f3a;\n#warning SECRET_7f3a\n' });
    symlinkSync(join(folder, 'secret.h'), join(root, 'link.h'));
    symlinkSync(folder, join(root, 'up'));
    mkdirSync(join(folder, 'inner'));
    symlinkSync(join(folder, 'inner'), join(root, 'far'));
    let log = '';
    const base = {
      ...request(nvcc!, root, 'a.cu'),
      trust: 'pull-request' as const,
      onLog: (text: string) => (log += text),
    };
    const result = await compileUnit(base);
    assert.equal(result.ptx, undefined);
    assert.ok(codesOf(result).every((code) => code === 'compile/include-outside' || code === 'compile/failed'));
    if (name.startsWith('..')) assert.deepEqual(codesOf(result), ['compile/include-outside']);
    const listed = await unitDependencies(base);
    assert.deepEqual(listed.dependencies, []);
    assert.doesNotMatch(log + JSON.stringify([result, listed]), /7f3a/);
  });
}

test('a device, a pipe, and a link that leads out refuse a unit before a compiler reads them', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  const compiler = fakeCompiler(
    folder,
    `if (args.join().includes('/repo/')) require('node:fs').writeFileSync(${JSON.stringify(join(folder, 'ran'))}, '');`,
  );
  writeFiles(folder, { 'secret.h': '' });
  writeFiles(root, {
    'device.cu': '#include "/dev/zero"\n',
    'link.cu': '#include "endless.cuh"\n',
    'angled.cu': '  #  include_next <endless.cuh>\n',
    'spliced.cu': '#incl\\\nude "endless.cuh"\n',
    'comments.cu': '/**/ #/* x */include/**/"endless.cuh"\n',
    'trigraph.cu': '// ??/\n#include "endless.cuh"\n',
    'next.cu': '#include_next "shadowed.h"\n',
    'shadowed.h': '',
    'deep.cu': '#include "inc/a.h"\n',
    'inc/a.h': '#include "b.h"\n',
    'inc/b.h': '#include "../endless.cuh"\n',
    'pipe.cu': '#include "pipe.h"\n',
    'outside.cu': '#include "outside.h"\n',
  });
  symlinkSync('/dev/zero', join(root, 'endless.cuh'));
  symlinkSync('/dev/zero', join(root, 'inc/shadowed.h'));
  symlinkSync('../secret.h', join(root, 'outside.h'));
  execFileSync('mkfifo', [join(root, 'pipe.h')]);
  for (const file of [
    'device.cu',
    'link.cu',
    'angled.cu',
    'spliced.cu',
    'comments.cu',
    'trigraph.cu',
    'next.cu',
    'deep.cu',
    'pipe.cu',
    'outside.cu',
  ]) {
    const flags = [flagGroup(root, '-I.', '-Iinc')];
    const result = await compileUnit({ ...request(compiler, root, file), flags, trust: 'pull-request' });
    assert.deepEqual(codesOf(result), ['compile/include-outside'], file);
  }
  assert.ok(!existsSync(join(folder, 'ran')));
});

test('a unit that is itself a link to a file outside is rejected', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(folder, { 'secret.cu': kernel });
  mkdirSync(root);
  symlinkSync(join(folder, 'secret.cu'), join(root, 'a.cu'));
  const result = await compileUnit({ ...request(nvcc!, root, 'a.cu'), trust: 'pull-request' });
  assert.deepEqual(codesOf(result), ['compile/include-outside']);
  const own = await compileUnit(request(nvcc!, root, 'a.cu'));
  assert.deepEqual(own.diagnostics, []);
});

test('a pull request cannot embed a file with #embed or .incbin', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'a.cu': `asm(".inc" "bin \\"/etc/passwd\\"");\n${kernel}`,
    'b.cu': `#define X(a, b) #a #b\nasm(X(.inc, bin) " \\"x\\"");\n${kernel}`,
    'c.cu': `#include "c.h"\n${kernel}`,
    'c.h': '#if 0\n#embed "/etc/passwd"\n#endif\n',
  });
  for (const file of ['a.cu', 'b.cu', 'c.cu']) {
    const result = await compileUnit({ ...request(nvcc!, root, file), trust: 'pull-request' });
    assert.deepEqual(codesOf(result), ['compile/embedding'], file);
    assert.equal(result.ptx, undefined);
  }
});

test('no string of a pull request reaches a shell', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': kernel, 'sub/a.cu': kernel });
  const base = { ...request(nvcc!, root, 'a.cu'), trust: 'pull-request' as const };
  const marker = join(root, 'sprung');
  for (const args of [['-DX=$(touch${IFS}' + marker + ')'], ['-DX=`touch ' + marker + '`'], [`-I$(touch ${marker})`]]) {
    assert.deepEqual(codesOf(await compileUnit({ ...base, flags: [flagGroup(root, ...args)] })), ['compile/flag-refused']);
  }
  assert.ok(!existsSync(marker));
  const allowed = await compileUnit({
    ...base,
    flags: [flagGroup(root, '-DV="1.0"', '-I.', '-isystem=sub'), flagGroup(join(root, 'sub'), '-include', 'a.cu')],
  });
  assert.deepEqual(codesOf(allowed), ['compile/failed'], 'the kernel is defined twice: the flags have arrived');
});

test('a source that tests whether it is checked is reported', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': `#include "b.h"\n${kernel}`, 'b.h': '\n#ifdef __SELVAGE__\n#endif\n' });
  const result = await compileUnit(request(nvcc!, root, 'a.cu'));
  assert.deepEqual(
    result.diagnostics.map(({ code, severity, location }) => [code, severity, location]),
    [['compile/selvage-macro', 'warning', { file: 'b.h', line: 2 }]],
  );
  assert.ok(result.ptx);
});

test('the dependencies of a unit are the files of the repository it includes', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'src/a.cu': '#include "b.h"\n#include <c d.h>\n',
    'src/b.h': '#ifdef __CUDA_ARCH__\n#include "only_device.h"\n#endif\n',
    'src/only_device.h': '',
    'include/c d.h': '',
    'include/unused.h': '',
  });
  for (const trust of ['user', 'pull-request'] as const) {
    const result = await unitDependencies({
      ...request(nvcc!, root, 'src/a.cu'),
      trust,
      flags: [flagGroup(root, '-Iinclude')],
    });
    assert.deepEqual(result, {
      dependencies: ['include/c d.h', 'src/a.cu', 'src/b.h', 'src/only_device.h'],
      diagnostics: [],
    });
  }
});

test('no files are left, and the same input produces the same PTX', { skip: withoutNvcc }, async (t) => {
  const [one, two] = [temporaryFolder(t), temporaryFolder(t)];
  const text = '__device__ int c;\nnamespace { __global__ void k() { atomicAdd(&c, 1); } }\nvoid f() { k<<<1, 1>>>(); }\n';
  const scratch = temporaryFolder(t);
  const previous = process.env['TMPDIR'];
  process.env['TMPDIR'] = scratch;
  t.after(() => {
    if (previous === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = previous;
  });
  const texts: string[] = [];
  for (const root of [one, two]) {
    writeFiles(root, { 'a.cu': text });
    const { ptx } = await compileUnit(request(nvcc!, root, 'a.cu'));
    texts.push(ptx!.replaceAll(root, ''));
  }
  assert.equal(texts[0], texts[1]);
  assert.deepEqual(readdirSync(scratch), []);
  assert.deepEqual(readdirSync(one), ['a.cu']);
  assert.equal(readFileSync(join(one, 'a.cu'), 'utf8'), text);
});

test('other texts are compiled instead of headers, wherever they are included', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  const value = '#define VALUE 41\n';
  writeFiles(root, {
    'lib/value.cuh': value,
    'lib/deep/use.cuh': '#include "../value.cuh"\ninline __device__ int use() { return VALUE; }\n',
    'src/a.cu': '#include <deep/use.cuh>\n__global__ void k(int *a) { a[0] = use(); }\n',
    'src/far.cu': `#include "${join(root, 'lib/value.cuh')}"\n__global__ void k(int *a) { a[0] = VALUE; }\n`,
  });
  for (const trust of ['user', 'pull-request'] as const) {
    const asked = { ...request(nvcc!, root, 'src/a.cu'), trust, flags: [flagGroup(root, '-I', 'lib')] };
    const files = (await unitDependencies(asked)).dependencies;
    assert.deepEqual(files, ['lib/deep/use.cuh', 'lib/value.cuh', 'src/a.cu']);
    const withValue = (text: string) => ({ ...asked, headers: { texts: new Map([['lib/value.cuh', text]]), files } });
    const plain = await compileUnit(asked);
    assert.equal((await compileUnit(withValue(value))).ptx, plain.ptx, 'the same text gives the same PTX, places included');
    assert.match((await compileUnit(withValue('#define VALUE 42\n'))).ptx ?? '', /\b42\b/);
    // Files included by their path in the repository have no copy.
    const far = await compileUnit({ ...withValue('#define VALUE 42\n'), file: 'src/far.cu' });
    assert.equal(far.ptx, undefined);
    assert.match(far.diagnostics[0]?.message ?? '', /includes lib\/value\.cuh itself instead of its edited copy/);
  }
});

test('another text is compiled instead of a file, with the files next to it', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, {
    'src/own.cuh': '#define VALUE 41\n',
    'src/a.cu': '#include "own.cuh"\n__global__ void k(int *a) { a[0] = VALUE; }\n',
  });
  for (const trust of ['user', 'pull-request'] as const) {
    const asked = { ...request(nvcc!, root, 'src/a.cu'), trust };
    const plain = await compileUnit(asked);
    const same = await compileUnit({ ...asked, text: readFileSync(join(root, 'src/a.cu'), 'utf8') });
    assert.equal(same.ptx, plain.ptx, 'the same text gives the same PTX, places included');
    const edited = await compileUnit({
      ...asked,
      text: '#include "own.cuh"\n__global__ void k(int *a) { a[0] = VALUE + 1; }\n',
    });
    assert.match(edited.ptx ?? '', /\b42\b/);
    assert.match(readFileSync(join(root, 'src/a.cu'), 'utf8'), /= VALUE;/);
    assert.deepEqual(readdirSync(join(root, 'src')), ['a.cu', 'own.cuh']);
    const broken = await compileUnit({ ...asked, text: 'no program\n' });
    assert.equal(broken.ptx, undefined);
  }
});

test('the other architectures of the flags are named for a unit that does not compile', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(root, { 'a.cu': kernel });
  const compiler = fakeCompiler(
    folder,
    `if (args.includes('-DBROKEN')) { console.error('a.cu(1): error: no'); process.exit(1); }
     require('node:fs').writeFileSync(args[args.indexOf('-o') + 1], '');`,
  );
  const codesWith = async (...flags: string[]): Promise<string[]> =>
    codesOf(await compileUnit({ ...request(compiler, root, 'a.cu'), flags: [flagGroup(root, ...flags)] }));
  const newer = ['-gencode', 'arch=compute_90,code=sm_90'];
  assert.deepEqual(await codesWith('-DBROKEN', ...newer), ['compile/failed', 'compile/architecture']);
  assert.deepEqual(await codesWith('-DBROKEN', ...newer, '-gencode=arch=compute_80,code=sm_80'), ['compile/failed']);
  assert.deepEqual(await codesWith('-DBROKEN'), ['compile/failed']);
  assert.deepEqual(await codesWith(...newer), []);
});

test('flags that affect only the host are left out with a note', async (t) => {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(root, { 'a.cu': kernel });
  const compiler = fakeCompiler(folder, `require('node:fs').writeFileSync(args[args.indexOf('-o') + 1], JSON.stringify(args));`);
  const flags = [flagGroup(root, '-Xcompiler', '-fPIC', '-Wall', '-DX')];
  const { ptx, diagnostics } = await compileUnit({ ...request(compiler, root, 'a.cu'), flags });
  assert.doesNotMatch(ptx ?? '', /fPIC|-Wall/);
  assert.match(ptx ?? '', /-DX/);
  assert.deepEqual(
    diagnostics.map(({ code, message }) => `${code} ${/: (.*)/.exec(message)?.[1]}`),
    ['compile/flag-dropped -Xcompiler -fPIC, -Wall'],
  );
});

test('a header of the include path is included first', { skip: withoutNvcc }, async (t) => {
  const root = temporaryFolder(t);
  writeFiles(root, { 'a.cu': '__global__ void k(uint32_t *a) { a[threadIdx.x] = 1u; }\n' });
  for (const trust of ['user', 'pull-request'] as const) {
    const asked = { ...request(nvcc!, root, 'a.cu'), trust, flags: [flagGroup(root, '-include', 'cstdint')] };
    const { ptx, diagnostics } = await compileUnit(asked);
    assert.deepEqual([ptx === undefined, diagnostics], [false, []]);
    const missing = await compileUnit({ ...asked, flags: [flagGroup(root, '-include', 'no-such-header.h')] });
    assert.match(missing.diagnostics[0]?.message ?? '', /no-such-header\.h: No such file|an included header is not found/);
  }
});
