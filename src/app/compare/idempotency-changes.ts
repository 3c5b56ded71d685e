/** Kernels that a change makes idempotent, or no longer idempotent: notices with the responsible line. */
import type { IdempotencyReport } from '../../report-model/idempotency-report.ts';
import type { KernelReport } from '../../report-model/report.ts';
import type { Diagnostic } from '../../source/diagnostic.ts';
import type { Location } from '../../source/location.ts';
import type { Severity } from '../../source/severity.ts';
import { classChangeText, judgedText } from '../../messages/idempotency.ts';

/** A kernel before and after a change. */
export interface ClassPair {
  readonly base: KernelReport;
  readonly head: KernelReport;
  /** Name in the head, without parameters. */
  readonly name: string;
}

/**
 * Notices for kernels whose class changed. A class that is undecided on either side is not a change, and that a kernel with
 * a new data race is not idempotent follows from the race.
 * @param isChanged whether a line of the head is new or changed
 */
export function classChanges(pairs: readonly ClassPair[], severity: Severity, isChanged: (location: Location) => boolean): Diagnostic[] {
  return pairs.flatMap(({ base, head, name }) => {
    const [was, is] = [base.idempotency, head.idempotency];
    if (!was || !is || was.kernel === is.kernel || was.kernel === 'unknown' || is.kernel === 'unknown') return [];
    if ((base.race.verdict === 'race') !== (head.race.verdict === 'race')) return [];
    const location = placeOf(was, is, isChanged) ?? head.location;
    const sentences = [classChangeText(name, was, is), ...moreOf(is)];
    return [{ severity, code: 'idempotency/class-changed', message: `${sentences.join('. ')}.`, ...(location && { location }) }];
  });
}

function moreOf({ kernel, remedy, launches = [] }: IdempotencyReport): string[] {
  if (kernel === 'conditional') return [judgedText(launches)].filter((text) => text !== '');
  return kernel === 'non-idempotent' && remedy !== undefined ? [remedy] : [];
}

/** Responsible line: a changed one among the new obstacles, otherwise the first new obstacle. */
function placeOf(was: IdempotencyReport, is: IdempotencyReport, isChanged: (location: Location) => boolean): Location | undefined {
  const known = new Set((was.overlaps ?? []).map(({ written, read }) => JSON.stringify([written, read])));
  const overlaps = (is.overlaps ?? []).filter(({ written, read }) => !known.has(JSON.stringify([written, read])));
  // Of a read and an overlapping write, the write is the second access. It overwrites the value that was read.
  const places = [...(is.details ?? []), ...overlaps].flatMap(({ locations }) => [...locations].reverse());
  return places.find(isChanged) ?? places[0];
}
