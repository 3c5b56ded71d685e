/**
 * Contents of memory that proofs assume because programs use them: the bounds of consecutive rows ascend, and a column
 * is below the length of a row.
 */
import { integerType } from '../../cuda/syntax/basic-type.ts';
import type { Access } from '../../analysis/values/access.ts';
import type { Term } from '../../term/term.ts';
import type { KernelAndLaunch, SymbolicFacts } from '../context/facts.ts';
import { baseName, describeTerm } from '../context/names.ts';
import type { ContentsFact } from '../premises/contents-fact.ts';
import { type IndexFactor, type Monomial, expand, isCommon } from '../shape/monomial.ts';
import { keyOfProduct, plusProducts } from '../../algebra/products.ts';
import { shapeOf } from './representative-launches.ts';

/** An element that a load reads from an array that the kernel does not write. */
interface Element {
  readonly access: Access;
  readonly array: string;
  readonly leaf: Term;
  readonly offset: Term;
}

/** Assumptions about loaded values, by value id. */
export function assumedContents(context: KernelAndLaunch & SymbolicFacts): ReadonlyMap<number, ContentsFact> {
  const elements = fixedElements(context);
  if (elements.size === 0) return new Map();
  const ascending = ascendingArrays(context, elements);
  const limits = columnLimits(context, elements);
  const parts = arraysOfParts(context, elements);
  const facts = new Map<number, ContentsFact>();
  for (const [value, { access, array, offset }] of elements) {
    const ascends = ascending.has(array);
    const part = (!ascends && parts.get(array)) || null;
    const below = (!ascends && limits.get(array)) || null;
    if (!ascends && !below && !part) continue;
    const name = baseName(context, access.targets[0]!.base);
    const texts = [
      ...(ascends ? [`no element of ${name} is less than the one before it`] : []),
      ...(part ? [partText(part)] : []),
      ...(below ? [`the elements of ${name} are at least 0 and less than ${productText(context, below)}`] : []),
    ];
    const { bytes } = access;
    facts.set(value, { array, offset, unsigned: isUnsigned(context, access), ascends, below, part: part && { ...part, bytes }, texts });
  }
  return facts;
}

function partText({ names: [start, length], endsIn32Bits }: ArrayOfParts): string {
  const end = endsIn32Bits ? ', and end below 2^31' : '';
  return `parts with starts in ${start} and lengths in ${length} do not overlap${end}`;
}

/** Whether the source declares the elements of the accessed array as unsigned. */
function isUnsigned({ request }: KernelAndLaunch, { targets }: Access): boolean {
  const { base } = targets[0]!;
  if (base.kind !== 'parameter') return false;
  const parameter = request.parameters[base.index];
  const field = parameter?.fields?.find(({ offset }) => offset === base.offset);
  const pointer = field?.type ?? parameter?.type ?? '';
  const element = integerType(pointer.replace(/\*\s*((const|volatile|__restrict__|__restrict)\s*)*$/, ''));
  return element?.signed === false;
}

/** Single elements, loaded from arrays that the kernel does not write, by value id. */
function fixedElements({ accesses, symbolic, loaded }: SymbolicFacts): ReadonlyMap<number, Element> {
  const elements = new Map<number, Element>();
  for (const access of accesses) {
    const { instruction, operation, targets, bytes } = access;
    const { effect } = instruction.operation;
    const [result] = instruction.results;
    const [target, ...others] = targets;
    if (operation !== 'read' || effect.kind !== 'load' || effect.lanes !== 1 || typeof result !== 'number') continue;
    if (target?.base.kind !== 'parameter' || others.length > 0 || loaded(instruction) !== 'fixed') continue;
    const leaf = symbolic.operand({ kind: 'value', id: result });
    if (leaf.atom?.kind !== 'havoc' || leaf.atom.value !== result) continue;
    elements.set(result, { access, array: `${target.base.key}:${bytes}`, leaf, offset: target.offset });
  }
  return elements;
}

function elementOf({ factors }: Monomial, elements: ReadonlyMap<number, Element>): Element | undefined {
  const [factor, ...others] = factors;
  const atom = others.length === 0 ? factor?.term?.atom : undefined;
  return atom?.kind === 'havoc' ? elements.get(atom.value) : undefined;
}

/**
 * Arrays of which two adjacent elements bound a range, as in `rp[i] + k < rp[i + 1]`. Each is named by the key of its
 * base and the size of its elements in bytes.
 */
export function ascendingArrays(
  context: KernelAndLaunch & SymbolicFacts,
  elements: ReadonlyMap<number, Element> = fixedElements(context),
): ReadonlySet<string> {
  const arrays = new Set<string>();
  for (const { index } of shapeOf(context).guards) {
    const own = index.flatMap((monomial) => {
      const element = elementOf(monomial, elements);
      return element ? [{ element, coefficient: monomial.coefficient }] : [];
    });
    for (const low of own)
      for (const high of own) {
        if (low.coefficient <= 0n || high.coefficient !== -low.coefficient) continue;
        const [a, b] = [low.element, high.element];
        const [from, to] = [expand(a.offset), expand(b.offset)];
        if (a.array !== b.array || !from || !to) continue;
        const [between, ...more] = plusProducts(to, from, -1n);
        const isConstant = between?.factors.length === 0 && more.length === 0;
        if (isConstant && between.coefficient === BigInt(a.access.bytes)) arrays.add(a.array);
      }
  }
  return arrays;
}

/** The role of an array in a pair of starts and lengths, with the names of both. */
interface ArrayOfParts {
  readonly role: 'start' | 'length';
  readonly pair: string;
  readonly names: readonly [string, string];
  /** Whether starts have at most 32 bits. */
  readonly endsIn32Bits: boolean;
}

/**
 * Arrays of starts and of lengths that are read at one index, as in `first[g] + k` for `k < count[g]`. Each is named by
 * the key of its base and the size of its elements in bytes. An array counts in the first pair only.
 */
export function arraysOfParts(
  context: KernelAndLaunch & SymbolicFacts,
  elements: ReadonlyMap<number, Element> = fixedElements(context),
): ReadonlyMap<string, ArrayOfParts> {
  const found = new Map<string, ArrayOfParts>();
  if (elements.size < 2) return found;
  const place = ({ access, offset }: Element): string | null =>
    expand(offset)
      ?.map((part) => `${Number(part.coefficient) / access.bytes} ${keyOfProduct(part)}`)
      .join('+') ?? null;
  for (const { offset, guards } of shapeOf(context).forms) {
    const starts = offset.flatMap(
      (part) => elementOf({ ...part, factors: part.factors.filter(({ isUniform }) => !isUniform) }, elements) ?? [],
    );
    const lengths = guards.flatMap(({ index }) => {
      const isCounted = index.some(
        ({ coefficient, factors }) => coefficient > 0n && factors.some(({ term }) => term?.atom?.kind === 'iteration'),
      );
      const counts = isCounted ? index.flatMap((part) => (part.coefficient < 0n ? (elementOf(part, elements) ?? []) : [])) : [];
      // A sum of two elements is the length of a part that neither of the arrays gives.
      return counts.length === 1 ? counts : [];
    });
    for (const start of starts)
      for (const length of lengths) {
        if (start.array === length.array || place(start) === null || place(start) !== place(length)) continue;
        if (found.has(start.array) || found.has(length.array)) continue;
        const names = [start, length].map(({ access }) => baseName(context, access.targets[0]!.base)) as [string, string];
        const pair = `${start.array} ${length.array}`;
        const both = { pair, names, endsIn32Bits: start.access.bytes <= 4 };
        found.set(start.array, { role: 'start', ...both }).set(length.array, { role: 'length', ...both });
      }
  }
  return found;
}

type Limit = NonNullable<ContentsFact['below']>;

/**
 * For each array whose elements occur in indices, the smallest stride above them; null if it differs between indices.
 */
function columnLimits(context: KernelAndLaunch & SymbolicFacts, elements: ReadonlyMap<number, Element>): ReadonlyMap<string, Limit | null> {
  const limits = new Map<string, Limit | null>();
  for (const { offset } of shapeOf(context).forms)
    for (const own of offset) {
      const element = elementOf(own, elements);
      if (!element) continue;
      const limit = own.coefficient > 0n ? limitOf(context, own, offset) : null;
      const known = limits.get(element.array);
      const isSame = known === undefined || (known && limit && productText(context, known) === productText(context, limit));
      limits.set(element.array, isSame ? limit : null);
    }
  return limits;
}

/**
 * The smallest stride above a part of an index, as a multiple of the part's own step; null if strides do not determine
 * it.
 */
function limitOf(context: SymbolicFacts, own: Monomial, offset: readonly Monomial[]): Limit | null {
  const others = offset.filter((part) => part !== own && !isCommon(part));
  const strides = others.flatMap(({ coefficient, factors }) => {
    const uniform = factors.filter((factor) => factor.isUniform);
    if (coefficient < own.coefficient && coefficient > 0n && uniform.length === 0) return [];
    return [{ coefficient, factors: uniform }];
  });
  // If another part has a step of the same size or of incomparable size, no stride is above.
  const isAbove = ({ coefficient, factors }: Monomial): boolean =>
    coefficient > own.coefficient || (coefficient === own.coefficient && factors.length > 0);
  if (strides.length === 0 || !strides.every(isAbove)) return null;
  const least = strides.find((stride) => strides.every((other) => divides(stride, other)));
  if (!least || least.coefficient % own.coefficient !== 0n) return null;
  const factors = least.factors.flatMap((factor) => termOf(context, factor) ?? []);
  if (factors.length !== least.factors.length) return null;
  return { coefficient: least.coefficient / own.coefficient, factors };
}

function divides(a: Monomial, b: Monomial): boolean {
  const left = b.factors.map(({ key }) => key);
  for (const { key } of a.factors) {
    const at = left.indexOf(key);
    if (at === -1) return false;
    left.splice(at, 1);
  }
  return b.coefficient % a.coefficient === 0n;
}

function termOf({ symbolic }: SymbolicFacts, { key, term }: IndexFactor): Term | null {
  if (term) return term;
  const [of, axis] = key.split('.') as [string, string];
  const kind = of === 'blockDim' ? 'block-size' : 'grid-size';
  return symbolic.store.atom(32, { kind, axis: 'xyz'.indexOf(axis) as 0 | 1 | 2 });
}

function productText(context: KernelAndLaunch & SymbolicFacts, { coefficient, factors }: Limit): string {
  const names = factors.map((factor) => describeTerm(context, factor));
  return [...(coefficient === 1n && names.length > 0 ? [] : [String(coefficient)]), ...names].join(' * ');
}
