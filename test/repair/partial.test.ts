/** Partial repairs: some findings of a kernel are repaired; the others are reported, and no worse. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { formerLines, isGone, worsened } from '../../src/app/pipeline/repair/partial-repair.ts';
import { nothingOpen } from '../../src/check/request/check-request.ts';
import type { CheckResult } from '../../src/check/request/check-request.ts';
import { findingsOf } from '../../src/report-model/outcome.ts';
import { nvcc } from '../toolchain/fixture.ts';
import { repairText, root } from './repair-file.ts';

const sourceTextOf = (name: string): string => readFileSync(join(root, 'test/repair/partial', `${name}.cu.txt`), 'utf8');

test('unrepairable findings do not prevent the repair of others', async (t) => {
  if (!nvcc) return t.skip('no nvcc');
  const { report, text } = await repairText(sourceTextOf('broken'), 'partial.cu');
  assert.equal(text, sourceTextOf('repaired'));
  const told = report.kernels.map(({ race, repair, ...kernel }) => {
    const severityOf = (name: string): string =>
      findingsOf({ race, repair, ...kernel }).find(({ fingerprint }) => fingerprint === name)!.severity;
    return [repair.status, repair.fixes?.map(severityOf), repair.leaves?.map(severityOf)];
  });
  assert.deepEqual(told, [
    ['repaired', ['error'], ['warning']],
    ['repaired', ['error'], ['error']],
    ['repaired', ['error'], []],
    ['repaired', ['error'], []],
    ['repaired', ['warning'], undefined],
  ]);
  const [equal, , scattered] = report.kernels.map(({ repair }) => repair.reason ?? '');
  assert.match(equal!, /the warning on line 17 remains, because several threads execute the same access/);
  assert.match(scattered!, /the kernel is still not proved, because .*`slot`/);
});

const proved: CheckResult = {
  race: { verdict: 'race', findings: [] },
  divergence: { verdict: 'proved', findings: [] },
  open: nothingOpen,
};

test('a partial repair leaves only findings that were open', () => {
  const before = new Map([
    ['k.cu:3 k.cu:5', 'error'],
    ['k.cu:9 k.cu:9', 'warning'],
    ['k.cu:7 k.cu:7', null],
  ] as const);
  const refused = (after: Parameters<typeof worsened>[2], result = proved) => worsened(result, before, after)?.kind;
  assert.equal(refused(new Map([['k.cu:9 k.cu:9', 'warning']])), undefined);
  assert.equal(refused(new Map([['k.cu:3 k.cu:9', 'warning']])), 'new-race');
  assert.equal(refused(new Map([['k.cu:9 k.cu:9', 'error']])), 'new-race');
  // A finding that no run showed before is now reproduced.
  assert.equal(refused(new Map([['k.cu:7 k.cu:7', 'error']])), 'new-race');
  assert.equal(refused(new Map(), { ...proved, race: { verdict: 'unknown', findings: [] } }), 'not-proved');
  assert.equal(refused(new Map(), { ...proved, divergence: { verdict: 'possible', findings: [] } }), 'not-proved');
  assert.equal(refused(new Map(), { ...proved, open: { ...nothingOpen, beside: { kind: 'many-pairs' } } }), 'not-proved');
});

test('a finding is fixed with all pairs of its cause', () => {
  const at = (line: number) => ({ operation: 'write', memory: 'shared', location: { file: 'k.cu', line } }) as const;
  const finding = {
    kind: 'write-write',
    code: 'race/shared',
    severity: 'error',
    confirmed: true,
    memory: 'shared',
    message: '',
    fingerprint: 'a',
    first: at(3),
    second: at(5),
    also: [{ fingerprint: 'b', first: at(3), second: at(8) }],
  } as unknown as Parameters<typeof isGone>[0];
  assert.ok(isGone(finding, [new Map([['k.cu:5 k.cu:8', null]])]));
  assert.ok(!isGone(finding, [new Map(), new Map([['k.cu:3 k.cu:8', null]])]));
});

test('lines of an edited text are mapped to the original', () => {
  const before = 'a\nb\nc\nd\ne\n';
  const former = formerLines(new Map([['k.cu', 'a\nx\nb\nb1\nb2\nd\n  e\n']]), () => before);
  assert.deepEqual(
    [1, 3, 6, 7].map((line) => former('k.cu', line)),
    [1, 2, 4, 5],
  );
  assert.equal(former('k.cu', 2), null);
  assert.equal(former('other.cuh', 7), 7);
  const moved = formerLines(new Map([['k.cu', 'a\nc\nb\nd\ne\n']]), () => 'a\nb\nc\nd\ne\n');
  assert.deepEqual(
    [1, 4, 5].map((line) => moved('k.cu', line)),
    [1, 4, 5],
  );
});
