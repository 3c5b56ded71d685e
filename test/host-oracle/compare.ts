/** Compares the launches that the host reader states with those that the program makes when it runs. */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { isContradictory } from '../../src/assumptions/contradiction.ts';
import { type Fact, type HostTerm, integer, termConstant } from '../../src/assumptions/expression.ts';
import { symbolsOf } from '../../src/assumptions/parts.ts';
import { printCondition } from '../../src/assumptions/print-assumption.ts';
import { compared } from '../../src/assumptions/simplify.ts';
import { substitutionOf } from '../../src/assumptions/substitution.ts';
import { type HostValue, extentsOf, termOf } from '../../src/cuda/launches/value.ts';
import type { ReadLaunch } from '../../src/host/operations/host-operation.ts';
import { openHostUnit, readHostProgram, type HostReading } from '../../src/host/read-host.ts';
import { hostDump } from '../../src/lowering/host-dump.ts';
import { hostStepsOf } from '../../src/lowering/host-steps.ts';
import { runProcess } from '../../src/system/child-process.ts';
import type { RecordedAllocation, RecordedLaunch } from './record.ts';

const limits = { milliseconds: 120_000, outputBytes: 1 << 20 };

export interface ReadOptions {
  /** Further flags of nvcc. */
  readonly flags?: readonly string[];
  /** Functions that run first, as `main` does. */
  readonly startsAt?: (symbol: string) => boolean;
}

/** Reads the launches of a program, whose files are in a folder. */
export async function readLaunches(
  files: readonly string[],
  folder: string,
  parameters: ReadonlyMap<string, readonly number[]>,
  { flags = [], startsAt }: ReadOptions = {},
): Promise<HostReading> {
  const units = [];
  for (const file of files) {
    const temporary = join(folder, `${file}.lowered`);
    mkdirSync(temporary, { recursive: true });
    const { stderr } = spawnSync('nvcc', ['-c', '--dryrun', '-std=c++17', '-arch=sm_90', ...flags, file, '-o', join(temporary, 'unit.o')], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, TMPDIR: temporary },
    });
    const steps = hostStepsOf(stderr, temporary);
    if (!steps) throw new Error(`no steps: ${stderr}`);
    const dump = await hostDump(steps, limits, ([executable, ...args]) =>
      runProcess({ executable, args, cwd: folder, env: { PATH: process.env['PATH'] ?? '' }, limits }),
    );
    if (!('gimple' in dump)) throw new Error(JSON.stringify(dump));
    units.push(openHostUnit(file, dump, parameters));
  }
  return readHostProgram({
    units,
    parameters,
    constants: new Set(),
    isOwn: (file) => !file.startsWith('/usr'),
    ...(startsAt && { startsAt }),
  });
}

/**
 * How much is known of a launch that was made: its numbers; their relation to its arguments, or to what the program reads.
 */
export type Knowledge = 'exact' | 'constrained' | 'input' | 'open';

export interface Match {
  readonly knowledge: Knowledge | null;
  /** Why the nearest stated launch is not this one; empty if one is. */
  readonly differences: readonly string[];
  readonly stated: ReadLaunch | null;
}

/** The stated launch that a recorded one is. */
export function matchOf(recorded: RecordedLaunch, stated: readonly ReadLaunch[], allocations: readonly RecordedAllocation[]): Match {
  let best: Match = { knowledge: null, differences: ['no launch of the kernel is stated'], stated: null };
  const rank = { exact: 0, constrained: 1, input: 2, open: 3 } as const;
  for (const launch of stated) {
    if (launch.kernel !== '' && withoutHash(launch.kernel) !== withoutHash(recorded.kernel ?? '')) continue;
    const differences = differencesOf(recorded, launch, allocations);
    if (differences.length > 0) {
      if (best.knowledge === null && (best.stated === null || differences.length < best.differences.length))
        best = { knowledge: null, differences, stated: launch };
      continue;
    }
    const knowledge = knowledgeOf(recorded, launch);
    if (best.knowledge === null || rank[knowledge] < rank[best.knowledge]) best = { knowledge, differences: [], stated: launch };
  }
  return best;
}

/** A symbol without the hash of the path of its file. */
function withoutHash(symbol: string): string {
  return symbol.replaceAll(/(?<=_INTERNAL_|_GLOBAL__N__)[0-9a-f]{8}(?=_\d+_)/g, '');
}

/** Values of arguments as integers, by position; undefined for pointers, floats and records. */
function numberOf(hex: string, signed: boolean): bigint {
  const bytes = Buffer.from(hex, 'hex').reverse().toString('hex');
  const value = BigInt(`0x${bytes === '' ? '0' : bytes}`);
  return signed ? BigInt.asIntN(4 * hex.length, value) : value;
}

type Equation = readonly [name: string, term: HostTerm, values: readonly bigint[]];

/** What is stated as a number and what was recorded for it: the value as signed and as unsigned. */
function equationsOf(recorded: RecordedLaunch, launch: ReadLaunch): { readonly shape: Equation[]; readonly given: Equation[] } {
  const shape: Equation[] = [];
  const given: Equation[] = [];
  for (const name of ['grid', 'block'] as const) {
    const terms = launch[name] && extentsOf(launch[name]);
    for (const [axis, term] of (terms ?? []).entries()) shape.push([`${name}.${'xyz'[axis]}`, term, [BigInt(recorded[name][axis]!)]]);
  }
  const shared = launch.shared && termOf(launch.shared);
  if (shared) shape.push(['shared', shared, [BigInt(recorded.shared)]]);
  for (const [index, value] of (launch.arguments ?? []).entries()) {
    const hex = recorded.arguments?.[index];
    if (hex === undefined || hex.length > 16) continue;
    const term =
      value.kind === 'number' || value.kind === 'condition' || (value.kind === 'symbol' && isInteger(value)) ? termOf(value) : null;
    if (term) given.push([`argument ${index}`, term, [numberOf(hex, true), numberOf(hex, false)]]);
  }
  return { shape, given };
}

function isInteger(value: HostValue): boolean {
  return value.kind === 'symbol' && value.symbol.type !== undefined && !/^(?:float|double)$/.test(value.symbol.type);
}

function differencesOf(recorded: RecordedLaunch, launch: ReadLaunch, allocations: readonly RecordedAllocation[]): string[] {
  const differences: string[] = [];
  if (launch.arguments && recorded.arguments && launch.arguments.length !== recorded.arguments.length)
    differences.push('number of arguments');
  if (launch.cooperative !== undefined && launch.cooperative !== recorded.cooperative) differences.push('cooperative');
  if (!launch.startsEarly && recorded.early) differences.push('starts early');
  const cluster = launch.cluster && extentsOf(launch.cluster);
  if (launch.cooperative !== undefined && (cluster === undefined) !== (recorded.cluster === null)) differences.push('cluster');
  for (const [axis, term] of (cluster ?? []).entries()) {
    const constant = termConstant(term);
    if (constant !== undefined && recorded.cluster && constant !== BigInt(recorded.cluster[axis]!)) differences.push(`cluster ${axis}`);
  }
  const { shape, given } = equationsOf(recorded, launch);
  differences.push(...unsatisfied([...given, ...shape], [...launch.facts, ...launch.symbolFacts]));
  for (const [index, value] of (launch.arguments ?? []).entries()) {
    const hex = recorded.arguments?.[index];
    if (hex === undefined || value.kind !== 'quotient' || (hex.length !== 8 && hex.length !== 16)) continue;
    const [a, b] = [termConstant(value.numerator), termConstant(value.denominator)];
    const buffer = Buffer.from(hex, 'hex');
    const held = hex.length === 8 ? buffer.readFloatLE() : buffer.readDoubleLE();
    if (a !== undefined && b !== undefined && Number(a) / Number(b) !== held && Math.fround(Number(a) / Number(b)) !== held)
      differences.push(`argument ${index}: ${Number(a) / Number(b)}, not ${held}`);
  }
  differences.push(...differentPointers(recorded, launch, allocations));
  return differences;
}

/** Equations that cannot hold together, or with the facts. */
function unsatisfied(equations: readonly Equation[], facts: readonly Fact[]): string[] {
  const differences: string[] = [];
  const known: Fact[] = [];
  let open = [...equations];
  for (let before = -1; before !== open.length;) {
    before = open.length;
    const { term: replace } = substitutionOf([], known);
    const rest: Equation[] = [];
    for (const [name, term, values] of open) {
      const now = replace(term);
      const constant = termConstant(now);
      if (constant !== undefined) {
        if (!values.some((value) => value === constant || BigInt.asUintN(64, value) === BigInt.asUintN(64, constant)))
          differences.push(`${name}: ${constant}, not ${values[0]}`);
        continue;
      }
      rest.push([name, term, values]);
      const solved = solve(now, values);
      if (solved) known.push(solved);
    }
    open = rest;
  }
  if (differences.length > 0) return differences;
  const { fact: replaced } = substitutionOf([], known);
  for (const fact of facts) {
    const now = replaced(fact);
    if (now.kind === 'truth' && !now.value) differences.push(`a condition of the path: ${printCondition(fact)}`);
  }
  if (differences.length === 0 && isContradictory(facts.map(replaced)))
    differences.push('the conditions of the path contradict each other');
  return differences;
}

/** The value of the one symbol in an equation; null if it has several, or is not linear. */
function solve(term: HostTerm, values: readonly bigint[]): Fact | null {
  const [value] = values;
  if (term.kind === 'symbol') return compared('==', term, integer(value!));
  if (term.kind !== 'arithmetic') return null;
  const by = termConstant(term.right);
  if (by === undefined) return null;
  if (term.operator === '+') return solve(term.left, [value! - by]);
  if (term.operator === '*' && by !== 0n && value! % by === 0n) return solve(term.left, [value! / by]);
  return null;
}

/** Bytes that an index of a generated program moves a pointer at most. */
const farthest = 2048n;

function differentPointers(recorded: RecordedLaunch, launch: ReadLaunch, allocations: readonly RecordedAllocation[]): string[] {
  const differences: string[] = [];
  const seen = new Map<string, { readonly start: bigint; readonly index: number }>();
  const starts = new Map<bigint, string>();
  for (const [index, value] of (launch.arguments ?? []).entries()) {
    const hex = recorded.arguments?.[index];
    if (hex === undefined || hex.length !== 16 || value.kind !== 'pointer') continue;
    const address = numberOf(hex, false);
    if (value.memory.id === 'null') {
      const from = value.offset ? termConstant(value.offset) : undefined;
      if (from !== undefined && address !== from) differences.push(`argument ${index} is not null`);
      continue;
    }
    const offset = value.offset ? termConstant(value.offset) : undefined;
    if (value.memory.isOfDevice) {
      // A pointer may be after the end of its allocation.
      const bytes = value.memory.bytes && termConstant(value.memory.bytes);
      const stated = offset === undefined ? undefined : allocations.findLast((one) => one.address + offset === address);
      // After the end it may even be in the next allocation.
      const isAfterEnd = (one: RecordedAllocation): boolean =>
        BigInt(one.bytes) === bytes && one.address + bytes <= address && address < one.address + farthest;
      if (offset === undefined && allocations.some(isAfterEnd)) continue;
      const holder = stated ?? allocations.findLast((one) => one.address <= address && address <= one.address + BigInt(one.bytes));
      const isBeyond = !holder && value.offset !== null && offset === undefined;
      if (!holder && !isBeyond) differences.push(`argument ${index} points into no allocation`);
      if (holder) {
        if (bytes !== undefined && bytes !== BigInt(holder.bytes))
          differences.push(`argument ${index}: ${bytes} bytes, not ${holder.bytes}`);
        if (offset !== undefined && holder.address + offset !== address)
          differences.push(`argument ${index}: offset ${offset}, not ${address - holder.address}`);
        const other = starts.get(holder.address);
        if (other !== undefined && other !== value.memory.id) differences.push(`argument ${index} shares its allocation');`);
        starts.set(holder.address, value.memory.id);
      }
    }
    if (offset === undefined) continue;
    const before = seen.get(value.memory.id);
    const start = address - offset;
    if (before && before.start !== start) differences.push(`arguments ${before.index} and ${index} have another distance`);
    seen.set(value.memory.id, { start, index });
  }
  return differences;
}

function knowledgeOf(recorded: RecordedLaunch, launch: ReadLaunch): Knowledge {
  const { shape, given } = equationsOf(recorded, launch);
  const extents = shape.filter(([name]) => name !== 'shared');
  if (extents.length < 6 || launch.arguments === undefined) return 'open';
  if (extents.every(([, term]) => termConstant(term) !== undefined)) return 'exact';
  const determined = new Set(given.flatMap(([, term]) => [...symbolsOf(term).keys()]));
  const symbols = extents.flatMap(([, term]) => [...symbolsOf(term).keys()]);
  const others = symbols.filter((id) => !determined.has(id));
  return others.length === 0 ? 'constrained' : others.every(isInput) ? 'input' : 'open';
}

/** Functions whose results depend on what the program is given, on the device or on the time. */
const inputs =
  /^(?:ato(?:i|l|ll|f)|strto(?:u?ll?|[fd])|getenv|s?rand|str(?:n?cmp|len|chr)|time|clock|cudaGetDevice\w*|cudaDeviceGetAttribute|cudaOccupancy\w+|cudaMemGetInfo)\(\)(?:\.\w+)?#/;

/** Whether a symbol is a number that the program reads, or computed from such: an argument, or what a function of C gives. */
export function isInput(id: string): boolean {
  const inner = [...id.matchAll(/‹([^‹›]+)›/g)].map(([, one]) => one!);
  return inner.length > 0 ? inner.every(isInput) : /^(?:argc#|errno#|\**argv#)/.test(id) || inputs.test(id);
}

/** The symbols on which the extents of a launch depend and that no argument determines. */
export function openSymbols(launch: ReadLaunch): string[] {
  const extents = [launch.grid, launch.block].flatMap((value) => (value && extentsOf(value)) ?? []);
  const determined = new Set(
    (launch.arguments ?? []).flatMap((value) => {
      const term = termOf(value);
      return term ? [...symbolsOf(term).keys()] : [];
    }),
  );
  return extents.flatMap((term) => [...symbolsOf(term).keys()]).filter((id) => !determined.has(id) && !isInput(id));
}
