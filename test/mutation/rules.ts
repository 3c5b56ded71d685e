/**
 * What each rule decides: switches the functions of rooms off, one at a time, and compares the reports of test kernels:
 * `node test/mutation/rules.ts ROOM… --out FILE [--kernels PATH]… [--checks LIST] [--all] [--after FILE] [--most N]
 * [--stuck SECONDS]`. A room is a folder or file of `src/`; its rules are its exported functions, or all, and with
 * `--after` only those that changed nothing in an earlier measurement. FILE has a line of JSON for each file of kernels,
 * with the rules that returned something for its report, and one for each rule, with the first file whose report changes
 * without it; it is continued. Files with recorded PTX are read from that, others are compiled. At most N files are tried for a rule, the
 * quickest first.
 */
import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Build } from '../../src/toolchain/compile.ts';
import type { Options } from '../../src/settings/options.ts';
import { RuleSwitches, type Rule, rulesIn } from './rule-switches.ts';

const root = resolve(fileURLToPath(new URL('../..', import.meta.url)));
const { values, positionals } = parseArgs({
  options: {
    out: { type: 'string' },
    kernels: { type: 'string', multiple: true, default: ['test/kernels', 'test/idempotency/kernels'] },
    checks: { type: 'string', default: 'race,divergence,cost,idempotency' },
    all: { type: 'boolean', default: false },
    after: { type: 'string' },
    most: { type: 'string', default: '400' },
    stuck: { type: 'string', default: '180' },
    child: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const { out } = values;
if (out === undefined || positionals.length === 0) {
  process.stderr.write('usage: node test/mutation/rules.ts ROOM… --out FILE [--kernels PATH]…\n');
  process.exit(2);
}

/** The report on a file of kernels. */
interface Baseline {
  readonly file: string;
  readonly digest: string;
  readonly milliseconds: number;
  /** The rules that returned something: the report is the same without any other one. */
  readonly returned: readonly string[];
}

/** What becomes of the reports without a rule. */
interface Outcome {
  readonly rule: string;
  readonly lines: number;
  /** For how many files the rule returned something, and how many of them were tried. */
  readonly returning: number;
  readonly tried: number;
  /** The first file whose report changes, and what changes there; null if none does. */
  readonly file: string | null;
  readonly change?: string;
}

interface Line {
  readonly baseline?: Baseline;
  readonly begun?: string;
  readonly outcome?: Outcome;
}

function readLines(path = out!): Line[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line);
}
const write = (line: Line): void => appendFileSync(out, `${JSON.stringify(line)}\n`);

function filesBelow(folder: string, end: string): string[] {
  if (statSync(join(root, folder)).isFile()) return [folder];
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith(end))
    .map((path) => join(folder, path))
    .sort();
}

/** Measures the rules that no line of the file is about. */
async function measure(): Promise<void> {
  const open =
    values.after === undefined
      ? null
      : new Set(readLines(values.after).flatMap(({ outcome }) => (outcome?.file === null ? outcome.rule : [])));
  const rules = rulesIn(
    root,
    positionals.flatMap((room) => filesBelow(relative(root, resolve(root, room)), '.ts')),
  ).filter(({ id, isExported }) => (open ? open.has(id) : isExported || values.all));
  const switches = new RuleSwitches(root, rules);
  const { analyseCheckedIn } = await import('../kernels/checked-in.ts');
  const { renderJson } = await import('../../src/report/json.ts');
  const { compilePortable, ptxFile } = await import('../kernels/portable-ptx.ts');
  const { findCompiler } = await import('../../src/toolchain/compiler.ts');
  const checks = values.checks.split(',') as unknown as Options['checks'];
  const compiled = new Map<string, Promise<string>>();
  const compile = async (file: string, build: Build): Promise<string> => {
    const found = await findCompiler({ env: process.env, folders: [] });
    if (!('compiler' in found)) throw new Error(`${file} has no recorded PTX, and nvcc is not installed`);
    return compilePortable(found.compiler, file, build);
  };
  const report = async (file: string): Promise<string> => {
    const options = { checks, jobs: 1 };
    const builds = ['verification', 'production'] as const;
    const isRecorded = builds.every((build) => existsSync(ptxFile(file, build)));
    const built = (build: Build): Promise<string> => {
      const key = `${build} ${file}`;
      const text = compiled.get(key) ?? compile(file, build);
      compiled.set(key, text);
      return text;
    };
    try {
      return renderJson(await analyseCheckedIn(file, { options, ...(!isRecorded && { compile: built }) }));
    } catch (error) {
      return String(error);
    }
  };
  const known = readLines();
  const baselines = new Map(known.flatMap(({ baseline }) => (baseline ? [[baseline.file, baseline] as const] : [])));
  const texts = new Map<string, string>();
  for (const file of values.kernels.flatMap((folder) => filesBelow(folder, '.cu'))) {
    if (baselines.has(file)) continue;
    const started = performance.now();
    const [text, returned] = await switches.without([], () => report(file));
    texts.set(file, text);
    const baseline = { file, digest: digestOf(text), milliseconds: Math.round(performance.now() - started), returned };
    baselines.set(file, baseline);
    write({ baseline });
  }
  const measured = new Set(known.flatMap(({ begun, outcome }) => begun ?? outcome?.rule ?? []));
  for (const rule of rules) {
    if (measured.has(rule.id)) continue;
    write({ begun: rule.id });
    write({ outcome: await outcomeOf(rule, [...baselines.values()]) });
  }

  async function outcomeOf(rule: Rule, all: readonly Baseline[]): Promise<Outcome> {
    const returning = all.filter(({ returned }) => returned.includes(rule.id)).sort((a, b) => a.milliseconds - b.milliseconds);
    const counts = { rule: rule.id, lines: rule.lines, returning: returning.length };
    let tried = 0;
    for (const { file, digest } of returning.slice(0, Number(values.most))) {
      tried++;
      const [text] = await switches.without([rule], () => report(file));
      if (digestOf(text) === digest) continue;
      const before = texts.get(file) ?? (await switches.without([], () => report(file)))[0];
      texts.set(file, before);
      // A report that differs in each run shows nothing.
      if (digestOf(before) === digest) return { ...counts, tried, file, change: changeOf(before, text) };
    }
    return { ...counts, tried, file: null };
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** The first lines that differ. */
function changeOf(before: string, after: string): string {
  const [a, b] = [before, after].map((text) => text.split('\n').map((line) => line.trim()));
  const at = a!.findIndex((line, index) => line !== b![index]);
  return `${a![at]?.slice(0, 150)} => ${b![at]?.slice(0, 150)}`;
}

/** Measures in a process that is killed if a rule takes too long: without it the analysis may not end. */
function supervise(): void {
  const child = spawn(process.execPath, [...process.argv.slice(1), '--child'], { stdio: 'inherit' });
  let size = -1;
  let since = Date.now();
  const timer = setInterval(() => {
    const now = existsSync(out!) ? statSync(out!).size : 0;
    if (now !== size) [size, since] = [now, Date.now()];
    else if (Date.now() - since > 1000 * Number(values.stuck)) child.kill('SIGKILL');
  }, 1000);
  child.on('exit', (status, signal) => {
    clearInterval(timer);
    if (signal === 'SIGKILL') supervise();
    else {
      print();
      process.exitCode = status ?? 1;
    }
  });
}

/** Prints a table of the rules: what changes first without each. */
function print(): void {
  const lines = readLines();
  const outcomes = new Map(lines.flatMap(({ outcome }) => (outcome ? [[outcome.rule, outcome] as const] : [])));
  for (const { begun } of lines) if (begun !== undefined && !outcomes.has(begun)) process.stdout.write(`does not end: ${begun}\n`);
  for (const { rule, lines: length, returning, tried, file, change } of outcomes.values())
    process.stdout.write(
      file === null
        ? `nothing changes: ${rule} (${length} lines, returns something for ${returning} files, ${tried} tried)\n`
        : `decides: ${rule}: ${file}: ${change ?? ''}\n`,
    );
}

if (values.child) await measure();
else supervise();
