/** Bounds and resources of kernels, for their reports. */
import { declarationOf } from '../../../check/context/scalars.ts';
import type { Dimensions } from '../../../analysis/values/launch-bounds.ts';
import type { Launch } from '../../../launch/launch.ts';
import { fieldName } from '../../../launch/parameter-field.ts';
import { architectureOf } from '../../../device/architecture.ts';
import { type Expression, evaluate, namesOf } from '../../../cost/expressions/expression.ts';
import { print } from '../../../cost/expressions/expression-text.ts';
import { growthIn } from '../../../cost/expressions/growth.ts';
import { parseBound } from '../../../cost/expressions/bound-parser.ts';
import { costAssumptionTexts } from '../../../cost/model/cost-assumption.ts';
import { type MetricBound, costOfKernel, outOfTime } from '../../../cost/kernel-cost.ts';
import type { TermBounds } from '../../../cost/lanes/term-bound.ts';
import { namedPointer } from '../../../check/premises/premises.ts';
import { printAssumption, printCondition, printExpression } from '../../../cuda/assumptions/assumption-parser.ts';
import { launchTotals } from './launch-totals.ts';
import { metrics } from '../../../cost/model/metric.ts';
import { occupancyOf } from '../../../device/occupancy.ts';
import type { Condition } from '../../../cuda/assumptions/assumption.ts';
import type { Kernel } from '../../../ir/form/kernel.ts';
import { distinctDiagnostics, type Diagnostic } from '../../../source/diagnostic.ts';
import { outsideToolkit, type Location } from '../../../source/location.ts';
import { compareText } from '../../../base/text-order.ts';
import type { KernelResources } from '../../../toolchain/ptxas-report.ts';
import type { Unassembled } from '../../../toolchain/resources.ts';
import { limitsOf, withLimits } from './cost-limits.ts';
import { kernelName } from '../../../cuda/names/kernel-name.ts';
import { clock } from '../../../system/clock.ts';
import { costLaunch } from './cost-reference.ts';
import { defectOf } from '../../build/defect.ts';
import type { BoundReport, BoundsReport, CostAssumptionReport, CostReport, LaunchTotals, LineCost, ResourcesReport } from '../../../document/cost-report.ts'; // prettier-ignore
import type { Checked, CheckedKernel, LaunchedKernel } from '../../build/kernel.ts';
import type { Progress } from '../../project/progress.ts';
import type { UnitBuilder } from '../../project/unit-builder.ts';
import type { Options } from '../../../settings/options.ts';
import type { Settings } from '../../../settings/settings.ts';

/** What the assembler says of a kernel's unit, or why it says nothing; undefined where there was nothing to assemble. */
type Assembled = (entry: LaunchedKernel) => Promise<ReadonlyMap<string, KernelResources> | Unassembled> | undefined;

/** Starts the assembler on what the units of kernels run. */
export function assembled(
  kernels: readonly LaunchedKernel[],
  { resources: assemble }: Pick<UnitBuilder, 'resources'>,
): Assembled {
  if (!assemble) return () => Promise.resolve(noAssembler);
  const known = new Map<string, Promise<ReadonlyMap<string, KernelResources> | Unassembled>>();
  const keyOf = ({ unit, arch }: LaunchedKernel): string => JSON.stringify([unit.path, arch]);
  for (const entry of kernels) {
    const { unit, arch, production, verification } = entry;
    const ptx = unit.kind === 'ptx' ? verification.source.ptx : production?.source.ptx;
    if (ptx === undefined || known.has(keyOf(entry))) continue;
    const resources = assemble(ptx, arch, unit);
    // Whoever waits for it is told; where nobody does, something else failed before.
    resources.catch(() => undefined);
    known.set(keyOf(entry), resources);
  }
  return (entry) => known.get(keyOf(entry));
}

/** The reports of kernels with what they cost, and which of their units the assembler refuses. */
export async function withCosts(
  kernels: readonly CheckedKernel[],
  resourcesOf: Assembled,
  { options, configuration }: Settings,
  progress: Progress,
): Promise<Checked> {
  const result: CheckedKernel[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { entry, report } of kernels) {
    const resources = await resourcesOf(entry);
    let own: KernelResources | undefined;
    if (resources && 'reason' in resources) diagnostics.push(...notAssembled(options, entry, resources));
    else own = resources?.get(entry.produced?.symbol ?? entry.kernel.symbol);
    try {
      const cost = withLimits(entry, costOf(entry, own, options.timeout), own, limitsOf(configuration, entry));
      result.push({ entry, report: { ...report, cost } });
    } catch (error) {
      diagnostics.push(defectOf(entry, costLaunch(entry), error, progress));
      result.push({ entry, report });
    }
  }
  return { kernels: result, diagnostics: distinctDiagnostics(diagnostics) };
}

/** What is said of a unit that was not assembled: what keeps it from running, and to who asked for costs alone, the rest. */
function notAssembled(options: Options, entry: LaunchedKernel, why: Unassembled): Diagnostic[] {
  const { unit } = entry;
  const code = 'compile/refused';
  if (why.isRefusal) {
    const location = refusedPlace(entry, why);
    // The assembler knows symbols alone.
    const reason = why.symbol === undefined ? why.reason : why.reason.replace(`'${why.symbol}'`, kernelName(why.symbol).qualified); // prettier-ignore
    return [{ severity: 'error', code, message: `Nothing in ${unit.path} can run: ${reason}.`, ...(location && { location }) }]; // prettier-ignore
  }
  if (options.checks.includes('race')) return [];
  const message = `Registers and occupancy of the kernels in ${unit.path} are not known: ${why.reason}.`;
  return [{ severity: 'notice', code, message }];
}

const noAssembler: Unassembled = {
  reason: 'no ptxas was found; put the nvcc of a toolkit on PATH, or name one with --nvcc PATH or CUDA_HOME',
  isRefusal: false,
};

/** Where the source has what the assembler refuses. */
function refusedPlace(entry: LaunchedKernel, { ptxLine, symbol }: Unassembled): Location | undefined {
  const { unit, production, kernel } = entry;
  const kernels = unit.kind === 'ptx' ? [kernel] : (production?.kernels ?? []);
  const named = kernels.find((other) => other.symbol === symbol);
  if (named) return named.location;
  for (const { blocks } of ptxLine === undefined ? [] : kernels) {
    const found = blocks.flatMap(({ instructions }) => instructions).find((one) => one.ptxLine === ptxLine);
    if (found) return outsideToolkit(found.location);
  }
  return kernel.location?.file === unit.path ? { file: unit.path, line: 1 } : undefined;
}

/**
 * What a kernel costs under the first of its launches.
 * @param timeout - in milliseconds
 */
function costOf(entry: LaunchedKernel, resources: KernelResources | undefined, timeout: number): CostReport {
  const end = clock() + timeout;
  const expired = (): boolean => clock() > end;
  const launch = costLaunch(entry);
  const { kernel, produced, unit } = entry;
  const source = costOfBuild(entry, kernel, launch, expired);
  const production = unit.kind === 'ptx' || !produced ? null : costOfBuild(entry, produced, launch, expired);
  const assumptions = [...source.assumptions, ...(production?.assumptions ?? [])];
  return {
    bounds: { source: source.bounds, ...(production && { production: production.bounds }) },
    totals: { ...(source.totals && { source: source.totals }), ...(production?.totals && { production: production.totals }) }, // prettier-ignore
    assumptions: [...new Map(assumptions.map((one) => [one.text, one])).values()],
    ...(resources ? { resources: resourcesReport(entry, launch, resources) } : {}),
    ...([source, production].some((build) => build?.bounds.steps.reason === outOfTime) ? { nondeterministic: true } : {}), // prettier-ignore
  };
}

function dimensionsOf(kernel: Kernel, { block, grid }: Launch): Dimensions {
  const read = new Set<string>();
  for (const { instructions } of kernel.blocks) {
    for (const { arguments: operands } of instructions)
      for (const operand of operands) if (operand.kind === 'special') read.add(operand.register);
  }
  const own = block ?? kernel.requiredThreads ?? null;
  // Lanes count whether or not they know their number.
  const rest = (axis: 'y' | 'z'): number | null => (read.has(`tid.${axis}`) || read.has(`ntid.${axis}`) ? null : 1);
  return {
    block: own ? [own[0], own[1], own[2]] : [null, rest('y'), rest('z')],
    grid: grid ? [grid[0], grid[1], grid[2]] : [null, null, null],
  };
}

interface BuildCost {
  readonly bounds: BoundsReport;
  readonly totals: LaunchTotals | null;
  readonly assumptions: readonly CostAssumptionReport[];
}

function costOfBuild(entry: LaunchedKernel, kernel: Kernel, launch: Launch, expired: () => boolean): BuildCost {
  const { parameters, assumptions } = entry;
  const names = new Map<string, { readonly index: number; readonly offset: number }>();
  const parameterName = (index: number, offset: number): string | null => {
    const type = kernel.parameters[index]?.type ?? '';
    if (declarationOf(parameters[index], offset) === 'pointer' || /^f/.test(type)) return null;
    // Bytes of a structure whose definition is not at hand: a sign of addition would be one.
    const name = fieldName(parameters, { index, offset }, kernel).replace('+', '@');
    names.set(name, { index, offset });
    return name;
  };
  const conditions = assumptions.flatMap(({ expression }) =>
    expression.kind === 'condition' ? [expression.condition] : [],
  );
  const divisors = divisorsOf(conditions);
  const used = new Set<string>();
  const {
    bounds,
    block,
    assumptions: taken,
  } = costOfKernel({
    kernel,
    dimensions: dimensionsOf(kernel, launch),
    sharedBytes: launch.sharedBytes,
    expired,
    declaredAs: (index, offset) => declarationOf(parameters[index], offset),
    parameterName,
    divisor: (index, offset) => {
      const stated = divisors.get(parameterName(index, offset) ?? '');
      if (stated) used.add(stated.text);
      return stated?.divisor ?? 1n;
    },
    elements: (index, offset) => {
      const stated = elementsOf(entry, index, offset);
      if (stated) used.add(stated.text);
      return stated;
    },
    placeOf: (location) => outsideToolkit(location) ?? location,
  });
  const reference = (name: string): bigint | undefined => {
    const known = names.get(name);
    if (known && known.offset === 0) return launch.scalars.get(known.index);
    const [kind, axis] = name.split('.') as [string, string];
    const extents = kind === 'blockDim' ? launch.block : kind === 'gridDim' ? launch.grid : null;
    return extents ? BigInt(extents['xyz'.indexOf(axis) as 0 | 1 | 2]) : undefined;
  };
  const all = metrics.map((metric) => [metric, boundReport(bounds[metric], reference)] as const);
  const blocks = launch.grid && launch.grid[0] * launch.grid[1] * launch.grid[2];
  return {
    bounds: Object.fromEntries(all) as BoundsReport,
    totals: block && blocks !== null ? launchTotals(bounds, block, blocks, reference) : null,
    assumptions: [
      ...taken.map((kind) => ({ kind, text: costAssumptionTexts[kind] })),
      ...[...used].sort().map((text) => ({ kind: 'user' as const, text })),
    ],
  };
}

/** What is stated of the elements of an array. */
function elementsOf(
  { parameters, assumptions }: LaunchedKernel,
  index: number,
  offset: number,
): (TermBounds & { readonly text: string }) | null {
  for (const { expression } of assumptions) {
    if (expression.kind !== 'elements') continue;
    const array = namedPointer(parameters, expression.array);
    if (array?.index !== index || array.offset !== offset) continue;
    const [low, high] = [expression.low, expression.high].map((side) => parseBound(printExpression(side)));
    if ('expression' in low! && 'expression' in high!)
      return { low: low.expression, high: high.expression, text: printAssumption(expression) };
  }
  return null;
}

type Reference = (name: string) => bigint | undefined;

function boundReport({ bound, reason, exact, lines }: MetricBound, reference: Reference): BoundReport {
  const ranked = lines.flatMap((line) => {
    if (!line.location || !line.bound) return [];
    const cost: LineCost = {
      location: line.location,
      bound: print(line.bound),
      value: valueOf(line.bound, reference),
      ...(line.reason === undefined ? {} : { reason: line.reason }),
    };
    // What nobody gave is large.
    return [{ cost, rank: valueOf(line.bound, (name) => reference(name) ?? 1000n) ?? 0 }];
  });
  ranked.sort(
    ({ cost: a, rank: first }, { cost: b, rank: second }) =>
      second - first || compareText(a.location.file, b.location.file) || a.location.line - b.location.line,
  );
  const list = ranked.map(({ cost }) => cost);
  return {
    bound: bound && print(bound),
    ...(bound
      ? { degree: degreesOf(bound), value: valueOf(bound, reference), exact: exact === true }
      : { value: null, reason: reason ?? 'no bound was found' }),
    lines: list,
  };
}

function valueOf(bound: Expression, reference: Reference): number | null {
  const value = evaluate(bound, reference);
  return value && Number(value.top) / Number(value.bottom);
}

function degreesOf(bound: Expression): Record<string, number> {
  return Object.fromEntries([...namesOf(bound)].sort().map((name) => [name, growthIn(bound, name).degree]));
}

/** Numbers that are stated to divide parameters: `n % 32 == 0`. */
function divisorsOf(
  conditions: readonly Condition[],
): Map<string, { readonly divisor: bigint; readonly text: string }> {
  const divisors = new Map<string, { readonly divisor: bigint; readonly text: string }>();
  const visit = (condition: Condition): void => {
    if (condition.kind === 'and') {
      visit(condition.left);
      visit(condition.right);
    }
    if (condition.kind !== 'comparison' || condition.operator !== '==') return;
    for (const [rest, zero] of [
      [condition.left, condition.right],
      [condition.right, condition.left],
    ] as const) {
      if (zero.kind !== 'integer' || zero.value !== 0n) continue;
      if (rest.kind !== 'arithmetic' || rest.operator !== '%' || rest.left.kind !== 'parameter') continue;
      if (rest.right.kind === 'integer' && rest.right.value > 0n)
        divisors.set(rest.left.path.join('.'), { divisor: rest.right.value, text: printCondition(condition) });
    }
  };
  conditions.forEach(visit);
  return divisors;
}

function resourcesReport(entry: LaunchedKernel, { block, sharedBytes }: Launch, own: KernelResources): ResourcesReport {
  const shared = own.sharedBytes + (sharedBytes ?? 0);
  const extents = block ?? entry.kernel.requiredThreads ?? null;
  const architecture = architectureOf(entry.arch);
  const isPartial =
    sharedBytes === null && entry.kernel.objects.some(({ space, bytes }) => space === 'shared' && bytes === null);
  const occupancy =
    extents && architecture
      ? occupancyOf(architecture, {
          registers: own.registers,
          sharedBytes: shared,
          threads: extents[0] * extents[1] * extents[2],
          barriers: own.barriers,
        })
      : null;
  return {
    registers: own.registers,
    sharedBytes: shared,
    dynamicSharedBytes: isPartial ? null : (sharedBytes ?? 0),
    localBytes: own.stackBytes,
    constantBytes: own.constantBytes,
    spillStoreBytes: own.spillStoreBytes,
    spillLoadBytes: own.spillLoadBytes,
    barriers: own.barriers,
    ...(occupancy ? { occupancy: occupancy.fraction, limiter: occupancy.limiter } : {}),
  };
}
