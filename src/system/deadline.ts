/** Limits of time that are counted in CPU time, so that a loaded machine cuts nothing that an idle one completes. */
import { clock } from './clock.ts';
import { threadCpu } from './cpu-time.ts';

/** When the time of some work is over, and whether that made a difference. */
export interface Deadline {
  readonly expired: () => boolean;
  /** Milliseconds that are left, never less than 0. */
  readonly left: () => number;
  /** Milliseconds that were used. */
  readonly used: () => number;
  /** Adds milliseconds of CPU that others used for this work: a solver. */
  readonly spend: (milliseconds: number) => void;
  /** Milliseconds that others used. */
  readonly spent: () => number;
  /** Tells that something was left undone which more time, or another machine, may do. */
  readonly cut: () => void;
  readonly wasCut: () => boolean;
  /** Calls back once, when the time and a grace are over. @returns what stops that */
  readonly whenOver: (grace: number, over: () => void) => () => void;
}

/** Work may take so many times its CPU time by the clock: what hangs without working ends too. */
const usualPatience = 20;

/** How often a limit is looked at where little is left of it, in milliseconds. */
const shortest = 20;

/**
 * A deadline after some milliseconds of CPU time.
 * @param own the CPU time so far of who does the work: the calling thread unless stated. Where it is undefined, the clock
 * counts instead
 * @param patience by how many times as long as its CPU time the work may take by the clock
 */
export function deadlineIn(
  milliseconds: number,
  own: () => number | undefined = threadCpu,
  patience: number = usualPatience,
): Deadline {
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
    // One thread uses no more time than the clock tells, which costs less to ask.
    expired: () => (cut ||= clock() - began >= milliseconds && left() === 0),
    spend: (time) => void (others += time),
    spent: () => others,
    cut: () => void (cut = true),
    wasCut: () => cut,
    whenOver: (grace, over) => repeatUntil(() => milliseconds + grace - used(), over),
  };
}

/**
 * Calls back once a thread or process has used some milliseconds of CPU, or 20 times as many have passed by the clock.
 * @param own its CPU time so far; undefined while that is not known
 * @returns what stops that
 */
export function afterCpu(milliseconds: number, own: () => number | undefined, over: () => void): () => void {
  return deadlineIn(milliseconds, own).whenOver(0, over);
}

/** Looks again when what is left has passed by the clock, until nothing is left. */
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
