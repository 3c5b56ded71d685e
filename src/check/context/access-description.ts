/** Accesses as reports describe them. */
import type { Access } from '../../analysis/values/access.ts';
import { participantsOf } from '../../isa/model/effect.ts';
import type { AccessEvent } from '../../interpreter/core/run-result.ts';
import type { Location } from '../../source/location.ts';
import type { AccessDescription } from '../../verdict/finding.ts';
import type { KernelContext } from './facts.ts';
import { placeOf } from './names.ts';

/** An access as a report describes it; with an event, also the thread. */
export function describeAccess(
  { kernel, accesses, inMemory }: KernelContext,
  access: Access,
  event: AccessEvent | undefined,
): AccessDescription {
  const location = placeOf(kernel, access.instruction);
  // A line that is inlined at another place is described by another text.
  const alike = [...accesses, ...inMemory.accesses].filter((other) => {
    const sameBase = other.targets[0]!.base.key === access.targets[0]!.base.key;
    const place = placeOf(kernel, other.instruction);
    return other.operation === access.operation && sameBase && frames(place) === frames(location);
  });
  // The compiler writes code in the order of the source; basic blocks are in another one.
  alike.sort((a, b) => a.instruction.ptxLine - b.instruction.ptxLine);
  return {
    operation: access.operation,
    ...(access.isCopy && { isCopy: true }),
    ...(participantsOf(access.instruction.operation.effect) === 'warp' && { ofWarp: true }),
    memory: access.memory,
    bytes: access.bytes,
    location,
    ordinal: alike.indexOf(access),
    alike: alike.length,
    ...(event && { thread: event.thread, block: event.block }),
  };
}

/** The lines of a location and of the call sites at which it is inlined. */
function frames(location: Location | undefined): string {
  return location ? `${location.file}:${location.line} ${frames(location.inlinedAt)}` : '';
}
