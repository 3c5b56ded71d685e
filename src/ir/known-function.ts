/** Functions recognised by name: they have no body in the module, or one that obscures their meaning. */
import type * as ptx from '../ptx/ast.ts';
import type { ModuleSymbols } from './name-bindings.ts';

/**
 * - `grid-barrier`: `cooperative_groups::grid_group::sync` and its callees;
 * - `stops`: does not return, the launch fails;
 * - `unknown-value`: reads at most its arguments and returns a value that is not modelled.
 */
type KnownFunction = 'grid-barrier' | 'stops' | 'unknown-value';

const byName = new Map<string, KnownFunction>([
  ['vprintf', 'unknown-value'],
  ['malloc', 'unknown-value'],
  ['free', 'unknown-value'],
  ['__assertfail', 'stops'],
  ['__assert_fail', 'stops'],
  ['__trap', 'stops'],
  ['abort', 'stops'],
  ['__cxa_pure_virtual', 'stops'],
]);

/**
 * The functions of Rust's core library that panic, which never return: of `core::panicking`, the failures of slices,
 * and `unwrap` and `expect` of nothing, in the first and in the new mangling.
 */
const rustPanic =
  /^(_ZN4core|_RNv\w*?_4core)(9panicking|5slice5index\d+slice_\w+_fail|6option\d+(unwrap|expect)_failed|6result\d+unwrap_failed)/;

/** The known behaviour of a callee, or null. A panic with a body in the module calls a handler, which is analyzed. */
export function knownFunction(symbol: string, hasBody: boolean): KnownFunction | null {
  const known = byName.get(symbol);
  if (known) return known;
  if (!hasBody && rustPanic.test(symbol)) return 'stops';
  const gridBarrier =
    symbol.includes('cooperative_groups') && (symbol.includes('10grid_group4sync') || symbol.includes('details4grid4sync'));
  return gridBarrier ? 'grid-barrier' : null;
}

/** Longer mathematical functions than this (statements, those of their callees included) become one unknown value. */
const abstractFrom = 80;

/**
 * True for a function of the compiler's mathematics library that is long and has no side effect, so that it may be
 * replaced by an unknown value: no pointer parameter, no barrier, atomic or global store, and no memory but its own
 * parameters and locals and the library's tables.
 */
export function isAbstractable(symbols: ModuleSymbols, callee: ptx.Function): boolean {
  let answer = symbols.abstractable.get(callee);
  if (answer === undefined) {
    const size = mathematicsSize(symbols, callee, 0);
    answer = size !== null && size >= abstractFrom;
    symbols.abstractable.set(callee, answer);
  }
  return answer;
}

/** Statements of a mathematical function with its callees, or null for other functions. */
function mathematicsSize(symbols: ModuleSymbols, callee: ptx.Function, depth: number): number | null {
  if (!callee.body || callee.truncated || callee.faulty || depth > 8 || !/^__(nv|internal)_/.test(callee.name)) return null;
  if (callee.parameters.some((parameter) => parameter.dimensions.length > 0)) return null;
  const parameters = new Set(callee.parameters.map((parameter) => parameter.name));
  return statementsSize(symbols, callee.body, parameters, depth);
}

const refused = new Set([
  'atom',
  'red',
  'bar',
  'barrier',
  'membar',
  'fence',
  'shfl',
  'vote',
  'match',
  'redux',
  'trap',
  'exit',
  'brx',
  'elect',
  'activemask',
  'mbarrier',
  'cp',
  'mma',
  'wmma',
  'wgmma',
  'ldmatrix',
  'stmatrix',
  'movmatrix',
  'suld',
  'sust',
  'sured',
  'alloca',
]);

function statementsSize(
  symbols: ModuleSymbols,
  statements: readonly ptx.PtxStatement[],
  parameters: ReadonlySet<string>,
  depth: number,
): number | null {
  let size = 0;
  for (const statement of statements) {
    let more: number | null = 0;
    if (statement.kind === 'damage' || statement.kind === 'marker') more = null;
    else if (statement.kind === 'scope') more = statementsSize(symbols, statement.body, parameters, depth);
    else if (statement.kind === 'instruction') more = instructionSize(symbols, statement, parameters, depth);
    if (more === null) return null;
    size += more;
  }
  return size;
}

function instructionSize(
  symbols: ModuleSymbols,
  { opcode, modifiers, operands }: ptx.PtxInstruction,
  parameters: ReadonlySet<string>,
  depth: number,
): number | null {
  if (refused.has(opcode)) return null;
  if (opcode === 'call') {
    const name = operands.find((operand) => operand.kind === 'symbol')?.name;
    const callee = name === undefined ? undefined : symbols.functions.get(name);
    const inner = callee && mathematicsSize(symbols, callee, depth + 1);
    return inner === undefined || inner === null ? null : inner + 1;
  }
  if (opcode === 'st' && modifiers.includes('global')) return null;
  for (const operand of operands) {
    // A 64-bit integer parameter may be a pointer that is stored through (`__nv_sincos`).
    if (operand.kind === 'address' && operand.base && parameters.has(operand.base.name)) {
      if (modifiers.some((name) => name === 'u64' || name === 'b64' || name === 's64')) return null;
    }
    if (operand.kind === 'symbol' && symbols.variables.has(operand.name) && !operand.name.startsWith('__cudart_')) return null;
  }
  return 1;
}
