/** Building blocks of generated CUDA kernels: names, index maps and equivalent spellings. */
import type { Random } from '../../src/base/random.ts';

/** A parameter with a minimum, and a factor that it is a multiple of. */
export interface StatedScalar {
  readonly name: string;
  readonly least: number;
  readonly multiple: number;
}

/** A part of a kernel that does one thing, in separate arrays. */
export interface Phase {
  readonly name: string;
  readonly parameters?: readonly string[];
  /** Declarations in shared memory. */
  readonly shared?: readonly string[];
  readonly body: readonly string[];
  /** Its bug; absent: none. */
  readonly fault?: string;
  /** Whether it races is not known. */
  readonly isOpen?: true;
  /** Every run of the stated launch leaves an array of known extent. */
  readonly leavesArray?: true;
  /** Threads of a block miss each other at a barrier. */
  readonly divergent?: true;
  /** Assumptions on scalar parameters. */
  readonly stated?: readonly StatedScalar[];
  /** Parameters whose arrays have to be zero at the start. */
  readonly zeroed?: readonly string[];
  /**
   * Whether it may be repeated: as it is, with a barrier of the block in between (without which it would race, or
   * might); undefined: not at all.
   */
  readonly repeats?: 'freely' | 'barrier' | 'barrier perhaps';
  /** Code outside of the kernel. */
  readonly helpers?: readonly string[];
  readonly cooperative?: true;
}

/** An injective map of thread numbers, or one that is not. */
export type IndexMap = (thread: string) => string;

/** The map with its random parts fixed. */
function fixed(map: IndexMap): IndexMap {
  const text = map('@');
  return (thread) => text.replaceAll('@', /^\w+$/.test(thread) ? thread : `(${thread})`);
}

/** State shared by the phases of one kernel. */
export class Setting {
  readonly random: Random;
  /** Threads of a block, in one dimension. */
  readonly block: number;
  readonly grid: number;
  /** Whether the kernel has to be correct for every block and grid. */
  readonly isSymbolic: boolean;
  /** Blocks of a cluster of the stated launch; 1: it has no clusters. */
  readonly cluster: number;
  /** Expression of the size of a block. */
  readonly size: string;
  #names = 0;

  constructor(random: Random, block: number, grid: number, isSymbolic: boolean, hasClusters = false) {
    this.random = random;
    this.block = block;
    this.grid = grid;
    this.isSymbolic = isSymbolic;
    // The whole grid, or a part that divides it.
    this.cluster = isSymbolic || !hasClusters ? 1 : grid === 4 && random.chance(0.5) ? 2 : grid;
    this.size = isSymbolic || random.chance(0.3) ? 'T' : String(block);
  }

  get isPowerOfTwo(): boolean {
    return !this.isSymbolic && (this.block & (this.block - 1)) === 0;
  }

  /** Elements for an array that is indexed with maps: larger than all of their results. */
  get elements(): number {
    return this.isSymbolic ? 3100 : Math.max(4 * this.block + 64, this.#wide);
  }

  /** Elements where an index is a thread number and little more. */
  get few(): number {
    return (this.isSymbolic ? 1024 : this.block) + 8;
  }

  #wide = 0;

  name(prefix: string): string {
    return `${prefix}_${this.#names++}`;
  }

  /** A random form of an index that is not negative. */
  spell(index: string): string {
    const { random } = this;
    if (random.chance(0.6)) return index;
    return random.pick([
      `((${index}) << 2) >> 2`,
      `(${index}) * 4 / 4`,
      `(${index}) ^ 0`,
      `(int)((unsigned)(${index}))`,
      `(int)((long long)(${index}))`,
      `(${index}) / 8 * 8 + (${index}) % 8`,
      `((${index}) & ~7) | ((${index}) & 7)`,
      `(${index}) + n - n`,
      `max(${index}, 0)`,
      `(${index}) - 5 + 5`,
      `__mul24(${index}, 1)`,
      `twice(${index}) / 2`,
    ]);
  }

  /** A map under which threads access disjoint elements. */
  injective(): IndexMap {
    const { random, size, block } = this;
    const low = random.below(5);
    const factor = random.between(2, 3);
    const shift = this.isSymbolic ? 1 : random.between(1, 2);
    const general: IndexMap[] = [
      (t) => t,
      (t) => t,
      (t) => `${t} + ${low}`,
      (t) => `${factor} * ${t} + ${low}`,
      (t) => `${size} - 1 - ${t}`,
      (t) => `(${t} + ${low}) % ${size}`,
      (t) => `${t} + ${t} / 32`,
      (t) => `(${t} << ${shift}) | ${random.below(1 << shift)}`,
      (t) => `${t} ^ ${1 + low}`,
      (t) => `(${t} >> 3) * 16 + (${t} & 7)`,
      (t) => `(${t} & 1) ? ${t} - 1 : ${t} + 1`,
      (t) => `${this.isSymbolic ? 3072 : factor * 1024} - ${t}`,
    ];
    if (this.isSymbolic) return fixed(random.pick(general));
    const concrete: IndexMap[] = [(t) => `${t} < 16 ? ${t} : ${t} + 16`];
    if (block % 8 === 0) concrete.push((t) => `${t} % 8 * ${block / 8} + ${t} / 8`);
    if (block % 2 === 0) {
      concrete.push((t) => `${t} / 2 + ${t} % 2 * ${block / 2}`);
      concrete.push((t) => `${t} < ${block / 2} ? 2 * ${t} : 2 * (${t} - ${block / 2}) + 1`);
    }
    if (this.isPowerOfTwo) {
      const odd = 2 * random.below(8) + 1;
      const bits = Math.log2(block);
      concrete.push(
        (t) => `${t} ^ ${random.below(block)}`,
        (t) => `${t} * ${odd} % ${block}`,
        (t) => `(${t} * ${odd}) & ${block - 1}`,
        (t) => `${t} ^ (${t} >> 1)`,
        (t) => `__brev(${t}) >> ${32 - bits}`,
      );
    }
    const map = random.pick(random.chance(0.5) ? general : concrete);
    const text = map('@');
    if (/^\d+ - @$/.test(text)) this.#wide = Math.max(this.#wide, factor * 1024 + 8);
    return fixed(() => text);
  }

  /** A map under which some two threads of a block of at least 32 access the same element. */
  colliding(): IndexMap {
    const { random, block } = this;
    const general: IndexMap[] = [
      (t) => `${t} / 2`,
      (t) => `${t} & ~1`,
      (t) => `${t} >> 1`,
      (t) => `max(${t}, 1)`,
      (t) => `abs(${t} - 1)`,
      (t) => `${t} & (${t} - 1)`,
      (t) => `min(${t}, 30)`,
      (t) => `${t} % 31`,
      (t) => `${t} * ${t} % 32`,
      (t) => `(${t} * 6) & 31`,
      (t) => `${t} == 7 ? 8 : ${t}`,
      (t) => `${t} - (${t} == 5)`,
      (t) => `(int)(signed char)(${t} * 16) & 255`,
      (t) => `3 * ${t} / 4`,
    ];
    if (!this.isSymbolic && block > 32)
      general.push(
        (t) => `${t} % 32`,
        (t) => `${t} & 31`,
      );
    if (!this.isSymbolic && block % 2 === 0)
      general.push(
        (t) => `2 * ${t} % ${block}`,
        (t) => `${t} % ${block / 2}`,
      );
    return random.pick(general);
  }

  /** A barrier of the block. */
  barrier(): string {
    const { random } = this;
    if (random.chance(0.75)) return '__syncthreads();';
    return random.pick([
      'acc += __syncthreads_count(tid < 5);',
      'acc += __syncthreads_or(n == tid);',
      'if (__syncthreads_and(tid >= 0)) acc++;',
      'asm volatile("bar.sync 0;" ::: "memory");',
      'meet();',
      'if (n > 1000000) { __syncthreads(); } else { __syncthreads(); }',
      'asm volatile("barrier.sync.aligned 0;" ::: "memory");',
    ]);
  }
}
