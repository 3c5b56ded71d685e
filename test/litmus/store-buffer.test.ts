/**
 * Runs with delayed stores show executions that the memory model allows, some of them without an equivalent
 * interleaving.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { firstBuffered, firstInterleaved } from '../../src/interpreter/core/schedule.ts';
import { describe } from './comparison.ts';
import { families } from './generator.ts';
import { mostLocations } from './print.ts';
import type { LitmusProgram, Statement } from './program.ts';
import { fence, load, programOf, store, x, y } from './statements.ts';
import { allowedReads, readsOf, straightened } from './straight.ts';
import { kernelsOf, runOf } from './subject.ts';

const buffered = [0, 1, 2, 3].map((order) => firstBuffered + order);
const others = [0, 1, 2, firstInterleaved, firstInterleaved + 1];

/** Values read in runs, in the order of threads. */
function foundIn(programs: readonly LitmusProgram[], seeds: readonly number[]): readonly ReadonlySet<string>[] {
  return kernelsOf(programs, true).map((kernel, index) => {
    const program = programs[index]!;
    return new Set(
      seeds.map((seed) => {
        const { read } = runOf(kernel, program, seed);
        return Array.from({ length: readsOf(program) }, (_, at) => read(mostLocations - 1, 4 * at, 4)).join(' ');
      }),
    );
  });
}

test('values read in runs are allowed by the memory model', () => {
  const random = seededRandom(11);
  const programs: LitmusProgram[] = [];
  for (const { name, count, programAt } of families.filter((family) => !family.name.includes('barrier')))
    for (let tried = 0, kept = 0; kept < 12 && tried < 2000; tried++) {
      const drawn = programAt(Math.floor(random.next() * count));
      const program = drawn && straightened(drawn);
      if (!program || name === 'four threads') continue;
      programs.push(program);
      kept++;
    }
  assert.ok(programs.length >= 80, `${programs.length} programs`);
  const found = foundIn(programs, [...others, ...buffered]);
  for (const [index, program] of programs.entries()) {
    const may = allowedReads(program);
    for (const outcome of found[index]!) assert.ok(may.has(outcome), `${outcome} in\n${describe(program)}`);
  }
});

/** Store buffering: both threads store, and then load the location of the other one. */
const bothLook = (...between: readonly Statement[]): LitmusProgram =>
  programOf('grid', [store(x, 1, 'relaxed'), ...between, load(y, 'relaxed')], [store(y, 1, 'relaxed'), ...between, load(x, 'relaxed')]);

test('store buffering is observed if stores are delayed, and only if no fence forbids it', () => {
  const misses = [bothLook(), bothLook(fence('acq_rel')), bothLook(fence('release')), bothLook(fence('acquire'))];
  for (const [index, outcomes] of foundIn(misses, buffered).entries()) {
    assert.ok(outcomes.has('0 0'), `program ${index}: ${[...outcomes].join()}`);
    assert.ok(allowedReads(misses[index]!).has('0 0'));
  }
  for (const outcomes of foundIn(misses, others)) assert.ok(!outcomes.has('0 0'));
  for (const outcomes of foundIn([bothLook(fence('sc'))], buffered)) assert.ok(!outcomes.has('0 0'));
});

test('messages arrive in the order in which they were sent', () => {
  const passing = programOf('grid', [store(x), fence('acq_rel'), store(y, 1, 'relaxed')], [load(y, 'relaxed'), fence('acq_rel'), load(x)]);
  for (const outcomes of foundIn([passing], buffered)) assert.ok(!outcomes.has('1 0'));
});
