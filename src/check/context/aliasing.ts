/** Aliasing of pointers: as passed by the launch, stated by the user, or assumed. */
import { baseName } from './names.ts';
import type { KernelAndLaunch, SymbolicFacts, OrderingFacts } from './facts.ts';
import { type NameContext, wordOf } from './named-term.ts';
import type { MayAlias } from '../obligations/obligation.ts';
import { type Base, type Target, parameterBase } from '../../analysis/values/memory-base.ts';
import type { Launch } from '../../launch/launch.ts';
import { type NamedScalar, namedPointer } from '../premises/premises.ts';
import type { Assumption } from '../../verdict/finding.ts';
import { type Access, isWriter } from '../../analysis/values/access.ts';
import type { ValueId } from '../../ir/form/kernel.ts';
import type { CheckRequest } from '../request/check-request.ts';

/** The pairs of pointers in the statements `apart(A, B)`. */
function statedDisjoint({ parameters, assumptions }: CheckRequest): (readonly [NamedScalar, NamedScalar])[] {
  return assumptions.flatMap(({ expression }) => {
    if (expression.kind !== 'apart') return [];
    const [first, second] = [expression.first, expression.second].map((name) => namedPointer(parameters, name));
    return first && second ? [[first, second] as const] : [];
  });
}

/**
 * The request without the aliases that `apart(A, B)` excludes; parameters that receive one pointer remain aliases. An
 * alias of a struct is one of all its members, so a statement on some of them does not exclude it.
 */
export function withStatedApart(request: CheckRequest): CheckRequest {
  const { launch, parameters } = request;
  const isWhole = ({ index, offset }: NamedScalar): boolean => offset === 0 && parameters[index]?.fields === undefined;
  const stated = statedDisjoint(request).filter((pair) => pair.every(isWhole));
  if (stated.length === 0) return request;
  const isStated = ([a, b]: readonly [number, number]): boolean =>
    stated.some(([{ index: x }, { index: y }]) => (a === x && b === y) || (a === y && b === x));
  return { ...request, launch: { ...launch, aliases: launch.aliases.filter((pair) => !isStated(pair)) } };
}

/**
 * The request without the aliases of pointers at a known distance, as their accesses are expressed relative to the
 * lowest of them. Statements on the elements of one array would then extend to the others, so pointers with such
 * statements stay unchanged.
 */
export function withKnownDistances(request: CheckRequest): CheckRequest {
  const { launch, parameters, assumptions } = request;
  const { distances = [] } = launch;
  if (distances.length === 0) return request;
  const described = new Set(
    assumptions.flatMap(({ expression }) =>
      expression.kind === 'elements' || expression.kind === 'distinct' ? [namedPointer(parameters, expression.array)?.index] : [],
    ),
  );
  const known = distances.filter(([from, to]) => ![from, to].some((index) => described.has(index) || parameters[index]?.fields));
  const lowestOf = (index: number): number | undefined =>
    known.find(([, to]) => to === index)?.[0] ?? known.find(([from]) => from === index)?.[0];
  const isKnown = ([a, b]: readonly [number, number]): boolean => lowestOf(a) !== undefined && lowestOf(a) === lowestOf(b);
  return { ...request, launch: { ...launch, distances: known, aliases: launch.aliases.filter((pair) => !isKnown(pair)) } };
}

/** The accesses, with those through pointers at a known distance above others rebased to the lower pointers. */
export function fromLowerPointers(accesses: readonly Access[], context: NameContext): readonly Access[] {
  const { distances = [] } = context.request.launch;
  if (distances.length === 0) return accesses;
  const { store } = context.symbolic;
  const unknown: Base = { kind: 'unknown', key: 'unknown' };
  const lower = (target: Target): Target => {
    const { base, offset } = target;
    const isOf = (one: Base, index: number): boolean => one.kind === 'parameter' && one.index === index;
    // Pointers loaded from an array that overlaps another one are not analyzed.
    if (base.kind === 'loaded' && distances.some(([from, to]) => isOf(base.table, from) || isOf(base.table, to)))
      return { ...target, base: unknown };
    const distance = distances.find(([, to]) => isOf(base, to));
    if (!distance || base.kind !== 'parameter' || base.offset !== 0) return target;
    const [from, , expression] = distance;
    const bytes = wordOf(context, expression);
    if (!bytes || offset.width !== bytes.width) return { ...target, base: unknown };
    return { ...target, base: parameterBase(from, 0), offset: store.add(bytes.width, offset, bytes), through: base };
  };
  return accesses.map((access) => ({ ...access, targets: access.targets.map(lower) }));
}

/** Whether two bases are the two parameters of one of these pairs. */
export function arePassedTogether(pairs: Launch['aliases'], a: Base, b: Base): boolean {
  if (a.kind !== 'parameter' || b.kind !== 'parameter') return false;
  return pairs.some(([x, y]) => (x === a.index && y === b.index) || (x === b.index && y === a.index));
}

/** Alias analysis of the bases of accesses. */
export interface Aliasing {
  readonly mayAlias: MayAlias;
  /** The names of bases that were assumed to be disjoint; grows with each query. */
  readonly disjoint: ReadonlySet<string>;
}

/**
 * Determines which bases may be the same memory.
 * @param withOrders whether the memory of locks and counters is included among the memory assumed to be disjoint
 */
export function aliasing(context: KernelAndLaunch & SymbolicFacts & OrderingFacts, withOrders = true): Aliasing {
  const disjoint = new Set<string>();
  if (withOrders) addDisjoint(context, disjoint);
  const isShared = (base: Base): boolean => base.kind === 'object' && base.object.space === 'shared';
  const { aliases, samePointers = [] } = context.request.launch;
  const isStated = areStatedDisjoint(context);
  const mayAlias: MayAlias = (a, b) => {
    if (a.kind === 'unknown' || b.kind === 'unknown') return 'unknown';
    if (a.kind === 'loaded' || b.kind === 'loaded') {
      if (a.kind !== b.kind || a.kind !== 'loaded' || b.kind !== 'loaded') return 'apart';
      if (arePassedTogether(aliases, a.table, b.table)) return 'unknown';
      return a.key === b.key || arePassedTogether(samePointers, a.table, b.table) ? 'same' : 'apart';
    }
    if (a.key === b.key || arePassedTogether(samePointers, a, b)) return 'same';
    if (isStated(a, b)) return 'apart';
    if (arePassedTogether(aliases, a, b)) return 'unknown';
    if (a.kind === 'object' && b.kind === 'object') return 'apart';
    if (isShared(a) !== isShared(b)) return 'apart';
    for (const base of [a, b]) disjoint.add(baseName(context, base));
    return 'apart';
  };
  return { mayAlias, disjoint };
}

/** A predicate for bases that the user states to be disjoint, so that Selvage need not assume it. */
function areStatedDisjoint({ request }: Pick<KernelAndLaunch, 'request'>): (a: Base, b: Base) => boolean {
  const stated = statedDisjoint(request);
  const isOf = (base: Base, { index, offset }: NamedScalar): boolean =>
    base.kind === 'parameter' && base.index === index && base.offset === offset;
  return (a, b) => stated.some(([one, other]) => (isOf(a, one) && isOf(b, other)) || (isOf(b, one) && isOf(a, other)));
}

/** The assumption that memory of these names is disjoint; null if there are fewer than two. */
export function noAlias(disjoint: ReadonlySet<string>): Assumption | null {
  return disjoint.size < 2 ? null : { kind: 'no-alias', text: `${[...disjoint].sort().join(', ')} do not overlap` };
}

/**
 * The names of memory assumed to be disjoint so that uniform values do not change: the memory that they are read from,
 * and the memory that the kernel writes.
 * @param isShared whether a value is uniform among the threads
 */
export function disjointFromSharedValues(
  context: KernelAndLaunch & SymbolicFacts & OrderingFacts,
  isShared: (id: ValueId) => boolean,
): ReadonlySet<string> {
  const { mayAlias, disjoint } = aliasing(context, false);
  const written = context.accesses.filter(isWriter).flatMap(({ targets }) => targets);
  for (const { operation, instruction, targets } of context.accesses) {
    if (operation !== 'read' || !instruction.results.some((id) => id !== null && isShared(id))) continue;
    for (const { base } of targets) for (const other of written) mayAlias(base, other.base);
  }
  return disjoint;
}

/**
 * Assumptions about pointers that the kernel loads from memory, if it writes memory and the user does not state them.
 */
export function nonAliasingPointers(context: KernelAndLaunch & SymbolicFacts): readonly string[] {
  const { accesses, request } = context;
  if (!accesses.some((access) => isWriter(access) && access.memory !== 'shared')) return [];
  const tables = accesses.flatMap(({ targets }) =>
    targets.flatMap(({ base }) => (base.kind === 'loaded' ? [baseName(context, base.table)] : [])),
  );
  const stated = request.assumptions.flatMap(({ expression }) => (expression.kind === 'pointers-apart' ? expression.array : []));
  return [...new Set(tables)]
    .filter((name) => !stated.includes(name))
    .map((name) => `the pointers in ${name} lead to arrays that overlap neither each other nor any other`);
}

/**
 * The assumption that textures and surfaces read by the kernel are not bound to memory that it writes; null if not
 * needed.
 */
export function nonAliasingTextures({ kernel, accesses }: KernelAndLaunch & SymbolicFacts): Assumption | null {
  if (!accesses.some((access) => isWriter(access) && access.memory !== 'shared')) return null;
  const mnemonics = kernel.blocks.flatMap(({ instructions }) => instructions.map(({ operation }) => operation.mnemonic));
  const kinds = [
    ...(mnemonics.some((name) => /^(tex|tld4)\b/.test(name)) ? ['texture'] : []),
    ...(mnemonics.some((name) => /^suld\b/.test(name)) ? ['surface'] : []),
  ];
  if (kinds.length === 0) return null;
  return { kind: 'texture-apart', text: `no ${kinds.join(' or ')} is bound to memory that the kernel writes` };
}

/**
 * Collects the names of the memory of locks and counters and of other memory that the kernel writes. Synchronisation is
 * analyzed under the assumption that they are disjoint.
 * @param disjoint collects the names of memory assumed to be disjoint
 */
function addDisjoint(context: KernelAndLaunch & SymbolicFacts & OrderingFacts, disjoint: Set<string>): void {
  const { synchronisation, tickets, accesses } = context;
  const isStated = areStatedDisjoint(context);
  const writers = accesses.filter(({ operation }) => operation !== 'read');
  for (const { base } of [...synchronisation, ...tickets.values()]) {
    for (const other of writers.flatMap(({ targets }) => targets.map((target) => target.base))) {
      const areObjects = base.kind === 'object' && other.kind === 'object';
      if (other.key === base.key || areObjects || isStated(base, other)) continue;
      disjoint.add(baseName(context, base)).add(baseName(context, other));
    }
  }
}
