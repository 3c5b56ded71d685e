/** One finding a cause: pairs of accesses, launches, instances of a template and architectures. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeCauses } from '../../src/app/pipeline/causes.ts';
import { applySuppressions, type Suppression } from '../../src/app/pipeline/suppressions.ts';
import { compareKernels } from '../../src/report-model/compared-reports.ts';
import type { ReportedRace } from '../../src/report-model/finding.ts';
import { tallyCauses, groupedFindings } from '../../src/report-model/finding-group.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { render } from '../../src/report/render.ts';
import { kernelReport, raceFinding, reportOf } from './report-fixture.ts';

/** A race of two lines. */
function pair(fingerprint: string, first: number, second: number, changes: Partial<ReportedRace> = {}): ReportedRace {
  const { first: write, second: read } = raceFinding();
  const at = (line: number) => ({ location: { file: 'src/a.cu', line } });
  const accesses = { first: { ...write, ...at(first) }, second: { ...read, ...at(second) } };
  return raceFinding({ fingerprint, ...accesses, message: `${first} races with ${second}.`, ...changes });
}

function racing(findings: readonly ReportedRace[], changes: Partial<KernelReport> = {}): KernelReport {
  return kernelReport({ race: { verdict: 'race', findings }, ...changes });
}

const told = ({ race }: KernelReport): unknown[] =>
  race.findings.map(({ fingerprint, severity, also = [] }) => [fingerprint, severity, ...also.map((other) => other.fingerprint)]);

test('pairs of one cause are one finding, represented by the first of the worst, with the lines of the others', () => {
  const merged = mergeCauses(
    racing([
      pair('f1', 3, 5, { cause: 0, severity: 'warning' }),
      pair('f2', 4, 5, { cause: 0 }),
      pair('f3', 9, 10),
      pair('f4', 4, 6, { cause: 0 }),
    ]),
  );
  assert.deepEqual(told(merged), [
    ['f2', 'error', 'f1', 'f4'],
    ['f3', 'error'],
  ]);
  const [finding] = merged.race.findings;
  assert.equal(finding?.message, '4 races with 5. Accesses on these lines race for the same reason: 3 and 5; 4 and 6.');
  assert.deepEqual(finding?.also?.[0]?.first, {
    operation: 'write',
    memory: 'shared',
    bytes: 4,
    expression: 's[t]',
    location: { file: 'src/a.cu', line: 3 },
  });
  assert.ok(merged.race.findings.every((one) => !('cause' in one)));
  assert.deepEqual(told({ ...merged, race: merged.launches[0]!.race }), told(merged));
});

test('the lines of many pairs are reported, each once', () => {
  const findings = [10, 11, 12].flatMap((read) => [3, 4].map((write) => pair(`${write}-${read}`, write, read, { cause: 0 })));
  const [finding] = mergeCauses(racing(findings)).race.findings;
  assert.match(finding?.message ?? '', /Accesses on these lines race for the same reason: 3, 4, 10, 11 and 12\.$/);
});

test('causes of two launches are merged if they share a pair', () => {
  const [launch] = kernelReport().launches;
  const ofLaunch = (...findings: ReportedRace[]) => ({ ...launch!, race: { verdict: 'race', findings } as const });
  const merged = mergeCauses(
    kernelReport({
      launches: [
        ofLaunch(pair('f1', 3, 5, { cause: 0 }), pair('f2', 4, 5, { cause: 0 })),
        ofLaunch(pair('f9', 9, 10, { cause: 0 }), pair('f8', 8, 10, { cause: 0 }), pair('f2', 4, 5)),
      ],
    }),
  );
  assert.deepEqual(told(merged), [
    ['f1', 'error', 'f2'],
    ['f9', 'error', 'f8'],
  ]);
});

test('a suppression removes the pairs at its lines, and keeps the others of the cause', () => {
  const suppression: Suppression = {
    code: 'race/shared',
    reason: 'known',
    location: { file: 'src/a.cu', line: 3 },
    scope: { kind: 'lines', file: 'src/a.cu', firstLine: 3, lastLine: 3 },
  };
  const findings = [pair('f1', 3, 5, { cause: 0 }), pair('f2', 4, 5, { cause: 0 }), pair('f3', 4, 6, { cause: 0 })];
  const { kernels } = applySuppressions([racing(findings)], [suppression], '2026-06-01', () => true);
  assert.deepEqual(told(mergeCauses(kernels[0]!)), [
    ['f1', 'notice'],
    ['f2', 'error', 'f3'],
  ]);
});

test('a root cause is known if the base has one of its access pairs', () => {
  const kernel = (...findings: ReportedRace[]): KernelReport[] => [mergeCauses(racing(findings))];
  const [a, b, c] = [pair('f1', 3, 5, { cause: 0 }), pair('f2', 4, 5, { cause: 0 }), pair('f3', 4, 6, { cause: 0 })];
  const compare = (base: KernelReport[], head: KernelReport[]) => {
    const { new: added, fixed, unchanged } = compareKernels(base, head, { base: 'b', head: 'h' });
    return { added, fixed, unchanged };
  };
  assert.deepEqual(compare(kernel(a, b), kernel(b, c)), { added: [], fixed: [], unchanged: ['f2'] });
  assert.deepEqual(compare(kernel(a), kernel(b, c)), { added: ['f2'], fixed: ['f1'], unchanged: [] });
});

const inOtherFile = (finding: ReportedRace): ReportedRace => ({
  ...finding,
  first: { ...finding.first, location: { file: 'src/b.cu', line: 3 } },
  second: { ...finding.second, location: { file: 'src/b.cu', line: 5 } },
});

test('instances of a template and architectures are one finding; the same text in two files is two', () => {
  const instances = ['k<128>', 'k<256>'].flatMap((name) => ['sm_80', 'sm_90'].map((arch) => racing([pair(name, 3, 5)], { name, arch })));
  const copy = racing([inOtherFile(pair('k<128>', 3, 5))], { name: 'k<128>' });
  const report = reportOf([...instances, copy]);
  assert.deepEqual(
    groupedFindings(report).map(({ kernels, archs }) => [kernels, archs]),
    [
      [
        ['k<128>', 'k<256>'],
        ['sm_80', 'sm_90'],
      ],
      [['k<128>'], []],
    ],
  );
  assert.deepEqual(tallyCauses(report), { errors: 2, warnings: 0, notices: 0 });
  // Another array at the same lines.
  const other = racing([pair('u', 3, 5, { array: 'u' })], { name: 'k<512>' });
  assert.equal(tallyCauses(reportOf([...instances, other])).errors, 2);
});

test('every format reports a finding of several kernels once, and names the kernels', async () => {
  const only = pair('f2', 4, 6, { cause: 0 });
  const report = reportOf([
    racing([pair('f1', 3, 5)], { name: 'k<128>', arch: 'sm_80' }),
    mergeCauses(racing([pair('f1', 3, 5, { cause: 0 }), only], { name: 'k<256>', arch: 'sm_90' })),
  ]);
  const options = { color: false, verbose: false, source: () => undefined };
  const pretty = await render('pretty', report, options);
  assert.equal(pretty.split('error[race/shared]').length, 2);
  assert.match(pretty, /= in `k<128>`, `k<256>` \(sm_80 and sm_90\)/);
  assert.match(pretty, /= Accesses on these lines race for the same reason: 4 and 6\./);
  assert.match(pretty, /1 finding reported with `k<128>` \(sm_80\)/);
  assert.match(pretty, /2 kernels with races; 1 error/);
  const markdown = await render('markdown', report, options);
  assert.equal(markdown.split('### error').length, 2);
  assert.match(markdown, /- in `k<128>`, `k<256>` \(sm/);
  const html = await render('html', report, options);
  assert.equal(html.split('class="card error"').length, 2);
  assert.match(html, /<li>in <code>k&#60;128&#62;<\/code>, <code>k&#60;256&#62;<\/code> \(sm_80 and sm_90\)<\/li>/);
  const { runs } = JSON.parse(await render('sarif', report, options)) as { runs: { results: { message: { text: string } }[] }[] };
  assert.equal(runs[0]?.results.length, 1);
  assert.match(runs[0]?.results[0]?.message.text ?? '', /^k<128>, k<256> \(sm_80 and sm_90\): 3 races with 5\. Accesses/);
});

test('SARIF relates the other accesses of a cause', async () => {
  const report = reportOf([mergeCauses(racing([pair('f1', 3, 5, { cause: 0 }), pair('f2', 3, 6, { cause: 0 })]))]);
  const text = await render('sarif', report, { color: false, verbose: false, source: () => undefined });
  interface Related {
    readonly physicalLocation: { readonly region: { readonly startLine: number } };
    readonly message: { readonly text: string };
  }
  const { runs } = JSON.parse(text) as { runs: { results: { relatedLocations: Related[] }[] }[] };
  assert.deepEqual(
    runs[0]?.results[0]?.relatedLocations.map(({ physicalLocation, message }) => [physicalLocation.region.startLine, message.text]),
    [
      [5, 'read of s[t + 1] by thread (1, 0, 0) of block (0, 0, 0)'],
      [6, 'read of s[t + 1]'],
    ],
  );
});
