/** The test kernels of the interpreter: its counts are never above the bounds. */
import { declarationOf } from '../../src/check/context/scalars.ts';
import assert from 'node:assert/strict';
import test from 'node:test';
import { fieldName } from '../../src/launch/parameter-field.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { bindRun, parseRuns } from '../interpreter/kernel-run.ts';
import { builds, definedKernels, kernelNamed, loadKernels, machineFiles, sourceOf } from '../interpreter/machine-kernels.ts';
import { compareRun, emptyTally, tallyText } from './compared-run.ts';

test('bounds of the test kernels of the interpreter', (t) => {
  const tally = emptyTally();
  for (const file of machineFiles()) {
    const source = sourceOf(file);
    for (const build of builds) {
      const kernels = loadKernels(file, build);
      for (const run of parseRuns(source)) {
        if ((run.build ?? build) !== build || run.expected.length > 0) continue;
        const kernel = kernelNamed(kernels, run.kernel);
        const parameters = definedKernels(source).get(run.kernel)!;
        const { block, grid, sharedBytes } = run;
        const binding = bindRun(source, run, kernel);
        const places = new Map<string, number>();
        const bounds = boundKernel({
          kernel,
          dimensions: { block, grid },
          sharedBytes,
          declaredAs: (index, offset) => declarationOf(parameters[index], offset),
          parameterName: (index, offset) => {
            const name = fieldName(parameters, { index, offset }, kernel);
            if (offset === 0) places.set(name, index);
            return declarationOf(parameters[index], offset) === 'pointer' ? null : name;
          },
        });
        compareRun(
          `${file} ${run.kernel} ${build}`,
          {
            kernel,
            block,
            grid,
            sharedBytes,
            buffers: binding.buffers,
            arguments: binding.arguments,
            steps: 4_000_000,
            detectRaces: false,
          },
          bounds,
          (name) => {
            const argument = binding.arguments[places.get(name) ?? -1];
            return argument?.kind === 'scalar' ? BigInt.asIntN(32, argument.value) : undefined;
          },
          tally,
        );
      }
    }
  }
  t.diagnostic(tallyText(tally));
  assert.deepEqual(tally.failures, []);
  assert.ok(tally.compared > 500 && tally.equal > 0.5 * tally.compared && tally.none < tally.compared);
});
