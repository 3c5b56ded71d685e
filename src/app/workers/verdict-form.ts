/** Text of the parts of a kernel that its verdicts can depend on. Template instances with the same text share them. */
import { objectName } from '../../cuda/names/demangle.ts';
import { declarationOf } from '../../check/context/scalars.ts';
import type { Instruction, Kernel, Operand, Terminator, ValueId } from '../../ir/form/kernel.ts';
import { isOfRegisters } from '../../isa/model/effect.ts';
import type { Effect } from '../../isa/model/operation.ts';
import type { ParameterSource } from '../../launch/parameter-source.ts';
import type { Location } from '../../source/location.ts';

/**
 * Writes a kernel without the values that affect no address, no condition, no barrier, no atomic and no exchange between
 * lanes: such values are only stored. If an address or a condition depends on memory that the kernel may write, no stored
 * value is omitted. Executions of kernels with the same text therefore correspond: they access the same memory in the same
 * order.
 *
 * Of loads through pointers through which the kernel writes nothing, only the pointers and the blocks are written, unless
 * their values are needed.
 * @param parameters declarations that distinguish pointers from numbers; null: pointers may alias, or loads through them
 *   are checked for another reason
 * @returns null if the kernel has effects that are not known
 */
export function verdictForm(kernel: Kernel, parameters: readonly ParameterSource[] | null): string | null {
  if (kernel.isTooLarge || kernel.unsupported.length > 0 || !kernel.blocks.every(({ terminator }) => terminator.kind !== 'unknown'))
    return null;
  const all = kernel.blocks.flatMap(({ instructions }) => instructions);
  if (!all.every(isUnderstood)) return null;
  const readOnly = parameters && kernel.overlapsOthers !== true ? readOnlyLoads(kernel, parameters) : new Map<Instruction, string>();
  const relevant = relevantValues(kernel, readOnly);
  const isOmitted = (instruction: Instruction): boolean => readOnly.has(instruction) && !anyRelevant(instruction.results, relevant);
  const numbers = new Map<ValueId, number>();
  const write = (operand: Operand): string => {
    switch (operand.kind) {
      case 'value': {
        if (!relevant.has(operand.id)) return '_';
        const number = numbers.get(operand.id) ?? numbers.size;
        numbers.set(operand.id, number);
        return `v${number}`;
      }
      case 'constant':
        return `${operand.type}:${operand.value}`;
      case 'address':
        return `&${operand.object}+${operand.offset}/${operand.width}${operand.generic ? 'g' : ''}`;
      case 'special':
        return `%${operand.register}`;
      case 'undefined':
        return `undefined:${operand.type}`;
    }
  };
  const result = (id: ValueId | null): string =>
    id === null || !relevant.has(id) ? '_' : `${write({ kind: 'value', id })}:${kernel.values[id]!.type}`;
  const lines: string[] = [];
  for (const { phis, instructions, terminator, predecessors } of kernel.blocks) {
    lines.push(`block ${predecessors.join(' ')}`);
    /** The pointers of omitted loads since the last effect. */
    const omitted = new Set<string>();
    const writeOmitted = (): void => {
      if (omitted.size > 0) lines.push(`reads ${[...omitted].sort().join(', ')}`);
      omitted.clear();
    };
    for (const phi of phis) {
      if (relevant.has(phi.result)) lines.push(`${result(phi.result)} = phi ${phi.inputs.map(write).join(', ')}`);
    }
    for (const instruction of instructions) {
      const { operation, results, offset, location, marker } = instruction;
      const { effect } = operation;
      const isRelevant = anyRelevant(results, relevant);
      if (isOmitted(instruction)) omitted.add(readOnly.get(instruction)!);
      if (isOmitted(instruction) || (!isRelevant && !marker && isOfValues(instruction))) continue;
      if (effect.kind !== 'pure') writeOmitted();
      // Operations on values that are only stored are irrelevant, and so are their types.
      const what = effect.kind === 'load' || effect.kind === 'store' ? '' : operation.mnemonic;
      const needed = new Set(neededArguments(instruction));
      const read = instruction.arguments.map((operand, index) =>
        isRelevant || needed.has(index) || operand.kind === 'constant' || operand.kind === 'value' ? write(operand) : '_',
      );
      const place = effect.kind === 'pure' ? '' : placeText(location);
      lines.push(
        `${results.map(result).join(', ')} = ${what} ${effectText(effect)} ${read.join(', ')} +${offset} ${marker?.name ?? ''} ${place}`,
      );
    }
    writeOmitted();
    lines.push(terminatorText(terminator, write));
  }
  const { objects, requiredThreads, maximumThreads, requiredCluster, needsCluster, overlapsOthers, assumesLocalBounds, workspace } = kernel;
  const head = {
    parameters: kernel.parameters.map(({ type, bytes, alignment }) => [type, bytes, alignment]),
    objects: objects.map(({ symbol, initial, addresses, space, ...rest }) => [
      space === 'param' || space === 'local' ? '' : objectName(symbol),
      space,
      rest,
      initial ? Buffer.from(initial).toString('base64') : '',
      addresses?.map(({ at, object, offset }) => [at, object, String(offset)]),
    ]),
    bounds: [requiredThreads, maximumThreads, requiredCluster, needsCluster, overlapsOthers, assumesLocalBounds, workspace],
    place: placeText(kernel.location),
  };
  return `${JSON.stringify(head)}\n${lines.join('\n')}`;
}

function anyRelevant(results: Instruction['results'], relevant: ReadonlySet<ValueId>): boolean {
  return results.some((id) => id !== null && relevant.has(id));
}

function isUnderstood({ operation: { effect }, marker }: Instruction): boolean {
  return effect.kind !== 'opaque' && effect.kind !== 'call' && (!marker || marker.name === 'assume');
}

/** Whether an instruction only computes values. Proofs make assumptions about some, such as texture reads. */
function isOfValues(instruction: Instruction): boolean {
  const { effect, opcode } = instruction.operation;
  if (effect.kind === 'havoc') return /^(?:sqrt|rsqrt|rcp|sin|cos|lg2|ex2|tanh|div|fma|mul|add|sub)$/.test(opcode);
  return effect.kind === 'pure' || isOfParameter(instruction);
}

/** Whether an instruction loads a parameter of the kernel. */
function isOfParameter({ operation: { effect } }: Instruction): boolean {
  return effect.kind === 'load' && effect.space === 'param';
}

/**
 * The values that determine addresses, conditions, barriers, atomics and exchanges between lanes; with stored values if some
 * of them depend on memory that the kernel may write.
 */
function relevantValues(kernel: Kernel, readOnly: ReadonlyMap<Instruction, string>): ReadonlySet<ValueId> {
  const relevant = new Set<ValueId>();
  const pending: ValueId[] = [];
  let doStoresMatter = false;
  const need = (operand: Operand): void => {
    if (operand.kind !== 'value' || relevant.has(operand.id)) return;
    relevant.add(operand.id);
    pending.push(operand.id);
  };
  const complete = (): void => {
    for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
      const { definition } = kernel.values[id]!;
      if (definition.kind === 'phi') kernel.blocks[definition.block]!.phis[definition.index]!.inputs.forEach(need);
      else {
        definition.instruction.arguments.forEach(need);
        if (dependsOnMemory(definition.instruction) && !readOnly.has(definition.instruction)) doStoresMatter = true;
      }
    }
  };
  for (const { instructions, terminator } of kernel.blocks) {
    for (const instruction of instructions) {
      if (!readOnly.has(instruction)) for (const index of neededArguments(instruction)) need(instruction.arguments[index]!);
    }
    if (terminator.kind === 'branch') need(terminator.condition);
    else if (terminator.kind === 'switch') need(terminator.index);
  }
  complete();
  if (doStoresMatter) {
    for (const { operation, arguments: given } of kernel.blocks.flatMap(({ instructions }) => instructions))
      if (operation.effect.kind === 'store') given.forEach(need);
    complete();
  }
  return relevant;
}

/** Whether the results of an instruction depend on memory that a kernel may write. */
function dependsOnMemory(instruction: Instruction): boolean {
  return !isOfRegisters(instruction.operation.effect) && !isOfParameter(instruction);
}

/** Arguments of an instruction that are relevant even if its results are unused. */
function neededArguments({ operation: { effect }, arguments: given, marker }: Instruction): number[] {
  const all = given.map((_, index) => index);
  if (marker) return all;
  switch (effect.kind) {
    case 'load':
    case 'store':
      return [0];
    // For a shuffle every argument except for the exchanged value.
    case 'shuffle':
      return all.slice(1);
    case 'pure':
    case 'havoc':
    case 'warp-matrix':
      return [];
    default:
      return all;
  }
}

/**
 * Plain loads through pointer parameters through which the kernel writes nothing, with the names of these parameters; none if it
 * accesses memory other than by loads, stores and atomics, or writes through a pointer that is not known.
 */
function readOnlyLoads(kernel: Kernel, parameters: readonly ParameterSource[]): ReadonlyMap<Instruction, string> {
  const pointers = pointersOfValues(kernel, parameters);
  const loads = new Map<Instruction, ReadonlySet<string>>();
  const written = new Set<string>();
  for (const instruction of kernel.blocks.flatMap(({ instructions }) => instructions)) {
    const { effect } = instruction.operation;
    const [address] = instruction.arguments;
    const through = address?.kind === 'value' ? pointers[address.id]! : new Set<string>();
    switch (effect.kind) {
      case 'load':
        if (effect.semantics === 'weak' && through.size > 0 && !through.has(objectPointer)) loads.set(instruction, through);
        break;
      case 'store':
      case 'atomic':
        if (through.size === 0 && address?.kind !== 'address') return new Map();
        for (const pointer of through) written.add(pointer);
        break;
      case 'barrier':
      case 'warp-barrier':
      case 'grid-barrier':
      case 'fence':
        break;
      default:
        if (!isOfRegisters(effect)) return new Map();
    }
  }
  const readOnly = [...loads].filter(([, through]) => ![...through].some((pointer) => written.has(pointer)));
  return new Map(readOnly.map(([load, through]) => [load, [...through].sort().join(' ')]));
}

/** A variable of the module or of the block among the pointers from which a value is computed. */
const objectPointer = 'object';

/** By value, the pointers from which it is computed without memory: parameters declared as such, and variables. */
function pointersOfValues(kernel: Kernel, parameters: readonly ParameterSource[]): readonly ReadonlySet<string>[] {
  const pointers = kernel.values.map(() => new Set<string>());
  const inputsOf = kernel.values.map(({ definition }): readonly Operand[] => {
    if (definition.kind === 'phi') return kernel.blocks[definition.block]!.phis[definition.index]!.inputs;
    return definition.instruction.operation.effect.kind === 'pure' ? definition.instruction.arguments : [];
  });
  for (const [id, { definition }] of kernel.values.entries()) {
    if (definition.kind === 'phi' || !isOfParameter(definition.instruction)) continue;
    const { arguments: given, offset } = definition.instruction;
    const [address] = given;
    if (address?.kind !== 'address') continue;
    const { parameter } = kernel.objects[address.object]!;
    const at = Number(address.offset + offset);
    if (parameter !== undefined && declarationOf(parameters[parameter], at) === 'pointer') pointers[id]!.add(`${parameter}.${at}`);
  }
  for (let hasGrown = true; hasGrown;) {
    hasGrown = false;
    for (const [id, inputs] of inputsOf.entries()) {
      const own = pointers[id]!;
      const before = own.size;
      for (const input of inputs) {
        if (input.kind === 'value') for (const pointer of pointers[input.id]!) own.add(pointer);
        else if (input.kind === 'address') own.add(objectPointer);
      }
      if (own.size > before) hasGrown = true;
    }
  }
  return pointers;
}

function effectText(effect: Effect): string {
  if (effect.kind !== 'load') return JSON.stringify(effect);
  const { extend: _, ...rest } = effect;
  return JSON.stringify(rest);
}

function terminatorText(terminator: Terminator, write: (operand: Operand) => string): string {
  switch (terminator.kind) {
    case 'jump':
      return `jump ${terminator.target}`;
    case 'branch':
      return `branch ${write(terminator.condition)} ${terminator.then} ${terminator.otherwise} ${placeText(terminator.location)}`;
    case 'switch':
      return `switch ${write(terminator.index)} ${terminator.targets.join(' ')} ${placeText(terminator.location)}`;
    case 'exit':
    case 'trap':
    case 'unknown':
      return `${terminator.kind} ${placeText(terminator.location)}`;
  }
}

function placeText(location: Location | undefined): string {
  let text = '';
  for (let frame = location; frame; frame = frame.inlinedAt) text += ` ${frame.file}:${frame.line}`;
  return text;
}
