/** Kernels of this folder from their checked-in PTX: their bounds, and the counts of the interpreter on runs. */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { readFileSync } from 'node:fs';
import type { Dimensions } from '../../src/analysis/values/launch-bounds.ts';
import { type Expression, evaluate } from '../../src/cost/expressions/expression.ts';
import { type KernelBounds, boundKernel } from '../../src/cost/kernel-cost.ts';
import type { BoundMetric } from '../../src/cost/model/metrics.ts';
import { kernelName } from '../../src/cuda/names/kernel-name.ts';
import { LaunchCounters } from '../../src/interpreter/counters.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { ptxFile } from '../kernels/portable-ptx.ts';
import { worstOf } from './compared-run.ts';

/** The kernels of a file by name. */
export function kernelsOf(file: string, build: Build): Map<string, Kernel> {
  const { module } = parsePtx(readFileSync(ptxFile(file, build), 'utf8'), file);
  return new Map(lowerModule(module).kernels.map((kernel) => [kernelName(kernel.symbol).qualified, kernel]));
}

export interface CostRun {
  readonly block: Dim3;
  readonly grid: Dim3;
  /** Arguments in the order of the parameters: numbers, or names of arrays with their contents. */
  readonly arguments: readonly (bigint | 'array' | Uint8Array)[];
  readonly sharedBytes?: number;
  /** Linear indices of the blocks to run; default: all. */
  readonly blocks?: readonly number[];
}

/** The bounds of a kernel in blocks of a size, with names for its integer parameters. */
export function boundsOf(
  kernel: Kernel,
  names: readonly (string | null)[],
  dimensions: Dimensions,
  divisors: Readonly<Record<string, bigint>> = {},
): KernelBounds {
  const nameOf = (index: number): string | null => names[index] ?? null;
  return boundKernel({
    kernel,
    dimensions,
    sharedBytes: null,
    declaredAs: (index) => (nameOf(index) === null ? 'pointer' : 'scalar'),
    parameterName: nameOf,
    divisor: (index) => divisors[nameOf(index) ?? ''] ?? 1n,
  });
}

/** Counts of the interpreter for the worst warp of a run, by metric. */
export function countRun(kernel: Kernel, run: CostRun): { readonly worst: Record<BoundMetric, number>; readonly result: RunResult } {
  const counters = new LaunchCounters();
  const buffers: GlobalBuffer[] = [];
  const values = run.arguments.map((argument): Argument => {
    if (typeof argument === 'bigint') return { kind: 'scalar', value: argument };
    const contents = argument === 'array' ? {} : { initial: argument };
    const bytes = argument === 'array' ? null : argument.length;
    buffers.push({ name: `array${buffers.length}`, bytes, elementBytes: 4, fill: 0n, values: new Map(), ...contents });
    return { kind: 'pointer', buffer: buffers.length - 1, offset: 0n };
  });
  const result = runKernel({
    kernel,
    block: run.block,
    grid: run.grid,
    sharedBytes: run.sharedBytes ?? 0,
    buffers,
    arguments: values,
    ...(run.blocks && { blocks: run.blocks }),
    steps: 200_000_000,
    detectRaces: false,
    observer: counters,
  });
  return { worst: worstOf(counters.warps), result };
}

/** The value of a bound for given names. */
export function valueOf(bound: Expression, values: Readonly<Record<string, number>>): number {
  const value = evaluate(bound, (name) => (values[name] === undefined ? undefined : BigInt(values[name])));
  return value ? Number(value.top) / Number(value.bottom) : NaN;
}
