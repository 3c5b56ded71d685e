/**
 * Places and forms of inserted barriers: after a guard rather than in it, next to the store, spelled as the function
 * spells its barriers, with braces in the style of the file. `style/broken.cu.txt` becomes `style/repaired.cu.txt`.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { nvcc } from '../toolchain/fixture.ts';
import { repairText, root } from './repair-file.ts';

const sourceTextOf = (name: string): string => readFileSync(join(root, 'test/repair/style', `${name}.cu.txt`), 'utf8');

test('repairs follow the style of the file', async (t) => {
  if (!nvcc) return t.skip('no nvcc');
  const { report, text } = await repairText(sourceTextOf('broken'), 'style.cu');
  assert.equal(text, sourceTextOf('repaired'));
  const undecided = report.kernels.find(({ name }) => name.startsWith('seldom('))!;
  assert.equal(undecided.race.verdict, 'possible');
  assert.match(undecided.repair.reason ?? '', /no run showed the fault/);
  assert.equal(undecided.repair.fixes?.length, 1);
});
