/** Runs the programs of the suites of samples under a limit of CPU time, and times them. */
import { spawn } from 'node:child_process';

interface Ended {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Time of the process and its children, in seconds. */
  readonly cpu: number;
  readonly wall: number;
}

/** Exit codes of `timeout`, and of bash if a signal for too much CPU time, or SIGKILL, ends a program. */
export const endedByLimit = [124, 137, 152];

/**
 * Runs a program; bash times it with its descendants. The limit is one of CPU time, so that load does not end other
 * programs; a program that only waits is ended after a multiple of it.
 */
export function runLimited(seconds: number, program: string, args: readonly string[], cwd: string): Promise<Ended> {
  const script = 'ulimit -t "$0"; TIMEFORMAT="selvage-times %3R %3U %3S"; time timeout -k 10 "$((20 * $0))" "$@"';
  return new Promise((done, fail) => {
    const child = spawn('bash', ['-c', script, String(seconds), program, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (stdout += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (stderr += part));
    child.on('error', fail);
    child.on('close', (code) => {
      const times = /selvage-times (\S+) (\S+) (\S+)\s*$/.exec(stderr);
      const [wall = NaN, user = NaN, system = NaN] = (times ?? []).slice(1).map(Number);
      done({ status: code ?? 137, stdout, stderr: stderr.slice(0, times?.index), cpu: user + system, wall });
    });
  });
}
