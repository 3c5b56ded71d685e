/**
 * Sequences of launches that may be stopped anywhere and run again from their first launch (section 6.1 of PICKER).
 * Each launch has to be idempotent. For launches on one stream, which run in order, a byte must not be read and then
 * written by a later one. Launches on different streams run in any order: no launch may access bytes that a launch on
 * another stream writes.
 */
import type { KernelIdempotency, TouchedBytes } from '../../idempotency/model/kernel-idempotency.ts';
import { areDisjoint, isWithin, type LaunchedSet } from '../../idempotency/validator/address-sets.ts';
import { bytesAt, isKnownToHold, type InstanceArguments } from '../../idempotency/validator/instance-condition.ts';

/** A launch of a sequence. */
export interface SequencedLaunch {
  /** Line of the trace, from 1. */
  readonly line: number;
  readonly stream: string;
  /** Missing if the launch is not known to be idempotent. */
  readonly run?: { readonly kernel: KernelIdempotency; readonly launch: InstanceArguments };
}

/** Verdict on a sequence. */
export interface SequenceVerdict {
  readonly sequence: string;
  readonly lines: readonly number[];
  readonly verdict: 'idempotent' | 'undecided';
  readonly reason?: string;
  /**
   * Line of the launch before which the first checkpoint goes: the launches before it may be run again as a whole. Missing if not
   * even the first launch may.
   */
  readonly checkpoint?: number;
}

/** Maximum number of launches of a sequence: they are compared pairwise. */
const maxLaunches = 128;

/** Whether a sequence may be stopped anywhere and rerun as a whole, if no other code accesses its memory meanwhile. */
export function judgeSequence(sequence: string, launches: readonly SequencedLaunch[]): SequenceVerdict {
  const lines = launches.map(({ line }) => line);
  const reason = reasonAgainst(launches);
  if (reason === null) return { sequence, lines, verdict: 'idempotent' };
  const prefix = repeatablePrefix(launches);
  return { sequence, lines, verdict: 'undecided', reason, ...(prefix > 0 ? { checkpoint: lines[prefix]! } : {}) };
}

/** Number of launches from the first one on that may be run again as a whole; more launches make no sequence repeatable. */
function repeatablePrefix(launches: readonly SequencedLaunch[]): number {
  let [holds, fails] = [0, launches.length];
  while (fails - holds > 1) {
    const middle = (holds + fails) >> 1;
    if (reasonAgainst(launches.slice(0, middle)) === null) holds = middle;
    else fails = middle;
  }
  return holds;
}

function reasonAgainst(launches: readonly SequencedLaunch[]): string | null {
  if (launches.length > maxLaunches) return `the sequence has more than ${maxLaunches} launches`;
  const open = launches.find(({ run }) => !run);
  if (open) return `the launch of line ${open.line} is not known to be idempotent`;
  const touched = launches.map(touchedBy);
  const unknown = touched.findIndex((sets) => sets === null);
  if (unknown >= 0) return `the accesses of the launch of line ${launches[unknown]!.line} are unknown`;
  const all = touched as readonly (readonly LaunchedTouch[])[];
  for (const [at, later] of launches.entries()) {
    for (const [before, earlier] of launches.slice(0, at).entries()) {
      const isOrdered = earlier.stream === later.stream;
      // Bytes that an earlier launch of the stream certainly writes are rewritten when the sequence restarts.
      const written = all
        .slice(0, before)
        .flatMap((sets, index) =>
          launches[index]!.stream === earlier.stream ? sets.filter(({ isWrite, exact }) => isWrite && exact) : [],
        );
      const isRewritten = (read: LaunchedTouch): boolean => written.some(({ set }) => isWithin(read.set, set) === true);
      for (const a of all[before]!) {
        for (const b of all[at]!) {
          if (isOrdered ? a.isWrite || !b.isWrite : !a.isWrite && !b.isWrite) continue;
          if (areDisjoint(a.set, b.set) === true || (isOrdered && isRewritten(a))) continue;
          return isOrdered
            ? `the launch of line ${later.line} may write what that of line ${earlier.line} reads`
            : `the launches of lines ${earlier.line} and ${later.line} run on two streams and may touch the same memory`;
        }
      }
    }
  }
  return null;
}

interface LaunchedTouch extends Pick<TouchedBytes, 'isWrite' | 'exact'> {
  readonly set: LaunchedSet;
}

/** Bytes that a launch accesses; null if they are not known. */
function touchedBy({ run }: SequencedLaunch): readonly LaunchedTouch[] | null {
  if (!run?.kernel.touched) return null;
  const found: LaunchedTouch[] = [];
  for (const { isWrite, bytes, needs, exact } of run.kernel.touched) {
    if (!bytes || !isKnownToHold(needs, run.launch)) return null;
    found.push({ isWrite, exact, set: bytesAt(bytes, run.launch) });
  }
  return found;
}
