/**
 * Scores the verdicts on the CUDA kernels of a checkout of mc-imperial/gpuverify: `npm run suite -- gpuverify CHECKOUT
 * FACTS [WORD…] [--json FILE] [--jobs N]`. FACTS is a folder with `kernels.json` (launches and expected verdicts) and
 * `shim.h` (lets nvcc compile the kernels unmodified). Both are outside of this repository. Race-free rows tolerate
 * writes of equal values, as that suite does; in the others they count as races, because Selvage proves more of them
 * equal than GPUVerify does; those of one instruction of one warp are proved, and reported as a notice. Rows whose
 * verdict assumes warps in lockstep are checked with that option, and again without. That suite covers all arguments: a
 * row that races or diverges and is proved under preconditions is checked again with these negated, and that verdict
 * counts. A row that nvcc or ptxas rejects is left out, with their message. The exit code is 1 if a verdict is
 * incorrect: a race-free kernel called `race` or `divergent`, or one that races or diverges called `proved`.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

/** One row of `kernels.json`. */
interface Fact {
  /** Below the parent folder of a checkout that is called `gpuverify`. */
  readonly path: string;
  readonly blockDim: readonly number[];
  readonly gridDim: readonly number[];
  readonly expected: 'race-free' | 'race' | 'divergence' | 'other-xfail';
  readonly compiles: boolean;
  readonly flags: readonly string[];
  /** The verdict takes warps of that size to run in lockstep, which no GPU since Volta promises. */
  readonly warpSync?: number;
  /** False: nvcc removes the bug, as its value is never used. */
  readonly visibleInPtx?: boolean;
}

type Outcome = 'right' | 'wrong' | 'undecided' | 'excluded';

interface Row {
  readonly path: string;
  readonly expected: Fact['expected'];
  readonly outcome: Outcome;
  /** The worst verdicts of the file's kernels. */
  readonly race: string;
  readonly divergence: string;
  /** Why, if the outcome is not `right`. */
  readonly reason: string;
  /** Assumptions of its proof on the arguments. */
  readonly preconditions: readonly string[];
  /** It is proved, and a notice reports writes of equal values. */
  readonly equalWrites?: true;
  /** Without `warp-lockstep`, if the row is checked with it. */
  readonly alone?: { readonly outcome: Outcome; readonly race: string };
  /** Milliseconds of the checker in its process, and of that process with both compilations. */
  readonly check: number;
  readonly wall: number;
}

interface Verdict {
  readonly verdict: string;
  readonly reason?: string;
  readonly assumptions?: readonly { readonly kind: string; readonly text: string }[];
  readonly findings: readonly {
    readonly confirmed?: boolean;
    readonly sameValue?: boolean;
    readonly message: string;
  }[];
}

interface Report {
  readonly kernels: readonly { readonly race: Verdict; readonly divergence: Verdict }[];
  readonly diagnostics: readonly { readonly message: string }[];
  readonly timings?: { readonly check: number };
}

const commandLine = fileURLToPath(new URL('../../dist/cli.js', import.meta.url));
const { values, positionals } = parseArgs({
  options: { json: { type: 'string' }, jobs: { type: 'string', default: '2' } },
  allowPositionals: true,
});
const [, checkout, facts, ...words] = positionals;
if (checkout === undefined || facts === undefined) {
  process.stderr.write('usage: npm run suite -- gpuverify CHECKOUT FACTS [WORD…] [--json FILE] [--jobs N]\n');
  process.exit(2);
}

const worstLast = ['skipped', 'proved', 'possible', 'unknown', 'race', 'divergent'];
const configuration = (lockstep: boolean, equalWrites: 'allow' | 'warning'): string => `version: 1
checks:
  race: { severity: error, same-value-writes: ${equalWrites}, warp-lockstep: ${lockstep} }
`;
/** Threads of a warp on every device. */
const warpSize = 32;

const scratch = mkdtempSync(join(tmpdir(), 'selvage-suite-'));
try {
  const configFor = (lockstep: boolean, equalWrites: 'allow' | 'warning'): string => {
    const config = join(scratch, `lockstep-${lockstep}-${equalWrites}.yml`);
    writeFileSync(config, configuration(lockstep, equalWrites));
    return config;
  };
  const { kernels } = JSON.parse(readFileSync(join(facts, 'kernels.json'), 'utf8')) as { kernels: readonly Fact[] };
  const chosen = kernels.filter(({ path }) => words.length === 0 || words.some((word) => path.includes(word)));
  const rows: Row[] = [];
  const left = chosen.entries();
  await Promise.all(
    Array.from({ length: Number(values.jobs) }, async () => {
      for (const [index, fact] of left) rows[index] = await rowOf(fact, index, resolve(checkout), resolve(facts), configFor);
    }),
  );
  print(rows);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(rows, null, 1)}\n`);
  if (rows.some(({ outcome, alone }) => outcome === 'wrong' || alone?.outcome === 'wrong')) process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

async function rowOf(
  fact: Fact,
  index: number,
  root: string,
  shimFolder: string,
  configFor: (lockstep: boolean, equalWrites: 'allow' | 'warning') => string,
): Promise<Row> {
  const config = (lockstep: boolean): string => configFor(lockstep, fact.expected === 'race-free' ? 'allow' : 'warning');
  const file = join(root, fact.path.split('/').slice(1).join('/'));
  const threads = fact.blockDim.reduce((product, size) => product * size, 1);
  // Warps of another size cannot be assumed; a block of one warp is one, of any size.
  const isLockstep = fact.warpSync === warpSize || (fact.warpSync !== undefined && threads <= fact.warpSync);
  const row = await score(fact, file, shimFolder, config(isLockstep), isLockstep);
  if (row.outcome === 'excluded') return row;
  const refusal = await assemble(file, fact, shimFolder, join(scratch, `${index}.cubin`));
  if (refusal !== null) return { ...row, outcome: 'excluded', reason: refusal };
  if (!isLockstep) return row;
  const { outcome, race } = await score(fact, file, shimFolder, config(false), false);
  return { ...row, alone: { outcome, race } };
}

/** Messages of nvcc or ptxas if the file does not compile to machine code; null if it does. */
function assemble(file: string, fact: Fact, shimFolder: string, output: string): Promise<string | null> {
  const words = ['-cubin', '-arch=sm_80', ...compilerWords(fact, shimFolder), file, '-o', output];
  return new Promise((done) => {
    const child = spawn('nvcc', words, { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part));
    child.on('close', (code) => {
      const [said] = errors.split('\n').filter((line) => /fatal|error/i.test(line));
      done(code === 0 ? null : `it does not assemble: ${said ?? `nvcc ends with ${code}`}`);
    });
  });
}

function compilerWords({ flags }: Fact, shimFolder: string): string[] {
  const defined = flags.filter((flag) => /^-[DU]/.test(flag));
  return ['-std=c++17', '-include', join(shimFolder, 'shim.h'), '-DGPUV_MODE=2', ...defined];
}

async function score(fact: Fact, file: string, shimFolder: string, config: string, isLockstep: boolean): Promise<Row> {
  const { path, expected } = fact;
  const started = performance.now();
  let { report, message } = await check(file, fact, shimFolder, config);
  const wall = performance.now() - started;
  const preconditions = preconditionsOf(report);
  if (expected !== 'race-free' && preconditions.length > 0) {
    const negated = `!(${preconditions.map((text) => `(${text})`).join(' && ')})`;
    ({ report, message } = await check(file, fact, shimFolder, config, ['--assume', negated]));
  }
  const worst = (kind: 'race' | 'divergence'): Verdict | undefined =>
    report?.kernels.map((kernel) => kernel[kind]).sort((a, b) => worstLast.indexOf(b.verdict) - worstLast.indexOf(a.verdict))[0];
  const race = worst('race');
  const divergence = worst('divergence');
  const row = { path, expected, preconditions, race: race?.verdict ?? '-', divergence: divergence?.verdict ?? '-' };
  const times = { check: report?.timings?.check ?? 0, wall };
  if (expected === 'other-xfail') return { ...row, ...times, outcome: 'excluded', reason: 'not about races' };
  if (!race || !divergence) return { ...row, ...times, outcome: 'excluded', reason: message };
  const confirmed = [...race.findings, ...divergence.findings].find((finding) => finding.confirmed === true)?.message;
  const open = [race, divergence].find(({ verdict }) => verdict === 'possible' || verdict === 'unknown');
  const reason = open?.reason ?? confirmed ?? '';
  const isEqual = race.findings.some((finding) => finding.confirmed === true && finding.sameValue === true);
  if (expected === 'race' && race.verdict === 'proved' && isEqual)
    return { ...row, ...times, outcome: 'right', equalWrites: true, reason: '' };
  const outcome = classify(fact, race.verdict, divergence.verdict, isLockstep);
  return { ...row, ...times, outcome, reason: outcome === 'right' ? '' : reason };
}

function preconditionsOf(report: Report | null): string[] {
  const assumptions = report?.kernels.flatMap(({ race, divergence }) => [race, divergence].flatMap((verdict) => verdict.assumptions ?? []));
  return [...new Set(assumptions?.flatMap(({ kind, text }) => (kind === 'precondition' ? [text] : [])))];
}

function classify({ expected, warpSync, visibleInPtx }: Fact, race: string, divergence: string, isLockstep: boolean): Outcome {
  const proved = race === 'proved' && divergence === 'proved';
  const found = race === 'race' || divergence === 'divergent';
  if (expected === 'race-free') {
    if (proved) return 'right';
    if (!found) return 'undecided';
    // Without lockstep these kernels do race.
    return warpSync !== undefined && !isLockstep && race === 'race' && divergence !== 'divergent' ? 'right' : 'wrong';
  }
  if (proved) return visibleInPtx === false ? 'excluded' : 'wrong';
  return (expected === 'race' ? race === 'race' : divergence === 'divergent') ? 'right' : 'undecided';
}

function check(
  file: string,
  fact: Fact,
  shimFolder: string,
  config: string,
  more: readonly string[] = [],
): Promise<{ readonly report: Report | null; readonly message: string }> {
  const dimensions = ['--block', fact.blockDim.join(','), '--grid', fact.gridDim.join(',')];
  const options = [...dimensions, '--arch', 'sm_80', '--config', config, '--format', 'json', '--timings', ...more];
  const words = ['check', file, ...options, '--', ...compilerWords(fact, shimFolder)];
  return new Promise((done) => {
    const child = spawn(process.execPath, [commandLine, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part));
    child.on('close', () => {
      const report = text === '' ? null : (JSON.parse(text) as Report);
      const [said] = report?.diagnostics ?? [];
      done({ report, message: said?.message ?? errors.trim().split('\n')[0] ?? '' });
    });
  });
}

function print(rows: readonly Row[]): void {
  const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);
  for (const outcome of ['wrong', 'undecided', 'excluded'] as const) {
    const list = rows.filter((row) => row.outcome === outcome);
    writeLine(`\n${outcome}: ${list.length}`);
    for (const { path, expected, race, divergence, reason } of list)
      writeLine(`  ${path}  expected ${expected}, race ${race}, divergence ${divergence}: ${reason}`);
  }
  const alone = rows.flatMap((row) => (row.alone ? [{ ...row, ...row.alone }] : []));
  writeLine(`\nwithout warp-lockstep: ${alone.length}`);
  for (const { path, expected, race, outcome } of alone) writeLine(`  ${path}  expected ${expected}, race ${race}: ${outcome}`);
  writeLine('');
  for (const expected of ['race-free', 'race', 'divergence'] as const) {
    const scored = rows.filter((row) => row.expected === expected && row.outcome !== 'excluded');
    const right = scored.filter(({ outcome }) => outcome === 'right').length;
    const wrong = scored.filter(({ outcome }) => outcome === 'wrong').length;
    const share = ((100 * right) / Math.max(1, scored.length)).toFixed(1);
    const stated = scored.filter(({ preconditions }) => preconditions.length > 0);
    const under = stated.map(({ path, preconditions }) => `\n  ${path}  ${preconditions.join('; ')}`).join('');
    writeLine(`${expected}: ${right} of ${scored.length} right (${share} %), ${wrong} wrong; ${stated.length} with preconditions${under}`);
  }
  const equal = rows.filter(({ equalWrites }) => equalWrites === true);
  writeLine(`of the races only writes of equal values: ${equal.length}${equal.map(({ path }) => `\n  ${path}`).join('')}`);
  const times = rows.map(({ check: own }) => own).sort((a, b) => a - b);
  const at = (share: number): string => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(0);
  writeLine(`only the checker: median ${at(0.5)} ms, 90th percentile ${at(0.9)} ms, most ${at(1)} ms`);
}
