/**
 * Random CUDA kernels for the bounds of costs: loops of many shapes with accesses, branches and barriers. All have the
 * same parameters. No thread accesses data written by another one without a barrier in between.
 */
import type { Random } from '../../src/base/random.ts';

export interface LoopKernel {
  readonly name: string;
  readonly text: string;
  /** Shapes of its loops, from the outside in. */
  readonly loops: readonly string[];
}

/** Parameters of every kernel, in this order. */
export const loopParameters = 'int *out, const int *a, const int *lists, int *bins, int n, int m, unsigned u, long long w, Sizes s';

/** Declarations that all kernels need. */
export const loopPreamble = `struct Sizes { int rows; int columns; short small; unsigned char tiny; };
__device__ __noinline__ int chosen(const int *a, int x) { return x < 3 ? a[x + 3] : a[x & 31] + (a[x & 7] > 1 ? a[x] : 0); }
`;

/** Context of statements. */
interface Scope {
  /** Variables that are the same for all threads of a block, and those that are not. */
  readonly uniform: readonly string[];
  readonly varying: readonly string[];
  /** Whether all threads of a block come here together. */
  readonly isTogether: boolean;
  /** Loops around. */
  readonly depth: number;
  /** Whether \`break\` and \`continue\` are of the loop around. */
  readonly mayLeave: boolean;
}

/** A loop: the code before and after its body. */
interface LoopText {
  readonly shape: string;
  readonly head: readonly string[];
  readonly foot: readonly string[];
  /** Variables that the body may use. */
  readonly names: readonly string[];
  /** Whether the trip count is the same for all threads of a block. */
  readonly isUniform: boolean;
}

class Writer {
  readonly random: Random;
  readonly loops: string[] = [];
  readonly shared: string[] = [];
  #names = 0;
  #stores = 0;
  #left: number;

  constructor(random: Random, statements: number) {
    this.random = random;
    this.#left = statements;
  }

  name(prefix: string): string {
    return `${prefix}${this.#names++}`;
  }

  /** A number that is the same for all threads and not negative. */
  size(scope: Scope): string {
    const { random } = this;
    const k = random.between(1, 9);
    return random.pick([
      'n',
      'n',
      'm',
      'n',
      `${k}`,
      `${4 * k}`,
      '(int)u',
      '(int)w',
      's.rows',
      's.columns',
      '(int)s.small',
      '(int)s.tiny',
      `n / ${k}`,
      `n + ${k}`,
      `(n + ${k}) / ${k + 1}`,
      `min(n, ${3 * k})`,
      'min(n, m)',
      `max(n, ${k})`,
      'max(m, n)',
      `n % ${k + 1}`,
      '(int)blockDim.x',
      'n >> 2',
      `${k} * n`,
      'n + m',
      '(n + 31) / 32',
      `max(n - ${k}, 0)`,
      '(int)blockIdx.x + 1',
      'n & 15',
      ...(scope.uniform.length > 0
        ? [random.pick(scope.uniform), `${random.pick(scope.uniform)} + ${k}`, `${random.pick(scope.uniform)} * 2`]
        : []),
    ]);
  }

  /** A condition that may differ between lanes. */
  laneSize(scope: Scope): string {
    const { random } = this;
    const k = random.between(1, 9);
    return random.pick([
      't',
      `t % ${k + 1}`,
      `t / ${k + 1}`,
      't & 7',
      `a[gid] & ${random.pick([3, 7, 15])}`,
      'min(n, t)',
      'max(m, t)',
      `n + t`,
      'lane',
      `n / (1 + (t & 3))`,
      `(t & 1) ? n : m`,
      `t < 8 ? n : ${k}`,
      `lists[t] & 7`,
      `max(n - t, 0)`,
      `(int)threadIdx.y + 2`,
      ...(scope.varying.length > 0 ? [random.pick(scope.varying), `${random.pick(scope.varying)} + ${k}`] : []),
    ]);
  }

  /** A random index of a load. */
  index(scope: Scope): string {
    const { random } = this;
    const k = random.between(1, 33);
    const own = random.pick([...scope.uniform, ...scope.varying, 'n', 'm']);
    const other = random.pick([...scope.uniform, ...scope.varying, '3', 'm']);
    return random.pick([
      't',
      'gid',
      `t * ${k}`,
      `gid + ${k}`,
      `t + ${own}`,
      own,
      `t + ${own} * 32`,
      `gid + ${own} * ${k}`,
      `t * ${own} + ${other}`,
      `t ^ ${k & 31}`,
      `t % ${k}`,
      `t / ${k}`,
      `(t & ${random.pick([1, 3, 7, 24])}) * ${k}`,
      `${own} * n + t`,
      `${own} * ${k} + ${other}`,
      `(a[t] & 63) * ${k & 7}`,
      `(a[${own} & 63] & 31) + t`,
      `1000 - t - ${own}`,
      `(t + ${own}) & 31`,
      `(t >> 2) + ${own}`,
      `(lane < 16 ? t : n + t)`,
      `threadIdx.y * 40 + threadIdx.x`,
      `threadIdx.x * ${k} + threadIdx.y`,
    ]);
  }

  /** A condition that is uniform in a block, or not. */
  condition(scope: Scope, isUniform: boolean): string {
    const { random } = this;
    const k = random.between(1, 20);
    const own = random.pick([...scope.uniform, 'n', 'm']);
    if (isUniform)
      return random.pick([
        `n > ${k}`,
        `${own} > ${k}`,
        `${own} & 1`,
        `${own} % 3 == 1`,
        'n < m',
        `blockIdx.x == 0`,
        `${own} == ${k}`,
        'n > 4 && m > 8',
        'blockDim.x > 32',
        `s.tiny < ${k}`,
      ]);
    const any = random.pick([...scope.uniform, ...scope.varying, 't']);
    return random.pick([
      `t < ${k}`,
      `gid < n`,
      `t & 1`,
      `t % 3 == ${k % 3}`,
      `a[gid] > ${k}`,
      `t > ${any}`,
      `(a[t + ${any}] & 3) == 1`,
      `lane < ${k}`,
      `t == 0`,
      `t < 32`,
      `t >= 16 && t < 40`,
      `t < n || a[t] > 3`,
      `(t ^ ${any}) & 1`,
      `t < n && a[t] > ${k}`,
      `t + ${any} < m`,
      `t < (int)u`,
      `t * 2 < n`,
      `${any} % 4 != t % 4`,
      't / 32 == 1',
      't != n',
    ]);
  }

  /** Something that is executed now and then. */
  plain(scope: Scope): string[] {
    const { random } = this;
    const k = random.between(1, 7);
    const index = this.index(scope);
    const words = random.pick([4, 5, 8, 9, 16, 17, 32, 33]);
    const slot = this.name('own');
    switch (random.below(scope.isTogether ? 17 : 13)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return [`acc += a[${index}];`];
      case 4:
        return [`out[${(1 + this.#stores++) * 65536} + ${random.pick(['gid', `gid * ${k}`, `gid * 2 + 1`, `gid * 33`])}] = acc;`];
      case 5:
        return [`{ int4 v = ((const int4 *)a)[${index}]; acc += v.x ^ v.w; }`];
      case 6:
        return [
          `acc += (int)((const ${random.pick(['short', 'char', 'unsigned char', 'double', 'int2'])} *)a)[${index}];`.replace(
            /\(int\)\(\(const int2 \*\)a\)(.*);/,
            '((const int2 *)a)$1.y;',
          ),
        ];
      case 7:
        this.shared.push(`int ${slot}[1024 / ${k + 1} * ${words} / 4 + 4096]`);
        return [`${slot}[tid * ${words} + ((${index}) & ${random.pick([0, 1, 3])})] = acc;`, `acc += ${slot}[tid * ${words}];`];
      case 8:
        return [`atomicAdd(&bins[${random.pick(['a[gid] & 31', 't', `t % ${k}`, `t * ${k}`, '0'])}], 1);`];
      case 9: {
        this.shared.push(`int ${slot}[256]`);
        return [`atomicMax(&${slot}[${random.pick(['a[gid] & 31', `t & ${random.pick([7, 31, 63])}`, `(t % ${k}) * 8`])}], acc);`];
      }
      case 10:
        return [`{ int q[8]; q[acc & 7] = t; q[(acc + ${k}) & 7] = n; acc += q[t & 7]; }`];
      case 11:
        return [`acc += chosen(a, (${index}) & 255);`];
      case 12:
        return [`acc = acc * ${2 * k + 1} + ${random.pick([...scope.uniform, ...scope.varying, 'n'])};`];
      case 13:
      case 14: {
        const type = random.pick(['int', 'int', 'short', 'double', 'char', 'float4']);
        this.shared.push(`${type} ${slot}[2300]`);
        const [to, from] = random.pick([
          [`tid * ${k}`, `tid * ${k}`],
          ['tid', `(tid * ${k}) & 255`],
          [`(tid >> 4) * ${words} + (tid & 15)`, `(tid & 15) * ${words} + (tid >> 4)`],
          ['tid', `tid ^ ${k}`],
          ['tid', `255 - tid`],
          [`tid + tid / 32`, `(${index}) & 255`],
          ['tid', `${random.pick([...scope.uniform, 'n'])} & 127`],
        ] as const);
        const value = type === 'float4' ? 'make_float4(acc, n, 0, 1)' : `(${type})acc`;
        return [
          `${slot}[${to}] = ${value};`,
          '__syncthreads();',
          `acc += (int)${slot}[${from}]${type === 'float4' ? '.y' : ''};`,
          '__syncthreads();',
        ];
      }
      case 15:
        return [
          random.pick([
            '__syncwarp();',
            `acc += __shfl_xor_sync(0xffffffffu, acc, ${1 << (k % 5)});`,
            `acc += __ballot_sync(0xffffffffu, acc & 1);`,
            `if (__any_sync(0xffffffffu, acc > ${k})) acc += a[t];`,
          ]),
        ];
      default: {
        this.shared.push(`int ${slot}[1024]`);
        const d = this.name('d');
        this.loops.push('halving with barriers');
        return [
          `${slot}[tid] = acc;`,
          '__syncthreads();',
          random.pick([
            `for (int ${d} = T / 2; ${d} > 0; ${d} >>= 1) {`,
            `for (int ${d} = 128; ${d} > 0; ${d} /= 2) {`,
            `for (int ${d} = 1; ${d} < T; ${d} *= 2) {`,
            `for (int ${d} = T / 2; ${d} > 32; ${d} >>= 1) {`,
          ]),
          random.pick([
            `    int v = tid < ${d} ? ${slot}[tid + ${d}] : 0;`,
            `    int v = tid % (2 * ${d}) == 0 ? ${slot}[tid + ${d}] : 0;`,
            `    int v = 0; if (tid >= ${d}) v = ${slot}[tid - ${d}];`,
          ]),
          '    __syncthreads();',
          `    ${slot}[tid] += v;`,
          '    __syncthreads();',
          '}',
        ];
      }
    }
  }

  loop(scope: Scope): LoopText {
    const { random } = this;
    const i = this.name('i');
    const j = this.name('j');
    const k = random.between(1, 5);
    const isUniform = random.chance(0.55);
    const bound = isUniform ? this.size(scope) : this.laneSize(scope);
    const limit = this.size(scope);
    const start = isUniform
      ? random.pick(['0', '0', `${k}`, 'm', ...scope.uniform])
      : random.pick(['0', 't', 'gid', 'lane', ...scope.varying, ...scope.uniform]);
    const stepIs = random.pick(['1', '1', `${k}`, '2', 'T', 'm + 1', isUniform ? `s.tiny + 1` : `1 + t % 3`]);
    const step = stepIs === '1' ? `${i}++` : `${i} += ${stepIs}`;
    const unroll = random.pick(['', '', '', '#pragma unroll 1', '#pragma unroll 4', '#pragma unroll']);
    const made = (
      shape: string,
      head: readonly string[],
      options: { foot?: readonly string[]; names?: readonly string[]; isUniform?: boolean } = {},
    ): LoopText => ({
      shape,
      head: unroll !== '' && head.length === 1 && head[0]!.startsWith('for') ? [unroll, ...head] : head,
      foot: options.foot ?? ['}'],
      names: options.names ?? [i],
      isUniform: options.isUniform ?? isUniform,
    });
    const shapes: (() => LoopText)[] = [
      () => made('up', [`for (int ${i} = ${start}; ${i} < ${bound}; ${step}) {`]),
      () => made('up', [`for (int ${i} = 0; ${i} < ${bound}; ${i}++) {`]),
      () => made('up weakly', [`for (int ${i} = ${start}; ${i} <= ${bound}; ${step}) {`]),
      () =>
        made('unequal', [`for (int ${i} = 0; ${i} != ${random.pick(['n', 'm', 's.rows', `n / ${k}`, '12'])}; ${i}++) {`], {
          isUniform: true,
        }),
      () =>
        made('down', [
          `for (int ${i} = ${bound}; ${i} > ${random.pick(['0', `${k}`, 'm'])}; ${i} -= ${random.pick(['1', '1', '2', `${k}`, 'T', 'm + 1'])}) {`,
        ]),
      () => made('down to zero', [`for (int ${i} = (${bound}) - 1; ${i} >= 0; ${i} -= ${random.pick(['1', '1', '2', `${k}`, 'T'])}) {`]),
      () => made('unsigned down', [`for (unsigned ${i} = ${bound}; ${i}-- > 0;) {`], { names: [`(int)${i}`] }),
      () => made('unsigned up', [`for (unsigned ${i} = ${start}; ${i} < (unsigned)(${bound}); ${step}) {`], { names: [`(int)${i}`] }),
      () =>
        made('unsigned stride down', [`for (unsigned ${i} = ${bound}; ${i} >= ${k + 1}; ${i} -= ${k + 1}) {`], { names: [`(int)${i}`] }),
      () =>
        made(
          'wide',
          [
            `for (long long ${i} = ${start}; ${i} < ${random.pick(['w', bound, 'w + 1', 'w / 2', 'w - 3'])}; ${i} += ${random.pick(['1', '2', 'T', `${k}`])}) {`,
          ],
          { names: [`(int)${i}`] },
        ),
      () =>
        made('size_t', [`for (size_t ${i} = gid; ${i} < (size_t)(${limit}); ${i} += (size_t)blockDim.x * gridDim.x) {`], {
          names: [`(int)${i}`],
          isUniform: false,
        }),
      () =>
        made(
          'short',
          [
            `for (${random.pick(['short', 'unsigned short', 'signed char', 'unsigned char'])} ${i} = ${random.pick(['0', '0', `${k}`, 't & 7'])}; ${i} < ${random.pick(['s.small', 's.tiny', 'min(n, 90)', 't % 9'])}; ${i} += ${k}) {`,
          ],
          { isUniform: false },
        ),
      () => made('grid stride', [`for (int ${i} = gid; ${i} < ${limit}; ${i} += G) {`], { isUniform: false }),
      () =>
        made('block stride', [`for (int ${i} = t; ${i} < ${limit}; ${i} += ${random.pick(['T', 'blockDim.x', '64'])}) {`], {
          isUniform: false,
        }),
      () =>
        made('do', [`int ${i} = ${start};`, 'do {'], {
          foot: [random.pick([`} while (++${i} < ${bound});`, `${i} += ${k}; } while (${i} < ${bound});`, `} while (${i}++ < ${bound});`])],
        }),
      () =>
        made('exit within', [`int ${i} = ${start};`, 'while (true) {', `    if (${i} >= ${bound}) break;`], {
          foot: [`${i} += ${k};`, '}'],
        }),
      () =>
        made(
          'exit in the middle',
          [`int ${i} = ${start};`, 'while (true) {', `acc += a[${i}];`, `    if (${i} >= ${bound}) break;`, `${i} += ${k};`],
          { foot: ['}'] },
        ),
      () =>
        made('doubling', [
          `for (int ${i} = ${random.pick(['1', '2', '3', `${k}`])}; ${i} < ${bound}; ${i} ${random.pick(['*= 2', '<<= 1', '+= ' + i, '*= 3', '<<= 2', '*= 4'])}) {`,
        ]),
      () =>
        made('doubling from', [`for (int ${i} = m + 1; ${i} <= ${limit}; ${i} ${random.pick(['*= 2', '<<= 1', '+= ' + i, '*= 3'])}) {`], {
          isUniform: true,
        }),
      () =>
        made('halving', [
          `for (int ${i} = ${bound}; ${i} > ${random.pick(['0', '0', '1', '2', `${k}`])}; ${i} ${random.pick(['/= 2', '>>= 1', '/= 3', '>>= 2', '/= 10'])}) {`,
        ]),
      () =>
        made(
          'unsigned halving',
          [`for (unsigned ${i} = ${bound}; ${i} != 0; ${i} ${random.pick(['/= 2', '>>= 1', '/= 3', '&= ' + i + ' - 1'])}) {`],
          { names: [`(int)${i}`] },
        ),
      () =>
        made(
          'converging',
          [
            `int ${i} = 0, ${j} = ${bound};`,
            `for (; ${i} < ${j}; ${i}${random.pick(['++', ' += 2'])}, ${j}${random.pick(['--', ' -= 3'])}) {`,
          ],
          { names: [i, j] },
        ),
      () =>
        made('converging by data', [`int ${i} = 0, ${j} = ${limit};`, `while (${i} < ${j}) {`], {
          names: [i, j],
          isUniform: false,
          foot: [`if (a[gid + ${i}] > a[gid + ${j}]) ${i}${random.pick(['++', ' += 2'])}; else ${j}--;`, '}'],
        }),
      () =>
        made('search', [`int ${i} = 0, ${j} = ${limit};`, `while (${i} < ${j}) {`, `    const int mid = (${i} + ${j}) / 2;`], {
          names: [i, j],
          isUniform: false,
          foot: [
            random.pick([`if (a[mid] < t) ${i} = mid + 1; else ${j} = mid;`, `if (lists[mid] > a[t]) ${j} = mid; else ${i} = mid + 1;`]),
            '}',
          ],
        }),
      () =>
        made(
          'amortised stack',
          [
            `int ${j} = 0;`,
            `for (int ${i} = 0; ${i} < ${limit}; ${i}++) {`,
            `    ${j}++;`,
            `    while (${j} > 0 && a[${random.pick([`${i} + ${j}`, `t + ${j}`])}] > 2) ${j}${random.pick(['--', '-= 1'])};`,
          ],
          { names: [i, j], isUniform: false },
        ),
      () =>
        made(
          'amortised pointer',
          [
            `int ${j} = 0;`,
            `for (int ${i} = 0; ${i} < ${limit}; ${i}++) {`,
            `    while (${j} < ${random.pick(['n', 'm', i])} && a[${random.pick([j, `t + ${j}`])}] ${random.pick(['<', '>'])} 2) { acc += a[${j}]; ${j}++; }`,
          ],
          { names: [i, j], isUniform: false },
        ),
      () =>
        made(
          'step by data',
          [
            `for (int ${i} = 0; ${i} < ${limit}; ${i} += ${random.pick([`(a[t + ${i}] & 1) + 1`, `(a[${i}] & 1) ? 1 : 2`, `1 + (t & 1)`, `1 + (${i} & 1)`, `max(a[${i}] & 3, 1)`])}) {`,
          ],
          { isUniform: false },
        ),
      () =>
        made(
          'limit that falls',
          [`int ${j} = ${limit};`, `for (int ${i} = 0; ${i} < ${j}; ${i}++) {`, `    if (a[t + ${i}] & 1) ${j}--;`],
          { names: [i, j], isUniform: false },
        ),
      () =>
        made(
          'pointer',
          [
            `for (const int *${i} = a + ${random.pick(['0', 't', 'm'])}; ${i} < a + ${random.pick(['n', `${4 * k}`, '(n + m)'])}; ${i} += ${random.pick(['1', '2', 'T'])}) {`,
            `    acc += *${i};`,
          ],
          { names: [], isUniform: false },
        ),
      () => made('countdown', [`int ${i} = ${bound};`, `while (${i}-- > 0) {`]),
      () => made('two limits', [`for (int ${i} = ${start}; ${i} < ${bound} && ${i} < ${limit}; ${step}) {`]),
      () => made('min of two', [`for (int ${i} = 0; ${i} < min(${bound}, ${limit}); ${step}) {`]),
      () => made('max of two', [`for (int ${i} = 0; ${i} < max(${bound}, ${limit}); ${step}) {`]),
      () =>
        made('until found', [`int ${i} = 0;`, `while (${i} < ${limit} && a[${random.pick([i, `t + ${i}`])}] != ${k}) {`], {
          foot: [`${i}++;`, '}'],
          isUniform: false,
        }),
      () => made('root', [`for (int ${i} = 1; ${i} * ${i} <= ${bound}; ${i}++) {`]),
      () =>
        made(
          'list',
          [
            `for (int ${i} = lists[${random.pick(['blockIdx.x', 't', '0'])}] & 3; ${i} < (lists[${random.pick(['blockIdx.x + 1', 't + 1', '1'])}] & 15); ${i}++) {`,
          ],
          { isUniform: false },
        ),
      () =>
        made('flag', [`int ${i} = 0;`, `bool go${i} = ${bound} > 0;`, `while (go${i}) {`], {
          foot: [`${i}++;`, `go${i} = ${i} < ${bound};`, '}'],
        }),
    ];
    const nested: (() => LoopText)[] = [...scope.uniform, ...scope.varying]
      .filter((name) => /^i\d+$/.test(name))
      .flatMap((o) => {
        const same = scope.uniform.includes(o);
        return [
          () => made('triangle', [`for (int ${i} = 0; ${i} < ${o}; ${i}++) {`], { isUniform: same }),
          () => made('triangle', [`for (int ${i} = ${o}; ${i} < ${limit}; ${i} += ${k}) {`], { isUniform: same }),
          () => made('triangle down', [`for (int ${i} = ${o}; ${i} >= 0; ${i} -= ${k}) {`], { isUniform: same }),
          () => made('harmonic', [`for (int ${i} = ${o}; ${i} < ${limit}; ${i} += ${o} + 1) {`], { isUniform: same }),
          () => made('doubling to outer', [`for (int ${i} = 1; ${i} < ${o}; ${i} *= 2) {`], { isUniform: same }),
          () => made('halving from outer', [`for (int ${i} = ${o}; ${i} > 0; ${i} >>= 1) {`], { isUniform: same }),
          () => made('window', [`for (int ${i} = max(${o} - ${k}, 0); ${i} < min(${o} + ${k}, ${limit}); ${i}++) {`], { isUniform: same }),
          () => made('window by lane', [`for (int ${i} = ${o}; ${i} < min(${o} + t % 5, ${limit}); ${i}++) {`], { isUniform: false }),
        ];
      });
    return random.pick(nested.length > 0 && random.chance(0.5) ? nested : shapes)();
  }

  /** A list of statements. */
  block(scope: Scope, most: number): string[] {
    const lines: string[] = [];
    const count = this.random.between(1, most);
    for (let k = 0; k < count && (this.#left > 0 || k === 0); k++) lines.push(...this.statement(scope));
    return lines;
  }

  looped(scope: Scope): string[] {
    const { random } = this;
    const { shape, head, foot, names, isUniform } = this.loop(scope);
    this.loops.push(shape);
    const uses = foot.length === 1 && foot[0] === '}';
    const inner: Scope = {
      uniform: isUniform ? [...scope.uniform, ...names] : scope.uniform,
      varying: isUniform ? scope.varying : [...scope.varying, ...names],
      isTogether: scope.isTogether && isUniform,
      depth: scope.depth + 1,
      mayLeave: uses,
    };
    const exit = random.chance(0.2);
    const isUniformExit = random.chance(0.4);
    const leave =
      exit && (uses || !isUniformExit)
        ? [`if (${this.condition(inner, isUniformExit)}) ${random.pick(uses ? ['break;', 'continue;', 'break;'] : ['break;'])}`]
        : [];
    // A thread that exits early must not miss a barrier.
    const isStill = leave.length === 0 || isUniformExit;
    const body = this.block({ ...inner, isTogether: inner.isTogether && isStill }, 2);
    const lines = random.chance(0.5) ? [...leave, ...body] : [...body, ...leave];
    return [`{`, ...head, ...lines.map((line) => `    ${line}`), ...foot, '}'];
  }

  statement(scope: Scope): string[] {
    const { random } = this;
    this.#left--;
    const what = random.next();
    if (scope.depth < 3 && what < 0.34 && this.#left > 0) return this.looped(scope);
    if (what < 0.52 && this.#left > 0) {
      const isUniform = random.chance(0.35);
      const inner = { ...scope, isTogether: scope.isTogether && isUniform };
      const yes = this.block(inner, 2);
      const no = random.chance(0.4) ? ['} else {', ...this.block(inner, 2).map((line) => `    ${line}`)] : [];
      return [`if (${this.condition(scope, isUniform)}) {`, ...yes.map((line) => `    ${line}`), ...no, '}'];
    }
    if (what < 0.57 && this.#left > 0) {
      const inner = { ...scope, isTogether: false, mayLeave: false };
      const cases = [0, 1, 3].flatMap((value) => [`case ${value}: {`, ...this.plain(inner), random.chance(0.8) ? '} break;' : '}']);
      return [`switch ((${random.pick([this.index(scope), 't', 'n', 'a[gid]'])}) & 3) {`, ...cases, `default: acc++;`, '}'];
    }
    return this.plain(scope);
  }
}

/** Generates a kernel. */
export function generateLoops(random: Random, name: string): LoopKernel {
  const isSimple = random.chance(0.35);
  const writer = new Writer(random, isSimple ? 2 : random.between(4, 12));
  const outer: Scope = { uniform: [], varying: [], isTogether: true, depth: 0, mayLeave: false };
  const body = isSimple ? writer.looped(outer) : [];
  if (!isSimple) {
    const isLeaving = random.chance(0.2);
    const isUniform = random.chance(0.3);
    if (isLeaving) body.push(`if (${writer.condition(outer, isUniform)}) return;`);
    const scope = { ...outer, isTogether: !isLeaving || isUniform };
    for (let k = random.between(1, 3); k > 0; k--) body.push(...writer.statement(scope));
    body.push(...writer.looped(scope));
  }
  const lines = [
    `__global__ void ${name}(${loopParameters}) {`,
    ...writer.shared.map((declaration) => `    __shared__ ${declaration};`),
    '    const int tid = threadIdx.x + blockDim.x * threadIdx.y, t = threadIdx.x, lane = tid & 31, T = blockDim.x;',
    '    const int gid = (blockIdx.x * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x, G = gridDim.x * blockDim.x;',
    '    int acc = t;',
    ...body.map((line) => (line.startsWith('#') ? line : `    ${line}`)),
    '    out[gid] = acc;',
    '}',
  ];
  return { name, text: `${lines.join('\n')}\n`, loops: writer.loops };
}
