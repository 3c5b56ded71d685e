/**
 * The kernel IR: calls inlined, guards turned into branches, `.local` and `.param` slots with constant addresses
 * promoted to values, static single assignment. Both the interpreter and the prover read it. Frozen once built;
 * analyses keep side tables indexed by id.
 */
import type { Id } from '../../base/brand.ts';
import type { Operation, ValueType } from '../../isa/model/operation.ts';
import type { Location } from '../../source/location.ts';

export type ValueId = Id<'ValueId'>;
export type BlockId = Id<'BlockId'>;
export type InstructionId = Id<'InstructionId'>;
export type ObjectId = Id<'ObjectId'>;
export type LoopId = Id<'LoopId'>;

/**
 * Special registers that are modelled; every other one is an unknown value (`havoc`). So is `%warpid`: it is the slot
 * of a warp on its multiprocessor, and may change while the kernel runs (PTX ISA 10.6).
 */
export type SpecialRegister =
  | 'tid.x'
  | 'tid.y'
  | 'tid.z'
  | 'ntid.x'
  | 'ntid.y'
  | 'ntid.z'
  | 'ctaid.x'
  | 'ctaid.y'
  | 'ctaid.z'
  | 'nctaid.x'
  | 'nctaid.y'
  | 'nctaid.z'
  | 'laneid'
  | 'warpsize'
  | 'dynamic_smem_size'
  | 'lanemask_eq'
  | 'lanemask_lt'
  | 'lanemask_le'
  | 'lanemask_gt'
  | 'lanemask_ge';

export type Operand =
  | { readonly kind: 'value'; readonly id: ValueId }
  | { readonly kind: 'constant'; readonly type: ValueType; readonly value: bigint }
  /**
   * The address of an object plus `offset` bytes. `generic` distinguishes a generic 64-bit address (after `cvta`) from
   * one within its state space's window.
   */
  | {
      readonly kind: 'address';
      readonly object: ObjectId;
      readonly offset: bigint;
      readonly width: 32 | 64;
      readonly generic: boolean;
    }
  | { readonly kind: 'special'; readonly register: SpecialRegister }
  /** The value of a register that no path has written; it may be any value. */
  | { readonly kind: 'undefined'; readonly type: ValueType };

/** A kernel parameter. */
export interface Parameter {
  readonly index: number;
  /** Symbol in the PTX. */
  readonly symbol: string;
  /** PTX type without the dot: `u64`, `f32`, `b8` for a struct. */
  readonly type: string;
  readonly bytes: number;
  readonly alignment: number;
  /** Offsets of the addresses that the PTX itself declares: `.ptr`, or an operand of `cvta.to.global`. */
  readonly addresses?: readonly number[];
}

/** A variable in memory that accesses may name. Kernel parameters of pointer type point to objects outside this list. */
export interface MemoryObject {
  readonly id: ObjectId;
  readonly symbol: string;
  readonly space: 'global' | 'shared' | 'const' | 'local' | 'param';
  readonly alignment: number;
  /** Bytes of one element as declared (4 for `.f32 a[8]`; nvcc writes `.b8` arrays: 1). */
  readonly elementBytes: number;
  /** Bytes of one scalar if elements are vectors. */
  readonly scalarBytes?: number;
  /** Null: `extern .shared dyn[]`, whose size the launch specifies. All of these share one start address. */
  readonly bytes: number | null;
  /** Initial bytes, absent if there is no initializer (then zero for global and const, undefined for shared). */
  readonly initial?: Uint8Array;
  /**
   * Addresses of other objects plus `offset` among the initial bytes, 64 bits each, at byte `at`. Their values are
   * known only in the interpreter.
   */
  readonly addresses?: readonly { readonly at: number; readonly object: ObjectId; readonly offset: bigint }[];
  /** `extern .global`: defined elsewhere, contents unknown. */
  readonly external: boolean;
  /** Index of the parameter, if `space` is `param`. */
  readonly parameter?: number;
}

export interface Phi {
  readonly result: ValueId;
  /** Parallel to the block's `predecessors`. */
  readonly inputs: readonly Operand[];
}

/**
 * One instruction. `arguments` are parallel to `operation.sources`; address sources contain the base, with the constant
 * displacement in `offset`. `results` are parallel to `operation.results`; null if the PTX discards one (`_`).
 */
export interface Instruction {
  readonly id: InstructionId;
  readonly operation: Operation;
  readonly results: readonly (ValueId | null)[];
  readonly arguments: readonly Operand[];
  /** Bytes added to the address source of a load, store, atomic or copy. */
  readonly offset: bigint;
  /** Line in the PTX text. */
  readonly ptxLine: number;
  /** From `.loc`; absent if the compiler emitted none or line 0. */
  readonly location?: Location;
  /**
   * `// selvage.assume`: operand is non-zero here (effect `assume`); the operation of a marker has the mnemonic
   * `selvage.assume`, `selvage.unknown` or `selvage.candidate` and effect `pure`/`havoc`.
   */
  readonly marker?: { readonly name: 'assume' | 'unknown' | 'candidate'; readonly number?: number };
}

export type Terminator =
  | { readonly kind: 'jump'; readonly target: BlockId }
  | {
      readonly kind: 'branch';
      /** A predicate. */
      readonly condition: Operand;
      readonly then: BlockId;
      readonly otherwise: BlockId;
      readonly ptxLine: number;
      readonly location?: Location;
    }
  /** `brx.idx`: an index outside the targets is undefined behaviour. */
  | {
      readonly kind: 'switch';
      readonly index: Operand;
      readonly targets: readonly BlockId[];
      readonly ptxLine: number;
      readonly location?: Location;
    }
  /** `exit` and the `ret` of a kernel. */
  | { readonly kind: 'exit'; readonly location?: Location; readonly ptxLine: number }
  /** `trap`, `__assertfail`: the launch fails here, nothing after it happens. */
  | { readonly kind: 'trap'; readonly location?: Location; readonly ptxLine: number }
  /** Control flow that could not be parsed (damage, indirect branch): the kernel is never `proved`. */
  | { readonly kind: 'unknown'; readonly reason: string; readonly location?: Location; readonly ptxLine: number };

export interface Block {
  readonly id: BlockId;
  readonly phis: readonly Phi[];
  readonly instructions: readonly Instruction[];
  readonly terminator: Terminator;
  readonly predecessors: readonly BlockId[];
  readonly successors: readonly BlockId[];
}

/** A natural loop. Irreducible regions have no loop; the kernel then lists `irreducible` among `unsupported`. */
export interface Loop {
  readonly id: LoopId;
  readonly header: BlockId;
  /** Sources of the back edges. */
  readonly latches: readonly BlockId[];
  /** All blocks of the loop, including the header and the blocks of inner loops. */
  readonly blocks: ReadonlySet<BlockId>;
  readonly parent: LoopId | null;
  /** Edges that leave the loop. */
  readonly exits: readonly { readonly from: BlockId; readonly to: BlockId }[];
}

/** Where a value is defined. */
export type ValueDefinition =
  | { readonly kind: 'phi'; readonly block: BlockId; readonly index: number }
  | {
      readonly kind: 'instruction';
      readonly block: BlockId;
      readonly instruction: Instruction;
      readonly result: number;
    };

export interface Kernel {
  /** The symbol in the PTX. */
  readonly symbol: string;
  readonly location?: Location;
  readonly parameters: readonly Parameter[];
  readonly objects: readonly MemoryObject[];
  /**
   * Memory allocated by the runtime for a cooperative launch, initially zero: the blocks synchronise through it at
   * barriers of the grid. Absent if the kernel does not read `%envreg1` and `%envreg2`, which contain its address.
   */
  readonly workspace?: ObjectId;
  /** Indexed by BlockId, in reverse postorder from the entry, which is block 0. Unreachable blocks are removed. */
  readonly blocks: readonly Block[];
  /** Indexed by ValueId. */
  readonly values: readonly {
    readonly type: ValueType;
    readonly definition: ValueDefinition;
    readonly register?: string;
  }[];
  /** Immediate dominator by BlockId; the entry's is itself. */
  readonly dominators: readonly BlockId[];
  /** Immediate postdominator by BlockId; null if only the virtual exit (or nothing) postdominates. */
  readonly postdominators: readonly (BlockId | null)[];
  /** Indexed by LoopId, outer loops before inner ones. */
  readonly loops: readonly Loop[];
  /** Innermost loop by BlockId, or null. */
  readonly loopOf: readonly (LoopId | null)[];
  readonly requiredThreads?: readonly [number, number, number];
  readonly maximumThreads?: readonly [number, number, number];
  readonly requiredCluster?: readonly [number, number, number];
  /** The kernel can only be launched in clusters whose size the launch specifies (`.explicitcluster`). */
  readonly needsCluster?: true;
  /** The kernel waits for kernels before it in the stream, or lets later ones start (`griddepcontrol`). */
  readonly overlapsOthers?: true;
  /**
   * True if a stack frame was split into its variables and one of them is indexed: values assume that such an index
   * stays in its variable (an `in-bounds` assumption to report).
   */
  readonly assumesLocalBounds: boolean;
  /** The kernel has more instructions than are lowered: `blocks` contains none of them. */
  readonly isTooLarge?: true;
  /** Why nothing about this kernel can be `proved`: opaque instructions, damage, recursion, irreducible control. */
  readonly unsupported: readonly { readonly reason: string; readonly ptxLine: number; readonly location?: Location }[];
}
