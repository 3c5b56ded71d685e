/** Phases of generated kernels in which the threads of a block cooperate, correct or with a known bug. */
import type { Setting, Phase } from './cuda-setting.ts';

/** Makes a phase; with a bug if requested and if it has one. */
export type PhaseMaker = (setting: Setting, broken: boolean) => Phase;

const types = ['int', 'int', 'float', 'short', 'unsigned char', 'double', 'long long', 'unsigned'] as const;

/** Every thread writes an element, then reads the one of another. */
const exchange: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['barrier', 'collision']) : undefined;
  const map = fault === 'collision' ? c.colliding() : c.injective();
  const step = random.between(1, 30);
  const other = c.isPowerOfTwo && random.chance(0.5) ? `tid ^ ${step}` : `(tid + ${step}) % ${size}`;
  const type = random.pick(types);
  return {
    name: 'exchange',
    shared: [`${type} ${s}[${c.elements}]`],
    body: [
      `${s}[${c.spell(map('tid'))}] = (${type})(tid + n);`,
      fault === 'barrier' ? '' : c.barrier(),
      `acc += (int)${s}[${c.spell(map(other))}];`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** The same in global memory, where each block has a part. */
const globalExchange: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const g = c.name('g');
  const fault = broken ? random.pick(['barrier', 'collision', ...(c.grid > 1 ? ['shift'] : [])]) : undefined;
  const map = fault === 'collision' ? c.colliding() : c.injective();
  const first = c.isSymbolic ? '(size_t)blockIdx.x * 4096' : 'blockIdx.x * 4096';
  const step = random.between(1, 30);
  return {
    name: 'global exchange',
    parameters: [`int *${g}`],
    body: [
      `${g}[${first} + (${c.spell(map('tid'))})] = tid + n;`,
      fault === 'barrier' ? '' : c.barrier(),
      fault === 'shift'
        ? `if (tid == 0) acc += ${g}[(blockIdx.x + 1) % gridDim.x * 4096 + (${map('0')})];`
        : `acc += ${g}[${first} + (${map(`(tid + ${step}) % ${size}`)})];`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** A sum over a tree with a stride that halves or doubles. */
const tree: PhaseMaker = (c, broken) => {
  const { random } = c;
  const s = c.name('s');
  const half = c.isPowerOfTwo ? c.block : 32;
  const fault = broken ? random.pick(['barrier', 'first barrier', 'bound', 'late barrier']) : undefined;
  const type = random.pick(['int', 'float', 'double', 'unsigned']);
  const inner = fault === 'barrier' ? '' : fault === 'late barrier' ? 'if (d > 4) __syncthreads();' : c.barrier();
  const start = [`${s}[tid] = (${type})(tid * 3 + n);`, fault === 'first barrier' ? '' : c.barrier()];
  const limit = fault === 'bound' ? 'tid <= d' : 'tid < d';
  const halving = [
    `for (int d = ${half / 2}; d > 0; ${random.pick(['d >>= 1', 'd /= 2'])}) {`,
    `  if (${limit}) ${s}[tid] += ${s}[tid + d];`,
    `  ${inner}`,
    '}',
  ];
  const step = fault === 'bound' ? '3 * d' : '2 * d';
  const doubling = random.chance(0.5)
    ? [
        `for (int d = 1; d < ${half}; d *= 2) {`,
        `  if (tid < ${half} && tid % (2 * d) == 0) ${s}[tid] += ${s}[tid + ${fault === 'bound' ? 'd * 2' : 'd'}];`,
        `  ${fault === 'late barrier' ? 'if (d < 4) __syncthreads();' : inner}`,
        '}',
      ]
    : [
        `for (int d = 1; d < ${half}; d <<= 1) {`,
        `  int i = ${step} * tid;`,
        `  if (i + d < ${half}) ${s}[i] += ${s}[i + d];`,
        `  ${fault === 'late barrier' ? 'if (d < 4) __syncthreads();' : inner}`,
        '}',
      ];
  // With a wrong bound, doubling strides may still be disjoint.
  const isHalving = fault === 'bound' || random.chance(0.5);
  return {
    name: 'tree',
    shared: [`${type} ${s}[${c.isSymbolic ? 2048 : 2 * c.block + 2}]`],
    body: [...start, ...(isHalving ? halving : doubling), `if (tid == 0) acc += (int)${s}[0];`],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** A sum whose last iterations only one warp executes, with `__syncwarp()`. */
const warpTail: PhaseMaker = (c, broken) => {
  const { random } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['no warp barrier', 'one short', 'block']) : undefined;
  // Volatile accesses do not race with each other.
  const isVolatile = random.chance(0.25);
  const rounds = [16, 8, 4, 2, 1].flatMap((d) => {
    const read = `    int v${d} = ${s}[tid] + ${s}[tid + ${d}];`;
    const sync = fault === 'no warp barrier' || (fault === 'one short' && d === 4) ? '' : '    __syncwarp();';
    return [read, sync, `    ${s}[tid] = v${d};`, sync];
  });
  const isInWarp = fault === 'block' && c.block <= 32;
  return {
    name: 'warp tail',
    shared: [`${isVolatile ? 'volatile ' : ''}int ${s}[${c.few + 64}]`],
    body: [
      `${s}[tid] = tid + n;`,
      fault === 'block' ? '__syncwarp();' : c.barrier(),
      fault === 'block' ? `acc += ${s}[(tid + 32) % ${c.size}];` : '',
      'if (tid < 32) {',
      ...rounds,
      '}',
    ],
    repeats: !isVolatile && (c.block > 32 || c.isSymbolic) ? 'barrier' : 'barrier perhaps',
    // In a block of one warp the barrier of the warp is sufficient: a race under other launches than the stated one.
    ...((isVolatile || (isInWarp && c.isSymbolic)) && { isOpen: true }),
    ...(fault && !isVolatile && !isInWarp && { fault }),
  };
};

/** Neighbours exchange within warps. */
const warpExchange: PhaseMaker = (c, broken) => {
  const { random } = c;
  const s = c.name('s');
  const mask = 1 << random.below(5);
  const fault = broken ? (c.block > 32 && random.chance(0.5) ? 'across warps' : 'no warp barrier') : undefined;
  const other = fault === 'across warps' ? `(tid + 1) % ${c.block}` : `tid ^ ${mask}`;
  const isFull = !c.isSymbolic;
  // If the size of the block is unspecified, threads without a partner do not participate.
  const full = isFull ? '' : `if (tid < T / 32 * 32) `;
  return {
    name: 'warp exchange',
    shared: [`int ${s}[${c.few + 32}]`],
    body: [
      `${full}{`,
      `${s}[tid] = tid * n;`,
      fault === 'no warp barrier'
        ? ''
        : random.pick(['__syncwarp();', '__syncwarp(0xffffffffu);', 'asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");']),
      `acc += ${s}[${other}];`,
      '}',
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** Sums of warps by shuffles, then of the block. */
const shuffleSum: PhaseMaker = (c, broken) => {
  const { random } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['barrier', 'no leader']) : undefined;
  const leader = fault === 'no leader' ? '' : 'if ((tid & 31) == 0) ';
  const warps = c.isSymbolic ? '(T + 31) / 32' : String(Math.max(1, Math.floor(c.block / 32)));
  return {
    name: 'shuffle sum',
    shared: [`int ${s}[64]`],
    body: [
      '{ int v = tid + n;',
      ...(c.isSymbolic ? ['v += tid;'] : ['for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);']),
      `${leader}${s}[tid / 32] = v + tid;`,
      fault === 'barrier' ? '' : c.barrier(),
      `for (int w = 0; w < ${warps}; w++) acc += ${s}[w]; }`,
    ],
    repeats: 'barrier',
    // Without the barrier a single warp already races between its first thread and the others.
    ...(fault && { fault }),
  };
};

/** An inclusive scan, in two buffers or in one. */
const scan: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const isDouble = random.chance(0.5);
  const few = c.isSymbolic ? 1024 : c.block;
  if (isDouble) {
    const fault = broken ? random.pick(['barrier', 'one buffer']) : undefined;
    const body = [
      '{ int from = 0, to = 1;',
      `${s}[0][tid] = tid + n;`,
      c.barrier(),
      `for (int d = 1; d < ${size}; d *= 2) {`,
      `  ${fault === 'one buffer' ? 'to = from;' : ''}`,
      `  if (tid >= d) ${s}[to][tid] = ${s}[from][tid] + ${s}[from][tid - d];`,
      `  else ${s}[to][tid] = ${s}[from][tid];`,
      `  ${fault === 'barrier' ? '' : c.barrier()}`,
      random.chance(0.5) ? '  to = 1 - to; from = 1 - from;' : '  int swap = to; to = from; from = swap;',
      '}',
      `acc += ${s}[from][tid]; }`,
    ];
    return { name: 'scan with two buffers', shared: [`int ${s}[2][${few}]`], body, repeats: 'freely', ...(fault && { fault }) };
  }
  const fault = broken ? random.pick(['first barrier', 'second barrier']) : undefined;
  return {
    name: 'scan',
    shared: [`float ${s}[${few}]`],
    body: [
      `${s}[tid] = tid + n;`,
      c.barrier(),
      `for (int d = 1; d < ${size}; d <<= 1) {`,
      `  float v = 0; if (tid >= d) v = ${s}[tid - d];`,
      `  ${fault === 'first barrier' ? '' : c.barrier()}`,
      `  if (tid >= d) ${s}[tid] += v;`,
      `  ${fault === 'second barrier' ? '' : c.barrier()}`,
      '}',
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** A scan up a tree and down again. */
const sweep: PhaseMaker = (c, broken) => {
  if (!c.isPowerOfTwo) return tree(c, broken);
  const { random, block } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['up', 'down', 'top']) : undefined;
  return {
    name: 'sweep',
    shared: [`int ${s}[${2 * block}]`],
    body: [
      '{ int step = 1;',
      `${s}[2 * tid] = tid; ${s}[2 * tid + 1] = n;`,
      `for (int d = ${block}; d > 0; d >>= 1) {`,
      `  ${fault === 'up' ? '' : '__syncthreads();'}`,
      `  if (tid < d) { int a = step * (2 * tid + 1) - 1, b = step * (2 * tid + 2) - 1; ${s}[b] += ${s}[a]; }`,
      '  step *= 2;',
      '}',
      fault === 'top' ? `if (tid == 1) ${s}[${2 * block} - 1] = 0;` : `if (tid == 0) ${s}[${2 * block} - 1] = 0;`,
      `for (int d = 1; d < ${2 * block}; d *= 2) {`,
      '  step >>= 1;',
      `  ${fault === 'down' ? '' : '__syncthreads();'}`,
      `  if (tid < d) { int a = step * (2 * tid + 1) - 1, b = step * (2 * tid + 2) - 1; int t = ${s}[a]; ${s}[a] = ${s}[b]; ${s}[b] += t; }`,
      '}',
      '__syncthreads();',
      `acc += ${s}[(tid + 1) % ${block}]; }`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

const bitonic: PhaseMaker = (c, broken) => {
  if (!c.isPowerOfTwo) return scan(c, broken);
  const { random, block } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['barrier', 'both swap']) : undefined;
  return {
    name: 'bitonic sort',
    shared: [`int ${s}[${block}]`],
    body: [
      `${s}[tid] = (tid * 7 + n) & 63;`,
      '__syncthreads();',
      `for (int k = 2; k <= ${block}; k <<= 1)`,
      '  for (int j = k >> 1; j > 0; j >>= 1) {',
      '    int p = tid ^ j;',
      `    ${fault === 'both swap' ? '' : 'if (p > tid)'} {`,
      `      int a = ${s}[tid], b = ${s}[p];`,
      `      if (((tid & k) == 0) == (a > b)) { ${s}[tid] = b; ${s}[p] = a; }`,
      '    }',
      `    ${fault === 'barrier' ? '' : c.barrier()}`,
      '  }',
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

const oddEven: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['barrier', 'every element']) : undefined;
  const index = fault === 'every element' ? 'tid + (p & 1)' : '2 * tid + (p & 1)';
  return {
    name: 'odd-even sort',
    shared: [`int ${s}[${c.isSymbolic ? 2050 : 2 * c.block + 2}]`],
    body: [
      `${s}[2 * tid] = n - tid; ${s}[2 * tid + 1] = tid;`,
      '__syncthreads();',
      `for (int p = 0; p < ${random.pick(['8', `2 * ${size}`, 'n'])}; p++) {`,
      `  int i = ${index};`,
      `  if (i + 1 < 2 * ${size}) { int a = ${s}[i], b = ${s}[i + 1]; ${s}[i] = min(a, b); ${s}[i + 1] = max(a, b); }`,
      `  ${fault === 'barrier' ? '' : c.barrier()}`,
      '}',
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Rows leave a tile as columns. */
const transpose: PhaseMaker = (c, broken) => {
  if (c.isSymbolic || c.block % 16 !== 0) return exchange(c, broken);
  const { random, block } = c;
  const [s, g] = [c.name('s'), c.name('g')];
  const width = random.pick([8, 16]);
  const height = block / width;
  const fault = broken ? random.pick(['barrier', 'pitch']) : undefined;
  const pitch = fault === 'pitch' ? width - 1 : width + random.below(2);
  return {
    name: 'transpose',
    shared: [`int ${s}[${height * pitch + 1}]`],
    parameters: [`int *${g}`],
    body: [
      `{ int x = tid % ${width}, y = tid / ${width};`,
      `${s}[y * ${pitch} + x] = tid * n;`,
      fault === 'barrier' ? '' : c.barrier(),
      `int u = tid / ${height}, v = tid % ${height};`,
      `${g}[gid] = ${s}[v * ${pitch} + u]; }`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** Each thread reads its neighbours' elements and writes its own. */
const stencil: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const input = c.name('in');
  const out = c.name('out');
  const fault = broken ? random.pick(['barrier', 'in place', 'halo']) : undefined;
  const radius = random.between(1, 3);
  const sum = Array.from({ length: 2 * radius + 1 }, (_, k) => `${s}[tid + ${k}]`).join(' + ');
  return {
    name: 'stencil',
    parameters: [`const int *${input}`, `int *${out}`],
    shared: [`int ${s}[${c.few + 8}]`],
    body: [
      `${s}[tid + ${radius}] = ${input}[gid];`,
      `if (tid < ${fault === 'halo' ? radius + 1 : radius}) {`,
      `  ${s}[tid] = ${input}[max(gid - ${radius}, 0)] + 1;`,
      `  ${s}[tid + ${radius} + ${size}] = ${input}[gid + ${size}];`,
      '}',
      fault === 'barrier' ? '' : c.barrier(),
      fault === 'in place' ? `${s}[tid] = ${sum};` : `${out}[gid] = ${sum};`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** Counts in shared memory, added up in global memory. */
const histogram: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const h = c.name('h');
  const input = c.name('in');
  const total = c.name('total');
  const bins = random.pick([16, 32, 64, 100]);
  const faults = ['after zeroing', 'before adding up', 'plain', ...(c.grid > 1 ? ['plain total'] : [])];
  const fault = broken ? random.pick(faults) : undefined;
  const index = random.pick([`${input}[gid] & 15`, `(unsigned)${input}[gid] % 16u`, `(tid * 5) % 16`]);
  return {
    name: 'histogram',
    parameters: [`const int *${input}`, `int *${total}`],
    shared: [`int ${h}[${bins}]`],
    body: [
      `for (int b = tid; b < ${bins}; b += ${size}) ${h}[b] = 0;`,
      fault === 'after zeroing' ? '' : c.barrier(),
      fault === 'plain' ? `${h}[tid / 2 % 16]++;` : `atomicAdd(&${h}[${index}], 1);`,
      fault === 'before adding up' ? '' : c.barrier(),
      `for (int b = tid; b < ${bins}; b += ${size})`,
      fault === 'plain total' ? `  ${total}[b] += ${h}[b];` : `  atomicAdd(&${total}[b], ${h}[b]);`,
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Input in chunks of a block's size. */
const chunks: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const input = c.name('in');
  const m = c.name('m');
  const fault = broken ? random.pick(['first barrier', 'second barrier']) : undefined;
  const limit = random.pick([m, '200', `${m} * 4`, `3 * ${size}`]);
  const last = fault === 'second barrier' ? '' : c.barrier();
  return {
    name: 'chunks',
    parameters: [`const float *${input}`, `int ${m}`],
    shared: [`float ${s}[${c.few}]`],
    body: [
      `for (int base = 0; base < ${fault ? `3 * ${size}` : limit}; base += ${size}) {`,
      `  ${s}[tid] = ${random.chance(0.5) ? '' : `base + tid >= ${limit} ? 0.0f : `}${input}[base + tid];`,
      `  ${fault === 'first barrier' ? '' : c.barrier()}`,
      `  for (int k = 0; k < ${size}; k++) acc += (int)${s}[k];`,
      `  ${last}`,
      '}',
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Two alternating buffers, one barrier in each iteration. */
const doubleBuffer: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const input = c.name('in');
  const fault = broken ? random.pick(['one buffer', 'barrier', 'written too early']) : undefined;
  const few = c.few;
  const parity = fault === 'one buffer' ? '0' : random.pick(['(k & 1)', 'k % 2', '(k & 1 ? 1 : 0)']);
  const next = fault === 'written too early' ? '(k & 1)' : '(k + 1 & 1)';
  if (random.chance(0.5) && fault !== 'one buffer') {
    // The next chunk is fetched while this one is used.
    return {
      name: 'prefetch',
      parameters: [`const int *${input}`],
      shared: [`int ${s}[2][${few}]`],
      body: [
        `${s}[0][tid] = ${input}[tid];`,
        '__syncthreads();',
        `for (int k = 0; k < ${random.pick(['6', '7', fault ? '8' : 'n'])}; k++) {`,
        `  ${s}[${next}][tid] = ${input}[(k + 1) * ${size} + tid];`,
        `  acc += ${s}[k & 1][(tid + 1) % ${size}];`,
        `  ${fault === 'barrier' ? '' : c.barrier()}`,
        '}',
      ],
      repeats: 'freely',
      ...(fault && { fault }),
    };
  }
  const isOne = fault === 'one buffer' || fault === 'written too early';
  return {
    name: 'double buffer',
    parameters: [`const int *${input}`],
    shared: [`int ${s}[2][${few}]`],
    body: [
      `for (int k = 0; k < ${fault ? '5' : random.pick(['6', '7', 'n', '2 * n + 1'])}; k++) {`,
      `  ${s}[${isOne ? '0' : parity}][tid] = ${input}[k * ${size} + tid];`,
      `  ${fault === 'barrier' ? '' : c.barrier()}`,
      `  acc += ${s}[${isOne ? '0' : parity}][(tid + 1) % ${size}];`,
      '}',
    ],
    repeats: 'barrier perhaps',
    ...(fault && { fault }),
  };
};

/** Rows are eliminated one after the other. */
const elimination: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['barrier', 'own row']) : undefined;
  return {
    name: 'elimination',
    shared: [`float ${s}[${c.few}]`],
    body: [
      `${s}[tid] = tid + n;`,
      '__syncthreads();',
      `for (int i = 0; i < ${random.pick([size, `${size} - 1`, '20'])}; i++) {`,
      `  if (tid ${fault === 'own row' ? '>=' : '>'} i) ${s}[tid] -= ${s}[i] * 0.5f;`,
      `  ${fault === 'barrier' ? '' : c.barrier()}`,
      '}',
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Memory read in another width than it was written in. */
const widths: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['barrier', 'too wide', 'neighbour']) : undefined;
  const few = c.isSymbolic ? 1024 : c.block;
  if (fault === 'too wide' || (!fault && random.chance(0.4))) {
    const wide = fault ? 'int' : 'short';
    return {
      name: 'own bytes',
      shared: [`__align__(16) unsigned char ${s}[${4 * few + 16}]`],
      body: [
        `*(${wide} *)(${s} + ${fault ? `(tid & ~1) * 2` : '2 * tid'}) = (${wide})(tid + n);`,
        `acc += ${s}[2 * tid] + ${s}[2 * tid + 1];`,
      ],
      repeats: 'freely',
      ...(fault && { fault }),
    };
  }
  const vector = random.pick(['int2', 'int4', 'float2', 'short2', 'uchar4']);
  const [, element = 'int', lanes = '2'] = /^(\D+)(\d)$/.exec(vector)!;
  const scalar = element === 'uchar' ? 'unsigned char' : element;
  return {
    name: 'vectors',
    shared: [`__align__(16) ${scalar} ${s}[${Number(lanes) * few + 8}]`],
    body: [
      `{ ${vector} v; v.x = (${scalar})tid; v.y = (${scalar})n; ${lanes === '4' ? 'v.z = v.x; v.w = v.y;' : ''}`,
      fault === 'neighbour' ? `*(${vector} *)(${s} + ${lanes} * (tid / 2)) = v;` : `*(${vector} *)(${s} + ${lanes} * tid) = v;`,
      fault === 'barrier' ? '' : c.barrier(),
      `acc += (int)${s}[(${lanes} * tid + ${lanes}) % (${lanes} * ${size})]; }`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** Two arrays in one allocation. */
const parts: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const fault = broken ? random.pick(['overlap', 'barrier']) : undefined;
  const few = c.isSymbolic ? 1024 : c.block;
  const offset = fault === 'overlap' ? random.pick([`${size} - 1`, `${size} / 2`]) : random.pick([size, `${size} + 3`]);
  const choose = random.chance(0.3);
  return {
    name: 'parts of one array',
    shared: [`int ${s}[${2 * few + 8}]`],
    body: [
      `{ int *p = ${s}; float *q = (float *)(${s} + ${offset});`,
      choose ? 'if (n & 1) { float *t = (float *)p; p = (int *)q; q = t; }' : '',
      'p[tid] = tid; q[tid] = (float)n;',
      fault === 'barrier' ? '' : c.barrier(),
      `acc += p[${size} - 1 - tid]; acc += (int)q[(tid + 1) % ${size}]; }`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** Threads leave a loop together because of a value that one of them wrote. */
const sharedFlag: PhaseMaker = (c, broken) => {
  const { random } = c;
  const flag = c.name('flag');
  const input = c.name('in');
  const fault = broken ? random.pick(['first barrier', 'second barrier']) : undefined;
  const isFor = random.chance(0.5);
  return {
    name: 'loop until a flag',
    parameters: [`const int *${input}`],
    shared: [`int ${flag}`],
    body: [
      isFor ? 'for (int k = 0;; k++) {' : '{ int k = 0; while (true) {',
      `  if (tid == 0) ${flag} = k < 3 + (${input}[blockIdx.x] & 3);`,
      `  ${fault === 'first barrier' ? '' : '__syncthreads();'}`,
      `  int more = ${flag};`,
      `  ${fault === 'second barrier' ? '' : '__syncthreads();'}`,
      '  if (!more) break;',
      '  acc += k;',
      isFor ? '}' : '  k++; } }',
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Rows of a sparse matrix: bounds of the loop are read from memory. */
const sparseRows: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [row, column, value, out] = ['row', 'column', 'value', 'out'].map((name) => c.name(name));
  const fault = broken ? random.pick(['every second row', 'one row a block']) : undefined;
  const target = fault === 'every second row' ? 'gid / 2' : fault === 'one row a block' ? 'blockIdx.x' : 'gid';
  return {
    name: 'sparse rows',
    parameters: [`const int *${row}`, `const int *${column}`, `const float *${value}`, `float *${out}`],
    body: [
      '{ float sum = gid;',
      `int end = min(${row}[gid + 1], ${row}[gid] + 5);`,
      `for (int j = ${row}[gid]; j < end; j++) {`,
      `  if (${column}[j] < 0) ${random.pick(['continue', 'break'])};`,
      `  sum += ${value}[j] * 0.5f;`,
      '}',
      `${out}[${target}] = sum; }`,
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Two halves of a block synchronize at separate barriers. */
const namedBarriers: PhaseMaker = (c, broken) => {
  if (c.isSymbolic || c.block < 64 || c.block % 64 !== 0) return exchange(c, broken);
  const { random, block } = c;
  const s = c.name('s');
  const half = block / 2;
  const fault = broken ? random.pick(['none', 'wrong partner', 'reversed']) : undefined;
  if (random.chance(0.5)) {
    // Each half separately.
    const other = fault === 'wrong partner' ? `(tid + ${half}) % ${block}` : `tid / ${half} * ${half} + (tid + 1) % ${half}`;
    return {
      name: 'named barriers',
      shared: [`int ${s}[${block}]`],
      body: [
        `${s}[tid] = tid * n;`,
        fault === 'none' || fault === 'reversed'
          ? ''
          : `if (tid < ${half}) asm volatile("bar.sync 1, ${half};" ::: "memory"); else asm volatile("bar.sync 2, ${half};" ::: "memory");`,
        `acc += ${s}[${other}];`,
      ],
      repeats: 'barrier',
      ...(fault && { fault }),
    };
  }
  // One half passes data to the other.
  const isReversed = fault === 'reversed';
  const arrive = `asm volatile("bar.arrive 3, ${block};" ::: "memory");`;
  const wait = `asm volatile("bar.sync 3, ${block};" ::: "memory");`;
  return {
    name: 'passed by a named barrier',
    shared: [`int ${s}[${block}]`],
    body: [
      `if (tid < ${half}) {`,
      `  ${s}[tid] = tid * n;`,
      `  ${isReversed ? wait : fault === 'none' ? '' : arrive}`,
      '} else {',
      `  ${isReversed ? arrive : fault === 'none' ? '' : wait}`,
      `  acc += ${s}[${fault === 'wrong partner' ? `tid - ${half}` : `tid - ${half}`}];`,
      ...(fault === 'wrong partner' ? [`  ${s}[tid - ${half}] = 1;`, '}', `if (tid < ${half}) { acc += ${s}[tid];`] : []),
      '}',
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** Elements are copied asynchronously. */
const asyncCopy: PhaseMaker = (c, broken) => {
  const { random, size } = c;
  const s = c.name('s');
  const input = c.name('in');
  const fault = broken ? random.pick(['not waited for', 'barrier', 'group too few']) : undefined;
  const few = c.few;
  const copy = (target: string, source: string): string =>
    `asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" :: "r"((unsigned)__cvta_generic_to_shared(&${target})), "l"(&${source}) : "memory");`;
  const wait = fault === 'group too few' ? 1 : 0;
  return {
    name: 'asynchronous copy',
    parameters: [`const int *${input}`],
    shared: [`__align__(16) int ${s}[${few}]`],
    body: [
      copy(`${s}[tid]`, `${input}[gid]`),
      'asm volatile("cp.async.commit_group;" ::: "memory");',
      fault === 'not waited for' ? '' : `asm volatile("cp.async.wait_group ${wait};" ::: "memory");`,
      fault === 'barrier' ? '' : c.barrier(),
      `acc += ${s}[(tid + 1) % ${size}];`,
    ],
    repeats: 'barrier',
    ...(fault && { fault }),
  };
};

/** A tile product with symbolic or given width. */
const tiles: PhaseMaker = (c, broken) => {
  if (c.isSymbolic || c.block % 64 !== 0) return chunks(c, broken);
  const { random } = c;
  const [a, b, out, w] = ['a', 'b', 'out', 'w'].map((name) => c.name(name));
  const [s, t] = [c.name('s'), c.name('s')];
  const side = 8;
  const rows = c.block / side;
  const fault = broken ? random.pick(['first barrier', 'second barrier', 'output']) : undefined;
  return {
    name: 'tiles',
    parameters: [`const float *${a}`, `const float *${b}`, `float *${out}`, `int ${w}`],
    shared: [`float ${s}[${rows}][${side}]`, `float ${t}[${rows}][${side} + 1]`],
    body: [
      `{ int x = tid % ${side}, y = tid / ${side}; float sum = gid;`,
      `for (int m = 0; m < ${fault ? '3' : random.pick([w, '4', `${w} / ${side}`])}; m++) {`,
      `  ${s}[y][x] = ${a}[(y + m) * ${w} + x]; ${t}[y][x] = ${b}[y * ${w} + m * ${side} + x];`,
      `  ${fault === 'first barrier' ? '' : c.barrier()}`,
      `  for (int k = 0; k < ${side}; k++) sum += ${s}[y][k] * ${t}[k][x];`,
      `  ${fault === 'second barrier' ? '' : c.barrier()}`,
      '}',
      `${out}[${fault === 'output' ? `blockIdx.x * ${c.block} + x` : 'gid'}] = sum; }`,
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** A barrier that only some threads reach. */
const divergentBarrier: PhaseMaker = (c) => {
  const { random } = c;
  const input = c.name('in');
  const condition = random.pick(['tid < 16', 'tid & 1', `${input}[gid] > 1`, '(tid / 32) * 2 == 0 && tid > 3', 'n + tid > 20 + n']);
  return {
    name: 'divergent barrier',
    parameters: [`const int *${input}`],
    body: [`if (${condition}) { acc++; __syncthreads(); }`, 'acc += 2;'],
    fault: 'divergence',
    divergent: true,
    repeats: 'freely',
  };
};

export const blockPhases: readonly PhaseMaker[] = [
  exchange,
  exchange,
  globalExchange,
  tree,
  tree,
  warpTail,
  warpExchange,
  shuffleSum,
  scan,
  sweep,
  bitonic,
  oddEven,
  transpose,
  stencil,
  histogram,
  chunks,
  doubleBuffer,
  doubleBuffer,
  elimination,
  widths,
  parts,
  sharedFlag,
  sparseRows,
  namedBarriers,
  asyncCopy,
  tiles,
];
export const divergentPhase = divergentBarrier;
