import assert from 'node:assert/strict';
import { test } from 'node:test';
import packageFile from '../../package.json' with { type: 'json' };
import { compareKernels } from '../../src/report-model/compared-reports.ts';
import type { ReportedDivergence } from '../../src/report-model/finding.ts';
import { findingsOf, weakened, worstRace } from '../../src/report-model/outcome.ts';
import { exitCodeOf } from '../../src/report-model/exit-code.ts';
import { applySuppressions, type Suppression } from '../../src/app/pipeline/suppressions.ts';
import { publishedAction, toolVersion } from '../../src/system/version.ts';
import type { Diagnostic } from '../../src/source/diagnostic.ts';
import { divergenceFinding, kernelReport, raceFinding, reportOf } from './report-fixture.ts';

const racy = kernelReport({ race: { verdict: 'race', findings: [raceFinding()] } });
const warned = kernelReport({ race: { verdict: 'race', findings: [raceFinding({ severity: 'warning' })] } });
const problem = (code: Diagnostic['code'], severity: Diagnostic['severity'] = 'error'): Diagnostic => ({ severity, code, message: '' });

test('the first applicable exit code is returned', () => {
  assert.equal(exitCodeOf(reportOf([kernelReport()]), 'error'), 0);
  assert.equal(exitCodeOf(reportOf([racy]), 'error'), 1);
  assert.equal(exitCodeOf(reportOf([warned]), 'error'), 0);
  assert.equal(exitCodeOf(reportOf([warned]), 'warning'), 1);
  assert.equal(exitCodeOf(reportOf([racy]), 'never'), 0);
  assert.equal(exitCodeOf(reportOf([racy], [problem('compile/failed')]), 'never'), 3);
  assert.equal(exitCodeOf(reportOf([racy], [problem('compile/failed'), problem('internal/defect')]), 'error'), 4);
  assert.equal(exitCodeOf(reportOf([racy], [problem('internal/defect'), problem('annotation/syntax')]), 'error'), 2);
  assert.equal(exitCodeOf(reportOf([kernelReport()], [problem('launch/not-evaluated', 'notice')]), 'error'), 0);
  assert.equal(exitCodeOf(reportOf([kernelReport()], [problem('launch/precondition')]), 'error'), 1);
  assert.equal(exitCodeOf(reportOf([kernelReport()], [problem('launch/precondition', 'notice')]), 'error'), 0);
  assert.equal(exitCodeOf(reportOf([kernelReport()], [problem('launch/out-of-range')]), 'error'), 1);
});

test('an undefined value precedes the races of an index from it', () => {
  const barrier = { file: 'src/a.cu', line: 4, column: 9 };
  const undefinedAt = (line: number, fingerprint: string): ReportedDivergence =>
    divergenceFinding({ kind: 'undefined-value', barrier: { ...barrier, line }, fingerprint });
  const missing = { kind: 'block-barrier', indexFrom: { ...barrier, column: 1 }, text: '' } as const;
  const race = {
    verdict: 'race',
    findings: [raceFinding(), raceFinding({ fingerprint: 'f2', interleaving: { threads: [], steps: [], missing } })],
  } as const;
  const divergence = { verdict: 'proved', findings: [divergenceFinding({ barrier }), undefinedAt(6, 'd2'), undefinedAt(4, 'd3')] } as const;
  const told = findingsOf(kernelReport({ race, divergence })).map(({ fingerprint }) => fingerprint);
  assert.deepEqual(told, ['d3', 'f1', 'f2', 'd1', 'd2']);
});

test('findings that are not new do not count if only new ones do', () => {
  assert.equal(exitCodeOf(reportOf([racy]), 'error', new Set()), 0);
  assert.equal(exitCodeOf(reportOf([racy]), 'error', new Set(['f1'])), 1);
});

test('a problem at a launch site counts as new if its fingerprint is new', () => {
  const site: Diagnostic = { ...problem('launch/precondition'), fingerprint: 's1' };
  const report = reportOf([kernelReport()], [site]);
  assert.equal(exitCodeOf(report, 'error', new Set()), 0);
  assert.equal(exitCodeOf(report, 'error', new Set(['s1'])), 1);
  const moved: Diagnostic = { ...site, location: { file: 'main.cu', line: 9 } };
  const names = { base: 'a', head: 'b' };
  const compared = compareKernels([kernelReport()], [kernelReport()], {
    ...names,
    sites: { base: [site], head: [moved] },
  });
  assert.deepEqual([compared.new, compared.fixed, compared.unchanged], [[], [], ['s1']]);
  const added = compareKernels([kernelReport()], [kernelReport()], { ...names, sites: { base: [], head: [moved] } });
  assert.deepEqual([added.new, added.fixed], [['s1'], []]);
});

test('the verdict is that of the worst launch; findings and assumptions of all launches are merged', () => {
  const worst = worstRace([
    { verdict: 'proved', findings: [], assumptions: [{ kind: 'user', text: 'n > 0' }] },
    { verdict: 'race', findings: [raceFinding({ severity: 'warning' })] },
    { verdict: 'unknown', reason: 'budget', findings: [], nondeterministic: true },
    { verdict: 'race', findings: [raceFinding(), raceFinding({ fingerprint: 'f2', confirmed: false })] },
  ]);
  assert.equal(worst.verdict, 'race');
  assert.equal(worst.nondeterministic, true);
  assert.deepEqual(worst.assumptions, [{ kind: 'user', text: 'n > 0' }]);
  assert.deepEqual(
    worst.findings.map(({ fingerprint, severity }) => [fingerprint, severity]),
    [
      ['f1', 'error'],
      ['f2', 'error'],
    ],
  );
  assert.equal(
    worstRace([
      { verdict: 'possible', findings: [] },
      { verdict: 'unknown', findings: [] },
    ]).verdict,
    'unknown',
  );
});

test('differences between builds invalidate a proof, not a confirmed race', () => {
  assert.equal(weakened({ verdict: 'proved', findings: [] }, 'builds differ').verdict, 'possible');
  assert.equal(weakened({ verdict: 'race', findings: [raceFinding()] }, 'builds differ').verdict, 'race');
  assert.equal(weakened({ verdict: 'unknown', findings: [] }, 'builds differ').verdict, 'unknown');
});

const inline = (firstLine: number, lastLine = firstLine): Suppression => ({
  code: 'race/shared',
  reason: 'known',
  location: { file: 'src/a.cu', line: firstLine },
  scope: { kind: 'lines', file: 'src/a.cu', firstLine, lastLine },
});

test('a suppressed finding is a notice with the reason, and the verdict stays', () => {
  const { kernels, diagnostics } = applySuppressions([racy], [inline(5)], '2026-06-01', () => true);
  const [kernel] = kernels;
  assert.equal(kernel?.race.verdict, 'race');
  assert.deepEqual([kernel?.race.findings[0]?.severity, kernel?.race.findings[0]?.suppressed], ['notice', 'known']);
  assert.equal(kernel?.launches[0]?.race.findings[0]?.severity, 'notice');
  assert.deepEqual(diagnostics, []);
  assert.equal(exitCodeOf(reportOf(kernels), 'warning'), 0);
});

test('a suppression of other lines, codes or files is unused and reported', () => {
  const others: Suppression[] = [
    inline(4),
    { ...inline(5), code: 'race/global' },
    { ...inline(5), scope: { kind: 'path', pattern: 'other/**' } },
  ];
  const { kernels, diagnostics } = applySuppressions([racy], others, '2026-06-01', () => true);
  assert.equal(kernels[0]?.race.findings[0]?.severity, 'error');
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    Array(3).fill('suppression/unused'),
  );
  assert.equal(applySuppressions([racy], others, '2026-06-01', () => false).diagnostics.length, 0);
});

test('a suppression by path expires at its date', () => {
  const byPath: Suppression = { ...inline(5), scope: { kind: 'path', pattern: 'src/**' }, until: '2026-06-01' };
  assert.equal(applySuppressions([racy], [byPath], '2026-06-01', () => true).kernels[0]?.race.findings[0]?.severity, 'notice');
  const late = applySuppressions([racy], [byPath], '2026-06-02', () => true);
  assert.equal(late.kernels[0]?.race.findings[0]?.severity, 'error');
  assert.equal(late.diagnostics[0]?.code, 'suppression/expired');
});

test('a finding of the host program is suppressed by its line, another diagnostic is not', () => {
  const location = { file: 'src/a.cu', line: 5 };
  const site = { severity: 'error', code: 'ordering/streams', message: 'two launches', location, fingerprint: 'f' } as const;
  const other = { severity: 'notice', code: 'ordering/streams', message: 'no finding', location } as const;
  const suppression = { ...inline(5), code: 'ordering/streams' };
  const applied = applySuppressions([], [suppression], '2026-06-01', () => true, [site, other]);
  assert.deepEqual(applied.diagnostics, [{ ...site, severity: 'notice', message: 'two launches (suppressed: known)' }, other]);
  const elsewhere = applySuppressions([], [{ ...suppression, scope: inline(6).scope }], '2026-06-01', () => true, [site]);
  assert.deepEqual(
    elsewhere.diagnostics.map(({ code, severity }) => `${severity} ${code}`),
    ['error ordering/streams', 'notice suppression/unused'],
  );
  assert.deepEqual(applySuppressions([], [], '2026-06-01', () => true, [site]).diagnostics, [site]);
});

test('findings compare by fingerprint, kernels by name', () => {
  const base = [racy, kernelReport({ name: 'old()' })];
  const divergent = kernelReport({
    divergence: { verdict: 'divergent', findings: [divergenceFinding()] },
    name: 'new()',
  });
  const comparison = compareKernels(base, [divergent, racy], { base: 'b', head: 'h' });
  assert.deepEqual(comparison.new, ['d1']);
  assert.deepEqual(comparison.unchanged, ['f1']);
  assert.deepEqual(comparison.fixed, []);
  assert.deepEqual(comparison.addedKernels, ['new()']);
  assert.deepEqual(comparison.removedKernels, ['old()']);
  assert.deepEqual(compareKernels(base, [], { base: 'b', head: 'h' }).fixed, ['f1']);
});

test('the version is that of the package', () => {
  assert.equal(toolVersion, packageFile.version);
  assert.equal(`github:${publishedAction}`, packageFile.repository);
});
