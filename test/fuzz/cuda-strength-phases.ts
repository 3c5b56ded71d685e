/**
 * Phases of generated kernels that differ from others by the strength of their accesses: strong loads, stores and atomics
 * of all scopes, with clusters and without, and volatile ones; and shared arrays that are too small for the block.
 */
import type { PhaseMaker } from './cuda-block-phases.ts';
import type { Setting } from './cuda-setting.ts';

type Scope = 'cta' | 'cluster' | 'gpu' | 'sys';

/** Memory that threads share: of a block, or of all blocks. */
interface Place {
  /** An element that a thread has to itself, and that of another thread. */
  readonly own: string;
  readonly other: string;
  /** Scopes that reach both threads, and those that do not. */
  readonly wide: readonly Scope[];
  readonly narrow: readonly Scope[];
  readonly parameters?: readonly string[];
  readonly shared?: readonly string[];
}

function placeOf(c: Setting): Place {
  const { random, size } = c;
  const step = random.between(1, 30);
  const beside = `(tid + ${step}) % ${size}`;
  const all = ['cta', 'cluster', 'gpu', 'sys'] as const;
  const kind = random.pick(['shared', 'part', 'grid', 'grid']);
  if (kind === 'shared') {
    const s = c.name('s');
    return { own: `${s}[tid]`, other: `${s}[${beside}]`, wide: all, narrow: [], shared: [`int ${s}[${c.isSymbolic ? 1024 : c.block}]`] };
  }
  const g = c.name('g');
  const parameters = [`int *${g}`];
  if (kind === 'part' || c.grid === 1)
    return { own: `${g}[gid]`, other: `${g}[blockIdx.x * T + ${beside}]`, wide: all, narrow: [], parameters };
  // Threads of neighbouring blocks: the first and the last one may be of two clusters.
  const isOfCluster = c.cluster === c.grid && !c.isSymbolic;
  return {
    own: `${g}[gid]`,
    other: `${g}[(gid + T) % (T * gridDim.x)]`,
    wide: isOfCluster ? ['cluster', 'gpu', 'sys'] : ['gpu', 'sys'],
    narrow: isOfCluster ? ['cta'] : ['cta', 'cluster'],
    parameters,
  };
}

function strongStore(c: Setting, element: string, value: string, scope: Scope): string {
  const semantics = c.random.pick(['relaxed', 'relaxed', 'release']);
  return `asm volatile("st.${semantics}.${scope}.s32 [%0], %1;" :: "l"(&${element}), "r"((int)(${value})) : "memory");`;
}

function strongLoad(c: Setting, element: string, scope: Scope, into: string): string {
  const semantics = c.random.pick(['relaxed', 'relaxed', 'acquire']);
  return `asm volatile("ld.${semantics}.${scope}.s32 %0, [%1];" : "=r"(${into}) : "l"(&${element}) : "memory");`;
}

function atomic(c: Setting, element: string, scope: Scope): string {
  const { random } = c;
  const semantics = random.pick(['relaxed', 'relaxed', 'acquire', 'release', 'acq_rel']);
  const operation = random.pick(['add.s32', 'max.s32', 'exch.b32', 'or.b32']);
  return `{ int before; asm volatile("atom.${semantics}.${scope}.${operation} %0, [%1], %2;" : "=r"(before) : "l"(&${element}), "r"(tid) : "memory"); acc += before; }`;
}

/** Threads store into their own elements and load those of others; only the strength of both makes it correct. */
const strong: PhaseMaker = (c, broken) => {
  const { random } = c;
  const place = placeOf(c);
  const faults = ['weak load', 'weak store', 'narrower', ...(place.narrow.length > 0 ? ['scope', 'scope'] : [])];
  const fault = broken ? random.pick(faults) : undefined;
  const seen = c.name('seen');
  const scope = (): Scope => random.pick(place.wide);
  const isOneNarrow = random.chance(0.5);
  const first = fault === 'scope' && isOneNarrow ? random.pick(place.narrow) : scope();
  const second = fault === 'scope' && !isOneNarrow ? random.pick(place.narrow) : scope();
  const store =
    fault === 'weak store'
      ? `${place.own} = tid;`
      : random.chance(0.3)
        ? atomic(c, place.own, first)
        : strongStore(c, place.own, 'tid + n', first);
  const load =
    fault === 'weak load'
      ? `${seen} = ${place.other};`
      : fault === 'narrower'
        ? `{ short part; asm volatile("ld.relaxed.${second}.s16 %0, [%1];" : "=h"(part) : "l"(&${place.other}) : "memory"); ${seen} = part; }`
        : random.chance(0.2)
          ? atomic(c, place.other, second)
          : strongLoad(c, place.other, second, seen);
  return {
    name: `strong accesses${c.cluster > 1 ? ' in clusters' : ''}`,
    ...(place.parameters && { parameters: place.parameters }),
    ...(place.shared && { shared: place.shared }),
    body: [`{ int ${seen} = 0;`, store, load, `acc += ${seen}; }`],
    repeats: 'freely',
    ...(fault && { fault: fault === 'scope' ? `scope ${isOneNarrow ? first : second}` : fault }),
  };
};

/** The values of strong reads differ from thread to thread: they decide a barrier, or an index. */
const strongValue: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [word, seen, s] = [c.name('word'), c.name('seen'), c.name('s')];
  const scope = random.pick(['gpu', 'sys'] as const);
  const write = `if (tid == ${random.below(8)}) ${strongStore(c, `${word}[0]`, 'n & 1', scope)}`;
  const read = strongLoad(c, `${word}[0]`, scope, seen);
  const isDivergent = broken && random.chance(0.5);
  const use = !broken ? `acc += ${seen};` : isDivergent ? `if (${seen} & 1) __syncthreads();` : `${s}[(${seen} & 1) + tid] = tid;`;
  return {
    name: 'strong value',
    parameters: [`int *${word}`],
    shared: [`int ${s}[${c.few}]`],
    body: [`{ int ${seen}; ${write} ${read}`, use, '}'],
    ...(broken && { fault: isDivergent ? 'barrier' : 'index' }),
    ...(isDivergent && { divergent: true }),
  };
};

/** Volatile accesses, which race with each other and with atomics in CUDA C++. */
const volatiles: PhaseMaker = (c, broken) => {
  const { random } = c;
  const place = placeOf(c);
  const fault = broken ? random.pick(['no barrier', 'atomic', 'plain']) : undefined;
  const isOfBlock = place.narrow.length === 0;
  const of = (element: string): string => `*(volatile int *)&${element}`;
  const own =
    fault === 'atomic' ? `atomicAdd(&${place.own}, 1);` : fault === 'plain' ? `${place.own} = tid;` : `${of(place.own)} = tid + n;`;
  // Elements that no barrier orders are private to threads.
  const read = fault === undefined && !isOfBlock ? place.own : place.other;
  return {
    name: 'volatile accesses',
    ...(place.parameters && { parameters: place.parameters }),
    ...(place.shared && { shared: place.shared }),
    body: [own, fault === undefined ? c.barrier() : '', `acc += ${of(read)};`],
    repeats: fault === undefined && !isOfBlock ? 'freely' : 'barrier',
    ...(fault && { fault }),
  };
};

/** An array of shared memory has an element for each thread, or too few. */
const extent: PhaseMaker = (c, broken) => {
  const { random, block } = c;
  const s = c.name('s');
  const missing = random.pick([1, 2, 8, block / 2]);
  const isSmall = broken && !c.isSymbolic;
  const few = isSmall || !broken ? block - missing : block;
  const isGuarded = !broken && !c.isSymbolic;
  const halo = random.chance(0.4);
  const fault = isSmall ? 'too small' : broken ? 'barrier' : undefined;
  const elements = c.isSymbolic ? 1024 : halo && isSmall ? block : few;
  const index = halo && isSmall ? `tid + ${missing}` : 'tid';
  return {
    name: 'extent',
    shared: [`int ${s}[${elements}]`],
    body: [
      `${isGuarded ? `if (tid < ${few}) ` : ''}${s}[${index}] = tid + n;`,
      fault === 'barrier' ? '' : c.barrier(),
      c.isSymbolic ? `acc += ${s}[(tid + 1) % T];` : `acc += ${s}[(tid + 1) % ${elements}];`,
    ],
    // Repeated or under a condition, not every run comes to it.
    ...(fault && { fault }),
    ...(isSmall && { leavesArray: true }),
  };
};

export const strengthPhases: readonly PhaseMaker[] = [strong, strong, strong, strongValue, volatiles, volatiles, extent, extent];
