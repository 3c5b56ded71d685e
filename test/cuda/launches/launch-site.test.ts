import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LaunchSite, type SitePointer, commonPointers } from '../../../src/cuda/launches/launch-site.ts';
import { mayLaunch } from '../../../src/cuda/launches/launch-scan.ts';

test('sites that are combined keep the pointers, sizes and offsets that they agree on', () => {
  const pointer = (memory: string, bytes: bigint | null, offset: bigint | null): SitePointer => ({
    memory,
    bytes,
    offset,
  });
  const site = (...pointers: (readonly [number, SitePointer])[]) => ({ pointers: new Map(pointers) }) as unknown as LaunchSite;
  const common = (...all: LaunchSite[]) => [...commonPointers(all)];
  const first = site([0, pointer('x', 64n, 0n)], [1, pointer('y', 32n, 8n)]);
  assert.deepEqual(common(first), [...first.pointers]);
  assert.deepEqual(common(first, site([0, pointer('x', 64n, 0n)])), [[0, pointer('x', 64n, 0n)]]);
  assert.deepEqual(common(first, first, site([1, pointer('y', 32n, 8n)])), [[1, pointer('y', 32n, 8n)]]);
  assert.deepEqual(common(first, first, site([1, pointer('y', 16n, 8n)])), [[1, pointer('y', null, 8n)]]);
  assert.deepEqual(common(first, site([1, pointer('y', 32n, 4n)]), first), [[1, pointer('y', 32n, null)]]);
  assert.deepEqual(common(first, site()), []);
  assert.deepEqual(common(), []);
});

test('texts without a launch are recognized without parsing', () => {
  assert.ok(mayLaunch('k<<<1, 2>>>()') && mayLaunch('cudaLaunchKernel(f)') && mayLaunch('cudaLaunchCooperativeKernel(f)'));
  assert.ok(!mayLaunch('__global__ void k() { a << b; }'));
});
