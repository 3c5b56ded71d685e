/** The words of PTX, by where they may appear (PTX ISA 9.0, sections 4, 5 and 11). */
import type { VariableDeclaration } from './ast.ts';

export const SPACES = new Map<string, VariableDeclaration['space']>([
  ['.reg', 'reg'],
  ['.param', 'param'],
  ['.shared', 'shared'],
  ['.local', 'local'],
  ['.global', 'global'],
  ['.const', 'const'],
  ['.tex', 'tex'],
]);

export const LINKAGES = new Set(['.extern', '.visible', '.weak', '.common']);

/** Types that a variable can have (PTX ISA 5.2). */
export const TYPES = new Set(
  '.b8 .b16 .b32 .b64 .b128 .u8 .u16 .u32 .u64 .s8 .s16 .s32 .s64 .f16 .f16x2 .f32 .f64 .pred .texref .samplerref .surfref'.split(' '),
);

type NumberOfValues = readonly [least: number, most: number];

/** Directives between the parameters of an entry and its body, with the number of their operands. */
export const ENTRY_DIRECTIVES = new Map<string, NumberOfValues>([
  ['.maxntid', [1, 3]],
  ['.reqntid', [1, 3]],
  ['.minnctapersm', [1, 1]],
  ['.maxnctapersm', [1, 1]],
  ['.maxnreg', [1, 1]],
  ['.explicitcluster', [0, 0]],
  ['.reqnctapercluster', [1, 3]],
  ['.maxclusterrank', [1, 1]],
  ['.blocksareclusters', [0, 0]],
]);

/** Directives between the parameters of other functions or prototypes and the body, in this order. */
export const FUNC_DIRECTIVES = new Map<string, NumberOfValues>([
  ['.noreturn', [0, 0]],
  ['.abi_preserve', [1, 1]],
  ['.abi_preserve_control', [1, 1]],
]);

/** Directives that appear only at module level: one inside a body means that a brace is missing. */
export const MODULE_ONLY = new Set(
  '.entry .func .extern .visible .weak .common .version .target .address_size .file .section .alias'.split(' '),
);

/** Directives that are allowed both at module level and in bodies. */
export const SHARED_DIRECTIVES = new Set(['.global', '.const', '.shared', '.local', '.tex', '.pragma']);

/** Directives that begin a statement of a body. */
export const BODY_DIRECTIVES = new Set('.reg .param .shared .local .global .const .loc .pragma'.split(' '));

export const LABELLED_DIRECTIVES = new Set(['.branchtargets', '.calltargets', '.callprototype']);

/** The directives of the header, in their order. */
export const HEADER_DIRECTIVES = ['.version', '.target', '.address_size'];

/** Instructions that are complete without a dot and without an operand. */
export const BARE_INSTRUCTIONS = new Set(['ret', 'exit', 'trap', 'brkpt', 'nanosleep', 'membar', 'bra', 'call']);

/** Words that cannot be the modifier of an instruction, because they are directives or parts of them. */
const NO_MODIFIERS = new Set(
  (
    'version target address_size entry func extern visible common reg loc file section pragma attribute managed ' +
    'unified align ptr scratch branchtargets calltargets callprototype'
  ).split(' '),
);
for (const directive of [...ENTRY_DIRECTIVES.keys(), ...FUNC_DIRECTIVES.keys()]) NO_MODIFIERS.add(directive.slice(1));

/** A modifier is a word, the dimensions of a texture (`1d`) or the shape of a matrix (`16x256b`). */
const MODIFIER = /^(?:[A-Za-z]|[1-5]d(?:ms)?$|\d+x\d+b)/;

/** Whether a word may follow the dot of an instruction. Whether it is a known modifier there is for `isa/`. */
export function isModifier(word: string): boolean {
  return MODIFIER.test(word) && !NO_MODIFIERS.has(word);
}

/** Words with a predefined meaning: no register, variable, label or function has such a name. */
export const RESERVED_NAMES = new Set(['WARP_SZ', 'function_name', 'inlined_at', '_', '%']);

export const ARCHITECTURE = /^(?:sm|compute)_\d+[af]?$/;

export const TARGET_OPTIONS = new Set(['texmode_unified', 'texmode_independent', 'texmode_raw', 'debug', 'map_f64_to_f32']);
