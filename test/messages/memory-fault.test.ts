/** Titles and counts of findings on a single access. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fixedTitle, titleText } from '../../src/messages/review.ts';
import { findingsPhrase } from '../../src/messages/phrases.ts';
import type { RaceFinding } from '../../src/verdict/finding.ts';
import { kernel, race, report } from '../github/report-fixture.ts';

const place = { file: 'a.cu', line: 4 };
const left: Partial<RaceFinding> = {
  code: 'memory/out-of-bounds',
  kind: 'out-of-bounds',
  left: { offset: -4, bytes: 64, memory: 'declared' },
};

test('a fault of one access is not called a data race', () => {
  const finding = race({ fingerprint: 'f', first: place, second: place, more: left });
  assert.equal(titleText([finding]), 'Access outside of shared `s`');
  assert.match(finding.message, /writes 0 bytes before the start of `s` with `s\[t\]` on line 4: at byte -4 of an array of 64 bytes/);
  assert.equal(titleText([race({ fingerprint: 'r', first: place, second: place })]), 'Data race on shared `s`');
});

test('the remedy of an access past the end depends on who determines the size', () => {
  const remedies = (['allocated', 'dynamic-shared', 'declared'] as const).map((memory) => {
    const more: Partial<RaceFinding> = { ...left, left: { offset: 64, bytes: 64, memory } };
    return race({ fingerprint: 'f', first: place, second: place, more }).message.split('. ')[1];
  });
  assert.deepEqual(remedies, [
    'Check the index before the access, or allocate a larger array.',
    'Check the index before the access, or launch the kernel with more dynamic shared memory.',
    'Check the index before the access, launch fewer blocks or threads, or declare a larger array.',
  ]);
});

test('an index that wraps around is named with its value, or with the size from which on it does', () => {
  const overflow = { code: 'memory/index-overflow', kind: 'index-overflow' } as const;
  const message = (more: Partial<RaceFinding>): string | undefined =>
    race({ fingerprint: 'f', first: place, second: place, more: { ...overflow, ...more } }).message.split('. ')[0];
  const shown = message({ wrapped: { value: 5_000_000_000, isSigned: false } });
  assert.match(shown ?? '', /the index is 5000000000 there, more than the 4294967295 that `unsigned int` holds, and wraps around$/);
  const size = { confirmed: false, when: 'a * n + b * n + n > 9', about: 'a * n + b * n > 9', more: 2 };
  assert.equal(
    message(size),
    'The index of `s[t]` on line 4, like that of 2 more accesses, is computed in 32 bits, and wraps around when about `a * n + b * n > 9`',
  );
  assert.match(
    message({ confirmed: false, when: size.when }) ?? '',
    /on line 4 is computed in 32 bits, and wraps around when `a \* n \+ b \* n \+ n > 9`$/,
  );
});

test('notices on single accesses are counted in words, each place once', () => {
  const noticed = (code: RaceFinding['code'], kind: RaceFinding['kind'], line: number, severity: 'notice' | 'error' = 'notice') => {
    const at = { file: 'a.cu', line };
    return race({ fingerprint: `${code}${line}`, first: at, second: at, more: { code, kind, severity, confirmed: kind === 'misaligned' } });
  };
  const phrase = (...findings: ReturnType<typeof noticed>[]): string => findingsPhrase(report([kernel('k', findings)]));
  const first = noticed('memory/index-overflow', 'index-overflow', 4);
  assert.equal(phrase(first), 'no errors or warnings, 1 index that may overflow');
  assert.equal(
    phrase(first, first, noticed('memory/index-overflow', 'index-overflow', 5)),
    'no errors or warnings, 2 indices that may overflow',
  );
  const two = [noticed('memory/misaligned', 'misaligned', 6), noticed('memory/index-overflow', 'index-overflow', 7, 'error')];
  assert.equal(phrase(first, ...two), '1 error, 1 index that may overflow, 1 access that may be misaligned');
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
