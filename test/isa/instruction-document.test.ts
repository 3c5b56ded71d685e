import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { tableRows } from '../../src/isa/table.ts';
import { instructionDocument } from './instruction-document.ts';

test('src/isa/INSTRUCTIONS.md is up to date (npm run regenerate)', () => {
  const checkedIn = readFileSync(new URL('../../src/isa/INSTRUCTIONS.md', import.meta.url), 'utf8');
  assert.equal(checkedIn, instructionDocument());
});

test('the instruction document lists every row of the table', () => {
  const lines = instructionDocument()
    .split('\n')
    .filter((line) => / \| 9\.7\./.test(line));
  assert.equal(lines.length, tableRows.length);
});
