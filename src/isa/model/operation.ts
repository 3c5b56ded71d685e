import type { Domain, Width } from './domain.ts';

export type StateSpace = 'generic' | 'global' | 'shared' | 'local' | 'const' | 'param';
export type Scope = 'cta' | 'cluster' | 'gpu' | 'sys';
/** `weak` is a plain access; `volatile` counts as relaxed at system scope (PTX ISA 9.7.9.1). */
export type Semantics = 'weak' | 'volatile' | 'relaxed' | 'acquire' | 'release' | 'acq_rel' | 'sc' | 'mmio';

/** Type of one operand position; `predicate` is a truth value. */
export type ValueType = Width | 'predicate';

/**
 * Effects of an instruction in addition to computing values. `interpreter/` and `analysis/` interpret them over their
 * own state.
 *
 * `havoc`: no effect on memory, unknown results. `opaque`: nothing is known; a kernel that can reach one is never
 * `proved`.
 */
export type Effect =
  | { readonly kind: 'pure' }
  | {
      readonly kind: 'load';
      readonly space: StateSpace;
      /** Bytes of one lane of the vector. */
      readonly bytes: number;
      readonly lanes: number;
      /** Extension of a lane that is narrower than its register. */
      readonly extend: 'zero' | 'sign';
      readonly semantics: Semantics;
      readonly scope: Scope;
      /** `ld.global.nc`, `ldu`: read-only data path. */
      readonly nonCoherent: boolean;
    }
  | {
      readonly kind: 'store';
      readonly space: StateSpace;
      readonly bytes: number;
      readonly lanes: number;
      readonly semantics: Semantics;
      readonly scope: Scope;
    }
  | {
      readonly kind: 'atomic';
      readonly space: StateSpace;
      /** `add min max inc dec exch cas and or xor`. */
      readonly operation: string;
      /** `s32`, `u64`, `f32`, `b32`, `f16x2` …. */
      readonly type: string;
      /** Bytes of one lane. */
      readonly bytes: number;
      /** More than 1 for the vector forms; each lane is a separate atomic access. */
      readonly lanes: number;
      readonly semantics: Semantics;
      readonly scope: Scope;
      /** Whether the old value is returned: `atom`, not `red`. */
      readonly returns: boolean;
    }
  | {
      /** `bar{.cta}`/`barrier{.cta}` `.sync .arrive .red`; operands: barrier, [count], [predicate]. */
      readonly kind: 'barrier';
      readonly form: 'sync' | 'arrive' | 'red';
      readonly reduction?: 'popc' | 'and' | 'or';
      /** `bar` and `barrier.aligned`: all threads of a warp must execute the same one. */
      readonly aligned: boolean;
    }
  | { readonly kind: 'warp-barrier' }
  | {
      readonly kind: 'cluster-barrier';
      readonly form: 'arrive' | 'wait';
      /** `arrive` releases and `wait` acquires unless `.relaxed` is written. */
      readonly semantics: 'relaxed' | 'release' | 'acquire';
    }
  /** `cg::this_grid().sync()`, recognised by the callee's name, since its body is a loop that waits on memory. */
  | { readonly kind: 'grid-barrier' }
  | {
      readonly kind: 'shuffle';
      readonly mode: 'idx' | 'up' | 'down' | 'bfly';
      readonly hasPredicate: boolean;
      readonly sync: boolean;
    }
  | { readonly kind: 'vote'; readonly mode: 'all' | 'any' | 'uni' | 'ballot'; readonly sync: boolean }
  /** `match.sync`, `redux.sync`, `activemask`, `elect.sync`: a value computed from the active lanes of a warp. */
  | { readonly kind: 'warp-value'; readonly name: string; readonly sync: boolean }
  | {
      readonly kind: 'fence';
      readonly semantics: 'sc' | 'acq_rel' | 'acquire' | 'release' | 'proxy';
      readonly scope: Scope;
      /**
       * Of a proxy fence: it orders generic accesses of shared memory and those of the asynchronous proxy, in both
       * directions.
       */
      readonly ordersAsyncShared?: true;
    }
  | CopyEffect
  | GroupEffect
  | MbarrierEffect
  /**
   * Multiplies matrices, or transposes one, that the lanes of a warp hold together; `matrixResults` of
   * `matrix-product.ts` computes it. All lanes take part.
   */
  | { readonly kind: 'warp-matrix'; readonly operation: MatrixOperation }
  | MatrixAccessEffect
  | WarpgroupMultiplyEffect
  | { readonly kind: 'surface-store' }
  /**
   * `griddepcontrol`: `wait` returns once the kernels before in the stream have ended and their writes are visible;
   * `launch` lets the next kernel start (PTX ISA 9.7.13.13). It orders no accesses of its own kernel.
   */
  | { readonly kind: 'grid-dependency'; readonly form: 'wait' | 'launch' }
  | { readonly kind: 'branch' }
  | { readonly kind: 'indexed-branch' }
  | { readonly kind: 'call' }
  | { readonly kind: 'return' }
  | { readonly kind: 'exit' }
  | { readonly kind: 'trap' }
  | { readonly kind: 'havoc'; readonly reason: string }
  /** `callee`: it is a call of that function, which has no body in the module; sources: its arguments. */
  | { readonly kind: 'opaque'; readonly reason: string; readonly callee?: string };

/**
 * `mbarrier.*` and `cp.async.mbarrier.arrive` (PTX ISA 9.7.13.15). The barrier is a 64-bit word that only these
 * instructions access; `mbarrier-word.ts` defines their effect on it.
 *
 * Sources, in order:
 * - `init`: address, count; `inval`: address;
 * - `arrive`, `arrive_drop`: address, then a count if `counted`, or bytes if `expectTx`;
 * - `expect_tx`, `complete_tx`: address, bytes;
 * - `test_wait`, `try_wait`: address, state (64 bits) or parity (32 bits), then, optional, a time limit in nanoseconds;
 * - `pending_count`: state (64 bits);
 * - `cp_async_arrive`: address; arrives once the thread's earlier `cp.async` are complete.
 *
 * Results: `arrive`, `arrive_drop` a state of 64 bits, or nothing; the waits a predicate; `pending_count` 32 bits.
 */
export interface MbarrierEffect {
  readonly kind: 'mbarrier';
  readonly form:
    | 'init'
    | 'inval'
    | 'expect_tx'
    | 'complete_tx'
    | 'arrive'
    | 'arrive_drop'
    | 'test_wait'
    | 'try_wait'
    | 'pending_count'
    | 'cp_async_arrive';
  /** `cluster`: the barrier may be in another block of the cluster. */
  readonly space: 'generic' | 'shared' | 'cluster';
  readonly semantics: 'relaxed' | 'release' | 'acquire';
  readonly scope: 'cta' | 'cluster';
  /** Of arrivals: they are not allowed to complete the phase. */
  readonly noComplete: boolean;
  /** Of arrivals: whether a count is among the sources; otherwise the count is 1. */
  readonly counted: boolean;
  /** Of arrivals: whether the phase first expects further bytes, whose number is a source. */
  readonly expectTx: boolean;
  /** Of waits: whether the phase is identified by its parity. */
  readonly parity: boolean;
  /** Of `cp_async_arrive`: group of the copies that arrive. */
  readonly copies?: AsyncGroup;
  /**
   * Of `cp_async_arrive`: whether the pending count is not raised first, so that the arrival is one of the expected
   * ones.
   */
  readonly noIncrement: boolean;
}

/** Element types of matrices; those of 4, 6 and 8 bits with an exponent are floating point. */
export type MatrixElement =
  | 'f16'
  | 'bf16'
  | 'tf32'
  | 'f32'
  | 'f64'
  | 'e4m3'
  | 'e5m2'
  | 'e3m2'
  | 'e2m3'
  | 'e2m1'
  | 's32'
  | 's8'
  | 'u8'
  | 's4'
  | 'u4'
  | 'b1'
  | 'b16';

/** `mma`, `wmma.mma` and `movmatrix`. Sources are the registers of A, B and C, results those of D. */
export type MatrixOperation =
  | {
      readonly kind: 'product';
      /**
       * Distribution of the elements over lanes. For `wmma` it is chosen here, since the ISA leaves it unspecified
       * (9.7.14.4.1).
       */
      readonly layout: 'mma' | 'wmma';
      readonly m: number;
      readonly n: number;
      readonly k: number;
      readonly a: MatrixElement;
      readonly b: MatrixElement;
      readonly c: MatrixElement;
      readonly d: MatrixElement;
      /** Whether A and B are row-major; the result depends on it only for `mma.m8n8k4` of `f16`. */
      readonly rowMajor: readonly [boolean, boolean];
      /** Of integers: overflow saturates to the limits. */
      readonly saturate: boolean;
      /** Of `b1`: operation whose bits are counted. */
      readonly bits?: 'xor' | 'and';
      /** Of `f64`: `rn rz rm rp`. */
      readonly rounding: string;
    }
  | { readonly kind: 'transpose' };

/**
 * `ldmatrix`, `stmatrix`, `wmma.load`, `wmma.store`: a warp reads or writes `lines`, each `lineBytes` long without a
 * gap; `matrix-access.ts` defines their addresses and the layout in the lanes' registers. Weak accesses. Sources:
 * address, then the stored registers, then, optional for `stride`, the distance of lines in elements (32 bits).
 */
export interface MatrixAccessEffect {
  readonly kind: 'matrix-access';
  readonly operation: 'read' | 'write';
  readonly space: StateSpace;
  /** `lanes`: the address of lane `i` is that of line `i`. `stride`: all lanes have the first line's. */
  readonly addressing: 'lanes' | 'stride';
  /** Whether the last source is the distance of lines; otherwise the lines are contiguous. */
  readonly strided: boolean;
  /** Name of the distribution of elements over lanes: with equal names, each element is in the same lane. */
  readonly fragment: string;
  readonly lines: number;
  readonly lineBytes: number;
  readonly element: MatrixElement;
  /** Bits of an element in memory. */
  readonly elementBits: number;
  /** `.trans`; with `addressing` `stride`, whether lines are columns. */
  readonly transposed: boolean;
  /** 32-bit words of a lane's fragment. */
  readonly words: number;
}

/**
 * `wgmma.mma_async` (PTX ISA 9.7.15.5): the four warps of a group multiply matrices. From the instruction on until its
 * group of them has been waited for, it reads its matrices in shared memory through the asynchronous proxy, and writes
 * the registers of D, whose values are not computed. Sources: the registers of A or its descriptor, the descriptor of
 * B, and the remaining operands as written.
 */
interface WarpgroupMultiplyEffect {
  readonly kind: 'warpgroup-multiply';
  readonly matrices: readonly SharedMatrix[];
  readonly group: AsyncGroup;
}

/** A matrix in shared memory that a descriptor names (PTX ISA 9.7.15.5.1). */
export interface SharedMatrix {
  /** Index of the descriptor among the sources. */
  readonly source: number;
  /** M or N: rows of A, columns of B. */
  readonly rows: number;
  /** K: columns of A, rows of B. */
  readonly depth: number;
  readonly elementBits: number;
  /**
   * Whether elements along M or N are adjacent in memory, rather than those along K. Null if no literal specifies it.
   */
  readonly transposed: boolean | null;
}

/**
 * Asynchronous operations that are committed in groups, in order, and waited for by the number of groups that may be
 * left. Each executing thread has separate groups.
 */
export interface AsyncGroup {
  /** Operations and waits with equal names belong together. */
  readonly name: string;
  /** Proxy through which the operations access memory (PTX ISA 8.9). */
  readonly proxy: 'generic' | 'async';
  readonly participants: 'thread' | 'warpgroup';
}

/** `commit`, `wait` (source: number of groups that may be left), `wait-all`; `fence` orders only registers. */
export interface GroupEffect {
  readonly kind: 'group';
  readonly group: AsyncGroup;
  readonly form: 'commit' | 'wait' | 'wait-all' | 'fence';
  /** Whether the wait is only for the reads of the source. */
  readonly onlyReads: boolean;
}

/**
 * A copy that one thread starts and that completes later. Sources: destination, source, bytes (32 bits); the address of
 * an mbarrier if `completion` is that. The remaining ones depend on `bytes`:
 * - a number: with a group, optional, how many bytes to read (32 bits) or whether to read none (predicate), the rest
 *   zero; a cache policy (64 bits); `reduction`, `multicast` and `masked` are absent;
 * - `null`, since a source gives it, in multiples of 16: a mask of blocks, a cache policy, a mask of bytes (16 bits).
 */
export interface CopyEffect {
  readonly kind: 'copy';
  readonly to: 'global' | 'shared' | 'cluster';
  readonly from: 'global' | 'shared';
  readonly bytes: number | null;
  /** The thread waits for the copy with its group; or an mbarrier, through the asynchronous proxy, expects its bytes. */
  readonly completion: AsyncGroup | 'mbarrier';
  /** Combines the copied values with the contents of the destination instead of replacing these. */
  readonly reduction?: { readonly operation: string; readonly type: string };
  /** Written to every block of the cluster that a 16-bit mask names. */
  readonly multicast?: boolean;
  /** Whether a mask selects which bytes of each 16 are copied. */
  readonly masked?: boolean;
}

/** Class of an instruction in the cost evaluation. */
export type CostClass = 'integer' | 'float' | 'double' | 'special' | 'convert' | 'memory' | 'control' | 'sync' | 'free';

/**
 * The results of a pure instruction over any domain. A value is a `V` of the width in `sources` or `results`, or a `B`
 * for `predicate`.
 */
export type Rule = <V, B>(domain: Domain<V, B>, sources: readonly (V | B)[]) => readonly (V | B)[];

/**
 * An instruction with its modifiers resolved. Operands are in the written order: first the results (`results.length` of
 * them; a `d|p` pair counts as two, a vector as its elements), then the sources. An address operand `[a+o]` is one
 * source of width 64 (32 in a 32-bit space if the register is so wide).
 */
export interface Operation {
  /** The mnemonic as written: `mad.lo.s32`. */
  readonly mnemonic: string;
  readonly opcode: string;
  readonly results: readonly ValueType[];
  readonly sources: readonly ValueType[];
  readonly effect: Effect;
  readonly cost: CostClass;
  /** Section of the PTX ISA, for example `9.7.1.4`. */
  readonly section: string;
  /** Present if the effect is `pure` or `grid-dependency`. */
  readonly evaluate?: Rule;
  /**
   * The condition code register CC.CF of `add.cc`, `addc`, `madc` …, which the text does not name: `out` appends a
   * predicate to the results, `in` appends one to the sources.
   */
  readonly carry?: { readonly in: boolean; readonly out: boolean };
}
