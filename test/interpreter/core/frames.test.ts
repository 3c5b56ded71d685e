/** Frames of resident blocks in the linear memory of the WebAssembly back end, which has up to 4 GiB. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BlockFrame, type LinearMemory } from '../../../src/interpreter/webassembly/wasm-memory.ts';
import type { Plan } from '../../../src/interpreter/webassembly/region/wasm-plan.ts';
import { WasmBlock } from '../../../src/interpreter/webassembly/wasm-block.ts';
import { header } from '../../../src/interpreter/webassembly/region/wasm-plan.ts';

/** The words of `bytes` as if they began at an address that no machine of a test needs to have. */
function windowAt(start: number, bytes: ArrayBuffer): Int32Array {
  const words = new Int32Array(bytes);
  const place = (index: string | symbol): number => Number(index) - start / 4;
  return new Proxy(words, {
    get: (_, property) =>
      property === 'subarray' ? (from: number, to: number) => words.subarray(from - start / 4, to - start / 4) : words[place(property)],
    set: (_, index, value: number) => {
      words[place(index)] = value;
      return true;
    },
  });
}

test('a stack frame may be at an address beyond 2 GiB', () => {
  const frame = 2 ** 31 + 2 ** 16;
  const bytes = new ArrayBuffer(4096);
  const window = windowAt(frame, bytes);
  const linear = { generation: 1, i32: window } as unknown as LinearMemory;
  const plan = { threads: 4, frame: { status: 256, left: 512, rounds: 1024, warpBarriers: 2048 } } as unknown as Plan;
  const host = {
    plan,
    linear,
    instruction: () => assert.fail(),
    call: () => 0,
    wordsOf: () => [],
    released: () => undefined,
  };
  const block = new WasmBlock(host, new BlockFrame(frame, 0), 0, [5, 6, 7], 1);
  assert.deepEqual([...new Int32Array(bytes, header.position, 3)], [5, 6, 7]);
  assert.equal(new DataView(bytes).getBigUint64(header.stamp, true), block.stampOf(0));
  new Int32Array(bytes, 256, 4).fill(3);
  assert.deepEqual([...block.status], [3, 3, 3, 3]);
});
