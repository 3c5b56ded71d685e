/**
 * Host code as GCC lowers it: GIMPLE in SSA form, one statement a line (`-fdump-tree-ssa-raw-lineno-asmname-blocks-eh-uid`).
 * The lists of forms are closed. Text that matches none of them is opaque, and its effect is unknown.
 */

/** A function with a body. */
export interface GimpleFunction {
  /** Its symbol, as the assembler knows it. */
  readonly symbol: string;
  /** As the source names it, with template arguments. */
  readonly name: string;
  /** Type of the result, as printed. */
  readonly result: string;
  readonly parameters: readonly GimpleVariable[];
  /** Names in the source of variables that are the object that the caller provides for the result; empty: without a name. */
  readonly inResult: readonly string[];
  readonly locals: readonly GimpleVariable[];
  /** In the order of the dump; execution begins at the first one. */
  readonly blocks: readonly GimpleBlock[];
}

/** A parameter or variable. Its name is unique in the translation unit: `n` of the source is `nD.2375`. */
export interface GimpleVariable {
  readonly name: string;
  /** As printed, with the numbers of declarations: `struct dim3D.312 &`. */
  readonly type: string;
  readonly isStatic: boolean;
}

export interface GimpleBlock {
  readonly id: number;
  readonly statements: readonly GimpleStatement[];
  /** Blocks that may run next, those of exceptions included. */
  readonly successors: readonly number[];
  /** The block that runs after the last statement if that does not branch or throw; null if no block does. */
  readonly next: number | null;
}

/** The line of the source that a statement comes from. Columns are those of the text that cudafe++ wrote. */
export interface GimpleLocation {
  readonly file: string;
  readonly line: number;
}

export type GimpleStatement = {
  readonly location: GimpleLocation | null;
  /** The block where an exception that it throws goes on; null if it leaves the function. */
  readonly landingPad: number | null;
} & GimpleForm;

export type GimpleForm =
  | { readonly kind: 'assign'; readonly operator: string; readonly target: GimpleOperand; readonly operands: readonly GimpleOperand[] }
  /** `target` is null if the result is not used. */
  | {
      readonly kind: 'call';
      readonly callee: GimpleOperand;
      readonly target: GimpleOperand | null;
      readonly arguments: readonly GimpleOperand[];
    }
  /** The end of the lifetime of a variable, or of its uninitialised beginning. */
  | { readonly kind: 'clobber'; readonly target: GimpleOperand }
  | {
      readonly kind: 'phi';
      readonly target: GimpleOperand;
      readonly sources: readonly { readonly value: GimpleOperand; readonly from: number }[];
    }
  | {
      readonly kind: 'condition';
      readonly operator: string;
      readonly left: GimpleOperand;
      readonly right: GimpleOperand;
      readonly then: number;
      readonly otherwise: number;
    }
  | { readonly kind: 'switch'; readonly value: GimpleOperand; readonly cases: readonly GimpleCase[] }
  | { readonly kind: 'goto'; readonly to: number }
  | { readonly kind: 'return'; readonly value: GimpleOperand | null }
  /** An exception goes on in the handler of its type: in one of the successors of the block. */
  | { readonly kind: 'dispatch' }
  /** An exception leaves the function, or goes on to an outer landing pad. */
  | { readonly kind: 'resume' }
  | { readonly kind: 'opaque'; readonly text: string };

/** A case of a switch. */
export interface GimpleCase {
  /** Least and greatest value; null for `default`. */
  readonly values: readonly [bigint, bigint] | null;
  /** The block that it leads to. */
  readonly to: number;
}

/** A value, or a place in memory that is read or written. */
export type GimpleOperand =
  /** An SSA name: `n_38`, `_12`; `isInitial` for the value of a parameter at the entry. */
  | { readonly kind: 'ssa'; readonly version: number; readonly label: string; readonly isInitial: boolean }
  /** A variable or function: `gridD.4501`, `_Z5scalePfifD.2301`. */
  | { readonly kind: 'declaration'; readonly name: string }
  /** @property isAddress whether it is a constant of a pointer type, as `0B` is */
  | { readonly kind: 'integer'; readonly value: bigint; readonly isAddress?: boolean }
  /** Of floating point, as printed. */
  | { readonly kind: 'real'; readonly text: string }
  | { readonly kind: 'string'; readonly text: string }
  /** `{}`: all bytes are 0. */
  | { readonly kind: 'zeros' }
  | { readonly kind: 'address'; readonly of: GimpleOperand }
  /** Memory at a pointer, some bytes further; `type` is printed where it is not that of the pointer. */
  | { readonly kind: 'pointee'; readonly pointer: GimpleOperand; readonly offset: bigint; readonly type: string | null }
  /** `real` and `imaginary` are the parts of a complex number; the names of other fields end with their numbers. */
  | { readonly kind: 'field'; readonly of: GimpleOperand; readonly field: string }
  | { readonly kind: 'element'; readonly of: GimpleOperand; readonly index: GimpleOperand }
  /** A virtual call: the function that `pointer` read from the table of `object`, at an offset in its slots. */
  | {
      readonly kind: 'virtual';
      readonly pointer: GimpleOperand;
      readonly type: string;
      readonly object: GimpleOperand;
      readonly slot: number;
    }
  | { readonly kind: 'opaque'; readonly text: string };
