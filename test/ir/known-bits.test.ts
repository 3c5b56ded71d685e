import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { referenceDomain } from '../../src/isa/arithmetic/reference-domain.ts';
import { knownBitsDomain, knownValue } from '../../src/ir/known-bits.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { interpret, interpretTruth, randomBits, randomExpression, randomTruth } from '../term/random-term.ts';

const widths = [8, 16, 32, 64, 32] as const;

test('known bits agree with the value', () => {
  let known = 0;
  let decided = 0;
  for (let seed = 0; seed < 6000; seed++) {
    const random = seededRandom(seed);
    const masks = widths.map((width) => BigInt.asUintN(width, random.chance(0.3) ? 0n : randomBits(random)));
    const fixed = widths.map((width) => BigInt.asUintN(width, randomBits(random)));
    const atom = (index: number) => ({ known: masks[index]!, value: fixed[index]! & masks[index]! });
    const expression = randomExpression(random, random.pick([8, 16, 32, 64] as const), widths, random.between(1, 4));
    const truth = randomTruth(random, widths, 2);
    const bits = interpret(knownBitsDomain, expression, atom);
    const answer = interpretTruth(knownBitsDomain, truth, atom);
    assert.equal(bits.value & ~bits.known, 0n);
    for (let i = 0; i < 5; i++) {
      const values = widths.map(
        (width, index) => (fixed[index]! & masks[index]!) | (BigInt.asUintN(width, randomBits(random)) & ~masks[index]!),
      );
      const value = interpret(referenceDomain, expression, (index) => values[index]!);
      assert.equal(value & bits.known, bits.value, `seed ${seed}`);
      if (answer !== null)
        assert.equal(
          interpretTruth(referenceDomain, truth, (index) => values[index]!),
          answer,
          `seed ${seed}`,
        );
    }
    if (bits.known !== 0n && knownValue(bits, expression.width) === null) known++;
    if (answer !== null) decided++;
  }
  assert.ok(known > 1000 && decided > 1000, `${known}, ${decided}`);
});

test('a field of a structure in a register that was never written as a whole decides a branch', () => {
  const { kernels } = lowerModule(
    parsePtx(`.version 9.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<3>;
  .reg .b16 %rs<4>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  cvt.u32.u64 %r1, %rd2;
  and.b32 %r2, %r1, -256;
  or.b32 %r3, %r2, 8;
  shr.u32 %r4, %r3, 1;
  cvt.u16.u32 %rs1, %r4;
  and.b16 %rs2, %rs1, 127;
  setp.eq.s16 %p1, %rs2, 4;
  @%p1 bra $other;
  st.global.u32 [%rd1], %r3;
$other:
  shr.u32 %r5, %r3, 8;
  setp.eq.s32 %p2, %r5, 0;
  @%p2 bra $end;
  bar.sync 0;
$end:
  ret;
}`).module,
  );
  const opcodes = kernels[0]!.blocks.flatMap(({ instructions }) => instructions.map(({ operation }) => operation.opcode));
  assert.ok(!opcodes.includes('st'));
  // The upper bits may be anything.
  assert.ok(opcodes.includes('bar'));
});
