/** The body of a review: entries of findings without a comment, and the body after later runs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeReview, findingsIn, refusedIn, settledBody } from '../../../src/github/plan/review-body.ts';
import type { PlannedFinding } from '../../../src/github/plan/review-plan.ts';
import type { EarlierFinding, Settlement } from '../../../src/github/plan/settlement.ts';
import { parseEntryMarker, parseMarker, printEntryMarker, printMarker } from '../../../src/github/text/marker.ts';

function planned(name: string, more: Partial<PlannedFinding> = {}): PlannedFinding {
  return {
    fingerprints: [name],
    kernels: [`kernel of ${name}`],
    severity: 'error',
    path: 'a.cu',
    place: '`a.cu:1`',
    comment: null,
    withoutComment: 'not-in-diff',
    bodyAt: () => '',
    entry: `- entry ${name}`,
    entryText: `hash-${name}`,
    ...more,
  };
}
const commented = (name: string): PlannedFinding =>
  planned(name, { comment: { path: 'a.cu', line: 3, side: 'RIGHT', body: name, fingerprints: [name] } });

const common = { reviewIntroduction: 'Introduction', name: 'job' };
type Sets = Parameters<typeof composeReview>[1];
const markersIn = (body: string) => body.split('\n').flatMap((line) => parseEntryMarker(line) ?? []);

test('a heading states why findings have no comment', () => {
  const [far, over, refused] = [planned('far'), planned('over', { withoutComment: 'too-many' }), commented('refused')];
  const rows: readonly (readonly [Sets, string])[] = [
    [{ findings: [far] }, 'Findings on lines that the diff does not show:'],
    [{ findings: [over] }, 'Findings over the maximum number of comments:'],
    [{ findings: [refused], refused: new Set([refused]) }, 'Findings whose comments GitHub refused:'],
    [{ findings: [far, over] }, 'Findings without a separate comment:'],
    [{ findings: [far, refused], refused: new Set([refused]) }, 'Findings without a separate comment:'],
    [{ findings: [far, far] }, 'Findings on lines that the diff does not show:'],
  ];
  for (const [sets, heading] of rows) {
    const review = composeReview(common, sets)!;
    assert.deepEqual([review.body.split('\n')[3], review.comments.length, review.event], [heading, 0, 'COMMENT']);
  }
  const inline = composeReview(common, { findings: [refused, commented('other')] })!;
  assert.deepEqual([inline.comments.map(({ body }) => body), inline.body.split('\n').slice(1)], [['refused', 'other'], ['Introduction']]);
});

test('an entry has a marker, then its text; findings that are already posted are left out', () => {
  assert.equal(composeReview(common, { findings: [] }), null);
  const [posted, one, refused] = [commented('posted'), planned('one'), commented('refused')];
  const { body, comments } = composeReview(common, {
    findings: [posted, one, refused],
    posted: new Set([posted]),
    refused: new Set([refused]),
  })!;
  const entry = (name: string, isRefused: boolean): string =>
    `${printEntryMarker({ fingerprints: [name], kernels: [`kernel of ${name}`], path: 'a.cu', isRefused, text: `hash-${name}` })}\n- entry ${name}`;
  assert.equal(
    body,
    `${printMarker('review', { fingerprints: ['one', 'refused'], name: 'job' })}Introduction\n\n` +
      `Findings without a separate comment:\n\n${entry('one', false)}\n\n${entry('refused', true)}`,
  );
  assert.deepEqual(comments, []);
  const all = composeReview(common, { findings: [posted], posted: new Set([posted]) })!;
  assert.deepEqual([parseMarker(all.body)?.fingerprints, all.body.split('\n').slice(1)], [[], ['Introduction']]);
  assert.equal(
    composeReview({ ...common, reviewIntroduction: '' }, { findings: [one] })!.body.split('\n')[1],
    'Findings on lines that the diff does not show:',
  );
});

test('a marker names at most four fingerprints of a finding', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const { body } = composeReview(common, { findings: [planned('a', { fingerprints: names })] })!;
  assert.deepEqual([parseMarker(body)?.fingerprints, markersIn(body)[0]?.fingerprints], [names.slice(0, 4), names.slice(0, 4)]);
});

test('entries that do not fit are counted', () => {
  const long = (name: string): PlannedFinding => planned(name, { entry: `- ${'x'.repeat(20_000)}` });
  const findings = ['a', 'b', 'c', 'd', 'e'].map(long);
  const bodyOf = (host?: 'app' | 'job') => composeReview({ ...common, host }, { findings })!.body;
  assert.deepEqual([markersIn(bodyOf()).length, parseMarker(bodyOf())?.fingerprints.length], [3, 5]);
  assert.ok(bodyOf().endsWith('\n\n- and 2 more; see the job summary'));
  assert.ok(bodyOf('app').endsWith('\n\n- and 2 more'));
  // The list fits exactly, or lacks one byte: what is available is 64,000 bytes less 200 and the head.
  const sized = (bytes: number): number => {
    const { body } = composeReview(common, { findings: [planned('a', { entry: 'x'.repeat(bytes) })] })!;
    return markersIn(body).length;
  };
  const [empty] = [composeReview(common, { findings: [planned('a', { entry: '' })] })!.body.length];
  const most = 64_000 - 200 - empty;
  assert.deepEqual([most - 1, most, most + 1].map(sized), [1, 1, 0]);
});

interface Written {
  readonly name: string;
  readonly path?: string;
  readonly text?: string;
  readonly isRefused?: boolean;
  readonly isTold?: boolean;
}

/** A body of an earlier review with entries, and with findings that have none. */
function earlierBody(entries: readonly Written[], without: readonly string[] = [], text?: string): string {
  const told = [...entries.filter(({ isTold = true }) => isTold).map(({ name }) => name), ...without];
  const parts = entries.map(
    ({ name, path = 'a.cu', text: own = `hash-${name}`, isRefused = false }) =>
      `${printEntryMarker({ fingerprints: [name], kernels: [], path, isRefused, text: own })}\n- entry ${name}\n  more`,
  );
  return printMarker('review', { fingerprints: told, name: 'job', ...(text !== undefined && { text }) }) + ['Head', ...parts].join('\n\n');
}

test('the findings of a review are those that its marker names', () => {
  const body = earlierBody([{ name: 'a' }, { name: 'b', path: '' }, { name: 'gone', isTold: false }], ['c']);
  const at = ({ path, fingerprints }: EarlierFinding) => [path, fingerprints];
  const expected = [
    ['a.cu', ['a']],
    [undefined, ['b']],
    [undefined, ['c']],
  ];
  assert.deepEqual(findingsIn(body).map(at), expected);
  assert.deepEqual(findingsIn(body.replaceAll('\n', '\r\n')).map(at), expected);
  assert.deepEqual(findingsIn('a text without a marker'), []);
  // One fingerprint of several is enough.
  const several = printEntryMarker({ fingerprints: ['x', 'y'], kernels: ['k'], path: 'b.cu', isRefused: false });
  const open = findingsIn(`${printMarker('review', { fingerprints: ['y', 'z'] })}${several}\n- entry`);
  assert.deepEqual(open.map(at), [
    ['b.cu', ['x', 'y']],
    [undefined, ['z']],
  ]);
});

test('only the entries of rejected comments are listed as such', () => {
  assert.deepEqual(refusedIn(earlierBody([{ name: 'a', isRefused: true }, { name: 'b' }, { name: 'c', isRefused: true }])), ['a', 'c']);
});

const head = 'abcdef0123456789';
type Settling = Parameters<typeof settledBody>[1];

function settled(body: string, kinds: Readonly<Record<string, Settlement['kind']>>, more: Partial<Settling> = {}): string | undefined {
  return settledBody(body, {
    headSha: head,
    settle: ({ fingerprints }) => ({ kind: kinds[fingerprints[0]!] ?? 'open', reason: '' }),
    hasOpenComments: false,
    isInline: () => false,
    entriesOf: () => [],
    ...more,
  });
}
/** The paragraphs after the marker, without the markers of entries. */
const paragraphs = (body: string | undefined): string[] | undefined =>
  body
    ?.split('\n')
    .slice(1)
    .filter((line) => !parseEntryMarker(line))
    .join('\n')
    .split('\n\n');

test('an entry of a settled finding becomes one line, and the others stay', () => {
  const body = earlierBody([{ name: 'a' }, { name: 'b' }]);
  const open = '- entry b\n  more';
  const rows: readonly (readonly [Settlement['kind'], string | undefined])[] = [
    ['fixed', '- Fixed in abcdef012: entry a'],
    ['suppressed', '- Suppressed in abcdef012: entry a'],
    ['gone', '- No longer part of this change, as of abcdef012: entry a'],
    ['open', undefined],
    ['unchecked', undefined],
  ];
  for (const [kind, line] of rows) {
    const now = settled(body, { a: kind });
    assert.deepEqual(paragraphs(now), line === undefined ? undefined : ['Head', line, open], kind);
    if (line !== undefined) {
      assert.deepEqual(parseMarker(now), { kind: 'review', fingerprints: ['b'], kernels: [], name: 'job' }, kind);
      assert.deepEqual(
        markersIn(now!).flatMap(({ fingerprints }) => fingerprints),
        ['b'],
        kind,
      );
    }
  }
});

test('an entry that was settled before stays as it is', () => {
  const body = earlierBody([{ name: 'a', isTold: false }, { name: 'b' }]);
  assert.equal(settled(body, { a: 'fixed' }), undefined);
  const entriesOf = () => [{ entry: '- new', entryText: 'new' }];
  const now = settled(earlierBody([{ name: 'a', isTold: false }, { name: 'b' }]), {}, { entriesOf });
  assert.deepEqual(paragraphs(now), ['Head', '- entry a\n  more', '- new']);
});

test('an entry of a rejected comment is settled if a comment now reports it', () => {
  const isInline = (fingerprint: string): boolean => fingerprint === 'a';
  const moved = settled(
    earlierBody([
      { name: 'a', isRefused: true },
      { name: 'b', isRefused: true },
    ]),
    {},
    { isInline },
  );
  assert.deepEqual(paragraphs(moved), ['Head', '- Now a comment on its line: entry a', '- entry b\n  more']);
  assert.equal(settled(earlierBody([{ name: 'a' }, { name: 'b' }]), {}, { isInline }), undefined);
  // The comment is named even if the finding is settled.
  const both = settled(earlierBody([{ name: 'a', isRefused: true }, { name: 'b' }]), { a: 'fixed' }, { isInline });
  assert.deepEqual(paragraphs(both)?.[1], '- Now a comment on its line: entry a');
});

test('an entry is renewed if its text differs, and if the new one fits', () => {
  const entriesOf = (...texts: readonly string[]): Partial<Settling> => ({
    entriesOf: ([name]) => (name === 'a' ? texts.map((text) => ({ entry: `- ${text}`, entryText: `hash-${text}` })) : []),
  });
  const body = earlierBody([{ name: 'a' }, { name: 'b' }]);
  const renewed = settled(body, {}, entriesOf('new', 'other'));
  assert.deepEqual(paragraphs(renewed), ['Head', '- new', '- entry b\n  more']);
  assert.deepEqual(
    markersIn(renewed!).map(({ text }) => text),
    ['hash-new', 'hash-b'],
  );
  assert.deepEqual(parseMarker(renewed)?.fingerprints, ['a', 'b']);
  assert.equal(settled(body, {}, entriesOf('a')), undefined);
  assert.equal(settled(body, {}, entriesOf('new', 'a')), undefined, 'one of several kernels still has the text');
  assert.equal(settled(body, {}, entriesOf('x'.repeat(64_000))), undefined);
  // Each renewed entry takes from the same room.
  const half = { entriesOf: ([name]: readonly string[]) => [{ entry: `- ${name!.repeat(40_000)}`, entryText: 'new' }] };
  assert.deepEqual(
    paragraphs(settled(body, {}, half))?.map((text) => text.length),
    [4, 40_002, 16],
  );
  assert.deepEqual(
    paragraphs(settled(body, { a: 'fixed' }, half))?.map((text) => text.slice(0, 6)),
    ['Head', '- Fixe', '- bbbb'],
  );
});

test('a review is one line if all of its findings are settled, and stays it', () => {
  const line = `Nothing of this review is open here any more, as of abcdef012.`;
  const body = earlierBody([{ name: 'a' }], ['b']);
  const now = settled(body, { a: 'fixed', b: 'gone' });
  assert.equal(now?.split('\n').slice(1).join('\n'), line);
  assert.deepEqual([parseMarker(now)?.fingerprints, parseMarker(now)?.name], [[], 'job']);
  assert.equal(settled(now, {}), undefined);
  assert.equal(settled(earlierBody([]), {})?.split('\n')[1], line, 'a review without findings');
  const withComments = settled(body, { a: 'fixed', b: 'fixed' }, { hasOpenComments: true });
  assert.deepEqual(paragraphs(withComments), ['Head', '- Fixed in abcdef012: entry a']);
  assert.equal(settled(earlierBody([]), {}, { hasOpenComments: true }), undefined);
});

test('a finding without an entry is settled only if it is fixed or no longer part of the change', () => {
  const left = (kind: Settlement['kind']) => parseMarker(settled(earlierBody([], ['a', 'b']), { a: kind }))?.fingerprints;
  const rows = { fixed: ['b'], gone: ['b'], suppressed: undefined, unchecked: undefined, open: undefined } as const;
  for (const [kind, expected] of Object.entries(rows)) assert.deepEqual(left(kind as Settlement['kind']), expected, kind);
  // The settlement of an entry, which knows its file, is not replaced by one without a file.
  const settle = ({ path }: EarlierFinding) => ({ kind: path === undefined ? 'fixed' : 'open' }) as Settlement;
  assert.equal(settled(earlierBody([{ name: 'a' }]), {}, { settle }), undefined);
});
