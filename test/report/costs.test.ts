/** Costs in the formats: texts, escapes, and charts. */
import type { Regression } from '../../src/report-model/regression.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Report } from '../../src/report-model/report.ts';
import { costChart, mermaidChart } from '../../src/report/cost/cost-chart.ts';
import { render } from '../../src/report/render.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import { kernelReport, reportOf } from '../report-model/report-fixture.ts';

const hostile = '</script><img src=x onerror=alert(1)>`|\u001b[31m @user "é';
const plain = { color: false, verbose: false, source: () => `${hostile}\n`.repeat(9) };

const sectors: Regression = {
  code: 'cost/sectors',
  severity: 'notice',
  fingerprint: 'c1',
  kernel: 'k(float*, int)',
  metric: 'sectors',
  build: 'source',
  base: '8*ceil(n/32)',
  head: '32*ceil(n/32)',
  baseValue: 256,
  headValue: 1024,
  at: { n: 1024 },
  ratio: 4,
  location: { file: 'src/a.cu', line: 3 },
  reason: '32 sectors per access instead of 4',
  message: 'in its worst case a warp touches 4 times the sectors of global memory: 32*ceil(n/32) instead of 8*ceil(n/32)',
};
const occupancy: Regression = {
  code: 'resource/occupancy',
  severity: 'warning',
  fingerprint: 'c2',
  kernel: 'k(float*, int)',
  metric: 'occupancy',
  base: 0.75,
  head: 0.5,
  ratio: 2 / 3,
  reason: 'limited by 40 registers, 8 more than before',
  limit: '-10 points',
  message: 'occupancy falls from 75 % to 50 %: limited by 40 registers, 8 more than before',
};
const limit: Regression = {
  code: 'limit/exceeded',
  severity: 'error',
  fingerprint: 'v1',
  kernel: 'k(float*, int)',
  metric: 'registers',
  base: null,
  head: 40,
  limit: '<= 32',
  message: 'the kernel uses 40 registers, which exceeds the limit <= 32',
};
const line = { location: { file: 'src/a.cu', line: 3 }, bound: '32*ceil(n/32)', value: null, reason: hostile };
const bound = { bound: '32*ceil(n/32)', value: null, lines: [line] };
const bounds = { sectors: bound, conflicts: bound, divwarps: bound, steps: bound, work: bound, span: bound };

function withCosts(regressions: readonly Regression[], violations: readonly Regression[] = []): Report {
  const kernel = kernelReport({
    name: 'k(float*, int)',
    cost: { bounds: { source: bounds }, assumptions: [], violations },
  });
  return { ...reportOf([kernel]), comparison: { new: [], fixed: [], unchanged: [], regressions } };
}

test('every format reports costs that are worse, and limits', async () => {
  const report = withCosts([sectors, occupancy], [limit]);
  for (const format of ['pretty', 'markdown', 'html', 'sarif'] as const) {
    const text = await render(format, report, plain);
    for (const part of [
      /4 times the sectors/,
      /from 75 % to 50 %/,
      /the kernel uses 40 registers, which exceeds the limit/,
      /threshold -10 points/,
    ])
      assert.match(text, part, format);
  }
  assert.match(await render('pretty', report, plain), /2 costs worse, 1 limit exceeded/);
});

test('the name for a partial warp is explained once on the terminal, and only if it occurs', async () => {
  const partial = { ...bound, bound: 'ceil(n/32) - floor(n/32)' };
  const of = (divwarps: typeof bound): Report => {
    const build = { ...bounds, divwarps };
    const cost = { bounds: { source: build, production: build }, assumptions: [], violations: [] };
    const kernels = ['k(float*, int)', 'l(float*, int)'].map((name) => kernelReport({ name, cost }));
    return reportOf(kernels);
  };
  for (const verbose of [false, true]) {
    const text = await render('pretty', of(partial), { ...plain, verbose });
    assert.match(text, /divwarps partialWarp\(n\)|partialWarp\(n\) .*divwarps/s);
    if (!verbose) assert.equal(text.split('is 1 where n is not a multiple of 32').length, 2);
    assert.match(text, /is 1 where n is not a multiple of 32/);
  }
  assert.doesNotMatch(await render('pretty', of(bound), plain), /not a multiple of 32/);
});

test('suppressed costs are not in tables, and are listed as suppressed', async () => {
  const report = withCosts([{ ...sectors, suppressed: 'measured' }]);
  assert.doesNotMatch(await render('markdown', report, plain), /4 times the sectors/);
  assert.match(await render('pretty', report, plain), /suppressed: measured/);
  // GitHub ignores suppressions, and closes the alert of a result that is missing.
  assert.doesNotMatch(await render('sarif', report, plain), /4 times the sectors/);
});

test('no text of the input becomes markup', async () => {
  const evil: Regression = { ...sectors, kernel: hostile, message: hostile, reason: hostile, location: { file: hostile, line: 1 } };
  const report = withCosts([evil], [{ ...evil, base: null, code: 'limit/exceeded' }]);
  const page = (await render('html', report, plain)).replace(/<script>[^]*?<\/script><\/body>/, '');
  assert.doesNotMatch(page, /<(?:script|img)\b|<\/script>|\son\w+=(?!alert)/);
  assert.match(page, /title="[^"]*&#34;/);
  const markdown = await render('markdown', report, plain);
  const plan = planReview({ report, diff: [], headSha: 'a'.repeat(40) });
  for (const text of [markdown, plan.summary.body, plan.jobSummary]) {
    for (const row of text.split('\n')) {
      const outsideCode = row.replace(/(`+)[^`].*?[^`]?\1/g, '');
      assert.doesNotMatch(outsideCode, /<img|@user/, row);
      if (row.startsWith('| ') && row.includes('times')) assert.equal(row.split(/(?<!\\)\|/).length, 6, row);
    }
  }
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(await render('pretty', report, plain), /\u001b/);
});

test('Mermaid charts are ASCII text; their x axis is the most influential name', () => {
  const chart = costChart({
    ...sectors,
    base: '8*ceil(größe/32)*blockDim.x',
    head: '8*größe*blockDim.x',
    at: { größe: 64, 'blockDim.x': 2 },
  });
  assert.ok(chart);
  const text = mermaidChart(chart);
  assert.match(text, /^xychart-beta\n {2}x-axis "gre" \["8", "16", "32", "64", "128", "256"\]\n/);
  // oxlint-disable-next-line no-control-regex
  assert.doesNotMatch(text, /[^\u0000-\u007f]/);
  assert.deepEqual(
    [chart.base, chart.head],
    [
      [16, 16, 16, 32, 64, 128],
      [128, 256, 512, 1024, 2048, 4096],
    ],
  );
  assert.match(chart.legend, /at blockDim\.x = 2$/);
  const { at: _, ...without } = sectors;
  assert.equal(costChart(without), undefined, 'nothing to vary');
  assert.equal(costChart({ ...sectors, head: 'n*n*n*n*n*n*n' }), undefined, 'numbers with exponents');
  assert.equal(costChart(occupancy), undefined);
  assert.equal(costChart({ ...sectors, head: 'ceil(n/32)' }), undefined, 'the launch costs more, and its warps at worst less');
});

test('a review reports costs before and after, and nothing without any', () => {
  const input = { diff: [], headSha: 'a'.repeat(40) };
  const told = planReview({ ...input, report: withCosts([occupancy, sectors]) });
  assert.match(told.summary.body, /\n\| `k\(float\*, int\)` \| \*\*warning\*\*: occupancy \| `75 %` \| `50 %` \|/);
  assert.match(told.summary.body, /\n\| `k\(float\*, int\)` \| sectors of .* at n = 1024 \| `256` \| `1024` \| `src\/a\.cu:3` \|/);
  assert.match(told.summary.body, /<summary>All costs \(2\)<\/summary>[^]*32 sectors per access instead of 4/);
  assert.match(told.summary.body, /```mermaid\nxychart-beta/);
  assert.equal(told.summary.createIfMissing, true);
  assert.deepEqual([told.check.conclusion, told.exitCode, told.outputs['costs']], ['neutral', 0, '2']);
  assert.deepEqual(
    told.check.annotations.map(({ path, startLine, title }) => [path, startLine, title]),
    [['src/a.cu', 3, 'The change makes warps access more sectors of global memory']],
  );
  assert.equal(told.check.title, '2 costs worse', 'the number in the comment');
  const quiet = planReview({ ...input, report: withCosts([]) });
  assert.deepEqual([quiet.summary.createIfMissing, quiet.check.conclusion, quiet.outputs['costs']], [false, 'success', '0']);
  assert.doesNotMatch(quiet.summary.body, /cost/i);
  const gentle = planReview({ ...input, report: withCosts([sectors]) });
  assert.deepEqual([gentle.check.conclusion, gentle.summary.createIfMissing], ['success', true]);
});

test('an exceeded limit blocks, unless the base exceeds it too', () => {
  const input = { diff: [], headSha: 'a'.repeat(40) };
  const report = withCosts([], [limit]);
  assert.deepEqual([planReview({ ...input, report }).exitCode, planReview({ ...input, report }).check.title], [1, '1 limit exceeded']);
  const known = { ...report, comparison: { ...report.comparison!, unchanged: ['v1'] } };
  const plan = planReview({ ...input, report: known });
  assert.deepEqual([plan.exitCode, plan.summary.createIfMissing], [0, false]);
});

test('a thousand costs stay within the limits of GitHub', () => {
  const many = Array.from({ length: 1000 }, (_, index) => ({ ...sectors, kernel: `k${index}(float*, int)`, fingerprint: `c${index}` }));
  const plan = planReview({ report: withCosts(many), diff: [], headSha: 'a'.repeat(40) });
  assert.ok(Buffer.byteLength(plan.summary.body) <= 65_536);
  assert.match(plan.summary.body, /and 900 more/);
  assert.equal(plan.summary.body.split('<details>').length, plan.summary.body.split('</details>').length);
});

test('added, removed and renamed kernels are listed', async () => {
  const moved = { addedKernels: ['young()'], removedKernels: ['old()'], renamedKernels: [{ base: 'was()', head: 'k()' }] };
  const whole = withCosts([]);
  const report = { ...whole, comparison: { ...whole.comparison!, ...moved } };
  assert.match(await render('pretty', report, plain), /New: young\(\)\.\nRemoved: old\(\)\.\nwas\(\) is now k\(\)\.\n/);
  const summary = planReview({ report, diff: [], headSha: 'a'.repeat(40) }).summary.body;
  for (const text of [await render('markdown', report, plain), summary])
    assert.match(text, /New: `young\(\)`\. Removed: `old\(\)`\. `was\(\)` is now `k\(\)`\./);
  assert.match(await render('html', report, plain), /New: <code>young\(\)<\/code>\./);
});

test('executed machine code of a warp is reported in every format', async () => {
  const steps = { bound: '12*ceil(n/32) + 9', value: 393 };
  const own = {
    location: { file: 'src/a.cu', line: 3 },
    instructions: 14,
    steps: { bound: '14*n', value: null },
    work: { atomic: 1 },
    listing: ['RED <- R2'],
  };
  const cost = {
    bounds: { source: bounds },
    code: {
      instructions: 21,
      steps,
      unknown: 0,
      translation: { checked: true },
      lines: [own, { ...own, steps: { bound: '14', value: 14 } }],
    },
  };
  const skipped = { verdict: 'skipped', findings: [], assumptions: [] } as const;
  const report = reportOf([kernelReport({ cost, race: skipped, divergence: skipped })]);
  const told = 'of which a warp executes at most 12*ceil(n/32) + 9 = 393';
  for (const format of ['pretty', 'markdown', 'html'] as const) {
    const text = await render(format, report, { ...plain, verbose: true });
    assert.ok(text.includes(told), format);
    assert.ok(
      format === 'html'
        ? text.includes('<td>14</td><td>14*n</td>') && text.includes('<td>14</td><td>14</td>')
        : text.includes('of which a warp executes at most 14*n'),
      format,
    );
    assert.ok(!text.includes('at most 14)') && !text.includes('at most 14,'), format);
  }
});
