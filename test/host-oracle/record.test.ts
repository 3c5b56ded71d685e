/** Recorded launches: of a written program, field by field, and of generated programs. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryFolder, withoutNvcc } from '../toolchain/fixture.ts';
import { drawProgram, drawUnit } from './generator.ts';
import { type RecordedLaunch, parameterSizes, recordLaunches, recordUnit } from './record.ts';

const written = readFileSync(fileURLToPath(new URL('every-launch-form.cu', import.meta.url)), 'utf8');

/** Expected fields that differ from those of a launch without attributes. */
function expected(name: string, changes: Partial<RecordedLaunch>): Partial<RecordedLaunch> {
  return { name, grid: [1, 1, 1], block: [32, 1, 1], shared: 0, cluster: null, cooperative: false, early: false, ...changes };
}

test('every launch form is recorded with all of its fields', { skip: withoutNvcc }, async (t) => {
  const program = { files: new Map([['program.cu', written]]), arguments: ['5'] };
  const { launches, allocations, exit, errors } = await recordLaunches(program, temporaryFolder(t));
  assert.deepEqual(exit, { kind: 'exited', code: 7 }, errors);
  assert.deepEqual(
    allocations.map(({ bytes, call, launchesBefore }) => ({ bytes, call, launchesBefore })),
    [
      { bytes: 400, call: 'cudaMalloc', launchesBefore: 0 },
      { bytes: 64, call: 'cudaMallocManaged', launchesBefore: 1 },
      { bytes: 1024, call: 'cudaMallocPitch', launchesBefore: 1 },
    ],
  );
  const bytes = Buffer.alloc(8);
  const pointer = (address: bigint): string => (bytes.writeBigUInt64LE(address), bytes.toString('hex'));
  const [first, second] = allocations.map(({ address }) => address);
  const isEqual = (at: number, want: Partial<RecordedLaunch>): void => {
    const { kernel, ...rest } = launches[at]!;
    assert.deepEqual(rest, want, `launch ${at}`);
    assert.match(kernel!, /^_Z|^plain$/);
  };
  isEqual(0, expected('fill(float*, int)', { grid: [5, 1, 1], arguments: [pointer(first!), '05000000'] }));
  isEqual(
    1,
    expected('fill(float*, int)', { grid: [2, 3, 4], block: [8, 4, 2], shared: 128, arguments: [pointer(first! + 16n), 'ffffffff'] }),
  );
  isEqual(2, expected('assign<double, 16>(double*, double)', { arguments: [pointer(second!), '000000000000f83f'] }));
  isEqual(3, expected('plain', { arguments: ['01', '61', 'feff', 'ffffffffffffffff', '0000c03f'] }));
  isEqual(4, expected('take(Outer)', { arguments: ['0700000000000000080000006300000009000000'.padEnd(48, '0')] }));
  isEqual(5, expected('fill(float*, int)', { grid: [3, 1, 1], shared: 64, arguments: [pointer(first!), '03000000'] }));
  isEqual(6, expected('empty()', { cooperative: true, arguments: [] }));
  isEqual(7, expected('fill(float*, int)', { grid: [4, 1, 1], cluster: [2, 1, 1], arguments: [pointer(first!), '04000000'] }));
  isEqual(8, expected('fill(float*, int)', { early: true, arguments: [pointer(0n), '05000000'] }));
  isEqual(9, expected('empty()', { grid: [8, 1, 1], cluster: [4, 2, 1], cooperative: true, early: true, arguments: [] }));
  isEqual(10, expected('fill(float*, int)', { arguments: [pointer(first!), '06000000'] }));
  isEqual(11, expected('(anonymous namespace)::hidden(int)', { arguments: ['2a000000'] }));
  assert.equal(launches.length, 12);
});

test('20 generated programs of one unit run and launch', { skip: withoutNvcc }, async (t) => {
  const folder = temporaryFolder(t);
  const recordings = await recordUnit(drawUnit(1, 20), folder);
  assert.equal(recordings.size, 20);
  for (const [seed, { launches, exit, errors }] of recordings) {
    assert.equal(exit.kind, 'exited', `${seed}: ${errors}`);
    assert.ok(launches.length >= 1 && launches.length <= 30, `${seed}: ${launches.length} launches`);
    for (const { kernel, name, arguments: args } of launches) assert.ok(kernel !== null && name !== null && args !== null);
  }

  await t.test('a program of two files launches the same separately', async () => {
    const program = [...recordings.keys()].map(drawProgram).find(({ files }) => files.size > 1);
    assert.ok(program, 'one of the programs has two files');
    const separate = await recordLaunches(program, folder);
    const together = recordings.get(program.seed)!;
    assert.deepEqual(separate.exit, together.exit);
    // Addresses differ between runs, and so does padding.
    const comparable = ({ kernel: _kernel, arguments: args, ...rest }: RecordedLaunch) => ({
      ...rest,
      sizes: args!.map(({ length }) => length),
    });
    assert.deepEqual(separate.launches.map(comparable), together.launches.map(comparable));
  });
});

test('sizes of parameters are read from PTX', () => {
  const ptx = `.visible .entry first(
\t.param .u64 .ptr .align 1 first_param_0,
\t.param .u8 first_param_1,
\t.param .align 8 .b8 first_param_2[24],
\t.param .f64 first_param_3
)
.maxntid 256, 1, 1
{
}
.visible .entry second()
{
}
`;
  assert.deepEqual(
    [...parameterSizes(ptx)],
    [
      ['first', [8, 1, 24, 8]],
      ['second', []],
    ],
  );
});
