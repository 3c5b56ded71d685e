/** The interpreter and the checker agree: no kernel of these tests is both proved and observed racing. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { checkKernel } from '../../src/check/check-kernel.ts';
import { wholeOf } from '../../src/launch/element.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { lowerModule } from '../../src/ir/lower.ts';
import { parsePtx } from '../../src/ptx/parser.ts';
import { checkedInPtx } from '../kernels/checked-in.ts';
import { closeSolver, requestFor } from '../check/kernel-text.ts';
import { parseRuns } from './kernel-run.ts';
import { definedKernels, kernelNamed, machineFiles, sourceOf } from './machine-kernels.ts';

const budget = { solverUnits: 200_000, evaluations: 300_000, replaySteps: 100_000, factor: 1, expired: () => false };
let racy = 0;

after(closeSolver);

for (const file of machineFiles()) {
  test(`kernels of ${file} that race in a run are not proved`, async () => {
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
      racy++;
      if (races) assert.notEqual(result.race.verdict, 'proved', run.kernel);
      if (diverges) assert.notEqual(result.divergence.verdict, 'proved', run.kernel);
    }
  });
}

test('at least one proof was compared with a run', (context) => {
  context.diagnostic(`${racy} runs that race`);
  assert.ok(racy >= 100);
});

function lowered(ptx: string): readonly Kernel[] {
  return lowerModule(parsePtx(ptx).module).kernels;
}
