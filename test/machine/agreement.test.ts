/** The machine and the checker agree: no kernel is both proved and seen racing. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { checkKernel } from '../../src/check/check-kernel.ts';
import type { CheckRequest } from '../../src/check/question/request.ts';
import { wholeOf } from '../../src/app/run/run-element.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { refute, requestsOf } from '../fuzz/soundness-run.ts';
import { checkedInPtx } from '../kernels/checked-in.ts';
import { kernelFiles } from '../kernels/portable-ptx.ts';
import { closeSolver, requestFor, sharedSolver } from '../check/kernel-text.ts';
import { parseRuns } from './kernel-run.ts';
import { definedKernels, kernelNamed, machineFiles, sourceOf } from './machine-kernels.ts';

const budget = { solverUnits: 200_000, evaluations: 300_000, replaySteps: 100_000, expired: () => false };
const barrier = /^\s*(bar|barrier)(\.cta)?\.(sync|red)\b.*$/;
const counts = { proved: 0, mutants: 0, provedMutants: 0, runs: 0, racy: 0 };

after(closeSolver);

/** Checks a kernel and runs it where it is proved; whether it is. */
async function contradicted(original: CheckRequest, seed: number): Promise<boolean> {
  const request: CheckRequest = { ...original, solver: sharedSolver, budget };
  const result = await checkKernel(request);
  if (result.race.verdict !== 'proved') return false;
  const { text, runs } = refute(request, result, seededRandom(seed));
  counts.runs += runs;
  const facts = [...(result.race.assumptions ?? []), ...(result.divergence.assumptions ?? [])];
  if (!facts.some(({ kind }) => kind === 'no-wrap')) assert.equal(text, null, request.name);
  return true;
}

for (const [seed, file] of kernelFiles().entries()) {
  test(`runs of what is proved in ${file}, and of what is still proved without a barrier, show no race`, async () => {
    const lines = checkedInPtx(file, 'verification').split('\n');
    for (const request of await requestsOf(file)) {
      if (!(await contradicted(request, seed))) continue;
      counts.proved++;
      for (const [at, line] of lines.entries()) {
        if (!barrier.test(line)) continue;
        const mutant = lowered(lines.with(at, '').join('\n')).find(({ symbol }) => symbol === request.kernel.symbol);
        if (!mutant || barriersIn(mutant) === barriersIn(request.kernel)) continue;
        counts.mutants++;
        if (await contradicted({ ...request, kernel: mutant }, seed)) counts.provedMutants++;
      }
    }
  });
}

for (const file of machineFiles()) {
  test(`what races in a run of ${file} is not proved`, async () => {
    const source = sourceOf(file);
    const kernels = lowered(checkedInPtx(file, 'verification'));
    for (const run of parseRuns(source)) {
      const races = run.expected.some((finding) => finding.startsWith('race'));
      const diverges = run.expected.some((finding) => finding.startsWith('divergence'));
      if (!races && !diverges) continue;
      const parameters = definedKernels(source).get(run.kernel)!;
      const numbers = parameters.map(({ name }) => wholeOf(run.given.get(name) ?? ''));
      const { block, grid, sharedBytes } = run;
      const result = await checkKernel({
        ...requestFor(kernelNamed(kernels, run.kernel), {
          block,
          grid,
          parameters,
          scalars: Object.fromEntries(numbers.flatMap((value, index) => (value === undefined ? [] : [[index, value]]))),
          launch: { sharedBytes, cooperative: true },
        }),
        budget,
      });
      counts.racy++;
      if (races) assert.notEqual(result.race.verdict, 'proved', run.kernel);
      if (diverges) assert.notEqual(result.divergence.verdict, 'proved', run.kernel);
    }
  });
}

test('there was something to contradict', (context) => {
  context.diagnostic(JSON.stringify(counts));
  assert.ok(counts.proved >= 40 && counts.mutants >= 40 && counts.provedMutants >= 5);
  assert.ok(counts.runs >= 500 && counts.racy >= 100);
});

function lowered(ptx: string): readonly Kernel[] {
  return lowerModule(parsePtx(ptx).module).kernels;
}

function barriersIn({ blocks }: Kernel): number {
  return blocks.flatMap(({ instructions }) => instructions).filter(({ operation }) => operation.effect.kind === 'barrier').length; // prettier-ignore
}
