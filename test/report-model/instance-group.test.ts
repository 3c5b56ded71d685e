import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceGroups, instanceName, dedupeByTemplate } from '../../src/report-model/instance-group.ts';
import type { RaceReport } from '../../src/report-model/finding.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import type { Diagnostic } from '../../src/source/diagnostic.ts';

const nothing = () => ({ here: [], elsewhere: [] });

function kernel(name: string, race: Partial<RaceReport> = {}, line = 7): KernelReport {
  const verdict = { verdict: 'proved', findings: [] } as const;
  return {
    name,
    symbol: name,
    location: { file: 'a.cu', line },
    race: { ...verdict, ...race },
    divergence: verdict,
    repair: { status: 'not-needed' },
    launches: [{ source: 'symbolic', block: null, grid: null, race: verdict, divergence: verdict }],
  };
}

const told = (kernels: readonly KernelReport[]): string[] =>
  instanceGroups(kernels, nothing).map(({ name, instances }) => [name, ...instances].join(' '));

test('the name of an instance is split at its own template arguments', () => {
  const parts = (name: string) => {
    const found = instanceName(name);
    return found && [found.template, found.instance];
  };
  assert.deepEqual(parts('ns::reduce<float, 128>(float*, int)'), ['ns::reduce', '<float, 128>']);
  assert.deepEqual(parts('Box<int>::fill<Pair<a, b>>(Box<int>)'), ['Box<int>::fill', '<Pair<a, b>>']);
  assert.deepEqual(parts('(anonymous namespace)::k<int>(int)'), ['(anonymous namespace)::k', '<int>']);
  assert.equal(parts('plain(float*)'), undefined);
  assert.equal(parts('Box<int>::plain(float*)'), undefined);
});

test('many instances with the same results are one entry, at the position of the first', () => {
  const many = ['<1>', '<2>', '<4>', '<8>'].map((instance) => kernel(`reduce${instance}(float*)`));
  assert.deepEqual(told([kernel('a(int)'), ...many, kernel('b(int)')]), ['a(int)', 'reduce <1> <2> <4> <8>', 'b(int)']);
});

test('a few instances, and those with another verdict, reason, assumption or place, are not grouped', () => {
  assert.deepEqual(told([kernel('k<1>()'), kernel('k<2>()')]), ['k<1>()', 'k<2>()']);
  const same = ['k<1>()', 'k<2>()', 'k<3>()'].map((name) => kernel(name));
  const others = [
    kernel('k<4>()', { verdict: 'possible', reason: 'why' }),
    kernel('k<5>()', { assumptions: [{ kind: 'no-wrap', text: 'i' }] }),
    kernel('k<6>()', {}, 8),
  ];
  assert.deepEqual(told([...same, ...others]), ['k <1> <2> <3>', 'k<4>()', 'k<5>()', 'k<6>()']);
});

test('a message about each of many instances is reported once, another one as it is', () => {
  const names = ['k<1>(int)', 'k<2>(int)', 'k<3>(int)', 'k<12>(int)'];
  const message = (name: string): Diagnostic => ({
    severity: 'notice',
    code: 'assumption/unreachable',
    message: `Line 4 of ${name} is switched off.`,
    location: { file: 'a.cu', line: 4 },
  });
  const own: Diagnostic = { severity: 'notice', code: 'assumption/unreachable', message: 'Of k<2>, something else.' };
  const merged = dedupeByTemplate(
    [...['k<1>', 'k<2>', 'k<3>', 'k<12>'].map(message), own],
    names.map((name) => ({ name })),
  );
  assert.deepEqual(
    merged.map(({ message: text }) => text),
    ['Line 4 of k<…> is switched off. This applies to 4 instances of the template.', 'Of k<2>, something else.'],
  );
});
