/** The bytes of matrices in shared memory, against their layouts written out element by element. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spanOfMatrix } from '../../src/isa/arithmetic/shared-matrix.ts';
import type { SharedMatrix } from '../../src/isa/model/operation.ts';

/** Bytes of a row that are swizzled together, by the mode of a descriptor. */
const widths = [16, 128, 64, 32] as const;

interface Layout {
  readonly matrix: SharedMatrix;
  readonly mode: 0 | 1 | 2 | 3;
  readonly leading: number;
  readonly stride: number;
}

/** Addresses of the chunks of 16 bytes of a matrix, in the canonical layouts of PTX ISA 9.7.15.5.1. */
function pieces({ matrix: { rows, depth, elementBits, transposed }, mode, leading, stride }: Layout, start: number): number[] {
  const width = widths[mode];
  const along = (transposed === true ? rows : depth) * (elementBits / 8);
  const lines = transposed === true ? depth : rows;
  const list: number[] = [];
  for (let line = 0; line < lines; line++) {
    for (let byte = 0; byte < along; byte += 16) {
      const [eight, inEight] = [Math.floor(line / 8), line % 8];
      const [wide, inWide] = [Math.floor(byte / width), byte % width];
      // Without swizzling the two distances change places where the matrix is transposed.
      const [far, near] = mode === 0 && transposed === true ? [leading, stride] : [stride, leading];
      const linear = start + eight * far + wide * near + inEight * width + inWide;
      const mask = width === 16 ? 0 : width / 16 - 1;
      list.push(linear ^ (((linear >> 7) & mask) << 4));
    }
  }
  return list;
}

const fieldsOf = ({ mode, leading, stride }: Layout): bigint =>
  (BigInt(mode) << 62n) | (BigInt(stride / 16) << 32n) | (BigInt(leading / 16) << 16n);

const shapes: readonly SharedMatrix[] = [
  { source: 0, rows: 64, depth: 16, elementBits: 16, transposed: false },
  { source: 1, rows: 8, depth: 16, elementBits: 16, transposed: false },
  { source: 1, rows: 128, depth: 8, elementBits: 32, transposed: false },
  { source: 1, rows: 24, depth: 32, elementBits: 8, transposed: false },
  { source: 1, rows: 64, depth: 256, elementBits: 1, transposed: false },
  { source: 0, rows: 64, depth: 16, elementBits: 16, transposed: true },
  { source: 1, rows: 256, depth: 16, elementBits: 16, transposed: true },
  { source: 1, rows: 8, depth: 32, elementBits: 16, transposed: true },
];

test('the span of a matrix contains all of its rows, for any start', () => {
  let judged = 0;
  for (const matrix of shapes) {
    for (const mode of [0, 1, 2, 3] as const) {
      for (const [leading, stride] of [
        [128, 256],
        [2048, 1024],
        [1024, 2048],
        [256, 144],
      ] as const) {
        const layout: Layout = { matrix, mode, leading, stride };
        for (let start = 4096; start < 4096 + 128; start += 16) {
          const list = pieces(layout, start);
          const [low, high] = [Math.min(...list), Math.max(...list) + 16];
          for (const known of [start % 128, null]) {
            const span = spanOfMatrix(matrix, fieldsOf(layout), known);
            if (!span) continue;
            judged++;
            const name = JSON.stringify({ ...layout, start, known });
            assert.ok(start - span.before <= low, name);
            assert.ok(start - span.before + span.bytes >= high, name);
          }
        }
      }
    }
  }
  assert.ok(judged > 1000, `${judged}`);
});

test('if the start is known, the span of a matrix in the layout of libraries has no other bytes', () => {
  const rows64: SharedMatrix = { source: 0, rows: 64, depth: 64, elementBits: 16, transposed: false };
  const whole: Layout = { matrix: rows64, mode: 1, leading: 16, stride: 1024 };
  assert.deepEqual(spanOfMatrix(rows64, fieldsOf(whole), 0), { before: 0, bytes: 8192 });
  const [a, , , , , transposed] = shapes as readonly [SharedMatrix, ...SharedMatrix[]];
  // A step of 32 bytes within rows of 128 bytes reads the same rows.
  for (const start of [0, 32, 64, 96]) assert.deepEqual(spanOfMatrix(a, fieldsOf(whole), start), { before: start, bytes: 8192 });
  assert.deepEqual(spanOfMatrix(transposed!, fieldsOf(whole), 0), { before: 0, bytes: 2048 });
  assert.deepEqual(spanOfMatrix(a, fieldsOf({ ...whole, mode: 0, leading: 128, stride: 256 }), 0), {
    before: 0,
    bytes: 2048,
  });
  // Without a literal that specifies whether it is transposed.
  assert.deepEqual(spanOfMatrix({ ...a, transposed: null }, fieldsOf(whole), 0), { before: 0, bytes: 8192 });
});
