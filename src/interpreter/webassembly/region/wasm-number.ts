/** Values that WebAssembly code stores both as numbers and as bit patterns. */
import type { Kernel, ValueId } from '../../../ir/form/kernel.ts';
import { numberType } from '../code/wasm-value.ts';

type NumberType = 'f32' | 'f64';

const known = new WeakMap<Kernel, ReadonlyMap<ValueId, NumberType>>();

/** The phis used by floating-point instructions, with the type of their numbers. */
export function numberPhis(kernel: Kernel): ReadonlyMap<ValueId, NumberType> {
  let numbers = known.get(kernel);
  if (!numbers) {
    numbers = findNumberPhis(kernel);
    known.set(kernel, numbers);
  }
  return numbers;
}

function findNumberPhis(kernel: Kernel): ReadonlyMap<ValueId, NumberType> {
  const numbers = new Map<ValueId, NumberType>();
  const phis = kernel.blocks.flatMap((block) => block.phis);
  // A phi may depend on others by the phis of inner loops.
  for (let found = true; found;) {
    found = false;
    for (const { result, inputs } of phis) {
      if (numbers.has(result)) continue;
      for (const input of inputs) {
        if (input.kind !== 'value') continue;
        const { definition } = kernel.values[input.id]!;
        const type = definition.kind === 'phi' ? numbers.get(input.id) : numberType(definition.instruction.operation.mnemonic);
        if (!type) continue;
        numbers.set(result, type);
        found = true;
        break;
      }
    }
  }
  return numbers;
}
