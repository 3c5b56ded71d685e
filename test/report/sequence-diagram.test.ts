import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReportedInterleaving } from '../../src/report-model/finding.ts';
import type { Finding } from '../../src/report-model/outcome.ts';
import { render } from '../../src/report/render.ts';
import { sequenceDiagram } from '../../src/report/sequence-diagram.ts';
import { divergenceFinding, kernelReport, raceFinding, reportOf } from '../report-model/report-fixture.ts';

const file = 'src/a.cu';
const interleaving: ReportedInterleaving = {
  threads: [
    { thread: [31, 0, 0], block: [0, 0, 0], name: 'thread 31' },
    { thread: [32, 0, 0], block: [0, 0, 0], name: 'thread 32' },
  ],
  steps: [
    { threads: [0, 1], action: 'pass', text: 'pass the barrier', times: 2, location: { file, line: 2 } },
    { threads: [0], action: 'read', text: 'reads s[t + 1], here s[32]', location: { file, line: 5 } },
    { threads: [1], action: 'write', text: 'writes s[t], here s[32]', location: { file, line: 3 } },
  ],
  missing: { kind: 'block-barrier', text: 'no __syncthreads() separates lines 3 and 5' },
};
const race = raceFinding({ interleaving, overlap: { offset: 128, bytes: 4, element: 's[32]' } });
const divergence = divergenceFinding({
  interleaving: {
    threads: interleaving.threads,
    steps: [
      { threads: [0], action: 'wait', text: 'waits at the barrier', location: { file, line: 6 } },
      { threads: [1], action: 'exit', text: 'has returned' },
    ],
  },
});
const open = raceFinding({
  confirmed: false,
  fingerprint: 'f2',
  wouldDecide: {
    text: 'state, if it is true, that all elements of `table` are different',
    statement: '// selvage: assume(distinct(table))',
    tried: 'proved',
  },
});
const plain = { color: false, verbose: false, source: () => undefined };
const report = reportOf([
  kernelReport({
    race: { verdict: 'race', findings: [race, open] },
    divergence: { verdict: 'divergent', findings: [divergence] },
  }),
  kernelReport({
    name: 'other()',
    race: {
      verdict: 'possible',
      reason: 'barriers',
      wouldDecide: { text: 'fix the barrier divergence first' },
      findings: [],
    },
  }),
]);

test('a race as a sequence diagram', () => {
  assert.equal(
    sequenceDiagram(race),
    `sequenceDiagram
  participant t0 as thread 31
  participant m as s[32]
  participant t1 as thread 32
  Note over t0,t1: pass the barrier, 2 times so far (line 2)
  par thread 31
    t0->>m: reads s[t + 1], here s[32] (line 5)
  and thread 32
    t1->>m: writes s[t], here s[32] (line 3)
  end
  Note over t0,t1: no __syncthreads() separates lines 3 and 5`,
  );
});

test('a divergence as a sequence diagram', () => {
  assert.equal(
    sequenceDiagram(divergence),
    `sequenceDiagram
  participant t0 as thread 31
  participant t1 as thread 32
  Note over t0: waits at the barrier (line 6)
  Note over t1: has returned`,
  );
  assert.equal(sequenceDiagram(raceFinding()), undefined);
});

test('names do not become syntax of a diagram', () => {
  const names = [
    'a;b#c"d',
    'x\nend\nparticipant q',
    '%% x',
    '```\n@user',
    'style a:b#x;y',
    '</svg><script>',
    'wrap:x',
    'é漢😀',
    '\ud800',
    '$$x$$',
    'end',
    '#35;',
    'x'.repeat(500),
    '',
  ];
  for (const name of names) {
    const steps = interleaving.steps.map((step) => ({ ...step, text: name, location: { file: name, line: 1 } }));
    const hostile: Finding = {
      ...race,
      array: name,
      overlap: { offset: 0, bytes: 4, element: name },
      interleaving: { ...interleaving, steps },
    };
    const lines = sequenceDiagram(hostile)!.split('\n');
    assert.equal(lines.length, 11, name);
    for (const line of lines) {
      const text = line.replace(/^ *(participant \w+ as|Note over [\w,]+:|t\d->>m:|par|and)? ?/, '');
      const rest = text.replace(/#\d+;/g, '');
      if (!/^(sequenceDiagram|end)$/.test(rest)) assert.match(rest, /^[A-Za-z0-9 _.,()[\]+*/=]*$/, line);
      assert.ok(text === 'end' || !/\bend\b/.test(text), line);
      assert.ok(line.length < 1200);
    }
  }
});

test('every format reports the interleaving, or the missing assumption', async () => {
  const pretty = await render('pretty', report, plain);
  assert.match(
    pretty,
    /= state, if it is true, that all elements of `table` are different\n.* = with `\/\/ selvage: assume\(distinct\(table\)\)` Selvage proves the kernel/,
  );
  assert.match(pretty, /\? race possible: barriers\n {6}fix the barrier divergence first/);

  const markdown = await render('markdown', report, plain);
  assert.match(markdown, /<details><summary>Interleaving<\/summary>\n\n```mermaid\nsequenceDiagram\n[^`]*\n```\n\n<\/details>/);
  assert.match(markdown, /; with `\/\/ selvage: assume\(distinct\(table\)\)` Selvage proves the kernel/);
  assert.equal(markdown.split('```mermaid').length, 3);

  const html = await render('html', report, plain);
  assert.match(html, /<div class="heads"><span>thread 31<\/span><span>thread 32<\/span><\/div>/);
  assert.match(
    html,
    /<li class="move t0">reads s\[t \+ 1\], here s\[32\] \(line 5\)<\/li><li class="move t1">writes s\[t\], here s\[32\] \(line 3\)<\/li>/,
  );
  assert.match(html, /<li class="whole">no __syncthreads\(\) separates lines 3 and 5<\/li>/);
  assert.match(
    html,
    /with <code>&#47;&#47; selvage|with <code>\/\/ selvage: assume\(distinct\(table\)\)<\/code> Selvage proves the kernel/,
  );

  const sarif = JSON.parse(await render('sarif', report, plain)) as {
    runs: {
      results: {
        codeFlows?: { threadFlows: { id: string; locations: { location: { message: { text: string } } }[] }[] }[];
        message: { text: string };
      }[];
    }[];
  };
  const [flowing, undecided] = sarif.runs[0]!.results;
  const flows = flowing!.codeFlows![0]!.threadFlows;
  assert.deepEqual(
    flows.map(({ id, locations }) => [id, locations.length]),
    [
      ['thread 31', 2],
      ['thread 32', 2],
    ],
  );
  assert.equal(flows[1]!.locations[1]!.location.message.text, 'thread 32: writes s[t], here s[32] (line 3)');
  assert.equal(undecided!.codeFlows, undefined);
  assert.match(undecided!.message.text, /; state, if it is true, that all elements of/);
});
