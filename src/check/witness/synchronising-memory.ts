/** Memory by which threads of several blocks synchronise, and which runs show what it lacks. */
import type { Access } from '../../analysis/values/access.ts';
import { isStrong } from '../../memory-model/fence.ts';
import type { SymbolicFacts } from '../context/facts.ts';

/**
 * Arrays by which threads synchronise. Counters, locks and flags start at zero; other initial values are irrelevant.
 */
export function synchronisingArrays(facts: SymbolicFacts): ReadonlySet<string> {
  return new Set(strongBases(facts).flatMap((base) => (base.kind === 'parameter' ? [`${base.index}.${base.offset}`] : [])));
}

/** Whether threads of several blocks may synchronise by a lock, a flag or a counter: in an array, or in a variable. */
export function synchronisesBlocks(facts: SymbolicFacts): boolean {
  return strongBases(facts).some((base) => base.kind === 'parameter' || (base.kind === 'object' && base.object.space === 'global'));
}

/** Whether the kernel may have a store-buffering (Dekker) pattern: strong stores and loads. */
export function mayMissStores({ accesses }: SymbolicFacts): boolean {
  return (['load', 'store'] as const).every((kind) =>
    accesses.some(({ instruction }) => instruction.operation.effect.kind === kind && isStrong(instruction)),
  );
}

function strongBases({ accesses }: SymbolicFacts): readonly Access['targets'][number]['base'][] {
  return accesses.filter(({ instruction }) => isStrong(instruction)).flatMap(({ targets }) => targets.map(({ base }) => base));
}
