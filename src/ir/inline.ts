/** Expands a kernel with everything it calls into straight code with labels. */
import type { Width } from '../isa/model/domain.ts';
import type { Location } from '../source/location.ts';
import { callToUnknown } from './form/function-address.ts';
import { sourceLocation } from '../ptx/debug-information.ts';
import type * as ptx from '../ptx/ast.ts';
import type { Draft } from './form/draft.ts';
import { newObject, newValue, valueOperand } from './form/draft.ts';
import type { ObjectId, Operand } from './form/kernel.ts';
import { isAbstractable, knownFunction } from './known-function.ts';
import { bodyWithProducts } from './product24.ts';
import type { Expansion, ModuleSymbols, BindingScope } from './name-bindings.ts';
import { declarationBytes, declare, functionAddresses, openScope, registerType, resolve, typeBytes } from './name-bindings.ts';
import { copyOperation, equalAddresses, gridBarrier, havocOperation, slotLoad, slotStore } from './form/synthetic-operation.ts';
import { bindFrame } from './stack-frame.ts';
import type { StatementPosition } from './translate.ts';
import { emit, emitOpaque, guardOf, registerOf, sourceOperand, translateInstruction, Untranslatable } from './translate.ts';

/** Maximum nesting depth of inlined calls. */
const maximumDepth = 64;

/**
 * Maximum number of instructions, labels and jumps of a kernel including its callees; a larger kernel is not expanded
 * at all.
 */
export const maximumSteps = 300_000;

/** Thrown if the kernel has more steps than `maximumSteps`. */
export class TooLarge extends Error {}

export interface InlineOptions {
  /** Whether long mathematical functions become one unknown value. */
  readonly abstractMathematics: boolean;
}

/** An instance of a function. */
interface Frame {
  readonly function: ptx.Function;
  readonly caller: Frame | null;
  readonly depth: number;
  /** Position of the call; null for the kernel itself. */
  readonly callSite: StatementPosition | null;
  /** Label after the call; null for the kernel itself. */
  readonly continuation: number | null;
  /** The last `.loc`. */
  location: Location | undefined;
}

interface Inliner {
  readonly expansion: Expansion;
  readonly options: InlineOptions;
}

/**
 * Expands `entry`; `parameters` are the objects of its parameters, in order.
 * @throws TooLarge if it has more than `maximumSteps` steps
 */
export function inlineKernel(
  symbols: ModuleSymbols,
  draft: Draft,
  entry: ptx.Function,
  parameters: readonly ObjectId[],
  options: InlineOptions,
): Expansion {
  const expansion: Expansion = {
    symbols,
    draft,
    statics: new Map(),
    steps: [],
    labels: 0,
    carry: null,
    reported: new Set(),
  };
  const frame: Frame = {
    function: entry,
    caller: null,
    depth: 0,
    callSite: null,
    continuation: null,
    location: undefined,
  };
  const formals: BindingScope = { names: new Map(), parent: null };
  entry.parameters.forEach((parameter, index) => {
    formals.names.set(parameter.name, { kind: 'object', object: parameters[index]! });
  });
  walkFunction({ expansion, options }, frame, formals);
  return expansion;
}

function walkFunction(inliner: Inliner, frame: Frame, formals: BindingScope): void {
  const { expansion } = inliner;
  const body = bodyWithProducts(frame.function);
  const place = placeOf(frame, frame.function);
  if (frame.function.faulty) {
    emitOpaque(expansion, 'faulty', `a statement of ${frame.function.name}`, place);
  }
  const scope = openScope(expansion, formals, body);
  bindFrame(expansion, scope, frame.function);
  walk(inliner, frame, scope, body);
  if (frame.function.truncated) {
    const reason = `${frame.function.name} is cut off`;
    expansion.steps.push({ kind: 'end', terminator: { kind: 'unknown', reason, ...terminatorPlace(place) } });
  }
}

function placeOf(frame: Frame, statement: { readonly span: ptx.PtxSpan }): StatementPosition {
  return { ptxLine: statement.span.line, location: frame.location };
}

function terminatorPlace(place: StatementPosition): { ptxLine: number; location?: Location } {
  return { ptxLine: place.ptxLine, ...(place.location && { location: place.location }) };
}

/** The location that a `.loc` denotes in this instance: that of the callee, inlined at the call. */
function locate(inliner: Inliner, frame: Frame, loc: ptx.LocDirective): Location | undefined {
  const { located, module } = inliner.expansion.symbols;
  let own = located.get(loc);
  if (!own && !located.has(loc)) {
    own = sourceLocation(module, loc);
    located.set(loc, own);
  }
  const outer = frame.callSite?.location;
  if (!own) return outer;
  return outer ? appendCaller(own, outer) : own;
}

function appendCaller(inner: Location, outer: Location): Location {
  return { ...inner, inlinedAt: inner.inlinedAt ? appendCaller(inner.inlinedAt, outer) : outer };
}

function walk(inliner: Inliner, frame: Frame, scope: BindingScope, statements: readonly ptx.PtxStatement[]): void {
  const { expansion } = inliner;
  for (const statement of statements) {
    requireSmall(expansion);
    switch (statement.kind) {
      case 'instruction':
        walkInstruction(inliner, frame, scope, statement);
        break;
      case 'label': {
        const binding = scope.names.get(statement.name);
        if (binding?.kind === 'label') expansion.steps.push({ kind: 'label', label: binding.label });
        break;
      }
      case 'loc':
        frame.location = locate(inliner, frame, statement);
        break;
      case 'scope':
        walk(inliner, frame, openScope(expansion, scope, statement.body), statement.body);
        break;
      case 'marker':
        walkMarker(expansion, scope, statement, placeOf(frame, statement));
        break;
      case 'damage':
        emitOpaque(expansion, 'damage', 'text that is not PTX', placeOf(frame, statement));
        break;
      case 'variable':
      case 'directive':
        break;
    }
  }
}

/** Emits `// selvage.…`; an undefined operand makes the marker opaque. */
function walkMarker(expansion: Expansion, scope: BindingScope, statement: ptx.MarkerComment, place: StatementPosition): void {
  const { name, operand } = statement;
  const marker = { name, ...(operand.kind === 'integer' && { number: Number(operand.value) }) };
  const mnemonic = `selvage.${name}`;
  const register = registerOf(expansion, scope, operand);
  const type = register === null ? 32 : expansion.draft.types[register]!;
  const operation = havocOperation(mnemonic, mnemonic, []);
  if (name === 'candidate') {
    emit(expansion, { ...operation, effect: { kind: 'pure' } }, [], [], place, { marker });
  } else if (name === 'unknown' && register !== null) {
    emit(expansion, { ...operation, results: [type] }, [register], [], place, { marker });
  } else if (name === 'assume' && (register !== null || operand.kind === 'integer')) {
    const value: Operand =
      operand.kind === 'integer' ? { kind: 'constant', type: 32, value: operand.value === 0n ? 0n : 1n } : valueOperand(register!);
    emit(expansion, { ...operation, sources: [type], effect: { kind: 'pure' } }, [], [value], place, { marker });
  } else {
    emitOpaque(expansion, mnemonic, `${mnemonic} with an operand that is no register`, place);
  }
}

/** Emits guarded code, between a branch around it and the label after it. */
function guarded(
  inliner: Inliner,
  scope: BindingScope,
  instruction: ptx.PtxInstruction,
  place: StatementPosition,
  emitBody: () => void,
): void {
  const { expansion } = inliner;
  if (!instruction.guard) return emitBody();
  const condition = guardOf(expansion, scope, instruction.guard);
  if (!condition) emitOpaque(expansion, instruction.opcode, 'guard that is no predicate', place);
  const label = expansion.labels++;
  expansion.steps.push({
    kind: 'branch',
    condition: condition ?? { kind: 'undefined', type: 'predicate' },
    negated: !instruction.guard.negated,
    label,
    ...place,
  });
  emitBody();
  expansion.steps.push({ kind: 'label', label });
}

function walkInstruction(inliner: Inliner, frame: Frame, scope: BindingScope, instruction: ptx.PtxInstruction): void {
  const { expansion } = inliner;
  const { steps } = expansion;
  const place = placeOf(frame, instruction);
  switch (instruction.opcode) {
    case 'bra':
      walkBranch(inliner, scope, instruction, place);
      break;
    case 'brx':
      guarded(inliner, scope, instruction, place, () => walkIndexedBranch(inliner, scope, instruction, place));
      break;
    case 'call':
      guarded(inliner, scope, instruction, place, () => walkCall(inliner, frame, scope, instruction, place));
      break;
    case 'ret':
    case 'exit':
    case 'trap':
      guarded(inliner, scope, instruction, place, () => {
        if (instruction.opcode === 'ret' && frame.continuation !== null) {
          steps.push({ kind: 'jump', label: frame.continuation });
        } else {
          const kind = instruction.opcode === 'trap' ? 'trap' : 'exit';
          steps.push({ kind: 'end', terminator: { kind, ...terminatorPlace(place) } });
        }
      });
      break;
    default:
      guarded(inliner, scope, instruction, place, () => translateInstruction(expansion, scope, instruction, place));
  }
}

function labelOf(expansion: Expansion, scope: BindingScope, name: string): number | null {
  const binding = resolve(expansion, scope, name);
  return binding?.kind === 'label' ? binding.label : null;
}

function endUnknown(expansion: Expansion, reason: string, place: StatementPosition): void {
  expansion.steps.push({ kind: 'end', terminator: { kind: 'unknown', reason, ...terminatorPlace(place) } });
}

function walkBranch(inliner: Inliner, scope: BindingScope, instruction: ptx.PtxInstruction, place: StatementPosition): void {
  const { expansion } = inliner;
  const [target] = instruction.operands;
  const label = target?.kind === 'symbol' ? labelOf(expansion, scope, target.name) : null;
  const condition = instruction.guard ? guardOf(expansion, scope, instruction.guard) : null;
  if (label === null || (instruction.guard && !condition)) {
    guarded(inliner, scope, instruction, place, () => endUnknown(expansion, 'branch that leads to no label', place));
  } else if (condition) {
    expansion.steps.push({ kind: 'branch', condition, negated: instruction.guard!.negated, label, ...place });
  } else {
    expansion.steps.push({ kind: 'jump', label });
  }
}

function walkIndexedBranch(inliner: Inliner, scope: BindingScope, instruction: ptx.PtxInstruction, place: StatementPosition): void {
  const { expansion } = inliner;
  const [indexOperand, table] = instruction.operands;
  const targets = table?.kind === 'symbol' ? resolve(expansion, scope, table.name) : null;
  const index = indexOperand && sourceOperand(expansion, scope, indexOperand, 32, place);
  const labels = targets?.kind === 'targets' ? targets.names.map((name) => labelOf(expansion, scope, name)) : [];
  const known = labels.filter((label) => label !== null);
  if (!index || index instanceof Untranslatable || known.length === 0 || known.length !== labels.length) {
    endUnknown(expansion, 'indexed branch without known targets', place);
  } else {
    expansion.steps.push({ kind: 'switch', index, labels: known, ...place });
  }
}

/** A parsed call: `call (results), callee, (arguments)`. */
interface Call {
  readonly callee: string | null;
  /** The callee. */
  readonly target: ptx.PtxOperand | undefined;
  readonly results: readonly ptx.PtxOperand[];
  readonly arguments: readonly ptx.PtxOperand[];
}

function takeApart(instruction: ptx.PtxInstruction): Call {
  let at = 0;
  const list = (): readonly ptx.PtxOperand[] => {
    const operand = instruction.operands[at];
    if (operand?.kind !== 'list') return [];
    at++;
    return operand.elements;
  };
  const results = list();
  const target = instruction.operands[at++];
  return { callee: target?.kind === 'symbol' ? target.name : null, target, results, arguments: list() };
}

function walkCall(inliner: Inliner, frame: Frame, scope: BindingScope, instruction: ptx.PtxInstruction, place: StatementPosition): void {
  const { expansion, options } = inliner;
  const call = takeApart(instruction);
  const { callee: name } = call;
  const callee = name === null ? undefined : expansion.symbols.functions.get(name);
  const known = name === null ? null : knownFunction(name, callee?.body !== undefined);
  if (known === 'grid-barrier') {
    emit(expansion, gridBarrier, [], [], place);
  } else if (known === 'stops') {
    expansion.steps.push({ kind: 'end', terminator: { kind: 'trap', ...terminatorPlace(place) } });
  } else if (known === 'unknown-value' || (callee && options.abstractMathematics && isAbstractable(expansion.symbols, callee))) {
    havocResults(inliner, scope, call, `result of ${name}`, place);
  } else if (name === null) {
    walkIndirectCall(inliner, frame, scope, call, place);
  } else {
    inlineOrRefuse(inliner, frame, scope, name, call, place);
  }
}

function inlineOrRefuse(inliner: Inliner, frame: Frame, scope: BindingScope, name: string, call: Call, place: StatementPosition): void {
  const callee = inliner.expansion.symbols.functions.get(name);
  const refusal = callRefusal(inliner, frame, name, callee, call);
  if (refusal === null) inlineCall(inliner, frame, scope, callee!, call, place);
  else if (!callee?.body) opaqueCall(inliner, scope, call, refusal, place, name);
  else opaqueCall(inliner, scope, call, refusal, place);
}

/**
 * Expands a call through a pointer: compares the pointer with the address of every function of the same parameters and
 * results, and calls the equal one.
 */
function walkIndirectCall(inliner: Inliner, frame: Frame, scope: BindingScope, call: Call, place: StatementPosition): void {
  const { expansion } = inliner;
  const { symbols, steps } = expansion;
  const target = call.target && sourceOperand(expansion, scope, call.target, 64, place);
  if (!target || target instanceof Untranslatable) return opaqueCall(inliner, scope, call, 'indirect call', place);
  const end = expansion.labels++;
  for (const [name, address] of functionAddresses(symbols)) {
    if (!takesSuch(inliner, scope, symbols.functions.get(name)!, call)) continue;
    const condition = newValue(expansion.draft, 'predicate');
    const constant: Operand = { kind: 'constant', type: 64, value: address };
    emit(expansion, equalAddresses, [condition], [target, constant], place);
    const next = expansion.labels++;
    steps.push({ kind: 'branch', condition: valueOperand(condition), negated: true, label: next, ...place });
    inlineOrRefuse(inliner, frame, scope, name, call, place);
    steps.push({ kind: 'jump', label: end }, { kind: 'label', label: next });
  }
  opaqueCall(inliner, scope, call, callToUnknown, place);
  steps.push({ kind: 'label', label: end });
}

/** Whether a function and a call have the same number of parameters and results, with the same slot sizes. */
function takesSuch({ expansion }: Inliner, scope: BindingScope, callee: ptx.Function, call: Call): boolean {
  const fits = (formals: readonly ptx.VariableDeclaration[], actuals: readonly ptx.PtxOperand[]): boolean =>
    formals.length === actuals.length &&
    formals.every((formal, index) => {
      const slot = slotOf(expansion, scope, actuals[index]!);
      return slot === null || expansion.draft.objects[slot]!.bytes === declarationBytes(formal);
    });
  return callee.body !== undefined && fits(callee.parameters, call.arguments) && fits(callee.results, call.results);
}

/** Why a call cannot be inlined; null if it can. */
function callRefusal(inliner: Inliner, frame: Frame, name: string, callee: ptx.Function | undefined, call: Call): string | null {
  const { expansion } = inliner;
  if (!callee?.body) {
    reportUndefined(expansion, name, frame.location);
    return `call of ${name}, which has no body here`;
  }
  for (let at: Frame | null = frame; at; at = at.caller) if (at.function === callee) return `recursion through ${name}`;
  if (frame.depth >= maximumDepth) return 'more calls inside calls than are inlined';
  if (callee.parameters.length !== call.arguments.length || callee.results.length !== call.results.length) {
    return `call of ${name} with another number of arguments`;
  }
  return null;
}

function reportUndefined(expansion: Expansion, name: string, location: Location | undefined): void {
  if (expansion.reported.has(name)) return;
  expansion.reported.add(name);
  expansion.symbols.diagnostics.push({
    severity: 'notice',
    code: 'ptx/undefined-function',
    message: `the function ${name} is called but has no body in this module; kernels that hand it an address cannot be proved`,
    ...(location && { location }),
  });
}

function inlineCall(inliner: Inliner, frame: Frame, scope: BindingScope, callee: ptx.Function, call: Call, place: StatementPosition): void {
  const { expansion } = inliner;
  const formals: BindingScope = { names: new Map(), parent: null };
  const continuation = expansion.labels++;
  for (const [index, formal] of callee.parameters.entries()) {
    const actual = call.arguments[index]!;
    const slot = slotOf(expansion, scope, actual);
    if (formal.space === 'param' && slot !== null) {
      formals.names.set(formal.name, { kind: 'object', object: slot });
      continue;
    }
    declare(expansion, formals, formal);
    const value = actualValue(inliner, scope, actual, formal, place);
    if (value) assignFormal(inliner, formals, formal, value, place);
    else emitOpaque(expansion, 'call', `an argument of ${callee.name}`, place);
  }
  for (const [index, formal] of callee.results.entries()) {
    const slot = slotOf(expansion, scope, call.results[index]!);
    if (formal.space === 'param' && slot !== null) formals.names.set(formal.name, { kind: 'object', object: slot });
    else declare(expansion, formals, formal);
  }
  const inner: Frame = {
    function: callee,
    caller: frame,
    depth: frame.depth + 1,
    callSite: place,
    continuation,
    location: place.location,
  };
  walkFunction(inliner, inner, formals);
  expansion.steps.push({ kind: 'label', label: continuation });
  for (const [index, formal] of callee.results.entries()) {
    const actual = call.results[index]!;
    if (formal.space === 'param' && slotOf(expansion, scope, actual) !== null) continue;
    const value = actualValue(inliner, formals, { kind: 'register', name: formal.name }, formal, place);
    if (!value || !assignResult(inliner, scope, actual, value, formal, place)) {
      emitOpaque(expansion, 'call', `the result of ${callee.name}`, place);
    }
  }
}

/** The `.param` (or other) object that an operand of a call names, or null. */
function slotOf(expansion: Expansion, scope: BindingScope, operand: ptx.PtxOperand): ObjectId | null {
  const name = operand.kind === 'symbol' || operand.kind === 'register' ? operand.name : null;
  const binding = name === null ? null : resolve(expansion, scope, name);
  return binding?.kind === 'object' && expansion.draft.objects[binding.object]!.space === 'param' ? binding.object : null;
}

/** Width of a scalar parameter, null for a struct. */
function scalarWidth(declaration: ptx.VariableDeclaration): Width | null {
  const type = declaration.dimensions.length > 0 || declaration.vector ? null : registerType(declaration.type);
  return type === 'predicate' ? null : type;
}

function slotAddress(object: ObjectId, offset: bigint): Operand {
  return { kind: 'address', object, offset, width: 64, generic: false };
}

/** The value of an actual argument: a register, a literal or the contents of a slot. */
function actualValue(
  inliner: Inliner,
  scope: BindingScope,
  actual: ptx.PtxOperand,
  formal: ptx.VariableDeclaration,
  place: StatementPosition,
): Operand | null {
  const { expansion } = inliner;
  const width = scalarWidth(formal);
  const slot = slotOf(expansion, scope, actual);
  if (slot !== null && width !== null) {
    const value = newValue(expansion.draft, width);
    emit(expansion, slotLoad(width), [value], [slotAddress(slot, 0n)], place);
    return valueOperand(value);
  }
  const type = registerType(formal.type);
  const value = type === null || slot !== null ? null : sourceOperand(expansion, scope, actual, type, place);
  return value instanceof Untranslatable ? null : value;
}

function assignFormal(
  inliner: Inliner,
  formals: BindingScope,
  formal: ptx.VariableDeclaration,
  value: Operand,
  place: StatementPosition,
): void {
  const { expansion } = inliner;
  const binding = formals.names.get(formal.name);
  const width = scalarWidth(formal);
  if (binding?.kind === 'register') {
    emit(expansion, copyOperation(expansion.draft.types[binding.id]!), [binding.id], [value], place);
  } else if (binding?.kind === 'object' && width !== null) {
    emit(expansion, slotStore(width), [], [slotAddress(binding.object, 0n), value], place);
  } else {
    emitOpaque(expansion, 'call', `the parameter ${formal.name}`, place);
  }
}

function assignResult(
  inliner: Inliner,
  scope: BindingScope,
  actual: ptx.PtxOperand,
  value: Operand,
  formal: ptx.VariableDeclaration,
  place: StatementPosition,
): boolean {
  const { expansion } = inliner;
  if (actual.kind === 'sink') return true;
  const register = registerOf(expansion, scope, actual);
  const slot = slotOf(expansion, scope, actual);
  const type = registerType(formal.type);
  const width = scalarWidth(formal);
  if (register !== null && type !== null && expansion.draft.types[register] === type) {
    emit(expansion, copyOperation(type), [register], [value], place);
    return true;
  }
  if (slot === null || width === null) return false;
  emit(expansion, slotStore(width), [], [slotAddress(slot, 0n), value], place);
  return true;
}

function requireSmall({ steps }: Expansion): void {
  if (steps.length > maximumSteps) throw new TooLarge();
}

/** Assigns an unknown value to every result of a call. */
function havocResults(inliner: Inliner, scope: BindingScope, call: Call, reason: string, place: StatementPosition): void {
  const { expansion } = inliner;
  const { types, objects } = expansion.draft;
  for (const actual of call.results) {
    const register = registerOf(expansion, scope, actual);
    const slot = slotOf(expansion, scope, actual);
    if (register !== null) {
      emit(expansion, havocOperation('call', reason, [types[register]!]), [register], [], place);
    } else if (slot !== null) {
      const bytes = objects[slot]!.bytes ?? 0;
      for (let offset = 0; offset < bytes;) {
        requireSmall(expansion);
        const size = [8, 4, 2, 1].find((candidate) => offset % candidate === 0 && offset + candidate <= bytes) ?? 1;
        const value = newValue(expansion.draft, (size * 8) as Width);
        emit(expansion, havocOperation('call', reason, [(size * 8) as Width]), [value], [], place);
        emit(expansion, slotStore((size * 8) as Width), [], [slotAddress(slot, BigInt(offset)), valueOperand(value)], place);
        offset += size;
      }
    }
  }
}

/** Emits a call with an unknown effect on its arguments. */
function opaqueCall(inliner: Inliner, scope: BindingScope, call: Call, reason: string, place: StatementPosition, callee?: string): void {
  const { expansion } = inliner;
  const read: Operand[] = [];
  for (const actual of call.arguments) {
    const register = registerOf(expansion, scope, actual);
    const slot = slotOf(expansion, scope, actual);
    if (register !== null) read.push(valueOperand(register));
    const bytes = slot === null ? 0 : (expansion.draft.objects[slot]!.bytes ?? 0);
    for (let offset = 0; slot !== null && offset < bytes;) {
      requireSmall(expansion);
      const size = [8, 4, 2, 1].find((candidate) => offset % candidate === 0 && offset + candidate <= bytes) ?? 1;
      const value = newValue(expansion.draft, (size * 8) as Width);
      emit(expansion, slotLoad((size * 8) as Width), [value], [slotAddress(slot, BigInt(offset))], place);
      read.push(valueOperand(value));
      offset += size;
    }
  }
  emitOpaque(expansion, 'call', reason, place, [], read, callee);
  havocResults(inliner, scope, call, reason, place);
}

/** The objects of a kernel's parameters, and their properties in the IR. */
export function entryParameters(draft: Draft, entry: ptx.Function): { objects: ObjectId[]; bytes: number[] } {
  const objects: ObjectId[] = [];
  const bytes: number[] = [];
  entry.parameters.forEach((declaration, index) => {
    const size = declarationBytes(declaration) ?? 0;
    const elementBytes = Math.max(typeBytes(declaration.type), 1);
    bytes.push(size);
    objects.push(
      newObject(draft, {
        symbol: declaration.name,
        space: 'param',
        alignment: declaration.alignment ?? elementBytes,
        elementBytes,
        bytes: size,
        external: false,
        parameter: index,
      }),
    );
  });
  return { objects, bytes };
}
