/**
 * Z3 compiled to WebAssembly, driven synchronously through its C interface in the calling thread. `eval_smtlib2_string`
 * is never used (it corrupts long scripts), nor the asynchronous checks of z3-solver (they hop to a second thread), and
 * every limit is a parameter of one solver, never `set-option`, which is global to the process.
 */
import { arithmeticSolver } from './limits.ts';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { compileFunction } from 'node:vm';
import { declaredConstants, scriptProblem, unquoted } from './script.ts';
import type { SolverAnswer } from './solver.ts';
import { instantiateWithInvokes, type Z3Imports } from './z3-invokes.ts';

type Pointer = number;

/** An error reported by Z3: a script that does not parse, an undeclared assumption. Other exceptions are traps. */
export class Z3Error extends Error {
  override name = 'Z3Error';
}

/** The part of the Emscripten module that is used here; the names after `_Z3_` are those of z3_api.h. */
interface Z3Module {
  readonly HEAPU8: Uint8Array;
  readonly HEAPU32: Uint32Array;
  ccall(name: string, result: 'string', types: readonly string[], values: readonly (string | number)[]): string;
  ccall(name: string, result: 'number', types: readonly string[], values: readonly (string | number)[]): number;
  _malloc(bytes: number): Pointer;
  _free(address: Pointer): void;
  _set_noop_error_handler(context: Pointer): void;
  _Z3_mk_config(): Pointer;
  _Z3_del_config(config: Pointer): void;
  _Z3_mk_context_rc(config: Pointer): Pointer;
  _Z3_del_context(context: Pointer): void;
  _Z3_get_error_code(context: Pointer): number;
  _Z3_mk_simple_solver(context: Pointer): Pointer;
  _Z3_solver_inc_ref(context: Pointer, solver: Pointer): void;
  _Z3_solver_dec_ref(context: Pointer, solver: Pointer): void;
  _Z3_mk_params(context: Pointer): Pointer;
  _Z3_solver_from_string(context: Pointer, solver: Pointer, text: Pointer): void;
  _Z3_params_inc_ref(context: Pointer, parameters: Pointer): void;
  _Z3_params_dec_ref(context: Pointer, parameters: Pointer): void;
  _Z3_params_set_uint(context: Pointer, parameters: Pointer, key: Pointer, value: number): void;
  _Z3_solver_set_params(context: Pointer, solver: Pointer, parameters: Pointer): void;
  _Z3_mk_bool_sort(context: Pointer): Pointer;
  _Z3_mk_const(context: Pointer, symbol: Pointer, sort: Pointer): Pointer;
  _Z3_inc_ref(context: Pointer, ast: Pointer): void;
  _Z3_dec_ref(context: Pointer, ast: Pointer): void;
  _Z3_solver_check_assumptions(context: Pointer, solver: Pointer, count: number, assumptions: Pointer): number;
  _Z3_solver_get_model(context: Pointer, solver: Pointer): Pointer;
  _Z3_model_inc_ref(context: Pointer, model: Pointer): void;
  _Z3_model_dec_ref(context: Pointer, model: Pointer): void;
  _Z3_model_get_num_consts(context: Pointer, model: Pointer): number;
  _Z3_model_get_const_decl(context: Pointer, model: Pointer, index: number): Pointer;
  _Z3_model_get_const_interp(context: Pointer, model: Pointer, declaration: Pointer): Pointer;
  _Z3_get_decl_name(context: Pointer, declaration: Pointer): Pointer;
  _Z3_get_bool_value(context: Pointer, ast: Pointer): number;
  _Z3_solver_get_statistics(context: Pointer, solver: Pointer): Pointer;
  _Z3_stats_inc_ref(context: Pointer, statistics: Pointer): void;
  _Z3_stats_dec_ref(context: Pointer, statistics: Pointer): void;
  _Z3_stats_size(context: Pointer, statistics: Pointer): number;
  _Z3_stats_get_uint_value(context: Pointer, statistics: Pointer, index: number): number;
}

const initialisers = new Map<string, (overrides: object) => Promise<Z3Module>>();

/** The location of `z3-built.js` and its wasm: next to the bundle, or in the installed package if run from source. */
function z3BuiltFile(): string {
  return import.meta.url.endsWith('.ts')
    ? createRequire(import.meta.url).resolve('z3-solver/build/z3-built.js')
    : fileURLToPath(new URL('./z3-built.js', import.meta.url));
}

/**
 * Evaluates `z3-built.js` as the CommonJS file that it is, regardless of `type` in the package.json above it. It must
 * stay a separate file next to its wasm, never inlined.
 */
function initialiser(file: string): (overrides: object) => Promise<Z3Module> {
  let found = initialisers.get(file);
  if (found === undefined) {
    const module: { exports: unknown } = { exports: {} };
    const names = ['module', 'exports', 'require', '__filename', '__dirname'];
    const evaluate = compileFunction(readFileSync(file, 'utf8'), names, { filename: file });
    Reflect.apply(evaluate, undefined, [module, module.exports, createRequire(file), file, dirname(file)]);
    found = module.exports as (overrides: object) => Promise<Z3Module>;
    initialisers.set(file, found);
  }
  return found;
}

/** Loads and compiles the wasm. @returns the module that {@link openContext} works on */
export function loadZ3(): Promise<Z3Module> {
  // Functions are checked when they are first called: of 35 MB few ever are, and loading takes half the time.
  setFlagsFromString('--wasm-lazy-validation');
  const file = z3BuiltFile();
  return initialiser(file)({ print: ignore, printErr: ignore, instantiateWasm });

  function instantiateWasm(imports: Z3Imports, receive: Receiver): object {
    const module = new WebAssembly.Module(readFileSync(file.replace(/js$/, 'wasm')));
    const instance = instantiateWithInvokes(module, imports) ?? new WebAssembly.Instance(module, { ...imports });
    return receive(instance, module);
  }
}

type Receiver = (instance: WebAssembly.Instance, module: WebAssembly.Module) => object;

function ignore(): void {}

/**
 * One Z3 context with one solver. `constants` are those declared so far, with the default value if a model omits one.
 */
export interface Z3Context {
  readonly z3: Z3Module;
  readonly context: Pointer;
  readonly solver: Pointer;
  readonly limitKey: Pointer;
  readonly arithmeticKey: Pointer;
  readonly constants: Map<string, bigint | boolean>;
  readonly literals: Map<string, Pointer>;
}

/** Creates a context with an empty solver. Free it with {@link closeContext}. */
export function openContext(z3: Z3Module): Z3Context {
  const config = z3._Z3_mk_config();
  const context = z3._Z3_mk_context_rc(config);
  z3._Z3_del_config(config);
  // Errors are read by code after each call.
  z3._set_noop_error_handler(context);
  const solver = z3._Z3_mk_simple_solver(context);
  z3._Z3_solver_inc_ref(context, solver);
  const limitKey = symbol(z3, context, 'rlimit');
  const arithmeticKey = symbol(z3, context, 'arith.solver');
  expectNoError(z3, context);
  return { z3, context, solver, limitKey, arithmeticKey, constants: new Map(), literals: new Map() };
}

/** Frees a context and all that was added to it. */
export function closeContext({ z3, context, solver, literals }: Z3Context): void {
  for (const literal of literals.values()) z3._Z3_dec_ref(context, literal);
  z3._Z3_solver_dec_ref(context, solver);
  z3._Z3_del_context(context);
}

function symbol(z3: Z3Module, context: Pointer, name: string): Pointer {
  return z3.ccall('Z3_mk_string_symbol', 'number', ['number', 'string'], [context, name]);
}

/** @throws Z3Error with Z3's message when the last call on the context failed */
function expectNoError(z3: Z3Module, context: Pointer): void {
  const code = z3._Z3_get_error_code(context);
  if (code === 0) return;
  const message = z3.ccall('Z3_get_error_msg', 'string', ['number', 'number'], [context, code]);
  throw new Z3Error(`Z3: ${message.trim()}`);
}

/**
 * Adds declarations and assertions.
 * @throws Z3Error when the script does not parse or contains a command that is not a declaration, definition or
 *   assertion; the context must not be used for a verdict afterwards
 */
export function addScript({ z3, context, solver, constants }: Z3Context, script: string): void {
  const problem = scriptProblem(script);
  if (problem !== undefined) throw new Z3Error(`Z3: ${problem}`);
  // The text goes through the heap: ccall would copy it to the stack, which is small.
  const bytes = new TextEncoder().encode(script);
  const text = z3._malloc(bytes.length + 1);
  z3.HEAPU8.set(bytes, text);
  z3.HEAPU8[text + bytes.length] = 0;
  z3._Z3_solver_from_string(context, solver, text);
  z3._free(text);
  expectNoError(z3, context);
  for (const [name, value] of declaredConstants(script)) constants.set(name, value);
}

/**
 * Decides the assertions together with the named Boolean constants.
 * @param units Z3's rlimit: a count of its steps, so the answer does not depend on the hardware
 * @throws Z3Error on an error of Z3
 */
export function checkAssumptions(context: Z3Context, assumptions: readonly string[], units: number): SolverAnswer {
  const before = unitsOf(context);
  const answer = decided(context, assumptions, units);
  return { ...answer, units: unitsOf(context) - before };
}

function decided(context: Z3Context, assumptions: readonly string[], units: number): SolverAnswer {
  const { z3, solver } = context;
  setParameters(context, units);
  const list = z3._malloc(4 * Math.max(1, assumptions.length));
  assumptions.forEach((name, index) => (z3.HEAPU32[(list >> 2) + index] = literal(context, unquoted(name))));
  const verdict = z3._Z3_solver_check_assumptions(context.context, solver, assumptions.length, list);
  z3._free(list);
  expectNoError(z3, context.context);
  if (verdict === -1) return { kind: 'unsat' };
  if (verdict === 1) return { kind: 'sat', model: readModel(context) };
  const reason = z3.ccall('Z3_solver_get_reason_unknown', 'string', ['number', 'number'], [context.context, solver]);
  return { kind: 'unknown', reason: reason === 'canceled' ? 'solver budget exhausted' : reason };
}

/** The resource units that a context has taken. */
function unitsOf({ z3, context, solver }: Z3Context): number {
  const statistics = z3._Z3_solver_get_statistics(context, solver);
  z3._Z3_stats_inc_ref(context, statistics);
  let units = 0;
  for (let index = 0; index < z3._Z3_stats_size(context, statistics); index++) {
    const key = z3.ccall('Z3_stats_get_key', 'string', ['number', 'number', 'number'], [context, statistics, index]);
    if (key === 'rlimit count') units = z3._Z3_stats_get_uint_value(context, statistics, index);
  }
  z3._Z3_stats_dec_ref(context, statistics);
  return units;
}

function setParameters({ z3, context, solver, limitKey, arithmeticKey }: Z3Context, units: number): void {
  const parameters = z3._Z3_mk_params(context);
  z3._Z3_params_inc_ref(context, parameters);
  z3._Z3_params_set_uint(context, parameters, limitKey, units);
  z3._Z3_params_set_uint(context, parameters, arithmeticKey, arithmeticSolver);
  z3._Z3_solver_set_params(context, solver, parameters);
  z3._Z3_params_dec_ref(context, parameters);
}

function literal({ z3, context, constants, literals }: Z3Context, name: string): Pointer {
  let found = literals.get(name);
  if (found === undefined) {
    if (typeof constants.get(name) !== 'boolean') throw new Z3Error(`Z3: assumption ${name} is not a declared Bool`);
    found = z3._Z3_mk_const(context, symbol(z3, context, name), z3._Z3_mk_bool_sort(context));
    z3._Z3_inc_ref(context, found);
    literals.set(name, found);
  }
  return found;
}

/** The value of each declared constant. A constant that the model omits may have any value, and gets 0 or false. */
function readModel({ z3, context, solver, constants }: Z3Context): Map<string, bigint | boolean> {
  const values = new Map(constants);
  const model = z3._Z3_solver_get_model(context, solver);
  expectNoError(z3, context);
  z3._Z3_model_inc_ref(context, model);
  const count = z3._Z3_model_get_num_consts(context, model);
  for (let index = 0; index < count; index += 1) {
    const constant = z3._Z3_model_get_const_decl(context, model, index);
    const name = z3.ccall('Z3_get_symbol_string', 'string', ['number', 'number'], [context, z3._Z3_get_decl_name(context, constant)]);
    const declared = constants.get(name);
    if (declared === undefined) continue;
    const value = z3._Z3_model_get_const_interp(context, model, constant);
    if (value === 0) continue;
    values.set(name, typeof declared === 'boolean' ? readTruth(z3, context, value) : readInteger(z3, context, value));
  }
  z3._Z3_model_dec_ref(context, model);
  expectNoError(z3, context);
  return values;
}

function readTruth(z3: Z3Module, context: Pointer, value: Pointer): boolean {
  const truth = z3._Z3_get_bool_value(context, value);
  if (truth === 0) throw new Z3Error('Z3: the model has a Boolean without a value');
  return truth === 1;
}

function readInteger(z3: Z3Module, context: Pointer, value: Pointer): bigint {
  const numeral = z3.ccall('Z3_get_numeral_string', 'string', ['number', 'number'], [context, value]);
  expectNoError(z3, context);
  return BigInt(numeral);
}
