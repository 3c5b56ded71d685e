/**
 * Mutation score of rooms that prove: seeded small changes of their code, one at a time, and whether the room's own tests
 * fail: `node test/mutation/mutation.ts [ROOM…] [--seed N] [--each N] [--only END]… [--within SECONDS] [--out FILE]`.
 * A room is a folder of `src/` for which {@link rooms} names tests. The checkout is copied, so that the working tree
 * stays as it is. FILE has a line of JSON for each mutant, and is continued. Prints the mutants that no test notices.
 */
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../../src/base/random.ts';
import { root } from '../kernels/portable-ptx.ts';
import { importersOf } from './import-graph.ts';
import { type CodeMutant, codeMutants, mutatedCode } from './code-mutant.ts';

/** Folders of `src/` that prove, or decide what a review posts, with the folders of their tests. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  analysis: ['test/analysis'],
  check: ['test/check'],
  'check/deciding': ['test/check/deciding'],
  'check/obligations': ['test/check/obligations'],
  'check/ordering': ['test/check/ordering'],
  'check/premises': ['test/check/premises'],
  'check/radix': ['test/check/radix'],
  'cost/loops': ['test/cost'],
  'memory-model': ['test/memory-model'],
  ptx: ['test/ptx'],
  'sass/translation': ['test/sass'],
  'github/plan': ['test/github'],
};

const { values, positionals } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    each: { type: 'string', default: '43' },
    /** Only files whose paths end so are changed. */
    only: { type: 'string', multiple: true, default: [] },
    /** Tests that take more seconds are left out. */
    within: { type: 'string', default: '600' },
    out: { type: 'string' },
  },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !(name in rooms));
if (unknown.length > 0) {
  process.stderr.write(`no tests are named for ${unknown.join(', ')}; rooms: ${Object.keys(rooms).join(', ')}\n`);
  process.exit(2);
}

interface Outcome extends CodeMutant {
  readonly room: string;
  /** The first test file that fails, or takes too long; null if none does. */
  readonly noticedBy: string | null;
}

const tracked = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
})
  .stdout.split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)));
const copy = mkdtempSync(join(tmpdir(), 'selvage-mutation-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const path of tracked) {
  mkdirSync(join(copy, dirname(path)), { recursive: true });
  copyFileSync(join(root, path), join(copy, path));
}
symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));

const { out } = values;
const known = new Map<string, Outcome>();
const keyOf = ({ file, start, from, to }: CodeMutant): string => [file, start, from, to].join('\0');
for (const line of out !== undefined && existsSync(out) ? readFileSync(out, 'utf8').split('\n') : [])
  if (line !== '') known.set(keyOf(JSON.parse(line) as Outcome), JSON.parse(line) as Outcome);

const sources = tracked.filter((path) => /^(?:src|test)\/.*\.ts$/.test(path));
const importers = importersOf(root, sources);
const milliseconds = new Map<string, number>();

/** Runs a test file in the copy, in one process, which can be killed. */
function run(test: string, limit: number): 'passes' | 'fails' | 'late' {
  const started = performance.now();
  const { status, error } = spawnSync(process.execPath, ['--test', '--test-isolation=none', test], {
    cwd: copy,
    stdio: 'ignore',
    timeout: Math.ceil(limit),
    killSignal: 'SIGKILL',
  });
  if (!milliseconds.has(test)) milliseconds.set(test, performance.now() - started);
  return error ? 'late' : status === 0 ? 'passes' : 'fails';
}

/** The first of the tests that notices a mutant; quick tests come first. */
function noticedBy(mutant: CodeMutant, tests: readonly string[]): string | null {
  const path = join(copy, mutant.file);
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, mutatedCode(text, mutant));
  const found = tests.find((test) => run(test, 3 * milliseconds.get(test)! + 10_000) !== 'passes');
  writeFileSync(path, text);
  return found ?? null;
}

for (const room of positionals.length > 0 ? positionals : Object.keys(rooms)) {
  const isChosen = (path: string): boolean => values.only.length === 0 || values.only.some((end) => path.endsWith(end));
  const files = sources.filter((path) => path.startsWith(`src/${room}/`) && isChosen(path));
  const tests = sources.filter((path) => path.endsWith('.test.ts') && rooms[room]!.some((folder) => path.startsWith(`${folder}/`)));
  const failing = tests.filter((test) => run(test, 1000 * Number(values.within)) !== 'passes');
  if (failing.length > 0)
    process.stdout.write(`${room}: these tests fail without a mutant, or take too long, and are left out: ${failing.join(' ')}\n`);
  const passing = tests.filter((test) => !failing.includes(test)).sort((a, b) => milliseconds.get(a)! - milliseconds.get(b)!);
  const random = seededRandom(Number(values.seed));
  const left = codeMutants(root, files);
  const outcomes: Outcome[] = [];
  while (outcomes.length < Number(values.each) && left.length > 0) {
    const [mutant] = left.splice(random.below(left.length), 1) as [CodeMutant];
    let outcome = known.get(keyOf(mutant));
    if (!outcome) {
      const users = importers(mutant.file);
      outcome = {
        room,
        ...mutant,
        noticedBy: noticedBy(
          mutant,
          passing.filter((test) => users.has(test)),
        ),
      };
      if (out !== undefined) appendFileSync(out, `${JSON.stringify(outcome)}\n`);
    }
    outcomes.push(outcome);
    const { file, line, from, to } = mutant;
    if (outcome.noticedBy === null) process.stdout.write(`not noticed: ${file}:${line}: ${from} => ${to === '' ? 'nothing' : to}\n`);
  }
  const noticed = outcomes.filter((one) => one.noticedBy !== null).length;
  process.stdout.write(
    `${room}: ${noticed} of ${outcomes.length} mutants noticed (${((100 * noticed) / Math.max(1, outcomes.length)).toFixed(1)} %)\n`,
  );
}
