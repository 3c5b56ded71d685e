/** What becomes of earlier findings: only what a run analysed is settled. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { occurrences } from '../../src/report-model/finding-group.ts';
import type { KernelReport, Report } from '../../src/report-model/report.ts';
import { kernelKeys, settlements, type EarlierFinding, type Settlement } from '../../src/github/plan/settlement.ts';
import { divergence, kernel, race, report } from './report-fixture.ts';

const at = (line: number) => ({ file: 'src/a.cu', line });
const racy = (name: string, fingerprint: string): KernelReport => kernel(name, [race({ fingerprint, first: at(12), second: at(14) })]);

/** The marker of the comment on all findings of a report. */
function earlier(of: Report, path = 'src/a.cu'): EarlierFinding {
  const all = occurrences(of);
  return { path, fingerprints: all.map(({ finding }) => finding.fingerprint), kernels: kernelKeys(all) };
}

const told = earlier(report([racy('k', 'f1')]));
const kindOf = (now: Report, finding: EarlierFinding = told, folder = ''): Settlement['kind'] => settlements(now, folder)(finding).kind;

test('a finding is fixed if its kernel is proved, regardless of other kernels', () => {
  assert.equal(kindOf(report([kernel('k', [])])), 'fixed');
  assert.equal(kindOf(report([racy('k', 'f1')])), 'open');
  assert.equal(kindOf(report([racy('k', 'f2')])), 'fixed');
  const unknown = { ...kernel('other', []), race: { verdict: 'unknown', findings: [] } } as const;
  assert.equal(kindOf(report([kernel('k', []), unknown])), 'fixed');
  assert.equal(kindOf(report([{ ...unknown, name: 'k' }])), 'open');
  const [launch] = kernel('k', []).launches;
  const undecided = { ...launch!, race: { verdict: 'unknown', findings: [] } } as const;
  const racyToo = { ...racy('k', 'f2'), launches: [launch!, undecided] };
  assert.equal(kindOf(report([racyToo])), 'open');
  // A marker without kernels could mean any of them.
  assert.equal(kindOf(report([kernel('k', []), unknown]), { ...told, kernels: [] }), 'open');
  assert.equal(kindOf(report([kernel('k', [])]), { ...told, kernels: [] }), 'fixed');
});

test('a finding is open while its own check has a possible finding in its file', () => {
  const possible = race({ fingerprint: 'other', first: at(12), second: at(14), more: { confirmed: false } });
  assert.equal(kindOf(report([kernel('k', [possible])])), 'open');
  assert.equal(kindOf(report([kernel('k', []), kernel('m', [possible])])), 'fixed');
  const elsewhere = { ...told, path: 'src/b.cuh' };
  assert.equal(kindOf(report([kernel('k', [possible])]), elsewhere), 'fixed');
  const mayDiverge = divergence('d', at(13), { confirmed: false });
  assert.equal(kindOf(report([kernel('k', [], [mayDiverge])])), 'fixed');
  const skipped = { ...kernel('k', []), divergence: { verdict: 'skipped', findings: [] } } as const;
  assert.equal(kindOf(report([skipped])), 'fixed');
  assert.equal(kindOf(report([{ ...kernel('k', []), race: { verdict: 'skipped', findings: [] } }])), 'open');
});

test('a kernel that the report lacks is as in the base, unless a part of the change was not analysed', () => {
  assert.equal(kindOf(report([])), 'gone');
  const diagnostics = [{ severity: 'error', code: 'ptx/syntax', message: '' }] as const;
  assert.equal(kindOf(report([], { diagnostics })), 'open');
  assert.equal(kindOf(report([kernel('k', [])], { diagnostics })), 'fixed');
  const notAnalysed = [{ what: 'x', reason: 'no unit', location: at(1) }];
  assert.equal(kindOf(report([], { notAnalysed })), 'open');
  assert.equal(kindOf(report([], { notAnalysed: [{ what: 'x', reason: '', location: { file: 'src/b.cu', line: 1 } }] })), 'gone');
  assert.equal(kindOf(report([], { notAnalysed: [{ what: 'x', reason: '' }] })), 'open');
  // Any unit may include a header.
  const inHeader = { ...told, path: 'src/h.cuh' };
  assert.equal(kindOf(report([], { notAnalysed }), inHeader), 'open');
  assert.equal(kindOf(report([kernel('k', [])], { notAnalysed }), inHeader), 'open');
  assert.equal(kindOf(report([kernel('k', [])]), inHeader), 'fixed');
  assert.equal(kindOf(report([kernel('k', [])], { diagnostics }), inHeader), 'open');
});

test('files outside of the folder of the run, and files that the configuration leaves out, are not settled', () => {
  const inFolder = { ...told, path: 'x/src/a.cu' };
  assert.equal(kindOf(report([kernel('k', [])]), inFolder, 'x/'), 'fixed');
  assert.equal(kindOf(report([]), told, 'x/'), 'open');
  assert.equal(kindOf(report([]), { ...told, path: 'xy/a.cu' }, 'x/'), 'open');
  assert.equal(kindOf(report([], { excluded: ['src/a.cu'] })), 'unchecked');
  assert.equal(kindOf(report([], { excluded: ['src/a.cu'] }), inFolder, 'x/'), 'unchecked');
  assert.equal(kindOf(report([], { excluded: ['src/b.cu'] })), 'gone');
  // A header is analysed as a part of units, even if it is excluded itself.
  const inHeader = { ...told, path: 'src/h.cuh' };
  assert.equal(kindOf(report([kernel('k', [])], { excluded: ['src/h.cuh'] }), inHeader), 'fixed');
  assert.equal(kindOf(report([], { excluded: ['src/h.cuh'] }), inHeader), 'unchecked');
  assert.equal(kindOf(report([kernel('k', [])], { excluded: ['src/b.cu'] }), inHeader), 'open');
  assert.equal(kindOf(report([], { excluded: ['src/b.cu'] }), { ...told, path: 'src/h.cuh' }), 'open');
});

test('a finding is suppressed only if all that is left of it is suppressed', () => {
  const both = earlier(report([racy('k', 'f1'), racy('m', 'f2')]));
  const quiet = race({ fingerprint: 'f1', first: at(12), second: at(14) });
  const suppressed = kernel('k', [{ ...quiet, suppressed: 'one warp only' }]);
  assert.deepEqual(settlements(report([suppressed]), '')(told), { kind: 'suppressed', reason: 'one warp only' });
  assert.deepEqual(settlements(report([suppressed, kernel('m', [])]), '')(both), { kind: 'suppressed', reason: 'one warp only' });
  assert.equal(kindOf(report([suppressed, racy('m', 'f2')]), both), 'open');
  // One instance of a template is suppressed, another one is not.
  assert.equal(kindOf(report([suppressed, racy('m', 'f1')])), 'open');
  assert.equal(kindOf(report([racy('m', 'f1'), suppressed])), 'open');
});

test('static kernels of one name in two files are two kernels', () => {
  const other = { ...kernel('k', []), location: { file: 'src/b.cu', line: 1 } };
  const diagnostics = [{ severity: 'error', code: 'ptx/syntax', message: '' }] as const;
  assert.equal(kindOf(report([other], { diagnostics })), 'open');
});
