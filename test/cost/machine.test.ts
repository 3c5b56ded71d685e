/** The kernels that test the machine: what it counts on their runs is never above the bounds. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { declarationOf } from '../../src/check/context.ts';
import { fieldName } from '../../src/check/parameter-field.ts';
import { evaluate } from '../../src/cost/expression.ts';
import { print } from '../../src/cost/expression-text.ts';
import { boundKernel } from '../../src/cost/kernel-cost.ts';
import { metrics } from '../../src/cost/metric.ts';
import { bindArguments } from '../../src/driver/run-binding.ts';
import { LaunchCounters } from '../../src/exec/counters.ts';
import { runKernel } from '../../src/exec/machine.ts';
import { parseRuns } from '../machine/kernel-run.ts';
import {
  builds,
  definedKernels,
  kernelNamed,
  loadKernels,
  machineFiles,
  sourceOf,
} from '../machine/machine-kernels.ts';
import { worstOf } from './counted-kernel.ts';

interface Tally {
  bounds: number;
  exact: number;
  none: number;
}

test('bounds of the kernels of the machine', (t) => {
  const tally: Tally = { bounds: 0, exact: 0, none: 0 };
  for (const file of machineFiles()) {
    const source = sourceOf(file);
    const defined = definedKernels(source);
    for (const build of builds) {
      const kernels = loadKernels(file, build);
      for (const run of parseRuns(source)) {
        if ((run.build ?? build) !== build || run.expected.length > 0) continue;
        const kernel = kernelNamed(kernels, run.kernel);
        const parameters = defined.get(run.kernel)!;
        const binding = bindArguments({
          kernel,
          name: run.kernel,
          parameters,
          given: run.given,
          stated: new Map(),
          readFile: () => ({ problem: 'is to be read from a file' }),
        });
        const counters = new LaunchCounters();
        const result = runKernel({
          kernel,
          block: run.block,
          grid: run.grid,
          sharedBytes: run.sharedBytes,
          buffers: binding.buffers,
          arguments: binding.arguments,
          steps: 4_000_000,
          detectRaces: false,
          observer: counters,
        });
        if (result.outcome !== 'finished') continue;
        const places = new Map<string, number>();
        const bounds = boundKernel({
          kernel,
          dimensions: { block: run.block, grid: run.grid },
          sharedBytes: run.sharedBytes,
          declaredAs: (index, offset) => declarationOf(parameters[index], offset),
          parameterName: (index, offset) => {
            const name = fieldName(parameters, { index, offset }, kernel);
            if (offset === 0) places.set(name, index);
            return declarationOf(parameters[index], offset) === 'pointer' ? null : name;
          },
        });
        const worst = worstOf(counters.warps);
        for (const metric of metrics) {
          const { bound } = bounds[metric];
          const value =
            bound &&
            evaluate(bound, (name) => {
              const argument = binding.arguments[places.get(name) ?? -1];
              return argument?.kind === 'scalar' ? BigInt.asIntN(32, argument.value) : undefined;
            });
          if (!value) {
            tally.none++;
            continue;
          }
          const least = Number(value.top) / Number(value.bottom);
          tally.bounds++;
          if (least === worst[metric]) tally.exact++;
          const told = `${file} ${run.kernel} ${build} ${metric}: ${print(bound)} is ${least}, counted ${worst[metric]}`;
          assert.ok(least >= worst[metric], told);
        }
      }
    }
  }
  t.diagnostic(`${tally.bounds} bounds, ${tally.exact} of them exact, ${tally.none} without`);
  assert.ok(tally.bounds > 500 && tally.exact > 0.5 * tally.bounds && tally.none < tally.bounds);
});
