/** The runs that the first lines of a kernel's file describe. */
import type { Dim3 } from '../../src/base/dim3.ts';
import type { RunResult } from '../../src/interpreter/core/run-result.ts';
import type { BackEndName } from '../../src/interpreter/core/run-request.ts';
import { runKernel } from '../../src/interpreter/machine.ts';
import type { Kernel } from '../../src/ir/form/kernel.ts';
import { bindArguments, type Binding } from '../../src/app/run/run-binding.ts';
import type { Build } from '../../src/toolchain/compile.ts';
import { definedKernels } from './machine-kernels.ts';

/** One `// run:` line. */
export interface KernelRun {
  readonly kernel: string;
  readonly block: Dim3;
  readonly grid: Dim3;
  readonly sharedBytes: number;
  /** By name, as `selvage run --arg` takes them. */
  readonly given: ReadonlyMap<string, string>;
  /** Schedules to run; the first is that of the numbers. */
  readonly schedules: number;
  /** Absent: both builds. */
  readonly build?: Build;
  /** As {@link findingTexts} writes them, sorted; none: the run is clean. */
  readonly expected: readonly string[];
}

/** Thread-instructions: for runs that end, and for those that are expected not to. */
const ample = 40_000_000;
const few = 200_000;

/**
 * Reads the lines of a source that begin with `// run:` and, for arguments that several of them share, `// let:`.
 * @throws where one of them is malformed
 */
export function parseRuns(source: string): readonly KernelRun[] {
  const shared = new Map<string, string>();
  const runs: KernelRun[] = [];
  for (const line of source.split('\n')) {
    const definition = /^\/\/ let: (\w+) (.+)$/.exec(line);
    if (definition) shared.set(definition[1]!, definition[2]!);
    if (!line.startsWith('// run:')) continue;
    const match =
      /^\/\/ run: (\w+) block=([\d,]+)(?: grid=([\d,]+))?(?: shared=(\d+))? args\((.*?)\)(?: seeds=(\d+))?(?: build=(\w+))? expect=(.+)$/.exec(
        line,
      );
    if (!match) throw new Error(`malformed run: ${line}`);
    const [, kernel, block, grid = '1', sharedBytes = '0', text, schedules = '1', build, expected] = match;
    const given = splitArguments(text!).flatMap((part) => splitArguments(shared.get(part) ?? part));
    runs.push({
      kernel: kernel!,
      block: dimensions(block!),
      grid: dimensions(grid),
      sharedBytes: Number(sharedBytes),
      given: new Map(given.map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)])),
      schedules: Number(schedules),
      ...(build !== undefined && { build: build as Build }),
      expected: parseExpected(expected!),
    });
  }
  return runs;
}

/** `clean`, or findings between semicolons: see {@link parseFinding}. */
function parseExpected(text: string): readonly string[] {
  return text === 'clean' ? [] : text.split('; ').flatMap(parseFinding).sort();
}

/** `race lines N,M [TAG…] … [space S]`, with the idiom that may order the two; otherwise `KIND [line N]`. */
function parseFinding(text: string): readonly string[] {
  const race = /^race((?: lines \d+,\d+(?: (?!lines|space)[\w-]+)*)+)(?: space (shared|global))?$/.exec(text);
  const space = race?.[2] === undefined ? '' : ` ${race[2]}`;
  if (race) return [...race[1]!.matchAll(/lines (.*?)(?= lines|$)/g)].map(([, pair]) => `race ${pair}${space}`);
  if (!/^[a-z-]+(?: line \d+)?$/.test(text)) throw new Error(`malformed expectation: ${text}`);
  return [text.replace(' line', '')];
}

function splitArguments(text: string): string[] {
  return text.split(/,\s*(?![^[(]*[\])])/).filter((part) => part !== '');
}

function dimensions(text: string): Dim3 {
  const [x, y = 1, z = 1] = text.split(',').map(Number);
  return [x!, y, z];
}

export interface RunOptions {
  readonly backend: BackEndName;
  /** Seed of the schedule; absent: blocks and warps by their numbers. */
  readonly seed?: number;
}

/** A run's result, with the arrays that it was given. */
export interface Ran {
  readonly binding: Binding;
  readonly result: RunResult;
}

/** The arrays and arguments of a run. */
export function bindRun(source: string, run: KernelRun, kernel: Kernel): Binding {
  return bindArguments({
    kernel,
    name: run.kernel,
    parameters: definedKernels(source).get(run.kernel)!,
    given: run.given,
    stated: new Map(),
    readFile: () => ({ problem: 'is to be read from a file' }),
  });
}

/** Runs a kernel of a source as specified by one of its lines. */
export function execute(source: string, run: KernelRun, kernel: Kernel, { backend, seed }: RunOptions): Ran {
  const binding = bindRun(source, run, kernel);
  const result = runKernel({
    kernel,
    block: run.block,
    grid: run.grid,
    sharedBytes: run.sharedBytes,
    buffers: binding.buffers,
    arguments: binding.arguments,
    steps: run.expected.includes('budget') ? few : ample,
    detectRaces: true,
    backend,
    ...(seed !== undefined && { seed }),
  });
  return { binding, result };
}
