/**
 * The only table of cost metrics. Thresholds, limits, comparisons, reports and explanations use it, so a new metric is
 * an entry here and its computation: a bound is a sum of counts (`block-cost.ts` and `warp-cost.ts` count them), a
 * resource is a field of the report of the same name (`resourceOf`).
 */
import { latency } from '../../device/architecture.ts';
import { registersPerMultiprocessor } from '../../device/hardware-limits.ts';

/**
 * The counts of a warp:
 * - `sectors`: segments of 32 bytes that accesses to global memory touch;
 * - `conflicts`: extra phases of accesses to shared memory, of 32 banks of 4 bytes;
 * - `divwarps`: branches at which the warp diverges;
 * - `steps`: instructions that the warp executes, branches included;
 * - `leastSectors`: sectors that the accessed bytes would fill;
 * - `operations`: floating-point operations of all lanes.
 */
export const counts = [
  'sectors',
  'conflicts',
  'divwarps',
  'steps',
  'globalAccesses',
  'sharedAccesses',
  'leastSectors',
  'operations',
] as const;
export type Count = (typeof counts)[number];

/** Text of `selvage explain` for the code of a metric. */
interface Explanation {
  readonly title: string;
  readonly explanation: string;
  readonly example: string;
  readonly remedy: string;
}

/** A cost of one warp in its worst case, as the paper on RaCUDA (Muller and Hoffmann, 2021) counts them. */
interface BoundEntry {
  /** The weight of each count in the bound. */
  readonly weights: Readonly<Partial<Record<Count, number>>>;
  /** Whether the amount of the launch is the sum of the amounts of its warps. */
  readonly addsUp: boolean;
  /** Verb, its infinitive, and the counted noun: `touches`, `touch`, `sectors of global memory`. */
  readonly verb: string;
  readonly infinitive: string;
  readonly noun: string;
  /** Singular of the noun. */
  readonly unit: string;
  /** Singular and plural in the line about the launch; null: the metric is not in that line. */
  readonly ofLaunch: readonly [one: string, several: string] | null;
  /** Whether the metric is shown in brief reports and in the note of a line. */
  readonly brief: boolean;
  /** Whether the most expensive lines are listed. */
  readonly byLine: boolean;
  /**
   * Without thresholds, the factor over the base from which an increase is reported; null: the metric is not compared,
   * since it follows from the others.
   */
  readonly clearFactor: number | null;
  /**
   * The build whose bound is reported if neither is within a limit: the verification build for accesses and branches.
   */
  readonly limitedBuild: 'source' | 'production';
  /** Code of a finding about a worse value. */
  readonly code: string;
  readonly explain: Explanation;
}

/** Resource usage reported by ptxas, or derived from it. */
interface ResourceEntry {
  /** `share`: from 0 to 1, larger is better. `amount`: smaller is better. */
  readonly kind: 'amount' | 'share';
  /** Singular and plural. */
  readonly words: readonly [one: string, several: string];
  /** Whether an increase is reported without thresholds; not if it matters only through occupancy. */
  readonly isToldAlone: boolean;
  /** The largest number that a limit may be. */
  readonly largestLimit: number;
  readonly code: string;
  readonly explain: Explanation;
}

const bounds = {
  sectors: {
    weights: { sectors: 1 },
    addsUp: true,
    verb: 'touches',
    infinitive: 'touch',
    noun: 'sectors of global memory',
    unit: 'sectors of 32 bytes',
    ofLaunch: ['sector', 'sectors'],
    brief: true,
    byLine: true,
    clearFactor: 1.25,
    limitedBuild: 'source',
    code: 'cost/sectors',
    explain: {
      title: 'The change makes warps access more sectors of global memory.',
      explanation:
        'The bound counts one warp in its worst case. A sector is 32 bytes, the unit in which the GPU transfers global memory. If the 32 threads of a warp access consecutive floats, they touch 4 sectors. If they access every 32nd float, they touch 32.',
      example: 'float v = a[threadIdx.x * 32];   // before: a[threadIdx.x]',
      remedy:
        'Let consecutive threads access consecutive elements, so that the accesses are coalesced. If the cost is intended, set a threshold in `checks.cost.sectors`.',
    },
  },
  conflicts: {
    weights: { conflicts: 1 },
    addsUp: true,
    verb: 'has',
    infinitive: 'have',
    noun: 'bank conflicts',
    unit: 'extra turns of shared memory',
    ofLaunch: ['bank conflict', 'bank conflicts'],
    brief: true,
    byLine: true,
    clearFactor: 1.25,
    limitedBuild: 'source',
    code: 'cost/conflicts',
    explain: {
      title: 'The change causes more bank conflicts in shared memory.',
      explanation:
        'The bound counts one warp in its worst case. Shared memory has 32 banks of 4 bytes. Lanes that access different words of one bank are served one after the other.',
      example: '__shared__ float tile[32][32];   // before: tile[32][33]; tile[threadIdx.x][0] is now a 32-way conflict',
      remedy: 'Pad the rows or swap the indices, so that the lanes of a warp use different banks.',
    },
  },
  divwarps: {
    weights: { divwarps: 1 },
    addsUp: true,
    verb: 'diverges at',
    infinitive: 'diverge at',
    noun: 'branches',
    unit: 'branches',
    ofLaunch: ['divergent branch', 'divergent branches'],
    brief: true,
    byLine: true,
    clearFactor: 1.25,
    limitedBuild: 'source',
    code: 'cost/divwarps',
    explain: {
      title: 'The change makes warps diverge at more branches.',
      explanation:
        'The bound counts one warp in its worst case. When the lanes of a warp take both sides of a branch, the warp executes one side after the other.',
      example: 'if (threadIdx.x % 2) a(); else b();',
      remedy: 'Make the condition the same for all lanes of a warp, for example by using threadIdx.x / 32.',
    },
  },
  steps: {
    weights: { steps: 1 },
    addsUp: true,
    verb: 'executes',
    infinitive: 'execute',
    noun: 'instructions',
    unit: 'instructions',
    ofLaunch: null,
    brief: true,
    byLine: false,
    clearFactor: 2,
    limitedBuild: 'production',
    code: 'cost/steps',
    explain: {
      title: 'The change makes warps execute more instructions.',
      explanation:
        'The bound counts one warp in its worst case. Without a threshold, Selvage reports only a count that grows faster with a parameter, or one that is at least twice as high.',
      example: 'for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)   // before: one loop',
      remedy: 'Look at the line in the message, or set a threshold in `checks.cost.steps`.',
    },
  },
  /** Cycles in which the warp occupies a unit: steps, extra phases and sectors. */
  work: {
    weights: { steps: 1, conflicts: 1, sectors: 1 },
    addsUp: true,
    verb: 'does',
    infinitive: 'do',
    noun: 'work',
    unit: 'turns of a unit',
    ofLaunch: null,
    brief: false,
    byLine: false,
    clearFactor: null,
    limitedBuild: 'production',
    code: 'cost/work',
    explain: {
      title: 'The change makes warps do more work: instructions, bank conflicts and sectors together.',
      explanation:
        'The bound counts one warp in its worst case. Work is the sum of instructions, bank conflicts and sectors. Selvage compares it only if you set a threshold.',
      example: 'checks: { cost: { work: { warn: "+10%" } } }',
      remedy: 'Look at the line in the message, or at the metrics that make up the work.',
    },
  },
  /** Work of the warp plus the latency of each access, in sequence. */
  span: {
    weights: {
      steps: 1,
      conflicts: 1,
      sectors: 1,
      globalAccesses: latency.global,
      sharedAccesses: latency.shared,
    },
    addsUp: false,
    verb: 'takes',
    infinitive: 'take',
    noun: 'cycles',
    unit: 'cycles',
    ofLaunch: null,
    brief: false,
    byLine: false,
    clearFactor: null,
    limitedBuild: 'production',
    code: 'cost/span',
    explain: {
      title: 'The change makes a warp take longer from its first to its last instruction.',
      explanation:
        'The bound counts one warp in its worst case. Span is the work plus the latency of every access, one after the other. Selvage compares it only if you set a threshold.',
      example: 'checks: { cost: { span: { warn: "+10%" } } }',
      remedy: 'Look at the line in the message. Each memory access adds its latency to the span, so use fewer accesses.',
    },
  },
} as const satisfies Readonly<Record<string, BoundEntry>>;

const resources = {
  registers: {
    kind: 'amount',
    words: ['register', 'registers'],
    isToldAlone: false,
    largestLimit: registersPerMultiprocessor,
    code: 'resource/registers',
    explain: {
      title: 'The change makes threads use more registers.',
      explanation:
        'ptxas reports the registers per thread of the optimised build. Selvage compares them only if you set a threshold; otherwise it compares occupancy.',
      example: 'checks: { cost: { registers: { warn: "+4" } } }',
      remedy: 'Look at the values that the change keeps alive. __launch_bounds__ makes the compiler use fewer registers.',
    },
  },
  sharedBytes: {
    kind: 'amount',
    words: ['byte of shared memory', 'bytes of shared memory'],
    isToldAlone: false,
    largestLimit: 2 ** 31,
    code: 'resource/shared',
    explain: {
      title: 'The change makes blocks use more shared memory.',
      explanation:
        'The number is the sum of the static shared memory that ptxas reports and the dynamic shared memory of the launch. Selvage compares it only if you set a threshold; otherwise it compares occupancy.',
      example: 'checks: { cost: { sharedBytes: { warn: "+0%" } } }',
      remedy: 'Use smaller arrays, or let arrays that are not in use at the same time share memory.',
    },
  },
  spillBytes: {
    kind: 'amount',
    words: ['byte of register spills', 'bytes of register spills'],
    isToldAlone: true,
    largestLimit: 2 ** 31,
    code: 'resource/spills',
    explain: {
      title: 'The change makes threads spill registers to local memory.',
      explanation:
        'Values that do not fit into the registers of a thread are stored to local memory and loaded again. ptxas reports the number of bytes for the optimised build.',
      example: '#pragma unroll 32   // keeps 32 values alive, under __launch_bounds__(1024)',
      remedy: 'Unroll less, or allow more registers with __launch_bounds__.',
    },
  },
  occupancy: {
    kind: 'share',
    words: ['occupancy', 'occupancy'],
    isToldAlone: true,
    largestLimit: 1,
    code: 'resource/occupancy',
    explain: {
      title: 'The change lowers the occupancy: fewer warps fit on a multiprocessor.',
      explanation:
        'Registers, shared memory and the block size decide how many blocks fit on a multiprocessor. Selvage uses the published limits of the architecture.',
      example: '__shared__ float tile[12288];   // before: 6144; on sm_80, 3 blocks fit instead of 6',
      remedy: 'Reduce the resource that the message names.',
    },
  },
} as const satisfies Readonly<Record<string, ResourceEntry>>;

/** A bound for one warp, as an expression in parameters and dimensions. */
export type BoundMetric = keyof typeof bounds;
/** A number that is known after ptxas has assembled a kernel. */
export type ResourceMetric = keyof typeof resources;
/** The metrics that are compared between two commits, and can be limited. */
export type Metric = BoundMetric | ResourceMetric;

/** The code of a finding about a metric that is worse than in the base. */
export type MetricCode = (typeof bounds)[BoundMetric]['code'] | (typeof resources)[ResourceMetric]['code'];
type Coded<Entry> = Entry & { readonly code: MetricCode };

/** The bounds of a warp, in the order of reports. */
export const boundTable: Readonly<Record<BoundMetric, Coded<BoundEntry>>> = bounds;
/** The resources, in the order of reports. */
export const resourceTable: Readonly<Record<ResourceMetric, Coded<ResourceEntry>>> = resources;
export const metricTable = { ...boundTable, ...resourceTable };

export const boundMetrics = Object.keys(bounds) as readonly BoundMetric[];
export const resourceMetrics = Object.keys(resources) as readonly ResourceMetric[];
/** Bounds for which the amount of the launch is the sum of the amounts of its warps. */
export const summedMetrics = boundMetrics.filter((metric) => bounds[metric].addsUp) as readonly SummedMetric[];
export type SummedMetric = { [M in BoundMetric]: (typeof bounds)[M]['addsUp'] extends true ? M : never }[BoundMetric];

/** Whether a metric is a bound of one warp. */
export function isBoundMetric(metric: Metric): metric is BoundMetric {
  return Object.hasOwn(bounds, metric);
}

/** Whether a metric is a share from 0 to 1 of which more is better. */
export function isShare(metric: Metric): boolean {
  return !isBoundMetric(metric) && resources[metric].kind === 'share';
}

/**
 * A value for each of some metrics.
 * @param the value of a metric
 */
export function byMetric<Name extends Metric, Value>(names: readonly Name[], of: (metric: Name) => Value): Record<Name, Value> {
  return Object.fromEntries(names.map((metric) => [metric, of(metric)])) as Record<Name, Value>;
}
