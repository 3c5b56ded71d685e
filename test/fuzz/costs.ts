/**
 * Bounds of generated CUDA kernels, compiled in both builds, against the counts of the interpreter in random launches.
 * `node test/fuzz/costs.ts SEED COUNT [FOLDER]` prints a tally by shapes of loops, and each kernel that fails; its unit
 * stays in the folder. Exits with 1 if any fails. Needs nvcc.
 */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { Argument, GlobalBuffer } from '../../src/interpreter/core/arguments.ts';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { boundKernel, type KernelBounds } from '../../src/cost/kernel-cost.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { type Build, compileUnit } from '../../src/toolchain/compile.ts';
import { type Compiler, findCompiler } from '../../src/toolchain/compiler.ts';
import { compareRun, emptyTally, type Tally, tallyText } from '../cost/compared-run.ts';
import { root } from '../kernels/portable-ptx.ts';
import { builds } from '../interpreter/machine-kernels.ts';
import { generateLoops, type LoopKernel, loopPreamble } from './cuda-loops.ts';

/** Kernels of one unit: a start of nvcc costs more than a kernel. */
const unitKernels = 30;
const runsEach = 3;
const steps = 120_000;

export interface CostFigures extends Tally {
  kernels: number;
  /** Comparisons by build and shape of loop, of kernels with no other loop. */
  readonly shapes: Map<string, Tally>;
}

/** The scalar parameters by name: place, and bytes. */
const fields: Readonly<Record<string, { index: number; offset: number; bytes: number }>> = {
  n: { index: 4, offset: 0, bytes: 4 },
  m: { index: 5, offset: 0, bytes: 4 },
  u: { index: 6, offset: 0, bytes: 4 },
  w: { index: 7, offset: 0, bytes: 8 },
  's.rows': { index: 8, offset: 0, bytes: 4 },
  's.columns': { index: 8, offset: 4, bytes: 4 },
  's.small': { index: 8, offset: 8, bytes: 2 },
  's.tiny': { index: 8, offset: 10, bytes: 1 },
};
const pointers = 4;
const structBytes = 12;

const sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64];

/** The bounds of a kernel in a launch; null represents any size. */
function boundsOf(kernel: Kernel, block: readonly (number | null)[], grid: readonly (number | null)[]): KernelBounds {
  return boundKernel({
    kernel,
    dimensions: { block: [block[0]!, block[1]!, block[2]!], grid: [grid[0]!, grid[1]!, grid[2]!] },
    sharedBytes: 0,
    declaredAs: (index) => (index < pointers ? 'pointer' : 'scalar'),
    parameterName: (index, offset) =>
      Object.entries(fields).find(([, field]) => field.index === index && field.offset === offset)?.[0] ?? null,
  });
}

interface Drawn {
  readonly values: Readonly<Record<string, number>>;
  readonly buffers: readonly GlobalBuffer[];
  readonly given: readonly Argument[];
}

function drawArguments(random: Random, loops: number): Drawn {
  const most = loops > 2 ? random.pick([3, 8, 12]) : random.pick([8, 20, 64]);
  const choices = sizes.filter((size) => size <= most);
  const values = Object.fromEntries(Object.keys(fields).map((name) => [name, random.pick(choices)]));
  const buffers = Array.from({ length: pointers }, (_, index): GlobalBuffer => {
    const range = random.pick([1, 2, 4, 32]);
    const fixed = random.below(6);
    const draw = random.pick<(element: number) => number>([
      () => random.below(range),
      () => random.below(range),
      () => fixed,
      (element) => element & 31,
    ]);
    const contents = Array.from(
      { length: index === 1 || index === 2 ? 600 : 0 },
      (_, element) => [element, BigInt(draw(element))] as const,
    );
    return { name: `${index}`, bytes: null, elementBytes: 4, fill: 0n, values: new Map(contents) };
  });
  const struct = Buffer.alloc(structBytes);
  const given: Argument[] = buffers.map((_, buffer) => ({ kind: 'pointer', buffer, offset: 0n }));
  for (const [name, { index, offset, bytes }] of Object.entries(fields)) {
    if (name.startsWith('s.')) struct.writeUIntLE(values[name]!, offset, bytes);
    else given[index] = { kind: 'scalar', value: BigInt(values[name]!) };
  }
  given.push({ kind: 'struct', bytes: struct, pointers: [] });
  return { values, buffers, given };
}

const shapesOfBlocks: readonly Dim3[] = [
  [32, 1, 1],
  [64, 1, 1],
  [64, 1, 1],
  [33, 1, 1],
  [96, 1, 1],
  [16, 4, 1],
  [7, 3, 1],
  [32, 2, 1],
  [20, 1, 1],
];

/** Bounds a kernel in one build, and runs it. */
function compareKernel(seed: number, { name, text, loops }: LoopKernel, kernel: Kernel, build: Build, figures: CostFigures): void {
  const random = seededRandom(seed);
  const block = random.pick(shapesOfBlocks);
  const grid: Dim3 = [random.between(1, 3), 1, 1];
  const isAny = block[1] === 1 && random.chance(0.12);
  const started = performance.now();
  const bounds = boundsOf(kernel, isAny ? [null, 1, 1] : block, isAny ? [null, 1, 1] : grid);
  const time = performance.now() - started;
  if (time > 2000) console.error(`${name} ${build} took ${Math.round(time)} ms:\n${text}`);
  const own = emptyTally();
  for (let run = 0; run < runsEach; run++) {
    const { values, buffers, given } = drawArguments(random, loops.length);
    const known: Readonly<Record<string, number>> = { ...values, 'blockDim.x': block[0], 'gridDim.x': grid[0] };
    const list = Object.entries(values)
      .map(([key, value]) => `${key}=${value}`)
      .join(' ');
    compareRun(
      `${name} ${build} block ${block.join(',')} grid ${grid.join(',')}${isAny ? ' (any)' : ''} ${list}`,
      { kernel, block, grid, sharedBytes: 0, buffers, arguments: given, steps, detectRaces: true },
      bounds,
      (key) => (known[key] === undefined ? undefined : BigInt(known[key])),
      own,
    );
  }
  addTally(figures, own);
  if (own.failures.length > 0) figures.failures.push(text);
  if (loops.length !== 1) return;
  const key = `${build === 'production' ? 'p' : 'v'} ${loops[0]!}`;
  const known = figures.shapes.get(key) ?? emptyTally();
  figures.shapes.set(key, known);
  addTally(known, own);
}

function addTally(sum: Tally, more: Tally): void {
  sum.runs += more.runs;
  sum.compared += more.compared;
  sum.equal += more.equal;
  sum.exact += more.exact;
  for (const error of more.errors) sum.errors.push(error);
  sum.none += more.none;
  sum.failures.push(...more.failures);
}

/** Compiles kernels together. */
async function compile(compiler: Compiler, folder: string, file: string, build: Build): Promise<Map<string, Kernel>> {
  const { ptx, diagnostics } = await compileUnit({
    compiler,
    file,
    root: folder,
    build,
    arch: 'sm_80',
    flags: [],
    trust: 'user',
    limits: { milliseconds: 300_000, outputBytes: 1 << 20 },
    include: join(root, 'src/toolchain/include'),
    onLog: () => {},
  });
  if (ptx === undefined) throw new Error(`${file}: ${diagnostics.map(({ message }) => message).join('; ')}`);
  // Mangling does not make the digits of generated names ambiguous.
  const nameOf = (symbol: string): string => /^_Z\d+(k\d+_\d+)P/.exec(symbol)?.[1] ?? symbol;
  return new Map(lowerModule(parsePtx(ptx, file).module).kernels.map((kernel) => [nameOf(kernel.symbol), kernel]));
}

/** Generates kernels and compares them. */
export async function compareCosts(compiler: Compiler, seed: number, count: number, folder: string): Promise<CostFigures> {
  const figures: CostFigures = { ...emptyTally(), kernels: 0, shapes: new Map() };
  for (let first = 0; first < count; first += unitKernels) {
    const seeds = Array.from({ length: Math.min(unitKernels, count - first) }, (_, at) => seed * 1_000_003 + first + at);
    const kernels = seeds.map((own, at) => generateLoops(seededRandom(own), `k${seed}_${first + at}`));
    const file = join(folder, `costs-${seed}-${first}.cu`);
    writeFileSync(file, `${loopPreamble}\n${kernels.map(({ text }) => text).join('\n')}`);
    for (const build of builds) {
      const compiled = await compile(compiler, folder, file, build);
      for (const [at, kernel] of kernels.entries()) {
        const found = compiled.get(kernel.name);
        if (!found) throw new Error(`${file} has no ${kernel.name}`);
        const known = figures.failures.length;
        compareKernel(seeds[at]!, kernel, found, build, figures);
        if (figures.failures.length > known) console.error(figures.failures.slice(known).join('\n'));
      }
    }
    figures.kernels += kernels.length;
  }
  return figures;
}

if (import.meta.main) {
  const [seed = '1', count = '300', folder = mkdtempSync(join(tmpdir(), 'selvage-costs-'))] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  const found = await findCompiler({ env: process.env });
  if ('diagnostic' in found) {
    console.error(found.diagnostic.message);
    process.exit(3);
  }
  const figures = await compareCosts(found.compiler, Number(seed), Number(count), folder);
  const worth = ({ compared, none }: Tally): number => none / Math.max(1, compared + none);
  const shapes = [...figures.shapes].sort(([, a], [, b]) => worth(b) - worth(a));
  for (const [shape, tally] of shapes) console.log(`${shape.padEnd(28)} ${tallyText(tally)}`);
  console.log(`${figures.kernels} kernels in two builds, ${tallyText(figures)}`);
  if (figures.failures.length > 0) console.log(`units in ${folder}`);
  process.exitCode = figures.failures.length > 0 ? 1 : 0;
}
