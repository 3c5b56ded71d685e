/** The only place that starts programs: no shell, explicit environment, process group that ends with this process. */
import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { cpuOf } from './cpu-time.ts';
import { afterCpu } from './deadline.ts';

export interface ProcessLimits {
  /** Wall clock, in milliseconds. */
  readonly milliseconds: number;
  /** Standard output and standard error together, in bytes. */
  readonly outputBytes: number;
  /** Limits that the system enforces for the program and its descendants; unlimited if missing. */
  readonly resources?: ResourceLimits | undefined;
}

/** Limits of one process, which the system enforces independently of this process. */
export interface ResourceLimits {
  /** CPU time. */
  readonly cpuSeconds: number;
  /** Size of its address space. */
  readonly memoryBytes: number;
  /** Size of each file that it writes. */
  readonly fileBytes: number;
}

interface ProcessStart {
  /** Absolute path, or the name of a program in a folder of PATH in `env`. */
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ProcessRequest extends ProcessStart {
  readonly limits: ProcessLimits;
  /** Ends the program when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the ID of the process when it runs. */
  readonly onStart?: (pid: number) => void;
}

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'time-limit' }
  | { readonly kind: 'output-limit' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'not-started'; readonly reason: string };

export interface ProcessResult {
  readonly end: ProcessEnd;
  readonly stdout: string;
  readonly stderr: string;
}

/** Whether a program exited with status 0, without being stopped. */
export function exitedWell({ end }: ProcessResult): boolean {
  return end.kind === 'exited' && end.code === 0;
}

/** How long the pipes may stay open after the process has ended, in milliseconds. */
const drainTime = 1000;

/** The running process groups. Terminals and shells do not know them, so they would survive an exit of this process. */
const groups = new Set<number>();

/** Starts a program as the leader of a process group, which has to be killed when it ends. */
function startGroup<Child extends ChildProcess>(start: () => Child): Child {
  const child = start();
  const { pid } = child;
  if (pid !== undefined) {
    groups.add(pid);
    guard?.write(`+${pid}\n`);
    child.on('exit', () => killGroup(pid));
    child.on('close', () => {
      groups.delete(pid);
      guard?.write(`-${pid}\n`);
    });
  }
  return child;
}

/** The input of the process that {@link guardGroups} starts. */
let guard: Writable | undefined;

/**
 * The guard's program. It reads the IDs of process groups that start (`+ID`) and end (`-ID`). Its input ends when this
 * process ends, by any signal; the guard then kills the groups that are left.
 */
const guardProgram = `trap '' HUP INT TERM
left=' '
while read -r line; do
  id=\${line#?}
  case $line in
    +*) left="$left$id ";;
    *) case $left in *" $id "*) left="\${left%%" $id "*} \${left#*" $id "}";; esac;;
  esac
done
for id in $left; do kill -KILL "-$id"; done`;

/**
 * From now on, process groups end also if this process is killed and cannot end them. A shell in a separate session
 * watches this process through a pipe. Without a shell nothing changes.
 */
export function guardGroups(): void {
  if (guard || process.platform === 'win32') return;
  const stdio = ['pipe', 'ignore', 'ignore'] as ['pipe', 'ignore', 'ignore'];
  const child = spawn('/bin/sh', ['-c', guardProgram], { cwd: '/', env: {}, detached: true, stdio });
  for (const emitter of [child, child.stdin]) emitter.on('error', () => (guard = undefined));
  for (const handle of [child, child.stdin as Partial<Socket>]) handle.unref?.();
  guard = child.stdin;
  for (const leader of groups) guard.write(`+${leader}\n`);
}

function killGroup(leader: number | undefined): void {
  if (leader === undefined) return;
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

process.on('exit', () => groups.forEach(killGroup));

function settings({ cwd, env }: ProcessStart) {
  return { cwd, env, detached: true } as const;
}

/**
 * The arguments that start a program within limits. Only a shell can set them on every system; it executes the program,
 * whose arguments it does not interpret. Time is measured here too, to determine why a program ended: compilers catch
 * the signal of a soft limit, and the signal of a hard one equals that of memory shortage.
 */
function limitedCommand({ executable, args }: ProcessStart, resources: ResourceLimits | undefined) {
  if (resources === undefined) return [executable, args] as const;
  // In the units of ulimit: kilobytes, and half of them for files.
  const set = [
    `ulimit -t ${Math.ceil(resources.cpuSeconds) + 1}`,
    `ulimit -v ${Math.ceil(resources.memoryBytes / 1024)}`,
    `ulimit -f ${Math.ceil(resources.fileBytes / 512)}`,
  ].map((command) => `${command} 2>/dev/null`);
  return ['/bin/sh', ['-c', `${set.join('; ')}; exec "$0" "$@"`, executable, ...args]] as const;
}

/**
 * Runs a program without a shell, in a separate process group. The group is killed when a limit is exceeded, when the
 * signal is aborted, and when the program or this process ends, so that none of its descendants survives it.
 * @returns how it ended and its output, cut at the limit; never rejects
 */
export function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const { limits, signal } = request;
    const [executable, args] = limitedCommand(request, limits.resources);
    if (signal?.aborted) {
      resolve({ end: { kind: 'aborted' }, stdout: '', stderr: '' });
      return;
    }
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let bytes = 0;
    let end: ProcessEnd | undefined;
    let drain: NodeJS.Timeout | undefined;

    const child = startGroup(() => spawn(executable, args, { ...settings(request), stdio: ['ignore', 'pipe', 'pipe'] }));
    const { pid } = child;
    if (pid !== undefined) request.onStart?.(pid);
    const stop = (reason: ProcessEnd): void => {
      end ??= reason;
      killGroup(pid);
    };
    const timer = setTimeout(() => stop({ kind: 'time-limit' }), limits.milliseconds);
    const onAbort = (): void => stop({ kind: 'aborted' });
    signal?.addEventListener('abort', onAbort);
    const { resources } = limits;
    const unwatch =
      pid !== undefined && resources
        ? afterCpu(
            resources.cpuSeconds * 1000,
            () => cpuOf(pid),
            () => stop({ kind: 'time-limit' }),
          )
        : undefined;
    const finish = (): void => {
      unwatch?.();
      signal?.removeEventListener('abort', onAbort);
      clearTimeout(timer);
      clearTimeout(drain);
      const text = (parts: Buffer[]): string => Buffer.concat(parts).toString('utf8');
      resolve({
        end: end ?? { kind: 'not-started', reason: 'unknown' },
        stdout: text(output.stdout),
        stderr: text(output.stderr),
      });
    };

    for (const name of ['stdout', 'stderr'] as const) {
      child[name].on('data', (chunk: Buffer) => {
        const room = limits.outputBytes - bytes;
        bytes += chunk.length;
        if (room > 0) output[name].push(chunk.subarray(0, room));
        if (bytes > limits.outputBytes) stop({ kind: 'output-limit' });
      });
    }
    child.on('error', (error) => {
      end ??= { kind: 'not-started', reason: error.message };
      if (pid === undefined) finish();
    });
    child.on('exit', (code, signal) => {
      end ??= code === null ? { kind: 'signalled', signal: signal ?? 'unknown' } : { kind: 'exited', code };
      // A descendant that left the group may still have the pipes open.
      drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, drainTime);
    });
    child.on('close', finish);
  });
}

/** Output of a program of a session up to the requested line, or why it is missing. */
type SessionReply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'time-limit' }
  | { readonly kind: 'output-limit' }
  /** The program ended, or never started; `printed` is its last output. */
  | { readonly kind: 'ended'; readonly printed: string };

/**
 * A long-running program that is queried over its standard input, in a separate process group that is killed when it or
 * this process ends. It keeps this process alive only during a query.
 */
export class ProcessSession {
  readonly #child: ChildProcessWithoutNullStreams;
  #hasEnded = false;

  constructor(start: ProcessStart) {
    const { executable, args } = start;
    const child = startGroup(() => spawn(executable, args, { ...settings(start), stdio: 'pipe' }));
    this.#child = child;
    child.stdout.setEncoding('utf8');
    child.stderr.resume();
    child.on('close', () => {
      this.#hasEnded = true;
    });
    // The end of a program is detected by the next query.
    for (const emitter of [child, child.stdin, child.stdout, child.stderr]) emitter.on('error', () => {});
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) (handle as Partial<Socket>).unref?.();
  }

  /** Milliseconds of CPU time of the program; undefined if it has ended, or the system does not report it. */
  cpu(): number | undefined {
    const { pid } = this.#child;
    return pid === undefined ? undefined : cpuOf(pid);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /**
   * Writes to the program and waits for its output up to a mark. One query at a time.
   * @param text ends with a command that prints the mark
   * @param limits the milliseconds are CPU time of the program
   * @returns its output before the mark, trimmed; beyond a limit the program continues and has to be killed
   */
  ask(text: string, mark: string, { milliseconds, outputBytes }: ProcessLimits): Promise<SessionReply> {
    const child = this.#child;
    if (this.#hasEnded) return Promise.resolve({ kind: 'ended', printed: '' });
    return new Promise((resolve) => {
      const parts: string[] = [];
      let tail = '';
      let bytes = 0;
      const settle = (reply: SessionReply): void => {
        stop();
        child.stdout.off('data', onData);
        child.off('close', onClose).off('error', onClose);
        resolve(reply);
      };
      const onData = (part: string): void => {
        parts.push(part);
        bytes += part.length;
        // The mark may arrive in two parts, and the preceding output may be long: it is joined once.
        tail = (tail + part).slice(-2 * mark.length);
        if (tail.includes(mark)) {
          const printed = parts.join('');
          settle({ kind: 'text', text: printed.slice(0, printed.lastIndexOf(mark)).trim() });
        } else if (bytes > outputBytes) settle({ kind: 'output-limit' });
      };
      const onClose = (): void => settle({ kind: 'ended', printed: parts.join('') });
      const stop = afterCpu(
        Math.max(1, milliseconds),
        () => this.cpu(),
        () => settle({ kind: 'time-limit' }),
      );
      child.stdout.on('data', onData);
      child.on('close', onClose).on('error', onClose);
      child.stdin.write(text);
    });
  }

  /** Kills the program with its descendants, and waits until it is gone. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (this.#hasEnded || child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    killGroup(child.pid);
    await ended;
  }
}
