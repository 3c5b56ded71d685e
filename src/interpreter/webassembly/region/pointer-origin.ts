/**
 * The object that each address most likely points into. This is a guess: a pointer may be computed by untracked
 * operations (read from memory, negative index), so users check the address against the object at run time.
 */
import type { Argument } from '../../core/arguments.ts';
import type { Instruction, Kernel, Operand, ValueId } from '../../../ir/form/kernel.ts';
import { parameterLoad } from './liveness.ts';

/** An object of the kernel, or a buffer of the launch. */
type Origin =
  | { readonly kind: 'object'; readonly object: number }
  | { readonly kind: 'buffer'; readonly buffer: number }
  | { readonly kind: 'unknown' };

const unvisited = -3;
const mixed = -2;
const none = -1;

/** The origin of any operand that is used as an address. */
export function pointerOrigins(kernel: Kernel, values: readonly Argument[]): (address: Operand) => Origin {
  const origins = new Int32Array(kernel.values.length).fill(unvisited);
  const objects = kernel.objects.length;
  const join = (a: number, b: number): number => {
    if (a === unvisited || a === b || a === none) return b === unvisited ? a : b;
    return b === unvisited || b === none ? a : mixed;
  };
  const originOf = (operand: Operand): number => {
    if (operand.kind === 'value') return origins[operand.id]!;
    return operand.kind === 'address' ? operand.object : none;
  };
  const loaded = (instruction: Instruction): number => {
    const place = parameterLoad(kernel, instruction);
    const parameter = place && kernel.objects[place.object.object]!.parameter;
    const argument = parameter === undefined || parameter === null ? undefined : values[parameter];
    if (!place || !argument) return none;
    if (argument.kind === 'pointer') return place.offset === 0 ? objects + argument.buffer : none;
    if (argument.kind !== 'struct') return none;
    const pointer = argument.pointers.find(({ at }) => at === place.offset);
    return pointer ? objects + pointer.buffer : none;
  };
  const put = (value: ValueId, origin: number): boolean => {
    const now = join(origins[value]!, origin);
    if (now === origins[value]) return false;
    origins[value] = now;
    return true;
  };
  for (let changed = true; changed;) {
    changed = false;
    for (const block of kernel.blocks) {
      for (const phi of block.phis) for (const input of phi.inputs) changed = put(phi.result, originOf(input)) || changed;
      for (const instruction of block.instructions) {
        const { effect } = instruction.operation;
        let origin = none;
        if (effect.kind === 'load') origin = loaded(instruction);
        if (effect.kind === 'pure') {
          origin = unvisited;
          for (const operand of instruction.arguments) origin = join(origin, originOf(operand));
          if (instruction.arguments.length === 0) origin = none;
        }
        for (const result of instruction.results) if (result !== null) changed = put(result, origin) || changed;
      }
    }
  }
  return (address) => {
    const origin = originOf(address);
    if (origin < 0) return { kind: 'unknown' };
    return origin < objects ? { kind: 'object', object: origin } : { kind: 'buffer', buffer: origin - objects };
  };
}
