/** The schema of `.selvage.yml`. Integers arrive as bigint, so that none is rounded. */
import * as v from 'valibot';
import { defaultConfiguration } from './defaults.ts';
import { boundMetrics, boundTable, byMetric, isBoundMetric, isShare, resourceMetrics, resourceTable } from '../cost/model/metrics.ts';
import { gpuOf, gpus } from '../device/gpus.ts';
import { maximumGrid, maximumSharedBytes } from '../device/hardware-limits.ts';

const severities = ['error', 'warning', 'notice'] as const;

/** Messages of checks. Each is the end of a sentence that begins with key and value. */
const oneOf = <const Options extends readonly string[]>(options: Options) => v.picklist(options, `must be one of ${options.join(', ')}`);
const text = v.pipe(v.string('must be text'), v.nonEmpty('must not be empty'));
const flag = v.boolean('must be true or false');
const severity = oneOf(severities);

const whole = (minimum: number, maximum: number) =>
  v.pipe(
    v.bigint('must be a whole number'),
    v.check((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`),
    v.transform(Number),
    v.metadata({ minimum, maximum }),
  );
const listOf = <Item extends v.GenericSchema>(item: Item) => v.array(item, 'must be a list: [a, b]');
const extents = v.pipe(
  v.union([listOf(whole(1, maximumGrid[0])), whole(1, maximumGrid[0])], 'must be one to three positive whole numbers: [16, 16, 1]'),
  v.transform((value) => (typeof value === 'number' ? [value] : value)),
  v.check(({ length }) => length >= 1 && length <= 3, 'must have one to three numbers: [16, 16, 1]'),
  v.transform(([x = 1, y = 1, z = 1]) => [x, y, z] as const),
  v.metadata({ minItems: 1, maxItems: 3 }),
);
const scalar = v.union([v.bigint(), v.number(), v.boolean(), v.string()], 'must be a number, true or false');
const change = 'must be a change such as "+5%", "+4" or "-10 points"';
const threshold = v.union(
  [
    v.pipe(v.string(), v.regex(/^[-+]?\d+(?:\.\d+)?(?:\s*%|\s*points?)?$/, change)),
    v.pipe(v.bigint(), v.transform(String)),
    v.pipe(v.number(), v.transform(String)),
  ],
  change,
);
const bound = v.pipe(
  text,
  v.regex(/^(?:<=|>=|<|>|==)\s*\S/, 'must be a bound such as ">= 50%" or "<= 8*ceil(n/32)"'),
  v.maxLength(1000, 'must have at most 1000 characters'),
);

const mapping = v.custom<Record<string, unknown>>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
  'must be a mapping: { key: value }',
);
const object = <const Entries extends v.ObjectEntries>(entries: Entries) => v.pipe(mapping, v.strictObject(entries));

/** Adds the description of a key, for editors and the reference. */
const told = <Schema extends v.GenericSchema>(schema: Schema, description: string) => v.pipe(schema, v.description(description));
/** A key that may be missing. */
const optional = <Schema extends v.GenericSchema>(schema: Schema, description: string) => v.optional(told(schema, description));
/** A key with a value if it is missing. */
const withDefault = <Schema extends v.GenericSchema>(schema: Schema, description: string, initial: NonNullable<v.InferInput<Schema>>) =>
  v.optional<Schema, NonNullable<v.InferInput<Schema>>>(told(schema, description) as unknown as Schema, initial as never);
/** A mapping that may be missing, with the default of each of its keys. */
const section = <const Entries extends v.ObjectEntries>(description: string, entries: Entries) =>
  withDefault(object(entries), description, {});

const limits = object(
  byMetric([...resourceMetrics, ...boundMetrics], (metric) =>
    optional(
      isBoundMetric(metric) || isShare(metric) ? bound : whole(0, resourceTable[metric].largestLimit),
      isBoundMetric(metric)
        ? `Upper bound on the ${boundTable[metric].noun} of one warp, such as "<= 8*ceil(n/32)".`
        : isShare(metric)
          ? 'Lowest occupancy, such as ">= 50%".'
          : `Most ${resourceTable[metric].words[1]}.`,
    ),
  ),
);

const thresholds = object(
  byMetric([...boundMetrics, ...resourceMetrics], (metric) =>
    optional(
      object({
        warn: optional(threshold, 'A change that is more than this is a warning.'),
        fail: optional(threshold, 'A change that is more than this is an error.'),
      }),
      `How much worse ${metric} may be than in the base commit.`,
    ),
  ),
);

const { race, divergence, memory, repair, idempotency } = defaultConfiguration.checks;

/** Statements about kernels by name: their launches, and conditions on their arguments. */
const kernelFacts = {
  match: told(text, 'Glob of the names of kernels that this entry is about.'),
  block: optional(extents, 'Threads per block: one to three numbers.'),
  grid: optional(extents, 'Blocks in the grid: one to three numbers.'),
  cluster: optional(extents, 'Blocks per cluster: one to three numbers.'),
  shared: optional(whole(0, maximumSharedBytes), 'Dynamic shared memory of a block in bytes.'),
  cooperative: optional(flag, 'Whether the launch is cooperative, so that barriers of the grid work.'),
  assume: withDefault(listOf(text), 'Conditions on the arguments of every launch, such as "n % 32 == 0".', []),
  args: withDefault(
    v.pipe(mapping, v.record(v.string(), scalar)),
    'Reference values of scalar parameters, for costs that the expressions do not decide.',
    {},
  ),
};

export const configurationSchema = object({
  version: told(v.literal(1n, 'must be 1'), 'Version of this format: always 1.'),
  arch: withDefault(
    listOf(v.pipe(text, v.regex(/^sm_\d{2,3}[af]?$/, 'must be an architecture such as sm_80'))),
    `Architectures to compile for; ${defaultConfiguration.arch.join(', ')} by default.`,
    [],
  ),
  gpu: optional(
    v.pipe(
      text,
      v.check((name) => gpuOf(name) !== undefined, `must be one of ${gpus.map(({ name }) => name).join(', ')}`),
    ),
    'GPU whose roofline and multiprocessors launches are compared with in costs, such as A100; none by default.',
  ),
  nvcc: section('How nvcc compiles the files.', {
    args: withDefault(listOf(text), 'Flags for nvcc. Relative paths are meant from the root of the repository.', []),
    'compile-commands': optional(
      v.union([text, listOf(text)], 'must be a path, or a list of paths'),
      'Path of a compile_commands.json, which has the flags of each file, or a list of paths. The first one with an entry for a file is used.',
    ),
    'stub-missing-headers': withDefault(
      flag,
      'Whether headers that are not found are replaced by stubs if only host code uses them, such as cublas_v2.h where cuBLAS is not installed.',
      defaultConfiguration.nvcc.stubsMissingHeaders,
    ),
  }),
  paths: section('Which files are checked.', {
    include: withDefault(listOf(text), 'Globs of the files to check; all by default.', []),
    exclude: withDefault(listOf(text), 'Globs of files that are not checked.', []),
  }),
  kernels: withDefault(
    listOf(
      object({
        ...kernelFacts,
        limits: withDefault(limits, 'Costs that the kernels may not exceed.', {}),
      }),
    ),
    'Launches, assumptions and limits of kernels, by name.',
    [],
  ),
  checks: section('Severities, options and thresholds of the checks.', {
    race: section('Data races.', {
      severity: withDefault(severity, 'Severity of a data race that a run confirms.', race.severity),
      'same-value-writes': withDefault(
        oneOf([...severities, 'allow']),
        'Severity of a race in which both threads write the same value; allow accepts it.',
        race.sameValueWrites === 'proved' ? 'allow' : race.sameValueWrites,
      ),
      volatile: withDefault(
        oneOf(['error', 'warning', 'allow']),
        'Severity of a race between volatile accesses, or of one with an atomic; allow takes them for relaxed atomics of system scope.',
        race.volatile,
      ),
      undecided: withDefault(
        oneOf(['warning', 'notice']),
        'Severity of a possible race, which no run has confirmed and no proof has excluded.',
        race.undecided,
      ),
      'warp-lockstep': withDefault(flag, 'Whether the instructions of one warp count as ordered, as before sm_70.', race.warpLockstep),
    }),
    divergence: section('Barrier divergence.', {
      severity: withDefault(severity, 'Severity of a barrier that some threads of a block do not reach.', divergence.severity),
      'early-exit': withDefault(severity, 'Severity of threads that return before a barrier at which others wait.', divergence.earlyExit),
    }),
    memory: section('Accesses to memory.', {
      overflow: withDefault(
        oneOf([...severities, 'allow']),
        'Severity of an index that wraps around from a size on, which no given launch has; allow does not report it.',
        memory.overflow,
      ),
      alignment: withDefault(
        oneOf([...severities, 'allow']),
        'Severity of an address that is aligned for some values of an argument only, which no given launch sets; allow does not report it.',
        memory.alignment,
      ),
    }),
    repair: section('Repairs: Selvage takes the lightest placement of barriers that it can prove.', {
      suggest: withDefault(flag, 'Whether reviews suggest repairs.', repair.suggest),
      'grid-level': withDefault(flag, 'Whether repairs may add barriers of the grid to cooperative launches.', repair.gridLevel),
      'remove-redundant': withDefault(
        severity,
        'Severity of a barrier that no two accesses need; error counts as warning.',
        repair.removeRedundant,
      ),
      'grid-weight': withDefault(
        whole(1, 1000),
        'Weight of a barrier of the grid, if a barrier of the block has weight 1.',
        BigInt(repair.weights.grid),
      ),
      'loop-weight': withDefault(
        whole(1, 100),
        'Factor by which each loop around a barrier multiplies its weight.',
        BigInt(repair.weights.loop),
      ),
    }),
    cost: withDefault(thresholds, 'Thresholds: how much worse costs may be than in the base commit, such as "+5%".', {}),
    idempotency: withDefault(severity, "Severity of a change of a kernel's idempotency in a review. It has no effect yet.", idempotency),
  }),
  suppress: withDefault(
    listOf(
      object({
        code: told(text, 'Code of the findings, such as race/global.'),
        reason: told(text, 'Why they are suppressed; reports show it.'),
        path: optional(text, 'Glob of their files; all files by default.'),
        until: optional(v.pipe(text, v.check(isDay, 'must be a date: 2027-06-30')), 'Last day on which they are suppressed: 2027-06-30.'),
      }),
    ),
    'Findings that are suppressed.',
    [],
  ),
});

export type ConfigurationText = v.InferOutput<typeof configurationSchema>;

/** The schema of a file of facts: the entries on kernels of a configuration, without limits. */
export const factsSchema = object({
  $schema: optional(v.string('must be text'), 'Address of this schema, for editors.'),
  kernels: told(
    v.pipe(listOf(object(kernelFacts)), v.minLength(1, 'must have at least one entry: [{ "match": "*" }]')),
    'Launches and facts of kernels, by name.',
  ),
});

/** The valid keys of the mapping at a path of a file of facts. */
export function knownFactKeys(path: readonly unknown[]): string[] {
  return keysOf(factsSchema as unknown as SchemaNode, path);
}

function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`);
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

interface SchemaNode {
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly item?: SchemaNode;
  readonly wrapped?: SchemaNode;
  readonly pipe?: readonly SchemaNode[];
}

/** The schema that contains the keys or items, without wrappers for defaults and checks. */
function structureOf(schema: SchemaNode | undefined): SchemaNode | undefined {
  if (schema?.wrapped) return structureOf(schema.wrapped);
  if (schema?.entries || schema?.item) return schema;
  // The first step of a pipe is its own schema.
  const inner = schema?.pipe?.map((step) => (step === schema ? undefined : structureOf(step)));
  return inner?.find((step) => step?.entries !== undefined || step?.item !== undefined) ?? schema;
}

/**
 * The valid keys of the mapping at a path.
 * @param path - keys and list indices from the top
 */
export function knownKeys(path: readonly unknown[]): string[] {
  return keysOf(configurationSchema as unknown as SchemaNode, path);
}

function keysOf(schema: SchemaNode, path: readonly unknown[]): string[] {
  let node: SchemaNode | undefined = schema;
  for (const key of path) {
    const structure: SchemaNode | undefined = structureOf(node);
    node = typeof key === 'number' ? structure?.item : structure?.entries?.[String(key)];
  }
  return Object.keys(structureOf(node)?.entries ?? {});
}
