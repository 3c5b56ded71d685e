/**
 * Compares the values read by litmus programs on a GPU with those that the memory model allows.
 *
 *   node test/gpu/litmus.ts write FOLDER [EACH]   writes EACH programs of each family to FOLDER/litmus.launches
 *   node test/gpu/litmus.ts read FOLDER [EACH]    reads the output of `launcher litmus`, FOLDER/litmus.outcomes
 *
 * `read` prints every outcome that the memory model forbids, and exits with 1 if there is one; also the number of
 * allowed outcomes that were observed, and of those among them that are not sequentially consistent.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/base/random.ts';
import { describe } from '../litmus/comparison.ts';
import { families } from '../litmus/generator.ts';
import { launchOf, mostLocations, ptxOf } from '../litmus/print.ts';
import type { LitmusProgram } from '../litmus/program.ts';
import { allowedReads, readsOf, sequentialReads, straightened } from '../litmus/straight.ts';
import { LaunchFile, litmusOutcomes } from './launch-file.ts';

const [command, folder = '.', each = '100'] = process.argv.slice(2);

/** Instances of a program that run at once, how often all of them do, and the bytes from one to the next. */
const instances = 4096;
const repetitions = 24;
const spacing = 64;
/** Programs of one module. */
const batch = 50;

function programs(): readonly LitmusProgram[] {
  const random = seededRandom(5);
  return families.flatMap(({ name, count, programAt }) => {
    const drawn: LitmusProgram[] = [];
    if (name === 'four threads') return drawn;
    for (let tried = 0; drawn.length < Number(each) && tried < 200 * Number(each); tried++) {
      const program = programAt(Math.floor(random.next() * count));
      const straight = program && straightened(program);
      if (straight) drawn.push(straight);
    }
    return drawn;
  });
}

function write(): void {
  const file = new LaunchFile();
  const all = programs();
  for (let first = 0; first < all.length; first += batch) {
    const some = all.slice(first, first + batch);
    file.addModule(ptxOf(some, true, spacing));
    for (const [index, program] of some.entries()) {
      const { block, grid, cluster } = launchOf(program);
      const last = new Uint8Array(instances * spacing).fill(0xff);
      const buffers = Array.from({ length: mostLocations }, (_, at) =>
        at === mostLocations - 1 ? last : new Uint8Array(instances * spacing),
      );
      file.addLaunch({
        id: first + index,
        symbol: `k${index}`,
        grid,
        block,
        cluster,
        sharedBytes: 0,
        buffers,
        arguments: buffers.map((_, buffer) => ({ value: { kind: 'pointer', buffer, offset: 0n }, bytes: 8 })),
        litmus: { instances, repetitions, reads: readsOf(program), spacing },
      });
    }
  }
  writeFileSync(join(folder, 'litmus.launches'), file.bytes());
  console.log(`${all.length} programs`);
}

function read(): void {
  const all = programs();
  const tally = { programs: 0, errors: 0, runs: 0, allowed: 0, seen: 0, weak: 0, forbidden: 0 };
  for (const { id, status, found } of litmusOutcomes(readFileSync(join(folder, 'litmus.outcomes')))) {
    const program = all[id]!;
    tally.programs++;
    if (status !== 0) {
      tally.errors++;
      console.log(`error ${status} in\n${describe(program)}`);
      continue;
    }
    const [may, sequential] = [allowedReads(program), sequentialReads(program)];
    tally.allowed += may.size;
    for (const { times, reads } of found) {
      tally.runs += times;
      const outcome = reads.join(' ');
      if (may.has(outcome)) {
        tally.seen++;
        if (!sequential.has(outcome)) tally.weak++;
      } else {
        tally.forbidden++;
        console.log(`forbidden, and seen ${times} times: ${outcome} in\n${describe(program)}`);
      }
    }
  }
  console.log(
    `${tally.programs} programs, ${tally.runs} runs of them, ${tally.errors} ended with an error: ${tally.seen} of ${tally.allowed} allowed outcomes were seen, ${tally.weak} of them in no sequential order; ${tally.forbidden} forbidden ones were`,
  );
  process.exitCode = tally.errors + tally.forbidden > 0 ? 1 : 0;
}

if (command === 'write') write();
else if (command === 'read') read();
else throw new Error('node test/gpu/litmus.ts write|read FOLDER [EACH]');
