/** Which files are headers of the toolkit, so that findings in them are at the line that calls them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isToolkitFile, outsideToolkit } from '../../src/source/location.ts';

test('headers of the toolkit are known by their paths, also those without an extension', () => {
  const folder = '/opt/cuda-13.0/include';
  for (const header of [
    'cuda_runtime.h',
    'cooperative_groups/details/sync.h',
    'cccl/cuda/pipeline',
    'cccl/cuda/std/atomic',
    'sm_30_intrinsics.hpp',
  ])
    assert.ok(isToolkitFile(`${folder}/${header}`), header);
  for (const file of ['src/kernel.cu', 'include/pipeline', 'cuda/kernel.cu', 'cuda/pipeline', '/opt/cuda-13.0/samples/scan.cu'])
    assert.ok(!isToolkitFile(file), file);
});

test('code of a header is at the line that calls it', () => {
  const inlinedAt = { file: 'kernel.cu', line: 9 };
  assert.equal(outsideToolkit({ file: '/opt/cuda-13.0/include/cccl/cuda/pipeline', line: 632, inlinedAt }), inlinedAt);
  assert.equal(outsideToolkit({ file: '/opt/cuda-13.0/include/cccl/cuda/pipeline', line: 632 }), undefined);
});
