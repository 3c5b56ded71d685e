/** Phases of generated kernels in which blocks, or threads of any blocks, cooperate, correct or with a bug. */
import type { PhaseMaker } from './cuda-block-phases.ts';

/** Every thread has separate elements. */
const owned: PhaseMaker = (c, broken) => {
  const { random } = c;
  const out = c.name('out');
  const input = c.name('in');
  const faults = ['pairs', 'neighbour', 'neighbour written', 'modulo', ...(c.grid > 1 ? ['thread only'] : [])];
  const fault = broken ? random.pick(faults) : undefined;
  const k = random.between(1, 4);
  const right = [
    `${out}[gid] = ${input}[gid];`,
    `${out}[gid + ${k}] = tid + ${input}[gid];`,
    `${out}[${k} * gid] = gid; ${out}[${k} * gid] += 2;`,
    `if (gid < n) ${out}[gid] = gid;`,
    `if (gid < n) ${out}[n - 1 - gid] = gid;`,
    `for (int j = 0; j < 4; j++) ${out}[gid * 4 + j] = j;`,
    `for (int j = 0; j < n; j++) ${out}[gid * n + j] = j + gid;`,
    `for (int j = 0; j < ${k}; j++) ${out}[gid + j * gridDim.x * blockDim.x] = gid;`,
    `${out}[${input}[gid] > 0 ? 2 * gid : 2 * gid + 1] = gid;`,
    `if (gid & 1) ${out}[gid - 1] = gid; else ${out}[gid + 1] = 2 * gid;`,
    `${out}[gid ^ ${k}] = gid;`,
    `*(short *)((char *)${out} + 2 * gid) = (short)gid;`,
    `((char *)${out})[gid] = (char)gid;`,
    `${out}[(gid / 32) * 64 + (gid & 31)] = gid; ${out}[(gid / 32) * 64 + 32 + (gid % 32)] = n;`,
    `${out}[(size_t)gid * 3 + 1] = gid; ${out}[(size_t)gid * 3 + 2] = ${out}[(size_t)gid * 3 + 1];`,
    `${out}[blockIdx.x * ${c.size} + ${c.size} - 1 - tid] = gid;`,
    `if (tid == 0) ${out}[blockIdx.x] = n;`,
    `if (tid == ${c.isSymbolic ? 'T' : c.block} - 1) { ${out}[2 * blockIdx.x] = gid; ${out}[2 * blockIdx.x + 1] = n; }`,
    `if (gid >= n && gid - n < n) ${out}[gid - n] = gid;`,
    `switch (gid & 3) { case 0: ${out}[gid] = 1; break; case 1: ${out}[gid] = 2; break; default: ${out}[gid + 8] = gid; }`,
  ];
  const wrong: Readonly<Record<string, string>> = {
    pairs: `${out}[gid / 2] = gid;`,
    neighbour: `${out}[gid] = ${out}[gid + 1] + ${input}[gid];`,
    'neighbour written': `${out}[gid] = gid; ${out}[gid + ${k}] = 2 * gid;`,
    modulo: `${out}[gid % 31] = gid;`,
    'thread only': `${out}[tid] = gid;`,
  };
  return {
    name: 'separate elements',
    parameters: [`int *${out}`, `const int *${input}`],
    body: [fault === undefined ? random.pick(right) : wrong[fault]!],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

const gridStride: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [out, input, m] = [c.name('out'), c.name('in'), c.name('m')];
  const faults = ['read ahead', 'halved', ...(c.grid > 1 ? ['stride of a block'] : []), 'overlapping pieces'];
  const fault = broken ? random.pick(faults) : undefined;
  const stride = fault === 'stride of a block' ? 'blockDim.x' : 'gridDim.x * blockDim.x';
  const body =
    fault === 'read ahead'
      ? `${out}[i] = ${out}[i + 1] + 1;`
      : fault === 'halved'
        ? `${out}[i / 2] = i;`
        : fault === 'overlapping pieces'
          ? `for (int j = 0; j < 3; j++) ${out}[2 * i + j] = i;`
          : fault === 'stride of a block'
            ? `${out}[i] = gid;`
            : random.pick([`${out}[i] = ${input}[i] * n;`, `${out}[2 * i] = i; ${out}[2 * i + 1] = n;`, `${out}[i] += 1;`]);
  const head = random.pick([
    `for (int i = gid; i < ${m}; i += ${stride})`,
    `for (int i = gid, step = ${stride}; i < ${m}; i += step)`,
    `for (long long i = gid; i < ${m}; i += ${stride})`,
    `for (unsigned i = gid; i < (unsigned)${m}; i += ${stride})`,
  ]);
  return {
    name: 'grid stride',
    parameters: [`int *${out}`, `const int *${input}`, `int ${m}`],
    body: [`${head} { ${body} }`],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Elements of threads are disjoint by a parameter with assumptions. */
const statedStride: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [out, m] = [c.name('out'), c.name('m')];
  const each = random.between(2, 5);
  const fault = broken ? random.pick(['stated too little', 'one too many']) : undefined;
  const multiple = random.pick([1, 1, each]);
  const least = fault === 'stated too little' && multiple === 1 ? each - 1 : each;
  const count = fault === undefined || least < each ? each : each + 1;
  const index = random.pick([`gid * ${m} + j`, `${m} * gid + ${m} - 1 - j`, `(size_t)gid * ${m} + j`]);
  return {
    name: 'stated stride',
    parameters: [`int *${out}`, `int ${m}`],
    body: [`for (int j = 0; j < ${count}; j++) ${out}[${index}] = gid + j * n;`],
    stated: [{ name: m, least, multiple }],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** A picture with rows of a width that is a parameter. */
const picture: PhaseMaker = (c, broken) => {
  if (c.isSymbolic || c.block % 8 !== 0) return owned(c, broken);
  const { random, block } = c;
  const [out, w, h] = [c.name('out'), c.name('w'), c.name('h')];
  const fault = broken ? random.pick(['no guard', 'wrong pitch', 'neighbour']) : undefined;
  const rows = block / 8;
  const target = fault === 'wrong pitch' ? `y * ${h} + x` : `y * ${w} + x`;
  const guard = fault === 'no guard' ? `y < ${h}` : random.pick([`x < ${w} && y < ${h}`, `x < ${w}`]);
  return {
    name: 'picture',
    parameters: [`int *${out}`, `int ${w}`, `int ${h}`],
    body: [
      `{ int x = tid % 8 + blockIdx.x * 8, y = tid / 8;`,
      `if (${guard} && y < ${rows}) ${out}[${target}] = ${fault === 'neighbour' ? `${out}[${target} + 1]` : 'gid'}; }`,
    ],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Counters, with atomics of several kinds. */
const counters: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [count, input] = [c.name('count'), c.name('in')];
  const faults = ['plain read', 'plain write', 'plain', ...(c.grid > 1 ? ['scope'] : [])];
  const fault = broken ? random.pick(faults) : undefined;
  const target = random.pick([count, `&${count}[${input}[gid] & 7]`, `&${count}[gid % 5]`]);
  const update = random.pick([
    `atomicAdd(${target}, 1)`,
    `atomicMax(${target}, gid)`,
    `atomicOr(${target}, 4)`,
    `atomicCAS(${target}, 0, gid)`,
    `atomicExch(${target}, gid)`,
  ]);
  const body: Readonly<Record<string, string>> = {
    'plain read': `atomicAdd(${count}, 1); acc += ${count}[0];`,
    'plain write': `atomicAdd(${count}, 1); if (tid == 1) ${count}[0] = n;`,
    plain: `${count}[0] += gid;`,
    scope: `atomicAdd_block(${count}, gid);`,
  };
  return {
    name: 'counters',
    parameters: [`int *${count}`, `const int *${input}`],
    body: [fault === undefined ? `acc += ${update};` : body[fault]!],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** Slots that a counter allocates. */
const tickets: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [count, out, input] = [c.name('count'), c.name('out'), c.name('in')];
  const step = random.between(1, 4);
  const fault = broken ? random.pick(['halved', 'masked', 'one too many', 'no step']) : undefined;
  const guard = random.pick([`if (${input}[gid] > 0) `, '', 'if (gid < n) ', 'if (tid % 3 == 0) ']);
  const writes = Array.from({ length: fault === 'one too many' ? step + 1 : step }, (_, k) => `${out}[slot + ${k}] = gid;`);
  const body = fault === 'halved' ? `${out}[slot / ${2 * step}] = gid;` : fault === 'masked' ? `${out}[slot & 7] = gid;` : writes.join(' ');
  const add = fault === 'no step' ? '0' : String(step);
  const isShared = random.chance(0.25);
  if (isShared) {
    const [local, list] = [c.name('count'), c.name('s')];
    return {
      name: 'tickets in shared memory',
      parameters: [`int *${out}`, `const int *${input}`],
      shared: [`int ${local}`, `int ${list}[${5 * (c.isSymbolic ? 1024 : c.block)}]`],
      body: [
        `if (tid == 0) ${local} = 0;`,
        '__syncthreads();',
        `${guard}{ int slot = atomicAdd(&${local}, ${add}); ${body.replaceAll(`${out}[`, `${list}[`)} }`,
        c.barrier(),
        `for (int k = tid; k < min(${local}, 8192); k += ${c.size}) ${out}[blockIdx.x * 8192 + k] = ${list}[k];`,
      ],
      ...(fault && { fault }),
    };
  }
  return {
    name: 'tickets',
    parameters: [`int *${count}`, `int *${out}`, `const int *${input}`],
    body: [`${guard}{ int slot = atomicAdd(${count}, ${add}); ${body} }`],
    zeroed: [count],
    ...(fault && { fault }),
  };
};

/** A spin lock that one thread of each block takes. */
const lock: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [mutex, sum] = [c.name('lock'), c.name('sum')];
  const faults =
    c.grid > 1
      ? ['no fences', 'fence after taking it only', 'fence before releasing it only', 'not taken', 'read outside']
      : ['all threads read'];
  const fault = broken ? random.pick(faults) : undefined;
  const before = fault === 'no fences' || fault === 'fence before releasing it only' ? '' : '__threadfence();';
  const after = fault === 'no fences' || fault === 'fence after taking it only' ? '' : '__threadfence();';
  const take = random.pick([
    `while (atomicCAS(${mutex}, 0, 1) != 0) { }`,
    `while (atomicExch(${mutex}, 1) == 1) ;`,
    `bool got = false; while (!got) { got = atomicCAS(${mutex}, 0, 1) == 0; }`,
  ]);
  const release = random.pick([`atomicExch(${mutex}, 0);`, `atomicExch(${mutex}, 0);`, `*(volatile int *)${mutex} = 0;`]);
  return {
    name: 'spin lock',
    parameters: [`int *${mutex}`, `int *${sum}`],
    body: [
      'if (tid == 0) {',
      ...(fault === 'not taken'
        ? [`${sum}[0] += gid;`]
        : [`  ${take}`, `  ${before}`, `  ${sum}[0] = ${sum}[0] * 2 + gid;`, `  ${after}`, `  ${release}`]),
      fault === 'read outside' ? `acc += ${sum}[0];` : '',
      '}',
      fault === 'all threads read' ? `acc += ${sum}[0];` : '',
    ],
    zeroed: [mutex],
    ...(fault && { fault }),
  };
};

/** A lock whose holders wait for the number they drew. */
const ticketLock: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [next, serving, sum] = [c.name('next'), c.name('serving'), c.name('sum')];
  if (c.grid === 1) return counters(c, broken);
  const fault = broken ? random.pick(['no fences', 'no waiting', 'fence missing']) : undefined;
  const fence = fault === 'no fences' ? '' : '__threadfence();';
  return {
    name: 'ticket lock',
    parameters: [`int *${next}`, `int *${serving}`, `int *${sum}`],
    body: [
      'if (tid == 0) {',
      `  int mine = atomicAdd(${next}, 1);`,
      fault === 'no waiting' ? '' : `  while (atomicAdd(${serving}, 0) != mine) { }`,
      `  ${fence}`,
      `  ${sum}[0] = ${sum}[0] * 2 + gid;`,
      `  ${fault === 'fence missing' ? '' : fence}`,
      `  atomicAdd(${serving}, 1);`,
      '}',
    ],
    zeroed: [next, serving],
    ...(fault && { fault }),
  };
};

/** The block that finishes last adds up the results of all. */
const lastBlock: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [partial, count, out] = [c.name('partial'), c.name('count'), c.name('out')];
  const isLast = c.name('last');
  if (c.grid === 1) return counters(c, broken);
  const fault = broken ? random.pick(['no fences', 'everybody', 'one too early', 'no barrier']) : undefined;
  const fence = fault === 'no fences' ? '' : '__threadfence();';
  const test = fault === 'one too early' ? 'gridDim.x - 2' : 'gridDim.x - 1';
  // The second fence of the toolkit's sample is at a place where it orders the reads of only one thread.
  const inSample = random.chance(0.2);
  const count1 = random.pick([`atomicAdd(${count}, 1u)`, `atomicInc(${count}, gridDim.x)`]);
  return {
    name: 'last block',
    parameters: [`int *${partial}`, `unsigned *${count}`, `int *${out}`],
    shared: [`bool ${isLast}`],
    body: [
      'if (tid == 0) {',
      `  ${partial}[blockIdx.x] = acc + gid;`,
      `  ${fence}`,
      `  unsigned before = ${count1};`,
      `  ${inSample ? '' : fence}`,
      `  ${isLast} = before == ${test};`,
      '}',
      fault === 'no barrier' ? '' : '__syncthreads();',
      fault === 'everybody' ? '{' : `if (${isLast}) {`,
      `  ${inSample ? fence : ''}`,
      `  for (int b = tid; b < gridDim.x; b += ${c.size}) acc += ${partial}[b];`,
      random.chance(0.5) ? `  if (tid == 0) ${out}[0] = acc;` : '',
      '}',
    ],
    zeroed: [count],
    ...(fault && { fault }),
    ...(inSample && { isOpen: true }),
  };
};

/** One block waits for a store of another. */
const flag: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [data, ready] = [c.name('data'), c.name('ready')];
  if (c.grid === 1) return counters(c, broken);
  const fault = broken ? random.pick(['no fences', 'writer without fence', 'reader without fence', 'not waited for']) : undefined;
  const release = fault === 'no fences' || fault === 'writer without fence' ? '' : '__threadfence();';
  const acquire = fault === 'no fences' || fault === 'reader without fence' ? '' : '__threadfence();';
  const [set, get] = random.pick([
    [`atomicExch(${ready}, 1);`, `atomicAdd(${ready}, 0) == 0`],
    [`*(volatile int *)${ready} = 1;`, `*(volatile int *)${ready} == 0`],
    [`atomicAdd(${ready}, 1);`, `*(volatile int *)${ready} != 1`],
    [`asm volatile("st.relaxed.gpu.global.s32 [%0], 1;" :: "l"(${ready}) : "memory");`, `peek(${ready}) == 0`],
  ]);
  return {
    name: 'flag',
    parameters: [`int *${data}`, `int *${ready}`],
    body: [
      `if (blockIdx.x == 0 && tid == 0) { ${data}[0] = n; ${release} ${set} }`,
      `if (blockIdx.x == 1 && tid == 0) { ${fault === 'not waited for' ? '' : `while (${get}) { }`} ${acquire} acc += ${data}[0]; }`,
    ],
    zeroed: [ready],
    ...(fault && { fault }),
  };
};

/** Indices that are read from memory. */
const indirect: PhaseMaker = (c, broken) => {
  const { random } = c;
  const [table, index, out] = [c.name('table'), c.name('index'), c.name('out')];
  const fault = broken ? random.pick(['neighbour', 'plain counter']) : undefined;
  const right = [
    `${out}[gid] = ${table}[${index}[gid]];`,
    `atomicAdd(&${out}[${index}[gid]], ${table}[gid]);`,
    `for (int j = ${index}[blockIdx.x]; j < ${index}[blockIdx.x + 1]; j++) ${out}[gid] += ${table}[j];`,
    `if (${table}[${index}[gid]] > 1) ${out}[gid] = 1;`,
  ];
  const wrong: Readonly<Record<string, string>> = {
    neighbour: `${out}[gid] = ${table}[${index}[gid]]; acc += ${out}[gid + 1];`,
    'plain counter': `${out}[0] += ${table}[${index}[gid]];`,
  };
  return {
    name: 'indirect',
    parameters: [`const int *${table}`, `const int *${index}`, `int *${out}`],
    body: [fault === undefined ? random.pick(right) : wrong[fault]!],
    repeats: 'freely',
    ...(fault && { fault }),
  };
};

/** A slot for a whole warp, allocated by its leader. */
const warpTickets: PhaseMaker = (c, broken) => {
  if (c.isSymbolic) return tickets(c, broken);
  const { random } = c;
  const [count, out, input] = [c.name('count'), c.name('out'), c.name('in')];
  const fault = broken ? random.pick(['no rank', 'one for all']) : undefined;
  const rank = fault === 'no rank' ? '0' : '__popc(ballot & ((1u << (tid & 31)) - 1))';
  return {
    name: 'tickets of warps',
    parameters: [`int *${count}`, `int *${out}`, `const int *${input}`],
    body: [
      `{ bool take = ${fault ? 'true' : `${input}[gid] > 0`};`,
      'unsigned ballot = __ballot_sync(0xffffffffu, take);',
      'int base = 0;',
      `if ((tid & 31) == 0) base = atomicAdd(${count}, ${fault === 'one for all' ? '1' : '__popc(ballot)'});`,
      'base = __shfl_sync(0xffffffffu, base, 0);',
      `if (take) ${out}[base + ${rank}] = gid; }`,
    ],
    zeroed: [count],
    // If there is only one warp, a counter's step has no effect.
    ...(fault && (fault === 'no rank' || c.block * c.grid > 32) && { fault }),
  };
};

/** A barrier of the whole grid. */
const gridBarrier: PhaseMaker = (c, broken) => {
  if (c.isSymbolic || c.grid === 1) return counters(c, broken);
  const { random } = c;
  const out = c.name('out');
  const fault = broken ? random.pick(['barrier of the block', 'none']) : undefined;
  const wait = fault === 'none' ? '' : fault === undefined ? 'cooperative_groups::this_grid().sync();' : '__syncthreads();';
  return {
    name: 'grid barrier',
    parameters: [`int *${out}`],
    body: [`${out}[gid] = tid;`, wait, `acc += ${out}[(gid + ${random.pick(['blockDim.x', '1'])}) % (gridDim.x * blockDim.x)];`],
    cooperative: true,
    ...(fault && { fault }),
  };
};

export const gridPhases: readonly PhaseMaker[] = [
  owned,
  owned,
  owned,
  owned,
  gridStride,
  gridStride,
  statedStride,
  picture,
  counters,
  tickets,
  tickets,
  lock,
  ticketLock,
  lastBlock,
  flag,
  indirect,
  warpTickets,
  gridBarrier,
];
