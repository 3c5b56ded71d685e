/**
 * The table of idempotency counts a template once, by its worst instance, and a launch by the worst of its verdicts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ClassifiedKernel, type ClassifiedUnit, idempotencyTable } from './idempotency-table.ts';

function kernel(name: string, more: Partial<ClassifiedKernel>): ClassifiedKernel {
  const definition = `Samples/a/k.cuh:${name.length} ${name.replace(/<.*/, '')}`;
  return { name, definition, isOwn: true, class: 'conditional', reasons: [], launches: [], ...more };
}

const undecided = { verdict: 'undecided', reason: 'the host program does not specify `n`' } as const;

const units: readonly ClassifiedUnit[] = [
  {
    unit: 'Samples/0_a/x.cu',
    outcome: 'classified',
    kernels: [
      kernel('f<1>', { launches: [{ site: 'x.cu:1', verdict: 'idempotent', savedBytes: 2 ** 20 }] }),
      kernel('f<2>', { launches: [{ site: 'x.cu:1', ...undecided }] }),
      kernel('cub::g', { isOwn: false, class: 'non-idempotent' }),
    ],
  },
  {
    unit: 'Samples/1_b/y.cu',
    outcome: 'classified',
    kernels: [
      kernel('one', { launches: [{ site: 'y.cu:1', verdict: 'idempotent', savedBytes: 3 * 2 ** 20 }] }),
      kernel('four', { launches: [{ site: 'y.cu:2', verdict: 'undecided', reason: '`a` and `b` are in the same memory' }] }),
      kernel('three<1>', {}),
      kernel('three<2>', { class: 'unknown', reasons: [{ kind: 'atomic', text: '', lines: [] }] }),
    ],
  },
  { unit: 'Samples/1_b/z.cu', outcome: 'not compiled', kernels: [] },
];

test('templates, launches and bytes are counted once', () => {
  const table = idempotencyTable(units);
  assert.match(table, /units: classified 2, not compiled 1/);
  assert.match(table, /^ *0_a +1 +0 +1 +0 +0$/m);
  assert.match(table, /^ *1_b +3 +0 +2 +1 +0$/m);
  assert.match(table, /^ *All +4 +0 +3 +1 +0$/m);
  assert.match(table, /that the samples launch: 3 of 3; all launches judged: 2 \(66\.7 %\)/);
  assert.match(table, /launches of conditional kernels: 3; idempotent: 1 \(33\.3 %\); judged: 2 \(66\.7 %\)/);
  assert.match(table, /others are open: the host program does not specify `…` 1$/m);
  assert.match(table, /checkpoint avoided, each launch once: 3\.0 MiB before 1 idempotent launches/);
  assert.match(table, /undecided \(a kernel may have several reasons\): atomic 1$/m);
});
