/**
 * Analyses a pull request in a separate process, because it compiles untrusted code. The process has no tokens, no
 * network if the system allows that, and limits on time and memory.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from '../report-model/report.ts';
import type { FileDiff } from '../source/diff.ts';
import type { TrustChange } from '../app/compare/trust-changes.ts';
import type { DefaultsText } from '../settings/configuration.ts';
import { runProcess, type ProcessEnd } from '../system/child-process.ts';
import { memoryOfTree } from '../system/process-memory.ts';

/** Request to the process, as a JSON file. */
export interface AnalysisRequest {
  readonly root: string;
  readonly base: string;
  readonly head: string;
  readonly diff: readonly FileDiff[];
  readonly fork: boolean;
  /** The configuration of the organisation for all its repositories. */
  readonly defaults?: DefaultsText | undefined;
}

/** Response of the process, as a JSON file. */
export type AnalysisAnswer =
  | {
      readonly report: Report;
      readonly trust: readonly TrustChange[];
      readonly sources: Readonly<Record<string, string>>;
      /** There is nothing to review. */
      readonly nothing?: string;
    }
  /** An error in the input of the analysis, such as an invalid configuration. */
  | { readonly wrong: string };

export type AnalysisResult = Exclude<AnalysisAnswer, { readonly wrong: string }>;

interface AnalysisLimits {
  /** Folder for the request and response files, and for the home folder of the process. */
  readonly temporary: string;
  /** The folder of results of earlier analyses. */
  readonly results: string;
  readonly searchPath: string;
  readonly milliseconds: number;
  /** Memory limit of the process and all its descendants. */
  readonly mebibytes: number;
  readonly signal: AbortSignal;
}

/** Thrown if an analysis has no result because of a limit or its input: a retry would have the same outcome. */
export class AnalysisEnded extends Error {
  readonly kind: 'limit' | 'usage';

  constructor(kind: AnalysisEnded['kind'], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Maximum bytes of the output of the process. */
const maxOutput = 8 << 20;
/** Milliseconds between two measurements of the memory of the process. */
const interval = 250;

/**
 * Runs an analysis.
 * @throws AnalysisEnded if it exceeds its limits, or its input is wrong
 */
export async function analyseConfined(request: AnalysisRequest, limits: AnalysisLimits): Promise<AnalysisResult> {
  const { temporary, results, searchPath, milliseconds, mebibytes, signal } = limits;
  const [asked, answer] = [join(temporary, 'request.json'), join(temporary, 'answer.json')];
  mkdirSync(temporary, { recursive: true });
  writeFileSync(asked, JSON.stringify(request));
  rmSync(answer, { force: true });
  const own = import.meta.url.endsWith('.ts') ? '../analyse.ts' : 'analyse.js';
  const entry = fileURLToPath(new URL(own, import.meta.url));
  const words = [process.execPath, `--max-old-space-size=${mebibytes}`, entry, asked, answer];
  const [executable, ...args] = [...(await confinement(searchPath)).words, ...words];
  const memory = new AbortController();
  let watch: NodeJS.Timeout | undefined;
  const { end, stderr } = await runProcess({
    executable: executable!,
    args,
    cwd: temporary,
    env: { PATH: searchPath, HOME: temporary, TMPDIR: temporary, SELVAGE_CACHE: results },
    limits: { milliseconds, outputBytes: maxOutput },
    signal: AbortSignal.any([signal, memory.signal]),
    onStart(pid) {
      watch = setInterval(() => {
        if ((memoryOfTree(pid) ?? 0) > mebibytes * 2 ** 20) memory.abort();
      }, interval);
    },
  });
  clearInterval(watch);
  if (end.kind !== 'exited' || end.code !== 0) {
    signal.throwIfAborted();
    const why = memory.signal.aborted ? `it took more than ${mebibytes} MiB of memory` : endText(end, milliseconds);
    const last = stderr
      .trim()
      .split('\n')
      .find((line) => /^\w*Error: /.test(line));
    throw new AnalysisEnded('limit', last === undefined ? why : `${why} (${last})`);
  }
  const told = JSON.parse(readFileSync(answer, 'utf8')) as AnalysisAnswer;
  if ('wrong' in told) throw new AnalysisEnded('usage', told.wrong);
  return told;
}

function endText(end: ProcessEnd, milliseconds: number): string {
  switch (end.kind) {
    case 'time-limit':
      return `it took more than ${milliseconds / 1000} s`;
    case 'exited':
      return `its process ended with exit code ${end.code}`;
    case 'signalled':
      return `its process was ended by ${end.signal}`;
    case 'output-limit':
    case 'aborted':
    case 'not-started':
      return `its process ended early: ${end.kind}`;
  }
}

/** How this system confines a command. */
export interface Confinement {
  /**
   * `full`: without network, and its descendants end with it; `network`: without network; `none`: an analysis can reach
   * the network.
   */
  readonly kind: 'full' | 'network' | 'none';
  /** Prefix of a command that confines it. */
  readonly words: readonly string[];
}

const forms = [
  { kind: 'full', words: ['/usr/bin/unshare', '-rnpf', '--kill-child'] },
  { kind: 'network', words: ['/usr/bin/unshare', '-rn'] },
] as const satisfies readonly Confinement[];

let known: Promise<Confinement> | undefined;

/**
 * The confinement that this system allows, determined once: a network namespace without connections, and a process
 * namespace.
 */
export function confinement(searchPath: string): Promise<Confinement> {
  known ??= (async () => {
    for (const form of forms) {
      const [executable, ...args] = form.words;
      const { end } = await runProcess({
        executable,
        args: [...args, 'true'],
        cwd: '/',
        env: { PATH: searchPath },
        limits: { milliseconds: 10_000, outputBytes: 1 << 16 },
      });
      if (end.kind === 'exited' && end.code === 0) return form;
    }
    return { kind: 'none', words: [] };
  })();
  return known;
}
