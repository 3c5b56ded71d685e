/**
 * Each file of test kernels is analysed once, and its mutants without a barrier (one in six, unless all are
 * requested); the tests then check:
 *
 * - the verdicts and findings are those that its first lines expect;
 * - the results of each phase satisfy what the next ones rely on;
 * - a mutant is refuted, or proved too: then the barrier was redundant;
 * - proved kernels, of a file or of a mutant, have no race in runs.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { seededRandom } from '../../src/base/random.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { renderJson } from '../../src/report/json.ts';
import { sweep } from '../run/sweep.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { refute } from '../fuzz/soundness-run.ts';
import { barrierLines, barriersIn, checkWithout } from './barrier-mutants.ts';
import { checkFile, type Checked, type CheckedFile } from './checked-file.ts';
import { analyseCheckedIn } from './checked-in.ts';
import { kernelNamed, type Outcome, parseExpectations } from './expectation.ts';
import { brokenInvariants } from './phase-invariants.ts';
import { kernelFiles, root } from './portable-ptx.ts';

const schema = JSON.parse(readFileSync(join(root, 'src/report/report.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

/** Verdicts on mutants, and number of runs. */
const counts = { race: 0, proved: 0, possible: 0, kernels: 0, mutants: 0, provedMutants: 0, runs: 0 };
const possible: string[] = [];

after(closeSolver);

for (const [seed, file] of kernelFiles().entries()) {
  const expected = parseExpectations(readFileSync(join(root, file), 'utf8'));
  let analysed: Promise<CheckedFile> | undefined;
  const original = (): Promise<CheckedFile> => (analysed ??= checkFile(file));
  const mutants: { readonly before: CheckedFile; readonly after: CheckedFile }[] = [];

  test(`${file} gets the verdicts that it expects`, async () => {
    const { report } = await original();
    assert.ok(validate(JSON.parse(renderJson(report))), JSON.stringify(validate.errors));
    for (const expectation of expected) {
      const kernel = kernelNamed(report.kernels, expectation.kernel);
      const { race, divergence } = kernel;
      const got = outcomeText({ race: race.verdict, divergence: divergence.verdict }, findingsOf(kernel));
      const { open } = expectation;
      const right = expectedText(expectation);
      if (open) assert.notEqual(got, right, `${expectation.kernel} is as expected: its line "open" can go`);
      assert.equal(got, open ? expectedText(open) : right, race.reason ?? divergence.reason);
    }
  });

  test(`${file}: the results of each phase satisfy what the next ones rely on`, async () => {
    assert.deepEqual(brokenInvariants(await original()), []);
  });

  const barriers = barrierLines(file).filter((_, index) => index % sweep(6, 1) === 0);
  if (barriers.length > 0) {
    test(`${file} without one of its barriers`, async () => {
      const before = await original();
      for (const line of barriers) {
        const { isEntry, name: symbol } = line.touched;
        const isTouched = (kernel: { readonly symbol: string }): boolean => !isEntry || kernel.symbol === symbol;
        const own = before.report.kernels.filter((kernel) => kernel.race.verdict === 'proved' && isTouched(kernel));
        // A mutant that is proved only under some of its launches is run below.
        const names = before.checks
          .filter(isProved)
          .map(({ request }) => request.kernel)
          .filter(isTouched);
        if (names.length === 0) continue;
        const name = before.report.kernels.find((kernel) => kernel.symbol === symbol)?.name;
        const mutant = await checkWithout(file, line, isEntry ? name : undefined);
        mutants.push({ before, after: mutant });
        for (const kernel of mutant.report.kernels.filter((one) => own.some((other) => other.name === one.name))) {
          const { verdict } = kernel.race;
          assert.notEqual(verdict, 'unknown', kernel.race.reason);
          if (verdict === 'race' || verdict === 'proved') counts[verdict]++;
          else {
            counts.possible++;
            possible.push(`${kernel.name}, PTX line ${line.at + 1}: ${kernel.race.reason}`);
          }
        }
      }
    });
  }

  test(`runs of kernels of ${file} that are proved, also without a barrier, show no race`, async () => {
    const { checks } = await original();
    for (const check of checks.filter(isProved)) {
      counts.kernels++;
      contradict(check, seed);
    }
    for (const { before, after: mutant } of mutants) {
      for (const check of mutant.checks) {
        const same = before.checks.find((other) => isSameCheck(other, check));
        if (!same || !isProved(same)) continue;
        if (barriersIn(check.request.kernel) === barriersIn(same.request.kernel)) continue;
        counts.mutants++;
        if (!isProved(check)) continue;
        counts.provedMutants++;
        contradict(check, seed);
      }
    }
    // Thousands of terms a file.
    analysed = undefined;
    mutants.length = 0;
  });
}

test('enough verdicts are definite, so that a run could contradict them', (context) => {
  context.diagnostic(JSON.stringify(counts));
  for (const line of possible) context.diagnostic(`possible: ${line}`);
  const total = counts.race + counts.proved + counts.possible;
  assert.ok(total >= 40);
  assert.ok(counts.possible * 10 <= total, 'at most a tenth may stay undecided');
  assert.ok(counts.kernels >= 40 && counts.mutants >= 40 && counts.provedMutants >= sweep(2, 5));
  assert.ok(counts.runs >= 500);
});

function isProved({ result }: Checked): boolean {
  return result.race.verdict === 'proved';
}

/** Whether two checks are of one kernel under one launch. */
function isSameCheck({ request: a }: Checked, { request: b }: Checked): boolean {
  return a.kernel.symbol === b.kernel.symbol && launchText(a.launch) === launchText(b.launch);
}

function launchText({ block, grid, cluster, sharedBytes, cooperative, scalars, source }: Checked['request']['launch']): string {
  const numbers = [...scalars].map(([index, value]) => `${index}=${value}`);
  return JSON.stringify([source, block, grid, cluster, sharedBytes, cooperative, numbers]);
}

/** Runs a proved kernel: a race is allowed only if arithmetic wraps around that is assumed not to. */
function contradict({ request, result }: Checked, seed: number): void {
  const { text, runs } = refute(request, result, seededRandom(seed), sweep(40_000, 200_000));
  counts.runs += runs;
  const facts = [...(result.race.assumptions ?? []), ...(result.divergence.assumptions ?? [])];
  if (!facts.some(({ kind }) => kind === 'no-wrap')) assert.equal(text, null, request.name);
}

test('two runs print the same bytes', async () => {
  const file = 'test/kernels/race/matmul-missing-barrier-after-load.cu';
  assert.equal(renderJson(await analyseCheckedIn(file)), renderJson(await analyseCheckedIn(file)));
});

test('a proof for one launch is not a proof for the launch of the host program', async () => {
  const proved = 'test/kernels/race/neighbour-one-block.cu';
  const options = { grid: [2, 1, 1] } as const;
  const [kernel] = (await analyseCheckedIn(proved, { options })).kernels;
  assert.equal(kernel?.launches[0]?.grid?.[0], 2);
});

function outcomeText({ race, divergence }: Omit<Outcome, 'findings'>, findings: readonly string[]): string {
  return [`race=${race} divergence=${divergence}`, ...findings].join('\n');
}

function expectedText({ race, divergence, findings }: Outcome): string {
  const lines = findings.map(({ code, lines: at }) => `${code} ${at.join()}`);
  return outcomeText({ race, divergence }, lines.sort());
}

/** The pairs of confirmed races, each pair of a cause separately, and all barrier findings, as `CODE lines`. */
function findingsOf({ race, divergence }: KernelReport): string[] {
  const races = race.findings
    .filter(({ confirmed }) => confirmed)
    .flatMap(({ code, also = [], ...pair }) =>
      [pair, ...also].map(({ first, second }) => `${code} ${[first.location!.line, second.location!.line].sort((a, b) => a - b).join()}`),
    );
  const barriers = divergence.findings.map(({ code, barrier }) => `${code} ${barrier.line}`);
  return [...races, ...barriers].sort();
}
