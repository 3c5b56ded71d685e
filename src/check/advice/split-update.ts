/**
 * Updates of an element by two statements, between which other threads may change it: a value is read and then cleared, or a
 * condition on it decides whether it is written.
 */
import { type Access, isWriter } from '../../analysis/values/access.ts';
import { isOfLaunch } from '../../analysis/values/leader.ts';
import { canReach } from '../../analysis/values/program-point.ts';
import type { SplitUpdate } from '../../verdict/finding.ts';
import type { KernelContext } from '../context/facts.ts';
import { placeOf, wholeTerm } from '../context/names.ts';
import { influences } from './missing-synchronisation.ts';

/**
 * The update that two accesses of different blocks show not to be one operation; null if neither belongs to one. A barrier does not
 * help: blocks may update the element at any time, as they do so by atomic operations, or choose it by contents of memory.
 */
export function splitUpdate(context: KernelContext, a: Access, b: Access): SplitUpdate | null {
  const { kernel, accesses } = context;
  for (const [one, other] of [[a, b] as const, [b, a] as const]) {
    if (one.strong !== null) continue;
    // An index that is loaded again is the same in the words of the source.
    const elementOf = ({ targets: [target] }: Access): string => `${target!.base.key} ${wholeTerm(context, target!.offset)}`;
    const isSame = (access: Access): boolean => access.strong === null && elementOf(access) === elementOf(one);
    const own = accesses.filter(isSame);
    for (const write of own.filter(isWriter)) {
      const read = own.find((access) => access.operation === 'read' && access.bytes === write.bytes && canReach(kernel, access, write));
      if (!read || (one !== read && one !== write)) continue;
      const lines = { read: placeOf(kernel, read.instruction), write: placeOf(kernel, write.instruction) };
      if (lines.read.file === lines.write.file && lines.read.line === lines.write.line) continue;
      const { decides, stores } = influences(context, read, write);
      // A value that does not depend on the one before loses what another thread has added since.
      if (!decides && !stores) {
        if (other.operation === 'atomic') return { ...lines, by: 'exchange' };
      } else if (other.operation === 'atomic' || isScattered(write)) return { ...lines, by: stores ? 'add' : 'compare' };
    }
  }
  return null;
}

/** Whether contents of memory choose the element, so that two threads may choose one. */
function isScattered({ targets }: Access): boolean {
  return targets[0]!.offset.leaves.some((leaf) => leaf.atom?.kind === 'havoc' && !isOfLaunch(leaf));
}
