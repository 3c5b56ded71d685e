/**
 * Compares prover and race detector with the oracle.
 * `node measure.ts [--part K/N] [--each COUNT] [--seed SEED] [--family NAME] [--show COUNT] [--sequential]` takes part K of N of the
 * programs of each family, or COUNT random ones of them, with `--sequential` with `fence.sc` for all fences. It prints a table, the most frequent reasons for undecided
 * programs, with examples, and wrong answers, and exits with 1 if there are any.
 */
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { answersTo, Table } from './comparison.ts';
import { families, type Family } from './generator.ts';
import { type LitmusProgram, withSequentialFences } from './program.ts';

/** Programs of one module. */
const batch = 100;

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: '1/1' },
    each: { type: 'string' },
    seed: { type: 'string', default: '1' },
    family: { type: 'string' },
    show: { type: 'string', default: '3' },
    sequential: { type: 'boolean', default: false },
  },
});

function* programsOf(family: Family): Iterable<LitmusProgram> {
  const [part, parts] = values.part.split('/').map(Number);
  if (values.each === undefined) {
    for (let index = part! - 1; index < family.count; index += parts!) {
      const program = family.programAt(index);
      if (program) yield program;
    }
    return;
  }
  const random = seededRandom(Number(values.seed));
  for (let found = 0, tried = 0; found < Number(values.each) && tried < 1000 * Number(values.each); tried++) {
    const program = family.programAt(Math.floor(random.next() * family.count));
    if (!program) continue;
    found++;
    yield program;
  }
}

function* batches(programs: Iterable<LitmusProgram>): Iterable<readonly LitmusProgram[]> {
  let some: LitmusProgram[] = [];
  for (const program of programs) {
    some.push(program);
    if (some.length < batch) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

const table = new Table();
for (const family of families) {
  if (values.family !== undefined && !family.name.includes(values.family)) continue;
  for (const programs of batches(programsOf(family))) {
    const asked = values.sequential ? programs.map(withSequentialFences) : programs;
    table.add(family.name, await answersTo(asked, { schedules: 4 }));
  }
}
process.stdout.write(`${table.text(Number(values.show))}\n`);
await closeSolver();
process.exitCode = table.wrong.length > 0 ? 1 : 0;
