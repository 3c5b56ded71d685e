import type { RunRequest } from '../../../src/interpreter/core/run-request.ts';
import type { GlobalBuffer } from '../../../src/interpreter/core/arguments.ts';
import type { Dim3 } from '../../../src/base/dim3.ts';
import type { RunResult } from '../../../src/interpreter/core/run-result.ts';
import assert from 'node:assert/strict';
import type { Kernel } from '../../../src/ir/form/kernel.ts';
import { runKernel } from '../../../src/interpreter/machine.ts';
import { lowerModule } from '../../../src/ir/lower.ts';
import { parsePtx } from '../../../src/ptx/parser.ts';

/**
 * A kernel from the text of its body: parameters `a` and `b` (pointers) and `n`; registers `%h %r %d %f %e %p`, of
 * which `%d1` and `%d2` hold the pointers, `%r0` is tid.x, `%d3` and `%d4` are `a` and `b` plus 4 tid.x, `%r9` is n.
 */
export function kernel(body: string, declarations = ''): Kernel {
  const text = `.version 8.6
.target sm_90
.address_size 64
${declarations}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n) {
.reg .b16 %h<20>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f32 %f<20>; .reg .f64 %e<20>; .reg .pred %p<20>;
ld.param.u64 %d1, [a];
ld.param.u64 %d2, [b];
ld.param.u32 %r9, [n];
cvta.to.global.u64 %d1, %d1;
cvta.to.global.u64 %d2, %d2;
mov.u32 %r0, %tid.x;
mul.wide.u32 %d5, %r0, 4;
add.s64 %d3, %d1, %d5;
add.s64 %d4, %d2, %d5;
${body}
ret;
}`;
  const { module, diagnostics } = parsePtx(text);
  assert.deepEqual(diagnostics, []);
  const { kernels } = lowerModule(module);
  return kernels[0]!;
}

export interface LaunchOptions extends Partial<
  Pick<
    RunRequest,
    | 'sharedBytes'
    | 'blocks'
    | 'steps'
    | 'maxRaces'
    | 'detectRaces'
    | 'havocSeed'
    | 'track'
    | 'observer'
    | 'seed'
    | 'backend'
    | 'watch'
    | 'undefinedValue'
  >
> {
  readonly block?: Dim3;
  readonly grid?: Dim3;
  readonly a?: Partial<GlobalBuffer>;
  readonly b?: Partial<GlobalBuffer>;
  readonly n?: bigint;
}

/** Runs it on two endless buffers of 32-bit zeros, by default in one block of 32 threads. */
export function launch(code: Kernel, options: LaunchOptions = {}): RunResult {
  const buffer = (name: string, given: Partial<GlobalBuffer> = {}): GlobalBuffer => ({
    name,
    bytes: null,
    elementBytes: 4,
    fill: 0n,
    values: new Map(),
    ...given,
  });
  const { a, b, n = 0n, block = [32, 1, 1], grid = [1, 1, 1], ...others } = options;
  return runKernel({
    kernel: code,
    block,
    grid,
    sharedBytes: 0,
    buffers: [buffer('A', a), buffer('B', b)],
    arguments: [
      { kind: 'pointer', buffer: 0, offset: 0n },
      { kind: 'pointer', buffer: 1, offset: 0n },
      { kind: 'scalar', value: n },
    ],
    steps: 1_000_000,
    detectRaces: true,
    ...others,
  });
}

/** The 32-bit elements of a buffer from the first on. */
export function words(result: RunResult, buffer: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => Number(result.read(buffer, 4 * index, 4)));
}

/** Races in short: `read-write shared s+4`. */
export function raceTexts(result: RunResult): string[] {
  return result.races.map(({ first, second, space, object, offset }) =>
    [`${first.operation}-${second.operation}`, space, `${object}+${offset}`].join(' '),
  );
}
