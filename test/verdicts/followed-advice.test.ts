/** Advice names the place of the edit: a kernel and the same kernel after the advice was followed differ next to a line that it names. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { kernelFiles, root } from '../kernels/portable-ptx.ts';
import { parseVerdicts } from './expectation.ts';

/** A line of a kernel, by its number. */
type Line = readonly [number: number, text: string];

/** The lines of a kernel; indentation and its name do not count. */
function linesOf(text: string, kernel: string): readonly Line[] {
  const lines = text.split('\n');
  const first = lines.findIndex((line) => line.startsWith('__global__') && new RegExp(`\\b${kernel}\\(`).test(line));
  const length = lines.slice(first).findIndex((line) => line.startsWith('}')) + 1;
  return lines.slice(first, first + length).map((line, at) => [first + at + 1, line.trim().replace(kernel, 'kernel')]);
}

/** The lines that are not in another kernel, and those around which it has more, by the longest common subsequence. */
function differingLines(one: readonly Line[], other: readonly Line[]): ReadonlySet<number> {
  const common = Array.from({ length: one.length + 1 }, () => Array.from({ length: other.length + 1 }, () => 0));
  for (let a = one.length - 1; a >= 0; a--)
    for (let b = other.length - 1; b >= 0; b--)
      common[a]![b] = one[a]![1] === other[b]![1] ? common[a + 1]![b + 1]! + 1 : Math.max(common[a + 1]![b]!, common[a]![b + 1]!);
  const found = new Set<number>();
  for (let [a, b] = [0, 0]; a < one.length && b < other.length;) {
    if (one[a]![1] === other[b]![1]) [a, b] = [a + 1, b + 1];
    else {
      found.add(one[a]![0]);
      if (common[a + 1]![b]! >= common[a]![b + 1]!) a++;
      else {
        if (a > 0) found.add(one[a - 1]![0]);
        b++;
      }
    }
  }
  return found;
}

/** Lines between the one that is named and the edit: a fence after an update may follow the branch and the barrier after it. */
const near = 3;

test('a kernel and the one that follows its advice differ next to a line that the advice names', () => {
  const folder = fileURLToPath(new URL('.', import.meta.url));
  let judged = 0;
  const wrong = kernelFiles(folder).flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8');
    return parseVerdicts(text).flatMap(({ kernel, advice }) =>
      advice.flatMap(({ text: advised, followedBy }) => {
        if (followedBy === undefined) return [];
        const own = linesOf(text, kernel);
        const named = [...advised.matchAll(/\blines? (\d+)(?: and (\d+))?/g)]
          .flatMap(([, ...numbers]) => numbers.map(Number))
          .filter((line) => own.some(([number]) => number === line));
        if (named.length === 0) return [];
        judged++;
        const differing = [...differingLines(own, linesOf(text, followedBy))];
        return named.some((line) => differing.some((other) => Math.abs(line - other) <= near)) ? [] : [`${kernel}: ${advised}`];
      }),
    );
  });
  assert.deepEqual(wrong, []);
  assert.ok(judged >= 30, `${judged} pairs`);
});
