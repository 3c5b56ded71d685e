import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { KernelReport } from '../../src/document/report.ts';
import { renderJson } from '../../src/report/json.ts';
import { analyseCheckedIn } from './checked-in.ts';
import { type Expectation, type Outcome, parseExpectations } from './expectation.ts';
import { kernelFiles, root } from './portable-ptx.ts';

const schema = JSON.parse(readFileSync(join(root, 'src/report/report.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema);

for (const file of kernelFiles()) {
  test(`${file} gets the verdicts that it expects`, async () => {
    const report = await analyseCheckedIn(file);
    assert.ok(validate(JSON.parse(renderJson(report))), JSON.stringify(validate.errors));
    for (const expectation of parseExpectations(readFileSync(join(root, file), 'utf8'))) {
      const kernel = kernelOf(report.kernels, expectation);
      const { race, divergence } = kernel;
      const got = outcomeText({ race: race.verdict, divergence: divergence.verdict }, findingsOf(kernel));
      const { today } = expectation;
      const right = expectedText(expectation);
      if (today) assert.notEqual(got, right, `${expectation.kernel} is as expected: its line "today" can go`);
      assert.equal(got, today ? expectedText(today) : right, race.reason ?? divergence.reason);
      for (const finding of [...race.findings, ...divergence.findings])
        if (finding.confirmed) assert.ok(finding.witness && finding.witnessOrigin);
      if (race.verdict === 'proved') assert.equal(divergence.verdict, 'proved');
    }
  });
}

test('two runs print the same bytes', async () => {
  const file = 'test/kernels/race/matmul-missing-barrier-after-load.cu';
  assert.equal(renderJson(await analyseCheckedIn(file)), renderJson(await analyseCheckedIn(file)));
});

test('the launch that a kernel is proved for is not the launch that it is used with', async () => {
  const proved = 'test/kernels/race/neighbour-one-block.cu';
  const options = { grid: [2, 1, 1] } as const;
  const [kernel] = (await analyseCheckedIn(proved, { options })).kernels;
  assert.equal(kernel?.launches[0]?.grid?.[0], 2);
});

function outcomeText({ race, divergence }: Omit<Outcome, 'findings'>, findings: readonly string[]): string {
  return [`race=${race} divergence=${divergence}`, ...findings].join('\n');
}

function expectedText({ race, divergence, findings }: Outcome): string {
  const lines = findings.map(({ code, lines: at }) => `${code} ${at.join()}`);
  return outcomeText({ race, divergence }, lines.sort());
}

function kernelOf(kernels: readonly KernelReport[], { kernel: name }: Expectation): KernelReport {
  const found = kernels.filter(
    (kernel) => kernel.name.startsWith(`${name}(`) || kernel.name.replace(/<.*>/, '').startsWith(`${name}(`),
  );
  assert.equal(found.length, 1, `${name} among ${kernels.map((kernel) => kernel.name).join(', ')}`);
  return found[0]!;
}

/** Confirmed races and all barrier findings, as `CODE lines`. */
function findingsOf({ race, divergence }: KernelReport): string[] {
  const races = race.findings
    .filter(({ confirmed }) => confirmed)
    .map(
      ({ code, first, second }) =>
        `${code} ${[first.location!.line, second.location!.line].sort((a, b) => a - b).join()}`,
    );
  const barriers = divergence.findings.map(({ code, barrier }) => `${code} ${barrier.line}`);
  return [...races, ...barriers].sort();
}
