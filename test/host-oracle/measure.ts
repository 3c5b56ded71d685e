/**
 * Compares stated with recorded launches for many generated programs: `node test/host-oracle/measure.ts FIRST COUNT`.
 * Prints each launch that is not stated, and how much is known of the others.
 */
import { measureUnit, nothingMeasured } from './measured-unit.ts';

const [first = 1, count = 50] = process.argv.slice(2).map(Number);
/** Programs in one unit. */
const unitSize = 50;

const sum = nothingMeasured();
for (let seed = first; seed < first + count; seed += unitSize) {
  const before = sum.missing.length;
  try {
    await measureUnit(seed, Math.min(unitSize, first + count - seed), sum);
  } catch (error) {
    // A program that does not compile is a fault of the generator. What was measured before is printed all the same.
    process.stdout.write(`seeds ${seed} to ${Math.min(seed + unitSize, first + count) - 1}: ${String(error)}\n`);
    process.exitCode = 1;
  }
  for (const one of sum.missing.slice(before)) process.stdout.write(`${one}\n`);
  if (sum.programs % 500 === 0) process.stderr.write(`${sum.programs} programs, ${sum.launches} launches: ${JSON.stringify(sum.known)}\n`);
}
const { programs, launches, known, missing, cutShort, rules, reasons } = sum;
process.stdout.write(
  `${programs} programs, ${launches} launches: ${JSON.stringify(known)}, ${missing.length} not stated, ${cutShort} cut short\n`,
);
for (const word of ['exception', 'throw', 'catch', 'virtual', 'vector', 'map', 'array']) {
  const uses = [...rules].filter(([name]) => name.includes(word)).reduce((all, [, number]) => all + number, 0);
  process.stdout.write(`${uses} uses of rules with ${word}\n`);
}
for (const [reason, number] of [...reasons].toSorted((a, b) => b[1] - a[1]).slice(0, 25)) process.stdout.write(`${number} ${reason}\n`);
