/** Bindings of the names of a module, a function instance and its `{ }` scopes. */
import type { Operation, ValueType } from '../isa/model/operation.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import type { Location } from '../source/location.ts';
import type * as ptx from '../ptx/ast.ts';
import type { Draft, Step } from './form/draft.ts';
import { newObject, newValue } from './form/draft.ts';
import { functionAddress } from './form/function-address.ts';
import type { MemoryObject, ObjectId } from './form/kernel.ts';

/** A module's names, and data computed once for all of its kernels. */
export interface ModuleSymbols {
  readonly module: ptx.Module;
  /** Definitions, or declarations if the module has no definition. */
  readonly functions: ReadonlyMap<string, ptx.Function>;
  readonly variables: ReadonlyMap<string, ptx.VariableDeclaration>;
  /** An instruction of a callee is decoded once, however often it is inlined. */
  readonly decoded: Map<ptx.PtxInstruction, Operation | null>;
  /** First bytes of the variables in a function's stack frame, or null if they cannot be distinguished. */
  readonly frames: Map<ptx.Function, readonly number[] | null>;
  readonly located: Map<ptx.LocDirective, Location | undefined>;
  /** Whether a function is mathematics that can be replaced by one unknown value. */
  readonly abstractable: Map<ptx.Function, boolean>;
  /** Functions whose address is taken, with their synthetic addresses; computed on demand. */
  functionAddresses: ReadonlyMap<string, bigint> | null;
  readonly diagnostics: Diagnostic[];
}

type Binding =
  | { readonly kind: 'register'; readonly id: number }
  | { readonly kind: 'registers'; readonly type: ValueType; readonly count: number }
  | { readonly kind: 'label'; readonly label: number }
  | { readonly kind: 'object'; readonly object: ObjectId }
  | { readonly kind: 'targets'; readonly names: readonly string[] }
  /** `%SP` or `%SPL`: the stack frame, split into its variables. */
  | { readonly kind: 'frame'; readonly generic: boolean; readonly parts: readonly FramePart[] }
  | { readonly kind: 'function' };

/** A variable of a stack frame. */
export interface FramePart {
  /** First byte within the frame. */
  readonly start: number;
  readonly object: ObjectId;
}

export interface BindingScope {
  readonly names: Map<string, Binding>;
  readonly parent: BindingScope | null;
}

/** One kernel while its calls are expanded into straight code. */
export interface Expansion {
  readonly symbols: ModuleSymbols;
  readonly draft: Draft;
  /** Variables with one instance however often the function around them is inlined (`.shared`, `.global`, `.const`). */
  readonly statics: Map<ptx.VariableDeclaration, ObjectId>;
  readonly steps: Step[];
  /** Labels allocated so far. */
  labels: number;
  /** The condition code register CC.CF, once used. */
  carry: number | null;
  /** Opcodes and callees already reported for this kernel. */
  readonly reported: Set<string>;
}

/**
 * Indexes the symbols of a module: a definition has precedence over a declaration. The caches in the result are filled
 * while kernels of the module are lowered.
 */
export function moduleSymbols(module: ptx.Module): ModuleSymbols {
  const functions = new Map<string, ptx.Function>();
  const variables = new Map<string, ptx.VariableDeclaration>();
  for (const item of module.items) {
    if (item.kind === 'entry' || item.kind === 'func') {
      if (item.body || !functions.has(item.name)) functions.set(item.name, item);
    } else if (item.kind === 'variable') {
      const known = variables.get(item.name);
      if (!known || known.linkage.includes('extern')) variables.set(item.name, item);
    }
  }
  return {
    module,
    functions,
    variables,
    decoded: new Map(),
    frames: new Map(),
    located: new Map(),
    abstractable: new Map(),
    functionAddresses: null,
    diagnostics: [],
  };
}

/**
 * Functions whose address is used by an initializer, or by an instruction other than a call, in the order of the
 * module, each with a synthetic address.
 */
export function functionAddresses(symbols: ModuleSymbols): ReadonlyMap<string, bigint> {
  symbols.functionAddresses ??= findAddresses(symbols);
  return symbols.functionAddresses;
}

function findAddresses({ module, functions }: ModuleSymbols): Map<string, bigint> {
  const taken = new Set<string>();
  const inInitializer = (initializer: ptx.Initializer): void => {
    if (initializer.kind === 'aggregate') initializer.elements.forEach(inInitializer);
    else if (initializer.kind === 'scalar' && initializer.operand.kind === 'symbol') taken.add(initializer.operand.name);
  };
  const inStatements = (statements: readonly ptx.PtxStatement[]): void => {
    for (const statement of statements) {
      if (statement.kind === 'scope') inStatements(statement.body);
      else if (statement.kind === 'variable' && statement.initializer) inInitializer(statement.initializer);
      else if (statement.kind === 'instruction' && statement.opcode !== 'call') {
        for (const operand of statement.operands) if (operand.kind === 'symbol') taken.add(operand.name);
      }
    }
  };
  for (const item of module.items) {
    if (item.kind === 'variable' && item.initializer) inInitializer(item.initializer);
    else if ((item.kind === 'entry' || item.kind === 'func') && item.body) inStatements(item.body);
  }
  const names = [...functions.keys()].filter((name) => taken.has(name) && functions.get(name)!.kind === 'func');
  return new Map(names.map((name, index) => [name, functionAddress(index)]));
}

/** Opens a scope for `statements` and binds its declarations, labels and branch targets. */
export function openScope(expansion: Expansion, parent: BindingScope | null, statements: readonly ptx.PtxStatement[]): BindingScope {
  const scope: BindingScope = { names: new Map(), parent };
  for (const statement of statements) {
    if (statement.kind === 'variable') declare(expansion, scope, statement);
    else if (statement.kind === 'label') scope.names.set(statement.name, { kind: 'label', label: expansion.labels++ });
    else if (statement.kind === 'directive' && statement.label !== undefined) {
      scope.names.set(statement.label, { kind: 'targets', names: statement.names });
    }
  }
  return scope;
}

/** Binds a declaration: registers, or a new object; a static variable has the same object in every instance. */
export function declare(expansion: Expansion, scope: BindingScope, declaration: ptx.VariableDeclaration): void {
  const { name, space } = declaration;
  if (space === 'reg') {
    const type = registerType(declaration.type);
    if (type === null || declaration.vector !== undefined || declaration.dimensions.length > 0) return;
    if (declaration.count !== undefined) scope.names.set(`${name}<`, { kind: 'registers', type, count: declaration.count });
    else scope.names.set(name, { kind: 'register', id: newValue(expansion.draft, type, name) });
  } else if (space === 'shared' || space === 'global' || space === 'const') {
    scope.names.set(name, { kind: 'object', object: staticObject(expansion, declaration, space, scope) });
  } else if (space === 'local' || space === 'param') {
    scope.names.set(name, {
      kind: 'object',
      object: newObject(expansion.draft, describe(declaration, space)),
    });
  }
}

/** The bit width of a register type, null for types without bits (`texref`, `samplerref`). */
export function registerType(type: string): ValueType | null {
  if (type === 'pred') return 'predicate';
  const bits = typeBytes(type) * 8;
  return bits === 8 || bits === 16 || bits === 32 || bits === 64 || bits === 128 ? bits : null;
}

/** Bytes of a fundamental type: 4 for `f32` and `f16x2`, 0 for other types. */
export function typeBytes(type: string): number {
  if (type.endsWith('x2')) return type.startsWith('f32') ? 8 : 4;
  const bits = /\d+$/.exec(type);
  return bits && /^(b|u|s|f|bf)\d+$/.test(type) ? Number(bits[0]) / 8 : 0;
}

/** Bytes of a whole variable, null for `extern dyn[]`. */
export function declarationBytes(declaration: ptx.VariableDeclaration): number | null {
  let bytes = Math.max(typeBytes(declaration.type), 1) * (declaration.vector ?? 1);
  for (const extent of declaration.dimensions) {
    if (extent === null) return declaration.initializer ? initialBytes(declaration) : null;
    bytes *= Number(extent);
  }
  return bytes;
}

/** Bytes of `x[] = {…}`. */
function initialBytes(declaration: ptx.VariableDeclaration): number {
  const count = (initializer: ptx.Initializer): number =>
    initializer.kind !== 'aggregate' ? 1 : initializer.elements.reduce((sum, element) => sum + count(element), 0);
  return count(declaration.initializer!) * Math.max(typeBytes(declaration.type), 1);
}

/** A variable without its initial contents. */
function describe(declaration: ptx.VariableDeclaration, space: MemoryObject['space']): Omit<MemoryObject, 'id'> {
  const scalarBytes = Math.max(typeBytes(declaration.type), 1);
  const elementBytes = scalarBytes * (declaration.vector ?? 1);
  return {
    symbol: declaration.name,
    space,
    alignment: declaration.alignment ?? elementBytes,
    elementBytes,
    ...(elementBytes !== scalarBytes && { scalarBytes }),
    bytes: declarationBytes(declaration),
    external: space !== 'shared' && declaration.linkage.includes('extern'),
  };
}

/** The contents of a larger variable are unknown. No compiler emits one. */
const maxInitialBytes = 1 << 28;

/**
 * The bytes of an initializer, and the addresses of variables in it. Variables with other addresses count as defined
 * elsewhere; those of functions are known.
 */
function initialContents(expansion: Expansion, declaration: ptx.VariableDeclaration, scope: BindingScope | null): Partial<MemoryObject> {
  const bytes = declarationBytes(declaration);
  if (!declaration.initializer || bytes === null) return {};
  const width = typeBytes(declaration.type);
  if (width === 0 || width > 8 || bytes > maxInitialBytes) return { external: true };
  const initial = new Uint8Array(bytes);
  const addresses: NonNullable<MemoryObject['addresses']>[number][] = [];
  let unknown = false;
  const dimensions = declaration.dimensions.map((extent) => Number(extent ?? 0));
  // Elements an aggregate of nesting `depth` spans; a short inner list leaves the rest of its row zero.
  const span = (depth: number): number => dimensions.slice(depth + 1).reduce((product, extent) => product * extent, 1);
  const fill = (initializer: ptx.Initializer, at: number, depth: number): void => {
    if (initializer.kind === 'aggregate') {
      let next = at;
      for (const element of initializer.elements) {
        fill(element, next, depth + 1);
        next += element.kind === 'aggregate' ? span(depth) : 1;
      }
      return;
    }
    const isPlain = initializer.kind === 'scalar' && initializer.mask === undefined;
    const value = isPlain ? initialValue(expansion, initializer.operand, width) : null;
    const address = isPlain && value === null && width === 8 ? variableAddress(expansion, scope, initializer.operand) : null;
    if (address) addresses.push({ at: at * width, ...address });
    else if (value === null) unknown = true;
    else for (let i = 0; i < width; i++) initial[at * width + i] = Number((value >> BigInt(8 * i)) & 0xffn);
  };
  fill(declaration.initializer, 0, 0);
  return unknown ? { external: true } : { initial, ...(addresses.length > 0 && { addresses }) };
}

/** The variable of global or constant memory that an initializer refers to. */
function variableAddress(expansion: Expansion, scope: BindingScope | null, operand: ptx.PtxOperand) {
  if (operand.kind !== 'symbol') return null;
  const binding = resolve(expansion, scope, operand.name);
  if (binding?.kind !== 'object') return null;
  const { space } = expansion.draft.objects[binding.object]!;
  return space === 'global' || space === 'const' ? { object: binding.object, offset: operand.offset } : null;
}

function initialValue({ symbols }: Expansion, operand: ptx.PtxOperand, bytes: number): bigint | null {
  if (operand.kind !== 'symbol' || bytes !== 8 || operand.offset !== 0n) return literalBits(operand, bytes * 8);
  return functionAddresses(symbols).get(operand.name) ?? null;
}

/** The bit pattern of a literal in `width` bits, or null for other operands. */
export function literalBits(operand: ptx.PtxOperand, width: number): bigint | null {
  if (operand.kind === 'integer') return BigInt.asUintN(width, operand.value);
  if (operand.kind !== 'float') return null;
  if (operand.bits === width) return operand.pattern;
  if (operand.bits === 64 && width === 32) {
    const view = new DataView(new ArrayBuffer(8));
    view.setBigUint64(0, operand.pattern);
    view.setFloat32(0, view.getFloat64(0));
    return BigInt(view.getUint32(0));
  }
  return null;
}

function staticObject(
  expansion: Expansion,
  declaration: ptx.VariableDeclaration,
  space: 'shared' | 'global' | 'const',
  scope: BindingScope | null,
): ObjectId {
  const { draft, statics } = expansion;
  let object = statics.get(declaration);
  if (object === undefined) {
    object = newObject(draft, describe(declaration, space));
    // Bound before its initial contents are read, which may refer to the variable itself.
    statics.set(declaration, object);
    draft.objects[object] = { ...draft.objects[object]!, ...initialContents(expansion, declaration, scope) };
  }
  return object;
}

/** The binding of `name` in `scope` (null: that of the module), or null: the scope's names first, then the module's. */
export function resolve(expansion: Expansion, scope: BindingScope | null, name: string): Binding | null {
  let prefix: string | null = null;
  for (let at = scope; at; at = at.parent) {
    const binding = at.names.get(name);
    if (binding) return binding;
    prefix ??= rangePrefix(name);
    const range = at.names.get(prefix);
    if (range?.kind === 'registers' && name.length >= prefix.length && Number(name.slice(prefix.length - 1)) < range.count) {
      const register: Binding = { kind: 'register', id: newValue(expansion.draft, range.type, name) };
      at.names.set(name, register);
      return register;
    }
  }
  const { functions, variables } = expansion.symbols;
  const variable = variables.get(name);
  if (variable) {
    const { space } = variable;
    if (space !== 'shared' && space !== 'global' && space !== 'const') return null;
    return { kind: 'object', object: staticObject(expansion, variable, space, null) };
  }
  return functions.has(name) ? { kind: 'function' } : null;
}

/** `%r<` of `%r12`: the key under which `.reg .b32 %r<60>` is bound. */
function rangePrefix(name: string): string {
  let end = name.length;
  while (end > 0) {
    const code = name.charCodeAt(end - 1);
    if (code < 48 || code > 57) break;
    end--;
  }
  return `${name.slice(0, end)}<`;
}
