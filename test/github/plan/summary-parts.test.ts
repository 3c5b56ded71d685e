/** The parts of the summary, one after the other: when each appears, in which words, and how long it may be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planReview, renderPlan, type PlanInput } from '../../../src/github/plan/plan.ts';
import { diagnosticText, isOwnWords, provesAllThatWasAsked, toolName } from '../../../src/github/plan/summary.ts';
import { parseMarker } from '../../../src/github/text/marker.ts';
import type { Comparison, KernelReport, Report } from '../../../src/report-model/report.ts';
import type { Regression } from '../../../src/report-model/regression.ts';
import type { Diagnostic } from '../../../src/source/diagnostic.ts';
import { BASE, divergence, HEAD, kernel, race, report } from '../report-fixture.ts';

const at = (line: number, file = 'src/a.cu') => ({ file, line });
type Input = Partial<Omit<PlanInput, 'report'>>;
const planOf = (document: Report, more: Input = {}) => planReview({ report: document, diff: [], headSha: HEAD, baseSha: BASE, ...more });
const summaryOf = (document: Report, more: Input = {}): string => planOf(document, more).summary.body.replace(/^[^\n]*\n/, '');
const compared = (kernels: readonly KernelReport[], more: Partial<Comparison> = {}, others: Partial<Report> = {}): Report =>
  report(kernels, { comparison: { new: [], fixed: [], unchanged: [], regressions: [], ...more }, ...others });

const racy = (name: string, line = 12, more = {}): KernelReport =>
  kernel(name, [race({ fingerprint: `race of ${name}`, first: at(line), second: at(line), more })]);
const exits = (name: string): KernelReport => kernel(name, [], [divergence(`exit of ${name}`, at(20), { code: 'barrier/early-exit' })]);
const diverging = (name: string): KernelReport => kernel(name, [], [divergence(`barrier of ${name}`, at(21))]);
const unknown = (name: string): KernelReport => ({ ...kernel(name, []), race: { verdict: 'unknown', findings: [], reason: 'too large' } });
const maybe = (name: string): KernelReport => racy(name, 30, { confirmed: false, severity: 'warning' });
const failure: Diagnostic = { severity: 'error', code: 'compile/failed', message: 'x', location: at(3, 'src/b.cu') };

function cost(name: string, more: Partial<Regression> = {}): Regression {
  return {
    code: 'cost/sectors',
    severity: 'notice',
    fingerprint: `cost of ${name}`,
    kernel: name,
    metric: 'sectors',
    of: 'launch',
    base: '8*n',
    head: '32*n',
    baseValue: 1024,
    headValue: 4096,
    at: { n: 4096 },
    ratio: 4,
    message: 'the launch touches 4 times the sectors',
    location: at(10),
    ...more,
  };
}

test('the title: findings, severe costs and errors, otherwise possible findings, otherwise what was proved', () => {
  const improved = { fixed: ['a', 'b'] };
  const excluded = { notAnalysed: [{ what: 'src/b.cu', reason: '' }], excluded: ['src/b.cu', 'src/c.cu'] };
  const rows: readonly (readonly [string, Report, Input?])[] = [
    ['1 data race', report([racy('k')])],
    ['2 data races', report([racy('k'), racy('m', 14)])],
    ['1 barrier divergence', report([diverging('k')])],
    ['1 early exit before a barrier', report([exits('k')])],
    ['1 data race, 1 barrier divergence, 1 early exit before a barrier', report([racy('k'), diverging('m'), exits('x')])],
    ['1 analysis error', report([kernel('k', [])], { diagnostics: [failure] })],
    ['1 data race, 1 analysis error', report([racy('k')], { diagnostics: [failure] })],
    ['1 cost worse', compared([kernel('k', [])], { regressions: [cost('k', { severity: 'warning' })] })],
    ['1 data race', compared([racy('k')], { regressions: [cost('k')] })],
    ['1 possible finding, none confirmed; 1 cost worse', compared([maybe('k')], { regressions: [cost('k')] })],
    ['1 possible finding, none confirmed', report([maybe('k')])],
    ['1 data race', report([racy('k'), maybe('m')])],
    ['1 kernel proved free of data races and barrier divergence', report([kernel('k', [])])],
    [
      '2 kernels proved free of data races and barrier divergence; 1 cost worse',
      compared([kernel('k', []), kernel('m', [])], { regressions: [cost('k')] }),
    ],
    ['1 kernel proved free of data races and barrier divergence; fixes 2 findings', compared([kernel('k', [])], improved)],
    ['1 kernel proved free of data races and barrier divergence; 1 file excluded', report([kernel('k', [])], excluded)],
    ['No new findings; 1 of 2 kernels proved', report([kernel('k', []), unknown('m')])],
    ['No new findings; 0 of 1 kernel proved; fixes 2 findings', compared([unknown('m')], improved)],
    ['No findings; 0 of 1 kernel proved', report([unknown('m')]), { baseSha: undefined as never }],
    ['No new findings; this change affects no kernel', report([])],
    ['No new findings; fixes 2 findings', compared([], improved)],
    ['No new findings; 1 part of the change not analysed', report([], { notAnalysed: [{ what: 'x', reason: '' }] })],
    ['No CUDA kernel was found', report([]), { baseSha: undefined as never }],
    ['No new findings; this change affects no kernel', compared([]), { baseSha: undefined as never }],
  ];
  for (const [title, document, more] of rows) {
    const { check, summary } = planOf(document, more);
    assert.equal(check.title, title);
    assert.ok(summary.body.includes(`\n### Selvage: ${title}\n`), title);
  }
  assert.deepEqual([toolName(''), toolName('gpu')], ['Selvage', 'Selvage (gpu)']);
  assert.match(summaryOf(report([]), { name: 'gpu' }), /^### Selvage \(gpu\): /);
  const fork = { name: 'gpu', analysedBy: 'fork' } as const;
  assert.deepEqual(
    [
      planOf(report([]), fork).check.name,
      planOf(report([]), { ...fork, name: '' }).check.name,
      planOf(report([]), { name: 'gpu' }).check.name,
    ],
    ['Selvage (gpu, fork)', 'Selvage (fork)', 'Selvage (gpu)'],
  );
  for (const [analysedBy, isNoted] of [
    ['fork', false],
    ['repository', true],
  ] as const)
    assert.equal(planOf(report([]), { analysedBy }).check.summary.startsWith('This repository repeated the analysis'), isNoted);
});

test('the conclusion: failure by the exit code, neutral with findings that do not fail the run', () => {
  const severe = cost('k', { severity: 'warning' });
  const rows: readonly (readonly [string, number, Report, Input?])[] = [
    ['success', 0, report([kernel('k', [])])],
    ['failure', 1, report([racy('k')])],
    ['neutral', 0, report([racy('k')]), { failOn: 'never' }],
    ['neutral', 0, report([racy('k', 12, { severity: 'warning' })])],
    ['failure', 1, report([racy('k', 12, { severity: 'warning' })]), { failOn: 'warning' }],
    ['success', 0, report([maybe('k')])],
    ['neutral', 0, compared([kernel('k', [])], { regressions: [severe] })],
    ['success', 0, compared([kernel('k', [])], { regressions: [cost('k')] })],
    ['failure', 3, report([], { diagnostics: [failure] })],
    ['success', 0, compared([racy('k')], { unchanged: ['race of k'] })],
  ];
  for (const [conclusion, exitCode, document, more] of rows) {
    const { check, outputs, exitCode: code } = planOf(document, more);
    assert.deepEqual(
      [check.conclusion, outputs['conclusion'], code, outputs['exit-code']],
      [conclusion, conclusion, exitCode, String(exitCode)],
    );
  }
});

test('a comment is created only if there is something to report', () => {
  const rows: readonly (readonly [boolean, Report, Input?])[] = [
    [false, report([kernel('k', [])])],
    [false, report([unknown('k')])],
    [true, report([racy('k')])],
    [true, report([maybe('k')])],
    [true, compared([], { regressions: [cost('k')] })],
    [true, report([], { diagnostics: [failure] })],
    [true, report([]), { trust: [{ kind: 'assumption', text: 'n > 0' }] }],
    [false, compared([racy('k')], { unchanged: ['race of k'] })],
  ];
  for (const [expected, document, more] of rows) {
    const plan = planOf(document, more);
    assert.equal(plan.summary.createIfMissing, expected, plan.check.title);
    const heading = expected ? '## Summary comment\n' : '## Summary comment (only if one exists)\n';
    assert.ok(renderPlan(plan).includes(heading));
  }
  const printed = renderPlan(planOf(report([racy('k', 3)])));
  assert.match(printed, /^## Review\n\n(?!None)/);
  assert.match(printed, /## Check run: failure\n\n1 data race\n\n- src\/a\.cu:3 \(error\) Data race on shared s\n$/);
  assert.match(
    renderPlan(planOf(report([]))),
    /^## Review\n\nNone: the diff has no new findings\.\n\n[^]*\n## Check run: success\n\nNo new findings; [^\n]*\n$/,
  );
});

test('what a change asks to be trusted is listed, the first five in the open part', () => {
  const trust = (count: number) => Array.from({ length: count }, (_, index) => ({ kind: 'assumption', text: `n > ${index}` }) as const);
  const of = (count: number): string => summaryOf(report([]), { trust: trust(count) });
  assert.doesNotMatch(of(0), /assumptions|trusted/);
  assert.match(of(5), /\n\n\*\*This change adds assumptions; please check them:\*\*\n(?:- assumption `n > \d`\n){5}\n/);
  assert.doesNotMatch(of(5), /trusted/);
  assert.match(
    of(6),
    /`n > 4`\n- and 1 more, below\n[^]*<summary>All that this change asks to be trusted \(6\)<\/summary>\n\n(?:- [^\n]*\n){6}\n<\/details>/,
  );
  assert.match(of(100), /trusted \(100\)<\/summary>\n\n(?:- assumption[^\n]*\n){100}\n<\/details>/);
  assert.match(of(101), /trusted \(101\)<\/summary>\n\n(?:- assumption[^\n]*\n){100}- and 1 more\n\n<\/details>/);
  const located = { kind: 'suppression', text: 'x', location: at(4) } as const;
  assert.match(summaryOf(report([]), { trust: [located] }), /\n- suppression `x` at `src\/a\.cu:4`\n/);
});

test('the table of findings has ten rows, three kernels a row, and links', () => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => racy(`k${index}`, 100 + index));
  const table = (count: number, more: Input = {}): string[] => {
    const [open = ''] = summaryOf(report(many(count)), more).split('<details>');
    return open.split('\n').filter((line) => /^(?:\||and )/.test(line));
  };
  assert.deepEqual(table(1), [
    '| severity | new finding | where | kernels |',
    '|---|---|---|---|',
    '| error | Data race on shared `s` | `src/a.cu:100` | `k0` |',
  ]);
  assert.equal(table(1, { baseSha: undefined as never })[0], '| severity | finding | where | kernels |');
  assert.deepEqual([table(10).length, table(11).length, table(11).at(-1)], [12, 13, 'and 1 more, below.']);
  const folded = /<summary>All (new )?findings \((\d+)\)<\/summary>/;
  assert.doesNotMatch(summaryOf(report(many(10))), folded);
  assert.deepEqual(folded.exec(summaryOf(report(many(11))))?.slice(1), ['new ', '11']);
  assert.deepEqual(folded.exec(summaryOf(report(many(11)), { baseSha: undefined as never }))?.slice(1), [undefined, '11']);
  const whole = (count: number) =>
    summaryOf(report(many(count)))
      .split('findings (')[1]!
      .split('</details>')[0]!;
  assert.deepEqual([whole(100).match(/^\| error/gm)?.length, whole(101).match(/^\| error/gm)?.length], [100, 100]);
  assert.doesNotMatch(whole(100), /more/);
  assert.match(whole(101), /\n\nand 1 more\.\n/);
  const row = (kernels: readonly KernelReport[], more: Input = {}) =>
    summaryOf(report(kernels), more)
      .split('\n')
      .find((line) => line.startsWith('| error'));
  const same = ['a', 'b', 'c', 'd'].map((name) => racy(name));
  assert.match(row(same.slice(0, 3))!, /\| `a`, `b`, `c` \|$/);
  assert.match(row(same)!, /\| `a`, `b`, `c` and 1 more \|$/);
  assert.match(
    row([
      { ...racy('a'), arch: 'sm_80' },
      { ...racy('a'), arch: 'sm_90' },
    ])!,
    /\| `a` \(sm_80 and sm_90\) \|$/,
  );
  const repository = { serverUrl: 'https://g', fullName: 'o/r' };
  const url = `https://g/o/r/blob/${HEAD}/x%20y/src/a.cu#L12`;
  assert.ok(row([racy('a')], { repository, folder: 'x y/' })!.includes(`[\`x y/src/a.cu:12\`](${url})`));
  assert.ok(row([racy('a')], { repository, folder: 'x y/', source: () => '' })!.includes(url));
  assert.ok(row([racy('a')], { repository, folder: 'x y/', source: () => undefined })!.includes('| `x y/src/a.cu:12` |'));
  assert.ok(row([racy('a')], { folder: '(y)/' })!.includes('| `(y)/src/a.cu:12` |'));
  assert.ok(row([racy('a')], { repository, folder: '(y)/' })!.includes('/%28y%29/src/a.cu#L12)'));
  const nowhere = { first: { operation: 'write', memory: 'shared' }, second: { operation: 'read', memory: 'shared' } };
  const lost = {
    ...kernel('k', [race({ fingerprint: 'f', first: at(1), second: at(1), more: nowhere as never })]),
    location: undefined,
  } as never;
  assert.match(row([lost])!, /\| no line \| `k` \|$/);
});

test('costs are in a table of five rows, then in a fold with all', () => {
  const costs = (count: number) => Array.from({ length: count }, (_, index) => cost(`k${index}`));
  const of = (worse: number, better: number): string =>
    summaryOf(compared([kernel('k', [])], { regressions: costs(worse), improvements: costs(better) }));
  const rows = (text: string): number => text.split('<details>')[0]!.match(/^\| `k\d/gm)?.length ?? 0;
  assert.doesNotMatch(of(0, 0), /cost/);
  assert.deepEqual([rows(of(1, 0)), rows(of(0, 1)), rows(of(3, 2)), rows(of(3, 3))], [1, 1, 5, 5]);
  assert.match(of(1, 0), /\n\n\*\*1 cost worse\*\*\n\n\| kernel/);
  assert.match(of(0, 2), /\n\n\*\*2 costs better\*\*\n\n\| kernel/);
  assert.match(of(2, 1), /\n\n\*\*2 costs worse, 1 cost better\*\*\n\n/);
  assert.doesNotMatch(of(3, 2), /below/);
  assert.match(of(3, 3), /\n\nand 1 more, below\.\n/);
  assert.match(of(3, 3), /<summary>All costs \(6\)<\/summary>/);
  assert.match(of(0, 1), /<summary>All costs \(1\)<\/summary>/);
  const cells = (more: Partial<Regression>): string[] =>
    summaryOf(compared([kernel('k', [])], { regressions: [cost('k', more)] }))
      .split('\n')
      .find((line) => line.startsWith('| `k` | ') && line.includes('src/a.cu:10'))!
      .split(' | ');
  assert.deepEqual(cells({}).slice(2, 4), ['`1024`', '`4096`']);
  assert.deepEqual(cells({ headValue: undefined as never, baseValue: undefined as never }).slice(2, 4), ['`8*n`', '`32*n`']);
  assert.deepEqual(cells({ headValue: undefined as never, head: null }).slice(2, 4), ['`1024`', 'no bound']);
  assert.deepEqual(cells({ base: null, limit: '64' }).slice(2, 4), ['`limit 64`', '`4096`']);
  assert.deepEqual(cells({ base: null }).slice(2, 4), ['', '`4096`']);
  const bound = (length: number) => cells({ headValue: undefined as never, head: 'n'.repeat(length) })[3];
  assert.deepEqual([bound(40), bound(41)], [`\`${'n'.repeat(40)}\``, `\`${'n'.repeat(39)}…\``]);
  assert.match(cells({ severity: 'error' })[1]!, /^\*\*error\*\*: /);
  assert.doesNotMatch(cells({})[1]!, /notice/);
  assert.equal(cells({ base: null })[1], 'the launch touches 4 times the sectors');
  assert.match(cells({})[1]!, /^sectors of global memory of the launch/);
  const notes = summaryOf(compared([kernel('k', [])], { costNotes: [{ kernel: 'k', message: 'the cost of k is not compared' }] as never }));
  assert.match(notes, /not compared/);
  assert.doesNotMatch(notes, /All costs/);
});

test('costs of the base are not reported again', () => {
  const plan = planOf(compared([kernel('k', [])], { regressions: [cost('old'), cost('new')], unchanged: ['cost of old'] }));
  assert.deepEqual(
    [plan.outputs['costs'], plan.check.annotations.map(({ message }) => message)],
    ['1', ['new: the launch touches 4 times the sectors.']],
  );
});

test('fixed findings: the first five with their place; findings of earlier commits are counted', () => {
  const fixed = (count: number) => ({
    fixed: Array.from({ length: count }, (_, index) => `f${index}`),
    fixedFindings: Array.from({ length: count }, (_, index) => ({
      fingerprint: `f${index}`,
      code: 'race/shared',
      kernel: `k${index}`,
      ...(index > 0 && { location: at(index) }),
    })),
  });
  const of = (count: number, more: Partial<Comparison> = {}): string =>
    summaryOf(compared([kernel('k', [])], { ...fixed(count), ...more }), { folder: 'x/' });
  assert.match(
    of(2),
    /\n\n\*\*Fixed by this change:\*\*\n- Data race on memory in `k0`\n- Data race on memory in `k1`, was at `x\/src\/a\.cu:1`\n\n/,
  );
  assert.doesNotMatch(of(0), /Fixed|fixes/);
  assert.match(of(5), /in `k4`, [^\n]*\n\n/);
  assert.match(of(6), /in `k4`, [^\n]*\n- and 1 more, below\n\n/);
  assert.match(of(1, { fixed: ['f0', 'a'] }), /\n\nThis change fixes 1 more finding\.\n\n/);
  assert.match(of(1, { fixed: ['f0', 'a', 'b'] }), /\n\nThis change fixes 2 more findings\.\n\n/);
  assert.match(of(0, { fixed: ['a', 'b'], fixedFindings: undefined as never }), /\n\nThis change fixes 2 findings\.\n\n/);
  assert.doesNotMatch(of(2), /This change fixes/);
  const plan = planOf(report([]));
  assert.doesNotMatch(plan.summary.withSettled(0), /Settled/);
  assert.equal(plan.summary.withSettled(0), plan.summary.body);
  assert.match(plan.summary.withSettled(2), /\n\n\*\*Settled in a{9}:\*\* 2 findings of earlier commits of this pull request\.\n\n/);
  assert.deepEqual(parseMarker(plan.summary.withSettled(2))?.settled, { count: 2, commit: 'a'.repeat(9) });
  assert.equal(parseMarker(plan.summary.body)?.settled, undefined);
});

test('findings of the base, and suppressed ones, are counted in words', () => {
  const suppressed = (name: string, line: number): KernelReport => {
    const one = racy(name, line);
    const findings = one.race.findings.map((finding) => ({ ...finding, suppressed: 'known' }));
    return { ...one, race: { ...one.race, findings } };
  };
  const all = [racy('a', 1), racy('b', 2), suppressed('c', 3), suppressed('d', 4)];
  const of = (...names: readonly string[]): string => {
    const own = all.filter(({ name }) => names.includes(name));
    return summaryOf(compared(own, { unchanged: ['race of a', 'race of b'] }));
  };
  assert.match(of('a'), /\n\n1 finding is already in the base commit; it gets no comment\.\n\n/);
  assert.match(of('a', 'b'), /\n\n2 findings are already in the base commit; they get no comments\.\n\n/);
  assert.match(of('c'), /\n\n1 finding is suppressed\.\n\n/);
  assert.match(of('c', 'd'), /\n\n2 findings are suppressed\.\n\n/);
  assert.match(of('a', 'c'), /\n\n1 finding is already in the base commit; it gets no comment\. 1 finding is suppressed\.\n\n/);
  const { outputs } = planOf(compared(all, { unchanged: ['race of a', 'race of b'] }));
  assert.deepEqual([outputs['suppressed'], outputs['unchanged'], outputs['errors'], outputs['kernels']], ['2', '2', '0', '4']);
});

test('a possible finding is left out if a confirmed one has its lines', () => {
  const same = racy('m', 12, { confirmed: false, severity: 'warning' });
  assert.equal(planOf(report([racy('k'), same])).outputs['possible'], '0');
  assert.equal(planOf(report([racy('k'), maybe('m')])).outputs['possible'], '1');
});

test('the lists of possible findings, kernels, notes and assumptions have at most 100 rows', () => {
  const names = Array.from({ length: 101 }, (_, index) => `k${index}`);
  const section = (text: string, title: string): string => text.split(`<summary>${title}`)[1]?.split('</details>')[0] ?? '';
  const note = (index: number): Diagnostic => ({
    severity: 'notice',
    code: 'input/no-unit',
    message: `note ${index}`,
    location: at(index + 1),
  });
  const proved = (name: string): KernelReport => ({
    ...kernel(name, []),
    race: {
      verdict: 'proved',
      findings: [],
      assumptions: [
        { kind: 'launch', text: 'n > 0' },
        { kind: 'launch', text: 'm > 0' },
        { kind: 'alias', text: 'p' },
      ] as never,
    },
  });
  const possible = (count: number) =>
    section(
      summaryOf(report(names.slice(0, count).map((name, index) => racy(name, index + 1, { confirmed: false, severity: 'warning' })))),
      'Possible',
    );
  const kernels = (count: number) => section(summaryOf(report(names.slice(0, count).map((name) => kernel(name, [])))), 'Kernels');
  const notes = (count: number) =>
    section(summaryOf(report([], { diagnostics: names.slice(0, count).map((_, index) => note(index)) })), 'Notes');
  const assumed = (count: number) => section(summaryOf(report(names.slice(0, count).map(proved))), 'Assumptions');
  for (const [list, row, more] of [
    [possible, /^- `k/gm, '- and 1 more\n'],
    [kernels, /^\| `k/gm, '\n\nand 1 more.\n'],
    [notes, /^- `src/gm, '- and 1 more\n'],
    [assumed, /^- `k/gm, '- and 1 more\n'],
  ] as const) {
    assert.deepEqual([list(100).match(row)?.length, list(101).match(row)?.length], [100, 100]);
    assert.doesNotMatch(list(100), /and 1 more/);
    assert.ok(list(101).includes(more), list(101).slice(-60));
    assert.equal(list(0), '');
  }
  assert.match(assumed(1), /\n- `k0`: launch: `n > 0`, `m > 0`; alias: `p`\n/);
  assert.match(notes(1), /^ \(1\)<\/summary>\n\n- `src\/a\.cu:1`: note 0 \(`input\/no-unit`\)\n/);
  assert.match(
    kernels(1),
    /\n\| kernel \| race \| divergence \| launches \|\n\|---\|---\|---\|---\|\n\| `k0` \| proved \| proved \| 1 \|\n/,
  );
  const failed = summaryOf(report([{ ...proved('k'), divergence: { verdict: 'unknown', findings: [] } }], { diagnostics: [failure] }));
  assert.doesNotMatch(failed, /Assumptions of|<summary>Notes/);
  assert.doesNotMatch(summaryOf(report([kernel('k', [])])), /Assumptions of/);
  const moved = { addedKernels: ['new'], removedKernels: ['old'], renamedKernels: [{ base: 'a', head: 'b' }] };
  assert.match(section(summaryOf(compared([kernel('k', [])], moved)), 'Kernels'), /\n\nNew: `new`\. Removed: `old`\. `a` is now `b`\.\n/);
});

test('a possible finding names up to five kernels, and the fact that would decide it', () => {
  const of = (count: number): string => {
    const names = Array.from({ length: count }, (_, index) => `k${index}`);
    return summaryOf(report(names.map((name) => racy(name, 30, { confirmed: false, severity: 'warning' })))).split(
      '<summary>Possible (1)',
    )[1]!;
  };
  assert.match(of(5), /\n- `k0`, `k1`, `k2`, `k3`, `k4`: /);
  assert.match(of(6), /\n- `k0`, `k1`, `k2`, `k3`, `k4` and 1 more: /);
});

test('a verdict has its reason unless the reader has seen it', () => {
  const row = (more: Partial<KernelReport>): string[] =>
    summaryOf(report([{ ...kernel('k', []), ...more }]))
      .split('\n')
      .find((line) => line.startsWith('| `k`'))!
      .split(' | ')
      .slice(1, 3);
  const result = (verdict: string, reason?: string, findings: readonly unknown[] = []) =>
    ({ verdict, findings, ...(reason !== undefined && { reason }) }) as never;
  const finding = maybe('x').race.findings[0]!;
  const rows: readonly (readonly [unknown, unknown, readonly string[]])[] = [
    [result('unknown', 'too `big`'), result('proved'), ['unknown (too `big`)', 'proved']],
    [result('unknown', 'too big'), result('unknown', 'too big'), ['unknown (too big)', 'unknown']],
    [result('unknown', 'too big'), result('unknown', 'another'), ['unknown (too big)', 'unknown (another)']],
    [result('possible', 'pointer', [finding]), result('unknown', 'pointer'), ['possible', 'unknown']],
    [result('unknown'), result('skipped'), ['unknown', 'skipped']],
  ];
  for (const [own, other, expected] of rows) assert.deepEqual(row({ race: own as never, divergence: other as never }), expected);
  const proves = (one: string, other: string) =>
    provesAllThatWasAsked({ ...kernel('k', []), race: result(one), divergence: result(other) });
  for (const [one, other, expected] of [
    ['proved', 'proved', true],
    ['proved', 'skipped', true],
    ['skipped', 'proved', true],
    ['skipped', 'skipped', false],
    ['proved', 'unknown', false],
    ['race', 'proved', false],
  ] as const)
    assert.equal(proves(one, other), expected, `${one} ${other}`);
});

test('what was not analysed: errors first, then files that no error names', () => {
  const part = (what: string, reason: string, file?: string) => ({ what, reason, ...(file !== undefined && { location: at(1, file) }) });
  const of = (diagnostics: readonly Diagnostic[], notAnalysed: readonly ReturnType<typeof part>[], more: Input = {}) =>
    summaryOf(report([], { diagnostics, notAnalysed }), more);
  assert.doesNotMatch(of([], []), /Not analysed|not analysed/);
  assert.match(of([], [part('a.cuh', 'no unit', 'a.cuh')]), /\n\n\*\*Not analysed\*\*:\n- `a\.cuh`: no unit\n\n/);
  assert.match(of([], [part('k<int>', 'not instantiated', 'a.cuh')]), /\n- `k<int>` \(`a\.cuh:1`\): not instantiated\n/);
  assert.match(of([], [part('k<int>', 'not instantiated')]), /\n- `k<int>`: not instantiated\n/);
  assert.match(
    of([failure], []),
    /\n\n\*\*Not analysed\*\* \(the log of the job has the details\):\n- `src\/b\.cu:3`: [^\n]* \(`compile\/failed`\)\n\n/,
  );
  assert.match(of([failure], [], { host: 'app' }), /\*\*Not analysed\*\* \(the log of the App's server has the details\):/);
  const both = of([failure], [part('src/b.cu', 'it was not compiled'), part('c.cuh', 'no unit')]);
  assert.doesNotMatch(both, /it was not compiled/);
  assert.match(both, /compile\/failed`\)\n- `c\.cuh`: no unit\n/);
  const many = (count: number) =>
    of(
      [],
      Array.from({ length: count }, (_, index) => part(`f${index}`, 'no unit')),
    );
  assert.doesNotMatch(many(5), /below|All that was not/);
  assert.match(
    many(6),
    /- `f4`: no unit\n- and 1 more, below\n[^]*<summary>All that was not analysed \(6\)<\/summary>\n\n(?:- `f\d`: no unit\n){6}\n/,
  );
  assert.match(many(101), /not analysed \(101\)<\/summary>\n\n(?:- [^\n]*\n){100}- and 1 more\n\n<\/details>/);
  assert.doesNotMatch(many(100), /and 1 more\n/);
});

test('the footer names commits, version, compiler and architectures', () => {
  const footer = (toolchain: object, more: Input = {}): string =>
    summaryOf({ ...report([]), toolchain }, more)
      .split('\n')
      .at(-1)!;
  const rows: readonly (readonly [object, Input, string])[] = [
    [{ compiler: '13.0', arch: ['sm_80', 'sm_90'] }, {}, '<sub>aaaaaaaaa against bbbbbbbbb; selvage 0.1.0, nvcc 13.0, sm_80 sm_90</sub>'],
    [{ compiler: null, arch: ['sm_80'] }, {}, '<sub>aaaaaaaaa against bbbbbbbbb; selvage 0.1.0, sm_80</sub>'],
    [{}, { baseSha: undefined as never }, '<sub>aaaaaaaaa; selvage 0.1.0</sub>'],
  ];
  for (const [toolchain, more, expected] of rows) assert.equal(footer(toolchain, more), expected);
  const withBase = { ...compared([]), comparison: { ...compared([]).comparison!, base: 'c'.repeat(40) } } as Report;
  assert.match(summaryOf(withBase, { baseSha: undefined as never }), /<sub>aaaaaaaaa against ccccccccc; /);
});

test('messages that may quote the compiler are replaced by the title of their code', () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ['config/unknown-key', true],
    ['input/no-unit', true],
    ['suppression/unused', true],
    ['compile/flag-refused', true],
    ['compile/no-compiler', true],
    ['compile/failed', false],
    ['ptx/syntax', false],
    ['internal/error', false],
  ];
  for (const [code, expected] of rows) assert.equal(isOwnWords(code), expected, code);
  const textOf = (code: string, message: string) => diagnosticText({ severity: 'error', code, message } as Diagnostic);
  assert.equal(textOf('config/unknown-key', 'the key `x`'), 'the key `x`');
  assert.doesNotMatch(textOf('ptx/syntax', 'secret'), /secret/);
  assert.notEqual(textOf('ptx/syntax', 'secret'), textOf('compile/failed', 'secret'));
  assert.equal(textOf('no/such-code', 'secret'), 'The log describes this problem.');
  assert.doesNotMatch(textOf('compile/failed', 'secret'), /secret/);
});

test('repairs: a patch of up to 30,000 bytes, and the reasons of kernels without one', () => {
  const text = 'one\ntwo\nthree\n';
  const repaired = (replacement: string, more = {}): KernelReport => ({
    ...racy('k', 2),
    repair: {
      status: 'repaired',
      verified: true,
      edits: [{ file: 'src/a.cu', startLine: 2, endLine: 2, replacement }],
      fixes: ['race of k'],
      reason: 'a barrier',
      ...more,
    } as never,
  });
  const of = (one: KernelReport, more: Input = {}): string => summaryOf(report([one]), { source: () => text, ...more });
  assert.match(of(repaired('x\n')), /<summary>Repairs \(compiled and proved\)<\/summary>\n\n```diff\n/);
  assert.match(of(repaired('x\n', { leaves: 'a race' })), /<summary>Repairs \(compiled and checked\)<\/summary>/);
  assert.doesNotMatch(of(repaired('x\n')), /CRLF|too long/);
  assert.match(of(repaired('x\r\n')), /\n```\n\nThe file has CRLF line ends\. `selvage repair --write` keeps them\.\n\n<\/details>/);
  assert.match(of(repaired(`${'x'.repeat(99)}\n`.repeat(310))), /The patch is too long to show here; `selvage repair` prints it\./);
  assert.match(of(repaired(`${'x'.repeat(99)}\n`.repeat(290))), /```diff/);
  assert.doesNotMatch(of(repaired('x\n'), { stage: 'verdicts' }), /Repairs|```diff/);
  assert.doesNotMatch(of(repaired('x\n'), { source: undefined as never }), /Repairs/);
  const lost = (name: string, reason: string, status = 'unrepairable'): KernelReport => ({
    ...racy(name, name.length),
    repair: { status, reason } as never,
  });
  const reasons = (...kernels: readonly KernelReport[]): string =>
    summaryOf(report(kernels)).split('<summary>Not repaired</summary>')[1]?.split('</details>')[0] ?? '';
  assert.equal(reasons(lost('a', 'why'), lost('bb', 'why'), lost('ccc', '`other`')), '\n\n- `a`, `bb`: why\n- `ccc`: `other`\n\n');
  assert.equal(reasons({ ...racy('a'), repair: { status: 'skipped' } as never }), '');
  assert.equal(reasons({ ...racy('a'), repair: { status: 'not-needed' } as never }), '');
  assert.equal(reasons({ ...racy('a'), repair: { status: 'timeout' } as never }), '');
  assert.equal(
    reasons({ ...kernel('a', []), repair: { status: 'unrepairable', reason: 'why' } as never }),
    '',
    'a kernel without findings',
  );
});

test('the job summary describes each finding with its steps', () => {
  const finding = race({ fingerprint: 'f', first: at(12), second: at(14), reproduce: 'selvage run x' });
  const { jobSummary } = planOf(report([kernel('k', [finding])]));
  const [, own = ''] = jobSummary.split('\n\n#### ');
  assert.match(
    own,
    /^Data race on shared `s` \(error\)\n\n`src\/a\.cu:14`: Thread 32 writes [^]* Launch: [^\n]*\n\n- thread 32: writes [^\n]*\n- thread 31: reads [^\n]*\n\n```sh\nselvage run x\n```\n$/,
  );
  const barrier = planOf(report([diverging('k')])).jobSummary.split('\n\n#### ')[1]!;
  assert.match(barrier, /^Barrier divergence \(error\)\n\n`src\/a\.cu:21`: [^\n]*\n$/);
});

test('the log has errors, notes whose words may be secret, findings, costs and the title', () => {
  const note = { severity: 'notice', code: 'ptx/unknown-instruction', message: 'foo', location: at(5) } as Diagnostic;
  const own = { severity: 'notice', code: 'input/no-unit', message: 'bar' } as Diagnostic;
  const document = compared([racy('k')], { regressions: [cost('k')] }, { diagnostics: [note, own, failure] });
  const { log } = planOf(document);
  assert.deepEqual(
    log.map((line) => line.slice(0, 48)),
    [
      'src/b.cu:3: error: x [compile/failed]',
      'src/a.cu:5: notice: foo [ptx/unknown-instruction',
      'src/a.cu:12: error: Data race on shared s. Threa',
      'src/a.cu:10: notice: k: the launch touches 4 tim',
      '1 data race, 1 analysis error',
    ],
  );
});

test('annotations: findings, costs with a line, and errors that are new', () => {
  const error = (line: number | undefined, more = {}): Diagnostic =>
    ({ ...failure, location: line === undefined ? undefined : at(line), ...more }) as Diagnostic;
  const launch = error(7, { code: 'launch/precondition', message: 'n must be even', fingerprint: 'site' });
  const document = compared(
    [racy('k'), diverging('m')],
    { regressions: [cost('k'), cost('m', { location: undefined as never })], unchanged: ['old'] },
    { diagnostics: [error(3), error(undefined), error(4, { severity: 'warning' }), error(5, { ...launch, fingerprint: 'old' }), launch] },
  );
  const { annotations } = planOf(document, { folder: 'x/' }).check;
  assert.deepEqual(
    annotations.map(({ path, startLine, endLine, severity, title }) => [path, startLine, endLine, severity, title]),
    [
      ['x/src/a.cu', 12, 12, 'error', 'Data race on shared s'],
      ['x/src/a.cu', 21, 21, 'error', 'Barrier divergence'],
      ['x/src/a.cu', 10, 10, 'notice', annotations[2]!.title],
      ['x/src/a.cu', 3, 3, 'error', 'compile/failed'],
      ['x/src/a.cu', 7, 7, 'error', 'launch/precondition'],
    ],
  );
  assert.doesNotMatch(annotations[2]!.title, /\.$/);
  assert.match(annotations[3]!.message, /\nSee the log of the job for details\.$/);
  assert.equal(annotations[4]!.message, 'n must be even');
  const long = kernel('k', [race({ fingerprint: 'f', first: at(1), second: at(1), more: { array: 'x'.repeat(400) } })]);
  const { title } = planOf(report([long])).check.annotations[0]!;
  assert.deepEqual([title.length, title.at(-1)], [255, '…']);
});

test('the introduction of a review counts the findings, and mentions errors and findings that are left out', () => {
  const many = (count: number) => report(Array.from({ length: count }, (_, index) => racy(`k${index}`, 100 + index)));
  const of = (document: Report, more: Input = {}) => planOf(document, more).reviewIntroduction;
  assert.equal(of(many(1)), 'Selvage found 1 data race in the kernels that this change affects.');
  assert.equal(
    of(report([racy('k'), diverging('m'), exits('x')])),
    'Selvage found 1 data race, 1 barrier divergence and 1 early exit before a barrier in the kernels that this change affects.',
  );
  assert.match(
    of({ ...many(1), diagnostics: [failure] }),
    / affects\. Some code could not be analysed because of errors; see the summary\.$/,
  );
  assert.match(of(many(1), { trust: [{ kind: 'assumption', text: 'x' }] }), /^\*\*This change adds assumptions[^]*\n\nSelvage found/);
  assert.doesNotMatch(of(many(200)), /shows the first/);
  assert.match(of(many(201)), / This review shows the first 200; see the job summary for the rest\.$/);
  assert.match(of(many(201), { host: 'app' }), / This review shows the first 200\.$/);
  const { findings } = planOf(many(201));
  assert.equal(findings.length, 200);
});

test('findings below the severity of reviews, and findings of drafts, have no comment', () => {
  const mixed = report([racy('a', 1, { severity: 'notice' }), racy('b', 2, { severity: 'warning' }), racy('c', 3)]);
  const named = (options: PlanInput['options']) =>
    planOf(mixed, { options: options! }).findings.flatMap(({ fingerprints }) => fingerprints);
  assert.deepEqual(named({}), ['race of c', 'race of b']);
  assert.deepEqual(named({ inlineSeverity: 'error' }), ['race of c']);
  assert.deepEqual(named({ inlineSeverity: 'notice' }), ['race of c', 'race of b', 'race of a']);
  assert.deepEqual(named({ review: false }), []);
});
