import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { decodeSource, encodeSource, hasNonTextBytes } from '../../src/source/source-bytes.ts';

test('UTF-8 is decoded, and any other byte is preserved', () => {
  const text = '\ufeffint \u00fc = 1; // \u{1f980}\r\n';
  assert.equal(decodeSource(Buffer.from(text)), text);
  assert.ok(!hasNonTextBytes(text));
  const latin = Buffer.from('// M\u00fcller \u{1f980}', 'latin1');
  assert.equal(decodeSource(latin).slice(0, 5), '// M\udcfc');
  assert.ok(hasNonTextBytes(decodeSource(latin)));
  const random = seededRandom(7);
  for (let round = 0; round < 2000; round++) {
    const parts = Array.from({ length: random.below(12) }, () =>
      random.below(2) === 0 ? Buffer.from([...'a\u00e9\u20ac\u{1f980}\n'][random.below(5)]!) : Buffer.of(random.below(256)),
    );
    const bytes = Buffer.concat(parts);
    assert.ok(encodeSource(decodeSource(bytes)).equals(bytes), bytes.toString('hex'));
  }
});
