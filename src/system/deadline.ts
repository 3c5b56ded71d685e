/** Time limits in CPU time, so that a loaded host completes the same work as an idle one. */
import { clock } from './clock.ts';
import { threadCpu } from './cpu-time.ts';

/** Time limit of a task, and whether it had an effect. */
export interface Deadline {
  readonly expired: () => boolean;
  /** Remaining milliseconds, never less than 0. */
  readonly left: () => number;
  /** Used milliseconds. */
  readonly used: () => number;
  /** Adds milliseconds of CPU time that others used for this work: a solver. */
  readonly spend: (milliseconds: number) => void;
  /** Milliseconds that others used. */
  readonly spent: () => number;
  /** Records that work was skipped that more time, or another host, may do. */
  readonly cut: () => void;
  readonly wasCut: () => boolean;
  /** Calls back once, when the time and a grace period are over. @returns a function that cancels it */
  readonly whenOver: (grace: number, over: () => void) => () => void;
}

/** Maximum wall-clock time of work as a multiple of its CPU time: a deadlock ends too. */
const usualPatience = 20;

/** Interval of checks near the end of a limit, in milliseconds. */
const shortest = 20;

/**
 * A deadline after some milliseconds of CPU time.
 * @param own CPU time so far of the worker: by default of the calling thread. If undefined, wall-clock time is used
 * @param patience maximum wall-clock time as a multiple of the CPU time
 */
export function deadlineIn(milliseconds: number, own: () => number | undefined = threadCpu, patience: number = usualPatience): Deadline {
  const began = clock();
  const atStart = own() ?? 0;
  let others = 0;
  let cut = false;
  const used = (): number => {
    const elapsed = clock() - began;
    const cpu = own();
    return cpu === undefined ? elapsed : Math.max(cpu - atStart + others, elapsed / patience);
  };
  const left = (): number => Math.max(0, milliseconds - used());
  return {
    used,
    left,
    // The CPU time of one thread is at most the wall-clock time, which is cheaper to query.
    expired: () => (cut ||= clock() - began >= milliseconds && left() === 0),
    spend: (time) => void (others += time),
    spent: () => others,
    cut: () => void (cut = true),
    wasCut: () => cut,
    whenOver: (grace, over) => repeatUntil(() => milliseconds + grace - used(), over),
  };
}

/**
 * Calls back once a thread or process has used some milliseconds of CPU time, or 20 times that of wall-clock time.
 * @param own its CPU time so far; undefined if unknown
 * @returns a function that cancels it
 */
export function afterCpu(milliseconds: number, own: () => number | undefined, over: () => void): () => void {
  return deadlineIn(milliseconds, own).whenOver(0, over);
}

/** Repeats the check after the remaining time of wall clock, until no time is left. */
function repeatUntil(left: () => number, over: () => void): () => void {
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const more = left();
    if (more <= 0) over();
    else timer = setTimeout(look, Math.max(shortest, more));
  };
  timer = setTimeout(look, Math.max(1, left()));
  return () => clearTimeout(timer);
}
