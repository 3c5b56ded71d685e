/** Random CUDA kernels: phases in sequence, with loops and conditions around them, correct or with one bug. */
import type { Random } from '../../src/base/random.ts';
import { blockPhases, divergentPhase } from './cuda-block-phases.ts';
import { gridPhases } from './cuda-grid-phases.ts';
import { strengthPhases } from './cuda-strength-phases.ts';
import { type Phase, Setting, type StatedScalar } from './cuda-setting.ts';
import { wildPhase } from './wild-kernel.ts';

export interface GeneratedKernel {
  readonly name: string;
  /** Source of the kernel and of its helper functions. */
  readonly text: string;
  readonly helpers: readonly string[];
  /** Whether some launch that satisfies the assumptions races. */
  readonly race: 'absent' | 'present' | 'open';
  readonly divergence: 'absent' | 'present' | 'open';
  /** Whether every run of the stated launch keeps to the arrays of known extent, or leaves one. */
  readonly bounds: 'kept' | 'left' | 'open';
  /** Its phases, and the bug. */
  readonly label: string;
  /** Whether all of this is valid for every block and grid, and not only for the stated launch. */
  readonly isSymbolic: boolean;
  /** Parameters whose arrays are zero at the start. */
  readonly zeroed: readonly string[];
  readonly stated: readonly StatedScalar[];
}

/** Helpers of all kernels. The macro keeps the standard library out of the header, which then takes a third of the time. */
export const preamble = `#define _CG_LIMIT_INCLUDED_DEPENDENCIES
#include <cooperative_groups.h>
__device__ __noinline__ int twice(int x) { return 2 * x; }
__device__ void meet() { __syncthreads(); }
__device__ int peek(const int *p) { int v; asm volatile("ld.relaxed.gpu.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
`;

/** A condition with the same value for all threads of a block, true for some arguments. */
function uniformCondition(setting: Setting, parameters: string[]): string {
  const { random } = setting;
  const memory = setting.name('mode');
  const condition = random.pick(['n > 2', `${memory}[0] != 2`, 'n % 3 != 5', `T <= 1024`, 'gridDim.x > 0']);
  if (condition.startsWith(memory)) parameters.push(`const int *${memory}`);
  return condition;
}

/** The trip count of a loop around a phase, the same for all threads of a block. */
function rounds(setting: Setting, parameters: string[]): string {
  const { random } = setting;
  const memory = setting.name('rounds');
  const text = random.pick(['2', '3', 'min(n, 7)', '((n & 7) | 1)', `(${memory}[blockIdx.x] & 3)`, `min(${memory}[0], 4)`]);
  if (text.includes(memory)) parameters.push(`const int *${memory}`);
  return text;
}

/** Puts a loop around a phase. */
function looped(setting: Setting, phase: Phase, parameters: string[], isForgotten: boolean): string[] {
  const { random } = setting;
  const r = setting.name('r');
  const bound = isForgotten ? '3' : rounds(setting, parameters);
  const last = phase.repeats === 'freely' || isForgotten ? '' : setting.barrier();
  const body = [...phase.body, last];
  return random.pick([
    [`for (int ${r} = 0; ${r} < ${bound}; ${r}++) {`, ...body, '}'],
    [`for (int ${r} = ${bound}; ${r} > 0; ${r} -= 1) {`, ...body, '}'],
    [`{ int ${r} = 0; do {`, ...body, `} while (++${r} < ${bound}); }`],
    [`{ int ${r} = 0; while (true) {`, ...body, `if (++${r} >= ${bound}) break; } }`],
    [`for (int ${r} = 1; ${r} < (1 << ${isForgotten ? 3 : 2}); ${r} <<= 1) {`, ...body, '}'],
  ]);
}

/** Takes a barrier or fence away, or changes a number, a comparison or an index. */
function mutate(random: Random, body: string[]): void {
  const at = random.below(body.length);
  const change = (pattern: RegExp, to: (found: string) => string): boolean => {
    for (let k = 0; k < body.length; k++) {
      const line = (at + k) % body.length;
      if (body[line]!.includes('asm') || !pattern.test(body[line]!)) continue;
      body[line] = body[line]!.replace(pattern, to);
      return true;
    }
    return false;
  };
  const changes = [
    () => change(/__(syncthreads|syncwarp|threadfence)\(\);/, () => ';'),
    () => change(/__threadfence\(\);/, () => '__threadfence_block();'),
    () => change(/ < /, () => random.pick([' <= ', ' > ', ' != '])),
    () => change(/\btid == 0\b/, () => random.pick(['tid < 2', 'tid != 0', 'gid == 0', 'tid == 1'])),
    () =>
      change(/\[([^[\]]+)\] = /, (found) =>
        found.replace(/\[(.*)\]/, (_, index) => random.pick([`[(${index}) / 2]`, `[(${index}) ^ 1]`, `[(${index}) + 1]`, `[tid]`])),
      ),
    () => change(/(?<![\w.])[1-9]\b(?!\s*[;*]?\s*\/)/, (found) => String(Number(found) + 1)),
    () => change(/atomicAdd\(/, () => 'atomicMax('),
  ];
  for (let tries = 0; tries < 5; tries++) if (random.pick(changes)()) return;
}

/** Phases whose threads may be fewer than the block has. */
const forFewer = new Set(['separate elements', 'grid stride', 'sparse rows', 'indirect']);

function wild(random: Random, name: string): GeneratedKernel {
  const isSymbolic = random.chance(0.2);
  const setting = new Setting(random, random.pick([32, 64, 64, 96]), random.pick([1, 1, 2]), isSymbolic);
  const phase = wildPhase(setting);
  return assemble(setting, name, [phase], phase.body, [], { race: 'open', divergence: 'open', bounds: 'open' });
}

function assemble(
  setting: Setting,
  name: string,
  phases: readonly Phase[],
  body: readonly string[],
  extra: readonly string[],
  expected: Pick<GeneratedKernel, 'race' | 'divergence' | 'bounds'>,
  fault?: string,
): GeneratedKernel {
  const { random, block, grid, cluster } = setting;
  const parameters = [...phases.flatMap((phase) => phase.parameters ?? []), ...extra, 'int *result', 'int n'];
  const isCooperative = phases.some(({ cooperative }) => cooperative);
  const argument = random.chance(0.3) ? ` arg(n=${random.between(9, 40)})` : '';
  const stated = phases.flatMap((phase) => phase.stated ?? []);
  const facts = stated.map(
    ({ name: m, least, multiple }) => ` assume(${m} >= ${least})${multiple === 1 ? '' : ` assume(${m} % ${multiple} == 0)`}`,
  );
  const lines = [
    `// selvage: block=${block} grid=${grid}${cluster > 1 ? ` cluster=${cluster}` : ''}${isCooperative ? ' cooperative' : ''}${argument}${facts.join('')}`,
    `__global__ void ${name}(${parameters.join(', ')}) {`,
    ...phases.flatMap(({ shared = [] }) => shared).map((declaration) => `    __shared__ ${declaration};`),
    '    const int tid = threadIdx.x, T = blockDim.x, gid = blockIdx.x * blockDim.x + threadIdx.x;',
    '    int acc = 0;',
    ...body.filter((line) => line.trim() !== '').map((line) => `    ${line}`),
    '    result[gid] = acc;',
    '}',
  ];
  return {
    name,
    text: `${lines.join('\n')}\n`,
    helpers: [],
    ...expected,
    label: `${phases.map((phase) => phase.name).join(', ')}${fault === undefined ? '' : `: ${fault}`}`,
    isSymbolic: setting.isSymbolic,
    zeroed: phases.flatMap(({ zeroed = [] }) => zeroed),
    stated,
  };
}

/**
 * Generates a kernel.
 * @param name of the kernel
 */
export function generateKernel(random: Random, name: string): GeneratedKernel {
  if (random.chance(0.15)) return wild(random, name);
  const isSymbolic = random.chance(0.3);
  const setting = new Setting(
    random,
    random.pick([32, 64, 64, 96, 128, 256]),
    random.pick([1, 2, 2, 3, 4]),
    isSymbolic,
    random.chance(0.3),
  );
  const isBroken = random.chance(0.62);
  const count = random.pick([1, 1, 2, 2, 3]);
  const brokenAt = isBroken ? random.below(count) : -1;
  const phases: Phase[] = [];
  const parameters: string[] = [];
  const body: string[] = [];
  let fault: string | undefined;
  let isDivergent = false;
  for (let at = 0; at < count; at++) {
    const isBad = at === brokenAt;
    const makers = random.chance(0.3) ? strengthPhases : random.chance(0.6) ? blockPhases : gridPhases;
    const maker = isBad && random.chance(0.06) ? divergentPhase : random.pick(makers);
    const isForgotten = isBad && maker !== divergentPhase && random.chance(0.2);
    const phase = maker(setting, isBad && !isForgotten);
    phases.push(phase);
    if (phase.divergent) isDivergent = true;
    else if (phase.fault !== undefined) fault = `${phase.name} (${phase.fault})`;
    let lines: string[];
    if (isForgotten && phase.repeats === 'barrier') {
      lines = looped(setting, phase, parameters, true);
      fault = `${phase.name} (no barrier between iterations)`;
    } else if (phase.repeats !== undefined && random.chance(0.3)) {
      lines = looped(setting, phase, parameters, false);
    } else lines = [...phase.body];
    if (phase.repeats !== undefined && random.chance(0.15)) {
      lines = [`if (${uniformCondition(setting, parameters)}) {`, ...lines, '}'];
    }
    if (at > 0 && random.chance(0.3)) body.push(setting.barrier());
    body.push(...lines);
  }
  let exits = false;
  if (phases.every((phase) => forFewer.has(phase.name)) && !body.some((line) => /sync|meet/.test(line)) && random.chance(0.4)) {
    body.unshift('if (gid >= n) return;');
    exits = true;
  }
  if (random.chance(0.12)) {
    mutate(random, body);
    const expected = { race: 'open', divergence: 'open', bounds: 'open' } as const;
    return assemble(setting, name, phases, body, parameters, expected, 'changed at random');
  }
  const isOpen = phases.some((phase) => phase.isOpen) || isDivergent;
  const leaves = phases.some((phase) => phase.leavesArray);
  // Threads that exited do not race, and memory after an array is unspecified.
  const race = leaves ? 'open' : fault === undefined ? (isOpen ? 'open' : 'absent') : isDivergent || exits ? 'open' : 'present';
  const divergence = isDivergent ? 'present' : fault !== undefined || exits ? 'open' : 'absent';
  // Others may end a run before it comes to the array.
  const bounds = leaves ? (exits || isDivergent ? 'open' : 'left') : fault === undefined && !isOpen ? 'kept' : 'open';
  return assemble(setting, name, phases, body, parameters, { race, divergence, bounds }, fault);
}
