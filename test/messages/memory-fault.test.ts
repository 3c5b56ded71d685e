/** Titles and counts of findings on a single access. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedTitle, titleText } from '../../src/messages/review.ts';
import type { RaceFinding } from '../../src/verdict/finding.ts';
import { race } from '../github/report-fixture.ts';

const place = { file: 'a.cu', line: 4 };
const left: Partial<RaceFinding> = { code: 'memory/out-of-bounds', kind: 'out-of-bounds', left: { offset: -4, bytes: 64 } };

test('a fault of one access is not called a data race', () => {
  const finding = race({ fingerprint: 'f', first: place, second: place, more: left });
  assert.equal(titleText([finding]), 'Access outside of shared `s`');
  assert.match(finding.message, /writes 0 bytes before the start of `s` with `s\[t\]` on line 4: at byte -4 of an array of 64 bytes/);
  assert.equal(titleText([race({ fingerprint: 'r', first: place, second: place })]), 'Data race on shared `s`');
});

test('the faults have different titles, also once they are fixed', () => {
  const titles = ['out-of-bounds', 'index-overflow', 'misaligned', 'uninitialised', 'read-only'].map((kind) =>
    fixedTitle({ fingerprint: 'f', code: `memory/${kind}`, kernel: 'k', memory: 'global', array: 'a' }),
  );
  assert.deepEqual(titles, [
    'Access outside of global `a`',
    'Overflow of an index into global `a`',
    'Misaligned access to global `a`',
    'Uninitialised read of global `a`',
    'Data race on global `a`',
  ]);
});
