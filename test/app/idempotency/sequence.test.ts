/** Sequences of launches in a trace: later launches must not write data read before, and streams must be disjoint. */
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { SequenceVerdict } from '../../../src/app/idempotency/sequence.ts';
import { selvage } from '../commands/in-process.ts';

const kernels = fileURLToPath(new URL('../../idempotency/kernels/element-wise.production.ptx', import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'selvage-sequences-')));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Each array has the size that 256 threads write; `A'` begins one element after `A`. */
const address = (array: string): string =>
  `0x${(0x10000 + 0x1000 * (array.charCodeAt(0) - 64) + (array.endsWith("'") ? 4 : 0)).toString(16)}`;

/** `C=A+B` on a stream: `C=A+B@1`. */
function launch(text: string): object {
  const [, out, a, b, stream] = /^(.+)=(.+)\+([^@]+)(?:@(\d))?$/.exec(text)!;
  return {
    kernel: 'vectorAdd',
    grid: 4,
    block: 64,
    arguments: [out!, a!, b!].map(address),
    ...(stream === undefined ? {} : { stream: Number(stream) }),
  };
}

/** @property prefix number of launches before the first checkpoint; by default all except the last one */
const sequences: readonly (readonly [launches: readonly string[], reason?: RegExp, prefix?: number])[] = [
  // The next launch may read the output of the previous one.
  [['C=A+B', 'D=C+A', 'E=D+C']],
  [['C=A+B', 'A=D+B'], /line \d+ may write what that of line \d+ reads/],
  [['C=A+B', "A'=D+B"], /may write what/],
  [['C=A+B', 'D=A+B', 'F=G+H', 'B=C+D'], /may write what/],
  // Overwritten data is written first when the sequence restarts, and so is the input read from it.
  [['C=A+B', 'C=D+E']],
  [['T=A+B', 'C=T+A', 'T=D+E', 'F=T+D']],
  [['C=T+A', 'T=D+E'], /may write what/],
  // Only a part of the input was written before.
  [["T'=A+B", 'C=T+A', 'T=D+E'], /may write what/],
  [['C=A+B@1', 'D=A+B@2']],
  [['C=A+B', 'A=D+B', 'D=A+E', 'E=A+B'], /may write what/, 1],
  [['C=A+B@1', 'D=A+B@1', 'E=C+A@2', 'F=G+H@1'], /two streams/, 2],
  [['C=A+B@1', 'D=C+A@2'], /run on two streams and may touch the same memory/],
  [['C=A+B@1', 'A=D+E@2'], /two streams/],
  [['C=A+B@1', 'C=D+E@2'], /two streams/],
  // The writes of another stream may not be visible yet.
  [['T=A+B@1', 'C=T+A@2', 'T=D+E@2'], /two streams|may write/, 1],
  [['C=A+B@1', 'D=E+F@2', 'G=D+E@2', 'H=C+B@1']],
];

test('a sequence is idempotent unless a later launch writes data that an earlier one reads', async () => {
  const lines = sequences.flatMap(([launches], sequence) => launches.map((text) => ({ ...launch(text), sequence })));
  const found = await judged(lines);
  assert.equal(found.size, sequences.length);
  for (const [index, [launches, reason, prefix = launches.length - 1]] of sequences.entries()) {
    const verdict = found.get(String(index));
    assert.equal(verdict?.verdict, reason ? 'undecided' : 'idempotent', JSON.stringify([launches, verdict]));
    if (reason) assert.match(verdict.reason!, reason);
    assert.equal(verdict.checkpoint, reason ? verdict.lines[prefix] : undefined, JSON.stringify([launches, verdict]));
    assert.equal(verdict.lines.length, launches.length);
  }
});

test('a launch that is malformed or not idempotent leaves its sequence undecided', async () => {
  const good = { ...launch('C=A+B'), sequence: 'a' };
  const found = await judged([
    good,
    { kernel: 'vectorInc', grid: 4, block: 64, arguments: ['0x10000'], sequence: 'a' },
    { ...good, sequence: 'b' },
    { ...good, kernel: 'none', sequence: 'b' },
    ...Array.from({ length: 129 }, () => ({ ...good, sequence: 'c' })),
    { ...good, sequence: 'd' },
  ]);
  const said = [...found.values()].map(({ sequence, verdict, reason = '', checkpoint = 0 }) => [sequence, verdict, reason, checkpoint]);
  assert.deepEqual(said, [
    ['a', 'undecided', 'the launch of line 2 is not known to be idempotent', 2],
    ['b', 'undecided', 'the launch of line 4 is not known to be idempotent', 4],
    ['c', 'undecided', 'the sequence has more than 128 launches', 133],
    ['d', 'idempotent', '', 0],
  ]);
});

async function judged(lines: readonly object[]): Promise<Map<string, SequenceVerdict>> {
  writeFileSync(join(folder, 'trace.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const run = await selvage(
    ['idempotency', kernels, '--block', '64', '--grid', '4', '--kernel', '/^vector(?:Add|Inc)/', '--launches', 'trace.jsonl'],
    folder,
  );
  assert.equal(run.status, 0, run.stderr);
  const verdicts = run.stdout
    .trimEnd()
    .split('\n')
    .slice(lines.length)
    .map((line) => JSON.parse(line) as SequenceVerdict);
  return new Map(verdicts.map((verdict) => [verdict.sequence, verdict]));
}
