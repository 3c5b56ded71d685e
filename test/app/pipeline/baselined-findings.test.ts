import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entriesOf } from '../../../src/app/pipeline/baselined-findings.ts';
import type { Report } from '../../../src/report-model/report.ts';

test('findings of the host program are in a baseline, unless they are suppressed', () => {
  const location = { file: 'a.cu', line: 3 };
  const site = { severity: 'error', code: 'ordering/streams', message: 'two launches', location, fingerprint: 'f' } as const;
  const diagnostics = [
    site,
    { ...site, severity: 'notice', message: 'two launches (suppressed: known)', fingerprint: 'g' },
    { ...site, code: 'launch/refused', fingerprint: 'h' },
  ];
  const report = { kernels: [], diagnostics } as unknown as Report;
  assert.deepEqual(entriesOf(report), [{ fingerprint: 'f', code: 'ordering/streams', kernel: '', file: 'a.cu' }]);
});
