/** Classifies launches in the host programs of a repository: which of them are idempotent. */
import type { SitePointer } from '../../cuda/launches/launch-site.ts';
import type { LaunchIdempotencyReport } from '../../report-model/idempotency-report.ts';
import type { Parameter } from '../../ir/form/kernel.ts';
import type { ArrayOrigin, KernelIdempotency, Separation } from '../../idempotency/model/kernel-idempotency.ts';
import type { Axis, Quantity, ValidatorCondition } from '../../idempotency/model/quantity.ts';
import { argumentBufferBytes } from '../../idempotency/validator/c-source.ts';
import { isKnownToHold } from '../../idempotency/validator/instance-condition.ts';
import { parameterPlaces } from '../../idempotency/validator/parameter-layout.ts';
import { fieldName } from '../../launch/parameter-field.ts';
import { scalarPattern } from '../../settings/scalar-argument.ts';
import { code, codeList } from '../../messages/text/code-text.ts';
import type { LaunchedKernel } from '../build/phase-data.ts';
import type { SiteSettings } from '../project/resolve-launches.ts';

/**
 * Distance in bytes between the starts of consecutive symbolic allocations: an index within one array cannot reach
 * another.
 */
const allocationDistance = 1n << 40n;

/**
 * Classifies the launches of a kernel in the repository, in their order. Allocations of the program are disjoint, and
 * indices are within theirs. If the program does not determine the sizes, distinct allocations satisfy a condition that
 * needs nothing else, as long as no index wraps around; undetermined pointers leave a launch undecided.
 */
export function judgedLaunches(entry: LaunchedKernel, found: KernelIdempotency): LaunchIdempotencyReport[] {
  return entry.launchFacts.sites.map((site) => ({ location: site.location, ...judged(entry, found, site) }));
}

type Verdict = Omit<LaunchIdempotencyReport, 'location'>;

function judged(entry: LaunchedKernel, found: KernelIdempotency, site: SiteSettings): Verdict {
  const { condition, class: kind } = found;
  if (kind === 'non-idempotent') return { verdict: 'non-idempotent' };
  if (kind === 'undecided') return { verdict: 'undecided', reason: 'the kernel is undecided' };
  const { block, grid, sharedBytes, pointers = new Map<number, never>() } = site;
  const { parameters } = entry.produced ?? entry.kernel;
  const patterns = argumentsOf(entry, parameters, site);
  const places = parameterPlaces(parameters);
  const buffer = new Uint8Array(argumentBufferBytes(places));
  for (const [index, pattern] of patterns) {
    const { offset, bytes } = places[index]!;
    for (let at = 0; at < bytes; at++) buffer[offset + at] = Number((pattern >> BigInt(8 * at)) & 0xffn);
  }
  const bases = [...new Set([...pointers.values()].map(({ memory }) => memory))];
  const isMet =
    block !== undefined &&
    grid !== undefined &&
    (sharedBytes !== undefined || !mentions(condition, ({ kind: of }) => of === 'dynamic-shared')) &&
    isKnownToHold(condition, {
      arguments: buffer,
      // An offset at the end of the buffer marks the argument as unknown.
      offsets: places.map(({ offset }, index) => (patterns.has(index) ? offset : buffer.length)),
      block,
      grid,
      dynamicShared: sharedBytes ?? 0,
      allocation: (address) => {
        const memory = bases[Number(address / allocationDistance) - 1];
        const bytes = [...pointers.values()].find((pointer) => pointer.memory === memory)?.bytes ?? null;
        const start = (address / allocationDistance) * allocationDistance;
        return bytes === null || address >= start + bytes ? undefined : { start, bytes };
      },
      texture: (handle) => {
        const memory = bases[Number(handle / allocationDistance) - 1];
        if (![...pointers.values()].some((pointer) => pointer.memory === memory && pointer.isTexture)) return undefined;
        // The largest possible extent: allocations are disjoint, regardless of their size.
        return { start: (handle / allocationDistance) * allocationDistance, bytes: allocationDistance };
      },
      symbol: (name) => allocationDistance * BigInt(1000 + [...symbolsOf(condition)].indexOf(name)),
    });
  if (isMet) return { verdict: 'idempotent', ...savedBytes(found, site) };
  const open = notSaid(entry, found, site, patterns);
  if (open.length > 0 && found.separations.some((one) => isSeparate(one, site)))
    return { verdict: 'idempotent', assumptions: [noIndexWraps], ...savedBytes(found, site) };
  return { verdict: 'undecided', reason: reasonOf(entry, found, site, open) };
}

/** Precondition of the verdict if the program does not determine the sizes. */
const noIndexWraps = 'no arithmetic on indices wraps around';

/** Whether arrays that have to be disjoint are in different allocations, regardless of the sizes. */
function isSeparate({ pairs, dimensions }: Separation, site: SiteSettings): boolean {
  const { pointers = new Map<number, SitePointer>() } = site;
  const memoryOf = (origin: ArrayOrigin): string | null => {
    if (origin.kind === 'variable') return 'variables of the module';
    const pointer = origin.offset === 0 ? pointers.get(origin.index) : undefined;
    return pointer && pointer.memory !== 'null' && (pointer.isTexture === true) === (origin.kind === 'texture') ? pointer.memory : null;
  };
  return (
    dimensions.every(({ kind, axis, size }) => sizeOf(site, kind === 'block-size' ? 'blockDim' : 'gridDim', axis) === size) &&
    pairs.every((pair) => {
      const [a, b] = pair.map(memoryOf);
      return a !== null && b !== null && a !== b;
    })
  );
}

/**
 * Value of a dimension that the program determines or constrains to an integer, directly or through a preceding
 * dimension.
 */
function sizeOf(site: SiteSettings, name: 'blockDim' | 'gridDim', axis: Axis): bigint | null {
  const known = name === 'blockDim' ? site.block : site.grid;
  if (known) return BigInt(known[axis]);
  for (const tie of site.ties ?? []) {
    if (tie.kind !== 'condition' || tie.condition.kind !== 'comparison' || tie.condition.operator !== '==') continue;
    const { left, right } = tie.condition;
    if (left.kind !== 'dimension' || left.name !== name || left.axis !== axis) continue;
    if (right.kind === 'integer') return right.value;
    if (right.kind !== 'dimension') continue;
    const isBefore = right.name === name ? right.axis < axis : right.name === 'blockDim';
    const size = isBefore ? sizeOf(site, right.name, right.axis) : null;
    if (size !== null) return size;
  }
  return null;
}

/** The bits of the arguments that the program determines, by parameter. */
function argumentsOf(
  { parameters: sources }: LaunchedKernel,
  parameters: readonly Parameter[],
  { scalars, pointers = new Map<number, never>() }: SiteSettings,
): Map<number, bigint> {
  const bases = [...new Set([...pointers.values()].map(({ memory }) => memory))];
  const patterns = new Map<number, bigint>();
  for (const parameter of parameters) {
    const { index } = parameter;
    const pointer = pointers.get(index);
    if (pointer && pointer.offset !== null) {
      const start = pointer.memory === 'null' ? 0n : allocationDistance * BigInt(1 + bases.indexOf(pointer.memory));
      if (pointer.offset >= 0n && pointer.offset < allocationDistance) patterns.set(index, start + pointer.offset);
    }
    const scalar = scalars.get(index);
    const pattern = scalar === undefined ? undefined : scalarPattern(parameter, sources[index]?.type, scalar);
    if (typeof pattern === 'bigint') patterns.set(index, pattern);
  }
  return patterns;
}

/** Bytes of the written allocations that a checkpoint before the launch can omit. */
function savedBytes({ written }: KernelIdempotency, { pointers }: SiteSettings): Pick<Verdict, 'savedBytes'> {
  const memories = new Map<string, bigint>();
  for (const { index, offset } of written ?? []) {
    const pointer = offset === 0 ? pointers?.get(index) : undefined;
    if (!pointer || pointer.bytes === null) return {};
    memories.set(pointer.memory, pointer.bytes);
  }
  const total = [...memories.values()].reduce((sum, bytes) => sum + bytes, 0n);
  return written && total <= BigInt(Number.MAX_SAFE_INTEGER) ? { savedBytes: Number(total) } : {};
}

/** Inputs of the condition that the host program does not determine. */
function notSaid(
  entry: LaunchedKernel,
  { condition }: KernelIdempotency,
  { block, grid, sharedBytes }: SiteSettings,
  known: ReadonlyMap<number, bigint>,
): readonly string[] {
  const open = new Set<string>();
  if (!grid) open.add('grid');
  if (!block) open.add('block');
  visit(condition, (quantity) => {
    if (quantity.kind === 'dynamic-shared' && sharedBytes === undefined) open.add('shared memory');
    if (quantity.kind === 'argument' && !known.has(quantity.index))
      open.add(code(fieldName(entry.parameters, { index: quantity.index, offset: 0 }, entry.produced ?? entry.kernel)));
  });
  return [...open];
}

function reasonOf(
  entry: LaunchedKernel,
  { overlaps }: KernelIdempotency,
  { aliases, pointers = new Map<number, never>() }: SiteSettings,
  open: readonly string[],
): string {
  const runs = entry.produced ?? entry.kernel;
  const nameOf = (index: number): string => fieldName(entry.parameters, { index, offset: 0 }, runs);
  const ofTextures = [...pointers].flatMap(([texture, { memory, isTexture }]) =>
    isTexture
      ? [...pointers].flatMap(([index, other]) => (other.memory === memory && index !== texture ? [[texture, index] as const] : []))
      : [],
  );
  const shared = [...aliases, ...ofTextures]
    .map((pair) => pair.map(nameOf))
    .find(([a, b]) => overlaps.some(({ written, read }) => (written === a && read.includes(b!)) || (written === b && read.includes(a!))));
  if (shared) return `${codeList(shared)} are in the same memory`;
  if (open.length > 0) return `the host program does not specify ${open.join(', ')}`;
  return 'the launch is not known to satisfy the condition';
}

function mentions(condition: ValidatorCondition, wanted: (quantity: Quantity) => boolean): boolean {
  let found = false;
  visit(condition, (quantity) => (found ||= wanted(quantity)));
  return found;
}

function symbolsOf(condition: ValidatorCondition): ReadonlySet<string> {
  const names = new Set<string>();
  visit(condition, (quantity) => quantity.kind === 'symbol' && names.add(quantity.name));
  return names;
}

/** Visits the quantities of a condition. Quantities that several subconditions share are visited once. */
function visit(condition: ValidatorCondition, see: (quantity: Quantity) => void): void {
  const seen = new Set<unknown>();
  const walk = (part: unknown): void => {
    if (typeof part !== 'object' || part === null || seen.has(part)) return;
    seen.add(part);
    if ('kind' in part && quantityKinds.has(part.kind as Quantity['kind'])) see(part as Quantity);
    for (const value of Object.values(part)) walk(value);
  };
  walk(condition);
}

const quantityKinds: ReadonlySet<Quantity['kind']> = new Set(['argument', 'dynamic-shared', 'symbol']);
