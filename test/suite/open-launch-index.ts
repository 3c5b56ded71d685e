/** A separate process for `launch-index.ts`: opens a tree, and on request its index of launches. */
import assert from 'node:assert/strict';
import { openLaunchIndex } from '../../src/app/project/launch-index.ts';
import { openSourceTree } from '../../src/app/project/source-tree.ts';
import { cacheFolder } from '../../src/system/cache-folder.ts';

const [root = '', cache = '', what] = process.argv.slice(2);
const tree = openSourceTree(root);
const paths = tree.sources();
if (what === 'index') {
  const folder = cacheFolder({ XDG_CACHE_HOME: cache }, 'launches');
  const index = await openLaunchIndex({ tree, environment: process.env, folder });
  assert.ok(folder);
  assert.ok(paths.length > 0);
  assert.ok(index.launching(['kernel_7_1']).includes('part7/source7.cu'));
  assert.deepEqual(index.declaring(['kernel_7_1']), ['part7/source7.cu']);
  assert.deepEqual(index.mentioning(['launch_kernel_7_1']), ['part7/source7.cu']);
}
