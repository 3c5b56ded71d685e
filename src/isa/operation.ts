import type { Domain, Width } from './domain.ts';

export type StateSpace = 'generic' | 'global' | 'shared' | 'local' | 'const' | 'param';
export type Scope = 'cta' | 'cluster' | 'gpu' | 'sys';
/** `weak` is a plain access; `volatile` counts as relaxed at system scope (PTX ISA 9.7.9.1). */
export type Semantics = 'weak' | 'volatile' | 'relaxed' | 'acquire' | 'release' | 'acq_rel' | 'sc' | 'mmio';

/** What one operand position holds; `predicate` is a truth value. */
export type ValueType = Width | 'predicate';

/**
 * What an instruction does besides computing values. `exec/` and `analysis/` interpret effects over their own state.
 *
 * `havoc`: the effect on memory is none, the results are unknown values. `opaque`: nothing is known; a kernel that can
 * reach one is never `proved`.
 */
export type Effect =
  | { readonly kind: 'pure' }
  | {
      readonly kind: 'load';
      readonly space: StateSpace;
      /** Bytes of one lane of the vector. */
      readonly bytes: number;
      readonly lanes: number;
      /** How a lane narrower than its register is widened. */
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
      /** More than 1 for the vector forms; each lane is an atomic access of its own. */
      readonly lanes: number;
      readonly semantics: Semantics;
      readonly scope: Scope;
      /** `red` returns nothing. */
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
  | { readonly kind: 'cluster-barrier'; readonly form: 'arrive' | 'wait' }
  /** Recognised by the callee's name before it dissolves into spin code: `cg::this_grid().sync()`. */
  | { readonly kind: 'grid-barrier' }
  | {
      readonly kind: 'shuffle';
      readonly mode: 'idx' | 'up' | 'down' | 'bfly';
      readonly hasPredicate: boolean;
      readonly sync: boolean;
    }
  | { readonly kind: 'vote'; readonly mode: 'all' | 'any' | 'uni' | 'ballot'; readonly sync: boolean }
  /** `match.sync`, `redux.sync`, `activemask`, `elect.sync`: a value agreed on within a warp. */
  | { readonly kind: 'warp-value'; readonly name: string; readonly sync: boolean }
  | {
      readonly kind: 'fence';
      readonly semantics: 'sc' | 'acq_rel' | 'acquire' | 'release' | 'proxy';
      readonly scope: Scope;
    }
  /**
   * Copies from global to shared memory that complete later. Operands: destination, source, `bytes`; then, optional, how
   * many bytes to read (32 bits) or whether to read none (predicate), the rest zero; a cache policy (64 bits).
   */
  | { readonly kind: 'async-copy'; readonly bytes: number }
  | { readonly kind: 'async-wait'; readonly form: 'commit' | 'wait-group' | 'wait-all' }
  /** mbarrier.*: `effect` on memory is synchronisation alone, not modelled yet. */
  | { readonly kind: 'mbarrier'; readonly name: string }
  | { readonly kind: 'surface-store' }
  | { readonly kind: 'branch' }
  | { readonly kind: 'indexed-branch' }
  | { readonly kind: 'call' }
  | { readonly kind: 'return' }
  | { readonly kind: 'exit' }
  | { readonly kind: 'trap' }
  | { readonly kind: 'havoc'; readonly reason: string }
  | { readonly kind: 'opaque'; readonly reason: string };

/** What the cost evaluation counts an instruction as. */
export type CostClass = 'integer' | 'float' | 'double' | 'special' | 'convert' | 'memory' | 'control' | 'sync' | 'free';

/**
 * The results of a pure instruction over any domain. A value is a `V` of the width in `sources` or `results`, or a `B`
 * where that says `predicate`.
 */
export type Rule = <V, B>(domain: Domain<V, B>, sources: readonly (V | B)[]) => readonly (V | B)[];

/**
 * An instruction with its modifiers resolved. Operand order is that of the text: first the results (`results.length`
 * of them; a `d|p` pair counts as two, a vector as its elements), then the sources. An address operand `[a+o]` is one
 * source of width 64 (32 in a 32-bit space where the register is so wide).
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
  /** Present where the effect is `pure`. */
  readonly evaluate?: Rule;
  /**
   * The condition code register CC.CF of `add.cc`, `addc`, `madc` …, which the text does not name: `out` appends a
   * predicate to the results, `in` appends one to the sources.
   */
  readonly carry?: { readonly in: boolean; readonly out: boolean };
}
