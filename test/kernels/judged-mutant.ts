/** Checks and evaluates mutants: those of the test kernels, and those of the samples of CUDA. */
import { seededRandom } from '../../src/base/random.ts';
import { openProject } from '../../src/app/build/open-project.ts';
import { checkProject } from '../../src/app/pipeline/project-check.ts';
import { findAssets } from '../../src/app/project/assets.ts';
import type { BuiltText, UnitBuilder } from '../../src/app/project/unit-builder.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CheckRequest, CheckResult } from '../../src/check/request/check-request.ts';
import { nothingOpen } from '../../src/check/request/check-request.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { defaultOptions } from '../../src/settings/options.ts';
import { checksBy } from '../app/workers/checks-by.ts';
import { type Part, type Site, parts } from './source-mutation.ts';
import { type Shown, type Told, rightSeverities, severities, sightsOf } from './wanted-severity.ts';

/** A unit on disk, one kernel of which is checked. */
export interface MutantUnit {
  /** Where the check is started. */
  readonly folder: string;
  readonly path: string;
  readonly arch: string;
  readonly nvccArguments: readonly string[];
  /** Without namespace, template arguments and parameters. */
  readonly kernel: string;
}

export interface CheckedMutant {
  readonly requests: readonly CheckRequest[];
  readonly reports: readonly KernelReport[];
  /** PTX of the verification build. */
  readonly ptx: string;
}

/** Results of runs of a mutant, and the report of the check. */
export interface Judgement {
  readonly shown: readonly Shown[];
  readonly verdicts: string;
  readonly right: readonly Told[];
  readonly told: Told;
  /** Properties that are proved although a run refutes them. */
  readonly wrong: readonly string[];
  readonly runs: number;
  /** Whether the block does not divide some size. */
  readonly hasRest: boolean;
}

export interface Tally {
  mutants: number;
  refuted: number;
  /** Refuted, and proved. */
  wrong: number;
  /** Refuted, and of the correct severity. */
  right: number;
  runs: number;
  /** The mutants with some size that the block does not divide. */
  rest: number;
}

export type Tallies = Readonly<Partial<Record<Part, Tally>>>;

const skipped: CheckResult = {
  race: { verdict: 'skipped', findings: [] },
  divergence: { verdict: 'skipped', findings: [] },
  open: nothingOpen,
};

/** The name of a kernel without namespace, template arguments and parameters. */
export function plainName(name: string): string {
  return name.replace(/[<(].*$/s, '').replace(/^.*::/, '');
}

/** The text without places in the source. */
export function withoutPlaces(ptx: string): string {
  return ptx.replaceAll(/^\s*\.(?:loc|file)\b.*$/gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

/**
 * Checks the instances of one kernel of a unit.
 * @param isWanted gets the PTX; if it returns false, nothing is checked
 * @returns null if the unit does not compile, or is not wanted
 */
export async function checkMutant(
  { folder, path, arch, nvccArguments, kernel }: MutantUnit,
  isWanted: (ptx: string) => boolean = () => true,
): Promise<CheckedMutant | null> {
  const requests: CheckRequest[] = [];
  const built: BuiltText[] = [];
  const job = await openProject({
    paths: [path],
    nvccArguments,
    options: { ...defaultOptions(), timeout: 600_000, jobs: 1, checks: ['race', 'divergence'], arch: [arch] },
    progress: {
      log: () => undefined,
      defect: ({ error }) => {
        throw error;
      },
    },
    services: {
      cwd: folder,
      environment: process.env,
      assets: findAssets(new URL('../../src/cli.ts', import.meta.url).href),
    },
  });
  const { builder } = job.project;
  try {
    for (const unit of job.project.units) built.push(await builder.build(unit, 'verification', arch));
    const [first] = built;
    const ptx = first?.ptx;
    if (first === undefined || ptx === undefined || !isWanted(ptx)) return null;
    // The production build comes with the host program: macros of other folders give launches their shared memory.
    const once: UnitBuilder = {
      ...builder,
      build: async (unit, kind, ...rest) => (kind === 'verification' ? first : builder.build(unit, kind, ...rest)),
    };
    const report = await checkProject({
      ...job,
      project: { ...job.project, builder: once },
      tools: {
        ...job.tools,
        openChecks: checksBy(async (request) => {
          if (plainName(request.name) !== kernel) return skipped;
          requests.push(request);
          return checkKernel(request);
        }),
      },
    });
    return { requests, reports: report.kernels.filter(({ name }) => plainName(name) === kernel), ptx };
  } finally {
    await builder.close();
  }
}

/**
 * Runs the requests of a mutant, and compares its reports with the runs.
 * @param steps after which a run ends
 */
export function judgementOf(requests: readonly CheckRequest[], reports: readonly KernelReport[], steps?: number): Judgement {
  const shown: Shown[] = [];
  const wrong: string[] = [];
  let runs = 0;
  let hasRest = false;
  for (const request of requests) {
    const sights = sightsOf(request, steps);
    runs += sights.runs;
    hasRest ||= sights.hasRest;
    shown.push(...sights.shown);
    // Instances of a template have separate verdicts.
    const report = reports.find(({ name }) => name === request.name || name.startsWith(`${request.name}(`));
    for (const { what, right, text } of sights.shown)
      if (!right.includes('none') && report?.[what === 'divergence' ? 'divergence' : 'race'].verdict === 'proved') wrong.push(text);
  }
  const verdicts = reports.map(({ race, divergence }) => `${race.verdict}/${divergence.verdict}`).join();
  return { shown, verdicts, right: rightSeverities(shown), told: toldOf(reports), wrong, runs, hasRest };
}

/** The worst finding of a kernel; early exits do not count, which are harmless. */
function toldOf(reports: readonly KernelReport[]): Told {
  const findings = reports.flatMap(({ race, divergence }) => [...race.findings, ...divergence.findings]);
  const told = findings.filter(({ code }) => code !== 'barrier/early-exit').map(({ severity }): Told => severity);
  const isOpen = reports.some(({ race, divergence }) => race.verdict !== 'proved' || divergence.verdict !== 'proved');
  return severities.findLast((severity) => told.includes(severity)) ?? (isOpen ? 'notice' : 'none');
}

export function isRefuted({ shown }: Judgement): boolean {
  return shown.some(({ right }) => !right.includes('none'));
}

export function isRight({ right, told }: Judgement): boolean {
  return right.includes(told);
}

export function emptyTally(): Tally {
  return { mutants: 0, refuted: 0, wrong: 0, right: 0, runs: 0, rest: 0 };
}

export function count(tally: Tally, judgement: Judgement): void {
  tally.mutants++;
  tally.runs += judgement.runs;
  if (judgement.hasRest) tally.rest++;
  if (!isRefuted(judgement)) return;
  tally.refuted++;
  if (judgement.wrong.length > 0) tally.wrong++;
  if (isRight(judgement)) tally.right++;
}

/** The changes of one part, in an order in which every kernel has the same probability. */
export function shuffledSites<O extends { readonly file: string; readonly sites: readonly Site[] }>(
  all: readonly O[],
  part: Part,
  seed: number,
): { readonly original: O; readonly site: Site }[] {
  const random = seededRandom(seed * 31 + parts.indexOf(part));
  const kernels = new Map<string, { original: O; site: Site }[]>();
  for (const original of all)
    for (const site of original.sites) {
      if (site.part !== part) continue;
      const key = `${original.file} ${site.kernel}`;
      kernels.set(key, [...(kernels.get(key) ?? []), { original, site }]);
    }
  const list: { original: O; site: Site }[] = [];
  const left = [...kernels.values()];
  while (left.length > 0) {
    const at = random.below(left.length);
    const sites = left[at]!;
    list.push(...sites.splice(random.below(sites.length), 1));
    if (sites.length === 0) left.splice(at, 1);
  }
  return list;
}

/** `FILE:LINE KERNEL`, and the change. */
export function siteText(
  file: string,
  text: string,
  { from, to, kernel, text: other }: Site,
): { readonly name: string; readonly change: string } {
  const line = text.slice(0, from).split('\n').length;
  return { name: `${file}:${line} ${kernel}`, change: `${text.slice(from, to).replaceAll(/\s+/g, ' ')} => ${other}` };
}

/** The result of a mutant, with the results of its runs if the check misses it. */
export function outcomeText(part: Part, name: string, change: string, judgement: Judgement): string {
  const { verdicts, told, right, wrong, shown } = judgement;
  const label = wrong.length > 0 ? 'WRONG PROOF' : !isRefuted(judgement) ? 'not refuted' : isRight(judgement) ? 'right' : 'MISS';
  const first = `${label}: ${part} ${name}: ${change}: ${verdicts}, reported ${told}${isRefuted(judgement) ? `, correct is ${right.join(' or ')}` : ''}`;
  const isMissed = wrong.length > 0 || (isRefuted(judgement) && !isRight(judgement));
  return [first, ...(isMissed ? shown.slice(0, 6).map(({ text, right: own }) => `    ${own.join(' or ')}: ${text}`) : [])].join('\n');
}

/** The table by part. */
export function tableText(tallies: Tallies): string {
  const columns = ['mutants', 'refuted', 'wrong', 'right', 'runs', 'rest'] as const;
  const sums = Object.fromEntries(columns.map((column) => [column, sumOf(tallies, column)])) as unknown as Tally;
  const row = (name: string, tally: Tally): string =>
    [
      name.padEnd(8),
      ...columns.map((column) => String(tally[column]).padStart(8)),
      `${((100 * tally.right) / Math.max(1, tally.refuted)).toFixed(1)} %`.padStart(9),
    ].join(' ');
  return [
    ['part    ', ...columns.map((column) => column.padStart(8)), '  severity'].join(' '),
    ...Object.entries(tallies).map(([part, tally]) => row(part, tally)),
    row('all', sums),
  ].join('\n');
}

/** Whether nothing refuted is proved, and 90 % of the refuted mutants have the correct severity. */
export function isGood(tallies: Tallies): boolean {
  return sumOf(tallies, 'wrong') === 0 && sumOf(tallies, 'right') >= 0.9 * sumOf(tallies, 'refuted');
}

export function sumOf(tallies: Tallies, column: keyof Tally): number {
  return Object.values(tallies).reduce((total, tally) => total + tally[column], 0);
}
