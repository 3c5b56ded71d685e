/** Kernels from PTX bodies and their checks, for the tests of the engine. */
import type { DivergenceReport, RaceReport } from '../../src/report-model/finding.ts';
import { divergenceReport, raceReport } from '../../src/messages/finding/verdict.ts';
import type { ParameterSource, StatedAssumption } from '../../src/launch/parameter-source.ts';
import assert from 'node:assert/strict';
import type { KernelContext } from '../../src/check/context/facts.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import type { Launch } from '../../src/launch/launch.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CheckRequest, CheckResult } from '../../src/check/request/check-request.ts';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Solver } from '../../src/solver/solver.ts';
import { startZ3 } from '../../src/solver/z3-wasm.ts';

let solver: Promise<Solver> | undefined;

/** The solver of this process, started on first use. */
export function sharedSolver(): Promise<Solver> {
  solver ??= startZ3();
  return solver;
}

/** Ends the solver: to be called after the tests of a file. */
export async function closeSolver(): Promise<void> {
  await (await solver)?.close();
}

/** As `int *a, int *b, int n, int m` declares them. */
export const pointersAndNumbers: readonly ParameterSource[] = [
  { name: 'a', type: 'int *' },
  { name: 'b', type: 'int *' },
  { name: 'n', type: 'int' },
  { name: 'm', type: 'int' },
];

/**
 * A kernel from the text of its body: parameters `a` and `b` (pointers), `n` and `m`; registers `%h %r %d %f %p`, of
 * which `%d1` and `%d2` contain the pointers, `%r0` is tid.x, `%r9` is n, `%r8` is m, `%r7` is
 * ctaid.x * ntid.x + tid.x; `s` is 4096 bytes of shared memory, whose generic address is in `%d0`.
 */
export function kernelOf(body: string, declarations = ''): Kernel {
  const { module, diagnostics } = parsePtx(`.version 8.6
.target sm_90
.address_size 64
${declarations}
.visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n, .param .u32 m) {
.reg .b16 %h<40>; .reg .b32 %r<80>; .reg .b64 %d<80>; .reg .f32 %f<20>; .reg .pred %p<40>;
.shared .align 16 .b8 s[4096];
ld.param.u64 %d1, [a];
ld.param.u64 %d2, [b];
ld.param.u32 %r9, [n];
ld.param.u32 %r8, [m];
mov.u32 %r0, %tid.x;
mov.u32 %r6, %ctaid.x;
mov.u32 %r5, %ntid.x;
mad.lo.s32 %r7, %r6, %r5, %r0;
mov.u64 %d3, s;
cvta.shared.u64 %d0, %d3;
${body}
ret;
}`);
  assert.deepEqual(diagnostics, []);
  const { kernels } = lowerModule(module);
  return kernels[0]!;
}

/** `array[index] = value` with 4-byte elements, over scratch registers of the given number. */
export function store(array: string, index: string, value: string, scratch: number): string {
  return `mul.wide.s32 %d${scratch}, ${index}, 4; add.s64 %d${scratch}, ${array}, %d${scratch}; st.u32 [%d${scratch}], ${value};`;
}

/** `register = array[index]` with 4-byte elements, over scratch registers of the given number. */
export function load(register: string, array: string, index: string, scratch: number): string {
  return `mul.wide.s32 %d${scratch}, ${index}, 4; add.s64 %d${scratch}, ${array}, %d${scratch}; ld.u32 ${register}, [%d${scratch}];`;
}

export interface CheckOptions {
  readonly block?: Launch['block'];
  readonly grid?: Launch['grid'];
  readonly scalars?: Readonly<Record<number, bigint>>;
  readonly assume?: readonly string[];
  readonly parameters?: readonly ParameterSource[];
  readonly launch?: Partial<Launch>;
  readonly policy?: Partial<CheckRequest['policy']>;
  readonly budget?: Partial<CheckRequest['budget']>;
  readonly checks?: CheckRequest['checks'];
  /** Further variables and functions of the module. */
  readonly declarations?: string;
}

/** A request for a kernel in one block of 64 threads by default. */
export function requestFor(kernel: Kernel, options: CheckOptions = {}): CheckRequest {
  const { block = [64, 1, 1], grid = [1, 1, 1], scalars = {}, assume = [], parameters = pointersAndNumbers } = options;
  return {
    kernel,
    name: 'k',
    identity: 'k.cu|k',
    parameters,
    objectName: (symbol) => symbol,
    launch: {
      source: 'annotation',
      block,
      grid,
      cluster: null,
      sharedBytes: null,
      cooperative: false,
      scalars: new Map(Object.entries(scalars).map(([index, value]) => [Number(index), value])),
      aliases: [],
      ...options.launch,
    },
    assumptions: assume.map(stated),
    checks: options.checks ?? { race: true, divergence: true },
    policy: {
      race: 'error',
      sameValueWrites: 'warning',
      volatile: 'warning',
      undecided: 'notice',
      warpLockstep: false,
      divergence: 'error',
      earlyExit: 'warning',
      overflow: 'notice',
      alignment: 'notice',
      ...options.policy,
    },
    solver: sharedSolver,
    budget: {
      factor: 1,
      solverUnits: 1_000_000,
      evaluations: 1_000_000,
      replaySteps: 3_000_000,
      expired: () => false,
      ...options.budget,
    },
  };
}

/** An assumption from its text. */
export function stated(text: string): StatedAssumption {
  const parsed = parseAssumption(text);
  assert.ok('expression' in parsed, text);
  return { expression: parsed.expression, text };
}

/** Checks a body as {@link kernelOf} reads it; verdicts and findings include their messages. */
export async function check(body: string, options: CheckOptions = {}): Promise<WordedResult> {
  const { race, divergence, ...rest } = await checkKernel(requestFor(kernelOf(body, options.declarations), options));
  return { ...rest, race: raceReport(race), divergence: divergenceReport(divergence) };
}

export interface WordedResult extends Omit<CheckResult, 'race' | 'divergence'> {
  readonly race: RaceReport;
  readonly divergence: DivergenceReport;
}

/** Shared context of the parts of a check, for a body. */
export function contextOf(body: string, options: CheckOptions = {}): KernelContext {
  return kernelContext(requestFor(kernelOf(body, options.declarations), options));
}

/** The verdicts as `RACE/DIVERGENCE`. */
export async function verdicts(body: string, options: CheckOptions = {}): Promise<string> {
  const { race, divergence } = await check(body, options);
  return `${race.verdict}/${divergence.verdict}`;
}
