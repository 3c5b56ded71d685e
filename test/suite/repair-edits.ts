/**
 * Repairs of seeded edits of kernels outside of this repository:
 * `npm run suite -- repair-edits CHECKOUT [FILTER…] [--seed N] [--count N] [--limit SECONDS] [--facts FOLDER] [--out FILE] [--again] [-- NVCC…]`.
 * CHECKOUT is one of NVIDIA/cuda-samples, or with `--facts` one of mc-imperial/gpuverify (`gpuverify.ts` says what that
 * folder holds). An edit deletes a barrier, moves it into a branch beside it, or widens a guard behind it (`<` becomes
 * `<=`), in a file or in a header of its folder. What counts are edits after which a run refutes a kernel, if none does
 * before. Prints each with what became of it and the patch, and the share that is repaired; those that are not are for
 * reading. FILE gets lines of JSON, and is gone on with. With `--again`, the edits that FILE says are refuted are
 * repaired once more, and no others.
 */
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'; // prettier-ignore
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

type Kind = 'deleted' | 'moved' | 'widened';

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
  readonly kind: Kind;
  readonly line: number;
  /** Null in a function that kernels call. */
  readonly kernel: string | null;
  readonly text: string;
}

interface Line {
  readonly name: string;
  /** `late`: out of time; null: no run refutes it, or one does before the edit. */
  readonly outcome: 'repaired' | 'in part' | 'not' | 'late' | null;
  readonly reason: string;
}

interface Told {
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
    limit: { type: 'string', default: '60' },
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
  process.stderr.write('usage: npm run suite -- repair-edits CHECKOUT [FILTER…] [--seed N] [--count N] [--limit SECONDS] [--facts FOLDER] [--out FILE] [--again] [-- NVCC…]\n'); // prettier-ignore
  process.exit(2);
}
const checkout = realpathSync(given);
const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const out = resolve(values.out);
const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-repair-edits-')));
const known = new Map(existsSync(out) ? linesOf(out).map((line) => [line.name, line]) : []);
const refutedBefore = new Map<string, ReadonlySet<string> | null>();

try {
  const random = seededRandom(Number(values.seed));
  const edits = (await Promise.all(units().map(editsOf))).flat();
  const counted: Line[] = [];
  const again = edits.filter((edit) => values.again && isRefuted(known.get(nameOf(edit))));
  // Each file has its turn: some have many barriers.
  while (edits.length > 0 && counted.length < (values.again ? again.length : Number(values.count))) {
    const { path } = random.pick([...new Map(edits.map(({ unit }) => [unit.path, unit])).values()]);
    const edit = random.pick(edits.filter(({ unit }) => unit.path === path));
    edits.splice(edits.indexOf(edit), 1);
    if (values.again && !again.includes(edit)) continue;
    const name = nameOf(edit);
    const line = (values.again ? undefined : known.get(name)) ?? outcomeOf(edit, name);
    if (!known.has(name)) appendFileSync(out, `${JSON.stringify(line)}\n`);
    if (values.again) counted.push(line);
    else if (isRefuted(line)) counted.push(line);
    else continue;
    console.log(`${line.outcome}: ${name}: ${line.reason}`);
  }
  const share = (outcome: Line['outcome']): number => counted.filter((line) => line.outcome === outcome).length;
  console.log(`${counted.length} edits that a run refutes: ${share('repaired')} repaired, ${share('in part')} in part, ${share('not')} not`); // prettier-ignore
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

function nameOf({ unit: { path }, file, kind, line, kernel }: Edit): string {
  const through = file === path ? '' : ` (${basename(path)})`;
  return `${kind} ${file}:${line}${through} ${kernel ?? 'all kernels'}`;
}

function isRefuted(line: Line | undefined): boolean {
  return line !== undefined && line.outcome !== null && line.outcome !== 'late';
}

function linesOf(file: string): Line[] {
  return readFileSync(file, 'utf8').split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as Line); // prettier-ignore
}

/** The files with barriers. */
function units(): Unit[] {
  const isMeant = (path: string): boolean => filter.length === 0 || filter.some((word) => path.includes(word));
  if (values.facts === undefined) {
    const all = readdirSync(checkout, { recursive: true, encoding: 'utf8' }).sort();
    return all.filter((path) => path.endsWith('.cu') && isMeant(path)).map((path) => ({ path, options: [], words }));
  }
  const folder = resolve(values.facts);
  const { kernels } = JSON.parse(readFileSync(join(folder, 'kernels.json'), 'utf8')) as { readonly kernels: readonly { readonly path: string; readonly expected: string; readonly compiles: boolean; readonly flags: readonly string[]; readonly warpSync?: number; readonly blockDim: readonly number[]; readonly gridDim: readonly number[] }[] }; // prettier-ignore
  return kernels
    .filter(({ expected, compiles, warpSync }) => expected === 'race-free' && compiles && warpSync === undefined)
    .map(({ path, flags, blockDim, gridDim }) => ({
      path: path.split('/').slice(1).join('/'),
      options: ['--block', blockDim.join(','), '--grid', gridDim.join(',')],
      words: ['-std=c++17', '-include', join(folder, 'shim.h'), '-DGPUV_MODE=2', ...flags.filter((flag) => /^-[DU]/.test(flag))], // prettier-ignore
    }))
    .filter(({ path }) => isMeant(path));
}

/** All edits of a file, and of the headers of its folder that it includes. */
async function editsOf(unit: Unit): Promise<Edit[]> {
  const all: Edit[] = [];
  for (const file of includedBy(unit.path)) all.push(...(await editsIn(unit, file)));
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
    const guards = nodesWhere(source.tree(), ({ type, start, end }) => type === 'if_statement' && start >= definition.bodyStart && end <= definition.end); // prettier-ignore
    const isNext = (start: number, end: number): boolean => start <= end && /^\s*(?:\/\/.*\s*)*$/.test(text.slice(start, end)); // prettier-ignore
    const behind = guards.find(({ start }) => isNext(statement.end, start));
    const before = guards.find(({ end }) => isNext(end, statement.start));
    const all: Edit[] = [{ ...own, kind: 'deleted', text: applyEdits(text, without(candidate)) }];
    for (const [guard, isBehind] of [
      [behind, true],
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
      if (!clause || less === undefined || less === -1 || guard.start < statement.start || widened.has(guard.start)) continue; // prettier-ignore
      widened.add(guard.start);
      const place = clause.start + less + 2;
      all.push({ ...own, line: guard.line, kind: 'widened', text: applyEdits(text, [{ start: place, end: place, text: '=' }]) }); // prettier-ignore
      break;
    }
    return all;
  });
}

/** What a report says is refuted, by kernel; null where there is none in time. */
function refuted({ kernels }: Report): Set<string> {
  const isShown = ({ severity, confirmed }: Told): boolean => confirmed && severity === 'error';
  return new Set(
    kernels
      .filter(({ race, divergence }) => [...race.findings, ...divergence.findings].some(isShown))
      .map(({ name }) => bare(name)),
  );
}

function bare(name: string): string {
  return name.replace(/[(<].*/s, '').replace(/^.*::/, '');
}

function outcomeOf({ unit, file, kernel, text }: Edit, name: string): Line {
  const nothing = { name, outcome: null, reason: '' };
  const selected = kernel === null ? [] : ['--kernel', kernel];
  const key = `${unit.path} ${kernel ?? ''}`;
  if (!refutedBefore.has(key)) {
    const { report } = selvage('check', unit, null, selected);
    refutedBefore.set(key, report && refuted(report));
  }
  const before = refutedBefore.get(key);
  if (!before) return { ...nothing, reason: 'no report on the file as it is' };
  if (kernel !== null && before.has(kernel)) return { ...nothing, reason: 'refuted as it is' };
  const { report, late, stderr } = selvage('repair', unit, { file, text }, selected);
  if (late) return { name, outcome: 'late', reason: '' };
  if (!report) return { ...nothing, reason: stderr.slice(-300) };
  const fresh = [...refuted(report)].filter((one) => !before.has(one) && (kernel === null || one === kernel));
  const own = report.kernels.filter((one) => fresh.includes(bare(one.name)) && !isNotNeeded(one));
  if (own.length === 0) return { ...nothing, reason: 'no run refutes it' };
  const worst = own.find(({ repair }) => repair.status !== 'repaired') ?? own.find(({ repair }) => repair.leaves) ?? own[0]!; // prettier-ignore
  const { status, leaves, reason = '', edits = [] } = worst.repair;
  const outcome = status !== 'repaired' ? 'not' : leaves ? 'in part' : 'repaired';
  const patch = edits.map(({ startLine, endLine, replacement }) => `\n@@ ${startLine}-${endLine}\n${replacement.replace(/^(?=.)/gm, '+')}`); // prettier-ignore
  return { name, outcome, reason: `${status === 'repaired' ? '' : `${status}: `}${reason}${patch.join('')}` };
}

/** An instance of a template that no edit is about: others of the kernel were refuted. */
function isNotNeeded({ repair: { status } }: Report['kernels'][number]): boolean {
  return status === 'not-needed';
}

function selvage(
  command: string,
  { path, options, words: own }: Unit,
  edited: { readonly file: string; readonly text: string } | null,
  more: readonly string[],
): { readonly report: Report | null; readonly late: boolean; readonly stderr: string } {
  const folder = join(scratch, 'repository');
  rmSync(folder, { recursive: true, force: true });
  cpSync(dirname(join(checkout, path)), join(folder, dirname(path)), { recursive: true });
  mkdirSync(join(folder, '.git'));
  const file = join(folder, path);
  if (edited !== null) writeFileSync(join(folder, edited.file), encodeSource(edited.text));
  const asked = [command, basename(path), '--format', 'json', ...options, ...more, '--', ...own];
  const { stdout, stderr, signal } = spawnSync(process.execPath, [commandLine, ...asked], { cwd: dirname(file), encoding: 'utf8', timeout: 1000 * Number(values.limit), killSignal: 'SIGKILL', maxBuffer: 2 ** 28 }); // prettier-ignore
  const report = signal === null && stdout.startsWith('{') ? (JSON.parse(stdout) as Report) : null;
  return { report, late: signal !== null, stderr };
}
