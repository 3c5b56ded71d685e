/**
 * The syntax tree of a PTX module, close to the text: the printer returns a module that ptxas accepts, with the same
 * statements in the same order. Semantics of instructions are in `isa/`.
 */

/** Position of a statement in the PTX text, counted from 1. */
export interface PtxSpan {
  readonly line: number;
  readonly column: number;
}

/** `.loc file line column [, function_name label [+ offset], inlined_at file line column]` (PTX ISA 11.4, .loc). */
export interface LocDirective {
  readonly kind: 'loc';
  readonly span: PtxSpan;
  readonly file: number;
  readonly line: number;
  readonly column: number;
  /** Symbol (or label + offset) in `.debug_str` that names the inlined function, as written. */
  readonly functionName?: string;
  readonly inlinedAt?: InlinedAt;
}

/**
 * The place of a call that was inlined. One `.loc` names one call; the calls around it are those of the nearest `.loc`
 * before it, in the same function, for that very place, which the parser links here (at most 64 frames).
 */
export interface InlinedAt {
  readonly file: number;
  readonly line: number;
  readonly column: number;
  readonly inlinedAt?: InlinedAt;
}

export type PtxOperand =
  /** `%r1`, `%p2`; special registers too: `%tid.x`, `%laneid`, `%clock64`. */
  | { readonly kind: 'register'; readonly name: string }
  /** An integer literal, with its text for printing. Value is the mathematical integer (may be negative). */
  | { readonly kind: 'integer'; readonly value: bigint; readonly text: string }
  /** `0fXXXXXXXX` (bits 32), `0dXXXXXXXXXXXXXXXX` (bits 64) or a decimal literal such as `1.5` (a double, bits 64). */
  | { readonly kind: 'float'; readonly bits: 32 | 64; readonly pattern: bigint; readonly text: string }
  /** A variable, function or label name; `offset` for `sym+8`; `generic` for `generic(sym)`. */
  | { readonly kind: 'symbol'; readonly name: string; readonly offset: bigint; readonly generic: boolean }
  /**
   * `[base+offset]`; base is a register, a symbol or null for an absolute immediate address. `unified` for
   * `[a].unified`. (For a load or store of an array, `a[i]` is an `element`.)
   */
  | { readonly kind: 'address'; readonly base: AddressBase | null; readonly offset: bigint; readonly unified?: true }
  /** `array[index]`, the old form of an address (PTX ISA 6.4.2): index is a register, an integer, or register + offset. */
  | { readonly kind: 'element'; readonly array: string; readonly index: PtxOperand; readonly offset: bigint }
  /** `{a, b, c, d}`. */
  | { readonly kind: 'vector'; readonly elements: readonly PtxOperand[] }
  /** `d|p` of setp, shfl, match …. */
  | { readonly kind: 'pair'; readonly first: PtxOperand; readonly second: PtxOperand }
  /** `!p`. */
  | { readonly kind: 'not'; readonly operand: PtxOperand }
  /** `-r`, as in `-%r1` of hand-written code. */
  | { readonly kind: 'negative'; readonly operand: PtxOperand }
  /** `_`. */
  | { readonly kind: 'sink' }
  /** `(a, b)`: argument and result lists of `call`. */
  | { readonly kind: 'list'; readonly elements: readonly PtxOperand[] }
  /** `%r1.x`, a component of a vector register, or a byte selector such as `.b0`. */
  | { readonly kind: 'component'; readonly base: string; readonly selector: string }
  /** `[name, {x, y}]`, texture, surface and tensor addresses: their elements. */
  | { readonly kind: 'bracketed'; readonly elements: readonly PtxOperand[] };

export type AddressBase = { readonly kind: 'register' | 'symbol'; readonly name: string };

/** `@%p1` or `@!%p1`. */
export interface Guard {
  readonly register: string;
  readonly negated: boolean;
}

/** One instruction: `@p add.s32 %r1, %r2, 3;` has opcode `add`, modifiers `['s32']`. */
export interface PtxInstruction {
  readonly kind: 'instruction';
  readonly span: PtxSpan;
  readonly guard?: Guard;
  readonly opcode: string;
  /** Text after the opcode, split at the dots: `ld.global.nc.v2.f32` gives `global nc v2 f32`; `::` stays inside. */
  readonly modifiers: readonly string[];
  readonly operands: readonly PtxOperand[];
}

interface Label {
  readonly kind: 'label';
  readonly span: PtxSpan;
  readonly name: string;
}

/** `.reg .b32 %r<10>;`, `.shared .align 4 .b8 s[1024];`, `.param .b64 param0;`, `.local …`, `.global … = {…};`. */
export interface VariableDeclaration {
  readonly kind: 'variable';
  readonly span: PtxSpan;
  /** `extern`, `visible`, `weak`, `common`; empty if none is written. */
  readonly linkage: readonly string[];
  readonly space: 'reg' | 'param' | 'shared' | 'local' | 'global' | 'const' | 'tex' | 'sreg';
  /** Attributes in written order that are not the space, type, alignment or vector, for printing. */
  readonly attributes: readonly string[];
  readonly alignment?: number;
  readonly vector?: 2 | 4 | 8;
  /** `b8`, `u32`, `f64`, `pred`, `texref` …, without the dot. */
  readonly type: string;
  /** Pointer parameters may carry `.ptr .global .align 4`. */
  readonly pointer?: { readonly space?: string; readonly alignment?: number };
  readonly name: string;
  /** `%r<10>` declares `%r0` to `%r9`: count 10. */
  readonly count?: number;
  /** Array extents in elements; an empty bracket is null: `dyn[]` gives `[null]`. */
  readonly dimensions: readonly (bigint | null)[];
  readonly initializer?: Initializer;
}

export type Initializer =
  /** `mask` is the literal of `0xff00(symbol)`, which selects one byte of an address. */
  | { readonly kind: 'scalar'; readonly operand: PtxOperand; readonly mask?: string }
  /** `filter_mode = nearest` of a sampler. */
  | { readonly kind: 'field'; readonly name: string; readonly value: string }
  | { readonly kind: 'aggregate'; readonly elements: readonly Initializer[] };

/** `{ … }`: a scope for registers, parameters and labels. */
interface Scope {
  readonly kind: 'scope';
  readonly span: PtxSpan;
  readonly body: readonly PtxStatement[];
}

/** `.pragma "nounroll";`, `.branchtargets`, `.calltargets`, `.callprototype` and directives as written. */
export interface BodyDirective {
  readonly kind: 'directive';
  readonly span: PtxSpan;
  /** Preceding label, as `.branchtargets` and `.callprototype` need. */
  readonly label?: string;
  /** Without the dot. */
  readonly name: string;
  /** The text after the name up to the semicolon, trimmed. */
  readonly text: string;
  /** For `branchtargets`/`calltargets`: the names. */
  readonly names: readonly string[];
}

/**
 * `// selvage.assume %r1;`, `// selvage.unknown %r1`, `// SELVAGE_CANDIDATE 3`: comments with a meaning. Every other
 * comment is dropped.
 */
export interface MarkerComment {
  readonly kind: 'marker';
  readonly span: PtxSpan;
  readonly name: 'assume' | 'unknown' | 'candidate';
  readonly operand: PtxOperand;
}

/**
 * A range of text that is not a statement: a diagnostic names it, and a function that contains it is never `proved`.
 */
interface Damage {
  readonly kind: 'damage';
  readonly span: PtxSpan;
  readonly text: string;
}

export type PtxStatement = PtxInstruction | Label | VariableDeclaration | LocDirective | Scope | BodyDirective | MarkerComment | Damage;

export interface PerformanceDirective {
  /** `maxntid`, `reqntid`, `minnctapersm`, `maxnreg`, `noreturn`, `reqnctapercluster`, `pragma` …, without the dot. */
  readonly name: string;
  readonly values: readonly number[];
  readonly text: string;
}

export interface Function {
  readonly kind: 'entry' | 'func';
  readonly span: PtxSpan;
  readonly linkage: readonly string[];
  /** `.attribute(.unified(…))`, as written. */
  readonly attributes?: readonly string[];
  readonly name: string;
  readonly results: readonly VariableDeclaration[];
  readonly parameters: readonly VariableDeclaration[];
  readonly directives: readonly PerformanceDirective[];
  /** Absent for a declaration without a body. */
  readonly body?: readonly PtxStatement[];
  /** The text ended, or could not be read, before the closing brace. */
  readonly truncated: boolean;
  /** A diagnostic of severity error concerns this function (damage, an undeclared name, …): never `proved`. */
  readonly faulty?: true;
}

/** `.section .debug_str { … }` as its raw text, and other module-level text such as `.alias`. */
interface RawDirective {
  readonly kind: 'raw';
  readonly span: PtxSpan;
  readonly text: string;
}

export type ModuleItem = Function | VariableDeclaration | RawDirective | BodyDirective | Damage;

export interface Module {
  /** `9.0`; empty if the text lacks it. */
  readonly version: string;
  /** `['sm_80']`, with texmode and debug options. */
  readonly target: readonly string[];
  readonly addressSize: number;
  readonly items: readonly ModuleItem[];
  /** `.file` table: index to path, as the compiler wrote it. */
  readonly files: ReadonlyMap<number, string>;
  /** The `.file` directives' optional timestamp and size, for printing. */
  readonly fileAttributes: ReadonlyMap<number, string>;
  /** Names in the `.debug_str` section by the label that `.loc … function_name` uses. */
  readonly debugStrings: ReadonlyMap<string, string>;
}
