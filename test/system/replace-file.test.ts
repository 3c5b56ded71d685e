import assert from 'node:assert/strict';
import { chmodSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Replacement, replaceFiles } from '../../src/system/replace-file.ts';
import { UsageError } from '../../src/base/usage-error.ts';
import { decodeSource } from '../../src/source/source-bytes.ts';
import { temporaryFolder } from '../toolchain/fixture.ts';

function replacement(folder: string, file: string, before: string, text: string): Replacement {
  return { file, path: join(folder, file), before, text };
}

test('files are replaced, with their modes, and links stay links', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'a.cu'), 'old a');
  chmodSync(join(folder, 'a.cu'), 0o640);
  mkdirSync(join(folder, 'real'));
  writeFileSync(join(folder, 'real/b.cu'), 'old b\r\n');
  symlinkSync('real/b.cu', join(folder, 'b.cu'));
  replaceFiles([replacement(folder, 'a.cu', 'old a', 'new a'), replacement(folder, 'b.cu', 'old b\r\n', 'new b\r\n')]);
  assert.equal(readFileSync(join(folder, 'a.cu'), 'utf8'), 'new a');
  assert.equal(statSync(join(folder, 'a.cu')).mode & 0o777, 0o640);
  assert.equal(readFileSync(join(folder, 'real/b.cu'), 'utf8'), 'new b\r\n');
  assert.ok(lstatSync(join(folder, 'b.cu')).isSymbolicLink());
  assert.deepEqual(readdirSync(folder).sort(), ['a.cu', 'b.cu', 'real']);
});

test('if one file is read-only or has changed, no file is written', (t) => {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, 'a.cu'), 'old a');
  writeFileSync(join(folder, 'b.cu'), 'old b');
  const both = [replacement(folder, 'a.cu', 'old a', 'new a'), replacement(folder, 'b.cu', 'old b', 'new b')];
  const refused = (message: RegExp): void => {
    assert.throws(
      () => replaceFiles(both),
      (error: unknown) => error instanceof UsageError && message.test(error.message),
    );
    assert.equal(readFileSync(join(folder, 'a.cu'), 'utf8'), 'old a');
    assert.deepEqual(readdirSync(folder).sort(), ['a.cu', 'b.cu']);
  };
  chmodSync(join(folder, 'b.cu'), 0o444);
  refused(/^Selvage wrote no file: b\.cu cannot be written because it is read-only\. .*chmod u\+w/);
  chmodSync(join(folder, 'b.cu'), 0o644);
  writeFileSync(join(folder, 'b.cu'), 'edited meanwhile');
  refused(/^Selvage wrote no file: b\.cu has changed since the analysis/);
});

test('bytes that are not UTF-8 stay unchanged, and are distinguished from their replacement characters', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'a.cu');
  writeFileSync(file, Buffer.from([0x2f, 0x2f, 0xe9, 0x0a]));
  assert.throws(() => replaceFiles([replacement(folder, 'a.cu', '//\ufffd\n', 'x')]), /has changed/);
  const read = decodeSource(readFileSync(file));
  replaceFiles([replacement(folder, 'a.cu', read, `${read}x`)]);
  assert.deepEqual([...readFileSync(file)], [0x2f, 0x2f, 0xe9, 0x0a, 0x78]);
});
