/** The summary for a reader: the important part in one screen, all else folded. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Regression } from '../../src/report-model/regression.ts';
import { compareKernels } from '../../src/report-model/compared-reports.ts';
import { planReview } from '../../src/github/plan/plan.ts';
import type { Comparison, KernelReport, Report } from '../../src/report-model/report.ts';
import { BASE, divergence, HEAD, kernel, race, report } from './report-fixture.ts';

const at = (line: number) => ({ file: 'src/a.cu', line });
const far = (name: string, line: number) => race({ fingerprint: name, first: at(line), second: at(line) });

function cost(index: number, more: Partial<Regression> = {}): Regression {
  const { baseValue: _, headValue: _head, ...resource } = counted(index);
  return more.metric === 'registers' ? { ...resource, ...more } : { ...counted(index), ...more };
}

function counted(index: number): Regression {
  return {
    code: 'cost/sectors',
    severity: 'notice',
    fingerprint: `cost ${index}`,
    kernel: `k${index}`,
    metric: 'sectors',
    of: 'launch',
    base: '8*ceil(n/32)',
    head: '32*ceil(n/32)',
    baseValue: 1024,
    headValue: 4096,
    at: { n: 4096 },
    ratio: 4,
    message: 'the launch touches 4 times the sectors of global memory: 4096 instead of 1024 at n = 4096',
    location: at(10 + index),
  };
}

function compared(kernels: readonly KernelReport[], more: Partial<Comparison>): Report {
  return report(kernels, { comparison: { new: [], fixed: [], unchanged: [], regressions: [], ...more } });
}

function summaryOf(document: Report, more: Partial<Parameters<typeof planReview>[0]> = {}): string {
  const { body } = planReview({ report: document, diff: [], headSha: HEAD, baseSha: BASE, ...more }).summary;
  return body.slice(body.indexOf('\n') + 1);
}

test('costs are reported before and after, increases first, with their line', () => {
  const limit = cost(1, {
    code: 'limit/exceeded',
    severity: 'error',
    metric: 'registers',
    base: null,
    head: 80,
    limit: '64',
    message: 'the kernel uses 80 registers, which exceeds the limit 64',
  });
  const registers = cost(2, { metric: 'registers', base: 32, head: 40, message: 'x' });
  const better = cost(3, { baseValue: 4096, headValue: 1024 });
  const unbound = cost(4, { head: null, headValue: undefined as never });
  const text = summaryOf(compared([kernel('k', [])], { regressions: [limit, cost(0), registers, unbound], improvements: [better] }));
  assert.match(text, /\*\*3 costs worse, 1 limit exceeded, 1 cost better\*\*\n\n\| kernel \| cost \| before \| after \| where \|\n/);
  assert.match(
    text,
    /\n\| `k1` \| \*\*error\*\*: the kernel uses 80 registers, which exceeds the limit 64 \| `limit 64` \| `80` \| `src\/a\.cu:11` \|\n/,
  );
  assert.match(text, /\n\| `k0` \| sectors of global memory of the launch at n = 4096 \| `1024` \| `4096` \| `src\/a\.cu:10` \|\n/);
  assert.match(text, /\n\| `k2` \| registers \| `32` \| `40` \|/);
  assert.match(text, /\n\| `k4` \| .* \| `1024` \| no bound \|/);
  assert.match(text, /\n\| `k3` \| .* \| `4096` \| `1024` \|/);
});

test('a cost has the line of its history if two points are known; nothing else depends on them', () => {
  const resource = cost(1, { metric: 'registers', base: 32, head: 40, message: 'x', series: 'two' });
  const better = cost(2, { baseValue: 4096, headValue: 1024, series: 'three' });
  const lost = cost(4, { head: null, headValue: undefined as never, series: 'two' });
  const document = compared([kernel('k', [])], {
    regressions: [cost(0, { series: 'one' }), resource, cost(3), lost],
    improvements: [better],
  });
  const planOf = (history: Record<string, number[]>) =>
    planReview({ report: document, diff: [], headSha: HEAD, baseSha: BASE, history: new Map(Object.entries(history)) });
  const plan = planOf({ one: [1024], two: [24, 32], three: [512, 4096, 4096], other: [1, 2, 3] });
  const text = plan.summary.body;
  assert.match(text, /\n\| kernel \| cost \| before \| after \| history \| where \|\n\|---\|---\|---:\|---:\|---\|---\|\n/);
  assert.match(text, /\n\| `k0` \| .* \| `4096` \|  \| `src\/a\.cu:10` \|\n/);
  assert.match(text, /\n\| `k1` \| registers \| `32` \| `40` \| `▁▅█` \| `src\/a\.cu:11` \|\n/);
  assert.match(text, /\n\| `k2` \| .* \| `1024` \| `▁██▂` \| `src\/a\.cu:12` \|/);
  assert.match(text, /\n\| `k3` \| .* \| `4096` \|  \| `src\/a\.cu:13` \|\n/);
  assert.match(text, /\n\| `k4` \| .* \| no bound \|  \|/);
  assert.ok(plan.check.summary.includes('| history |'));

  const without = planOf({ one: [1024], other: [1, 2] });
  assert.match(without.summary.body, /\n\| kernel \| cost \| before \| after \| where \|\n\|---\|---\|---:\|---:\|---\|\n/);
  assert.equal(without.summary.body, planReview({ report: document, diff: [], headSha: HEAD, baseSha: BASE }).summary.body);
  const rest = ({ check, ...others }: typeof plan) => ({ ...others, summary: '', jobSummary: '', check: { ...check, summary: '' } });
  assert.equal(JSON.stringify(rest(plan)), JSON.stringify(rest(without)));
  const withoutColumn = text.replace(/^\| kernel \| cost [^]*?\n\n/m, (table) => table.replace(/^((?:\|[^|]*){4}\|)[^|]*\|/gm, '$1'));
  assert.equal(withoutColumn, without.summary.body);
});

test('fixed findings are named, with their former place', () => {
  const base = [kernel('shift', [far('one', 12)], [divergence('two', at(20))])];
  const head = [kernel('shift', [])];
  const text = summaryOf(report(head, { comparison: compareKernels(base, head, { base: BASE, head: HEAD }) }));
  assert.match(text, /^### Selvage: 1 kernel proved free of data races and barrier divergence; fixes 2 findings\n/);
  assert.match(
    text,
    /\n\*\*Fixed by this change:\*\*\n- Data race on shared `s` in `shift`, was at `src\/a\.cu:12`\n- Barrier divergence in `shift`, was at `src\/a\.cu:20`\n/,
  );
});

test('a summary without findings is one line before the folds', () => {
  const text = summaryOf(compared([kernel('a', []), kernel('b', [])], {}));
  const [heading, ...rest] = text.split('\n').filter((line) => line !== '');
  assert.equal(heading, '### Selvage: 2 kernels proved free of data races and barrier divergence');
  assert.equal(rest[0], '<details><summary>Kernels (2)</summary>');
});

test('for any number of findings the unfolded part fits a screen, and the folds contain all', () => {
  const kernels = Array.from({ length: 60 }, (_, index) => kernel(`k${index}`, [far(`f${index}`, 100 + index)]));
  const many = { length: 30 };
  const document = {
    ...compared(kernels, {
      regressions: Array.from(many, (_, index) => cost(index)),
      fixed: ['x', 'y'],
      fixedFindings: Array.from(many, (_, index) => ({ fingerprint: `${index}`, code: 'race/shared', kernel: `old${index}` })),
    }),
    diagnostics: Array.from(
      many,
      (_, index) => ({ severity: 'error', code: 'compile/failed', message: `${index}`, location: at(index + 1) }) as const,
    ),
    notAnalysed: Array.from(many, (_, index) => ({
      what: `t${index}.cuh`,
      reason: 'no .cu file includes this header',
    })),
  };
  const trust = Array.from(many, (_, index) => ({ kind: 'assumption', text: `n > ${index}` }) as const);
  const text = summaryOf(document, { trust });
  const [open = '', ...folds] = text.split(/(?=^<details>)/m);
  const shown = open.split('\n').filter((line) => line !== '' && !line.startsWith('|---'));
  assert.ok(shown.length <= 45, `${shown.length} lines:\n${open}`);
  for (const [name, amount] of [
    ['All new findings', 60],
    ['All costs', 30],
    ['All that was not analysed', 60],
    ['All that this change asks to be trusted', 30],
  ])
    assert.ok(
      folds.some((fold) => fold.includes(`<summary>${name} (${amount})</summary>`)),
      String(name),
    );
  assert.match(open, /\n\nand 50 more, below\.\n/);
});

test('changes in SASS are folded and bounded', () => {
  const diff = Array.from({ length: 40 }, () => '- LDG.32 R4 <- R2-R3, UR4-UR5');
  const lines = Array.from({ length: 3 }, (_, index) => ({
    location: at(index + 1),
    was: at(index + 1),
    instructions: [40, 0] as const,
    work: { 'load global 32': [40, 0] as const },
    diff,
  }));
  const names = Array.from({ length: 50 }, (_, index) => `k${index}`);
  const code = names.map((name) => ({ kernel: name, message: '40 loads of 32 bits fewer' }));
  const codeLines = names.map((name) => ({ kernel: name, lines }));
  const text = summaryOf(compared([kernel('k', [])], { code, codeLines }));
  const from = text.indexOf('<details><summary>Machine code that changed</summary>');
  const section = text.slice(from, text.indexOf('\n<details><summary>Kernels'));
  assert.ok(from > 0 && section.length < 13_000);
  assert.match(section, /\n- `k0`: 40 loads of 32 bits fewer\n/);
  assert.match(section, /\n\| `src\/a\.cu:1` \| load global 32 \| 40 \| 0 \|\n/);
  assert.match(section, /\n- and 20 more, which the report has\n/);
  assert.match(section, /\nThe report has the lines of 4\d more kernels\.\n/);
  assert.equal(section.match(/<details>/g)!.length, section.match(/<\/details>/g)!.length);
});
