import { spawn } from 'node:child_process';

export interface ProcessLimits {
  /** Wall clock, in milliseconds. */
  readonly milliseconds: number;
  /** Standard output and standard error together, in bytes. */
  readonly outputBytes: number;
}

export interface ProcessRequest {
  /** Absolute path. */
  readonly executable: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of it: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
}

export type ProcessEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'signalled'; readonly signal: string }
  | { readonly kind: 'time-limit' }
  | { readonly kind: 'output-limit' }
  | { readonly kind: 'not-started'; readonly reason: string };

export interface ProcessResult {
  readonly end: ProcessEnd;
  readonly stdout: string;
  readonly stderr: string;
}

/** How long the pipes may stay open after the process has ended, in milliseconds. */
const drainTime = 1000;

/**
 * Runs a program without a shell, in a process group of its own. The group is killed when a limit is passed, and when
 * the program ends, so that nothing it started outlives it.
 * @returns how it ended and what it wrote, cut at the limit; never rejects
 */
export function runProcess(request: ProcessRequest): Promise<ProcessResult> {
  return new Promise((resolve) => {
    const { executable, args, cwd, env, limits } = request;
    const output = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let bytes = 0;
    let end: ProcessEnd | undefined;
    let drain: NodeJS.Timeout | undefined;

    const child = spawn(executable, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const killGroup = (): void => {
      if (child.pid === undefined) return;
      try {
        process.kill(-child.pid, 'SIGKILL');
      } catch {
        // Already gone.
      }
    };
    const stop = (reason: ProcessEnd): void => {
      end ??= reason;
      killGroup();
    };
    const timer = setTimeout(() => stop({ kind: 'time-limit' }), limits.milliseconds);
    const finish = (): void => {
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
      if (child.pid === undefined) finish();
    });
    child.on('exit', (code, signal) => {
      end ??= code === null ? { kind: 'signalled', signal: signal ?? 'unknown' } : { kind: 'exited', code };
      killGroup();
      // A descendant that left the group may still hold the pipes.
      drain = setTimeout(() => {
        child.stdout.destroy();
        child.stderr.destroy();
      }, drainTime);
    });
    child.on('close', finish);
  });
}
