import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { exactText, textOfValue, valueOfText } from '../../../src/app/cache/encoding.ts';
import { openResults, readEntry, storeIn, type ResultStore } from '../../../src/app/cache/result-store.ts';
import { seededRandom } from '../../../src/base/random.ts';

let folder: string;
let store: ResultStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'selvage-results-'));
  store = storeIn(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const value = {
  verdict: 'proved',
  steps: 12n,
  nothing: undefined,
  args: new Map([[1, 2n]]),
  bytes: new Uint8Array([1]),
};
const fileOf = (key: string): string => join(folder, key.slice(0, 2), key);

test('stored values are read back, in another run too', () => {
  const key = store.keyOf('check', ['a', 1n]);
  assert.equal(store.read(key), undefined);
  store.write(key, value);
  assert.deepEqual(storeIn(folder).read(key), value);
});

test('keys differ if a part, its type or the kind differs', () => {
  const keys = [
    store.keyOf('check', ['a', 'b']),
    store.keyOf('check', ['ab']),
    store.keyOf('check', ['a,b']),
    store.keyOf('check', ['a', undefined, 'b']),
    store.keyOf('build', ['a', 'b']),
    store.keyOf('check', [1]),
    store.keyOf('check', [1n]),
    store.keyOf('check', ['1']),
  ];
  assert.equal(new Set(keys).size, keys.length);
});

test('an entry with any changed byte in its header counts as missing, and is removed', () => {
  const key = store.keyOf('check', ['head']);
  store.write(key, value);
  const whole = readFileSync(fileOf(key));
  const head = whole.indexOf('\n', whole.indexOf('\n', whole.indexOf('\n') + 1) + 1) + 1;
  assert.ok(head > 128);
  for (let at = 0; at < head; at += 1) {
    for (const change of [0x01, 0x20, 0x80, 0xff]) {
      const bytes = Buffer.from(whole);
      bytes[at] = bytes[at]! ^ change;
      assert.equal(readEntry(key, bytes), undefined, `byte ${at}`);
    }
    const bytes = Buffer.from(whole);
    bytes[at] = bytes[at]! ^ 1;
    writeFileSync(fileOf(key), bytes);
    assert.equal(store.read(key), undefined);
    assert.equal(existsSync(fileOf(key)), false);
  }
});

test('an entry that is truncated, or changed after its header, counts as missing', () => {
  const key = store.keyOf('check', ['body']);
  store.write(key, value);
  const whole = readFileSync(fileOf(key));
  for (let length = 0; length < whole.length; length += 1) assert.equal(readEntry(key, whole.subarray(0, length)), undefined);
  const draw = seededRandom(7);
  for (let round = 0; round < 300; round += 1) {
    const bytes = Buffer.from(whole);
    bytes[draw.below(bytes.length)]! ^= 1 << draw.below(8);
    assert.equal(readEntry(key, bytes), undefined);
  }
  assert.equal(readEntry(key, Buffer.concat([whole, Buffer.from('x')])), undefined);
});

test('an entry with another key is not returned', () => {
  const [proved, racy] = [store.keyOf('check', ['proved']), store.keyOf('check', ['racy'])];
  store.write(proved, { verdict: 'proved' });
  store.write(racy, { verdict: 'race' });
  renameSync(fileOf(proved), fileOf(racy));
  assert.equal(store.read(racy), undefined);
});

test('values without an exact JSON representation are not cached', () => {
  assert.deepEqual(valueOfText(exactText(value)!), value);
  for (const other of [{ $: 'integer' }, new Date(0), () => 1]) assert.equal(exactText(other), undefined);
  assert.throws(() => textOfValue({ run: () => 1 }), TypeError);
});

test('numbers that JSON does not have are distinguished', () => {
  const numbers = [0, -0, Number.NaN, Infinity, -Infinity, null];
  for (const one of numbers) assert.ok(Object.is(valueOfText(exactText(one)!), one));
  const keys = numbers.map((one) => store.keyOf('check', [new Map([[0, one]])]));
  assert.equal(new Set(keys).size, numbers.length);
});

test('nothing is cached in CI unless the action specifies a folder, nor if the cache is disabled', () => {
  assert.equal(openResults({ CI: 'true', HOME: folder }), undefined);
  assert.equal(openResults({ SELVAGE_CACHE: 'off', HOME: folder }), undefined);
  assert.notEqual(openResults({ CI: 'true', SELVAGE_CACHE: folder }), undefined);
  assert.notEqual(openResults({ HOME: folder }), undefined);
});
