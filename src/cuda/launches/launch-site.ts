/**
 * A launch of the host program from the point of view of a kernel: constants, and constraints between other values and
 * the kernel's arguments.
 */
import { type AxisExtents, type Extents, axesOf } from './extents.ts';
import { launchPaths } from './launch-paths.ts';
import type { AssumptionExpression, Condition, IntegerExpression } from '../assumptions/assumption.ts';
import { dimensionsIn } from '../assumptions/assumption-names.ts';
import { type SiteContents, contentsOfLaunch, heldAs } from './launch-contents.ts';
import type { LaunchEvent } from './launch-event.ts';
import type { LaunchParameter } from './launch-parameter.ts';
import { isClosed, type Substitution } from '../host/symbol-bindings.ts';
import { type Fact, type HostTerm, arithmetic, dividedUp, termConstant, integer, one, symbolsOf, termKey } from '../host/term.ts';
import { type HostValue, extentsOf, hostField, nullPointer, termOf } from '../host/value.ts';
import { integerType, isFloatType, sizeOfType } from '../syntax/basic-type.ts';
import type { Location } from '../../source/location.ts';

export type LaunchProperty = 'block' | 'grid' | 'cluster' | 'sharedBytes' | 'cooperative';

/** Memory of the program that an argument points to. */
export interface SitePointer {
  /** Equal for arguments that point into one allocation, and different for those of two. */
  readonly memory: string;
  /** Bytes of the allocation; null if unspecified. */
  readonly bytes: bigint | null;
  /** Offset of the pointer in its allocation, in bytes; null if unspecified. */
  readonly offset: bigint | null;
  /** A texture object that is bound to the memory, or to a part of it. */
  readonly isTexture?: true;
}

/** A launch in the text. Properties that are not constants are missing. */
export interface LaunchSite {
  /** For messages, on one line: `reduce<256><<<grid, block>>>`. */
  readonly text: string;
  readonly location: Location;
  readonly block?: Extents;
  readonly grid?: Extents;
  /** Extents of single axes. */
  readonly axes: AxisExtents;
  readonly cluster?: Extents;
  /** Dynamic shared memory in bytes. */
  readonly sharedBytes?: number;
  readonly cooperative?: boolean;
  /** Present if the kernel may start before the previous kernel in the stream has ended. */
  readonly startsEarly?: true;
  /** Properties that are neither constant nor constrained by an argument. */
  readonly unknown: readonly LaunchProperty[];
  /** Why extents are neither constant nor constrained by an argument: `gridDim.x depends on the result of atoi()`. */
  readonly reasons: readonly string[];
  /** Arguments that are constants, by position. */
  readonly scalars: ReadonlyMap<number, bigint | number | boolean>;
  /** Positions, in order, of arguments that point into the same object. */
  readonly aliases: readonly (readonly [number, number])[];
  /** Pairs of `aliases` that are the same pointer, without an offset between them. */
  readonly samePointers: readonly (readonly [number, number])[];
  /** Pairs of `aliases` at a known distance: the lower pointer, the upper one, the bytes between them. */
  readonly distances: readonly (readonly [number, number, IntegerExpression])[];
  /** Arguments, by position, that are null or point into memory of the program, and textures bound to such memory. */
  readonly pointers: ReadonlyMap<number, SitePointer>;
  /** Constraints of dimensions and arguments that the program implies, in the language of assumptions. */
  readonly ties: readonly AssumptionExpression[];
  /** Positions of arguments that are a fraction of a size of the program, with the divisor: 4 for `n / 4`. */
  readonly parts?: readonly (readonly [number, number])[];
  /** Contents of memory that the program writes visibly before the launch. */
  readonly contents: SiteContents;
}

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

/** Sites without duplicates; of their pointers, the facts common to the duplicates. */
export function distinctSites(sites: readonly LaunchSite[]): LaunchSite[] {
  const unique = new Map<string, LaunchSite>();
  for (const site of contentsOfAll(sites)) {
    const known = unique.get(siteKey(site));
    unique.set(siteKey(site), known ? { ...known, pointers: commonPointers([known, site]) } : site);
  }
  return [...unique.values()];
}

/** Maximum number of different contents of memory for launches of one kind; with more, they are unspecified. */
const maxContents = 4;

/** Sites, without contents if an otherwise equal site allows any contents. */
function contentsOfAll(sites: readonly LaunchSite[]): readonly LaunchSite[] {
  const groups = new Map<string, { readonly contents: Set<string>; isOpen: boolean }>();
  const plain = sites.map((site) => {
    const other = withoutContents(site);
    const [key, own] = [siteKey(other), siteKey(site)];
    const group = groups.get(key) ?? { contents: new Set(), isOpen: false };
    group.contents.add(own);
    group.isOpen ||= key === own;
    groups.set(key, group);
    return { site, other, group };
  });
  return plain.map(({ site, other, group }) => (group.isOpen || group.contents.size > maxContents ? other : site));
}

/** A site without contents of memory. */
export function withoutContents(site: LaunchSite): LaunchSite {
  const { contents, ties } = site;
  if (contents.arrays.size === 0 && contents.variables.size === 0 && !ties.some(isOfContents)) return site;
  return { ...site, ties: ties.filter((tie) => !isOfContents(tie)), contents: noContents };
}

const noContents: SiteContents = { arrays: new Map(), variables: new Map() };

function isOfContents({ kind }: AssumptionExpression): boolean {
  return kind === 'elements' || kind === 'distinct';
}

/** Removes sites that equal another one except for additional conditions: the other one covers their launches. */
export function withoutCovered(sites: readonly LaunchSite[]): readonly LaunchSite[] {
  const shown = (_: string, part: unknown): unknown =>
    typeof part === 'bigint' ? `${part}n` : part instanceof Map ? [...(part as ReadonlyMap<unknown, unknown>)] : part;
  const told = sites.map((site) => {
    const { ties, reasons, ...rest } = site;
    void reasons;
    const conditions = new Set<string>();
    const others: unknown[] = [];
    for (const tie of ties)
      if (tie.kind === 'condition') conditions.add(JSON.stringify(tie, shown));
      else others.push(tie);
    return { site, conditions, key: JSON.stringify([rest, others], shown) };
  });
  const covers = (a: (typeof told)[number], b: (typeof told)[number]): boolean =>
    a.key === b.key && a.conditions.size < b.conditions.size && [...a.conditions].every((one) => b.conditions.has(one));
  return told.filter((one) => !told.some((other) => covers(other, one))).map(({ site }) => site);
}

/** Facts common to several launches about the memory of their arguments. */
export function commonPointers([first, ...rest]: readonly LaunchSite[]): ReadonlyMap<number, SitePointer> {
  const common = new Map<number, SitePointer>();
  for (const [index, one] of first?.pointers ?? []) {
    const others = rest.map(({ pointers }) => pointers.get(index));
    if (others.includes(undefined)) continue;
    const bytes = others.every((other) => other!.bytes === one.bytes) ? one.bytes : null;
    const offset = others.every((other) => other!.offset === one.offset) ? one.offset : null;
    common.set(index, { ...one, bytes, offset });
  }
  return common;
}

/** A key that is equal for equal sites, independent of the memory that they point to. */
function siteKey({ text, location, scalars, pointers, reasons, ...rest }: LaunchSite): string {
  void pointers;
  void reasons;
  const shown = (_: string, value: unknown): unknown =>
    typeof value === 'bigint' ? `${value}n` : value instanceof Map ? [...(value as ReadonlyMap<unknown, unknown>)] : value;
  return JSON.stringify([text, location.file, location.line, [...scalars], rest], shown);
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
  const names = bindingsOf(given, parameters, [block, grid], resolve);
  const parts = given.flatMap((value, at): (readonly [number, number])[] => {
    const term = parameters[at] && !isPointerType(parameters[at].type) && /^(?:number|symbol)$/.test(value.kind) ? resolve(value) : null;
    const divisor = term ? divisorOf(term) : 1n;
    return divisor > 1n ? [[at, Number(divisor)]] : [];
  });
  const ties = tiesOf({
    block,
    grid,
    given,
    parameters,
    resolve,
    names,
    facts: [...event.facts, ...event.symbolFacts, ...way],
    told: substitution.fact,
  });
  const held = contentsOfLaunch(event, given, parameters, substitution.term);
  const determined = new Set(scalarTerms(given, parameters, resolve).flatMap(([term]) => [...symbolsOf(term).keys()]));
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
    ...(event.cooperative === undefined ? {} : { cooperative: event.cooperative }),
    ...(event.startsEarly ? { startsEarly: true } : {}),
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
    return blocks !== null && termKey(blocks) === termKey(term);
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

/** Expressions for values of the program, by key of the term: parameters, their fields, dimensions. */
type Bindings = ReadonlyMap<string, IntegerExpression>;

function bindingsOf(
  given: readonly HostValue[],
  parameters: readonly LaunchParameter[],
  [block, grid]: readonly (readonly (HostTerm | null)[])[],
  resolve: (value: HostValue | undefined) => HostTerm | null,
): Bindings {
  const names = new Map<string, IntegerExpression>();
  const bind = (term: HostTerm | null, expression: IntegerExpression): void => {
    if (!term || isClosed(term) || names.has(termKey(term))) return;
    names.set(termKey(term), expression);
  };
  const whole = scalarTerms(given, parameters, resolve);
  const dimensions = (
    [
      ['blockDim', block],
      ['gridDim', grid],
    ] as const
  ).flatMap(([name, terms]) =>
    (terms ?? []).map((term, axis): [HostTerm | null, IntegerExpression] => [
      term,
      { kind: 'dimension', name, axis: (['x', 'y', 'z'] as const)[axis]! },
    ]),
  );
  for (const [term, expression] of whole) bind(term, expression);
  for (const [term, expression] of dimensions) bind(term, expression);
  // The symbol `n` of `k<<<…>>>(a, n / 4)` is expressed by the argument, if the argument can be inverted.
  for (const [term, expression] of [...whole, ...dimensions]) {
    const inverse = term && invert(term, expression);
    if (inverse && !names.has(inverse.key)) names.set(inverse.key, inverse.expression);
  }
  return names;
}

/** Arguments that are whole numbers, and fields of arguments, with their names. */
function scalarTerms(
  given: readonly HostValue[],
  parameters: readonly LaunchParameter[],
  resolve: (value: HostValue | undefined) => HostTerm | null,
): [HostTerm, IntegerExpression][] {
  const terms: [HostTerm, IntegerExpression][] = [];
  for (const [index, value] of given.entries()) {
    const parameter = parameters[index];
    if (!parameter || isPointerType(parameter.type) || isFloatType(parameter.type) || isNarrow(parameter.type)) continue;
    if (parameter.fields) {
      for (const { name, type } of parameter.fields) {
        if (isPointerType(type) || isFloatType(type) || isNarrow(type)) continue;
        const part = name.split('.').reduce(hostField, value);
        const term = part.kind === 'number' || part.kind === 'symbol' ? resolve(part) : null;
        if (term) terms.push([term, { kind: 'parameter', path: [parameter.name, ...name.split('.')] }]);
      }
      continue;
    }
    const term = /^(?:number|symbol|condition)$/.test(value.kind) ? resolve(value) : null;
    if (term) terms.push([term, { kind: 'parameter', path: [parameter.name] }]);
  }
  return terms;
}

function number(value: bigint): IntegerExpression {
  return { kind: 'integer', value };
}

/** Solves `symbol * a + b == expression` for the symbol. */
function invert(term: HostTerm, expression: IntegerExpression): { key: string; expression: IntegerExpression } | null {
  if (term.kind === 'symbol' || term.kind === 'choice') return { key: termKey(term), expression };
  if (term.kind !== 'arithmetic') return null;
  const constant = termConstant(term.right);
  if (constant === undefined) return null;
  if (term.operator === '+') return invert(term.left, { kind: 'arithmetic', operator: '-', left: expression, right: number(constant) });
  if (term.operator === '*' && constant !== 0n)
    return invert(term.left, { kind: 'arithmetic', operator: '/', left: expression, right: number(constant) });
  return null;
}

interface TieRequest {
  readonly block: readonly (HostTerm | null)[];
  readonly grid: readonly (HostTerm | null)[];
  readonly given: readonly HostValue[];
  readonly parameters: readonly LaunchParameter[];
  readonly resolve: (value: HostValue | undefined) => HostTerm | null;
  readonly names: Bindings;
  readonly facts: readonly Fact[];
  /** A fact, simplified by the other facts. */
  readonly told: (fact: Fact) => Fact;
}

function tiesOf({ block, grid, given, parameters, resolve, names, facts, told }: TieRequest): AssumptionExpression[] {
  const ties = new Map<string, AssumptionExpression>();
  const add = (condition: Condition | null): void => {
    if (condition)
      ties.set(
        JSON.stringify(condition, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)),
        { kind: 'condition', condition },
      );
  };
  const tie = (expression: IntegerExpression, term: HostTerm | null): void => {
    if (!term) return;
    const own = names.get(termKey(term));
    if (own && !isSameName(own, expression)) {
      add({ kind: 'comparison', operator: '==', left: expression, right: own });
      return;
    }
    // A term whose expression is this name has no constraint with itself.
    const value = translated(term, names, isNamedBy(names, term, expression));
    if (value && !isSameSum(value, expression)) add({ kind: 'comparison', operator: '==', left: expression, right: value });
    if (!value) add(oneOf(expression, term));
  };
  const isOpen = (terms: readonly (HostTerm | null)[]): boolean => terms.some((term) => !term || termConstant(term) === undefined);
  for (const [name, terms] of [
    ['blockDim', block],
    ['gridDim', grid],
  ] as const) {
    if (!isOpen(terms)) continue;
    terms.forEach((term, axis) => tie({ kind: 'dimension', name, axis: (['x', 'y', 'z'] as const)[axis]! }, term));
  }
  for (const [term, expression] of scalarTerms(given, parameters, resolve)) {
    const isField = expression.kind === 'parameter' && expression.path.length > 1;
    if (termConstant(term) === undefined || isField) tie(expression, term);
  }
  let count = 0;
  for (const fact of facts) {
    if (count >= maxFacts) break;
    const condition = translatedFact(told(fact), names);
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

function isSameName(a: IntegerExpression, b: IntegerExpression): boolean {
  if (a.kind === 'parameter' && b.kind === 'parameter') return a.path.join('.') === b.path.join('.');
  return a.kind === 'dimension' && b.kind === 'dimension' && a.name === b.name && a.axis === b.axis;
}

/** Whether an expression is a name plus numbers whose sum is 0: `blockDim.x - 1 + 1`. */
function isSameSum(a: IntegerExpression, name: IntegerExpression): boolean {
  let [rest, offset] = [a, 0n];
  while (rest.kind === 'arithmetic' && (rest.operator === '+' || rest.operator === '-') && rest.right.kind === 'integer') {
    offset += rest.operator === '+' ? rest.right.value : -rest.right.value;
    rest = rest.left;
  }
  return offset === 0n && isSameName(rest, name);
}

/** The key of a term that is named by the expression itself, so that it has to be expressed by its parts. */
function isNamedBy(names: Bindings, term: HostTerm, expression: IntegerExpression): string | undefined {
  const own = names.get(termKey(term));
  return own && isSameName(own, expression) ? termKey(term) : undefined;
}

/**
 * A term in the language of assumptions; null if a part of it is neither an argument nor a dimension.
 * @param except a term that is not expressed by its name
 */
function translated(term: HostTerm, names: Bindings, except?: string): IntegerExpression | null {
  const key = termKey(term);
  const own = key === except ? undefined : names.get(key);
  if (own) return own;
  switch (term.kind) {
    case 'integer':
      return number(term.value);
    case 'arithmetic': {
      const [left, right] = [translated(term.left, names), translated(term.right, names)];
      if (!left && term.operator === '/') return quotientOfQuotient(term.left, termConstant(term.right), names);
      if (left && right?.kind === 'integer' && right.value < 0n && term.operator === '+')
        return { kind: 'arithmetic', operator: '-', left, right: number(-right.value) };
      return left && right && { kind: 'arithmetic', operator: term.operator, left, right };
    }
    default:
      return null;
  }
}

/** Maximum number of values of one argument that are listed. */
const maxValues = 8;

/** `dir == 1 || dir == 0` for the argument `dir != 0`: a choice between numbers. Null for other terms. */
function oneOf(name: IntegerExpression, term: HostTerm): Condition | null {
  const values = new Set<bigint>();
  const isKnown = (part: HostTerm): boolean => {
    if (part.kind === 'integer') values.add(part.value);
    return part.kind === 'integer' || (part.kind === 'choice' && isKnown(part.then) && isKnown(part.otherwise));
  };
  // The numbers fit in every type.
  if (!isKnown(term) || values.size < 2 || values.size > maxValues) return null;
  if ([...values].some((value) => value < 0n || value > 127n)) return null;
  const equations = [...values].map((value): Condition => ({ kind: 'comparison', operator: '==', left: name, right: number(value) }));
  return equations.reduce((left, right) => ({ kind: 'or', left, right }));
}

/** Maximum factor of a divisor that is tried. */
const maxFactors = 4096n;

/** `m / 512` for `n / 1024`, if an argument `m` is `n / 2`. */
function quotientOfQuotient(dividend: HostTerm, divisor: bigint | undefined, names: Bindings): IntegerExpression | null {
  for (let factor = 2n; divisor !== undefined && factor <= maxFactors && 2n * factor <= divisor; factor++) {
    if (divisor % factor !== 0n) continue;
    const part = arithmetic('/', dividend, integer(divisor / factor));
    const left = part && names.get(termKey(part));
    if (left) return { kind: 'arithmetic', operator: '/', left, right: number(factor) };
  }
  return null;
}

/** A fact in the language of assumptions; null if it is trivial, or cannot be expressed. */
function translatedFact(fact: Fact, names: Bindings): Condition | null {
  switch (fact.kind) {
    case 'comparison': {
      const [left, right] = [translated(fact.left, names), translated(fact.right, names)];
      if (!left || !right || (left.kind === 'integer' && right.kind === 'integer')) return null;
      return undivided({ kind: 'comparison', operator: fact.operator, left, right });
    }
    case 'and':
    case 'or': {
      const [left, right] = [translatedFact(fact.left, names), translatedFact(fact.right, names)];
      return left && right && { kind: fact.kind, left, right };
    }
    case 'not': {
      const operand = translatedFact(fact.operand, names);
      return operand && { kind: 'not', operand };
    }
    case 'truth':
    case 'unknown':
      return null;
  }
}

type Comparison = Extract<Condition, { kind: 'comparison' }>;

/** A bound of a name itself, which is more useful to a check: `gridDim.x <= 131071` for `gridDim.x / 2 <= 65535`. */
function undivided(condition: Comparison): Comparison {
  const { operator, left, right } = condition;
  if (left.kind !== 'arithmetic' || left.operator !== '/' || right.kind !== 'integer') return condition;
  const by = left.right.kind === 'integer' ? left.right.value : 0n;
  if (by <= 0n || right.value < 1n) return condition;
  const whole = right.value * by;
  const of = (limit: bigint): Comparison => undivided({ ...condition, left: left.left, right: number(limit) });
  switch (operator) {
    case '<':
    case '>=':
      return of(whole);
    case '<=':
    case '>':
      return of(whole + by - 1n);
    default:
      return condition;
  }
}

/** Number of elements of the memory that a pointer points to, if the program allocates it. */
function extentOf(
  value: HostValue,
  parameter: LaunchParameter | undefined,
  resolve: (value: HostValue | undefined) => HostTerm | null,
  names: Bindings,
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
  return translated(elements, names);
}

function aliasesOf(
  given: readonly HostValue[],
  resolve: (term: HostTerm) => HostTerm,
  names: Bindings,
): Pick<LaunchSite, 'aliases' | 'samePointers' | 'distances'> {
  const bases = given.map((value) => {
    if (value === nullPointer) return undefined;
    if (value.kind === 'pointer') return value.memory.id;
    // A number is not memory; a symbol may be an unknown pointer.
    return value.kind === 'symbol' ? value.symbol.id : undefined;
  });
  const offsetOf = (value: HostValue): string | undefined =>
    value.kind === 'pointer' ? (value.offset ? termKey(value.offset) : undefined) : '0';
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

/** Whether an expression is positive if its names are: a sum or product of names and positive numbers. */
function isPositive(expression: IntegerExpression): boolean {
  switch (expression.kind) {
    case 'integer':
      return expression.value > 0n;
    case 'parameter':
    case 'dimension':
      return true;
    case 'arithmetic': {
      const { operator, left, right } = expression;
      return (operator === '+' || operator === '*') && isPositive(left) && isPositive(right);
    }
    default:
      return false;
  }
}

/** Offsets of pointers into one object, relative to the lowest, if all of them are known. */
function distancesOf(
  aliases: LaunchSite['aliases'],
  given: readonly HostValue[],
  resolve: (term: HostTerm) => HostTerm,
  names: Bindings,
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
        const bytes = difference && translated(difference, names);
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
