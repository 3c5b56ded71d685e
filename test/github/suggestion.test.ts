import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { lineEdits, repairedFiles } from '../../src/report-model/repaired-file.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { composeReview } from '../../src/github/plan/review-body.ts';
import { offersOf } from '../../src/github/plan/suggestion.ts';
import { renderPatch } from '../../src/report/patch.ts';
import type { FileDiff } from '../../src/source/diff.ts';
import type { Location } from '../../src/source/location.ts';
import { kernel, race, report } from './report-fixture.ts';
import { commitSuggestions, fencedBlocks } from './suggestion-rule.ts';

const path = 'a.cu';

/** A diff whose one hunk shows these lines of the head, all of them added. */
function showing(first: number, last: number): FileDiff {
  const newLines = last - first + 1;
  const lines = Array.from({ length: newLines }, () => '+');
  return { path, status: 'modified', hunks: [{ oldStart: first, oldLines: 0, newStart: first, newLines, lines }] };
}

/** A kernel that races on one line or two. */
function repairedKernel(before: string, after: string, name = 'k()', [one, other] = [2, 2]): KernelReport {
  const [first, second] = [one, other].map((line) => ({ file: path, line })) as [Location, Location];
  const finding = race({ fingerprint: `race of ${name}`, first, second });
  const edits = lineEdits(before, after).map((edit) => ({ file: path, ...edit }));
  const repair = {
    status: 'repaired',
    verified: true,
    edits,
    reason: 'a barrier',
    fixes: [finding.fingerprint],
  } as const;
  return { ...kernel(name, [finding]), repair };
}

/** GitHub's rule: the lines of the comment are replaced by the block. */
function commit(text: string, { line, startLine = line, text: block }: Suggestion): string {
  const lines = text.split('\n');
  lines.splice(startLine - 1, line - startLine + 1, ...block.split('\n'));
  return lines.join('\n');
}

const text = ['one', 'two', 'three', 'four', 'five', 'six', ''].join('\n');

interface Suggestion {
  readonly path: string;
  readonly line: number;
  readonly startLine?: number;
  readonly text: string;
}

/** The smallest blocks of the diff. */
function suggestions(after: string, diff: FileDiff, before = text): Map<string, Suggestion> {
  const offers = offersOf(report([repairedKernel(before, after)]), [diff], () => before);
  const found = [...offers].flatMap(([fingerprint, { lines, blockAt }]) =>
    lines ? [[fingerprint, { ...lines, text: blockAt(lines)! }] as const] : [],
  );
  return new Map(found);
}

test('committing a suggestion applies the repair', () => {
  const random = seededRandom(3);
  for (let round = 0; round < 300; round++) {
    const lines = text.split('\n').slice(0, -1);
    for (let edit = random.between(1, 3); edit > 0; edit--) {
      const at = random.below(lines.length + 1);
      lines.splice(at, random.below(2), ...Array.from({ length: random.between(0, 2) }, () => `new ${random.below(9)}`));
    }
    const after = `${lines.join('\n')}\n`;
    if (after === text || lines.length === 0) continue;
    assert.equal(repairedFiles([repairedKernel(text, after)], () => text).get(path), after);
    const [suggestion] = suggestions(after, showing(1, 6)).values();
    assert.ok(suggestion, after);
    assert.equal(commit(text, suggestion), after);
  }
});

test('an insertion includes the line above, or the line below if the line above is not in the diff', () => {
  const after = text.replace('three\n', 'three\nbarrier\n');
  assert.deepEqual([...suggestions(after, showing(3, 3)).values()], [{ path, line: 3, text: 'three\nbarrier' }]);
  assert.deepEqual([...suggestions(after, showing(4, 6)).values()], [{ path, line: 4, text: 'barrier\nfour' }]);
});

test('edits that belong together are in one block, or in none', () => {
  const after = text.replace('two\n', 'two\nbarrier\n').replace('five\n', 'five\nbarrier\n');
  assert.deepEqual(
    [...suggestions(after, showing(1, 6)).values()].map(({ startLine, line }) => [startLine, line]),
    [[3, 5]],
  );
  assert.equal(suggestions(after, showing(4, 6)).size, 0);
});

test('if no suggestion is possible the summary has the patch', () => {
  const after = text.replace('two\n', 'two\nbarrier\n');
  const input = { report: report([repairedKernel(text, after)]), headSha: 'a'.repeat(40), source: () => text };
  const beside = planReview({ ...input, diff: [showing(5, 6)] });
  assert.match(beside.summary.body, /```diff\n[^]*\+barrier/);
  const inside = planReview({ ...input, diff: [showing(1, 6)] });
  assert.doesNotMatch(inside.summary.body, /```diff/);
  assert.match(inside.review?.comments[0]?.body ?? '', /\*\*Fix\*\*, compiled and proved: a barrier\.\n\n```suggestion\ntwo\nbarrier\n```/);
});

test('a suggestion replaces at most 30 lines', () => {
  const before = Array.from({ length: 40 }, (_, line) => `line ${line}\n`).join('');
  const replacing = (count: number): number => {
    const lines = before.split('\n');
    for (let line = 5; line < 5 + count; line++) lines[line] += ' edited';
    return suggestions(lines.join('\n'), showing(1, 40), before).size;
  };
  assert.deepEqual([29, 30, 31].map(replacing), [1, 1, 0]);
});

test('instances of a kernel share one suggestion, and findings of the base get none', () => {
  const after = text.replace('two\n', 'two\nbarrier\n');
  const both = report([repairedKernel(text, after, 'k<1>()'), repairedKernel(text, after, 'k<2>()')]);
  assert.equal(offersOf(both, [showing(1, 6)], () => text).size, 1);
  const known: Report = {
    ...both,
    comparison: { new: [], fixed: [], unchanged: ['race of k<1>()', 'race of k<2>()'], regressions: [] },
  };
  assert.equal(offersOf(known, [showing(1, 6)], () => text).size, 0);
});

test('the line ends of a file with carriage returns are preserved', () => {
  const before = text.replaceAll('\n', '\r\n');
  const after = before.replace('two\r\n', 'two\r\nbarrier\r\n');
  const [suggestion] = suggestions(after, showing(1, 6), before).values();
  assert.equal(suggestion?.text, 'two\nbarrier');
  const body = `\`\`\`suggestion\n${suggestion.text}\n\`\`\``;
  assert.equal(commitSuggestions(before, [{ ...suggestion, body }]), after);
  assert.match(
    renderPatch(report([repairedKernel(before, after)]), () => before),
    /^\+barrier\r$/m,
  );
});

test('a file with mixed line ends gets a patch instead of a suggestion: GitHub would change all of its lines', () => {
  const before = text.replace('one\n', 'one\r\n');
  const after = before.replace('two\n', 'two\nbarrier\n');
  assert.equal(suggestions(after, showing(1, 6), before).size, 0);
  const input = { report: report([repairedKernel(before, after)]), headSha: 'a'.repeat(40), source: () => before };
  assert.match(planReview({ ...input, diff: [showing(1, 6)] }).summary.body, /`selvage repair --write` keeps them/);
});

const inserted = text.replace('two\n', 'two\nbarrier\n');

test('findings without a comment are in the summary: too many comments, or no review at all', () => {
  const input = {
    report: report([repairedKernel(text, inserted)]),
    headSha: 'a'.repeat(40),
    source: () => text,
    diff: [showing(1, 6)],
  };
  assert.doesNotMatch(planReview(input).summary.body, /```diff/);
  for (const options of [{ maxComments: 0 }, { review: false }, { inlineSeverity: 'error' }] as const) {
    const mild = repairedKernel(text, inserted);
    const findings = mild.race.findings.map((finding) => ({ ...finding, severity: 'warning' as const }));
    const plan = planReview({ ...input, report: report([{ ...mild, race: { ...mild.race, findings } }]), options });
    assert.match(plan.summary.body, /```diff\n[^]*\+barrier/, JSON.stringify(options));
  }
});

test('a review whose comments GitHub rejects contains the patch, and so does the job summary', () => {
  const plan = planReview({
    report: report([repairedKernel(text, inserted)]),
    headSha: 'a'.repeat(40),
    source: () => text,
    diff: [showing(1, 6)],
  });
  assert.match(plan.review?.comments[0]?.body ?? '', /```suggestion/);
  const body = composeReview(plan, { findings: plan.findings, refused: new Set(plan.findings) })?.body ?? '';
  assert.match(body, /```diff\n[^]*\+barrier/);
  assert.match(plan.jobSummary, /```diff\n[^]*\+barrier/);
});

test('the summary states why a kernel was not repaired, and shows no truncated patch', () => {
  const repaired = repairedKernel(text, inserted);
  const failed = { ...repaired, repair: { status: 'unrepairable', reason: 'all threads write A[0]' } as const };
  const common = { headSha: 'a'.repeat(40), diff: [showing(5, 6)] };
  const plan = planReview({ ...common, report: report([failed]), source: () => text });
  assert.match(plan.summary.body, /Not repaired[^]*`k\(\)`: all threads write A/);
  const long = `${'x'.repeat(99)}\n`.repeat(400);
  const huge = planReview({ ...common, report: report([repairedKernel(long, '')]), source: () => long });
  assert.doesNotMatch(huge.summary.body, /```diff/);
  assert.match(huge.summary.body, /`selvage repair` prints it/);
});

test('a comment states the cost of the repair', () => {
  const cost = { registers: 8, spillBytes: 0, sharedBytes: 0, barriers: 1, instructions: 5 };
  const one = repairedKernel(text, inserted);
  const priced = {
    ...one,
    repair: { ...one.repair, cost: { text: '+1 barrier, 0 registers', before: cost, after: cost } },
  };
  const [offer] = offersOf(report([priced]), [showing(1, 6)], () => text).values();
  assert.equal(offer?.reason, 'a barrier (+1 barrier, 0 registers)');
});

test('the posted comment, applied by the reference rule of GitHub, is the repair', () => {
  const random = seededRandom(8);
  const words = ['```', '~~~', '````suggestion', '', '  x', '\ty', '```diff', '<!-- -->', 'plain'];
  for (let round = 0; round < 200; round++) {
    const lines = Array.from({ length: random.between(3, 8) }, () => random.pick(words));
    const at = random.below(lines.length + 1);
    const edited = lines.toSpliced(at, random.below(2), random.pick(words), random.pick(words));
    const [before, after] = [`${lines.join('\n')}\n`, `${edited.join('\n')}\n`];
    if (before === after) continue;
    const shown = showing(1, lines.length);
    const plan = planReview({
      report: report([repairedKernel(before, after, 'k()', [1, lines.length])]),
      diff: [shown],
      headSha: 'a'.repeat(40),
      source: () => before,
    });
    const [comment] = plan.review?.comments ?? [];
    assert.ok(comment);
    const block = fencedBlocks(comment.body).filter(({ info }) => info === 'suggestion');
    assert.equal(block.length, 1, comment.body);
    assert.equal(commitSuggestions(before, [comment]), after, JSON.stringify([before, after]));
  }
});

test('a comment on several kernels names those that its suggestion repairs', () => {
  const [one, other] = [inserted, text.replace('four\n', 'four\nbarrier\n')].map((after, index) =>
    repairedKernel(text, after, `k${index}()`),
  );
  const plan = planReview({
    report: report([one!, other!]),
    headSha: 'a'.repeat(40),
    source: () => text,
    diff: [showing(1, 6)],
  });
  const [comment, ...more] = plan.review?.comments ?? [];
  assert.equal(more.length, 0);
  assert.match(comment?.body ?? '', /\*\*Fix\*\*, compiled and proved for `k0\(\)` \(the summary has the others\): a barrier\./);
  assert.match(plan.summary.body, /```diff\n[^]* four\n\+barrier/);
});
