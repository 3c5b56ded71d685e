/**
 * Mutants of all test kernels that have a launch: a barrier, a guard, a stride, an atomic or an index of the source is
 * changed, a hundred times each, in correct and incorrect kernels. Each mutant is checked, and run at three sizes, in
 * four schedules and with three contents. A property that a run refutes must not be proved, and a finding
 * must have the severity of section 2 of the design: `wanted-severity.ts` derives it from the runs.
 *
 * `node test/kernels/launch-mutants.ts [SEED [EACH]] [--part K/N]` prints the table by part and the misses, and exits
 * with 1 if something refuted is proved, or less than 90 % of the severities are correct. Needs nvcc; all 500 take half
 * an hour.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { requestsOf } from '../fuzz/soundness-run.ts';
import { checkedInPtx } from './checked-in.ts';
import {
  type CheckedMutant,
  type Judgement,
  type Tally,
  checkMutant,
  count,
  emptyTally,
  isGood,
  judgementOf,
  outcomeText,
  plainName,
  shuffledSites,
  siteText,
  tableText,
  withoutPlaces,
} from './judged-mutant.ts';
import { kernelFiles, root } from './portable-ptx.ts';
import { type Part, type Site, changed, parts, sitesOf } from './source-mutation.ts';

/** The result of a mutant. */
interface Outcome {
  readonly name: string;
  readonly part: Part;
  /** The change, with the text before and after. */
  readonly change: string;
  readonly judgement: Judgement;
}

/** A file, and the possible changes to its kernels with a known launch. */
interface Original {
  readonly file: string;
  readonly text: string;
  /** PTX of the verification build, if it is available. */
  readonly ptx: string | null;
  readonly sites: readonly Site[];
}

/** Test kernels are identified by their checked-in PTX, without a compiler; others by their text. */
async function originals(): Promise<Original[]> {
  const checkedIn = kernelFiles();
  const found: Original[] = [];
  for (const file of [...checkedIn, ...kernelFiles(join(root, 'test/verdicts/launched'))]) {
    const text = readFileSync(join(root, file), 'utf8');
    const isCheckedIn = checkedIn.includes(file);
    const launched = isCheckedIn
      ? (await requestsOf(file)).filter(({ launch }) => launch.block !== null && launch.grid !== null).map(({ name }) => plainName(name))
      : [...text.matchAll(/(\w+)(?:<[^<>;]*>)?\s*<<</g)].map(([, name]) => name!);
    const sites = sitesOf(text).filter(({ kernel }) => launched.includes(kernel));
    found.push({ file, text, ptx: isCheckedIn ? checkedInPtx(file, 'verification') : null, sites });
  }
  return found;
}

/**
 * Checks a kernel of a text.
 * @returns null if it does not compile
 */
async function checkText(text: string, file: string, kernel: string): Promise<CheckedMutant | null> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-mutant-')));
  const path = join(folder, basename(file));
  writeFileSync(path, text);
  const arch = /^\/\/ options: --arch (\S+)$/m.exec(text)?.[1] ?? 'sm_80';
  try {
    return await checkMutant({ folder, path, arch, nvccArguments: [], kernel });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function judged({ original, site }: { readonly original: Original; readonly site: Site }): Promise<Outcome | null> {
  const { file, text } = original;
  const checked = await checkText(changed(text, site), file, site.kernel);
  if (!checked) return null;
  if (original.ptx !== null && withoutPlaces(checked.ptx) === withoutPlaces(original.ptx)) return null;
  const requests = checked.requests.filter(({ launch }) => launch.block !== null && launch.grid !== null);
  return { ...siteText(file, text, site), part: site.part, judgement: judgementOf(requests, checked.reports) };
}

/**
 * Generates and evaluates mutants.
 * @param each mutants of each part
 * @param share a part of them: every `of`-th, from `number` on
 */
export async function judgeMutants(
  seed: number,
  each: number,
  share: { readonly number: number; readonly of: number },
  onOutcome: (outcome: Outcome) => void,
): Promise<Readonly<Record<Part, Tally>>> {
  const all = await originals();
  const tallies = Object.fromEntries(parts.map((part) => [part, emptyTally()])) as Record<Part, Tally>;
  for (const part of parts) {
    const list = shuffledSites(all, part, seed);
    for (let number = share.number; number < each; number += share.of) {
      // A change that does not compile, or changes nothing, is replaced by another one.
      for (let at = number; at < list.length; at += each) {
        const outcome = await judged(list[at]!);
        if (!outcome) continue;
        count(tallies[part], outcome.judgement);
        onOutcome(outcome);
        break;
      }
    }
  }
  return tallies;
}

if (import.meta.main) {
  const words = process.argv.slice(2);
  const at = words.indexOf('--part');
  const [number = 1, of = 1] = at < 0 ? [] : words.splice(at, 2)[1]!.split('/').map(Number);
  const [seed = 1, each = 100] = words.map(Number);
  const tallies = await judgeMutants(seed, each, { number: number - 1, of }, ({ part, name, change, judgement }) =>
    console.log(outcomeText(part, name, change, judgement)),
  );
  console.log(tableText(tallies));
  process.exitCode = isGood(tallies) ? 0 : 1;
}
