/** Bounds against counts, by kernel and metric: `node test/cost/paper-table.ts [BUILD] [KERNEL…]`. */
import { expressionText } from '../../src/cost/expressions/expression-text.ts';
import { boundMetrics } from '../../src/cost/model/metrics.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { boundsOf, countRun, kernelsOf, valueOf } from './counted-kernel.ts';
import { paperKernels } from './paper-kernels.ts';

const [build = 'verification', ...wanted] = process.argv.slice(2);
const kernels = kernelsOf('test/cost/paper.cu', build as Build);
const errors: number[] = [];
let violations = 0;
for (const { name, parameters, dimensions, divisors, runs } of paperKernels) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const kernel = kernels.get(name)!;
  const started = performance.now();
  const bounds = boundsOf(kernel, parameters, dimensions, divisors);
  const time = performance.now() - started;
  const counted = runs.map((run) => countRun(kernel, run));
  console.log(`${name} (${time.toFixed(0)} ms${counted.every(({ result }) => result.outcome === 'finished') ? '' : ', NOT ALL FINISHED'})`);
  for (const metric of boundMetrics) {
    const { bound, reason } = bounds[metric];
    if (!bound) {
      console.log(`  ${metric.padEnd(10)} none: ${reason}`);
      continue;
    }
    const relative = runs.map(({ names }, index) => {
      const value = valueOf(bound, names);
      const count = counted[index]!.worst[metric];
      if (!(value >= count)) violations++;
      return count === 0 ? (value === 0 ? 0 : Infinity) : (value - count) / count;
    });
    const sorted = [...relative].sort((a, b) => a - b);
    errors.push(...relative);
    const of = (share: number): string => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3);
    console.log(`  ${metric.padEnd(10)} ${of(0)} ${of(0.5)} ${of(1)}  ${expressionText(bound)}`);
  }
}
errors.sort((a, b) => a - b);
console.log(`median error ${errors[Math.floor(errors.length / 2)]!.toFixed(4)}, ${violations} bounds below the count`);
