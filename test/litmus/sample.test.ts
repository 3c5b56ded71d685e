/** Prover and race detector against the oracle, on a few programs of each family: `measure.ts` takes any number. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { closeSolver } from '../check/kernel-text.ts';
import { type Answer, answersTo, describe, wrongOf } from './comparison.ts';
import { families } from './generator.ts';
import type { LitmusProgram } from './program.ts';

after(closeSolver);

const random = seededRandom(2026);
const each = 7;
/** All answers, for the shares that are decided. */
const all: Answer[] = [];

for (const family of families) {
  test(`litmus programs, ${family.name}: no racy one is proved and no other one refuted`, async () => {
    const programs: LitmusProgram[] = [];
    for (let tried = 0; programs.length < each && tried < 100 * each; tried++) {
      const program = family.programAt(Math.floor(random.next() * family.count));
      if (program) programs.push(program);
    }
    assert.equal(programs.length, each);
    const answers = await answersTo(programs, { schedules: 2, steps: 2000 });
    all.push(...answers);
    const wrong = answers.flatMap((answer) => {
      const what = wrongOf(answer);
      return what === null ? [] : [`${what}\n${describe(answer.program)}`];
    });
    assert.deepEqual(wrong, []);
  });
}

test('nearly all sampled litmus programs are decided', () => {
  const shareOf = (isRacy: boolean, verdict: string): number => {
    const some = all.filter((answer) => answer.isRacy === isRacy);
    return some.filter((answer) => answer.verdict.verdict === verdict).length / some.length;
  };
  assert.ok(shareOf(false, 'proved') >= 0.95, `${shareOf(false, 'proved')} of those without a race are proved`);
  assert.ok(shareOf(true, 'race') >= 0.95, `${shareOf(true, 'race')} of those with a race are refuted`);
});

test('programs are distinguished by their contents, not by the order of threads and locations', () => {
  const [smallest] = families;
  const seen = new Set<string>();
  let kept = 0;
  for (let index = 0; index < smallest!.count; index++) {
    const program = smallest!.programAt(index);
    if (!program) continue;
    kept++;
    seen.add(describe(program));
  }
  assert.ok(kept > 1000, `${kept} programs`);
  assert.equal(seen.size, kept);
});
