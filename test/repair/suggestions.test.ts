/** A sample of `suggestions.ts`; run that for all kernels. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { root } from './repair-file.ts';
import { applyAll } from './suggestions.ts';

const carriageReturns = (text: string): string => text.replaceAll('\n', '\r\n');
const samples: readonly { readonly file: string; readonly style: string; readonly of: (text: string) => string }[] = [
  { file: 'paper/listing-1.cu', style: 'with tabs', of: (text) => text.replaceAll('    ', '\t') },
  { file: 'paper/listing-1.cu', style: 'without a line end', of: (text) => text.trimEnd() },
  { file: 'strategies/atomic.cu', style: 'with carriage returns', of: carriageReturns },
];

for (const { file, style, of } of samples) {
  test(`the suggestion for ${file} ${style} compiles and is proved`, { skip: withoutNvcc }, async () => {
    const original = of(readFileSync(join(root, 'test/repair', file), 'utf8'));
    const { repaired, suggestions, patches, exceptions } = await applyAll(original, basename(file));
    assert.deepEqual(exceptions, []);
    assert.ok(repaired > 0 && patches > 0);
    // One of two changes lines that its comment does not cover, and then has a diff instead.
    assert.equal(suggestions, file.endsWith('atomic.cu') ? repaired - 1 : repaired);
  });
}
