/** Text of the parts of a kernel that a proof can depend on. Template instances with the same text share one proof. */
import { objectName } from '../../cuda/names/demangle.ts';
import type { Instruction, Kernel, Operand, Terminator, ValueId } from '../../ir/form/kernel.ts';
import type { Effect } from '../../isa/model/operation.ts';
import type { Location } from '../../source/location.ts';

/**
 * Writes a kernel without the values that affect no address, no condition, no barrier and no exchange between lanes:
 * such values are only stored. A race or a divergence that is excluded without stored values is excluded for every
 * kernel of the same text.
 *
 * Null if stored values could matter: if the kernel has atomics, strong or volatile accesses, fences, or effects beyond
 * plain accesses and barriers, and if an address or a condition depends on a value that is loaded from memory which
 * some kernel may write.
 */
export function proofForm(kernel: Kernel): string | null {
  if (kernel.isTooLarge || kernel.unsupported.length > 0) return null;
  const relevant = relevantValues(kernel);
  if (!relevant) return null;
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
    for (const phi of phis) {
      if (relevant.has(phi.result)) lines.push(`${result(phi.result)} = phi ${phi.inputs.map(write).join(', ')}`);
    }
    for (const instruction of instructions) {
      const { operation, results, offset, location, marker } = instruction;
      const { effect } = operation;
      const hasWrittenBuild = effect.kind !== 'pure' || results.some((id) => id !== null && relevant.has(id));
      if (!hasWrittenBuild && !marker) continue;
      // Operations on values that are only stored are irrelevant, and so are their types.
      const what = effect.kind === 'load' || effect.kind === 'store' ? '' : operation.mnemonic;
      const needed = new Set(neededArguments(instruction));
      const read = instruction.arguments.map((operand, index) =>
        needed.has(index) || anyRelevant(results, relevant) ? write(operand) : '_',
      );
      const place = effect.kind === 'pure' ? '' : placeText(location);
      lines.push(
        `${results.map(result).join(', ')} = ${what} ${effectText(effect)} ${read.join(', ')} +${offset} ${marker?.name ?? ''} ${place}`,
      );
    }
    lines.push(terminatorText(terminator, write));
  }
  const {
    parameters,
    objects,
    requiredThreads,
    maximumThreads,
    requiredCluster,
    needsCluster,
    overlapsOthers,
    assumesLocalBounds,
    workspace,
  } = kernel;
  const head = {
    parameters: parameters.map(({ type, bytes, alignment }) => [type, bytes, alignment]),
    objects: objects.map(({ symbol, initial, addresses, space, ...rest }) => [
      space === 'param' ? '' : objectName(symbol),
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

/**
 * The values that determine addresses, conditions, barriers and exchanges between lanes; null if they include a value
 * from writable memory, or if there are effects beyond plain accesses and barriers.
 */
function relevantValues(kernel: Kernel): Set<ValueId> | null {
  const relevant = new Set<ValueId>();
  const pending: ValueId[] = [];
  const need = (operand: Operand): void => {
    if (operand.kind !== 'value' || relevant.has(operand.id)) return;
    relevant.add(operand.id);
    pending.push(operand.id);
  };
  for (const { instructions, terminator } of kernel.blocks) {
    for (const instruction of instructions) {
      if (!isPlain(instruction)) return null;
      for (const index of neededArguments(instruction)) need(instruction.arguments[index]!);
    }
    if (terminator.kind === 'branch') need(terminator.condition);
    else if (terminator.kind === 'switch') need(terminator.index);
    else if (terminator.kind === 'unknown') return null;
  }
  for (let id = pending.pop(); id !== undefined; id = pending.pop()) {
    const { definition } = kernel.values[id]!;
    if (definition.kind === 'phi') kernel.blocks[definition.block]!.phis[definition.index]!.inputs.forEach(need);
    else {
      const { operation, arguments: given } = definition.instruction;
      if (operation.effect.kind === 'load' && operation.effect.space !== 'param') return null;
      given.forEach(need);
    }
  }
  return relevant;
}

function isPlain({ operation: { effect, opcode }, marker }: Instruction): boolean {
  if (marker && marker.name !== 'assume') return false;
  switch (effect.kind) {
    case 'pure':
      return true;
    case 'load':
    case 'store':
      // Values that pass through a thread's local memory are not tracked.
      return effect.semantics === 'weak' && effect.space !== 'local';
    case 'barrier':
      return effect.form === 'sync';
    case 'warp-barrier':
    case 'shuffle':
      return true;
    // Unknown values. Proofs make assumptions about other instructions without effect, such as texture reads.
    case 'havoc':
      return /^(?:sqrt|rsqrt|rcp|sin|cos|lg2|ex2|tanh|div|fma|mul|add|sub)$/.test(opcode);
    default:
      return false;
  }
}

/** Arguments of an instruction that are relevant even if its results are unused. */
function neededArguments({ operation: { effect }, arguments: given, marker }: Instruction): number[] {
  const all = given.map((_, index) => index);
  if (marker) return all;
  switch (effect.kind) {
    case 'load':
    case 'store':
      return [0];
    case 'barrier':
    case 'warp-barrier':
      return all;
    // For a shuffle every argument except for the exchanged value.
    case 'shuffle':
      return all.slice(1);
    default:
      return [];
  }
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
