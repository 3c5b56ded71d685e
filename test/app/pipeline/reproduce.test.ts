import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endlessElements, type Witness } from '../../../src/verdict/finding.ts';
import { reproduceCommand } from '../../../src/app/pipeline/reproduce.ts';
import { selvage } from '../commands/in-process.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

const witness: Witness = {
  kernel: 'ns::scale<float, 4>',
  block: [64, 1, 1],
  grid: [8, 2, 1],
  sharedBytes: 1024,
  schedule: { blocks: [0, 9] },
  args: { a: { type: 'float32', length: endlessElements, fill: 1 }, n: 5, b: { same: 'a' } },
};

test('a witness is printed as a command line that replays it', () => {
  assert.equal(
    reproduceCommand('src/a b.cu', witness, true, ['-std=c++17', '-DX="y"']),
    `selvage run 'src/a b.cu' --kernel 'ns::scale<float, 4>' --block 64,1,1 --grid 8,2,1 --blocks 0,9 --shared 1024` +
      ` --cooperative --arg 'a=float32[]:fill(1)' --arg n=5 --arg 'b=&a' -- -std=c++17 '-DX="y"'`,
  );
  const stated = { type: 'int8', length: 1000, fill: 0 };
  assert.match(reproduceCommand('a.cu', { ...witness, args: { stated } }, false, [])!, /'stated=int8\[1000\]:fill\(0\)'$/);
  const rising = { type: 'int32', length: endlessElements, fill: 3, values: { 0: 0, 1: 1, 2: 2 } };
  const command = reproduceCommand('a.cu', { ...witness, args: { a: rising } }, false, []);
  assert.match(command ?? '', /'a=int32\[\]:iota\(0,1,3\)'$/);
  const other = { type: 'int32', length: 9, values: { 0: 7, 1: 1, 2: 2 } };
  assert.equal(reproduceCommand('a.cu', { ...witness, args: { a: other } }, false, []), undefined);
});

/** The arguments of a command line as a shell would split it. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(([, quoted, plain]) => plain ?? quoted!.replaceAll(`'\\''`, `'`));
}

for (const file of ['race/grid-barrier', 'race/spin-lock', 'race/tickets', 'divergence/grid-barrier-in-some-blocks']) {
  test(`the commands of ${file} reproduce its findings`, async () => {
    const checked = await selvage(['check', `test/kernels/${file}.ptx`, '--format', 'json'], root);
    const { kernels } = JSON.parse(checked.stdout) as { kernels: readonly Record<'race' | 'divergence', Found>[] };
    const findings = kernels.flatMap(({ race, divergence }) => [...race.findings, ...divergence.findings]);
    const confirmed = findings.filter((finding) => finding.confirmed);
    assert.ok(confirmed.length > 0);
    for (const finding of confirmed) {
      const [program, ...words] = wordsOf(finding.reproduce ?? '');
      assert.equal(program, 'selvage');
      const run = await selvage([...words, '--format', 'json'], root);
      const shown = JSON.parse(run.stdout) as Found;
      assert.ok(shown.findings.map(linesOf).includes(linesOf(finding)), `${finding.reproduce}: ${linesOf(finding)}`);
    }
  });
}

interface Place {
  readonly location?: { readonly line: number };
}

interface Found {
  readonly findings: readonly {
    readonly confirmed?: boolean;
    readonly reproduce?: string;
    readonly first?: Place;
    readonly second?: Place;
    readonly barrier?: { readonly line: number };
    readonly location?: { readonly line: number };
  }[];
}

function linesOf({ first, second, barrier, location }: Found['findings'][number]): string {
  if (!first || !second) return String((barrier ?? location)?.line);
  return [first.location?.line ?? 0, second.location?.line ?? 0].sort((a, b) => a - b).join();
}
