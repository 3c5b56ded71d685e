/** The table of samples counts kernels by their worst instance, and reports forbidden results. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SampleKernel, type SampleUnit, sampleTable } from './samples-table.ts';

function kernel(name: string, more: Partial<SampleKernel> = {}): SampleKernel {
  return {
    name,
    definition: `a/k.cuh:${name.length} ${name.replace(/<.*/, '')}`,
    isOwn: true,
    race: 'proved',
    divergence: 'proved',
    reasons: [],
    preconditions: [],
    findings: [],
    launches: [{ source: 'launch-site', block: 'given', grid: 'given' }],
    sites: [],
    foreign: [],
    ...more,
  };
}

function unit(name: string, more: Partial<SampleUnit> = {}): SampleUnit {
  return { unit: name, sample: 'a', outcome: 'checked', entries: [], kernels: [], diagnostics: [], ...more };
}

test('a kernel definition counts once, with the worst verdict of its instances in all units', () => {
  const table = sampleTable([
    unit('a/x.cu', { kernels: [kernel('f<1>'), kernel('g', { preconditions: ['n >= 1'] })] }),
    unit('a/y.cu', {
      kernels: [kernel('f<2>', { race: 'possible', reasons: ['line 7 of y.cu'] }), kernel('cub::k', { isOwn: false, race: 'race' })],
    }),
  ]);
  assert.match(table, /2 defined in the checkout, 3 instances; 1 instances of others/);
  assert.match(table, / proved: 0 .*\n.*proved under preconditions: 1 .*\n.*possible: 1 /);
  assert.match(table, /fully proved, with and without preconditions: 50\.0 %/);
  assert.match(table, /1: possible: line N of FILE\n +launch known: f \(a\/k\.cuh:4\)/);
});

test('kernels of units that end early are unchecked, and those of units that do not compile do not count', () => {
  const table = sampleTable([
    unit('a/x.cu', { outcome: 'out of time', entries: ['f', 'g'] }),
    unit('a/y.cu', { outcome: 'not compiled', entries: ['h'] }),
  ]);
  assert.match(table, /units: 2, 1 of them/);
  assert.match(table, /not checked: 2 \(100\.0 %\)/);
});

test('a finding of several instances counts once, and launches of other samples are reported', () => {
  const finding = { code: 'race/shared', severity: 'error', lines: 'a/k.cuh:7', text: 'they race' };
  const foreign = { race: 'race', findings: [finding], sites: ['b/main.cu:3'], foreign: ['b/main.cu:3'] };
  const table = sampleTable([
    unit('a/x.cu', { kernels: [kernel('f<1>', foreign), kernel('f<2>', foreign)], cpu: 8, nvccCpu: 2, wall: 3, nvccWall: 1 }),
  ]);
  assert.match(table, /findings: 1 errors and warnings, 100\.0 per 100 kernels, 100\.0 per 100 instances/);
  assert.match(table, /other samples that were used: 2\n +a\/x\.cu: f<1> uses b\/main\.cu:3/);
  assert.match(table, /median, 90th percentile, worst: 4\.0, 4\.0, 4\.0; wall: 3\.0/);
});
