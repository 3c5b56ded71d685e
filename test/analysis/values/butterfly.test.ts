/** Lane bits that do not decide a value, against runs of random exchanges. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedLaneBits } from '../../../src/analysis/values/butterfly.ts';
import { type Random, seededRandom } from '../../../src/base/random.ts';
import { runKernel } from '../../../src/interpreter/machine.ts';
import { kernelContext } from '../../../src/check/context/kernel-facts.ts';
import { kernelOf, requestFor } from '../../check/kernel-text.ts';

const registers = 4;

/** Instructions on `%r20` to `%r23`: exchanges by xor, sums of them, and other operations on both. */
function randomBody(random: Random): string {
  const any = (): string => `%r${20 + random.below(registers)}`;
  const mask = (): number => random.pick([1, 2, 4, 8, 16, 3, 6, 31]);
  const operation = (): string => random.pick(['add.s32', 'add.f32', 'max.f32', 'min.u32', 'xor.b32', 'mul.f32']);
  const lines: string[] = [];
  for (let i = 0; i < registers; i++) lines.push(`ld.global.u32 %r${20 + i}, [%d10+${i * 128}];`);
  for (let count = random.between(2, 12); count > 0; count--) {
    const [a, b] = [any(), any()];
    lines.push(
      random.pick([
        `shfl.sync.bfly.b32 %r30, ${a}, ${mask()}, 31, -1; ${operation()} ${a}, ${random.pick([`${a}, %r30`, `%r30, ${a}`])};`,
        `shfl.sync.bfly.b32 %r30, ${a}, ${mask()}, 31, -1; ${operation()} ${a}, %r30, ${b};`,
        `shfl.sync.bfly.b32 ${a}, ${b}, ${mask()}, 31, -1;`,
        `shfl.sync.bfly.b32 %r30, ${a}, 1, 7199, -1; add.s32 ${a}, ${a}, %r30;`,
        `shfl.sync.idx.b32 %r30, ${a}, 3, 31, -1; add.s32 ${a}, ${a}, %r30;`,
        `${operation()} ${a}, ${a}, ${b};`,
        `sub.f32 ${a}, ${a}, ${b};`,
        `mul.lo.s32 ${a}, ${b}, %r9;`,
        `add.s32 ${a}, %r9, %r6;`,
        `add.s32 ${a}, ${b}, %r0;`,
        `setp.lt.s32 %p1, ${b}, %r9; selp.b32 ${a}, ${a}, ${b}, %p1;`,
      ]),
    );
  }
  const stores = Array.from({ length: registers }, (_, i) => `st.global.u32 [%d11+${i * 128}], %r${20 + i};`);
  return `mul.wide.u32 %d9, %r0, 4; add.s64 %d10, %d1, %d9; add.s64 %d11, %d2, %d9; ${lines.join(' ')} ${stores.join(' ')}`;
}

test('lanes that differ only in shared bits have equal values', () => {
  const random = seededRandom(7);
  let [shared, inPart] = [0, 0];
  for (let count = 0; count < 120; count++) {
    const body = randomBody(random);
    const kernel = kernelOf(body);
    const { symbolic } = kernelContext(requestFor(kernel, { block: [32, 1, 1] }));
    const input = Uint32Array.from({ length: 32 * registers }, () => random.below(2 ** 32));
    const bytes = 128 * registers;
    const buffer = { bytes, elementBytes: 4, fill: 0n, values: new Map<number, bigint>() };
    const { outcome, readBytes } = runKernel({
      kernel,
      block: [32, 1, 1],
      grid: [1, 1, 1],
      sharedBytes: 0,
      buffers: [
        { ...buffer, name: 'a', initial: new Uint8Array(input.buffer) },
        { ...buffer, name: 'b' },
      ],
      arguments: [
        { kind: 'pointer', buffer: 0, offset: 0n },
        { kind: 'pointer', buffer: 1, offset: 0n },
        { kind: 'scalar', value: 5n },
        { kind: 'scalar', value: 6n },
      ],
      steps: 100_000,
      detectRaces: false,
      backend: 'javascript',
    });
    const output = new Uint32Array(Uint8Array.from(readBytes(1, 0, bytes)).buffer);
    assert.equal(outcome, 'finished', body);
    const stores = kernel.blocks.flatMap(({ instructions }) => instructions).filter(({ operation }) => operation.effect.kind === 'store');
    for (const [
      i,
      {
        arguments: [, value],
      },
    ] of stores.entries()) {
      const bits = sharedLaneBits(symbolic, value!);
      if (bits > 0) shared++;
      if (bits > 0 && bits < 31) inPart++;
      for (let lane = 0; lane < 32; lane++)
        assert.equal(output[32 * i + lane], output[32 * i + (lane & ~bits)], `value ${i} in lane ${lane}: ${body}`);
    }
  }
  assert.ok(shared > 60 && inPart > 25, `${shared} shared, ${inPart} in part`);
});
