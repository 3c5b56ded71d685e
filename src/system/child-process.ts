import { spawn } from 'node:child_process';

export interface ProcessLimits {
  /** Wall clock, in milliseconds. */
  readonly milliseconds: number;
  /** Standard output and standard error together, in bytes. */
  readonly outputBytes: number;
}

interface ProcessRequest {
  /** Absolute path. */
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
  /** Ends the program when it is aborted. */
  readonly signal?: AbortSignal | undefined;
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

/** How long the pipes may stay open after the process has ended, in milliseconds. */
const drainTime = 1000;

/** The process groups that are running. No terminal and no shell knows them, so they would outlive an exit of ours. */
const groups = new Set<number>();

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // Already gone.
  }
}

process.on('exit', () => groups.forEach(killGroup));

/**
 * Runs a program without a shell, in a process group of its own. The group is killed when a limit is passed, when the
 * signal is aborted, and when the program or this process ends, so that nothing it started outlives it.
 * @returns how it ended and what it wrote, cut at the limit; never rejects
 */
export function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const { executable, args, cwd, env, limits, signal } = request;
    if (signal?.aborted) {
      resolve({ end: { kind: 'aborted' }, stdout: '', stderr: '' });
      return;
    }
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let bytes = 0;
    let end: ProcessEnd | undefined;
    let drain: NodeJS.Timeout | undefined;

    const child = spawn(executable, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const { pid } = child;
    if (pid !== undefined) groups.add(pid);
    const stop = (reason: ProcessEnd): void => {
      end ??= reason;
      if (pid !== undefined) killGroup(pid);
    };
    const timer = setTimeout(() => stop({ kind: 'time-limit' }), limits.milliseconds);
    const onAbort = (): void => stop({ kind: 'aborted' });
    signal?.addEventListener('abort', onAbort);
    const finish = (): void => {
      if (pid !== undefined) groups.delete(pid);
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
      if (pid !== undefined) killGroup(pid);
      // A descendant that left the group may still hold the pipes.
      drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, drainTime);
    });
    child.on('close', finish);
  });
}
