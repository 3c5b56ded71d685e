/**
 * Z3 as a program of the system, as a {@link Solver}: one process a session, so that no answer depends on earlier
 * questions, driven over its standard input, and killed when a check exceeds its CPU limit.
 */
import { accessSync, constants as fileModes, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { ProcessSession, runProcess } from '../system/child-process.ts';
import { deadlineIn } from '../system/deadline.ts';
import { arithmeticSolver } from './limits.ts';
import { declaredConstants, scriptProblem, unquoted } from './script.ts';
import type { Solver, SolverAnswer, SolverSession } from './solver.ts';

interface NativeZ3Options {
  /** Default limit in milliseconds of CPU, after which a check is killed. Generous: `units` bound it. */
  readonly hardLimit?: number;
  /** Memory limit of a process in mebibytes. */
  readonly memory?: number;
}

/** Z3 needs no environment, and its messages are parsed. */
const environment = { LC_ALL: 'C' };
/** Not the folder of the code under review: Z3 must not read files from it. */
const workingFolder = '/';

/**
 * Looks for `z3` on a search path.
 * @param path the value of PATH; entries that depend on the working directory are skipped
 * @returns its absolute path; undefined if not found
 */
export function findNativeZ3(path: string | undefined): string | undefined {
  const folders = (path ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, 'z3')).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, fileModes.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/**
 * A solver that runs a program of the system.
 * @param file its absolute path
 * @throws Error if it does not run, or is not Z3
 */
export async function startNativeZ3(file: string, options: NativeZ3Options = {}): Promise<Solver> {
  const { hardLimit = 120_000, memory = 4096 } = options;
  const version = await versionOf(file);
  const open = new Set<NativeSession>();
  let closed = false;
  return {
    name: `z3 ${version} (native)`,
    open: () => {
      const session = new NativeSession(file, memory);
      open.add(session);
      return {
        add: (script) => session.add(script),
        check: async (assumptions, units, milliseconds = hardLimit) =>
          closed ? { kind: 'unknown', reason: 'the solver was closed' } : session.check(assumptions, units, milliseconds),
        cpu: () => session.cpu(),
        dispose: () => {
          session.dispose();
          open.delete(session);
        },
      } satisfies SolverSession;
    },
    close: async () => {
      closed = true;
      await Promise.all([...open].map((session) => session.kill()));
    },
  };
}

async function versionOf(file: string): Promise<string> {
  const { end, stdout } = await runProcess({
    executable: file,
    args: ['--version'],
    cwd: workingFolder,
    env: environment,
    limits: { milliseconds: 10_000, outputBytes: 2 ** 16 },
  });
  const version = /^Z3 version (\S+)/.exec(stdout)?.[1];
  if (version !== undefined) return version;
  const why = end.kind === 'not-started' ? end.reason : stdout.slice(0, 200).trim();
  throw new Error(`${file} is not a Z3 that runs here: ${why || 'it does not print its version'}`);
}

/** An answer of Z3, or the reason for its failure. */
type Reply =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'killed' }
  | { readonly kind: 'broken'; readonly message: string };

const mark = 'selvage-reply-ends';
/** Maximum size of one answer: a larger model is useless. */
const maxOutput = 2 ** 28;

class NativeSession {
  private readonly file: string;
  private readonly memory: number;
  private readonly scripts: string[] = [];
  private readonly constants = new Map<string, bigint | boolean>();
  private refusal: string | undefined;
  /** The process, and the number of scripts that were passed to it. */
  private running: { readonly session: ProcessSession; sent: number } | undefined;
  private last: Promise<unknown> = Promise.resolve();
  /** Milliseconds of CPU of ended processes. */
  private ended = 0;

  constructor(file: string, memory: number) {
    this.file = file;
    this.memory = memory;
  }

  add(script: string): void {
    const problem = scriptProblem(script);
    if (problem !== undefined) this.refusal ??= `Z3: ${problem}`;
    this.scripts.push(script);
    for (const [name, value] of declaredConstants(script)) this.constants.set(name, value);
  }

  check(assumptions: readonly string[], units: number, milliseconds: number): Promise<SolverAnswer> {
    const answer = this.last.then(() => this.decide(assumptions, units, milliseconds));
    this.last = answer.catch(() => {});
    return answer;
  }

  dispose(): void {
    void this.last.then(() => this.kill());
  }

  cpu(): number | undefined {
    const cpu = this.running === undefined ? 0 : this.running.session.cpu();
    return cpu === undefined ? undefined : this.ended + cpu;
  }

  /** Ends the process; a check that waits for it is answered `unknown`. */
  async kill(): Promise<void> {
    const session = this.running?.session;
    this.ended += session?.cpu() ?? 0;
    this.running = undefined;
    await session?.kill();
  }

  private async decide(assumptions: readonly string[], units: number, milliseconds: number): Promise<SolverAnswer> {
    if (this.refusal !== undefined) throw new Error(this.refusal);
    const unknown = assumptions.find((name) => typeof this.constants.get(unquoted(name)) !== 'boolean');
    if (unknown !== undefined) return this.refuse(`Z3: assumption ${unknown} is not a declared Bool`);
    // A process that died between checks is replaced.
    if (this.running?.session.hasEnded === true) this.running = undefined;
    const process = (this.running ??= { session: this.start(), sent: 0 });
    const scripts = this.scripts.slice(process.sent);
    process.sent = this.scripts.length;
    const { left } = deadlineIn(milliseconds, () => process.session.cpu());
    const literals = assumptions.map((name) => `|${unquoted(name)}|`).join(' ');
    const limit = `(set-option :rlimit ${units})`;
    const question = [...scripts, limit, `(check-sat-assuming (${literals}))`].join('\n');
    const verdict = await this.ask(question, left());
    if (verdict.kind !== 'text') return this.unanswered(verdict, milliseconds);
    if (verdict.text === 'unsat') return { kind: 'unsat' };
    if (verdict.text === 'unknown') return this.reason(await this.ask('(get-info :reason-unknown)', left()), milliseconds);
    if (verdict.text !== 'sat') return this.refuse(`Z3: ${verdict.text}`);
    const names = [...this.constants.keys()];
    if (names.length === 0) return { kind: 'sat', model: new Map() };
    const values = await this.ask(`(get-value (${names.map((name) => `|${name}|`).join(' ')}))`, left());
    if (values.kind !== 'text') return this.unanswered(values, milliseconds);
    return { kind: 'sat', model: readValues(values.text, this.constants) };
  }

  private reason(reply: Reply, milliseconds: number): SolverAnswer {
    if (reply.kind !== 'text') return this.unanswered(reply, milliseconds);
    const reason = /^\(:reason-unknown "(.*)"\)$/s.exec(reply.text)?.[1] ?? reply.text;
    return { kind: 'unknown', reason: budgetWords.test(reason) ? 'solver budget exhausted' : reason };
  }

  private unanswered(reply: Exclude<Reply, { kind: 'text' }>, milliseconds: number): SolverAnswer {
    const reason = reply.kind === 'killed' ? `solver killed after ${milliseconds / 1000} s` : `Z3 broke down: ${reply.message}`;
    return { kind: 'unknown', reason, nondeterministic: true };
  }

  private refuse(message: string): never {
    this.refusal = message;
    throw new Error(message);
  }

  private start(): ProcessSession {
    const args = ['-smt2', '-in', '-nw', `-memory:${this.memory}`, `smt.arith.solver=${arithmeticSolver}`];
    return new ProcessSession({ executable: this.file, args, cwd: workingFolder, env: environment });
  }

  private async ask(commands: string, milliseconds: number): Promise<Reply> {
    const session = this.running?.session;
    if (session === undefined) return { kind: 'broken', message: 'its process was ended' };
    const limits = { milliseconds, outputBytes: maxOutput };
    const reply = await session.ask(`${commands}\n(echo "${mark}")\n`, mark, limits);
    if (reply.kind === 'text') return reply;
    await this.kill();
    if (reply.kind === 'time-limit') return { kind: 'killed' };
    if (reply.kind === 'output-limit') return { kind: 'broken', message: 'it printed too much' };
    return { kind: 'broken', message: reply.printed.slice(0, 200) || 'its process ended' };
  }
}

/** Messages of Z3 versions when a query has used up its `rlimit`. */
const budgetWords = /^(?:canceled|max\. resource limit exceeded|.*resource limits? reached.*)$/;

const valuePair = /\(\s*(\|[^|]*\||[^\s()|]+)\s+(true|false|#x[\da-f]+|#b[01]+|\d+|\(\s*-\s*\d+\s*\)|\(_ bv\d+ \d+\))\s*\)/g;

/**
 * Reads the answer to `get-value`.
 * @throws Error if the value of a constant has an unknown form
 */
function readValues(text: string, constants: ReadonlyMap<string, bigint | boolean>): ReadonlyMap<string, bigint | boolean> {
  const values = new Map<string, bigint | boolean>();
  for (const [, name = '', value = ''] of text.matchAll(valuePair)) {
    values.set(unquoted(name), value === 'true' || value === 'false' ? value === 'true' : readInteger(value));
  }
  const valueOfConstant = (name: string): bigint | boolean => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`Z3: no value of ${name} in ${text.slice(0, 200)}`);
    return value;
  };
  return new Map([...constants.keys()].map((name) => [name, valueOfConstant(name)]));
}

function readInteger(text: string): bigint {
  if (text.startsWith('#')) return BigInt(`0${text.slice(1)}`);
  const digits = /\d+/.exec(text.replace('_ bv', ''))?.[0] ?? '0';
  return text.startsWith('(') && text.includes('-') ? -BigInt(digits) : BigInt(digits);
}
