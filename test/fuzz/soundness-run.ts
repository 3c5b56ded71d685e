/**
 * Checks test kernels that were changed at random, or random kernels, and runs proved kernels in the interpreter, which
 * must not find what was proved absent. `node soundness-run.ts mutants|random SEED COUNT` prints an {@link Outcome}
 * with the texts that failed.
 */
import type { KernelContext } from '../../src/check/context/facts.ts';
import type { Dim3 } from '../../src/base/dim3.ts';
import type { RaceEvent, RunResult } from '../../src/interpreter/core/run-result.ts';
import assert from 'node:assert/strict';
import { seededRandom, type Random } from '../../src/base/random.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { parseAssumption } from '../../src/assumptions/assumption-parser.ts';
import type { Assumption } from '../../src/verdict/finding.ts';
import type { StatedAssumption } from '../../src/launch/parameter-source.ts';
import { kernelContext } from '../../src/check/context/kernel-facts.ts';
import type { ParameterField } from '../../src/launch/parameter-field.ts';
import { type Contents, replayRequest } from '../../src/check/witness/replay.ts';
import type { CheckRequest, CheckResult } from '../../src/check/request/check-request.ts';
import { chooseScalars } from '../../src/check/representative/scalar-choice.ts';
import { satisfiesAssumptions } from '../../src/check/representative/representative-launches.ts';
import { elementRanges, resolvedElements } from '../../src/check/witness/stated-elements.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import type { Solver } from '../../src/solver/solver.ts';
import { startZ3 } from '../../src/solver/z3-wasm.ts';
import { analyseCheckedIn, checkedInPtx } from '../kernels/checked-in.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { requestFor } from '../check/kernel-text.ts';
import { mutateKernel } from './kernel-mutation.ts';
import { randomKernel } from './random-kernel.ts';

export interface Failure {
  /** The file that was changed, the seed, and the kernel. */
  readonly name: string;
  /** The finding of the interpreter, or the exception. */
  readonly text: string;
  readonly ptx: string;
}

export interface Outcome {
  /** Kernels checked, by `RACE/DIVERGENCE`. */
  readonly verdicts: Readonly<Record<string, number>>;
  /** Runs of kernels of which something was proved. */
  readonly runs: number;
  /** Proofs that runs contradict, but that depend on the absence of wrap-around, which those runs violate. */
  readonly wrapped: number;
  readonly failures: readonly Failure[];
}

const undecided: CheckResult = {
  race: { verdict: 'unknown', findings: [] },
  divergence: { verdict: 'unknown', findings: [] },
  open: { races: [], barriers: [], earlyExits: [], warps: [], beside: null },
};

/** The requests that the driver makes for the kernels of a file. */
export async function requestsOf(file: string): Promise<CheckRequest[]> {
  const requests: CheckRequest[] = [];
  await analyseCheckedIn(file, {
    check: async (request) => {
      requests.push(request);
      return undecided;
    },
  });
  return requests;
}

const contents: readonly Contents[] = [1, 'rising', 'falling', 0];
/** Blocks and grids to run a request in: its own, or small ones if it leaves an axis open. */
function shapes({ dimensions }: KernelContext): readonly { block: Dim3; grid: Dim3 }[] {
  const fill = (given: readonly (number | null)[], choices: readonly Dim3[]): Dim3[] => {
    const filled = choices.map((choice): Dim3 => [given[0] ?? choice[0], given[1] ?? choice[1], given[2] ?? choice[2]]);
    return given.includes(null) ? filled : filled.slice(0, 1);
  };
  const blocks = fill(dimensions.block, [
    [64, 1, 1],
    [8, 4, 2],
  ]);
  const grids = fill(dimensions.grid, [
    [3, 1, 1],
    [2, 2, 2],
  ]);
  return blocks.flatMap((block) => grids.map((grid) => ({ block, grid })));
}

/** Whether both accesses of a race touch the object that they are meant to: proofs take indices to stay in theirs. */
export function isInBounds({ accesses, request }: KernelContext, { first, second, object }: RaceEvent): boolean {
  const { aliases, samePointers = [] } = request.launch;
  return [first, second].every(({ instruction }) => {
    const access = accesses.find((candidate) => candidate.instruction.id === instruction);
    return access?.targets.some(({ base }) => {
      if (base.kind === 'unknown' || base.key === 'dynamic') return true;
      if (base.kind === 'object') return base.object.symbol === object;
      if (base.kind === 'loaded') return object.endsWith('[...]');
      const isAliased = [...aliases, ...samePointers].some((pair) => pair.includes(base.index));
      return isAliased || object === `${base.index}.${base.offset}`;
    });
  });
}

/**
 * Whether a run shows nothing: no proof speaks of accesses out of bounds, or of executions that break what is stated.
 * Uninitialised memory may well be read: a missing barrier has that effect.
 */
export function breaksAssumptions({ faults, brokenAssumptions }: RunResult): boolean {
  return brokenAssumptions.length > 0 || faults.some(({ kind }) => kind !== 'uninitialised');
}

/** Whether a race is one of equal values, which the proof takes to do no harm. */
export function isAllowed({ sameValue }: RaceEvent, assumptions: CheckResult['race']['assumptions']): boolean {
  return sameValue && assumptions?.some(({ kind }) => kind === 'equal-value-writes') === true;
}

/** Whether the contents of arrays in a run satisfy the stated assumptions, and those of a proof. */
function suits(content: Contents, { assumptions }: CheckRequest, { race }: CheckResult): boolean {
  if (content !== 'rising' && assumptions.some(({ expression }) => expression.kind === 'distinct')) return false;
  return content === 0 || !race.assumptions?.some(({ text }) => text.endsWith('is 0 when the kernel starts'));
}

/** The preconditions of proofs: they restrict the launches and arguments that a proof covers. */
export function preconditionsOf(results: readonly { readonly assumptions?: readonly Assumption[] }[]): StatedAssumption[] {
  const texts = results.flatMap(({ assumptions = [] }) => assumptions).flatMap(({ kind, text }) => (kind === 'precondition' ? [text] : []));
  return [...new Set(texts)].map((text) => {
    const parsed = parseAssumption(text);
    assert.ok('expression' in parsed, text);
    return { expression: parsed.expression, text };
  });
}

/**
 * Contradictions between executions of a kernel and its verdicts; null without any.
 * @param steps after which a run is given up
 */
export function refute(request: CheckRequest, result: CheckResult, random: Random, steps = 200_000): { text: string | null; runs: number } {
  const preconditions = preconditionsOf([result.race, result.divergence]);
  const context = kernelContext({ ...request, assumptions: [...request.assumptions, ...preconditions] });
  let runs = 0;
  for (const { block, grid } of shapes(context)) {
    const total = grid[0] * grid[1] * grid[2];
    const blocks = [...new Set([0, 1, 2, total - 1, random.below(total)])].filter((number) => number < total).sort((a, b) => a - b);
    const threads = BigInt(block[0] * block[1] * block[2]);
    // Few scalars satisfy the stated assumptions: those that the check itself would choose.
    const chosen = context.request.assumptions.length > 0 ? chooseScalars(context, block, grid) : null;
    const numbers = [threads * BigInt(total), BigInt(random.below(200)), 1n].slice(chosen ? 2 : 0);
    for (const content of contents) {
      for (const number of numbers) {
        const given = ({ index, offset, bytes }: ParameterField): bigint =>
          BigInt.asUintN(8 * bytes, (request.launch.scalars.get(index) ?? number) >> BigInt(8 * offset));
        const sharedBytes = request.launch.sharedBytes ?? 48 * 1024;
        const scenario = {
          block,
          grid,
          sharedBytes,
          scalar: chosen ?? given,
          blocks,
          contents: content,
          settled: resolvedElements(elementRanges(context), content, new Set()),
        };
        if (!satisfiesAssumptions(context, scenario) || !suits(content, request, result)) continue;
        const run = runKernel(replayRequest(request.kernel, request.parameters, context.fields, request.launch, scenario, steps, false));
        runs++;
        if (breaksAssumptions(run)) continue;
        const race = run.races.find(
          (event) => event.unmodelled.length === 0 && isInBounds(context, event) && !isAllowed(event, result.race.assumptions),
        );
        const divergence = run.divergences.find(({ kind }) => kind !== 'early-exit');
        const where = JSON.stringify({ block, grid, content, number: String(number) });
        if (result.race.verdict === 'proved' && race) return { text: `race ${JSON.stringify(race)} in ${where}`, runs };
        if (result.divergence.verdict === 'proved' && divergence)
          return { text: `divergence ${JSON.stringify(divergence)} in ${where}`, runs };
      }
    }
  }
  return { text: null, runs };
}

export type SubjectKind = 'mutants' | 'random' | 'strong';

/** Kernels to check, and the text that they come from. */
interface Subject {
  readonly name: string;
  readonly ptx: string;
  readonly requests: readonly CheckRequest[];
}

/** Makes mutants of the test kernels with the launches that the driver finds. */
function mutants(): (random: Random) => Promise<Subject> {
  const files = kernelFiles();
  const originals = new Map<string, CheckRequest[]>();
  return async (random) => {
    const file = random.pick(files);
    if (!originals.has(file)) originals.set(file, await requestsOf(file));
    const ptx = mutateKernel(checkedInPtx(file, 'verification'), random);
    const { kernels } = lowerModule(parsePtx(ptx, file).module);
    const requests = originals.get(file)!.flatMap((request) => {
      const kernel = kernels.find(({ symbol }) => symbol === request.kernel.symbol);
      return kernel ? [{ ...request, kernel }] : [];
    });
    return { name: file, ptx, requests };
  };
}

/** Makes random kernels with random small launches. */
async function randomSubject(random: Random, hasStrong = false): Promise<Subject> {
  const ptx = randomKernel(random, hasStrong);
  const { module, diagnostics } = parsePtx(ptx);
  assert.deepEqual(diagnostics, []);
  const blocks = [
    [32, 1, 1],
    [64, 1, 1],
    [33, 1, 1],
    [8, 8, 1],
  ] as const;
  const launch = random.chance(0.2)
    ? { block: null, grid: null }
    : {
        block: random.pick(blocks),
        grid: random.pick([
          [1, 1, 1],
          [1, 1, 1],
          [3, 1, 1],
        ] as const),
      };
  // Proofs about volatile accesses must also hold if they are relaxed atomics.
  const policy = hasStrong ? { policy: { volatile: random.pick(['allow', 'warning'] as const) } } : {};
  return {
    name: 'random kernel',
    ptx,
    requests: [requestFor(lowerModule(module).kernels[0]!, { ...launch, ...policy })],
  };
}

const budget = { solverUnits: 200_000, evaluations: 300_000, replaySteps: 100_000, factor: 1, expired: () => false };

/**
 * Checks `count` mutants of the test kernels, or `count` random kernels, also with strong accesses.
 * @param steps after which a run of a proved kernel is given up
 * @param onFailure called for each failure as it is found
 */
export async function runSubjects(
  kind: SubjectKind,
  seed: number,
  count: number,
  steps = 200_000,
  onFailure?: (failure: Failure) => void,
): Promise<Outcome> {
  const subjectOf = kind === 'mutants' ? mutants() : (random: Random): Promise<Subject> => randomSubject(random, kind === 'strong');
  let solver: Promise<Solver> | undefined;
  const verdicts: Record<string, number> = {};
  const failures: Failure[] = [];
  let runs = 0;
  let wrapped = 0;
  for (let number = 0; number < count; number++) {
    const random = seededRandom(seed * 1_000_003 + number);
    const { name, ptx, requests } = await subjectOf(random);
    for (const original of requests) {
      const fail = (text: string): void => {
        const failure = { name: `${name}, seed ${seed}, number ${number}, ${original.name}`, text, ptx };
        failures.push(failure);
        onFailure?.(failure);
      };
      try {
        const request: CheckRequest = { ...original, solver: () => (solver ??= startZ3()), budget };
        const result = await checkKernel(request);
        const verdict = `${result.race.verdict}/${result.divergence.verdict}`;
        verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
        if (result.race.verdict !== 'proved' && result.divergence.verdict !== 'proved') continue;
        const refuted = refute(request, result, random, steps);
        runs += refuted.runs;
        if (refuted.text === null) continue;
        const facts = [...(result.race.assumptions ?? []), ...(result.divergence.assumptions ?? [])];
        if (facts.some((fact) => fact.kind === 'no-wrap')) wrapped++;
        else fail(refuted.text);
      } catch (error) {
        fail(error instanceof Error ? (error.stack ?? error.message) : String(error));
      }
    }
  }
  await (await solver)?.close();
  return { verdicts, runs, wrapped, failures };
}

if (import.meta.main) {
  const [kind, seed, count] = process.argv.slice(2);
  const outcome = await runSubjects(
    kind === 'random' || kind === 'strong' ? kind : 'mutants',
    Number(seed),
    Number(count),
    undefined,
    (failure) => console.error(`${failure.name}: ${failure.text}`),
  );
  console.log(JSON.stringify(outcome, null, 1));
}
