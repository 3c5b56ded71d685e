import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MissingOrder, RaceFinding } from '../../src/verdict/finding.ts';
import { parseHunks, type FileDiff } from '../../src/source/diff.ts';
import { parseMarker } from '../../src/github/text/marker.ts';
import { planReview, renderPlan, type PlanInput } from '../../src/github/plan/plan.ts';
import { activePieces } from './active-markdown.ts';
import { BASE, divergence, HEAD, kernel, race, report, interleavingOf } from './report-fixture.ts';

const context = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => ` line ${from + i}`);

/** Lines 10 to 16 are in a hunk, 13 is added. */
const diff: FileDiff[] = [
  {
    path: 'src/a.cu',
    status: 'modified',
    hunks: parseHunks(['@@ -10,6 +10,7 @@', ...context(10, 12), '+added', ...context(13, 15)].join('\n')),
  },
];

const at = (line: number, file = 'src/a.cu') => ({ file, line });

function plan(input: Partial<PlanInput> & Pick<PlanInput, 'report'>) {
  return planReview({ diff, headSha: HEAD, baseSha: BASE, ...input });
}

test('a race with both accesses in one hunk is a comment on both lines, in terms of the source', () => {
  const result = plan({
    report: report([kernel('shift', [race({ fingerprint: 'f1', first: at(12), second: at(14) })])]),
  });
  assert.equal(result.review?.event, 'COMMENT');
  const [comment, ...others] = result.review.comments;
  assert.equal(others.length, 0);
  assert.deepEqual([comment?.path, comment?.startLine, comment?.line, comment?.side], ['src/a.cu', 12, 14, 'RIGHT']);
  assert.match(
    comment?.body ?? '',
    /Thread 32 writes `s\[t\]` on line 12 while thread 31 reads `s\[t \+ 1\]` on line 14, and both access `s\[32\]`; no `__syncthreads\(\)` separates the two accesses\.\n\nAdd `__syncthreads\(\)` between the two accesses\.\n\n<details>/,
  );
  assert.match(comment?.body ?? '', /block \(256,1,1\), grid \(1,1,1\), `n` = `256`, from the launch at `src\/a\.cu:40`/);
  assert.deepEqual([parseMarker(comment?.body)?.kind, parseMarker(comment?.body)?.fingerprints], ['finding', ['f1']]);
});

test('the comment is anchored at the access on an added line', () => {
  const finding = race({ fingerprint: 'f1', first: at(13), second: at(100) });
  const { review } = plan({ report: report([kernel('k', [finding])]) });
  assert.deepEqual([review?.comments[0]?.line, review?.comments[0]?.startLine], [13, undefined]);
});

test('an access inlined from a file outside the diff is shown at the call in the diff', () => {
  const inlined = { file: 'src/helper.cuh', line: 3, inlinedAt: at(13) };
  const finding = race({ fingerprint: 'f1', first: inlined, second: inlined });
  const { review } = plan({ report: report([kernel('k', [finding])]) });
  assert.equal(review?.comments[0]?.line, 13);
  assert.match(review?.comments[0]?.body ?? '', /both on `src\/helper\.cuh:3` \(called from line 13\)/);
});

test('a finding outside the diff is in the review body, with a link to the head commit', () => {
  const finding = race({ fingerprint: 'f1', first: at(100), second: at(102) });
  const repository = { serverUrl: 'https://github.example', fullName: 'o/r' };
  const { review } = plan({ report: report([kernel('k', [finding])]), repository });
  assert.equal(review?.comments.length, 0);
  assert.match(review?.body ?? '', new RegExp(`https://github\\.example/o/r/blob/${HEAD}/src/a\\.cu#L102`));
  assert.deepEqual(parseMarker(review?.body), { kind: 'review', fingerprints: ['f1'], kernels: [], name: '' });
});

test('findings on the same lines in several kernels are one comment that lists the kernels', () => {
  const kernels = ['reduce<128>', 'reduce<256>', 'other'].map((name, index) =>
    kernel(name, [race({ fingerprint: `f${index}`, first: at(12), second: at(14) })]),
  );
  const { review, outputs } = plan({ report: report(kernels) });
  assert.equal(review?.comments.length, 1);
  assert.match(review?.comments[0]?.body ?? '', /Kernels \(3\): `reduce<128>`, `reduce<256>`, `other`/);
  assert.deepEqual(review?.comments[0]?.fingerprints, ['f0', 'f1', 'f2']);
  assert.equal(outputs['errors'], '1');
});

test('findings of the base are counted, not reported; possible ones are only in the folded part of the summary', () => {
  const known = race({ fingerprint: 'old', first: at(12), second: at(14) });
  const possible = race({ fingerprint: 'maybe', first: at(11), second: at(15), more: { confirmed: false, severity: 'warning' } });
  const comparison = { new: ['maybe'], fixed: ['gone'], unchanged: ['old'], regressions: [] };
  const result = plan({ report: report([kernel('k', [known]), kernel('m', [possible])], { comparison }) });
  assert.equal(result.review, null);
  assert.match(result.summary.body, /This change fixes 1 finding\. 1 finding is already in the base commit; it gets no comment\./);
  assert.match(result.summary.body, /<details><summary>Possible \(1\)<\/summary>[^]*The kernel dereferences a pointer whose target/);
  assert.equal(result.summary.body.split('dereferences').length, 2, 'the reason is given once');
  assert.equal(result.check.annotations.length, 0);
  assert.equal(result.check.conclusion, 'success');
  assert.deepEqual(
    [result.outputs['possible'], result.outputs['unchanged'], result.outputs['fixed'], result.outputs['errors']],
    ['1', '1', '1', '0'],
  );
});

test('a clean change creates no review and no new comment', () => {
  const result = plan({ report: report([kernel('k', [])]) });
  assert.equal(result.review, null);
  assert.equal(result.summary.createIfMissing, false);
  assert.equal(result.check.title, '1 kernel proved free of data races and barrier divergence');
});

test('assumptions that the change adds are at the head of the review', () => {
  const finding = divergence('f1', at(13));
  const trust = [{ kind: 'suppression', text: 'race/shared: @mona said so', location: at(13) }] as const;
  const { review } = plan({ report: report([kernel('k', [], [finding])]), trust });
  const body = review?.body.split('\n').slice(1).join('\n') ?? '';
  assert.match(body, /^\*\*This change adds assumptions; please check them:\*\*\n- suppression `race\/shared: @mona said so`/);
  assert.deepEqual([review?.comments[0]?.startLine, review?.comments[0]?.line], [12, 14]);
  assert.match(
    review?.comments[0]?.body ?? '',
    /Not all threads of the block reach the barrier on line 13; whether a thread reaches it depends on `threadIdx\.x < 16`/,
  );
});

test('a draft gets a summary and no review', () => {
  const finding = race({ fingerprint: 'f1', first: at(12), second: at(14) });
  const result = plan({ report: report([kernel('k', [finding])]), options: { review: false } });
  assert.equal(result.review, null);
  assert.equal(result.summary.createIfMissing, true);
});

test('comments over the maximum are listed in the body', () => {
  const kernels = [11, 12, 13, 14].map((line) =>
    kernel(`k${line}`, [race({ fingerprint: `f${line}`, first: at(line), second: at(line) })]),
  );
  const { review } = plan({ report: report(kernels), options: { maxComments: 3 } });
  assert.equal(review?.comments.length, 3);
  assert.deepEqual(parseMarker(review?.body)?.fingerprints, ['f14']);
});

test('a default launch is reported as a condition, and races across blocks do not mention barriers', () => {
  const finding = race({
    fingerprint: 'f1',
    first: at(12),
    second: at(12),
    more: {
      code: 'race/global',
      memory: 'global',
      array: 'a',
      severity: 'warning',
      witnessOrigin: 'chosen',
      chosen: { block: [256, 1, 1], scalars: [['n', 256]] },
      first: { operation: 'write', memory: 'global', bytes: 4, location: at(12), thread: [0, 0, 0], block: [1, 0, 0] },
      second: { operation: 'read', memory: 'global', bytes: 4, location: at(12), thread: [63, 0, 0], block: [0, 0, 0] },
    },
  });
  const body = plan({ report: report([kernel('k', [finding])]) }).review?.comments[0]?.body ?? '';
  assert.match(
    body,
    /Thread 0 of block 1 writes 4 bytes of `a` while thread 63 of block 0 reads the same 4 bytes, both on line 12; nothing orders threads of different blocks\./,
  );
  assert.match(body, /For example, the kernel races if it is launched with block 256, `n` = 256\./);
  assert.doesNotMatch(body, /syncthreads/);
});

test('comments name the missing order, and show the interleaving folded', () => {
  const threads = [32, 31].map((x) => ({ thread: [x, 0, 0] as const, block: [0, 0, 0] as const, name: `thread ${x}` }));
  const told = (missing: MissingOrder): string => {
    const steps = [
      { threads: [0], action: 'write', text: 'writes s[t], here s[32]', location: at(12) },
      { threads: [1], action: 'read', text: 'reads s[t + 1], here s[32]', location: at(14) },
    ] as const;
    const more = { interleaving: { threads, steps, missing }, overlap: { offset: 128, bytes: 4, element: 's[32]' } };
    const finding = race({ fingerprint: 'f1', first: at(12), second: at(14), more });
    return plan({ report: report([kernel('k', [finding])]) }).review?.comments[0]?.body ?? '';
  };
  const fence = told({ kind: 'fence', lock: 'mutex', lacks: ['release', 'acquire'], among: 'grid', waits: true });
  assert.match(
    fence,
    /each of the two threads holds the lock `mutex` during its access, but no `__threadfence\(\)` is between the access and the release of the lock or between the acquisition of the lock and the access.*\n\nAdd `__threadfence\(\)` after acquiring the lock and before releasing the lock/,
  );
  const warp = told({ kind: 'warp-barrier' });
  assert.match(
    warp,
    /Thread 32 writes `s\[t\]` on line 12 while .*, and both access `s\[32\]`; neither `__syncwarp\(\)` nor `__syncthreads\(\)` separates the two accesses\./,
  );
  assert.match(warp, /<details><summary>Launch and interleaving<\/summary>\n\nLaunch: .*\n\n```mermaid\nsequenceDiagram\n/);
});

test('accesses are reported with their text, otherwise their array; an atomic operation with its call', () => {
  const first = { operation: 'atomic', memory: 'shared', location: at(12), thread: [0, 0, 0] } as const;
  const second = { operation: 'write', memory: 'shared', bytes: 1, location: at(14), thread: [1, 0, 0] } as const;
  const bodyOf = (more: Partial<RaceFinding>): string => {
    const finding = race({ fingerprint: 'f1', first: at(12), second: at(14), more: { first, second, ...more } });
    return plan({ report: report([kernel('k', [finding])]) }).review?.comments[0]?.body ?? '';
  };
  assert.match(bodyOf({}), /atomically updates `s` on line 12 while thread 1 writes 1 byte of `s` on line 14;/);
  const call = { ...first, expression: 'atomicAdd(&s[0], 1)' };
  assert.match(bodyOf({ first: call }), /executes `atomicAdd\(&s\[0\], 1\)` on line 12 while thread 1 writes 1 byte of `s` on line 14/);
  // `s[0]++` of two threads: no barrier can separate them.
  const one = { expression: 's[0]', location: at(12) };
  assert.match(
    bodyOf({
      first: { ...second, ...one },
      second: { ...second, ...one, operation: 'read' },
      interleaving: interleavingOf({ first, second } as RaceFinding, { kind: 'block-barrier', isUpdate: true }),
    }),
    /the update is not atomic: the other thread may access the element between the read and the write\.[^]*\n\nUse an atomic operation such as `atomicAdd\(\)`\./,
  );
  const inTwo = interleavingOf({ first, second } as RaceFinding, { kind: 'grid-order', isUpdate: true });
  assert.match(bodyOf({ interleaving: inTwo }), /`atomicAdd\(\)` instead of the read and the write on lines 12 and 14\./);
  const possible = (more: Partial<RaceFinding>): string => {
    const finding = race({ fingerprint: 'f1', first: at(12), second: at(12), more: { confirmed: false, ...more } });
    return plan({ report: report([kernel('k', [finding])]) }).summary.body;
  };
  assert.match(
    possible({}),
    /`k`: Two threads may access the same element of `s`: one writes `s\[t\]`, the other reads `s\[t \+ 1\]`, both on line 12\./,
  );
  assert.match(
    possible({ second: race({ fingerprint: 'f1', first: at(12), second: at(12) }).first }),
    /`k`: Two threads may write the same element of `s` through `s\[t\]` on line 12\./,
  );
});

test('a file that does not compile is named once', () => {
  const location = { file: 'src/b.cu', line: 3 };
  const diagnostics = [{ severity: 'error', code: 'compile/failed', message: 'secret', location }] as const;
  const notAnalysed = [
    { what: 'src/b.cu', reason: 'it was not compiled for sm_80', location },
    { what: 'src/c.cuh', reason: 'no .cu file includes this header', location: { file: 'src/c.cuh', line: 1 } },
  ];
  const { summary } = plan({ report: report([], { diagnostics, notAnalysed }) });
  assert.equal(summary.body.split('b.cu').length, 2);
  assert.match(summary.body, /\*\*Not analysed\*\* [^]*`src\/c\.cuh`: no \.cu file/);
});

test('text of the pull request is inert in every output channel', () => {
  const hostile = 's[`x`] <!-- selvage:v1 fingerprint=other --> @mona </details><img src=x> |a|\n::error::no';
  const finding = race({
    fingerprint: 'f--1>',
    first: at(12),
    second: at(14),
    more: {
      array: '`@mona|',
      first: { operation: 'write', memory: 'shared', expression: hostile, location: at(12, 'src/a.cu') },
    },
    reproduce: 'selvage run\n```\n@mona',
  });
  const result = plan({ report: report([kernel('k<`|@mona`>', [finding])]) });
  const body = result.review?.comments[0]?.body ?? '';
  assert.deepEqual(parseMarker(body)?.fingerprints, ['f--1>']);
  for (const text of [body, result.review?.body ?? '', result.summary.body, result.jobSummary])
    assert.deepEqual(
      activePieces(text, () => false),
      [],
    );
  for (const row of result.summary.body.split('\n').filter((line) => line.startsWith('| error'))) {
    assert.equal(row.match(/(?<!\\)\|/g)?.length, 5);
  }
  for (const command of result.workflowCommands.commands) assert.ok(!/[\r\n]/.test(command));
  for (const line of result.log) assert.ok(!/^\s*::/m.test(line));
});

test('a compiler message never leaves the log', () => {
  const diagnostics = [{ severity: 'error', code: 'ptx/syntax', message: 'AUTHORIZATION: basic c2VjcmV0', location: at(3) }] as const;
  const result = plan({ report: report([], { diagnostics }) });
  const { log, ...elsewhere } = result;
  const everything = JSON.stringify([elsewhere, renderPlan(result)]);
  assert.match(log.join('\n'), /src\/a\.cu:3: error: AUTHORIZATION/);
  assert.ok(!everything.includes('AUTHORIZATION'));
  assert.equal(result.check.conclusion, 'failure');
  assert.equal(result.summary.createIfMissing, true);
  assert.equal(result.check.annotations.length, 1);
});

test('huge results stay within the limits, with fences and sections closed', () => {
  const kernels = Array.from({ length: 400 }, (_, index) =>
    kernel(`k${index}<${'x'.repeat(400)}>`, [
      race({
        fingerprint: `f${index}`,
        first: at(100 + 2 * index),
        second: at(101 + 2 * index),
        reproduce: `selvage run ${'y'.repeat(500)}`,
      }),
    ]),
  );
  const result = plan({ report: report(kernels) });
  for (const body of [result.review?.body ?? '', result.summary.body, result.check.summary]) {
    assert.ok(Buffer.byteLength(body) <= 65_535);
    assert.equal(body.match(/^\s*<details>/gm)?.length ?? 0, body.match(/^\s*<\/details>/gm)?.length ?? 0);
    assert.equal((body.match(/^\s*```/gm)?.length ?? 0) % 2, 0);
  }
  assert.ok(Buffer.byteLength(result.jobSummary) <= 1 << 20);
  assert.equal(result.workflowCommands.commands.length, 10);
  assert.equal(result.workflowCommands.leftOver, 390);
  assert.equal(result.outputs['errors'], '400');
});

test('the title of a change that excludes a file from the analysis names that', () => {
  const notAnalysed = [{ what: 'src/b.cu', reason: 'paths.exclude of this change leaves it out', location: { file: 'src/b.cu', line: 1 } }];
  const excluded = ['src/b.cu', 'third_party/c.cu'];
  const { title } = plan({ report: report([kernel('k', [])], { notAnalysed, excluded }) }).check;
  assert.match(title, /^1 kernel proved free of .*; 1 file excluded$/);
  const before = plan({ report: report([kernel('k', [])], { excluded: ['third_party/c.cu'] }) }).check;
  assert.doesNotMatch(before.title, /excluded/);
});

test('a suggestion replaces the lines of its comment, otherwise it is a diff, with safe fences', () => {
  const text = Array.from({ length: 20 }, (_, index) => `line ${index + 1}`).join('\n');
  const comment = (edited: readonly [number, number]) => {
    const finding = race({ fingerprint: 'f1', first: at(12), second: at(14) });
    const edit = { file: 'src/a.cu', startLine: edited[0], endLine: edited[1], replacement: 'a;\n// ```\nb;\n' };
    const repair = { status: 'repaired', verified: true, edits: [edit], fixes: ['f1'], reason: 'a barrier' } as const;
    const document = report([{ ...kernel('k', [finding]), repair }]);
    return plan({ report: document, source: () => `${text}\n` }).review?.comments[0];
  };
  const inside = comment([13, 13]);
  assert.deepEqual([inside?.startLine, inside?.line], [12, 14]);
  assert.match(inside?.body ?? '', /\n\n````suggestion\nline 12\na;\n\/\/ ```\nb;\nline 14\n````\n\n/);
  const beside = comment([14, 15]);
  assert.deepEqual([beside?.startLine, beside?.line], [12, 14]);
  assert.match(beside?.body ?? '', /\n\n````diff\n@@ .* @@\n[^]*-line 14\n-line 15\n\+a;\n[^]*\n````\n\n/);
});

test('the message does not attribute unspecified values to the launch', () => {
  const witness = {
    kernel: 'shift',
    block: [256, 1, 1],
    grid: [1, 1, 1],
    args: { n: 0, m: 4 },
    chosen: ['n'],
  } as const;
  const finding = race({ fingerprint: 'f1', first: at(12), second: at(14), more: { witness } });
  const body = plan({ report: report([kernel('k', [finding])]) }).review?.comments[0]?.body ?? '';
  assert.match(body, /Launch: block \(256,1,1\), grid \(1,1,1\), `m` = `4`, from the launch at `src\/a\.cu:40`\./);
});

test('the review states why findings have no separate comment', () => {
  const findings = [12, 14].map((line) => race({ fingerprint: `f${line}`, first: at(line), second: at(line) }));
  const over = plan({ report: report([kernel('k', findings)]), options: { maxComments: 1 } });
  assert.match(over.review?.body ?? '', /\n\nFindings over the maximum number of comments:\n/);
  const far = race({ fingerprint: 'f3', first: at(90), second: at(90) });
  const outside = plan({ report: report([kernel('k', [far])]) });
  assert.match(outside.review?.body ?? '', /\n\nFindings on lines that the diff does not show:\n/);
});

test('a change without new findings lists the fixed ones, and does not claim to affect nothing', () => {
  const comparison = { new: [], fixed: ['a', 'b'], unchanged: [], regressions: [] };
  const removed = plan({ report: report([], { comparison }) });
  assert.equal(removed.check.title, 'No new findings; fixes 2 findings');
  const mended = plan({ report: report([kernel('k', [])], { comparison }) });
  assert.equal(mended.check.title, '1 kernel proved free of data races and barrier divergence; fixes 2 findings');
  assert.equal(plan({ report: report([]) }).check.title, 'No new findings; this change affects no kernel');
});

test('the log contains details that other channels show only as titles', () => {
  const diagnostics = [{ severity: 'notice', code: 'ptx/unknown-instruction', message: 'foo.bar.s32', location: at(3) }] as const;
  const result = plan({ report: report([kernel('k', [])], { diagnostics }) });
  assert.doesNotMatch(result.summary.body, /foo\.bar/);
  assert.match(result.log.join('\n'), /src\/a\.cu:3: notice: foo\.bar\.s32/);
});

test('a reader can run the command that reproduces a finding', () => {
  const finding = race({
    fingerprint: 'f1',
    first: at(12),
    second: at(14),
    reproduce: 'selvage run src/a.cu --kernel k',
  });
  const document = report([kernel('k', [finding])]);
  const tool = { url: 'https://github.example/o/selvage', ref: 'v1' };
  const body = plan({ report: document, tool, folder: "it's/" }).review?.comments[0]?.body ?? '';
  assert.match(body, /git clone https:\/\/github\.example\/o\/selvage ~\/selvage && git -C ~\/selvage checkout v1 /);
  assert.match(body, /\n *git checkout a{9}\n *cd 'it'\\''s\/'\n *node ~\/selvage\/dist\/cli\.js run src\/a\.cu --kernel k\n/);
  const own = plan({ report: document }).review?.comments[0]?.body ?? '';
  assert.match(own, /```sh\nselvage run src\/a\.cu --kernel k\n```/);
});

test('printed reviews contain the comments and no markers', () => {
  const text = renderPlan(plan({ report: report([kernel('k', [race({ fingerprint: 'f1', first: at(12), second: at(14) })])]) }));
  assert.match(text, /### src\/a\.cu:12-14/);
  assert.match(text, /## Check run: failure/);
  assert.doesNotMatch(text, /<!--/);
});
