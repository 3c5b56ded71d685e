/** Random kernels whose threads share a few words of memory, with accesses of all strengths, fences and barriers. */
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import type { Random } from '../../../src/base/random.ts';
import type { RunRequest } from '../../../src/interpreter/core/run-request.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';

const scopes = ['cta', 'gpu', 'sys'] as const;

/** PTX of one kernel with a pointer to 8 words as its parameter. */
function ptxOf(random: Random): string {
  const mixesWidths = random.chance(0.15);
  const lines: string[] = [];
  const steps = random.between(4, 14);
  const hasShared = random.chance(0.5);
  for (let step = 0; step < steps; step++) {
    if (random.chance(0.15)) lines.push(random.pick(['bar.sync 0;', 'bar.warp.sync 0xffffffff;', 'bar.sync 0;']));
    // Threads that execute it: those whose number, or whose block's, has these low bits.
    const [register, mask] = random.pick([
      ['%r1', 3],
      ['%r1', 63],
      ['%r2', 1],
      ['%r1', 0],
      ['%r3', 1],
    ] as const);
    lines.push(`and.b32 %r4, ${register}, ${mask};`, `setp.eq.u32 %p1, %r4, ${random.below(mask + 1)};`);
    const space = hasShared && random.chance(0.4) ? 'shared' : 'global';
    const word = random.below(4);
    const wide = mixesWidths && random.chance(0.3);
    const own = random.chance(0.3) && !wide;
    const address = space === 'global' ? (own ? '%rd4' : '%rd1') : own ? '%r7' : '%r8';
    const at = `[${address}+${wide ? 8 * (word >> 1) : 4 * word}]`;
    const type = wide ? 'u64' : 'u32';
    const value = wide ? '%rd3' : '%r5';
    const scope = random.pick(scopes);
    const strength = random.pick(['', '', 'volatile', `relaxed.${scope}`, 'order']);
    const dotted = (order: string): string => (strength === '' ? '' : strength === 'order' ? `.${order}.${scope}` : `.${strength}`);
    switch (random.below(5)) {
      case 0:
        lines.push(`@%p1 ld${dotted('acquire')}.${space}.${type} ${value}, ${at};`);
        break;
      case 1:
        lines.push(`@%p1 st${dotted('release')}.${space}.${type} ${at}, ${value};`);
        break;
      case 2: {
        const order = random.pick(['', `.relaxed.${scope}`, `.acq_rel.${scope}`, `.acquire.${scope}`]);
        lines.push(`@%p1 atom${order}.${space}.exch.${wide ? 'b64' : 'b32'} ${value}, ${at}, ${value};`);
        break;
      }
      case 3:
        lines.push(`@%p1 atom.${space}.add.${type} ${value}, ${at}, 1;`);
        break;
      default:
        lines.push(`@%p1 ${random.pick(['fence.acq_rel', 'fence.sc'])}.${scope};`);
    }
  }
  return `.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 A) {
.reg .b32 %r<10>; .reg .b64 %rd<8>; .reg .pred %p<2>;
.shared .align 8 .b8 S[32];
ld.param.u64 %rd0, [A];
cvta.to.global.u64 %rd1, %rd0;
mov.u32 %r1, %tid.x;
mov.u32 %r2, %ctaid.x;
shr.u32 %r3, %r1, 5;
and.b32 %r6, %r1, 1;
mul.wide.u32 %rd2, %r6, 4;
add.s64 %rd4, %rd1, %rd2;
mov.u32 %r8, S;
shl.b32 %r7, %r6, 2;
add.u32 %r7, %r7, %r8;
mov.u32 %r5, %r1;
cvt.u64.u32 %rd3, %r1;
${hasShared ? 'setp.lt.u32 %p1, %r1, 8;\nshl.b32 %r4, %r1, 2;\nadd.u32 %r4, %r4, %r8;\n@%p1 st.shared.u32 [%r4], %r1;\nbar.sync 0;' : ''}
${lines.join('\n')}
ret;
}
`;
}

/** A launch of such a kernel, of which several runs are the same, on any back end. */
export function orderedRequest(random: Random): RunRequest & { readonly ptx: string } {
  const ptx = ptxOf(random);
  const { module, diagnostics } = parsePtx(ptx);
  const kernel: Kernel | undefined = lowerModule(module).kernels[0];
  if (!kernel || diagnostics.length > 0) throw new Error(`cannot be read: ${JSON.stringify(diagnostics[0])}\n${ptx}`);
  return {
    ptx,
    kernel,
    block: [random.pick([1, 32, 64, 96]), 1, 1],
    grid: [random.between(1, 3), 1, 1],
    sharedBytes: 0,
    buffers: [{ name: 'A', bytes: 64, elementBytes: 4, fill: 0n, values: new Map() }],
    arguments: [{ kind: 'pointer', buffer: 0, offset: 0n }],
    steps: 400_000,
    detectRaces: true,
    volatileRaces: random.chance(0.3),
    ...(random.chance(0.5) && { seed: random.below(100) }),
  };
}
