/**
 * A launch of the host program from the point of view of a kernel: constants, and constraints between other values and
 * the kernel's arguments.
 */
import { type Extents, axesOf } from './extents.ts';
import { launchPaths } from './launch-paths.ts';
import {
  type AssumptionExpression,
  type Condition,
  type Fact,
  type HostTerm,
  type IntegerExpression,
  type LaunchName,
  comparison,
  dimension,
  integer,
  one,
  parameter as parameterName,
  termConstant,
} from '../../assumptions/expression.ts';
import { dimensionsIn, isClosed, isSame, symbolsOf } from '../../assumptions/parts.ts';
import { printAssumption, printExpression } from '../../assumptions/print-assumption.ts';
import { type NamesOfTerms, isPositive, namesOfTerms, renamed, renamedFact, valuesOfChoice } from '../../assumptions/renaming.ts';
import { arithmetic, dividedUp } from '../../assumptions/simplify.ts';
import type { Substitution } from '../../assumptions/substitution.ts';
import { contentsOfLaunch, heldAs } from './launch-contents.ts';
import type { LaunchEvent } from './launch-event.ts';
import type { LaunchParameter } from './launch-parameter.ts';
import { type HostValue, extentsOf, hostField, nullPointer, termOf } from './value.ts';
import { integerType, isFloatType, sizeOfType } from '../syntax/basic-type.ts';
import { type LaunchProperty, type LaunchSite, type SitePointer, distinctSites } from './launch-site.ts';
import type { Location } from '../../source/location.ts';

/** Maximum number of facts of a site that are reported. */
const maxFacts = 12;

/** The launches of an event: one for each set of extents on the paths through the program. */
export function sitesOf(event: LaunchEvent, location: Location, parameters: readonly LaunchParameter[]): LaunchSite[] {
  const { paths, resolved, isPossible, isReachable } = launchPaths(event);
  const sites = paths.map((path, at) => siteOf(event, location, parameters, path, resolved[at]!)).filter((_, at) => isReachable[at]);
  // Paths without launched threads are reported only if all paths are such.
  const possible = sites.filter((_, at) => isPossible.filter((__, own) => isReachable[own])[at]);
  return distinctSites(possible.length > 0 ? possible : sites);
}

function siteOf(
  event: LaunchEvent,
  location: Location,
  parameters: readonly LaunchParameter[],
  way: readonly Fact[],
  substitution: Substitution,
): LaunchSite {
  const resolve = (value: HostValue | undefined): HostTerm | null => {
    const term = value && termOf(value);
    return term ? substitution.term(term) : null;
  };
  const extents = (value: HostValue | undefined): readonly (HostTerm | null)[] =>
    (value && extentsOf(value))?.map(substitution.term) ?? [null, null, null];
  const block = extents(event.block);
  const grid = extents(event.grid).map((term) => term && roundedOnce(term, block));
  const constants = (terms: readonly (HostTerm | null)[]): Extents | undefined => {
    const numbers = terms.map((term) => (term ? termConstant(term) : undefined));
    return numbers.every((one) => one !== undefined && one >= 0n && one < 1n << 40n)
      ? [Number(numbers[0]), Number(numbers[1]), Number(numbers[2])]
      : undefined;
  };
  const [blockExtents, gridExtents] = [constants(block), constants(grid)];
  const axes = { block: axesOf(event.block, block), grid: axesOf(event.grid, grid) };
  const cluster = event.cluster && constants(extents(event.cluster));
  const shared = resolve(event.shared);
  const sharedBytes = shared ? termConstant(shared) : undefined;
  const given = (event.arguments ?? []).slice(0, parameters.length);
  const scalars = scalarsOf(given, parameters, substitution.term);
  const whole = scalarTerms(given, parameters, resolve);
  const dimensions = (['blockDim', 'gridDim'] as const).flatMap((name, at) =>
    [block, grid][at]!.map((term, axis) => [term, dimension(name, axis)] as const),
  );
  const names = namesOfTerms([...whole, ...dimensions]);
  const parts = given.flatMap((value, at): (readonly [number, number])[] => {
    const term = parameters[at] && !isPointerType(parameters[at].type) && /^(?:number|symbol)$/.test(value.kind) ? resolve(value) : null;
    const divisor = term ? divisorOf(term) : 1n;
    return divisor > 1n ? [[at, Number(divisor)]] : [];
  });
  const ties = tiesOf({
    block,
    grid,
    whole,
    given,
    parameters,
    resolve,
    names,
    facts: [...event.facts, ...event.symbolFacts, ...way],
    told: substitution.fact,
  });
  const sharedSize = shared && sharedBytes === undefined ? renamed(shared, names) : null;
  const held = contentsOfLaunch(event, given, parameters, substitution.term);
  const determined = new Set(whole.flatMap(([term]) => [...symbolsOf(term).keys()]));
  const reasonsFor = (name: 'blockDim' | 'gridDim', terms: readonly (HostTerm | null)[]): string[] =>
    terms.flatMap((term, axis) => {
      const place = `${name}.${'xyz'[axis]}`;
      if (!term) return axis === 0 ? [`${name} is unknown: Selvage did not find the configuration of this launch`] : [];
      const open = [...symbolsOf(term).values()].find(({ id }) => !determined.has(id));
      if (!open) return [];
      const label = `\`${open.label}\``;
      return [`${place} depends on ${open.origin ?? label}`];
    });
  const unknown: LaunchProperty[] = [];
  const isTied = (name: 'blockDim' | 'gridDim'): boolean => ties.some((tie) => dimensionsIn(tie).has(name));
  if (!blockExtents && !isTied('blockDim')) unknown.push('block');
  if (!gridExtents && !isTied('gridDim')) unknown.push('grid');
  if (sharedBytes === undefined) unknown.push('sharedBytes');
  if (event.cluster && !cluster) unknown.push('cluster');
  if (event.cooperative === undefined) unknown.push('cooperative', ...(event.cluster ? [] : (['cluster'] as const)));
  return {
    text: event.text.length > 60 ? `${event.text.slice(0, 59)}…` : event.text,
    location,
    ...(blockExtents ? { block: blockExtents } : {}),
    ...(gridExtents ? { grid: gridExtents } : {}),
    axes,
    ...(cluster ? { cluster } : {}),
    ...(sharedBytes === undefined ? {} : { sharedBytes: Number(sharedBytes) }),
    ...(sharedSize ? { sharedSize } : {}),
    ...(event.keepsAttributes ? { keepsAttributes: true } : {}),
    ...(event.cooperative === undefined ? {} : { cooperative: event.cooperative }),
    ...(event.startsEarly ? { startsEarly: true } : {}),
    ...(event.mayOverlap ? { mayOverlap: true } : {}),
    unknown,
    reasons: [...reasonsFor('blockDim', block), ...reasonsFor('gridDim', grid)],
    scalars,
    ...aliasesOf(given, substitution.term, names),
    pointers: pointersOf(given, substitution.term),
    ties: [...ties, ...held.ties],
    contents: held.contents,
    ...(parts.length > 0 ? { parts } : {}),
  };
}

/** The divisor of an argument that is a fraction of a size; 1 if the size is passed unchanged. */
function divisorOf(term: HostTerm): bigint {
  if (term.kind !== 'arithmetic') return 1n;
  const { operator, left, right } = term;
  const constant = termConstant(right);
  if (operator === '/') return constant !== undefined && constant > 0n ? constant * divisorOf(left) : 1n;
  // `(n + 3) / 4` is a quarter of n.
  return operator === '+' && constant !== undefined ? divisorOf(left) : 1n;
}

/** Simplifies the number of blocks of n threads that n threads need to 1: blocks are not empty, so n > 0. */
function roundedOnce(term: HostTerm, block: readonly (HostTerm | null)[]): HostTerm {
  const isOne = block.some((extent) => {
    const blocks = extent && !isClosed(extent) ? dividedUp(extent, extent) : null;
    return blocks !== null && isSame(blocks, term);
  });
  return isOne ? one : term;
}

function isPointerType(type: string): boolean {
  return /[*&]|\[\]/.test(type);
}

function scalarsOf(
  given: readonly HostValue[],
  parameters: readonly LaunchParameter[],
  resolve: (term: HostTerm) => HostTerm,
): Map<number, bigint | number | boolean> {
  const scalars = new Map<number, bigint | number | boolean>();
  for (const [index, value] of given.entries()) {
    if (isPointerType(parameters[index]?.type ?? '')) continue;
    const kind = integerType(parameters[index]?.type ?? '');
    if (value.kind === 'quotient') {
      const { numerator, denominator } = value;
      const isConstant = numerator.kind === 'integer' && denominator.kind === 'integer';
      // Operations on non-constants may have rounded, or may have produced a negative zero; a conversion does neither.
      if (!kind && !isConstant && !(numerator.kind === 'symbol' && denominator.kind === 'integer' && denominator.value === 1n)) continue;
      const [a, b] = [termConstant(resolve(numerator)), termConstant(resolve(denominator))];
      if (a !== undefined && b !== undefined && b !== 0n) scalars.set(index, kind ? heldAs(a / b, kind) : Number(a) / Number(b));
      continue;
    }
    const term = value.kind === 'number' || value.kind === 'symbol' || value.kind === 'condition' ? termOf(value) : null;
    const constant = term ? termConstant(resolve(term)) : undefined;
    if (constant === undefined) continue;
    const isFloat = isFloatType(parameters[index]?.type ?? '');
    scalars.set(index, isFloat ? Number(constant) : kind ? heldAs(constant, kind) : constant);
  }
  return scalars;
}

/** Whether a parameter may be narrower than the number that is passed. */
function isNarrow(type: string): boolean {
  return (integerType(type)?.bytes ?? 4) < 4;
}

/** Arguments that are whole numbers, and fields of arguments, with their names. */
function scalarTerms(
  given: readonly HostValue[],
  parameters: readonly LaunchParameter[],
  resolve: (value: HostValue | undefined) => HostTerm | null,
): (readonly [HostTerm, LaunchName])[] {
  const terms: (readonly [HostTerm, LaunchName])[] = [];
  for (const [index, value] of given.entries()) {
    const parameter = parameters[index];
    if (!parameter || isPointerType(parameter.type) || isFloatType(parameter.type) || isNarrow(parameter.type)) continue;
    if (parameter.fields) {
      for (const { name, type } of parameter.fields) {
        if (isPointerType(type) || isFloatType(type) || isNarrow(type)) continue;
        const part = name.split('.').reduce(hostField, value);
        const term = part.kind === 'number' || part.kind === 'symbol' ? resolve(part) : null;
        if (term) terms.push([term, parameterName(parameter.name, ...name.split('.'))]);
      }
      continue;
    }
    const term = /^(?:number|symbol|condition)$/.test(value.kind) ? resolve(value) : null;
    if (term) terms.push([term, parameterName(parameter.name)]);
  }
  return terms;
}

interface TieRequest {
  readonly block: readonly (HostTerm | null)[];
  readonly grid: readonly (HostTerm | null)[];
  /** Arguments that are whole numbers, with their names. */
  readonly whole: readonly (readonly [HostTerm, LaunchName])[];
  readonly given: readonly HostValue[];
  readonly parameters: readonly LaunchParameter[];
  readonly resolve: (value: HostValue | undefined) => HostTerm | null;
  readonly names: NamesOfTerms;
  readonly facts: readonly Fact[];
  /** A fact, simplified by the other facts. */
  readonly told: (fact: Fact) => Fact;
}

function tiesOf({ block, grid, whole, given, parameters, resolve, names, facts, told }: TieRequest): AssumptionExpression[] {
  const ties = new Map<string, AssumptionExpression>();
  const add = (condition: Condition | null): void => {
    const tie = condition && { kind: 'condition' as const, condition };
    if (tie) ties.set(printAssumption(tie), tie);
  };
  const tie = (expression: LaunchName, term: HostTerm | null): void => {
    if (!term) return;
    const own = names.get(printExpression(term));
    // A term whose name is this one is expressed by its parts: it has no constraint with itself.
    const value = renamed(term, names, own && isSame(own, expression) ? printExpression(term) : undefined);
    if (!value) add(valuesOfChoice(expression, term));
    else if (!isSameSum(value, expression)) add(comparison(expression, '==', value));
  };
  const isOpen = (terms: readonly (HostTerm | null)[]): boolean => terms.some((term) => !term || termConstant(term) === undefined);
  for (const [name, terms] of [
    ['blockDim', block],
    ['gridDim', grid],
  ] as const) {
    if (!isOpen(terms)) continue;
    terms.forEach((term, axis) => tie(dimension(name, axis), term));
  }
  for (const [term, expression] of whole) {
    const isField = expression.kind === 'parameter' && expression.path.length > 1;
    if (termConstant(term) === undefined || isField) tie(expression, term);
  }
  let count = 0;
  for (const fact of facts) {
    if (count >= maxFacts) break;
    const condition = renamedFact(told(fact), names);
    if (!condition) continue;
    count++;
    add(condition);
  }
  for (const [index, value] of given.entries()) {
    const extent = extentOf(value, parameters[index], resolve, names);
    if (extent && parameters[index]) ties.set(`extent ${index}`, { kind: 'extent', array: parameters[index].name, atLeast: extent });
  }
  return [...ties.values()];
}

/** Whether an expression is a name plus numbers whose sum is 0: `blockDim.x - 1 + 1`. */
function isSameSum(a: IntegerExpression, name: IntegerExpression): boolean {
  let [rest, offset] = [a, 0n];
  while (rest.kind === 'arithmetic' && (rest.operator === '+' || rest.operator === '-') && rest.right.kind === 'integer') {
    offset += rest.operator === '+' ? rest.right.value : -rest.right.value;
    rest = rest.left;
  }
  return offset === 0n && isSame(rest, name);
}

/** Number of elements of the memory that a pointer points to, if the program allocates it. */
function extentOf(
  value: HostValue,
  parameter: LaunchParameter | undefined,
  resolve: (value: HostValue | undefined) => HostTerm | null,
  names: NamesOfTerms,
): IntegerExpression | null {
  if (value.kind !== 'pointer' || !value.memory.bytes || !parameter) return null;
  const element = sizeOfType(parameter.type.replace(/\*\s*(?:const|__restrict__|__restrict|restrict|\s)*$/, '').trim());
  if (!/\*/.test(parameter.type) || element === undefined) return null;
  const bytes = resolve({ kind: 'number', term: value.memory.bytes });
  const offset = value.offset && resolve({ kind: 'number', term: value.offset });
  const left = bytes && offset && arithmetic('-', bytes, offset);
  const elements = left && arithmetic('/', left, integer(element));
  // A pointer beyond the end of its memory shows that the sizes were misinterpreted.
  if (elements && (termConstant(elements) ?? 0n) < 0n) return null;
  // A remaining division would truncate: then it is unknown whether elements fit exactly.
  if (!elements || (elements.kind === 'arithmetic' && elements.operator === '/' && termConstant(elements.right) === BigInt(element)))
    return null;
  return renamed(elements, names);
}

function aliasesOf(
  given: readonly HostValue[],
  resolve: (term: HostTerm) => HostTerm,
  names: NamesOfTerms,
): Pick<LaunchSite, 'aliases' | 'samePointers' | 'distances'> {
  const bases = given.map((value) => {
    if (value === nullPointer) return undefined;
    if (value.kind === 'pointer') return value.memory.id;
    // A number is not memory; a symbol may be an unknown pointer.
    return value.kind === 'symbol' ? value.symbol.id : undefined;
  });
  const offsetOf = (value: HostValue): string | undefined =>
    value.kind === 'pointer' ? (value.offset ? printExpression(value.offset) : undefined) : '0';
  const aliases: (readonly [number, number])[] = [];
  const samePointers: (readonly [number, number])[] = [];
  for (let first = 0; first < given.length; first++)
    for (let second = first + 1; second < given.length; second++) {
      if (bases[first] === undefined || bases[first] !== bases[second]) continue;
      aliases.push([first, second]);
      const [a, b] = [offsetOf(given[first]!), offsetOf(given[second]!)];
      if (a !== undefined && a === b) samePointers.push([first, second]);
    }
  return { aliases, samePointers, distances: distancesOf(aliases, given, resolve, names) };
}

/** Offsets of pointers into one object, relative to the lowest, if all of them are known. */
function distancesOf(
  aliases: LaunchSite['aliases'],
  given: readonly HostValue[],
  resolve: (term: HostTerm) => HostTerm,
  names: NamesOfTerms,
): LaunchSite['distances'] {
  const startOf = (index: number): HostTerm | null => {
    const value = given[index]!;
    return value.kind === 'pointer' ? value.offset && resolve(value.offset) : integer(0);
  };
  const firsts = new Set(aliases.map(([first]) => first));
  for (const [, second] of aliases) firsts.delete(second);
  return [...firsts].flatMap((first): LaunchSite['distances'] => {
    const all = [first, ...aliases.flatMap((pair) => (pair[0] === first ? [pair[1]] : []))];
    const starts = all.map((index) => [index, startOf(index)] as const);
    const distancesFrom = (lowest: number, start: HostTerm): LaunchSite['distances'] | null => {
      const distances: (readonly [number, number, IntegerExpression])[] = [];
      for (const [index, end] of starts) {
        const difference = end && arithmetic('-', end, start);
        if (difference && termConstant(difference) === 0n) continue;
        const bytes = difference && renamed(difference, names);
        if (!bytes || !isPositive(bytes)) return null;
        distances.push([lowest, index, bytes]);
      }
      return distances;
    };
    for (const [index, start] of starts) {
      const distances = start && distancesFrom(index, start);
      if (distances) return distances;
    }
    return [];
  });
}

function pointersOf(given: readonly HostValue[], resolve: (term: HostTerm) => HostTerm): ReadonlyMap<number, SitePointer> {
  const constant = (term: HostTerm | null | undefined): bigint | null => (term ? termConstant(resolve(term)) : undefined) ?? null;
  return new Map(
    given.flatMap((value, index): [number, SitePointer][] => {
      if (value === nullPointer) return [[index, { memory: 'null', bytes: 0n, offset: 0n }]];
      if (value.kind === 'texture')
        return [[index, { memory: value.memory.id, bytes: constant(value.memory.bytes), offset: 0n, isTexture: true }]];
      if (value.kind !== 'pointer' || !value.memory.isAllocation) return [];
      const { memory, offset } = value;
      return [[index, { memory: memory.id, bytes: constant(memory.bytes), offset: constant(offset) }]];
    }),
  );
}
