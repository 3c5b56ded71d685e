/**
 * Contents of arrays in a run: indices in range, ascending bounds of rows, values of the whole range of the type, or
 * mainly zeros.
 */
import { extentProduct } from '../../base/dim3.ts';
import { hashText } from '../../base/hash.ts';
import { seededRandom } from '../../base/random.ts';
import type { Access } from '../../analysis/values/access.ts';
import { maskOf } from '../obligations/warp-agreement.ts';
import type { Term } from '../../term/term.ts';
import { replays } from '../request/check-budget.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { arraysOfParts, ascendingArrays } from './assumed-contents.ts';
import { type Monomial, expand, isCommon, valueAt } from '../shape/monomial.ts';
import { type LaunchInstance, shapeOf, lastThread } from './representative-launches.ts';

/** Contents that are generated from a seed. */
export type GeneratedContents = { readonly seed: number; readonly count: number } & (
  | { readonly kind: 'indices'; readonly below: number }
  /** 0, 1, 2 …, repeated from 0 after `below`. If `below` is large enough, no two threads have the same element. */
  | { readonly kind: 'ordinal'; readonly below: number }
  /** Each element exceeds the previous one by at least `least` and by less than `least + step`. */
  | { readonly kind: 'ascending'; readonly step: number; readonly least: number }
  | { readonly kind: 'mixed' | 'sparse' }
  /** Words of 8 bytes: pointers to separate arrays, except for integers at the offsets `numbersAt` of each `period`. */
  | { readonly kind: 'pointers'; readonly period: number; readonly numbersAt: readonly number[]; readonly size: number }
);

/** Number of generations of contents per launch instance; in the last one, values are mainly zero. */
export const draws = 3;

/** The additional generation in which threads get disjoint elements as far as contents can achieve that. */
export const avoidingDraw = draws;

/** Maximum number of generated elements; all later ones are 0. */
const maxElements = 4096;
const fewestElements = 64;
/** Lengths of rows by generation: varying, varying with empty rows, of one length, and varying again. */
const rowLengths: readonly { readonly step: number; readonly least: number }[] = [
  { step: 3, least: 1 },
  { step: 3, least: 0 },
  { step: 1, least: 2 },
  { step: 2, least: 3 },
];

/** Limit on the generated lengths of parts. */
const longestPart = 7;

/** Limit on the trip count of a loop that an element bounds. */
const maxRounds = 40;

/** Number of values of elements that lanes compare: some lanes of a warp have equal ones, and some have others. */
const matchedValues = 4;

/** How the kernel uses the elements of an array. */
interface ArrayRole {
  /** Offsets of accesses that contain an element of the array as an index, with the scale of the index in bytes. */
  readonly indexes: readonly {
    readonly access: Access;
    readonly offset: readonly Monomial[];
    readonly scale: bigint;
  }[];
  /** Whether adjacent elements bound a loop. */
  readonly isBound: boolean;
  /** Whether elements are the starts of parts, or their lengths. */
  readonly ofParts: 'start' | 'length' | undefined;
  /** Whether single elements bound a loop. */
  readonly isCount: boolean;
  /** Whether lanes compare their elements with those of other lanes. */
  readonly isMatched: boolean;
}

/**
 * For each array whose elements affect the address or the execution of an access, its use; by `INDEX.OFFSET` of the
 * parameter.
 */
function rolesOfArrays(context: KernelAndLaunch & SymbolicFacts): ReadonlyMap<string, ArrayRole> {
  const { accesses, symbolic, kernel, loaded } = context;
  const { forms, guards } = shapeOf(context);
  const conditions = kernel.blocks.flatMap(({ id }) => symbolic.condition(id) ?? []);
  // A mask decides which lanes have to come.
  const masks = kernel.blocks.flatMap(({ instructions }) => instructions.flatMap((one) => maskOf(one) ?? [])).map(symbolic.operand);
  const deciding = new Set<Term>(
    [...conditions, ...masks, ...accesses.flatMap(({ targets }) => targets.map(({ condition }) => condition))].flatMap(
      ({ leaves }) => leaves,
    ),
  );
  for (const { target } of forms) for (const leaf of target.offset.leaves) deciding.add(leaf);
  const counting = new Set(
    guards.flatMap(({ index, bound }) =>
      [...index, ...bound].some(({ factors }) => factors.some(({ key }) => key.startsWith('round')))
        ? [...index, ...bound].flatMap(({ factors }) => factors.flatMap(({ term }) => term?.leaves ?? []))
        : [],
    ),
  );
  // Votes and exchanges of elements, and values passed through written memory, are not analyzed. If a condition depends
  // on such a value, any array may affect it.
  const isLoad = (leaf: Term): boolean => {
    const definition = leaf.atom?.kind === 'havoc' && leaf.atom.value >= 0 ? kernel.values[leaf.atom.value]!.definition : undefined;
    if (definition?.kind !== 'instruction') return false;
    const { instruction } = definition;
    const { kind } = instruction.operation.effect;
    return kind === 'atomic' || (kind === 'load' && loaded(instruction) === 'fixed');
  };
  const matched = new Set(
    kernel.blocks.flatMap(({ instructions }) =>
      instructions.flatMap(({ operation: { effect }, arguments: [value] }) =>
        effect.kind === 'warp-value' && effect.name.startsWith('match.') && value ? symbolic.operand(value).leaves : [],
      ),
    ),
  );
  const isAnyUnfollowed = [...deciding].some((leaf) => leaf.atom?.kind === 'phi' || (leaf.atom?.kind === 'havoc' && !isLoad(leaf)));
  const ascending = ascendingArrays(context);
  const parts = arraysOfParts(context);
  const roles = new Map<string, ArrayRole>();
  const loads = new Map<string, { access: Access; leaves: readonly Term[] }[]>();
  for (const access of accesses) {
    if (access.operation !== 'read') continue;
    const values = new Set(access.instruction.results.filter((value) => value !== null).map(Number));
    const leaves = [...deciding, ...matched].filter(({ atom }) => atom?.kind === 'havoc' && values.has(atom.value));
    if (leaves.length === 0 && !isAnyUnfollowed) continue;
    for (const { base } of access.targets)
      if (base.kind === 'parameter') {
        const key = `${base.index}.${base.offset}`;
        loads.set(key, [...(loads.get(key) ?? []), { access, leaves }]);
      }
  }
  for (const [key, list] of loads) {
    const leaves = new Set(list.flatMap((load) => load.leaves));
    const indexes = forms.flatMap(({ access, offset }) =>
      offset.flatMap((monomial) => {
        const own = monomial.factors.find(({ term }) => term !== null && leaves.has(term));
        return own && monomial.coefficient > 0n ? [{ access, offset, scale: monomial.coefficient }] : [];
      }),
    );
    const isBound = list.some(({ access }) => ascending.has(`${access.targets[0]!.base.key}:${access.bytes}`));
    const isCount = [...leaves].some((leaf) => counting.has(leaf));
    const [ofParts] = list.flatMap(({ access }) => parts.get(`${access.targets[0]!.base.key}:${access.bytes}`)?.role ?? []);
    const isMatched = [...leaves].some((leaf) => matched.has(leaf));
    roles.set(key, { indexes, isBound, ofParts, isCount, isMatched });
  }
  return roles;
}

/** Number of blocks from whose threads the range of indices follows, for a launch of which a run takes the corners. */
const someBlocks = 4;

const known = new WeakMap<object, ReadonlyMap<string, ArrayRole>>();

/**
 * The contents of arrays whose elements affect accesses, by `INDEX.OFFSET` of the parameter. The caller omits arrays
 * used for synchronisation.
 * @param draw the generation, from 0 to {@link avoidingDraw}
 */
export function generatedContents(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  draw: number,
): ReadonlyMap<string, GeneratedContents> {
  let roles = known.get(context.symbolic);
  if (!roles) known.set(context.symbolic, (roles = rolesOfArrays(context)));
  const { block, grid } = setting;
  const threads = [...block, ...grid].reduce((product, size) => product * size, 1);
  // Of a larger launch, a run takes some blocks; indices must collide among their threads.
  const inRun = threads <= replays.mostThreads ? threads : someBlocks * extentProduct(block);
  const count = Math.min(maxElements, Math.max(fewestElements, 2 * threads));
  const drawn = new Map<string, GeneratedContents>();
  const size = Math.max(1, threads - Math.floor(threads / 16) - 1);
  for (const [key, layout] of pointerTables(context)) drawn.set(key, { seed: 0, count, kind: 'pointers', size, ...layout });
  for (const [key, { indexes, isBound, ofParts, isCount, isMatched }] of roles) {
    if (drawn.has(key)) continue;
    const common = { seed: Number.parseInt(hashText(`${key} ${draw}`).slice(0, 7), 16), count };
    const isAvoiding = draw === avoidingDraw;
    if (isBound) drawn.set(key, { ...common, kind: 'ascending', ...rowLengths[draw]! });
    // Parts are disjoint: each start exceeds the one before by at least the largest length.
    else if (ofParts === 'start') drawn.set(key, { ...common, kind: 'ascending', step: 3, least: longestPart });
    else if (ofParts === 'length') drawn.set(key, { ...common, kind: 'indices', below: longestPart });
    // Bounds are small, since a run of a loop with millions of iterations would not end.
    else if (isCount) drawn.set(key, { ...common, kind: 'indices', below: maxRounds });
    else if (isMatched && draw === 0) drawn.set(key, { ...common, kind: 'indices', below: matchedValues });
    else if (indexes.length > 0)
      drawn.set(key, { ...common, kind: isAvoiding ? 'ordinal' : 'indices', below: indexLimit(context, setting, indexes, inRun) });
    else drawn.set(key, { ...common, kind: draw === draws - 1 ? 'sparse' : 'mixed' });
  }
  return drawn;
}

/** Arrays of pointers, by `INDEX.OFFSET` of the parameter, and the positions of integers in their elements. */
function pointerTables({
  accesses,
}: SymbolicFacts): ReadonlyMap<string, { readonly period: number; readonly numbersAt: readonly number[] }> {
  const pointers = new Map<string, Term[]>();
  for (const { base } of accesses.flatMap(({ targets }) => targets))
    if (base.kind === 'loaded' && base.table.kind === 'parameter') {
      const key = `${base.table.index}.${base.table.offset}`;
      pointers.set(key, [...(pointers.get(key) ?? []), base.element]);
    }
  const tables = new Map<string, { period: number; numbersAt: readonly number[] }>();
  for (const [key, elements] of pointers) {
    const others = accesses.flatMap(({ targets, bytes }) =>
      targets.flatMap(({ base, offset }) =>
        base.kind === 'parameter' && `${base.index}.${base.offset}` === key && !elements.includes(offset) ? [{ offset, bytes }] : [],
      ),
    );
    const sums = [...elements, ...others.map(({ offset }) => offset)].map((offset) => expand(offset) ?? []);
    const period = sums
      .flat()
      .reduce((step, { coefficient, factors }) => (factors.length === 0 ? step : gcd(step, Number(coefficient))), 0);
    const numbersAt = others.map(({ offset }) => {
      const constant = Number((expand(offset) ?? []).find(({ factors }) => factors.length === 0)?.coefficient ?? 0n);
      return 8 * Math.floor((period > 0 ? constant % period : constant) / 8);
    });
    tables.set(key, { period, numbersAt: [...new Set(numbersAt)].sort((a, b) => a - b) });
  }
  return tables;
}

function gcd(a: number, b: number): number {
  return b === 0 ? Math.abs(a) : gcd(b, a % b);
}

/** Positions of the elements of an array of pointers that are pointers rather than integers. */
export function pointersIn({ count, period, numbersAt }: GeneratedContents & { readonly kind: 'pointers' }): readonly number[] {
  const list = Array.from({ length: count }, (_, at) => at);
  return list.filter((at) => !numbersAt.includes(period > 0 ? (8 * at) % period : 8 * at));
}

/**
 * Exclusive upper bound of generated indices: the extent of the accessed array, or the stride above the index,
 * otherwise the largest size.
 */
function indexLimit(
  context: KernelAndLaunch & SymbolicFacts,
  setting: LaunchInstance,
  indexes: ArrayRole['indexes'],
  threads: number,
): number {
  const place = lastThread(context, setting);
  const { scalars } = shapeOf(context);
  const sizes = scalars.filter(({ isSize }) => isSize).map(({ field }) => Number(BigInt.asIntN(8 * field.bytes, setting.scalar(field))));
  const usual = Math.max(1, Math.min(threads, sizes.length > 0 ? Math.max(...sizes) : threads));
  const limits = indexes.flatMap(({ access, offset, scale }) => {
    const extents = access.targets.flatMap(({ base }) =>
      base.kind === 'object' && base.object.bytes !== null ? [Math.floor(base.object.bytes / Number(scale))] : [],
    );
    const above = offset
      .filter((part) => !isCommon(part))
      .flatMap(({ coefficient, factors }) => {
        const stride = valueAt([{ coefficient, factors: factors.filter((factor) => factor.isUniform) }], place);
        return stride !== undefined && stride > scale ? [Number(stride / scale)] : [];
      });
    return [...extents, ...above];
  });
  return Math.max(1, Math.min(usual, ...limits));
}

/**
 * The value of all elements after those of {@link generatedNumbers}: 0, or the last bound, so that bounds do not
 * descend.
 */
export function trailingValue(drawn: GeneratedContents, type: string): number {
  return drawn.kind === 'ascending' ? (generatedNumbers(drawn, type).at(-1) ?? 0) : 0;
}

/** The values of an array's first elements. */
export function generatedNumbers(drawn: GeneratedContents, type: string): readonly number[] {
  const random = seededRandom(drawn.seed);
  const list = (next: (at: number) => number): readonly number[] => Array.from({ length: drawn.count }, (_, at) => next(at));
  switch (drawn.kind) {
    case 'indices':
      return list(() => random.below(drawn.below));
    case 'pointers':
      return [];
    case 'ascending': {
      let last = 0;
      return list((at) => (last += at === 0 ? 0 : drawn.least + random.below(drawn.step)));
    }
    case 'ordinal':
      return list((at) => at % drawn.below);
    case 'mixed':
      return list(() => valueOf(type, random));
    case 'sparse':
      return list(() => (random.chance(0.9) ? 0 : valueOf(type, random)));
  }
}

function valueOf(type: string, random: ReturnType<typeof seededRandom>): number {
  if (type.startsWith('float')) return Math.fround((random.next() - 0.5) * 8);
  const bits = Math.min(53, Number(/\d+/.exec(type)?.[0] ?? 32));
  const isSigned = type.startsWith('int');
  const whole = bits <= 32 ? random.below(2 ** bits) : random.below(2 ** 21) * 2 ** 32 + random.below(2 ** 32);
  return isSigned && bits <= 32 ? whole - 2 ** (bits - 1) : whole;
}

/** Generated contents in command-line syntax: `indices(SEED,COUNT,BELOW)`. */
export function drawnText(drawn: GeneratedContents): string {
  const common = [drawn.seed, drawn.count];
  switch (drawn.kind) {
    case 'indices':
    case 'ordinal':
      return `${drawn.kind}(${[...common, drawn.below].join()})`;
    case 'ascending':
      return `ascending(${[...common, drawn.step, drawn.least].join()})`;
    case 'pointers':
      return `pointers(${[...common, drawn.size, drawn.period, ...drawn.numbersAt].join()})`;
    default:
      return `${drawn.kind}(${common.join()})`;
  }
}

/**
 * The inverse of {@link drawnText}.
 * @param kind the name before the parenthesis
 * @param values the numbers in the parentheses
 * @returns undefined if they denote no contents
 */
export function drawnOf(kind: string, values: readonly number[]): GeneratedContents | undefined {
  const [seed = -1, count = -1, a = -1, b = -1, ...more] = values;
  if (values.some((value) => !Number.isSafeInteger(value) || value < 0) || count < 1 || count > maxElements) return undefined;
  const common = { seed, count };
  if ((kind === 'mixed' || kind === 'sparse') && values.length === 2) return { ...common, kind };
  if ((kind === 'indices' || kind === 'ordinal') && values.length === 3 && a > 0) return { ...common, kind, below: a };
  if (kind === 'ascending' && values.length === 4 && a > 0) return { ...common, kind, step: a, least: b };
  if (kind === 'pointers' && values.length >= 4) return { ...common, kind, size: a, period: b, numbersAt: more };
  return undefined;
}
