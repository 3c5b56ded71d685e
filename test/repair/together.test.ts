/** Repairs of one file that depend on each other are suggested as one. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { repairText, root } from './repair-file.ts';

const read = (file: string): string => readFileSync(join(root, 'test/repair', file), 'utf8');

test('kernels that share a function share the edits', { skip: withoutNvcc }, async () => {
  const { report } = await repairText(read('strategies/helper.cu'), 'helper.cu');
  const [one, two] = report.kernels.map(({ repair }) => repair);
  assert.equal(one?.edits?.length, 3);
  assert.deepEqual(two?.edits, one?.edits);
});

test('kernels that share nothing keep their own', { skip: withoutNvcc }, async () => {
  const text = `${read('paper/listing-1.cu')}\n${read('paper/listing-1.cu').replaceAll('shift', 'again')}`;
  const { report } = await repairText(text, 'two.cu');
  assert.deepEqual(
    report.kernels.map(({ repair }) => repair.edits?.length),
    [1, 1],
  );
});
