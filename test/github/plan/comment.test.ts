/** The comment on a finding: quoted lines, the repair, and the limits of its parts. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planEarlyEnd } from '../../../src/github/plan/incomplete-run.ts';
import { planReview, type PlanInput } from '../../../src/github/plan/plan.ts';
import { offersOf } from '../../../src/github/plan/suggestion.ts';
import { parseMarker } from '../../../src/github/text/marker.ts';
import type { ReportedStep } from '../../../src/report-model/finding.ts';
import type { KernelReport, RepairReport } from '../../../src/report-model/report.ts';
import type { FileDiff } from '../../../src/source/diff.ts';
import type { Location } from '../../../src/source/location.ts';
import { fencedBlocks } from '../suggestion-rule.ts';
import { divergence, HEAD, kernel, race, report } from '../report-fixture.ts';

const path = 'src/a.cu';
const at = (line: number, file = path): Location => ({ file, line });

/** A diff that adds the lines 1 to 200 of the file. */
const diff: readonly FileDiff[] = [
  {
    path,
    status: 'added',
    hunks: [{ oldStart: 0, oldLines: 0, newStart: 1, newLines: 200, lines: Array.from({ length: 200 }, () => '+x') }],
  },
];

type Input = Partial<Omit<PlanInput, 'report'>>;
const planOf = (kernels: readonly KernelReport[], more: Input = {}) =>
  planReview({ report: report(kernels), diff, headSha: HEAD, ...more });
const commentOf = (kernels: readonly KernelReport[], more: Input = {}): string => planOf(kernels, more).review?.comments[0]?.body ?? '';

/** A step of one of two threads; without a line if it has none. */
const step = (thread: number, location: Location | undefined, text: string, action = 'write'): ReportedStep =>
  ({ threads: [thread], action, text, ...(location && { location }) }) as ReportedStep;

/** The quotation of a race with these steps, from files by their lines. */
function quoted(steps: readonly ReportedStep[], files: Readonly<Record<string, readonly string[]>>): readonly string[] | undefined {
  const threads = [0, 1].map((x) => ({ thread: [x, 0, 0], block: [0, 0, 0], name: `t${x}` }));
  const finding = { ...race({ fingerprint: 'f', first: at(1), second: at(2) }), interleaving: { threads, steps } };
  const body = commentOf([kernel('k', [finding as never])], { source: (file) => files[file]?.join('\n') });
  return fencedBlocks(body).find(({ info }) => info === 'cuda')?.lines;
}

test('source lines are quoted with the actions of the threads there', () => {
  const file = ['  one', '    two', '\tthree\r', '', `  ${'x'.repeat(60)}`, `  ${'x'.repeat(61)}`, '  seven', 'eight', 'nine', '  ten'];
  const lines = { [path]: file, 'b.cuh': ['  other'] };
  const write = (line: number, thread = 0, text = 'writes') => step(thread, at(line), text);
  const rows: readonly (readonly [string, readonly ReportedStep[], readonly string[] | undefined])[] = [
    ['in the order of lines, without their common indent', [write(2), write(1, 1)], ['1  one    // t1 writes', '2    two  // t0 writes']],
    ['a tab is four blanks, and a carriage return none', [write(3), write(1)], ['1  one      // t0 writes', '3    three  // t0 writes']],
    ['two steps at a line', [write(1), write(1, 1, 'reads')], ['1  one  // t0 writes; t1 reads']],
    ['numbers are aligned', [write(7), write(10)], [' 7  seven  // t0 writes', '10  ten    // t0 writes']],
    ['the expression is not repeated', [write(1, 0, 'writes `s[t]`, here `s[3]`')], ['1  one  // t0 writes s[3]']],
    ['a text that does not end so stays', [write(1, 0, 'writes `s`, here `s[3]` or so')], ['1  one  // t0 writes s, here s[3] or so']],
    ['an empty line is left out', [write(4), write(1)], ['1  one  // t0 writes']],
    ['a line after the end is left out', [write(11), write(1)], ['1  one  // t0 writes']],
    ['a step without a line is left out', [step(0, undefined, 'waits'), write(1)], ['1  one  // t0 writes']],
    ['a thread that passes is left out', [step(0, at(2), 'passes', 'pass'), write(1)], ['1  one  // t0 writes']],
    ['no line', [write(4)], undefined],
    ['no step', [], undefined],
    ['an unknown file', [step(0, at(1, 'c.cuh'), 'writes')], undefined],
    [
      'the notes are aligned at lines of up to 60 characters',
      [write(5), write(7)],
      [`5  ${'x'.repeat(60)}  // t0 writes`, `7  ${'seven'.padEnd(60)}  // t0 writes`],
    ],
    ['longer lines move no note', [write(6), write(7)], [`6  ${'x'.repeat(61)}  // t0 writes`, '7  seven  // t0 writes']],
    ['only a longer line', [write(6)], [`6  ${'x'.repeat(61)}  // t0 writes`]],
    [
      'files have titles if there are several',
      [write(7), step(1, at(1, 'b.cuh'), 'reads'), write(1)],
      // In the order of their first steps, lines of one file ascending.
      ['// src/a.cu', '7  seven  // t0 writes', '// b.cuh', '1  other  // t1 reads', '// src/a.cu', '1  one    // t0 writes'],
    ],
  ];
  for (const [what, steps, expected] of rows) assert.deepEqual(quoted(steps, lines), expected, what);
});

test('a quoted line has at most 120 characters, and no control characters', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['x'.repeat(120), 'x'.repeat(120)],
    ['x'.repeat(121), `${'x'.repeat(119)}…`],
    [`${'x'.repeat(118)}\u{1f600}yy`, `${'x'.repeat(118)}…`],
    [`${'x'.repeat(117)}\u{1f600}yy`, `${'x'.repeat(117)}\u{1f600}…`],
    ['a\u0007b\u202ec', 'a b c'],
  ];
  for (const [line, expected] of rows)
    assert.deepEqual(quoted([step(0, at(1), 'writes')], { [path]: [line] }), [`1  ${expected}  // t0 writes`], line);
});

test('a comment has no quotation without the text of the file, or without an execution', () => {
  const one = kernel('k', [race({ fingerprint: 'f', first: at(1), second: at(2) })]);
  assert.doesNotMatch(commentOf([one]), /```cuda/);
  const barrier = kernel('k', [], [divergence('d', at(3))]);
  const body = commentOf([barrier], { source: () => 'one\ntwo\nthree' });
  assert.doesNotMatch(body, /```|Launch and interleaving<\/summary>\n\n\n/);
  assert.match(body, /\n\n<details><summary>Launch and interleaving<\/summary>\n\nLaunch: .*Kernel: `k`\.\n\n<\/details>$/);
});

test('the kernels are in the text if there are several, otherwise with the launch', () => {
  const racy = (name: string, arch?: string): KernelReport => ({
    ...kernel(name, [race({ fingerprint: name, first: at(1), second: at(2) })]),
    ...(arch !== undefined && { arch }),
  });
  const [head, folded] = commentOf([racy('a'), racy('b')]).split('<details>');
  assert.match(head!, /Kernels \(2\): `a`, `b`\./);
  assert.doesNotMatch(folded!, /Kernel/);
  const [alone, launch] = commentOf([racy('a')]).split('<details>');
  assert.doesNotMatch(alone!, /Kernel/);
  assert.match(launch!, / Kernel: `a`\.\n/);
  assert.match(commentOf([racy('a', 'sm_80')]).split('<details>')[0]!, /Kernel: `a` \(sm_80\)\./);
});

test('a marker names at most 50 fingerprints', () => {
  const kernels = Array.from({ length: 51 }, (_, index) => {
    const fingerprint = `f${String(index).padStart(2, '0')}`;
    return kernel('k', [race({ fingerprint, first: at(1), second: at(2) })]);
  });
  for (const [count, named] of [
    [50, 50],
    [51, 50],
  ] as const)
    assert.equal(parseMarker(commentOf(kernels.slice(0, count)))?.fingerprints.length, named);
});

const text = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join('');

/** A kernel that races on lines 1 and 2, with a repair by an edit of the file. */
function repaired(
  name: string,
  edit: { startLine: number; endLine: number; replacement: string },
  more: Partial<RepairReport> = {},
): KernelReport {
  const edits = [{ file: path, ...edit }];
  const repair = { status: 'repaired', verified: true, edits, fixes: [`f ${name}`], reason: 'add `b`', ...more } as RepairReport;
  return { ...kernel(name, [race({ fingerprint: `f ${name}`, first: at(1), second: at(2) })]), repair };
}
const insertion = { startLine: 2, endLine: 1, replacement: 'b;\n' };
const source = (): string => text;

test('the sentence before a repair states its status, its effect, and its kernels', () => {
  const [one, leaves] = [repaired('k', insertion), { leaves: ['a race'] } as Partial<RepairReport>];
  const other = { startLine: 9, endLine: 8, replacement: 'c;\n' };
  const rows: readonly (readonly [string, readonly KernelReport[], RegExp])[] = [
    ['proved', [one], /\*\*Fix\*\*, compiled and proved: add `b`\.\n\n```suggestion\n/],
    ['in part', [repaired('k', insertion, leaves)], /\*\*Fix\*\*, compiled and checked: add `b`\.\n/],
    ['without a reason', [repaired('k', insertion, { reason: undefined as never })], /\*\*Fix\*\*, compiled and proved\.\n/],
    ['two kernels', [one, repaired('m', insertion)], /\*\*Fix\*\*, compiled and proved: add `b`\.\n/],
    ['one of two', [one, repaired('m', other)], /\*\*Fix\*\*, compiled and proved for `k` \(the summary has the others\): add `b`\.\n/],
  ];
  for (const [what, kernels, expected] of rows) assert.match(commentOf(kernels, { source }), expected, what);
  // With a repair the remedy of the message is left out.
  const remedy = /Add `__syncthreads\(\)` between the two accesses\./;
  assert.doesNotMatch(commentOf([one], { source }), remedy);
  assert.match(commentOf([{ ...one, repair: { status: 'skipped' } }], { source }), remedy);
});

test('a comment without a repair states why, except before the search has ended or if none was tried', () => {
  const withRepair = (repair: RepairReport): KernelReport => ({ ...repaired('k', insertion), repair });
  const rows: readonly (readonly [string, string, Input])[] = [
    ['Selvage has no fix: all threads write `A`\\.', 'unrepairable', {}],
    ['Selvage has no fix: all threads write `A`\\.', 'timeout', {}],
    ['', 'skipped', {}],
    ['', 'unrepairable', { stage: 'verdicts' }],
    ['', 'not-needed', {}],
  ];
  for (const [sentence, status, more] of rows) {
    const body = commentOf([withRepair({ status, reason: 'all threads write `A`' } as RepairReport)], more);
    if (sentence === '') assert.doesNotMatch(body, /has no fix|has a fix/, status);
    else assert.match(body, new RegExp(`\n\n${sentence}\n\n`), status);
  }
  assert.doesNotMatch(commentOf([withRepair({ status: 'unrepairable' })]), /no fix/);
  // Without the text of the files, or if the finding of the base has the suggestion, the comment names the place.
  assert.match(commentOf([repaired('k', insertion)]), /\n\nAnother comment, or the summary, has a fix\.\n\n/);
  assert.doesNotMatch(commentOf([repaired('k', insertion)], { source, stage: 'verdicts' }), /fix/i);
});

test('a repair is a suggestion, a diff, or only in the summary, depending on its size', () => {
  const replacing = (lines: number, size = 5) => ({ startLine: 1, endLine: 2, replacement: `${'x'.repeat(size)}\n`.repeat(lines) });
  const kinds = (edit: Parameters<typeof repaired>[1], more: Input = {}): string[] => {
    const body = commentOf([repaired('k', edit)], { source, ...more });
    assert.ok(Buffer.byteLength(body) <= 64_000);
    return fencedBlocks(body).flatMap(({ info }) => (info === 'suggestion' || info === 'diff' ? [info] : []));
  };
  assert.deepEqual(kinds(replacing(3)), ['suggestion']);
  // A comment on other lines: three lines of context, two removed lines, the heading of the hunk, and the end.
  const outside = (lines: number) => ({ startLine: 4, endLine: 5, replacement: 'x\n'.repeat(lines) });
  assert.deepEqual(kinds(outside(50)), ['diff']);
  const largest = Array.from({ length: 30 }, (_, index) => 40 + index)
    .filter((lines) => kinds(outside(lines)).length > 0)
    .at(-1)!;
  const patch = fencedBlocks(commentOf([repaired('k', outside(largest))], { source })).find(({ info }) => info === 'diff')!;
  assert.ok(patch.lines.length >= 58 && patch.lines.length <= 60, String(patch.lines.length));
  // A suggestion that does not fit is not cut.
  assert.deepEqual(kinds(replacing(31, 3000)), ['diff'].slice(1), 'neither a suggestion nor its diff fits');
  assert.match(commentOf([repaired('k', replacing(31, 3000))], { source }), /\n\nAnother comment, or the summary, has a fix\.\n\n/);
  assert.match(planOf([repaired('k', replacing(70))], { source }).jobSummary, /\n\+xxxxx/);
});

test('text that names the commit does not change the hash of a comment', () => {
  const one = (name: string, reproduce: string) => kernel(name, [race({ fingerprint: 'f', first: at(1), second: at(2), reproduce })]);
  const hashOf = (body: string) => parseMarker(body)?.text;
  const [first, second] = [commentOf([one('k', 'selvage run a')]), commentOf([one('k', 'selvage run b')])];
  assert.notEqual(first, second);
  assert.equal(hashOf(first), hashOf(second));
  assert.notEqual(hashOf(first), hashOf(commentOf([one('m', 'selvage run a')])));
  assert.match(first, /<details><summary>Reproduce<\/summary>\n\n```sh\nselvage run a\n```\n\n<\/details>$/);
  const without = commentOf([kernel('k', [race({ fingerprint: 'f', first: at(1), second: at(2) })])]);
  assert.doesNotMatch(without, /Reproduce/);
});

test('the lines of a suggestion are the fewest that contain the edit', () => {
  const linesOf = (startLine: number, endLine: number, replacement = 'x\n') => {
    const edited = repaired('k', { startLine, endLine, replacement });
    const [offer] = offersOf(report([edited]), diff, source).values();
    return offer?.lines && [offer.lines.startLine ?? offer.lines.line, offer.lines.line];
  };
  const rows: readonly (readonly [number, number, string, readonly [number, number]])[] = [
    [3, 3, 'x\n', [3, 3]],
    [3, 5, 'x\n', [3, 5]],
    [3, 2, 'x\n', [2, 2]],
    [1, 0, 'x\n', [1, 1]],
    [3, 3, '', [2, 3]],
    [1, 1, '', [1, 2]],
  ];
  for (const [from, to, replacement, expected] of rows)
    assert.deepEqual(linesOf(from, to, replacement), expected, `${from}-${to} ${replacement}`);
  assert.equal(linesOf(3, 3, 'x\udcff\n'), undefined, 'a block is text');
});

test('an early end has the exit code of its run, or that of an incomplete one', () => {
  for (const [exitCode, expected] of [
    [0, 0],
    [2, 2],
    [3, 3],
    [4, 4],
    [130, 3],
  ] as const) {
    const plan = planEarlyEnd({ exitCode, kind: 'usage', message: 'a secret' }, HEAD, ['secret', '']);
    assert.deepEqual([plan.exitCode, plan.outputs['exit-code'], plan.check.conclusion], [expected, String(exitCode), 'failure']);
    assert.match(plan.summary.body, /did not analyse a{9}:\n\n```\na \*\*\*\n```\n/);
  }
  assert.equal(planEarlyEnd({ exitCode: 130, kind: 'cancelled', message: '' }, HEAD, []).check.conclusion, 'cancelled');
});
