/** Frames of resident blocks in the linear memory of the WebAssembly back end, which has up to 4 GiB. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LinearMemory } from '../../../src/machine/webassembly/wasm-memory.ts';
import type { Plan } from '../../../src/machine/webassembly/region/wasm-plan.ts';
import { WasmBlock } from '../../../src/machine/webassembly/wasm-block.ts';
import { header } from '../../../src/machine/webassembly/region/wasm-plan.ts';

/** Words at an address that no machine of a test needs to have. */
class Window {
  readonly #start: number;
  readonly #bytes: number;
  readonly #words: DataView;

  constructor(start: number, bytes: number, words: DataView) {
    this.#start = start;
    this.#bytes = bytes;
    this.#words = words;
  }

  set(values: readonly number[], index: number): void {
    for (const [at, value] of values.entries()) this.#words.setInt32((index + at) * this.#bytes - this.#start, value, true); // prettier-ignore
  }

  subarray(from: number, to: number): Int32Array {
    return new Int32Array(this.#words.buffer, from * this.#bytes - this.#start, to - from);
  }
}

test('a frame may lie beyond 2 GiB', () => {
  const frame = 2 ** 31 + 2 ** 16;
  const bytes = new ArrayBuffer(4096);
  const window = new Window(frame, 4, new DataView(bytes));
  const stamps: number[] = [];
  const u64 = new Proxy({}, { set: (_, index) => stamps.push(Number(index)) > 0 });
  const linear = { generation: 1, i32: window, u64 } as unknown as LinearMemory;
  const plan = { threads: 4, frame: { status: 256, left: 512, rounds: 1024 } } as unknown as Plan;
  const host = {
    plan,
    linear,
    instruction: () => assert.fail(),
    call: () => 0,
    wordsOf: () => [],
    released: () => undefined,
  };
  const block = new WasmBlock(host, frame, 0, [5, 6, 7], 1);
  assert.deepEqual([...new Int32Array(bytes, header.position, 3)], [5, 6, 7]);
  assert.deepEqual(stamps, [(frame + header.stamp) / 8]);
  new Int32Array(bytes, 256, 4).fill(3);
  assert.deepEqual([...block.status], [3, 3, 3, 3]);
});
