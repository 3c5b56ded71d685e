/** The lines of the diff that a comment refers to: one rule of the selection in each row. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorOf, isInDiff, type Anchor } from '../../../src/github/plan/anchor.ts';
import type { Finding } from '../../../src/report-model/outcome.ts';
import { parseHunks, type FileDiff } from '../../../src/source/diff.ts';
import type { Location } from '../../../src/source/location.ts';
import { divergence, race } from '../report-fixture.ts';

const path = 'src/a.cu';
const at = (line: number, inlinedAt?: Location): Location => ({ file: path, line, ...(inlinedAt && { inlinedAt }) });
const inFile = (file: string, line: number, inlinedAt?: Location): Location => ({ file, line, ...(inlinedAt && { inlinedAt }) });

/** A file whose hunks start at a line of the head; ` `, `+` and `-` are the kinds of their lines. */
function file(name: string, ...hunks: readonly (readonly [start: number, kinds: string])[]): FileDiff {
  const text = hunks.map(([start, kinds]) => {
    const count = (kind: string): number => [...kinds].filter((one) => one === ' ' || one === kind).length;
    return [`@@ -${start},${count('-')} +${start},${count('+')} @@`, ...[...kinds].map((kind) => `${kind}x`)].join('\n');
  });
  return { path: name, status: 'modified', hunks: parseHunks(text.join('\n')) };
}
const diffOf = (...files: readonly FileDiff[]): ReadonlyMap<string, FileDiff> => new Map(files.map((one) => [one.path, one]));
/** Lines 10 to 16; 13 is added. */
const small = diffOf(file(path, [10, '   +   ']));
/** Lines 10 to 39; 20 and 30 are added. */
const long = diffOf(file(path, [10, `${' '.repeat(10)}+${' '.repeat(9)}+${' '.repeat(9)}`]));
/** Lines 10 to 15 and 40 to 45; a line was removed between 11 and 12, and one between 41 and 42. */
const removals = diffOf(file(path, [10, '  -    '], [40, '  -    ']));

const between = (first: Location, second: Location, more: object = {}): Finding => race({ fingerprint: 'f', first, second, more });
const one = (line: number): Anchor => ({ path, line });
const span = (startLine: number, line: number): Anchor => ({ path, startLine, line });

test('a comment on a race is at an added line of its accesses, otherwise at their first line in a hunk', () => {
  const rows: readonly (readonly [string, Finding, ReadonlyMap<string, FileDiff>, Anchor | undefined])[] = [
    ['both in a hunk', between(at(12), at(14)), small, span(12, 14)],
    ['one outside', between(at(12), at(90)), small, one(12)],
    ['both at one line', between(at(12), at(12)), small, one(12)],
    ['first and last line of a hunk', between(at(10), at(16)), small, span(10, 16)],
    ['next to a hunk', between(at(9), at(17)), small, one(13)],
    ['before and after: no change between them', between(at(1), at(9)), small, undefined],
    ['a span of 12 lines', between(at(20), at(31)), long, span(20, 31)],
    ['a span of 13 lines: the added line', between(at(18), at(30)), long, one(30)],
    ['the added line of the other access', between(at(20), at(38)), long, one(20)],
    ['neither is added: the later access', between(at(12), at(38)), long, one(38)],
    ['another file', between(inFile('b.cu', 12), inFile('b.cu', 13)), small, undefined],
    ['two files', between(inFile('b.cu', 12), at(14)), small, one(14)],
  ];
  for (const [what, finding, diff, expected] of rows) assert.deepEqual(anchorOf(finding, diff), expected, what);
});

test('a comment is at the call if the access is inlined from a file outside of the diff', () => {
  const header = (line: number, call: Location): Location => inFile('h.cuh', line, call);
  const rows: readonly (readonly [string, Finding, Anchor | undefined])[] = [
    ['one call', between(header(1, at(12)), header(1, at(12))), one(12)],
    ['calls on an added and another line', between(header(1, at(12)), header(1, at(13))), one(13)],
    ['a call of a call', between(header(1, header(9, at(11))), header(1, header(9, at(11)))), one(11)],
    ['the access itself is in the diff', between(at(15, at(12)), at(15, at(12))), one(15)],
    ['a call outside', between(header(1, at(90)), header(1, at(90))), undefined],
  ];
  for (const [what, finding, expected] of rows) assert.deepEqual(anchorOf(finding, small), expected, what);
});

test('changes between two accesses are the place of the comment if no line of them is in the diff', () => {
  const rows: readonly (readonly [string, Finding, ReadonlyMap<string, FileDiff>, Anchor | undefined])[] = [
    ['an added line', between(at(5), at(50)), small, one(13)],
    ['lines next to a removal, in one hunk', between(at(5), at(30)), removals, span(11, 12)],
    ['removals of two hunks', between(at(5), at(50)), removals, span(11, 12)],
    ['the range ends at the removal', between(at(20), at(41)), removals, one(41)],
    ['the range starts at the removal', between(at(42), at(60)), removals, one(42)],
    ['removed lines between two accesses in the hunk', between(at(10), at(13)), removals, span(10, 13)],
    ['removed lines outside of the accesses', between(at(13), at(15)), removals, span(13, 15)],
    ['only one access in the file', between(inFile('b.cu', 5), at(50)), small, undefined],
    ['an added line of one file, and none of the other', between(inFile('b.cu', 5), inFile('b.cu', 50)), small, undefined],
  ];
  for (const [what, finding, diff, expected] of rows) assert.deepEqual(anchorOf(finding, diff), expected, what);
  // Accesses far from the added line of one of them are not part of the span, removed lines nearby are.
  const mixed = diffOf(file(path, [10, `+   -${' '.repeat(20)}`]));
  assert.deepEqual(anchorOf(between(at(10), at(30)), mixed), span(10, 14));
});

test('other pairs of a cause are considered after that of the message', () => {
  const pair = (first: number, second: number) => ({
    first: { operation: 'write', memory: 'shared', location: at(first) },
    second: { operation: 'read', memory: 'shared', location: at(second) },
    fingerprint: 'g',
  });
  const others = { also: [pair(70, 71), pair(12, 14)] };
  assert.deepEqual(anchorOf({ ...between(at(50), at(51)), ...others } as Finding, small), span(12, 14));
  assert.deepEqual(anchorOf({ ...between(at(15), at(15)), ...others } as Finding, small), one(15));
});

test('a comment on a divergence spans the lines next to the barrier, and those of its steps', () => {
  const steps = (...lines: readonly number[]) => ({
    interleaving: {
      threads: [{ thread: [0, 0, 0], block: [0, 0, 0], name: 'thread 0' }],
      steps: lines.map((line) => ({ threads: [0], action: 'pass', location: at(line) })),
    },
  });
  const rows: readonly (readonly [string, number, object, Anchor | undefined])[] = [
    ['inside of a hunk', 13, {}, span(12, 14)],
    ['at its start', 10, {}, span(10, 11)],
    ['at its end', 16, {}, span(15, 16)],
    ['next to it', 17, {}, undefined],
    ['with a step in the hunk', 14, steps(11), span(11, 15)],
    ['with a step outside', 14, steps(40), span(13, 15)],
    ['only a step in the hunk', 40, steps(12), undefined],
  ];
  for (const [what, line, more, expected] of rows)
    assert.deepEqual(anchorOf({ ...divergence('d', at(line)), ...more }, small), expected, what);
  // Nearer lines come first, of two at one distance the earlier; others are left out if the span would be too long.
  for (const [lines, expected] of [
    [[30, 15], span(15, 21)],
    [[10, 29], span(19, 29)],
    [[30, 10], span(10, 21)],
    [[28, 12], span(12, 21)],
    [[24, 30], span(19, 30)],
  ] as const)
    assert.deepEqual(anchorOf({ ...divergence('d', at(20)), ...(steps(...lines) as object) }, long), expected, lines.join());
});

test('GitHub accepts comments on lines of one hunk', () => {
  const two = diffOf(file(path, [10, '   +   '], [20, '  ']), { path: 'binary.cu', status: 'modified', hunks: null });
  const rows: readonly (readonly [Anchor, boolean])[] = [
    [one(10), true],
    [one(16), true],
    [one(9), false],
    [one(17), false],
    [span(10, 16), true],
    [span(16, 10), false],
    [span(9, 10), false],
    [span(16, 20), false],
    [span(20, 21), true],
    [{ path: 'b.cu', line: 10 }, false],
    [{ path: 'binary.cu', line: 10 }, false],
  ];
  for (const [anchor, expected] of rows) assert.equal(isInDiff(anchor, two), expected, JSON.stringify(anchor));
});
