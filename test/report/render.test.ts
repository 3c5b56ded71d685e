import { existsSync } from 'node:fs';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { formats } from '../../src/settings/options.ts';
import type { KernelReport } from '../../src/report-model/report.ts';
import { render } from '../../src/report/render.ts';
import schema from '../../src/report/report.schema.json' with { type: 'json' };
import { divergenceFinding, kernelReport, raceFinding, reportOf } from '../report-model/report-fixture.ts';

const source = [
  '// selvage: block=32 grid=1',
  '__global__ void k(float* s) {',
  '  s[t] = 1;',
  '',
  '\tx = s[t + 1];',
  '    __syncthreads();',
].join('\n');
const plain = { color: false, verbose: false, source: (file: string) => (file === 'src/a.cu' ? source : undefined) };

const racy = kernelReport({
  race: {
    verdict: 'race',
    findings: [raceFinding()],
    assumptions: [{ kind: 'launch', text: 'blockDim = (32, 1, 1)' }],
  },
  divergence: { verdict: 'divergent', findings: [divergenceFinding()] },
});
const report = reportOf(
  [racy, kernelReport({ name: 'clean()' }), kernelReport({ race: { verdict: 'possible', reason: 'a fence', findings: [] } })],
  [
    {
      severity: 'error',
      code: 'compile/failed',
      message: 'b.cu does not compile',
      location: { file: 'b.cu', line: 4 },
    },
  ],
);
const hostile = '</script><img src=x onerror=alert(1)>`|\u001b[31m @user';
const hostileReport = reportOf(
  [
    kernelReport({
      name: hostile,
      race: { verdict: 'race', findings: [raceFinding({ message: hostile, array: hostile })] },
    }),
  ],
  [{ severity: 'warning', code: 'compile/failed', message: hostile, location: { file: hostile, line: 1 } }],
);

const validate = new Ajv2020({ strict: false }).compile(schema);

test('the JSON validates against the schema', async () => {
  for (const one of [report, hostileReport, reportOf([])]) {
    const text = await render('json', one, plain);
    assert.ok(validate(JSON.parse(text)), JSON.stringify(validate.errors));
    assert.deepEqual(JSON.parse(text), JSON.parse(JSON.stringify(one)));
  }
});

test('the schema rejects a race without a confirmed finding', () => {
  const unconfirmed = kernelReport({ race: { verdict: 'race', findings: [raceFinding({ confirmed: false })] } });
  assert.equal(validate(JSON.parse(JSON.stringify(reportOf([unconfirmed])))), false);
});

test('every format is deterministic', async () => {
  for (const format of formats) {
    assert.equal(await render(format, report, plain), await render(format, report, plain));
  }
});

test('pretty shows both accesses in their lines, threads, launch and counts', async () => {
  const text = await render('pretty', report, plain);
  const lines = text.split('\n');
  const write = lines.findIndex((line) => line.startsWith('3 |   s[t] = 1;'));
  assert.ok(write > 0, text);
  assert.match(lines[write + 1] ?? '', /^ {2}\| {3}\^{4} write of s\[t\] by thread \(0, 0, 0\) of block \(0, 0, 0\)$/);
  const read = lines.findIndex((line) => line.startsWith('5 |     x = s[t + 1];'));
  assert.ok(read > write, text);
  assert.match(lines[read + 1] ?? '', /^ {2}\| {9}\^{8} read of s\[t \+ 1\] by thread \(1, 0, 0\)/);
  assert.match(text, /block 32, 1, 1 · grid 1, 1, 1 \(annotation, src\/a\.cu:1\)/);
  assert.match(text, /confirmed by a run: block 32, 1, 1 · grid 1, 1, 1 · n = 7/);
  assert.equal(text.split('threadIdx.x < 16').length, 2, 'the condition is printed once');
  assert.match(text, /race possible: a fence/);
  assert.match(text, /error\[compile\/failed\]: b\.cu does not compile/);
  assert.match(text, /3 kernels: 1 with races, 1 undecided, 1 proved; 2 errors/);
  assert.ok(!text.includes('\u001b'));
  assert.ok((await render('pretty', report, { ...plain, color: true })).includes('\u001b[31m'));
});

test('the tiles of the HTML report count each kernel once, by its worst verdict', async () => {
  const divergent = { verdict: 'divergent', findings: [divergenceFinding()] } as const;
  const both = kernelReport({
    race: { verdict: 'possible', reason: 'not decided', findings: [] },
    divergence: divergent,
  });
  const html = await render('html', reportOf([both, kernelReport()]), plain);
  const [tiles = ''] = /<ul class="tiles">.*?<\/ul>/s.exec(html) ?? [];
  assert.match(tiles, />2<\/b><span>kernels</);
  assert.match(tiles, />1<\/b><span>proved</);
  assert.match(tiles, />1<\/b><span>with barrier divergence</);
  assert.doesNotMatch(tiles, /undecided/);
});

test('pretty shows a line shared by both accesses once, and names the array if their text is unknown', async () => {
  const { first, second } = raceFinding();
  const { expression, ...rest } = second;
  assert.ok(expression);
  const unknown = { ...rest, operation: 'atomic', location: first.location! } as const;
  const findings = [raceFinding({ first, second: unknown })];
  const text = await render('pretty', reportOf([kernelReport({ race: { verdict: 'race', findings } })]), plain);
  assert.equal(text.split('s[t] = 1;').length, 2);
  assert.match(text, /\^ atomic update of 4 bytes of s by thread \(1, 0, 0\)/);
  assert.match(text, /\n1 kernel with races; 1 error\n$/);
});

test('pretty marks a statement once whose accesses race in unknown threads', async () => {
  const { first } = raceFinding();
  const { thread, block, ...unknown } = first;
  assert.ok(thread && block);
  const findings = [raceFinding({ first: unknown, second: unknown })];
  const text = await render('pretty', reportOf([kernelReport({ race: { verdict: 'race', findings } })]), plain);
  assert.equal(text.split('^ write of s[t]').length, 2);
});

test('a condition that the message does not name is printed next to it', async () => {
  const findings = [divergenceFinding({ message: 'Some threads do not come.' })];
  const told = reportOf([kernelReport({ divergence: { verdict: 'divergent', findings } })]);
  for (const format of ['pretty', 'markdown', 'html'] as const)
    assert.match(await render(format, told, plain), /under the condition .*threadIdx\.x/, format);
});

test('pretty does not let the input write to the terminal', async () => {
  const text = await render('pretty', hostileReport, { ...plain, source: () => 'a\u001b[2Jb\n'.repeat(9) });
  assert.ok(!text.includes('\u001b'));
});

interface SarifResult {
  readonly ruleId: string;
  readonly level: string;
  readonly partialFingerprints: Readonly<Record<string, string>>;
  readonly locations: readonly SarifLocation[];
  readonly relatedLocations: readonly SarifLocation[];
  readonly fixes?: readonly unknown[];
}

interface SarifLocation {
  readonly physicalLocation: {
    readonly artifactLocation: { readonly uri: string };
    readonly region: { readonly startLine: number };
  };
}

interface SarifRule {
  readonly id: string;
  readonly helpUri: string;
  readonly properties: { readonly precision: string };
}

interface SarifRun {
  readonly results: readonly SarifResult[];
  readonly automationDetails?: unknown;
  readonly tool: { readonly driver: { readonly rules: readonly SarifRule[] } };
  readonly invocations: readonly { readonly executionSuccessful: boolean }[];
}

async function sarifRun(of: typeof report): Promise<SarifRun> {
  const log = JSON.parse(await render('sarif', of, plain)) as { version: string; runs: SarifRun[] };
  assert.equal(log.version, '2.1.0');
  return log.runs[0] ?? assert.fail();
}

test('SARIF has a rule, a place and a fingerprint for each result', async () => {
  const { results, tool, invocations, automationDetails } = await sarifRun(report);
  assert.deepEqual(
    results.map(({ ruleId, level }) => [ruleId, level]),
    [
      ['race/shared', 'error'],
      ['barrier/divergent', 'error'],
    ],
  );
  const rules = new Set(tool.driver.rules.map(({ id }) => id));
  for (const { id, helpUri, properties } of tool.driver.rules) {
    assert.ok(existsSync(new URL(`../../${helpUri.split('/').slice(7).join('/')}`, import.meta.url)), helpUri);
    assert.ok(['very-high', 'high'].includes(properties.precision), id);
  }
  // With an ID, the upload would ignore its category, and jobs would close each other's alerts.
  assert.equal(automationDetails, undefined);
  for (const { ruleId, partialFingerprints, locations } of results) {
    assert.ok(rules.has(ruleId));
    assert.equal(partialFingerprints['primaryLocationLineHash'], `${partialFingerprints['selvage/v1']}:1`);
    assert.equal(locations[0]?.physicalLocation.artifactLocation.uri, 'src/a.cu');
    assert.ok((locations[0]?.physicalLocation.region.startLine ?? 0) >= 1);
  }
  assert.equal(results[0]?.relatedLocations[0]?.physicalLocation.region.startLine, 5);
  assert.equal(invocations[0]?.executionSuccessful, false);
  const finding = raceFinding({ severity: 'notice', suppressed: 'known' });
  const suppressed = await sarifRun(reportOf([kernelReport({ race: { verdict: 'race', findings: [finding] } })]));
  // GitHub ignores suppressions, and closes the alert of a result that is missing.
  assert.deepEqual(suppressed.results, []);
});

const repairCost = { registers: 8, spillBytes: 0, sharedBytes: 0, barriers: 0, instructions: 5 };
const repairedReport = reportOf([
  kernelReport({
    race: { verdict: 'race', findings: [raceFinding()] },
    repair: {
      status: 'repaired',
      verified: true,
      barriersAdded: 1,
      barriersRemoved: 1,
      iterations: 4,
      clauses: 1,
      checks: 2,
      compilations: 2,
      reason: 'a barrier at line 4',
      cost: { text: '+1 barrier, 0 registers', before: repairCost, after: { ...repairCost, barriers: 1 } },
      edits: [
        { file: 'src/a.cu', startLine: 5, endLine: 4, replacement: '    __syncthreads();\n' },
        { file: 'src/a.cu', startLine: 6, endLine: 6, replacement: '' },
      ],
      fixes: [raceFinding().fingerprint],
    },
  }),
  kernelReport({ name: 'other()', repair: { status: 'unrepairable', reason: 'all write A<0>' } }),
]);

test('a repair is in every format: its description, its costs, and its edits together', async () => {
  const words = 'a barrier at line 4 (+1 barrier, 0 registers)';
  assert.ok(validate(JSON.parse(await render('json', repairedReport, plain))), JSON.stringify(validate.errors));
  const pretty = await render('pretty', repairedReport, plain);
  assert.ok(pretty.includes(`✓ repaired, compiled and proved: ${words}\n`));
  assert.ok(pretty.includes('- not repaired: all write A<0>\n'));
  assert.match(pretty, /^\+ {4}__syncthreads\(\);$/m);
  assert.match(pretty, /; 1 kernel repaired, 1 not\n$/);
  const markdown = await render('markdown', repairedReport, plain);
  assert.ok(markdown.includes(`- repaired, compiled and proved: ${words}\n`));
  assert.match(markdown, /## Repairs\n\n.*\n\n```diff\ndiff --git [^]*\n\+ {4}__syncthreads\(\);\n/);
  const page = await render('html', repairedReport, plain);
  assert.ok(page.includes(words));
  assert.match(page, /<span class="add"><span>\+ {4}__syncthreads\(\);<\/span><\/span>/);
  assert.match(page, /not repaired<\/b>: all write A&#60;0&#62;/);
  const { results } = await sarifRun(repairedReport);
  assert.deepEqual(results[0]?.fixes, [
    {
      description: { text: `Compiled and proved with this change: ${words}.` },
      artifactChanges: [
        {
          artifactLocation: { uri: 'src/a.cu', uriBaseId: 'SRCROOT' },
          replacements: [
            {
              deletedRegion: { startLine: 5, startColumn: 1, endLine: 5, endColumn: 1 },
              insertedContent: { text: '    __syncthreads();\n' },
            },
            { deletedRegion: { startLine: 6, startColumn: 1, endLine: 7, endColumn: 1 } },
          ],
        },
      ],
    },
  ]);
});

test('an alternative of a repair is offered with it, and is not in the patch', async () => {
  const edits = [{ file: 'src/a.cu', startLine: 6, endLine: 6, replacement: '    atomicAdd(&s[0], 1);\n' }];
  const [kernel] = repairedReport.kernels as [KernelReport];
  const alternatives = [{ reason: 'an atomic update at line 6', verified: true as const, edits }];
  const offered = reportOf([{ ...kernel, repair: { ...kernel.repair, alternatives } }]);
  assert.ok(validate(JSON.parse(await render('json', offered, plain))), JSON.stringify(validate.errors));
  const words = 'alternative (compiled and proved): an atomic update at line 6\n';
  const pretty = await render('pretty', offered, plain);
  assert.ok(pretty.includes(`✓ ${words}`));
  assert.doesNotMatch(pretty, /^\+.*atomicAdd/m);
  assert.ok((await render('markdown', offered, plain)).includes(`- ${words}`));
  assert.match(await render('html', offered, plain), /\(compiled and proved\)<\/b>: an atomic update at line 6</);
  const { results } = await sarifRun(offered);
  assert.equal(results[0]?.fixes?.length, 2);
});

test('HTML has no dependencies, allows only its own style and script, and escapes everything', async () => {
  const page = await render('html', report, plain);
  const { rest, style, script } = pieces(page);
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1];
  assert.equal(policy, `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`);
  assert.doesNotMatch(rest, /<(?:script|style|link|img|iframe|object|form)\b|\ssrc=|@import|url\(|\sstyle=|\son\w+=/);
  assert.doesNotMatch(style + script, /@import|url\(|https?:|innerHTML|insertAdjacent|document\.write|\beval\b|fetch\(/);
  assert.match(rest, /<span class="hit" data-line="[^"]*"><span class="n">.*<mark>s\[t\]<\/mark> = 1;/);
  assert.match(rest, /write of s\[t\] by thread/);
  const evil = pieces(await render('html', hostileReport, { ...plain, source: () => `${hostile}\n`.repeat(9) })).rest;
  assert.doesNotMatch(evil, /<(?:script|img)\b|<\/script>/);
  assert.ok(evil.includes('&#60;img src=x onerror=alert(1)&#62;'));
});

/** A page without its own style and script, and these. */
function pieces(page: string): { readonly rest: string; readonly style: string; readonly script: string } {
  const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? '';
  const script = /<script>([^]*?)<\/script><\/body>/.exec(page)?.[1] ?? '';
  const rest = page.replace(`<style>${style}</style>`, '').replace(`<script>${script}</script>`, '');
  return { rest, style, script };
}

test('HTML shows a finding with its lines, its steps and its patch in one frame, before the kernels', async () => {
  const recording = [
    {
      thread: 0,
      action: 'write',
      text: 'writes 1 to `s[32]`',
      location: { file: 'src/a.cu', line: 5 },
      cell: { name: 's[32]', value: 1, isShared: true },
    },
    {
      thread: 1,
      action: 'read',
      text: 'reads 1 from `s[32]`',
      location: { file: 'src/a.cu', line: 6 },
      cell: { name: 's[32]', value: 1, isShared: true },
    },
    { thread: 1, action: 'write', text: 'writes `<b>`', location: { file: 'src/a.cu', line: 6 }, cell: { name: '<b>', value: '<i>"' } },
  ] as const;
  const threads = [0, 32].map((x) => ({ thread: [x, 0, 0], block: [0, 0, 0], name: `thread ${x}` }) as const);
  const [kernel] = repairedReport.kernels as [KernelReport];
  const [finding] = kernel.race.findings;
  assert.ok(finding);
  const stepped = { ...finding, interleaving: { threads, steps: [], recording } };
  const proved = kernelReport({ name: 'fine()' });
  const page = await render('html', reportOf([{ ...kernel, race: { ...kernel.race, findings: [stepped] } }, proved]), plain);
  const figure = /<article class="card[^]*?<figure class="frame">([^]*?)<\/figure>/.exec(page)?.[1] ?? '';
  assert.match(
    figure,
    /<li class="move t0 shared" data-thread="0" data-at="src\/a\.cu:5" data-of="0" data-value="1">writes 1 to <code>s\[32\]<\/code>/,
  );
  assert.match(figure, /data-of="1" data-value="&#60;i&#62;&#34;">writes <code>&#60;b&#62;<\/code>/);
  assert.match(figure, /<tr class="shared"><td><code>s\[32\]<\/code>.*<td data-cell="0">1<\/td><\/tr>/);
  assert.match(figure, /<b class="proved">Fix<\/b>[^]*<span class="add"><span>\+ {4}__syncthreads\(\);/);
  assert.ok(page.indexOf('<article') < page.indexOf('<details class="kernel"'));
  assert.match(page, /<details class="group"><summary><b>1 kernel<\/b>[^]*<code>fine\(\)<\/code>/);
  assert.match(page, /<div class="filter" role="search"><input id="search"/);
  assert.match(page, /<ul class="tiles"><li><b>2<\/b><span>kernels<\/span><\/li><li><b class="proved">1<\/b>/);
});

test('each of two threads of different blocks has its own row of a shared array', async () => {
  const location = { file: 'src/a.cu', line: 5 };
  const step = (thread: number, name: string, value: number, isRace = false) =>
    ({ thread, action: 'write', text: 'writes', location, cell: { name, value, ...(isRace && { isShared: true as const }) } }) as const;
  const recording = [step(0, 's[0]', 1), step(1, 's[0]', 2), step(0, 'a[4]', 3, true), step(1, 'a[4]', 4, true)];
  const threads = [0, 1].map((x) => ({ thread: [0, 0, 0], block: [x, 0, 0], name: `thread 0 of block ${x}` }) as const);
  const finding = raceFinding({ interleaving: { threads, steps: [], recording } });
  const page = await render('html', reportOf([kernelReport({ race: { verdict: 'race', findings: [finding] } })]), plain);
  const [table = ''] = /<table class="cells">.*?<\/table>/s.exec(page) ?? [];
  assert.match(table, /a\[4\]<\/code> <small>both threads<\/small><\/td><td data-cell="0">4</);
  assert.match(table, /s\[0\]<\/code> <small>thread 0 of block 0<\/small><\/td><td data-cell="1">1</);
  assert.match(table, /s\[0\]<\/code> <small>thread 0 of block 1<\/small><\/td><td data-cell="2">2</);
  assert.match(page, /data-thread="1"[^>]* data-of="2" data-value="2"/);
});

test('changes of the machine code are escaped in every format, and are in the schema', async () => {
  const place = { file: hostile, line: 7 };
  const change = { location: place, was: place, instructions: [3, 2] as const, work: { [hostile]: [1, 0] as const } };
  const lines = [
    { ...change, diff: [`- ${hostile}`, '```', '</details>'] },
    { ...change, was: place, diff: ['+ MOV R1'] },
  ];
  const comparison = {
    new: [],
    fixed: [],
    unchanged: [],
    regressions: [],
    code: [{ kernel: hostile, message: hostile, location: place }],
    codeLines: [{ kernel: hostile, lines, more: 2 }],
  };
  const compared = { ...report, comparison };
  const plain = { color: false, verbose: false, source: () => `${hostile}\n`.repeat(9) };
  assert.ok(validate(JSON.parse(await render('json', compared, plain))), JSON.stringify(validate.errors));
  const markdown = await render('markdown', compared, plain);
  const fenced = /\n(`{4,}diff\n[^]*?\n`{4,})\n/.exec(markdown)?.[1] ?? '';
  assert.ok(fenced.includes('\n+ MOV R1\n') && fenced.includes('@@ </script>'));
  for (const line of markdown.replace(fenced, '').split('\n'))
    assert.doesNotMatch(line.replace(/(`+)[^`].*?[^`]?\1/g, ''), /<img|@user/, line);
  assert.doesNotMatch(pieces(await render('html', compared, plain)).rest, /<(?:script|img)\b|<\/script>/);
  const text = await render('pretty', compared, { ...plain, verbose: true });
  assert.ok(!text.includes('\u001b'));
  assert.match(text, / instructions +3 → 2\n/);
});

test('in Markdown, no input becomes markup', async () => {
  const text = await render('markdown', hostileReport, plain);
  for (const line of text.split('\n')) {
    const outsideCode = line.replace(/(`+)[^`].*?[^`]?\1/g, '');
    assert.doesNotMatch(outsideCode, /<img|@user/, line);
  }
});
