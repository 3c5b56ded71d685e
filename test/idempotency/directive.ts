/** Reads the lines `// launch:` of the corpus; `README.md` has their form. */
import assert from 'node:assert/strict';
import type { Random } from '../../src/base/random.ts';
import type { Dim3 } from '../../src/base/dim3.ts';

/** Contents of an array. */
export type Contents =
  | { readonly kind: 'numbers' | 'zero' | 'perm' | 'flags' | 'levels' | 'ranks' | 'sorted' }
  | { readonly kind: 'below' | 'ascending'; readonly limit: number }
  | { readonly kind: 'pointers'; readonly target: string; readonly elements: number };

export interface DrawnArray {
  readonly name: string;
  readonly elements: number;
  readonly contents: Contents;
}

/** A launch as a line describes it, with random sizes. */
export interface DrawnLaunch {
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  /** Values of scalars by name; floats as numbers with `isFloat`. */
  readonly scalars: ReadonlyMap<string, { readonly value: number; readonly isFloat: boolean }>;
  readonly arrays: readonly DrawnArray[];
}

/** Rules for random sizes. */
export interface Drawing {
  readonly random: Random;
  /** Sizes are 0. */
  readonly isEmpty: boolean;
}

type Names = Map<string, number>;

/** Generates a launch. @throws if the line is malformed */
export function drawLaunch(line: string, { random, isEmpty }: Drawing): DrawnLaunch {
  const names: Names = new Map();
  const scalars = new Map<string, { value: number; isFloat: boolean }>();
  let block: Dim3 = [1, 1, 1];
  let grid: Dim3 = [1, 1, 1];
  let sharedBytes = 0;
  const arrays: { name: string; size: string; contents: string }[] = [];
  const value = (text: string): number => {
    const range = /^(-?\d+)\.\.(-?\d+)$/.exec(text);
    if (range) return random.between(Number(range[1]), Number(range[2]));
    const list = /^\{(.*)\}$/.exec(text);
    if (list) return Number(random.pick(list[1]!.split(',')));
    if (text === 'size') return isEmpty ? 0 : sizeNear(block[0], random);
    return evaluate(text, names, random);
  };
  const dimensions = (text: string): Dim3 => {
    const [x = 1, y = 1, z = 1] = splitTop(text).map(value);
    return [x, y, z];
  };
  for (const token of line.trim().split(/\s+/)) {
    const array = /^(\w+)\[(.+?)\]([<^!].*)?$/.exec(token);
    const given = /^(\w+)([~=])(.+)$/.exec(token);
    if (array) arrays.push({ name: array[1]!, size: array[2]!, contents: array[3] ?? '' });
    else if (given?.[1] === 'block') block = dimensions(given[3]!);
    else if (given?.[1] === 'grid') {
      const [x, y, z] = dimensions(given[3]!);
      grid = [Math.max(1, x), Math.max(1, y), Math.max(1, z)];
    } else if (given?.[1] === 'shared') sharedBytes = value(given[3]!);
    else if (given?.[3]!.startsWith('f:')) scalars.set(given[1]!, { value: Number(given[3]!.slice(2)), isFloat: true });
    else {
      assert.ok(given, `malformed: ${token}`);
      names.set(given[1]!, value(given[3]!));
      scalars.set(given[1]!, { value: names.get(given[1]!)!, isFloat: false });
    }
  }
  const blocks = grid[0] * grid[1] * grid[2];
  names.set('blocks', blocks);
  names.set('threads', blocks * block[0] * block[1] * block[2]);
  return {
    block,
    grid,
    sharedBytes,
    scalars,
    arrays: arrays.map(({ name, size, contents }) => ({
      name,
      elements: Math.max(0, evaluate(size, names, random)),
      contents: contentsOf(contents, names, random),
    })),
  };
}

function contentsOf(text: string, names: Names, random: Random): Contents {
  if (text === '') return { kind: 'numbers' };
  if (text.startsWith('<')) return { kind: 'below', limit: evaluate(text.slice(1), names, random) };
  if (text.startsWith('^')) return { kind: 'ascending', limit: evaluate(text.slice(1), names, random) };
  const pointers = /^!ptr\((\w+),(\d+)\)$/.exec(text);
  if (pointers) return { kind: 'pointers', target: pointers[1]!, elements: Number(pointers[2]) };
  return { kind: text.slice(1) as 'zero' };
}

/** A size around the number of threads of a block. */
function sizeNear(threads: number, random: Random): number {
  const around = [random.between(1, 7), threads - 1, threads, threads + 1, 2 * threads + random.below(threads), 3 * threads];
  return random.pick(around);
}

/** Parts between commas outside of parentheses. */
function splitTop(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const sign of text) {
    if (sign === '(' || sign === '{') depth++;
    if (sign === ')' || sign === '}') depth--;
    if (sign === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += sign;
  }
  return parts;
}

/** Sums, products, quotients rounded down, `cover(n,per)`. */
function evaluate(text: string, names: Names, random: Random): number {
  const tokens = text.match(/\d+|\w+|[-+*/(),]/g) ?? [];
  let at = 0;
  const primary = (): number => {
    const token = tokens[at++];
    assert.ok(token !== undefined, text);
    if (token === '(') {
      const inner = sum();
      at++;
      return inner;
    }
    if (/^\d/.test(token)) return Number(token);
    if (token === 'cover') {
      at++;
      const size = sum();
      at++;
      const per = sum();
      at++;
      const chance = random.next();
      return Math.ceil(size / per) + (chance < 0.12 ? -1 : chance < 0.24 ? 1 : 0);
    }
    const known = names.get(token);
    assert.ok(known !== undefined, `${token} in ${text}`);
    return known;
  };
  const product = (): number => {
    let left = primary();
    while (tokens[at] === '*' || tokens[at] === '/') {
      const isProduct = tokens[at++] === '*';
      const right = primary();
      left = isProduct ? left * right : Math.floor(left / right);
    }
    return left;
  };
  const sum = (): number => {
    let left = product();
    while (tokens[at] === '+' || tokens[at] === '-') {
      const isSum = tokens[at++] === '+';
      const right = product();
      left = isSum ? left + right : left - right;
    }
    return left;
  };
  return sum();
}
