/** The bounds of a kernel by metric and line, for its most expensive warp. */
import { OutOfTime } from '../base/out-of-time.ts';
import { collectAccesses, loadedMemory } from '../analysis/values/access.ts';
import { controlDependence } from '../analysis/values/control-dependence.ts';
import { type Dimensions, threadLimit } from '../analysis/values/launch-bounds.ts';
import type { Base, DeclaredAs } from '../analysis/values/memory-base.ts';
import { evaluateSymbolically } from '../analysis/values/symbolic.ts';
import { inferUniformity } from '../analysis/values/uniformity.ts';
import { programOf } from '../interpreter/core/program.ts';
import type { Block, Instruction, Kernel } from '../ir/form/kernel.ts';
import type { Location } from '../source/location.ts';
import { type Cost, sequentialCost, worstOf } from './costs-by-line.ts';
import { type CostAssumption, costAssumptionTexts } from './model/cost-assumption.ts';
import { type Expression, add, scale, zero } from './expressions/expression.ts';
import { LoopIterations, type LineIterations } from './line-iterations.ts';
import type { TermBounds } from './lanes/term-bound.ts';
import { nonNegativeVariables } from './loops/loop-variable.ts';
import { type BoundMetric, boundMetrics, boundTable, byMetric, type Count, counts } from './model/metrics.ts';
import { warpsOf } from './lanes/warp-position.ts';
import { costOfWarp } from './warp-cost.ts';
import type { WarpSetting } from './warp-setting.ts';

/** Limit on the number of basic-block visits, summed over all warps of a kernel. */
const usualVisits = 50_000;

/** Limit on the number of addresses examined in those visits; each represents all lanes of a warp. */
const maxAddresses = 100_000;

/** Thrown if a kernel has too many paths to visit all of them. */
class TooManyPaths extends Error {}

export const tooManyPaths = 'the kernel has too many paths';
const tooManyInARow = 'the kernel has too many blocks in a row';

/** Reason for missing bounds if the time limit ended the analysis. */
export const outOfTime = `${tooManyPaths} to bound them in the time given`;

export interface CostRequest {
  readonly kernel: Kernel;
  readonly dimensions: Dimensions;
  /** Dynamic shared memory in bytes; null if not given. */
  readonly sharedBytes: number | null;
  readonly declaredAs: DeclaredAs;
  /** Name of an integer parameter; null for pointers and floating-point numbers. */
  readonly parameterName: (index: number, offset: number) => string | null;
  /** A declared divisor of a parameter; 1 without one. */
  readonly divisor?: (index: number, offset: number) => bigint;
  /** Declared bounds of the elements of an array that a parameter points to. */
  readonly elements?: (index: number, offset: number) => TermBounds | null;
  /**
   * Accesses merged by ptxas: bytes per lane of the access that represents the merged ones, 0 for the represented ones.
   */
  readonly merged?: ReadonlyMap<Instruction, number>;
  /** Maps a location of the kernel to a place in the user's source. */
  readonly placeOf?: (location: Location) => Location;
  /** Limit on basic-block visits by all warps if it is lower than the default. */
  readonly mostVisits?: number | undefined;
  /**
   * Whether the time limit of the kernel has passed. The kernel then has no bounds, for the reason {@link outOfTime}.
   */
  readonly expired?: () => boolean;
}

interface LineBound {
  readonly location: Location | null;
  readonly bound: Expression | null;
  readonly reason?: string;
}

export interface MetricBound {
  /** Null: no bound. */
  readonly bound: Expression | null;
  readonly reason?: string;
  /** Whether some warp attains the bound in every launch of these dimensions. */
  readonly exact?: boolean;
  /** Lines with a cost. */
  readonly lines: readonly LineBound[];
}

export type KernelBounds = Readonly<Record<BoundMetric, MetricBound>>;

/** The cost of all warps of one thread block. */
export interface BlockCost {
  readonly warps: number;
  /** By count; null: no bound. */
  readonly totals: Readonly<Record<Count, Expression | null>>;
}

interface KernelCost {
  readonly bounds: KernelBounds;
  /** Null if the number of threads of a block is unknown. */
  readonly block: BlockCost | null;
  /** Assumptions of the bounds. */
  readonly assumptions: readonly CostAssumption[];
  /** Trip counts for one warp, by the lines of loops. */
  readonly rounds: readonly (LineIterations & { readonly location: Location })[];
  /** By PTX line in a loop: the maximum number of executions by a warp. */
  readonly visits: ReadonlyMap<number, Expression>;
}

/** The bounds of {@link costOfKernel}, without its other results. */
export function boundKernel(request: CostRequest): KernelBounds {
  return costOfKernel(request).bounds;
}

/**
 * Upper bounds of the cost of one warp of a kernel, and of a block: in launches whose integer parameters are not
 * negative, whose index arithmetic does not wrap around, whose arrays start at multiples of 256 bytes, as `cudaMalloc`
 * returns them, and whose barriers are reached by whole warps.
 */
export function costOfKernel(request: CostRequest): KernelCost {
  const [unsupported] = request.kernel.unsupported;
  if (unsupported) return withoutCost(unsupported.reason);
  try {
    return costOfSupported(request);
  } catch (error) {
    if (error instanceof OutOfTime) return withoutCost(outOfTime);
    if (error instanceof TooManyPaths) return withoutCost(tooManyPaths);
    // The walk recurses at each basic block: thousands of successive basic blocks overflow the stack.
    if (error instanceof RangeError && error.message.includes('call stack')) return withoutCost(tooManyInARow);
    throw error;
  }
}

/** The cost of a kernel without bounds. */
export function withoutCost(reason: string): KernelCost {
  const bounds = byMetric(boundMetrics, () => ({ bound: null, reason, lines: [] }));
  return { bounds, block: null, assumptions: [], rounds: [], visits: new Map() };
}

function costOfSupported(request: CostRequest): KernelCost {
  const { kernel, dimensions, declaredAs } = request;
  const symbolic = evaluateSymbolically(kernel, {
    dimensions,
    scalar: () => undefined,
    // Sizes are not negative.
    scalarBounds: (_index, _offset, bytes) => ({
      low: 0n,
      high: (1n << BigInt(bytes < 4 ? 8 * bytes : 8 * bytes - 1)) - 1n,
    }),
    sharedBytes: request.sharedBytes,
    expired: request.expired,
  });
  const accesses = collectAccesses(symbolic, declaredAs);
  const isSame = (a: Base, b: Base): boolean => a.key === b.key;
  const loaded = loadedMemory(symbolic, accesses, declaredAs, isSame);
  const uniformity = inferUniformity(kernel, controlDependence(kernel), loaded, new Set());
  const places = new Places(kernel, request.placeOf);
  const notes = new Map<string, Set<string>>();
  const assumed = new Set<CostAssumption>();
  let nonNegative: ReadonlySet<number> | null = null;
  let visits = 0;
  let addresses = 0;
  const elements = new Map<number, TermBounds>();
  for (const { operation, instruction, targets } of accesses) {
    const [target] = targets;
    if (operation !== 'read' || targets.length !== 1 || target!.base.kind !== 'parameter') continue;
    const stated = request.elements?.(target!.base.index, target!.base.offset);
    for (const id of stated ? instruction.results : []) if (id !== null) elements.set(id, stated!);
  }
  const setting: WarpSetting = {
    symbolic,
    uniformity,
    dimensions,
    divisor: request.divisor ?? (() => 1n),
    parameterName: request.parameterName,
    valueBounds: (value) => {
      nonNegative ??= nonNegativeVariables(symbolic);
      return elements.get(value) ?? (nonNegative.has(value) ? { low: zero, high: null } : null);
    },
    program: programOf(kernel),
    declaredAs,
    lineOf: (place) => places.lineOf(place),
    loopRounds: new LoopIterations(),
    potentials: new Map(),
    halvings: new Map(),
    meetings: new Map(),
    differing: new Map(),
    merged: request.merged ?? new Map<Instruction, number>(),
    accessForms: new Map(),
    assume: (what) => assumed.add(what),
    visit: () => {
      if (++visits > (request.mostVisits ?? usualVisits)) throw new TooManyPaths();
      if (request.expired?.()) throw new OutOfTime();
    },
    look: (count) => {
      addresses += count;
      if (addresses > maxAddresses) throw new TooManyPaths();
    },
    note: (count, line, text) => {
      const key = `${count}@${line}`;
      const known = notes.get(key);
      if (known) known.add(text);
      else notes.set(key, new Set([text]));
    },
  };
  const warps = warpsOf(dimensions, threadLimit(kernel));
  const costs = warps.map((warp) => costOfWarp(setting, warp));
  const isKnown = dimensions.block.every((size) => size !== null);
  return {
    bounds: boundsOf(worstOf(costs), isKnown ? costs : [], notes, places),
    block: isKnown ? blockCostOf(costs) : null,
    assumptions: (Object.keys(costAssumptionTexts) as CostAssumption[]).filter((what) => assumed.has(what)),
    rounds: [...setting.loopRounds.byLine(kernel, (one) => places.lineOf(one))].flatMap(([line, rounds]) => {
      const location = places.locationOf(line);
      return location ? [{ ...rounds, location }] : [];
    }),
    visits: new Map([...setting.loopRounds.byLine(kernel, ({ ptxLine }) => ptxLine)].map(([line, { all }]) => [line, all])),
  };
}

function blockCostOf(warps: readonly Cost[]): BlockCost {
  const { totals } = sequentialCost(warps);
  const all = counts.map((count) => [count, totals.has(count) ? totals.get(count)! : zero]);
  return { warps: warps.length, totals: Object.fromEntries(all) as Record<Count, Expression | null> };
}

/**
 * Whether every launch attains the bound of a metric: some warp has only exact counts in it, each the maximum of all
 * warps.
 */
function isMet(metric: BoundMetric, worst: Cost, warps: readonly Cost[]): boolean {
  const wanted = counts.filter((count) => boundTable[metric].weights[count] !== undefined);
  const amount = (cost: Cost, count: Count): string => (cost.totals.get(count) ?? zero).key;
  return warps.some((warp) => wanted.every((count) => !warp.loose.has(count) && amount(warp, count) === amount(worst, count)));
}

/** Names of the lines of a kernel. Code without a line is attributed to the line of the code before it. */
class Places {
  readonly #lines = new Map<Instruction | Block, string>();
  readonly #locations = new Map<string, Location | null>();

  constructor(kernel: Kernel, placeOf: (location: Location) => Location = (location) => location) {
    for (const block of kernel.blocks) {
      let latest: Location | undefined;
      const set = (place: Instruction | Block, own: Location | undefined): void => {
        latest = own ? placeOf(own) : latest;
        const line = latest ? `${latest.file}:${latest.line}` : '';
        if (!this.#locations.has(line)) this.#locations.set(line, latest ? { file: latest.file, line: latest.line } : null);
        this.#lines.set(place, line);
      };
      for (const instruction of block.instructions) set(instruction, instruction.location);
      const { terminator } = block;
      set(block, 'location' in terminator ? terminator.location : undefined);
    }
  }

  lineOf(place: Instruction | Block): string {
    return this.#lines.get(place)!;
  }

  locationOf(line: string): Location | null {
    return this.#locations.get(line) ?? null;
  }
}

function boundsOf(cost: Cost, warps: readonly Cost[], notes: ReadonlyMap<string, ReadonlySet<string>>, places: Places): KernelBounds {
  return byMetric(boundMetrics, (metric): MetricBound => {
    const lines = new Map<string, Expression | null>();
    const reasons = new Map<string, Set<string>>();
    let bound: Expression | null = zero;
    for (const count of counts) {
      const weight = boundTable[metric].weights[count];
      if (weight === undefined) continue;
      const total = cost.totals.get(count) ?? (cost.totals.has(count) ? null : zero);
      bound = bound && total && add(bound, scale(total, weight));
      for (const [key, amount] of cost.parts) {
        const [of, line] = splitKey(key);
        if (of !== count) continue;
        const known = lines.has(line) ? lines.get(line)! : zero;
        lines.set(line, known && amount && add(known, scale(amount, weight)));
        const told = reasons.get(line) ?? new Set();
        if (metric === count || amount === null) for (const text of notes.get(key) ?? []) told.add(text);
        reasons.set(line, told);
      }
    }
    const list = [...lines]
      .filter(([, amount]) => amount === null || amount.addends.size > 0)
      .map(([line, amount]): LineBound => {
        const reason = [...(reasons.get(line) ?? [])].join('; ');
        return { location: places.locationOf(line), bound: amount, ...(reason === '' ? {} : { reason }) };
      });
    const why = bound === null ? whyNone(metric, notes, cost, places) : null;
    const told = why === null ? { exact: isMet(metric, cost, warps) } : { reason: why };
    return { bound, ...told, lines: list };
  });
}

function splitKey(key: string): readonly [Count, string] {
  const at = key.indexOf('@');
  return [key.slice(0, at) as Count, key.slice(at + 1)];
}

function whyNone(metric: BoundMetric, notes: ReadonlyMap<string, ReadonlySet<string>>, cost: Cost, places: Places): string {
  for (const count of counts) {
    if (boundTable[metric].weights[count] === undefined) continue;
    if (cost.totals.get(count) !== null) continue;
    for (const [key, texts] of notes) {
      const [of, line] = splitKey(key);
      const text = [...texts].find((candidate) => /is not (known|modelled)/.test(candidate));
      if (of !== count || text === undefined) continue;
      const location = places.locationOf(line);
      return location ? `${location.file}:${location.line}: ${text}` : text;
    }
  }
  return 'the sum of the costs of these nested loops has no short closed form';
}
