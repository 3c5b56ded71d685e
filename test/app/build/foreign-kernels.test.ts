import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { foreignNotice, thirdPartyKernelTest } from '../../../src/app/build/foreign-kernels.ts';
import { lowerUnit } from '../../../src/app/build/lower-unit.ts';
import type { Unit } from '../../../src/app/project/input-files.ts';
import { openSourceTree } from '../../../src/app/project/source-tree.ts';
import { temporaryFolder, writeFiles } from '../../toolchain/fixture.ts';

/** A unit of a repository, with kernels whose first lines are in the given files. */
function setting(t: TestContext) {
  const folder = temporaryFolder(t);
  writeFiles(folder, {
    'repo/.git/HEAD': '',
    'repo/a.cu': '',
    'repo/own.cuh': '__global__ void own() {}',
    'library/scan.cuh': 'template <class T> __global__ void scan() {}',
    'library/cuda/include/fill.h': '__global__ void fill() {}',
  });
  symlinkSync(join(folder, 'repo'), join(folder, 'link'));
  const tree = openSourceTree(join(folder, 'repo'));
  const unit: Unit = { kind: 'cuda', path: 'a.cu', file: join(tree.root, 'a.cu') };
  const lower = async (
    kernels: Readonly<Record<string, string>>,
    { pattern, wholeTree = true, of = {} }: { pattern?: string; wholeTree?: boolean; of?: Partial<Unit> } = {},
  ) => {
    const names = Object.keys(kernels);
    const entries = names.map((name, index) => `.visible .entry ${name}()\n{\n.loc ${index + 1} 3 0\nret;\n}\n`);
    const files = names.map((name, index) => `.file ${index + 1} "${join(folder, kernels[name]!)}"\n`);
    const ptx = `.version 8.0\n.target sm_80\n.address_size 64\n${entries.join('')}${files.join('')}`;
    const built = {
      unit: { ...unit, ...of },
      arch: 'sm_80',
      verification: ptx,
      production: ptx,
      host: undefined,
      diagnostics: [],
    };
    const progress = { log: () => undefined, defect: ({ error }: { error: unknown }) => assert.fail(String(error)) };
    return lowerUnit(built, tree, progress, thirdPartyKernelTest(tree, wholeTree, pattern));
  };
  const checked = async (...parameters: Parameters<typeof lower>) => (await lower(...parameters)).kernels.map(({ name }) => name.qualified);
  return { folder, lower, checked };
}

test('a kernel of a header outside of the repository is counted, and not lowered in either build', async (t) => {
  const { lower } = setting(t);
  const unit = await lower({ own: 'repo/own.cuh', scan: 'library/scan.cuh' });
  assert.deepEqual(
    unit.kernels.map(({ name }) => name.qualified),
    ['own'],
  );
  assert.equal(unit.kernels[0]?.production?.kernels.length, 1);
  const [notice] = foreignNotice([unit, unit]);
  assert.match(notice!.message, /did not check 1 kernel that is defined outside of the repository/);
  assert.deepEqual(foreignNotice([await lower({ own: 'repo/own.cuh' })]), []);
});

test('a kernel that --kernel names is checked wherever it is defined', async (t) => {
  const { checked } = setting(t);
  assert.deepEqual(await checked({ scan: 'library/scan.cuh' }, { pattern: 'sc*' }), ['scan']);
  assert.deepEqual(await checked({ scan: 'library/scan.cuh' }, { pattern: 'own' }), []);
});

test('a #line directive hides no kernel: its file must exist and contain the name of the kernel', async (t) => {
  const { checked } = setting(t);
  assert.deepEqual(await checked({ hidden: 'library/scan.cuh', other: 'library/missing.cuh' }), ['hidden', 'other']);
});

test('linked and requested files belong to the repository', async (t) => {
  const { folder, checked } = setting(t);
  assert.deepEqual(await checked({ own: 'link/own.cuh' }), ['own']);
  const asked = { throughHeaders: new Set([join(folder, 'library/scan.cuh')]) };
  assert.deepEqual(await checked({ scan: 'library/scan.cuh' }, { of: asked }), ['scan']);
  assert.deepEqual(await checked({ scan: 'library/scan.cuh' }, { of: { kind: 'ptx' } }), ['scan']);
});

test('without a repository only the headers of the toolkit are outside', async (t) => {
  const { checked } = setting(t);
  const kernels = { scan: 'library/scan.cuh', fill: 'library/cuda/include/fill.h' };
  assert.deepEqual(await checked(kernels, { wholeTree: false }), ['scan']);
});
