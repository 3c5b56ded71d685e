/**
 * Analyses a pull request in a process of its own: with no token in it, without network where the system allows that, and
 * with bounds on its time and memory. What it compiles is a stranger's.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from '../document/report.ts';
import type { FileDiff } from '../source/diff.ts';
import type { TrustChange } from '../app/compare/trust-changes.ts';
import { runProcess } from '../system/child-process.ts';

/** What the process is asked, as a file of JSON. */
export interface AnalysisRequest {
  readonly root: string;
  readonly base: string;
  readonly head: string;
  readonly diff: readonly FileDiff[];
  readonly fork: boolean;
}

/** What it answers, as a file of JSON. */
export interface AnalysisAnswer {
  readonly report: Report;
  readonly trust: readonly TrustChange[];
  readonly sources: Readonly<Record<string, string>>;
}

interface Confinement {
  /** For the two files, and the home folder of the process. */
  readonly temporary: string;
  /** The folder of results of earlier analyses. */
  readonly results: string;
  readonly searchPath: string;
  readonly milliseconds: number;
  readonly mebibytes: number;
  readonly signal: AbortSignal;
}

/** Bytes of what it prints. */
const mostOutput = 8 << 20;
let network: Promise<boolean> | undefined;

/**
 * Runs an analysis.
 * @throws Error where it does not come to its end within its bounds
 */
export async function analyseConfined(request: AnalysisRequest, confinement: Confinement): Promise<AnalysisAnswer> {
  const { temporary, results, searchPath, milliseconds, mebibytes, signal } = confinement;
  const [asked, answer] = [join(temporary, 'request.json'), join(temporary, 'answer.json')];
  mkdirSync(temporary, { recursive: true });
  writeFileSync(asked, JSON.stringify(request));
  rmSync(answer, { force: true });
  const own = import.meta.url.endsWith('.ts') ? '../analysis.ts' : 'analysis.js';
  const entry = fileURLToPath(new URL(own, import.meta.url));
  const env = { PATH: searchPath, HOME: temporary, SELVAGE_CACHE: results };
  const words = [process.execPath, `--max-old-space-size=${mebibytes}`, entry, asked, answer];
  const [executable, ...args] = (await mayCutNetwork(searchPath)) ? ['/usr/bin/unshare', '-rn', ...words] : words;
  const limits = { milliseconds, outputBytes: mostOutput };
  const { end, stderr } = await runProcess({ executable: executable!, args, cwd: temporary, env, limits, signal });
  if (end.kind !== 'exited' || end.code !== 0) {
    const why = end.kind === 'exited' ? `exit code ${end.code}` : end.kind;
    throw new Error(`the analysis ended early (${why}): ${stderr.trim().split('\n').at(-1) ?? ''}`);
  }
  return JSON.parse(readFileSync(answer, 'utf8')) as AnalysisAnswer;
}

/** Whether this system lets a process have a network of its own, which has no connections. */
function mayCutNetwork(searchPath: string): Promise<boolean> {
  network ??= runProcess({
    executable: '/usr/bin/unshare',
    args: ['-rn', 'true'],
    cwd: '/',
    env: { PATH: searchPath },
    limits: { milliseconds: 10_000, outputBytes: 1 << 16 },
  }).then(
    ({ end }) => end.kind === 'exited' && end.code === 0,
    () => false,
  );
  return network;
}
