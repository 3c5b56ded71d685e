/**
 * Mutants of a checkout of NVIDIA/cuda-samples: a barrier, a guard, a stride or an atomic of a kernel is changed, fifty
 * times each. `npm run suite -- sample-mutants CHECKOUT UNITS [FILTER…] [--seed N] [--each N] [--part NAME]… [--out FILE] [--limit SECONDS]`
 * takes the units that UNITS, the output of the suite `samples`, calls checked. Each mutant is checked in the folder of
 * its sample, without any option, and run at the sizes of the sample's own launches; if they are known only at run
 * time, at representative ones that satisfy the launch constraints. No property that a run refutes may be proved, and
 * the finding must get the severity of section 2 of the design (`../kernels/wanted-severity.ts`).
 *
 * The outcomes are lines of JSON in FILE, which is continued. A mutant that takes more seconds of CPU than the limit is
 * reported, and another one replaces it. Prints the table by part and the misses; the exit code is 1 if a refuted
 * property is proved, or less than 90 % of the severities are correct.
 */
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  type Judgement,
  type Tally,
  count,
  emptyTally,
  isGood,
  outcomeText,
  plainName,
  shuffledSites,
  siteText,
  tableText,
} from '../kernels/judged-mutant.ts';
import { type Part, type Site, changed, sitesOf } from '../kernels/source-mutation.ts';
import { endedByLimit, runLimited } from './limited-run.ts';
import type { SampleUnit } from './samples-table.ts';

/** A file with kernels, and a unit that compiles it. */
interface Original {
  readonly file: string;
  readonly text: string;
  readonly unit: SampleUnit;
  readonly sites: readonly Site[];
}

/** One mutant: `outcome` is null if it does not compile or changes nothing, and `late` if it took too long. */
interface Line {
  readonly part: Part;
  readonly name: string;
  readonly change: string;
  readonly outcome: Judgement | null | 'late';
}

const sampleParts = ['barrier', 'guard', 'stride', 'atomic'] as const satisfies readonly Part[];
const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    each: { type: 'string', default: '50' },
    part: { type: 'string', multiple: true, default: [...sampleParts] },
    out: { type: 'string', default: 'sample-mutants.jsonl' },
    limit: { type: 'string', default: '120' },
  },
  allowPositionals: true,
});
const [, given, unitsFile, ...words] = positionals;
if (given === undefined || unitsFile === undefined) {
  process.stderr.write(
    'usage: npm run suite -- sample-mutants CHECKOUT UNITS [FILTER…] [--seed N] [--each N] [--part NAME]… [--out FILE] [--limit SECONDS]\n',
  );
  process.exit(2);
}
const checkout = realpathSync(given);
const out = resolve(values.out);
const program = fileURLToPath(new URL('sample-mutant.ts', import.meta.url));
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-sample-mutants-')));

try {
  const lines = existsSync(out) ? linesOf<Line>(out) : [];
  const all = originals(
    linesOf<SampleUnit>(unitsFile).filter(({ unit }) => words.length === 0 || words.some((word) => unit.includes(word))),
  );
  const tallies: Partial<Record<Part, Tally>> = {};
  const late: string[] = [];
  for (const part of sampleParts.filter((name) => values.part.includes(name))) {
    const tally = (tallies[part] = emptyTally());
    const list = shuffledSites(all, part, Number(values.seed));
    for (const { original, site } of list) {
      if (tally.mutants === Number(values.each)) break;
      const place = siteText(original.file, original.text, site);
      const known = lines.find((line) => line.part === part && line.name === place.name && line.change === place.change);
      const line = known ?? { part, ...place, outcome: await outcomeOf(original, site) };
      if (!known) appendFileSync(out, `${JSON.stringify(line)}\n`);
      if (line.outcome === 'late') late.push(`out of time: ${part} ${line.name}: ${line.change}`);
      if (line.outcome === null || line.outcome === 'late') continue;
      count(tally, line.outcome);
      console.log(outcomeText(part, line.name, line.change, line.outcome));
    }
  }
  console.log([...late, tableText(tallies)].join('\n'));
  process.exitCode = isGood(tallies) ? 0 : 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function linesOf<T>(file: string): T[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as T);
}

/** The files that define kernels of the units, each with the first unit that compiles it. */
function originals(units: readonly SampleUnit[]): Original[] {
  const found = new Map<string, Original>();
  for (const unit of units.filter(({ outcome }) => outcome === 'checked'))
    for (const { definition, isOwn } of unit.kernels) {
      const [, file, name] = /^(\S+):\d+ (.*)$/s.exec(definition) ?? [];
      if (!isOwn || file === undefined || name === undefined || !file.startsWith(`${unit.sample}/`)) continue;
      const before = found.get(file);
      if (before && before.unit !== unit) continue;
      const text = before?.text ?? readFileSync(join(checkout, file), 'utf8');
      const sites = sitesOf(text).filter(({ kernel }) => kernel === plainName(name));
      const isNew = before?.sites.every(({ kernel }) => kernel !== plainName(name)) !== false;
      found.set(file, { file, text, unit, sites: [...(before?.sites ?? []), ...(isNew ? sites : [])] });
    }
  return [...found.values()].sort((a, b) => (a.file < b.file ? -1 : 1));
}

/** Checks and runs a mutant in a copy of its sample. */
async function outcomeOf({ file, text, unit }: Original, site: Site): Promise<Line['outcome']> {
  const folder = join(scratch, 'repository');
  rmSync(folder, { recursive: true, force: true });
  cpSync(join(checkout, unit.sample), join(folder, unit.sample), { recursive: true });
  mkdirSync(join(folder, '.git'));
  const ptx = join(scratch, `${unit.unit.replaceAll('/', '+')}.ptx`);
  const first = existsSync(ptx) ? null : await childOf(folder, unit, site, ptx);
  if (!existsSync(ptx)) return first === 'late' ? 'late' : null;
  writeFileSync(join(folder, file), changed(text, site));
  return childOf(folder, unit, site, ptx);
}

async function childOf(folder: string, { unit }: SampleUnit, { kernel }: Site, ptx: string): Promise<Line['outcome']> {
  const { status, stdout, stderr } = await runLimited(
    Number(values.limit),
    process.execPath,
    [program, folder, unit, join(checkout, 'Common'), kernel, ptx],
    folder,
  );
  if (endedByLimit.includes(status)) return 'late';
  process.stderr.write(stderr);
  return stdout === '' ? null : (JSON.parse(stdout) as Judgement | null);
}
