/**
 * Random kernels as PTX for the differential run of the interpreter's back ends: instructions of every pure row of the
 * table, loops with data-dependent trip counts, branches, shared memory between barriers, vector and narrow accesses,
 * local arrays, constants, atomics, exchanges within a warp. Free of races by construction: a thread writes its own
 * global memory, between two barriers its own shared memory, and counters by `red`. A few kernels fault, exit early,
 * run long, or lack barriers.
 */
import type { Random } from '../../src/base/random.ts';
import { examples } from '../isa/examples.ts';
import { decodeExamples } from '../isa/example-module.ts';

/** Elements of 32 bits: read by all threads; shared by atomics; private to each thread. */
export const inputElements = 256;
export const counterElements = 16;
export const ownElements = 32;
/** Threads of a block at most; the shared array has two elements of 64 bits for each. */
export const mostThreads = 64;

const localBytes = 64;

/** An array in constant memory: a power of two of elements. */
const constants = [1, 2, 3, 0x3f800000, 0x7fc00001, 0x80000000, 0xffffffff, 31];

type Class = 'h' | 'r' | 'd' | 'q' | 'f' | 'e' | 'p';

/** Variables by class; those that follow are scratch. */
const variables: Readonly<Record<Class, number>> = { h: 4, r: 8, d: 5, q: 2, f: 6, e: 4, p: 4 };

/** The texts of examples whose results are only values. */
const pureTexts: readonly string[] = decodeExamples(examples).flatMap(({ example, operation }) =>
  operation?.evaluate && operation.results.length > 0 && /%[a-z]\d/.test(example.text) ? [example.text] : [],
);

/** Instructions that kernels consist of more than of others. */
const common = [
  'add.s32 %r1, %r2, %r3',
  'sub.s32 %r1, %r2, %r3',
  'mad.lo.s32 %r1, %r2, %r3, %r4',
  'mul.lo.s32 %r1, %r2, 7',
  'and.b32 %r1, %r2, 255',
  'xor.b32 %r1, %r2, %r3',
  'shl.b32 %r1, %r2, 3',
  'shr.u32 %r1, %r2, %r3',
  'mul.wide.s32 %d1, %r2, %r3',
  'add.s64 %d1, %d2, %d3',
  'cvt.u64.u32 %d1, %r2',
  'cvt.u32.u64 %r1, %d2',
  'fma.rn.f32 %f1, %f2, %f3, %f4',
  'fma.rn.f32 %f1, %f2, %f3, %f1',
  'add.f32 %f1, %f2, %f3',
  'mul.f32 %f1, %f2, %f3',
  'fma.rn.ftz.f32 %f1, %f2, %f3, %f1',
  'mul.ftz.f32 %f1, %f2, %f3',
  'sub.f32 %f1, %f2, %f3',
  'fma.rn.f64 %e1, %e2, %e3, %e4',
  'add.f64 %e1, %e2, %e3',
  'cvt.rn.f32.s32 %f1, %r2',
  'cvt.rzi.s32.f32 %r1, %f2',
  'cvt.f64.f32 %e1, %f2',
  'cvt.rn.f32.f64 %f1, %e2',
  'mov.b32 %r1, %f2',
  'mov.b32 %f1, %r2',
  'mov.b64 %e1, %d2',
  'selp.b32 %r1, %r2, %r3, %p1',
  'selp.f32 %f1, %f2, %f3, %p1',
  'setp.lt.s32 %p1, %r2, %r3',
  'setp.gt.f32 %p1, %f2, %f3',
  'setp.ne.u64 %p1, %d2, %d3',
  'min.s32 %r1, %r2, %r3',
  'max.f32 %f1, %f2, %f3',
  'not.pred %p1, %p2',
];

/** Irregularities of a kernel: threads exit early, accesses are out of bounds, loops run long, barriers are missing. */
export type Oddity = 'exit' | 'fault' | 'long' | 'race';

class Writer {
  readonly lines: string[] = [];
  readonly #random: Random;
  readonly #oddity: Oddity | null;
  /** Statements that may still be written. */
  #budget: number;
  #labels = 0;
  #scratch = 40;

  constructor(random: Random, budget: number, oddity: Oddity | null) {
    this.#random = random;
    this.#oddity = oddity;
    this.#budget = budget;
  }

  #write(...lines: string[]): void {
    this.lines.push(...lines);
  }

  #fresh(kind: Class): string {
    return `%${kind}${this.#scratch++}`;
  }

  #label(): string {
    return `L${this.#labels++}`;
  }

  #variable(kind: Class): string {
    return `%${kind}${1 + this.#random.below(variables[kind])}`;
  }

  /** Replaces the registers of an instruction with random variables; results are different ones. */
  #renamed(text: string): string {
    const used = new Set<string>();
    return text.replaceAll(/%([hrdqfep])\d/g, (_, kind: Class) => {
      let name = this.#variable(kind);
      // Results come first; it suffices to keep the first registers distinct, and every class has two.
      while (used.size < 2 && used.has(name)) name = this.#variable(kind);
      used.add(name);
      return name;
    });
  }

  /** Possibly a guard before an instruction. */
  #guard(): string {
    const random = this.#random;
    return random.chance(0.15) ? `@${random.chance(0.5) ? '!' : ''}${this.#variable('p')} ` : '';
  }

  #compute(): void {
    const random = this.#random;
    this.#write(`${this.#guard()}${this.#renamed(random.chance(0.5) ? random.pick(pureTexts) : random.pick(common))};`);
  }

  /** An index below `count`, which is a power of two, from a variable. */
  #index(count: number): string {
    const index = this.#fresh('r');
    this.#write(`and.b32 ${index}, ${this.#variable('r')}, ${count - 1};`);
    // A distance at which no other array is hit.
    if (this.#oddity === 'fault' && this.#random.chance(0.3)) this.#write(`@%p1 or.b32 ${index}, ${index}, 0x3fff0000;`);
    return index;
  }

  /** The address of an element of `bytes` bytes, of `count` such elements from `base` on. */
  #address(base: string, bytes: number, count: number): string {
    const offset = this.#fresh('d');
    const address = this.#fresh('d');
    this.#write(`mul.wide.u32 ${offset}, ${this.#index(count)}, ${bytes};`, `add.s64 ${address}, ${base}, ${offset};`);
    return address;
  }

  #load(space: string, base: string, bytes: number): void {
    const random = this.#random;
    const [type, kind, size] = random.pick([
      ['u32', 'r', 4],
      ['f32', 'f', 4],
      ['s8', 'r', 1],
      ['u8', 'h', 1],
      ['s16', 'r', 2],
      ['b16', 'h', 2],
      ['u64', 'd', 8],
      ['f64', 'e', 8],
      ['v2.u32', 'r', 8],
      ['v2.f32', 'f', 8],
      ['v4.u32', 'r', 16],
      ['v4.f32', 'f', 16],
      ['v2.u64', 'd', 16],
      ['v4.u8', 'h', 4],
      ['s32', 'd', 4],
    ] as const);
    const lanes = Number(/^v(\d)/.exec(type)?.[1] ?? 1);
    const address = this.#address(base, size, bytes / size);
    const values = this.#distinct(kind, lanes);
    this.#write(`${this.#guard()}ld${space}.${type} ${lanes > 1 ? `{${values.join(', ')}}` : values[0]}, [${address}];`);
  }

  #store(space: string, base: string, bytes: number): void {
    const random = this.#random;
    const [type, kind, size] = random.pick([
      ['u32', 'r', 4],
      ['f32', 'f', 4],
      ['u8', 'r', 1],
      ['u8', 'h', 1],
      ['u16', 'r', 2],
      ['b16', 'h', 2],
      ['u64', 'd', 8],
      ['f64', 'e', 8],
      ['v2.u32', 'r', 8],
      ['v2.f32', 'f', 8],
      ['v4.f32', 'f', 16],
      ['v2.f64', 'e', 16],
      ['v2.u16', 'h', 4],
    ] as const);
    const lanes = Number(/^v(\d)/.exec(type)?.[1] ?? 1);
    const address = this.#address(base, size, bytes / size);
    const values = Array.from({ length: lanes }, () => this.#variable(kind));
    this.#write(`${this.#guard()}st${space}.${type} [${address}], ${lanes > 1 ? `{${values.join(', ')}}` : values[0]};`);
  }

  #distinct(kind: Class, count: number): string[] {
    const names = new Set<string>();
    while (names.size < count) names.add(this.#variable(kind));
    return [...names];
  }

  #memory(): void {
    const random = this.#random;
    switch (random.below(9)) {
      case 0:
      case 1:
        this.#load(random.pick(['.global', '', '.global.nc']), '%d20', 4 * inputElements);
        break;
      case 6:
        this.#load('.const', '%d29', 4 * constants.length);
        break;
      case 2:
        this.#load(random.pick(['.global', '']), '%d21', 4 * ownElements);
        break;
      case 3:
        this.#store(random.pick(['.global', '']), '%d21', 4 * ownElements);
        break;
      case 4:
        this.#load('.local', '%d23', localBytes);
        break;
      case 5:
        this.#store('.local', '%d23', localBytes);
        break;
      default:
        this.#atomic();
    }
  }

  #atomic(): void {
    const random = this.#random;
    if (random.chance(0.5)) {
      const address = this.#address('%d22', 4, counterElements);
      const operation = random.pick(['add.u32', 'min.s32', 'max.u32', 'xor.b32', 'or.b32', 'and.b32']);
      // Each operation has separate counters: only updates of one kind commute.
      const offset = 4 * counterElements * ['add', 'min', 'max', 'xor', 'or', 'and'].indexOf(operation.split('.')[0]!);
      this.#write(`red.global.${operation} [${address}+${offset}], ${this.#variable('r')};`);
      return;
    }
    const [operation, kind, bytes, sources] = random.pick([
      ['add.u32', 'r', 4, 1],
      ['exch.b32', 'r', 4, 1],
      ['cas.b32', 'r', 4, 2],
      ['inc.u32', 'r', 4, 1],
      ['dec.u32', 'r', 4, 1],
      ['add.f32', 'f', 4, 1],
      ['add.u64', 'd', 8, 1],
      ['max.s64', 'd', 8, 1],
      ['cas.b64', 'd', 8, 2],
      ['add.f64', 'e', 8, 1],
      ['add.noftz.f16x2', 'r', 4, 1],
    ] as const);
    const address = this.#address('%d21', bytes, (4 * ownElements) / bytes);
    const values = Array.from({ length: sources }, () => this.#variable(kind));
    this.#write(`atom.global.${operation} ${this.#variable(kind)}, [${address}], ${values.join(', ')};`);
  }

  /** A condition in a fresh predicate. */
  #condition(): string {
    const random = this.#random;
    if (random.chance(0.3)) return this.#variable('p');
    const condition = this.#fresh('p');
    if (random.chance(0.3))
      this.#write(`setp.${random.pick(['lt', 'ge', 'neu'])}.f32 ${condition}, ${this.#variable('f')}, ${this.#variable('f')};`);
    else
      this.#write(
        `setp.${random.pick(['lt', 'gt', 'eq', 'ne'])}.s32 ${condition}, ${this.#variable('r')}, ${random.pick(['0', '7', '%r20', this.#variable('r')])};`,
      );
    return condition;
  }

  #branch(depth: number, leave: string | null): void {
    const random = this.#random;
    const [otherwise, join] = [this.#label(), this.#label()];
    this.#write(`@${random.chance(0.5) ? '!' : ''}${this.#condition()} bra ${otherwise};`);
    this.#block(depth - 1, leave);
    if (leave && random.chance(0.3)) this.#write(`bra ${leave};`);
    else this.#write(`bra ${join};`);
    this.#write(`${otherwise}:`);
    if (random.chance(0.5)) this.#block(depth - 1, leave);
    this.#write(`${join}:`);
  }

  #switch(depth: number, leave: string | null): void {
    const [targets, join] = [this.#label(), this.#label()];
    const labels = [0, 1, 2, 3].map(() => this.#label());
    const index = this.#index(4);
    this.#write(`${targets}: .branchtargets ${labels.join(', ')};`, `brx.idx ${index}, ${targets};`);
    for (const label of labels) {
      this.#write(`${label}:`);
      if (this.#random.chance(0.6)) this.#block(depth - 1, leave);
      if (this.#random.chance(0.7)) this.#write(`bra ${join};`);
    }
    this.#write(`${join}:`);
  }

  /** A loop whose trip count is in a variable. */
  #loop(depth: number): void {
    const random = this.#random;
    const counter = this.#fresh('r');
    const bound = this.#fresh('r');
    const goOn = this.#fresh('p');
    const [head, leave] = [this.#label(), this.#label()];
    this.#write(
      `and.b32 ${bound}, ${this.#variable('r')}, ${this.#oddity === 'long' && depth === 1 && random.chance(0.1) ? 2047 : random.pick([1, 3, 3, 7])};`,
      `mov.u32 ${counter}, 0;`,
    );
    const testFirst = random.chance(0.5);
    this.#write(`${head}:`);
    if (testFirst) this.#write(`setp.lt.u32 ${goOn}, ${counter}, ${bound};`, `@!${goOn} bra ${leave};`);
    this.#block(depth - 1, leave);
    this.#write(`add.u32 ${counter}, ${counter}, 1;`);
    if (random.chance(0.3)) this.#write(`xor.b32 ${this.#variable('r')}, ${this.#variable('r')}, ${counter};`);
    if (testFirst) this.#write(`bra ${head};`);
    else this.#write(`setp.lt.u32 ${goOn}, ${counter}, ${bound};`, `@${goOn} bra ${head};`);
    this.#write(`${leave}:`);
  }

  #block(depth: number, leave: string | null): void {
    const random = this.#random;
    for (let count = 1 + random.below(4); count > 0 && this.#budget > 0; count--) {
      this.#budget--;
      const kind = random.below(depth > 0 ? 26 : 18);
      if (kind < 12) this.#compute();
      else if (kind < 18) this.#memory();
      else if (kind < 22) this.#branch(depth, leave);
      else if (kind < 23) this.#switch(depth, leave);
      else this.#loop(depth);
      if (this.#oddity === 'exit' && this.#random.chance(0.1)) this.#write(`@${this.#condition()} exit;`);
    }
  }

  /** Every thread writes its element, a barrier, every thread reads any elements, a barrier. */
  #exchange(): void {
    const random = this.#random;
    const wide = random.chance(0.3);
    const [type, kind, bytes] = wide
      ? random.pick([
          ['u64', 'd', 8],
          ['f64', 'e', 8],
        ] as const)
      : random.pick([
          ['u32', 'r', 4],
          ['f32', 'f', 4],
          ['u8', 'r', 1],
          ['u16', 'h', 2],
        ] as const);
    const element = this.#fresh('r');
    const offset = this.#fresh('d');
    const address = this.#fresh('d');
    this.#write(
      `xor.b32 ${element}, %r21, ${random.below(mostThreads)};`,
      `mul.wide.u32 ${offset}, ${element}, ${bytes};`,
      `add.s64 ${address}, %d24, ${offset};`,
      `st${random.pick(['', '.shared'])}.${type} [${address}], ${this.#variable(kind)};`.replace('st.shared', 'st'),
      ...(this.#oddity === 'race' && random.chance(0.6) ? [] : ['bar.sync 0;']),
    );
    for (let count = 1 + random.below(3); count > 0; count--) {
      const read = this.#address('%d24', bytes, mostThreads);
      this.#write(`ld.${type} ${this.#variable(kind)}, [${read}];`);
    }
    if (random.chance(0.3))
      this.#write(`bar.red.${random.pick(['popc.u32 %r1', 'and.pred %p1', 'or.pred %p1'])}, 0, ${this.#variable('p')};`);
    else this.#write('bar.sync 0;');
  }

  /** An exchange among the lanes of each warp, all of which are there. */
  #warp(): void {
    const random = this.#random;
    const text = random.pick([
      'shfl.sync.idx.b32 %r1, %r2, %r3, 31, -1',
      'shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, -1',
      'shfl.sync.down.b32 %r1, %r2, %r3, 7711, -1',
      'shfl.sync.bfly.b32 %f1|%p1, %f2, 4, 31, -1',
      'vote.sync.all.pred %p1, %p2, -1',
      'vote.sync.any.pred %p1, !%p2, -1',
      'vote.sync.ballot.b32 %r1, %p2, -1',
      'match.any.sync.b32 %r1, %r2, -1',
      'redux.sync.add.s32 %r1, %r2, -1',
      'redux.sync.max.u32 %r1, %r2, -1',
      'activemask.b32 %r1',
      'bar.warp.sync -1',
      'vote.sync.uni.pred %p1, %p2, -1',
    ]);
    this.#write(`${this.#renamed(text)};`);
  }

  /** Code that all threads of a block execute uniformly: blocks per thread, exchanges, loops around both. */
  uniform(depth: number): void {
    const random = this.#random;
    for (let count = 2 + random.below(4); count > 0 && this.#budget > 0; count--) {
      const kind = random.below(depth > 0 ? 12 : 10);
      if (kind < 4) this.#block(2, null);
      else if (kind < 7) this.#exchange();
      else if (kind < 10) this.#warp();
      else {
        const counter = this.#fresh('r');
        const goOn = this.#fresh('p');
        const head = this.#label();
        this.#write(`mov.u32 ${counter}, 0;`, `${head}:`);
        this.uniform(depth - 1);
        this.#write(`add.u32 ${counter}, ${counter}, 1;`);
        this.#write(
          `setp.lt.u32 ${goOn}, ${counter}, ${random.chance(0.5) ? '%r20' : String(1 + random.below(3))};`,
          `@${goOn} bra ${head};`,
        );
      }
    }
  }
}

/** Every variable gets a value that differs by thread, or comes from memory. */
function initialisation(random: Random): string[] {
  const lines: string[] = [];
  for (let index = 1; index <= variables.r; index++) {
    lines.push(
      random.chance(0.5)
        ? `ld.global.u32 %r${index}, [%d25+${4 * random.below(64)}];`
        : `mad.lo.u32 %r${index}, %r22, ${random.between(-9, 9)}, ${random.below(99)};`,
    );
  }
  for (let index = 1; index <= variables.f; index++) {
    lines.push(
      random.chance(0.5)
        ? `ld.global.f32 %f${index}, [%d25+${4 * random.below(64)}];`
        : `cvt.rn.f32.s32 %f${index}, %r${1 + random.below(variables.r)};`,
    );
  }
  for (let index = 1; index <= variables.d; index++) lines.push(`ld.global.u64 %d${index}, [%d25+${8 * random.below(32)}];`);
  for (let index = 1; index <= variables.e; index++) {
    lines.push(
      random.chance(0.5)
        ? `ld.global.f64 %e${index}, [%d25+${8 * random.below(32)}];`
        : `cvt.rn.f64.s32 %e${index}, %r${1 + random.below(variables.r)};`,
    );
  }
  for (let index = 1; index <= variables.h; index++) lines.push(`ld.global.b16 %h${index}, [%d25+${2 * random.below(128)}];`);
  for (let index = 1; index <= variables.q; index++) lines.push(`mov.b128 %q${index}, {%d${index}, %d${index + 1}};`);
  for (let index = 1; index <= variables.p; index++) lines.push(`setp.lt.s32 %p${index}, %r${index}, %r${index + 1};`);
  return lines;
}

/** Stores all variables into the thread's own memory. */
function epilogue(): string[] {
  const lines: string[] = [];
  let offset = 4 * ownElements;
  const store = (type: string, name: string, bytes: number): void => {
    offset = Math.ceil(offset / bytes) * bytes;
    lines.push(`st.global.${type} [%d21+${offset}], ${name};`);
    offset += bytes;
  };
  for (let index = 1; index <= variables.r; index++) store('u32', `%r${index}`, 4);
  for (let index = 1; index <= variables.f; index++) store('f32', `%f${index}`, 4);
  for (let index = 1; index <= variables.d; index++) store('u64', `%d${index}`, 8);
  for (let index = 1; index <= variables.e; index++) store('f64', `%e${index}`, 8);
  for (let index = 1; index <= variables.h; index++) store('b16', `%h${index}`, 2);
  for (let index = 1; index <= variables.q; index++) {
    lines.push(`mov.b128 {%d1, %d2}, %q${index};`);
    store('u64', '%d1', 8);
    store('u64', '%d2', 8);
  }
  for (let index = 1; index <= variables.p; index++) {
    lines.push(`selp.u32 %r1, 1, 0, %p${index};`);
    store('u32', '%r1', 4);
  }
  return lines;
}

/** Bytes that each thread has in `own`. */
export const ownBytes = 512;

/**
 * A random kernel `k(input, own, counters, n)` as a module: `inputElements` elements of 32 bits, `ownBytes` for each
 * thread of the grid, 6 `counterElements`, and how often loops around barriers run.
 */
export function randomMachineKernel(random: Random): { readonly ptx: string; readonly oddity: Oddity | null } {
  const oddity = random.chance(0.16) ? random.pick(['exit', 'fault', 'long', 'race'] as const) : null;
  const writer = new Writer(random, 8 + random.below(40), oddity);
  writer.uniform(2);
  const ptx = `.version 8.6
.target sm_90
.address_size 64
.const .align 16 .b32 c[${constants.length}] = {${constants.join(', ')}};
.visible .entry k(.param .u64 input, .param .u64 own, .param .u64 counters, .param .u32 n) {
.reg .b16 %h<999>; .reg .b32 %r<999>; .reg .b64 %d<999>; .reg .b128 %q<9>; .reg .f32 %f<999>; .reg .f64 %e<999>;
.reg .pred %p<999>;
.shared .align 16 .b8 s[${8 * mostThreads}];
.local .align 16 .b8 l[${localBytes}];
ld.param.u64 %d20, [input];
ld.param.u64 %d21, [own];
ld.param.u64 %d22, [counters];
ld.param.u32 %r20, [n];
mov.u32 %r21, %tid.z;
mov.u32 %r26, %tid.y;
mov.u32 %r27, %ntid.y;
mad.lo.s32 %r21, %r21, %r27, %r26;
mov.u32 %r26, %tid.x;
mov.u32 %r24, %ntid.x;
mad.lo.s32 %r21, %r21, %r24, %r26;
mov.u32 %r23, %ctaid.y;
mov.u32 %r26, %ctaid.x;
mov.u32 %r28, %nctaid.x;
mad.lo.s32 %r23, %r23, %r28, %r26;
mov.u32 %r28, %ntid.z;
mul.lo.s32 %r24, %r24, %r27;
mul.lo.s32 %r24, %r24, %r28;
mad.lo.s32 %r22, %r23, %r24, %r21;
mul.wide.u32 %d26, %r22, ${ownBytes};
add.s64 %d21, %d21, %d26;
and.b32 %r25, %r22, 15;
mul.wide.u32 %d27, %r25, 16;
add.s64 %d25, %d20, %d27;
mov.u64 %d23, l;
mov.u64 %d28, s;
mov.u64 %d29, c;
cvta.shared.u64 %d24, %d28;
mov.u32 %r29, %r21;
cvt.u64.u32 %d31, %r22;
FILL:
mul.wide.u32 %d30, %r29, 8;
add.s64 %d30, %d24, %d30;
st.u64 [%d30], %d31;
add.u32 %r29, %r29, %r24;
setp.lt.u32 %p9, %r29, ${mostThreads};
@%p9 bra FILL;
bar.sync 0;
${initialisation(random).join('\n')}
${writer.lines.join('\n')}
${epilogue().join('\n')}
ret;
}
`;
  return { ptx, oddity };
}
