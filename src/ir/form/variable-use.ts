/** Which variables of the module an instruction accesses, as far as its address shows. */
import { accessesOfEffect } from '../../isa/model/effect.ts';
import type { Kernel, MemoryObject, Operand, ValueId } from './kernel.ts';

type Code = Pick<Kernel, 'blocks' | 'objects' | 'values'>;

/** The variables of which an address may be a part. */
interface AddressedObjects {
  readonly objects: ReadonlySet<MemoryObject>;
  /** Whether it is within one of them: it comes from nothing else. */
  readonly isKnown: boolean;
}

/** The variables that an address is computed from. */
export function addressedObjects({ values, objects, blocks }: Code, address: Operand | undefined): AddressedObjects {
  const found = new Set<MemoryObject>();
  const seen = new Set<ValueId>();
  const follow = (operand: Operand): boolean => {
    if (operand.kind === 'address') {
      found.add(objects[operand.object]!);
      return true;
    }
    if (operand.kind !== 'value' || seen.has(operand.id)) return true;
    seen.add(operand.id);
    const { definition } = values[operand.id]!;
    if (definition.kind === 'phi') return blocks[definition.block]!.phis[definition.index]!.inputs.map(follow).every((one) => one);
    const { operation, arguments: given } = definition.instruction;
    return given.map(follow).every((one) => one) && operation.effect.kind === 'pure';
  };
  const isKnown = address !== undefined && follow(address) && found.size > 0;
  return { objects: found, isKnown };
}

/** The variables in global memory that a kernel accesses, and whether it may write them. */
export function globalVariables(kernel: Code): ReadonlyMap<string, boolean> {
  const used = new Map<string, boolean>();
  for (const { arguments: given, operation } of kernel.blocks.flatMap(({ instructions }) => instructions))
    for (const { source, operation: use } of accessesOfEffect(operation.effect))
      for (const { space, symbol } of addressedObjects(kernel, given[source]).objects)
        if (space === 'global') used.set(symbol, use !== 'read' || used.get(symbol) === true);
  return used;
}
