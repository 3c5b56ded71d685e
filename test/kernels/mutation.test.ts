/**
 * Deletes each barrier of each kernel that is proved, in turn: the mutant must be refuted, or proved itself (then the
 * barrier was redundant, and the interpreter must find no race in it either).
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { analyseCheckedIn, checkedInPtx } from './checked-in.ts';
import { parseExpectations } from './expectation.ts';
import { kernelFiles, root } from './portable-ptx.ts';

const barrier = /^\s*(bar|barrier)(\.cta)?\.(sync|red)\b.*$/;
const counts = { race: 0, proved: 0, possible: 0 };
const possible: string[] = [];

for (const file of kernelFiles()) {
  const expected = parseExpectations(readFileSync(join(root, file), 'utf8'));
  if (!expected.some(({ race }) => race === 'proved')) continue;
  const lines = checkedInPtx(file, 'verification').split('\n');
  const barriers = lines.flatMap((line, i) => (barrier.test(line) ? [i] : []));
  if (barriers.length === 0) continue;
  test(`${file} without one of its barriers`, async () => {
    const original = await analyseCheckedIn(file);
    for (const at of barriers) {
      const touched = enclosingFunction(lines, at);
      const own = original.kernels.filter(
        ({ symbol, race }) => race.verdict === 'proved' && (!touched.entry || symbol === touched.name),
      );
      if (own.length === 0) continue;
      const mutant = lines.map((line, i) => (i === at ? line.replace(barrier, '') : line)).join('\n');
      const options = touched.entry ? { kernel: own[0]!.name.replace(/\([^()]*\)$/, '') } : {};
      // Both builds are given the mutant: the two must agree on the barriers.
      const report = await analyseCheckedIn(file, { ptx: () => mutant, options });
      for (const kernel of report.kernels.filter(({ name }) => own.some((before) => before.name === name))) {
        const { verdict } = kernel.race;
        assert.notEqual(verdict, 'unknown', kernel.race.reason);
        if (verdict === 'race' || verdict === 'proved') counts[verdict]++;
        else {
          counts.possible++;
          possible.push(`${kernel.name}, PTX line ${at + 1}: ${kernel.race.reason}`);
        }
      }
    }
  });
}

after(() => {
  const total = counts.race + counts.proved + counts.possible;
  console.log(
    `barriers deleted: ${total}, race ${counts.race}, still proved ${counts.proved}, possible ${counts.possible}`,
  );
  for (const line of possible) console.log(`  ${line}`);
  assert.ok(total >= 40);
  assert.ok(counts.possible * 10 <= total, 'at most a tenth may stay undecided');
});

/** The entry or function whose body holds a line. */
function enclosingFunction(lines: readonly string[], at: number): { entry: boolean; name: string } {
  for (let i = at; i >= 0; i--) {
    const match = /^(?:\.\w+ )*\.(entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)/.exec(lines[i]!);
    if (match) return { entry: match[1] === 'entry', name: match[2]! };
  }
  return { entry: false, name: '' };
}
