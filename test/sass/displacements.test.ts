/** Displacements of accesses in machine code against those of the PTX, over encoded instructions. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { misplaced, type PlacedAccess } from '../../src/sass/displacements.ts';
import { SassInstruction } from '../../src/sass/instruction/decode.ts';
import { kernel as kernelOf } from '../interpreter/core/launch-text.ts';

/** `LDG` with a displacement in its 24 bits from bit 40. */
function load(displacement: number): SassInstruction {
  const field = displacement & 0xff_ffff;
  return new SassInstruction(0, undefined, new Int32Array([0x981, field << 8, 0, 0]), 0);
}

/** Loads at byte offsets of one array, each at the given displacement in machine code. */
function placed(offsets: readonly number[], displacements: readonly number[]): readonly number[] {
  const body = offsets.map((offset, at) => `ld.global.u32 %r${20 + at}, [%d3+${offset}];`).join('\n');
  const kernel = kernelOf(body);
  const loads = kernel.blocks.flatMap(({ instructions }) =>
    instructions.filter(({ operation }) => operation.effect.kind === 'load' && operation.mnemonic === 'ld.global.u32'),
  );
  assert.equal(loads.length, offsets.length);
  const accesses = loads.map((ptx, at): PlacedAccess => ({ instruction: load(displacements[at]!), ptx, base: 'R2' }));
  return misplaced(kernel, accesses).map((access) => accesses.indexOf(access));
}

test('positive and negative displacements agree with the PTX', () => {
  assert.deepEqual(placed([-8, -4, 0, 4], [-8, -4, 0, 4]), []);
});

test('a base register may contain an address some bytes before or after that of the PTX', () => {
  assert.deepEqual(placed([0, 4, 8], [-4, 0, 4]), []);
  assert.deepEqual(placed([-4, 0, 4], [0, 4, 8]), []);
  assert.deepEqual(placed([-0x80_0000, 0], [-0x80_0000, 0]), []);
});

test('an access at the offset of another one is misplaced', () => {
  assert.deepEqual(placed([-8, -4, 4, 8], [-8, -4, -4, 8]), [2]);
  assert.deepEqual(placed([-8, -4, 4, 8], [8, -4, 4, 8]), [0]);
  assert.deepEqual(placed([0, 4, 8, 12], [0, 8, 4, 12]), [1, 2]);
});
