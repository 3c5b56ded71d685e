/** Placements of the same weight are compared by their cost in the production build. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UnitBuilder } from '../../src/app/project/unit-builder.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';
import { repairText } from './repair-file.ts';

const source = `// selvage: block=64 grid=1
__global__ void three(float* x) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = x[t];
    x[t + 64] = 2;
    x[t + 128] = 3;
    x[t] = s[63 - t];
}
`;

/** The line of the first barrier of a production build. */
function barrierLine(ptx: string): number | undefined {
  const [before] = ptx.split(/\bbar(?:rier)?\.sync\b/);
  if (before === ptx) return undefined;
  return Number([...before!.matchAll(/\.loc\s+\d+ (\d+) /g)].at(-1)?.[1]);
}

/** A builder whose ptxas reports few registers only if the barrier is at a line. */
function cheapAt(wanted: number, seen: Set<number>): (builder: UnitBuilder) => UnitBuilder {
  return (builder) => ({
    ...builder,
    async resources(ptx, arch, unit) {
      const line = barrierLine(ptx);
      if (line !== undefined) seen.add(line);
      const usage = await builder.resources?.(ptx, arch, unit);
      assert.ok(usage && !('reason' in usage));
      const registers = line === undefined || line === wanted ? 40 : 72;
      const kernels = new Map([...usage.kernels].map(([symbol, own]) => [symbol, { ...own, registers }]));
      return { ...usage, kernels };
    },
  });
}

for (const wanted of [6, 8]) {
  test(`the barrier is inserted at line ${wanted} if it costs least there`, { skip: withoutNvcc }, async () => {
    const seen = new Set<number>();
    const { report } = await repairText(source, 'three.cu', {}, cheapAt(wanted, seen));
    const [kernel] = report.kernels;
    assert.deepEqual(
      [...seen].sort((a, b) => a - b),
      [6, 7, 8],
      'all three are compiled',
    );
    assert.equal(kernel?.repair.edits?.[0]?.startLine, wanted);
    assert.equal(kernel?.repair.cost?.text, '1 barrier more, no extra register');
  });
}

test('if the first candidate reaches the lower cost bound, no other is compiled', { skip: withoutNvcc }, async () => {
  const texts = new Set<string | undefined>();
  const { report } = await repairText(source, 'three.cu', {}, (builder) => ({
    ...builder,
    build(unit, kind, arch, text) {
      texts.add(text);
      return builder.build(unit, kind, arch, text);
    },
  }));
  assert.equal(report.kernels[0]?.repair.edits?.[0]?.startLine, 6);
  assert.equal(texts.size, 3, 'the file, the copy with markers, and the edit');
});

test('if the first candidate cannot be proved, another candidate is used', { skip: withoutNvcc }, async () => {
  const { report } = await repairText(source, 'three.cu', {}, (builder) => ({
    ...builder,
    async build(unit, kind, arch, text) {
      const isFirst = text?.split('\n')[5]?.includes('__syncthreads') === true;
      return isFirst && kind === 'verification' ? { diagnostics: [] } : builder.build(unit, kind, arch, text);
    },
  }));
  const [edit] = report.kernels[0]?.repair.edits ?? [];
  assert.ok(edit !== undefined && edit.startLine > 6);
});
