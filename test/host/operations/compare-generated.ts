/** Compares the pairs of operations that are found in generated programs with those of the model. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { readUnit } from '../fixture.ts';
import { generateProgram } from './generated-order.ts';

/** Programs in one unit. */
const each = 150;

/** @param first seed of the first program */
export async function compareGenerated(context: TestContext, first: number, count: number): Promise<void> {
  let pairs = 0;
  for (let from = first; from < first + count; from += each) {
    const programs = Array.from({ length: Math.min(each, first + count - from) }, (_, at) => generateProgram(from + at));
    const { unordered } = await readUnit(
      context,
      programs.map(({ text }) => ({ text })),
    );
    for (const [at, program] of programs.entries()) {
      assert.deepEqual([...unordered[at]!].sort(), program.pairs, `${from + at}:\n${program.text}`);
      pairs += program.pairs.length;
    }
  }
  context.diagnostic(`${count} programs, ${pairs} pairs, 0 differences`);
}
