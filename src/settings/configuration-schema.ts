/** The shape of `.selvage.yml`. Whole numbers arrive as bigint, so that none is rounded. */
import * as v from 'valibot';
import { defaultConfiguration } from './defaults.ts';
import {
  boundMetrics,
  byMetric,
  isBoundMetric,
  isShare,
  resourceMetrics,
  resourceTable,
} from '../cost/model/metrics.ts';
import { maximumGrid, maximumSharedBytes } from '../device/hardware-limits.ts';

const severities = ['error', 'warning', 'notice'] as const;

/** The message of each check: the end of the sentence "KEY VALUE …". */
const oneOf = <const Options extends readonly string[]>(options: Options) =>
  v.picklist(options, `must be one of ${options.join(', ')}`);
const text = v.pipe(v.string('must be text'), v.nonEmpty('must not be empty'));
const flag = v.boolean('must be true or false');
const severity = oneOf(severities);

const whole = (minimum: number, maximum: number) =>
  v.pipe(
    v.bigint('must be a whole number'),
    v.check((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`),
    v.transform(Number),
  );
const listOf = <Item extends v.GenericSchema>(item: Item) => v.array(item, 'must be a list: [a, b]');
const extents = v.pipe(
  v.union(
    [listOf(whole(1, maximumGrid[0])), whole(1, maximumGrid[0])],
    'must be one to three positive whole numbers: [16, 16, 1]',
  ),
  v.transform((value) => (typeof value === 'number' ? [value] : value)),
  v.check(({ length }) => length >= 1 && length <= 3, 'must have one to three numbers: [16, 16, 1]'),
  v.transform(([x = 1, y = 1, z = 1]) => [x, y, z] as const),
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

const limits = object(
  byMetric([...resourceMetrics, ...boundMetrics], (metric) =>
    v.optional(isBoundMetric(metric) || isShare(metric) ? bound : whole(0, resourceTable[metric].largestLimit)),
  ),
);

const thresholds = object(
  byMetric([...boundMetrics, ...resourceMetrics], () =>
    v.optional(object({ warn: v.optional(threshold), fail: v.optional(threshold) })),
  ),
);

const { race, divergence, repair, idempotency } = defaultConfiguration.checks;

export const configurationSchema = object({
  version: v.literal(1n, 'must be 1'),
  arch: v.optional(listOf(v.pipe(text, v.regex(/^sm_\d{2,3}[af]?$/, 'must be an architecture such as sm_80'))), []),
  nvcc: v.optional(object({ args: v.optional(listOf(text), []), 'compile-commands': v.optional(text) }), {}),
  paths: v.optional(object({ include: v.optional(listOf(text), []), exclude: v.optional(listOf(text), []) }), {}),
  kernels: v.optional(
    listOf(
      object({
        match: text,
        block: v.optional(extents),
        grid: v.optional(extents),
        cluster: v.optional(extents),
        shared: v.optional(whole(0, maximumSharedBytes)),
        cooperative: v.optional(flag),
        assume: v.optional(listOf(text), []),
        args: v.optional(v.record(v.string(), scalar, 'must be a mapping: { n: 1048576 }'), {}),
        limits: v.optional(limits, {}),
      }),
    ),
    [],
  ),
  checks: v.optional(
    object({
      race: v.optional(
        object({
          severity: v.optional(severity, race.severity),
          'same-value-writes': v.optional(
            oneOf([...severities, 'allow']),
            race.sameValueWrites === 'proved' ? 'allow' : race.sameValueWrites,
          ),
          volatile: v.optional(oneOf(['error', 'warning', 'allow']), race.volatile),
          undecided: v.optional(oneOf(['warning', 'notice']), race.undecided),
          'warp-lockstep': v.optional(flag, race.warpLockstep),
        }),
        {},
      ),
      divergence: v.optional(
        object({
          severity: v.optional(severity, divergence.severity),
          'early-exit': v.optional(severity, divergence.earlyExit),
        }),
        {},
      ),
      repair: v.optional(
        object({
          suggest: v.optional(flag, repair.suggest),
          'grid-level': v.optional(flag, repair.gridLevel),
          'remove-redundant': v.optional(severity, repair.removeRedundant),
          'grid-weight': v.optional(whole(1, 1000), BigInt(repair.weights.grid)),
          'loop-weight': v.optional(whole(1, 100), BigInt(repair.weights.loop)),
        }),
        {},
      ),
      cost: v.optional(thresholds, {}),
      idempotency: v.optional(severity, idempotency),
    }),
    {},
  ),
  suppress: v.optional(
    listOf(
      object({
        code: text,
        reason: text,
        path: v.optional(text),
        until: v.optional(v.pipe(text, v.check(isDay, 'must be a date: 2027-06-30'))),
      }),
    ),
    [],
  ),
});

export type ConfigurationText = v.InferOutput<typeof configurationSchema>;

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

/** The schema that says what keys or items there are, inside of defaults and checks. */
function structureOf(schema: SchemaNode | undefined): SchemaNode | undefined {
  if (schema?.wrapped) return structureOf(schema.wrapped);
  const inner = schema?.pipe?.find((step) => step.entries !== undefined || step.item !== undefined);
  return inner ?? schema;
}

/**
 * The keys that the mapping at a path can have.
 * @param path - keys and list indices from the top
 */
export function knownKeys(path: readonly unknown[]): string[] {
  let node: SchemaNode | undefined = configurationSchema as unknown as SchemaNode;
  for (const key of path) {
    const structure: SchemaNode | undefined = structureOf(node);
    node = typeof key === 'number' ? structure?.item : structure?.entries?.[String(key)];
  }
  return Object.keys(structureOf(node)?.entries ?? {});
}
