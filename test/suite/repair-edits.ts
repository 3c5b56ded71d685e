/**
 * Repairs of seeded edits of kernels outside of this repository:
 * `npm run suite -- repair-edits CHECKOUT [FILTER…] [--seed N] [--count N] [--most BYTES] [--dear SECONDS] [--limit SECONDS] [--facts FOLDER] [--out FILE] [--again] [-- NVCC…]`.
 * CHECKOUT is one of NVIDIA/cuda-samples, or with `--facts` one of mc-imperial/gpuverify (`gpuverify.ts` describes that
 * folder). An edit deletes a barrier, moves it into an adjacent branch, or widens a guard after it (`<` becomes `<=`),
 * in a file or in a header of its folder. Only edits after which a run refutes a kernel, if none does before, count.
 * Prints each with its outcome and the patch, and the share that is repaired.
 *
 * Kinds of edits alternate, and so do the files that have one of the kind. Files whose text, with headers of their
 * folder, is longer than `--most` (24,000 bytes) have none. Seconds are of CPU: a file whose check takes longer than
 * `--dear` (15) is not used again; the number of such files is printed. A repair that is ended by `--limit` (120) is
 * late, and counts among those that are not repaired. So no bound chooses among results.
 *
 * FILE gets lines of JSON, and is continued. With `--again`, only the refuted edits of FILE are repaired again.
 */
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import { type BarrierCandidate, markCandidates } from '../../src/cuda/editing/barrier-candidates.ts';
import { barrierEdits } from '../../src/cuda/editing/barrier-edit.ts';
import { childIn, nodesWhere } from '../../src/cuda/syntax/syntax-tree.ts';
import { decodeSource, encodeSource } from '../../src/source/source-bytes.ts';
import { applyEdits } from '../../src/source/text-edit.ts';
import { cudaParser } from '../cuda/syntax/grammar.ts';
import { endedByLimit, runLimited } from './limited-run.ts';
import { sampleOf } from './sample-of.ts';

const kinds = ['deleted', 'moved', 'widened'] as const;

interface Unit {
  readonly path: string;
  /** Options for Selvage, and words for nvcc. */
  readonly options: readonly string[];
  readonly words: readonly string[];
}

interface Edit {
  readonly unit: Unit;
  /** The file that is edited: the unit, or a header that it includes. */
  readonly file: string;
  readonly kind: (typeof kinds)[number];
  readonly line: number;
  /** Null in a function that kernels call. */
  readonly kernel: string | null;
  readonly text: string;
}

interface Line {
  readonly name: string;
  /**
   * `late`: refuted, but its repair took longer than the limit; null: no run refutes it. `dear`: its check took longer than
   * a file may take, `broken`: the file does not compile as it is.
   */
  readonly outcome: 'repaired' | 'in part' | 'not' | 'late' | 'dear' | 'broken' | null;
  readonly reason: string;
  /** Seconds of CPU. */
  readonly cpu: number;
}

/** Results for an unmodified file, for the kernels of edits. */
interface Before {
  readonly path: string;
  readonly kernel: string | null;
  /** Kernels that are refuted, without namespaces, parameters and template arguments; null if unknown. */
  readonly before: readonly string[] | null;
  readonly cpu: number;
}

interface Told {
  readonly code: string;
  readonly severity: string;
  readonly confirmed: boolean;
}

interface Report {
  readonly kernels: readonly {
    readonly name: string;
    readonly race: { readonly findings: readonly Told[] };
    readonly divergence: { readonly findings: readonly Told[] };
    readonly repair: {
      readonly status: string;
      readonly reason?: string;
      readonly leaves?: readonly string[];
      readonly edits?: readonly {
        readonly startLine: number;
        readonly endLine: number;
        readonly replacement: string;
      }[];
    };
  }[];
}

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    most: { type: 'string', default: '24000' },
    dear: { type: 'string', default: '15' },
    limit: { type: 'string', default: '120' },
    facts: { type: 'string' },
    out: { type: 'string', default: 'repair-edits.jsonl' },
    again: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const at = process.argv.indexOf('--');
const words = at === -1 ? [] : process.argv.slice(at + 1);
const [, given, ...filter] = at === -1 ? positionals : positionals.slice(0, positionals.length - words.length);
if (given === undefined) {
  process.stderr.write(
    'usage: npm run suite -- repair-edits CHECKOUT [FILTER…] [--seed N] [--count N] [--most BYTES] [--dear SECONDS] [--limit SECONDS] [--facts FOLDER] [--out FILE] [--again] [-- NVCC…]\n',
  );
  process.exit(2);
}
const checkout = realpathSync(given);
const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const out = resolve(values.out);
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-repair-edits-')));
const lines = existsSync(out) ? linesOf(out) : [];
const known = new Map(lines.flatMap((line) => ('name' in line ? [[line.name, line]] : [])));
const before = new Map(lines.flatMap((line) => ('before' in line ? [[`${line.path} ${line.kernel}`, line]] : [])));

try {
  const random = seededRandom(Number(values.seed));
  let edits = (await Promise.all(units().map(editsOf))).flat();
  const wanted = edits.filter((edit) => isRefuted(known.get(nameOf(edit)))).length;
  const counted: Line[] = [];
  const tries = { edits: 0, cpu: 0 };
  const left = { dear: new Set<string>(), broken: new Set<string>() };
  for (let turn = 0; edits.length > 0 && counted.length < (values.again ? wanted : Number(values.count)); turn++) {
    const ofKind = edits.filter(({ kind }) => kind === kinds[turn % kinds.length]);
    if (ofKind.length === 0) continue;
    const path = random.pick([...new Set(ofKind.map(({ unit }) => unit.path))]);
    const edit = random.pick(ofKind.filter(({ unit }) => unit.path === path));
    edits.splice(edits.indexOf(edit), 1);
    const name = nameOf(edit);
    if (values.again && !isRefuted(known.get(name))) continue;
    const line = (values.again ? undefined : known.get(name)) ?? (await outcomeOf(edit, name));
    if (values.again || !known.has(name)) note(line);
    if (line.outcome === 'dear' || line.outcome === 'broken') {
      left[line.outcome].add(path);
      edits = edits.filter(({ unit }) => unit.path !== path);
    }
    tries.edits++;
    tries.cpu += line.cpu;
    if (!isRefuted(line)) continue;
    counted.push(line);
    console.log(`${line.outcome}: ${name} (${line.cpu.toFixed(1)} s): ${line.reason}`);
  }
  const share = (outcome: Line['outcome']): number => counted.filter((line) => line.outcome === outcome).length;
  console.log(
    [
      `${counted.length} of ${tries.edits} edits are refuted by a run: ${share('repaired')} repaired, ${share('in part')} in part, ${share('not')} not, ${share('late')} late`,
      `${left.dear.size} files are too expensive, ${left.broken.size} do not compile`,
      `${tries.cpu.toFixed(0)} s of CPU, and ${[...before.values()].reduce((sum, { cpu }) => sum + cpu, 0).toFixed(0)} s on kernels as they are`,
    ].join('\n'),
  );
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function note(line: Line | Before): void {
  appendFileSync(out, `${JSON.stringify(line)}\n`);
}

function nameOf({ unit: { path }, file, kind, line, kernel }: Edit): string {
  const through = file === path ? '' : ` (${basename(path)})`;
  return `${kind} ${file}:${line}${through} ${kernel ?? 'all kernels'}`;
}

function isRefuted(line: Line | undefined): boolean {
  return line !== undefined && line.outcome !== null && line.outcome !== 'dear' && line.outcome !== 'broken';
}

function linesOf(file: string): (Line | Before)[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line | Before);
}

/** The files with barriers. */
function units(): Unit[] {
  const isMeant = (path: string): boolean => filter.length === 0 || filter.some((word) => path.includes(word));
  if (values.facts === undefined) {
    const all = readdirSync(checkout, { recursive: true, encoding: 'utf8' }).sort();
    return all.filter((path) => path.endsWith('.cu') && isMeant(path)).map((path) => ({ path, options: [], words }));
  }
  const folder = resolve(values.facts);
  const { kernels } = JSON.parse(readFileSync(join(folder, 'kernels.json'), 'utf8')) as {
    readonly kernels: readonly {
      readonly path: string;
      readonly expected: string;
      readonly compiles: boolean;
      readonly flags: readonly string[];
      readonly warpSync?: number;
      readonly blockDim: readonly number[];
      readonly gridDim: readonly number[];
    }[];
  };
  return kernels
    .filter(({ expected, compiles, warpSync }) => expected === 'race-free' && compiles && warpSync === undefined)
    .map(({ path, flags, blockDim, gridDim }) => ({
      path: path.split('/').slice(1).join('/'),
      options: ['--block', blockDim.join(','), '--grid', gridDim.join(',')],
      words: ['-std=c++17', '-include', join(folder, 'shim.h'), '-DGPUV_MODE=2', ...flags.filter((flag) => /^-[DU]/.test(flag))],
    }))
    .filter(({ path }) => isMeant(path));
}

/** All edits of a file, and of the headers of its folder that it includes; none where these are long. */
async function editsOf(unit: Unit): Promise<Edit[]> {
  const all: Edit[] = [];
  const files = [...includedBy(unit.path)];
  const bytes = files.reduce((sum, file) => sum + statSync(join(checkout, file)).size, 0);
  if (bytes > Number(values.most)) return [];
  for (const file of files) all.push(...(await editsIn(unit, file)));
  return all;
}

function includedBy(path: string): Set<string> {
  const files = new Set([path]);
  for (const file of files) {
    for (const [, name] of readFileSync(join(checkout, file), 'latin1').matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
      const other = join(dirname(file), name!);
      if (other.startsWith(`${dirname(path)}/`) && existsSync(join(checkout, other))) files.add(other);
    }
  }
  return files;
}

async function editsIn(unit: Unit, file: string): Promise<Edit[]> {
  const bytes = readFileSync(join(checkout, file));
  if (bytes.length > 1 << 17 || !/__syncthreads|sync\(/.test(bytes.toString('latin1'))) return [];
  const text = decodeSource(bytes);
  const { parse } = await cudaParser();
  const source = parse(text, file);
  const { candidates } = markCandidates(source, { splits: false });
  const barriers = candidates.filter((one) => one.kind === 'existing' && one.level !== 'grid');
  const without = (candidate: BarrierCandidate) => barrierEdits(source, [{ candidate, state: 'off' }]);
  const widened = new Set<number>();
  return barriers.flatMap((candidate) => {
    const { function: definition, statement, line } = candidate;
    const own = { unit, file, line, kernel: definition.kind === 'kernel' ? definition.name : null };
    const guards = nodesWhere(
      source.tree(),
      ({ type, start, end }) => type === 'if_statement' && start >= definition.bodyStart && end <= definition.end,
    );
    const isNext = (start: number, end: number): boolean => start <= end && /^\s*(?:\/\/.*\s*)*$/.test(text.slice(start, end));
    const after = guards.find(({ start }) => isNext(statement.end, start));
    const before = guards.find(({ end }) => isNext(end, statement.start));
    const all: Edit[] = [{ ...own, kind: 'deleted', text: applyEdits(text, without(candidate)) }];
    for (const [guard, isBehind] of [
      [after, true],
      [before, false],
    ] as const) {
      const body = guard && childIn(guard, 'consequence');
      if (body?.type !== 'compound_statement') continue;
      const place = isBehind ? body.start + 1 : body.end - 1;
      const moved = [...without(candidate), { start: place, end: place, text: '\n__syncthreads();\n' }];
      all.push({ ...own, kind: 'moved', text: applyEdits(text, moved) });
      break;
    }
    for (const guard of guards) {
      const clause = childIn(guard, 'condition');
      const less = clause && text.slice(clause.start, clause.end).search(/[^<]<(?![<=])/);
      if (!clause || less === undefined || less === -1 || guard.start < statement.start || widened.has(guard.start)) continue;
      widened.add(guard.start);
      const place = clause.start + less + 2;
      all.push({ ...own, line: guard.line, kind: 'widened', text: applyEdits(text, [{ start: place, end: place, text: '=' }]) });
      break;
    }
    return all;
  });
}

/** The kernels with findings that a repair has to remove: errors, and warnings under some representative launches. */
function refuted({ kernels }: Report): Set<string> {
  const isShown = ({ code, severity, confirmed }: Told): boolean =>
    confirmed && severity !== 'notice' && code !== 'barrier/early-exit' && !code.startsWith('memory/');
  return new Set(
    kernels.filter(({ race, divergence }) => [...race.findings, ...divergence.findings].some(isShown)).map(({ name }) => bare(name)),
  );
}

function bare(name: string): string {
  return name.replace(/[(<].*/s, '').replace(/^.*::/, '');
}

/** The kernels that are refuted without the edit; null if that is unknown. */
async function refutedBefore(unit: Unit, kernel: string | null): Promise<Before['before']> {
  const key = `${unit.path} ${kernel}`;
  const known = before.get(key);
  if (known) return known.before;
  const { report, cpu } = await selvage('check', unit, null, selectedBy(kernel), Number(values.limit));
  const found: Before = { path: unit.path, kernel, before: report && [...refuted(report)], cpu };
  note(found);
  before.set(key, found);
  return found.before;
}

function selectedBy(kernel: string | null): string[] {
  return ['--checks', 'race,divergence', ...(kernel === null ? [] : ['--kernel', kernel])];
}

/**
 * Outcome of an edit. It is checked first, because `repair` looks for barriers too many where nothing is refuted; and
 * what it edits is checked only where a run refutes it then.
 */
async function outcomeOf({ unit, file, kernel, text }: Edit, name: string): Promise<Line> {
  const edited = { file, text };
  const check = await selvage('check', unit, edited, selectedBy(kernel), Number(values.dear));
  if (check.late) return { name, outcome: 'dear', reason: '', cpu: check.cpu };
  const shown = [...(check.report ? refuted(check.report) : [])].filter((one) => kernel === null || one === kernel);
  const none = (reason: string): Line => ({ name, outcome: null, reason, cpu: check.cpu });
  if (check.report?.kernels.length === 0) {
    const asItIs = await selvage('check', unit, null, selectedBy(kernel), Number(values.dear));
    const outcome = asItIs.report && asItIs.report.kernels.length > 0 ? null : 'broken';
    return { ...none('it does not compile'), outcome, cpu: check.cpu + asItIs.cpu };
  }
  if (shown.length === 0) return none(check.report ? 'no run refutes it' : check.stderr.slice(-300));
  const original = await refutedBefore(unit, kernel);
  const fresh = shown.filter((one) => original !== null && !original.includes(one));
  if (fresh.length === 0) return none(original ? 'refuted as it is' : 'its original verdict is unknown');
  const selected = kernel === null ? [] : ['--kernel', kernel];
  const { report, stderr, ...repair } = await selvage('repair', unit, edited, selected, Number(values.limit));
  const cpu = check.cpu + repair.cpu;
  if (!report) return { name, outcome: repair.late ? 'late' : 'not', reason: stderr.slice(-300), cpu };
  const own = report.kernels.filter((one) => fresh.includes(bare(one.name)) && !isNotNeeded(one));
  const worst = own.find((one) => one.repair.status !== 'repaired') ?? own.find((one) => one.repair.leaves) ?? own[0];
  if (!worst) return { name, outcome: 'not', reason: 'no repair is tried', cpu };
  const { status, leaves, reason = '', edits = [] } = worst.repair;
  const outcome = status !== 'repaired' ? 'not' : leaves ? 'in part' : 'repaired';
  const patch = edits.map(({ startLine, endLine, replacement }) => `\n@@ ${startLine}-${endLine}\n${replacement.replace(/^(?=.)/gm, '+')}`);
  return { name, outcome, reason: `${status === 'repaired' ? '' : `${status}: `}${reason}${patch.join('')}`, cpu };
}

/** An instance of a template that no edit is about: others of the kernel were refuted. */
function isNotNeeded({ repair: { status } }: Report['kernels'][number]): boolean {
  return status === 'not-needed';
}

/**
 * Runs the command line on a copy of the file's sample, with a limit of CPU seconds. Builds are cached in the user's
 * cache folder.
 */
async function selvage(
  command: string,
  { path, options, words: own }: Unit,
  edited: { readonly file: string; readonly text: string } | null,
  more: readonly string[],
  limit: number,
): Promise<{ readonly report: Report | null; readonly late: boolean; readonly stderr: string; readonly cpu: number }> {
  const folder = join(scratch, 'repository');
  rmSync(folder, { recursive: true, force: true });
  const sample = sampleOf(checkout, path);
  cpSync(join(checkout, sample), join(folder, sample), { recursive: true });
  mkdirSync(join(folder, '.git'));
  if (edited !== null) writeFileSync(join(folder, edited.file), encodeSource(edited.text));
  const asked = [commandLine, command, basename(path), '--format', 'json', ...options, ...more, '--', ...own];
  const { status, stdout, stderr, cpu } = await runLimited(limit, process.execPath, asked, dirname(join(folder, path)));
  const late = endedByLimit.includes(status);
  return { report: !late && stdout.startsWith('{') ? (JSON.parse(stdout) as Report) : null, late, stderr, cpu };
}
