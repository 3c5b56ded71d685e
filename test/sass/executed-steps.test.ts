import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { evaluate } from '../../src/cost/expressions/expression.ts';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { costOfKernel } from '../../src/cost/kernel-cost.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { readCubin } from '../../src/sass/cubin/cubin.ts';
import { executedSteps } from '../../src/sass/executed-steps.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';

const temporary = mkdtempSync(join(tmpdir(), 'selvage-steps-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

/** Each thread adds up n words; the loop has a separate store if it is requested. */
const loop = (pragma: string, store: string): string => `.version 9.0
.target sm_90
.address_size 64
.visible .entry sums(.param .u64 out, .param .u32 n)
{
  .reg .pred %p<4>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd2, %rd1;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
  setp.lt.s32 %p1, %r1, 1;
  @%p1 bra DONE;
NEXT:
  ${pragma}
  ld.volatile.global.u32 %r4, [%rd2];
  add.s32 %r3, %r3, %r4;
  ${store}
  add.s32 %r2, %r2, 1;
  setp.lt.s32 %p2, %r2, %r1;
  @%p2 bra NEXT;
DONE:
  st.global.u32 [%rd2+64], %r3;
  ret;
}
`;

function stepsOf(ptx: string): {
  readonly text: string | null;
  readonly at: (n: bigint) => number;
  readonly static: number;
} {
  const [file, made] = [join(temporary, 'sums.ptx'), join(temporary, 'sums.cubin')];
  writeFileSync(file, ptx);
  execFileSync('ptxas', ['-lineinfo', '-arch=sm_90', '-o', made, file]);
  const cubin = readCubin(new Uint8Array(readFileSync(made)));
  assert.ok(!('problem' in cubin));
  const [kernel] = lowerModule(parsePtx(ptx).module).kernels;
  const { visits } = costOfKernel({
    kernel: kernel!,
    dimensions: { block: [32, 1, 1], grid: [1, 1, 1] },
    sharedBytes: 0,
    expired: () => false,
    declaredAs: (index) => (index === 0 ? 'pointer' : 'scalar'),
    parameterName: (index) => (index === 1 ? 'n' : null),
    placeOf: (location) => location,
  });
  const { whole } = executedSteps(kernel!, cubin, visits)!;
  const at = (n: bigint): number => {
    const value = whole && evaluate(whole, () => n);
    return value ? Number(value.top) / Number(value.bottom) : NaN;
  };
  return { text: whole && expressionText(whole), at, static: cubin.functions[0]!.code.length / 16 };
}

test('a warp executes each instruction of a loop once in each iteration', { skip: withoutNvcc }, () => {
  const { text, at } = stepsOf(loop('.pragma "nounroll";', ''));
  // Load, addition, counter, condition, branch; the code before and after the loop is executed once.
  assert.match(text!, /^5\*max\(1, n\) \+ \d+$/);
  assert.equal(at(110n) - at(10n), 500);
});

test('iterations of an unrolled loop execute several iterations of the PTX each', { skip: withoutNvcc }, () => {
  const plain = stepsOf(loop('.pragma "nounroll";', 'st.global.u32 [%rd2+128], %r3;'));
  const unrolled = stepsOf(loop('', 'st.global.u32 [%rd2+128], %r3;'));
  assert.ok(unrolled.static > plain.static + 20);
  // Each iteration loads and stores, in any form of the loop; a copy in the remainder counts again.
  const n = 1000n;
  assert.ok(unrolled.at(n) >= 3 * Number(n), unrolled.text!);
  assert.ok(unrolled.at(n) < 3 * plain.at(n), unrolled.text!);
});

test('loops with unknown trip counts have no bound', { skip: withoutNvcc }, () => {
  const open = loop('.pragma "nounroll";', '').replace('add.s32 %r2, %r2, 1;', 'add.s32 %r2, %r2, %r4;');
  assert.equal(stepsOf(open).text, null);
  // An atomic on shared memory is a separate loop, which lasts as long as others interfere.
  const spinning = loop('.pragma "nounroll";', 'atom.shared.add.f32 %f1, [word], 0f3F800000;').replace(
    '.reg .pred',
    '.shared .b32 word; .reg .f32 %f<2>; .reg .pred',
  );
  assert.equal(stepsOf(spinning).text, null);
});
