import assert from 'node:assert/strict';
import { test } from 'node:test';
import { styleOf } from '../../src/source/text-edit.ts';

test('lines of a comment do not determine the step of indentation', () => {
  const comment = `/*\n${' * What the kernel does.\n'.repeat(9)} */\n`;
  const kernel = (indent: string): string => `void k() {\n${`${indent}f();\n`.repeat(3)}}\n`;
  assert.equal(styleOf(comment + kernel('    ')).indent, '    ');
  assert.equal(styleOf(comment + kernel('  ')).indent, '  ');
  assert.equal(styleOf(comment + kernel('\t')).indent, '\t');
  // A star that begins a statement is code.
  assert.equal(styleOf(`void k() {\n${'   *p = 1;\n'.repeat(3)}}\n`).indent, '   ');
});
