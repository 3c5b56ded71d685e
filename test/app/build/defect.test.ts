/** The data saved for a launch whose check fails with an internal error. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defectOf } from '../../../src/app/build/defect.ts';
import type { LoweredKernel } from '../../../src/app/build/phase-data.ts';
import type { Progress } from '../../../src/app/project/progress.ts';
import { parseAssumption } from '../../../src/assumptions/assumption-parser.ts';
import type { Launch } from '../../../src/launch/launch.ts';

test('an internal error is reported for a launch with constrained arguments', () => {
  const text = 'gridDim.x == (n + 255) / 256';
  const tie = parseAssumption(text);
  assert.ok('expression' in tie);
  const scalars = new Map([[1, 2n ** 40n]]);
  const launch = { source: 'launch-site', scalars, ties: [{ text, expression: tie.expression }] } as unknown as Launch;
  const entry = { name: { full: 'k(float*)' }, kernel: { symbol: 'k' }, verification: { source: { ptx: '.version' } } };
  const saved: ReadonlyMap<string, string>[] = [];
  const progress = { defect: ({ files }: { files: ReadonlyMap<string, string> }) => saved.push(files) };
  const told = defectOf(entry as unknown as LoweredKernel, launch, new Error('out of range'), progress as unknown as Progress);
  assert.equal(told.code, 'internal/defect');
  assert.match(told.message, /k\(float\*\): out of range/);
  const request = JSON.parse(saved[0]!.get('request.json')!) as { launch: { scalars: unknown; ties: unknown } };
  assert.deepEqual(request.launch.scalars, { 1: '1099511627776' });
  assert.match(JSON.stringify(request.launch.ties), /"256"/);
});
