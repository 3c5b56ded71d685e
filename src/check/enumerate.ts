/**
 * The second tier, for concrete dimensions: run the address and condition terms of both accesses for every thread (and
 * every value of the few shared unknowns), and hash the addresses. Linear in the number of threads. Conditions over
 * unknown values are dropped, which only weakens: no hit is still a proof.
 */
import type { Dimensions } from '../analysis/launch-bounds.ts';
import type { SymbolicKernel } from '../analysis/symbolic.ts';
import type { Term } from '../term/term.ts';
import type { Difference, Unknown } from './difference.ts';
import type { Instances } from './instance.ts';
import type { AccessSide, Obligation } from './obligation.ts';
import { Unexpressible, compileTruth, compileValue } from './staged-term.ts';

/** Two threads that touch overlapping bytes as far as the enumerated conditions tell. */
export interface Hit {
  readonly firstThread: readonly number[];
  readonly secondThread: readonly number[];
  readonly firstBlock: readonly number[];
  readonly secondBlock: readonly number[];
}

export type Enumeration =
  /** No two threads meet. */
  | { readonly kind: 'none' }
  /** `exact`: no condition was dropped, every hit happens whenever the interval is executed. */
  | { readonly kind: 'hits'; readonly hits: readonly Hit[]; readonly exact: boolean }
  | { readonly kind: 'unable'; readonly reason: string };

const mostHits = 24;
/** Rounds of a loop that are worth trying one by one. */
const mostRounds = 4096n;

interface Variable {
  readonly name: string;
  readonly size: number;
}

interface SideProgram {
  /** Own variables: thread axes, block axes (grid scope), private rounds. */
  readonly variables: readonly Variable[];
  readonly run: (values: Int32Array) => number;
}

/**
 * Enumerates an obligation.
 * @param evaluations budget: terms evaluated at most
 */
export function enumerate(
  symbolic: SymbolicKernel,
  instances: Instances,
  dimensions: Dimensions,
  obligation: Obligation,
  difference: Difference,
  evaluations: number,
): Enumeration {
  const extents = extentsOf(dimensions, obligation.scope === 'grid');
  if (!extents) return { kind: 'unable', reason: 'dimensions are not concrete' };
  const limit = 1n << 52n;
  if (difference.low < -limit || difference.high > limit)
    return { kind: 'unable', reason: 'addresses may wrap around' };

  const sizeOf = (unknown: { name: string; leaf: Term; high: bigint }): number | null => {
    const atom = unknown.leaf.atom;
    switch (atom?.kind) {
      case 'thread':
        return dimensions.block[atom.axis];
      case 'block':
        return dimensions.grid[atom.axis];
      case 'iteration':
        return unknown.high < mostRounds ? Number(unknown.high) + 1 : null;
      default:
        return null;
    }
  };

  const shared = new Map<string, Variable>();
  const own = [new Map<string, Variable>(), new Map<string, Variable>()] as const;
  for (const side of [0, 1] as const)
    for (const [name, size] of extents) own[side].set(`${name}_${side + 1}`, { name: `${name}_${side + 1}`, size });

  /** Registers the variables of a term; false where one cannot be enumerated. */
  function admit(term: Term, reading: AccessSide['reading']): boolean {
    const found: Variable[] = [];
    for (const leaf of term.leaves) {
      const instance = instances.of(leaf, reading);
      if (instance.name === null) continue;
      const size = sizeOf({ name: instance.name, leaf, high: instance.bounds.high });
      if (size === null) return false;
      found.push({ name: instance.name, size });
    }
    for (const variable of found) {
      const side = variable.name.endsWith('_1') ? 0 : variable.name.endsWith('_2') ? 1 : null;
      if (side === null) shared.set(variable.name, variable);
      else own[side].set(variable.name, variable);
    }
    return true;
  }

  function compileSide(
    side: AccessSide,
    unknowns: readonly Unknown[],
    constant: bigint,
    sign: bigint,
  ): { text: string; exact: boolean } | null {
    const name = (leaf: Term, reading: AccessSide['reading']): { name: string | null; offset: bigint } =>
      instances.of(leaf, reading);
    let offset = constant.toString();
    for (const unknown of unknowns) {
      if (!admit(unknown.term, unknown.reading)) return null;
      offset += ` + ${unknown.coefficient * sign} * ${compileValue(symbolic, unknown.term, (leaf) => name(leaf, unknown.reading))}`;
    }
    const guards: string[] = [];
    let exact = true;
    for (const { term, reading } of side.conditions) {
      try {
        const text = compileTruth(symbolic, term, (leaf) => name(leaf, reading));
        if (admit(term, reading)) guards.push(text);
        else exact = false;
      } catch (error) {
        if (!(error instanceof Unexpressible)) throw error;
        exact = false;
      }
    }
    const guard = guards.length > 0 ? `if (!(${guards.join(' && ')})) return NaN; ` : '';
    return { text: `${guard}return ${offset};`, exact };
  }

  const ofSide = (number: 1 | 2): Unknown[] =>
    difference.unknowns.filter((unknown) => (unknown.reading.side === 2) === (number === 2));
  let first: { text: string; exact: boolean } | null;
  let second: { text: string; exact: boolean } | null;
  try {
    first = compileSide(obligation.first, ofSide(1), difference.constant, 1n);
    second = compileSide(obligation.second, ofSide(2), 0n, -1n);
  } catch (error) {
    if (!(error instanceof Unexpressible)) throw error;
    return { kind: 'unable', reason: error.message };
  }
  if (!first || !second) return { kind: 'unable', reason: 'the address depends on a value that is not known' };

  const sharedList = [...shared.values()];
  const lists = [[...own[0].values()], [...own[1].values()]] as const;
  const count = (list: readonly Variable[]): number => list.reduce((product, { size }) => product * size, 1);
  const rounds = count(sharedList);
  const total = rounds * (count(lists[0]) + count(lists[1]));
  if (!(total <= evaluations)) return { kind: 'unable', reason: 'too many threads and rounds to try one by one' };

  const programs = [first, second].map((program, i): SideProgram => {
    const variables = [...sharedList, ...lists[i]!];
    const lets = variables.map(({ name }, position) => `const ${name} = v[${position}];`).join('');
    // Only our own generated names and numerals go into the text.
    const run = new Function('v', lets + program.text) as (values: Int32Array) => number;
    return { variables: lists[i]!, run };
  }) as [SideProgram, SideProgram];

  const hits = search(obligation, sharedList, programs, rounds);
  if (hits.length === 0) return { kind: 'none' };
  return { kind: 'hits', hits, exact: first.exact && second.exact };
}

/** The axes that tell threads apart, with their sizes; null where one is symbolic. */
function extentsOf(dimensions: Dimensions, withBlocks: boolean): [string, number][] | null {
  const list: [string, number][] = [];
  for (const axis of [0, 1, 2] as const) {
    const size = dimensions.block[axis];
    if (size === null) return null;
    if (size > 1) list.push([`t${'xyz'[axis]}`, size]);
  }
  if (withBlocks) {
    for (const axis of [0, 1, 2] as const) {
      const size = dimensions.grid[axis];
      if (size === null) return null;
      if (size > 1) list.push([`b${'xyz'[axis]}`, size]);
    }
  }
  return list;
}

/** Steps a mixed-radix counter over `values[from..]`; false after the last combination. */
function advance(values: Int32Array, variables: readonly Variable[], from: number): boolean {
  for (let i = 0; i < variables.length; i++) {
    if (++values[from + i]! < variables[i]!.size) return true;
    values[from + i] = 0;
  }
  return false;
}

function search(
  obligation: Obligation,
  shared: readonly Variable[],
  programs: readonly [SideProgram, SideProgram],
  rounds: number,
): Hit[] {
  const [first, second] = programs;
  const hits: Hit[] = [];
  const letter = obligation.scope === 'block' ? 't' : 'b';
  // Without an axis to tell two threads (blocks) apart there is only one of them.
  if (!first.variables.some(({ name }) => name.startsWith(letter))) return hits;
  const identityOfFirst = identity(first.variables, letter, shared.length);
  const identityOfSecond = identity(second.variables, letter, shared.length);
  const firstBytes = obligation.first.access.bytes;
  const secondBytes = obligation.second.access.bytes;
  const a = new Int32Array(shared.length + first.variables.length);
  const b = new Int32Array(shared.length + second.variables.length);

  for (let round = 0; round < rounds && hits.length < mostHits; round++) {
    // Up to two different threads an address, as values of their variables: a third is no better as a partner.
    const earliest = new Map<number, Int32Array>();
    const other = new Map<number, Int32Array>();
    let aligned = firstBytes === secondBytes;
    a.fill(0, shared.length);
    do {
      const address = first.run(a);
      if (address !== address) continue;
      if (address % firstBytes !== 0) aligned = false;
      const known = earliest.get(address);
      if (!known) earliest.set(address, a.slice());
      else if (!other.has(address) && identityOfFirst(known) !== identityOfFirst(a)) other.set(address, a.slice());
    } while (advance(a, first.variables, shared.length));

    b.fill(0, shared.length);
    do {
      const address = second.run(b);
      if (address !== address) continue;
      const exact = aligned && address % secondBytes === 0;
      const from = exact ? address : address - firstBytes + 1;
      const to = exact ? address : address + secondBytes - 1;
      for (let at = from; at <= to && hits.length < mostHits; at++) {
        let partner = earliest.get(at);
        if (partner && identityOfFirst(partner) === identityOfSecond(b)) partner = other.get(at);
        if (partner) hits.push(describeHit(first, second, partner, b, shared));
      }
    } while (hits.length < mostHits && advance(b, second.variables, shared.length));

    if (!advance(a, shared, 0)) break;
    b.set(a.subarray(0, shared.length));
  }
  return hits;
}

/** The number of the thread (block) that a combination of values belongs to. */
function identity(variables: readonly Variable[], letter: string, from: number): (values: Int32Array) => number {
  const axes: { at: number; size: number }[] = [];
  variables.forEach(({ name, size }, i) => {
    if (name.startsWith(letter)) axes.push({ at: from + i, size });
  });
  // Both sides list their axes in the same order, so that the numbers agree.
  return (values) => {
    let number = 0;
    for (const { at, size } of axes) number = number * size + values[at]!;
    return number;
  };
}

function describeHit(
  first: SideProgram,
  second: SideProgram,
  a: Int32Array,
  b: Int32Array,
  shared: readonly Variable[],
): Hit {
  const read = (program: SideProgram, values: Int32Array, letter: string): number[] =>
    ['x', 'y', 'z'].map((axis) => {
      const position = program.variables.findIndex(({ name }) => name.startsWith(`${letter}${axis}_`));
      if (position >= 0) return values[shared.length + position]!;
      const common = shared.findIndex(({ name }) => name === `${letter}${axis}`);
      return common >= 0 ? values[common]! : 0;
    });
  return {
    firstThread: read(first, a, 't'),
    secondThread: read(second, b, 't'),
    firstBlock: read(first, a, 'b'),
    secondBlock: read(second, b, 'b'),
  };
}
