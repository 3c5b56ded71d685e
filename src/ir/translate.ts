/** Translates one PTX instruction into one of the IR: operands resolved, widths adapted, guards made branches. */
import type { Operation, ValueType } from '../isa/model/operation.ts';
import type { OperandForm } from '../isa/model/row.ts';
import { decode } from '../isa/table.ts';
import type { Location } from '../source/location.ts';
import type * as ptx from '../ptx/ast.ts';
import { isSpecialRegister } from '../ptx/special-register-names.ts';
import type { DraftInstruction } from './form/draft.ts';
import { newValue, operandType, valueOperand } from './form/draft.ts';
import type { Operand, SpecialRegister } from './form/kernel.ts';
import { isFrameRegister, partAddress } from './stack-frame.ts';
import type { Expansion, BindingScope } from './name-bindings.ts';
import { functionAddresses, literalBits, resolve } from './name-bindings.ts';
import {
  addOperation,
  convertOperation,
  copyOperation,
  havocOperation,
  negation,
  opaqueOperation,
  workspaceHigh,
  workspaceLow,
} from './form/synthetic-operation.ts';

/** Special registers that have a value; the others are unknown values. */
export const specialRegisters: ReadonlySet<string> = new Set<string>([
  'tid.x',
  'tid.y',
  'tid.z',
  'ntid.x',
  'ntid.y',
  'ntid.z',
  'ctaid.x',
  'ctaid.y',
  'ctaid.z',
  'nctaid.x',
  'nctaid.y',
  'nctaid.z',
  'laneid',
  'dynamic_smem_size',
  'lanemask_eq',
  'lanemask_lt',
  'lanemask_le',
  'lanemask_gt',
  'lanemask_ge',
] satisfies SpecialRegister[]);

/** Emits an instruction into the expansion. */
export function emit(
  expansion: Expansion,
  operation: Operation,
  results: (number | null)[],
  operands: Operand[],
  place: { readonly ptxLine: number; readonly location: Location | undefined },
  more?: { readonly offset?: bigint; readonly marker?: NonNullable<DraftInstruction['marker']> },
): void {
  expansion.steps.push({
    kind: 'instruction',
    instruction: {
      operation,
      results,
      arguments: operands,
      offset: more?.offset ?? 0n,
      ptxLine: place.ptxLine,
      location: place.location,
      ...(more?.marker && { marker: more.marker }),
    },
  });
}

/** Position of a statement, recorded in the instructions built from it. */
export interface StatementPosition {
  readonly ptxLine: number;
  readonly location: Location | undefined;
}

/** Emits an instruction of unknown effect; the kernel can then never be proved. Registers in `written` get any value. */
export function emitOpaque(
  expansion: Expansion,
  mnemonic: string,
  reason: string,
  place: StatementPosition,
  written: readonly number[] = [],
  read: readonly Operand[] = [],
  callee?: string,
): void {
  const { types } = expansion.draft;
  const operation = opaqueOperation(
    mnemonic,
    reason,
    written.map((result) => types[result]!),
    read.map((operand) => operandType(types, operand)),
    callee,
  );
  emit(expansion, operation, [...written], [...read], place);
}

/** The register an operand names, or null. */
export function registerOf(expansion: Expansion, scope: BindingScope, operand: ptx.PtxOperand): number | null {
  if (operand.kind !== 'register') return null;
  const binding = resolve(expansion, scope, operand.name);
  return binding?.kind === 'register' ? binding.id : null;
}

/** The condition of a guard; null if its register is not a predicate. */
export function guardOf(expansion: Expansion, scope: BindingScope, guard: ptx.Guard): Operand | null {
  const binding = resolve(expansion, scope, guard.register);
  if (binding?.kind !== 'register' || expansion.draft.types[binding.id] !== 'predicate') return null;
  return valueOperand(binding.id);
}

/** An operand for the instruction table: its form and the declared widths of its registers. */
function operandForm(expansion: Expansion, scope: BindingScope, operand: ptx.PtxOperand): OperandForm {
  const width = (element: ptx.PtxOperand): ValueType | null => {
    const register = element.kind === 'not' || element.kind === 'negative' ? element.operand : element;
    const id = registerOf(expansion, scope, register);
    return id === null ? null : expansion.draft.types[id]!;
  };
  switch (operand.kind) {
    case 'vector':
      return { kind: 'vector', widths: operand.elements.map(width) };
    case 'pair':
      return { kind: 'pair', widths: spread([operand]).map(width) };
    case 'address':
      return {
        kind: 'address',
        widths: [operand.base?.kind === 'register' ? width({ kind: 'register', name: operand.base.name }) : null],
      };
    case 'list':
    case 'bracketed':
    case 'component':
      return { kind: 'other', widths: [] };
    case 'integer':
      return { kind: 'scalar', widths: [null], literal: operand.value };
    default:
      return { kind: 'scalar', widths: [width(operand)] };
  }
}

/** The operands in order: vectors and pairs are spread, operands of the kind `other` are left out. */
function spread(operands: readonly ptx.PtxOperand[]): ptx.PtxOperand[] {
  const flat: ptx.PtxOperand[] = [];
  for (const operand of operands) {
    if (operand.kind === 'vector') flat.push(...operand.elements);
    // Texture instructions pair a vector with a predicate.
    else if (operand.kind === 'pair') flat.push(...spread([operand.first]), operand.second);
    else if (operand.kind !== 'list' && operand.kind !== 'bracketed' && operand.kind !== 'component') flat.push(operand);
  }
  return flat;
}

/** Opcode and modifiers as the source spells them: `ld.global.u32`. */
function mnemonicOf(instruction: ptx.PtxInstruction): string {
  return instruction.modifiers.length > 0 ? `${instruction.opcode}.${instruction.modifiers.join('.')}` : instruction.opcode;
}

/** The operation of an instruction, or null if the table lacks it. */
function decodeInstruction(expansion: Expansion, scope: BindingScope, instruction: ptx.PtxInstruction): Operation | null {
  const { decoded } = expansion.symbols;
  let operation = decoded.get(instruction);
  if (operation === undefined) {
    const shape = instruction.operands.map((operand) => operandForm(expansion, scope, operand));
    operation = decode(instruction.opcode, instruction.modifiers, shape);
    decoded.set(instruction, operation);
  }
  return operation;
}

/** A reason why an instruction cannot be translated; the caller makes it opaque. */
export class Untranslatable {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * Emits the IR of an instruction other than a branch, call or return. It becomes opaque if it is not in the table, or
 * has other operands than specified there.
 */
export function translateInstruction(
  expansion: Expansion,
  scope: BindingScope,
  instruction: ptx.PtxInstruction,
  place: StatementPosition,
): void {
  if (translateFrameInstruction(expansion, scope, instruction, place)) return;
  const operation = decodeInstruction(expansion, scope, instruction);
  const mnemonic = mnemonicOf(instruction);
  if (!operation) {
    reportUnknown(expansion, mnemonic, place);
    emitUnreadable(expansion, scope, instruction, `unknown instruction ${mnemonic}`, place);
    return;
  }
  const failure = translateKnown(expansion, scope, instruction, operation, place);
  if (failure) emitUnreadable(expansion, scope, instruction, failure.reason, place);
}

/**
 * The instructions that set up `%SPL` and `%SP` and take the address of a variable: except for accesses the only ones
 * that name those registers if the frame was split.
 */
function translateFrameInstruction(
  expansion: Expansion,
  scope: BindingScope,
  { operands }: ptx.PtxInstruction,
  place: StatementPosition,
): boolean {
  const [destination, source, offset] = operands;
  if (destination?.kind !== 'register' || !namesFrame(destination.name, source)) return false;
  if (resolve(expansion, scope, destination.name)?.kind === 'frame') return true;
  const binding = source?.kind === 'register' ? resolve(expansion, scope, source.name) : null;
  const result = registerOf(expansion, scope, destination);
  if (binding?.kind !== 'frame' || offset?.kind !== 'integer' || result === null) return false;
  emit(expansion, copyOperation(64), [result], [partAddress(binding, Number(offset.value))], place);
  return true;
}

function namesFrame(destination: string, source: ptx.PtxOperand | undefined): boolean {
  return isFrameRegister(destination) || (source?.kind === 'register' && isFrameRegister(source.name));
}

function reportUnknown(expansion: Expansion, mnemonic: string, place: StatementPosition): void {
  if (expansion.reported.has(mnemonic)) return;
  expansion.reported.add(mnemonic);
  expansion.symbols.diagnostics.push({
    severity: 'warning',
    code: 'ptx/unknown-instruction',
    message: `line ${place.ptxLine} of the PTX: the instruction ${mnemonic} is not known; kernels that execute it cannot be proved`,
    ...(place.location && { location: place.location }),
  });
}

/** Emits an instruction with an unknown effect: its first operand is assumed to be the destination. */
function emitUnreadable(
  expansion: Expansion,
  scope: BindingScope,
  instruction: ptx.PtxInstruction,
  reason: string,
  place: StatementPosition,
): void {
  const written: number[] = [];
  const read: Operand[] = [];
  instruction.operands.forEach((operand, index) => {
    const names = operand.kind === 'list' || operand.kind === 'bracketed' ? operand.elements : spread([operand]);
    for (const name of names) {
      const inner = name.kind === 'address' && name.base ? { kind: 'register' as const, name: name.base.name } : name;
      const register = registerOf(expansion, scope, inner);
      if (register === null) continue;
      if (index === 0 && name.kind === 'register') written.push(register);
      else read.push(valueOperand(register));
    }
  });
  emitOpaque(expansion, mnemonicOf(instruction), reason, place, written, read);
}

function translateKnown(
  expansion: Expansion,
  scope: BindingScope,
  instruction: ptx.PtxInstruction,
  operation: Operation,
  place: StatementPosition,
): Untranslatable | null {
  const operands = spread(instruction.operands);
  const { results, sources, carry } = operation;
  const written = results.length - (carry?.out ? 1 : 0);
  const read = sources.length - (carry?.in ? 1 : 0);
  if (operands.length !== written + read) return new Untranslatable(`${operation.mnemonic} with ${operands.length} operands`);

  const outputs: (number | null)[] = [];
  for (let i = 0; i < written; i++) {
    const operand = operands[i]!;
    if (operand.kind === 'sink') {
      outputs.push(null);
      continue;
    }
    const register = registerOf(expansion, scope, operand);
    if (register === null) return new Untranslatable(`${operation.mnemonic} writes to no register`);
    if (expansion.draft.types[register] !== results[i])
      return new Untranslatable(`${operation.mnemonic} writes to a register of another type`);
    outputs.push(register);
  }
  const inputs: Operand[] = [];
  let offset = 0n;
  for (let i = 0; i < read; i++) {
    const operand = operands[written + i]!;
    if (operand.kind === 'address') {
      if (!takesAddress(operation, i)) return new Untranslatable(`${operation.mnemonic} of a value in memory`);
      const framed = frameAddress(expansion, scope, operand);
      if (framed) {
        inputs.push(framed);
        continue;
      }
      const base = addressBase(expansion, scope, operand, sources[i]!, place);
      if (base instanceof Untranslatable) return base;
      if (i === 0) offset = operand.offset;
      else if (operand.offset !== 0n) {
        // A copy between memories has two addresses; the instruction carries the displacement of the first.
        inputs.push(displaced(expansion, base, sources[i]!, operand.offset, place));
        continue;
      }
      inputs.push(base);
      continue;
    }
    const value = sourceOperand(expansion, scope, operand, sources[i]!, place);
    if (value instanceof Untranslatable) return value;
    inputs.push(value);
  }
  if (carry) {
    expansion.carry ??= newValue(expansion.draft, 'predicate', 'CC.CF');
    if (carry.out) outputs.push(expansion.carry);
    if (carry.in) inputs.push(valueOperand(expansion.carry));
  }
  emit(expansion, operation, outputs, inputs, place, { offset });
  return null;
}

/** Whether source `index` of an operation may be an address, `[…]`. */
function takesAddress({ effect, sources }: Operation, index: number): boolean {
  if (sources[index] !== 32 && sources[index] !== 64) return false;
  const { kind } = effect;
  return kind === 'load' || kind === 'store' || kind === 'atomic' ? index === 0 : true;
}

/** The address of a variable in the stack frame, or null for other operands. */
function frameAddress(expansion: Expansion, scope: BindingScope, operand: Extract<ptx.PtxOperand, { kind: 'address' }>): Operand | null {
  const binding = operand.base && resolve(expansion, scope, operand.base.name);
  return binding?.kind === 'frame' ? partAddress(binding, Number(operand.offset)) : null;
}

function addressBase(
  expansion: Expansion,
  scope: BindingScope,
  operand: Extract<ptx.PtxOperand, { kind: 'address' }>,
  type: ValueType,
  place: StatementPosition,
): Operand | Untranslatable {
  if (!operand.base) return { kind: 'constant', type, value: 0n };
  return operand.base.kind === 'register'
    ? sourceOperand(expansion, scope, { kind: 'register', name: operand.base.name }, type, place)
    : sourceOperand(expansion, scope, { kind: 'symbol', name: operand.base.name, offset: 0n, generic: false }, type, place);
}

function displaced(expansion: Expansion, base: Operand, type: ValueType, offset: bigint, place: StatementPosition): Operand {
  const width = type === 32 ? 32 : 64;
  const result = newValue(expansion.draft, width);
  const displacement: Operand = { kind: 'constant', type: width, value: BigInt.asUintN(width, offset) };
  emit(expansion, addOperation(width), [result], [base, displacement], place);
  return valueOperand(result);
}

/** The IR operand for a source of the given type; conversions that the PTX leaves implicit are emitted before it. */
export function sourceOperand(
  expansion: Expansion,
  scope: BindingScope,
  operand: ptx.PtxOperand,
  type: ValueType,
  place: StatementPosition,
): Operand | Untranslatable {
  switch (operand.kind) {
    case 'register': {
      const binding = resolve(expansion, scope, operand.name);
      if (!binding) return specialOperand(expansion, operand.name, type, place);
      if (binding.kind !== 'register') return new Untranslatable(`${operand.name} is no register`);
      return adapt(expansion, valueOperand(binding.id), type, place);
    }
    case 'integer':
    case 'float': {
      if (type === 'predicate') return { kind: 'constant', type, value: operand.kind === 'integer' && operand.value !== 0n ? 1n : 0n };
      const value = literalBits(operand, type);
      return value === null ? new Untranslatable(`literal ${operand.text}`) : { kind: 'constant', type, value };
    }
    case 'symbol':
      return symbolOperand(expansion, scope, operand, type, place);
    case 'element':
      return elementOperand(expansion, scope, operand, type);
    case 'not': {
      const value = sourceOperand(expansion, scope, operand.operand, 'predicate', place);
      if (value instanceof Untranslatable || type !== 'predicate') return new Untranslatable('negated operand');
      const result = newValue(expansion.draft, 'predicate');
      emit(expansion, negation, [result], [value], place);
      return valueOperand(result);
    }
    default:
      return new Untranslatable(`operand of kind ${operand.kind}`);
  }
}

function symbolOperand(
  expansion: Expansion,
  scope: BindingScope,
  operand: Extract<ptx.PtxOperand, { kind: 'symbol' }>,
  type: ValueType,
  place: StatementPosition,
): Operand | Untranslatable {
  if (operand.name === 'WARP_SZ') return { kind: 'constant', type, value: 32n };
  const binding = resolve(expansion, scope, operand.name);
  if (binding?.kind === 'register') return adapt(expansion, valueOperand(binding.id), type, place);
  if (binding?.kind === 'object' && (type === 32 || type === 64)) {
    return { kind: 'address', object: binding.object, offset: operand.offset, width: type, generic: operand.generic };
  }
  if (binding?.kind === 'function' && type === 64) {
    const value = functionAddresses(expansion.symbols).get(operand.name);
    if (value !== undefined) return { kind: 'constant', type, value };
  }
  if (binding?.kind === 'function') return unknownValue(expansion, `address of ${operand.name}`, type, place);
  return new Untranslatable(`${operand.name} is not defined`);
}

/**
 * `array[3]`, the address of an element with a constant index. ptxas counts in scalars of the declared type, even if
 * the array has several dimensions, or vectors for elements.
 */
function elementOperand(
  expansion: Expansion,
  scope: BindingScope,
  { array, index }: Extract<ptx.PtxOperand, { kind: 'element' }>,
  type: ValueType,
): Operand | Untranslatable {
  const binding = resolve(expansion, scope, array);
  if (index.kind !== 'integer' || binding?.kind !== 'object' || (type !== 32 && type !== 64))
    return new Untranslatable(`element of ${array}`);
  const { elementBytes, scalarBytes = elementBytes } = expansion.draft.objects[binding.object]!;
  const offset = index.value * BigInt(scalarBytes);
  return { kind: 'address', object: binding.object, offset, width: type, generic: false };
}

function unknownValue(expansion: Expansion, reason: string, type: ValueType, place: StatementPosition): Operand {
  return emitted(expansion, havocOperation('mov', reason, [type]), type, place);
}

/** The result of an operation without sources. */
function emitted(expansion: Expansion, operation: Operation, type: ValueType, place: StatementPosition): Operand {
  const result = newValue(expansion.draft, type);
  emit(expansion, operation, [result], [], place);
  return valueOperand(result);
}

function specialOperand(expansion: Expansion, name: string, type: ValueType, place: StatementPosition): Operand | Untranslatable {
  const register = name.slice(1);
  if (name.startsWith('%') && specialRegisters.has(register)) {
    return adapt(expansion, { kind: 'special', register: register as SpecialRegister }, type, place);
  }
  if (type === 32 && name === '%envreg1') return emitted(expansion, workspaceHigh, type, place);
  if (type === 32 && name === '%envreg2') return emitted(expansion, workspaceLow, type, place);
  if (isSpecialRegister(name)) return unknownValue(expansion, `special register ${name}`, type, place);
  return new Untranslatable(`${name} is not declared`);
}

/** Narrows a wider register, as `st` and `cvt` allow, and widens special registers read by a wider `mov`. */
function adapt(expansion: Expansion, operand: Operand, type: ValueType, place: StatementPosition): Operand | Untranslatable {
  const from = operandType(expansion.draft.types, operand);
  if (from === type) return operand;
  if (from === 'predicate' || type === 'predicate' || (from < type && operand.kind !== 'special')) {
    return new Untranslatable('register of another type');
  }
  const result = newValue(expansion.draft, type);
  emit(expansion, convertOperation(from, type, false), [result], [operand], place);
  return valueOperand(result);
}
