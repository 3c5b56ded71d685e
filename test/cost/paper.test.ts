/** The kernels of the paper: a bound for each metric, never below the count of the interpreter, and close to it. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { boundMetrics } from '../../src/cost/model/metrics.ts';
import { boundsOf, countRun, kernelsOf, valueOf } from './counted-kernel.ts';
import { paperKernels } from './paper-kernels.ts';

for (const build of ['verification', 'production'] as const) {
  test(`bounds of the ${build} build`, () => {
    const kernels = kernelsOf('test/cost/paper.cu', build);
    const errors: number[] = [];
    for (const { name, parameters, dimensions, divisors, runs } of paperKernels) {
      const kernel = kernels.get(name)!;
      const bounds = boundsOf(kernel, parameters, dimensions, divisors);
      for (const run of runs) {
        const { worst, result } = countRun(kernel, run);
        assert.equal(result.outcome, 'finished', name);
        for (const metric of boundMetrics) {
          const { bound, reason } = bounds[metric];
          assert.ok(bound, `${name}: ${metric} ${reason}`);
          const value = valueOf(bound, run.names);
          const told = `${name} ${metric}: ${expressionText(bound)} at ${JSON.stringify(run.names)}`;
          assert.ok(value >= worst[metric], `${told} is ${value}, counted ${worst[metric]}`);
          errors.push(value === worst[metric] ? 0 : (value - worst[metric]) / worst[metric]);
        }
      }
    }
    errors.sort((a, b) => a - b);
    assert.ok(errors[Math.floor(errors.length / 2)]! <= 0.05, 'median of the relative errors');
    // Some warp attains most bounds.
    assert.ok(errors.filter((error) => error === 0).length >= 0.75 * errors.length);
  });
}

test('the printed bounds have the recorded forms', () => {
  const kernels = kernelsOf('test/cost/paper.cu', 'verification');
  const texts = paperKernels.map(({ name, parameters, dimensions, divisors }) => {
    const bounds = boundsOf(kernels.get(name)!, parameters, dimensions, divisors);
    return [name, ...(['sectors', 'conflicts', 'divwarps'] as const).map((metric) => expressionText(bounds[metric].bound!))];
  });
  assert.deepEqual(texts, [
    ['matMul', '8*ceil(n/32) + 4', '0', '0'],
    ['matMulBad', '64*ceil(n/32) + 32', '1022*ceil(n/32)', 'ceil(n/32)'],
    ['matMulTrans', '8*ceil(n/32) + 4', '1023*ceil(n/32)', '0'],
    ['mandelbrot', '5', '0', 'ceil(width/32) + min(limit, 31) - floor(width/32)'],
    ['vectorAdd', '12', '0', 'ceil(n/32) - floor(n/32)'],
    ['reduce0', '5', '0', '9'],
    ['reduce1', '5', '87', '6'],
    ['reduce2', '5', '0', '6'],
    ['reduce3', '9', '0', '6'],
    ['reduce2a', '5', '0', '6'],
    ['reduce3a', '9', '0', '6'],
    ['histogram', '4*ceil(n/(256*gridDim.x)) + 4', '124*ceil(n/(256*gridDim.x))', 'ceil(n/32) - floor(n/32)'],
    ['addSub0', '65*w', '0', 'ceil(h/32) - floor(h/32)'],
    ['addSub1', '130*w', '0', 'ceil(h/64) - floor((h + 1)/64)'],
    ['addSub2', '24*ceil(h/2)', '0', 'ceil(w/32) - floor(w/32)'],
    ['addSub3', '16*ceil(h/2) + 4', '0', 'ceil(w/32) - floor(w/32)'],
    ['syntheticDivergence', '18*n', '0', '2*n'],
    ['syntheticTriangle', 'n*n/2 - n/2 + 5', '0', '31'],
    ['syntheticColumns', '4', '31*n', '0'],
    ['syntheticStride', '64*ceil(n/(128*gridDim.x))', '0', 'ceil(n/32) - floor(n/32)'],
  ]);
});
