import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageBytes, regionBase } from '../../../../src/interpreter/core/global-memory.ts';
import { pageEntry, pageEntryAt } from '../../../../src/interpreter/webassembly/region/wasm-plan.ts';

test('pages at any stride rarely collide in the page table', () => {
  for (const stride of [1, 2, 16, 30, 64, 1000, 1024, 4096]) {
    const entries = new Set<number>();
    for (let slot = 1; slot <= 8; slot++)
      for (let page = -32; page < 96; page++)
        for (const inside of [0, pageBytes - 4]) {
          const address = regionBase(slot) + stride * page * pageBytes + inside;
          entries.add(pageEntryAt(address));
          assert.equal(pageEntryAt(address) % pageEntry.bytes, 0);
        }
    assert.ok(entries.size > 700, `${entries.size} entries of 1,024 pages at a distance of ${stride}`);
  }
});
