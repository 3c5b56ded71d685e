/** Answers of prover and race detector for litmus programs, compared with the oracle. */
import { decideProgram } from './oracle.ts';
import { launchOf } from './print.ts';
import type { LitmusProgram } from './program.ts';
import { type Detected, detected, kernelsOf, usualSteps, type Verdict, verdictOf } from './subject.ts';

export interface Answer {
  readonly program: LitmusProgram;
  /** By the oracle, as PTX has it: volatile accesses are strong. */
  readonly isRacy: boolean;
  readonly verdict: Verdict;
  readonly detected: Detected;
  /** If an access is volatile: by the oracle and the prover, with the semantics of CUDA C++. */
  readonly volatile: { readonly isRacy: boolean; readonly verdict: Verdict } | null;
}

function isVolatile({ threads }: LitmusProgram): boolean {
  return threads.some(({ segments }) => segments.flat().some(({ order }) => order === 'volatile'));
}

/**
 * @param options.schedules runs of the interpreter
 * @param options.steps thread-instructions of one run
 */
export async function answersTo(
  programs: readonly LitmusProgram[],
  { schedules, steps = usualSteps }: { readonly schedules: number; readonly steps?: number },
): Promise<readonly Answer[]> {
  const kernels = kernelsOf(programs);
  const answers: Answer[] = [];
  for (const [index, program] of programs.entries()) {
    const kernel = kernels[index]!;
    const { races, volatileRaces } = decideProgram(program);
    answers.push({
      program,
      isRacy: races.size > 0,
      verdict: await verdictOf(kernel, program, 'strong', steps),
      detected: detected(kernel, program, schedules, steps),
      volatile: isVolatile(program)
        ? { isRacy: races.size + volatileRaces.size > 0, verdict: await verdictOf(kernel, program, 'race', steps) }
        : null,
    });
  }
  return answers;
}

/** Error of an answer; null: none. */
export function wrongOf({ isRacy, verdict, detected: sees, volatile }: Answer): string | null {
  if (isRacy && verdict.verdict === 'proved') return 'proved, but racy';
  if (!isRacy && verdict.verdict === 'race') return 'race, but free of races';
  if (!isRacy && sees === 'race') return 'the detector reports a race, but none exists';
  if (volatile && isRacy && volatile.verdict.verdict === 'proved') return 'proved with volatile accesses, but racy';
  if (volatile && !volatile.isRacy && volatile.verdict.verdict === 'race') return 'volatile race, but none exists';
  return null;
}

interface Row {
  racy: number;
  refuted: number;
  seen: number;
  free: number;
  proved: number;
  volatileRacy: number;
  volatileRefuted: number;
  /** Volatile accesses that are recognised as synchronisation. */
  volatileProved: number;
}

function emptyRow(): Row {
  return { racy: 0, refuted: 0, seen: 0, free: 0, proved: 0, volatileRacy: 0, volatileRefuted: 0, volatileProved: 0 };
}

/** Answers by family, in total, and those that are wrong or undecided. */
export class Table {
  readonly #rows = new Map<string, Row>();
  readonly wrong: string[] = [];
  readonly #undecided = new Map<string, LitmusProgram[]>();

  add(family: string, answers: readonly Answer[]): void {
    const row = this.#rows.get(family) ?? emptyRow();
    this.#rows.set(family, row);
    for (const answer of answers) {
      const { program, isRacy, verdict, volatile } = answer;
      const wrong = wrongOf(answer);
      if (wrong !== null) this.wrong.push(`${family}: ${wrong}\n${describe(program)}`);
      if (isRacy) row.racy++;
      else row.free++;
      if (isRacy && verdict.verdict === 'race') row.refuted++;
      if (isRacy && answer.detected === 'race') row.seen++;
      if (!isRacy && verdict.verdict === 'proved') row.proved++;
      if (verdict.verdict !== 'race' && verdict.verdict !== 'proved') {
        const key = `${family}, ${isRacy ? 'racy' : 'free'}: ${verdict.verdict} ${verdict.reason}`;
        this.#undecided.set(key, [...(this.#undecided.get(key) ?? []), program]);
      }
      if (volatile?.isRacy === true) {
        row.volatileRacy++;
        if (volatile.verdict.verdict === 'race') row.volatileRefuted++;
        if (volatile.verdict.verdict === 'proved') row.volatileProved++;
      }
    }
  }

  /** @param examples maximum number of programs listed for each reason of undecided ones */
  text(examples: number): string {
    const share = (part: number, all: number): string => (all === 0 ? '-' : `${part} (${((100 * part) / all).toFixed(1)} %)`);
    const line = (name: string, row: Row): string =>
      `| ${name} | ${row.racy} | ${share(row.refuted, row.racy)} | ${share(row.seen, row.racy)} | ${row.free} | ${share(row.proved, row.free)} | ${row.volatileRacy} | ${share(row.volatileRefuted, row.volatileRacy)} | ${share(row.volatileProved, row.volatileRacy)} |`;
    const all = emptyRow();
    for (const row of this.#rows.values()) for (const key of Object.keys(all) as (keyof Row)[]) all[key] += row[key];
    const undecided = [...this.#undecided].sort(([, a], [, b]) => b.length - a.length);
    return [
      '| family | racy | refuted | observed | free | proved | racy by volatile or PTX | refuted | recognised |',
      '|---|---|---|---|---|---|---|---|---|',
      ...[...this.#rows].map(([name, row]) => line(name, row)),
      line('all', all),
      '',
      `${this.wrong.length} wrong`,
      ...this.wrong.slice(0, 20),
      ...undecided
        .slice(0, 40)
        .map(([key, programs]) => `${programs.length} ${key}\n${programs.slice(0, examples).map(describe).join('\n')}`),
    ].join('\n');
  }
}

/** A program in a few lines, one for each thread. */
export function describe(program: LitmusProgram): string {
  const { threads, cluster } = launchOf(program);
  const lines = program.threads.map(({ segments }, index) => {
    const steps = segments.map((own) =>
      own
        .map((step) => {
          const order = step.order === 'weak' || step.order === 'volatile' ? step.order : `${step.order}.${step.scope}`;
          if (step.kind === 'fence') return `fence.${order}`;
          const value = step.kind === 'load' ? '' : ` ${step.value}`;
          const test = 'test' in step && step.test ? ` ${step.test.kind} ${step.test.value}` : '';
          return `${step.kind === 'atomic' ? step.operation : step.kind}.${order} ${'xyzw'[step.at]}${value}${test}`;
        })
        .join('; '),
    );
    return `    block ${threads[index]!.block} thread ${threads[index]!.thread}: ${steps.join(` | ${program.barriers[0]} | `)}`;
  });
  return [...(cluster[0] > 1 ? [`    clusters of ${cluster[0]}`] : []), ...lines].join('\n');
}
