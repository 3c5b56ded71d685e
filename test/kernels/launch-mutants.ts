/**
 * Mutants of all test kernels that have a launch: a barrier, a guard, a stride, an atomic or an index of the source is
 * changed, a hundred times each, whether the kernel was right or not. Each mutant is checked, and run at three sizes, in
 * four schedules and with three contents. Of each that a run refutes nothing may be proved that the run refutes, and it
 * must get the severity of section 2 of the design: `wanted-severity.ts` says how that follows from the runs.
 *
 * `node test/kernels/launch-mutants.ts [SEED [EACH]] [--part K/N]` prints the table by part and the misses, and exits
 * with 1 where something refuted is proved, or less than 90 % of the severities are right. Needs nvcc; all 500 take half
 * an hour.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { seededRandom } from '../../src/base/random.ts';
import { checkProject } from '../../src/app/pipeline/check.ts';
import { openProject } from '../../src/app/build/open-project.ts';
import { findAssets } from '../../src/app/project/assets.ts';
import type { BuiltText } from '../../src/app/project/unit-builder.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CheckRequest, CheckResult } from '../../src/check/question/request.ts';
import type { KernelReport } from '../../src/document/report.ts';
import { nothingOpen } from '../../src/check/question/request.ts';
import { defaultOptions } from '../../src/settings/options.ts';
import { checksBy } from '../app/workers/checks-by.ts';
import { requestsOf } from '../fuzz/soundness-run.ts';
import { checkedInPtx } from './checked-in.ts';
import { kernelFiles, root } from './portable-ptx.ts';
import { type Part, type Site, changed, parts, sitesOf } from './source-mutation.ts';
import { type Shown, type Told, rightSeverities, severities, sightsOf } from './wanted-severity.ts';

/** What became of a mutant. */
interface Outcome {
  readonly name: string;
  readonly part: Part;
  /** What was changed into what. */
  readonly change: string;
  readonly shown: readonly Shown[];
  readonly verdicts: string;
  readonly right: readonly Told[];
  readonly told: Told;
  /** What is proved although a run refutes it. */
  readonly wrong: readonly string[];
}

export interface Tally {
  mutants: number;
  refuted: number;
  /** Refuted, and proved. */
  wrong: number;
  /** Refuted, and of the right severity. */
  right: number;
  runs: number;
  /** Of all mutants, those with some size that is no multiple of the block. */
  rest: number;
}

interface Checked {
  readonly requests: readonly CheckRequest[];
  readonly reports: readonly KernelReport[];
  /** Of the verification build. */
  readonly ptx: string;
}

const skipped: CheckResult = {
  race: { verdict: 'skipped', findings: [] },
  divergence: { verdict: 'skipped', findings: [] },
  open: nothingOpen,
};

/** The name of a kernel without namespace, template arguments and parameters. */
function plainName(name: string): string {
  return name.replace(/[<(].*$/s, '').replace(/^.*::/, '');
}

/**
 * Checks the kernels of a text.
 * @param kernel the one that is checked
 * @returns null where it does not compile
 */
async function checkText(text: string, file: string, kernel: string): Promise<Checked | null> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-mutant-')));
  const path = join(folder, basename(file));
  writeFileSync(path, text);
  const arch = /^\/\/ options: --arch (\S+)$/m.exec(text)?.[1];
  const requests: CheckRequest[] = [];
  const built: BuiltText[] = [];
  try {
    const job = await openProject({
      paths: [path],
      nvccArguments: [],
      options: { ...defaultOptions(), timeout: 600_000, jobs: 1, checks: ['race', 'divergence'], arch: [arch ?? 'sm_80'] }, // prettier-ignore
      progress: { log: () => undefined, defect: ({ error }) => { throw error; } }, // prettier-ignore
      services: {
        cwd: folder,
        environment: process.env,
        assets: findAssets(new URL('../../src/cli.ts', import.meta.url).href),
      },
    });
    const { builder } = job.project;
    try {
      const report = await checkProject({
        ...job,
        project: {
          ...job.project,
          builder: {
            ...builder,
            // One build stands for both: the mutant is in both alike.
            build: async (unit, _kind, architecture) => (built[0] ??= await builder.build(unit, 'verification', architecture)), // prettier-ignore
          },
        },
        tools: {
          ...job.tools,
          openChecks: checksBy(async (request) => {
            if (plainName(request.name) !== kernel) return skipped;
            requests.push(request);
            return checkKernel(request);
          }),
        },
      });
      const ptx = built[0]?.ptx;
      if (ptx === undefined) return null;
      return { requests, reports: report.kernels.filter(({ name }) => plainName(name) === kernel), ptx };
    } finally {
      await builder.close();
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A file, and the changes that can be made to its kernels whose launch is known. */
interface Original {
  readonly file: string;
  readonly text: string;
  /** Of the verification build, where it is at hand. */
  readonly ptx: string | null;
  readonly sites: readonly Site[];
}

/** The kernels of the test kernels are told by their checked-in PTX, which takes no compiler; those of others by their text. */
async function originals(): Promise<Original[]> {
  const checkedIn = kernelFiles();
  const found: Original[] = [];
  for (const file of [...checkedIn, ...kernelFiles(join(root, 'test/verdicts/launched'))]) {
    const text = readFileSync(join(root, file), 'utf8');
    const isCheckedIn = checkedIn.includes(file);
    const launched = isCheckedIn
      ? (await requestsOf(file)).filter(({ launch }) => launch.block !== null && launch.grid !== null).map(({ name }) => plainName(name)) // prettier-ignore
      : [...text.matchAll(/(\w+)(?:<[^<>;]*>)?\s*<<</g)].map(([, name]) => name!);
    const sites = sitesOf(text).filter(({ kernel }) => launched.includes(kernel));
    found.push({ file, text, ptx: isCheckedIn ? checkedInPtx(file, 'verification') : null, sites });
  }
  return found;
}

function withoutPlaces(ptx: string): string {
  return ptx.replaceAll(/^\s*\.(?:loc|file)\b.*$/gm, '').replaceAll(/^\s*\/\/.*$/gm, '');
}

/** The changes of one part, in an order in which every kernel has the same chance. */
function shuffled(
  all: readonly Original[],
  part: Part,
  seed: number,
): { readonly original: Original; readonly site: Site }[] {
  const random = seededRandom(seed * 31 + parts.indexOf(part));
  const kernels = new Map<string, { original: Original; site: Site }[]>();
  for (const original of all)
    for (const site of original.sites) {
      if (site.part !== part) continue;
      const key = `${original.file} ${site.kernel}`;
      kernels.set(key, [...(kernels.get(key) ?? []), { original, site }]);
    }
  const list: { original: Original; site: Site }[] = [];
  const left = [...kernels.values()];
  while (left.length > 0) {
    const at = random.below(left.length);
    const sites = left[at]!;
    list.push(...sites.splice(random.below(sites.length), 1));
    if (sites.length === 0) left.splice(at, 1);
  }
  return list;
}

async function judged(
  { original, site }: { readonly original: Original; readonly site: Site },
  tally: Tally,
): Promise<Outcome | null> {
  const { file, text } = original;
  const checked = await checkText(changed(text, site), file, site.kernel);
  if (!checked) return null;
  if (original.ptx !== null && withoutPlaces(checked.ptx) === withoutPlaces(original.ptx)) return null;
  const requests = checked.requests.filter(({ launch }) => launch.block !== null && launch.grid !== null);
  tally.mutants++;
  const shown: Shown[] = [];
  const wrong: string[] = [];
  let hasRest = false;
  for (const request of requests) {
    const sights = sightsOf(request);
    tally.runs += sights.runs;
    hasRest ||= sights.hasRest;
    shown.push(...sights.shown);
    // Instances of a template have verdicts of their own.
    const report = checked.reports.find(({ name }) => name === request.name || name.startsWith(`${request.name}(`));
    for (const { what, right, text: seen } of sights.shown)
      if (!right.includes('none') && report?.[what === 'divergence' ? 'divergence' : 'race'].verdict === 'proved') wrong.push(seen); // prettier-ignore
  }
  if (hasRest) tally.rest++;
  const verdicts = checked.reports.map(({ race, divergence }) => `${race.verdict}/${divergence.verdict}`).join();
  const line = text.slice(0, site.from).split('\n').length;
  const change = `${text.slice(site.from, site.to).replaceAll(/\s+/g, ' ')} => ${site.text}`;
  return {
    name: `${file}:${line} ${site.kernel}`,
    part: site.part,
    change,
    shown,
    verdicts,
    right: rightSeverities(shown),
    told: toldOf(checked.reports),
    wrong,
  };
}

/** The worst that is told of a kernel; early exits do not count, which are no fault. */
function toldOf(reports: readonly KernelReport[]): Told {
  const findings = reports.flatMap(({ race, divergence }) => [...race.findings, ...divergence.findings]);
  const told = findings.filter(({ code }) => code !== 'barrier/early-exit').map(({ severity }): Told => severity);
  const isOpen = reports.some(({ race, divergence }) => race.verdict !== 'proved' || divergence.verdict !== 'proved');
  return severities.findLast((severity) => told.includes(severity)) ?? (isOpen ? 'notice' : 'none');
}

/**
 * Draws and judges mutants.
 * @param each mutants of each part
 * @param share which of them: every `of`-th, from `number` on
 */
export async function judgeMutants(
  seed: number,
  each: number,
  share: { readonly number: number; readonly of: number },
  onOutcome: (outcome: Outcome) => void,
): Promise<Readonly<Record<Part, Tally>>> {
  const all = await originals();
  const tallies = Object.fromEntries(parts.map((part) => [part, { mutants: 0, refuted: 0, wrong: 0, right: 0, runs: 0, rest: 0 }])) as Record<Part, Tally>; // prettier-ignore
  for (const part of parts) {
    const list = shuffled(all, part, seed);
    const tally = tallies[part];
    for (let number = share.number; number < each; number += share.of) {
      // Where a change does not compile, or changes nothing, another one takes its place.
      for (let at = number; at < list.length; at += each) {
        const outcome = await judged(list[at]!, tally);
        if (!outcome) continue;
        if (outcome.shown.some(({ right }) => !right.includes('none'))) {
          tally.refuted++;
          if (outcome.wrong.length > 0) tally.wrong++;
          if (outcome.right.includes(outcome.told)) tally.right++;
        }
        onOutcome(outcome);
        break;
      }
    }
  }
  return tallies;
}

/** The table by part. */
export function tableText(tallies: Readonly<Record<Part, Tally>>): string {
  const columns = ['mutants', 'refuted', 'wrong', 'right', 'runs', 'rest'] as const;
  const sums = Object.fromEntries(columns.map((column) => [column, parts.reduce((sum, part) => sum + tallies[part][column], 0)])) as unknown as Tally; // prettier-ignore
  const row = (name: string, tally: Tally): string =>
    [name.padEnd(8), ...columns.map((column) => String(tally[column]).padStart(8)), `${((100 * tally.right) / Math.max(1, tally.refuted)).toFixed(1)} %`.padStart(9)].join(' '); // prettier-ignore
  return [
    ['part    ', ...columns.map((column) => column.padStart(8)), '  severity'].join(' '),
    ...parts.map((part) => row(part, tallies[part])),
    row('all', sums),
  ].join('\n');
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const at = words.indexOf('--part');
  const [number = 1, of = 1] = at < 0 ? [] : words.splice(at, 2)[1]!.split('/').map(Number);
  const [seed = 1, each = 100] = words.map(Number);
  const tallies = await judgeMutants(seed, each, { number: number - 1, of }, (outcome) => {
    const isRefuted = outcome.shown.some(({ right }) => !right.includes('none'));
    const isRight = outcome.right.includes(outcome.told);
    const { name, part, change, verdicts, right, told, wrong } = outcome;
    const label = wrong.length > 0 ? 'WRONG PROOF' : !isRefuted ? 'not refuted' : isRight ? 'right' : 'MISS';
    console.log(`${label}: ${part} ${name}: ${change}: ${verdicts}, told ${told}${isRefuted ? `, right is ${right.join(' or ')}` : ''}`); // prettier-ignore
    if (wrong.length > 0 || (isRefuted && !isRight)) for (const { text, right: own } of outcome.shown.slice(0, 6)) console.log(`    ${own.join(' or ')}: ${text}`); // prettier-ignore
  });
  console.log(tableText(tallies));
  const sum = (column: keyof Tally): number => parts.reduce((total, part) => total + tallies[part][column], 0);
  process.exitCode = sum('wrong') > 0 || sum('right') < 0.9 * sum('refuted') ? 1 : 0;
}
