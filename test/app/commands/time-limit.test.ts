/** A time limit that expires at once: each analysis of a kernel ends by it, and the report lists the cut analyses. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Report } from '../../../src/report-model/report.ts';
import schema from '../../../src/report/report.schema.json' with { type: 'json' };
import { selvage } from './in-process.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-time-limit-')));
after(() => rmSync(folder, { recursive: true, force: true }));
cpSync(fileURLToPath(new URL('../../cost/paper.ptx', import.meta.url)), join(folder, 'paper.ptx'));

const validate = new Ajv2020({ strict: false }).compile(schema);
async function report(words: readonly string[]): Promise<Report> {
  const { stdout } = await selvage([...words, '--format', 'json', '--no-cache'], folder);
  const found = JSON.parse(stdout) as Report;
  assert.ok(validate(found), JSON.stringify(validate.errors));
  return found;
}

const limit = ['--timeout', '0.000001'];
const launch = ['--kernel', 'matMulBad', '--block', '32,32', '--grid', '4,4'];

test('costs and idempotency cut short by the time limit are marked, next to the findings', async () => {
  const checks = ['check', 'paper.ptx', ...launch, '--checks', 'race,cost,idempotency'];
  const { kernels } = await report([...checks, ...limit]);
  const [kernel] = kernels;
  assert.equal(kernels.length, 1);
  const { bounds, nondeterministic } = kernel!.cost!;
  assert.equal(nondeterministic, true);
  assert.deepEqual([bounds.source?.steps.bound, /in the time given/.test(bounds.source?.steps.reason ?? '')], [null, true]);
  const { idempotency } = kernel!;
  assert.deepEqual([idempotency?.kernel, idempotency?.nondeterministic], ['unknown', true]);
  assert.deepEqual(
    idempotency?.details?.map(({ kind }) => kind),
    ['out-of-time'],
  );

  const [whole] = (await report(checks)).kernels;
  assert.deepEqual([whole!.cost!.nondeterministic, whole!.idempotency!.nondeterministic], [undefined, undefined]);
  assert.notEqual(whole!.cost!.bounds.source?.steps.bound, null);
});

/** Each thread stores to this number of rows. */
function rows(count: number): string {
  const stores = Array.from({ length: count }, (_, at) => `st.global.u32 [%d3+${4096 * at}], %r1;`).join('\n');
  return `.version 8.6
.target sm_90
.address_size 64
.visible .entry rows(.param .u64 a) .reqntid 128 {
.reg .b32 %r<4>; .reg .b64 %d<4>;
ld.param.u64 %d1, [a];
mov.u32 %r1, %tid.x;
mul.wide.u32 %d2, %r1, 4;
add.s64 %d3, %d1, %d2;
${stores}
ret;
}`;
}

test('a comparison whose runs were cut short by the time limit is marked', async () => {
  writeFileSync(join(folder, 'base.ptx'), rows(1));
  writeFileSync(join(folder, 'head.ptx'), rows(8));
  const compare = ['compare', 'base.ptx', 'head.ptx'];
  const { costNotes = [] } = (await report([...compare, ...limit])).comparison!;
  const told = costNotes.filter(({ nondeterministic }) => nondeterministic);
  assert.deepEqual(
    told.map(({ message }) => message),
    ['the time limit ended the runs that compare it: of 1 launch 0 are compared'],
  );
  // Without the limit they end, and state which kernels they compare.
  const { costNotes: notes = [] } = (await report(compare)).comparison!;
  assert.deepEqual(
    notes.map(({ nondeterministic }) => nondeterministic),
    [undefined],
  );
  assert.match(notes[0]!.message, /compared is what an access and a branch take/);
});
