/** The hash of code is the same for the output of `nvcc -ptx` and the code that nvcc embeds, and for no other code. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { codeHash } from '../../src/interposer/code/code-hash.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

test('comments, indentation and line ends do not change the hash', () => {
  const written = '//\n// Generated\n//\n\n.version 9.0\n\t.reg .pred \t%p<2>;\n\t// .globl\tf\n/* a\n b */ ret;\n\n';
  const embedded = '\n\n\n.version 9.0\n.reg .pred %p<2>;\n\nret;';
  assert.equal(codeHash(written), codeHash(embedded));
  assert.equal(codeHash(embedded), sha256('.version 9.0 .reg .pred %p<2>; ret;'));
});

test('a change of a token or of a string changes the hash', () => {
  assert.notEqual(codeHash('add.s32 %r1, %r2, 1;'), codeHash('add.s32 %r1, %r2, 2;'));
  assert.notEqual(codeHash('a b'), codeHash('ab'));
  assert.equal(codeHash('.file 1 "a  // b"'), sha256('.file 1 "a  // b"'));
  assert.equal(codeHash('x "open\n  y'), sha256('x "open y'));
  assert.equal(codeHash('x /* open'), sha256('x'));
  assert.equal(codeHash(''), sha256(''));
});
