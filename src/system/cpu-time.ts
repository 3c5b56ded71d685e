/**
 * CPU time of threads and processes, which other programs of the machine do not lengthen. Linux tells that of other threads
 * too; elsewhere it is not known, and whoever asks goes by the clock.
 */
import { readFileSync, readlinkSync } from 'node:fs';

interface CountingProcess {
  readonly threadCpuUsage?: () => { readonly user: number; readonly system: number };
}

/** The name of the calling thread, by which other threads of this process may ask for its time; undefined where none may. */
export function ownThread(): string | undefined {
  try {
    return readlinkSync('/proc/thread-self');
  } catch {
    return undefined;
  }
}

/** Milliseconds of CPU that the calling thread has used; undefined where the system does not tell. */
export function threadCpu(): number | undefined {
  // Where the time of other threads is not known, nobody goes by that of this one.
  if (process.platform !== 'linux') return undefined;
  // Since Node 23.9.
  const counting: CountingProcess = process;
  const usage = counting.threadCpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : cpuOf('thread-self');
}

/** Milliseconds of CPU that this process has used, all of its threads together. */
export function processCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Milliseconds in which the system counts, on all of Linux that Node runs on. */
const tick = 10;

/**
 * Milliseconds of CPU that a thread or a process has used.
 * @param name what {@link ownThread} gave in that thread, or the number of a process
 * @returns undefined where it has ended, or the system does not tell
 * @see proc_pid_stat(5), fields 14 and 15
 */
export function cpuOf(name: string | number): number | undefined {
  try {
    const text = readFileSync(`/proc/${name}/stat`, 'latin1');
    // The name of the program, in parentheses, may hold blanks and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    return Number.isFinite(ticks) ? ticks * tick : undefined;
  } catch {
    return undefined;
  }
}

/** More than this is taken for a fault of the count. */
const maxSlowdown = 20;

/**
 * How many times as long as its CPU time the calling thread has taken so far whenever it had something to do: 1 where it
 * had a core for itself, and where the system does not tell.
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
