import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../src/base/random.ts';
import { byteLength, fitMarkdown, prefixOfBytes } from '../../src/github/text/fit-markdown.ts';
import { details, fencedBlock } from '../../src/report/markup/inert-markdown.ts';
import { codeSpan, escapeText, tableCode } from '../../src/report/markup/inert-markdown.ts';
import { parseMarker, printMarker } from '../../src/github/text/marker.ts';
import { annotationCommands, logText } from '../../src/github/text/workflow-command.ts';
import { activePieces } from './active-markdown.ts';

test('code spans can contain any text', () => {
  assert.equal(codeSpan('a[i]'), '`a[i]`');
  assert.equal(codeSpan('a `b`` c'), '```a `b`` c```');
  assert.equal(codeSpan('`x`'), '`` `x` ``');
  assert.equal(codeSpan('a\r\n\tb'), '`a b`');
  assert.equal(codeSpan(''), '` `');
  assert.equal(tableCode('a | b'), '`a \\| b`');
});

test('escaped text is rendered verbatim', () => {
  assert.equal(escapeText('sm_80, line 3: a'), 'sm_80, line 3: a');
  const escaped = escapeText('@mona <!-- #1 `x` __b__ [l](u) ::error https://x |');
  assert.doesNotMatch(escaped, /[@<>`[\]|]|__|::|:\/\/|#1 /);
  assert.equal(escapeText('f#1'), 'f&#35;&#8203;1');
  const texts = [
    '@mona',
    'a@b.example',
    'octo/kernels#7',
    'see GH-12',
    'www.evil.example',
    '![x](https://evil.example)',
    '<b>',
    '[x]: y',
    '&#64;mona',
    '&commat;mona',
  ];
  for (const text of texts)
    assert.deepEqual(
      activePieces(escapeText(text), () => false),
      [],
      text,
    );
  for (const text of texts.slice(0, -1))
    assert.notDeepEqual(
      activePieces(text, () => false),
      [],
      text,
    );
});

test('fences are longer than those in their content', () => {
  assert.equal(fencedBlock('a\n````\nb\n', 'sh'), '`````sh\na\n````\nb\n`````');
});

test('long Markdown is cut within the budget, with all constructs closed and no character split', () => {
  const random = seededRandom(7);
  for (let round = 0; round < 200; round += 1) {
    const parts = Array.from({ length: random.between(1, 30) }, () =>
      random.pick([
        'wörter 🧵 '.repeat(random.between(1, 40)),
        fencedBlock('x\n'.repeat(random.between(1, 60))),
        details('more', fencedBlock('🧵\n'.repeat(random.between(1, 60)))),
      ]),
    );
    const text = parts.join('\n\n');
    const budget = random.between(600, 4000);
    const cut = fitMarkdown(text, budget, 'cut');
    assert.ok(byteLength(cut) <= budget);
    assert.equal(Buffer.from(cut).toString(), cut);
    assert.ok(!cut.includes('\ufffd'));
    if (cut === text) continue;
    assert.ok(cut.endsWith('\n\ncut'));
    assert.equal(cut.match(/^<details>/gm)?.length ?? 0, cut.match(/^<\/details>/gm)?.length ?? 0);
    assert.equal((cut.match(/^```/gm)?.length ?? 0) % 2, 0);
  }
});

test('a prefix of bytes ends between characters', () => {
  assert.equal(prefixOfBytes('aé🧵', 2), 'a');
  assert.equal(prefixOfBytes('aé🧵', 6), 'aé');
  assert.equal(prefixOfBytes('aé🧵', 7), 'aé🧵');
});

test('markers are parsed as written, and only from the first line', () => {
  const fingerprints = ['abc', 'a--b', 'x,y z', '-->', 'ü\ud800'];
  const body = `${printMarker('finding', { fingerprints, kernels: ['12ab'], name: 'a - b', text: 'abc0' })}text`;
  assert.equal(body.indexOf('-->'), body.indexOf('\n') - 3);
  assert.deepEqual(parseMarker(body), {
    kind: 'finding',
    fingerprints: ['abc', 'a--b', 'x,y z', '-->', 'ü\ufffd'],
    kernels: ['12ab'],
    name: 'a - b',
    text: 'abc0',
  });
  assert.deepEqual(parseMarker(`${printMarker('summary')}x`), {
    kind: 'summary',
    fingerprints: [],
    kernels: [],
    name: '',
  });
  assert.equal(parseMarker(`text\n${body}`), undefined);
  assert.equal(parseMarker(null), undefined);
});

test('annotations are escaped and counted by level', () => {
  const annotation = {
    path: 'a,b:c.cu',
    startLine: 3,
    endLine: 4,
    severity: 'error',
    title: '100%: a',
    message: 'x\r\n::error::y',
  } as const;
  const many = [...Array.from({ length: 12 }, () => annotation), { ...annotation, severity: 'warning' } as const];
  const { commands, leftOver } = annotationCommands(many);
  assert.equal(commands[0], '::error file=a%2Cb%3Ac.cu,line=3,endLine=4,title=100%25%3A a::x%0D%0A::error::y');
  assert.deepEqual([commands.length, leftOver], [11, 2]);
  assert.equal(logText('a\n  ::set-output name=x::y\n##[error]z'), 'a\n  : :set-output name=x::y\n# #[error]z');
});
