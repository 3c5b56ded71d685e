/** Findings on the order of operations, which are diagnostics, in reviews. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planReview, type PlanInput } from '../../../src/github/plan/plan.ts';
import { lineEdits } from '../../../src/report-model/repaired-file.ts';
import type { KernelReport, Report } from '../../../src/report-model/report.ts';
import type { Diagnostic } from '../../../src/source/diagnostic.ts';
import type { FileDiff } from '../../../src/source/diff.ts';
import { kernel, report } from '../report-fixture.ts';

const path = 'a.cu';
const before = 'one\ntwo\nthree\nfour\n';
const after = 'one\nwait\ntwo\nthree\nfour\n';

function site(line: number, fingerprint: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const message = `\`k\` reads \`x\` on line ${line}.`;
  return { severity: 'error', code: 'ordering/pdl-wait', message, location: { file: path, line }, fingerprint, ...more };
}

/** A kernel whose wait is inserted above line 2. */
function repaired(...fixes: string[]): KernelReport {
  const edits = lineEdits(before, after).map((edit) => ({ file: path, ...edit }));
  return { ...kernel('k()', []), repair: { status: 'repaired', verified: true, edits, reason: 'add `wait` before line 2', fixes } };
}

function showing(first: number, last: number): FileDiff {
  const newLines = last - first + 1;
  const lines = Array.from({ length: newLines }, () => '+');
  return { path, status: 'modified', hunks: [{ oldStart: first, oldLines: 0, newStart: first, newLines, lines }] };
}

function planOf(document: Report, [first, last] = [1, 4], more: Partial<PlanInput> = {}) {
  return planReview({ report: document, headSha: 'a'.repeat(40), source: () => before, diff: [showing(first, last)], ...more });
}

test('a comment on an access before the wait suggests the edit', () => {
  const plan = planOf(report([repaired('early')], { diagnostics: [site(2, 'early')] }));
  const [comment, ...others] = plan.review?.comments ?? [];
  assert.equal(others.length, 0);
  assert.deepEqual([comment?.startLine, comment?.line], [1, 3]);
  assert.match(
    comment?.body ?? '',
    /\(error\)\n\n`k` reads `x` on line 2\.\n\n\*\*Fix\*\*, compiled and proved: add `wait` before line 2\.\n\n```suggestion\none\nwait\ntwo\nthree\n```/,
  );
  assert.match(plan.review?.body ?? '', /found 1 missing order in the kernels/);
  assert.doesNotMatch(plan.summary.body, /```diff/);
  assert.match(plan.summary.body, /1 missing order\n\n- error: /);
  assert.equal(plan.check.conclusion, 'failure');
});

test('findings on lines outside of the diff are in the body of the review, and their edit is in the summary', () => {
  const plan = planOf(report([repaired('early')], { diagnostics: [site(2, 'early')] }), [4, 4]);
  assert.equal(plan.review?.comments.length, 0);
  assert.match(plan.review?.body ?? '', /lines that the diff does not show[^]*reads `x` on line 2/);
  assert.match(plan.summary.body, /```diff\n[^]*\+wait/);
});

test('findings of the base, suppressed ones and those above the limit get no comment', () => {
  const comparison = { new: ['fresh'], fixed: [], unchanged: ['old'], regressions: [] };
  const all = [site(1, 'old'), site(2, 'fresh'), site(3, 'quiet', { severity: 'notice' }), site(4, 'mild', { severity: 'warning' })];
  const lines = (maxComments: number, inlineSeverity: 'error' | 'warning'): (number | undefined)[] =>
    planOf(report([repaired('fresh')], { diagnostics: all, comparison }), [1, 4], {
      options: { maxComments, inlineSeverity },
    }).findings.map(({ comment }) => comment?.line);
  assert.deepEqual(lines(9, 'warning'), [3, 4]);
  assert.deepEqual(lines(1, 'warning'), [3, undefined]);
  assert.deepEqual(lines(9, 'error'), [3]);
});

test('an earlier comment is settled when its finding is gone', () => {
  const earlier = (fingerprint: string) => ({ path, fingerprints: [fingerprint], kernels: [] });
  const { settle } = planOf(report([kernel('k()', [])], { diagnostics: [site(2, 'left'), site(3, 'quiet', { severity: 'notice' })] }));
  assert.deepEqual(
    ['left', 'quiet', 'gone'].map((name) => settle(earlier(name)).kind),
    ['open', 'suppressed', 'fixed'],
  );
});
