import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs, { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { openLaunchIndex } from '../../../src/app/project/launch-index.ts';
import { hashOf, scanSource } from '../../../src/app/project/source-scan.ts';
import { openSourceTree } from '../../../src/app/project/source-tree.ts';
import { cacheFolder } from '../../../src/system/cache-folder.ts';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';

const scan = (text: string) => scanSource(Buffer.from(text));

function git(root: string, ...words: string[]): void {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com', '-c', 'core.hooksPath=/dev/null'];
  const { status, stderr } = spawnSync('git', [...identity, ...words], { cwd: root, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
}

/** A checkout with these files, and a function that opens its index. */
function checkout(t: TestContext, files: Readonly<Record<string, string>>) {
  const folder = temporaryFolder(t);
  const root = join(folder, 'repo');
  writeFiles(root, files);
  git(root, 'init', '-q');
  git(root, 'add', '.');
  git(root, 'commit', '-q', '-m', 'All');
  const cache = cacheFolder({ XDG_CACHE_HOME: join(folder, 'cache') }, 'launches');
  const open = (keeps = true) =>
    openLaunchIndex({ tree: openSourceTree(root), environment: process.env, folder: keeps ? cache : undefined });
  const pack = (): string => join(cache!, readdirSync(cache!)[0]!);
  return { root, folder, cache, open, pack };
}

test('names before a launch are found, with template arguments, blanks and namespaces', () => {
  const launched = (text: string) => scan(text).launched;
  assert.deepEqual(launched('k<<<1, 2>>>(a); ns::k2 <<<1,2>>>(a);'), ['k', 'k2']);
  assert.deepEqual(launched('reduce<float, 128>\n  <<<g, b>>>(a)'), ['reduce']);
  assert.ok(launched('outer<inner<int>, (a > b)><<<g, b>>>(a)').includes('outer'));
  assert.ok(launched('k<sizeof(a) < 4><<<g, b>>>(a)').includes('k'));
  assert.deepEqual(launched('(*table[i])<<<1, 2>>>(a); x << y;'), []);
  assert.deepEqual(launched('größe<<<1, 2>>>()'), ['größe']);
});

test('kernels, includes, functions that launch, and pasted names are found', () => {
  const found = scan(`
    #include "a.cuh"
    #  include <b/c.h>
    // include "no.h"
    template <class T> static __global__ void __launch_bounds__(256, (1 + 1)) first(T *a);
    __global__ __attribute__((aligned(4))) void second(int) {}
    extern "C" __global__ void
    third(float *a) { cudaLaunchCooperativeKernel((void *)first<int>, g, b, args, 0, s); }
    template <> __global__ void special<int>(int *a) {}
  `);
  assert.deepEqual(found.includes, ['a.cuh', 'b/c.h']);
  assert.deepEqual(found.kernels, ['first', 'second', 'third', 'special']);
  assert.deepEqual(found.calls, ['cudaLaunchCooperativeKernel']);
  assert.equal(found.pastes, false);
  assert.deepEqual(scan('blur<3> << <grid, 256 >> > (a); x = y << 2;').launched, ['blur']);
  assert.equal(scan('#define L(k) k##_kernel<<<1, 1>>>()').pastes, true);
});

test('every identifier is among the words, regardless of their number', () => {
  const names = Array.from({ length: 9000 }, (_, index) => `name${index}`);
  const { words } = scan(`${names.join(' ')} ${names.join('+')} 12abc 0x1fULL`);
  assert.equal(words.length, names.length);
  assert.ok(names.every((name) => words.includes(hashOf(name))));
  assert.equal(scan('').words.length, 0);
});

const files = {
  'a.cu': '__global__ void k(int *a) {}\nvoid run(int *a) { k<<<1, 32>>>(a); }\n',
  'b.cpp': 'void run(int *);\nint main() { run(nullptr); }\n',
  'c.cu': '#include "d.cuh"\nvoid other() { cudaLaunchKernel((void *)k, 1, 1, nullptr, 0, 0); }\n',
  'd.cuh': '__global__ void k(int *a);\n',
  'e.cu': '#define RUN(x) x##_kernel<<<1, 1>>>()\n',
  'f.cu': 'void none() { other_kernel<<<1, 1>>>(); }\n',
};

test('an index returns the files that launch, declare and mention a name', async (t) => {
  const index = await checkout(t, files).open();
  assert.deepEqual(index.launching(['k']), ['a.cu', 'c.cu', 'e.cu']);
  assert.deepEqual(index.declaring(['k', 'nothing']), ['a.cu', 'd.cuh']);
  assert.deepEqual(index.mentioning(['run']), ['a.cu', 'b.cpp']);
  assert.deepEqual(index.mentioning(['nothing', 'main', 'other_kernel']), ['b.cpp', 'f.cu']);
  assert.deepEqual(index.source('c.cu')?.includes, ['d.cuh']);
  assert.equal(index.source('missing.cu'), undefined);
});

test('the cached index equals a new scan, after files changed, appeared and disappeared', async (t) => {
  const { root, open } = checkout(t, files);
  await open();
  const steps: readonly (() => void)[] = [
    () => undefined,
    () => writeFileSync(join(root, 'a.cu'), '// gone\n'),
    () => writeFileSync(join(root, 'new.cu'), 'void n() { k<<<1, 1>>>(0); }\n'),
    () => git(root, 'add', '.'),
    () => git(root, 'mv', 'c.cu', 'moved.cu'),
    () => rmSync(join(root, 'f.cu')),
    () => git(root, 'commit', '-aqm', 'Step'),
    () => git(root, 'checkout', '-q', 'HEAD~1'),
    () => git(root, 'update-index', '--assume-unchanged', 'a.cu'),
    () => writeFileSync(join(root, 'a.cu'), 'void hidden() { k<<<1, 1>>>(0); }\n'),
    () => writeFileSync(join(root, 'b.cpp'), 'void hidden() { k<<<1, 1>>>(0); }\n'),
  ];
  for (const step of steps) {
    step();
    const [kept, fresh] = [
      await open(),
      await openLaunchIndex({ tree: openSourceTree(root), environment: process.env, folder: undefined }),
    ];
    for (const ask of ['launching', 'declaring', 'mentioning'] as const)
      assert.deepEqual(kept[ask](['k', 'run']), fresh[ask](['k', 'run']), `${ask} after ${String(step)}`);
  }
});

test('untracked files are read again only if they changed', async (t) => {
  const { root, cache, open } = checkout(t, files);
  await open();
  rmSync(join(root, '.git/index'));
  const now = (): number => Date.now() + 60_000;
  const openLater = () => openLaunchIndex({ tree: openSourceTree(root), environment: process.env, folder: cache, now });
  const opened = t.mock.method(fs, 'openSync');
  syncBuiltinESMExports();
  t.after(() => {
    opened.mock.restore();
    syncBuiltinESMExports();
  });
  const sourcesRead = async (): Promise<string[]> => {
    opened.mock.resetCalls();
    assert.deepEqual((await openLater()).declaring(['k', 'nothing']), ['a.cu', 'd.cuh']);
    const paths = opened.mock.calls.map(({ arguments: [path] }) => String(path));
    return paths.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length + 1));
  };
  assert.equal((await sourcesRead()).length, Object.keys(files).length);
  assert.deepEqual(await sourcesRead(), []);
  writeFileSync(join(root, 'b.cpp'), 'void more() { k<<<1, 1>>>(0); }\n');
  assert.deepEqual(await sourcesRead(), ['b.cpp']);
  assert.deepEqual((await openLater()).launching(['k']), ['a.cu', 'b.cpp', 'c.cu', 'e.cu']);
  // A file changed just now may change again with the same time: it is read each time.
  writeFileSync(join(root, 'b.cpp'), 'void less() { m<<<1, 1>>>(0); }\n');
  assert.deepEqual((await open()).launching(['k']), ['a.cu', 'c.cu', 'e.cu']);
});

test('a truncated or modified pack is dropped, and rewritten', async (t) => {
  const { open, pack } = checkout(t, files);
  await open();
  const whole = readFileSync(pack());
  const damaged = [
    whole.subarray(0, whole.length - 3),
    whole.subarray(0, 40),
    Buffer.alloc(0),
    Buffer.concat([whole.subarray(0, -4), Buffer.from([1, 2, 3, 4])]),
    Buffer.from(whole.toString('latin1').replace('"k"', '"q"'), 'latin1'),
  ];
  for (const bytes of damaged) {
    writeFileSync(pack(), bytes);
    const index = await open();
    assert.deepEqual(index.launching(['k']), ['a.cu', 'c.cu', 'e.cu']);
    assert.deepEqual(index.declaring(['k']), ['a.cu', 'd.cuh']);
    assert.deepEqual(readFileSync(pack()), whole);
  }
});

test('without a folder, or outside of a checkout, nothing is cached', async (t) => {
  const { root, cache, open } = checkout(t, files);
  await open(false);
  rmSync(join(root, '.git'), { recursive: true });
  const index = await open();
  assert.deepEqual(readdirSync(cache!), []);
  assert.deepEqual(index.launching(['k']), ['a.cu', 'c.cu', 'e.cu']);
  assert.equal(cacheFolder({ CI: 'true', XDG_CACHE_HOME: cache! }, 'launches'), undefined);
  assert.equal(cacheFolder({ XDG_CACHE_HOME: 'relative' }, 'launches'), undefined);
});

test('a symbolic link out of the tree is not followed, one inside the tree is', async (t) => {
  const { root, folder, open } = checkout(t, files);
  writeFiles(folder, { 'secret/x.cu': 'void s() { k<<<1, 1>>>(0); }\n' });
  symlinkSync(join(folder, 'secret/x.cu'), join(root, 'out.cu'));
  symlinkSync('a.cu', join(root, 'inside.cu'));
  const index = await open();
  assert.equal(index.source('out.cu'), undefined);
  assert.deepEqual(index.launching(['k']), ['a.cu', 'c.cu', 'e.cu', 'inside.cu']);
});
