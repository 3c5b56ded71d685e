/**
 * Checks generated CUDA kernels and compares the verdicts with the expectations of the generator, and with findings of
 * the interpreter in random launches. `node soundness.ts SEED COUNT [FOLDER]` prints the figures, saves the kernels
 * that fail in the folder, and exits with 1 if there are any. Needs nvcc.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { seededRandom } from '../../src/base/random.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CheckRequest, CheckResult } from '../../src/check/request/check-request.ts';
import type { DivergenceReport, RaceReport, ReportedRace } from '../../src/report-model/finding.ts';
import { divergenceReport, raceReport } from '../../src/messages/finding/verdict.ts';
import { findAssets } from '../../src/app/project/assets.ts';
import { defaultOptions, parseCommandLine } from '../../src/settings/options.ts';
import { checkProject } from '../../src/app/pipeline/project-check.ts';
import { openProject } from '../../src/app/build/open-project.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import type { Job } from '../../src/app/project/job.ts';
import type { BuiltText, UnitBuilder } from '../../src/app/project/unit-builder.ts';
import { type CheckFunction, checksBy } from '../app/workers/checks-by.ts';
import type { Progress } from '../../src/app/project/progress.ts';
import { isRunRace } from '../../src/report-model/run-report.ts';
import { runLaunch } from '../../src/app/run/run-job.ts';
import { type GeneratedKernel, generateKernel, preamble } from './cuda-kernel.ts';
import { type Discarded, runDrawn } from './drawn-launch.ts';
import { isAllowed, preconditionsOf } from './soundness-run.ts';
import { memoryFaultOf } from '../../src/verdict/memory-fault.ts';

/** Kernels of one unit: a start of nvcc costs more than a kernel. */
const unitKernels = 50;
const launchesEach = 20;
/** Thread-instructions after which the command of a finding is given up: broken locks wait forever. */
const mostSteps = 20_000_000;

/** One kernel under the stated launch, or under all launches. */
interface Checked {
  readonly mode: 'given' | 'symbolic';
  readonly request: CheckRequest;
  readonly result: Worded;
}

export interface Failure {
  readonly kernel: string;
  readonly kind: string;
  readonly text: string;
}

export interface Figures {
  kernels: number;
  readonly expected: Record<string, number>;
  /** Checks by mode and verdicts. */
  readonly verdicts: Record<string, number>;
  decided: number;
  checks: number;
  /** Reasons of undecided verdicts. */
  readonly reasons: Record<string, number>;
  /** Undecided verdicts by label. */
  readonly undecided: Record<string, number>;
  runs: number;
  /** Runs that cannot be evidence on the proof, by reason. */
  readonly discarded: Record<Discarded, number>;
  /** Runs that a proof was compared with, all of which satisfy its preconditions. */
  judged: number;
  /** Proofs under preconditions, by the text of these. */
  readonly preconditions: Record<string, number>;
  /** Proofs that were not compared with any run. */
  readonly unjudged: Record<string, number>;
  /** Kernels that are racy by construction and in which no run saw a race. */
  readonly unseen: Record<string, number>;
  replayed: number;
  /** Confirmed findings that no command line can show. */
  notReplayed: number;
  readonly failures: Failure[];
}

function count(table: Record<string, number>, key: string): void {
  table[key] = (table[key] ?? 0) + 1;
}

/** Builds each unit once. */
function once(builder: UnitBuilder): UnitBuilder {
  const built = new Map<string, Promise<BuiltText>>();
  return {
    ...builder,
    build(unit, kind, arch) {
      const key = `${unit.file} ${kind} ${arch}`;
      if (!built.has(key)) built.set(key, builder.build(unit, kind, arch));
      return built.get(key)!;
    },
  };
}

async function open(file: string): Promise<Job> {
  const job = await openProject({
    paths: [file],
    nvccArguments: [],
    // Clusters are of sm_90 and later.
    options: { ...defaultOptions(), timeout: 600_000, jobs: 1, arch: ['sm_90'] },
    progress: { log: () => undefined, defect: () => undefined },
    services: {
      cwd: dirname(file),
      environment: process.env,
      assets: findAssets(new URL('../../src/cli.ts', import.meta.url).href),
    },
  });
  return { ...job, project: { ...job.project, builder: once(job.project.builder) } };
}

const linesOf = ({ first, second }: Pick<ReportedRace, 'first' | 'second'>): string =>
  [first, second]
    .map(({ location }) => location?.line ?? 0)
    .sort((a, b) => a - b)
    .join(' and ');

/** Runs the command that a finding prints. Null if it reproduces the finding. */
async function reproduced(job: Job, finding: ReportedRace): Promise<string | null> {
  const words = [...finding.reproduce!.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, bare]) =>
    (quoted ?? bare!).replaceAll("'\\''", "'"),
  );
  const invocation = parseCommandLine(words.slice(1));
  if (invocation.kind !== 'command') return `${finding.reproduce} is not a command`;
  const { options } = invocation;
  const outcome = await runLaunch({
    job: {
      ...job,
      settings: { ...job.settings, options: { ...options, quiet: true, run: { ...options.run, steps: mostSteps } } },
    },
    cwd: job.project.tree.root,
    terminal: { write: () => undefined },
  });
  if (memoryFaultOf(finding.code)) {
    const faults = outcome.report?.findings.filter(({ code }) => code === finding.code) ?? [];
    if (faults.some((one) => 'location' in one && one.location?.line === finding.first.location?.line)) return null;
    return `${finding.code} of ${finding.array} on line ${finding.first.location?.line}, but ${finding.reproduce} does not show it`;
  }
  const races = outcome.report?.findings.filter(isRunRace) ?? [];
  if (races.some((race) => linesOf(race) === linesOf(finding) && race.array === finding.array)) return null;
  const shown = races.map((race) => `${race.array} lines ${linesOf(race)}`).join('; ');
  return `${finding.array} lines ${linesOf(finding)} is confirmed, but ${finding.reproduce} shows ${shown || outcome.report?.outcome}`;
}

interface Worded {
  readonly race: RaceReport;
  readonly divergence: DivergenceReport;
}

function worded({ race, divergence }: CheckResult): Worded {
  return { race: raceReport(race), divergence: divergenceReport(divergence) };
}

/** Contradictions between verdicts and the construction of the kernel. */
function contradictions({ race, divergence }: Checked['result'], kernel: GeneratedKernel, mode: Checked['mode']): string[] {
  const wrong: string[] = [];
  // Cases that preconditions exclude are checked by runs.
  const isExcluded = preconditionsOf([race, divergence]).length > 0;
  if (race.verdict === 'proved' && kernel.race === 'present' && !isExcluded) wrong.push('proved, and racy by construction');
  if (race.verdict === 'race' && kernel.race === 'absent') wrong.push('race, and right by construction');
  const misses = divergence.findings.some(({ code }) => code === 'barrier/early-exit');
  if (divergence.verdict === 'proved' && kernel.divergence === 'present' && !misses)
    wrong.push('free of divergence, and divergent by construction');
  if (divergence.verdict === 'divergent' && kernel.divergence === 'absent') wrong.push('divergent, and right by construction');
  const leaves = race.findings.some(({ code, confirmed }) => code === 'memory/out-of-bounds' && confirmed);
  if (mode === 'given' && kernel.bounds === 'left' && race.verdict === 'proved') wrong.push('proved, and out of bounds by construction');
  if (mode === 'given' && kernel.bounds === 'left' && race.verdict !== 'race' && !leaves)
    wrong.push('not reported out of bounds, which it is by construction');
  if (kernel.bounds === 'kept' && leaves) wrong.push('out of bounds, and within them by construction');
  return wrong;
}

/** Names and numbers out of a reason. */
function plain(reason: string): string {
  return reason.replaceAll(/\b[a-z]+_\d+\b/g, 'A').replaceAll(/\d+/g, '#');
}

/** Compiles kernels together, checks and judges them. */
export async function checkUnit(seed: number, kernels: readonly GeneratedKernel[], file: string, figures: Figures) {
  writeFileSync(file, `${preamble}\n${kernels.map(({ text }) => text).join('\n')}`);
  const job = await open(file);
  const checked = new Map<string, Checked[]>();
  const fail = (kernel: GeneratedKernel, kind: string, text: string): void => {
    figures.failures.push({ kernel: kernel.name, kind, text });
    const note = `// ${kind}: ${kernel.label}\n// ${text.replaceAll('\n', '\n// ')}\n`;
    writeFileSync(join(dirname(file), `${kind.replaceAll(/\W+/g, '-')}-${kernel.name}.cu`), note + preamble + kernel.text);
    console.error(`${kernel.name}: ${kind}: ${kernel.label}: ${text.slice(0, 600)}`);
  };
  const byName = new Map(kernels.map((kernel) => [kernel.name, kernel]));
  try {
    const check: CheckFunction = async (request) => {
      const started = performance.now();
      const result = await checkKernel(request);
      const kernel = byName.get(request.name)!;
      const list: Checked[] = [{ mode: 'given', request, result: worded(result) }];
      checked.set(request.name, list);
      if (kernel.isSymbolic) {
        const open: CheckRequest = {
          ...request,
          launch: { ...request.launch, source: 'symbolic', block: null, grid: null },
        };
        list.push({ mode: 'symbolic', request: open, result: worded(await checkKernel(open)) });
      }
      const time = performance.now() - started;
      if (time > 15_000) console.error(`${request.name} took ${Math.round(time)} ms: ${kernel.label}`);
      return result;
    };
    const progress: Progress = {
      ...job.tools.progress,
      defect: ({ kernel, error }) =>
        fail(
          byName.get(kernel.replace(/\(.*/, '')) ?? kernels[0]!,
          'internal error',
          error instanceof Error ? (error.stack ?? '') : String(error),
        ),
    };
    const report = await checkProject({ ...job, tools: { ...job.tools, progress, openChecks: checksBy(check) } });
    const errors = report.diagnostics.filter(({ severity }) => severity === 'error');
    if (errors.length > 0) console.error(errors.map(({ message, location }) => `${location?.line}: ${message}`).join('\n'));
    const reports = new Map(report.kernels.map((one) => [one.name.replace(/\(.*/, ''), one]));
    for (const [at, kernel] of kernels.entries()) {
      const entry = reports.get(kernel.name);
      if (!entry) throw new Error(`no report on ${kernel.name}`);
      await classify(kernel, entry, checked.get(kernel.name) ?? [], {
        seed: seed + at,
        folder: dirname(file),
        job,
        figures,
        fail,
      });
    }
  } finally {
    await job.project.builder.close();
  }
}

interface Court {
  readonly seed: number;
  readonly folder: string;
  readonly job: Job;
  readonly figures: Figures;
  readonly fail: (kernel: GeneratedKernel, kind: string, text: string) => void;
}

async function classify(
  kernel: GeneratedKernel,
  report: KernelReport,
  checks: readonly Checked[],
  { seed, folder, job, figures, fail }: Court,
) {
  figures.kernels++;
  count(figures.expected, kernel.race);
  for (const { mode, request, result } of checks) {
    const { race, divergence } = mode === 'given' ? report : result;
    figures.checks++;
    count(figures.verdicts, `${mode}: ${race.verdict}/${divergence.verdict}, race ${kernel.race}`);
    if (race.verdict === 'proved' || race.verdict === 'race' || divergence.verdict === 'divergent') figures.decided++;
    else {
      count(figures.reasons, `${mode} ${race.verdict}: ${plain(race.reason ?? '')}`);
      count(figures.undecided, `${mode} ${kernel.race}: ${kernel.label}`);
      const why = `// ${mode}: ${kernel.label}\n// ${race.verdict}: ${race.reason}; ${race.findings[0]?.message}\n`;
      writeFileSync(join(folder, `undecided-${kernel.name}.cu`), why + preamble + kernel.text);
    }
    for (const wrong of contradictions({ race, divergence }, kernel, mode))
      fail(kernel, `${mode} ${wrong}`, JSON.stringify([race.findings[0]?.message, divergence.findings[0]?.message]));
    const random = seededRandom(seed * 7 + 3);
    const preconditions = preconditionsOf([race, divergence]);
    for (const { text } of preconditions) count(figures.preconditions, plain(text));
    const context = kernelContext({ ...request, assumptions: [...request.assumptions, ...preconditions] });
    const isProved = race.verdict === 'proved' || divergence.verdict === 'proved';
    let racing = 0;
    let diverging = 0;
    let judged = 0;
    let outside = 0;
    for (let number = 0; number < launchesEach; number++) {
      const seen = runDrawn(context, kernel, random);
      figures.runs++;
      if (typeof seen === 'string') {
        figures.discarded[seen]++;
        if (seen === 'out of bounds') outside++;
        continue;
      }
      judged++;
      if (seen.race && racing++ === 0) {
        const text = `${JSON.stringify(seen.race)} in ${seen.launch}`;
        if (race.verdict === 'proved' && !isAllowed(seen.race, race.assumptions)) fail(kernel, `${mode} proved, and seen racing`, text);
        else if (kernel.race === 'absent') fail(kernel, `${mode} right by construction, and seen racing`, text);
      }
      if (seen.divergence && diverging++ === 0) {
        const text = `${JSON.stringify(seen.divergence)} in ${seen.launch}`;
        if (divergence.verdict === 'proved') fail(kernel, `${mode} free of divergence, and seen diverging`, text);
        else if (kernel.divergence === 'absent') fail(kernel, `${mode} right by construction, and seen diverging`, text);
      }
    }
    if (isProved) figures.judged += judged;
    if (isProved && judged === 0) count(figures.unjudged, `${mode}: ${kernel.label}`);
    // An assumption is about whole executions: one that every run violates is incorrect (of sizes, some may satisfy
    // it).
    const isAllGiven = mode === 'given' && context.fields.every((field) => field.isPointer || request.launch.scalars.has(field.index));
    if (race.verdict === 'proved' && isAllGiven && outside === launchesEach)
      fail(kernel, `${mode} proved, and out of bounds in every run`, '');
    if (racing === 0 && kernel.race === 'present') count(figures.unseen, `${mode} ${race.verdict}: ${kernel.label}`);
    if (racing > 0 && race.verdict !== 'race') count(figures.unseen, `${mode} seen by runs, and ${race.verdict}: ${kernel.label}`);
  }
  for (const finding of report.race.findings.filter(({ confirmed }) => confirmed).slice(0, 3)) {
    if (finding.reproduce === undefined) {
      figures.notReplayed++;
      continue;
    }
    figures.replayed++;
    const text = await reproduced(job, finding);
    if (text !== null) fail(kernel, 'does not replay', text);
  }
}

/** Figures before the first kernel. */
export function noFigures(): Figures {
  return {
    kernels: 0,
    expected: {},
    verdicts: {},
    decided: 0,
    checks: 0,
    reasons: {},
    undecided: {},
    runs: 0,
    discarded: { unmet: 0, 'out of bounds': 0, broken: 0 },
    judged: 0,
    preconditions: {},
    unjudged: {},
    unseen: {},
    replayed: 0,
    notReplayed: 0,
    failures: [],
  };
}

/** Generates and judges `number` kernels. */
export async function judgeKernels(seed: number, number: number, folder: string): Promise<Figures> {
  const figures = noFigures();
  for (let first = 0; first < number; first += unitKernels) {
    const kernels = Array.from({ length: Math.min(unitKernels, number - first) }, (_, at) => {
      const own = seed * 1_000_003 + first + at;
      return generateKernel(seededRandom(own), `k${seed}_${first + at}`);
    });
    await checkUnit(seed * 1_000_003 + first, kernels, join(folder, `unit-${seed}-${first}.cu`), figures);
    const share = ((100 * figures.decided) / figures.checks).toFixed(1);
    console.error(`${figures.kernels} kernels, ${share} % decided, ${figures.failures.length} failures`);
  }
  return figures;
}

function sorted(table: Readonly<Record<string, number>>): string {
  return Object.entries(table)
    .sort(([, a], [, b]) => b - a)
    .map(([key, value]) => `  ${String(value).padStart(6)}  ${key}`)
    .join('\n');
}

if (import.meta.main) {
  const [seed = '1', number = '3000', folder = mkdtempSync(join(tmpdir(), 'selvage-soundness-'))] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  const figures = await judgeKernels(Number(seed), Number(number), folder);
  const { kernels, checks, decided, runs, discarded, judged, replayed, notReplayed, failures } = figures;
  console.log(`${kernels} kernels (by construction: ${JSON.stringify(figures.expected)}), ${checks} checks`);
  console.log(`decided: ${decided} (${((100 * decided) / checks).toFixed(1)} %)`);
  console.log(`verdicts (race/divergence):\n${sorted(figures.verdicts)}`);
  console.log(`reasons:\n${sorted(figures.reasons)}`);
  console.log(`not decided:\n${sorted(figures.undecided)}`);
  console.log(`no race seen, or seen and not confirmed:\n${sorted(figures.unseen)}`);
  console.log(`${runs} runs, ${judged} of them of what is proved and within its preconditions; discarded: ${JSON.stringify(discarded)}`);
  console.log(`preconditions of proofs:\n${sorted(figures.preconditions)}`);
  console.log(`proofs without a run to compare with:\n${sorted(figures.unjudged)}`);
  console.log(`${replayed} findings run again by their command, ${notReplayed} without one`);
  console.log(`failures: ${failures.length}, in ${folder}`);
  const kinds: Record<string, number> = {};
  for (const { kind } of failures) count(kinds, kind);
  console.log(sorted(kinds));
  process.exitCode = failures.length > 0 ? 1 : 0;
}
