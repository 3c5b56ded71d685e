/**
 * Parses seeded damage to PTX texts, lowers the remaining kernels, and checks properties of every result. A separate
 * process, so that a hang can be ended: `node ptx-run.ts SEED COUNT EVERY` prints a {@link Summary} and exits with 1 if
 * a property is violated; every `EVERY`-th text is also given to ptxas (0: none), and every 20th is checked.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { promisify } from 'node:util';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { decode } from '../../src/isa/table.ts';
import { seededRandom } from '../../src/base/random.ts';
import type { Function, Module, PtxStatement } from '../../src/ptx/ast.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { printModule } from '../../src/ptx/printer.ts';
import type { Diagnostic } from '../../src/source/diagnostic.ts';
import { closeSolver, requestFor } from '../check/kernel-text.ts';
import { filesBelow, readText, withoutSpans } from '../ptx/tree.ts';
import { anatomyOf, mutate, type Anatomy, type Mutation } from './ptx-mutation.ts';

export interface Summary {
  /** Texts, by mutation. */
  readonly mutations: Readonly<Record<string, number>>;
  /** Texts with a diagnostic, and texts that are known to be invalid. */
  readonly diagnosed: number;
  readonly invalid: number;
  /** Statements before the damage, all of which survived. */
  readonly survivors: number;
  /** Kernels lowered, and kernels checked. */
  readonly lowered: number;
  readonly checked: number;
  /** Milliseconds that the slowest text took. */
  readonly slowest: number;
  /** Violated properties, with the seed and number of the text. */
  readonly failures: readonly string[];
  /** Texts that ptxas read; null if ptxas is not installed. */
  readonly assembled: number | null;
  /** Texts that ptxas rejects as syntactically incorrect and we accept. */
  readonly missed: readonly string[];
  /** Texts that ptxas accepts and we do not. */
  readonly refused: readonly string[];
}

interface Base {
  readonly file: string;
  readonly anatomy: Anatomy;
  readonly target: string;
  readonly statements: readonly FlatStatement[];
}

/** A statement without its scope, as text that leaves out its position. */
interface FlatStatement {
  readonly text: string;
  readonly kind: PtxStatement['kind'];
  readonly offset: number;
}

/** A text that takes this number of milliseconds hangs: others take less than a hundred. */
const hang = 30_000;
/** Every text whose number is a multiple of it is checked too. */
const checkEvery = 20;
/** A check ends early: only the absence of exceptions is tested. */
const budget = { solverUnits: 2_000, evaluations: 10_000, replaySteps: 5_000, expired: () => false };

const LOCAL_CODES = new Set(['ptx/syntax', 'ptx/literal', 'ptx/truncated', 'ptx/marker', 'ptx/limit']);
const SYNTAX_ERROR = /syntax error|unexpected EOF|Missing \.(?:version|target)/;

function flatten(module: Module, text: string): FlatStatement[] {
  const lineStarts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lineStarts.push(at + 1);
  const flat: FlatStatement[] = [];
  const visit = (name: string, body: readonly PtxStatement[]): void => {
    for (const statement of body) {
      const { kind, span } = statement;
      const { body: inner, ...rest } = withoutSpans(statement) as Record<string, unknown>;
      const fields = JSON.stringify(rest, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));
      flat.push({ text: `${name}: ${fields}`, kind, offset: lineStarts[span.line - 1]! + span.column - 1 });
      if (inner && statement.kind === 'scope') visit(name, statement.body);
    }
  };
  for (const item of functionsOf(module)) visit(item.name, item.body ?? []);
  return flat;
}

function functionsOf(module: Module): Function[] {
  return module.items.filter((item): item is Function => item.kind === 'entry' || item.kind === 'func');
}

/** Number of statements that end before an offset, with their terminators. */
function completeBefore(statements: readonly FlatStatement[], offset: number): number {
  let complete = 0;
  // A label or a .loc has no terminator: the next token may become a part of it, with markers in between.
  let last = statements.findLastIndex((statement) => statement.offset <= offset);
  while (last > 0 && /^(?:loc|label|marker)$/.test(statements[last - 1]!.kind)) last--;
  for (let at = 0; at < last; at++) if (statements[at]!.offset < statements[last]!.offset) complete = at + 1;
  return complete;
}

/** Returns the number of statements that had to survive. @throws if a property of every text is violated */
function check(base: Base, mutation: Mutation, module: Module, diagnostics: readonly Diagnostic[]): number {
  const lines = mutation.text.split('\n').length;
  for (const { location, message } of diagnostics) {
    assert.ok(location && location.line >= 1 && location.line <= lines, `a line of the text: ${message}`);
    // Names of C++ have any length.
    assert.match(message.replaceAll(/`[\w$]+`/g, '`name`'), /^[^\n]{10,400}$/);
  }
  assert.ok(diagnostics.length <= 101, 'a bounded number of diagnostics');
  assert.ok(!mutation.invalid || diagnostics.length > 0, 'a diagnostic for an invalid text');

  const functions = functionsOf(module);
  for (const { code, location } of diagnostics) {
    if (!LOCAL_CODES.has(code)) continue;
    // A mistake may be seen only at the first token of the next item.
    const isBefore = ({ span }: Function): boolean =>
      span.line < location!.line || (span.line === location!.line && span.column < location!.column!);
    const holder = functions.findLast(isBefore);
    const next = module.items.find((item) => holder && item.span.line > holder.span.line);
    if (!holder?.body || (next && next.span.line <= location!.line)) continue;
    assert.ok(holder.faulty, `${holder.name} holds ${code} at line ${location!.line} and is not faulty`);
  }
  for (const item of functions) {
    const damaged = item.truncated || JSON.stringify(item.body ?? [], keepKinds).includes('"damage"');
    assert.ok(!damaged || item.faulty, `${item.name} is damaged and not faulty`);
    assert.ok(!damaged || diagnostics.length > 0, 'a diagnostic for damage');
  }

  const survivors = completeBefore(base.statements, mutation.offset);
  const found = flatten(module, mutation.text);
  for (let at = 0; at < survivors; at++) {
    assert.equal(found[at]?.text, base.statements[at]!.text, `statement ${at} of ${survivors} before the damage`);
  }

  const printed = printModule(module);
  if (diagnostics.length === 0) {
    const again = parsePtx(printed);
    assert.deepEqual(again.diagnostics, []);
    assert.deepEqual(withoutSpans(again.module), withoutSpans(module));
  }
  return survivors;
}

function keepKinds(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? 0 : value;
}

/** Messages of ptxas, or null if it accepts the text. */
async function assemble(text: string, target: string, path: string): Promise<string | null> {
  writeFileSync(path, text);
  return promisify(execFile)('ptxas', [`-arch=${target}`, '-o', `${path}.cubin`, path], { timeout: 20_000 }).then(
    () => null,
    (error: { stderr?: string }) => error.stderr ?? 'stopped',
  );
}

function baseOf(file: string): Base {
  const text = readText(file);
  const { module } = parsePtx(text);
  return { file, anatomy: anatomyOf(text), target: module.target[0]!, statements: flatten(module, text) };
}

/** Whether a line contains an instruction that is not in the table of instructions: lowering reports it. */
function isUnknownInstruction(text: string, line: number): boolean {
  const find = (body: readonly PtxStatement[]): boolean =>
    body.some((statement) => {
      if (statement.kind === 'scope') return find(statement.body);
      if (statement.kind !== 'instruction' || statement.span.line !== line) return false;
      return decode(statement.opcode, statement.modifiers) === null;
    });
  return functionsOf(parsePtx(text).module).some((item) => find(item.body ?? []));
}

async function main(seed: number, count: number, every: number): Promise<Summary> {
  // The samples contain more of the language than the kernels: half of the texts come from them.
  const samples = filesBelow('test/ptx/language', '.ptx').map(baseOf);
  const kernels = filesBelow('test/kernels', '.ptx').map(baseOf);
  const mutations: Record<string, number> = {};
  const failures: string[] = [];
  const fail = (text: string): void => {
    failures.push(text);
    writeSync(2, `${text}\n`);
  };
  const missed: string[] = [];
  const refused: string[] = [];
  const pending: { name: string; text: string; target: string; complaint: string | undefined }[] = [];
  let diagnosed = 0;
  let invalid = 0;
  let survivors = 0;
  let lowered = 0;
  let checked = 0;
  let slowest = 0;
  for (let number = 0; number < count; number++) {
    const random = seededRandom(seed * 1_000_003 + number);
    const base = random.pick(kernels.length === 0 || random.chance(0.5) ? samples : kernels);
    let mutation = mutate(base.anatomy, random);
    if (random.chance(0.3)) {
      const second = mutate(anatomyOf(mutation.text), random);
      mutation = {
        name: `${mutation.name} + ${second.name}`,
        text: second.text,
        offset: Math.min(mutation.offset, second.offset),
        // The second may happen to undo the first.
        invalid: false,
      };
    } else {
      mutations[mutation.name] = (mutations[mutation.name] ?? 0) + 1;
    }
    const name = `seed ${seed}, text ${number} (${mutation.name} in ${base.file})`;
    if (number % 200 === 0) writeSync(2, `${name}\n`);
    if (mutation.invalid) invalid++;
    const started = performance.now();
    try {
      const { module, diagnostics } = parsePtx(mutation.text, base.file);
      if (diagnostics.length > 0) diagnosed++;
      survivors += check(base, mutation, module, diagnostics);
      const { kernels: left } = lowerModule(module);
      lowered += left.length;
      if (number % checkEvery === 0 && left.length > 0) {
        checked++;
        await checkKernel(requestFor(random.pick(left), { parameters: [], budget }));
      }
      if (every > 0 && number % every === 0) {
        const [first] = diagnostics;
        const complaint = first && `${first.code} in line ${first.location?.line}: ${first.message}`;
        pending.push({ name, text: mutation.text, target: base.target, complaint });
      }
    } catch (error) {
      fail(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
    const took = performance.now() - started;
    if (took > hang) fail(`${name}: took ${Math.round(took)} ms`);
    slowest = Math.max(slowest, Math.round(took));
  }

  await closeSolver();
  const hasAssembler =
    every > 0 &&
    (await promisify(execFile)('ptxas', ['--version']).then(
      () => true,
      () => false,
    ));
  if (hasAssembler) {
    const folder = mkdtempSync(join(tmpdir(), 'selvage-fuzz-'));
    let next = 0;
    const worker = async (id: number): Promise<void> => {
      while (next < pending.length) {
        const { name, text, target, complaint } = pending[next++]!;
        const answer = await assemble(text, target, join(folder, `${id}.ptx`));
        const wrong = answer !== null && SYNTAX_ERROR.test(answer) ? answer.split('\n')[0]! : undefined;
        const line = Number(/line (\d+)/.exec(wrong ?? '')?.[1]);
        if (wrong && !complaint && !isUnknownInstruction(text, line)) missed.push(`${name}: ${wrong}`);
        if (answer === null && complaint) refused.push(`${name}: ${complaint}`);
      }
    };
    await Promise.all([worker(0), worker(1)]);
    rmSync(folder, { recursive: true });
  }
  return {
    mutations,
    diagnosed,
    invalid,
    survivors,
    lowered,
    checked,
    slowest,
    failures,
    assembled: hasAssembler ? pending.length : null,
    missed,
    refused,
  };
}

if (import.meta.main) {
  const [seed, count, every] = process.argv.slice(2).map(Number);
  const summary = await main(seed!, count!, every ?? 0);
  console.log(JSON.stringify(summary));
  process.exitCode = summary.failures.length > 0 ? 1 : 0;
}
