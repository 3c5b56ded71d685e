/** Figures of a kernel in addition to its bounds: expensive instructions, counts of a run, utilisation of a GPU. */
import { countedContext, countedScalars } from '../../counted/counted-context.ts';
import { watchLaunch } from '../../counted/counted-run.ts';
import { representativeLaunches, type LaunchInstance } from '../../../check/representative/representative-launches.ts';
import { parseBound } from '../../../cost/expressions/bound-parser.ts';
import { evaluate } from '../../../cost/expressions/expression.ts';
import { operationsOf } from '../../../cost/lanes/floating-operations.ts';
import { instructionMix, kindsOf, matrixOperations } from '../../../cost/instruction-mix.ts';
import type { MixKind } from '../../../cost/model/mix-kinds.ts';
import { literalOf, widenedConstants } from '../../../cost/widened-constants.ts';
import { architectureOf } from '../../../device/architecture.ts';
import type { Gpu } from '../../../device/gpus.ts';
import { warpSize } from '../../../device/hardware-limits.ts';
import { occupancyOf } from '../../../device/occupancy.ts';
import type {
  CostReport,
  CountedLaunch,
  GpuReport,
  MixReport,
  RegisterStep,
  SpillReport,
  WidenedReport,
} from '../../../report-model/cost-report.ts';
import type { Instruction, Kernel } from '../../../ir/form/kernel.ts';
import type { Launch } from '../../../launch/launch.ts';
import { MemoryUseCounters } from '../../../interpreter/memory-use.ts';
import type { CodeProfile } from '../../../sass/profile.ts';
import { policyOf } from '../../../settings/configuration.ts';
import type { Settings } from '../../../settings/settings.ts';
import { outsideToolkit, type Location } from '../../../source/location.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { Deadline } from '../../../system/deadline.ts';
import { inTime } from '../../../system/script-timeout.ts';
import type { LaunchedKernel } from '../../build/phase-data.ts';
import type { UnitBuilder } from '../../project/unit-builder.ts';
import { costLaunch } from './cost-reference.ts';
import { resourcesReport } from './resources-report.ts';

type FiguresReport = Pick<CostReport, 'mix' | 'widened' | 'spills' | 'registerStep' | 'counted' | 'gpu'>;

/** Computes the figures of a kernel from its registers and its machine code. */
export type Figures = (
  entry: LaunchedKernel,
  resources: KernelResources | undefined,
  code: CodeProfile | undefined,
  /** Maximum number of instructions that a warp executes in the production build; null without a bound. */
  stepsOfWarp: string | null,
  deadline: Deadline,
) => Promise<FiguresReport>;

/**
 * Maximum number of thread-instructions of the counted run of a kernel: `asked` if a GPU is named. The total of a
 * report is `maxRuns` times that.
 */
const stepsOfKernel = { unasked: 100_000, asked: 1_000_000 };
const maxRuns = 8;
/** Maximum reduction of the number of registers that is reported as an alternative. */
const maxFewer = 8;
/** Maximum number of assembler runs with a lower register limit, for all kernels of a report. */
const maxAssemblies = 4;

/**
 * Makes the function that adds figures to the costs of kernels.
 * @param sourceTextOf a file of the tree
 */
export function kernelFigures(
  settings: Settings,
  builder: Pick<UnitBuilder, 'resources'>,
  sourceTextOf: (file: string) => string | undefined,
): Figures {
  let assemblies = maxAssemblies;
  const gpu = settings.options.gpu ?? settings.configuration.gpu;
  const most = stepsOfKernel[gpu ? 'asked' : 'unasked'];
  let steps = maxRuns * most;
  return async (entry, resources, code, stepsOfWarp, deadline) => {
    const launch = costLaunch(entry);
    const run =
      launch.block && steps > 0 ? inTime(deadline, () => countedRun(entry, launch, settings, Math.min(steps, most), stepsOfWarp)) : null;
    steps -= run?.steps ?? 0;
    const step = resources && fewerRegisters(entry, launch, resources);
    const fewer = step && assemblies-- > 0 ? await spillsWith(entry, step.registers, resources, builder) : undefined;
    const mix = mixReport(entry, run?.perThread);
    const widened = widenedReport(entry, sourceTextOf);
    const spills = resources && resources.spillStoreBytes + resources.spillLoadBytes > 0 ? spillReport(code) : [];
    return {
      ...(step ? { registerStep: { ...step, ...(fewer === undefined ? {} : { spillBytes: fewer }) } } : {}),
      ...(spills.length > 0 ? { spills } : {}),
      ...(mix.length > 0 ? { mix } : {}),
      ...(widened.length > 0 ? { widened } : {}),
      ...(run ? { counted: run.report } : {}),
      ...(gpu && run ? { gpu: gpuReport(gpu, launch, run.report, resources) } : {}),
    };
  };
}

/** The kernel of the production build. */
function codeThatRuns({ kernel, produced }: LaunchedKernel): Kernel {
  return produced ?? kernel;
}

function placeOf(location: Location): Location {
  return outsideToolkit(location) ?? location;
}

interface Counted {
  readonly report: CountedLaunch;
  readonly perThread: ReadonlyMap<MixKind, number>;
  /** Number of executed thread-instructions. */
  readonly steps: number;
}

/** Counts a launch at the sizes that it specifies, or at large sizes if it specifies none. */
function countedRun(
  entry: LaunchedKernel,
  launch: Launch,
  { configuration }: Settings,
  steps: number,
  stepsOfWarp: string | null,
): Counted | null {
  const context = countedContext(entry, launch, policyOf(configuration));
  const settings = representativeLaunches(context);
  const setting = settings.find(({ isLarge }) => isLarge) ?? settings[0];
  if (!setting) return null;
  const ofBlock = stepsOfBlock(stepsOfWarp, setting, countedScalars(context, setting));
  const run = watchLaunch(context, setting, steps, () => new MemoryUseCounters(), ofBlock);
  if (!run) return null;
  const { block, grid, totals, counters, weightOf } = run;
  const threads = block[0] * block[1] * block[2] * grid[0] * grid[1] * grid[2];
  const ran = counters.warps.reduce((sum, { threadSteps }) => sum + threadSteps, 0);
  // Counts of lines cover only the executed blocks.
  const share = totals.threadSteps / Math.max(1, ran);
  const operations = { single: 0, double: 0, tensor: 0 };
  const perThread = new Map<MixKind, number>();
  const lanes = new Map<number, number>();
  const instructions = new Map<number, Instruction>();
  for (const { place, counts } of counters.places) {
    if (!('operation' in place)) continue;
    instructions.set(place.id, place);
    if (counts.globalAccesses > 0) lanes.set(place.id, 1 + counts.atomicTurns / counts.globalAccesses);
    const kinds = kindsOf(place);
    for (const kind of kinds) perThread.set(kind, (perThread.get(kind) ?? 0) + (counts.threadSteps * share) / threads);
    operations.tensor += matrixOperations(place) * counts.steps * share;
    const own = (operationsOf(place.operation) ?? 0) * counts.threadSteps * share;
    operations[kinds.includes('double') ? 'double' : 'single'] += own;
  }
  const { contention } = counters;
  const isEverywhere = contention !== null && contention.blocks > 1;
  const blockBytes = [...counters.neededSectors].reduce((sum, [ordinal, sectors]) => sum + 32 * sectors * weightOf(ordinal), 0);
  const sum = operations.single + operations.double + operations.tensor;
  const location = contention && instructions.get(contention.instruction)?.location;
  return {
    steps: ran,
    perThread,
    report: {
      block,
      grid,
      isGridGiven: launch.grid !== null,
      at: countedScalars(context, setting),
      bytes: totals.sectors * 32,
      blockBytes,
      operations,
      intensity: blockBytes === 0 ? null : sum / blockBytes,
      ...(contention && contention.updates > 1
        ? {
            contention: {
              ...(location ? { location: lineOf(location) } : {}),
              space: contention.isShared ? 'shared' : 'global',
              updates: isEverywhere ? contention.updates * share : contention.updates,
              ofWarp: lanes.get(contention.instruction) ?? 1,
            },
          }
        : {}),
    },
  };
}

/** Maximum thread-instructions of a block; null without a bound. */
function stepsOfBlock(ofWarp: string | null, { block, grid }: LaunchInstance, scalars: Readonly<Record<string, number>>): number | null {
  const parsed = ofWarp === null ? null : parseBound(ofWarp);
  if (!parsed || !('expression' in parsed)) return null;
  const value = evaluate(parsed.expression, (name) => {
    const [kind, axis = 'x'] = name.split('.') as [string, string?];
    const extents = kind === 'blockDim' ? block : kind === 'gridDim' ? grid : null;
    const known = extents ? extents['xyz'.indexOf(axis) as 0 | 1 | 2] : scalars[name];
    return known === undefined ? undefined : BigInt(known);
  });
  const warps = Math.ceil((block[0] * block[1] * block[2]) / warpSize);
  return value && (Number(value.top) / Number(value.bottom)) * warps * warpSize;
}

function lineOf(location: Location): Location {
  const { file, line } = placeOf(location);
  return { file, line };
}

function mixReport(entry: LaunchedKernel, perThread: ReadonlyMap<MixKind, number> | undefined): MixReport[] {
  return instructionMix(codeThatRuns(entry), placeOf).map((one) => {
    const executed = perThread?.get(one.kind) ?? (perThread ? 0 : undefined);
    return { ...one, ...(executed === undefined ? {} : { perThread: executed }) };
  });
}

function widenedReport(entry: LaunchedKernel, sourceTextOf: (file: string) => string | undefined): WidenedReport[] {
  const found = new Map<string, WidenedReport>();
  for (const { location, value } of widenedConstants(codeThatRuns(entry), placeOf)) {
    const literal = literalOf(sourceTextOf(location.file)?.split('\n')[location.line - 1] ?? '', value);
    if (literal !== undefined) found.set(`${location.file}:${location.line}:${literal}`, { location, literal });
  }
  return [...found.values()];
}

function spillReport(code: CodeProfile | undefined): SpillReport[] {
  return (code?.lines ?? [])
    .flatMap(({ location, work }): SpillReport[] => {
      const [stores, loads] = [work.get('spill store') ?? 0, work.get('spill load') ?? 0];
      return location && stores + loads > 0 ? [{ location, stores, loads }] : [];
    })
    .sort((a, b) => b.stores + b.loads - a.stores - a.loads);
}

/** The largest register count below that of a kernel at which more warps are resident. */
function fewerRegisters(entry: LaunchedKernel, launch: Launch, resources: KernelResources): RegisterStep | undefined {
  const { occupancy, limiter, registers } = resourcesReport(entry, launch, resources);
  if (occupancy === undefined || occupancy === 0 || limiter !== 'registers') return undefined;
  for (let fewer = registers - 1; fewer >= registers - maxFewer && fewer > 0; fewer--) {
    const own = resourcesReport(entry, launch, { ...resources, registers: fewer }).occupancy;
    if (own !== undefined && own > occupancy) return { registers: fewer, occupancy: own };
  }
  return undefined;
}

/** Bytes of additional spills under a register limit. */
async function spillsWith(
  entry: LaunchedKernel,
  registers: number,
  resources: KernelResources,
  { resources: assemble }: Pick<UnitBuilder, 'resources'>,
): Promise<number | undefined> {
  const { unit, arch, verification, production, kernel, produced } = entry;
  const ptx = unit.kind === 'ptx' ? verification.source.ptx : production?.source.ptx;
  const made = ptx === undefined ? undefined : await assemble?.(ptx, arch, unit, registers);
  if (!made || 'reason' in made) return undefined;
  const own = made.kernels.get((produced ?? kernel).symbol);
  const spilt = ({ spillStoreBytes, spillLoadBytes }: KernelResources): number => spillStoreBytes + spillLoadBytes;
  return own && Math.max(0, spilt(own) - spilt(resources));
}

/** Position of a launch on the roofline of a GPU, and the number of waves of its blocks. */
function gpuReport(
  gpu: Gpu,
  launch: Launch,
  { blockBytes, operations, block, grid, isGridGiven }: CountedLaunch,
  resources: KernelResources | undefined,
): GpuReport {
  const memory = blockBytes / gpu.bandwidth;
  const arithmetic = operations.single / gpu.single + operations.double / gpu.double + operations.tensor / gpu.tensor;
  const [longer, shorter] = memory >= arithmetic ? [memory, arithmetic] : [arithmetic, memory];
  const report: GpuReport = {
    name: gpu.name,
    bound: memory >= arithmetic ? 'memory' : 'arithmetic',
    share: longer === 0 ? 0 : shorter / longer,
  };
  const architecture = architectureOf(gpu.arch);
  if (!isGridGiven || !resources || !architecture) return report;
  const { blocks } = occupancyOf(architecture, {
    registers: resources.registers,
    sharedBytes: resources.sharedBytes + (launch.sharedBytes ?? 0),
    threads: block[0] * block[1] * block[2],
    barriers: resources.barriers,
  });
  if (blocks === 0) return report;
  const atOnce = blocks * gpu.multiprocessors;
  const count = (grid[0] * grid[1] * grid[2]) / atOnce;
  return { ...report, waves: { blocks: atOnce, count, last: count - Math.ceil(count) + 1 } };
}
