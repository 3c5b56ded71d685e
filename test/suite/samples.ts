/**
 * Measures the check on a checkout of NVIDIA/cuda-samples, without any option: `npm run suite -- samples CHECKOUT
 * [FILTER…] [--jobs K] [--out FILE] [--own] [--limit SECONDS]`. Each file `.cu` that `nvcc -ptx -std=c++17 -ICommon`
 * compiles for the default architecture is a unit. The whole checkout is the repository, so that a launch of another
 * sample could be found; with `--own` only the folder of the sample is.
 *
 * The results are lines of JSON in FILE; units in that file are not checked again, so an interrupted run is resumed. A
 * unit that takes more CPU time than the limit, by default 300 s, is reported. The table (`samples-table.ts`) covers
 * all units in FILE. A FILTER that matches no unit only prints the table. The exit code is 1 if a unit ends with an
 * internal error, or the launch of another sample is used.
 */
import { appendFileSync, cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { demangle, withoutTemplateArguments } from '../../src/cuda/names/demangle.ts';
import { optionDefaults } from '../../src/settings/defaults.ts';
import { endedByLimit, runLimited } from './limited-run.ts';
import { sampleOf } from './sample-of.ts';
import { type SampleKernel, type SampleUnit, sampleTable } from './samples-table.ts';

const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const { values, positionals } = parseArgs({
  options: {
    jobs: { type: 'string', default: '1' },
    out: { type: 'string', default: 'samples.jsonl' },
    own: { type: 'boolean', default: false },
    limit: { type: 'string', default: '300' },
  },
  allowPositionals: true,
});
const [, given, ...words] = positionals;
if (given === undefined) {
  process.stderr.write('usage: npm run suite -- samples CHECKOUT [FILTER…] [--jobs K] [--out FILE] [--own] [--limit SECONDS]\n');
  process.exit(2);
}
const checkout = realpathSync(given);
const out = resolve(values.out);
const limit = Number(values.limit);

/** The recorded part of a report. */
interface Verdict {
  readonly verdict: string;
  readonly reason?: string;
  readonly assumptions?: readonly { readonly kind: string; readonly text: string }[];
  readonly findings: readonly Finding[];
}

interface Pair {
  readonly first?: { readonly location?: Place };
  readonly second?: { readonly location?: Place };
}

interface Finding extends Pair {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly witnessOrigin?: string;
  readonly barrier?: Place;
  readonly also?: readonly Pair[];
}

interface Place {
  readonly file: string;
  readonly line: number;
}

interface Report {
  readonly kernels: readonly {
    readonly name: string;
    readonly location?: Place;
    readonly race: Verdict;
    readonly divergence: Verdict;
    readonly launches: readonly {
      readonly source: string;
      readonly block?: unknown;
      readonly grid?: unknown;
      readonly ties?: readonly string[];
      readonly location?: Place;
    }[];
  }[];
  readonly diagnostics: readonly {
    readonly code: string;
    readonly severity: string;
    readonly message: string;
    readonly location?: Place;
  }[];
}

const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-samples-')));
try {
  const known = existsSync(out) ? unitsOf(out) : [];
  const all = globSync('**/*.cu', { cwd: join(checkout, 'Samples') })
    .map((path) => join('Samples', path))
    .sort();
  const asked = all.filter((path) => words.length === 0 || words.some((word) => path.includes(word)));
  const left = asked.filter((path) => known.every(({ unit }) => unit !== path)).entries();
  await Promise.all(
    Array.from({ length: Number(values.jobs) }, async (_, job) => {
      for (const [, path] of left) {
        const unit = await measured(path, String(job));
        appendFileSync(out, `${JSON.stringify(unit)}\n`);
        process.stderr.write(`${unit.unit}: ${unit.outcome}${unit.cpu === undefined ? '' : `, ${unit.cpu.toFixed(1)} s`}\n`);
      }
    }),
  );
  const units = existsSync(out) ? unitsOf(out) : [];
  process.stdout.write(sampleTable(units));
  if (units.some(({ outcome, kernels }) => outcome === 'defect' || kernels.some(({ foreign }) => foreign.length > 0))) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function unitsOf(file: string): SampleUnit[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SampleUnit);
}

/** Compiles a unit, and checks it where it compiles and has kernels. */
async function measured(path: string, job: string): Promise<SampleUnit> {
  const sample = sampleOf(checkout, path);
  const compilerWords = ['-std=c++17', `-I${join(checkout, 'Common')}`];
  const ptx = join(scratch, `${job}.ptx`);
  const arch = `-arch=${optionDefaults.arch}`;
  const compiled = await runLimited(limit, 'nvcc', ['-ptx', arch, ...compilerWords, join(checkout, path), '-o', ptx], checkout);
  const unit = { unit: path, sample, kernels: [], diagnostics: [], entries: [] };
  if (compiled.status !== 0) {
    const [said = ''] = compiled.stderr.split('\n').filter((line) => /error/i.test(line));
    return { ...unit, outcome: 'not compiled', message: said };
  }
  const text = readFileSync(ptx, 'utf8');
  const entries = ownEntries(text);
  const nvcc = { nvccCpu: compiled.cpu, nvccWall: compiled.wall };
  if (!/\.entry\b/.test(text)) return { ...unit, ...nvcc, outcome: 'no kernels' };
  const root = values.own ? join(scratch, job) : checkout;
  if (values.own) {
    rmSync(root, { recursive: true, force: true });
    cpSync(join(checkout, sample), join(root, sample), { recursive: true });
    mkdirSync(join(root, '.git'));
  }
  const checked = await runLimited(
    limit,
    process.execPath,
    [commandLine, 'check', path, '--format', 'json', '--no-cache', '--', ...compilerWords],
    root,
  );
  const times = { ...nvcc, cpu: checked.cpu, wall: checked.wall };
  if (endedByLimit.includes(checked.status)) return { ...unit, ...times, entries, outcome: 'out of time' };
  const report = checked.stdout === '' ? null : (JSON.parse(checked.stdout) as Report);
  const kernels = (report?.kernels ?? []).map((kernel) => kernelOf(kernel, sample));
  const loud = (report?.diagnostics ?? []).filter(({ severity }) => severity !== 'notice');
  const diagnostics = loud.map(({ code, severity, message, location }) => ({
    code,
    severity,
    lines: location ? `${location.file}:${location.line}` : '',
    text: message,
  }));
  const outcome = checked.status === 4 ? 'defect' : report === null || checked.status === 3 ? 'failed' : 'checked';
  const message = outcome === 'checked' ? {} : { message: checked.stderr.trim().split('\n')[0] ?? '' };
  return { ...unit, ...times, entries, kernels, diagnostics, outcome, ...message };
}

/** The kernels of a PTX text, without template arguments and without those of CUB and Thrust. */
function ownEntries(ptx: string): string[] {
  const names = [...ptx.matchAll(/\.entry\s+([\w$]+)/g)].map(([, symbol]) => demangle(symbol!)?.qualified ?? symbol!);
  return [...new Set(names.map((name) => withoutTemplateArguments(name)))].filter((name) => !/^(?:cub|thrust)::/.test(name));
}

function kernelOf({ name, location, race, divergence, launches }: Report['kernels'][number], sample: string): SampleKernel {
  const file = location?.file ?? '';
  const assumptions = [...(race.assumptions ?? []), ...(divergence.assumptions ?? [])];
  const findings = [...race.findings, ...divergence.findings].filter(({ severity }) => severity !== 'notice');
  const places = launches.flatMap(({ source, location: at }) => (source === 'launch-site' && at ? [`${at.file}:${at.line}`] : []));
  return {
    name,
    definition: `${file}:${location?.line ?? 0} ${withoutTemplateArguments(name.replace(/\(.*$/s, ''))}`,
    isOwn: file !== '' && !file.startsWith('/') && !file.startsWith('..'),
    race: race.verdict,
    divergence: divergence.verdict,
    reasons: [race.reason, divergence.reason].filter((reason) => reason !== undefined),
    preconditions: [...new Set(assumptions.filter(({ kind }) => kind === 'precondition').map(({ text }) => text))],
    findings: findings.map((finding) => ({
      code: finding.code,
      severity: finding.severity,
      origin: finding.witnessOrigin ?? '',
      lines: linesOf(finding),
      text: finding.message,
    })),
    launches: launches.map(({ source, block, grid, ties = [] }) => ({
      source,
      block: block ? 'given' : ties.some((tie) => tie.includes('blockDim')) ? 'tied' : 'open',
      grid: grid ? 'given' : ties.some((tie) => tie.includes('gridDim')) ? 'tied' : 'open',
    })),
    sites: places,
    foreign: places.filter((place) => !place.startsWith(`${sample}/`) && !place.startsWith('Common/')),
  };
}

/** `FILE:LINE[,LINE]…`, with spaces between files. */
function linesOf({ barrier, first, second, also = [] }: Finding): string {
  const pairs = [{ first, second }, ...also].flatMap((pair) => [pair.first?.location, pair.second?.location]);
  const files = new Map<string, Set<number>>();
  for (const place of [barrier, ...pairs]) if (place) files.set(place.file, (files.get(place.file) ?? new Set()).add(place.line));
  return [...files].map(([file, lines]) => `${file}:${[...lines].sort((a, b) => a - b).join()}`).join(' ');
}
