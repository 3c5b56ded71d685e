import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { matchLines } from '../../src/app/compare/line-match.ts';
import { type Cubin, readCubin } from '../../src/sass/cubin/cubin.ts';
import { compareCode } from '../../src/sass/profile-changes.ts';
import { changedLines, type LineChange } from '../../src/sass/line-changes.ts';
import { type Repetition, profileOf } from '../../src/sass/profile.ts';
import { codeChangeText } from '../../src/messages/cost/code-change-phrases.ts';
import { withoutNvcc } from '../toolchain/fixture.ts';

/** The first sentence about each kernel of `after.cu`; HERE is the line that is marked so. */
const sentences: Readonly<Record<string, string>> = {
  vector_load: 'line HERE: 4 loads of 32 bits became 1 of 128',
  vector_store: 'line HERE: 4 stores of 32 bits became 1 of 128',
  narrow_load: 'line HERE: 1 load of 128 bits became 4 of 32',
  second_load: 'line HERE: 1 load of 32 bits more',
  load_gone: 'line HERE: 1 load of 32 bits fewer',
  store_more: 'line HERE: 1 store of 32 bits more, none before',
  half_width: 'line HERE: 1 load of 32 bits became 1 of 16',
  bytes: 'line HERE: 1 load of 32 bits became 4 of 8',
  to_double: 'line HERE: 1 double-precision instruction instead of 0',
  from_double: 'line HERE: 0 double-precision instructions instead of 1',
  division: 'line HERE: 1 call of a division instead of 0',
  fast_division: 'line HERE: 0 calls of a division instead of 1',
  sine: 'line HERE: 1 special-function instruction instead of 0',
  exponent: 'line HERE: 1 special-function instruction instead of 2',
  barrier_more: 'line HERE: 2 barriers instead of 1',
  barrier_gone: '0 barriers instead of 1',
  fence: 'line HERE: 1 fence instead of 0',
  atomic: 'line HERE: 1 atomic instead of 0',
  atomic_gone: 'line HERE: 0 atomics instead of 1',
  shared_vector: 'line HERE: 4 loads of 32 bits from shared memory became 1 of 128',
  shared_more: 'line HERE: 1 load of 32 bits from shared memory more',
  spills: '39 accesses of local memory in the inner loop at line HERE',
  spills_gone: 'line HERE: 3 loads of 32 bits fewer',
  longer: '15 instructions instead of 10, most of the difference at line HERE',
  shorter: '10 instructions instead of 13, most of the difference at line HERE',
  divided_integers: 'line HERE: 1 call of a division instead of 0',
  texture: 'line HERE: 1 load of 32 bits fewer, none left',
  square_root: 'line HERE: 1 special-function instruction instead of 0',
  pair_load: 'line HERE: 2 loads of 32 bits became 1 of 64',
  both_ways: 'line HERE: 4 stores of 32 bits became 1 of 128',
};

const folder = fileURLToPath(new URL('pairs/', import.meta.url));
const temporary = mkdtempSync(join(tmpdir(), 'selvage-sass-'));
after(() => rmSync(temporary, { recursive: true, force: true }));

const sourceTextOf = (name: string): string => readFileSync(join(folder, `${name}.cu`), 'utf8');

function compiled(name: string): Cubin {
  const output = join(temporary, `${name}.cubin`);
  const input = join(folder, `${name}.cu`);
  execFileSync('nvcc', ['-cubin', '-lineinfo', '-w', '-arch=sm_80', '-o', output, input], { stdio: 'pipe' });
  const cubin = readCubin(readFileSync(output));
  assert.ok(!('problem' in cubin));
  return cubin;
}

interface Told {
  /** Highest weight first. */
  readonly sentences: readonly string[];
  readonly lines: readonly LineChange[];
}

/** The sentences about each kernel. */
function said(before: string, after: string): Map<string, Told> {
  const { baseOf } = matchLines(
    () => sourceTextOf(before),
    () => sourceTextOf(after),
    (file) => file.replace(after, before),
  );
  const [base, head] = [compiled(before), compiled(after)];
  return new Map(
    head.functions
      .filter(({ isKernel }) => isKernel)
      .map(({ symbol }) => {
        const [was, is] = [profileOf(base, symbol), profileOf(head, symbol)];
        const sentences = compareCode(was!, is!, baseOf).map(codeChangeText);
        return [symbol, { sentences, lines: changedLines(was!, is!, baseOf) }];
      }),
  );
}

test('each of 30 source changes is described in a sentence', { skip: withoutNvcc }, () => {
  const lines = sourceTextOf('after').split('\n');
  const told = said('before', 'after');
  const expected = Object.entries(sentences).map(([name, sentence]) => {
    const from = lines.findIndex((line) => line.includes(` ${name}(`));
    const here = lines.findIndex((line, index) => index > from && line.includes('// HERE'));
    return [name, sentence.replace('HERE', String(here + 1))];
  });
  assert.equal(expected.length, 30);
  assert.deepEqual(
    expected.map(([name]) => [name, told.get(name!)?.sentences[0]]),
    expected,
  );
  for (const [name, { lines: changed }] of told) assert.ok(changed.length > 0, name);
  const [line] = told.get('vector_load')!.lines;
  assert.deepEqual([line!.location?.line, line!.was?.line, line!.instructions], [5, 5, [10, 4]]);
  const work = { 'load global 128': [0, 1], 'load global 32': [4, 0] };
  assert.deepEqual(Object.fromEntries(line!.work), work);
  assert.equal(line!.diff.filter((row) => row.startsWith('- LDG.32 R')).length, 4);
  assert.equal(line!.diff.filter((row) => row.startsWith('+ LDG.128 R')).length, 1);
  // With known bounds of trip counts, code that is executed more often has a higher weight.
  const head = compiled('after');
  const spilling = profileOf(head, 'spills')!;
  const amount = (bound: string, value: number | null, weight: number): Repetition => ({ bound, value, weight });
  const rounds = { inner: amount('ceil(n/32)', 128, 128), all: amount('10*ceil(n/32)', 1280, 1280) };
  const weighed = { ...spilling, lines: spilling.lines.map((one) => (one.depth > 0 ? { ...one, rounds } : one)) };
  const [most] = compareCode(profileOf(compiled('before'), 'spills')!, weighed, ({ file, line: number }) => ({
    file: file.replace('after', 'before'),
    line: number,
  }));
  assert.match(
    codeChangeText(most!),
    /^39 accesses of local memory in the inner loop at line 135, of at most ceil\(n\/32\) = 128 iterations$/,
  );
  const once = { ...most!, rounds: amount('1', 1, 1) };
  assert.match(codeChangeText(once), /^39 accesses of local memory in the inner loop at line 135$/);
  // Code that ptxas appends belongs to no line; unchanged code on its line is not listed.
  assert.ok(told.get('divided_integers')!.lines.some(({ location, was }) => !location && !was));
});

test('15 source changes without effect on the SASS are not reported', { skip: withoutNvcc }, () => {
  const told = said('neutral-before', 'neutral-after');
  assert.equal(told.size, 15);
  assert.deepEqual(
    [...told].filter(([, { sentences, lines }]) => sentences.length + lines.length > 0),
    [],
  );
});
