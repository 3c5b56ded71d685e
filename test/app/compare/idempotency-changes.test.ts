/** Reported changes of a class, with their line and message. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { classChanges } from '../../../src/app/compare/idempotency-changes.ts';
import type { IdempotencyReport } from '../../../src/report-model/idempotency-report.ts';
import type { KernelReport } from '../../../src/report-model/report.ts';

const at = (line: number) => ({ file: 'k.cu', line });

function report(idempotency?: IdempotencyReport): KernelReport {
  return {
    name: 'k(int*)',
    symbol: 'k',
    location: at(1),
    race: { verdict: 'proved', findings: [] },
    divergence: { verdict: 'proved', findings: [] },
    repair: { status: 'skipped' },
    launches: [],
    ...(idempotency ? { idempotency } : {}),
  };
}

const always: IdempotencyReport = { kernel: 'idempotent', reasons: [] };
const undecided: IdempotencyReport = { kernel: 'unknown', reasons: ['nothing is known'] };
const conditional: IdempotencyReport = {
  kernel: 'conditional',
  condition: 'unless `out` overlaps `a` or `b`',
  overlaps: [{ written: 'out', read: ['a', 'b'], locations: [at(4), at(6)] }],
  reasons: [],
};
const never: IdempotencyReport = {
  kernel: 'non-idempotent',
  reasons: ['the kernel reads `x` and writes the same bytes afterwards'],
  details: [
    { kind: 'read-then-write', text: '', locations: [at(8), at(9)] },
    { kind: 'read-then-write', text: '', locations: [at(11), at(12)] },
  ],
  remedy: 'If it wrote to another array, it would be idempotent',
};

function told(base: IdempotencyReport | undefined, head: IdempotencyReport | undefined, changed: readonly number[] = []) {
  return classChanges([{ base: report(base), head: report(head), name: 'k' }], 'notice', ({ line }) => changed.includes(line)).map(
    ({ code, severity, message, location }) => [code, severity, location?.line, message],
  );
}

test('each change of class is reported once, with its condition, reason and remedy', () => {
  const of = (line: number, message: string) => [['idempotency/class-changed', 'notice', line, message]];
  assert.deepEqual(
    told(always, conditional),
    of(6, '`k` is now idempotent unless `out` overlaps `a` or `b`; it was idempotent in every launch.'),
  );
  assert.deepEqual(
    told(conditional, never),
    of(
      9,
      '`k` is now not idempotent (replayed): the kernel reads `x` and writes the same bytes afterwards; it was idempotent unless `out` overlaps `a` or `b`. If it wrote to another array, it would be idempotent.',
    ),
  );
  assert.deepEqual(told(never, always), of(1, '`k` is now idempotent in every launch; it was not idempotent (replayed).'));
});

test('a change of class is reported on a changed line, if one of its lines changed', () => {
  assert.equal(told(conditional, never, [11, 12])[0]?.[2], 12);
  assert.equal(told(conditional, never, [11])[0]?.[2], 11);
  assert.equal(told(conditional, never, [30])[0]?.[2], 9);
});

test('an undecided, unchanged or unclassified kernel has no change of class', () => {
  for (const [base, head] of [
    [always, undecided],
    [undecided, never],
    [undecided, undefined],
    [undefined, never],
    [conditional, { ...conditional, condition: 'unless `out` overlaps `a`' }],
    [never, never],
  ] as const)
    assert.deepEqual(told(base, head), []);
});

test('launches of a kernel that becomes conditional are reported', () => {
  const launches = [
    { location: at(20), verdict: 'idempotent' },
    { location: at(21), verdict: 'undecided', reason: '`a` and `out` are in the same memory' },
    { location: at(22), verdict: 'idempotent' },
    { location: at(23), verdict: 'idempotent' },
  ] as const;
  const [[, , , message]] = told(never, { ...conditional, launches }) as [[string, string, number, string]];
  assert.match(
    message,
    /Of its launches, k\.cu:20 may be run again, k\.cu:21 is undecided \(`a` and `out` are in the same memory\), k\.cu:22 may be run again and 1 more\.$/,
  );
});
