/**
 * Dependences of the terms of a kernel. A term is firm if it depends only on the launch and known contents of memory,
 * and not on unspecified values or values that threads store.
 */
import type { Access } from '../../analysis/values/access.ts';
import type { Instruction, InstructionId } from '../../ir/form/kernel.ts';
import type { Term } from '../../term/term.ts';
import type { KernelAndLaunch, KernelContext, SymbolicFacts } from '../context/facts.ts';
import type { AccessPair } from '../obligations/obligation.ts';

/** The terms of the condition and the address of an access. */
export function accessTerms({ symbolic }: SymbolicFacts, access: Access): Term[] {
  return [symbolic.reach(access.block), ...access.targets.flatMap(({ offset, condition }) => [offset, condition])];
}

/**
 * The terms of an access that values have to decide which a run made up: all, or those of its address if it made up only readings
 * of the timer, since all readings are equal in an execution in which the timer does not advance.
 */
export function madeUpTerms(context: KernelAndLaunch & SymbolicFacts, access: Access, madeUp: readonly InstructionId[]): Term[] {
  const ids = new Set(madeUp);
  const isTimer = ({ operation: { effect } }: Instruction): boolean =>
    effect.kind === 'havoc' && /^special register %globaltimer/.test(effect.reason);
  const isTimed = context.kernel.blocks.every(({ instructions }) => instructions.every((one) => !ids.has(one.id) || isTimer(one)));
  return isTimed ? access.targets.map(({ offset }) => offset) : accessTerms(context, access);
}

/** The terms of the conditions of all branches. */
export function branchTerms({ kernel, symbolic }: KernelAndLaunch & SymbolicFacts): Term[] {
  return kernel.blocks.flatMap(({ id }) => symbolic.condition(id) ?? []);
}

/** Whether contents of memory affect the execution or the addresses of a pair's accesses. */
export function dependsOnMemory({ kernel }: KernelAndLaunch, pair: AccessPair): boolean {
  const isLoaded = (leaf: Term): boolean => {
    if (leaf.atom?.kind !== 'havoc' || leaf.atom.value < 0) return false;
    const { definition } = kernel.values[leaf.atom.value]!;
    return definition.kind === 'phi' || definition.instruction.operation.effect.kind !== 'pure';
  };
  return pair.obligations.some(({ first, second }) =>
    [first, second].some(
      ({ target, conditions }) => target.offset.leaves.some(isLoaded) || conditions.some(({ term }) => term.leaves.some(isLoaded)),
    ),
  );
}

/** Whether terms depend only on the launch, arguments and the contents of arrays that the kernel only reads. */
export function isFirm({ kernel, loaded }: Pick<KernelContext, 'kernel' | 'loaded'>, terms: readonly Term[]): boolean {
  return terms.every((term) =>
    term.leaves.every((leaf) => {
      if (leaf.atom!.kind !== 'havoc') return true;
      if (leaf.atom.value < 0) return false;
      const { definition } = kernel.values[leaf.atom.value]!;
      if (definition.kind !== 'instruction' || definition.instruction.operation.effect.kind !== 'load') return false;
      return loaded(definition.instruction) === 'fixed';
    }),
  );
}
