/**
 * The second tier, for concrete dimensions: evaluates the address and condition terms of both accesses for every thread
 * (and every value of the few shared unknowns), and hashes the addresses. The cost is linear in the number of threads.
 * Conditions over unknown values are dropped, which only weakens the premises: the absence of hits is still a proof.
 */
import type { Dim3 } from '../../base/dim3.ts';
import type { Dimensions } from '../../analysis/values/launch-bounds.ts';
import type { SymbolicKernel } from '../../analysis/values/symbolic.ts';
import type { Term } from '../../term/term.ts';
import type { Difference, Unknown } from '../obligations/difference.ts';
import { type Instances, isOfOneThread } from '../obligations/instance.ts';
import type { AccessSide, Obligation } from '../obligations/obligation.ts';
import { Unexpressible, compileTruth, compileValue } from '../../analysis/values/compiled-term.ts';

/** Two threads that touch overlapping bytes, as far as the enumerated conditions determine. */
export interface Hit {
  readonly firstThread: readonly number[];
  readonly secondThread: readonly number[];
  readonly firstBlock: readonly number[];
  readonly secondBlock: readonly number[];
}

type Enumeration =
  /** No two threads overlap. */
  | { readonly kind: 'none' }
  /** `exact`: no condition was dropped, so every hit happens whenever the interval is executed. */
  | { readonly kind: 'hits'; readonly hits: readonly Hit[]; readonly exact: boolean }
  | { readonly kind: 'unable'; readonly reason: string };

const maxHits = 24;
/**
 * Upper limit of the unit in which addresses are counted: the widest access of a thread, a row of a matrix, in bytes.
 */
const largestUnit = 128;
const longText = 4000;
/** Limit on the trip count of a loop whose iterations are enumerated. */
const maxRounds = 4096n;

interface Variable {
  readonly name: string;
  readonly size: number;
}

/** Writes the addresses of a side for all combinations of the own variables; NaN if the access is not executed. */
type Fill = (sharedValues: Int32Array, into: Float64Array) => void;

interface SideProgram {
  /** Own variables: thread axes, block axes (grid scope), private iterations. */
  readonly variables: readonly Variable[];
  readonly fill: Fill;
}

/** An expression over variables, and the names of those that it uses. */
interface TextPart {
  readonly text: string;
  readonly uses: ReadonlySet<string>;
}

/** The expressions of one side, as program text. */
interface SideText {
  /** Conditions on shared variables only: true for every thread, or for no thread. */
  readonly common: readonly TextPart[];
  readonly guards: readonly TextPart[];
  /** The offset is the sum of the constant and the parts. */
  readonly constant: bigint;
  readonly parts: readonly TextPart[];
  /** Variables that guards and offset use. */
  readonly uses: ReadonlySet<string>;
  readonly exact: boolean;
}

/** Compiled functions by kernel and source text, since sides of many pairs are the same. */
const made = new WeakMap<SymbolicKernel, Map<string, Fill>>();

/**
 * Enumerates an obligation.
 * @param evaluations budget: maximum number of evaluated terms
 */
export function enumerate(
  symbolic: SymbolicKernel,
  instances: Instances,
  dimensions: Dimensions,
  obligation: Obligation,
  difference: Difference,
  evaluations: number,
): Enumeration {
  // A warp consists of 32 consecutive threads in the order of all axes.
  const extents = extentsOf(dimensions, obligation.scope === 'grid');
  if (!extents) return { kind: 'unable', reason: 'dimensions are not concrete' };
  const limit = 1n << 52n;
  if (difference.low < -limit || difference.high > limit) return { kind: 'unable', reason: 'addresses may wrap around' };

  const sizeOf = (unknown: { name: string; leaf: Term; high: bigint }): number | null => {
    const atom = unknown.leaf.atom;
    switch (atom?.kind) {
      case 'thread':
        return dimensions.block[atom.axis];
      case 'block':
        return dimensions.grid[atom.axis];
      case 'iteration':
        return unknown.high < maxRounds ? Number(unknown.high) + 1 : null;
      case 'line':
        return atom.lines;
      default:
        return null;
    }
  };

  const shared = new Map<string, Variable>();
  const own = [new Map<string, Variable>(), new Map<string, Variable>()] as const;
  for (const side of obligation.sameThread ? ([0] as const) : ([0, 1] as const))
    for (const [name, size] of extents) own[side].set(`${name}_${side + 1}`, { name: `${name}_${side + 1}`, size });

  /** Registers the variables of a term; false if one cannot be enumerated. */
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

  function compileSide(side: AccessSide, unknowns: readonly Unknown[], constant: bigint, sign: bigint): SideText | null {
    const uses = new Set<string>();
    let used = new Set<string>();
    const name = (leaf: Term, reading: AccessSide['reading']): { name: string | null; offset: bigint } => {
      const instance = instances.of(leaf, reading);
      if (instance.name !== null) used.add(instance.name);
      return instance;
    };
    const parts: TextPart[] = [];
    for (const unknown of unknowns) {
      if (!admit(unknown.term, unknown.reading)) return null;
      used = new Set();
      // The constant already contains the distance between the iterations.
      if (unknown.term.atom) used.add(unknown.name);
      const value = unknown.term.atom ? unknown.name : compileValue(symbolic, unknown.term, (leaf) => name(leaf, unknown.reading));
      parts.push({ text: `${unknown.coefficient * sign} * ${value}`, uses: used });
      for (const variable of used) uses.add(variable);
    }
    const common: TextPart[] = [];
    const guards: TextPart[] = [];
    const keep = (text: string): void => {
      if (![...used].some(isOfOneThread)) common.push({ text, uses: used });
      else {
        guards.push({ text, uses: used });
        for (const variable of used) uses.add(variable);
      }
    };
    let exact = true;
    for (const { term, reading } of side.conditions) {
      used = new Set();
      try {
        const text = compileTruth(symbolic, term, (leaf) => name(leaf, reading));
        if (admit(term, reading)) keep(text);
        else exact = false;
      } catch (error) {
        if (!(error instanceof Unexpressible)) throw error;
        exact = false;
      }
    }
    // A constraint between two iteration counters exists only if one thread performs both accesses.
    for (const { counter, from, to, by } of side === obligation.first ? obligation.later : []) {
      if (!admit(counter, from) || !admit(counter, to)) return null;
      used = new Set();
      const [earlier, later] = [from, to].map((reading) => {
        const { name: variable, offset: rounds } = name(counter, reading);
        return `${variable ?? 0} + ${rounds}`;
      });
      keep(`${later} >= ${earlier} + ${by}`);
    }
    return { common, guards, constant, parts, uses, exact };
  }

  const ofSide = (number: 1 | 2): Unknown[] => difference.unknowns.filter((unknown) => (unknown.reading.side === 2) === (number === 2));
  let first: SideText | null;
  let second: SideText | null;
  try {
    first = compileSide(obligation.first, ofSide(1), difference.constant, 1n);
    second = compileSide(obligation.second, ofSide(2), 0n, -1n);
  } catch (error) {
    if (!(error instanceof Unexpressible)) throw error;
    return { kind: 'unable', reason: error.message };
  }
  if (!first || !second) return { kind: 'unable', reason: 'the address depends on a value that is not known' };

  const lists = [[...own[0].values()], [...own[obligation.sameThread ? 0 : 1].values()]] as const;
  const whole: Trial = { texts: [first, second], shared: [...shared.values()], lists };
  // Variables that occur in no address only add conditions. The enumeration without them is often small.
  const addresses = withAddressesAlone(whole);
  if (addresses && tryOut(symbolic, obligation, addresses, evaluations)?.hits.length === 0) return { kind: 'none' };
  const tried = tryOut(symbolic, obligation, whole, evaluations);
  if (!tried) return { kind: 'unable', reason: 'too many threads and rounds to try one by one' };
  if (tried.hits.length === 0) return { kind: 'none' };
  // The condition that both pointers are from one array is not evaluated.
  const exact = first.exact && second.exact && tried.isExhaustive && obligation.elements === null;
  return { kind: 'hits', hits: tried.hits, exact };
}

/** An enumeration: the expressions of both sides, the variables that both share, and the own variables of each side. */
interface Trial {
  readonly texts: readonly [SideText, SideText];
  readonly shared: readonly Variable[];
  readonly lists: readonly [readonly Variable[], readonly Variable[]];
}

/** Minimum factor by which the reduced enumeration has to be smaller than the full one. */
const worthwhile = 4;

/** The enumeration without the variables that occur in neither address; null if that saves little. */
function withAddressesAlone(whole: Trial): Trial | null {
  const { texts, shared, lists } = whole;
  const used = new Set(texts.flatMap(({ parts }) => parts.flatMap(({ uses }) => [...uses])));
  const isUsed = ({ name }: Variable): boolean => used.has(name) || /^[tb][xyz]_[12]$/.test(name);
  const kept = new Set([...shared, ...lists.flat()].filter(isUsed).map(({ name }) => name));
  const within = (pieces: readonly TextPart[]): TextPart[] => pieces.filter(({ uses }) => [...uses].every((name) => kept.has(name)));
  const reduced = (text: SideText): SideText => ({ ...text, common: within(text.common), guards: within(text.guards), uses: kept });
  const trial: Trial = {
    texts: [reduced(texts[0]), reduced(texts[1])],
    shared: shared.filter(isUsed),
    lists: [lists[0].filter(isUsed), lists[1].filter(isUsed)],
  };
  const size = ({ shared: common, lists: [one, other] }: Trial): number => countOf(common) * (countOf(one) + countOf(other));
  return size(trial) * worthwhile <= size(whole) ? trial : null;
}

function countOf(variables: readonly Variable[]): number {
  return variables.reduce((product, { size }) => product * size, 1);
}

/**
 * Enumerates all combinations; null if there are too many.
 * @returns the hits, and whether all conditions were evaluated
 */
function tryOut(
  symbolic: SymbolicKernel,
  obligation: Obligation,
  { texts, shared, lists }: Trial,
  evaluations: number,
): { readonly hits: readonly Hit[]; readonly isExhaustive: boolean } | null {
  // The variables that need not be distinguished occur in no address and in no condition of single threads. The block
  // index is always distinguished, since hits contain it.
  const isTold = ({ name }: Variable): boolean => /^b[xyz]$/.test(name) || texts.some(({ uses }) => uses.has(name));
  const sharedList = [...shared].sort((x, y) => Number(isTold(y)) - Number(isTold(x)));
  const told = sharedList.filter(isTold);
  // A long expression counts as several evaluations.
  const lengthOf = (pieces: readonly TextPart[]): number => pieces.reduce((sum, { text }) => sum + text.length, 0);
  const length = texts.reduce((sum, { guards, parts }) => sum + lengthOf(guards) + lengthOf(parts), 0);
  const scale = Math.max(1, length / longText);
  // If the iterations that occur in no address have too many combinations, the conditions on them are dropped.
  const isExhaustive = countOf(sharedList) <= evaluations;
  const among = isExhaustive ? sharedList : told;
  const total = countOf(told) * (countOf(lists[0]) + countOf(lists[1])) * scale + countOf(among);
  if (!(total <= evaluations)) return null;

  const fills = made.get(symbolic) ?? new Map<string, Fill>();
  made.set(symbolic, fills);
  const programs = texts.map((text, i): SideProgram => {
    const code = fillText(text, told, lists[i]!);
    // The generated code contains only generated names and numerals.
    const fill = fills.get(code) ?? (new Function('v', 'into', code) as Fill);
    fills.set(code, fill);
    return { variables: lists[i]!, fill };
  }) as [SideProgram, SideProgram];
  const find = obligation.sameThread ? searchAlone : search;
  return { hits: find(obligation, told, programs, liveRounds(texts, among, told)), isExhaustive };
}

/**
 * Loops over a side's own variables, the first one innermost. The suffixes of names are unified, so that equal sides
 * have equal texts.
 */
function fillText({ guards, constant, parts }: SideText, shared: readonly Variable[], own: readonly Variable[]): string {
  const lets = shared.map(({ name }, position) => `const ${name} = v[${position}];`);
  const loops = own.map(({ name, size }) => `for (let ${name} = 0; ${name} < ${size}; ${name}++)`).reverse();
  const offset = [`${constant}`, ...parts.map(({ text }) => text)].join(' + ');
  const value = guards.length > 0 ? `${guards.map(({ text }) => text).join(' && ')} ? ${offset} : NaN` : offset;
  return `${lets.join('')}let i = 0; ${loops.join(' ')} into[i++] = ${value};`.replaceAll(/\b(\w+)_[12]\b/g, '$1$$');
}

/**
 * The combinations of values of the distinguished shared variables for which the common conditions of both sides can be
 * true.
 */
function liveRounds(texts: readonly SideText[], shared: readonly Variable[], told: readonly Variable[]): readonly Int32Array[] {
  const known = new Set(shared.map(({ name }) => name));
  const common = texts.flatMap(({ common: pieces }) =>
    pieces.filter(({ uses }) => [...uses].every((name) => known.has(name))).map(({ text }) => text),
  );
  const lets = shared.map(({ name }, position) => `const ${name} = v[${position}];`);
  const holds =
    common.length === 0
      ? (): boolean => true
      : (new Function('v', `${lets.join('')}return ${common.join(' && ')};`) as (values: Int32Array) => boolean);
  const rounds: Int32Array[] = [];
  const values = new Int32Array(shared.length);
  // The distinguished variables change fastest: for each combination of the others, all of their combinations follow.
  const step = told.reduce((product, { size }) => product * size, 1);
  const seen = new Uint8Array(step);
  for (let left = step, number = 0; left > 0; number = (number + 1) % step) {
    if (seen[number] === 0 && holds(values)) {
      seen[number] = 1;
      left--;
      rounds.push(values.slice(0, told.length));
    }
    if (!advance(values, shared)) break;
  }
  return rounds;
}

/** The axes that distinguish threads, with their extents; null if an extent is symbolic. */
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

/** Steps a mixed-radix counter; false after the last combination. */
function advance(values: Int32Array, variables: readonly Variable[]): boolean {
  for (let i = 0; i < variables.length; i++) {
    if (++values[i]! < variables[i]!.size) return true;
    values[i] = 0;
  }
  return false;
}

/**
 * For each address, the first combination that has it, and the first combination of another thread (block) that has it.
 */
interface AddressTable {
  readonly earliest: (address: number) => number;
  readonly other: (address: number) => number;
  readonly add: (address: number, combination: number) => void;
}

/** Maximum size of a table that is indexed by address, and its maximum ratio of addresses to entries. */
const largestArray = 1 << 23;
const placesEach = 16;

function tableFor(addresses: Float64Array, identity: (combination: number) => number): AddressTable {
  let low = Infinity;
  let high = -Infinity;
  for (const address of addresses) {
    if (address < low) low = address;
    if (address > high) high = address;
  }
  const size = high - low + 1;
  if (size <= Math.min(largestArray, placesEach * addresses.length)) {
    const first = new Int32Array(Math.max(0, size)).fill(-1);
    const second = new Int32Array(Math.max(0, size)).fill(-1);
    return {
      earliest: (address) => first[address - low] ?? -1,
      other: (address) => second[address - low] ?? -1,
      add(address, combination) {
        const known = first[address - low]!;
        if (known < 0) first[address - low] = combination;
        else if (second[address - low]! < 0 && identity(known) !== identity(combination)) second[address - low] = combination;
      },
    };
  }
  return hashedTable(addresses.length, identity);
}

/** An {@link AddressTable} of sparse addresses: open addressing, at most half full. */
function hashedTable(most: number, identity: (combination: number) => number): AddressTable {
  const places = 2 ** Math.ceil(Math.log2(2 * most + 2));
  const addresses = new Float64Array(places);
  const first = new Int32Array(places).fill(-1);
  const second = new Int32Array(places).fill(-1);
  /** The slot of an address. */
  const placeOf = (address: number): number => {
    // Both halves of the address are hashed, since addresses may exceed 32 bits.
    let at = (Math.imul(address | 0, 0x9e3779b1) ^ Math.imul(Math.floor(address / 2 ** 32), 0x85ebca6b)) >>> 0;
    at = (at ^ (at >>> 15)) & (places - 1);
    while (first[at]! >= 0 && addresses[at] !== address) at = (at + 1) & (places - 1);
    return at;
  };
  return {
    earliest: (address) => first[placeOf(address)]!,
    other: (address) => second[placeOf(address)]!,
    add(address, combination) {
      const at = placeOf(address);
      const known = first[at]!;
      addresses[at] = address;
      if (known < 0) first[at] = combination;
      else if (second[at]! < 0 && identity(known) !== identity(combination)) second[at] = combination;
    },
  };
}

function search(
  obligation: Obligation,
  shared: readonly Variable[],
  programs: readonly [SideProgram, SideProgram],
  rounds: readonly Int32Array[],
): Hit[] {
  const [first, second] = programs;
  const hits: Hit[] = [];
  const sizeOf = (letter: string): number =>
    first.variables.reduce((product, { name, size }) => (name.startsWith(letter) ? product * size : product), 1);
  const threads = sizeOf('t');
  const blocks = sizeOf('b');
  // Thread axes, then block axes, come first among the variables of both sides, so that equal combinations are equal
  // threads.
  const warpOf = (combination: number): number => Math.floor((combination % threads) / 32);
  const { betweenClusters } = obligation;
  const clusterOf = betweenClusters && clusterNumbers(first.variables, betweenClusters);
  const ofThread = (combination: number): number => {
    if (obligation.warp === 'different') return warpOf(combination);
    if (clusterOf) return clusterOf[Math.floor(combination / threads) % blocks]!;
    return obligation.scope === 'block' ? combination % threads : Math.floor(combination / threads) % blocks;
  };
  if ((obligation.scope === 'block' ? threads : blocks) === 1 && !obligation.mayBeOne) return hits;
  const a = new Float64Array(combinations(first));
  const b = new Float64Array(combinations(second));
  const identities = identitiesOf(obligation, programs, [a, b], ofThread);
  const firstBytes = obligation.first.access.bytes;
  const secondBytes = obligation.second.access.bytes;
  for (const sharedValues of rounds) {
    if (hits.length >= maxHits) break;
    first.fill(sharedValues, a);
    if (!isAccessed(a)) continue;
    second.fill(sharedValues, b);
    // Addresses are counted in the largest common unit: aligned elements of that size overlap only if they are equal.
    const unit = unitOf([a, b], firstBytes, secondBytes);
    if (unit > 1) for (const list of [a, b]) for (let i = 0; i < list.length; i++) list[i]! /= unit;
    const behind = firstBytes / unit - 1;
    const ahead = secondBytes / unit - 1;
    // Only threads of one warp may overlap, so each warp gets a separate address range.
    if (obligation.warp === 'same') separateWarps([a, b], warpOf);
    const table = tableFor(a, identities[0]);
    for (let i = 0; i < a.length; i++) if (a[i] === a[i]) table.add(a[i]!, i);
    for (let i = 0; i < b.length && hits.length < maxHits; i++) {
      const address = b[i]!;
      if (address !== address) continue;
      for (let at = address - behind; at <= address + ahead && hits.length < maxHits; at++) {
        let partner = table.earliest(at);
        if (partner >= 0 && identities[0](partner) === identities[1](i)) partner = table.other(at);
        if (partner >= 0)
          hits.push(describeHit(first, second, combination(first, sharedValues, partner), combination(second, sharedValues, i), shared));
      }
    }
  }
  return hits;
}

/** Identities of the combinations of both sides: two combinations can conflict only if their identities differ. */
function identitiesOf(
  { starts, mayBeOne }: Obligation,
  programs: readonly [SideProgram, SideProgram],
  addresses: readonly [Float64Array, Float64Array],
  ofThread: (combination: number) => number,
): readonly [(combination: number) => number, (combination: number) => number] {
  if (!starts) return mayBeOne ? [(one) => one, (other) => -1 - other] : [ofThread, ofThread];
  // Two lanes of a matrix access are identified by the address of its first row.
  const startOf = (side: 0 | 1): ((combination: number) => number) => {
    const { variables } = programs[side];
    const line = variables.findIndex(({ name }) => name.startsWith('line'));
    if (line < 0) return (number) => addresses[side][number]!;
    const step = variables.slice(0, line).reduce((product, { size }) => product * size, 1);
    const { size } = variables[line]!;
    return (number) => addresses[side][number - step * (Math.floor(number / step) % size)]!;
  };
  return [startOf(0), startOf(1)];
}

/** Index of the cluster of each block. */
function clusterNumbers(variables: readonly Variable[], cluster: Dim3): readonly number[] {
  const axes = variables.filter(({ name }) => name.startsWith('b'));
  const extents = axes.map(({ name }) => cluster['xyz'.indexOf(name[1]!)]!);
  const blocks = axes.reduce((product, { size }) => product * size, 1);
  return Array.from({ length: blocks }, (_, block) => {
    let number = 0;
    let step = 1;
    let rest = block;
    for (const [i, { size }] of axes.entries()) {
      number += step * Math.floor((rest % size) / extents[i]!);
      step *= size;
      rest = Math.floor(rest / size);
    }
    return number;
  });
}

function isAccessed(addresses: Float64Array): boolean {
  for (const address of addresses) if (address === address) return true;
  return false;
}

/** Number of combinations of the own variables of a side. */
function combinations({ variables }: SideProgram): number {
  return variables.reduce((product, { size }) => product * size, 1);
}

/**
 * Evaluates an obligation about one thread: the first address is the distance between the two accesses, the second is
 * zero.
 */
function searchAlone(
  { first: { access: a }, second: { access: b } }: Obligation,
  shared: readonly Variable[],
  [first, second]: readonly [SideProgram, SideProgram],
  rounds: readonly Int32Array[],
): Hit[] {
  const hits: Hit[] = [];
  const distances = new Float64Array(combinations(first));
  const negated = new Float64Array(distances.length);
  for (const sharedValues of rounds) {
    first.fill(sharedValues, distances);
    second.fill(sharedValues, negated);
    for (let i = 0; i < distances.length; i++) {
      const distance = distances[i]! - negated[i]!;
      if (!(distance > -a.bytes && distance < b.bytes)) continue;
      const values = combination(first, sharedValues, i);
      hits.push(describeHit(first, first, values, values, shared));
      if (hits.length >= maxHits) return hits;
    }
  }
  return hits;
}

/** Shifts the addresses of different warps to disjoint ranges. */
function separateWarps(lists: readonly Float64Array[], warpOf: (combination: number) => number): void {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const address of list) {
      if (address < low) low = address;
      if (address > high) high = address;
    }
  }
  if (low > high) return;
  const stretch = high - low + 64;
  for (const list of lists) for (let i = 0; i < list.length; i++) list[i]! += stretch * warpOf(i);
}

/** The largest power of two that divides all addresses and the bytes of both accesses. */
function unitOf(lists: readonly Float64Array[], firstBytes: number, secondBytes: number): number {
  let bits = firstBytes | secondBytes;
  for (const list of lists) {
    // Modulo 2^32, which keeps the low bits; NaN contributes 0.
    for (let i = 0; i < list.length; i++) bits |= list[i]!;
    if ((bits & 1) !== 0) return 1;
  }
  return Math.min(bits & -bits, largestUnit);
}

/** The values of all variables in the n-th combination of a side. */
function combination({ variables }: SideProgram, sharedValues: Int32Array, n: number): Int32Array {
  const values = new Int32Array(sharedValues.length + variables.length);
  values.set(sharedValues);
  let rest = n;
  variables.forEach(({ size }, i) => {
    values[sharedValues.length + i] = rest % size;
    rest = Math.floor(rest / size);
  });
  return values;
}

function describeHit(first: SideProgram, second: SideProgram, a: Int32Array, b: Int32Array, shared: readonly Variable[]): Hit {
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
