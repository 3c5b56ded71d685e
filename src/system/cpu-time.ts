/**
 * CPU time of threads and processes, which is independent of the load of other programs. Linux reports that of other
 * threads too; on other systems it is unknown, and callers use wall-clock time.
 */
import { readFileSync, readlinkSync } from 'node:fs';

interface CountingProcess {
  readonly threadCpuUsage?: () => { readonly user: number; readonly system: number };
}

/** The name of the calling thread, by which other threads may query its time; undefined if they cannot. */
export function ownThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return undefined;
  }
}

/** Milliseconds of CPU time that the calling thread has used; undefined if the system does not report it. */
export function threadCpu(): number | undefined {
  // If the time of other threads is unknown, that of this one is not used either.
  if (process.platform !== 'linux') return undefined;
  // Since Node 23.9.
  const counting: CountingProcess = process;
  const usage = counting.threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : cpuOf('thread-self');
}

/** Milliseconds of CPU time that this process has used, all of its threads together. */
export function processCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Resolution of the system in milliseconds, on every Linux that Node supports. */
const tick = 10;

/**
 * Milliseconds of CPU time that a thread or a process has used.
 * @param name result of {@link ownThread} in that thread, or a process ID
 * @returns undefined if it has ended, or the system does not report it
 * @see proc_pid_stat(5), fields 14 and 15
 */
export function cpuOf(name: string | number): number | undefined {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'latin1');
    // The name of the program, in parentheses, may contain blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * tick : undefined;
  } catch {
    return undefined;
  }
}

/** Larger values are treated as an error of the counter. */
const maxSlowdown = 20;

/**
 * Elapsed time of the calling thread while it was runnable, as a multiple of its CPU time: 1 if it had a core for
 * itself, and if the system does not report it.
 * @see proc_pid_schedstat, in Documentation/scheduler/sched-stats.rst of Linux
 */
export function slowdown(): number {
  try {
    const [ran = 0, waited = 0] = readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ').map(Number);
    return ran > 0 && waited >= 0 ? Math.min(maxSlowdown, 1 + waited / ran) : 1;
  } catch {
    return 1;
  }
}
