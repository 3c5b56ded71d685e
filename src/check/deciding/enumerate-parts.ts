/**
 * Enumeration for threads of different blocks of addresses that are sums of parts without a common variable. The
 * accesses of the threads of a block relative to a start address are listed once, as byte intervals, and shifted to the
 * start addresses of each block. This decides grids of thousands of blocks whose threads are too many to enumerate.
 */

/** An expression over variables, and the names of those that it uses. */
export interface TextPart {
  readonly text: string;
  readonly uses: ReadonlySet<string>;
}

/** One side of a pair: its address is the sum of the parts. The access is executed if all guards are true. */
export interface SideParts {
  readonly constant: bigint;
  readonly parts: readonly TextPart[];
  readonly guards: readonly TextPart[];
  readonly variables: readonly { readonly name: string; readonly size: number }[];
  readonly bytes: number;
}

/** Byte intervals with exclusive ends, in ascending order and disjoint. */
interface Stretches {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/** Variables of one side that are connected by common parts or guards. */
interface Group {
  readonly variables: SideParts['variables'];
  readonly parts: readonly TextPart[];
  readonly guards: readonly TextPart[];
}

/** Start addresses of blocks, with the index of the block of each; a block may have several. */
interface Starts {
  readonly addresses: Float64Array;
  readonly blocks: Float64Array;
}

/**
 * Whether no two blocks touch the same bytes, one block in each access; null if the enumeration is too expensive.
 * @param identity distinguishes blocks, by their index in the order of the block axes of the variables
 * @param shared combinations of values of the variables that both sides share, in the order of `names`
 * @param most maximum number of computed values and of listed intervals
 */
export function staysDisjoint(
  sides: readonly [SideParts, SideParts],
  identity: (block: number) => number,
  names: readonly string[],
  shared: readonly Int32Array[],
  most: number,
): boolean | null {
  const split = sides.map((side) => groupsOf(side));
  const work = split.reduce((sum, { ofBlock, others }) => sum + [ofBlock, ...others].reduce((total, group) => total + count(group), 0), 0);
  if (work * shared.length > most) return null;
  const same = JSON.stringify(textsOf(sides[0])) === JSON.stringify(textsOf(sides[1]));
  const listed = (same ? [0] : [0, 1]).map((at) => ({ side: sides[at]!, program: programOf(sides[at]!, split[at]!, names) }));
  for (const values of shared) {
    const lists: Listed[] = [];
    for (const { side, program } of listed) {
      let stretches: Stretches | null = { starts: Float64Array.of(0), ends: Float64Array.of(side.bytes) };
      for (const valuesOf of program.others) {
        const offsets = [...new Set(valuesOf(values).addresses)];
        if (stretches && offsets.length * stretches.starts.length <= most) stretches = spread(stretches, offsets);
        else stretches = null;
      }
      if (!stretches) return null;
      lists.push({ starts: program.ofBlock(values), stretches });
    }
    const total = lists.reduce((sum, list) => sum + list.starts.addresses.length * list.stretches.starts.length, 0);
    if (total > most) return null;
    if (lists.length === 1 && areAllApart(lists[0]!, total)) continue;
    // Sorting with associated data takes several times as long as sorting addresses only.
    if (total > most / 4) return null;
    if (!areDisjointParts(lists, total, identity)) return false;
  }
  return true;
}

function textsOf({ constant, parts, guards, bytes }: SideParts): readonly string[] {
  const neutral = ({ text }: TextPart): string => withoutSide(text);
  return [`${constant}`, `${bytes}`, ...parts.map(neutral), '', ...guards.map(neutral)];
}

function withoutSide(text: string): string {
  return text.replaceAll(/\b(\w+)_[12]\b/g, '$1$$');
}

function isBlockAxis({ name }: { readonly name: string }): boolean {
  return /^b[xyz]_[12]$/.test(name);
}

function count({ variables }: Group): number {
  return variables.reduce((product, { size }) => product * size, 1);
}

/**
 * The connected groups of variables: no two groups have a common part or guard. The variables of the block index are in
 * one group.
 */
function groupsOf({ parts, guards, variables }: SideParts): { ofBlock: Group; others: readonly Group[] } {
  const leader = new Map(variables.map(({ name }) => [name, isBlockAxis({ name }) ? '' : name]));
  const find = (name: string): string => {
    let at = name;
    for (let next = leader.get(at); next !== undefined && next !== at; next = leader.get(at)) at = next;
    return at;
  };
  for (const { uses } of [...parts, ...guards]) {
    const own = [...uses].filter((name) => leader.has(name)).map(find);
    // If groups are merged, the group of the block index is the representative.
    const first = own.includes('') ? '' : own[0];
    for (const other of own) if (other !== first && first !== undefined) leader.set(other, first);
  }
  const groups = new Map<string, { variables: SideParts['variables'][number][]; parts: TextPart[]; guards: TextPart[] }>();
  const groupAt = (key: string) => {
    const known = groups.get(key) ?? { variables: [], parts: [], guards: [] };
    groups.set(key, known);
    return known;
  };
  const ofBlock = groupAt('');
  for (const variable of variables) groupAt(find(variable.name)).variables.push(variable);
  const groupOf = ({ uses }: TextPart) => groupAt(find([...uses].find((name) => leader.has(name)) ?? ''));
  for (const part of parts) groupOf(part).parts.push(part);
  for (const guard of guards) groupOf(guard).guards.push(guard);
  // A group without parts and guards contributes nothing.
  const others = [...groups].flatMap(([key, group]) => (key === '' || group.parts.length + group.guards.length === 0 ? [] : [group]));
  return { ofBlock, others };
}

type ValuesOf = (shared: Int32Array) => Starts;

function programOf(
  side: SideParts,
  { ofBlock, others }: { readonly ofBlock: Group; readonly others: readonly Group[] },
  names: readonly string[],
): { ofBlock: ValuesOf; others: readonly ValuesOf[] } {
  const compile = ({ variables, parts, guards }: Group, constant: bigint): ValuesOf => {
    const lets = names.map((name, at) => `const ${name} = v[${at}];`);
    const loops = variables.map(({ name, size }) => `for (let ${name} = 0; ${name} < ${size}; ${name}++)`);
    const number = variables.filter(isBlockAxis).reduceRight((higher, { name, size }) => `(${higher} * ${size} + ${name})`, '0');
    const guard = guards.length > 0 ? `if (${guards.map(({ text }) => `(${text})`).join(' && ')})` : '';
    const value = [`${constant}`, ...parts.map(({ text }) => text)].join(' + ');
    const code = `${lets.join('')}let n = 0; ${loops.join(' ')} ${guard} { a[n] = ${value}; b[n++] = ${number}; } return n;`;
    // The generated code contains only generated names and numerals.
    const fill = new Function('v', 'a', 'b', code) as (v: Int32Array, a: Float64Array, b: Float64Array) => number;
    const size = variables.reduce((product, one) => product * one.size, 1);
    return (shared) => {
      const [addresses, blocks] = [new Float64Array(size), new Float64Array(size)];
      const filled = fill(shared, addresses, blocks);
      return { addresses: addresses.subarray(0, filled), blocks: blocks.subarray(0, filled) };
    };
  };
  return { ofBlock: compile(ofBlock, side.constant), others: others.map((group) => compile(group, 0n)) };
}

/** The intervals shifted by each of the offsets; adjacent intervals are merged. */
function spread({ starts, ends }: Stretches, offsets: readonly number[]): Stretches {
  const all: (readonly [number, number])[] = [];
  for (const offset of offsets) starts.forEach((start, at) => all.push([start + offset, ends[at]! + offset]));
  all.sort(([a], [b]) => a - b);
  const merged: [number, number][] = [];
  for (const [start, end] of all) {
    const last = merged.at(-1);
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return { starts: Float64Array.from(merged, ([start]) => start), ends: Float64Array.from(merged, ([, end]) => end) };
}

interface Listed {
  readonly starts: Starts;
  readonly stretches: Stretches;
}

/**
 * Whether no two intervals overlap, not even those of one block. This fast path succeeds in the usual case, if all
 * intervals have one length.
 */
function areAllApart({ starts, stretches }: Listed, total: number): boolean {
  const length = stretches.ends[0]! - stretches.starts[0]!;
  if (stretches.starts.some((start, at) => stretches.ends[at]! - start !== length)) return false;
  const from = new Float64Array(total);
  let next = 0;
  for (const address of starts.addresses) for (const start of stretches.starts) from[next++] = address + start;
  from.sort();
  for (let at = 1; at < total; at++) if (from[at]! - from[at - 1]! < length) return false;
  return true;
}

/**
 * Whether no interval of one side overlaps an interval of the other side in another block. A single list represents
 * both sides.
 */
function areDisjointParts(lists: readonly Listed[], total: number, identity: (block: number) => number): boolean {
  const [from, to, of, on] = [new Float64Array(total), new Float64Array(total), new Float64Array(total), new Uint8Array(total)];
  let next = 0;
  lists.forEach(({ starts, stretches }, side) => {
    starts.addresses.forEach((address, at) => {
      const block = identity(starts.blocks[at]!);
      for (let i = 0; i < stretches.starts.length; i++, next++) {
        from[next] = address + stretches.starts[i]!;
        to[next] = address + stretches.ends[i]!;
        of[next] = block;
        on[next] = side;
      }
    });
  });
  const order = new Uint32Array(total).map((_, at) => at).sort((a, b) => from[a]! - from[b]!);
  // For each side the farthest end of an interval so far, and the farthest end in a block other than that one's.
  const farthest = lists.map(() => ({ end: -Infinity, block: -1, otherEnd: -Infinity }));
  for (const at of order) {
    const against = farthest[lists.length === 1 ? 0 : 1 - on[at]!]!;
    if ((against.block === of[at] ? against.otherEnd : against.end) > from[at]!) return false;
    const own = farthest[on[at]!]!;
    if (own.block === of[at]) own.end = Math.max(own.end, to[at]!);
    else if (to[at]! > own.end) {
      own.otherEnd = own.end;
      own.end = to[at]!;
      own.block = of[at]!;
    } else own.otherEnd = Math.max(own.otherEnd, to[at]!);
  }
  return true;
}
